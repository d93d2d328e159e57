//! Pages and pictures of runs and studies.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Ran, gridemu};

const FIVE: &str = "; MaxProcs: 8
1 0 0 100 4 -1 -1 4 120 -1 1 1 1 1 1 -1 -1 -1
2 10 0 60 6 -1 -1 6 60 -1 1 1 1 1 1 -1 -1 -1
3 20 0 80 2 -1 -1 2 100 -1 1 2 1 1 1 -1 -1 -1
4 30 0 90 4 -1 -1 4 50 -1 1 2 1 1 1 -1 -1 -1
5 40 0 30 2 -1 -1 2 40 -1 1 3 1 1 1 -1 -1 -1
";

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn at(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// A replay of five jobs in `run`.
    fn five(&self, more: &[&str]) -> Ran {
        fs::write(self.path("five.swf"), FIVE).unwrap();
        let (log, out) = (self.at("five.swf"), self.at("run"));
        gridemu(&[&["replay", &log, "--out", &out], more].concat())
    }

    fn page(&self, name: &str) -> String {
        checked(&fs::read_to_string(self.path(name)).unwrap())
    }
}

/// A page that loads nothing, in which every picture is well formed.
pub(super) fn checked(page: &str) -> String {
    // What pixels are coded as may be any word.
    let coded = page.split("base64,").map(|part| part.split_once('"').map_or(part, |(_, rest)| rest));
    let plain: String = std::iter::once(page.split("base64,").next().unwrap()).chain(coded.skip(1)).collect();
    for word in ["http", "//cdn", "@import", "src=\"", "NaN"] {
        assert!(!plain.contains(word), "the page has `{word}`: {}", around(&plain, word));
    }
    for link in page.split("href=\"").skip(1) {
        assert!(
            link.starts_with('#') || link.starts_with("data:"),
            "a link to {:?}",
            &link[..20.min(link.len())]
        );
    }
    let pictures: Vec<&str> =
        page.split("<svg ").skip(1).map(|rest| rest.split("</svg>").next().unwrap()).collect();
    for picture in &pictures {
        // Inside a page the name of the namespace is left out.
        let svg = format!("<svg xmlns=\"http://www.w3.org/2000/svg\" {picture}</svg>");
        roxmltree::Document::parse(&svg).unwrap();
    }
    assert_eq!(pictures.len(), page.matches("<figcaption>").count());
    page.to_owned()
}

fn around<'a>(page: &'a str, word: &str) -> &'a str {
    let at = page.find(word).unwrap_or(0);
    page.get(at.saturating_sub(60)..(at + 60).min(page.len())).unwrap_or("")
}

pub(super) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

/// The files of figures, each beside its numbers.
fn with_numbers(figures: &[&str], ending: &str) -> Vec<String> {
    figures.iter().flat_map(|name| ["csv", ending].map(|ending| format!("{name}.{ending}"))).collect()
}

#[test]
fn a_page_of_five_jobs_has_each_of_them_once() {
    let place = Place::new();
    place.five(&["--policy", "easy", "--idle", "40 W/core", "--busy", "90 W/core", "--price", "0.1"]).well();
    let ran = gridemu(&["report", &place.at("run"), "--svg", &place.at("svg")]);
    assert_eq!(ran.well().out, format!("{}\n", place.path("run/report.html").display()));
    let page = place.page("run/report.html");
    assert!(page.len() < 150_000, "{} bytes", page.len());
    for job in 1..=5 {
        assert_eq!(page.matches(&format!("<title>job {job}\n")).count(), 1, "job {job}");
    }
    for told in [
        "fingerprint",
        "Where it comes from",
        "killed at its estimate",
        "power (W)",
        "cost so far",
        "time (s)",
    ] {
        assert!(page.contains(told), "no `{told}`");
    }
    let pictures = [
        "cost",
        "ecdf-bounded-slowdown",
        "ecdf-response-time",
        "ecdf-wait",
        "gantt",
        "power",
        "queue",
        "utilization",
    ];
    assert_eq!(names(&place.path("svg")), with_numbers(&pictures, "svg"));
    let ran = gridemu(&["report", &place.at("run"), "--png", &place.at("png")]);
    if cfg!(feature = "png") {
        ran.well();
        assert_eq!(names(&place.path("png")), with_numbers(&pictures, "png"));
    } else {
        ran.ends(2, &["without the feature `png`", "cargo build --release --features png", "--svg"]);
    }
    let gantt = fs::read_to_string(place.path("svg/gantt.svg")).unwrap();
    assert!(gantt.contains("xmlns=\"http://www.w3.org/2000/svg\"") && gantt.contains("#ffffff"));
}

#[test]
fn a_theme_is_that_of_page_and_files() {
    let place = Place::new();
    place.five(&["--policy", "fcfs"]).well();
    let page = place.at("dark.html");
    gridemu(&["report", &place.at("run"), "--theme", "dark", "--out", &page, "--svg", &place.at("svg")])
        .well();
    assert!(place.page("dark.html").contains("<html lang=\"en\" data-theme=\"dark\">"));
    let gantt = fs::read_to_string(place.path("svg/gantt.svg")).unwrap();
    assert!(gantt.contains("#15181c") && !gantt.contains("#ffffff"));
}

#[test]
fn policies_stand_side_by_side_with_a_shortcut() {
    let place = Place::new();
    let page = format!("--report={}", place.at("all.html"));
    // The order is that of the command, not of the folders.
    let policies = ["--policy", "fcfs", "--policy", "easy", "--classes", "kettimuthu-4", &page];
    place.five(&policies).ends(0, &["the report is in"]);
    let page = place.page("all.html");
    assert!(page.contains("<h1>fcfs, easy</h1>"), "{}", around(&page, "<h1>"));
    for told in
        ["Gain and loss", "Schedule of fcfs", "Schedule of easy", "mean bounded slowdown", "longest queue"]
    {
        assert!(page.contains(told), "no `{told}`");
    }
}

/// What cannot be ranked has no heat map, but a sentence.
#[test]
fn gain_and_loss_are_drawn_only_of_the_same_jobs_that_ended_alike() {
    let place = Place::new();
    let run = |name: &str, log: &str, more: &[&str]| {
        fs::write(place.path("log.swf"), log).unwrap();
        let (log, out) = (place.at("log.swf"), place.at(name));
        gridemu(&[&["replay", &log, "--out", &out], more].concat()).well();
    };
    let said = |other: &str| {
        let svg = place.at(&format!("svg-{other}"));
        gridemu(&["report", &place.at("a"), &place.at(other), "--out", &place.at("two.html"), "--svg", &svg])
            .well();
        let drawn = names(Path::new(&svg)).iter().any(|name| name.starts_with("gain-"));
        (drawn, place.page("two.html"))
    };
    run("a", FIVE, &["--policy", "fcfs"]);
    run("alike", FIVE, &["--policy", "easy"]);
    assert!(said("alike").0);
    run("later", &FIVE.replace("5 40 0 30", "5 41 0 30"), &["--policy", "easy"]);
    let (drawn, page) = said("later");
    assert!(!drawn && page.contains("they are not runs of the same jobs"));
    // Job 4 is no longer killed at its estimate.
    run("ended", &FIVE.replace("4 30 0 90 4 -1 -1 4 50", "4 30 0 90 4 -1 -1 4 95"), &["--policy", "easy"]);
    let (drawn, page) = said("ended");
    assert!(
        !drawn && page.contains("the outcomes of some jobs differ"),
        "{}",
        around(&page, "Gain and loss")
    );
    // Of 300 jobs that come twice as fast as they can be done ever more wait.
    let many: String =
        (1..=300).map(|id| format!("{id} {} 0 20 8 -1 -1 8 20 -1 1 1 1 1 1 -1 -1 -1\n", id * 10)).collect();
    let many = format!("; MaxProcs: 8\n{many}");
    run("a", &many, &["--policy", "fcfs"]);
    run("unstable", &many, &["--policy", "easy"]);
    let (drawn, page) = said("unstable");
    assert!(!drawn && page.contains("is unstable, so its means depend on its length"));
}

#[test]
fn a_run_without_a_folder_leaves_only_its_page() {
    let place = Place::new();
    fs::write(place.path("five.swf"), FIVE).unwrap();
    let page = format!("--report={}", place.at("alone.html"));
    gridemu(&["replay", &place.at("five.swf"), "--policy", "easy", &page]).well();
    let text = place.page("alone.html");
    assert!(!text.contains("gridemu-report-"), "the page names a folder that is gone");
    assert_eq!(names(place.dir.path()), ["alone.html", "five.swf"]);
}

#[test]
fn a_large_run_is_a_raster_and_a_detail() {
    let place = Place::new();
    let out = place.at("large");
    gridemu(&["replay", "lublin[jobs=21000,load=0.8]", "--policy", "easy", "--out", &out, "--report"]).well();
    let page = place.page("large/report.html");
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(page.contains("data:image/png;base64,") && page.contains("id=\"gantt-detail\""));
    // The picture of all has no bars, that of a part a few hundred.
    assert!(
        (20..1_500).contains(&page.matches("<title>job ").count()),
        "{}",
        page.matches("<title>job ").count()
    );
}

#[test]
fn what_is_not_there_is_told() {
    let place = Place::new();
    place.five(&["--policy", "easy"]).well();
    fs::remove_file(place.path("run/segments.csv")).unwrap();
    gridemu(&["report", &place.at("run")]).well();
    assert!(place.page("run/report.html").contains("no segments.csv"));

    fs::write(place.path("none.swf"), "; MaxProcs: 2\n1 5 0 9 4 -1 -1 4 9 -1 1 1 1 1 1 -1 -1 -1\n").unwrap();
    gridemu(&["replay", &place.at("none.swf"), "--policy", "easy", "--out", &place.at("none"), "--report"])
        .well();
    let page = place.page("none/report.html");
    assert!(page.contains("No job ever ran") && page.contains("no job is measured"));
}

#[test]
fn names_of_others_are_text() {
    let place = Place::new();
    let name = "a <b> & \"c\".swf";
    fs::write(place.path(name), FIVE).unwrap();
    gridemu(&["replay", &place.at(name), "--policy", "easy", "--out", &place.at("run"), "--report"]).well();
    let page = place.page("run/report.html");
    assert!(!page.contains("<b> &") && page.contains("a &lt;b&gt; &amp; "), "{}", around(&page, "<h1>"));
}

#[test]
fn schedules_of_batsim_have_a_page() {
    let place = Place::new();
    place.five(&["--policy", "easy", "--batsim"]).well();
    let jobs = place.at("run/batsim/out_jobs.csv");
    gridemu(&["report", &jobs, "--out", &place.at("batsim.html")]).well();
    let page = place.page("batsim.html");
    for job in 1..=5 {
        assert_eq!(page.matches(&format!("<title>job {job}\n")).count(), 1, "job {job}");
    }
    assert!(page.contains("processors that were used") && page.contains("mean wait"));
}

/// A study of two policies at two loads with three seeds, in which one run unstable and one has failed.
fn study(place: &Place) -> String {
    let mut table = "run,policy,load,seed,status,jobs,completed,killed,failed,rejected,cancelled,unfinished,unstable,scenario_hash,fingerprint,error,mean_wait,cost\n".to_owned();
    let mut run = 0;
    for (policy, wait) in [("fcfs", 30.0), ("easy", 10.0)] {
        for load in [0.5, 0.9] {
            for seed in 1..=3 {
                run += 1;
                let unstable = policy == "fcfs" && load > 0.8 && seed == 2;
                table += &match (policy, load > 0.8, seed) {
                    ("easy", true, 3) => {
                        format!("{run},{policy},{load},{seed},failed,0,0,0,0,0,0,0,no,h,,it broke,,\n")
                    }
                    _ => format!(
                        "{run},{policy},{load},{seed},done,9,9,0,0,0,0,0,{},h,f,,{},{}\n",
                        if unstable { "yes" } else { "no" },
                        wait * load + f64::from(seed),
                        5.0 - wait / 10.0 + f64::from(seed) / 10.0
                    ),
                };
            }
        }
    }
    fs::create_dir_all(place.path("tiny.campaign")).unwrap();
    fs::write(place.path("tiny.campaign/results.csv"), table).unwrap();
    place.at("tiny.campaign")
}

#[test]
fn a_study_has_curves_and_fronts() {
    let place = Place::new();
    let store = study(&place);
    let page = place.at("study.html");
    gridemu(&["report", &store, "--out", &page, "--svg", &place.at("svg")]).well();
    let text = place.page("study.html");
    for told in [
        "<h1>tiny</h1>",
        "no mean (unstable or failed runs)",
        "Differences",
        "Not drawn: policy fcfs, load 0.9 (1 of 3 runs are unstable); policy easy, load 0.9 (1 of 3 runs failed).",
        "it broke",
        "a smoke test",
        "Pareto-optimal",
        "unstable",
        "no mean: 1 of 3 runs is unstable",
    ] {
        assert!(text.contains(told), "no `{told}`");
    }
    let pictures = [
        "curve-cost",
        "curve-mean-wait",
        "difference-cost",
        "difference-mean-wait",
        "pareto-load-0.5",
        "pareto-load-0.9",
    ];
    assert_eq!(names(&place.path("svg")), with_numbers(&pictures, "svg"));
    // One measure, one front.
    let table = format!("{store}/results.csv");
    let chosen =
        ["--measure", "mean_wait", "--pareto", "mean_wait,cost", "--within", "policy", "--along", "policy"];
    gridemu(&[&["report", &table, "--out", &page, "--svg", &place.at("front")], &chosen[..]].concat()).well();
    let pictures = ["curve-mean-wait", "difference-mean-wait", "pareto-policy-easy", "pareto-policy-fcfs"];
    assert_eq!(names(&place.path("front")), with_numbers(&pictures, "svg"));
}

#[test]
fn what_cannot_be_reported_is_refused() {
    let place = Place::new();
    let nowhere = place.at("nowhere");
    gridemu(&["report", &nowhere]).ends(2, &["nowhere", "hint: give a folder that"]);
    fs::create_dir(place.path("empty")).unwrap();
    gridemu(&["report", &place.at("empty")]).ends(2, &["no run in this folder", "hint:"]);

    place.five(&["--policy", "easy"]).well();
    let jobs = fs::read_to_string(place.path("run/jobs.csv")).unwrap();
    fs::write(place.path("run/jobs.csv"), &jobs[..jobs.len() - 20]).unwrap();
    gridemu(&["report", &place.at("run")]).ends(2, &["jobs.csv", "truncated", "hint:"]);
    fs::write(place.path("run/jobs.csv"), jobs).unwrap();
    fs::write(place.path("file"), "").unwrap();
    let there = place.at("file/report.html");
    gridemu(&["report", &place.at("run"), "--out", &there]).ends(1, &["cannot create the folder", "hint:"]);

    let store = study(&place);
    gridemu(&["report", &store, "--measure", "mean_wiat"]).ends(
        2,
        &[
            "no measure `mean_wiat` (did you mean `mean_wait`?)",
            "hint: it has these measures: mean_wait, cost",
        ],
    );
    gridemu(&["report", &store, "--along", "lood"]).ends(2, &["no axis `lood` (did you mean `load`?)"]);
    gridemu(&["report", &store, "--pareto", "cost"]).ends(2, &["give two measures"]);
    // What is for runs, and what is for campaigns.
    gridemu(&["report", &store, "--classes", "none"])
        .ends(2, &["is a campaign, and `--classes` is for runs"]);
    gridemu(&["report", &place.at("run"), "--measure", "mean_wait", "--along", "load"])
        .ends(2, &["is a run, and `--measure`, `--along` are for campaigns", "hint: leave it out"]);
    // What is not there is no run.
    let nowhere = gridemu(&["report", &place.at("nowhere"), "--measure", "mean_wait"]);
    nowhere.ends(2, &["nowhere", "hint:"]);
    assert!(!nowhere.err.contains("is a run"), "{}", nowhere.err);
    gridemu(&["report", &store, &place.at("run")]).ends(2, &["is a campaign", "hint: give it alone"]);
    fs::write(place.path("tiny.campaign/results.csv"), "run,seed\n1,x\n").unwrap();
    gridemu(&["report", &store]).ends(2, &["results.csv", "no column `status`", "hint:"]);
}
