//! Tables of one run as text, and its summary as JSON.

use comfy_table::{Cell, CellAlignment, ContentLineStyle, LineStyle, Table, TableStyle};

use super::figures::{count, decimals, duration, number, percent};
use crate::local::SearchEffort;
use crate::metrics::{
    ClassMeasures, ElasticSummary, GridSummary, KindMeasures, LimitMeasures, Measures, PreemptionSummary,
    Quantiles, RecordedWaits, UsageSummary,
};
use crate::model::Outcome;

/// Columns separated by blanks under one header line: readable in any terminal, and easy to process with `awk`.
const PLAIN: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none())
    .header_separator(LineStyle::none().fill('-').junction('-'))
    .content_lines(ContentLineStyle::none());

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

/// A table under construction, column by column: first those of text, then those of numbers.
#[derive(Default)]
pub(super) struct Columns {
    texts: usize,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Columns {
    /// Adds a column of text.
    pub(super) fn text(self, title: &str, cells: impl IntoIterator<Item = String>) -> Self {
        Self { texts: self.texts + 1, ..self }.numbers(title, cells)
    }

    /// Adds a column of numbers as they are written.
    pub(super) fn numbers(mut self, title: &str, cells: impl IntoIterator<Item = String>) -> Self {
        let cells = cells.into_iter();
        if self.header.is_empty() {
            self.rows = cells.map(|cell| vec![cell]).collect();
        } else {
            self.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
        }
        self.header.push(title.to_owned());
        self
    }

    /// Adds a column of numbers with equally many decimals.
    pub(super) fn figures(self, title: &str, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let values: Vec<_> = values.into_iter().collect();
        let places = decimals(values.iter().copied());
        self.numbers(title, values.into_iter().map(|value| number(value, places)))
    }

    /// The table as text.
    pub(super) fn finish(self) -> String {
        text_table(self.texts, &self.header.iter().map(String::as_str).collect::<Vec<_>>(), self.rows)
    }
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
    text_table(1, &["", mean, median, p95, max], rows)
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
    let starts = group.dedicated.as_ref()?;
    let mut out = format!("{}: {} started on time", count(starts.jobs), count(starts.on_time));
    if starts.delayed > 0 {
        let [mean, most] =
            [starts.mean_delay, starts.max_delay].map(|value| number(value, decimals([value])));
        out += &format!(", {} late (mean delay of all {mean} s, at most {most} s)", count(starts.delayed));
    }
    let never = starts.jobs - starts.on_time - starts.delayed;
    if never > 0 {
        out += &format!(", {} never started", count(never));
    }
    Some(out)
}

/// How jobs, or workflows, kept their limits: `40 due: 37 in time, 3 missed (mean lateness 2.50 s, at most 60.00 s); 40 with a budget: 2 over it, by 1.50`.
pub(super) fn limits(limits: &LimitMeasures) -> String {
    let mut parts = Vec::new();
    if limits.deadlines > 0 {
        let mut out = format!("{} due: {} in time", count(limits.deadlines), count(limits.met));
        if limits.missed > 0 {
            let told = |value: Option<f64>| value.map(|value| number(Some(value), decimals([Some(value)])));
            let [mean, most, penalty] =
                [limits.mean_lateness, limits.max_lateness, limits.mean_penalty].map(told);
            // Nothing is late if nothing has completed.
            let late = mean.zip(most).map(|(mean, most)| format!("mean lateness {mean} s, at most {most} s"));
            let penalty = penalty.map(|penalty| format!("mean penalty {penalty}"));
            let means: Vec<String> = late.into_iter().chain(penalty).collect();
            out += &format!(", {} missed ({})", count(limits.missed), means.join("; "));
        }
        parts.push(out);
    }
    if limits.budgets > 0 {
        let mut out =
            format!("{} with a budget: {} over it", count(limits.budgets), count(limits.over_budget));
        if limits.over_budget > 0 {
            out += &format!(", by {} in all", number(Some(limits.overspent), 2));
        }
        parts.push(out);
    }
    parts.join("; ")
}

/// Outcomes of elastic commands: `97 carried out, 3 refused (no-job 2, no-room 1)`.
pub(super) fn commands(outcomes: &ElasticSummary) -> String {
    let mut out = format!("{} carried out", count(outcomes.accepted));
    let refused: u64 = outcomes.refused.values().sum();
    if refused > 0 {
        let reasons = outcomes.refused.iter().map(|(why, jobs)| format!("{why} {}", count(*jobs)));
        out += &format!(", {} refused ({})", count(refused), reasons.collect::<Vec<_>>().join(", "));
    }
    out
}

/// Suspensions of jobs: `12 of 9 jobs, at most 1 h 20 min, 8 min in the mean`.
pub(super) fn suspensions(of: &PreemptionSummary) -> String {
    let mut out = format!("{} of {} jobs", count(of.suspensions), count(of.jobs));
    if of.resumed > 0 {
        out += &format!(
            ", at most {}, {} in the mean",
            duration(of.longest_s.unwrap_or(0.0)),
            duration(of.mean_s.unwrap_or(0.0))
        );
    }
    out
}

/// What searches took: `1,200 nodes for 40 decisions, at most 90; 30 proven best, 12 better than the heuristic`.
pub(super) fn searches(of: &SearchEffort) -> String {
    let groups = format!(
        "; {} medium and {} long groups of {} jobs",
        count(of.medium_groups),
        count(of.long_groups),
        count(of.grouped)
    );
    format!(
        "{} nodes for {} decisions, at most {}; {} proven best, {} better than the heuristic{}",
        count(of.nodes),
        count(of.decisions),
        count(of.most_nodes),
        count(of.proven),
        count(of.improved),
        if of.grouped > 0 { &groups } else { "" }
    )
}

/// How processor time was used, in shares of the total.
pub(super) fn processor_time(usage: &UsageSummary) -> String {
    if usage.nominal == 0.0 {
        return "-".to_owned();
    }
    let parts = [
        ("useful", usage.useful),
        ("wasted", usage.wasted),
        ("overhead", usage.overhead),
        ("reserved", usage.reserved),
        ("down", usage.down),
        ("idle", usage.idle),
    ];
    let present = parts.iter().filter(|(_, time)| *time > 0.0);
    let listed = present.map(|(name, time)| format!("{name} {} %", percent(Some(time / usage.nominal))));
    listed.collect::<Vec<_>>().join(", ")
}

/// The measures of each class that has jobs; `None` if no job is measured.
pub(super) fn class_table(preset: &str, classes: &[ClassMeasures], quantiles: Quantiles) -> Option<String> {
    let groups = classes.iter().map(|class| (class.class.as_str(), &class.measures));
    groups_table(&format!("by class ({preset})"), groups, quantiles)
}

/// The measures of each kind that has jobs; `None` if no job is measured.
pub(super) fn kind_table(kinds: &[KindMeasures], quantiles: Quantiles) -> Option<String> {
    groups_table("by kind of job", kinds.iter().map(|kind| (kind.kind.name(), &kind.measures)), quantiles)
}

fn groups_table<'a>(
    title: &str,
    groups: impl Iterator<Item = (&'a str, &'a Measures)>,
    quantiles: Quantiles,
) -> Option<String> {
    let present: Vec<_> = groups.filter(|(_, measures)| measures.jobs > 0).collect();
    if present.iter().all(|(_, measures)| measures.measured == 0) {
        return None;
    }
    let [mean, median, p95, max] = header(quantiles);
    let mut rows = Vec::new();
    for (at, metric) in METRICS.iter().enumerate() {
        rows.push(vec![(*metric).to_owned()]);
        for (name, measures) in &present {
            let label = [format!("  {name}"), count(measures.measured)];
            rows.push(label.into_iter().chain(cells(metrics(measures)[at])).collect());
        }
    }
    Some(text_table(1, &[title, "measured", mean, median, p95, max], rows))
}

/// The emulated waits beside those that the machine of the workload recorded; `None` if it recorded none.
pub(super) fn recorded_waits_table(waits: &[RecordedWaits]) -> Option<String> {
    let values = |row: &RecordedWaits| {
        [
            ("mean\nemulated", row.emulated_mean),
            ("mean\nrecorded", row.recorded_mean),
            ("median\nemulated", row.emulated_median),
            ("median\nrecorded", row.recorded_median),
            ("p90\nemulated", row.emulated_p90),
            ("p90\nrecorded", row.recorded_p90),
        ]
    };
    let header = ["wait (s)", "jobs"].into_iter().chain(values(waits.first()?).map(|(title, _)| title));
    let rows = waits.iter().map(|row| {
        let figures = values(row).map(|(_, value)| value);
        let places = decimals(figures);
        let numbers = figures.map(|figure| number(figure, places));
        [row.class.clone(), count(row.jobs)].into_iter().chain(numbers).collect()
    });
    Some(text_table(1, &header.collect::<Vec<_>>(), rows))
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
