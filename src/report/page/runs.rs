//! The report of runs: one, or several side by side.

use std::collections::BTreeMap;

use super::over_time::{BINS, busy_share, layer, means, over_time, time_figure};
use super::{Figure, Report, ReportError, ReportOptions, Section, facts, stem};
use crate::model::Outcome;
use crate::output::{FolderKind, RunFolder};
use crate::report::charts::{Axis, EcdfChart, EcdfLine, GanttChart, Ink, TimeStyle};
use crate::report::figures::{count, duration, jobs};
use crate::report::series::{Quantity, RunSeries, ecdf, heat, ink};

/// Maximum number of runs whose schedules are drawn on one page.
const SCHEDULES: usize = 8;

/// A run with the data that its charts show.
struct Run<'a> {
    folder: &'a RunFolder,
    series: RunSeries,
    /// Short name that differs from those of the other runs.
    name: String,
    measures: BTreeMap<String, f64>,
}

pub(super) fn report(folders: &[RunFolder], options: &ReportOptions) -> Result<Report, ReportError> {
    let names = names(folders);
    let mut runs = Vec::with_capacity(folders.len());
    for (folder, name) in folders.iter().zip(names) {
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
    let mut sections = vec![what(&runs, options.unkept), figures(&runs)];
    if runs.len() > 1 {
        sections.push(gains(first, &runs[1..]));
        sections.push(together(&mut runs));
    }
    if runs.len() <= SCHEDULES {
        for run in &mut runs {
            sections.extend(schedule(run, folders.len() > 1));
        }
    } else if let Some(section) = sections.last_mut() {
        section.lead.push(format!("Schedules are drawn of up to {SCHEDULES} runs at a time."));
    }
    if let [only] = &mut runs[..] {
        sections.push(over_time(&mut only.series, ""));
        sections.push(distributions(only));
    }
    Ok(Report { title, subtitle, theme: options.theme, sections })
}

/// Names that distinguish the runs: their titles, or else their folders.
fn names(folders: &[RunFolder]) -> Vec<String> {
    let policy = |folder: &RunFolder| {
        let summary = folder.summary()?;
        let policy = summary["policy"].as_str().or_else(|| summary["broker"]["policy"].as_str());
        policy.map(str::to_owned)
    };
    let apart = |names: &[String]| {
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[0] != pair[1])
    };
    let policies: Option<Vec<String>> = folders.iter().map(policy).collect();
    let titles: Vec<String> = folders.iter().map(|folder| folder.title().to_owned()).collect();
    let last = |folder: &RunFolder| {
        folder
            .dir()
            .file_name()
            .map_or_else(|| folder.title().to_owned(), |name| name.to_string_lossy().into_owned())
    };
    let dirs: Vec<String> = folders.iter().map(last).collect();
    let choices = [policies.unwrap_or_default(), titles, dirs];
    let chosen = choices.into_iter().find(|names| names.len() == folders.len() && apart(names));
    chosen.unwrap_or_else(|| folders.iter().map(|folder| folder.dir().display().to_string()).collect())
}

fn subtitle(run: &Run<'_>) -> String {
    let series = &run.series;
    let all: u64 = series.outcomes.iter().sum();
    let processors: u64 = series.sites.iter().map(|(_, processors)| processors).sum();
    let length = duration((series.span.1 - series.span.0) as f64 / 1e6);
    format!("{} on {} processors in {length}", jobs(all), count(processors))
}

fn what(runs: &[Run<'_>], unkept: bool) -> Section {
    let pairs: Vec<(&RunFolder, &RunSeries)> = runs.iter().map(|run| (run.folder, &run.series)).collect();
    let mut table = facts::what_was_run(&pairs);
    if unkept {
        table.rows.retain(|row| row.first().is_none_or(|name| name != facts::FOLDER));
    }
    if runs.len() > 1 {
        table.head = std::iter::once(String::new()).chain(runs.iter().map(|run| run.name.clone())).collect();
    }
    let mut lead: Vec<String> = Vec::new();
    for run in runs {
        for note in facts::notes(run.folder) {
            let note = if runs.len() > 1 { format!("{}: {note}", run.name) } else { note };
            lead.push(format!("Note: {note}."));
        }
    }
    Section { title: "What was run".to_owned(), lead, tables: vec![table], figures: Vec::new() }
}

fn figures(runs: &[Run<'_>]) -> Section {
    let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    let measures: Vec<BTreeMap<String, f64>> = runs.iter().map(|run| run.measures.clone()).collect();
    let mut tables = vec![facts::all_jobs(&names, &measures)];
    if let [only] = runs
        && let Some(summary) = only.folder.summary()
    {
        tables.extend(facts::sites(summary));
        tables.extend(facts::origins(summary));
        tables.extend(facts::classes(summary));
        tables.extend(facts::lost(summary));
    }
    let mut lead = Vec::new();
    if runs.len() > 1 && runs.iter().any(|run| run.series.outcomes != runs[0].series.outcomes) {
        lead.push("The outcomes of jobs differ between these runs, so their means are not of the same jobs: compare with care.".to_owned());
    }
    Section { title: "Figures".to_owned(), lead, tables, figures: Vec::new() }
}

/// Heat maps of each further run against the first, where the two are comparable: runs that `gridemu compare` does not rank are not
/// ranked here either.
fn gains(first: &Run<'_>, others: &[Run<'_>]) -> Section {
    let mut section = Section { title: "Gain and loss".to_owned(), ..Section::default() };
    for run in others {
        if let Some(why) = apart(first, run) {
            section.lead.push(format!(
                "Gain and loss from {} to {} are not drawn: {why}. See `gridemu compare`.",
                first.name, run.name
            ));
            continue;
        }
        let title = format!("{} against {}", run.name, first.name);
        let chart = heat(&title, &first.series.groups, &first.series.measured, &run.series.measured);
        section.figures.push(Figure {
            name: format!("gain-{}-against-{}", stem(&run.name), stem(&first.name)),
            caption: format!(
                "Class by class, how the means change from {} to {}. Blue is better, orange worse; the two means are below.",
                first.name, run.name
            ),
            chart: Box::new(chart),
            beside: 1,
        });
    }
    section
}

/// Why the means of two runs are not comparable; `None` if they are.
fn apart(first: &Run<'_>, run: &Run<'_>) -> Option<String> {
    let (a, b) = (&first.series, &run.series);
    let said = |run: &Run<'_>, key: &str| run.folder.summary().and_then(|summary| summary.get(key)).cloned();
    let differs = |key| {
        let (one, other) = (said(first, key), said(run, key));
        one.is_some() && other.is_some() && one != other
    };
    if a.alike.asked != b.alike.asked {
        return Some("they are not runs of the same jobs".to_owned());
    }
    if let Some(growing) = [first, run].into_iter().find(|run| run.series.alike.unstable) {
        return Some(format!("{} is unstable, so its means depend on its length", growing.name));
    }
    if a.alike.ended != b.alike.ended {
        return Some("the outcomes of some jobs differ, so the means are not of the same jobs".to_owned());
    }
    if differs("tau") || differs("measure") {
        return Some(
            "they were measured in different windows, or with different bounds of the slowdown".to_owned(),
        );
    }
    (a.groups.names() != b.groups.names()).then(|| "their jobs are in different classes".to_owned())
}

/// The curves of all runs, one chart for each quantity.
fn together(runs: &mut [Run<'_>]) -> Section {
    let mut figures = Vec::new();
    for quantity in Quantity::ALL {
        let lines = runs
            .iter()
            .enumerate()
            .map(|(at, run)| {
                let sorted = run.series.measured.sorted(quantity, |_| true);
                EcdfLine { name: run.name.clone(), ink: ink(at), dashed: at >= 8, points: ecdf(&sorted) }
            })
            .collect();
        figures.push(distribution(quantity, lines, "all", "of all measured jobs, by run"));
    }
    let span = runs
        .iter()
        .fold((u64::MAX, 0), |span, run| (span.0.min(run.series.span.0), span.1.max(run.series.span.1)));
    let queues = runs.iter_mut().enumerate();
    let queues = queues.map(|(at, run)| {
        layer(&run.name, ink(at), TimeStyle::Line, run.series.waiting.points(span, BINS, 1.0))
    });
    figures.push(time_figure(
        "queue-all",
        "Jobs that wait, over time. A line is the mean over a pixel, its band from least to most.",
        span,
        "waiting jobs",
        queues.collect(),
        None,
    ));
    let used = runs.iter_mut().enumerate();
    let used = used.map(|(at, run)| {
        let (mut busy, unit) = busy_share(&run.series);
        layer(&run.name, ink(at), TimeStyle::Line, means(busy.points(span, BINS / 6, unit)))
    });
    figures.push(time_figure(
        "utilization-all",
        "Processors in use, in percent of all, over time.",
        span,
        "utilization (%)",
        used.collect(),
        Some(100.0),
    ));
    Section { title: "Side by side".to_owned(), figures, ..Section::default() }
}

fn schedule(run: &mut Run<'_>, several: bool) -> Option<Section> {
    let title = if several { format!("Schedule of {}", run.name) } else { "Schedule".to_owned() };
    let tail = if several { format!("-{}", stem(&run.name)) } else { String::new() };
    let mut section = Section { title, ..Section::default() };
    match run.series.gantt.take() {
        Some(chart) => {
            let raster = chart.rows.iter().any(|row| row.raster.is_some());
            let single = chart.bars.len() <= 400;
            let mut caption = "Jobs on processors over time. ".to_owned();
            caption += match (raster, single) {
                (true, _) => {
                    "Each pixel is a period on some processors: its colour is that of their jobs, its intensity the utilization."
                }
                (false, true) => {
                    "The number in a box is that of its job, where there is room for one; hover for details."
                }
                (false, false) => "Each box is a segment of a job.",
            };
            if run.series.failed_attempts > 0 {
                caption += &format!(
                    " In the whole run {} attempts failed and were followed by another.",
                    count(run.series.failed_attempts)
                );
                if !raster {
                    caption += how_lost(&chart);
                }
            }
            if !run.series.sized {
                caption += " Only processors that were used at some time are known.";
            }
            section.figures.push(Figure {
                name: format!("gantt{tail}"),
                caption,
                chart: Box::new(chart),
                beside: 1,
            });
        }
        None => section.lead.push(no_schedule(run)),
    }
    if let Some(chart) = run.series.detail.take() {
        let mut caption =
            "A part of it: around the time when most jobs waited. Hover over a job for details.".to_owned();
        if chart.bars.iter().any(|bar| bar.lost) {
            caption += how_lost(&chart);
        }
        section.figures.push(Figure {
            name: format!("gantt-detail{tail}"),
            caption,
            chart: Box::new(chart),
            beside: 1,
        });
    }
    if several {
        section.figures.extend(
            over_time(&mut run.series, &tail)
                .figures
                .into_iter()
                .filter(|figure| !figure.name.starts_with("queue")),
        );
    }
    Some(section)
}

/// How failed attempts are drawn, in words.
const fn how_lost(chart: &GanttChart) -> &'static str {
    match chart.joins.is_empty() {
        true => " Failed attempts are pale; they are too many to be joined to the next attempts.",
        false => " Failed attempts are pale, and a dashed line leads to the next attempt.",
    }
}

fn no_schedule(run: &Run<'_>) -> String {
    let ran: u64 = run.series.outcomes.iter().sum::<u64>() - run.series.outcomes[Outcome::NAMES.len() - 3];
    match run.folder.kind() {
        _ if ran == 0 => "No job ever ran: there is no schedule to draw.".to_owned(),
        FolderKind::Batsim => {
            "The table of jobs has no processors, so there is no schedule to draw.".to_owned()
        }
        _ if run.series.by_segments => "No job ever ran: there is no schedule to draw.".to_owned(),
        _ => "The run wrote no segments.csv, so there is no schedule to draw (set `output.segments = true`)."
            .to_owned(),
    }
}

fn distributions(run: &Run<'_>) -> Section {
    let series = &run.series;
    let mut figures = Vec::new();
    let (of, names) = series.groups.coloured();
    for quantity in Quantity::ALL {
        let whole = series.measured.sorted(quantity, |_| true);
        let mut lines = Vec::new();
        if names.len() > 1 {
            for (at, name) in names.iter().enumerate() {
                let sorted = series.measured.sorted(quantity, |group| of.get(group) == Some(&at));
                if !sorted.is_empty() {
                    let name = format!("{name} ({})", count(sorted.len() as u64));
                    lines.push(EcdfLine { name, ink: ink(at), dashed: false, points: ecdf(&sorted) });
                }
            }
        }
        lines.push(EcdfLine {
            name: format!("all ({})", count(whole.len() as u64)),
            ink: Ink::Text,
            dashed: lines.len() > 1,
            points: ecdf(&whole),
        });
        figures.push(distribution(quantity, lines, "", "of the measured jobs, by class"));
    }
    let lead = if names.len() > 1 {
        vec!["Share of the jobs of a class with at most this value; the number of jobs is in brackets. Values below the axis are drawn at its left end.".to_owned()]
    } else {
        vec![
            "Share of the jobs with at most this value. Values below the axis are drawn at its left end."
                .to_owned(),
        ]
    };
    Section { title: "Distributions".to_owned(), lead, figures, ..Section::default() }
}

fn distribution(quantity: Quantity, lines: Vec<EcdfLine>, tail: &str, whose: &str) -> Figure {
    let most =
        lines.iter().filter_map(|line| line.points.last()).map(|(value, _)| *value).fold(0.0, f64::max);
    let x = match quantity {
        Quantity::Slowdown => Axis::log("bounded slowdown", 1.0, most.max(10.0)),
        _ => Axis::log_time(quantity.name(), 1.0, most.max(60.0)),
    };
    let title = format!("Distribution of the {}", quantity.name());
    let stem = stem(quantity.name());
    Figure {
        name: if tail.is_empty() { format!("ecdf-{stem}") } else { format!("ecdf-{stem}-{tail}") },
        caption: format!("{title} {whose}."),
        chart: Box::new(EcdfChart { title, x, lines, size: (350, 300) }),
        beside: 3,
    }
}
