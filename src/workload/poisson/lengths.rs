//! Distributions of run times.

use std::fmt;
use std::str::FromStr;

use crate::model::Distribution;
use crate::units::Span;
use crate::workload::random::{LogNormal, Portable, Stream, Weibull};

/// A distribution of run times: `10 min`, `1 min..1 h` (uniform), or a [`Distribution`] such as `exponential[mean=10
/// min]`. Every run time is at least a microsecond.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// Always this long.
    Fixed(Span),
    /// Uniform from the first to the last, both included.
    Range(Span, Span),
    /// Drawn from a distribution.
    Drawn(Distribution),
}

impl Lengths {
    /// The mean in seconds; infinite if it is beyond the time axis.
    pub fn mean(self) -> f64 {
        match self {
            Self::Fixed(length) => length.as_secs_f64(),
            Self::Range(first, last) => (first.as_secs_f64() + last.as_secs_f64()) / 2.0,
            Self::Drawn(distribution) => match distribution.mean() {
                Span::MAX => f64::INFINITY,
                mean => mean.as_secs_f64(),
            },
        }
    }

    pub(crate) fn draw(self, stream: &mut Stream) -> Span {
        match self {
            Self::Fixed(length) => length,
            Self::Range(first, last) => {
                let choices = (last - first).micros().saturating_add(1);
                first + Span::from_micros(stream.below(choices))
            }
            Self::Drawn(distribution) => {
                let micros = match distribution {
                    Distribution::Exponential { mean } => mean.micros() as f64 * stream.exponential(),
                    Distribution::Weibull { shape, mean } => {
                        let shape = decimal(shape.max(1));
                        let scale = mean.micros() as f64 / libm::tgamma(1.0 + 1.0 / shape);
                        let unit = Weibull::new(Portable(1.0), Portable(shape));
                        scale * stream.draw(unit.expect("a shape above zero"))
                    }
                    Distribution::Lognormal { median, sigma } => {
                        let unit = LogNormal::new(Portable(0.0), Portable(decimal(sigma)));
                        median.micros() as f64 * stream.draw(unit.expect("a finite sigma"))
                    }
                };
                // The cast saturates; a run time that long ends the run with an error.
                Span::from_micros(libm::round(micros).max(1.0) as u64)
            }
        }
    }
}

fn decimal(millionths: u64) -> f64 {
    millionths as f64 / 1e6
}

impl FromStr for Lengths {
    type Err = ();

    fn from_str(written: &str) -> Result<Self, ()> {
        let length = |text: &str| text.parse::<Span>().ok().filter(|length| !length.is_zero()).ok_or(());
        if let Some((first, last)) = written.split_once("..") {
            let (first, last) = (length(first)?, length(last)?);
            return if first <= last { Ok(Self::Range(first, last)) } else { Err(()) };
        }
        length(written).map(Self::Fixed).or_else(|()| written.parse().map(Self::Drawn).map_err(|_| ()))
    }
}

impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(length) => write!(f, "{length} s"),
            Self::Range(first, last) => write!(f, "{first} s..{last} s"),
            Self::Drawn(distribution) => distribution.fmt(f),
        }
    }
}
