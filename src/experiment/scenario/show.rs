//! A scenario as text again, always the same for the same keys.
//!
//! The layout is our own and not a library's, so that a hash of the text stays what it is.

use std::fmt::Write;

use toml::{Table, Value};
use xxhash_rust::xxh3::xxh3_128;

use super::keys::ScenarioKeys;
use super::quantity::Or;

/// Wider than this, a list of tables is broken into lines.
const WIDTH: usize = 110;

/// The keys as TOML.
///
/// # Errors
/// Nothing that can happen with keys: they are plain data.
pub(super) fn shown(keys: &ScenarioKeys) -> Result<String, String> {
    let table = Table::try_from(keys).map_err(|error| error.to_string())?;
    let mut text = String::new();
    for (key, value) in &table {
        if !is_section(key, value) {
            line(&mut text, key, value);
        }
    }
    for (key, value) in table.iter().filter(|(key, value)| is_section(key, value)) {
        section(&mut text, key, value);
    }
    Ok(text)
}

/// The hash of the keys as text, but for what changes no result: where logs lie (what they are called counts), where files go, how the
/// run is called, what drives it, and its snapshots.
pub(super) fn hash(keys: &ScenarioKeys) -> Result<u128, String> {
    let mut keys = keys.clone();
    let own = keys.site.iter_mut().flatten().filter_map(|site| match &mut site.workload {
        Some(Or::Table(workload)) => Some(workload),
        _ => None,
    });
    for workload in own.chain(keys.workload.iter_mut().flatten()) {
        if let Some(log) = &mut workload.log {
            *log = log.rsplit(['/', '\\', ':']).next().unwrap_or_default().to_owned();
        }
    }
    if let Some(output) = &mut keys.output {
        output.folder = None;
    }
    (keys.name, keys.engine, keys.clock, keys.checkpoint) = (None, None, None, None);
    Ok(xxh3_128(shown(&keys)?.as_bytes()))
}

/// What gets a heading of its own: a table that is more than a window or a pace, or a list of tables.
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
    // Links and reservations get headings; machines, workloads and churn stay in the site's own lines.
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

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Integer(number) => number.to_string(),
        // A whole number reads back as well, and looks better.
        Value::Float(number) => number.to_string(),
        Value::Boolean(value) => value.to_string(),
        Value::Datetime(when) => when.to_string(),
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Table(table) if table.is_empty() => "{}".to_owned(),
        Value::Table(table) => {
            let pairs: Vec<String> =
                table.iter().map(|(key, value)| format!("{key} = {}", inline(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
    }
}

/// A basic string of TOML.
pub(in crate::experiment) fn quoted(text: &str) -> String {
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
