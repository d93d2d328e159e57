//! Forks at an instant at which no snapshot was taken.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::{argument, gridemu};

/// Every file under a folder, with its content.
fn content(folder: &str) -> BTreeMap<String, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![Path::new(folder).to_owned()]);
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(inner).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// The files of a future without what names the run's own snapshots or tells wall-clock times.
fn rows(folder: &str) -> BTreeMap<String, Vec<u8>> {
    let mut found = content(folder);
    found.retain(|name, _| !name.ends_with("scenario.toml") && !name.ends_with("summary.json"));
    found
}

/// What a fork says without what tells wall-clock times, notes, and the snapshot that it is from.
fn said(mut futures: Value) -> Value {
    let whole = &mut futures["grid"];
    for key in ["snapshot", "snapshot_at_s"] {
        whole["branch"].as_object_mut().unwrap().remove(key).expect("a branch says it");
    }
    for future in ["as_it_was", "changed"] {
        for key in ["read_s", "schedule_s", "write_s", "wall_s", "notes", "scenario_hash"] {
            whole[future].as_object_mut().unwrap().remove(key).expect("a summary says it");
        }
    }
    futures
}

/// Forks a run at `at`, once from a snapshot that was kept there and once from its first snapshot: nothing differs.
fn is_the_same(run: &[&str], at: &str, change: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let mut forked = Vec::new();
    for (name, keep) in [("kept", &["--checkpoint-keep-at", at][..]), ("not", &[])] {
        let [out, store, futures] =
            ["out", "store", "futures"].map(|part| argument(&folder.path().join(name).join(part)));
        let files = ["--out", &out, "--checkpoint", &store];
        gridemu(&[run, &files, keep].concat()).well();
        let whole = || {
            let mut whole = [content(&out), content(&store)];
            // The lock names the process that had it last.
            whole[1].remove("lock");
            whole
        };
        let before = whole();
        let fork = [&["fork", &store, "--at", at, "--json"][..], change].concat();
        let futures_of = gridemu(&[&fork[..], &["--out", &futures]].concat()).json();
        let branch = &futures_of["grid"]["branch"];
        assert_eq!(branch["snapshot_at_s"] == branch["at_s"], name == "kept", "{branch}");
        assert!(branch["jobs"].as_u64() > Some(0), "{branch}");
        let told = said(futures_of);
        if name == "not" {
            assert_eq!(said(gridemu(&fork).json()), told, "{run:?}: without files");
        }
        assert_ne!(told["grid"]["changed"]["fingerprint"], told["grid"]["as_it_was"]["fingerprint"]);
        let rows = rows(&futures);
        for (file, bytes) in self::rows(&out) {
            assert!(rows[&format!("as-it-was/{file}")] == bytes, "{run:?}: {file} as it was");
        }
        assert!(whole() == before, "{run:?}: a fork changes no run");
        forked.push((told, rows));
    }
    assert_eq!(forked[0].0, forked[1].0, "{run:?}");
    assert!(forked[0].1.len() > 3 && forked[0].1 == forked[1].1, "{run:?}: other files");
}

#[test]
fn a_grid_runs_on_to_the_fork() {
    let run = ["run", "tests/it/scenarios/quickstart.toml", "--set", "output.batsim=true"];
    is_the_same(&run, "3 d", &["--set", "broker.policy=random"]);
}

#[test]
fn a_grid_under_churn_runs_on_to_the_fork() {
    let run = ["run", "configs/churn.toml", "--set", "output.machines=true", "--set", "until=2 d"];
    is_the_same(&run, "100001 s", &["--set", "churn.up=exponential[mean=20 h]"]);
}

#[test]
fn a_replay_runs_on_to_the_fork() {
    let run = ["replay", "lublin[jobs=3000,load=0.9]", "--policy", "easy"];
    is_the_same(&run, "2.5 d", &["--policy", "fcfs"]);
}

#[test]
fn where_a_fork_is_from_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let store = argument(&folder.path().join("store"));
    let run = ["run", "tests/it/scenarios/quickstart.toml", "--checkpoint", &store];
    gridemu(&run).well();
    let told = gridemu(&["fork", &store, "--at", "3 d", "--set", "broker.policy=random"]);
    let heading = "quickstart: forked at 3 d (259200 s), run on from snapshot 1 at 0 s\n";
    assert!(told.well().out.starts_with(heading), "{}", told.out);
    // Beyond the end there is no state to fork, and what may not change is refused before anything runs.
    gridemu(&["fork", &store, "--at", "100 d"])
        .ends(2, &["the run is over at 10 d 1 h", "no state at 100 d", "the only snapshot is at 0 s"]);
    gridemu(&["fork", &store, "--at", "100 d", "--set", "seed=99"])
        .ends(2, &["workload", "random workloads need one of their own"]);
    // Nor does it touch the files of an earlier fork.
    let [store, files, out] = ["second", "files", "futures"].map(|name| argument(&folder.path().join(name)));
    let run = ["run", "tests/it/scenarios/quickstart.toml", "--checkpoint", &store, "--out", &files];
    gridemu(&run).well();
    gridemu(&["fork", &store, "--at", "9 d", "--set", "site.oslo.policy=easy", "--out", &out]).well();
    let summary = || fs::read(folder.path().join("futures/as-it-was/summary.json")).unwrap();
    let before = summary();
    gridemu(&["fork", &store, "--at", "100 d", "--out", &out]).ends(2, &["the run is over at 10 d 1 h"]);
    assert!(before == summary());
    let keep = ["--checkpoint-anew", "--checkpoint-keep-at", "3 d", "--checkpoint-keep-at", "6 d"];
    gridemu(&[&run[..], &keep].concat()).well();
    let says = ["is at 3 d, after 1 d", "there are snapshots at 3 d, 6 d", "--checkpoint-keep-at '1 d'"];
    gridemu(&["fork", &store, "--at", "1 d"]).ends(2, &says);
}

/// Commands belong to the past or to the future of a fork by their time, as they were carried out.
#[test]
fn commands_stay_at_their_times() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = argument(&folder.path().join("small.toml"));
    let text = fs::read_to_string("configs/two-sites.toml").unwrap().replace("jobs = 500", "jobs = 100");
    fs::write(&scenario, text).unwrap();
    let store = argument(&folder.path().join("store"));
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("gridemu"))
        .args(["run", &scenario, "--pace", "20000", "--json", "--checkpoint", &store, "--commands", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut typed = child.stdin.take().unwrap();
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(200));
        typed.write_all(b"submit delft procs=1 run=10min\n").unwrap();
    }
    drop(typed);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let times: Vec<f64> = said
        .lines()
        .filter_map(|line| line.split_once(", at ")?.1.split_once(" s of the run")?.0.parse().ok())
        .collect();
    assert_eq!(times.len(), 3, "{said}");
    let ended: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    for at in [times[0], times[0] + 0.000_001, (times[1] + times[2]) / 2.0, times[2] + 1.0] {
        let forked = gridemu(&["fork", &store, "--at", &format!("{at:.6} s"), "--json"]);
        assert!(!forked.err.contains("bug"), "{}", forked.err);
        for future in ["as_it_was", "changed"] {
            assert_eq!(forked.json()["grid"][future]["fingerprint"], ended["fingerprint"], "{at}: {future}");
        }
    }
}

/// Where nothing of the workload is drawn from the seed of the run, later draws can have another one.
#[test]
fn another_seed_is_of_later_draws() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"
        seed = 1
        [[site]]
        name = "a"
        machines = [{ class = "n", count = 8 }]
        policy = "easy"
        churn = { up = "exponential[mean=2 h]", down = "exponential[mean=20 min]" }
        workload = { poisson = { jobs = 200, every = "10 min", runtime = "30 min", size = "1..4", seed = 7 } }
    "#;
    let scenario = argument(&folder.path().join("own.toml"));
    fs::write(&scenario, text).unwrap();
    let store = argument(&folder.path().join("store"));
    gridemu(&["run", &scenario, "--checkpoint", &store]).well();
    let forked = gridemu(&["fork", &store, "--at", "12 h", "--set", "seed=2"]);
    assert!(forked.well().out.contains("seed of later draws: 2 instead of 1"), "{}", forked.out);
    gridemu(&["fork", &store, "--at", "12 h", "--set", "site.a.workload.poisson.seed=8"])
        .ends(2, &["its workload differs"]);
}

/// Two tasks of 1,000 s, each with a file of 6 MB that takes 6 s to a site with space for 10 MB: the second file waits until the first task has ended.
/// With space for both from 100 s on it comes at once, and the second task runs from 106 s; with less than a file takes there is no future.
#[test]
fn a_storage_has_more_space_from_a_fork_on() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = r#"
[[site]]
name = "ada"
machines = [{ class = "node", count = 2 }]
storage = { capacity = "10 MB" }
[network]
bandwidth = "8 Mbit/s"
[broker]
monitoring_interval = "0 s"
[checkpoint]
store = "store"
keep_at = ["100 s"]
[[workload]]
workflow = "two.json"
"#;
    let workflow = r#"{"name": "two", "schemaVersion": "1.5", "workflow": {"specification": {"tasks": [
{"name": "x", "id": "a", "parents": [], "children": [], "inputFiles": ["f1"], "outputFiles": []},
{"name": "x", "id": "b", "parents": [], "children": [], "inputFiles": ["f2"], "outputFiles": []}],
"files": [{"id": "f1", "sizeInBytes": 6000000}, {"id": "f2", "sizeInBytes": 6000000}]},
"execution": {"makespanInSeconds": 0, "executedAt": "2024-01-01T00:00:00Z", "tasks": [
{"id": "a", "runtimeInSeconds": 1000}, {"id": "b", "runtimeInSeconds": 1000}], "machines": []}}}"#;
    let (file, store) = (folder.path().join("run.toml"), argument(&folder.path().join("store")));
    fs::write(&file, scenario.replace("\"store\"", &format!("{store:?}"))).unwrap();
    fs::write(folder.path().join("two.json"), workflow).unwrap();
    gridemu(&["run", file.to_str().unwrap()]).well();
    let fork = |set: &str| gridemu(&["fork", &store, "--at", "100 s", "--set", set, "--json"]);
    let futures = fork("site.ada.storage.capacity=100 MB");
    futures.well();
    let json: Value = serde_json::from_str(&futures.out).unwrap();
    let text = json.to_string();
    assert!(text.contains("1106"), "{text}");
    fork("site.ada.storage.capacity=5 MB").ends(
        2,
        &[
            "task `a` reads and writes files of 6 MB",
            "the largest storage of a site that could run it, that of `ada`, has 5 MB",
            "give the storages of sites more `capacity`",
        ],
    );
}
