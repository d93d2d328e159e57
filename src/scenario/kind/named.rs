//! Names with parameters: policies, distributions, estimates, and the parameters alone.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde_json::{Value as Json, json};
use toml::Value;

use super::Kind;
use super::quantity::Quantity;
use crate::model::{Distribution, Named, NamedError};
use crate::scenario::kind::reading::Reading;
use crate::scenario::names::near;
use crate::scenario::tree::{self, Entry, Node};
use crate::scenario::workload::EstimateSource;

/// Reads a name with parameters: a text, or a table with the name as its one key.
fn named(node: &Node, reading: &mut Reading<'_>, expected: &str) -> Option<Named> {
    const ONE: &str = "a name with parameters has one key, the name: `{ easy = { order = \"sjf\" } }`";
    let Some(table) = node.table() else {
        let Some(text) = node.text() else { return reading.mismatch(node, expected) };
        return text.parse().map_err(|error: NamedError| reading.wrong(node, error.to_string())).ok();
    };
    let [Entry { key, .. }] = table.0.as_slice() else { return reading.refuse(node, ONE) };
    let name = Named::from_str(key).ok().filter(|named| named.name == *key);
    let Some(mut named) = name else {
        return reading.refuse(node, NamedError::Syntax(key.clone()).to_string());
    };
    let params = reading.entries(table, |entry, reading| Params::read(&entry.node, reading))?;
    named.params = params.into_iter().flat_map(|Params(params)| params).collect();
    Some(named)
}

/// The JSON schema of a name with parameters with this `title`, with some known names.
fn named_schema<'a>(title: &str, known: impl IntoIterator<Item = &'a str>) -> Json {
    json!({
        "title": title,
        "anyOf": [
            {
                "type": "string",
                "pattern": r"^\s*[A-Za-z0-9_+-]+\s*(\[.*\])?\s*$",
                "examples": known.into_iter().collect::<Vec<_>>()
            },
            {
                "type": "object",
                "minProperties": 1,
                "maxProperties": 1,
                "additionalProperties": {
                    "type": "object",
                    "additionalProperties": { "type": ["string", "number", "boolean", "object"] }
                }
            }
        ]
    })
}

const NAMED: &str =
    "a name such as `\"easy[order=sjf]\"`, or a table such as `{ easy = { order = \"sjf\" } }`";

/// Placeholder in the schema for the names of local policies, which are known only when the schema is requested.
pub(crate) const LOCAL: &str = "<local policies>";
/// See [`LOCAL`].
pub(crate) const POWER: &str = "<power policies>";
/// See [`LOCAL`].
pub(crate) const BROKER: &str = "<broker policies>";

/// Declares a kind for the policies of a registry.
macro_rules! policy {
    ($type:ident, $names:ident) => {
        /// A policy with its parameters.
        #[derive(Clone, Debug)]
        pub(crate) struct $type(pub(crate) Named);

        impl Kind for $type {
            fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
                named(node, reading, NAMED).map(Self)
            }

            fn show(&self) -> Option<Value> {
                Some(Value::String(self.0.to_string()))
            }

            fn schema() -> Json {
                named_schema("name with parameters", [$names])
            }
        }
    };
}

policy!(LocalPolicy, LOCAL);
policy!(BrokerPolicy, BROKER);
policy!(PowerPolicy, POWER);

impl Kind for EstimateSource {
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
        const EXPECTED: &str = "`log`, `exact`, `factor:F` or `tsafrir[...]`, in quotes";
        let text = match (node.table(), node.text()) {
            (None, Some(text)) => text.to_owned(),
            _ => named(node, reading, EXPECTED)?.to_string(),
        };
        text.parse().map_err(|message: String| reading.wrong(node, message)).ok()
    }

    fn show(&self) -> Option<Value> {
        Some(Value::String(self.to_string()))
    }

    fn schema() -> Json {
        let known = ["log", "exact", "factor:2.5", "tsafrir"];
        json!({ "title": "estimates", "type": ["string", "object"], "examples": known })
    }
}

/// The distributions with their parameters.
const DISTRIBUTIONS: [(&str, &[&str]); 3] =
    [("exponential", &["mean"]), ("weibull", &["shape", "mean"]), ("lognormal", &["median", "sigma"])];

fn distribution(named: &Named) -> Result<Distribution, String> {
    let Named { name, params } = named;
    let Some((_, keys)) = DISTRIBUTIONS.iter().find(|(known, _)| known == name) else {
        let near = near(name, DISTRIBUTIONS.iter().map(|(known, _)| *known));
        return Err(format!("there is no distribution `{name}`{near}; write {}", Distribution::FORMS));
    };
    if let Some(unknown) = params.keys().find(|key| !keys.contains(&key.as_str())) {
        let near = near(unknown, keys.iter().copied());
        return Err(format!(
            "`{name}` has no parameter `{unknown}`{near}; it has `{}`",
            keys.join("` and `")
        ));
    }
    if let Some(missing) = keys.iter().find(|key| !params.contains_key(**key)) {
        return Err(format!("`{named}` lacks its `{missing}`; write {}", Distribution::FORMS));
    }
    named.to_string().parse().map_err(|error: NamedError| error.to_string())
}

impl Kind for Distribution {
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
        let named = match node.text().map(|text| (text, text.parse::<Named>())) {
            Some((_, Ok(named))) => named,
            Some((text, Err(_))) => {
                return reading.refuse(node, format!("`{text}` is no distribution; write {}", Self::FORMS));
            }
            None => named(node, reading, &format!("a distribution: {}", Self::FORMS))?,
        };
        distribution(&named).map_err(|message| reading.wrong(node, message)).ok()
    }

    fn show(&self) -> Option<Value> {
        let number = |ppm: u64| ppm as f64 / 1e6;
        Some(Value::String(match self {
            Self::Exponential { mean } => format!("exponential[mean={}]", mean.text()),
            Self::Weibull { shape, mean } => {
                format!("weibull[shape={},mean={}]", number(*shape), mean.text())
            }
            Self::Lognormal { median, sigma } => {
                format!("lognormal[median={},sigma={}]", median.text(), number(*sigma))
            }
        }))
    }

    fn schema() -> Json {
        let known =
            ["exponential[mean=45 h]", "weibull[shape=0.7,mean=45 h]", "lognormal[median=1 h,sigma=1.6]"];
        named_schema("distribution", known)
    }
}

/// The parameters of a generator or a policy, as in `lublin[jobs=1000,load=0.5]`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params(pub(crate) BTreeMap<String, String>);

impl Params {
    /// The value of a parameter as a text.
    fn value(node: &Node, reading: &mut Reading<'_>) -> Option<String> {
        Some(match &node.value {
            tree::Value::Text(text) | tree::Value::Bare(text) => text.trim().to_owned(),
            tree::Value::Integer(digits) => digits.clone(),
            tree::Value::Float(number) => number.to_string(),
            tree::Value::Bool(value) => value.to_string(),
            _ => named(node, reading, "a text, a number, or `true` or `false`")?.to_string(),
        })
    }
}

impl Kind for Params {
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
        let Some(table) = node.table() else {
            return reading.mismatch(node, "a table of parameters, such as `{ order = \"sjf\" }`");
        };
        let params = reading.entries(table, |entry, reading| {
            let (key, value) = (entry.key.clone(), Self::value(&entry.node, reading)?);
            if !Named::can_have(&key, &value) {
                return reading.refuse(&entry.node, format!("`{key}={value}` cannot be a parameter"));
            }
            Some((key, value))
        });
        params.map(|params| Self(params.into_iter().collect()))
    }

    /// Numbers and switches as such, if they read back as the same text.
    fn show(&self) -> Option<Value> {
        let shown = |text: &String| match (text.parse::<i64>(), text.parse::<f64>(), text.parse()) {
            (Ok(number), _, _) if number.to_string() == *text => Value::Integer(number),
            (_, Ok(number), _) if number.is_finite() && number.to_string() == *text => Value::Float(number),
            (_, _, Ok(value)) => Value::Boolean(value),
            _ => Value::String(text.clone()),
        };
        Some(Value::Table(self.0.iter().map(|(key, text)| (key.clone(), shown(text))).collect()))
    }

    fn schema() -> Json {
        let value = json!({ "type": ["string", "number", "boolean"] });
        json!({ "title": "table", "type": "object", "additionalProperties": value })
    }
}
