//! What is typed on the command line: options are checked before the run, errors show them as typed, and finished work is never
//! lost.

use std::fs;

use super::{argument, file, gridemu, log, row};

const QUICK: &str = "tests/it/scenarios/quickstart.toml";
const TINY: &str = "lublin[jobs=50]";

#[test]
fn a_page_that_cannot_be_written_is_refused_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, plain) = (argument(folder.path()), file(folder.path(), "plain", "text"));
    let (as_folder, inside) = (format!("--report={dir}"), format!("--report={plain}/page.html"));
    for (option, says) in [
        (&as_folder, "it is a folder\nhint: give a file, such as `--report="),
        (&inside, "plain` is not a folder"),
    ] {
        for args in [&["run", QUICK, option][..], &["replay", TINY, "--policy", "easy", "--json", option]] {
            let ran = gridemu(args);
            ran.ends(2, &["error: cannot write the page `", says]);
            assert_eq!(ran.out, "", "{}", ran.args);
        }
    }
}

/// A page that turns out to be impossible only after the run costs the page, not the result.
#[test]
fn the_result_comes_before_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("--report={}/{}.html", argument(folder.path()), "x".repeat(300));
    for args in [&["run", QUICK, "--json", &long][..], &["replay", TINY, "--policy", "easy", "--json", &long]]
    {
        let ran = gridemu(args);
        ran.ends(1, &["error: cannot write `"]);
        let _: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    }
}

#[test]
fn errors_show_options_as_they_were_typed() {
    for (options, says) in [
        (
            &["--idle", "40 W/core"][..],
            "error: `--idle 40 W/core`: 40 W/core idle is more than 0 W/core busy",
        ),
        (&["--allocation-unit", "0"], "error: `--allocation-unit 0`: an allocation unit of 0 does not fit"),
        (
            &["--reserve", "4h..2h:3"],
            "error: `--reserve 4h..2h:3`: it ends at 2 h, not after its start at 4 h",
        ),
        (
            &["--reserve", "1h..2h:3", "--reserve", "2h..4h:999"],
            "error: `--reserve 2h..4h:999`: it requests 999 of 128 processors\nhint: write `--reserve FROM..TO:PROCS`",
        ),
        (&["--quantum", "4"], "this option is now called `--allocation-unit`"),
    ] {
        gridemu(&[&["replay", TINY, "--policy", "easy"], options].concat()).ends(2, &[says]);
    }
    gridemu(&["replay", TINY, "--policy", "esy"])
        .ends(2, &["error: `--policy esy`: there is no local policy `esy`"]);
    gridemu(&["run", QUICK, "--threads", "0"]).ends(2, &["it must be a whole number from 1 to 1024"]);
}

/// The paths of `--out` and `--checkpoint` are paths, whatever they look like.
#[test]
fn paths_that_look_like_toml() {
    let folder = tempfile::tempdir().unwrap();
    let quick = argument(&fs::canonicalize(QUICK).unwrap());
    let runs: [&[&str]; 2] = [&["run", &quick], &["replay", TINY, "--policy", "easy"]];
    for (out, store) in [("[x]", "{s}"), ("{a=1}", "[s]"), ("\"q\"", "'s'")] {
        for args in runs {
            let all = [args, &["--out", out, "--checkpoint", store, "--checkpoint-anew"]].concat();
            let mut command = assert_cmd::cargo::cargo_bin_cmd!("gridemu");
            let done = command.current_dir(folder.path()).args(&all).output().unwrap();
            assert!(done.status.success(), "{all:?}: {}", String::from_utf8_lossy(&done.stderr));
            assert!(folder.path().join(out).join("jobs.csv").is_file(), "{all:?}");
            assert!(folder.path().join(store).is_dir(), "{all:?}");
            fs::remove_dir_all(folder.path().join(out)).unwrap();
        }
    }
}

/// Ctrl-C removes the folder of a run that has none of its own.
#[test]
fn a_run_that_is_stopped_leaves_no_folder() {
    let temporary = tempfile::tempdir().unwrap();
    let page = temporary.path().join("page.html");
    let mut run = std::process::Command::new(assert_cmd::cargo::cargo_bin!("gridemu"))
        .args(["run", QUICK, "--pace", "1", &format!("--report={}", page.display())])
        .env("TMPDIR", temporary.path())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let scratch = || {
        let mut entries = fs::read_dir(temporary.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.find(|entry| entry.is_dir())
    };
    while !scratch().is_some_and(|folder| folder.join("jobs.csv").exists()) {
        assert_eq!(run.try_wait().unwrap(), None, "it ended");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let stopped = std::process::Command::new("kill").args(["-TERM", &run.id().to_string()]).status();
    assert!(stopped.unwrap().success());
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert_eq!(scratch(), None);
}

#[test]
fn values_without_effect_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let quick = fs::read_to_string(QUICK).unwrap();
    let scenario = |name: &str, more: &str| file(folder.path(), name, format!("{quick}\n{more}\n"));
    let files = scenario("files.toml", "[output]\nmachines = true");
    let snapshots = scenario("snapshots.toml", "[checkpoint]\nlast = 3\nevery = '1 min'");
    gridemu(&["run", &files]).ends(2, &["`output.machines`: the run writes no files\nhint: give a folder"]);
    gridemu(&["run", &snapshots]).ends(
        2,
        &[
            "`checkpoint.last`: the run takes no snapshots\nhint: give a folder",
            "`checkpoint.every`: the run",
        ],
    );
    gridemu(&["run", QUICK, "--checkpoint-every", "1 min"])
        .ends(2, &["error: `--checkpoint-every 1 min`: the run takes no snapshots"]);
    // An option may give the folder.
    for path in [&files, &snapshots] {
        gridemu(&["check", path]).well();
    }
    gridemu(&["run", &files, "--out", &argument(&folder.path().join("out"))]).well();
    gridemu(&["run", &files, &format!("--report={}", folder.path().join("page.html").display())]).well();
    gridemu(&["run", &snapshots, "--checkpoint", &argument(&folder.path().join("store"))]).well();
}

#[test]
fn a_log_is_replayed_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let swf = file(folder.path(), "four.swf", log(&[&row(1, &[])]));
    let packed = file(folder.path(), "four.swf.gz", super::gzipped(log(&[&row(1, &[])]).as_bytes()));
    for path in [swf, packed] {
        let hint = format!("hint: this looks like a log: `gridemu replay {path} --policy easy`");
        gridemu(&["run", &path]).ends(2, &["error: ", &hint]);
    }
}

#[test]
fn a_run_whose_log_is_gone_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let swf = file(folder.path(), "four.swf", log(&[&row(1, &[])]));
    let out = argument(&folder.path().join("out"));
    gridemu(&["replay", &swf, "--policy", "easy", "--out", &out]).well();
    gridemu(&["explain", &out, "--job", "9"]).ends(2, &["there is no job 9 in `"]);
    fs::remove_file(&swf).unwrap();
    gridemu(&["explain", &out, "--job", "1"])
        .ends(2, &["the log of the run in `", "four.swf`\nhint: put it back: the run is repeated"]);
}

/// Notes of several workloads are told apart.
#[test]
fn notes_name_their_workload() {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "two.swf", log(&[&row(1, &[]), &row(2, &[(17, "1"), (18, "5")])]));
    let workload = "[[workload]]\nlog = 'two.swf'\nfeedback = true\n";
    let site = "[[site]]\nname = 'a'\nmachines = [{ class = 'n', count = 10 }]\n[broker]\n";
    let path = file(folder.path(), "two.toml", format!("{site}{workload}{workload}"));
    let ran = gridemu(&["run", &path]);
    for number in [1, 2] {
        let note = format!("workload {number}: submitted 1 job a think time after the end of another job");
        assert!(ran.well().out.contains(&note), "{}", ran.out);
    }
}

/// Power is of a machine with all its cores, or with `/core` of a processor, in a replay as in a scenario: two ways to write one grid.
#[test]
fn power_means_the_same_in_a_replay_and_in_a_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let energy = |ran: serde_json::Value| {
        let run = if ran.is_array() { ran[0].clone() } else { ran };
        assert!(run["energy"]["meter_kwh"].as_f64() > Some(1.0), "{run}");
        (run["energy"]["jobs_kwh"].clone(), run["energy"]["idle_kwh"].clone(), run["fingerprint"].clone())
    };
    let log = "lublin[jobs=200,load=0.7,procs=32,seed=3]";
    let replay = ["replay", log, "--policy", "easy", "--idle", "10 W/core", "--busy", "25 W/core", "--json"];
    let replayed = energy(gridemu(&replay).json());
    for power in ["idle = '40 W', busy = '100 W'", "idle = '10 W/core', busy = '25 W/core'"] {
        let text = format!(
            "[[site]]\nname = 'site'\npolicy = 'easy'\nmachines = [{{ class = 'default', count = 8, cores = 4, {power} }}]\n\
             workload = {{ lublin = {{ jobs = 200, load = 0.7, seed = 3 }} }}\n"
        );
        let scenario = file(folder.path(), "grid.toml", text);
        assert_eq!(energy(gridemu(&["run", &scenario, "--json"]).json()), replayed, "{power}");
    }
}
