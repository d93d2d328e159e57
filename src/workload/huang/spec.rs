//! The specification of the workloads of adaptive SCOJO.

use crate::model::{JobKind, MAX_PROCESSORS, NamedError};
use crate::units::Span;
use crate::workload::spec::{MOST_JOBS, SEED, field, spec_text};
use crate::workload::{Key, Reading, Setting, Spec, Word};

/// A class of run times.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The shortest and the longest run time on N_opt processors, in seconds.
    pub runtime: (u64, u64),
    /// The least and the largest N_opt.
    pub size: (u64, u64),
    /// The share of its rigid, moldable and malleable jobs among all jobs, in percent.
    pub percent: [u32; 3],
}

/// Which of the two workloads (Table 7-2).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// 8,000 jobs of up to an hour.
    #[default]
    One,
    /// 3,000 jobs of up to 30 hours.
    Two,
}

impl Word for Which {
    const WORDS: &'static [(&'static str, Self)] = &[("1", Self::One), ("2", Self::Two)];
}

const SMALL: (u64, u64) = (1, 4);
const MIDDLE: (u64, u64) = (4, 24);
const LARGE: (u64, u64) = (8, 32);

impl Which {
    /// Its short, medium and long jobs.
    pub const fn classes(self) -> [Class; 3] {
        match self {
            Self::One => [
                Class { runtime: (1, 60), size: SMALL, percent: [0, 40, 0] },
                Class { runtime: (61, 1_800), size: MIDDLE, percent: [10, 20, 10] },
                Class { runtime: (1_801, 3_600), size: LARGE, percent: [0, 0, 20] },
            ],
            Self::Two => [
                Class { runtime: (1, 180), size: SMALL, percent: [0, 30, 0] },
                Class { runtime: (181, 3_600), size: MIDDLE, percent: [5, 30, 0] },
                Class { runtime: (3_601, 108_000), size: LARGE, percent: [5, 0, 30] },
            ],
        }
    }

    /// How many jobs it has.
    pub const fn jobs(self) -> u64 {
        match self {
            Self::One => 8_000,
            Self::Two => 3_000,
        }
    }

    /// The class and the kind of a job, by a number below 100.
    pub fn of(self, percent: u32) -> (Class, JobKind) {
        let mut below = 0;
        let [short, medium, long] = self.classes();
        for class in [short, medium, long] {
            for (kind, share) in JobKind::ALL.into_iter().zip(class.percent) {
                below += share;
                if percent < below {
                    return (class, kind);
                }
            }
        }
        (long, JobKind::Malleable)
    }

    /// Means over classes, as the formula of section 6.8 has them: of each interval its middle. The exponent is that of the shares: 2 in the thesis,
    /// which weighs both sizes and run times, and 1 for the mean of the areas, in processor-seconds.
    fn mean(self, exponent: i32) -> f64 {
        let middle = |(from, to): (u64, u64)| (from + to) as f64 / 2.0;
        let of = |class: Class| {
            let weight = f64::from(class.percent.iter().sum::<u32>()) / 100.0;
            // The printed interval of a class begins where the one before ends.
            let from = if class.runtime.0 == 1 { 1 } else { class.runtime.0 - 1 };
            let area = middle(class.size) * middle((from, class.runtime.1));
            if exponent == 2 { area * weight * weight } else { area * weight }
        };
        self.classes().into_iter().map(of).sum()
    }
}

/// A resolved workload: `huang[workload=1]` with every default filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct HuangSpec {
    /// Which of the two.
    pub workload: Which,
    /// The number of jobs.
    pub jobs: u64,
    /// Processors of the machine.
    pub procs: u32,
    /// The mean gap between submissions, if it is given.
    pub every: Option<Span>,
    /// The load that jobs offer on their best sizes, if it is given. Without both it is that of the formula of the thesis: 3.77 and 2.86 of 64 processors,
    /// because it squares the shares of the classes.
    pub load: Option<f64>,
    /// A seed of its own; the jobs then depend neither on the run's seed nor on where they are used.
    pub seed: Option<u64>,
}

const JOBS: &str = "a number of jobs from 1 to 1000000000000";
const EVERY: &str = "a mean gap of 1 s or more";
const LOAD: &str = "a load from 0.001 to 1000, such as 0.7";
/// The largest best size.
const LEAST: u32 = LARGE.1 as u32;

impl Spec for HuangSpec {
    const NAME: &'static str = "huang";

    const KEYS: &'static [Key<Self>] = &[
        Setting::new("workload", "1", "which workload of the thesis: 1 or 2").word(|s| &mut s.workload),
        Setting::new("jobs", "", "number of jobs; 8000 of workload 1 and 3000 of workload 2 if not given")
            .own(
                |s, reading| {
                    s.jobs = reading.take("jobs", JOBS)?.unwrap_or(s.workload.jobs());
                    Ok(())
                },
                |s| Some(s.jobs.to_string()),
            ),
        Setting::new("procs", "64", "processors of the machine, at least 32")
            .field("a whole number of processors", |s| &mut s.procs),
        Setting::new(
            "every",
            "",
            "mean gap between submissions; that of the thesis if neither it nor `load` is given",
        )
        .field(EVERY, |s| &mut s.every),
        Setting::new("load", "", "offered load of the machine, instead of `every`")
            .field(LOAD, |s| &mut s.load),
        Setting::new("seed", "", "its own seed, instead of the run's").field(SEED, |s| &mut s.seed),
    ];

    fn unread() -> Self {
        Self { workload: Which::One, jobs: 8_000, procs: 64, every: None, load: None, seed: None }
    }

    fn read_more(&mut self, reading: &mut Reading) -> Result<(), NamedError> {
        match self.load {
            Some(load) if reading.given("every").is_some() => {
                Err(Self::bad("load", load, "possible beside `every`: both give the arrival rate"))
            }
            _ => Ok(()),
        }
    }

    fn check(&self) -> Result<(), NamedError> {
        Self::check_number("jobs", self.jobs, MOST_JOBS, "jobs")?;
        if !(LEAST..=MAX_PROCESSORS).contains(&self.procs) {
            let expected =
                format!("a number of processors from {LEAST}, the largest N_opt, to {MAX_PROCESSORS}");
            return Err(Self::bad("procs", self.procs, &expected));
        }
        match (self.every, self.load) {
            (Some(every), _) if every < Span::SECOND => Err(Self::bad("every", format!("{every} s"), EVERY)),
            (_, Some(load)) if !(0.001..=1000.0).contains(&load) => Err(Self::bad("load", load, LOAD)),
            (_, Some(load)) if self.mean_gap() < 1.0 => {
                let expected = format!(
                    "possible: jobs would come every {} s, and they come every second at the most",
                    self.mean_gap()
                );
                Err(Self::bad("load", load, &expected))
            }
            (None, None) if self.mean_gap() < 1.0 => Err(Self::bad(
                "procs",
                self.procs,
                "possible without `every`: jobs would come more often than every second",
            )),
            _ => Ok(()),
        }
    }
}

spec_text!(HuangSpec);
field! {
    Option<Span>: Span, |value| value.map(|value| format!("{value} s"));
}

impl HuangSpec {
    /// Mean gap between submissions, in seconds.
    pub fn mean_gap(&self) -> f64 {
        let procs = f64::from(self.procs);
        match (self.every, self.load) {
            (Some(every), _) => every.as_secs_f64(),
            (None, Some(load)) => self.workload.mean(1) / (load * procs),
            (None, None) => self.workload.mean(2) / procs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::spec::assert_defaults;

    fn read(written: &str) -> HuangSpec {
        written.parse().unwrap()
    }

    #[test]
    fn the_formula_of_section_6_8() {
        let near = |got: f64, expected: f64| assert!((got - expected).abs() < 0.01, "{got}, not {expected}");
        near(read("huang").mean_gap(), 66.49);
        near(read("huang[workload=2]").mean_gap(), 2_187.06);
        // 16,038.5 and 399,929 processor-seconds a job.
        near(Which::One.mean(1), 16_038.5);
        near(Which::Two.mean(1), 399_928.875);
        near(read("huang[load=0.7]").mean_gap(), 16_038.5 / (0.7 * 64.0));
        near(read("huang[every=2 s]").mean_gap(), 2.0);
    }

    #[test]
    fn what_is_written_out_reads_back_as_itself() {
        for written in
            ["huang", "huang[workload=2,seed=3]", "huang[jobs=10,procs=128,load=0.7]", "huang[every=90 s]"]
        {
            let spec = read(written);
            assert_eq!(spec.to_string().parse::<HuangSpec>().unwrap(), spec, "{spec}");
        }
        assert_defaults::<HuangSpec>("huang", &["jobs"]);
        for which in [Which::One, Which::Two] {
            let sum: u32 = which.classes().iter().flat_map(|class| class.percent).sum();
            assert_eq!(sum, 100);
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_would() {
        for (written, said) in [
            ("huang[workload=3]", "one of `1`, `2`"),
            ("huang[jobs=0]", "from 1 to"),
            ("huang[procs=31]", "from 32, the largest N_opt"),
            ("huang[every=0.5 s]", "a mean gap of 1 s or more"),
            ("huang[every=2 s,load=0.5]", "beside `every`"),
            ("huang[load=0]", "from 0.001"),
            ("huang[load=900]", "jobs would come every"),
            ("huang[procs=100000]", "more often than every second"),
            ("huang[size=3]", "no parameter `size`"),
        ] {
            let error = written.parse::<HuangSpec>().unwrap_err().to_string();
            assert!(error.contains(said), "{written}: {error}");
        }
    }
}
