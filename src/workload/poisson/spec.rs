//! The specification of a workload with exponential gaps.

use super::{Lengths, Sizes};
use crate::model::{Distribution, MAX_PROCESSORS, NamedError};
use crate::units::Span;
use crate::workload::spec::{MOST_JOBS, SEED, field, spec_text};
use crate::workload::{Field, Key, Reading, Setting, Spec};

/// The arrival rate of the jobs.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Pace {
    /// Jobs arrive with gaps of this mean.
    Every(Span),
    /// Jobs arrive at the rate at which they offer this load to the machine.
    Load(f64),
}

/// A resolved workload: `poisson[jobs=1000,every=2 s,size=1..32,runtime=exponential[mean=10 min]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct PoissonSpec {
    /// The number of jobs.
    pub jobs: u64,
    /// Their arrival rate.
    pub pace: Pace,
    /// The processors that they request.
    pub size: Sizes,
    /// Their run times.
    pub runtime: Lengths,
    /// Processors of the machine that the load refers to.
    pub procs: u32,
    /// A seed of its own; the jobs then depend neither on the run's seed nor on where they are used.
    pub seed: Option<u64>,
}

const JOBS: &str = "a number of jobs from 1 to 1000000000000";
const EVERY: &str = "a mean gap above 0, such as `2 s`";
const LOAD: &str = "a load from 0.001 to 1000, such as 0.7";
const RUNTIME: &str = "a run time such as `10 min`, a range `1 min..1 h`, or a distribution: \
                       `exponential[mean=45 h]`, `weibull[shape=0.7,mean=45 h]` or `lognormal[median=1 h,sigma=1.6]`";

impl Spec for PoissonSpec {
    const NAME: &'static str = "poisson";

    const KEYS: &'static [Key<Self>] = &[
        Setting::new("jobs", "10000", "number of jobs").field(JOBS, |s| &mut s.jobs),
        Setting::new("every", "60 s", "mean gap between submissions").own(
            |s, reading| {
                s.pace = reading.take("every", EVERY)?.map_or(s.pace, Pace::Every);
                Ok(())
            },
            |s| match &s.pace {
                Pace::Every(gap) => gap.written(),
                Pace::Load(_) => None,
            },
        ),
        Setting::new("load", "", "offered load of the machine, instead of `every`").own(
            |s, reading| {
                s.pace = reading.take("load", LOAD)?.map_or(s.pace, Pace::Load);
                Ok(())
            },
            |s| match &s.pace {
                Pace::Every(_) => None,
                Pace::Load(load) => load.written(),
            },
        ),
        Setting::new("size", "1", "processors: `8`, `1..32` or `1/2/4/8`, each equally likely")
            .field(Sizes::FORMS, |s| &mut s.size),
        Setting::new(
            "runtime",
            "exponential[mean=600 s]",
            "run time: `10 min`, `1 min..1 h` (uniform), or a distribution such as `exponential[mean=10 min]`",
        )
        .field(RUNTIME, |s| &mut s.runtime),
        Setting::new("procs", "", "processors of the machine; the largest size if not given").own(
            |s, reading| {
                let given = reading.take("procs", "a whole number of processors")?;
                s.procs = given.unwrap_or(s.size.largest());
                Ok(())
            },
            |s| s.procs.written(),
        ),
        Setting::new("seed", "", "its own seed, instead of the run's").field(SEED, |s| &mut s.seed),
    ];

    fn unread() -> Self {
        Self {
            jobs: 10_000,
            pace: Pace::Every(Span::from_secs(60)),
            size: Sizes::Fixed(1),
            runtime: Lengths::Drawn(Distribution::Exponential { mean: Span::from_secs(600) }),
            procs: 1,
            seed: None,
        }
    }

    fn read_more(&mut self, reading: &mut Reading) -> Result<(), NamedError> {
        match self.pace {
            Pace::Load(load) if reading.given("every").is_some() => {
                Err(Self::bad("load", load, "possible beside `every`: both give the arrival rate"))
            }
            _ => Ok(()),
        }
    }

    fn check(&self) -> Result<(), NamedError> {
        Self::check_number("jobs", self.jobs, MOST_JOBS, "jobs")?;
        Self::check_number("procs", self.procs.into(), MAX_PROCESSORS.into(), "processors")?;
        match self.pace {
            Pace::Every(Span::ZERO) => Err(Self::bad("every", "0 s", EVERY)),
            Pace::Load(load) if !(0.001..=1000.0).contains(&load) => Err(Self::bad("load", load, LOAD)),
            Pace::Load(load) if !self.mean_gap().is_finite() => {
                Err(Self::bad("load", load, "possible: the mean run time is beyond the time axis"))
            }
            _ => Ok(()),
        }
    }
}

spec_text!(PoissonSpec);
field! {
    Sizes: Self, |sizes| Some(sizes.to_string());
    Lengths: Self, |lengths| Some(lengths.to_string());
}

impl PoissonSpec {
    /// Mean gap between submissions, in seconds.
    pub fn mean_gap(&self) -> f64 {
        match self.pace {
            Pace::Every(gap) => gap.as_secs_f64(),
            Pace::Load(load) => self.size.mean() * self.runtime.mean() / (load * f64::from(self.procs)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::spec::assert_defaults;

    #[test]
    fn what_is_written_out_reads_back_as_itself() {
        for written in [
            "poisson",
            "poisson[jobs=20,every=2 s,size=1..32,runtime=exponential[mean=10 min],seed=3]",
            "poisson[load=0.7,procs=64,size=1/2/4,runtime=lognormal[median=1 h,sigma=1.6]]",
            "poisson[size=8,runtime=1 min..1 h]",
        ] {
            let spec: PoissonSpec = written.parse().unwrap();
            assert_eq!(spec.to_string().parse::<PoissonSpec>().unwrap(), spec, "{spec}");
        }
    }

    #[test]
    fn defaults_are_those_of_the_table() {
        assert_defaults::<PoissonSpec>("poisson", &["procs"]);
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_would() {
        for (written, said) in [
            ("poisson[job=3]", "did you mean `jobs`?"),
            ("poisson[jobs=0]", "from 1 to"),
            ("poisson[every=0 s]", "above 0"),
            ("poisson[every=2 s,load=0.5]", "beside `every`"),
            ("poisson[load=0]", "from 0.001"),
            ("poisson[size=0]", "a size such as"),
            ("poisson[size=32..1]", "a range `1..32`"),
            ("poisson[size=1/x]", "a list `1/2/4/8`"),
            ("poisson[runtime=0 s]", "a run time such as"),
            ("poisson[runtime=exponential]", "a distribution"),
            ("poisson[runtime=weibull[shape=0,mean=1 h]]", "a distribution"),
            ("poisson[procs=0]", "from 1 to 67108864"),
            ("easy", "not of the form"),
        ] {
            let error = written.parse::<PoissonSpec>().unwrap_err().to_string();
            assert!(error.contains(said), "{written}: {error}");
        }
        let endless = Distribution::Lognormal { median: Span::SECOND, sigma: 1_000_000_000 };
        let spec = PoissonSpec { runtime: Lengths::Drawn(endless), ..read("poisson[load=0.5]") };
        assert!(spec.check().unwrap_err().to_string().contains("beyond the time axis"));
    }

    fn read(written: &str) -> PoissonSpec {
        written.parse().unwrap()
    }
}
