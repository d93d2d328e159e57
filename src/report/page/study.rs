//! The report of a study: its table, curves and Pareto fronts.

use std::collections::BTreeSet;

use super::{Figure, Look, Report, ReportError, ReportOptions, Section, Table, facts, stem};
use crate::model::nearest;
use crate::report::charts::RowsChart;
use crate::report::figures::count;
use crate::report::series::{LEVEL, Layout, curves, ink, measure_title, pareto, study_differences};
use crate::study::comparison::{CompareOptions, TOLERANCE, compare_study};
use crate::study::{Better, MeasureInfo, RunStatus, StudyPoint, StudyRow, StudyTable};

/// Number of measures that are drawn by default.
const MEASURES: usize = 6;
/// Maximum number of charts of one measure; a study of more combinations has to be restricted.
const CHARTS: usize = 12;
/// Maximum number of variants without a mean that the caption of a Pareto front names.
const ASIDE: usize = 6;
/// Maximum number of failed runs that are listed individually.
const FAILED: usize = 20;

pub(super) fn report(table: &StudyTable, options: &ReportOptions) -> Result<Report, ReportError> {
    if table.rows.is_empty() {
        return Err(ReportError::Nothing);
    }
    let along = options.along.as_deref().map(|axis| find("axis", axis, &table.axes)).transpose()?;
    let measure = |id: &String| find("measure", id, &table.measures);
    let measures: Vec<usize> = match &options.measures[..] {
        [] => table.shown().into_iter().take(MEASURES).collect(),
        named => named.iter().map(measure).collect::<Result<_, _>>()?,
    };
    let pair = match &options.pareto {
        Some((x, y)) => Some((measure(x)?, measure(y)?)),
        None => chosen_pair(table, &measures),
    };
    let mut sections = vec![what(table, &options.notes), points(table, &measures)];
    let layout = Layout::of(table, along);
    if let Some(layout) = &layout {
        sections.push(drawn(table, layout, &measures));
        sections.extend(against(table, layout, &measures));
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
    let judges = |measure: &usize| MeasureInfo::of(&table.measures[*measure]).better != Better::Neither;
    let judging: Vec<usize> = measures.iter().copied().filter(judges).collect();
    let first = *judging.first()?;
    let last = |measure: &usize| table.measures[*measure].rsplit('.').next().unwrap_or_default();
    let of_time = |measure| ["wait", "response", "slowdown"].iter().any(|word| last(measure).contains(word));
    let other_kind = judging.iter().find(|measure| of_time(measure) != of_time(&first));
    let second = other_kind.or_else(|| judging.iter().find(|measure| last(measure) != last(&first)))?;
    Some((first, *second))
}

/// Differences of each label of an axis to one of them, paired by seed: of `policy`, or of the axis whose labels have a curve each.
/// `None` if nothing can be compared.
fn against(table: &StudyTable, layout: &Layout, measures: &[usize]) -> Option<Section> {
    let policy = table.axis("policy").filter(|axis| table.labels(*axis).len() > 1);
    let by = policy.or(layout.colour).unwrap_or(layout.along);
    // That of the campaign, or the first of the labels whose runs are unstable or failed at the fewest points: what has no mean is no baseline.
    let points = table.points();
    let missing = |label: &&str| {
        let points = points.iter().filter(|point| point.labels[by] == *label);
        points.filter(|point| point.failed() + point.growing() > 0).count()
    };
    let labels = table.labels(by);
    let named = table.baseline.as_deref().filter(|named| labels.contains(named) && missing(named) == 0);
    let options = CompareOptions {
        by: Some(table.axes[by].clone()),
        baseline: named.or_else(|| labels.iter().copied().min_by_key(missing)).map(str::to_owned),
        tolerance: TOLERANCE,
        measures: measures.iter().map(|measure| table.measures[*measure].clone()).collect(),
        level: LEVEL,
        ..CompareOptions::default()
    };
    let found = compare_study(table, &options).ok()?;
    let baseline = &found.baseline;
    if let Some(why) = found.cells.iter().find_map(|cell| cell.note.as_ref())
        && found.cells.iter().all(|cell| cell.difference.is_none())
    {
        let lead = format!(
            "No difference to {baseline} can be drawn ({why}). `gridemu compare` has the reason of each."
        );
        return Some(Section { lead: vec![lead], ..Section::new("Differences") });
    }
    let figure = |(measure, mut chart): (String, RowsChart)| {
        // Variants look as in the other figures, where the baseline is one of them.
        for series in &mut chart.series {
            series.ink = labels.iter().position(|label| *label == series.name).map_or(series.ink, ink);
        }
        let caption = format!("{}.", capital(&chart.title));
        Figure::new(format!("difference-{}", stem(&measure)), caption, chart, 2)
    };
    let figures = study_differences(&found, 530).into_iter().map(figure).collect();
    let lead = format!(
        "A mark is the mean difference to {baseline}, seed by seed; the line through it is its 95 % interval (Student's t, over pairs of \
         seeds). Each interval is that of its mark alone: of twenty marks without a difference, one leaves zero out by chance. `gridemu compare` \
         corrects for their number, so an interval without zero may have no verdict there; it has the numbers and the reasons too, and takes \
         another baseline. Up to a tenth of the pairs are left out where a run is unstable. A hollow mark at the right stands for runs that \
         cannot be compared: more of them unstable, failed, or with other outcomes."
    );
    Some(Section { lead: vec![lead], figures, ..Section::new("Differences") })
}

/// Pareto fronts, one for each label of an axis.
fn trade_off(
    table: &StudyTable,
    (x, y): (usize, usize),
    within: Option<usize>,
    colour: Option<usize>,
) -> Section {
    let labels = within.map_or_else(|| vec![None], |axis| table.labels(axis).into_iter().map(Some).collect());
    let (size, beside) = if labels.len() > 1 { ((530, 330), 2) } else { ((720, 400), 1) };
    let points = table.points();
    let figures = labels.into_iter().take(CHARTS).map(|label| {
        let here = |point: &&StudyPoint<'_>| {
            within.zip(label).is_none_or(|(axis, label)| point.labels[axis] == label)
        };
        let part: Vec<&StudyPoint<'_>> = points.iter().filter(here).collect();
        // Colours are those of the whole study, so they are the same in each part.
        let chart = pareto(table, &part, (x, y), colour, None, size);
        let (mut name, mut caption) = ("pareto".to_owned(), capital(&chart.title));
        if let Some((axis, label)) = within.zip(label) {
            let at = format!("{} {label}", table.axes[axis]);
            name += &format!("-{}", stem(&at));
            caption += &format!(", at {at}");
        }
        caption += ".";
        if !chart.aside.is_empty() {
            let few = chart.aside.iter().take(ASIDE).map(|(variant, why)| format!("{variant} ({why})"));
            let more = match chart.aside.len().saturating_sub(ASIDE) {
                0 => String::new(),
                more => format!("; and {more} more"),
            };
            caption += &format!(" Not drawn: {}{more}.", few.collect::<Vec<_>>().join("; "));
        }
        Figure::new(name, caption, chart, beside)
    });
    let lead = "Each point is a variant, the mean of its runs; the cross through it has the 95 % intervals of both means (Student's t, over seeds), cut off where they leave the axes. Pareto-optimal variants are larger, the others lighter; the dashed line is the Pareto front, and the ring is around its knee: with both measures scaled to the range of the front, the point that is farthest from the chord between its ends, on the better side. A variant with unstable or failed runs has no mean, and is not drawn.";
    Section { lead: vec![lead.to_owned()], figures: figures.collect(), ..Section::new("Trade-off") }
}

/// Capitalizes the first letter.
fn capital(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map_or_else(String::new, |first| first.to_uppercase().chain(signs).collect())
}

fn what(table: &StudyTable, notes: &[String]) -> Section {
    let seeds: BTreeSet<u64> = table.rows.iter().map(|row| row.seed).collect();
    let mut rows = Vec::new();
    let mut add = |name: String, value: String| rows.push(vec![name, value]);
    add("runs".to_owned(), count(table.rows.len() as u64));
    for (at, axis) in table.axes.iter().enumerate() {
        add(format!("axis {axis}"), table.labels(at).join(", "));
    }
    let seeds = match (seeds.first(), seeds.last()) {
        (Some(first), Some(last)) if seeds.len() > 1 => format!("{}, from {first} to {last}", seeds.len()),
        (Some(only), _) => only.to_string(),
        _ => String::new(),
    };
    add("seeds".to_owned(), seeds);
    let mut lead: Vec<String> = notes.iter().map(|note| format!("Note: {note}.")).collect();
    let errors = table.rows.iter().filter_map(|row| match &row.status {
        RunStatus::Failed(error) => Some(vec![row.run.to_string(), error.clone()]),
        RunStatus::Done => None,
    });
    let failed: Vec<Vec<String>> = errors.collect();
    if !failed.is_empty() {
        let runs = count(failed.len() as u64);
        add("failed".to_owned(), format!("{runs} runs: their points have no mean"));
    }
    let unstable = table.rows.iter().filter(|row| row.unstable).count();
    if unstable > 0 {
        let effect = "their backlog grew until the end, so their points have no mean";
        add("unstable".to_owned(), format!("{} runs: {effect}", count(unstable as u64)));
    }
    let replicas = table.rows.len() / table.points().len().max(1);
    if replicas > 1 && replicas < 30 {
        lead.push(format!("With {replicas} seeds per point this is a smoke test: a verdict needs 30."));
    }
    let partly = |row: &&StudyRow| row.outcomes.failed + row.outcomes.rejected + row.outcomes.unfinished > 0;
    let partly = table.rows.iter().filter(partly).count();
    if partly > 0 {
        lead.push(format!(
            "In {} of the runs some jobs failed, were rejected or unfinished: means are of the others, so compare with care.",
            count(partly as u64)
        ));
    }
    let mut tables = vec![Table { rows, ..Table::default() }];
    if !failed.is_empty() {
        let head = ["run", "error"].map(str::to_owned).into();
        let rows = failed.into_iter().take(FAILED).collect();
        tables.push(Table { caption: "Failed runs".to_owned(), head, rows, ..Table::default() });
    }
    Section { lead, tables, ..Section::new("What was run") }
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
                None if point.failed() > 0 => format!("{} of {} failed", point.failed(), point.runs.len()),
                None if values.is_empty() => "–".to_owned(),
                None => "unstable".to_owned(),
                Some(mean) => match point.interval(&values, LEVEL) {
                    Some((low, high)) => facts::shown_with(id, mean, (high - low) / 2.0),
                    None => facts::shown(id, mean),
                },
            });
        }
        cells
    });
    let caption = "Means of the runs of each point, with half their 95 % interval (Student's t)".to_owned();
    let tables = vec![Table { caption, head, rows: rows.collect(), look: Look::Numbers }];
    Section { tables, ..Section::new("Figures") }
}

fn drawn(table: &StudyTable, layout: &Layout, measures: &[usize]) -> Section {
    let charts = layout.charts(table);
    let axis = layout.axis(table);
    let lines = "A line joins the means of the runs of each point; its band is the 95 % interval of the mean (Student's t, over seeds).";
    let marks = "A mark is the mean of the runs of a point; the line through it is the 95 % interval of the mean (Student's t, over seeds).";
    let mut lead = vec![if axis.apart { marks } else { lines }.to_owned()];
    lead.push(
        "A point with unstable or failed runs has no mean: a hollow mark beyond the axis stands for it."
            .to_owned(),
    );
    if axis.tracks.iter().any(|track| track.level) {
        let level =
            "A line across the whole width, without marks, is a label without a position on the axis.";
        lead.push(level.to_owned());
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
                name += &format!("-{}", stem(&chart.1));
            }
            figures.push(Figure::new(name, format!("{}.", capital(&drawn.title)), drawn, 2));
        }
    }
    Section { lead, figures, ..Section::new("Curves") }
}
