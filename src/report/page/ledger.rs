//! What energy, money and carbon were spent on, as a table.

use serde_json::Value;

use super::facts::{Column, percent, table};
use super::{Look, Table};
use crate::report::figures::{decimals, number};

/// The lines of a ledger, with their words.
const LINES: [(&str, &str); 9] = [
    ("useful", "jobs that completed"),
    ("wasted", "jobs that did not complete, failed attempts"),
    ("overhead", "suspending, checkpointing, staging"),
    ("idle", "idle machines"),
    ("asleep", "machines asleep"),
    ("transitions", "falling asleep and waking up"),
    ("cooling", "cooling (PUE)"),
    ("data", "moved data"),
    ("total", "total"),
];

/// The ledger of a run, without the lines that are nothing; `None` if nothing was drawn.
pub(super) fn ledger(summary: &Value) -> Option<Table> {
    let ledger = summary.get("ledger")?;
    let amounts = ["energy_kwh", "electricity", "carbon_kg"];
    let any =
        |line: &str| amounts.iter().any(|amount| ledger[amount][line].as_f64().is_some_and(|of| of != 0.0));
    let rows: Vec<_> = LINES.into_iter().filter(|(line, _)| *line == "total" || any(line)).collect();
    let text = |amount: &str, line: &str| {
        let places = decimals([ledger[amount]["total"].as_f64()]);
        number(ledger[amount][line].as_f64(), places)
    };
    let share = |line: &str| {
        let energy = &ledger["energy_kwh"];
        let total = energy["total"].as_f64().filter(|total| *total > 0.0)?;
        Some(energy[line].as_f64()? / total)
    };
    let columns: [Column<'_, (&str, &str)>; 5] = [
        ("spent on", &|(_, words)| (*words).to_owned()),
        ("energy (kWh)", &|(line, _)| text("energy_kwh", line)),
        ("share of energy", &|(line, _)| percent(&share(line).into(), 1)),
        ("money", &|(line, _)| text("electricity", line)),
        ("carbon (kg CO₂e)", &|(line, _)| text("carbon_kg", line)),
    ];
    let known: Vec<Column<'_, (&str, &str)>> = columns
        .into_iter()
        .filter(|(title, _)| match *title {
            "money" => ledger.get("electricity").is_some(),
            "carbon (kg CO₂e)" => ledger.get("carbon_kg").is_some(),
            _ => true,
        })
        .collect();
    Some(Table { look: Look::Total, ..table("What energy, money and carbon were spent on", &rows, &known) })
}
