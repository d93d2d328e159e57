//! Figures of studies: their axes, intervals, differences and numbers.

use super::differences::study_differences;
use super::pareto::pareto;
use super::study::{Layout, curves};
use crate::report::charts::{
    Axis, Chart, Column, EcdfChart, Ink, Paint, Theme, TimeChart, TimeLayer, TimeMarks, TimeStyle,
};
use crate::study::comparison::{CompareOptions, compare_study};
use crate::study::tests::study;
use crate::study::{StudyPoint, StudyTable};

/// Policies at two loads with four seeds. The waits of the seeds differ by hours, those of the policies by a minute in each seed.
fn example(policies: &[&str]) -> StudyTable {
    study(policies, 4, ["mean_wait", "energy.meter_kwh", "utilization"], |policy, load, seed| {
        let place = policies.iter().position(|name| *name == policy).unwrap_or(0) as f64;
        let wait =
            seed as f64 * 7_200.0 + place * (60.0 + seed as f64) + if load == "0.9" { 600.0 } else { 0.0 };
        [wait, 100.0 - place + seed as f64 * 0.01, 0.5 + place / 100.0]
    })
}

fn by_policy(table: &StudyTable, measures: &[&str]) -> Vec<(String, crate::report::charts::RowsChart)> {
    let options = CompareOptions {
        by: Some("policy".to_owned()),
        measures: measures.iter().map(|measure| (*measure).to_owned()).collect(),
        level: 0.95,
        ..CompareOptions::default()
    };
    study_differences(&compare_study(table, &options).unwrap(), 530)
}

#[test]
fn a_pareto_front_has_a_cross_and_a_name_for_each_point() {
    let table = example(&["fcfs", "easy", "conservative"]);
    let all = table.points();
    let here: Vec<&StudyPoint<'_>> = all.iter().filter(|point| point.labels[1] == "0.5").collect();
    let chart = pareto(&table, &here, (0, 1), Some(0), None, (530, 330));
    let names: Vec<&str> = chart.points.iter().map(|point| point.label.as_str()).collect();
    assert_eq!(names, ["fcfs", "easy", "conservative"], "one load only, so it is not in the names");
    for point in &chart.points {
        let Some((across, up)) = point.x_interval.zip(point.y_interval) else { panic!("{point:?}") };
        assert!(across.0 < point.x && point.x < across.1 && up.0 < point.y && point.y < up.1, "{point:?}");
    }
    // The seeds differ by hours, so the intervals are long. They do not set the axis: the means, two minutes apart, do.
    assert!(chart.x.to - chart.x.from < 1_200.0, "{:?}", chart.x);
    let svg = chart.svg(Paint::File(Theme::Light));
    for name in names {
        assert_eq!(
            svg.matches(&format!(">{name}</text>")).count(),
            3,
            "in the legend, and with a border beside the point"
        );
    }
    // Paired by seed, the second policy waits 61 to 64 s longer than the first: the interval is of these, t = 3.182 on three degrees of freedom.
    let paired = pareto(&table, &here, (0, 1), Some(0), Some(here[0]), (530, 330));
    assert_eq!((paired.points[0].x_interval, paired.points[0].y_interval), (None, None));
    let (low, high) = paired.points[1].x_interval.unwrap();
    assert!(((low + high) / 2.0 - paired.points[1].x).abs() < 1e-6, "around the mean");
    assert!((high - low - 2.0 * 3.182 * libm::sqrt(5.0 / 3.0) / 2.0).abs() < 0.01, "{low} {high}");
    assert!(paired.points.iter().all(|point| point.front), "each waits longer, and draws less");
    // Both loads: the name is what the colour does not say.
    let chart = pareto(&table, &all.iter().collect::<Vec<_>>(), (0, 1), Some(0), None, (530, 330));
    assert_eq!(chart.points[0].label, "0.5");
    let none = pareto(&table, &all.iter().collect::<Vec<_>>(), (0, 1), None, None, (530, 330));
    assert_eq!(none.points[0].label, "fcfs, 0.5");
}

/// By pairs of seeds the policies differ by a minute, far less than the interval of each mean.
#[test]
fn differences_have_their_paired_intervals_and_a_line_at_zero() {
    let table = example(&["fcfs", "easy", "conservative"]);
    let charts = by_policy(&table, &["mean_wait", "utilization"]);
    let [(id, chart), (_, utilization)] = &charts[..] else { panic!("{}", charts.len()) };
    assert_eq!(
        (id.as_str(), chart.of.as_str(), &chart.rows[..]),
        ("mean_wait", "load", &["0.5", "0.9"].map(str::to_owned)[..])
    );
    assert_eq!(chart.zero, Some(("better".to_owned(), "worse".to_owned())));
    assert_eq!(utilization.zero, Some(("worse".to_owned(), "better".to_owned())));
    assert_eq!(chart.x.title, "mean wait, difference to fcfs (s)");
    let easy = &chart.series[0];
    let (point, (low, high)) = (&easy.points[0], easy.points[0].interval.unwrap());
    assert_eq!((easy.name.as_str(), point.mean), ("easy", Some(62.5)), "60 and the mean of 1 to 4");
    assert!(low > 0.0 && high < 70.0, "{low} {high}");
    let svg = chart.svg(Paint::File(Theme::Light));
    assert!(svg.contains(">worse →</text>") && svg.contains(">easy</text>"), "{svg}");
    let numbers = chart.numbers();
    assert_eq!(
        numbers.head[1..5],
        [
            "load",
            "mean wait, difference to fcfs (s)",
            "mean wait, difference to fcfs (s), low",
            "mean wait, difference to fcfs (s), high"
        ]
    );
    assert_eq!((numbers.rows.len(), numbers.rows[0][..3].join(" ")), (4, "easy 0.5 62.5".to_owned()));
    // Without another axis the variants are the rows.
    let at = |label: &str| StudyTable {
        rows: table.rows.iter().filter(|row| row.point[1] == label).cloned().collect(),
        ..table.clone()
    };
    let mut one = at("0.5");
    one.axes.pop();
    one.rows.iter_mut().for_each(|row| drop(row.point.pop()));
    let chart = &by_policy(&one, &["mean_wait"])[0].1;
    assert_eq!(
        (chart.of.as_str(), &chart.rows[..], chart.series.len()),
        ("policy", &["easy", "conservative"].map(str::to_owned)[..], 1)
    );
}

/// Every axis of every kind of figure has a title, with its unit where there is one. The ticks of a logarithmic axis of times have
/// their own units.
#[test]
fn titles_of_axes_have_units() {
    let table = example(&["fcfs", "easy"]);
    let layout = Layout::of(&table, None).unwrap();
    let along = |measure| curves(&table, &layout, measure, &layout.charts(&table)[0], (530, 300));
    let points = table.points();
    let front = pareto(&table, &points.iter().collect::<Vec<_>>(), (0, 1), Some(0), None, (530, 330));
    let differences = by_policy(&table, &["mean_wait", "energy.meter_kwh"]);
    let layer =
        TimeLayer { name: "n".into(), ink: Ink::Series(0), style: TimeStyle::Line, points: Vec::new() };
    let over_time = TimeChart {
        title: "t".into(),
        x: Axis::time(0.0, 7_200.0),
        y: Axis::linear("power (kW)", 0.0, 5.0, false),
        layers: vec![layer],
        height: 200,
        labels: 60,
        marks: TimeMarks::default(),
    };
    let waits = EcdfChart {
        title: "w".into(),
        x: Axis::log_time("wait", 1.0, 9e4),
        lines: Vec::new(),
        size: (350, 300),
    };
    assert!(waits.x.ticks.iter().all(|(_, label)| label.contains(' ')), "{:?}", waits.x);
    assert_eq!(waits.numbers().head[1], "wait (s)");
    let kinds: [(&dyn Chart, [&str; 2]); 8] = [
        (&along(0), ["load", "mean wait (h)"]),
        (&along(1), ["load", "IT energy (kWh)"]),
        (&along(2), ["load", "utilization"]),
        (&front, ["mean wait (h)", "IT energy (kWh)"]),
        (&differences[0].1, ["mean wait, difference to fcfs (s)", "load"]),
        (&differences[1].1, ["IT energy, difference to fcfs (kWh)", "load"]),
        (&over_time, ["time (min)", "power (kW)"]),
        (&waits, ["wait", "share of jobs"]),
    ];
    for (chart, titles) in kinds {
        for paint in [Paint::Page, Paint::File(Theme::Light), Paint::Print(Theme::Light, Column::Single)] {
            let svg = chart.svg(paint);
            for title in titles {
                assert!(svg.contains(&format!(">{title}</text>")), "`{title}` in {svg}");
            }
        }
    }
}

/// Twelve long names have a row each, instead of a place below the axis where they would cover each other.
#[test]
fn names_that_do_not_fit_below_an_axis_have_rows() {
    let names: Vec<String> =
        (1..=12).map(|number| format!("conservative[compress=none,number={number}x]")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let table = example(&names);
    let layout = Layout::of(&table, Some(0)).unwrap();
    let chart = curves(&table, &layout, 0, &layout.charts(&table)[0], (530, 300));
    assert!(chart.apart);
    let svg = chart.svg(Paint::File(Theme::Light));
    let tree = roxmltree::Document::parse(&svg).unwrap();
    let text = |node: &roxmltree::Node<'_, '_>| node.text().unwrap_or_default().starts_with("conservative[");
    let rows: Vec<f32> = tree
        .descendants()
        .filter(|node| node.has_tag_name("text") && text(node))
        .map(|node| node.attribute("y").unwrap().parse().unwrap())
        .collect();
    assert_eq!(rows.len(), 12, "{svg}");
    assert!(rows.windows(2).all(|pair| (pair[1] - pair[0]).abs() >= 11.0), "{rows:?}");
    // Three short ones stay below it.
    let table = example(&["fcfs", "easy", "los"]);
    let chart =
        curves(&table, &Layout::of(&table, Some(0)).unwrap(), 0, &layout.charts(&table)[0], (530, 300));
    assert!(chart.svg(Paint::Page).contains("viewBox=\"0 0 530 "));
}

/// A printed figure has the width of its column, and text of the same size in both: 12 of its pixels are 8 pt.
#[test]
fn a_printed_figure_is_as_wide_as_its_columns() {
    let table = example(&["fcfs", "easy"]);
    let layout = Layout::of(&table, None).unwrap();
    let chart = curves(&table, &layout, 0, &layout.charts(&table)[0], (530, 300));
    for (column, millimetres) in [(Column::Single, 85.0), (Column::Double, 175.0)] {
        let svg = chart.svg(Paint::Print(Theme::Light, column));
        let tree = roxmltree::Document::parse(&svg).unwrap();
        let root = tree.root_element();
        assert_eq!(root.attribute("width"), Some(&*format!("{millimetres}mm")));
        let pixels: f64 = root.attribute("viewBox").unwrap().split(' ').nth(2).unwrap().parse().unwrap();
        let points = 12.0 * millimetres / pixels / 25.4 * 72.0;
        assert!((points - 8.0).abs() < 0.02, "{points} pt");
        let text = tree.descendants().filter_map(|node| node.attribute("font-size"));
        assert!(text.map(|size| size.parse::<f64>().unwrap()).all(|size| (11.0..=12.0).contains(&size)));
    }
}
