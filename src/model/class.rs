//! Job classes by run time and size, with the papers' cuts as presets.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::nearest;
use crate::units::Span;

/// Cuts of jobs by run time and by size. A job belongs to the first class whose upper bound (inclusive) holds
/// it; the last class of each axis has no bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobClasses {
    name: String,
    times: Vec<(String, Span)>,
    last_time: String,
    sizes: Vec<(String, SizeBound)>,
    last_size: String,
    /// Whether a bound belongs to the class below it (`runtime ≤ bound`) or above it (`runtime < bound`).
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

/// A class: an index into the run-time axis and one into the size axis.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobClass {
    /// Place on the run-time axis.
    pub time: u8,
    /// Place on the size axis.
    pub size: u8,
}

/// A preset that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there are no job classes `{written}`; the presets are {}{}", JobClasses::PRESETS.join(", "), hint.as_ref().map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default())]
pub struct ClassError {
    written: String,
    hint: Option<String>,
}

impl JobClasses {
    /// Names of the presets.
    pub const PRESETS: [&'static str; 6] =
        ["none", "kettimuthu-16", "kettimuthu-4", "kanavallil", "huang-1", "huang-2"];

    /// One class for all.
    pub fn none() -> Self {
        Self::build("none", &[], "all", &[], "", true)
    }

    fn build(
        name: &str,
        times: &[(&str, u64)],
        last_time: &str,
        sizes: &[(&str, SizeBound)],
        last_size: &str,
        inclusive: bool,
    ) -> Self {
        Self {
            name: name.to_owned(),
            times: times.iter().map(|(label, secs)| ((*label).to_owned(), Span::from_secs(*secs))).collect(),
            last_time: last_time.to_owned(),
            sizes: sizes.iter().map(|(label, bound)| ((*label).to_owned(), *bound)).collect(),
            last_size: last_size.to_owned(),
            inclusive,
        }
    }

    /// The preset's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of classes.
    pub fn count(&self) -> usize {
        (self.times.len() + 1) * (self.sizes.len() + 1)
    }

    /// The class of a job of `runtime` on `procs` of a machine of `machine` processors.
    pub fn of(&self, runtime: Span, procs: u32, machine: u32) -> JobClass {
        let within = |value: u64, bound: u64| if self.inclusive { value <= bound } else { value < bound };
        let time = self
            .times
            .iter()
            .position(|(_, bound)| within(runtime.micros(), bound.micros()))
            .unwrap_or(self.times.len());
        let size = self
            .sizes
            .iter()
            .position(|(_, bound)| match bound {
                SizeBound::Processors(n) => procs <= *n,
                SizeBound::Percent(p) => u64::from(procs) * 100 <= u64::from(machine) * u64::from(*p),
            })
            .unwrap_or(self.sizes.len());
        JobClass { time: time as u8, size: size as u8 }
    }

    /// Place of a class in `0..count()`, run time first.
    pub fn index(&self, class: JobClass) -> usize {
        usize::from(class.time) * (self.sizes.len() + 1) + usize::from(class.size)
    }

    /// The label of the class at `index`, such as `short wide` or `VS-VW`.
    pub fn label(&self, index: usize) -> String {
        let (time, size) = (index / (self.sizes.len() + 1), index % (self.sizes.len() + 1));
        let time = self.times.get(time).map_or(self.last_time.as_str(), |(label, _)| label);
        let size = self.sizes.get(size).map_or(self.last_size.as_str(), |(label, _)| label);
        match (time.is_empty(), size.is_empty()) {
            (_, true) => time.to_owned(),
            (true, _) => size.to_owned(),
            _ => format!("{time} {size}"),
        }
    }
}

impl FromStr for JobClasses {
    type Err = ClassError;

    /// A preset by name. Kettimuthu 2003 (sections 2 and 4): 10 min / 1 h / 8 h by 1 / 8 / 32 processors, upper
    /// bounds inclusive, or 1 h by 8. Kanavallil 2007 (section 7): 10 min / 3 h by 10 % / 50 % of the machine.
    /// Huang 2004 (Table 7-2): 1 / 30 min (workload 1), 3 / 60 min (workload 2).
    fn from_str(written: &str) -> Result<Self, ClassError> {
        use SizeBound::{Percent, Processors};
        Ok(match written {
            "none" => Self::none(),
            "kettimuthu-16" => Self::build(
                written,
                &[("VS", 600), ("S", 3_600), ("L", 28_800)],
                "VL",
                &[("Seq", Processors(1)), ("N", Processors(8)), ("W", Processors(32))],
                "VW",
                true,
            ),
            "kettimuthu-4" => Self::build(written, &[("S", 3_600)], "L", &[("N", Processors(8))], "W", true),
            "kanavallil" => Self::build(
                written,
                &[("short", 600), ("medium", 10_800)],
                "long",
                &[("narrow", Percent(10)), ("medium", Percent(50))],
                "wide",
                false,
            ),
            "huang-1" => Self::build(written, &[("short", 60), ("medium", 1_800)], "long", &[], "", true),
            "huang-2" => Self::build(written, &[("short", 180), ("medium", 3_600)], "long", &[], "", true),
            _ => {
                let hint = nearest(written, Self::PRESETS).map(str::to_owned);
                return Err(ClassError { written: written.to_owned(), hint });
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_fall_where_the_papers_say() {
        let ks: JobClasses = "kettimuthu-16".parse().unwrap();
        assert_eq!(ks.count(), 16);
        let label = |secs, procs| ks.label(ks.index(ks.of(Span::from_secs(secs), procs, 430)));
        assert_eq!(label(600, 1), "VS Seq");
        assert_eq!(label(601, 8), "S N");
        assert_eq!(label(28_801, 33), "VL VW");
        let kv: JobClasses = "kanavallil".parse().unwrap();
        let label = |secs, procs| kv.label(kv.index(kv.of(Span::from_secs(secs), procs, 128)));
        assert_eq!(label(599, 12), "short narrow");
        assert_eq!(label(600, 13), "medium medium");
        assert_eq!(label(10_800, 65), "long wide");
    }

    #[test]
    fn a_near_miss_is_named() {
        let error = "kettimutu-16".parse::<JobClasses>().unwrap_err();
        assert!(error.to_string().contains("did you mean `kettimuthu-16`"), "{error}");
    }
}
