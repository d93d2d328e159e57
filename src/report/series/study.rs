//! Curves and Pareto fronts of the table of a study.

use std::collections::{BTreeMap, BTreeSet};

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
        places(table, self.along).is_some()
    }

    /// A layout of a study, along the axis `along` if it is given: otherwise along the one with the most numbers.
    pub(in crate::report) fn of(table: &StudyTable, along: Option<usize>) -> Option<Self> {
        let varied: Vec<usize> = (0..table.axes.len()).filter(|axis| table.labels(*axis).len() > 1).collect();
        let numbers = |axis: &usize| places(table, *axis).is_some().then(|| table.labels(*axis).len());
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

/// The labels of an axis as numbers, if they all are.
fn places(table: &StudyTable, axis: usize) -> Option<BTreeMap<String, f64>> {
    let number = |label: &str| {
        let word = label.split_once(' ').map_or(label, |(number, _)| number);
        word.trim_end_matches('%').parse::<f64>().ok().filter(|number| number.is_finite())
    };
    // Units after the number have to be the same: "10 s" and "1 min" are no places in a row.
    let unit = |label: &str| label.split_once(' ').map(|(_, unit)| unit.to_owned());
    let labels = table.labels(axis);
    let first = unit(labels.first()?);
    labels.iter().map(|label| (unit(label) == first).then_some(())).collect::<Option<()>>()?;
    labels.into_iter().map(|label| Some((label.to_owned(), number(label)?))).collect()
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
    let numbers = places(table, layout.along);
    let order = table.labels(layout.along);
    let x_of = |label: &str| match &numbers {
        Some(numbers) => numbers.get(label).copied().unwrap_or(0.0),
        None => order.iter().position(|found| *found == label).unwrap_or(0) as f64,
    };
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
    for (at, colour) in colours.iter().enumerate() {
        let mut points = Vec::new();
        for place in &order {
            let Some(runs) = runs_at.get(&(*colour, *place)) else { continue };
            let values = runs.values(measure);
            if values.is_empty() {
                continue;
            }
            // Without the runs that still grow a mean would be of the lucky ones: there is none.
            let value = |row: &StudyRow| row.values.get(measure).copied().flatten();
            let growing: Vec<f64> = runs.done().filter(|row| row.grows).filter_map(value).collect();
            let steady: Vec<f64> = runs.done().filter(|row| !row.grows).filter_map(value).collect();
            let estimate = mean_interval(&values, LEVEL);
            let mean = runs.mean(measure);
            let shown = |value: f64| number(Some(value), if value.abs() < 100.0 { 3 } else { 1 });
            let along = &table.axes[layout.along];
            let title = match (mean, &estimate) {
                (Some(mean), Some(e)) => format!(
                    "{colour}\n{along} {place}\nmean {} of {} runs, 95 % from {} to {}",
                    shown(mean),
                    values.len(),
                    shown(e.low),
                    shown(e.high)
                ),
                (Some(mean), None) => format!("{colour}\n{along} {place}\n{} (one run)", shown(mean)),
                (None, _) => format!(
                    "{colour}\n{along} {place}\nno mean: in {} of {} runs the backlog still grew",
                    growing.len(),
                    values.len()
                ),
            };
            points.push(CurvePoint {
                x: x_of(place),
                mean,
                interval: mean.and(estimate).map(|estimate| (estimate.low, estimate.high)),
                single: if mean.is_some() { Vec::new() } else { steady },
                hollow: growing,
                title: title.trim_start().to_owned(),
            });
        }
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let name = if colour.is_empty() {
            MeasureInfo::of(&table.measures[measure]).title
        } else {
            (*colour).to_owned()
        };
        curves.push(Curve { name, ink: ink(at), points });
    }
    let info = title(&table.measures[measure]);
    let along = table.axes.get(layout.along).map_or("", String::as_str);
    CurvesChart {
        title: if name.is_empty() {
            format!("{info} by {along}")
        } else {
            format!("{info} by {along}; {name}")
        },
        x: match &numbers {
            Some(numbers) => numeric_axis(along, numbers, &order),
            None => Axis::places(along, &order.iter().map(|label| (*label).to_owned()).collect::<Vec<_>>()),
        },
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
        apart: numbers.is_none(),
        size,
    }
}

/// An axis with a tick at each of a study's values, if they are few.
fn numeric_axis(title: &str, numbers: &BTreeMap<String, f64>, labels: &[&str]) -> Axis {
    let low = numbers.values().copied().fold(f64::INFINITY, f64::min);
    let high = numbers.values().copied().fold(f64::NEG_INFINITY, f64::max);
    if numbers.len() > 9 {
        return Axis::linear(title, low, high, false);
    }
    let ticks =
        labels.iter().filter_map(|label| Some((*numbers.get(*label)?, (*label).to_owned()))).collect();
    let room = if high > low { (high - low) * 0.04 } else { 0.5 };
    Axis { title: title.to_owned(), from: low - room, to: high + room, ticks, log: false }
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
