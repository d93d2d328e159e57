//! One run, for people and as JSON.

use comfy_table::{Cell, CellAlignment, ContentLineStyle, LineStyle, Table, TableStyle};

use super::figures::{count, decimals, duration, jobs, number, percent};
use crate::metrics::{
    ClassMeasures, ElasticSummary, GridSummary, Measures, Quantiles, RunSummary, UsageSummary,
};
use crate::model::{InstantOrder, Outcome};

/// Columns apart by blanks, one line under the header: readable anywhere, and easily taken apart by `awk`.
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

/// A table whose first columns are text, so many of them, and whose others are numbers.
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

/// The summary of one run: the measures of all jobs, then what became of them, where the processors' and the
/// run's own time went, then the measures by class.
pub fn summary_table(run: &RunSummary) -> String {
    let mut out = heading(run);
    out.push_str("\n\n");
    let [mean, median, p95, max] = header(run.quantiles);
    let rows = METRICS.iter().zip(metrics(&run.measures));
    let rows = rows.map(|(name, figures)| [(*name).to_owned()].into_iter().chain(cells(figures)).collect());
    out.push_str(&table(["", mean, median, p95, max], rows));
    out.push_str("\n\n");
    let facts = facts(run);
    let width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, text) in facts {
        // Under the first line of a text the others.
        let text = text.replace('\n', &format!("\n {:width$}  ", ""));
        out.push_str(&format!(" {name:width$}  {text}\n"));
    }
    if let Some(classes) = class_table(&run.class_preset, &run.classes, run.quantiles) {
        out.push('\n');
        out.push_str(&classes);
        out.push('\n');
    }
    if !run.recorded_waits.is_empty() {
        out.push('\n');
        out.push_str(&recorded_waits_table(run));
        out.push('\n');
    }
    for note in &run.facts.notes {
        out.push_str(&format!("\nnote: {note}"));
    }
    if !run.facts.notes.is_empty() {
        out.push('\n');
    }
    out
}

fn heading(run: &RunSummary) -> String {
    let facts = &run.facts;
    let order = match facts.order {
        InstantOrder::Instant => "instant",
        InstantOrder::Event => "event",
    };
    let mut out = format!(
        "{} on {}: {}, {} processors\nestimates {}, one pass an {order}",
        facts.policy,
        facts.workload,
        jobs(run.measures.jobs),
        count(u64::from(facts.procs)),
        facts.estimates,
    );
    if let Some(load) = &facts.offered_load {
        out.push_str(&format!(", offered load {} of {}", number(Some(load.value), 3), load.over));
    }
    if let Some(seed) = facts.seed {
        out.push_str(&format!(", seed {seed}"));
    }
    if !facts.options.is_empty() {
        out.push_str(&format!("\nwith {}", facts.options.join(" ")));
    }
    out
}

fn facts(run: &RunSummary) -> Vec<(&'static str, String)> {
    let times = &run.facts.times;
    let mut facts = vec![("outcomes", outcomes(&run.measures))];
    facts.extend(dedicated(&run.measures).map(|told| ("dedicated jobs", told)));
    facts.extend(run.elastic.as_ref().map(|told| ("elastic commands", commands(told))));
    facts.push(("utilization", utilization(run)));
    facts.push(("processor time", processor_time(&run.usage)));
    let makespan = run.makespan.map_or("-".to_owned(), |secs| {
        let exact = number(Some(secs), if secs == libm::trunc(secs) { 0 } else { 6 });
        format!("{} ({exact} s)", duration(secs))
    });
    facts.push(("makespan", makespan));
    facts.push(("longest queue", jobs(run.facts.longest_queue)));
    if run.energy.meter_kwh > 0.0 {
        let kwh = |value: f64| number(Some(value), decimals([Some(run.energy.facility_kwh)]));
        facts.push((
            "energy",
            format!(
                "{} kWh (jobs {}, idle {}), {} kWh with the facility",
                kwh(run.energy.meter_kwh),
                kwh(run.energy.jobs_kwh),
                kwh(run.energy.idle_kwh),
                kwh(run.energy.facility_kwh)
            ),
        ));
    }
    if let Some(cost) = run.energy.electricity_cost {
        facts.push(("electricity", number(Some(cost), 2)));
    }
    if run.cost != 0.0 {
        facts.push(("cost", number(Some(run.cost), 2)));
    }
    facts.push((
        "run time",
        format!(
            "read {:.3} s, schedule {:.3} s, write {:.3} s",
            times.read_s, times.schedule_s, times.write_s
        ),
    ));
    facts.push(("fingerprint", run.fingerprint.to_string()));
    facts.push(("definitions", definitions(run)));
    facts
}

/// How a group of jobs ended: `37 completed, 3 killed at their estimate`.
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

/// What became of dedicated jobs: `40: 37 started when they asked to, 3 later (by 12.5 s in the mean, at most 60 s)`.
pub(super) fn dedicated(group: &Measures) -> Option<String> {
    let told = group.dedicated.as_ref()?;
    let mut out = format!("{}: {} started when they asked to", count(told.jobs), count(told.on_time));
    if told.delayed > 0 {
        let secs = |value: Option<f64>| number(value, decimals([value]));
        out.push_str(&format!(
            ", {} later (by {} s in the mean of all, at most {} s)",
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

/// What became of elastic commands: `97 carried out, 3 refused (no-job 2, no-room 1)`.
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

fn utilization(run: &RunSummary) -> String {
    if run.utilization.is_none() {
        return "-".to_owned();
    }
    let nominal = percent(run.utilization);
    if run.utilization == run.utilization_available {
        format!("{nominal} %")
    } else {
        format!("{nominal} % of nominal, {} % of available", percent(run.utilization_available))
    }
}

/// Where the processors' time went, in shares of all.
pub(super) fn processor_time(usage: &UsageSummary) -> String {
    let parts = [
        ("useful", usage.useful),
        ("wasted", usage.wasted),
        ("overhead", usage.overhead),
        ("reserved", usage.reserved),
        ("away", usage.away),
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

/// The meanings of the three measures in the table and of the utilization, a line each.
fn definitions(run: &RunSummary) -> String {
    let shown =
        |id: &str| matches!(id, "wait" | "response" | "utilization" | "submission") || id.starts_with("bsld");
    let listed = run.definitions.iter().filter(|definition| shown(&definition.id));
    let mut out: Vec<_> =
        listed.map(|definition| format!("{} = {}", definition.id, definition.meaning)).collect();
    if run.quantiles == Quantiles::Sketch {
        out.push("~ is at most 0.1 % too high".to_owned());
    }
    out.join("\n")
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

/// The emulated waits beside those that the workload's own machine recorded; empty if it recorded none.
pub fn recorded_waits_table(run: &RunSummary) -> String {
    let rows = run.recorded_waits.iter().map(|row| {
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
    if run.recorded_waits.is_empty() {
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

/// The summary of a run of a grid as JSON.
///
/// # Errors
/// As [`json`].
pub fn grid_json(run: &GridSummary) -> serde_json::Result<String> {
    serde_json::to_string_pretty(run)
}

/// One document: an object for one run, an array for several.
///
/// # Errors
/// Never for a summary that a run made; [`serde_json`] cannot promise it.
pub fn json(runs: &[RunSummary]) -> serde_json::Result<String> {
    match runs {
        [run] => serde_json::to_string_pretty(run),
        runs => serde_json::to_string_pretty(runs),
    }
}
