//! Tables of a report: what was run, and its figures.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Table;
use crate::metrics::{MeasureInfo, flat_measures};
use crate::model::Outcome;
use crate::report::figures::{count, duration, number};
use crate::report::series::{Quantity, RunSeries};
use crate::report::{FolderKind, RunFolder};

/// The row of the folder.
pub(super) const FOLDER: &str = "folder";

/// The measures of a table over all jobs, in its order.
const MEASURES: [&str; 34] = [
    "jobs",
    "outcomes.completed",
    "outcomes.killed",
    "outcomes.failed",
    "outcomes.rejected",
    "outcomes.cancelled",
    "outcomes.unfinished",
    "mean_wait",
    "median_wait",
    "p95_wait",
    "max_wait",
    "mean_response",
    "median_response",
    "p95_response",
    "mean_bounded_slowdown",
    "median_bounded_slowdown",
    "p95_bounded_slowdown",
    "max_bounded_slowdown",
    "dedicated.jobs",
    "dedicated.on_time",
    "dedicated.delayed",
    "dedicated.mean_delay",
    "dedicated.max_delay",
    "makespan",
    "utilization",
    "utilization_available",
    "away",
    "longest_queue",
    "backlog.at_end",
    "energy.meter_kwh",
    "energy.facility_kwh",
    "energy.idle_kwh",
    "cost",
    "local.mean_wait",
];

/// What was run: a column a run.
pub(super) fn what_was_run(runs: &[(&RunFolder, &RunSeries)]) -> Table {
    let facts: Vec<Vec<(&str, String)>> = runs.iter().map(|(folder, series)| facts(folder, series)).collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in facts.iter().flatten() {
        if !names.contains(name) {
            names.push(name);
        }
    }
    let cell = |facts: &[(&str, String)], name: &str| {
        facts
            .iter()
            .find(|(found, _)| *found == name)
            .map_or_else(|| "–".to_owned(), |(_, said)| said.clone())
    };
    let rows = names.iter().map(|name| {
        std::iter::once((*name).to_owned()).chain(facts.iter().map(|facts| cell(facts, name))).collect()
    });
    Table { rows: rows.collect(), ..Table::default() }
}

fn facts(folder: &RunFolder, series: &RunSeries) -> Vec<(&'static str, String)> {
    let mut facts = vec![(FOLDER, folder.dir().display().to_string())];
    let kind = match folder.kind() {
        FolderKind::Run => "a run of a grid",
        FolderKind::Replay => "a replay at one site",
        FolderKind::Batsim => "a schedule in Batsim's columns",
    };
    facts.push(("what", kind.to_owned()));
    if let Some(summary) = folder.summary() {
        let text = |value: &Value| match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let keys = [
            ("scenario", "scenario"),
            ("scenario's hash", "scenario_hash"),
            ("workload", "workload"),
            ("policy", "policy"),
            ("estimates", "estimates"),
            ("order of an instant", "order"),
            ("seed", "seed"),
            ("engine", "engine"),
            ("gridemu", "version"),
            ("fingerprint", "fingerprint"),
        ];
        facts.extend(keys.iter().filter_map(|(name, key)| Some((*name, text(&summary[*key])?))));
        if let Some(policy) = summary["broker"]["policy"].as_str() {
            facts.push(("broker", policy.to_owned()));
        }
        let options = summary["options"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let options: Vec<&str> = options.collect();
        if !options.is_empty() {
            facts.push(("options", options.join(" ")));
        }
        let window = &summary["measure"];
        if let (Some(from), Some(to)) = (window["from"].as_f64(), window["to"].as_f64()) {
            facts.push((
                "measured window",
                format!("jobs submitted from {} to {}", duration(from), duration(to)),
            ));
        }
    }
    let processors: u64 = series.sites.iter().map(|(_, processors)| processors).sum();
    let platform = match (&series.sites[..], series.sized) {
        ([_], true) => format!("{} processors", count(processors)),
        (sites, true) => format!("{} sites with {} processors", sites.len(), count(processors)),
        (_, false) => format!("{} processors that were used", count(processors)),
    };
    facts.push(("platform", platform));
    let (from, to) = series.span;
    facts.push(("length", duration((to - from) as f64 / 1e6)));
    facts
}

/// Notes of a run: what to know before its figures are trusted.
pub(super) fn notes(folder: &RunFolder) -> Vec<String> {
    let notes = folder.summary().and_then(|summary| summary["notes"].as_array());
    let mut notes: Vec<String> =
        notes.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    if folder.summary().is_some_and(|summary| summary["backlog"]["grows"] == Value::Bool(true)) {
        notes.push(
            "not stationary: the backlog still grew at the end, so the means say how long the run was"
                .to_owned(),
        );
    }
    notes
}

/// The measures of a run; from its rows where it has no summary.
pub(super) fn measures(folder: &RunFolder, series: &RunSeries) -> BTreeMap<String, f64> {
    if let Some(summary) = folder.summary() {
        return flat_measures(summary);
    }
    let mut measures = BTreeMap::new();
    measures.insert("jobs".to_owned(), series.outcomes.iter().sum::<u64>() as f64);
    for (name, jobs) in Outcome::NAMES.iter().zip(series.outcomes) {
        measures.insert(format!("outcomes.{name}"), jobs as f64);
    }
    for (quantity, name) in Quantity::ALL.into_iter().zip(["wait", "response", "bounded_slowdown"]) {
        let sorted = series.measured.sorted(quantity, |_| true);
        let count = sorted.len();
        if count == 0 {
            continue;
        }
        // Nearest rank, as in summaries.
        let rank = |percent: usize| sorted[(percent * count).div_ceil(100).max(1) - 1];
        measures.insert(format!("mean_{name}"), sorted.iter().sum::<f64>() / count as f64);
        measures.insert(format!("median_{name}"), rank(50));
        measures.insert(format!("p95_{name}"), rank(95));
        measures.insert(format!("max_{name}"), sorted[count - 1]);
    }
    measures
}

/// Figures over all jobs: a column a run, and with two runs or more how much the others differ from the first.
pub(super) fn all_jobs(titles: &[String], measures: &[BTreeMap<String, f64>]) -> Table {
    let mut rows = Vec::new();
    for id in MEASURES {
        let values: Vec<Option<f64>> = measures.iter().map(|of| of.get(id).copied()).collect();
        let told = values.iter().flatten().next().is_some();
        let nothing = values.iter().flatten().all(|value| *value == 0.0);
        // Ways to end that no job met with say little.
        if !told
            || nothing
                && (id.starts_with("outcomes.") || id.starts_with("energy.") || id == "cost" || id == "away")
        {
            continue;
        }
        let info = MeasureInfo::of(id);
        let name = if info.unit.is_empty() { info.title } else { format!("{} ({})", info.title, info.unit) };
        let mut row = vec![name];
        row.extend(values.iter().map(|value| value.map_or_else(|| "–".to_owned(), |value| shown(id, value))));
        if measures.len() == 2 {
            row.push(match (values[0], values[1]) {
                (Some(a), Some(b)) if a == b => "same".to_owned(),
                (Some(a), Some(b)) if a != 0.0 => {
                    format!("{:+.1} %", (b / a - 1.0) * 100.0).replace('-', "−")
                }
                _ => String::new(),
            });
        }
        rows.push(row);
    }
    let mut head = vec![String::new()];
    head.extend(titles.iter().cloned());
    if measures.len() == 2 {
        head.push("difference".to_owned());
    }
    let head = if measures.len() == 1 { Vec::new() } else { head };
    Table { caption: "All jobs that count".to_owned(), head, rows, numbers: true }
}

/// A value as its measure is shown.
pub(super) fn shown(id: &str, value: f64) -> String {
    let last = id.rsplit('.').next().unwrap_or(id);
    if matches!(last, "utilization" | "utilization_available" | "away") {
        return format!("{} %", number(Some(value * 100.0), 2));
    }
    let whole = value == libm::trunc(value) && value.abs() < 1e15;
    let counts = Outcome::NAMES.contains(&last) || matches!(last, "jobs" | "longest_queue" | "at_end");
    let decimals = match value.abs() {
        _ if counts && whole => 0,
        large if large >= 10_000.0 => 0,
        small if small > 0.0 && small < 1.0 => 4,
        _ => 2,
    };
    number(Some(value), decimals)
}

/// A site a row.
pub(super) fn sites(summary: &Value) -> Option<Table> {
    let sites = summary["sites"].as_array().filter(|sites| !sites.is_empty())?;
    let head = [
        "site",
        "policy",
        "processors",
        "jobs",
        "mean wait (s)",
        "mean bounded slowdown",
        "utilization",
        "away",
        "energy (kWh)",
        "cost",
    ];
    let rows = sites.iter().map(|site| {
        let figure = |value: &Value, decimals| number(value.as_f64(), decimals);
        let share = |value: &Value| {
            value.as_f64().map_or_else(|| "–".to_owned(), |share| format!("{:.1} %", share * 100.0))
        };
        vec![
            site["name"].as_str().unwrap_or_default().to_owned(),
            site["policy"].as_str().unwrap_or_default().to_owned(),
            figure(&site["processors"], 0),
            figure(&site["jobs"], 0),
            figure(&site["mean_wait"], 1),
            figure(&site["mean_bounded_slowdown"], 2),
            share(&site["utilization"]),
            share(&site["away"]),
            figure(&site["energy"]["meter_kwh"], 1),
            figure(&site["cost"], 2),
        ]
    });
    Some(table("By site", &head, rows.collect()))
}

/// Jobs of the sites' own users, and of the grid.
pub(super) fn origins(summary: &Value) -> Option<Table> {
    let parts = [("jobs of the sites' own users", &summary["local"]), ("jobs of the grid", &summary["grid"])];
    let parts: Vec<_> =
        parts.into_iter().filter(|(_, part)| part["jobs"].as_u64().unwrap_or(0) > 0).collect();
    (parts.len() > 1).then(|| group_table("By whose jobs they are", "", parts))
}

/// A class a row.
pub(super) fn classes(summary: &Value) -> Option<Table> {
    let classes = summary["classes"].as_array().filter(|classes| classes.len() > 1)?;
    let rows = classes.iter().map(|class| (class["class"].as_str().unwrap_or_default(), class)).collect();
    Some(group_table("By class", "class", rows))
}

fn group_table(caption: &str, first: &str, groups: Vec<(&str, &Value)>) -> Table {
    let head = [
        first,
        "jobs",
        "mean wait (s)",
        "median wait",
        "95 % wait",
        "mean response (s)",
        "mean bounded slowdown",
        "95 % slowdown",
    ];
    let rows = groups.into_iter().map(|(name, group)| {
        let figure = |key: &str, decimals| number(group[key].as_f64(), decimals);
        vec![
            name.to_owned(),
            figure("jobs", 0),
            figure("mean_wait", 1),
            figure("median_wait", 1),
            figure("p95_wait", 1),
            figure("mean_response", 1),
            figure("mean_bounded_slowdown", 2),
            figure("p95_bounded_slowdown", 2),
        ]
    });
    table(caption, &head, rows.collect())
}

/// What was lost to churn and to kills.
pub(super) fn lost(summary: &Value) -> Option<Table> {
    let lost = summary["churn"]["lost"].as_array().filter(|lost| !lost.is_empty())?;
    let rows = lost.iter().map(|lost| {
        vec![
            lost["cause"].as_str().unwrap_or_default().to_owned(),
            number(lost["attempts"].as_f64(), 0),
            number(lost["proc_s"].as_f64().map(|seconds| seconds / 3_600.0), 1),
            lost["share"].as_f64().map_or_else(|| "–".to_owned(), |share| format!("{:.2} %", share * 100.0)),
        ]
    });
    let head = ["cause", "attempts", "processor-hours", "of all in use"];
    Some(table("Work that was lost", &head, rows.collect()))
}

fn table(caption: &str, head: &[&str], rows: Vec<Vec<String>>) -> Table {
    let head = head.iter().map(|name| (*name).to_owned()).collect();
    Table { caption: caption.to_owned(), head, rows, numbers: true }
}
