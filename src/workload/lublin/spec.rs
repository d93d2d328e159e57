//! The specification of a workload of the model.

use super::params::{JobParams, Kind, LublinParams, PARAMETERS, Parameter, Types};
use crate::model::{MAX_PROCESSORS, Named, NamedError};
use crate::workload::spec::{MOST_JOBS, SEED, spec_text};
use crate::workload::{Field, Key, Reading, Setting, Spec, Word};

/// The arrival rate of the jobs.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub enum Pace {
    /// The rate that follows from the arrival parameters.
    #[default]
    AsModelled,
    /// The rate at which jobs offer this load to the machine; all arrival times are multiplied by one constant.
    Load(f64),
    /// The rate that follows when all arrival times are multiplied by this factor.
    Factor(f64),
}

/// A resolved workload of the model: `lublin[jobs=10000,procs=128,load=0.7]` with every default filled in.
///
/// Written out, it has all its parameters and reads back as itself.
#[derive(Clone, Debug, PartialEq)]
pub struct LublinSpec {
    /// The number of jobs.
    pub jobs: u64,
    /// Processors of the machine: the greatest size, and the machine that the load refers to.
    pub procs: u32,
    /// A seed of its own; the jobs then depend neither on the run's seed nor on where they are used.
    pub seed: Option<u64>,
    /// The arrival rate of the jobs.
    pub pace: Pace,
    /// Hour of the day at which the workload starts, 0 to 23.
    pub start_hour: u32,
    /// Whether the clock is a whole number of seconds to which gaps are truncated, as in the authors' program.
    pub truncate: bool,
    /// Whether draws are those of the authors' program.
    pub reference: bool,
    /// The model's parameters.
    pub params: LublinParams,
}

impl LublinSpec {
    /// A workload of `jobs` jobs for a machine of `procs` processors with the reference parameters, unscaled.
    pub fn new(types: Types, jobs: u64, procs: u32) -> Self {
        Self {
            jobs,
            procs,
            seed: None,
            pace: Pace::AsModelled,
            start_hour: 0,
            truncate: false,
            reference: false,
            params: LublinParams::reference(types, procs),
        }
    }

    /// The keys of the model's parameters.
    fn parameter_keys(types: Types) -> Vec<String> {
        let keys = |kind: &'static Kind| PARAMETERS.iter().map(move |parameter| key_of(*kind, parameter));
        types.kinds().iter().rev().flat_map(keys).collect()
    }
}

impl Spec for LublinSpec {
    const NAME: &'static str = "lublin";

    /// All keys except the model's parameters, which are in [`PARAMETERS`].
    const KEYS: &'static [Key<Self>] = &[
        Setting::new("jobs", "10000", "number of jobs").field("a whole number of jobs", |s| &mut s.jobs),
        Setting::new("procs", "128", "processors of the machine")
            .field("a whole number of processors", |s| &mut s.procs),
        Setting::new(
            "types",
            "typeless",
            "`typeless` (one population) or `typed` (batch and interactive jobs)",
        )
        .own(
            |s, reading| {
                let types = reading.take_word("types")?.unwrap_or_default();
                s.params = LublinParams::reference(types, s.procs);
                Ok(())
            },
            |s| s.params.types().written(),
        ),
        Setting::new("seed", "", "its own seed, instead of the run's").field(SEED, |s| &mut s.seed),
        Setting::new("load", "", "offered load of the machine, by scaling arrival times").own(
            |s, reading| {
                s.pace = reading.take("load", LOAD)?.map_or(s.pace, Pace::Load);
                Ok(())
            },
            |s| s.pace.load(),
        ),
        Setting::new("factor", "", "scales arrival times by this, instead of `load`").own(
            |s, reading| match (s.pace, reading.take("factor", FACTOR)?) {
                (_, None) => Ok(()),
                (Pace::Load(_), Some(factor)) => {
                    let factor: f64 = factor;
                    Err(Self::bad("factor", factor, "possible beside `load`: both scale the arrival times"))
                }
                (_, Some(factor)) => {
                    s.pace = Pace::Factor(factor);
                    Ok(())
                }
            },
            |s| s.pace.factor(),
        ),
        Setting::new("start-hour", "0", "hour of the day at which the workload starts, 0 to 23")
            .field(HOUR, |s| &mut s.start_hour),
        Setting::new("truncate", "false", "keep the clock in whole seconds, as the authors' program does")
            .own(
                |s, reading| {
                    // `reference` is the default of `truncate`, so it is read first.
                    s.reference = reading.take_word("reference")?.unwrap_or(false);
                    s.truncate = reading.take_word("truncate")?.unwrap_or(s.reference);
                    Ok(())
                },
                |s| s.truncate.written(),
            ),
        Setting::new(
            "reference",
            "false",
            "draw as the authors' program does (drand48); `truncate` is then the default",
        )
        .word(|s| &mut s.reference),
    ];

    fn unread() -> Self {
        Self::new(Types::default(), 10_000, 128)
    }

    fn more_keys(&self) -> Vec<String> {
        Self::parameter_keys(self.params.types())
    }

    fn read_more(&mut self, reading: &mut Reading) -> Result<(), NamedError> {
        for (kind, params) in self.params.0.iter_mut().rev() {
            *params = take_params(reading, *kind, self.procs)?;
        }
        refuse_rest(reading.left().clone(), self)
    }

    fn write_more(&self, named: &mut Named) {
        for (kind, params) in self.params.kinds() {
            for parameter in &PARAMETERS {
                named.params.insert(key_of(kind, parameter), parameter.get(&params).to_string());
            }
        }
    }

    fn check(&self) -> Result<(), NamedError> {
        Self::check_number("jobs", self.jobs, MOST_JOBS, "jobs")?;
        Self::check_number("procs", self.procs.into(), MAX_PROCESSORS.into(), "processors")?;
        if self.start_hour > 23 {
            return Err(Self::bad("start-hour", self.start_hour, HOUR));
        }
        self.pace.check::<Self>(LOAD)?;
        self.params.kinds().iter().try_for_each(|(kind, params)| params.check(*kind, self.procs))
    }
}

spec_text!(LublinSpec);

impl Word for Types {
    const WORDS: &'static [(&'static str, Self)] = &[("typeless", Self::Typeless), ("typed", Self::Typed)];
}

impl Pace {
    /// The load as it is written.
    pub(in crate::workload) fn load(&self) -> Option<String> {
        if let Self::Load(load) = self { load.written() } else { None }
    }

    /// The factor as it is written.
    pub(in crate::workload) fn factor(&self) -> Option<String> {
        if let Self::Factor(factor) = self { factor.written() } else { None }
    }

    /// Checks that the rate can be met. `expected` describes valid loads for messages.
    pub(in crate::workload) fn check<S: Spec>(self, expected: &str) -> Result<(), NamedError> {
        match self {
            Self::Load(load) if !(0.001..=1000.0).contains(&load) => Err(S::bad("load", load, expected)),
            Self::Factor(factor) if !(1e-6..=1e6).contains(&factor) => Err(S::bad("factor", factor, FACTOR)),
            _ => Ok(()),
        }
    }
}

const LOAD: &str = "a load from 0.001 to 1000, such as 0.7";
pub(in crate::workload) const FACTOR: &str = "a factor from 0.000001 to 1000000";
pub(in crate::workload) const HOUR: &str = "an hour from 0 to 23";

fn key_of(kind: Kind, parameter: &Parameter) -> String {
    format!("{}{}", kind.prefix(), parameter.key)
}

/// Rejects keys that were not taken; the error for a parameter of the other types says what would be right.
fn refuse_rest(left: Named, spec: &LublinSpec) -> Result<(), NamedError> {
    let valid = spec.keys();
    let meant = left.params.keys().next().and_then(|key| match spec.params.types() {
        Types::Typed => PARAMETERS.iter().any(|p| p.key == key).then(|| format!("batch-{key}")),
        Types::Typeless => {
            let typed = LublinSpec::parameter_keys(Types::Typed);
            typed.contains(key).then(|| format!("{key}` with `types=typed"))
        }
    });
    match left.finish(&valid.iter().map(String::as_str).collect::<Vec<_>>()) {
        Err(NamedError::UnknownKey { name, key, hint, valid }) => {
            Err(NamedError::UnknownKey { name, key, hint: meant.or(hint), valid })
        }
        other => other,
    }
}

fn take_params(reading: &mut Reading, kind: Kind, procs: u32) -> Result<JobParams, NamedError> {
    let mut given = Vec::with_capacity(PARAMETERS.len());
    for parameter in &PARAMETERS {
        let value = reading.take::<f64>(&key_of(kind, parameter), &parameter.allowed.to_string())?;
        given.push((parameter, value));
    }
    let uhi = given.iter().find(|(parameter, _)| parameter.key == "uhi").and_then(|(_, value)| *value);
    let mut params = JobParams::reference(kind, procs, uhi);
    for (parameter, value) in given {
        if let Some(value) = value {
            parameter.set(&mut params, value);
        }
    }
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::spec::assert_defaults;

    fn read(written: &str) -> LublinSpec {
        written.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn refusal(written: &str) -> String {
        written.parse::<LublinSpec>().unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_out_reads_back_as_itself() {
        for written in [
            "lublin",
            "lublin[jobs=20,procs=1024,types=typed,load=0.7,seed=7,batch-serial=0.3,active-uhi=9]",
            "lublin[factor=0.5,reference=true,start-hour=9,uhi=6.5]",
        ] {
            let spec = read(written);
            assert_eq!(read(&spec.to_string()), spec, "{spec}");
        }
    }

    #[test]
    fn the_page_has_every_parameter() {
        let page = std::fs::read_to_string("docs/workloads.md").unwrap();
        let settings = LublinSpec::KEYS.iter().map(|key| {
            let Setting { key, default, doc } = key.setting;
            format!("| `{key}` | {} | {doc} |", if default.is_empty() { "none" } else { default })
        });
        let parameters = PARAMETERS.iter().map(|of| {
            let [typeless, batch, active] =
                [Kind::Typeless, Kind::Batch, Kind::Active].map(|kind| of.reference(kind));
            format!("| `{}` | {typeless} | {batch} | {active} | {} |", of.key, of.doc)
        });
        settings
            .chain(parameters)
            .for_each(|row| assert!(page.contains(&row), "docs/workloads.md needs {row}"));
    }

    #[test]
    fn defaults_are_those_of_the_table() {
        let spec = read("lublin");
        assert_eq!(spec, LublinSpec::new(Types::Typeless, 10_000, 128));
        assert_defaults::<LublinSpec>("lublin", &[]);
        for types in [Types::Typeless, Types::Typed] {
            let params = LublinParams::reference(types, 128);
            for (kind, params) in params.kinds() {
                for parameter in &PARAMETERS {
                    assert_eq!(parameter.get(&params), parameter.reference(kind), "{}", parameter.key);
                }
            }
        }
    }

    #[test]
    fn sizes_follow_the_machine() {
        let exponents = |written: &str| -> Vec<[f64; 3]> {
            let kinds = read(written).params.kinds();
            kinds.iter().map(|(_, params)| [params.size.ulow, params.size.umed, params.size.uhi]).collect()
        };
        assert_eq!(exponents("lublin[procs=1024]"), [[0.8, 7.5, 10.0]]);
        assert_eq!(exponents("lublin[procs=1024,types=typed]"), [[1.0, 6.0, 8.5], [1.2, 8.0, 10.0]]);
        assert_eq!(exponents("lublin[procs=8]"), [[0.8, 0.8, 3.0]]);
        assert_eq!(exponents("lublin[procs=1]"), [[0.0, 0.0, 0.0]]);
        assert_eq!(exponents("lublin[uhi=6]"), [[0.8, 3.5, 6.0]]);
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_would() {
        for (written, said) in [
            ("lublin[job=3]", "did you mean `jobs`?"),
            ("lublin[types=typed,aarr=3]", "did you mean `batch-aarr`?"),
            ("lublin[active-pa=0]", "did you mean `active-pa` with `types=typed`?"),
            ("lublin[types=batch]", "one of `typeless`, `typed`"),
            ("lublin[jobs=0]", "from 1 to"),
            ("lublin[jobs=-1]", "a whole number of jobs"),
            ("lublin[procs=0]", "from 1 to 67108864"),
            ("lublin[load=0]", "from 0.001"),
            ("lublin[load=nan]", "from 0.001"),
            ("lublin[load=0.7,factor=2]", "beside `load`"),
            ("lublin[factor=inf]", "a factor from"),
            ("lublin[start-hour=24]", "an hour from 0 to 23"),
            ("lublin[truncate=yes]", "one of `true`, `false`"),
            ("lublin[serial=1.2]", "a number from 0 to 1"),
            ("lublin[serial=0.5,pow2=0.6]", "at most 1 with `serial=0.5`"),
            ("lublin[barr=0]", "above 0"),
            ("lublin[uhi=8]", "at most 7, the log2 of 128 processors"),
            ("lublin[umed=7.5]", "from `ulow=0.8` to `uhi=7`"),
            ("lublin[a1=nan]", "above 0"),
            ("lublin[aarr=100]", "fewer than 1 % of the gaps"),
            ("lublin[a2=700,pb=0]", "fewer than 1 % of the run times of jobs of size 1 are"),
            ("lublin[anum=0.5,bnum=0.1]", "hardly a job"),
            ("easy[order=sjf]", "not of the form"),
        ] {
            let error = refusal(written);
            assert!(error.contains(said), "{written}: {error}");
        }
    }
}
