//! Run-time estimates derived from the jobs themselves.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Shape, ShapeError, Shaped, decimal, mark_error, own_state, with_state};
use crate::model::{Job, saved_as_text};
use crate::workload::{Mark, Source, SourceError};

const MILLION: u64 = 1_000_000;

/// How estimates are made. Models that draw user estimates at random are sources of their own.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Estimates {
    /// The estimates of the log.
    #[default]
    Log,
    /// The run time itself.
    Exact,
    /// The run time times this many millionths, rounded up to a microsecond. Below a million, jobs are killed at
    /// their estimate at sites that do not allow overrun.
    Factor(u64),
}

impl Estimates {
    const EXPECTED: &'static str = "`log`, `exact` or `factor:F` with a factor from 0.000001 to 1000000, such as \
                                    `factor:2.5`";
}

impl FromStr for Estimates {
    type Err = ShapeError;

    fn from_str(written: &str) -> Result<Self, ShapeError> {
        let fail = || ShapeError::new(written, Self::EXPECTED);
        match written {
            "log" => return Ok(Self::Log),
            "exact" => return Ok(Self::Exact),
            _ => {}
        }
        let factor = written.strip_prefix("factor:").ok_or_else(fail)?;
        let (digits, unit) = decimal(factor).ok_or_else(fail)?;
        let millionths = u128::from(digits) * u128::from(MILLION);
        if !millionths.is_multiple_of(u128::from(unit)) {
            return Err(fail());
        }
        match u64::try_from(millionths / u128::from(unit)) {
            Ok(millionths @ 1..=1_000_000_000_000) => Ok(Self::Factor(millionths)),
            _ => Err(fail()),
        }
    }
}

impl fmt::Display for Estimates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log => f.pad("log"),
            Self::Exact => f.pad("exact"),
            Self::Factor(millionths) => {
                let text = format!("factor:{}.{:06}", millionths / MILLION, millionths % MILLION);
                f.pad(text.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }
}

saved_as_text!(Estimates);

/// A source whose jobs have other estimates.
pub type Estimated = Shaped<Estimates>;

impl Estimated {
    /// Replaces the estimates of the jobs of `inner`.
    pub fn new(inner: Box<dyn Source>, estimates: Estimates) -> Self {
        Self { inner, shape: estimates }
    }
}

impl Shape for Estimates {
    fn apply(&mut self, job: &mut Job) -> Result<(), SourceError> {
        match *self {
            Self::Log => {}
            Self::Exact => job.estimate = job.runtime,
            Self::Factor(millionths) => job.estimate = job.runtime.scale_up(millionths, MILLION),
        }
        Ok(())
    }

    fn mark(&self, inner: Mark) -> Option<Mark> {
        with_state(inner, self)
    }

    fn seek(&mut self, mark: &Mark) -> Result<Mark, SourceError> {
        let (estimates, inner): (Self, _) = own_state("estimates", mark)?;
        if estimates != *self {
            return Err(mark_error("estimates", &format!("the mark was made with `{estimates}`")));
        }
        Ok(inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Span, Time};
    use crate::workload::Jobs;

    #[test]
    fn round_trips_or_is_refused() {
        for written in ["log", "exact", "factor:2", "factor:2.5", "factor:0.000001", "factor:1000000"] {
            assert_eq!(written.parse::<Estimates>().unwrap().to_string(), written);
        }
        for written in [
            "",
            "factor",
            "factor:",
            "factor:0",
            "factor:-1",
            "factor:0.0000001",
            "factor:1e3",
            "factor:1000001",
        ] {
            let error = written.parse::<Estimates>().unwrap_err();
            assert!(error.to_string().contains("`factor:F`"), "{error}");
        }
    }

    #[test]
    fn estimates_follow_the_run_time() {
        let estimate = |estimates: &str| {
            let job = Job::rigid(1, Time::ZERO, 1, Span::from_secs(10)).estimated(Span::from_secs(60));
            let inner = Box::new(Jobs::new(vec![job]));
            Estimated::new(inner, estimates.parse().unwrap()).next_job().unwrap().unwrap().estimate
        };
        assert_eq!(estimate("log"), Span::from_secs(60));
        assert_eq!(estimate("exact"), Span::from_secs(10));
        assert_eq!(estimate("factor:1.5"), Span::from_secs(15));
    }
}
