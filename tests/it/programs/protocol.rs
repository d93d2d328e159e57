//! The protocol as it is written: a recorded conversation, and the schema that all messages keep.

use std::fs;

use serde_json::Value;

use super::{CHURN, PLAIN, has, ran, written};

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

/// One machine of the first site fails, and its job returns.
const RETURNED: &str = r#"
seed = 3
[[site]]
name = "delft"
machines = [{ class = "node", count = 2, cores = 4 }]
[[site]]
name = "leiden"
machines = [{ class = "node", count = 4, speed = 0.5 }]
[network]
latency = "20 ms"
[churn]
on_failure = "resubmit"
[[event]]
at = "10 min"
leave = "delft/0-1"
[[event]]
at = "20 min"
join = "delft/0-1"
[broker]
monitoring_interval = "5 min"
[[workload]]
poisson = { jobs = 3, every = "4 min", size = "2/4", runtime = "30 min" }
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

const BATCH: &str = "python3 examples/brokers/first_fit_batch.py";

fn blesses() -> bool {
    #[expect(clippy::disallowed_methods, reason = "a generated file is written again on demand")]
    std::env::var_os("GRIDEMU_BLESS").is_some()
}

/// Asks to be told changes, and decides like the example.
const TOLD: &str = r#"
import json, sys
for line in sys.stdin:
    q = json.loads(line)
    if "hello" in q: answer = {"hello": {"version": 1, "mode": "immediate", "gate": "fits", "changes": True}}
    else:
        fits = sorted((c["end"], c["pool"]) for c in q["choices"] if "end" in c)
        plan = [{"id": q["ask"], "task": q["task"], "assign": fits[0][1]}] if fits else []
        answer = {"answer": q["ask"], "plan": plan * (2 if "twice" in sys.argv else 1)}
    print(json.dumps(answer), flush=True)
"#;

/// What a program has decided itself is not told again; what has come back is told with where from and why.
#[test]
fn what_returns_is_told_with_why() {
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    let told = written(folder.path(), "told.py", TOLD);
    let immediate = format!("python3 {told}");
    for broker in [BATCH, &immediate] {
        let options = ["--broker", broker, "--broker-log", log.to_str().unwrap()];
        ran(folder.path(), "churn", &format!("{PLAIN}{CHURN}"), &options).0.well();
        let said = fs::read_to_string(&log).unwrap();
        let messages = || said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let changes = || {
            let questions = messages().filter_map(|message| message["to"]["tasks"].as_array().cloned());
            questions.flatten().collect::<Vec<Value>>()
        };
        assert!(changes().iter().all(|change| change["state"] != "sent"), "{broker} decides all itself");
        let back = |change: &Value| change["state"] == "ready" && change["back"]["why"] == "machine-left";
        let found = changes().into_iter().find(back);
        assert!(found.is_some_and(|change| change["back"]["pool"].is_u64()), "{broker}");
        let again: Vec<Value> =
            changes().into_iter().filter(|change| change["job"]["assignment"].is_u64()).collect();
        assert!(!again.is_empty() && again.iter().all(|change| change["back"].is_object()), "{broker}");
    }
    // A recall is no failure.
    let broker = "[broker]\nreplan = \"every-report\"\ncount_in_flight = false\n";
    let recalling = format!("{PLAIN}{CHURN}").replace("[broker]\n", broker);
    let options = ["--broker", BATCH, "--broker-log", log.to_str().unwrap()];
    ran(folder.path(), "recalled", &recalling, &options).0.well();
    assert!(fs::read_to_string(&log).unwrap().contains(r#""why":"replanned""#));
}

/// Decisions that are taken for repetitions are counted in a note.
#[test]
fn repetitions_are_noted() {
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let told = written(folder.path(), "told.py", TOLD);
    let (ran, _) = ran(folder.path(), "twice", PLAIN, &["--broker", &format!("python3 {told} twice")]);
    ran.well();
    assert!(ran.out.contains("of the decisions of the broker's program changed nothing"), "{}", ran.out);
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
    let bless = blesses();
    for (name, scenario, broker, kept) in [
        ("short", SHORT, "python3 examples/brokers/mct.py", Some("docs/outside-conversation.jsonl")),
        ("returned", RETURNED, BATCH, Some("docs/outside-batch-conversation.jsonl")),
        ("batch", PLAIN, BATCH, None),
        ("ranked", &workflows, "python3 examples/brokers/upward_rank.py", None),
    ] {
        let options = ["--broker", broker, "--broker-log", log.to_str().unwrap()];
        ran(folder.path(), name, scenario, &options).0.well();
        let said = fs::read_to_string(&log).unwrap();
        for line in said.lines() {
            let message: Value = serde_json::from_str(line).unwrap();
            assert_eq!(problem(&message, &schema, &schema), None, "{name}: {line}");
        }
        if let Some(kept) = kept {
            if bless {
                fs::write(kept, &said).unwrap();
            }
            assert_eq!(fs::read_to_string(kept).unwrap_or_default(), said, "GRIDEMU_BLESS=1 writes it again");
        }
    }
}
