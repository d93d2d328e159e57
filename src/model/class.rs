//! Job classes by run time, size and the quality of the estimate, with the classifications of papers as presets.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::axis::Axis;
use super::{NamedError, did_you_mean, nearest};
use crate::units::Span;

mod axis;
mod cuts;
#[cfg(test)]
mod tests;

/// Bounds that classify jobs by run time, by size and by how much their estimates exceed their run times. A job belongs to the first
/// class whose upper bound (inclusive) holds it; the last class of each axis has no bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobClasses {
    name: String,
    times: Axis<Span>,
    sizes: Axis<SizeBound>,
    estimates: Axis<EstimateBound>,
    /// Whether a bound of run times belongs to the class below it (`runtime ≤ bound`) or above it (`runtime < bound`). Bounds of sizes
    /// and of estimates always belong to the class below.
    inclusive: bool,
}

/// The upper bound of a size class.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SizeBound {
    /// This many processors.
    Processors(u32),
    /// This share of the machine, in percent.
    Percent(u32),
}

/// The upper bound of a class of estimates: the estimate over the run time, in millionths.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EstimateBound(u64);

impl EstimateBound {
    /// A ratio of one: estimates that equal the run time.
    pub const ONE: Self = Self(1_000_000);

    /// Whether `estimate` is at most this many times `runtime`. Of a job without run time only an estimate of zero is.
    pub fn holds(self, estimate: Span, runtime: Span) -> bool {
        u128::from(estimate.micros()) * u128::from(Self::ONE.0)
            <= u128::from(runtime.micros()) * u128::from(self.0)
    }
}

impl fmt::Display for EstimateBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / Self::ONE.0, self.0 % Self::ONE.0);
        match format!("{rest:06}").trim_end_matches('0') {
            "" => write!(f, "{whole}"),
            decimals => write!(f, "{whole}.{decimals}"),
        }
    }
}

/// A job class: an index into each axis.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobClass {
    /// The index on the run-time axis.
    pub time: u8,
    /// The index on the size axis.
    pub size: u8,
    /// The index on the axis of estimates.
    pub estimate: u8,
}

/// What a job is classified by.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ClassifiedBy {
    /// Its run time.
    pub runtime: Span,
    /// Its estimate, on the same processors: both are as long at any speed.
    pub estimate: Span,
    /// The processors that it requests.
    pub procs: u32,
}

/// An error in the name or the bounds of job classes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ClassError {
    /// A preset that does not exist.
    #[error("there are no job classes `{written}`; the presets are {}, and own ones are written like `{}`{}", JobClasses::PRESETS.join(", "), JobClasses::EXAMPLE, did_you_mean(hint.as_deref()))]
    Unknown {
        /// The text as written.
        written: String,
        /// The nearest preset.
        hint: Option<String>,
    },
    /// A syntax error in the bounds.
    #[error(transparent)]
    Form(#[from] NamedError),
    /// Bounds that do not increase, or more than there are names for.
    #[error("`{written}`: {problem}")]
    Cuts {
        /// The text as written.
        written: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl JobClasses {
    /// The names of the presets.
    pub const PRESETS: [&'static str; 8] = [
        "none",
        "kettimuthu-16",
        "kettimuthu-32",
        "kettimuthu-4",
        "kettimuthu-estimates",
        "kanavallil",
        "huang-1",
        "huang-2",
    ];

    /// An example of bounds of a user's own.
    pub const EXAMPLE: &'static str = "cuts[run=10 min/1 h/8 h,size=1/8/32]";

    /// A single class for all jobs.
    pub fn none() -> Self {
        Self::default()
    }

    /// The preset's name, or the bounds as they are written.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of classes.
    pub fn count(&self) -> usize {
        self.times.count() * self.sizes.count() * self.estimates.count()
    }

    /// The class of a job on a machine of `machine` processors.
    pub fn of(&self, job: ClassifiedBy, machine: u32) -> JobClass {
        let ClassifiedBy { runtime, estimate, procs } = job;
        let time =
            self.times.place(|bound| if self.inclusive { runtime <= *bound } else { runtime < *bound });
        let size = self.sizes.place(|bound| match bound {
            SizeBound::Processors(n) => procs <= *n,
            SizeBound::Percent(p) => u64::from(procs) * 100 <= u64::from(machine) * u64::from(*p),
        });
        let estimate = self.estimates.place(|bound| bound.holds(estimate, runtime));
        JobClass { time, size, estimate }
    }

    /// The index of a class in `0..count()`: run time first, then size, then estimate.
    pub fn index(&self, class: JobClass) -> usize {
        let row = usize::from(class.time) * self.sizes.count() + usize::from(class.size);
        row * self.estimates.count() + usize::from(class.estimate)
    }

    /// What jobs are classified by, such as `run time and requested processors`.
    pub fn criteria(&self) -> String {
        let axes = [
            (self.times.count(), "run time"),
            (self.sizes.count(), "requested processors"),
            (self.estimates.count(), "estimate over run time"),
        ];
        let divided: Vec<&str> = axes.iter().filter(|(count, _)| *count > 1).map(|(_, axis)| *axis).collect();
        match &divided[..] {
            [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            few => few.concat(),
        }
    }

    /// What the names of the classes mean, such as `S up to 1 h, L longer; N up to 8 processors, W more`; `None` if they are their
    /// bounds.
    pub fn meaning(&self) -> Option<String> {
        let to = if self.inclusive { "up to" } else { "below" };
        let times = self.times.meaning("longer", |name, bound| format!("{name} {to} {}", bound.told()));
        let sizes = self.sizes.meaning("more", |name, bound| match bound {
            SizeBound::Processors(1) => format!("{name} 1 processor"),
            SizeBound::Processors(procs) => format!("{name} up to {procs} processors"),
            SizeBound::Percent(percent) => format!("{name} up to {percent} % of the machine"),
        });
        let estimates = self
            .estimates
            .meaning("more", |name, bound| format!("{name} estimated at up to {bound} × the run time"));
        let parts: Vec<String> = [times, sizes, estimates].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// The label of the class at `index`, such as `short wide`, `VS VW` or `VS VW well`.
    pub fn label(&self, index: usize) -> String {
        let (rest, estimate) = (index / self.estimates.count(), index % self.estimates.count());
        let (time, size) = (rest / self.sizes.count(), rest % self.sizes.count());
        let words = [self.times.label(time), self.sizes.label(size), self.estimates.label(estimate)];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

impl Default for JobClasses {
    /// A single class for all jobs.
    fn default() -> Self {
        Self {
            name: "none".to_owned(),
            times: Axis { last: "all".to_owned(), ..Axis::default() },
            sizes: Axis::default(),
            estimates: Axis::default(),
            inclusive: true,
        }
    }
}

impl FromStr for JobClasses {
    type Err = ClassError;

    /// A preset by name, or bounds of a user's own, see [`JobClasses::EXAMPLE`]. Kettimuthu 2003 (sections 2 and 4): 10 min / 1 h / 8 h by
    /// 1 / 8 / 32 processors, upper bounds inclusive; section 4.2: 1 h by 8; chapter 4 also divides by the estimate, not more than twice the
    /// run time (well estimated) or more (badly). Kanavallil 2007 (section 7): 10 min / 3 h by 10 % / 50 % of the machine. Huang 2004 (Table 7-2):
    /// 1 / 30 min (workload 1), 3 / 60 min (workload 2).
    fn from_str(written: &str) -> Result<Self, ClassError> {
        let preset = match written {
            "none" => return Ok(Self::none()),
            "kettimuthu-16" => {
                "cuts[run=10 min/1 h/8 h,run-names=VS/S/L/VL,size=1/8/32,size-names=Seq/N/W/VW]"
            }
            "kettimuthu-32" => {
                "cuts[run=10 min/1 h/8 h,run-names=VS/S/L/VL,size=1/8/32,size-names=Seq/N/W/VW,\
                 estimates=2,estimate-names=well/badly]"
            }
            "kettimuthu-4" => "cuts[run=1 h,run-names=S/L,size=8,size-names=N/W]",
            "kettimuthu-estimates" => "cuts[estimates=2,estimate-names=well/badly]",
            "kanavallil" => {
                "cuts[run=10 min/3 h,run-names=short/medium/long,bounds=exclusive,\
                 size=10%/50%,size-names=narrow/medium/wide]"
            }
            "huang-1" => "cuts[run=1 min/30 min,run-names=short/medium/long]",
            "huang-2" => "cuts[run=3 min/1 h,run-names=short/medium/long]",
            _ if written.trim_start().starts_with("cuts") => return cuts::read(written),
            _ => {
                let hint = nearest(written, Self::PRESETS).map(str::to_owned);
                return Err(ClassError::Unknown { written: written.to_owned(), hint });
            }
        };
        Ok(Self { name: written.to_owned(), ..cuts::read(preset)? })
    }
}
