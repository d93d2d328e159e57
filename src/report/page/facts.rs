//! Tables of a report: the configuration of its runs, and their measures.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Table;
use crate::model::Outcome;
use crate::output::{FolderKind, RunFolder};
use crate::report::figures::{count, duration, number};
use crate::report::series::{Quantity, RunSeries};
use crate::study::{MeasureInfo, flat_measures};
use crate::units::unsigned_zero;

/// Title of the row with the folder of a run.
pub(super) const FOLDER: &str = "folder";

/// The measures of the table over all jobs, in its order.
const MEASURES: [&str; 35] = [
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
    "slowdown_of_means",
    "dedicated.jobs",
    "dedicated.on_time",
    "dedicated.delayed",
    "dedicated.mean_delay",
    "dedicated.max_delay",
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
        let options = summary["options"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let options: Vec<&str> = options.collect();
        if !options.is_empty() {
            facts.push(("options", options.join(" ")));
        }
        let window = &summary["measure"];
        if let (Some(from), Some(to)) = (window["from"].as_f64(), window["to"].as_f64()) {
            facts.push((
                "measurement window",
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

/// Notes of a run that a reader needs before trusting its figures.
pub(super) fn notes(folder: &RunFolder) -> Vec<String> {
    let notes = folder.summary().and_then(|summary| summary["notes"].as_array());
    let mut notes: Vec<String> =
        notes.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    if folder.summary().is_some_and(|summary| summary["backlog"]["unstable"] == Value::Bool(true)) {
        notes.push(
            "unstable: the backlog grew until the end, so the means depend on the length of the run"
                .to_owned(),
        );
    }
    notes
}

/// The measures of a run from its summary, or computed from its rows if it has no summary.
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

/// Measures over all jobs: a column for each run, and with two runs or more the difference of each from the first.
pub(super) fn all_jobs(titles: &[String], measures: &[BTreeMap<String, f64>]) -> Table {
    let mut rows = Vec::new();
    for id in MEASURES {
        let values: Vec<Option<f64>> = measures.iter().map(|of| of.get(id).copied()).collect();
        let told = values.iter().flatten().next().is_some();
        let nothing = values.iter().flatten().all(|value| *value == 0.0);
        // Rows for outcomes that no job had are left out.
        if !told
            || nothing
                && (id.starts_with("outcomes.") || id.starts_with("energy.") || id == "cost" || id == "down")
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
                    unsigned_zero(format!("{:+.1} %", (b / a - 1.0) * 100.0)).replace('-', "−")
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

/// A row for each site.
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
        "down",
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
            share(&site["down"]),
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
    (parts.len() > 1).then(|| group_table("Local and grid jobs", "", parts))
}

/// A row for each job class.
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

/// Work wasted by churn and kills, by cause.
pub(super) fn lost(summary: &Value) -> Option<Table> {
    let lost = summary["churn"]["wasted"].as_array()?;
    let some: Vec<&Value> = lost.iter().filter(|lost| lost["attempts"] != 0).collect();
    if some.is_empty() {
        return None;
    }
    let window = &summary["measure"];
    let within = window["from"].as_f64().zip(window["to"].as_f64());
    let within = within.map(|(from, to)| format!("from {} to {}", duration(from), duration(to)));
    let left = |lost: &&Value| lost["cause"].as_str().is_some_and(|cause| cause.ends_with(" left"));
    let caption = match within {
        Some(within) if some.iter().all(left) => format!("Wasted work {within}"),
        Some(within) if some.iter().any(left) => {
            format!("Wasted work: by machines and sites that left, {within}; other causes, in the whole run")
        }
        Some(_) => "Wasted work in the whole run".to_owned(),
        None => "Wasted work".to_owned(),
    };
    // Wasted work within a window is not a share of the capacity used in the whole run.
    let shares = some.iter().any(|lost| lost["share"].is_number());
    let rows = some.iter().map(|lost| {
        let mut row = vec![
            lost["cause"].as_str().unwrap_or_default().to_owned(),
            number(lost["attempts"].as_f64(), 0),
            number(lost["proc_s"].as_f64().map(|seconds| seconds / 3_600.0), 1),
        ];
        if shares {
            let share = lost["share"].as_f64();
            row.push(share.map_or_else(|| "–".to_owned(), |share| format!("{:.2} %", share * 100.0)));
        }
        row
    });
    let head = ["cause", "attempts", "processor-hours", "share of used time"];
    Some(table(&caption, &head[..if shares { 4 } else { 3 }], rows.collect()))
}

fn table(caption: &str, head: &[&str], rows: Vec<Vec<String>>) -> Table {
    let head = head.iter().map(|name| (*name).to_owned()).collect();
    Table { caption: caption.to_owned(), head, rows, numbers: true }
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
