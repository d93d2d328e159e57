//! The JSON schema of the keys, for editors.

use schemars::{Schema, SchemaGenerator, json_schema, schema_for};
use serde_json::Value;

use super::keys::ScenarioKeys;
use crate::broker::BrokerRegistry;
use crate::local::Registry;

/// The schema of a scenario file, as JSON.
///
/// # Errors
/// None that can happen: the schema is plain data.
pub fn schema_json() -> Result<String, serde_json::Error> {
    let mut schema = serde_json::to_value(schema_for!(ScenarioKeys))?;
    simplify(&mut schema);
    serde_json::to_string_pretty(&schema).map(|text| text + "\n")
}

/// What TOML has no use for: keys that are null rather than left out, the names of our structs, lines of our source.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(simplify),
        Value::Object(keys) => {
            if let Some(Value::String(text)) = keys.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            if let Some(Value::Array(types)) = keys.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    keys.insert("type".to_owned(), only);
                }
            }
            if keys.get("default").is_some_and(Value::is_null) {
                keys.remove("default");
            }
            // `enum` has it as well where a key is one of a few words.
            if let Some(Value::Array(words)) = keys.get_mut("enum") {
                words.retain(|word| !word.is_null());
            }
            if let Some(Value::Array(choices)) = keys.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
                if let [Value::Object(only)] = choices.as_slice() {
                    let only = only.clone();
                    keys.remove("anyOf");
                    for (key, value) in only {
                        keys.entry(key).or_insert(value);
                    }
                }
            }
            keys.values_mut().for_each(simplify);
        }
        _ => {}
    }
}

/// A name with parameters, as a text or as a table of one key.
fn named(known: &[&str]) -> Schema {
    json_schema!({
        "anyOf": [
            { "type": "string", "pattern": r"^\s*[A-Za-z0-9_+-]+\s*(\[.*\])?\s*$", "examples": known },
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

pub(super) fn local_policy(_: &mut SchemaGenerator) -> Schema {
    named(&Registry::standard().all().iter().map(|info| info.name).collect::<Vec<_>>())
}

pub(super) fn broker_policy(_: &mut SchemaGenerator) -> Schema {
    named(&BrokerRegistry::standard().all().iter().map(|info| info.name).collect::<Vec<_>>())
}

pub(super) fn distribution() -> Schema {
    named(&["exponential[mean=45 h]", "weibull[shape=0.7,mean=45 h]", "lognormal[median=1 h,sigma=1.6]"])
}

pub(super) fn estimates() -> Schema {
    json_schema!({ "type": ["string", "object"], "examples": ["log", "exact", "factor:2.5", "tsafrir"] })
}

fn one_of(words: &[&str]) -> Schema {
    json_schema!({ "type": "string", "enum": words })
}

pub(super) fn replan(_: &mut SchemaGenerator) -> Schema {
    one_of(&["never", "on-churn", "every-picture"])
}

pub(super) fn payer(_: &mut SchemaGenerator) -> Schema {
    one_of(&["user", "site"])
}

pub(super) fn order(_: &mut SchemaGenerator) -> Schema {
    one_of(&["instant", "event"])
}

pub(super) fn fate(_: &mut SchemaGenerator) -> Schema {
    one_of(&["requeue", "give-back", "wait", "fail"])
}

pub(super) fn clean(_: &mut SchemaGenerator) -> Schema {
    one_of(&["none", "strict"])
}
