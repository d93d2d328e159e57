//! Job classes by run time and size, with the classifications of papers as presets.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Named, NamedError, did_you_mean, nearest};
use crate::units::Span;

/// Bounds that classify jobs by run time and by size. A job belongs to the first class whose upper bound (inclusive) holds
/// it; the last class of each axis has no bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobClasses {
    name: String,
    times: Vec<(String, Span)>,
    last_time: String,
    sizes: Vec<(String, SizeBound)>,
    last_size: String,
    /// Whether a bound of run times belongs to the class below it (`runtime ≤ bound`) or above it (`runtime < bound`). Bounds of sizes
    /// always belong to the class below.
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

/// A job class: an index into the run-time axis and one into the size axis.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobClass {
    /// The index on the run-time axis.
    pub time: u8,
    /// The index on the size axis.
    pub size: u8,
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
    pub const PRESETS: [&'static str; 6] =
        ["none", "kettimuthu-16", "kettimuthu-4", "kanavallil", "huang-1", "huang-2"];

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

    /// The index of a class in `0..count()`, run time first.
    pub fn index(&self, class: JobClass) -> usize {
        usize::from(class.time) * (self.sizes.len() + 1) + usize::from(class.size)
    }

    /// What the names of the classes mean, such as `S up to 1 h, L longer; N up to 8 processors, W more`; `None` if they are their
    /// bounds.
    pub fn meaning(&self) -> Option<String> {
        let to = if self.inclusive { "up to" } else { "below" };
        let named = |last: &str| !last.is_empty() && !last.starts_with('>');
        let mut parts = Vec::new();
        if !self.times.is_empty() && named(&self.last_time) {
            let bounds = self.times.iter().map(|(name, bound)| format!("{name} {to} {}", bound.told()));
            parts.push(format!("{}, {} longer", bounds.collect::<Vec<_>>().join(", "), self.last_time));
        }
        if !self.sizes.is_empty() && named(&self.last_size) {
            let bounds = self.sizes.iter().map(|(name, bound)| match bound {
                SizeBound::Processors(1) => format!("{name} 1 processor"),
                SizeBound::Processors(procs) => format!("{name} up to {procs} processors"),
                SizeBound::Percent(percent) => format!("{name} up to {percent} % of the machine"),
            });
            parts.push(format!("{}, {} more", bounds.collect::<Vec<_>>().join(", "), self.last_size));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
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

impl Default for JobClasses {
    /// A single class for all jobs.
    fn default() -> Self {
        Self {
            name: "none".to_owned(),
            times: Vec::new(),
            last_time: "all".to_owned(),
            sizes: Vec::new(),
            last_size: String::new(),
            inclusive: true,
        }
    }
}

impl FromStr for JobClasses {
    type Err = ClassError;

    /// A preset by name, or bounds of a user's own, see [`JobClasses::EXAMPLE`]. Kettimuthu 2003 (sections 2 and 4): 10 min / 1 h / 8 h by
    /// 1 / 8 / 32 processors, upper bounds inclusive, or 1 h by 8. Kanavallil 2007 (section 7): 10 min / 3 h by 10 % / 50 % of the machine.
    /// Huang 2004 (Table 7-2): 1 / 30 min (workload 1), 3 / 60 min (workload 2).
    fn from_str(written: &str) -> Result<Self, ClassError> {
        let preset = match written {
            "none" => return Ok(Self::none()),
            "kettimuthu-16" => {
                "cuts[run=10 min/1 h/8 h,run-names=VS/S/L/VL,size=1/8/32,size-names=Seq/N/W/VW]"
            }
            "kettimuthu-4" => "cuts[run=1 h,run-names=S/L,size=8,size-names=N/W]",
            "kanavallil" => {
                "cuts[run=10 min/3 h,run-names=short/medium/long,bounds=exclusive,\
                 size=10%/50%,size-names=narrow/medium/wide]"
            }
            "huang-1" => "cuts[run=1 min/30 min,run-names=short/medium/long]",
            "huang-2" => "cuts[run=3 min/1 h,run-names=short/medium/long]",
            _ if written.trim_start().starts_with("cuts") => return cuts(written),
            _ => {
                let hint = nearest(written, Self::PRESETS).map(str::to_owned);
                return Err(ClassError::Unknown { written: written.to_owned(), hint });
            }
        };
        Ok(Self { name: written.to_owned(), ..cuts(preset)? })
    }
}

/// `cuts[run=BOUND/…,size=BOUND/…,run-names=NAME/…,size-names=NAME/…,bounds=inclusive|exclusive]`: upper bounds of run times as
/// durations and of sizes as processors or percents of the machine (`10%`), and, if they shall have names, one more name than bounds.
fn cuts(written: &str) -> Result<JobClasses, ClassError> {
    let wrong = |problem: String| ClassError::Cuts { written: written.to_owned(), problem };
    let mut named: Named = written.parse()?;
    let name = named.to_string();
    let runs: Option<String> = named.take("run", "durations")?;
    let sizes: Option<String> = named.take("size", "sizes")?;
    let run_names: Option<String> = named.take("run-names", "names")?;
    let size_names: Option<String> = named.take("size-names", "names")?;
    let inclusive =
        named.take_choice("bounds", &[("inclusive", true), ("exclusive", false)])?.unwrap_or(true);
    named.finish(&["run", "size", "run-names", "size-names", "bounds"])?;
    if runs.is_none() && sizes.is_none() {
        return Err(wrong("bounds are missing; give `run`, `size` or both".to_owned()));
    }
    let mut runs =
        bounds(runs.as_deref(), |bound| bound.parse::<Span>().map_err(|error| wrong(error.to_string())))?;
    // A bare number means seconds, as everywhere; the name of a class shows the unit.
    for (text, _) in runs.iter_mut().filter(|(text, _)| text.ends_with(|end: char| end.is_ascii_digit())) {
        text.push('s');
    }
    let sizes = bounds(sizes.as_deref(), |bound| {
        let (number, percent) =
            bound.strip_suffix('%').map_or((bound, false), |number| (number.trim(), true));
        let number: u32 = number.parse().map_err(|_| {
            wrong(format!(
                "`{bound}` is not a size; write a number of processors or a percentage such as `10%`"
            ))
        })?;
        match number {
            0 => Err(wrong(format!("no job is as small as `{bound}`: the class would be empty"))),
            101.. if percent => Err(wrong(format!("`{bound}` is more than a machine has"))),
            _ if percent => Ok(SizeBound::Percent(number)),
            _ => Ok(SizeBound::Processors(number)),
        }
    })?;
    if !runs.windows(2).all(|pair| pair[0].1 < pair[1].1) {
        return Err(wrong("the bounds of `run` must rise".to_owned()));
    }
    let rise = |pair: &[(String, SizeBound)]| match (pair[0].1, pair[1].1) {
        (SizeBound::Processors(low), SizeBound::Processors(high)) => low < high,
        (SizeBound::Percent(low), SizeBound::Percent(high)) => low < high,
        // Which bound is larger depends on the machine; the first that holds a job applies.
        _ => true,
    };
    if !sizes.windows(2).all(rise) {
        return Err(wrong("the bounds of `size` must rise".to_owned()));
    }
    // The comparison signs in the names of the classes below and above a bound.
    let (within, beyond) = if inclusive { ("<=", ">") } else { ("<", ">=") };
    let (times, last_time) = labelled(runs, run_names.as_deref(), within, beyond, "").map_err(wrong)?;
    let (sizes, last_size) = labelled(sizes, size_names.as_deref(), "<=", ">", "p").map_err(wrong)?;
    let mut names: Vec<&str> =
        times.iter().map(|(name, _)| name.as_str()).chain([last_time.as_str()]).collect();
    twice(&mut names).map_or(Ok(()), |name| Err(wrong(format!("`run-names` has `{name}` twice"))))?;
    names = sizes.iter().map(|(name, _)| name.as_str()).chain([last_size.as_str()]).collect();
    twice(&mut names).map_or(Ok(()), |name| Err(wrong(format!("`size-names` has `{name}` twice"))))?;
    let classes = JobClasses { name, times, last_time, sizes, last_size, inclusive };
    if classes.count() > 256 {
        return Err(wrong(format!("these are {} classes; the most is 256", classes.count())));
    }
    Ok(classes)
}

/// A name that occurs more than once.
fn twice<'a>(names: &mut [&'a str]) -> Option<&'a str> {
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// The bounds between slashes, each with its text without blanks.
fn bounds<T>(
    written: Option<&str>,
    read: impl Fn(&str) -> Result<T, ClassError>,
) -> Result<Vec<(String, T)>, ClassError> {
    let bounds = written.into_iter().flat_map(|bounds| bounds.split('/')).map(str::trim);
    bounds.map(|bound| Ok((bound.replace(' ', ""), read(bound)?))).collect()
}

/// The bounds with the names of their classes, and the name of the class beyond them all.
fn labelled<T>(
    bounds: Vec<(String, T)>,
    names: Option<&str>,
    within: &str,
    beyond: &str,
    unit: &str,
) -> Result<(Vec<(String, T)>, String), String> {
    let Some(names) = names else {
        let unit = |text: &str| if text.ends_with('%') { "" } else { unit };
        let last = bounds.last().map(|(text, _)| format!("{beyond}{text}{}", unit(text)));
        let named = bounds.into_iter().map(|(text, bound)| (format!("{within}{text}{}", unit(&text)), bound));
        return Ok((named.collect(), last.unwrap_or_default()));
    };
    let names: Vec<&str> = names.split('/').map(str::trim).collect();
    if names.len() != bounds.len() + 1 {
        let (names, classes) = (names.len(), bounds.len() + 1);
        return Err(format!("{names} names for {classes} classes: one more than there are bounds"));
    }
    let last = names[bounds.len()].to_owned();
    Ok((names.into_iter().zip(bounds).map(|(name, (_, bound))| (name.to_owned(), bound)).collect(), last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_classes_have_a_meaning() {
        let meaning = |written: &str| written.parse::<JobClasses>().unwrap().meaning();
        assert_eq!(
            meaning("kettimuthu-16").unwrap(),
            "VS up to 10 min, S up to 1 h, L up to 8 h, VL longer; \
             Seq 1 processor, N up to 8 processors, W up to 32 processors, VW more"
        );
        assert_eq!(
            meaning("kanavallil").unwrap(),
            "short below 10 min, medium below 3 h, long longer; \
             narrow up to 10 % of the machine, medium up to 50 % of the machine, wide more"
        );
        assert_eq!(meaning("huang-2").unwrap(), "short up to 3 min, medium up to 1 h, long longer");
        assert_eq!((meaning("none"), meaning("cuts[run=1 h,size=8]")), (None, None));
    }

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
    fn own_cuts_fall_where_they_say() {
        let cuts: JobClasses = JobClasses::EXAMPLE.parse().unwrap();
        assert_eq!(cuts.count(), 16);
        assert_eq!(cuts.name(), JobClasses::EXAMPLE);
        let presets: JobClasses = "kettimuthu-16".parse().unwrap();
        for (secs, procs) in [(600, 1), (601, 8), (28_801, 33), (28_800, 32), (0, 9)] {
            let run = Span::from_secs(secs);
            assert_eq!(cuts.of(run, procs, 430), presets.of(run, procs, 430));
        }
        assert_eq!(cuts.label(0), "<=10min <=1p");
        assert_eq!(cuts.label(15), ">8h >32p");
        let named: JobClasses = "cuts[run=1 h,run-names=short/long]".parse().unwrap();
        assert_eq!(
            (named.count(), named.label(0), named.label(1)),
            (2, "short".to_owned(), "long".to_owned())
        );
        let shares: JobClasses = "cuts[size=10%/50%,size-names=narrow/medium/wide]".parse().unwrap();
        assert_eq!(shares.label(shares.index(shares.of(Span::ZERO, 13, 128))), "medium");
        let below: JobClasses = "cuts[run=10 min,bounds=exclusive]".parse().unwrap();
        assert_eq!(below.label(below.index(below.of(Span::from_secs(600), 1, 1))), ">=10min");
        // Bounds of sizes always belong to the class below; a bare number means seconds.
        let below: JobClasses = "cuts[run=10,size=8,bounds=exclusive]".parse().unwrap();
        assert_eq!(below.label(below.index(below.of(Span::from_secs(10), 8, 16))), ">=10s <=8p");
    }

    #[test]
    fn cuts_that_make_no_classes_are_refused() {
        let said = |written: &str| written.parse::<JobClasses>().unwrap_err().to_string();
        assert_eq!(said("cuts"), "`cuts`: bounds are missing; give `run`, `size` or both");
        assert_eq!(said("cuts[run=1 h/10 min]"), "`cuts[run=1 h/10 min]`: the bounds of `run` must rise");
        assert_eq!(
            said("cuts[size=1/8,size-names=a/b]"),
            "`cuts[size=1/8,size-names=a/b]`: 2 names for 3 classes: one more than there are bounds"
        );
        assert!(said("cuts[runs=1 h]").contains("did you mean `run`?"), "{}", said("cuts[runs=1 h]"));
        assert!(said("cuts[size=many]").contains("`many` is not a size"), "{}", said("cuts[size=many]"));
        assert!(said("cuts[size=0]").ends_with("no job is as small as `0`: the class would be empty"));
        assert!(said("cuts[size=0%]").ends_with("no job is as small as `0%`: the class would be empty"));
        assert!(said("cuts[size=200%]").ends_with("`200%` is more than a machine has"));
        assert!(said("cuts[run=1 h,run-names=a/a]").ends_with("`run-names` has `a` twice"));
        assert!(said("cuts[size=1/8,size-names=a/b/a]").ends_with("`size-names` has `a` twice"));
    }

    #[test]
    fn a_near_miss_is_named() {
        let error = "kettimutu-16".parse::<JobClasses>().unwrap_err();
        assert!(error.to_string().contains("did you mean `kettimuthu-16`"), "{error}");
    }
}
