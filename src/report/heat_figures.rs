//! Figures of the classes of a study: a measure of each class, or how it changes.

use std::collections::{BTreeMap, BTreeSet};

use super::charts::{Chart, HeatScale, Paint, Theme};
use super::figures::number;
use super::series::{Form, Groups, Layout, Shades, Subject, change, heat_charts};
use super::study_figures::{StudyFigure, Titles, part};
use crate::model::JobClasses;
use crate::study::claims::Side;
use crate::study::{Better, MeasureInfo, OF_CLASSES, StudyPoint, StudyTable, word_of};

/// A measure of each of the `classes` of a study's runs, such as `class.*.mean_bounded_slowdown`, as a table of the classes for each label of
/// the axis `by`, with a chart for each combination of labels of the other axes, and for each group of estimates. `of` is as in
/// [`study_figures`](super::study_figures). A cell has the mean of the runs of its point, and, if the study measures them, the number of jobs
/// (`class.*.jobs`). With `than`, one label of some axes, cells are of changes from the point with these labels, which itself is left out.
///
/// `None` if the table has no such measure or axis.
pub fn heat_figures(
    table: &StudyTable,
    of: &Side,
    measure: &str,
    (by, than): (&str, &Side),
    classes: &JobClasses,
    titles: &Titles,
) -> Option<Vec<StudyFigure>> {
    let last = measure.strip_prefix(OF_CLASSES)?;
    let columns = Columns::of(table, last, classes)?;
    let info = MeasureInfo::of(last);
    let title = titles.get(measure).cloned().unwrap_or(info.title);
    let title = match than.values().flatten().next() {
        None if info.unit.is_empty() || info.unit == "s" => title,
        None => format!("{title} ({})", info.unit),
        Some(_) => {
            let labels: Vec<&str> = than.values().flatten().map(String::as_str).collect();
            format!("{title}, change from {}", labels.join(", "))
        }
    };
    let form = if info.unit == "s" { Form::Time } else { Form::Plain };
    let lower = info.better != Better::Higher;
    let than = than.iter().map(|(axis, labels)| Some((table.axis(axis)?, labels.first()?)));
    let than = than.collect::<Option<Vec<_>>>()?;
    let shown = part(table, of)?;
    let by = shown.axis(by)?;
    let apart = (0..shown.axes.len()).filter(|axis| *axis != by && shown.labels(*axis).len() > 1);
    let layout = Layout { along: by, colour: None, apart: apart.collect() };
    let (all, points) = (table.points(), shown.points());
    let all: BTreeMap<&[String], &StudyPoint<'_>> = all.iter().map(|point| (point.labels, point)).collect();
    let opposite = |point: &StudyPoint<'_>| {
        let mut labels = point.labels.to_vec();
        than.iter().for_each(|(axis, label)| labels[*axis].clone_from(label));
        labels
    };
    let is_shown = |point: &&StudyPoint<'_>| than.is_empty() || opposite(point) != point.labels;
    let groups = Groups::by_classes(classes.clone(), 0);
    let mut figures = Vec::new();
    for (labels, name) in layout.charts(&shown) {
        let here = |point: &&StudyPoint<'_>| {
            layout.apart.iter().zip(&labels).all(|(axis, label)| point.labels[*axis] == *label)
        };
        let here: Vec<&StudyPoint<'_>> = points.iter().filter(is_shown).filter(here).collect();
        let values = here.iter().flat_map(|point| columns.values(point)).flatten();
        let shades = Shades::of(form, lower, values);
        let charts = heat_charts(&title, &groups, &here, |point| {
            let (values, jobs) = (columns.values(point), columns.jobs(point));
            let before = all.get(&opposite(point)[..]).map(|point| columns.values(point)).unwrap_or_default();
            let (changes, measure, names) = (!than.is_empty(), title.clone(), &columns.names);
            let cell = move |class: usize| {
                let subject =
                    Subject { name: format!("{}: {measure}", names[class]), jobs: jobs[class].clone() };
                let value = values[class]?;
                if changes {
                    let from = before.get(class).copied().flatten()?;
                    Some(change(&subject, form, (from, value), lower))
                } else {
                    Some(shades.cell(&subject, value))
                }
            };
            let scale = if changes { HeatScale::Change } else { shades.scale() };
            (labelled(&shown.axes[by], point, by), scale, Box::new(cell))
        });
        for (map, chart) in charts {
            let of = [name.as_str(), &map].into_iter().filter(|part| !part.is_empty());
            let svg = chart.svg(Paint::File(Theme::Light));
            let of = of.collect::<Vec<_>>().join(", ");
            figures.push(StudyFigure { of, title: title.clone(), svg, table: String::new() });
        }
    }
    Some(figures)
}

/// The label of a point on the axis, with why it has no means.
fn labelled(axis: &str, point: &StudyPoint<'_>, by: usize) -> String {
    let label = &point.labels[by];
    // A number says nothing without the name of its axis.
    let label = if label.parse::<f64>().is_ok() { format!("{axis} {label}") } else { label.clone() };
    match (point.failed(), point.growing()) {
        (0, 0) => label,
        (0, _) => format!("{label} (unstable)"),
        _ => format!("{label} (runs failed)"),
    }
}

/// The columns of a table that are measures of classes.
struct Columns {
    /// The classes.
    names: Vec<String>,
    /// The column of the measure of each; `None` if no run has it.
    measure: Vec<Option<usize>>,
    /// The column of its number of jobs.
    jobs: Vec<Option<usize>>,
}

impl Columns {
    /// The columns of the measure; `None` if the table has none.
    fn of(table: &StudyTable, measure: &str, classes: &JobClasses) -> Option<Self> {
        let names: Vec<String> = (0..classes.count()).map(|class| classes.label(class)).collect();
        let mut taken = BTreeSet::new();
        let words: Vec<String> = names.iter().map(|name| word_of(name, &mut taken)).collect();
        let column = |last: &str| -> Vec<Option<usize>> {
            words.iter().map(|word| table.measure(&format!("class.{word}.{last}"))).collect()
        };
        let (measure, jobs) = (column(measure), column("jobs"));
        measure.iter().any(Option::is_some).then_some(Self { names, measure, jobs })
    }

    /// The mean of the measure of each class.
    fn values(&self, point: &StudyPoint<'_>) -> Vec<Option<f64>> {
        self.measure.iter().map(|column| column.and_then(|column| point.mean(column))).collect()
    }

    /// The number of jobs of each class in a run, the mean of its runs; empty if it is unknown.
    fn jobs(&self, point: &StudyPoint<'_>) -> Vec<String> {
        let mean = |column: &Option<usize>| column.and_then(|column| point.mean(column));
        let shown = |jobs: f64| number(Some(jobs), if libm::trunc(jobs) == jobs { 0 } else { 1 });
        self.jobs.iter().map(|column| mean(column).map_or_else(String::new, shown)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tests::run_of_a_study;

    /// Two policies and two loads, each with two seeds; four classes by two axes. Under `a` slowdowns of 1, 2, 4 and no job; under `b` twice as
    /// much of the first, half of the second.
    fn table() -> StudyTable {
        let measures =
            ["l_n", "l_w", "s_n", "s_w"].map(|class| format!("class.{class}.mean_bounded_slowdown"));
        let mut rows = Vec::new();
        for (policy, values) in
            [("a", [Some(1.0), Some(2.0), Some(4.0), None]), ("b", [Some(2.0), Some(1.0), Some(4.0), None])]
        {
            for load in ["1", "1.2"] {
                for seed in [1, 2] {
                    let more = if seed == 1 { 0.0 } else { 2.0 };
                    let mut values: Vec<Option<f64>> = values.iter().map(|v| v.map(|v| v + more)).collect();
                    values.push(Some(1_000.0 + more));
                    rows.push(run_of_a_study(rows.len() as u64 + 1, &[policy, load], seed, values));
                }
            }
        }
        StudyTable {
            name: String::new(),
            axes: vec!["policy".to_owned(), "load_factor".to_owned()],
            measures: measures.into_iter().chain(["class.l_n.jobs".to_owned()]).collect(),
            baseline: None,
            dates: Vec::new(),
            rows,
        }
    }

    #[test]
    fn a_map_for_each_label_and_a_chart_for_each_combination_of_the_others() {
        let (table, classes) = (table(), "kettimuthu-4".parse::<JobClasses>().unwrap());
        let drawn = |measure: &str, by: &str, than: &Side, of: &Side| {
            heat_figures(&table, of, measure, (by, than), &classes, &Titles::new())
        };
        let slowdown = "class.*.mean_bounded_slowdown";
        let none = Side::new();
        let figures = drawn(slowdown, "policy", &none, &none).unwrap();
        assert_eq!(
            figures.iter().map(|figure| figure.of.as_str()).collect::<Vec<_>>(),
            ["load_factor 1", "load_factor 1.2"]
        );
        assert_eq!(figures[0].title, "mean bounded slowdown");
        let svg = &figures[0].svg;
        // Means of two seeds: 1 and 3, 2 and 4, 4 and 6.
        for text in ["a", "b", "S", "L", "N", "W", "2.00", "3.00", "5.00", "1,001 jobs", "–"] {
            assert!(svg.contains(&format!(">{text}</text>")), "{text}: {svg}");
        }
        assert!(svg.contains("L N: mean bounded slowdown 2.00 (1,001 jobs)"), "{svg}");
        let than = Side::from([("policy".to_owned(), vec!["a".to_owned()])]);
        let changes = drawn(slowdown, "policy", &than, &none).unwrap();
        assert_eq!((changes.len(), changes[0].title.as_str()), (2, "mean bounded slowdown, change from a"));
        let svg = &changes[0].svg;
        for text in ["b", "+50 %", "2.00 → 3.00", "−33 %", "0 %", "better"] {
            assert!(svg.contains(&format!(">{text}</text>")), "{text}: {svg}");
        }
        assert!(!svg.contains(">a</text>"), "what is compared with is left out: {svg}");
        // Numbers have the name of their axis; the label that is compared with need not be drawn.
        let than = Side::from([("load_factor".to_owned(), vec!["1".to_owned()])]);
        let of = Side::from([
            ("load_factor".to_owned(), vec!["1.2".to_owned()]),
            ("policy".to_owned(), vec!["b".to_owned()]),
        ]);
        let changes = drawn(slowdown, "load_factor", &than, &of).unwrap();
        assert!(changes.len() == 1 && changes[0].svg.contains(">load_factor 1.2</text>"), "{changes:?}");
        assert!(changes[0].svg.contains(">0 %</text>"), "{changes:?}");
        for (measure, by) in [("mean_wait", "policy"), ("class.*.mean_wait", "policy"), (slowdown, "laod")] {
            assert_eq!(drawn(measure, by, &none, &none), None, "{measure} {by}");
        }
    }

    #[test]
    fn an_unstable_point_has_no_means_and_says_so() {
        let mut table = table();
        table.rows[0].unstable = true;
        let classes = "kettimuthu-4".parse::<JobClasses>().unwrap();
        let none = Side::new();
        let figures = heat_figures(
            &table,
            &none,
            "class.*.mean_bounded_slowdown",
            ("policy", &none),
            &classes,
            &Titles::new(),
        )
        .unwrap();
        assert!(figures[0].svg.contains(">a (unstable)</text>"), "{}", figures[0].svg);
        assert!(!figures[1].svg.contains("unstable"));
    }
}
