//! Time axes: what the script of a page needs to enlarge them, and what marks them.

use roxmltree::{Document, Node};

use super::*;

const DAY: f64 = 86_400.0;

/// Two partitions over ten days, with a window and two events.
fn chart() -> GanttChart {
    let row = |part: &str| GanttRow {
        name: "site".into(),
        part: part.into(),
        processors: 4,
        cores: 1,
        raster: None,
    };
    let bar = |row: usize, from: f64, to: f64| GanttBar {
        row,
        from,
        to,
        ranges: std::iter::once(1..3).collect(),
        group: 0,
        label: "7".into(),
        title: format!("job 7\n{from}"),
        wasted: false,
        killed: false,
        overhead: false,
        grouped: false,
    };
    let event = |at: f64, number: usize| TimeEvent { at, number, what: format!("event {number}") };
    GanttChart {
        title: "g".into(),
        x: Axis::time(0.0, 10.0 * DAY),
        rows: vec![row("a"), row("b")],
        // The second takes a minute: less than a tenth of a pixel.
        bars: vec![bar(0, DAY, 3.0 * DAY), bar(1, 5.0 * DAY, 5.0 * DAY + 60.0)],
        suspended: Vec::new(),
        joins: Vec::new(),
        down: Vec::new(),
        groups: vec![(String::new(), Ink::Series(0))],
        marks: TimeMarks {
            window: Some((DAY, 9.0 * DAY)),
            events: vec![event(2.0 * DAY, 1), event(4.0 * DAY, 2)],
        },
        bands: Vec::new(),
    }
}

fn of_class<'a>(tree: &'a Document<'a>, class: &str) -> Vec<Node<'a, 'a>> {
    tree.descendants().filter(|node| node.attribute("class") == Some(class)).collect()
}

fn number(node: &Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap_or_else(|| panic!("no {name} in {node:?}")).parse().unwrap()
}

/// The corner and the width of the first rectangle of a path.
fn rectangle(path: &Node<'_, '_>) -> (f64, f64) {
    let data = path.attribute("d").unwrap();
    let x = data[1..].split(' ').next().unwrap().parse().unwrap();
    let width = data.split(['h', 'v']).nth(1).unwrap().parse().unwrap();
    (x, width)
}

#[test]
fn a_page_tells_its_script_the_scale_of_time() {
    let svg = chart().svg(Paint::Page);
    let tree = Document::parse(&svg).unwrap();
    let zoom = of_class(&tree, "zoom")[0];
    let [left, right, from, to, fine] =
        ["left", "right", "from", "to", "fine"].map(|name| number(&zoom, &format!("data-{name}")));
    assert_eq!((from, to), (0.0, 10.0 * DAY));
    let at = |time: f64| left + (time - from) / (to - from) * (right - left);
    // As the page is delivered, the group is scaled back to the whole run.
    assert_eq!(zoom.attribute("transform"), Some(&*format!("scale({} 1)", 1.0 / fine)));
    // Each label of the axis, which is in days, is where the scale has it.
    let ticks: Vec<(f64, f64)> = of_class(&tree, "ticks")
        .iter()
        .flat_map(Node::children)
        .filter(|node| node.has_tag_name("text"))
        .map(|label| (label.text().unwrap().parse::<f64>().unwrap() * DAY, number(&label, "x")))
        .collect();
    assert_eq!(ticks.len(), 11, "{ticks:?}");
    assert!(ticks.iter().all(|(time, x)| (at(*time) - x).abs() <= 0.1), "{ticks:?}");
    assert_eq!(of_class(&tree, "axis")[0].first_element_child().unwrap().text(), Some("time (d)"));
    // So are bars, flags and the window, bars to a thousandth of a pixel and as wide as they last.
    let bars: Vec<(f64, f64)> = zoom
        .children()
        .filter(|node| node.children().any(|child| child.has_tag_name("title")))
        .map(|bar| rectangle(&bar))
        .collect();
    let expected = [(DAY, 3.0 * DAY), (5.0 * DAY, 5.0 * DAY + 60.0)];
    for ((x, width), (begin, end)) in bars.iter().zip(expected) {
        assert!(
            (x / fine - at(begin)).abs() < 0.1 && (width / fine - (at(end) - at(begin))).abs() < 0.002,
            "{bars:?}"
        );
    }
    assert_eq!(bars.len(), 2);
    let flags: Vec<f64> = of_class(&tree, "flag").iter().map(|flag| number(flag, "data-x")).collect();
    assert!(
        flags.len() == 2
            && (flags[0] - at(2.0 * DAY)).abs() <= 0.1
            && (flags[1] - at(4.0 * DAY)).abs() <= 0.1
    );
    let window = format!("f{}", Ink::Window.index());
    let shaded: Vec<_> = zoom.children().filter(|node| node.attribute("class") == Some(&*window)).collect();
    assert_eq!(shaded.len(), 2, "each strip is shaded");
    for (x, width) in shaded.iter().map(rectangle) {
        assert!((x / fine - at(DAY)).abs() < 0.1 && (width / fine - (at(9.0 * DAY) - at(DAY))).abs() < 0.1);
    }
    // The label of the first bar is outside of the group, where it keeps its shape.
    assert_eq!(of_class(&tree, "labels")[0].first_element_child().unwrap().text(), Some("7"));
}

#[test]
fn a_file_has_no_group_that_zooms_and_the_same_marks() {
    let svg = chart().svg(Paint::File(Theme::Light));
    assert!(!svg.contains("<g ") && !svg.contains("data-left"), "{svg}");
    for text in ["measured window", "scripted event", "<title>event 1</title>"] {
        assert_eq!(svg.matches(text).count(), 1, "{text} in {svg}");
    }
    assert_eq!(
        svg.matches(Ink::Window.hex(Theme::Light)).count(),
        2 + 2,
        "two strips, and a box in the legend"
    );
}

#[test]
fn marks_beyond_an_axis_are_not_drawn() {
    let marks = chart().marks;
    let on = |from: f64, to: f64| marks.on(&Axis::time(from * DAY, to * DAY));
    assert_eq!(on(3.0, 8.0).window, None, "a window that is the whole axis is no mark");
    assert_eq!(on(3.0, 8.0).events.iter().map(|event| event.number).collect::<Vec<_>>(), [2]);
    assert_eq!(on(8.0, 12.0).window, Some((8.0 * DAY, 9.0 * DAY)));
    assert!(on(9.5, 12.0).entries().is_empty() && on(9.5, 12.0).room() == 0);
    assert_eq!(on(0.0, 10.0).entries().len(), 2);
}

#[test]
fn a_flag_has_its_number_where_the_next_one_leaves_room() {
    let mut chart = chart();
    chart.marks.events = [(1, 0.0), (2, 0.02), (3, 5.0)]
        .map(|(number, day)| TimeEvent { at: day * DAY, number, what: format!("event {number}") })
        .into();
    let svg = chart.svg(Paint::Page);
    let tree = Document::parse(&svg).unwrap();
    let flags = of_class(&tree, "flag");
    let number = |flag: &Node<'_, '_>| {
        flag.children().find(|node| node.has_tag_name("text")).and_then(|node| node.text().map(str::to_owned))
    };
    assert_eq!(
        flags.iter().map(number).collect::<Vec<_>>(),
        [None, Some("2".to_owned()), Some("3".to_owned())]
    );
    assert_eq!(svg.matches("<title>event ").count(), 3);
}

#[test]
fn panels_share_their_axes() {
    let layer = |at: f64| TimeLayer {
        name: "in use".into(),
        ink: Ink::Series(0),
        style: TimeStyle::Area,
        points: vec![TimePoint { x: 0.0, low: at, mean: at, high: at }],
    };
    let chart = |count: u32| PanelsChart {
        title: "p".into(),
        x: Axis::time(0.0, 4.0 * DAY),
        y: Axis::linear("utilization (%)", 0.0, 100.0, false),
        panels: (1..=count).map(|at| (format!("site-{at}"), vec![layer(f64::from(at))])).collect(),
        labels: 0,
        marks: TimeMarks::default(),
    };
    for (count, columns) in [(1, 1), (3, 3), (4, 4), (5, 3), (24, 4)] {
        let svg = chart(count).svg(Paint::Page);
        let tree = Document::parse(&svg).unwrap();
        let names =
            tree.descendants().filter(|node| node.text().is_some_and(|text| text.starts_with("site-")));
        let rows: Vec<&str> = names.filter_map(|name| name.attribute("y")).collect();
        assert_eq!(rows.len(), count as usize);
        assert_eq!(rows.iter().filter(|y| *y == &rows[0]).count(), columns, "{count} panels");
        // One legend entry, one title an axis, and labels below the last panel of each column only.
        for (text, times) in [
            ("in use", 1),
            ("utilization (%)", 1),
            ("time (h)", 1),
            ("100", count.div_ceil(columns as u32) as usize),
        ] {
            assert_eq!(svg.matches(&format!(">{text}</text>")).count(), times, "{text} of {count} panels");
        }
        let labelled =
            of_class(&tree, "ticks").iter().filter(|ticks| ticks.first_element_child().is_some()).count();
        assert_eq!(labelled, columns, "{count} panels");
    }
    let numbers = chart(2).numbers();
    assert_eq!(numbers.rows[1], ["site-2, in use", "0", "2", "2", "2"]);
}
