//! The fronts of a broker with several objectives: kept in a file, checked, explained and drawn.

use std::fs;
use std::path::{Path, PathBuf};

use gridemu::output::{FrontRow, RunFolder};
use gridemu::verify::Rule;
use insta::assert_snapshot;

use crate::cli::gridemu;
use crate::validating::{judged, legal};
use crate::validating_workflows::damage;

const MOJS: &str = "mojs[population=8,generations=4,interval=5 min]";

/// Ten jobs at once on a slow site and a fast one, which costs more and needs more power.
fn scenario(folder: &Path) -> String {
    let jobs = (1..=10)
        .map(|job| format!("{job} 0 -1 {run} 1 -1 -1 1 {run} -1 1 1 1 1 1 1 -1 -1\n", run = 100 * job));
    fs::write(folder.join("ten.swf"), format!("; MaxProcs: 4\n{}", jobs.collect::<String>())).unwrap();
    let text = format!(
        r#"
seed = 7
[[site]]
name     = "eco"
machines = [{{ class = "node", count = 2, cores = 1, busy = "100 W", price = "0.02/core-h" }}]
policy   = "fcfs"
[[site]]
name     = "fast"
machines = [{{ class = "node", count = 1, cores = 1, speed = 4.0, busy = "700 W", price = "0.2/core-h" }}]
policy   = "fcfs"
[broker]
policy              = "{MOJS}"
monitoring_interval = "1 min"
[[workload]]
log             = "ten.swf"
deadline        = "submit + 2 x estimate"
budget          = "2 x cost"
reference_price = "0.02/core-h"
"#
    );
    let file = folder.join("run.toml");
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

/// Runs it with these arguments; returns the folder of its files.
fn ran(folder: &Path, name: &str, more: &[&str]) -> PathBuf {
    let (file, out) = (scenario(folder), folder.join(name));
    gridemu(&[&["run", &file, "--out", out.to_str().unwrap()], more].concat()).well();
    out
}

fn text(out: &Path) -> String {
    fs::read_to_string(out.join("fronts.csv")).unwrap()
}

fn rows(out: &Path) -> Vec<FrontRow> {
    let rows = RunFolder::open(out).unwrap().fronts().unwrap().unwrap();
    assert_eq!(rows.others(), ["makespan_s", "idle_s", "lateness", "overspending", "energy_proc_s"]);
    rows.map(Result::unwrap).collect()
}

fn fingerprint(out: &Path) -> String {
    let summary: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(out.join("summary.json")).unwrap()).unwrap();
    summary["fingerprint"].as_str().unwrap().to_owned()
}

#[test]
fn the_front_of_each_planning_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let actors = ran(folder.path(), "actors", &[]);
    legal(&actors);
    let kept = rows(&actors);
    // Each column is on the page of the files.
    let page = include_str!("../../docs/output.md")
        .split("\n## ")
        .find(|part| part.starts_with("fronts.csv"))
        .unwrap();
    let listed: Vec<_> =
        page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(Some(&*listed.join(",")), text(&actors).lines().next());
    let plannings: Vec<&[FrontRow]> = kept.chunk_by(|one, other| one.planning == other.planning).collect();
    assert!(plannings.len() > 2 && plannings[0].len() > 2, "{kept:#?}");
    for (front, number) in plannings.iter().zip(1..) {
        assert_eq!((front[0].planning, front[0].chosen), (number, true));
        // With fewer schedules than the search may evaluate it looks at all of them.
        let all = 2_u64.pow(front[0].tasks as u32);
        assert_eq!(front[0].evaluations, all.min(32));
        assert!(
            front.len() <= if all > 32 { 8 } else { 32 }
                && front[0].at.as_secs_f64() >= (number - 1) as f64 * 300.0
        );
    }
    // The engine and the number of threads change no byte.
    let direct = ran(folder.path(), "direct", &["--engine", "direct"]);
    let threads = ran(folder.path(), "threads", &["--threads", "3"]);
    assert_eq!(text(&direct), text(&actors));
    assert_eq!(text(&threads), text(&actors));
    // What is not wanted is not written, and a policy with one objective has none; nothing else changes.
    let without = ran(folder.path(), "direct", &["--engine", "direct", "--set", "output.fronts=false"]);
    assert!(!without.join("fronts.csv").exists());
    assert_eq!(fingerprint(&without), fingerprint(&actors));
    legal(&without);
    let one = ran(folder.path(), "actors", &["--set", "broker.policy=mct", "--set", "output.fronts=true"]);
    assert!(!one.join("fronts.csv").exists());
}

#[test]
fn a_damaged_front_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let out = ran(folder.path(), "out", &[]);
    let whole = text(&out);
    let least = rows(&out)[0].objectives[0];
    let cases = [
        ("1,0,10,32,1,", "chosen", "", "planning 1: no schedule is chosen"),
        ("1,0,10,32,2,", "chosen", "yes", "planning 1: schedules 1 and 2 are chosen"),
        ("1,0,10,32,1,", "value", "99", "planning 1: schedule 1 is chosen with 99, and schedule 2 has"),
        ("1,0,10,32,2,", "point", "3", "schedule 3 is in the place of schedule 2"),
        ("1,0,10,32,2,", "tasks", "9", "differ in the number of tasks"),
    ];
    for (row, column, value, says) in cases {
        damage(&out, "fronts.csv", row, column, value);
        let broken = judged(&out).pop().unwrap().verdict.broken;
        let first = &broken[&Rule::Fronts].first;
        assert!(first.message.contains(says), "{row} {column}: {}", first.message);
        fs::write(out.join("fronts.csv"), &whole).unwrap();
    }
    // A schedule that is no better than the chosen one in any objective.
    let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
    let objectives = |line: &str| line.split(',').skip(7).map(str::to_owned).collect::<Vec<_>>().join(",");
    let (chosen, start) = (objectives(&lines[1]), lines[2].split(',').take(7).collect::<Vec<_>>().join(","));
    lines[2] = format!("{start},{chosen}");
    fs::write(out.join("fronts.csv"), lines.join("\n") + "\n").unwrap();
    let broken = judged(&out).pop().unwrap().verdict.broken;
    assert!(broken[&Rule::Fronts].first.message.contains("is no better than schedule"), "{broken:#?}");
    // A cell that is no number names its place.
    fs::write(out.join("fronts.csv"), whole.replacen(&least.to_string(), "soon", 1)).unwrap();
    gridemu(&["validate", out.to_str().unwrap()])
        .ends(2, &["fronts.csv:2: column `makespan_s`: `soon` is not a number"]);
}

/// Resumed from a snapshot in the middle, the file is the same; so is that of a fork until then.
#[test]
fn fronts_go_on_after_a_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let [store_path, futures] =
        ["store", "futures"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    let keep = [
        "--checkpoint",
        &store_path,
        "--checkpoint-keep-at",
        "450 s",
        "--set",
        "checkpoint.every_virtual=100 d",
    ];
    let out = ran(folder.path(), "out", &keep);
    let whole = text(&out);
    assert!(whole.lines().any(|line| line.starts_with("3,600,")), "{whole}");
    // What is behind the snapshot is written again.
    fs::remove_file(store.join("finished")).unwrap();
    fs::write(out.join("fronts.csv"), whole.clone() + "what was written after it\n").unwrap();
    gridemu(&["resume", &store_path]).ends(0, &["resumes from snapshot"]);
    assert_eq!(text(&out), whole);
    // Forks: as it was, with another policy, and back.
    let past: String = whole
        .lines()
        .filter(|line| !line.starts_with("3,"))
        .take_while(|line| !line.starts_with("4,"))
        .map(|line| format!("{line}\n"))
        .collect();
    let fork = |policy: &str| {
        let policy = format!("broker.policy={policy}");
        gridemu(&["fork", &store_path, "--at", "450 s", "--set", &policy, "--out", &futures]).well();
        let futures = Path::new(&futures);
        assert_eq!(text(&futures.join("as-it-was")), whole);
        legal(&futures.join("changed"));
        futures.join("changed")
    };
    assert!(!fork("mct").join("fronts.csv").exists(), "of the policy that goes on");
    let changed = text(&fork("mojs[population=4,generations=2,interval=1 min]"));
    assert!(changed.starts_with(&past) && changed.len() > past.len(), "{changed}");
    // A policy that takes over counts from 1, and what went before had no fronts.
    let one = folder.path().join("one");
    let anew =
        [&keep[..], &["--checkpoint-anew", "--set", "broker.policy=mct", "--set", "broker.in_flight=1"]]
            .concat();
    let one = { ran(folder.path(), one.file_name().unwrap().to_str().unwrap(), &anew) };
    assert!(!one.join("fronts.csv").exists());
    gridemu(&[
        "fork",
        &store_path,
        "--at",
        "450 s",
        "--set",
        &format!("broker.policy={MOJS}"),
        "--out",
        &futures,
    ])
    .well();
    let changed = Path::new(&futures).join("changed");
    legal(&changed);
    assert!(
        changed.join("fronts.csv").exists() && !Path::new(&futures).join("as-it-was/fronts.csv").exists()
    );
}

#[test]
fn an_assignment_is_explained_by_the_schedules_that_were_compared() {
    let folder = tempfile::tempdir().unwrap();
    let out = ran(folder.path(), "out", &[]);
    let path = out.to_str().unwrap();
    let shown = gridemu(&["explain", path, "--job", "9"]).well().out.clone();
    assert_snapshot!(shown, @"
    grid job 9: requests 1 processor, submitted at 0 s, started at 0 s, at once, completed at 900 s

    at 0 s the broker assigned it to eco (compromise of the objectives); it expected
      - eco: expected start 0 s, completion 900 s

    planning 1 compared 8 schedules of 10 tasks, the front of 32 that were evaluated; chosen by the
    least weighted sum of 5 objectives, each as a share of its reference
     schedule    at    start    completion   makespan   idle   lateness   overspending     energy   weighted
                                                  (s)    (s)                             (proc s)        sum
    ---------------------------------------------------------------------------------------------------------
     1, chosen   eco   0 s      900 s            975*      0     0.000*       0.00108      1,204       2.177
     2           eco   200 s    1100 s         1,100       0     0.000*       0.00103      1,182       2.279
     3           eco   500 s    1400 s         1,400       0     0.000*       0.00089      1,129       2.519
     4           eco   800 s    1700 s         1,700       0     0.000*       0.00072      1,064       2.746
     5           eco   700 s    1600 s         1,900       0     0.000*       0.00056      1,000       2.870
     6           eco   1300 s   2200 s         2,200       0     0.064        0.00042        946       3.175
     7           eco   1600 s   2500 s         2,500       0     0.153        0.00028        893       3.504
     8           eco   1600 s   2500 s         3,000       0     0.301        0.00000*       786*      4.031
    * the least of all compared schedules
    ");
    // It is the example of the page.
    let page = include_str!("../../docs/explaining.md");
    let indented: String =
        shown.lines().map(|line| format!("    {line}").trim_end().to_owned() + "\n").collect();
    assert!(page.contains(&indented), "docs/explaining.md has another one");
    // With every schedule; the front is that of the file.
    let all = gridemu(&["explain", path, "--job", "9", "--all"]).well().out.clone();
    let told = gridemu(&["explain", path, "--job", "9", "--json"]).json();
    let front = &told["assigned"][0]["front"];
    let planning = front["planning"].as_u64().unwrap();
    let kept: Vec<FrontRow> = rows(&out).into_iter().filter(|row| row.planning == planning).collect();
    let schedules = front["schedules"].as_array().unwrap();
    assert_eq!(schedules.len(), kept.len());
    for (schedule, row) in schedules.iter().zip(&kept) {
        assert_eq!(schedule["value"].as_f64(), Some(row.value));
        let objectives: Vec<f64> =
            schedule["objectives"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
        assert_eq!(objectives, row.objectives);
        assert!(all.contains(&format!("\n {}", row.point)), "{all}");
    }
    assert_eq!(front["objectives"][4]["column"], "energy_proc_s");
    assert_eq!(told["assigned"][0]["pool"], schedules[0]["pool"]);
    assert_eq!(told["assigned"][0]["compared"][0]["start_s"], schedules[0]["start_s"]);
}

#[test]
fn the_page_draws_a_front() {
    let folder = tempfile::tempdir().unwrap();
    let out = ran(folder.path(), "out", &[]);
    let path = out.to_str().unwrap();
    let [page, svg] = ["page.html", "svg"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    gridemu(&["report", path, "--out", &page, "--svg", &svg]).well();
    let html = fs::read_to_string(&page).unwrap();
    let kept = rows(&out);
    let most =
        kept.chunk_by(|one, other| one.planning == other.planning).map(<[FrontRow]>::len).max().unwrap();
    for said in
        ["Front of a decision", &format!("{} other schedules of the front", most - 1), "energy (proc s)"]
    {
        assert!(html.contains(said), "no `{said}`");
    }
    let numbers = fs::read_to_string(folder.path().join("svg/front.csv")).unwrap();
    assert!(
        numbers.starts_with("line,marked,makespan_s,idle_s,lateness,overspending,energy_proc_s\n1,yes,"),
        "{numbers}"
    );
    assert_eq!(numbers.lines().count(), most + 1);
    // Another planning, and none.
    gridemu(&["report", path, "--out", &page, "--planning", "2"]).well();
    assert!(fs::read_to_string(&page).unwrap().contains("shown is that of planning 2, at 5 min"));
    gridemu(&["report", path, "--out", &page, "--planning", "99"])
        .ends(2, &["no front of planning 99", "numbers up to"]);
    gridemu(&["report", path, path, "--planning", "1"]).ends(2, &["for one run"]);
    let without = ran(folder.path(), "out", &["--set", "output.fronts=false"]);
    gridemu(&["report", without.to_str().unwrap(), "--out", &page]).well();
    assert!(!fs::read_to_string(&page).unwrap().contains("Front of a decision"));
    gridemu(&["report", without.to_str().unwrap(), "--planning", "1"])
        .ends(2, &["no front of planning 1", "fronts.csv"]);
}
