//! Forks of runs with workflows.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Ran, argument, gridemu};

/// A task: its type and name, its run time in seconds, and what it reads and writes.
type Task = (&'static str, u32, &'static [&'static str], &'static [&'static str]);

/// A workflow of these tasks, and of files with these sizes in bytes.
fn workflow(tasks: &[Task], files: &[(&str, u64)]) -> String {
    let writer = |file: &str| tasks.iter().find(|(.., writes)| writes.contains(&file)).map(|task| task.0);
    let specified = tasks.iter().map(|(name, _, reads, writes)| {
        let parents: Vec<&str> = reads.iter().filter_map(|file| writer(file)).collect();
        let children: Vec<&str> = (tasks.iter())
            .filter(|(_, _, reads, _)| reads.iter().any(|file| writes.contains(file)))
            .map(|task| task.0)
            .collect();
        json!({ "name": name, "id": name, "parents": parents, "children": children, "inputFiles": reads, "outputFiles": writes })
    });
    let specified: Vec<Value> = specified.collect();
    let executed: Vec<Value> =
        tasks.iter().map(|(name, run, ..)| json!({ "id": name, "runtimeInSeconds": run })).collect();
    let files: Vec<Value> =
        files.iter().map(|(file, size)| json!({ "id": file, "sizeInBytes": size })).collect();
    json!({ "name": "w", "schemaVersion": "1.5", "workflow": {
        "specification": { "tasks": specified, "files": files },
        "execution": { "makespanInSeconds": 0, "executedAt": "2024-01-01T00:00:00Z", "tasks": executed },
    } })
    .to_string()
}

/// A run that has ended, with a snapshot at 100 s.
struct Past(TempDir);

impl Past {
    fn of(scenario: &str, workflows: &[(&str, String)]) -> Self {
        let past = Self(tempfile::tempdir().unwrap());
        let file = past.file("run.toml");
        fs::write(&file, scenario).unwrap();
        workflows.iter().for_each(|(name, text)| fs::write(past.file(name), text).unwrap());
        let [store, out] = ["store", "out"].map(|name| past.file(name));
        gridemu(&["run", &file, "--out", &out, "--checkpoint", &store, "--checkpoint-keep-at", "100 s"])
            .well();
        past
    }

    fn file(&self, name: &str) -> String {
        argument(&self.0.path().join(name))
    }

    /// Forks it at 100 s.
    fn fork(&self, set: &str) -> Ran {
        let (store, futures) = (self.file("store"), self.file("futures"));
        gridemu(&["fork", &store, "--at", "100 s", "--set", set, "--out", &futures])
    }

    /// Columns of each task of its future under another setting, which is a legal one.
    fn tasks(&self, set: &str, columns: &[&str]) -> Vec<Vec<String>> {
        self.fork(set).well();
        let changed = self.file("futures/changed");
        gridemu(&["validate", &changed]).well();
        let table = fs::read_to_string(format!("{changed}/tasks.csv")).unwrap();
        let mut rows = table.lines().map(|line| line.split(',').collect::<Vec<&str>>());
        let header = rows.next().unwrap();
        let at = |column: &&str| header.iter().position(|name| name == column).expect("a column");
        let columns: Vec<usize> = columns.iter().map(at).collect();
        rows.map(|row| columns.iter().map(|at| row[*at].to_owned()).collect()).collect()
    }
}

/// A task that is still running at the fork.
fn long() -> String {
    workflow(&[("a", 1000, &[], &["f"]), ("b", 10, &["f"], &[])], &[("f", 1000)])
}

#[test]
fn every_setting_of_workflows_can_differ() {
    let scenario = r#"
[[site]]
name = "ada"
machines = [{ class = "node", count = 1 }]
[broker]
policy = "heft"
[[workload]]
workflow = "long.json"
"#;
    let past = Past::of(scenario, &[("long.json", long())]);
    for (set, says) in [
        ("transfer=lazy", "files leave: when their task is assigned instead of when it is known where"),
        ("lost=wait", "files of a site that has left: are waited for instead of are copied from elsewhere"),
        (
            "replan=rest",
            "planned anew is: all that has not been sent instead of what is lost and what waits for it",
        ),
        ("together=true", "when one arrives: all are planned together instead of it is planned by itself"),
        (
            "order=critical-path",
            "order of ready tasks: the critical path first instead of as they became ready",
        ),
        ("estimates=type-mean", "estimates: type-mean instead of exact"),
        ("error=0.5", "error of estimates: 0.5 instead of 0"),
    ] {
        let fork = past.fork(&format!("workflow.{set}"));
        assert!(fork.well().out.contains(says), "{set}: {}", fork.out);
    }
    let says = "workflows: place of stage-in and results would be site `ada` instead of the portal, but";
    past.fork("workflow.files=ada").ends(2, &[says]);
}

/// Three tasks of 1,000 s on one machine. The two that wait at the fork are more urgent than what arrives from 500 s on.
#[test]
fn what_waits_at_a_fork_is_as_urgent_as_what_comes() {
    let scenario = r#"
[[site]]
name = "ada"
machines = [{ class = "node", count = 1 }]
[network]
latency = "0 s"
[broker]
policy = "fastest-free"
monitoring_interval = "0 s"
[[workload]]
workflow = "long.json"
[[workload]]
workflow = "short.json"
count = 3
every = "500 s"
"#;
    let long = workflow(&[("a", 1000, &[], &[]), ("b", 1000, &[], &[]), ("c", 1000, &[], &[])], &[]);
    let past =
        Past::of(scenario, &[("long.json", long), ("short.json", workflow(&[("d", 10, &[], &[])], &[]))]);
    let ends = past.tasks("workflow.order=critical-path", &["task", "ended"]);
    let ends: Vec<&str> = ends.iter().filter(|row| row[0] != "d").map(|row| &*row[1]).collect();
    assert_eq!(ends, ["1000", "2000", "3000"]);
}

/// A fast site with a storage of 100 MB, and a slow one.
const STORED: &str = r#"
[[site]]
name = "slow"
machines = [{ class = "node", count = 2, speed = 0.1 }]
[[site]]
name = "fast"
machines = [{ class = "node", count = 4 }]
storage = { capacity = "100 MB" }
[network]
latency = "0 s"
bandwidth = "8 Mbit/s"
[broker]
policy = "POLICY"
[[workload]]
workflow = "two.json"
"#;

/// What has been planned for a site whose storage has too little space from the fork on goes elsewhere.
#[test]
fn what_is_planned_for_a_storage_that_becomes_too_small_goes_elsewhere() {
    let two = workflow(
        &[("a", 1000, &[], &["x"]), ("b", 200, &["x", "f"], &["r"])],
        &[("x", 1000), ("f", 80_000_000), ("r", 1000)],
    );
    let past = Past::of(&STORED.replace("POLICY", "heft"), &[("two.json", two)]);
    let set = |capacity: &str| format!("site.fast.storage.capacity={capacity}");
    let sites = |capacity: &str| past.tasks(&set(capacity), &["site"]).concat();
    assert_eq!(sites("90 MB"), ["fast", "fast"]);
    assert_eq!(sites("70 MB"), ["fast", "slow"]);
}

/// So does what waits for its files: the second file, of 80 MB, waits at the fork for the space that the first takes until 1,060 s.
#[test]
fn what_waits_for_space_that_it_will_never_have_goes_elsewhere() {
    let two = workflow(
        &[("a", 1000, &["f"], &[]), ("b", 1000, &["g"], &[])],
        &[("f", 60_000_000), ("g", 80_000_000)],
    );
    let past = Past::of(&STORED.replace("POLICY", "mct"), &[("two.json", two)]);
    let set = |capacity: &str| format!("site.fast.storage.capacity={capacity}");
    let tasks = |capacity: &str| past.tasks(&set(capacity), &["site", "started"]).concat();
    assert_eq!(tasks("90 MB"), ["fast", "60", "fast", "1140"]);
    assert_eq!(tasks("70 MB"), ["fast", "60", "slow", "180"]);
}

/// Task `c` waits at the fork for a file whose copy broke off when the site that it came from left, at 50 s. It is at another site, too.
#[test]
fn what_is_waited_for_is_copied_from_elsewhere_from_a_fork_on() {
    let scenario = r#"
until = "20 d"
[[site]]
name = "s0"
machines = [{ class = "node", count = 1, tags = ["c"] }]
[[site]]
name = "s1"
machines = [{ class = "node", count = 1, tags = ["a"] }]
[[site]]
name = "s2"
machines = [{ class = "node", count = 1, tags = ["b"] }]
[network]
latency = "0 s"
bandwidth = "800 Mbit/s"
[[network.link]]
between = ["s0", "s1"]
bandwidth = "8 Mbit/s"
[broker]
policy = "mct"
[workflow]
lost = "wait"
[[workload]]
workflow = "three.json"
tags = { a = "a", b = "b", c = "c" }
[[event]]
at = "50 s"
leave = "s1"
[[event]]
at = "5 d"
join = "s1"
"#;
    let tasks: &[Task] = &[("a", 10, &[], &["f"]), ("b", 500, &["f"], &[]), ("c", 50, &["f"], &[])];
    let past = Past::of(scenario, &[("three.json", workflow(tasks, &[("f", 100_000_000)]))]);
    for lost in ["copy", "again"] {
        let starts = past.tasks(&format!("workflow.lost={lost}"), &["task", "started"]).concat();
        assert_eq!(starts, ["a", "0", "c", "101", "b", "11"], "{lost}");
    }
    let starts = past.tasks("workflow.transfer=lazy", &["task", "started"]).concat();
    assert_eq!(starts, ["a", "0", "b", "11", "c", "432001"]);
}
