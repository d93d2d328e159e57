use std::io::Read;

use super::*;

/// Asserts that an XML parser accepts the document.
fn well_formed(svg: &str) {
    let tree = roxmltree::Document::parse(svg);
    assert!(tree.is_ok(), "{:?}\n{svg}", tree.err());
}

/// Asserts that the document becomes a PNG and a PDF file with the features `png` and `pdf`, and that the error names the feature
/// without it.
fn becomes_pixels(svg: &str) {
    match png(svg, 2.0) {
        Ok(pixels) => assert_eq!(&pixels[1..4], b"PNG"),
        Err(error) => assert_eq!(error, ChartError::NotBuiltIn("png")),
    }
    match pdf(svg) {
        Ok(file) => assert!(file.starts_with(b"%PDF-1.") && file.ends_with(b"%%EOF")),
        Err(error) => assert_eq!(error, ChartError::NotBuiltIn("pdf")),
    }
}

fn bar(row: usize, from: f64, to: f64, procs: std::ops::Range<u32>, job: u64) -> GanttBar {
    GanttBar {
        row,
        from,
        to,
        ranges: vec![procs],
        group: 0,
        label: job.to_string(),
        title: format!("job {job}"),
        wasted: false,
        killed: false,
        overhead: false,
        grouped: false,
    }
}

#[test]
fn each_job_of_a_small_gantt_is_there_once() {
    let row = GanttRow { name: String::new(), part: String::new(), processors: 4, cores: 0, raster: None };
    let bars = vec![bar(0, 0.0, 10.0, 0..2, 1), bar(0, 0.0, 5.0, 2..4, 2), bar(0, 5.0, 20.0, 2..3, 3)];
    let chart = GanttChart {
        title: "a < b & c".to_owned(),
        x: Axis::time(0.0, 20.0),
        rows: vec![row],
        bars,
        suspended: Vec::new(),
        joins: Vec::new(),
        down: Vec::new(),
        groups: vec![(String::new(), Ink::Series(0))],
        marks: TimeMarks::default(),
        bands: Vec::new(),
    };
    for paint in [Paint::Page, Paint::File(Theme::Light), Paint::File(Theme::Dark)] {
        let svg = chart.svg(paint);
        well_formed(&svg);
        for job in 1..=3 {
            assert_eq!(svg.matches(&format!("<title>job {job}</title>")).count(), 1);
        }
    }
    becomes_pixels(&chart.svg(Paint::File(Theme::Light)));
}

/// A grid of fifty sites is not much taller than one of twelve: strips are low then, and only the time axis has labels.
#[test]
fn many_strips_are_low_and_have_no_labels_but_their_names() {
    let chart = |sites: usize| {
        let row = |at| GanttRow {
            name: format!("site-{at}"),
            part: String::new(),
            processors: 4,
            cores: 0,
            raster: None,
        };
        GanttChart {
            title: "many".to_owned(),
            x: Axis::time(1000.0, 2000.0),
            rows: (0..sites).map(row).collect(),
            bars: vec![bar(sites - 1, 1000.0, 2000.0, 0..4, 1)],
            suspended: Vec::new(),
            joins: Vec::new(),
            down: Vec::new(),
            groups: vec![(String::new(), Ink::Series(0))],
            marks: TimeMarks::default(),
            bands: Vec::new(),
        }
        .svg(Paint::File(Theme::Light))
    };
    let height = |svg: &str| {
        let rest = svg.split_once("height=\"").unwrap().1;
        rest.split_once('"').unwrap().0.parse::<f64>().unwrap()
    };
    let (few, many) = (chart(12), chart(50));
    well_formed(&many);
    assert!(height(&many) < 1.5 * height(&few), "{} and {}", height(&few), height(&many));
    assert!(many.contains(">site-49<") && few.contains(">4<") && !many.contains(">4<"));
}

/// Each chart, nearly empty.
fn bare() -> Vec<Box<dyn Chart>> {
    let size = (350, 300);
    vec![
        Box::new(EcdfChart { title: "e".into(), x: Axis::log("x", 1.0, 10.0), lines: Vec::new(), size }),
        Box::new(TimeChart {
            title: "t".into(),
            x: Axis::time(0.0, 1.0),
            y: Axis::linear("y", 0.0, 0.0, true),
            layers: vec![TimeLayer {
                name: "n".into(),
                ink: Ink::Wasted,
                style: TimeStyle::Area,
                points: Vec::new(),
            }],
            height: 100,
            labels: 60,
            marks: TimeMarks::default(),
        }),
        Box::new(HeatChart { title: "h".into(), rows: Vec::new(), columns: Vec::new(), panels: Vec::new() }),
        Box::new(CurvesChart {
            title: "c".into(),
            x: Axis::places("p", []),
            y: Axis::linear("y", 0.0, 1.0, false),
            curves: Vec::new(),
            apart: true,
            size,
        }),
        Box::new(SpreadChart {
            title: "s".into(),
            x: Axis::linear("x", 0.0, 0.0, false),
            rows: Vec::new(),
            value: "seed".into(),
            mark: "published".into(),
            width: 350,
        }),
        Box::new(ParetoChart {
            title: "p".into(),
            x: Axis::log_time("x", 0.0, 0.0),
            y: Axis::log("y", f64::NAN, f64::INFINITY),
            less_is_better: (true, false),
            points: Vec::new(),
            aside: Vec::new(),
            size,
        }),
        Box::new(RowsChart {
            title: "r".into(),
            of: "policy".into(),
            rows: Vec::new(),
            x: Axis::duration("wait", 0.0, 0.0),
            series: Vec::new(),
            zero: Some(("less".into(), "more".into())),
            aside: "aside".into(),
            width: 350,
        }),
        Box::new(GanttChart {
            title: "g".into(),
            x: Axis::time(0.0, 0.0),
            rows: Vec::new(),
            bars: Vec::new(),
            suspended: Vec::new(),
            joins: Vec::new(),
            down: Vec::new(),
            groups: Vec::new(),
            marks: TimeMarks::default(),
            bands: Vec::new(),
        }),
    ]
}

#[test]
fn charts_of_nothing_are_pictures_all_the_same() {
    for chart in bare() {
        for paint in [Paint::File(Theme::Dark), Paint::Print(Theme::Light, Column::Single)] {
            let svg = chart.svg(paint);
            well_formed(&svg);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            becomes_pixels(&svg);
        }
        let numbers = chart.numbers();
        assert!(numbers.rows.is_empty() && numbers.csv().ends_with('\n'), "{numbers:?}");
    }
}

#[test]
fn a_page_gets_classes_and_a_file_gets_colours() {
    let chart = TimeChart {
        title: "waiting".into(),
        x: Axis::time(0.0, 4.0),
        y: Axis::linear("jobs", 0.0, 2.0, true),
        layers: vec![TimeLayer {
            name: "waiting".into(),
            ink: Ink::Series(1),
            style: TimeStyle::Line,
            points: vec![
                TimePoint { x: 0.0, low: 0.0, mean: 0.0, high: 0.0 },
                TimePoint { x: 1.0, low: 2.0, mean: 2.0, high: 2.0 },
                TimePoint { x: 3.0, low: 1.0, mean: 1.0, high: 1.0 },
            ],
        }],
        height: 90,
        labels: 40,
        marks: TimeMarks::default(),
    };
    let page = chart.svg(Paint::Page);
    assert!(!page.contains('#') && !page.contains("http"), "{page}");
    insta::assert_snapshot!(chart.svg(Paint::File(Theme::Light)));
}

#[test]
fn what_has_no_place_on_the_axis_is_a_line_across() {
    let point = |x: f64, mean: f64| CurvePoint {
        x,
        mean: Some(mean),
        interval: Some((mean - 1.0, mean + 1.0)),
        single: Vec::new(),
        unstable: Vec::new(),
        title: format!("{mean}"),
    };
    let curve = |name: &str, number: u8, points: Vec<CurvePoint>, level: bool| Curve {
        name: name.into(),
        ink: Ink::Series(number),
        points,
        level,
    };
    let chart = CurvesChart {
        title: "mean wait by cs".into(),
        x: Axis::linear("cs", 1.0, 3.0, true),
        y: Axis::linear("mean wait (s)", 0.0, 10.0, false),
        curves: vec![
            curve("easy", 0, vec![point(0.0, 8.0)], true),
            curve("los", 1, vec![point(0.0, 6.0)], true),
            curve("delayed-los", 2, vec![point(1.0, 7.0), point(2.0, 4.0), point(3.0, 5.0)], false),
        ],
        apart: false,
        size: (350, 200),
    };
    let svg = chart.svg(Paint::File(Theme::Light));
    well_formed(&svg);
    insta::assert_snapshot!(svg);
}

#[test]
fn labels_that_have_no_room_are_left_out_evenly() {
    let chart = CurvesChart {
        title: "c".into(),
        x: Axis::time(0.0, 330.0 * 86_400.0),
        y: Axis::linear("y", 0.0, 1.0, false),
        curves: Vec::new(),
        apart: false,
        size: (260, 200),
    };
    let svg = chart.svg(Paint::Page);
    let shown = |day: u32| svg.contains(&format!(">{day}</text>"));
    let days: Vec<u32> = (0..=330).step_by(30).filter(|day| shown(*day)).collect();
    assert_eq!(days, [0, 60, 120, 180, 240, 300]);
}

#[test]
fn a_spread_is_a_box_with_whiskers_and_dots_and_a_mark() {
    let row = |name: &str, values: Vec<f64>, mark: f64, note: &str| SpreadRow {
        name: name.into(),
        values,
        mark: Some(mark),
        note: note.into(),
        title: name.into(),
    };
    let chart = SpreadChart {
        title: "greatest gain".into(),
        x: Axis::linear("greatest gain (%)", -10.0, 30.0, false),
        rows: vec![
            row("wait", vec![12.0, -4.0, 8.0, 20.0, 9.0, 13.0, 11.0, 10.0, 15.0], 25.0, ""),
            row("one", vec![5.0], 5.0, ""),
            row("utilization", Vec::new(), 3.1, "not measured: `x.swf` is not at hand"),
        ],
        value: "seed".into(),
        mark: "published".into(),
        width: 700,
    };
    for paint in [Paint::Page, Paint::File(Theme::Dark)] {
        well_formed(&chart.svg(paint));
    }
    let svg = chart.svg(Paint::File(Theme::Light));
    assert_eq!(svg.matches("h0").count(), 9 + 1 + 1, "a dot for each value, and one in the legend");
    insta::assert_snapshot!(svg);
    // A row with too many values for dots has none.
    let many = SpreadChart { rows: vec![row("many", (0..401).map(f64::from).collect(), 1.0, "")], ..chart };
    assert_eq!(many.svg(Paint::Page).matches("h0").count(), 0);
}

#[test]
fn the_figures_of_a_spread_are_values_by_rank() {
    let values: Vec<f64> = (0..=200).rev().map(f64::from).chain([f64::NAN]).collect();
    let spread = Spread { low: 5.0, lower: 50.0, median: 100.0, upper: 150.0, high: 195.0 };
    assert_eq!(Spread::of(&values), Some(spread));
    assert_eq!(Spread::of(&[3.0]).map(|spread| (spread.low, spread.high)), Some((3.0, 3.0)));
    assert_eq!(Spread::of(&[]), None);
}

#[test]
fn the_stairs_of_a_front_are_what_both_beat() {
    let point = |x: f64, y: f64| ParetoPoint {
        x,
        y,
        x_interval: None,
        y_interval: None,
        kind: "v".into(),
        ink: Ink::Series(0),
        front: true,
        knee: false,
        dominated_by: Vec::new(),
        label: "v".into(),
        title: String::new(),
    };
    let chart = ParetoChart {
        title: "p".into(),
        x: Axis::linear("x", 0.0, 10.0, false),
        y: Axis::linear("y", 0.0, 10.0, false),
        less_is_better: (true, true),
        points: vec![point(1.0, 9.0), point(5.0, 2.0)],
        aside: Vec::new(),
        size: (350, 300),
    };
    let svg = chart.svg(Paint::Page);
    assert_eq!(
        svg.matches("<circle").count(),
        2 * (2 + 1),
        "two points and one of the legend, each on a border"
    );
    assert!(!svg.contains("<g opacity") && !svg.contains(">knee<"), "{svg}");
    // One that is dominated is lighter, and the knee has a ring, here and in the legend.
    let dominated = ParetoPoint { front: false, dominated_by: vec!["v".into()], ..point(6.0, 9.5) };
    let knee = ParetoPoint { knee: true, ..point(2.0, 3.0) };
    let points = vec![point(1.0, 9.0), knee, point(5.0, 2.0), dominated];
    let marked = ParetoChart { points, ..chart.clone() };
    let svg = marked.svg(Paint::Page);
    assert_eq!(svg.matches("<circle").count(), 2 * (4 + 1) + 2);
    let lighter = svg.split_once("<g opacity").and_then(|(_, rest)| rest.split_once("</g>")).unwrap().0;
    assert_eq!(lighter.matches("<circle").count(), 2, "{lighter}");
    assert!(svg.contains(">knee</text>"), "{svg}");
    let ends: Vec<_> = marked.numbers().rows.into_iter().map(|row| row[8..].join(",")).collect();
    assert_eq!(ends, ["yes,no,,", "yes,yes,,", "yes,no,,", "no,no,v,"]);
    // The corner that both points dominate.
    let front = [(1.0, 9.0), (5.0, 2.0)];
    assert_eq!(chart.stairs(&front), [(1.0, 9.0), (5.0, 9.0), (5.0, 2.0)]);
    let more = ParetoChart { less_is_better: (true, false), ..chart };
    assert_eq!(more.stairs(&[(1.0, 2.0), (5.0, 9.0)]), [(1.0, 2.0), (5.0, 2.0), (5.0, 9.0)]);
}

#[test]
fn two_glances_at_a_raster() {
    // Ten seconds, four processors, 5 columns of two seconds and 2 rows of two processors.
    let mut raster = Raster::new(5, 2, 2, (0, 10_000_000), 4);
    raster.add(1_000_000, 5_000_000, 1..3, 1);
    let row = |row: u32| (0..5).map(|column| raster.share(column, row, 1)).collect::<Vec<f64>>();
    // One processor of each row: half of the row, for half of the first and the third column.
    assert_eq!(row(0), [0.25, 0.5, 0.25, 0.0, 0.0]);
    assert_eq!(row(1), row(0));
    assert_eq!(raster.share(1, 0, 0), 0.0);
    // The file has one chunk of data, in which each row begins with filter type 0.
    let file = raster.png(&[Ink::Series(0), Ink::Series(1)], Theme::Light);
    let [_, data, _] = &chunks(&file)[..] else { panic!("{file:?}") };
    let mut pixels = Vec::new();
    flate2::read::ZlibDecoder::new(&data[..]).read_to_end(&mut pixels).unwrap();
    assert_eq!(pixels.len(), 2 * (1 + 5 * 4));
    let (row, clear) = ([0xf0, 0x70, 0x10, 63, 0xf0, 0x70, 0x10, 127, 0xf0, 0x70, 0x10, 63], [0; 8]);
    assert_eq!(pixels[..21], pixels[21..]);
    assert_eq!(pixels[1..21], [&row[..], &clear].concat());
}

/// The contents of the chunks of a PNG file; asserts that their checksums are right.
fn chunks(file: &[u8]) -> Vec<&[u8]> {
    let mut rest = file.strip_prefix(b"\x89PNG\r\n\x1a\n").unwrap();
    let mut chunks = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk() {
        let (chunk, after) = after.split_at(4 + u32::from_be_bytes(*length) as usize);
        let (sum, after) = after.split_first_chunk().unwrap();
        let mut found = flate2::Crc::new();
        found.update(chunk);
        assert_eq!(found.sum(), u32::from_be_bytes(*sum));
        chunks.push(&chunk[4..]);
        rest = after;
    }
    chunks
}
