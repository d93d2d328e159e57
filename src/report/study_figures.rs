//! Figures of a study and of comparisons.

use super::charts::{Chart, Paint, RowsChart, Theme};
use super::page::stem;
use super::series::{Layout, curves, run_differences, study_differences};
use crate::study::claims::Side;
use crate::study::{Comparison, StudyTable};

/// Width and height of a figure, in pixels.
const SIZE: (u32, u32) = (760, 380);

/// The curves of a measure along an axis, with a curve for each label of the axis `by` (chosen if `None`) and a chart for each
/// combination of labels of the other axes. Returns for each chart the name of that combination (empty if there are no other axes)
/// and its SVG. `of` restricts axes to the labels that it lists and sets their order; axes that it does not name are drawn
/// completely.
///
/// `None` if the table has no such measure or axis.
pub fn study_figures(
    table: &StudyTable,
    of: &Side,
    measure: &str,
    along: &str,
    by: Option<&str>,
) -> Option<Vec<(String, String)>> {
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
        (chart.1, drawn)
    });
    Some(charts.collect())
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
        let [(apart, svg)] = &drawn[..] else { panic!("{} charts", drawn.len()) };
        let at = |name: &str| svg.find(&format!(">{name}</text>"));
        assert_eq!(apart, "");
        assert!(at("los").unwrap() < at("fcfs").unwrap() && at("easy").is_none(), "{svg}");
    }
}
