//! How a workload of the generator is written, and what it means.

use std::fmt;
use std::str::FromStr;

use crate::model::{MAX_PROCESSORS, Named, NamedError};
use crate::units::Span;
use crate::workload::Setting;
use crate::workload::lublin::{ArrivalParams, JobParams, Kind, Pace, Parameter, RuntimeParams, of_times};

/// How large jobs get a whole number of units from their draw.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Large {
    /// Rounded down: the mean sizes of the paper.
    #[default]
    Floor,
    /// To the nearest: the text of the paper.
    Round,
}

/// What stands for the size in the probability of a short run time.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum RuntimeSize {
    /// Units.
    #[default]
    Units,
    /// Processors.
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

/// A workload of the generator, resolved: `cwf[jobs=500,load=0.9,ps=0.5,pd=0.5]` with every default filled in.
///
/// Written out, it has all its parameters, and reads back as itself.
#[derive(Clone, Debug, PartialEq)]
pub struct CwfSpec {
    /// How many jobs.
    pub jobs: u64,
    /// Processors of the machine: the greatest size, and the machine that the load is of.
    pub procs: u32,
    /// Processors of a unit; every size is a multiple.
    pub unit: u32,
    /// Units of the largest small job; a large one has more.
    pub split: u32,
    /// A seed of its own; the jobs then do not depend on the run's seed nor on where they are used.
    pub seed: Option<u64>,
    /// How fast jobs come.
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
    /// How large jobs get whole units.
    pub large: Large,
    /// The size that run times depend on.
    pub runtime_size: RuntimeSize,
    /// Mean time from the submission of a dedicated job to the start it asks for (exponential).
    pub lead: Span,
    /// Mean amount of a command as a share of the requested time (exponential).
    pub amount: f64,
    /// Commands come uniformly within so many run times of the submission.
    pub within: f64,
    /// Hour of the day at which the workload starts, 0 to 23.
    pub start_hour: u32,
    /// Run times (table I).
    pub runtime: RuntimeParams,
    /// Arrivals (table II). With [`Pace::Load`] and [`Calibrate::Barr`], `barr` is not used.
    pub arrival: ArrivalParams,
}

/// Every setting besides the parameters of run times and arrivals, which are those of `lublin` from `a1` to `arar`.
pub static SETTINGS: [Setting; 18] = [
    Setting::new("jobs", "500", "number of jobs"),
    Setting::new("procs", "320", "processors of the machine"),
    Setting::new("unit", "32", "processors of a unit: every size is a multiple"),
    Setting::new("split", "3", "units of the largest small job; large ones have more, up to the machine"),
    Setting::new("seed", "", "a seed of its own, instead of the run's"),
    Setting::new("load", "", "offered load of the machine"),
    Setting::new("factor", "", "scales arrival times by this, instead of `load`"),
    Setting::new("calibrate", "barr", "how `load` is reached: `barr` (as the paper) or `gaps` (scaled)"),
    Setting::new("ps", "0.5", "P_S: share of small jobs"),
    Setting::new("pd", "0", "P_D: share of dedicated jobs"),
    Setting::new("pe", "0", "P_E: share of jobs with a command that extends their time"),
    Setting::new("pr", "0", "P_R: share of jobs with a command that reduces their time"),
    Setting::new("large", "floor", "whole units of large jobs: `floor` (as the paper's means) or `round`"),
    Setting::new("runtime-size", "units", "size that run times depend on: `units` or `procs`"),
    Setting::new("lead", "3600 s", "mean time from submission to the start that a dedicated job asks for"),
    Setting::new("amount", "0.2", "mean amount of a command, as a share of the requested time"),
    Setting::new("within", "2", "commands come within so many run times of the submission"),
    Setting::new("start-hour", "0", "hour of the day at which the workload starts, 0 to 23"),
];

const LARGE: [(&str, Large); 2] = [("floor", Large::Floor), ("round", Large::Round)];
const RUNTIME_SIZE: [(&str, RuntimeSize); 2] = [("units", RuntimeSize::Units), ("procs", RuntimeSize::Procs)];
const CALIBRATE: [(&str, Calibrate); 2] = [("barr", Calibrate::Barr), ("gaps", Calibrate::Gaps)];

/// Where the paper's parameters differ from those of the model that they are from.
const TABLE_II: [(&str, f64); 4] = [("aarr", 13.2303), ("barr", 0.5101), ("anum", 15.1737), ("bnum", 0.9631)];

const LOAD: &str = "a load from 0.001 to 1000, such as 0.9";
const FACTOR: &str = "a factor from 0.000001 to 1000000";
const HOUR: &str = "an hour from 0 to 23";
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
            runtime: params.runtime,
            arrival: params.arrival,
        }
    }
}

impl CwfSpec {
    /// The name it is written under.
    pub const NAME: &'static str = "cwf";

    /// Reads and checks the parameters of `cwf[...]`; what is not given has its default.
    ///
    /// # Errors
    /// [`NamedError`] for a parameter that does not exist, does not parse or makes no sense, with what would be
    /// right.
    pub fn from_named(mut named: Named) -> Result<Self, NamedError> {
        let mut spec = Self::default();
        let name = &mut named;
        put(name, "jobs", "a whole number of jobs", &mut spec.jobs)?;
        put(name, "procs", "a whole number of processors", &mut spec.procs)?;
        put(name, "unit", "a whole number of processors", &mut spec.unit)?;
        put(name, "split", "a whole number of units", &mut spec.split)?;
        spec.seed = name.take("seed", "a whole number from 0 to 18446744073709551615")?;
        let (load, factor) = (name.take("load", LOAD)?, name.take("factor", FACTOR)?);
        let calibrate = name.take_choice("calibrate", &CALIBRATE)?;
        spec.calibrate = calibrate.unwrap_or_default();
        spec.pace = match (load, factor) {
            (None, None) => Pace::AsModelled,
            (Some(load), None) => Pace::Load(load),
            (None, Some(factor)) => Pace::Factor(factor),
            (Some(_), Some(factor)) => {
                let factor: f64 = factor;
                return Err(bad("factor", factor, "possible beside `load`: both say how fast jobs come"));
            }
        };
        if load.is_some()
            && spec.calibrate == Calibrate::Barr
            && let Some(barr) = name.params.get("barr")
        {
            return Err(bad(
                "barr",
                barr,
                "possible beside `load`, which it is found for; say `calibrate=gaps` too",
            ));
        }
        put(name, "ps", SHARE, &mut spec.ps)?;
        put(name, "pd", SHARE, &mut spec.pd)?;
        put(name, "pe", SHARE, &mut spec.pe)?;
        put(name, "pr", SHARE, &mut spec.pr)?;
        spec.large = name.take_choice("large", &LARGE)?.unwrap_or_default();
        spec.runtime_size = name.take_choice("runtime-size", &RUNTIME_SIZE)?.unwrap_or_default();
        put(name, "lead", LEAD, &mut spec.lead)?;
        put(name, "amount", TIMES, &mut spec.amount)?;
        put(name, "within", TIMES, &mut spec.within)?;
        put(name, "start-hour", HOUR, &mut spec.start_hour)?;
        let mut params = spec.params();
        for parameter in of_times() {
            if let Some(value) = name.take(parameter.key, &parameter.allowed.to_string())? {
                parameter.set(&mut params, value);
            }
        }
        (spec.runtime, spec.arrival) = (params.runtime, params.arrival);
        named.finish(&Self::keys())?;
        spec.check()?;
        Ok(spec)
    }

    /// Every key.
    pub fn keys() -> Vec<&'static str> {
        let settings = SETTINGS.iter().map(|setting| setting.key);
        settings.chain(of_times().iter().map(|parameter| parameter.key)).collect()
    }

    /// The parameters that are in tables; there are none of sizes among those.
    fn params(&self) -> JobParams {
        let sizes = JobParams::reference(Kind::Typeless, 1, None);
        JobParams { runtime: self.runtime, arrival: self.arrival, ..sizes }
    }

    /// The parameters of run times and arrivals with their values, as they are written.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static Parameter, f64)> {
        let params = self.params();
        of_times().iter().map(move |parameter| (parameter, parameter.get(&params)))
    }

    /// Units of the machine: the greatest size a job can draw.
    pub fn units(&self) -> u32 {
        self.procs.checked_div(self.unit).unwrap_or(0)
    }

    /// True if `barr` is looked for.
    pub(super) fn finds_barr(&self) -> bool {
        self.calibrate == Calibrate::Barr && matches!(self.pace, Pace::Load(_))
    }

    /// Checks that the workload makes sense.
    ///
    /// # Errors
    /// [`NamedError::BadValue`] names what does not and says what would.
    pub fn check(&self) -> Result<(), NamedError> {
        const JOBS: u64 = 1_000_000_000_000;
        let whole = |key: &str, value: u64, most: u64, what: &str| {
            let said = || bad(key, value, &format!("a number of {what} from 1 to {most}"));
            (1..=most).contains(&value).then_some(()).ok_or_else(said)
        };
        whole("jobs", self.jobs, JOBS, "jobs")?;
        whole("procs", self.procs.into(), MAX_PROCESSORS.into(), "processors")?;
        whole("unit", self.unit.into(), self.procs.into(), "processors")?;
        if self.ps < 1.0 && !(1..self.units()).contains(&self.split) {
            let (units, unit, procs) = (self.units(), self.unit, self.procs);
            let expected = format!(
                "from 1 to fewer than the machine's {units} units (`procs={procs}` by `unit={unit}`): large jobs have more"
            );
            return Err(bad("split", self.split, &expected));
        }
        whole("split", self.split.into(), self.units().into(), "units")?;
        for (key, share) in [("ps", self.ps), ("pd", self.pd), ("pe", self.pe), ("pr", self.pr)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(bad(key, share, SHARE));
            }
        }
        for (key, value) in [("amount", self.amount), ("within", self.within)] {
            if !(0.0..=1000.0).contains(&value) {
                return Err(bad(key, value, TIMES));
            }
        }
        if self.lead > LONGEST_LEAD {
            return Err(bad("lead", format!("{} s", self.lead), LEAD));
        }
        if self.start_hour > 23 {
            return Err(bad("start-hour", self.start_hour, HOUR));
        }
        match self.pace {
            Pace::Load(load) if !(0.001..=1000.0).contains(&load) => return Err(bad("load", load, LOAD)),
            Pace::Factor(factor) if !(1e-6..=1e6).contains(&factor) => {
                return Err(bad("factor", factor, FACTOR));
            }
            _ => {}
        }
        for (parameter, value) in self.parameters() {
            if !parameter.allowed.holds(value) {
                return Err(bad(parameter.key, value, &parameter.allowed.to_string()));
            }
        }
        let fail = |key: &str, value: f64, expected: String| Err(bad(key, value, &expected));
        self.arrival.check_draws(fail)?;
        let largest = match self.runtime_size {
            RuntimeSize::Units => self.units(),
            RuntimeSize::Procs => self.procs,
        };
        self.runtime.check_draws(largest, fail)
    }

    /// With every parameter, as it would be written.
    pub fn to_named(&self) -> Named {
        let mut named = Named::bare(Self::NAME);
        let mut put = |key: &str, value: String| named.params.insert(key.to_owned(), value);
        put("jobs", self.jobs.to_string());
        put("procs", self.procs.to_string());
        put("unit", self.unit.to_string());
        put("split", self.split.to_string());
        if let Some(seed) = self.seed {
            put("seed", seed.to_string());
        }
        match self.pace {
            Pace::AsModelled => None,
            Pace::Load(load) => put("load", load.to_string()),
            Pace::Factor(factor) => put("factor", factor.to_string()),
        };
        put("calibrate", word(&CALIBRATE, self.calibrate));
        put("ps", self.ps.to_string());
        put("pd", self.pd.to_string());
        put("pe", self.pe.to_string());
        put("pr", self.pr.to_string());
        put("large", word(&LARGE, self.large));
        put("runtime-size", word(&RUNTIME_SIZE, self.runtime_size));
        put("lead", format!("{} s", self.lead));
        put("amount", self.amount.to_string());
        put("within", self.within.to_string());
        put("start-hour", self.start_hour.to_string());
        for (parameter, value) in self.parameters() {
            if !(parameter.key == "barr" && self.finds_barr()) {
                put(parameter.key, value.to_string());
            }
        }
        named
    }
}

fn bad(key: &str, value: impl fmt::Display, expected: &str) -> NamedError {
    NamedError::BadValue {
        name: CwfSpec::NAME.to_owned(),
        key: key.to_owned(),
        value: value.to_string(),
        expected: expected.to_owned(),
    }
}

/// What the calibration cannot reach.
pub(super) fn unreachable(load: f64, why: &str) -> NamedError {
    bad("load", load, why)
}

fn word<T: Copy + PartialEq>(words: &[(&str, T)], value: T) -> String {
    words.iter().find(|(_, is)| *is == value).map_or("", |(word, _)| word).to_owned()
}

/// Takes `key` out of `named` into `value`, if it is given.
fn put<T: FromStr>(named: &mut Named, key: &str, expected: &str, value: &mut T) -> Result<(), NamedError> {
    if let Some(given) = named.take(key, expected)? {
        *value = given;
    }
    Ok(())
}

impl FromStr for CwfSpec {
    type Err = NamedError;

    fn from_str(written: &str) -> Result<Self, NamedError> {
        let named: Named = written.parse()?;
        if named.name == Self::NAME {
            Self::from_named(named)
        } else {
            Err(NamedError::Syntax(written.to_owned()))
        }
    }
}

impl fmt::Display for CwfSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_named().fmt(f)
    }
}
