//! The specification of a workload of the generator.

use crate::model::{MAX_PROCESSORS, Named, NamedError};
use crate::units::Span;
use crate::workload::lublin::{FACTOR, HOUR, JobParams, Kind, Pace, Parameter, of_times};
use crate::workload::spec::{MOST_JOBS, SEED, spec_text};
use crate::workload::{Field, Key, Reading, Setting, Spec, Word};

/// How the size of a large job is rounded to whole allocation units.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Large {
    /// Rounded down: the mean sizes of the paper.
    #[default]
    Floor,
    /// To the nearest: the text of the paper.
    Round,
}

/// The size that determines the probability of a short run time.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum RuntimeSize {
    /// The number of allocation units.
    #[default]
    Units,
    /// The number of processors.
    Procs,
}

/// How a load is reached.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Calibrate {
    /// By the scale of ln(gap), as the paper does.
    #[default]
    Barr,
    /// By one factor on all arrival times.
    Gaps,
}

/// A resolved workload of the generator: `cwf[jobs=500,load=0.9,ps=0.5,pd=0.5]` with every default filled in.
///
/// Written out, it has all its parameters and reads back as itself.
#[derive(Clone, Debug, PartialEq)]
pub struct CwfSpec {
    /// The number of jobs.
    pub jobs: u64,
    /// Processors of the machine: the greatest size, and the machine that the load refers to.
    pub procs: u32,
    /// Processors of an allocation unit; every size is a multiple.
    pub unit: u32,
    /// Allocation units of the largest small job; a large one has more.
    pub split: u32,
    /// A seed of its own; the jobs then depend neither on the run's seed nor on where they are used.
    pub seed: Option<u64>,
    /// The arrival rate of the jobs.
    pub pace: Pace,
    /// How a load is reached.
    pub calibrate: Calibrate,
    /// P_S: share of small jobs.
    pub ps: f64,
    /// P_D: share of dedicated jobs.
    pub pd: f64,
    /// P_E: share of jobs with a command that extends their time.
    pub pe: f64,
    /// P_R: share of jobs with a command that reduces their time.
    pub pr: f64,
    /// How the sizes of large jobs are rounded to whole units.
    pub large: Large,
    /// The size that run times depend on.
    pub runtime_size: RuntimeSize,
    /// Mean time from the submission of a dedicated job to its requested start (exponential).
    pub lead: Span,
    /// Mean amount of a command as a share of the requested time (exponential).
    pub amount: f64,
    /// Commands are issued uniformly within this number of run times after the submission.
    pub within: f64,
    /// Hour of the day at which the workload starts, 0 to 23.
    pub start_hour: u32,
    /// Run times (table I) and arrivals (table II); those of sizes are not used. With [`Pace::Load`] and
    /// [`Calibrate::Barr`], neither is `barr`.
    pub params: JobParams,
}

/// The parameters that differ between the paper and the model it takes them from.
const TABLE_II: [(&str, f64); 4] = [("aarr", 13.2303), ("barr", 0.5101), ("anum", 15.1737), ("bnum", 0.9631)];

const LOAD: &str = "a load from 0.001 to 1000, such as 0.9";
const PROCS: &str = "a whole number of processors";
const SHARE: &str = "a share from 0 to 1";
const LEAD: &str = "a mean time up to 10 years, such as `1 h`";
const TIMES: &str = "a number from 0 to 1000";
/// 10 years of 365 days.
const LONGEST_LEAD: Span = Span::from_secs(315_360_000);

impl Default for CwfSpec {
    /// The paper's generator: 500 batch jobs for 320 processors, half of them small, unscaled.
    fn default() -> Self {
        let mut params = JobParams::reference(Kind::Typeless, 320, None);
        for (key, value) in TABLE_II {
            of_times().iter().filter(|p| p.key == key).for_each(|p| p.set(&mut params, value));
        }
        Self {
            jobs: 500,
            procs: 320,
            unit: 32,
            split: 3,
            seed: None,
            pace: Pace::AsModelled,
            calibrate: Calibrate::Barr,
            ps: 0.5,
            pd: 0.0,
            pe: 0.0,
            pr: 0.0,
            large: Large::Floor,
            runtime_size: RuntimeSize::Units,
            lead: Span::from_secs(3_600),
            amount: 0.2,
            within: 2.0,
            start_hour: 0,
            params,
        }
    }
}

impl CwfSpec {
    /// Reads how the load is reached, after the arrival rate has been read.
    fn read_calibrate(&mut self, reading: &mut Reading) -> Result<(), NamedError> {
        self.calibrate = reading.take_word("calibrate")?.unwrap_or_default();
        if let Pace::Factor(factor) = self.pace
            && reading.given("load").is_some()
        {
            let expected = "possible beside `load`: both give the arrival rate";
            return Err(Self::bad("factor", factor, expected));
        }
        if self.finds_barr()
            && let Some(barr) = reading.given("barr")
        {
            let expected = "possible beside `load`, which it is found for; say `calibrate=gaps` too";
            return Err(Self::bad("barr", barr, expected));
        }
        Ok(())
    }

    /// The parameters of run times and arrivals with their values.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static Parameter, f64)> {
        of_times().iter().map(move |parameter| (parameter, parameter.get(&self.params)))
    }

    /// Allocation units of the machine: the greatest size that a job can draw.
    pub fn units(&self) -> u32 {
        self.procs.checked_div(self.unit).unwrap_or(0)
    }

    /// True if `barr` is determined from the load.
    pub(super) fn finds_barr(&self) -> bool {
        self.calibrate == Calibrate::Barr && matches!(self.pace, Pace::Load(_))
    }
}

impl Spec for CwfSpec {
    const NAME: &'static str = "cwf";

    /// All keys except those of run times and arrivals, which are those of `lublin` from `a1` to `arar`.
    const KEYS: &'static [Key<Self>] = &[
        Setting::new("jobs", "500", "number of jobs").field("a whole number of jobs", |s| &mut s.jobs),
        Setting::new("procs", "320", "processors of the machine").field(PROCS, |s| &mut s.procs),
        Setting::new("unit", "32", "processors of a unit: every size is a multiple")
            .field(PROCS, |s| &mut s.unit),
        Setting::new("split", "3", "units of the largest small job; large ones have more, up to the machine")
            .field("a whole number of units", |s| &mut s.split),
        Setting::new("seed", "", "its own seed, instead of the run's").field(SEED, |s| &mut s.seed),
        Setting::new("load", "", "offered load of the machine").own(
            |s, reading| {
                s.pace = reading.take("load", LOAD)?.map_or(s.pace, Pace::Load);
                Ok(())
            },
            |s| s.pace.load(),
        ),
        Setting::new("factor", "", "scales arrival times by this, instead of `load`").own(
            |s, reading| {
                s.pace = reading.take("factor", FACTOR)?.map_or(s.pace, Pace::Factor);
                Ok(())
            },
            |s| s.pace.factor(),
        ),
        Setting::new("calibrate", "barr", "how `load` is reached: `barr` (as the paper) or `gaps` (scaled)")
            .own(Self::read_calibrate, |s| s.calibrate.written()),
        Setting::new("ps", "0.5", "P_S: share of small jobs").field(SHARE, |s| &mut s.ps),
        Setting::new("pd", "0", "P_D: share of dedicated jobs").field(SHARE, |s| &mut s.pd),
        Setting::new("pe", "0", "P_E: share of jobs with a command that extends their time")
            .field(SHARE, |s| &mut s.pe),
        Setting::new("pr", "0", "P_R: share of jobs with a command that reduces their time")
            .field(SHARE, |s| &mut s.pr),
        Setting::new(
            "large",
            "floor",
            "whole units of large jobs: `floor` (as the paper's means) or `round`",
        )
        .word(|s| &mut s.large),
        Setting::new("runtime-size", "units", "size that run times depend on: `units` or `procs`")
            .word(|s| &mut s.runtime_size),
        Setting::new("lead", "3600 s", "mean time from submission to requested start")
            .field(LEAD, |s| &mut s.lead),
        Setting::new("amount", "0.2", "mean amount of a command, as a share of the requested time")
            .field(TIMES, |s| &mut s.amount),
        Setting::new("within", "2", "commands come within this many run times after the submission")
            .field(TIMES, |s| &mut s.within),
        Setting::new("start-hour", "0", "hour of the day at which the workload starts, 0 to 23")
            .field(HOUR, |s| &mut s.start_hour),
    ];

    fn unread() -> Self {
        Self::default()
    }

    fn more_keys(&self) -> Vec<String> {
        of_times().iter().map(|parameter| parameter.key.to_owned()).collect()
    }

    fn read_more(&mut self, reading: &mut Reading) -> Result<(), NamedError> {
        for parameter in of_times() {
            if let Some(value) = reading.take(parameter.key, &parameter.allowed.to_string())? {
                parameter.set(&mut self.params, value);
            }
        }
        Ok(())
    }

    fn write_more(&self, named: &mut Named) {
        for (parameter, value) in self.parameters() {
            if !(parameter.key == "barr" && self.finds_barr()) {
                named.params.insert(parameter.key.to_owned(), value.to_string());
            }
        }
    }

    fn check(&self) -> Result<(), NamedError> {
        Self::check_number("jobs", self.jobs, MOST_JOBS, "jobs")?;
        Self::check_number("procs", self.procs.into(), MAX_PROCESSORS.into(), "processors")?;
        Self::check_number("unit", self.unit.into(), self.procs.into(), "processors")?;
        if self.ps < 1.0 && !(1..self.units()).contains(&self.split) {
            let (units, unit, procs) = (self.units(), self.unit, self.procs);
            let expected = format!(
                "from 1 to fewer than the machine's {units} units (`procs={procs}` by `unit={unit}`): large jobs have more"
            );
            return Err(Self::bad("split", self.split, &expected));
        }
        Self::check_number("split", self.split.into(), self.units().into(), "units")?;
        for (key, share) in [("ps", self.ps), ("pd", self.pd), ("pe", self.pe), ("pr", self.pr)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(Self::bad(key, share, SHARE));
            }
        }
        for (key, value) in [("amount", self.amount), ("within", self.within)] {
            if !(0.0..=1000.0).contains(&value) {
                return Err(Self::bad(key, value, TIMES));
            }
        }
        if self.lead > LONGEST_LEAD {
            return Err(Self::bad("lead", format!("{} s", self.lead), LEAD));
        }
        if self.start_hour > 23 {
            return Err(Self::bad("start-hour", self.start_hour, HOUR));
        }
        self.pace.check::<Self>(LOAD)?;
        for (parameter, value) in self.parameters() {
            if !parameter.allowed.holds(value) {
                return Err(Self::bad(parameter.key, value, &parameter.allowed.to_string()));
            }
        }
        let fail = |key: &str, value: f64, expected: String| Err(Self::bad(key, value, &expected));
        self.params.arrival.check_draws(fail)?;
        let largest = match self.runtime_size {
            RuntimeSize::Units => self.units(),
            RuntimeSize::Procs => self.procs,
        };
        self.params.runtime.check_draws(largest, fail)
    }
}

spec_text!(CwfSpec);

impl Word for Large {
    const WORDS: &'static [(&'static str, Self)] = &[("floor", Self::Floor), ("round", Self::Round)];
}

impl Word for RuntimeSize {
    const WORDS: &'static [(&'static str, Self)] = &[("units", Self::Units), ("procs", Self::Procs)];
}

impl Word for Calibrate {
    const WORDS: &'static [(&'static str, Self)] = &[("barr", Self::Barr), ("gaps", Self::Gaps)];
}

/// The error that the calibration cannot reach a load.
pub(super) fn unreachable(load: f64, why: &str) -> NamedError {
    CwfSpec::bad("load", load, why)
}
