//! Ctrl-C: what a run that is stopped has kept, and what it says.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::{argument, gridemu};

/// Starts a run.
fn started(args: &[&str]) -> Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("gridemu"));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Presses Ctrl-C once a run has created `waits_for` and gone on for so many milliseconds, and returns what it said.
fn interrupted_after(args: &[&str], waits_for: &Path, millis: u64) -> String {
    let mut child = started(args);
    while !waits_for.exists() {
        assert!(child.try_wait().unwrap().is_none(), "{args:?} ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(millis));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{said}");
    said
}

/// Presses Ctrl-C.
fn interrupt(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
}

/// The rows of a table that were stopped are the first ones of the whole table.
fn begins(stopped: &Path, whole: &Path, table: &str) {
    let [stopped, whole] = [stopped, whole].map(|folder| fs::read_to_string(folder.join(table)).unwrap());
    assert!(stopped.lines().count() > 1 && stopped.ends_with('\n'), "{table}: {stopped}");
    assert!(whole.starts_with(&stopped) && whole != stopped, "{table}");
}

/// The number of jobs that had ended when the run was stopped, as it says.
fn ended_by_then(said: &str) -> usize {
    let before = said.split_once(" jobs had ended").unwrap().0;
    before.rsplit(' ').next().unwrap().replace(',', "").parse().unwrap()
}

/// The number of jobs in the files of a run.
fn rows_of_jobs(folder: &Path) -> usize {
    fs::read_to_string(folder.join("jobs.csv")).unwrap().lines().count() - 1
}

#[test]
fn a_run_without_a_store_says_what_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let [out, whole] = ["out", "whole"].map(|name| folder.path().join(name));
    let [out_path, whole_path] = [argument(&out), argument(&whole)];
    let run = ["run", "tests/it/scenarios/quickstart.toml", "--out"];
    let paced = [&run[..], &[&out_path, "--pace", "100000"]].concat();
    // On a busy machine nothing may have happened yet.
    let said = [300, 1_200, 3_000].into_iter().find_map(|millis| {
        let _ = fs::remove_dir_all(&out);
        let said = interrupted_after(&paced, &out.join("scenario.toml"), millis);
        let happened = fs::read_to_string(out.join("events.csv")).unwrap().lines().count() > 1;
        (happened && rows_of_jobs(&out) > 0).then_some(said)
    });
    let said = said.expect("something happens within seconds");
    for says in [
        "stopping; press again to stop at once",
        "error: stopped at ",
        " jobs had ended; it cannot be resumed, since it has no store of snapshots",
        &format!("jobs.csv, segments.csv, events.csv in `{}` hold all rows up to then", out.display()),
        "there is no summary.json",
        "hint: `--checkpoint STORE` takes snapshots",
    ] {
        assert!(said.contains(says), "{says}: {said}");
    }
    assert!(!out.join("summary.json").exists() && !out.join("run.lock").exists());
    gridemu(&[&run[..], &[&whole_path]].concat()).well();
    ["jobs.csv", "segments.csv", "events.csv"].iter().for_each(|table| begins(&out, &whole, table));
    assert_eq!(rows_of_jobs(&out), ended_by_then(&said), "{said}");
    // All of them: the next job ends at or after the time that is said.
    let at: f64 = said.split_once("up to then (").unwrap().1.split_once(" s)").unwrap().0.parse().unwrap();
    let end = |line: &str| line.split(',').nth(3).unwrap().parse::<f64>().unwrap();
    let [stopped, whole] = [&out, &whole].map(|folder| fs::read_to_string(folder.join("jobs.csv")).unwrap());
    assert!(end(stopped.lines().last().unwrap()) < at);
    assert!(end(whole.lines().nth(stopped.lines().count()).unwrap()) >= at);
}

#[test]
fn a_run_without_files_says_that_its_figures_are_lost() {
    let mut child =
        started(&["run", "tests/it/scenarios/quickstart.toml", "--pace", "1000", "--commands", "-"]);
    // The answer to a command says that the run has begun.
    let mut typed = child.stdin.take().unwrap();
    typed.write_all(b"nonsense\n").unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    lines.find(|line| line.contains("line 1 of standard input")).expect("it answers");
    interrupt(&child);
    let said: String = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    for says in ["error: stopped at ", "no store of snapshots; its figures are lost, and it wrote no files"] {
        assert!(said.contains(says), "{says}: {said}");
    }
}

#[test]
fn a_replay_without_a_store_says_what_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let log = "lublin[jobs=2000000,load=1.2]";
    let replay = ["replay", log, "--policy", "conservative", "--out", &argument(&out)];
    let said = interrupted_after(&replay, &out.join("scenario.toml"), 300);
    assert!(said.contains("it cannot be resumed") && said.contains("segments.csv"), "{said}");
    assert_eq!(rows_of_jobs(&out), ended_by_then(&said), "{said}");
}

#[test]
fn a_replay_of_several_policies_tells_of_those_that_ended() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let policies = ["--policy", "fcfs", "--policy", "easy", "--policy", "conservative"];
    let out_path = argument(&out);
    let replay = ["replay", "lublin[jobs=40000,load=1.2]", "--json", "--out", &out_path];
    let replay = [&replay[..], &policies[..]].concat();
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("gridemu"));
    let mut child = command.args(&replay).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !out.join("conservative").join("scenario.toml").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let of: Vec<_> = told.as_array().unwrap().iter().map(|run| run["jobs"].as_u64()).collect();
    assert_eq!(of, [Some(40_000); 2], "those that ended");
}

#[test]
fn a_run_with_a_store_takes_a_last_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let run =
        ["run", "tests/it/scenarios/quickstart.toml", "--pace", "100000", "--checkpoint", &argument(&store)];
    let said = interrupted_after(&run, &store.join("snapshot-00000001"), 300);
    for says in ["stopping after a last snapshot", "with everything saved in", "gridemu resume"] {
        assert!(said.contains(says), "{says}: {said}");
    }
    let facts = gridemu(&["snapshots", &argument(&store), "--json"]).json();
    let rows = facts["snapshots"].as_array().unwrap();
    assert!(rows.len() == 2 && rows[1]["at_s"].as_f64() > Some(1_000.0), "{facts}");
}

/// A run that its own intervals keep from advancing says which, and how far it has come when it is stopped.
#[test]
fn a_run_of_events_without_jobs_says_why() {
    for (set, says) in [
        (
            "broker.monitoring_interval=1 us",
            "each site reports every 1 us, and so many events may keep the run from advancing; 1 s or more",
        ),
        (
            "churn={up=\"exponential[mean=3 ms]\",down=\"exponential[mean=1 ms]\"}",
            "each machine leaves and comes back every 4 ms, and so many events",
        ),
    ] {
        let key = set.split_once('=').unwrap().0;
        let mut child = started(&["run", "configs/two-sites.toml", "--set", set]);
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let told = lines.find(|line| line.starts_with("warning: ")).expect("it tells while it runs");
        // It would never end.
        interrupt(&child);
        let said: Vec<String> = lines.collect();
        assert!(told.contains(key) && told.contains(says), "{told}");
        assert!(said.iter().any(|line| line.starts_with("error: stopped at ")), "{said:?}");
        assert_eq!(child.wait().unwrap().code(), Some(130), "{said:?}");
    }
}

/// Stops a run after its first snapshot, as a user would.
fn stopped_in_the_middle(run: &[&str], store: &Path) {
    let said = interrupted_after(run, &store.join("snapshot-00000001"), 300);
    assert!(said.contains("gridemu resume"), "{said}");
}

#[test]
fn what_was_asked_of_a_run_is_asked_of_the_resumed_one() {
    let folder = tempfile::tempdir().unwrap();
    let [out, store] = ["out", "store"].map(|name| folder.path().join(name));
    let [out_path, store_path] = [argument(&out), argument(&store)];
    let page = argument(&folder.path().join("page.html"));
    let report = format!("--report={page}");
    let run = ["run", "tests/it/scenarios/quickstart.toml", "--pace", "100000", "--out", &out_path];
    let more = ["--checkpoint", &store_path, "--trace", &report];
    stopped_in_the_middle(&[&run[..], &more].concat(), &store);
    // What a kill while the trace was written leaves.
    fs::write(out.join("trace.json.part"), "{").unwrap();

    gridemu(&["resume", &store_path]).well();
    assert!(!out.join("trace.json.part").exists());
    let trace = fs::read_to_string(out.join("trace.json")).unwrap();
    // The folder is named as seen from the page, as the run would have named it from wherever it was started.
    assert!(fs::read_to_string(&page).unwrap().contains("<td>out</td>"));

    // Of a run that has ended, what is missing is made again; and a trace of any folder.
    fs::remove_file(out.join("trace.json")).unwrap();
    let again = gridemu(&["resume", &store_path]);
    assert!(again.err.contains("is finished"), "{}", again.err);
    assert_eq!(fs::read_to_string(out.join("trace.json")).unwrap(), trace);
    fs::remove_file(out.join("trace.json")).unwrap();
    gridemu(&["trace", &out_path]).well();
    assert_eq!(fs::read_to_string(out.join("trace.json")).unwrap(), trace);

    // Files that are not those of the run any more are told.
    let jobs = fs::read_to_string(out.join("jobs.csv")).unwrap();
    fs::write(out.join("jobs.csv"), jobs.replacen('1', "2", 1)).unwrap();
    fs::remove_file(out.join("summary.json")).unwrap();
    let wrong = ["is finished", "jobs.csv has changed, summary.json is gone", "--checkpoint-anew"];
    gridemu(&["resume", &store_path]).ends(1, &wrong);

    let pageless = ["run", "tests/it/scenarios/quickstart.toml", "--checkpoint", &store_path, "--report"];
    gridemu(&pageless).ends(2, &["without a folder", "--out DIR"]);
}

#[test]
fn a_hang_up_that_is_ignored_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let mut command = Command::new("sh");
    let ignoring = "trap '' HUP; exec \"$0\" \"$@\"";
    let gridemu = assert_cmd::cargo::cargo_bin!("gridemu");
    command.args(["-c", ignoring]).arg(gridemu);
    command
        .args(["run", "tests/it/scenarios/quickstart.toml", "--pace", "100000", "--checkpoint"])
        .arg(&store);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    while !store.join("snapshot-00000001").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    let hung_up = Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap();
    assert!(hung_up.success());
    std::thread::sleep(Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none(), "it goes on");
    interrupt(&child);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
}
