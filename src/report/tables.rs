//! Tables of one run as text, and its summary as JSON.

use comfy_table::{Cell, CellAlignment, ContentLineStyle, LineStyle, Table, TableStyle};

use super::figures::{count, decimals, number, percent};
use crate::metrics::{
    ClassMeasures, ElasticSummary, GridSummary, Measures, Quantiles, RecordedWaits, UsageSummary,
};
use crate::model::Outcome;

/// Columns separated by blanks under one header line: readable in any terminal, and easy to process with `awk`.
const PLAIN: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none())
    .header_separator(LineStyle::none().fill('-').junction('-'))
    .content_lines(ContentLineStyle::none());

/// A table whose first column is text and whose others are numbers.
pub(super) fn table<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    text_table(1, &header, rows)
}

/// A table whose first `texts` columns contain text and whose others contain numbers.
pub(super) fn text_table(
    texts: usize,
    header: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let aligned = |(at, text): (usize, String)| {
        Cell::new(text).set_alignment(if at < texts { CellAlignment::Left } else { CellAlignment::Right })
    };
    let row = |cells: Vec<String>| cells.into_iter().enumerate().map(aligned).collect::<Vec<_>>();
    let mut table = Table::new();
    table.load_style(PLAIN).set_header(row(header.iter().map(|text| (*text).to_owned()).collect()));
    table.add_rows(rows.into_iter().map(row));
    table.trim_fmt()
}

/// One measure of a group of jobs: mean, median, 95th percentile and maximum.
type Figures = [Option<f64>; 4];

fn metrics(measures: &Measures) -> [Figures; 3] {
    let m = measures;
    [
        [m.mean_wait, m.median_wait, m.p95_wait, m.max_wait],
        [m.mean_response, m.median_response, m.p95_response, m.max_response],
        [m.mean_bounded_slowdown, m.median_bounded_slowdown, m.p95_bounded_slowdown, m.max_bounded_slowdown],
    ]
}

const METRICS: [&str; 3] = ["wait (s)", "response (s)", "bounded slowdown"];

fn header(quantiles: Quantiles) -> [&'static str; 4] {
    match quantiles {
        Quantiles::Exact => ["mean", "median", "p95", "max"],
        Quantiles::Sketch => ["mean", "~median", "~p95", "max"],
    }
}

fn cells(figures: Figures) -> impl Iterator<Item = String> {
    let places = decimals([figures[0], figures[1]]);
    figures.into_iter().map(move |figure| number(figure, places))
}

/// Mean, median, 95th percentile and maximum of the measures of a group of jobs.
pub(super) fn measures_table(of: &Measures, quantiles: Quantiles) -> String {
    let [mean, median, p95, max] = header(quantiles);
    let rows = METRICS.iter().zip(metrics(of));
    let rows = rows.map(|(name, figures)| [(*name).to_owned()].into_iter().chain(cells(figures)).collect());
    table(["", mean, median, p95, max], rows)
}

/// How the jobs of a group ended: `37 completed, 3 killed at their estimate`.
pub(super) fn outcomes(group: &Measures) -> String {
    let counted = Outcome::NAMES.iter().zip(group.outcomes.counts());
    let present = counted.enumerate().filter(|(at, (_, jobs))| *at == 0 || *jobs > 0);
    let killed = Outcome::Killed.name();
    let at_what = |name: &str| if name == killed { " at their estimate" } else { "" };
    let listed = present.map(|(_, (name, jobs))| format!("{} {name}{}", count(jobs), at_what(name)));
    let mut out = listed.collect::<Vec<_>>().join(", ");
    if group.measured < group.jobs {
        out.push_str(&format!(" ({} measured)", count(group.measured)));
    }
    out
}

/// How dedicated jobs started: `40: 37 started on time, 3 late (mean delay of all 2.50 s, at most 60.00 s)`.
pub(super) fn dedicated(group: &Measures) -> Option<String> {
    let told = group.dedicated.as_ref()?;
    let mut out = format!("{}: {} started on time", count(told.jobs), count(told.on_time));
    if told.delayed > 0 {
        let secs = |value: Option<f64>| number(value, decimals([value]));
        out.push_str(&format!(
            ", {} late (mean delay of all {} s, at most {} s)",
            count(told.delayed),
            secs(told.mean_delay),
            secs(told.max_delay)
        ));
    }
    let never = told.jobs - told.on_time - told.delayed;
    if never > 0 {
        out.push_str(&format!(", {} never started", count(never)));
    }
    Some(out)
}

/// Outcomes of elastic commands: `97 carried out, 3 refused (no-job 2, no-room 1)`.
pub(super) fn commands(told: &ElasticSummary) -> String {
    let mut out = format!("{} carried out", count(told.accepted));
    let refused: u64 = told.refused.values().sum();
    if refused > 0 {
        let reasons = told.refused.iter().map(|(why, jobs)| format!("{why} {}", count(*jobs)));
        let reasons: Vec<String> = reasons.collect();
        out.push_str(&format!(", {} refused ({})", count(refused), reasons.join(", ")));
    }
    out
}

/// How processor time was used, in shares of the total.
pub(super) fn processor_time(usage: &UsageSummary) -> String {
    let parts = [
        ("useful", usage.useful),
        ("wasted", usage.wasted),
        ("overhead", usage.overhead),
        ("reserved", usage.reserved),
        ("down", usage.down),
        ("idle", usage.idle),
    ];
    if usage.nominal == 0.0 {
        return "-".to_owned();
    }
    let present = parts.iter().filter(|(_, time)| *time > 0.0);
    let listed: Vec<_> =
        present.map(|(name, time)| format!("{name} {} %", percent(Some(time / usage.nominal)))).collect();
    listed.join(", ")
}

/// The measures of each class that has jobs; `None` if no job is measured.
pub(super) fn class_table(preset: &str, classes: &[ClassMeasures], quantiles: Quantiles) -> Option<String> {
    let present: Vec<_> = classes.iter().filter(|class| class.measures.jobs > 0).collect();
    if present.iter().all(|class| class.measures.measured == 0) {
        return None;
    }
    let [mean, median, p95, max] = header(quantiles);
    let mut rows = Vec::new();
    for (at, metric) in METRICS.iter().enumerate() {
        rows.push(vec![(*metric).to_owned()]);
        for class in &present {
            let label = [format!("  {}", class.class), count(class.measures.measured)];
            rows.push(label.into_iter().chain(cells(metrics(&class.measures)[at])).collect());
        }
    }
    let title = format!("by class ({preset})");
    Some(table([&title, "measured", mean, median, p95, max], rows))
}

/// The emulated waits beside those that the machine of the workload recorded; empty if it recorded none.
pub(super) fn recorded_waits_table(waits: &[RecordedWaits]) -> String {
    let rows = waits.iter().map(|row| {
        let figures = [
            row.emulated_mean,
            row.recorded_mean,
            row.emulated_median,
            row.recorded_median,
            row.emulated_p90,
            row.recorded_p90,
        ];
        let places = decimals(figures);
        let numbers = figures.map(|figure| number(figure, places));
        [row.class.clone(), count(row.jobs)].into_iter().chain(numbers).collect()
    });
    if waits.is_empty() {
        return String::new();
    }
    table(
        [
            "wait (s)",
            "jobs",
            "mean\nemulated",
            "mean\nrecorded",
            "median\nemulated",
            "median\nrecorded",
            "p90\nemulated",
            "p90\nrecorded",
        ],
        rows,
    )
}

/// Serializes the summaries as one document: an object for one run, an array for several.
///
/// # Errors
/// Any error is one of [`serde_json`]; a summary that a run made causes none.
pub fn json(runs: &[GridSummary]) -> serde_json::Result<String> {
    match runs {
        [run] => serde_json::to_string_pretty(run),
        runs => serde_json::to_string_pretty(runs),
    }
}
