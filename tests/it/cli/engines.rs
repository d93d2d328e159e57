//! Whatever drives the entities, and however fast: the same files.

use std::collections::BTreeMap;

use super::{argument, gridemu};

/// The files of a run by name, without the lines that tell how it was carried out, and its fingerprint.
fn files(how: &[&str]) -> (BTreeMap<String, String>, String) {
    let folder = tempfile::tempdir().unwrap();
    let out = argument(&folder.path().join("out"));
    let fixed = [
        "run",
        "tests/it/scenarios/quickstart.toml",
        "--set",
        "output.machines=true",
        "--out",
        &out,
        "--json",
    ];
    let told = gridemu(&[&fixed[..], how].concat()).json();
    let fingerprint = told["fingerprint"].as_str().expect("a fingerprint").to_owned();
    (contents(&out), fingerprint)
}

/// The files in a folder by name, without the lines that tell how the run was carried out.
fn contents(out: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(out).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let text = if name.ends_with(".csv") { text } else { without_the_run(&text) };
        files.insert(name, text);
    }
    files
}

/// A replay is the run of the scenario that it leaves, whatever drives that.
#[test]
fn a_replay_is_the_run_of_its_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: String| argument(&folder.path().join(name));
    let reserved = ["--reserve", "1h..2h:64", "--reserve", "90d..91d:64"];
    for (case, more) in [("plain", &[][..]), ("reserved", &reserved)] {
        let out = at(case.to_owned());
        let replay = ["replay", "lublin[jobs=120,load=0.9,seed=3]", "--policy", "conservative", "--machines"];
        gridemu(&[&replay[..], &["--out", &out], more].concat()).well();
        let expected = contents(&out);
        assert!(expected["machines.csv"].lines().count() > 100);
        for engine in ["direct", "actors"] {
            let again = at(format!("{case}-{engine}"));
            let scenario = format!("{out}/scenario.toml");
            gridemu(&["run", &scenario, "--engine", engine, "--out", &again]).well();
            assert_eq!(contents(&again), expected, "{case}, {engine}");
        }
    }
}

/// A scenario or summary without engine, clock, threads, folder and times of the wall clock.
fn without_the_run(text: &str) -> String {
    let told = ["engine", "clock", "threads", "folder", "read_s", "schedule_s", "write_s", "wall_s"];
    let kept = |line: &&str| {
        let key = line.trim_start().trim_start_matches('"');
        !told.iter().any(|told| key.strip_prefix(told).is_some_and(|rest| rest.starts_with(['"', ' '])))
    };
    text.lines().filter(kept).map(|line| format!("{line}\n")).collect()
}

#[test]
fn quickstart_leaves_the_same_files_whatever_drives_it() {
    let (expected, fingerprint) = files(&["--engine", "direct"]);
    for name in ["jobs.csv", "segments.csv", "events.csv", "machines.csv", "summary.json", "scenario.toml"] {
        assert!(expected[name].lines().count() > 10, "{name}");
    }
    let ways: [&[&str]; 5] = [
        &["--engine", "actors", "--threads", "1"],
        &["--engine", "actors", "--threads", "2"],
        &["--engine", "actors", "--threads", "8"],
        &["--pace", "100000000"],
        &["--engine", "actors", "--threads", "2", "--pace", "100000000"],
    ];
    for how in ways {
        let (found, print) = files(how);
        assert_eq!(print, fingerprint, "{how:?}");
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{how:?}");
        for (name, text) in found {
            let differs = text.lines().zip(expected[&name].lines()).find(|(a, b)| a != b);
            assert!(differs.is_none(), "{name} under {how:?}: {differs:?}");
            assert_eq!(text.len(), expected[&name].len(), "{name} under {how:?}");
        }
    }
    // Another seed is another run.
    assert_ne!(files(&["--engine", "direct", "--seed", "8"]).1, fingerprint);
}
