//! Tables of a report: the configuration of its runs, and their measures.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Look, Table};
use crate::model::Outcome;
use crate::output::{FolderKind, RunFolder};
use crate::report::figures::{count, duration, number};
use crate::report::lists::distinct;
use crate::report::series::{Quantity, RunSeries, measure_title};
use crate::study::flat_measures;
use crate::units::unsigned_zero;

/// Title of the row with the folder of a run.
pub(super) const FOLDER: &str = "folder";
/// Title of the row with its files.
pub(super) const FILES: &str = "files in it";

/// The measures of the table over all jobs, in its order, after the number of jobs and their outcomes.
const MEASURES: [&str; 37] = [
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
    "slowdown_of_means",
    "dedicated.jobs",
    "dedicated.on_time",
    "dedicated.delayed",
    "dedicated.mean_delay",
    "dedicated.max_delay",
    "limits.deadlines",
    "limits.met",
    "limits.missed",
    "limits.mean_lateness",
    "limits.max_lateness",
    "limits.mean_penalty",
    "limits.budgets",
    "limits.over_budget",
    "limits.overspent",
    "makespan",
    "utilization",
    "utilization_available",
    "down",
    "longest_queue",
    "backlog.at_end",
    "energy.meter_kwh",
    "energy.facility_kwh",
    "energy.idle_kwh",
    "cost",
    "local.mean_wait",
];

/// The configuration of the runs, a column for each.
pub(super) fn what_was_run(runs: &[(&RunFolder, &RunSeries)]) -> Table {
    let facts: Vec<Vec<(&str, String)>> = runs.iter().map(|(folder, series)| facts(folder, series)).collect();
    let cell = |facts: &[(&str, String)], name: &str| {
        let fact = facts.iter().find(|(found, _)| *found == name);
        fact.map_or_else(|| "–".to_owned(), |(_, value)| value.clone())
    };
    let names = distinct(facts.iter().flatten().map(|(name, _)| *name));
    let rows = names.into_iter().map(|name| {
        std::iter::once(name.to_owned()).chain(facts.iter().map(|facts| cell(facts, name))).collect()
    });
    Table { rows: rows.collect(), ..Table::default() }
}

fn facts(folder: &RunFolder, series: &RunSeries) -> Vec<(&'static str, String)> {
    let mut facts = vec![(FOLDER, folder.dir().display().to_string())];
    let files = ["jobs.csv", "segments.csv", "events.csv", "machines.csv", "scenario.toml", "summary.json"];
    let files: Vec<&str> = files.into_iter().filter(|file| folder.dir().join(file).is_file()).collect();
    if folder.kind() == FolderKind::Run && !files.is_empty() {
        facts.push((FILES, files.join(", ")));
    }
    let kind = match folder.kind() {
        FolderKind::Run => "a run of gridemu",
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
            ("order within an instant", "order"),
            ("seed", "seed"),
            ("engine", "engine"),
            ("gridemu", "version"),
            ("fingerprint", "fingerprint"),
        ];
        facts.extend(keys.iter().filter_map(|(name, key)| Some((*name, text(&summary[*key])?))));
        if let Some(policy) = summary["broker"]["policy"].as_str() {
            facts.push(("broker", policy.to_owned()));
        }
        let options: Vec<&str> = strings(&summary["options"]).collect();
        if !options.is_empty() {
            facts.push(("options", options.join(" ")));
        }
        if let Some(window) = window(summary) {
            facts.push(("measurement window", format!("jobs submitted {window}")));
        }
    }
    let processors = count(series.processors());
    let platform = match (&series.sites[..], series.sized) {
        ([_], true) => format!("{processors} processors"),
        (sites, true) => format!("{} sites with {processors} processors", sites.len()),
        (_, false) => format!("{processors} processors that were used"),
    };
    facts.push(("platform", platform));
    let (from, to) = series.jobs.span;
    facts.push(("length", duration((to - from) as f64 / 1e6)));
    facts
}

/// The strings of a list.
fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The measured window of a run: `from 1 d to 3 d`.
fn window(summary: &Value) -> Option<String> {
    let time = |key: &str| summary["measure"][key].as_f64().map(duration);
    Some(format!("from {} to {}", time("from")?, time("to")?))
}

/// Notes of a run that a reader needs before trusting its figures.
pub(super) fn notes(folder: &RunFolder) -> Vec<String> {
    let Some(summary) = folder.summary() else { return Vec::new() };
    strings(&summary["notes"]).map(str::to_owned).collect()
}

/// The measures of a run from its summary, or computed from its rows if it has no summary.
pub(super) fn measures(folder: &RunFolder, series: &RunSeries) -> BTreeMap<String, f64> {
    if let Some(summary) = folder.summary() {
        return flat_measures(summary);
    }
    let mut measures = BTreeMap::new();
    measures.insert("jobs".to_owned(), series.jobs.outcomes.iter().sum::<u64>() as f64);
    for (name, jobs) in Outcome::NAMES.iter().zip(series.jobs.outcomes) {
        measures.insert(format!("outcomes.{name}"), jobs as f64);
    }
    for (quantity, name) in Quantity::ALL.into_iter().zip(["wait", "response", "bounded_slowdown"]) {
        let sorted = series.jobs.measured.sorted(quantity, |_| true);
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

/// Measures over all jobs: a column for each run, and with two runs or more the difference of each from the first.
pub(super) fn all_jobs(titles: &[String], measures: &[BTreeMap<String, f64>]) -> Table {
    let mut rows = Vec::new();
    let outcomes = Outcome::NAMES.map(|name| format!("outcomes.{name}"));
    let ids = ["jobs"].into_iter().chain(outcomes.iter().map(String::as_str)).chain(MEASURES);
    for id in ids {
        let values: Vec<Option<f64>> = measures.iter().map(|of| of.get(id).copied()).collect();
        let nothing = values.iter().flatten().all(|value| *value == 0.0);
        // Rows for outcomes that no job had are left out.
        let may_be_left_out =
            id.starts_with("outcomes.") || id.starts_with("energy.") || id == "cost" || id == "down";
        // If all jobs are local, their mean wait is that of all jobs.
        let repeats = id == "local.mean_wait"
            && measures.iter().all(|of| of.get(id).is_none_or(|value| of.get("mean_wait") == Some(value)));
        if values.iter().all(Option::is_none) || nothing && may_be_left_out || repeats {
            continue;
        }
        let mut row = vec![measure_title(id)];
        row.extend(values.iter().map(|value| value.map_or_else(|| "–".to_owned(), |value| shown(id, value))));
        if measures.len() == 2 {
            row.push(match (values[0], values[1]) {
                (Some(a), Some(b)) if a == b => "same".to_owned(),
                (Some(a), Some(b)) if a != 0.0 => {
                    unsigned_zero(format!("{:+.1} %", (b / a - 1.0) * 100.0)).replace('-', "−")
                }
                _ => String::new(),
            });
        }
        rows.push(row);
    }
    let difference = (measures.len() == 2).then(|| "difference".to_owned());
    let head = [String::new()].into_iter().chain(titles.iter().cloned()).chain(difference);
    let head = if measures.len() == 1 { Vec::new() } else { head.collect() };
    Table { caption: "All jobs that count".to_owned(), head, rows, look: Look::Numbers }
}

/// Formats a value as suits its measure.
pub(super) fn shown(id: &str, value: f64) -> String {
    match is_share(id) {
        true => format!("{} %", number(Some(value * 100.0), 2)),
        false => number(Some(value), decimals(id, value)),
    }
}

/// Whether a measure is shown in percent.
fn is_share(id: &str) -> bool {
    matches!(id.rsplit('.').next().unwrap_or(id), "utilization" | "utilization_available" | "down")
}

/// Number of decimals for a value of a measure that is not a share.
fn decimals(id: &str, value: f64) -> usize {
    let last = id.rsplit('.').next().unwrap_or(id);
    let whole = value == libm::trunc(value) && value.abs() < 1e15;
    let counts = Outcome::NAMES.contains(&last) || matches!(last, "jobs" | "longest_queue" | "at_end");
    match value.abs() {
        _ if counts && whole => 0,
        large if large >= 10_000.0 => 0,
        small if small > 0.0 && small < 1.0 => 4,
        _ => 2,
    }
}

/// Formats a mean with half the width of its interval, with as many decimals as the interval justifies, and more if the half width
/// would be rounded to 0.
pub(super) fn shown_with(id: &str, mean: f64, half: f64) -> String {
    let (mean, half, unit, places) = match is_share(id) {
        true => (mean * 100.0, half * 100.0, " %", 2),
        false if mean.abs() >= 1_000.0 => (mean, half, "", 0),
        false => (mean, half, "", decimals(id, mean)),
    };
    let (mean, half) = match first_place(half) {
        // Only rounding errors of sums are as small.
        Some(needed) if needed > MOST_PLACES => (number(Some(mean), places), format!("{half:.0e}")),
        needed => {
            let places = places.max(needed.unwrap_or(0));
            (number(Some(mean), places), number(Some(half), places))
        }
    };
    format!("{mean}{unit} ± {half}{unit}")
}

/// Maximum number of decimals of a mean with an interval.
const MOST_PLACES: usize = 6;

/// The decimal place of the first nonzero digit: 1 for 0.4, 0 for 4 and for 40; `None` for 0.
fn first_place(value: f64) -> Option<usize> {
    let some = value.is_finite() && value != 0.0;
    some.then(|| (-libm::floor(libm::log10(value.abs()))).max(0.0) as usize)
}

/// The title of a column, and its cell in a row.
pub(super) type Column<'a, T> = (&'a str, &'a dyn Fn(&T) -> String);

pub(super) fn table<T>(caption: &str, rows: &[T], columns: &[Column<'_, T>]) -> Table {
    let head = columns.iter().map(|(title, _)| (*title).to_owned()).collect();
    let cells = |row: &T| columns.iter().map(|(_, cell)| cell(row)).collect();
    Table { caption: caption.to_owned(), head, rows: rows.iter().map(cells).collect(), look: Look::Numbers }
}

pub(super) fn figure(value: &Value, decimals: usize) -> String {
    number(value.as_f64(), decimals)
}

pub(super) fn percent(share: &Value, decimals: usize) -> String {
    share.as_f64().map_or_else(|| "–".to_owned(), |share| format!("{:.decimals$} %", share * 100.0))
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Jobs of the sites' own users, and of the grid.
pub(super) fn origins(summary: &Value) -> Option<Table> {
    let parts = [("jobs of the sites' own users", &summary["local"]), ("jobs of the grid", &summary["grid"])];
    let some = parts.iter().all(|(_, part)| part["jobs"].as_u64().unwrap_or(0) > 0);
    some.then(|| group_table("Local and grid jobs", "", &parts))
}

/// A row for each job class.
pub(super) fn classes(summary: &Value) -> Option<Table> {
    let classes = summary["classes"].as_array().filter(|classes| classes.len() > 1)?;
    let rows = classes.iter().map(|class| (class["class"].as_str().unwrap_or_default(), class));
    Some(group_table("By class", "class", &rows.collect::<Vec<_>>()))
}

/// A row for each kind of job that there is, where jobs may be moldable or malleable.
pub(super) fn kinds(summary: &Value) -> Option<Table> {
    let kinds = summary["kinds"].as_array()?.iter().filter(|kind| kind["jobs"].as_u64() > Some(0));
    let rows = kinds.map(|kind| (kind["kind"].as_str().unwrap_or_default(), kind));
    Some(group_table("By kind of job", "kind", &rows.collect::<Vec<_>>()))
}

fn group_table(caption: &str, first: &str, groups: &[(&str, &Value)]) -> Table {
    let columns: [Column<'_, (&str, &Value)>; 10] = [
        (first, &|(name, _)| (*name).to_owned()),
        ("jobs", &|(_, group)| figure(&group["jobs"], 0)),
        ("mean wait (s)", &|(_, group)| figure(&group["mean_wait"], 1)),
        ("median wait", &|(_, group)| figure(&group["median_wait"], 1)),
        ("95 % wait", &|(_, group)| figure(&group["p95_wait"], 1)),
        ("mean response (s)", &|(_, group)| figure(&group["mean_response"], 1)),
        ("longest response", &|(_, group)| figure(&group["max_response"], 1)),
        ("mean bounded slowdown", &|(_, group)| figure(&group["mean_bounded_slowdown"], 2)),
        ("95 % slowdown", &|(_, group)| figure(&group["p95_bounded_slowdown"], 2)),
        ("largest slowdown", &|(_, group)| figure(&group["max_bounded_slowdown"], 2)),
    ];
    table(caption, groups, &columns)
}

/// Work wasted by churn and kills, by cause.
pub(super) fn wasted(summary: &Value) -> Option<Table> {
    let causes = summary["churn"]["wasted"].as_array()?.iter().filter(|of| of["attempts"] != 0);
    let causes: Vec<&Value> = causes.collect();
    if causes.is_empty() {
        return None;
    }
    let left = |of: &&Value| of["cause"].as_str().is_some_and(|cause| cause.ends_with(" left"));
    let caption = match window(summary) {
        Some(window) if causes.iter().all(left) => format!("Wasted work {window}"),
        Some(window) if causes.iter().any(left) => {
            format!("Wasted work: by machines and sites that left, {window}; other causes, in the whole run")
        }
        Some(_) => "Wasted work in the whole run".to_owned(),
        None => "Wasted work".to_owned(),
    };
    // Wasted work within a window is not a share of the capacity used in the whole run.
    let shares = causes.iter().any(|of| of["share"].is_number());
    let columns: [Column<'_, &Value>; 4] = [
        ("cause", &|of| text(&of["cause"])),
        ("attempts", &|of| figure(&of["attempts"], 0)),
        ("processor-hours", &|of| number(of["proc_s"].as_f64().map(|seconds| seconds / 3_600.0), 1)),
        ("share of used time", &|of| percent(&of["share"], 2)),
    ];
    Some(table(&caption, &causes, &columns[..if shares { 4 } else { 3 }]))
}

#[cfg(test)]
mod tests {
    use super::shown_with;

    #[test]
    fn half_an_interval_is_not_rounded_to_nothing() {
        let shown = |mean, half| shown_with("mean_wait", mean, half);
        assert_eq!(shown(1_234.4, 0.4), "1,234.4 ± 0.4");
        assert_eq!(shown(1_234.4, 0.04), "1,234.40 ± 0.04");
        assert_eq!(shown(1_234.4, 56.7), "1,234 ± 57");
        assert_eq!(shown(12_345.6, 1_234.5), "12,346 ± 1,234");
        assert_eq!(shown(45.678, 0.8), "45.68 ± 0.80");
        assert_eq!(shown(45.678, 0.000_8), "45.6780 ± 0.0008");
        assert_eq!(shown(0.5, 0.000_02), "0.50000 ± 0.00002");
        assert_eq!(shown_with("utilization", 0.7, 0.000_02), "70.000 % ± 0.002 %");
        assert_eq!(shown_with("utilization", 0.7, 0.02), "70.00 % ± 2.00 %");
        assert_eq!(shown_with("jobs", 1_000.0, 0.0), "1,000 ± 0", "no spread at all");
        assert_eq!(shown_with("longest_queue", 17.0, 0.3), "17.0 ± 0.3");
        // Rounding errors of sums of equal values are not an interval worth a dozen digits.
        assert_eq!(shown(1_234.4, 4e-13), "1,234 ± 4e-13");
        assert_eq!(shown(1_234.4, f64::NAN), "1,234 ± -");
    }
}
