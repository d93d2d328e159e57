//! The protocol as it is written: a recorded conversation, and the schema that all messages keep.

use std::fs;

use serde_json::Value;

use super::{PLAIN, has, ran};

/// Two sites and three jobs: short enough to be read.
const SHORT: &str = r#"
seed = 2
[[site]]
name = "delft"
machines = [{ class = "node", count = 4, cores = 2 }]
[[site]]
name = "leiden"
machines = [{ class = "node", count = 8, speed = 0.5 }]
[network]
latency = "20 ms"
[broker]
[[workload]]
poisson = { jobs = 3, every = "5 min", size = "1/2/8" }
"#;

/// What a message does not keep of a schema, if anything. Keys that the schema does not name are refused everywhere.
fn problem(of: &Value, schema: &Value, root: &Value) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        return problem(of, root.pointer(name.trim_start_matches('#')).unwrap(), root);
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let problems: Vec<String> = any.iter().map_while(|one| problem(of, one, root)).collect();
        return (problems.len() == any.len()).then(|| problems.join(", or "));
    }
    if let Some(only) = schema.get("const").filter(|only| *only != of) {
        return Some(format!("{of} is not {only}"));
    }
    if let Some(words) = schema["enum"].as_array().filter(|words| !words.contains(of)) {
        return Some(format!("{of} is none of {words:?}"));
    }
    let kind = match of {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is = |known: &Value| known == kind || (known == "number" && kind == "integer");
    if let Some(known) = schema.get("type")
        && !known.as_array().map_or_else(|| is(known), |all| all.iter().any(is))
    {
        return Some(format!("{of} is no {known}"));
    }
    let items =
        of.as_array().into_iter().flatten().find_map(|item| problem(item, schema.get("items")?, root));
    let missing = schema["required"].as_array().into_iter().flatten();
    let missing = missing.filter_map(Value::as_str).find(|key| of.get(key).is_none());
    let keys =
        of.as_object().into_iter().flatten().find_map(|(key, value)| match schema["properties"].get(key) {
            Some(schema) => problem(value, schema, root).map(|problem| format!("`{key}`: {problem}")),
            None => Some(format!("there is no key `{key}`")),
        });
    items.or(missing.map(|key| format!("there must be a `{key}`"))).or(keys)
}

#[test]
fn all_messages_keep_the_schema_and_one_conversation_is_written_down() {
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let schema: Value =
        serde_json::from_str(&fs::read_to_string("docs/outside.schema.json").unwrap()).unwrap();
    let workflows = fs::read_to_string("configs/workflows.toml").unwrap();
    let log = folder.path().join("log.jsonl");
    for (name, scenario, broker) in [
        ("short", SHORT, "python3 examples/brokers/mct.py"),
        ("batch", PLAIN, "python3 examples/brokers/first_fit_batch.py"),
        ("ranked", &workflows, "python3 examples/brokers/upward_rank.py"),
    ] {
        let options = ["--broker", broker, "--broker-log", log.to_str().unwrap()];
        ran(folder.path(), name, scenario, &options).0.well();
        let said = fs::read_to_string(&log).unwrap();
        for line in said.lines() {
            let message: Value = serde_json::from_str(line).unwrap();
            assert_eq!(problem(&message, &schema, &schema), None, "{name}: {line}");
        }
        if name == "short" {
            let kept = "docs/outside-conversation.jsonl";
            #[expect(clippy::disallowed_methods, reason = "a generated file is written again on demand")]
            let bless = std::env::var_os("GRIDEMU_BLESS").is_some();
            if bless {
                fs::write(kept, &said).unwrap();
            }
            assert_eq!(fs::read_to_string(kept).unwrap_or_default(), said, "GRIDEMU_BLESS=1 writes it again");
        }
    }
}
