//! Files that cannot come now, and what goes on meanwhile.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::{Ran, gridemu};

/// Two sites, 10 MB/s apart; `ada` has one processor and little space.
const SITES: &str = r#"
until = "20 d"
[[site]]
name = "ada"
machines = [{ class = "a", count = 1, tags = ["ada"] }]
policy = "easy"
storage = { capacity = "100 MB" }
[[site]]
name = "bob"
machines = [{ class = "b", count = 2, tags = ["bob"] }]
policy = "easy"
[network]
latency = "0 s"
bandwidth = "80 Mbit/s"
[broker]
policy = "mct"
monitoring_interval = "1 min"
"#;

/// A task: its name, its seconds, what it reads and what it writes. Its type is its first letter.
type Task<'a> = (&'a str, u64, &'a [&'a str], &'a [&'a str]);

/// A workflow of these tasks, with files of so many MB.
fn workflow(tasks: &[Task<'_>], files: &[(&str, u64)]) -> String {
    let listed = |parts: Vec<String>| parts.join(", ");
    let quoted = |names: &[&str]| listed(names.iter().map(|name| format!("{name:?}")).collect());
    let writes = |file: &&str| tasks.iter().find(|task| task.3.contains(file)).map(|task| task.0);
    let reads = |file: &&str| tasks.iter().filter(|task| task.2.contains(file)).map(|task| task.0).collect();
    let one = |(name, _, inputs, outputs): &Task<'_>| {
        let parents: Vec<&str> = inputs.iter().filter_map(writes).collect();
        let children: Vec<&str> = outputs.iter().flat_map::<Vec<&str>, _>(reads).collect();
        format!(
            r#"{{"name": "{}", "id": "{name}", "parents": [{}], "children": [{}], "inputFiles": [{}], "outputFiles": [{}]}}"#,
            &name[..1],
            quoted(&parts(parents)),
            quoted(&parts(children)),
            quoted(inputs),
            quoted(outputs)
        )
    };
    let runs = tasks.iter().map(|task| format!(r#"{{"id": "{}", "runtimeInSeconds": {}}}"#, task.0, task.1));
    let sizes =
        files.iter().map(|(name, mb)| format!(r#"{{"id": "{name}", "sizeInBytes": {}}}"#, mb * 1_000_000));
    format!(
        r#"{{"name": "w", "schemaVersion": "1.5", "workflow": {{"specification": {{"tasks": [{}], "files": [{}]}},
        "execution": {{"makespanInSeconds": 0, "executedAt": "2024-01-01T00:00:00Z", "tasks": [{}]}}}}}}"#,
        listed(tasks.iter().map(one).collect()),
        listed(sizes.collect()),
        listed(runs.collect())
    )
}

/// Each once.
fn parts(mut names: Vec<&str>) -> Vec<&str> {
    names.sort_unstable();
    names.dedup();
    names
}

/// Runs these workflows at these sites with these settings.
fn run(sites: &str, workflows: &[String], set: &[&str]) -> (tempfile::TempDir, PathBuf, Ran) {
    let folder = tempfile::tempdir().unwrap();
    let mut text = sites.to_owned();
    for (number, workflow) in workflows.iter().enumerate() {
        fs::write(folder.path().join(format!("{number}.json")), workflow).unwrap();
        let tags = ["a = \"ada\"", "b = \"bob\""].into_iter();
        let tags = tags.filter(|tag| workflow.contains(&format!(r#""name": "{}", "id""#, &tag[..1])));
        let tags = tags.collect::<Vec<_>>().join(", ");
        text += &format!("[[workload]]\nworkflow = \"{number}.json\"\ntags = {{ {tags} }}\n");
    }
    let (file, out) = (folder.path().join("run.toml"), folder.path().join("out"));
    fs::write(&file, text).unwrap();
    let set = set.iter().flat_map(|set| ["--set", *set]);
    let fixed = ["run", file.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let ran = gridemu(&fixed.into_iter().chain(set).collect::<Vec<&str>>());
    (folder, out, ran)
}

/// When each task started and ended, in seconds, by name.
fn ran(out: &Path) -> Vec<String> {
    let table = fs::read_to_string(out.join("tasks.csv")).unwrap();
    let columns: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let at = |name: &str| columns.iter().position(|column| *column == name).unwrap();
    let (task, started, ended) = (at("task"), at("last_start").max(at("started")), at("ended"));
    let mut rows: Vec<String> = table
        .lines()
        .skip(1)
        .map(|row| row.split(',').collect::<Vec<&str>>())
        .map(|row| format!("{} {} {}", row[task], row[started], row[ended]))
        .collect();
    rows.sort_unstable();
    rows
}

/// When each copy was asked for, began and ended, in seconds, by file, and what became of it.
fn copies(out: &Path) -> Vec<String> {
    let table = fs::read_to_string(out.join("transfers.csv")).unwrap();
    let rows = table.lines().skip(1).map(|row| row.split(',').collect::<Vec<&str>>());
    let mut rows: Vec<String> = rows.map(|row| [&row[1..2], &row[6..]].concat().join(" ")).collect();
    rows.sort_unstable();
    rows
}

/// By hand. `heft` plans b0 (10 s, at bob), then a1 (500 s, reads f1 of b0), then a2 (200 s, reads f2) at ada, in this order. f2 (60 MB) leaves at once. f1 (80 MB) has no space
/// beside it until a2 has ended, which is behind a1 in the plan and goes when the turn of a1 has come.
#[test]
fn a_planned_task_that_waits_for_space_does_not_hold_up_who_has_it() {
    let tasks: &[Task<'_>] =
        &[("b0", 10, &[], &["f1"]), ("a1", 500, &["f1"], &[]), ("a2", 200, &["f2"], &[])];
    let one = workflow(tasks, &[("f1", 80), ("f2", 60)]);
    for policy in ["heft", "peft", "cpop"] {
        let (_folder, out, done) =
            run(SITES, std::slice::from_ref(&one), &[&format!("broker.policy={policy}")]);
        done.well();
        assert_eq!(ran(&out), ["a1 218 718", "a2 10 210", "b0 0 10"], "{policy}");
    }
}

/// By hand. b0 writes f (90 MB) at bob, who leaves at 12 s, while it is copied to ada for a1, and is back after 5 days. a3 and a4 of another workflow do not wait for it.
#[test]
fn a_planned_task_whose_file_is_away_does_not_hold_up_others() {
    let first = workflow(&[("b0", 10, &[], &["f"]), ("a1", 50, &["f"], &[])], &[("f", 90)]);
    let second =
        workflow(&[("a2", 1, &[], &["g"]), ("a3", 100, &["g"], &[]), ("a4", 100, &["g"], &[])], &[("g", 1)]);
    let events = "[[event]]\nat = \"12 s\"\nleave = \"bob\"\n[[event]]\nat = \"5 d\"\njoin = \"bob\"\n";
    let (_folder, out, done) = run(&format!("{SITES}{events}"), &[first, second], &["broker.policy=heft"]);
    done.well();
    assert_eq!(ran(&out), ["a1 432009 432059", "a2 0 1", "a3 12 112", "a4 112 212", "b0 0 10"]);
}

/// By hand. c0 writes r (60 MB, a result) and f (30 MB) at bob, who leaves at 105 s for good. At ada, where stage-in lies, a2 has 60 MB, and a1 20 MB and no space for f until c0, which
/// runs again there, has written it. No copy of f is left that would begin when a2 has ended.
#[test]
fn a_copy_that_waits_for_space_is_given_up_when_its_file_is_made_there() {
    let tasks: &[Task<'_>] =
        &[("c0", 100, &[], &["r", "f"]), ("a1", 5000, &["f", "g"], &[]), ("a2", 1000, &["h"], &[])];
    let one = workflow(tasks, &[("r", 60), ("f", 30), ("g", 20), ("h", 60)]);
    let sites = SITES.replace("count = 1", "count = 4, speed = 0.5");
    let sites = format!(
        "{sites}[workflow]\nfiles = \"ada\"\nlost = \"again\"\n[[event]]\nat = \"105 s\"\nleave = \"bob\"\n"
    );
    let (_folder, out, done) = run(&sites, &[one], &["broker.monitoring_interval=0 s"]);
    done.well();
    assert_eq!(ran(&out), ["a1 305 10305", "a2 0 2000", "c0 0 100", "c0 105 305"]);
    assert_eq!(copies(&out), ["r 100 100 105 lost"]);
}

/// By hand. g (60 MB) leaves no space at ada for l (80 MB), which a3 reads, until a2 has ended. k (0 or 1 MB), written at 100, is the last file that a2 waits for: it overtakes l.
#[test]
fn the_last_file_that_a_task_waits_for_overtakes() {
    let tasks: &[Task<'_>] = &[
        ("a0", 10, &[], &["g"]),
        ("b1", 100, &[], &["k"]),
        ("b2", 20, &[], &["l"]),
        ("a2", 50, &["g", "k"], &[]),
        ("a3", 50, &["l"], &[]),
    ];
    for small in [0, 1] {
        let one = workflow(tasks, &[("g", 60), ("k", small), ("l", 80)]);
        let (_folder, out, done) = run(SITES, &[one], &[]);
        done.well();
        let (tenth, copy) =
            if small == 0 { ("", "k 100 100 100 arrived") } else { (".1", "k 100 100 100.1 arrived") };
        let at = |secs: u64| format!("{secs}{tenth}");
        let last = [format!("a2 {} {}", at(100), at(150)), format!("a3 {} {}", at(158), at(208))];
        assert_eq!(ran(&out)[1..3], last);
        assert_eq!(copies(&out), [copy.to_owned(), format!("l 20 {} {} arrived", at(150), at(158))]);
    }
}

/// By hand. b0 writes r (100 MB) at bob, who leaves at 15 s, before it is at the portal. No job is left. The run goes on until bob is back after an hour, by script, and r has come; if he
/// does not come back, it ends at once and says so.
#[test]
fn a_result_that_cannot_come_home_is_waited_for_or_told() {
    let one = workflow(&[("b0", 10, &[], &["r"])], &[("r", 100)]);
    let sites = format!("{SITES}[[event]]\nat = \"15 s\"\nleave = \"bob\"\n");
    let told = "1 result of workflows has not come home";
    let (_folder, out, done) = run(&sites, std::slice::from_ref(&one), &[]);
    assert!(done.well().out.contains(told), "{}", done.out);
    assert_eq!(copies(&out), ["r 10 10 15 lost"]);
    let back = format!("{sites}[[event]]\nat = \"1 h\"\njoin = \"bob\"\n");
    let (_folder, out, done) = run(&back, &[one], &[]);
    assert!(!done.well().out.contains(told), "{}", done.out);
    assert_eq!(copies(&out), ["r 10 10 15 lost", "r 3600 3600 3610 arrived"]);
}
