//! The report of a study: its table, curves and Pareto fronts.

use super::{Figure, Report, ReportError, ReportOptions, Section, Table, facts, stem};
use crate::model::nearest;
use crate::report::figures::count;
use crate::report::series::{LEVEL, Layout, curves, measure_title, pareto};
use crate::study::statistics::mean_interval;
use crate::study::{Better, MeasureInfo, RunStatus, StudyPoint, StudyTable};

/// Number of measures that are drawn by default.
const MEASURES: usize = 6;
/// Maximum number of charts of one measure; a study of more combinations has to be restricted.
const CHARTS: usize = 12;
/// Maximum number of failed runs that are listed individually.
const FAILED: usize = 20;

pub(super) fn report(table: &StudyTable, options: &ReportOptions) -> Result<Report, ReportError> {
    if table.rows.is_empty() {
        return Err(ReportError::Nothing);
    }
    let along = options.along.as_deref().map(|axis| find("axis", axis, &table.axes)).transpose()?;
    let measures = match &options.measures[..] {
        [] => (0..table.measures.len()).take(MEASURES).collect(),
        named => {
            named.iter().map(|id| find("measure", id, &table.measures)).collect::<Result<Vec<_>, _>>()?
        }
    };
    let pair = match &options.pareto {
        Some((x, y)) => Some((find("measure", x, &table.measures)?, find("measure", y, &table.measures)?)),
        None => chosen_pair(table, &measures),
    };
    let mut sections = vec![what(table, &options.notes), points(table, &measures)];
    let layout = Layout::of(table, along);
    if let Some(layout) = &layout {
        sections.push(drawn(table, layout, &measures));
    }
    if let Some(pair) = pair {
        let within = match &options.within {
            Some(axis) => Some(find("axis", axis, &table.axes)?),
            None => table.axis("load").filter(|axis| table.labels(*axis).len() > 1),
        };
        let colour = layout.as_ref().and_then(|layout| layout.colour.or(Some(layout.along)));
        sections.push(trade_off(table, pair, within, colour));
    }
    let title = if table.name.is_empty() { "A study".to_owned() } else { table.name.clone() };
    let subtitle = format!("a campaign of {} runs", count(table.rows.len() as u64));
    Ok(Report { title, subtitle, theme: options.theme, sections })
}

fn find(what: &'static str, name: &str, all: &[String]) -> Result<usize, ReportError> {
    all.iter().position(|found| found == name).ok_or_else(|| ReportError::Unknown {
        what,
        name: name.to_owned(),
        near: nearest(name, all.iter().map(String::as_str)).map(str::to_owned),
        all: all.to_vec(),
    })
}

/// The first measure of time, and one of another kind, since a gain in one is often paid for in the other. If there is no such
/// pair, any two measures.
fn chosen_pair(table: &StudyTable, measures: &[usize]) -> Option<(usize, usize)> {
    let judging: Vec<usize> = measures
        .iter()
        .copied()
        .filter(|measure| MeasureInfo::of(&table.measures[*measure]).better != Better::Neither)
        .collect();
    let first = *judging.first()?;
    let last = |measure: usize| {
        let id = &table.measures[measure];
        id.rsplit('.').next().unwrap_or(id)
    };
    let of_time =
        |measure: usize| ["wait", "response", "slowdown"].iter().any(|word| last(measure).contains(word));
    let other = |wanted: &dyn Fn(usize) -> bool| judging.iter().copied().find(|measure| wanted(*measure));
    let second = other(&|measure| of_time(measure) != of_time(first))
        .or_else(|| other(&|measure| last(measure) != last(first)))?;
    Some((first, second))
}

/// Pareto fronts, one for each label of an axis.
fn trade_off(
    table: &StudyTable,
    (x, y): (usize, usize),
    within: Option<usize>,
    colour: Option<usize>,
) -> Section {
    let labels = within.map_or_else(|| vec![None], |axis| table.labels(axis).into_iter().map(Some).collect());
    let several = labels.len() > 1;
    let points = table.points();
    let figures = labels.into_iter().take(CHARTS).map(|label| {
        let here = |point: &&StudyPoint<'_>| {
            within.zip(label).is_none_or(|(axis, label)| point.labels[axis] == label)
        };
        let part: Vec<&StudyPoint<'_>> = points.iter().filter(here).collect();
        let at = within.zip(label).map(|(axis, label)| format!("{} {label}", table.axes[axis]));
        // Colours are those of the whole study, so they are the same in each part.
        let chart = pareto(table, &part, (x, y), colour, if several { (530, 330) } else { (720, 400) });
        let tail = at.as_ref().map(|at| format!("-{}", stem(at))).unwrap_or_default();
        let caption = match &at {
            Some(at) => format!("{}, at {at}.", capital(&chart.title)),
            None => format!("{}.", capital(&chart.title)),
        };
        Figure {
            name: format!("pareto{tail}"),
            caption,
            chart: Box::new(chart),
            beside: if several { 2 } else { 1 },
        }
    });
    let lead = "Each point is a variant, the mean of its runs. Pareto-optimal variants are larger; the dashed line is the Pareto front. A variant with unstable runs has no mean: these runs are drawn hollow.";
    Section {
        title: "Trade-off".to_owned(),
        lead: vec![lead.to_owned()],
        figures: figures.collect(),
        ..Section::default()
    }
}

/// Capitalizes the first letter.
fn capital(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map_or_else(String::new, |first| first.to_uppercase().chain(signs).collect())
}

fn what(table: &StudyTable, notes: &[String]) -> Section {
    let seeds: std::collections::BTreeSet<u64> = table.rows.iter().map(|row| row.seed).collect();
    let mut rows = vec![vec!["runs".to_owned(), count(table.rows.len() as u64)]];
    for (at, axis) in table.axes.iter().enumerate() {
        rows.push(vec![format!("axis {axis}"), table.labels(at).join(", ")]);
    }
    let seeds = match (seeds.first(), seeds.last()) {
        (Some(first), Some(last)) if seeds.len() > 1 => format!("{}, from {first} to {last}", seeds.len()),
        (Some(only), _) => only.to_string(),
        _ => String::new(),
    };
    rows.push(vec!["seeds".to_owned(), seeds]);
    let mut lead: Vec<String> = notes.iter().map(|note| format!("Note: {note}.")).collect();
    let failed: Vec<(u64, &str)> = table
        .rows
        .iter()
        .filter_map(|row| match &row.status {
            RunStatus::Failed(error) => Some((row.run, error.as_str())),
            RunStatus::Done => None,
        })
        .collect();
    if !failed.is_empty() {
        rows.push(vec![
            "failed".to_owned(),
            format!("{} runs, which are in no figure", count(failed.len() as u64)),
        ]);
    }
    let growing = table.rows.iter().filter(|row| row.unstable).count();
    if growing > 0 {
        rows.push(vec![
            "unstable".to_owned(),
            format!(
                "{} runs: their backlog grew until the end, so they are drawn hollow and have no mean",
                count(growing as u64)
            ),
        ]);
    }
    let replicas = table.rows.len() / table.points().len().max(1);
    if replicas > 1 && replicas < 30 {
        lead.push(format!("With {replicas} seeds per point this is a smoke test: a verdict needs 30."));
    }
    let partly = |row: &&crate::study::StudyRow| {
        row.outcomes.failed + row.outcomes.rejected + row.outcomes.unfinished > 0
    };
    let partly = table.rows.iter().filter(partly).count();
    if partly > 0 {
        lead.push(format!(
            "In {} of the runs some jobs failed, were rejected or unfinished: means are of the others, so compare with care.",
            count(partly as u64)
        ));
    }
    let mut tables = vec![Table { rows, ..Table::default() }];
    if !failed.is_empty() {
        let rows = failed.iter().take(FAILED).map(|(run, error)| vec![run.to_string(), (*error).to_owned()]);
        let head = vec!["run".to_owned(), "error".to_owned()];
        tables.push(Table {
            caption: "Failed runs".to_owned(),
            head,
            rows: rows.collect(),
            ..Table::default()
        });
    }
    Section { title: "What was run".to_owned(), lead, tables, figures: Vec::new() }
}

/// A row for each point: the number of runs, and the mean of each measure with its interval.
fn points(table: &StudyTable, measures: &[usize]) -> Section {
    let mut head: Vec<String> = table.axes.clone();
    head.push("runs".to_owned());
    head.extend(measures.iter().map(|measure| measure_title(&table.measures[*measure])));
    let points = table.points();
    let rows = points.iter().map(|point| {
        let mut cells = point.labels.to_vec();
        cells.push(point.done().count().to_string());
        for measure in measures {
            let id = &table.measures[*measure];
            let values = point.values(*measure);
            cells.push(match point.mean(*measure) {
                None if values.is_empty() => "–".to_owned(),
                None => "unstable".to_owned(),
                Some(mean) => match mean_interval(&values, LEVEL) {
                    Some(estimate) => facts::shown_with(id, mean, (estimate.high - estimate.low) / 2.0),
                    None => facts::shown(id, mean),
                },
            });
        }
        cells
    });
    let caption = "Means of the runs of each point, with half their 95 % interval (Student's t)".to_owned();
    let tables = vec![Table { caption, head, rows: rows.collect(), numbers: true }];
    Section { title: "Figures".to_owned(), tables, ..Section::default() }
}

fn drawn(table: &StudyTable, layout: &Layout, measures: &[usize]) -> Section {
    let charts = layout.charts(table);
    let ordered = layout.is_ordered(table);
    let lines = "A line joins the means of the runs of each point; its band is the 95 % interval of the mean (Student's t, over seeds).";
    let marks = "A mark is the mean of the runs of a point; the line through it is the 95 % interval of the mean (Student's t, over seeds).";
    let mut lead = vec![if ordered { lines } else { marks }.to_owned()];
    if layout.has_levels(table) {
        lead.push(
            "A dashed line across the whole width is a label without a position on the axis.".to_owned(),
        );
    }
    if charts.len() > CHARTS {
        lead.push(format!(
            "The axes that are kept apart have {} combinations, of which the first {CHARTS} are drawn; the table has all of them.",
            charts.len()
        ));
    }
    let mut figures = Vec::new();
    for measure in measures {
        for chart in charts.iter().take(CHARTS) {
            let drawn = curves(table, layout, *measure, chart, (530, 300));
            let mut name = format!("curve-{}", stem(&table.measures[*measure]));
            if !chart.1.is_empty() {
                name = format!("{name}-{}", stem(&chart.1));
            }
            figures.push(Figure {
                name,
                caption: format!("{}.", capital(&drawn.title)),
                chart: Box::new(drawn),
                beside: 2,
            });
        }
    }
    Section { title: "Curves".to_owned(), lead, figures, ..Section::default() }
}
