//! Forks of runs whose broker is a program: what it was told before it is told again, and the run's own conversation stays as it is.

use std::fs;
use std::path::Path;

use super::resumed::TURNS;
use super::{CHURN, PLAIN, assert_same, has, ran, written};
use crate::cli::{Ran, gridemu};

const MCT: &str = concat!("python3 ", env!("CARGO_MANIFEST_DIR"), "/examples/brokers/mct.py");

/// Runs with a snapshot an hour, of which those of 3 h and 5 h stay. Returns the folders of its files and of its snapshots.
fn stored(folder: &Path, name: &str, broker: &str) -> (String, String) {
    let store = folder.join(format!("{name}-store")).display().to_string();
    let mut options = vec!["--broker", broker, "--checkpoint", &store, "--checkpoint-keep-at", "3 h"];
    options.extend(["--checkpoint-keep-at", "5 h", "--set", "checkpoint.every=none"]);
    let (ran, out) = ran(folder, name, &format!("{PLAIN}{CHURN}"), &options);
    ran.well();
    (out.display().to_string(), store)
}

/// Forks a run. Returns what was printed and the folder of both futures.
fn forked(folder: &Path, store: &str, at: &str, options: &[&str]) -> (Ran, std::path::PathBuf) {
    let out = folder.join(format!("{}-fork", store.rsplit('/').next().unwrap()));
    let _ = fs::remove_dir_all(&out);
    let mut args = vec!["fork", store, "--at", at, "--out"];
    let path = out.display().to_string();
    args.push(&path);
    args.extend(options);
    (gridemu(&args), out)
}

/// The twin of `mct` and `mct` have the same futures, and so has a run that goes from one to the other.
#[test]
fn the_twin_of_mct_has_its_futures() {
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (twin, twin_store) = stored(folder.path(), "twin", MCT);
    let (_, own_store) = stored(folder.path(), "own", "mct");
    let conversation = || fs::read(Path::new(&twin_store).join("conversation")).unwrap();
    let before = conversation();
    let fcfs = ["--set", "site.a.policy=fcfs"];
    // At a snapshot, and between two.
    for at in ["3 h", "4.3 h"] {
        let (ran, out) = forked(folder.path(), &twin_store, at, &fcfs);
        ran.well();
        let (other, expected) = forked(folder.path(), &own_store, at, &fcfs);
        other.well();
        assert_same(&out.join("as-it-was"), Path::new(&twin));
        assert_same(&out.join("changed"), &expected.join("changed"));
        let jobs = |folder: &Path| fs::read(folder.join("jobs.csv")).unwrap();
        assert_ne!(jobs(&out.join("changed")), jobs(Path::new(&twin)));
    }
    let named = format!("program `{MCT}`");
    for (store, broker, told) in
        [(&twin_store, "mct", "`mct` instead of "), (&own_store, MCT, " instead of `mct`")]
    {
        let (ran, out) = forked(folder.path(), store, "5 h", &["--broker", broker]);
        ran.well();
        assert!(ran.out.contains(told) && ran.out.contains(&named), "{}", ran.out);
        let changed = out.join("changed");
        assert_same(&changed, Path::new(&twin));
        // What is written of the changed scenario reads back.
        gridemu(&["validate", changed.to_str().unwrap()]).well();
    }
    assert!(conversation() == before, "the run's own conversation stays");
}

/// A policy in the place of the program that a scenario names leaves out all that is about it, in the store as well.
#[test]
fn a_policy_takes_the_place_of_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let command =
        "[broker]\ncommand = [\"python3\", \"nowhere.py\"]\nfallback = \"mct\"\ntimeout = \"3 s\"\n";
    let scenario = written(folder.path(), "named.toml", &PLAIN.replace("[broker]\n", command));
    let [store, out] = ["store", "out"].map(|name| folder.path().join(name).display().to_string());
    gridemu(&["run", &scenario, "--broker", "pull", "--out", &out, "--checkpoint", &store]).well();
    gridemu(&["validate", &out]).well();
    gridemu(&["fork", &store, "--at", "1 h", "--set", "site.a.policy=fcfs"]).well();
    let shown = gridemu(&["check", "--show", &scenario, "--set", "broker.command=none"]);
    assert!(!shown.well().out.contains("fallback"), "{}", shown.out);
    gridemu(&["run", &scenario, "--broker", "mtc"]).ends(
        2,
        &["there is no broker policy `mtc`; there are", "no program of this name in the folders of PATH"],
    );
}

/// A program without `save` is told its past again, and would go on as if it had decided by the changed scenario.
#[test]
fn a_program_that_judges_the_past_otherwise_is_refused() {
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let first = r#"
import json, sys
for line in sys.stdin:
    q = json.loads(line)
    if "hello" in q:
        far = q["hello"]["pools"][0]["latency"] > 1000000
        answer = {"hello": {"version": 1, "name": "far", "mode": "immediate", "gate": "fits"}}
    else:
        fits = [c["pool"] for c in q["choices"] if "end" in c]
        answer = {"answer": q["ask"]}
        if fits: answer["plan"] = [{"id": q["ask"], "task": q["task"], "assign": fits[-1 if far else 0]}]
        if "save" in sys.argv: answer["save"] = "nothing"
    print(json.dumps(answer), flush=True)
"#;
    let script = written(folder.path(), "far.py", first);
    let far = ["--set", "network.latency=2 s"];
    let (_, store) = stored(folder.path(), "history", &format!("python3 {script}"));
    forked(folder.path(), &store, "4 h", &far)
        .0
        .ends(1, &["the changed future", "since it judges the past by the changed scenario", "with `save`"]);
    let (_, store) = stored(folder.path(), "saving", &format!("python3 {script} save"));
    forked(folder.path(), &store, "4 h", &far).0.well();
}

/// A program whose decisions depend on all that it has decided, with what it gave to be saved and with history.
#[test]
fn a_program_goes_on_in_another_future() {
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = written(folder.path(), "turns.py", TURNS);
    let dearer = ["--set", "site.b.churn.on_failure=requeue", "--set", "site.c.policy=fcfs"];
    let mut futures = Vec::new();
    for how in ["save", "sometimes", "history"] {
        let (straight, store) = stored(folder.path(), how, &format!("python3 {script} {how} 0"));
        let (ran, out) = forked(folder.path(), &store, "4.3 h", &dearer);
        ran.well();
        assert_same(&out.join("as-it-was"), Path::new(&straight));
        // The program is told its past once, in the changed future; the unchanged one has all its answers.
        let again = ran.err.matches("turns: again").count();
        match how {
            "save" => assert_eq!(again, 0, "{}", ran.err),
            "sometimes" => assert!(again < 17, "{}", ran.err),
            _ => assert!(again > 17, "{}", ran.err),
        }
        futures.push(out.join("changed"));
        let jobs = |folder: &Path| fs::read(folder.join("jobs.csv")).unwrap();
        assert_ne!(jobs(&out.join("changed")), jobs(Path::new(&straight)));
    }
    futures.iter().skip(1).for_each(|other| assert_same(&futures[0], other));
    let other = format!("python3 {script} other 0");
    let (refused, _) = forked(
        folder.path(),
        &format!("{}/save-store", folder.path().display()),
        "4 h",
        &["--broker", &other],
    );
    refused.ends(2, &["another program cannot go on with the conversation"]);
}
