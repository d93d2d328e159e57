//! Figures of a study and of comparisons.

use super::charts::{Chart, Paint, ParetoChart, ParetoPoint, RowsChart, Theme};
use super::figures::{decimals, number};
use super::page::stem;
use super::series::{Layout, curves, pareto, run_differences, study_differences};
use crate::study::claims::Side;
use crate::study::{Comparison, StudyPoint, StudyTable};

/// Width and height of a figure, in pixels.
const SIZE: (u32, u32) = (760, 380);

/// The curves of a measure along an axis, with a curve for each label of the axis `by` (chosen if `None`) and a chart for each
/// combination of labels of the other axes. `of` restricts axes to the labels that it lists and sets their order; axes that it does not name are drawn
/// completely.
///
/// `None` if the table has no such measure or axis.
pub fn study_figures(
    table: &StudyTable,
    of: &Side,
    measure: &str,
    along: &str,
    by: Option<&str>,
) -> Option<Vec<StudyFigure>> {
    let table = part(table, of)?;
    let (measure, axis) = (table.measure(measure)?, table.axis(along)?);
    let mut layout = Layout::of(&table, Some(axis))?;
    if let Some(by) = by {
        let by = table.axis(by)?;
        layout.apart.extend(layout.colour.filter(|colour| *colour != by));
        layout.apart.retain(|apart| *apart != by);
        layout.apart.sort_unstable();
        layout.colour = Some(by);
    }
    let charts = layout.charts(&table).into_iter().map(|chart| {
        let drawn = curves(&table, &layout, measure, &chart, SIZE).svg(Paint::File(Theme::Light));
        StudyFigure { of: chart.1, svg: drawn, table: String::new() }
    });
    Some(charts.collect())
}

/// A figure of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyFigure {
    /// The labels that distinguish it from the other charts of the figure; empty if there are none.
    pub of: String,
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
        let chart = pareto(&table, &here, (x, y), Some(first), than, SIZE);
        StudyFigure { of, svg: chart.svg(Paint::File(Theme::Light)), table: front_table(&chart) }
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
        let widest =
            intervals.into_iter().flatten().map(|(low, high)| (high - low) / 2.0).fold(0.0, f64::max);
        // As many decimals as the longest interval needs, unless it is a rounding error.
        let most = means.iter().fold(0.0_f64, |most, mean| most.max(mean.abs()));
        let needed =
            if widest > most * 1e-9 { (-libm::floor(libm::log10(widest))).clamp(0.0, 6.0) } else { 0.0 };
        decimals(means.into_iter().map(Some)).max(needed as usize)
    };
    let of = |mean: fn(&ParetoPoint) -> f64, interval: fn(&ParetoPoint) -> Option<(f64, f64)>| {
        places(chart.points.iter().map(mean).collect(), chart.points.iter().map(interval).collect())
    };
    let places =
        [of(|point| point.x, |point| point.x_interval), of(|point| point.y, |point| point.y_interval)];
    for point in &chart.points {
        let shown = |mean: f64, interval: Option<(f64, f64)>, places: usize| {
            let half = interval.map(|(low, high)| format!(" ± {}", number(Some((high - low) / 2.0), places)));
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
    out
}

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
fn part(table: &StudyTable, of: &Side) -> Option<StudyTable> {
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
        let drawn = study_figures(&table, &of(&["los", "fcfs"]), "mean_wait", "load", None).unwrap();
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
            rows,
        };
        let than = Side::from([("policy".to_owned(), vec!["a".to_owned()])]);
        let among = ["policy".to_owned()];
        let drawn =
            pareto_figures(&table, &Side::new(), ["mean_wait", "energy.meter_kwh"], &among, &than).unwrap();
        assert_eq!(
            drawn.iter().map(|figure| figure.of.as_str()).collect::<Vec<_>>(),
            ["load 0.5", "load 0.9"]
        );
        let rows: Vec<&str> = drawn[0].table.lines().collect();
        assert_eq!(rows[2], "|a|6.00|9.00|on it|", "what intervals are of differences to has none");
        // Differences of 0 and 2 s: t = 12.706 on one degree of freedom, times 1.
        assert_eq!(rows[3], "|b|7.00 ± 12.71|3.00 ± 0.00|**knee**|");
        assert_eq!(rows[4], "|c|9.00 ± 0.00|1.00 ± 0.00|on it|");
        assert_eq!(rows[5], "|d|14.00 ± 0.00|9.00 ± 0.00|dominated by a; b; c|");
        assert!(drawn[0].svg.contains(">knee</text>"));
        let no_axis = pareto_figures(&table, &Side::new(), ["mean_wait", "cost"], &among, &than);
        assert_eq!(no_axis, None);
    }
}
