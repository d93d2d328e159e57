//! The JSON schema of a scenario, for text editors.

use super::keys::ScenarioKeys;
use crate::grid::Policies;
use crate::model::{Kind, Registry};
use crate::scenario::kind::key;
use crate::scenario::kind::named::{BROKER, LOCAL, POWER};
use serde_json::Value;

/// The JSON schema of a scenario file that may name these policies.
///
/// # Errors
/// None in practice: the schema is plain data.
pub fn schema_json(policies: &Policies) -> Result<String, serde_json::Error> {
    let mut schema = key::schema::<ScenarioKeys>();
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "gridemu scenario".into();
    list(&mut schema, LOCAL, &policies.local);
    list(&mut schema, BROKER, &policies.broker);
    list(&mut schema, POWER, &policies.power);
    serde_json::to_string_pretty(&schema).map(|text| text + "\n")
}

/// Replaces the placeholder `stands_for` by the names of a registry.
fn list<K: Kind>(schema: &mut Value, stands_for: &str, registry: &Registry<K>) {
    match schema {
        Value::Array(items) if items.iter().any(|item| item == stands_for) => {
            *items = registry.names().map(Value::from).collect();
        }
        Value::Array(items) => items.iter_mut().for_each(|item| list(item, stands_for, registry)),
        Value::Object(keys) => keys.values_mut().for_each(|value| list(value, stands_for, registry)),
        _ => {}
    }
}
