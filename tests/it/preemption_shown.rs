//! What a user sees of suspended jobs: the chart of the schedule and its numbers, the page, the summary, and explanations.

use std::fs;

use roxmltree::Document;

use crate::cli::gridemu;

/// Job 1 has all four processors from 0 s on, for 1000 s of work. Job 2 comes at 10 s for 100 s.
const TWO: &str = "; MaxProcs: 4
1 0 -1 1000 4 -1 -1 4 1000 -1 1 1 1 -1 1 -1 -1 -1
2 10 -1 100 4 -1 -1 4 100 -1 1 1 1 -1 1 -1 -1 -1
";

/// A processor of job 1 writes for 60 s and reads for 30 s.
const COSTS: &str = "[site.preemption]\nmemory = '60 MB'\nwrite = '1 MB/s'\nread = '2 MB/s'\n";

/// A run of jobs on four machines, in a folder with its page and figures.
struct Shown {
    folder: tempfile::TempDir,
    printed: String,
}

impl Shown {
    fn of(log: &str, policy: &str, costs: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let machines = "machines = [{ class = 'node', count = 4 }]";
        let site = format!(
            "[[site]]\nname = 'ada'\n{machines}\npolicy = '{policy}'\nworkload = {{ log = 'jobs.swf' }}\n{costs}"
        );
        fs::write(path("jobs.swf"), log).unwrap();
        fs::write(path("run.toml"), site).unwrap();
        let ran = gridemu(&["run", &path("run.toml"), "--out", &path("out")]);
        ran.well();
        gridemu(&["report", &path("out"), "--out", &path("page.html"), "--svg", &path("figures")]).well();
        Self { printed: ran.out, folder }
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    /// The rows of the chart: job, processors, start, end, state, failed.
    fn rows(&self) -> Vec<String> {
        let numbers = self.read("figures/gantt.csv");
        let mut table = csv::Reader::from_reader(numbers.as_bytes());
        let heads = table.headers().unwrap().clone();
        let columns = ["job", "processors", "start (s)", "end (s)", "state", "failed"];
        let at = columns.map(|name| heads.iter().position(|head| head == name).unwrap());
        let line = |row: csv::StringRecord| at.map(|at| row[at].to_owned()).join(",");
        table.records().map(|row| line(row.unwrap())).collect()
    }

    /// Attributes of the shape with this tooltip: opacity, dashes, and path.
    fn shape(&self, title: &str) -> (Option<f64>, bool, String) {
        let svg = self.read("figures/gantt.svg");
        let tree = Document::parse(&svg).unwrap();
        let mut titles = tree.descendants().filter(|node| node.has_tag_name("title"));
        let found = titles.find(|node| node.text().is_some_and(|text| text.starts_with(title)));
        let shape = found.unwrap_or_else(|| panic!("no `{title}` in {svg}")).parent().unwrap();
        let opacity = shape.attribute("opacity").map(|opacity| opacity.parse().unwrap());
        let hollow = shape.attribute("fill") == Some("none") && shape.has_attribute("stroke-dasharray");
        (opacity, hollow, shape.attribute("d").unwrap().to_owned())
    }
}

/// Every minute `ss` compares: at 120 s job 2 has waited for 110 s, and its expansion factor is (110 + 100) / 100 = 2.10, more than twice that of
/// job 1, 1.00. Job 1 writes until 180 s, job 2 runs until 280 s, job 1 reads until 310 s and has 880 s left.
#[test]
fn a_suspended_job_is_an_outline_between_its_pale_transitions() {
    let shown = Shown::of(TWO, "ss", COSTS);
    assert_eq!(
        shown.rows(),
        [
            "1,0-3,0,120,running,no",
            "1,0-3,120,180,in transition,no",
            "2,0-3,180,280,running,no",
            "1,0-3,280,310,in transition,no",
            "1,0-3,310,1190,running,no",
            "1,0-3,180,280,suspended,no",
        ]
    );
    let (opacity, hollow, outline) =
        shown.shape("job 1, suspended\nprocessors 0-3 of ada node\n180 s to 280 s (1 min 40 s)");
    assert!(hollow && opacity.is_some_and(|opacity| opacity > 0.8), "{opacity:?} {outline}");
    let (opacity, hollow, _) = shown.shape("job 1\nprocessors 0-3 of ada node\n120 s to 180 s (1 min)");
    assert_eq!((opacity, hollow), (Some(0.3), false), "it writes");
    let (opacity, hollow, box_of_2) = shown.shape("job 2\n");
    assert_eq!((opacity, hollow), (Some(0.92), false));
    // It lies where job 2 is, below its box.
    let svg = shown.read("figures/gantt.svg");
    assert!(svg.find(&outline) < svg.find(&box_of_2), "{svg}");
    let left = |data: &str| data.split(' ').next().unwrap().to_owned();
    assert_eq!(left(&outline), left(&box_of_2));
    for said in [">suspended</text>", ">suspending or resuming (pale)</text>"] {
        assert_eq!(svg.matches(said).count(), 1, "`{said}` in {svg}");
    }
}

/// Job 1 is suspended from 120 s to 280 s: 160 s.
#[test]
fn suspensions_are_told_in_words() {
    let shown = Shown::of(TWO, "ss", COSTS);
    let summary: serde_json::Value = serde_json::from_str(&shown.read("out/summary.json")).unwrap();
    let told = serde_json::json!({
        "suspensions": 1, "jobs": 1, "preempted": 1, "resumed": 1, "mean_s": 160.0, "longest_s": 160.0,
    });
    assert_eq!(summary["preemption"], told);
    let words = "1 of 1 jobs, at most 2 min 40 s, 2 min 40 s in the mean";
    assert!(shown.printed.contains(&format!(" suspensions      {words}\n")), "{}", shown.printed);
    let page = shown.read("page.html");
    for said in [&format!(" Suspensions: {words}."), "A dashed box is a suspended job"] {
        assert!(page.contains(said), "no `{said}` in the page");
    }
    let out = shown.folder.path().join("out").to_str().unwrap().to_owned();
    let explained = gridemu(&["explain", &out, "--job", "1"]);
    let said =
        "suspended at 120 s for job 2 (expansion factor 2.10 against 1.00), until 280 s (2 min 40 s)\n";
    assert!(explained.well().out.contains(said), "{}", explained.out);
    let told = &gridemu(&["explain", &out, "--job", "1", "--json"]).json()["suspensions"];
    let one =
        serde_json::json!([{ "at_s": 120.0, "cause": "for job 2 (2.10 against 1.00)", "resumed_s": 280.0 }]);
    assert_eq!(told, &one);
    let other = gridemu(&["explain", &out, "--job", "2"]);
    assert!(!other.well().out.contains("suspended at"), "{}", other.out);
}

/// Job 1 writes until 180 s for job 2, which gets all processors then; job 3 has come in between.
#[test]
fn what_is_being_suspended_and_for_whom_is_told() {
    let log = format!("{TWO}3 130 -1 1000 1 -1 -1 1 1000 -1 1 1 1 -1 1 -1 -1 -1\n");
    let shown = Shown::of(&log, "ss", COSTS);
    let out = shown.folder.path().join("out").to_str().unwrap().to_owned();
    let explained =
        |job: &str, at: &str| gridemu(&["explain", &out, "--job", job, "--at", at]).well().out.clone();
    let own = explained("2", "150 s");
    assert!(own.contains("running jobs are being suspended for it, the last of them until"), "{own}");
    let behind = explained("3", "150 s");
    for said in [
        "gets 4 processors, for which others are being suspended",
        "is being suspended on 4 processors until",
    ] {
        assert!(behind.contains(said), "no `{said}` in {behind}");
    }
    // No pass since 180 s: the next one that matters is that of 240 s, not of 180 s.
    let later = explained("3", "200 s");
    assert!(later.contains("and at 240 s it may"), "{later}");
}

/// Without costs the outline begins where the job ceases to run; others have none. Job 3 takes processor 3 at 0 s, and runs beside job 2.
#[test]
fn only_the_suspended_job_has_an_outline() {
    let log = "; MaxProcs: 4
1 0 -1 1000 3 -1 -1 3 1000 -1 1 1 1 -1 1 -1 -1 -1
2 10 -1 100 3 -1 -1 3 100 -1 1 1 1 -1 1 -1 -1 -1
3 0 -1 500 1 -1 -1 1 500 -1 1 1 1 -1 1 -1 -1 -1
";
    let shown = Shown::of(log, "ss", "");
    let mut rows = shown.rows();
    rows.sort();
    assert_eq!(
        rows,
        [
            "1,0-2,0,120,running,no",
            "1,0-2,120,220,suspended,no",
            "1,0-2,220,1100,running,no",
            "2,0-2,120,220,running,no",
            "3,3,0,500,running,no",
        ]
    );
    let svg = shown.read("figures/gantt.svg");
    assert_eq!(svg.matches(", suspended\n").count(), 1, "{svg}");
    assert!(!svg.contains("suspending or resuming"), "{svg}");
}

/// Without preemption nothing is said of it.
#[test]
fn nothing_is_suspended_where_jobs_only_wait() {
    let shown = Shown::of(TWO, "easy", COSTS);
    assert_eq!(shown.rows(), ["1,0-3,0,1000,running,no", "2,0-3,1000,1100,running,no"]);
    for name in ["figures/gantt.svg", "out/summary.json"] {
        let text = shown.read(name);
        assert!(!text.contains("suspended") && !text.contains("\"preemption\""), "{name}: {text}");
    }
    assert!(!shown.printed.contains("suspensions"), "{}", shown.printed);
    assert!(!shown.read("page.html").contains("Suspensions"));
}
