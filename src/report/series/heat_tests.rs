//! Heat maps worked by hand.

use super::distribution::{Measured, Quantity, Statistic};
use super::groups::Groups;
use super::heat::{Form, Shades, Subject, change, changes, values};
use crate::report::charts::{Chart as _, HeatChart, HeatScale, Paint, Theme};

/// The only chart of the only map.
fn one(mut charts: Vec<(String, HeatChart)>) -> HeatChart {
    assert_eq!((charts.len(), charts[0].0.as_str()), (1, ""));
    charts.remove(0).1
}

#[test]
fn gain_and_loss_are_shown_class_by_class() {
    let groups = Groups::of_rows(vec!["S N".into(), "S W".into(), "L N".into(), "L W".into()]);
    assert_eq!(groups.maps().rows, ["S", "L"]);
    assert_eq!(groups.maps().columns, ["N", "W"]);
    let (mut a, mut b) = (Measured::default(), Measured::default());
    a.add(0, 10_000_000, 20_000_000, 2.0);
    a.add(0, 30_000_000, 40_000_000, 4.0);
    b.add(0, 5_000_000, 10_000_000, 3.0);
    b.add(0, 15_000_000, 20_000_000, 3.0);
    b.add(3, 1, 1, 1.0);
    let chart = one(changes("b against a", &groups, Statistic::Mean, (&a, &b)));
    let cell = chart.panels[0].cells[0][0].as_ref().unwrap();
    assert_eq!((cell.text.as_str(), cell.shade, cell.below.as_str()), ("−50 %", -1.0, "20 → 10 s"));
    assert_eq!(chart.panels[2].cells[0][0].as_ref().unwrap().text, "0 %");
    assert_eq!(chart.panels[0].cells[1][1], None, "no job of this class in the first run");
}

/// Tables from other programs may have any number of classes.
#[test]
fn classes_beyond_a_byte_are_not_mixed() {
    let groups = Groups::of_rows((0..300).map(|class| format!("class-{class}")).collect());
    let (mut a, mut b) = (Measured::default(), Measured::default());
    for group in 0..300_u64 {
        a.add(group as usize, 1_000_000, 1_000_000 * (group + 1), 1.0);
        b.add(group as usize, 2_000_000, 1_000_000 * (group + 1), 1.0);
    }
    assert_eq!(a.sorted(Quantity::Response, |group| group == 256), [257.0]);
    let chart = one(changes("b against a", &groups, Statistic::Mean, (&a, &b)));
    let told = |row: usize| chart.panels[0].cells[row][0].as_ref().map(|cell| cell.text.clone());
    assert_eq!(
        (told(255), told(256), told(299)),
        (Some("+100 %".into()), Some("+100 %".into()), Some("+100 %".into()))
    );
    assert_eq!(a.sorted(Quantity::Response, |group| group == 255), [256.0]);
}

#[test]
fn worst_cases_have_a_map_too() {
    let groups = Groups::of_rows(vec!["S N".into(), "S W".into()]);
    let (mut a, mut b) = (Measured::default(), Measured::default());
    for (run, slowdowns) in [(&mut a, [2.0, 8.0]), (&mut b, [6.0, 2.0])] {
        slowdowns.iter().for_each(|slowdown| run.add(0, 1_000_000, 2_000_000, *slowdown));
    }
    let chart = one(changes("b against a", &groups, Statistic::Largest, (&a, &b)));
    let titles: Vec<&str> = chart.panels.iter().map(|panel| panel.title.as_str()).collect();
    assert_eq!(titles, ["longest wait", "longest response time", "largest bounded slowdown"]);
    let cell = chart.panels[2].cells[0][0].as_ref().unwrap();
    assert_eq!((cell.text.as_str(), cell.below.as_str(), cell.jobs.as_str()), ("−25 %", "8.00 → 6.00", "2"));
    assert_eq!(cell.title, "S N: largest bounded slowdown 8.00 → 6.00 (2 jobs)");
    assert_eq!(chart.panels[2].cells[0][1], None, "no jobs");
}

/// Mean slowdowns of 1, 10 and 100: with a logarithmic scale the second is in the middle.
#[test]
fn values_have_maps_with_the_numbers_of_jobs() {
    let names = ["S N well", "S N badly", "S W well", "S W badly"].map(str::to_owned);
    let groups = Groups::of_rows(names.into());
    let mut run = Measured::default();
    for (group, slowdown) in [(0, 0.5), (0, 1.5), (1, 100.0), (3, 10.0)] {
        run.add(group, 0, 60_000_000 * (group as u64 + 1), slowdown);
    }
    let charts = values("classes", &groups, &run);
    let [(well, first), (badly, second)] = &charts[..] else { panic!("{charts:?}") };
    assert_eq!((well.as_str(), badly.as_str()), ("well", "badly"));
    assert_eq!(
        (first.title.as_str(), &first.rows[..], &first.columns[..]),
        ("classes, well", &["S".to_owned()][..], &["N".to_owned(), "W".to_owned()][..])
    );
    let cells = [&first.panels[1].cells[0][0], &second.panels[1].cells[0][0], &second.panels[1].cells[0][1]];
    let shown: Vec<(&str, &str, f64)> = cells
        .iter()
        .map(|cell| cell.as_ref().unwrap())
        .map(|cell| (cell.text.as_str(), cell.below.as_str(), (cell.shade * 1e6).round() / 1e6))
        .collect();
    assert_eq!(shown, [("1.00", "2 jobs", 0.0), ("100", "1 job", 1.0), ("10.00", "1 job", 0.5)]);
    assert_eq!(first.panels[1].cells[0][1], None);
    // The same scale for both maps, so that they can be compared.
    assert_eq!(first.panels[1].scale, second.panels[1].scale);
    assert_eq!(
        first.panels[1].scale,
        HeatScale::Values { least: "1.00".into(), most: "100".into(), log: true, higher_is_better: false }
    );
    // Times of 1 to 4 min are no decade apart.
    assert_eq!(
        first.panels[0].scale,
        HeatScale::Values {
            least: "60 s".into(),
            most: "4.0 min".into(),
            log: false,
            higher_is_better: false
        }
    );
    let numbers = second.numbers();
    assert_eq!(numbers.head, ["measure", "row", "column", "value", "note", "jobs"]);
    assert_eq!(numbers.rows[2], ["mean bounded slowdown", "S", "N", "100", "1 job", "1"]);
    let svg = first.svg(Paint::File(Theme::Light));
    for text in ["log scale", "2 jobs", "mean response time", "largest bounded slowdown"] {
        assert!(svg.contains(&format!(">{text}</text>")), "{text}: {svg}");
    }
}

#[test]
fn shades_are_from_the_least_to_the_largest() {
    let subject = Subject { name: "S N: mean wait".into(), jobs: String::new() };
    let shade = |shades: Shades, value| shades.cell(&subject, value).shade;
    let near = Shades::of(Form::Plain, true, [2.0, 4.0, 6.0]);
    assert_eq!([2.0, 4.0, 6.0].map(|value| shade(near, value)), [0.0, 0.5, 1.0]);
    // Zero is below the least of a logarithmic scale, whose key says so.
    let far = Shades::of(Form::Plain, true, [0.0, 1.0, 100.0]);
    assert_eq!([0.0, 1.0, 10.0, 100.0].map(|value| shade(far, value)), [0.0, 0.0, 0.5, 1.0]);
    assert!(matches!(far.scale(), HeatScale::Values { least, log: true, .. } if least == "≤ 1.00"));
    let alike = Shades::of(Form::Plain, true, [3.0, 3.0]);
    assert_eq!(shade(alike, 3.0), 0.0);
    let none = Shades::of(Form::Time, false, []);
    assert!(matches!(none.scale(), HeatScale::Values { log: false, higher_is_better: true, .. }));
    // More of what is better is a gain.
    let changed = |lower| change(&subject, Form::Plain, (1.0, 2.0), lower);
    assert_eq!((changed(true).shade, changed(false).shade), (1.0, -1.0));
    assert_eq!(changed(true).title, "S N: mean wait 1.00 → 2.00");
}
