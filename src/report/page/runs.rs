//! The report of runs: one, or several side by side.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize as _;

use super::ledger::ledger;
use super::over_time::{BINS, LABELS, busy_share, layer, means, over_time, time_figure};
use super::{
    Figure, Report, ReportError, ReportOptions, Section, by_class, facts, front, headline, stem, traffic,
    workflows,
};
use crate::metrics::PreemptionSummary;
use crate::model::Outcome;
use crate::output::{FolderKind, RunFolder};
use crate::report::charts::{
    self, Axis, EcdfChart, EcdfLine, GanttChart, Ink, TimeEvent, TimeMarks, TimeStyle,
};
use crate::report::figures::{count, duration, jobs, noun};
use crate::report::lists::distinct;
use crate::report::series::{Plannings, Quantity, RunSeries, Traffic, Workflows, ecdf, ink};
use crate::report::tables;

/// Maximum number of runs whose schedules are drawn on one page.
const SCHEDULES: usize = 8;

/// A run with the data that its charts show.
pub(super) struct Run<'a> {
    pub(super) folder: &'a RunFolder,
    pub(super) series: RunSeries,
    /// Short name that differs from those of the other runs.
    pub(super) name: String,
    measures: BTreeMap<String, f64>,
}

pub(super) fn report(folders: &[RunFolder], options: &ReportOptions) -> Result<Report, ReportError> {
    let mut runs = Vec::with_capacity(folders.len());
    for (folder, name) in folders.iter().zip(names(folders)) {
        let series = RunSeries::read(folder, options.classes.as_ref())?;
        let measures = facts::measures(folder, &series);
        runs.push(Run { folder, series, name, measures });
    }
    let first = runs.first().ok_or(ReportError::Nothing)?;
    let (title, subtitle) = match &runs[..] {
        [only] => (only.folder.title().to_owned(), subtitle(only)),
        several => {
            let names: Vec<&str> = several.iter().map(|run| run.name.as_str()).collect();
            let title = if names.len() <= 4 { names.join(", ") } else { format!("{} runs", names.len()) };
            (title, format!("{} runs side by side", several.len()))
        }
    };
    let mut sections = Vec::new();
    if let [only] = &runs[..] {
        sections.push(first_screen(only));
        sections.extend(
            Workflows::read(only.folder, &options.workflows)?
                .map(|all| workflows::section(all, options.undrawn.as_deref())),
        );
        match (Plannings::read(only.folder, options.planning)?, options.planning) {
            (Some(all), wanted) => sections.push(front::section(&all, wanted)?),
            (None, Some(number)) => return Err(ReportError::NoPlanning { number, there: (0, 0) }),
            (None, None) => {}
        }
    } else {
        sections.push(numbers(&runs));
        sections.push(by_class::gains(first, &runs[1..]));
        sections.push(side_by_side(&mut runs));
    }
    if runs.len() <= SCHEDULES {
        sections.extend(runs.iter_mut().map(|run| schedule(run, folders.len() > 1)));
    } else if let Some(section) = sections.last_mut() {
        section.lead.push(format!("Schedules are drawn of up to {SCHEDULES} runs at a time."));
    }
    if let [only] = &mut runs[..] {
        let mut section = over_time(&mut only.series, "");
        if let Some(moved) = Traffic::read(only.folder, options.network.as_ref())? {
            section.figures.push(traffic::figure(&moved, LABELS, &only.series.marks));
            section.figures.extend(traffic::links(&moved, LABELS, &only.series.marks));
        }
        sections.push(section);
        sections.extend(by_class::values(only));
        sections.push(distributions(only));
    }
    if let [_] = &runs[..] {
        sections.push(numbers(&runs));
    }
    sections.push(origin(&runs, options));
    Ok(Report { title, subtitle, theme: options.theme, sections })
}

/// Names that distinguish the runs: their titles, or else their folders.
fn names(folders: &[RunFolder]) -> Vec<String> {
    let policy = |folder: &RunFolder| {
        let summary = folder.summary()?;
        let policy = summary["policy"].as_str().or_else(|| summary["broker"]["policy"].as_str());
        policy.map(str::to_owned)
    };
    let policies: Option<Vec<String>> = folders.iter().map(policy).collect();
    let titles = folders.iter().map(|folder| folder.title().to_owned()).collect();
    let last = |folder: &RunFolder| match folder.dir().file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => folder.title().to_owned(),
    };
    let choices = [policies.unwrap_or_default(), titles, folders.iter().map(last).collect()];
    let chosen = choices.into_iter().find(|names| distinct(names).len() == folders.len());
    chosen.unwrap_or_else(|| folders.iter().map(|folder| folder.dir().display().to_string()).collect())
}

fn subtitle(run: &Run<'_>) -> String {
    let series = &run.series;
    let all: u64 = series.jobs.outcomes.iter().sum();
    let length = duration((series.jobs.span.1 - series.jobs.span.0) as f64 / 1e6);
    format!("{} on {} processors in {length}", jobs(all), count(series.processors()))
}

/// The first screen of one run: what a reader looks for first, and what it covers.
fn first_screen(run: &Run<'_>) -> Section {
    let notes = facts::notes(run.folder).into_iter();
    let tables = vec![headline::headline(run.folder, &run.measures)];
    Section { tables, notes: notes.map(sentence).collect(), ..Section::new("Headline") }
}

/// A note as a sentence.
fn sentence(note: String) -> String {
    let mut signs = note.chars();
    let first = signs.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", signs.as_str())
}

/// Where the runs come from: what makes them again, and what they wrote.
fn origin(runs: &[Run<'_>], options: &ReportOptions) -> Section {
    let pairs: Vec<(&RunFolder, &RunSeries)> = runs.iter().map(|run| (run.folder, &run.series)).collect();
    let mut table = facts::what_was_run(&pairs);
    if options.unkept {
        table
            .rows
            .retain(|row| row.first().is_none_or(|name| ![facts::FOLDER, facts::FILES].contains(&&**name)));
    }
    if let Some(page) = &options.beside
        && let Some(row) =
            table.rows.iter_mut().find(|row| row.first().is_some_and(|name| name == facts::FOLDER))
    {
        let seen = runs.iter().map(|run| seen_from(page, run.folder.dir()));
        row.iter_mut().skip(1).zip(seen).for_each(|(cell, seen)| *cell = seen);
    }
    if runs.len() > 1 {
        table.head = std::iter::once(String::new()).chain(runs.iter().map(|run| run.name.clone())).collect();
    }
    Section { tables: vec![table], ..Section::new("Where it comes from") }
}

/// The path of a folder, as seen from another one: the same wherever the program was started.
fn seen_from(from: &Path, folder: &Path) -> String {
    // An empty path is the present folder.
    let whole = |path: &Path| std::path::absolute(Path::new(".").join(path)).ok();
    let (Some(from), Some(to)) = (whole(from), whole(folder)) else { return folder.display().to_string() };
    let common = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    let path: PathBuf = up.chain(to.components().skip(common)).collect();
    if path.as_os_str().is_empty() { "that of this page".to_owned() } else { path.display().to_string() }
}

fn numbers(runs: &[Run<'_>]) -> Section {
    let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    let measures: Vec<BTreeMap<String, f64>> = runs.iter().map(|run| run.measures.clone()).collect();
    let mut tables = vec![facts::all_jobs(&names, &measures)];
    if let [only] = runs
        && let Some(summary) = only.folder.summary()
    {
        tables.extend(headline::of_many_sites(only.folder));
        tables.extend(facts::origins(summary));
        tables.extend(facts::classes(summary));
        tables.extend(facts::kinds(summary));
        tables.extend(ledger(summary));
        tables.extend(facts::wasted(summary));
    }
    let mut lead = Vec::new();
    if runs.len() > 1 && runs.iter().any(|run| run.series.jobs.outcomes != runs[0].series.jobs.outcomes) {
        lead.push("The outcomes of jobs differ between these runs, so their means are not of the same jobs: compare with care.".to_owned());
    }
    let noted = |run: &Run<'_>| {
        let name = run.name.clone();
        facts::notes(run.folder).into_iter().map(move |note| format!("{name}: {note}."))
    };
    // The notes of a single run are in its headline.
    let notes = runs.iter().filter(|_| runs.len() > 1).flat_map(noted).collect();
    Section { lead, tables, notes, ..Section::new("All numbers") }
}

/// The curves of all runs, one chart for each quantity.
fn side_by_side(runs: &mut [Run<'_>]) -> Section {
    let mut figures = Vec::new();
    for quantity in Quantity::ALL {
        let line = |(at, run): (usize, &Run<'_>)| {
            let points = ecdf(&run.series.jobs.measured.sorted(quantity, |_| true));
            EcdfLine { name: run.name.clone(), ink: ink(at), points }
        };
        let lines = runs.iter().enumerate().map(line).collect();
        figures.push(distribution(quantity, lines, "-all", "of all measured jobs, by run"));
    }
    let spans = || runs.iter().map(|run| run.series.jobs.span);
    let begin = spans().map(|span| span.0).min().unwrap_or(0);
    let span = (begin, spans().map(|span| span.1).max().unwrap_or(0));
    // The runs may have windows and events of their own.
    let none = TimeMarks::default();
    let (mut queues, mut used) = (Vec::new(), Vec::new());
    for (at, Run { series, name, .. }) in runs.iter_mut().enumerate() {
        queues.push(layer(name, ink(at), TimeStyle::Line, series.waiting.points(span, BINS, 1.0)));
        let (mut busy, unit) = busy_share(series);
        used.push(layer(name, ink(at), TimeStyle::Line, means(busy.points(span, BINS / 6, unit))));
    }
    let caption = "Jobs that wait, over time. A line is the mean over a pixel, its band from least to most.";
    figures.push(time_figure("queue-all", caption, (span, &none), "waiting jobs", queues));
    let caption = "Processors in use, in percent of all, over time.";
    figures.push(time_figure("utilization-all", caption, (span, &none), "utilization (%)", used));
    Section { figures, ..Section::new("Side by side") }
}

fn schedule(run: &mut Run<'_>, several: bool) -> Section {
    let title = if several { format!("Schedule of {}", run.name) } else { "Schedule".to_owned() };
    let tail = if several { format!("-{}", stem(&run.name)) } else { String::new() };
    let mut section = Section::new(title);
    match run.series.gantt.take() {
        Some(chart) => {
            let raster = chart.rows.iter().any(|row| row.raster.is_some());
            let mut caption = "Jobs on processors over time. ".to_owned();
            caption += match raster {
                true => {
                    "Each pixel is a period on some processors: its colour is that of their jobs, its intensity the utilization."
                }
                false if chart.bars.len() <= 400 => {
                    "The number in a box is that of its job, where there is room for one; hover for details."
                }
                false => "Each box is a segment of a job.",
            };
            if run.series.failed_attempts > 0 {
                let failed = noun(run.series.failed_attempts, "attempt");
                let were = if run.series.failed_attempts == 1 { "was" } else { "were" };
                caption += &format!(" In the whole run {failed} failed and {were} followed by another.");
                caption += if raster { "" } else { failed_attempts(&chart) };
            }
            caption += &suspensions(run.folder);
            if !chart.suspended.is_empty() {
                caption += SUSPENDED;
            }
            caption += &sliced(&chart);
            caption += &planned(&run.series);
            if !run.series.sized {
                caption += " Only processors that were used at some time are known.";
            }
            section.figures.push(Figure::new(format!("gantt{tail}"), caption, chart, 1));
        }
        None => {
            section.lead.push(no_schedule(run).to_owned() + &suspensions(run.folder) + &planned(&run.series))
        }
    }
    if let Some(chart) = run.series.detail.take() {
        let mut caption =
            "A part of it: around the time when most jobs waited. Hover over a job for details.".to_owned();
        if chart.bars.iter().any(|bar| bar.wasted) {
            caption += failed_attempts(&chart);
        }
        if !chart.suspended.is_empty() {
            caption += SUSPENDED;
        }
        caption += &sliced(&chart);
        section.figures.push(Figure::new(format!("gantt-detail{tail}"), caption, chart, 1));
    }
    if several {
        let figures = over_time(&mut run.series, &tail).figures.into_iter();
        section.figures.extend(figures.filter(|figure| !figure.name.starts_with("queue")));
    }
    section
}

/// Maximum number of events that a caption lists.
const EVENTS: usize = 12;

/// The scripted events within a run, in words.
fn planned(series: &RunSeries) -> String {
    let (from, to) = series.jobs.span;
    let within = |event: &&TimeEvent| (from as f64 / 1e6..=to as f64 / 1e6).contains(&event.at);
    let events: Vec<&TimeEvent> = series.marks.events.iter().filter(within).collect();
    let listed = events.iter().take(EVENTS);
    let listed = listed.map(|event| format!("({}) {}: {}", event.number, duration(event.at), event.what));
    let listed = listed.collect::<Vec<_>>().join("; ");
    match events.len() {
        0 => String::new(),
        all if all <= EVENTS => format!(" Scripted events: {listed}."),
        all if all > charts::EVENTS => {
            format!(" {} scripted events, too many to be marked; the first: {listed}.", count(all as u64))
        }
        all => format!(" Scripted events: {listed}; and {} more.", all - EVENTS),
    }
}

/// How failed attempts are drawn, in words.
const fn failed_attempts(chart: &GanttChart) -> &'static str {
    match chart.joins.is_empty() {
        true => " Failed attempts are pale; they are too many to be joined to the next attempts.",
        false => " Failed attempts are pale, and a dashed line leads to the next attempt.",
    }
}

/// How suspended jobs are drawn.
const SUSPENDED: &str = " A dashed box is a suspended job, on the processors that it had.";

/// How slices and groups are drawn, in words.
fn sliced(chart: &GanttChart) -> String {
    let bands = &chart.bands;
    if bands.is_empty() {
        return String::new();
    }
    let slices = if bands.iter().any(|band| band.in_shares) {
        "which classes have slices: there are too many to draw each, so it has their shares of short periods, and paper for switches."
    } else {
        "whose slice it is, with a gap where a switch is lost."
    };
    let groups = if bands.iter().any(|band| !band.groups.is_empty()) {
        " The lines below it are groups of medium and of long jobs, from when their order was searched to when their plan ends or the next group is there."
    } else {
        ""
    };
    format!(" The band above shows {slices} A slice goes on while nothing else waits.{groups}")
}

/// How often jobs were suspended and for how long, if a policy of the run does that.
fn suspensions(folder: &RunFolder) -> String {
    let known = folder.summary().and_then(|summary| summary.get("preemption"));
    let of = known.and_then(|known| PreemptionSummary::deserialize(known).ok());
    of.map(|of| format!(" Suspensions: {}.", tables::suspensions(&of))).unwrap_or_default()
}

fn no_schedule(run: &Run<'_>) -> &'static str {
    let ran: u64 =
        run.series.jobs.outcomes.iter().sum::<u64>() - run.series.jobs.outcomes[Outcome::NAMES.len() - 3];
    match run.folder.kind() {
        FolderKind::Batsim if ran > 0 => {
            "The table of jobs has no processors, so there is no schedule to draw."
        }
        FolderKind::Run if ran > 0 && !run.series.by_segments => {
            "The run wrote no segments.csv, so there is no schedule to draw (set `output.segments = true`)."
        }
        _ => "No job ever ran: there is no schedule to draw.",
    }
}

fn distributions(run: &Run<'_>) -> Section {
    let series = &run.series;
    let mut figures = Vec::new();
    let (of, names) = series.jobs.groups.coloured();
    for quantity in Quantity::ALL {
        let whole = series.jobs.measured.sorted(quantity, |_| true);
        let line = |name: &str, ink, values: &[f64]| {
            let name = format!("{name} ({})", count(values.len() as u64));
            EcdfLine { name, ink, points: ecdf(values) }
        };
        let mut lines = Vec::new();
        for (at, name) in names.iter().enumerate().filter(|_| names.len() > 1) {
            let sorted = series.jobs.measured.sorted(quantity, |group| of.get(group) == Some(&at));
            if !sorted.is_empty() {
                lines.push(line(name, ink(at), &sorted));
            }
        }
        lines.push(line("all", Ink::Text, &whole));
        figures.push(distribution(quantity, lines, "", "of the measured jobs, by class"));
    }
    let lead = if names.len() > 1 {
        "Share of the jobs of a class with at most this value; the number of jobs is in brackets. Values below the axis are drawn at its left end.".to_owned()
    } else {
        "Share of the jobs with at most this value. Values below the axis are drawn at its left end."
            .to_owned()
    };
    Section { lead: vec![lead], figures, ..Section::new("Distributions") }
}

fn distribution(quantity: Quantity, lines: Vec<EcdfLine>, tail: &str, whose: &str) -> Figure {
    let most =
        lines.iter().filter_map(|line| line.points.last()).map(|(value, _)| *value).fold(0.0, f64::max);
    let x = match quantity {
        Quantity::Slowdown => Axis::log("bounded slowdown", 1.0, most.max(10.0)),
        _ => Axis::log_time(quantity.name(), 1.0, most.max(60.0)),
    };
    let title = format!("Distribution of the {}", quantity.name());
    let (name, caption) = (format!("ecdf-{}{tail}", stem(quantity.name())), format!("{title} {whose}."));
    Figure::new(name, caption, EcdfChart { title, x, lines, size: (350, 300) }, 3)
}
