//! Figures of a study and of comparisons.

use std::collections::BTreeMap;

use super::charts::{Axis, Chart, Paint, ParetoChart, ParetoPoint, RowsChart, Theme};
use super::figures::{decimals, number};
use super::page::stem;
use super::series::{Layout, curves, pareto, run_differences, study_differences};
use crate::study::claims::Side;
use crate::study::{Comparison, MeasureInfo, StudyPoint, StudyRow, StudyTable};

/// Width and height of a figure, in pixels.
const SIZE: (u32, u32) = (760, 380);

/// Titles that measures have on a page instead of their own, by their ids.
pub type Titles = BTreeMap<String, String>;

/// The curves of a measure along an axis, with a curve for each label of the axis `by` (chosen if `None`) and a chart for each
/// combination of labels of the other axes. `of` restricts axes to the labels that it lists and sets their order; axes that it does not name are drawn
/// completely. With `against`, curves are of differences to a point.
///
/// `None` if the table has no such measure or axis.
pub fn study_figures(
    table: &StudyTable,
    of: &Side,
    measure: &str,
    (along, by): (&str, Option<&str>),
    against: Option<&Against>,
    titles: &Titles,
) -> Option<Vec<StudyFigure>> {
    let measure = table.measure(measure)?;
    let named = title_of(&table.measures[measure], titles);
    let (table, named) = match against {
        None => (table.clone(), named),
        Some(against) => (differences(table, measure, against)?, against.title(&named)),
    };
    let table = part(&table, of)?;
    let axis = table.axis(along)?;
    let mut layout = Layout::of(&table, Some(axis))?;
    if let Some(by) = by {
        let by = table.axis(by)?;
        layout.apart.extend(layout.colour.filter(|colour| *colour != by));
        layout.apart.retain(|apart| *apart != by);
        layout.apart.sort_unstable();
        layout.colour = Some(by);
    }
    let charts = layout.charts(&table).into_iter().map(|chart| {
        let mut drawn = curves(&table, &layout, measure, &chart, SIZE);
        let id = &table.measures[measure];
        drawn.title = retitled(&drawn.title, id, &named);
        retitle(&mut drawn.y, id, &named);
        let title = drawn.title.split("; ").next().unwrap_or_default().to_owned();
        StudyFigure { of: chart.1, title, svg: drawn.svg(Paint::File(Theme::Light)), table: String::new() }
    });
    Some(charts.collect())
}

/// The point to which differences are taken, paired by seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Against {
    /// Its label on some axes; on the others it has the label of what is compared with it.
    pub than: Side,
    /// Whether a difference is shown as a share of the mean of that point, in percent.
    pub share: bool,
}

impl Against {
    fn title(&self, of: &str) -> String {
        let labels = self.than.values().flatten().map(String::as_str).collect::<Vec<_>>().join(", ");
        let unit = if self.share { " (%)" } else { "" };
        format!("{of}, difference to {labels}{unit}")
    }
}

/// A study whose runs have the differences of their measure to those of the same seed at another point, which itself is left out.
fn differences(table: &StudyTable, measure: usize, against: &Against) -> Option<StudyTable> {
    let axes = against.than.iter().map(|(axis, labels)| Some((table.axis(axis)?, labels.first()?)));
    let axes = axes.collect::<Option<Vec<_>>>()?;
    let opposite = |point: &[String]| {
        let mut point = point.to_vec();
        for (at, label) in &axes {
            point[*at].clone_from(label);
        }
        point
    };
    let points = table.points();
    let others: BTreeMap<&[String], &StudyPoint<'_>> =
        points.iter().map(|point| (point.labels, point)).collect();
    let rows = table.rows.iter().filter(|row| opposite(&row.point) != row.point).map(|row| {
        let there = opposite(&row.point);
        let value = others.get(&there[..]).and_then(|other| {
            let one = other.done().find(|other| other.seed == row.seed)?;
            let difference = row.values[measure]? - one.values[measure]?;
            let mean = other.mean(measure)?;
            Some(if against.share { 100.0 * difference / mean } else { difference })
        });
        let mut values = row.values.clone();
        values[measure] = value;
        StudyRow { values, ..row.clone() }
    });
    let mut found = StudyTable { rows: rows.collect(), ..table.clone() };
    if against.share {
        // Not a measure that is known, so that its unit is not the one of the figures either.
        found.measures[measure] = "share".to_owned();
    }
    Some(found)
}

/// The title of a measure on a page.
pub(super) fn title_of(id: &str, titles: &Titles) -> String {
    titles.get(id).cloned().unwrap_or_else(|| MeasureInfo::of(id).title)
}

/// A text with the title of a measure in place of its own.
fn retitled(text: &str, id: &str, title: &str) -> String {
    text.replacen(&MeasureInfo::of(id).title, title, 1)
}

fn retitle(axis: &mut Axis, id: &str, title: &str) {
    axis.title = retitled(&axis.title, id, title);
    axis.data = retitled(&axis.data, id, title);
}

/// A figure of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyFigure {
    /// The labels that distinguish it from the other charts of the figure; empty if there are none.
    pub of: String,
    /// What the chart shows, in a few words.
    pub title: String,
    /// The chart as SVG.
    pub svg: String,
    /// Its numbers as a table in Markdown; empty if it has none.
    pub table: String,
}

/// Two measures against each other, with the Pareto front among the labels of some axes, and a chart for each combination of labels of
/// the others. `of` is as in [`study_figures`]. Intervals are of the differences to the point with the labels `than`, paired by seed, or of
/// the means if that is empty.
///
/// `None` if the table has no such measure or axis.
pub fn pareto_figures(
    table: &StudyTable,
    of: &Side,
    [x, y]: [&str; 2],
    among: &[String],
    than: &Side,
    titles: &Titles,
) -> Option<Vec<StudyFigure>> {
    let table = part(table, of)?;
    let (x, y) = (table.measure(x)?, table.measure(y)?);
    let among = among.iter().map(|axis| table.axis(axis)).collect::<Option<Vec<usize>>>()?;
    let than = than.iter().map(|(axis, labels)| Some((table.axis(axis)?, labels)));
    let than = than.collect::<Option<Vec<_>>>()?;
    let apart = (0..table.axes.len()).filter(|axis| !among.contains(axis) && table.labels(*axis).len() > 1);
    let first = *among.first()?;
    let layout = Layout { along: first, colour: Some(first), apart: apart.collect() };
    let points = table.points();
    let figures = layout.charts(&table).into_iter().map(|(labels, of)| {
        let here = |point: &&StudyPoint<'_>| {
            layout.apart.iter().zip(&labels).all(|(axis, label)| point.labels[*axis] == *label)
        };
        let here: Vec<&StudyPoint<'_>> = points.iter().filter(here).collect();
        let is_than = |point: &&&StudyPoint<'_>| {
            than.iter().all(|(axis, labels)| labels.contains(&point.labels[*axis]))
        };
        let than = if than.is_empty() { None } else { here.iter().find(is_than).copied() };
        let mut chart = pareto(&table, &here, (x, y), Some(first), than, SIZE);
        let [x_id, y_id] = [x, y].map(|measure| &table.measures[measure]);
        let [x_title, y_title] = [x_id, y_id].map(|id| title_of(id, titles));
        retitle(&mut chart.x, x_id, &x_title);
        retitle(&mut chart.y, y_id, &y_title);
        chart.title = format!("{x_title} against {y_title}");
        let (svg, table) = (chart.svg(Paint::File(Theme::Light)), front_table(&chart));
        StudyFigure { of, title: format!("{y_title} against {x_title}"), svg, table }
    });
    Some(figures.collect())
}

/// The points of a front with their intervals: which are on it, and which of these dominate the others. Markdown.
fn front_table(chart: &ParetoChart) -> String {
    let escaped = |text: &str| text.replace('|', "\\|");
    let mut out = format!(
        "|variant|{}|{}|Pareto front|\n|---|--:|--:|---|\n",
        escaped(&chart.x.data),
        escaped(&chart.y.data)
    );
    let places = |means: Vec<f64>, intervals: Vec<Option<(f64, f64)>>| {
        let [most, least] =
            [f64::max, f64::min].map(|of| means.iter().map(|mean| mean.abs()).fold(f64::NAN, of));
        // As many decimals as the shortest interval needs, unless it is a rounding error, but at most five digits of the smallest mean.
        let halves = intervals.into_iter().flatten().map(|(low, high)| (high - low) / 2.0);
        let shortest = halves.filter(|half| *half > most * SAME).fold(f64::INFINITY, f64::min);
        let needed = if shortest.is_finite() { -libm::floor(libm::log10(shortest)) } else { 0.0 };
        let room = if least > 0.0 { 4.0 - libm::floor(libm::log10(least)) } else { 6.0 };
        decimals(means.into_iter().map(Some)).max(needed.min(room).clamp(0.0, 6.0) as usize)
    };
    let of = |mean: fn(&ParetoPoint) -> f64, interval: fn(&ParetoPoint) -> Option<(f64, f64)>| {
        places(chart.points.iter().map(mean).collect(), chart.points.iter().map(interval).collect())
    };
    let places =
        [of(|point| point.x, |point| point.x_interval), of(|point| point.y, |point| point.y_interval)];
    for point in &chart.points {
        let shown = |mean: f64, interval: Option<(f64, f64)>, places: usize| {
            let half = interval.map(|(low, high)| match (high - low) / 2.0 {
                half if half <= mean.abs() * SAME => " ± 0".to_owned(),
                half if half < 0.5 * libm::pow(10.0, -(places as f64)) => {
                    format!(" ± < {}", number(Some(libm::pow(10.0, -(places as f64))), places))
                }
                half => format!(" ± {}", number(Some(half), places)),
            });
            number(Some(mean), places) + &half.unwrap_or_default()
        };
        let (x, y) =
            (shown(point.x, point.x_interval, places[0]), shown(point.y, point.y_interval, places[1]));
        let front = match (point.knee, point.front) {
            (true, _) => "**knee**".to_owned(),
            (_, true) => "on it".to_owned(),
            _ => format!("dominated by {}", escaped(&point.dominated_by.join("; "))),
        };
        out += &format!("|{}|{x}|{y}|{front}|\n", escaped(&point.label));
    }
    for (variant, why) in &chart.aside {
        out += &format!("|{}|||no mean: {}|\n", escaped(variant), escaped(why));
    }
    let front = chart.points.iter().filter(|point| point.front).count();
    if chart.points.iter().all(|point| !point.knee) && front > 0 {
        let why = match front {
            1 => "one point dominates all others",
            2 => "there is none between two points",
            _ => "between its ends it bulges to the worse side",
        };
        out += &format!("\nThis front has no knee: {why}.\n");
    }
    out
}

/// Half an interval, as a share of its mean, below which it is a rounding error.
const SAME: f64 = 1e-9;

/// The differences of a comparison with their intervals as charts, one for each measure, with names for their files.
pub fn comparison_figures(found: &Comparison) -> Vec<(String, RowsChart)> {
    let charts = match found {
        Comparison::Study(found) => study_differences(found, SIZE.0),
        Comparison::Runs(found) => run_differences(found, SIZE.0),
    };
    charts.into_iter().map(|(measure, chart)| (format!("difference-{}", stem(&measure)), chart)).collect()
}

/// Selects the runs with these labels, and orders them so that each axis has its labels in this order. `None` if an axis does not
/// exist.
pub(super) fn part(table: &StudyTable, of: &Side) -> Option<StudyTable> {
    let axes = of.iter().map(|(axis, labels)| Some((table.axis(axis)?, labels)));
    let axes = axes.collect::<Option<Vec<_>>>()?;
    let place = |point: &[String]| {
        let on_axis = axes.iter().map(|(at, labels)| labels.iter().position(|label| *label == point[*at]));
        on_axis.collect::<Option<Vec<usize>>>()
    };
    let mut rows: Vec<_> =
        table.rows.iter().filter_map(|row| Some((place(&row.point)?, row.clone()))).collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    Some(StudyTable { rows: rows.into_iter().map(|(_, row)| row).collect(), ..table.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tests::run_of_a_study;

    #[test]
    fn a_part_of_a_study_has_its_labels_in_the_order_that_is_asked_for() {
        let points = [
            ["fcfs", "0.5"],
            ["easy", "0.5"],
            ["los", "0.5"],
            ["fcfs", "0.9"],
            ["easy", "0.9"],
            ["los", "0.9"],
        ];
        let row = |(at, labels): (usize, &[&str; 2])| {
            run_of_a_study(at as u64 + 1, labels, 1, vec![Some(at as f64)])
        };
        let table = StudyTable {
            name: String::new(),
            axes: vec!["policy".to_owned(), "load".to_owned()],
            measures: vec!["mean_wait".to_owned()],
            baseline: None,
            dates: Vec::new(),
            rows: points.iter().enumerate().map(row).collect(),
        };
        let of = |labels: &[&str]| {
            Side::from([("policy".to_owned(), labels.iter().map(|label| (*label).to_owned()).collect())])
        };
        let some = part(&table, &of(&["los", "fcfs"])).unwrap();
        assert_eq!(some.labels(0), ["los", "fcfs"]);
        assert_eq!(some.labels(1), ["0.5", "0.9"], "an axis that is not named is whole");
        assert_eq!(some.rows.iter().map(|row| row.run).collect::<Vec<_>>(), [3, 6, 1, 4]);
        assert_eq!(part(&table, &Side::new()).unwrap(), table);
        assert_eq!(part(&table, &[("laod".to_owned(), vec!["1".to_owned()])].into()), None);
        // Curves are in that order, and there is no third one.
        let drawn =
            study_figures(&table, &of(&["los", "fcfs"]), "mean_wait", ("load", None), None, &Titles::new())
                .unwrap();
        let [StudyFigure { of: apart, svg, .. }] = &drawn[..] else { panic!("{} charts", drawn.len()) };
        let at = |name: &str| svg.find(&format!(">{name}</text>"));
        assert_eq!(apart, "");
        assert!(at("los").unwrap() < at("fcfs").unwrap() && at("easy").is_none(), "{svg}");
    }

    /// Waits of 1, 2, 4 and 9 s against 9, 3, 1 and 9 kWh; the second seed waits 10 s longer under all of them, and under `b` 2 s more.
    #[test]
    fn a_front_has_a_figure_and_a_table_for_each_combination_of_the_other_axes() {
        let of = [("a", 1.0, 9.0), ("b", 2.0, 3.0), ("c", 4.0, 1.0), ("d", 9.0, 9.0)];
        let mut rows = Vec::new();
        for load in ["0.5", "0.9"] {
            for (policy, wait, energy) in of {
                for seed in [1, 2] {
                    let more = if policy == "b" { [-1.0, 11.0] } else { [0.0, 10.0] };
                    let values = vec![Some(wait + more[seed as usize - 1]), Some(energy)];
                    rows.push(run_of_a_study(rows.len() as u64 + 1, &[policy, load], seed, values));
                }
            }
        }
        let table = StudyTable {
            name: String::new(),
            axes: vec!["policy".to_owned(), "load".to_owned()],
            measures: vec!["mean_wait".to_owned(), "energy.meter_kwh".to_owned()],
            baseline: None,
            dates: Vec::new(),
            rows,
        };
        let than = Side::from([("policy".to_owned(), vec!["a".to_owned()])]);
        let among = ["policy".to_owned()];
        let drawn = pareto_figures(
            &table,
            &Side::new(),
            ["mean_wait", "energy.meter_kwh"],
            &among,
            &than,
            &Titles::new(),
        )
        .unwrap();
        assert_eq!(
            drawn.iter().map(|figure| figure.of.as_str()).collect::<Vec<_>>(),
            ["load 0.5", "load 0.9"]
        );
        let rows: Vec<&str> = drawn[0].table.lines().collect();
        assert_eq!(rows[2], "|a|6.00|9.00|on it|", "what intervals are of differences to has none");
        // Differences of 0 and 2 s: t = 12.706 on one degree of freedom, times 1.
        assert_eq!(rows[3], "|b|7.00 ± 12.71|3.00 ± 0|**knee**|");
        assert_eq!(rows[4], "|c|9.00 ± 0|1.00 ± 0|on it|");
        assert_eq!(rows[5], "|d|14.00 ± 0|9.00 ± 0|dominated by a; b; c|");
        assert!(drawn[0].svg.contains(">knee</text>"));
        let ends = Side::from([("policy".to_owned(), ["a", "c"].map(str::to_owned).to_vec())]);
        let titles = Titles::from([("energy.meter_kwh".to_owned(), "energy of jobs".to_owned())]);
        let drawn =
            pareto_figures(&table, &ends, ["mean_wait", "energy.meter_kwh"], &among, &than, &titles).unwrap();
        assert!(
            drawn[0].table.ends_with("\nThis front has no knee: there is none between two points.\n"),
            "{drawn:?}"
        );
        assert!(drawn[0].table.starts_with("|variant|mean wait (s)|energy of jobs (kWh)|"), "{drawn:?}");
        let no_axis =
            pareto_figures(&table, &Side::new(), ["mean_wait", "cost"], &among, &than, &Titles::new());
        assert_eq!(no_axis, None);
    }

    /// Waits of 100 and 130 s, of 100 and 150 s with the second seed: 40 s more, or 40 %, with an interval.
    #[test]
    fn curves_may_be_of_differences() {
        let mut rows = Vec::new();
        for (policy, load, waits) in [
            ("a", "0.5", [100.0; 2]),
            ("b", "0.5", [130.0, 150.0]),
            ("a", "0.9", [50.0; 2]),
            ("b", "0.9", [60.0; 2]),
        ] {
            for seed in [1, 2] {
                let value = vec![Some(waits[seed as usize - 1])];
                rows.push(run_of_a_study(rows.len() as u64 + 1, &[policy, load], seed, value));
            }
        }
        let table = StudyTable {
            name: String::new(),
            axes: vec!["policy".to_owned(), "load".to_owned()],
            measures: vec!["mean_wait".to_owned()],
            baseline: None,
            dates: Vec::new(),
            rows,
        };
        let than = Side::from([("policy".to_owned(), vec!["a".to_owned()])]);
        let of = |share: bool| {
            let found = differences(&table, 0, &Against { than: than.clone(), share }).unwrap();
            found.rows.iter().map(|row| (row.point.join(" "), row.values[0].unwrap())).collect::<Vec<_>>()
        };
        let named = |values: [(&str, f64); 4]| values.map(|(at, value)| (at.to_owned(), value)).to_vec();
        assert_eq!(of(false), named([("b 0.5", 30.0), ("b 0.5", 50.0), ("b 0.9", 10.0), ("b 0.9", 10.0)]));
        assert_eq!(of(true), named([("b 0.5", 30.0), ("b 0.5", 50.0), ("b 0.9", 20.0), ("b 0.9", 20.0)]));
        let against = Against { than, share: true };
        let drawn =
            study_figures(&table, &Side::new(), "mean_wait", ("load", None), Some(&against), &Titles::new())
                .unwrap();
        assert!(drawn[0].svg.contains("mean wait, difference to a (%)"), "{}", drawn[0].svg);
        assert_eq!(drawn[0].title, "mean wait, difference to a (%) by load");
    }
}
