//! Curves from the table of a study.

use std::collections::BTreeMap;

use super::along::{AxisLayout, places};
use super::groups::ink;
use crate::report::charts::{Axis, Curve, CurvePoint, CurvesChart, Ink};
use crate::report::figures::number;
use crate::report::lists::distinct;
use crate::study::{MeasureInfo, StudyPoint, StudyRow, StudyTable};

/// Confidence level of the bands.
pub(crate) const LEVEL: f64 = 0.95;

/// How the axes of a study are laid out in charts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The axis along which curves are drawn.
    pub(crate) along: usize,
    /// The axis whose labels have a curve each.
    pub(crate) colour: Option<usize>,
    /// All other axes: each combination of their labels has a chart of its own.
    pub(crate) apart: Vec<usize>,
}

impl Layout {
    /// The axis along which curves are drawn.
    pub(crate) fn axis<'a>(&self, table: &'a StudyTable) -> AxisLayout<'a> {
        AxisLayout::of(table, self.along)
    }

    /// The layout of a study, along the axis `along` if given, otherwise along the axis with the most numbers.
    pub(crate) fn of(table: &StudyTable, along: Option<usize>) -> Option<Self> {
        let varied: Vec<usize> = (0..table.axes.len()).filter(|axis| table.labels(*axis).len() > 1).collect();
        let numbers = |axis: &usize| places(&table.labels(*axis)).map(|places| places.len());
        let numeric = varied.iter().copied().filter(|axis| numbers(axis).is_some());
        let most = numeric.max_by_key(|axis| (numbers(axis), usize::MAX - axis));
        let along = along.or(most).or_else(|| varied.last().copied()).or(table.axes.len().checked_sub(1))?;
        let mut others: Vec<usize> = varied.into_iter().filter(|axis| *axis != along).collect();
        // Prefers words to numbers, and as many labels as series that can be told apart.
        others.sort_by_key(|axis| {
            let labels = table.labels(*axis).len();
            (labels > usize::from(Ink::SERIES), numbers(axis).is_some(), usize::MAX - labels, *axis)
        });
        let colour = (!others.is_empty()).then(|| others.remove(0));
        others.sort_unstable();
        Some(Self { along, colour, apart: others })
    }

    /// The combinations of labels of the remaining axes, in order of first appearance, with their names.
    pub(crate) fn charts(&self, table: &StudyTable) -> Vec<(Vec<String>, String)> {
        let labels = |row: &StudyRow| self.apart.iter().map(|axis| row.point[*axis].clone()).collect();
        let charts: Vec<Vec<String>> = distinct(table.rows.iter().map(labels));
        let name = |labels: &[String]| {
            let named = self.apart.iter().zip(labels);
            let named = named.map(|(axis, label)| format!("{} {label}", table.axes[*axis]));
            named.collect::<Vec<_>>().join(", ")
        };
        charts.into_iter().map(|labels| (labels.clone(), name(&labels))).collect()
    }
}

/// A measure and its unit, as the title of an axis.
pub(crate) fn title(id: &str) -> String {
    with_unit(&MeasureInfo::of(id))
}

fn with_unit(info: &MeasureInfo) -> String {
    if info.unit.is_empty() { info.title.clone() } else { format!("{} ({})", info.title, info.unit) }
}

/// The curves of one measure, of the runs with the labels `apart` on the remaining axes.
pub(crate) fn curves(
    table: &StudyTable,
    layout: &Layout,
    measure: usize,
    (labels, name): &(Vec<String>, String),
    size: (u32, u32),
) -> CurvesChart {
    let along = layout.axis(table);
    let colours = layout.colour.map_or_else(|| vec![""], |axis| table.labels(axis));
    // Axes outside the layout have one label, so each entry is one point of the study.
    let runs_at: BTreeMap<(&str, &str), StudyPoint<'_>> = table
        .points()
        .into_iter()
        .filter(|point| layout.apart.iter().zip(labels).all(|(axis, label)| point.labels[*axis] == *label))
        .map(|point| {
            let colour = layout.colour.map_or("", |axis| point.labels[axis].as_str());
            ((colour, point.labels[layout.along].as_str()), point)
        })
        .collect();
    let mut curves = Vec::new();
    for colour in &colours {
        // A number says nothing without the name of its axis.
        let legend = match layout.colour {
            Some(axis) if colour.parse::<f64>().is_ok() => format!("{} {colour}", table.axes[axis]),
            _ => (*colour).to_owned(),
        };
        for track in &along.tracks {
            let points = track.places.iter().filter_map(|(label, x)| {
                let runs = runs_at.get(&(*colour, *label))?;
                let at = format!("{colour}\n{} {label}", table.axes[layout.along]);
                curve_point(runs, measure, *x, at.trim_start())
            });
            let points: Vec<CurvePoint> = points.collect();
            let name = match (colour.is_empty(), track.name.is_empty()) {
                (true, true) => MeasureInfo::of(&table.measures[measure]).title,
                (true, false) => track.name.clone(),
                (false, true) => legend.clone(),
                (false, false) => format!("{}, {legend}", track.name),
            };
            curves.push(Curve { name, ink: ink(curves.len()), points, level: track.level });
        }
    }
    let info = MeasureInfo::of(&table.measures[measure]);
    let values = curves.iter().flat_map(|curve| &curve.points).flat_map(|point| {
        let (low, high) = point.interval.unzip();
        [point.mean, low, high].into_iter().flatten()
    });
    let apart = if name.is_empty() { String::new() } else { format!("; {name}") };
    CurvesChart {
        title: format!("{} by {}{apart}", info.title, along.axis.data),
        y: measure_axis(&info, values, true),
        x: along.axis,
        curves,
        apart: along.apart,
        size,
    }
}

/// A value in a tooltip.
pub(super) fn shown(value: f64) -> String {
    number(Some(value), if value.abs() < 100.0 { 3 } else { 1 })
}

/// The point of the runs at a position, which `at` describes in words; `None` if no run has the measure.
fn curve_point(runs: &StudyPoint<'_>, measure: usize, x: f64, at: &str) -> Option<CurvePoint> {
    let values = runs.values(measure);
    if values.is_empty() {
        return None;
    }
    // Without the unstable or failed runs the mean would be biased, so there is none.
    let value = |row: &StudyRow| row.values.get(measure).copied().flatten();
    let growing: Vec<f64> = runs.done().filter(|row| row.unstable).filter_map(value).collect();
    let steady: Vec<f64> = runs.done().filter(|row| !row.unstable).filter_map(value).collect();
    let (mean, count) = (runs.mean(measure), values.len());
    let interval = mean.and(runs.interval(&values, LEVEL));
    let about = match (mean, interval) {
        (Some(mean), Some((low, high))) => {
            let [mean, low, high] = [mean, low, high].map(shown);
            format!("mean {mean} of {count} runs, 95 % from {low} to {high}")
        }
        (Some(mean), None) => format!("{} (one run)", shown(mean)),
        (None, _) if runs.failed() > 0 => {
            format!("no mean: {} of {} runs failed", runs.failed(), runs.runs.len())
        }
        (None, _) => {
            let verb = if growing.len() == 1 { "is" } else { "are" };
            format!("no mean: {} of {count} runs {verb} unstable", growing.len())
        }
    };
    let single = if mean.is_some() { Vec::new() } else { steady };
    Some(CurvePoint { x, mean, interval, single, unstable: growing, title: format!("{at}\n{about}") })
}

/// An axis for the values of a measure: logarithmic if they span more than two decades, and starting at zero if that is near and
/// `zero` is wanted.
pub(super) fn measure_axis(info: &MeasureInfo, values: impl Iterator<Item = f64>, zero: bool) -> Axis {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values.filter(|value| value.is_finite()) {
        (low, high) = (low.min(value), high.max(value));
    }
    if low > high {
        return Axis::linear(with_unit(info), 0.0, 1.0, false);
    }
    if low > 0.0 && high / low > 100.0 {
        return Axis::log(with_unit(info), low, high);
    }
    if zero && low >= 0.0 && low < high * 0.6 {
        low = 0.0;
    }
    if low == high {
        // A single value is seen against zero, which needs an axis of some length itself.
        (low, high) = (low.min(0.0), high.max(0.0) + if high == 0.0 { 1.0 } else { 0.0 });
    }
    linear_axis(info, low, high)
}

/// A linear axis for a measure: times are labelled in the unit that suits them.
pub(super) fn linear_axis(info: &MeasureInfo, low: f64, high: f64) -> Axis {
    match info.unit {
        "s" => Axis::duration(&info.title, low, high),
        _ => Axis::linear(with_unit(info), low, high, false),
    }
}
