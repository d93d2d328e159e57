//! Churn (machine availability): how machines come and go, as descriptions, not events.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::text::saved_as_text;
use super::{GroupFailures, Named, NamedError, PartitionId, ProcSet, TracedChurn};
use crate::units::{Rate, Span, Time};

/// The distribution of the time that a machine stays up or down.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum Distribution {
    /// Exponential, which is memoryless.
    Exponential {
        /// The mean.
        mean: Span,
    },
    /// Weibull; a shape below 1 has a decreasing hazard, as failures of real machines have.
    Weibull {
        /// The shape in 10⁻⁶.
        shape: u64,
        /// The mean.
        mean: Span,
    },
    /// Lognormal.
    Lognormal {
        /// The median.
        median: Span,
        /// The standard deviation of the logarithm in 10⁻⁶.
        sigma: u64,
    },
}

/// Churn by chance. The `n`-th up or down time of machine `k` depends on the seed, the site, the machine and
/// `n` alone.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RandomChurn {
    /// The time that a machine stays up.
    pub up: Distribution,
    /// The time that a machine stays down.
    pub down: Distribution,
}

/// The failure action: what becomes of a job whose machine leaves.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FailureAction {
    /// The job joins the end of its site's queue again.
    #[default]
    Requeue,
    /// The job returns to the broker; a job of the site's own users is requeued.
    Resubmit,
    /// The job stalls, and keeps its other processors, until the machine is back.
    Wait,
    /// The job fails.
    Fail,
}

/// How running jobs write checkpoints.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpointing {
    /// The interval between checkpoints.
    pub interval: CheckpointInterval,
    /// The time that writing one takes, at the job's rate.
    pub cost: Span,
}

/// The interval at which a job writes checkpoints.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum CheckpointInterval {
    /// √(2 C M) for a cost C and a mean time between failures M of all machines of the job (Young 1974).
    Young,
    /// Daly's higher-order optimum (Daly 2006).
    Daly,
    /// This much progress.
    Every(Span),
}

/// A change of machines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ChurnAct {
    /// Machines leave, with what runs on them.
    Leave(Machines),
    /// Machines come, or come back, or drain no longer.
    Join(Machines),
    /// Machines continue at a fraction of their speed; [`Rate::FULL`] ends it.
    Slow {
        /// The machines.
        machines: Machines,
        /// The fraction of their own speed.
        factor: Rate,
    },
    /// Machines drain: they get no new job, and what runs there goes on.
    Drain(Machines),
    /// All machines of the site drain, and it accepts no jobs of the grid.
    DrainSite,
    /// The whole site leaves: all its machines leave, and it accepts no jobs of the grid.
    LeaveSite,
    /// The whole site is back, with all machines that are not down for reasons of their own, by chance or by script.
    JoinSite,
}

/// Machines of a partition, by number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machines {
    /// The partition.
    pub partition: PartitionId,
    /// Their numbers in the partition, from 0.
    pub which: ProcSet,
}

/// A planned change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedChurn {
    /// The time of the change.
    pub at: Time,
    /// The change.
    pub act: ChurnAct,
}

/// The churn of a site; the default is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChurnSpec {
    /// Churn by chance, of each machine independently.
    pub random: Option<RandomChurn>,
    /// Failures of several machines at once, beside those of each alone.
    pub groups: Option<GroupFailures>,
    /// Outages as they were on a real grid.
    pub traced: Option<TracedChurn>,
    /// How long before it leaves by chance alone, or by a trace, a machine drains.
    pub notice: Span,
    /// Churn by script, in order of time.
    pub script: Vec<PlannedChurn>,
    /// The failure action of its jobs.
    pub on_failure: FailureAction,
    /// Whether jobs of the grid that wait at the site return to the broker when the whole site leaves. Other waiting jobs stay.
    pub return_queued: bool,
    /// The number of the attempt in which a job fails instead of being requeued when its machine leaves; `None` for no limit. Without a
    /// limit, a job that is wider and longer than machines stay up is requeued for ever, and the run does not end.
    pub attempts: Option<u32>,
    /// Whether running jobs write checkpoints, from which a later attempt, here or elsewhere, continues.
    pub checkpoint: Option<Checkpointing>,
}

impl ChurnSpec {
    /// Whether machines come and go without a script.
    pub const fn has_outages(&self) -> bool {
        self.draws() || self.traced.is_some()
    }

    /// Whether outages are drawn from the seed of the run.
    pub const fn draws(&self) -> bool {
        self.random.is_some() || self.groups.is_some()
    }

    /// The mean time for which a machine of a partition of so many stays up, if it is known.
    pub fn mean_up(&self, machines: u32) -> Option<Span> {
        let alone = self.random.map(|random| random.up.mean());
        let traced = self.traced.as_ref().and_then(TracedChurn::mean_up);
        let groups = self.groups.map(|groups| groups.mean_between(machines));
        alone.into_iter().chain(traced).chain(groups).reduce(together)
    }
}

/// The mean time for which a machine is up that fails for two reasons.
fn together(a: Span, b: Span) -> Span {
    let (a, b) = (u128::from(a.micros()), u128::from(b.micros()));
    Span::from_micros(u64::try_from(a * b / (a + b).max(1)).unwrap_or(u64::MAX))
}

impl Distribution {
    /// The written forms of a distribution, for messages.
    pub const FORMS: &'static str =
        "`exponential[mean=45 h]`, `weibull[shape=0.7,mean=45 h]` or `lognormal[median=1 h,sigma=1.6]`";

    /// The mean, rounded to a microsecond; [`Span::MAX`] if it is longer than the time axis.
    pub fn mean(&self) -> Span {
        match *self {
            Self::Exponential { mean } | Self::Weibull { mean, .. } => mean,
            Self::Lognormal { median, sigma } => {
                let sigma = sigma as f64 / 1e6;
                let micros = median.micros() as f64 * libm::exp(sigma * sigma / 2.0);
                // The cast saturates.
                Span::from_micros(libm::round(micros) as u64)
            }
        }
    }
}

impl FromStr for Distribution {
    type Err = NamedError;

    fn from_str(written: &str) -> Result<Self, NamedError> {
        let span = |named: &mut Named, key: &str| match named.take(key, "a duration such as `45 h`")? {
            Some(Span::ZERO) => Err(NamedError::bad_value(&named.name, key, "0", "above 0")),
            Some(span) => Ok(span),
            None => {
                let expected = "given; it must be a duration such as `45 h`";
                Err(NamedError::bad_value(&named.name, key, "", expected))
            }
        };
        let millionths = |named: &mut Named, key: &str, least: f64, most: f64| {
            let expected = format!("a number from {least} to {most}");
            match named.take_within(key, least..=most, &expected)? {
                Some(value) => Ok(libm::round(value * 1e6) as u64),
                None => Err(NamedError::bad_value(&named.name, key, "", &expected)),
            }
        };
        let mut named: Named = written.parse()?;
        let (distribution, keys) = match named.name.as_str() {
            "exponential" => (Self::Exponential { mean: span(&mut named, "mean")? }, &["mean"][..]),
            "weibull" => {
                // With a smaller shape nearly all draws are shorter than a microsecond.
                let (shape, mean) = (millionths(&mut named, "shape", 0.1, 100.0)?, span(&mut named, "mean")?);
                (Self::Weibull { shape, mean }, &["shape", "mean"][..])
            }
            "lognormal" => {
                let (median, sigma) =
                    (span(&mut named, "median")?, millionths(&mut named, "sigma", 0.01, 10.0)?);
                (Self::Lognormal { median, sigma }, &["median", "sigma"][..])
            }
            _ => return Err(NamedError::Syntax(written.to_owned())),
        };
        named.finish(keys)?;
        Ok(distribution)
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimal = |ppm: u64| ppm as f64 / 1e6;
        match *self {
            Self::Exponential { mean } => write!(f, "exponential[mean={mean} s]"),
            Self::Weibull { shape, mean } => write!(f, "weibull[mean={mean} s,shape={}]", decimal(shape)),
            Self::Lognormal { median, sigma } => {
                write!(f, "lognormal[median={median} s,sigma={}]", decimal(sigma))
            }
        }
    }
}

saved_as_text!(Distribution);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_distributions_are_read_back() {
        for written in
            ["exponential[mean=90 s]", "weibull[mean=0.5 s,shape=0.7]", "lognormal[median=60 s,sigma=1.6]"]
        {
            assert_eq!(written.parse::<Distribution>().unwrap().to_string(), written);
        }
    }

    #[test]
    fn impossible_parameters_are_refused_with_what_would_be_right() {
        for (written, says) in [
            ("exponential[mean=0 s]", "above 0"),
            ("exponential", "given; it must be a duration such as `45 h`"),
            ("weibull[shape=0.01,mean=45 h]", "`shape=0.01` in `weibull` is not a number from 0.1 to 100"),
            ("weibull[shape=nan,mean=45 h]", "a number from 0.1 to 100"),
            ("lognormal[median=1 h,sigma=-1]", "a number from 0.01 to 10"),
            ("lognormal[mean=1 h,sigma=1]", "median"),
        ] {
            let error = written.parse::<Distribution>().unwrap_err().to_string();
            assert!(error.contains(says), "{written}: {error}");
        }
    }

    #[test]
    fn the_mean_of_a_lognormal_is_above_its_median() {
        // e^(1.6² / 2) is 3.59664.
        let lognormal: Distribution = "lognormal[median=1 h,sigma=1.6]".parse().unwrap();
        assert_eq!(lognormal.mean().micros() / 1_000_000, 12_947);
        assert_eq!(
            "weibull[shape=0.7,mean=45 h]".parse::<Distribution>().unwrap().mean(),
            Span::from_secs(162_000)
        );
        assert_eq!("lognormal[median=9999999 d,sigma=10]".parse::<Distribution>().unwrap().mean(), Span::MAX);
    }
}
