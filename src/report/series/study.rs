//! Curves and Pareto fronts of the table of a study.

use std::collections::{BTreeMap, BTreeSet};

use super::along::{Along, places};
use super::groups::ink;
use crate::metrics::statistics::mean_interval;
use crate::metrics::{Better, MeasureInfo, StudyPoint, StudyRow, StudyTable};
use crate::report::charts::{Axis, Curve, CurvePoint, CurvesChart, ParetoChart, ParetoPoint};
use crate::report::figures::number;

/// Confidence of the bands.
pub(in crate::report) const LEVEL: f64 = 0.95;

/// How curves of a study are laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::report) struct Layout {
    /// The axis that curves go along.
    pub(in crate::report) along: usize,
    /// The axis whose labels have a curve each.
    pub(in crate::report) colour: Option<usize>,
    /// The others: a chart for each of their combinations.
    pub(in crate::report) apart: Vec<usize>,
}

impl Layout {
    /// Whether places along it have an order, so that lines may join them.
    pub(in crate::report) fn is_ordered(&self, table: &StudyTable) -> bool {
        !Along::of(table, self.along).apart
    }

    /// Whether some labels on it are drawn as level lines.
    pub(in crate::report) fn has_levels(&self, table: &StudyTable) -> bool {
        Along::of(table, self.along).tracks.iter().any(|track| track.level)
    }

    /// A layout of a study, along the axis `along` if it is given: otherwise along the one with the most numbers.
    pub(in crate::report) fn of(table: &StudyTable, along: Option<usize>) -> Option<Self> {
        let varied: Vec<usize> = (0..table.axes.len()).filter(|axis| table.labels(*axis).len() > 1).collect();
        let numbers = |axis: &usize| {
            let labels = table.labels(*axis);
            places(&labels).map(|_| labels.len())
        };
        let most = varied
            .iter()
            .copied()
            .filter(|axis| numbers(axis).is_some())
            .max_by_key(|axis| (numbers(axis), usize::MAX - axis));
        let along = along.or(most).or_else(|| varied.last().copied()).or(table.axes.len().checked_sub(1))?;
        let mut others: Vec<usize> = varied.into_iter().filter(|axis| *axis != along).collect();
        // Of words rather than numbers, and of as many as can be told apart.
        others.sort_by_key(|axis| {
            let labels = table.labels(*axis).len();
            (labels > 8, numbers(axis).is_some(), usize::MAX - labels, *axis)
        });
        let colour = (!others.is_empty()).then(|| others.remove(0));
        others.sort_unstable();
        Some(Self { along, colour, apart: others })
    }

    /// The combinations of the axes that are kept apart, as they are first met, with their names.
    pub(in crate::report) fn charts(&self, table: &StudyTable) -> Vec<(Vec<String>, String)> {
        let mut charts: Vec<(Vec<String>, String)> = Vec::new();
        let mut seen = BTreeSet::new();
        for row in &table.rows {
            let labels: Vec<String> = self.apart.iter().map(|axis| row.point[*axis].clone()).collect();
            if seen.insert(labels.clone()) {
                let named = self
                    .apart
                    .iter()
                    .zip(&labels)
                    .map(|(axis, label)| format!("{} {label}", table.axes[*axis]));
                let name = named.collect::<Vec<_>>().join(", ");
                charts.push((labels, name));
            }
        }
        charts
    }
}

/// A measure and its unit, for an axis.
pub(in crate::report) fn title(id: &str) -> String {
    let info = MeasureInfo::of(id);
    if info.unit.is_empty() { info.title } else { format!("{} ({})", info.title, info.unit) }
}

/// The curves of one measure, of the runs with the labels `apart` on the axes that are kept apart.
pub(in crate::report) fn curves(
    table: &StudyTable,
    layout: &Layout,
    measure: usize,
    (labels, name): &(Vec<String>, String),
    size: (u32, u32),
) -> CurvesChart {
    let along = Along::of(table, layout.along);
    let colours = layout.colour.map_or_else(|| vec![""], |axis| table.labels(axis));
    // Axes that are no part of the layout have one label, so this is one point of the study each.
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
        for track in &along.tracks {
            let mut points: Vec<CurvePoint> = track
                .places
                .iter()
                .filter_map(|(label, x)| {
                    let runs = runs_at.get(&(*colour, *label))?;
                    let at = format!("{colour}\n{} {label}", table.axes[layout.along]);
                    curve_point(runs, measure, *x, at.trim_start())
                })
                .collect();
            let name = match (colour.is_empty(), track.name.is_empty()) {
                (true, true) => MeasureInfo::of(&table.measures[measure]).title,
                (true, false) => track.name.clone(),
                (false, true) => (*colour).to_owned(),
                (false, false) => format!("{}, {colour}", track.name),
            };
            // A level that has no mean has no place where single runs could be drawn: the legend says so.
            for point in points.iter_mut().filter(|point| track.level && point.mean.is_none()) {
                (point.single, point.hollow) = (Vec::new(), Vec::new());
            }
            curves.push(Curve { name, ink: ink(curves.len()), points, level: track.level });
        }
    }
    let info = title(&table.measures[measure]);
    CurvesChart {
        title: if name.is_empty() {
            format!("{info} by {}", along.axis.title)
        } else {
            format!("{info} by {}; {name}", along.axis.title)
        },
        x: along.axis,
        y: measure_axis(
            &info,
            curves.iter().flat_map(|curve| &curve.points).flat_map(|point| {
                let interval = point.interval.into_iter().flat_map(|(low, high)| [low, high]);
                point
                    .mean
                    .into_iter()
                    .chain(interval)
                    .chain(point.hollow.iter().copied())
                    .chain(point.single.iter().copied())
            }),
        ),
        curves,
        apart: along.apart,
        size,
    }
}

/// The runs at a place; `None` if none has the measure. `at` says in words where it is.
fn curve_point(runs: &StudyPoint<'_>, measure: usize, x: f64, at: &str) -> Option<CurvePoint> {
    let values = runs.values(measure);
    if values.is_empty() {
        return None;
    }
    // Without the runs that still grow a mean would be of the lucky ones: there is none.
    let value = |row: &StudyRow| row.values.get(measure).copied().flatten();
    let growing: Vec<f64> = runs.done().filter(|row| row.grows).filter_map(value).collect();
    let steady: Vec<f64> = runs.done().filter(|row| !row.grows).filter_map(value).collect();
    let estimate = mean_interval(&values, LEVEL);
    let mean = runs.mean(measure);
    let shown = |value: f64| number(Some(value), if value.abs() < 100.0 { 3 } else { 1 });
    let title = match (mean, &estimate) {
        (Some(mean), Some(e)) => format!(
            "{at}\nmean {} of {} runs, 95 % from {} to {}",
            shown(mean),
            values.len(),
            shown(e.low),
            shown(e.high)
        ),
        (Some(mean), None) => format!("{at}\n{} (one run)", shown(mean)),
        (None, _) => {
            format!("{at}\nno mean: in {} of {} runs the backlog still grew", growing.len(), values.len())
        }
    };
    Some(CurvePoint {
        x,
        mean,
        interval: mean.and(estimate).map(|estimate| (estimate.low, estimate.high)),
        single: if mean.is_some() { Vec::new() } else { steady },
        hollow: growing,
        title,
    })
}

/// An axis over values: logarithmic where they span more than two decades, from zero where that is near.
fn measure_axis(title: &str, values: impl Iterator<Item = f64>) -> Axis {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values.filter(|value| value.is_finite()) {
        (low, high) = (low.min(value), high.max(value));
    }
    if low > high {
        return Axis::linear(title, 0.0, 1.0, false);
    }
    if low > 0.0 && high / low > 100.0 {
        return Axis::log(title, low, high);
    }
    let from = if low >= 0.0 && low < high * 0.6 { 0.0 } else { low };
    if from == high {
        Axis::linear(title, from.min(0.0), from.max(0.0) + if from == 0.0 { 1.0 } else { 0.0 }, false)
    } else {
        Axis::linear(title, from, high, false)
    }
}

/// Two measures of some of the points of a study against each other, each the mean of its runs.
pub(in crate::report) fn pareto(
    table: &StudyTable,
    variants: &[&StudyPoint<'_>],
    (x, y): (usize, usize),
    colour: Option<usize>,
    size: (u32, u32),
) -> ParetoChart {
    let less = |measure: usize| MeasureInfo::of(&table.measures[measure]).better != Better::Higher;
    let less_is_better = (less(x), less(y));
    let means: Vec<Option<(f64, f64)>> =
        variants.iter().map(|variant| variant.mean(x).zip(variant.mean(y))).collect();
    let front = front(&means, less_is_better);
    // Colours are those of the whole study, whatever is left in a part of it.
    let kinds = colour.map_or_else(Vec::new, |axis| table.labels(axis));
    let shown = |value: f64| number(Some(value), if value.abs() < 100.0 { 3 } else { 1 });
    let mut points: Vec<ParetoPoint> = Vec::new();
    for ((variant, mean), front) in variants.iter().zip(&means).zip(front) {
        let kind = colour.map_or("variant", |axis| variant.labels[axis].as_str());
        let named = table.axes.iter().zip(variant.labels).map(|(axis, label)| format!("{axis} {label}"));
        let named = named.collect::<Vec<_>>().join(", ");
        let mut add = |(a, b): (f64, f64), front, hollow, of: &str| {
            points.push(ParetoPoint {
                x: a,
                y: b,
                kind: kind.to_owned(),
                ink: ink(kinds.iter().position(|found| *found == kind).unwrap_or(0)),
                front,
                hollow,
                title: format!("{named}\n{} and {} ({of})", shown(a), shown(b)),
            });
        };
        if let Some(mean) = mean {
            add(*mean, front, false, &format!("mean of {} runs", variant.values(x).len()));
            continue;
        }
        // One whose backlog grows has no mean that says how good it is: its runs are shown, and beat nobody.
        for row in variant.done().filter(|row| row.grows) {
            let value =
                |measure: usize| row.values.get(measure).copied().flatten().filter(|value| value.is_finite());
            if let Some(here) = value(x).zip(value(y)) {
                add(here, false, true, &format!("seed {}: the backlog still grew", row.seed));
            }
        }
    }
    let axis = |measure: usize, values: &dyn Fn(&ParetoPoint) -> f64| {
        measure_axis(&title(&table.measures[measure]), points.iter().map(values))
    };
    ParetoChart {
        title: format!("{} against {}", title(&table.measures[x]), title(&table.measures[y])),
        x: axis(x, &|point| point.x),
        y: axis(y, &|point| point.y),
        less_is_better,
        points,
        size,
    }
}

/// Which points no other one beats: none is at least as good in both and better in one. Those without a value are on no
/// front.
pub(in crate::report) fn front(points: &[Option<(f64, f64)>], less_is_better: (bool, bool)) -> Vec<bool> {
    let turned =
        |(x, y): (f64, f64)| (if less_is_better.0 { x } else { -x }, if less_is_better.1 { y } else { -y });
    let mut order: Vec<(usize, (f64, f64))> =
        points.iter().enumerate().filter_map(|(at, point)| Some((at, turned((*point)?)))).collect();
    order.sort_by(|(_, a), (_, b)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut on = vec![false; points.len()];
    let mut best: Option<(f64, f64)> = None;
    for (at, point) in order {
        // In this order all that could beat it came before: it has to be better in the second, or the same as the last.
        if best.is_none_or(|best| point.1 < best.1 || point == best) {
            on[at] = true;
            best = Some(point);
        }
    }
    on
}
