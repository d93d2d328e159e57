//! Failures of several machines at once, as descriptions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::text::saved_as_text;
use super::{Distribution, Named, NamedError};
use crate::units::Span;

/// How machines of a partition fail together, by chance.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupFailures {
    /// The time from one failure of a rack, or of some machines, to the next.
    pub every: Distribution,
    /// The machines that fail.
    pub size: GroupSize,
    /// The time within which all of them go down.
    pub window: Span,
    /// The time that each of them stays down.
    pub down: Distribution,
    /// How long before it goes down each of them drains.
    pub notice: Span,
}

/// Which machines fail together.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum GroupSize {
    /// Those of a rack: so many in a row, by number.
    Rack(u32),
    /// So many at random.
    Fixed(u32),
    /// A number at random that is 1 or more and geometrically distributed.
    Geometric {
        /// The mean in 10⁻⁶.
        mean: u64,
    },
    /// A number at random that is lognormally distributed, rounded, and 1 at least.
    Lognormal {
        /// The median in 10⁻⁶.
        median: u64,
        /// The standard deviation of the logarithm in 10⁻⁶.
        sigma: u64,
    },
}

impl GroupFailures {
    /// The mean time between the group failures that a machine of a partition of so many takes part in; for lognormal sizes nearly.
    pub fn mean_between(&self, machines: u32) -> Span {
        let part = match self.size {
            GroupSize::Rack(_) => 1.0,
            size => size.mean().min(f64::from(machines)) / f64::from(machines.max(1)),
        };
        // The cast saturates.
        Span::from_micros((self.every.mean().micros() as f64 / part.max(1e-9)) as u64)
    }

    /// The part of the time for which a machine of a partition of so many is up, as far as groups go: exactly if `every` is exponential, and for
    /// others nearly.
    pub fn availability(&self, machines: u32) -> f64 {
        // The number of outages that hold a machine down at once is Poisson, as in a queue with any number of servers.
        let load = self.down.mean().micros() as f64 / self.mean_between(machines).micros().max(1) as f64;
        libm::exp(-load)
    }
}

impl GroupSize {
    /// The written forms, for messages.
    pub const FORMS: &'static str = "`4`, `geometric[mean=1.2]` or `lognormal[median=3,sigma=0.8]`";

    /// The mean number of machines, not rounded and not bounded by those that are there.
    pub fn mean(self) -> f64 {
        match self {
            Self::Rack(size) | Self::Fixed(size) => f64::from(size),
            Self::Geometric { mean } => mean as f64 / 1e6,
            Self::Lognormal { median, sigma } => {
                let sigma = sigma as f64 / 1e6;
                median as f64 / 1e6 * libm::exp(sigma * sigma / 2.0)
            }
        }
    }
}

impl FromStr for GroupSize {
    type Err = NamedError;

    fn from_str(written: &str) -> Result<Self, NamedError> {
        if let Ok(size) = written.trim().parse::<u32>() {
            return if size > 0 {
                Ok(Self::Fixed(size))
            } else {
                Err(NamedError::Syntax(written.to_owned()))
            };
        }
        let mut named: Named = written.parse()?;
        let mut millionths = |key: &str, least: f64, most: f64| {
            let expected = format!("a number from {least} to {most}");
            match named.take_within(key, least..=most, &expected)? {
                Some(value) => Ok(libm::round(value * 1e6) as u64),
                None => Err(NamedError::bad_value(&named.name, key, "", &expected)),
            }
        };
        let (size, keys) = match written.split('[').next().unwrap_or_default().trim() {
            "rack" => {
                let size = named.take_within("machines", 1..=u32::MAX, "1 or more")?;
                let none = || NamedError::bad_value("rack", "machines", "", "1 or more");
                (Self::Rack(size.ok_or_else(none)?), &["machines"][..])
            }
            "geometric" => (Self::Geometric { mean: millionths("mean", 1.0, 1e6)? }, &["mean"][..]),
            "lognormal" => {
                let (median, sigma) = (millionths("median", 0.01, 1e6)?, millionths("sigma", 0.01, 10.0)?);
                (Self::Lognormal { median, sigma }, &["median", "sigma"][..])
            }
            _ => return Err(NamedError::Syntax(written.to_owned())),
        };
        named.finish(keys)?;
        Ok(size)
    }
}

impl fmt::Display for GroupSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimal = |millionths: u64| millionths as f64 / 1e6;
        match *self {
            Self::Rack(size) => write!(f, "rack[machines={size}]"),
            Self::Fixed(size) => write!(f, "{size}"),
            Self::Geometric { mean } => write!(f, "geometric[mean={}]", decimal(mean)),
            Self::Lognormal { median, sigma } => {
                write!(f, "lognormal[median={},sigma={}]", decimal(median), decimal(sigma))
            }
        }
    }
}

saved_as_text!(GroupSize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_sizes_are_read_back() {
        for written in ["4", "geometric[mean=1.2]", "lognormal[median=3,sigma=0.8]", "rack[machines=16]"] {
            assert_eq!(written.parse::<GroupSize>().unwrap().to_string(), written);
        }
        for (written, says) in [
            ("0", "`0`"),
            ("geometric[mean=0.5]", "a number from 1 to 1000000"),
            ("lognormal[median=2]", "a number from 0.01 to 10"),
            ("uniform[mean=2]", "uniform"),
        ] {
            let error = written.parse::<GroupSize>().unwrap_err().to_string();
            assert!(error.contains(says), "{written}: {error}");
        }
    }
}
