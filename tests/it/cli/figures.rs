//! Figures of studies as files: their widths, formats and numbers.

use std::fs;
use std::path::Path;

use super::gridemu;

/// A study of three policies with four seeds, which differ far more than the policies do.
fn study(folder: &Path) -> String {
    let mut table = "run,policy,seed,status,jobs,completed,killed,failed,rejected,cancelled,unfinished,unstable,scenario_hash,fingerprint,error,mean_wait,utilization\n".to_owned();
    for (place, policy) in ["fcfs", "easy", "los[cs=7]"].into_iter().enumerate() {
        for seed in 1..=4 {
            let (run, wait) = (place * 4 + seed, seed * 1_000 - place * (20 + seed % 2));
            let busy = 0.5 + place as f64 / 100.0 + seed as f64 / 1_000.0;
            table += &format!("{run},{policy},{seed},done,9,9,0,0,0,0,0,no,h,f{run},,{wait},{busy}\n");
        }
    }
    let path = folder.join("results.csv");
    fs::write(&path, table).unwrap();
    path.display().to_string()
}

#[test]
fn figures_are_as_wide_as_columns_and_beside_their_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let (table, page) = (study(dir.path()), dir.path().join("page.html").display().to_string());
    for (width, millimetres) in [("single", "85mm"), ("double", "175mm")] {
        let folder = dir.path().join(width);
        let to = folder.display().to_string();
        gridemu(&["report", &table, "--out", &page, "--svg", &to, "--width", width]).well();
        for figure in ["curve-mean-wait", "difference-mean-wait", "pareto"] {
            let svg = fs::read_to_string(folder.join(figure).with_extension("svg")).unwrap();
            assert!(svg.contains(&format!("width=\"{millimetres}\"")), "{figure}: {svg}");
            let numbers = fs::read_to_string(folder.join(figure).with_extension("csv")).unwrap();
            assert!(numbers.lines().count() > 2 && numbers.contains("(s)"), "{figure}: {numbers}");
        }
    }
    // The differences of the waits of easy: -21, -20, -21 and -20 s.
    let numbers = fs::read_to_string(dir.path().join("single/difference-mean-wait.csv")).unwrap();
    let easy = numbers.lines().nth(1).unwrap();
    assert!(easy.starts_with("policy,easy,-20.5,-21.4"), "{numbers}");
    gridemu(&["report", &table, "--out", &page, "--width", "single"])
        .ends(2, &["`--width single` is the width of files", "hint: add `--svg DIR`"]);
}

#[test]
fn comparisons_are_drawn_of_studies_and_of_runs() {
    let dir = tempfile::tempdir().unwrap();
    let table = study(dir.path());
    let to = dir.path().join("figures");
    let folder = to.display().to_string();
    let ran = gridemu(&["compare", &table, "--baseline", "easy", "--measure", "mean_wait", "--svg", &folder]);
    assert!(ran.well().out.contains("fcfs, los[cs=7] against easy"), "the table is printed all the same");
    let svg = fs::read_to_string(to.join("difference-mean-wait.svg")).unwrap();
    for text in ["mean wait, difference to easy (s)", "fcfs", "los[cs=7]", "← better", "worse →"] {
        assert!(svg.contains(&format!(">{text}</text>")), "no `{text}` in {svg}");
    }
    let log = dir.path().join("log.swf");
    fs::write(&log, "; MaxProcs: 4\n1 0 0 90 3 -1 -1 3 90 -1 1 1 1 1 1 -1 -1 -1\n2 5 0 90 3 -1 -1 3 90 -1 1 1 1 1 1 -1 -1 -1\n3 9 0 60 1 -1 -1 1 60 -1 1 1 1 1 1 -1 -1 -1\n").unwrap();
    let (log, two) = (log.display().to_string(), dir.path().join("two").display().to_string());
    gridemu(&["replay", &log, "--policy", "fcfs", "--policy", "easy", "--out", &two]).well();
    gridemu(&["compare", &two, "--svg", &folder]).well();
    let svg = fs::read_to_string(to.join("difference-mean-bounded-slowdown.svg")).unwrap();
    assert!(svg.contains("difference to easy</text>") && svg.contains(">fcfs</text>"), "{svg}");
}

#[test]
fn a_pdf_has_the_size_of_its_figure() {
    let dir = tempfile::tempdir().unwrap();
    let (table, to) = (study(dir.path()), dir.path().join("pdf"));
    let folder = to.display().to_string();
    let ran = gridemu(&["compare", &table, "--measure", "mean_wait", "--pdf", &folder, "--width", "single"]);
    if cfg!(feature = "pdf") {
        ran.well();
        let file = fs::read(to.join("difference-mean-wait.pdf")).unwrap();
        let text = String::from_utf8_lossy(&file);
        // 85 mm are 240.94 points.
        let (_, size) = text.split_once("/MediaBox [0 0 ").unwrap();
        let width: f64 = size.split(' ').next().unwrap().parse().unwrap();
        assert!((width - 240.94).abs() < 0.02, "{width}");
    } else {
        ran.ends(2, &["without the feature `pdf`", "cargo build --release --features pdf", "--svg"]);
    }
}
