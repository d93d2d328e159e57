use super::*;

/// An XML reader says whether it is well formed: that of the library that draws it.
fn well_formed(svg: &str) {
    let tree = resvg::usvg::Tree::from_str(svg, &resvg::usvg::Options::default());
    assert!(tree.is_ok(), "{:?}\n{svg}", tree.err());
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
        lost: false,
        killed: false,
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
        joins: Vec::new(),
        away: Vec::new(),
        groups: vec![(String::new(), Ink::Series(0))],
    };
    for paint in [Paint::Page, Paint::File(Theme::Light), Paint::File(Theme::Dark)] {
        let svg = chart.svg(paint).unwrap();
        well_formed(&svg);
        for job in 1..=3 {
            assert_eq!(svg.matches(&format!("<title>job {job}</title>")).count(), 1);
        }
    }
    let pixels = png(&chart.svg(Paint::File(Theme::Light)).unwrap(), 2.0).unwrap();
    assert_eq!(&pixels[1..4], b"PNG");
}
