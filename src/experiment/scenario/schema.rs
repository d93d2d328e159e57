//! The JSON schema of the keys, for editors.

use schemars::{Schema, SchemaGenerator, json_schema, schema_for};

use super::keys::ScenarioKeys;

/// The schema of a scenario file, as JSON.
///
/// # Errors
/// None that can happen: the schema is plain data.
pub fn schema_json() -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(&schema_for!(ScenarioKeys)).map(|text| text + "\n")
}

pub(super) fn named(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [
            { "type": "string", "pattern": r"^\s*[A-Za-z0-9_+-]+\s*(\[.*\])?\s*$" },
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

pub(super) fn named_or(_: &mut SchemaGenerator, example: &str) -> Schema {
    json_schema!({ "type": ["string", "object"], "examples": [example] })
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
