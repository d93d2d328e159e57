//! How a workload with exponential gaps is written, and what it means.

use std::fmt;
use std::str::FromStr;

use super::{Lengths, Sizes};
use crate::model::{Distribution, MAX_PROCESSORS, Named, NamedError};
use crate::units::Span;
use crate::workload::Setting;

/// How fast jobs come.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Pace {
    /// With gaps of this mean.
    Every(Span),
    /// So fast that they offer this load of the machine.
    Load(f64),
}

/// A workload, resolved: `poisson[jobs=1000,every=2 s,size=1..32,runtime=exponential[mean=10 min]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct PoissonSpec {
    /// How many jobs.
    pub jobs: u64,
    /// How fast they come.
    pub pace: Pace,
    /// What they ask for.
    pub size: Sizes,
    /// How long they run.
    pub runtime: Lengths,
    /// Processors of the machine that the load is of.
    pub procs: u32,
    /// A seed of its own; the jobs then do not depend on the run's seed nor on where they are used.
    pub seed: Option<u64>,
}

/// Every setting.
pub static SETTINGS: [Setting; 7] = [
    Setting::new("jobs", "10000", "number of jobs"),
    Setting::new("every", "60 s", "mean gap between submissions"),
    Setting::new("load", "", "offered load of the machine, instead of `every`"),
    Setting::new("size", "1", "processors: `8`, `1..32` or `1/2/4/8`, each equally likely"),
    Setting::new(
        "runtime",
        "exponential[mean=600 s]",
        "run time: `10 min`, `1 min..1 h` (uniform), or a distribution such as `exponential[mean=10 min]`",
    ),
    Setting::new("procs", "", "processors of the machine; the largest size if not given"),
    Setting::new("seed", "", "a seed of its own, instead of the run's"),
];

const KEYS: [&str; 7] = ["jobs", "every", "load", "size", "runtime", "procs", "seed"];
const JOBS: &str = "a number of jobs from 1 to 1000000000000";
const EVERY: &str = "a mean gap above 0, such as `2 s`";
const LOAD: &str = "a load from 0.001 to 1000, such as 0.7";
const RUNTIME: &str = "a run time such as `10 min`, a range `1 min..1 h`, or a distribution: \
                       `exponential[mean=45 h]`, `weibull[shape=0.7,mean=45 h]` or `lognormal[median=1 h,sigma=1.6]`";

impl PoissonSpec {
    /// The name it is written under.
    pub const NAME: &'static str = "poisson";

    /// Reads and checks the parameters of `poisson[...]`; what is not given has its default.
    ///
    /// # Errors
    /// [`NamedError`] for a parameter that does not exist, does not parse or makes no sense, with what would be right.
    pub fn from_named(mut named: Named) -> Result<Self, NamedError> {
        let jobs = named.take("jobs", JOBS)?.unwrap_or(10_000);
        let every = named.take("every", EVERY)?;
        let load = named.take("load", LOAD)?;
        let size = take(&mut named, "size", Sizes::FORMS)?.unwrap_or(Sizes::Fixed(1));
        let mean = Span::from_secs(600);
        let runtime = take(&mut named, "runtime", RUNTIME)?
            .unwrap_or(Lengths::Drawn(Distribution::Exponential { mean }));
        let procs = named.take("procs", "a whole number of processors")?.unwrap_or(size.largest());
        let seed = named.take("seed", "a whole number from 0 to 18446744073709551615")?;
        let pace = match (every, load) {
            (Some(every), None) => Pace::Every(every),
            (None, Some(load)) => Pace::Load(load),
            (None, None) => Pace::Every(Span::from_secs(60)),
            (Some(_), Some(load)) => {
                return Err(bad("load", load, "possible beside `every`: both say how fast jobs come"));
            }
        };
        named.finish(&KEYS)?;
        let spec = Self { jobs, pace, size, runtime, procs, seed };
        spec.check()?;
        Ok(spec)
    }

    /// Checks that the workload makes sense.
    ///
    /// # Errors
    /// [`NamedError::BadValue`] names what does not and says what would.
    pub fn check(&self) -> Result<(), NamedError> {
        if !(1..=1_000_000_000_000).contains(&self.jobs) {
            return Err(bad("jobs", self.jobs, JOBS));
        }
        if !(1..=MAX_PROCESSORS).contains(&self.procs) {
            let expected = format!("a number of processors from 1 to {MAX_PROCESSORS}");
            return Err(bad("procs", self.procs, &expected));
        }
        match self.pace {
            Pace::Every(Span::ZERO) => return Err(bad("every", "0 s", EVERY)),
            Pace::Load(load) if !(0.001..=1000.0).contains(&load) => return Err(bad("load", load, LOAD)),
            Pace::Load(load) if !self.mean_gap().is_finite() => {
                return Err(bad("load", load, "possible: the mean run time is beyond the time axis"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Mean gap between submissions, in seconds.
    pub fn mean_gap(&self) -> f64 {
        match self.pace {
            Pace::Every(gap) => gap.as_secs_f64(),
            Pace::Load(load) => self.size.mean() * self.runtime.mean() / (load * f64::from(self.procs)),
        }
    }

    /// With every parameter, as it would be written.
    pub fn to_named(&self) -> Named {
        let mut named = Named::bare(Self::NAME);
        let mut put = |key: &str, value: String| named.params.insert(key.to_owned(), value);
        put("jobs", self.jobs.to_string());
        match self.pace {
            Pace::Every(gap) => put("every", format!("{gap} s")),
            Pace::Load(load) => put("load", load.to_string()),
        };
        put("size", self.size.to_string());
        put("runtime", self.runtime.to_string());
        put("procs", self.procs.to_string());
        if let Some(seed) = self.seed {
            put("seed", seed.to_string());
        }
        named
    }
}

fn bad(key: &str, value: impl fmt::Display, expected: &str) -> NamedError {
    NamedError::BadValue {
        name: PoissonSpec::NAME.to_owned(),
        key: key.to_owned(),
        value: value.to_string(),
        expected: expected.to_owned(),
    }
}

/// [`Named::take`] for laws.
fn take<T: FromStr>(named: &mut Named, key: &str, expected: &str) -> Result<Option<T>, NamedError> {
    named.take(key, expected)
}

impl FromStr for PoissonSpec {
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

impl fmt::Display for PoissonSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_named().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let named = "poisson".parse::<PoissonSpec>().unwrap().to_named();
        for setting in SETTINGS.iter().filter(|setting| setting.key != "procs") {
            assert_eq!(
                named.params.get(setting.key).map_or("", |value| value),
                setting.default,
                "{}",
                setting.key
            );
        }
        assert_eq!(SETTINGS.map(|setting| setting.key), KEYS);
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
