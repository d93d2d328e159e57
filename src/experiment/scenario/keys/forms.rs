//! Values of keys that are texts of a form: quantities beside a word, distributions, generators.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::experiment::EstimateSource;
use crate::experiment::scenario::quantity::{Quantity, Words, Written, textual};
use crate::experiment::scenario::schema;
use crate::model::{
    ClassError, DayRates, DayRatesError, Distribution, JobClasses, Named, did_you_mean, nearest,
};
use crate::units::{EnergyPrice, Power};
use crate::workload::Estimates;

/// A power of a machine, or of each of its cores.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum PowerKey {
    /// All cores together.
    Machine(Power),
    /// Each core.
    Core(Power),
}

impl FromStr for PowerKey {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        match written.trim().strip_suffix("/core") {
            Some(power) => power.parse::<Written<Power>>().map(|power| Self::Core(power.0)),
            None => written.parse::<Written<Power>>().map(|power| Self::Machine(power.0)),
        }
    }
}

impl fmt::Display for PowerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine(power) => f.write_str(&power.text()),
            Self::Core(power) => write!(f, "{}/core", power.text()),
        }
    }
}

textual!(PowerKey, "a power in quotes, such as `\"95 W\"` or `\"24 W/core\"`", "95 W");

/// Factors by the hour of the day.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct HoursKey(pub DayRates);

impl FromStr for HoursKey {
    type Err = DayRatesError;

    fn from_str(written: &str) -> Result<Self, DayRatesError> {
        written.parse().map(Self)
    }
}

impl fmt::Display for HoursKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

textual!(
    HoursKey,
    "hours of the day with factors, in quotes, such as `\"22-6=0.5,17-20=1.8\"`",
    "22-6=0.5,17-20=1.8"
);

/// Job classes: a preset, or own cuts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassesKey(pub JobClasses);

impl FromStr for ClassesKey {
    type Err = ClassError;

    fn from_str(written: &str) -> Result<Self, ClassError> {
        written.parse().map(Self)
    }
}

impl fmt::Display for ClassesKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

textual!(
    ClassesKey,
    "job classes in quotes, such as `\"kettimuthu-16\"` or `\"cuts[run=10 min/1 h,size=1/8]\"`",
    "kettimuthu-16"
);

/// What electricity costs, if anybody asks.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum ElectricityKey {
    /// Nobody asks.
    #[default]
    None,
    /// So much.
    Of(Written<EnergyPrice>),
}

impl FromStr for ElectricityKey {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        match written {
            "none" => Ok(Self::None),
            _ => written.parse().map(Self::Of).map_err(|error: String| format!("{error}; or `none`")),
        }
    }
}

impl fmt::Display for ElectricityKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Of(price) => price.fmt(f),
        }
    }
}

textual!(
    ElectricityKey,
    "a price of electricity in quotes, such as `\"0.25/kWh\"`, or `\"none\"`",
    "0.25/kWh"
);

/// How long something takes, by chance.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Dist(pub Distribution);

impl Dist {
    const PARAMS: [(&'static str, [&'static str; 2]); 3] = [
        ("exponential", ["mean", "mean"]),
        ("weibull", ["shape", "mean"]),
        ("lognormal", ["median", "sigma"]),
    ];

    fn from_named(named: &Named) -> Result<Self, String> {
        let known = Self::PARAMS.iter().find(|(name, _)| *name == named.name);
        let Some((_, params)) = known else {
            let near = did_you_mean(nearest(&named.name, Self::PARAMS.iter().map(|(name, _)| *name)));
            return Err(format!(
                "there is no distribution `{}`{near}; write {}",
                named.name,
                Distribution::FORMS
            ));
        };
        let params = if params[0] == params[1] { &params[..1] } else { params };
        if let Some(unknown) = named.params.keys().find(|key| !params.contains(&key.as_str())) {
            let near = did_you_mean(nearest(unknown, params.iter().copied()));
            let has = params.join("` and `");
            return Err(format!("`{}` has no parameter `{unknown}`{near}; it has `{has}`", named.name));
        }
        if let Some(missing) = params.iter().find(|key| !named.params.contains_key(**key)) {
            return Err(format!("`{named}` does not say its `{missing}`; write {}", Distribution::FORMS));
        }
        named.to_string().parse().map(Self).map_err(|error: crate::model::NamedError| error.to_string())
    }
}

impl FromStr for Dist {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        let named: Named = written
            .parse()
            .map_err(|_| format!("`{written}` is no distribution; write {}", Distribution::FORMS))?;
        Self::from_named(&named)
    }
}

impl fmt::Display for Dist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |ppm: u64| ppm as f64 / 1e6;
        match self.0 {
            Distribution::Exponential { mean } => write!(f, "exponential[mean={}]", mean.text()),
            Distribution::Weibull { shape, mean } => {
                write!(f, "weibull[shape={},mean={}]", number(shape), mean.text())
            }
            Distribution::Lognormal { median, sigma } => {
                write!(f, "lognormal[median={},sigma={}]", median.text(), number(sigma))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Dist {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_named(&Named::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl Serialize for Dist {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Dist {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "distribution".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schema::distribution()
    }
}

/// A workload in one text: `none`, a generator, or the path of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadText(pub String);

impl FromStr for WorkloadText {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        if written.is_empty() {
            return Err(
                "a workload is a generator such as `lublin[jobs=1000]`, the path of a log, or `none`"
                    .to_owned(),
            );
        }
        Ok(Self(written.to_owned()))
    }
}

impl fmt::Display for WorkloadText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Words for WorkloadText {
    const EXPECTED: &'static str = "a table such as `{ lublin = { jobs = 1000 } }`, a text such as `\"lublin[jobs=1000]\"`, or `\"none\"`";
    const EXAMPLE: &'static str = "lublin[jobs=1000,load=0.5]";
}

/// Where estimates come from: a word, or a model with parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EstimatesKey(pub EstimateSource);

impl Default for EstimatesKey {
    fn default() -> Self {
        Self(EstimateSource::Plain(Estimates::Log))
    }
}

impl<'de> Deserialize<'de> for EstimatesKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = EstimatesKey;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`log`, `exact`, `factor:F` or `tsafrir[...]`, in quotes")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<EstimatesKey, E> {
                text.parse().map(EstimatesKey).map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, keys: A) -> Result<EstimatesKey, A::Error> {
                let named = Named::deserialize(MapAccessDeserializer::new(keys))?;
                named.to_string().parse().map(EstimatesKey).map_err(de::Error::custom)
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

impl Serialize for EstimatesKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl JsonSchema for EstimatesKey {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "estimates".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schema::estimates()
    }
}

/// The parameters of a generator, as in `lublin[jobs=1000,load=0.5]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GeneratorKeys(pub BTreeMap<String, String>);

impl Serialize for GeneratorKeys {
    /// Numbers and switches as such, wherever that reads back as the same text.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut keys = serializer.serialize_map(Some(self.0.len()))?;
        for (key, text) in &self.0 {
            match (text.parse::<i64>(), text.parse::<f64>(), text.parse::<bool>()) {
                (Ok(number), _, _) if number.to_string() == *text => keys.serialize_entry(key, &number)?,
                (_, Ok(number), _) if number.is_finite() && number.to_string() == *text => {
                    keys.serialize_entry(key, &number)?;
                }
                (_, _, Ok(value)) => keys.serialize_entry(key, &value)?,
                _ => keys.serialize_entry(key, text)?,
            }
        }
        keys.end()
    }
}

impl<'de> Deserialize<'de> for GeneratorKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::model::named_params(deserializer).map(Self)
    }
}

impl JsonSchema for GeneratorKeys {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "generator".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"] } })
    }
}
