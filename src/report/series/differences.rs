//! Differences against a baseline, with their paired intervals.

use super::groups::ink;
use super::study::linear_axis;
use crate::report::charts::{Curve, CurvePoint, Ink, RowsChart};
use crate::report::figures::signed;
use crate::report::lists::{distinct, index_in};
use crate::study::comparison::{Contrast, RunsComparison, StudyComparison};
use crate::study::{Better, MeasureInfo};

/// The differences of a study as charts, one for each measure with its id: a row for each point of the other axes, and in it a mark
/// for each variant.
pub(crate) fn study_differences(found: &StudyComparison, width: u32) -> Vec<(String, RowsChart)> {
    let cells: Vec<&Contrast> = found.cells.iter().collect();
    differences(&cells, &found.axes.join(", "), &found.by, &found.baseline, width)
}

/// The differences of runs, job by job, as charts: a row for each group of jobs.
pub(crate) fn run_differences(found: &RunsComparison, width: u32) -> Vec<(String, RowsChart)> {
    let cells: Vec<&Contrast> = found.pairs.iter().flat_map(|pair| &pair.cells).collect();
    let baseline = found.runs.first().map_or("", |run| run.name.as_str());
    differences(&cells, "jobs of", "run", baseline, width)
}

fn differences(
    cells: &[&Contrast],
    of: &str,
    by: &str,
    baseline: &str,
    width: u32,
) -> Vec<(String, RowsChart)> {
    let measures: Vec<&String> = distinct(cells.iter().map(|cell| &cell.measure));
    let charts = measures.into_iter().map(|measure| {
        let cells: Vec<&Contrast> = cells.iter().copied().filter(|cell| cell.measure == *measure).collect();
        (measure.clone(), of_measure(&cells, of, by, baseline, width))
    });
    charts.collect()
}

fn of_measure(cells: &[&Contrast], of: &str, by: &str, baseline: &str, width: u32) -> RowsChart {
    let variants: Vec<&str> = distinct(cells.iter().map(|cell| cell.variant.as_str()));
    let groups = distinct(cells.iter().map(|cell| cell.of.join(", ")));
    // The variants of a group share its row, unless there is one group only, or more variants than can be told apart.
    let shared = groups.len() > 1 && variants.len() <= usize::from(Ink::SERIES);
    let mut rows: Vec<String> = Vec::new();
    let mut series: Vec<Curve> = Vec::new();
    for cell in cells {
        let group = cell.of.join(", ");
        let row = match (shared, groups.len()) {
            (true, _) => group.clone(),
            (false, 1) => cell.variant.clone(),
            (false, _) => format!("{group}, {}", cell.variant),
        };
        let at = if shared { variants.iter().position(|name| *name == cell.variant).unwrap_or(0) } else { 0 };
        while series.len() <= at {
            let name = if shared { variants[series.len()] } else { by };
            series.push(Curve {
                name: name.to_owned(),
                ink: ink(series.len()),
                points: Vec::new(),
                level: false,
            });
        }
        let x = index_in(&mut rows, &row) as f64;
        series[at].points.push(CurvePoint { x, ..point(cell, &group) });
    }
    let info = MeasureInfo::of(&cells.first().map_or_else(String::new, |cell| cell.measure.clone()));
    let ends = cells.iter().flat_map(|cell| [cell.difference, cell.low, cell.high]).flatten();
    let (low, high) = ends.fold((0.0, 0.0), |(low, high), end| (f64::min(low, end), f64::max(high, end)));
    let title = format!("{}, difference to {baseline}", info.title);
    let (less, more) = match info.better {
        Better::Lower => ("better", "worse"),
        Better::Higher => ("worse", "better"),
        Better::Neither => ("lower", "higher"),
    };
    let named = MeasureInfo { title: title.clone(), ..info };
    RowsChart {
        title,
        of: match (shared, groups.len()) {
            (true, _) => of.to_owned(),
            (false, 1) => by.to_owned(),
            (false, _) => format!("{of}, {by}"),
        },
        rows,
        x: linear_axis(&named, low, high),
        series,
        zero: Some((less.to_owned(), more.to_owned())),
        aside: "aside: no difference can be given".to_owned(),
        width,
    }
}

fn point(cell: &Contrast, group: &str) -> CurvePoint {
    let interval = cell.low.zip(cell.high);
    let shown = |value: f64| signed(value, if value.abs() < 100.0 { 3 } else { 1 });
    let about = match (cell.difference, interval) {
        (Some(difference), Some((low, high))) => {
            format!("{} from {} to {}, {} pairs", shown(difference), shown(low), shown(high), cell.pairs)
        }
        (Some(difference), None) => format!("{}, no interval", shown(difference)),
        (None, _) => cell.note.clone().unwrap_or_else(|| "no difference".to_owned()),
    };
    let name = if group.is_empty() { cell.variant.clone() } else { format!("{}, {group}", cell.variant) };
    CurvePoint {
        x: 0.0,
        mean: cell.difference,
        interval,
        single: Vec::new(),
        unstable: Vec::new(),
        title: format!("{name}\n{about}"),
    }
}
