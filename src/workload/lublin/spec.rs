//! How a workload of the model is written, and what it means.

use std::fmt;
use std::str::FromStr;

use super::params::{JobParams, Kind, LublinParams, PARAMETERS, Types};
use crate::model::{MAX_PROCESSORS, Named, NamedError};
use crate::workload::Setting;

/// How fast jobs come.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub enum Pace {
    /// As the arrival parameters have it.
    #[default]
    AsModelled,
    /// At this offered load of the machine, all arrival times being multiplied by a constant.
    Load(f64),
    /// With all arrival times multiplied by this.
    Factor(f64),
}

/// A workload of the model, resolved: `lublin[jobs=10000,procs=128,load=0.7]` with every default filled in.
///
/// Written out, it has all its parameters, and reads back as itself.
#[derive(Clone, Debug, PartialEq)]
pub struct LublinSpec {
    /// How many jobs.
    pub jobs: u64,
    /// Processors of the machine: the greatest size, and the machine that the load is of.
    pub procs: u32,
    /// A seed of its own; the jobs then do not depend on the run's seed nor on where they are used.
    pub seed: Option<u64>,
    /// How fast jobs come.
    pub pace: Pace,
    /// Hour of the day at which the workload starts, 0 to 23.
    pub start_hour: u32,
    /// Whether the clock is a whole number of seconds that gaps are truncated into, as in the authors' program.
    pub truncate: bool,
    /// Whether draws are those of the authors' program.
    pub reference: bool,
    /// The model's parameters.
    pub params: LublinParams,
}

/// Every setting besides the model's parameters, which are in [`PARAMETERS`].
pub static SETTINGS: [Setting; 9] = [
    Setting::new("jobs", "10000", "number of jobs"),
    Setting::new("procs", "128", "processors of the machine"),
    Setting::new("types", "typeless", "`typeless` (one population) or `typed` (batch and interactive jobs)"),
    Setting::new("seed", "", "a seed of its own, instead of the run's"),
    Setting::new("load", "", "offered load of the machine, by scaling arrival times"),
    Setting::new("factor", "", "scales arrival times by this, instead of `load`"),
    Setting::new("start-hour", "0", "hour of the day at which the workload starts, 0 to 23"),
    Setting::new("truncate", "false", "keep the clock in whole seconds, as the authors' program does"),
    Setting::new(
        "reference",
        "false",
        "draw as the authors' program does (drand48); `truncate` is then the default",
    ),
];

/// The words for [`Types`].
const TYPES: [(&str, Types); 2] = [("typeless", Types::Typeless), ("typed", Types::Typed)];
/// The words for a switch.
const SWITCH: [(&str, bool); 2] = [("true", true), ("false", false)];

impl LublinSpec {
    /// The name it is written under.
    pub const NAME: &'static str = "lublin";

    /// `jobs` jobs for a machine of `procs` processors with the reference parameters, unscaled.
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

    /// Reads and checks the parameters of `lublin[...]`; what is not given has its default.
    ///
    /// # Errors
    /// [`NamedError`] for a parameter that does not exist, does not parse or makes no sense, with what would be
    /// right.
    pub fn from_named(mut named: Named) -> Result<Self, NamedError> {
        let jobs = named.take("jobs", "a whole number of jobs")?.unwrap_or(10_000);
        let procs = named.take("procs", "a whole number of processors")?.unwrap_or(128);
        let types = named.take_choice("types", &TYPES)?.unwrap_or_default();
        // The model's parameters depend on these two.
        let mut spec = Self { jobs, procs, ..Self::new(types, jobs, procs) };
        spec.seed = named.take("seed", "a whole number from 0 to 18446744073709551615")?;
        let load = named.take("load", LOAD)?;
        let factor: Option<f64> = named.take("factor", FACTOR)?;
        spec.pace = match (load, factor) {
            (None, None) => Pace::AsModelled,
            (Some(load), None) => Pace::Load(load),
            (None, Some(factor)) => Pace::Factor(factor),
            (Some(_), Some(factor)) => {
                return Err(bad("factor", factor, "possible beside `load`: both scale the arrival times"));
            }
        };
        spec.start_hour = named.take("start-hour", HOUR)?.unwrap_or(0);
        spec.reference = named.take_choice("reference", &SWITCH)?.unwrap_or(false);
        spec.truncate = named.take_choice("truncate", &SWITCH)?.unwrap_or(spec.reference);
        let mut take = |kind| take_params(&mut named, kind, procs);
        spec.params = match types {
            Types::Typeless => LublinParams::Typeless(take(Kind::Typeless)?),
            Types::Typed => LublinParams::Typed { batch: take(Kind::Batch)?, active: take(Kind::Active)? },
        };
        refuse_rest(named, types)?;
        spec.check()?;
        Ok(spec)
    }

    /// Every key that a workload of these types can have.
    pub fn keys(types: Types) -> Vec<String> {
        let kinds: &[Kind] = match types {
            Types::Typeless => &[Kind::Typeless],
            Types::Typed => &[Kind::Batch, Kind::Active],
        };
        let mut keys: Vec<String> = SETTINGS.iter().map(|setting| setting.key.to_owned()).collect();
        for kind in kinds {
            keys.extend(PARAMETERS.iter().map(|parameter| format!("{}{}", kind.prefix(), parameter.key)));
        }
        keys
    }

    /// Checks that the workload makes sense.
    ///
    /// # Errors
    /// [`NamedError::BadValue`] names what does not and says what would.
    pub fn check(&self) -> Result<(), NamedError> {
        const JOBS: u64 = 1_000_000_000_000;
        if !(1..=JOBS).contains(&self.jobs) {
            return Err(bad("jobs", self.jobs, "a number of jobs from 1 to 1000000000000"));
        }
        if !(1..=MAX_PROCESSORS).contains(&self.procs) {
            let expected = format!("a number of processors from 1 to {MAX_PROCESSORS}");
            return Err(bad("procs", self.procs, &expected));
        }
        if self.start_hour > 23 {
            return Err(bad("start-hour", self.start_hour, HOUR));
        }
        match self.pace {
            Pace::Load(load) if !(0.001..=1000.0).contains(&load) => return Err(bad("load", load, LOAD)),
            Pace::Factor(factor) if !(1e-6..=1e6).contains(&factor) => {
                return Err(bad("factor", factor, FACTOR));
            }
            _ => {}
        }
        self.params.kinds().iter().try_for_each(|(kind, params)| params.check(*kind, self.procs))
    }

    /// With every parameter, as it would be written.
    pub fn to_named(&self) -> Named {
        let mut named = Named::bare(Self::NAME);
        let mut put = |key: String, value: String| named.params.insert(key, value);
        let word = |types| TYPES.iter().find(|(_, is)| *is == types).map_or("", |(word, _)| word);
        put("jobs".to_owned(), self.jobs.to_string());
        put("procs".to_owned(), self.procs.to_string());
        put("types".to_owned(), word(self.params.types()).to_owned());
        if let Some(seed) = self.seed {
            put("seed".to_owned(), seed.to_string());
        }
        match self.pace {
            Pace::AsModelled => None,
            Pace::Load(load) => put("load".to_owned(), load.to_string()),
            Pace::Factor(factor) => put("factor".to_owned(), factor.to_string()),
        };
        put("start-hour".to_owned(), self.start_hour.to_string());
        put("truncate".to_owned(), self.truncate.to_string());
        put("reference".to_owned(), self.reference.to_string());
        for (kind, params) in self.params.kinds() {
            for parameter in &PARAMETERS {
                put(format!("{}{}", kind.prefix(), parameter.key), parameter.get(&params).to_string());
            }
        }
        named
    }
}

const LOAD: &str = "a load from 0.001 to 1000, such as 0.7";
const FACTOR: &str = "a factor from 0.000001 to 1000000";
const HOUR: &str = "an hour from 0 to 23";

fn bad(key: &str, value: impl fmt::Display, expected: &str) -> NamedError {
    NamedError::BadValue {
        name: LublinSpec::NAME.to_owned(),
        key: key.to_owned(),
        value: value.to_string(),
        expected: expected.to_owned(),
    }
}

/// Refuses what was not taken; a parameter of the other types is told how it would be right.
fn refuse_rest(named: Named, types: Types) -> Result<(), NamedError> {
    let valid = LublinSpec::keys(types);
    let meant = named.params.keys().next().and_then(|key| match types {
        Types::Typed => PARAMETERS.iter().any(|p| p.key == key).then(|| format!("batch-{key}")),
        Types::Typeless => {
            LublinSpec::keys(Types::Typed).contains(key).then(|| format!("{key}` with `types=typed"))
        }
    });
    match named.finish(&valid.iter().map(String::as_str).collect::<Vec<_>>()) {
        Err(NamedError::UnknownKey { name, key, hint, valid }) => {
            Err(NamedError::UnknownKey { name, key, hint: meant.or(hint), valid })
        }
        other => other,
    }
}

fn take_params(named: &mut Named, kind: Kind, procs: u32) -> Result<JobParams, NamedError> {
    let mut given = Vec::with_capacity(PARAMETERS.len());
    for parameter in &PARAMETERS {
        let key = format!("{}{}", kind.prefix(), parameter.key);
        given.push((parameter, named.take::<f64>(&key, &parameter.allowed.to_string())?));
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

impl FromStr for LublinSpec {
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

impl fmt::Display for LublinSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_named().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn defaults_are_those_of_the_table() {
        let spec = read("lublin");
        assert_eq!(spec, LublinSpec::new(Types::Typeless, 10_000, 128));
        let named = spec.to_named();
        for setting in &SETTINGS {
            assert_eq!(
                named.params.get(setting.key).map_or("", |value| value),
                setting.default,
                "{}",
                setting.key
            );
        }
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
