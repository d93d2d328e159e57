//! Writes a scenario as text, always the same text for the same keys.
//!
//! The layout is defined here and not by a library, so that a hash of the text does not change with a library.

use std::fmt::Write;

use toml::{Table, Value};
use xxhash_rust::xxh3::xxh3_128;

/// A list of tables that is wider than this is broken into lines.
const WIDTH: usize = 110;

/// The table of a scenario as TOML.
pub(crate) fn shown(table: &Table) -> String {
    let mut text = String::new();
    for (key, value) in table {
        if !is_section(key, value) {
            line(&mut text, key, value);
        }
    }
    for (key, value) in table.iter().filter(|(key, value)| is_section(key, value)) {
        section(&mut text, key, value);
    }
    text
}

/// The hash of the table as text, except for keys that change no result: folders of logs and traces (their names count),
/// the folder of a broker's program, output folders, the name of the run, its engine, its snapshots, and what a drill expects of it.
pub(super) fn hash(table: &Table) -> u128 {
    let mut table = table.clone();
    table.retain(|key, _| !matches!(key, "name" | "engine" | "clock" | "checkpoint" | "drill"));
    if let Some(output) = table.get_mut("output").and_then(Value::as_table_mut) {
        output.retain(|key, _| key != "folder");
    }
    if let Some(broker) = table.get_mut("broker").and_then(Value::as_table_mut) {
        broker.retain(|key, _| key != "folder");
    }
    for (key, value) in &mut table {
        for item in value.as_array_mut().into_iter().flatten() {
            if key != "site" {
                without_folder(item.get_mut("log"));
                continue;
            }
            without_folder(item.get_mut("workload").and_then(|workload| workload.get_mut("log")));
            for of in ["electricity", "carbon"] {
                without_folder(item.get_mut(of).and_then(|series| series.get_mut("trace")));
            }
        }
    }
    xxh3_128(shown(&table).as_bytes())
}

fn without_folder(file: Option<&mut Value>) {
    if let Some(Value::String(file)) = file {
        *file = file.rsplit(['/', '\\', ':']).next().unwrap_or_default().to_owned();
    }
}

/// True for a value with a heading of its own: a table that is more than a window or a pace, or a list of tables.
fn is_section(key: &str, value: &Value) -> bool {
    match value {
        Value::Table(_) => !matches!(key, "measure" | "clock"),
        Value::Array(items) => !items.is_empty() && items.iter().all(Value::is_table),
        _ => false,
    }
}

fn section(text: &mut String, key: &str, value: &Value) {
    match value {
        Value::Table(table) => {
            let _ = write!(text, "\n[{key}]\n");
            body(text, key, table);
        }
        Value::Array(items) => {
            for item in items.iter().filter_map(Value::as_table) {
                let _ = write!(text, "\n[[{key}]]\n");
                body(text, key, item);
            }
        }
        _ => {}
    }
}

fn body(text: &mut String, heading: &str, table: &Table) {
    // Links and reservations get headings; machines, workloads and churn are written in the site's own lines.
    let apart = |key: &str| matches!((heading, key), ("network", "link") | ("site", "reservation"));
    for (key, value) in table.iter().filter(|(key, _)| !apart(key)) {
        line(text, key, value);
    }
    for (key, value) in table.iter().filter(|(key, _)| apart(key)) {
        section(text, &format!("{heading}.{key}"), value);
    }
}

fn line(text: &mut String, key: &str, value: &Value) {
    let short = inline(value);
    match value {
        Value::Array(items) if short.len() > WIDTH - key.len() || items.iter().any(Value::is_table) => {
            let _ = writeln!(text, "{key} = [");
            for item in items {
                let _ = writeln!(text, "  {},", inline(item));
            }
            text.push_str("]\n");
        }
        _ => {
            let _ = writeln!(text, "{key} = {short}");
        }
    }
}

pub(super) fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Integer(number) => number.to_string(),
        // A whole number is shorter and reads back as the same value.
        Value::Float(number) => number.to_string(),
        Value::Boolean(value) => value.to_string(),
        Value::Datetime(when) => when.to_string(),
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Table(table) if table.is_empty() => "{}".to_owned(),
        Value::Table(table) => {
            let pairs: Vec<String> =
                table.iter().map(|(key, value)| format!("{} = {}", named(key), inline(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
    }
}

/// A key of TOML, in quotes if it needs them.
fn named(key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !key.is_empty() && key.chars().all(is_bare) { key.to_owned() } else { quoted(key) }
}

/// A basic string of TOML.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
