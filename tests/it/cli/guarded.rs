//! What small files could do to a machine, a terminal or a spreadsheet, and to what stands where a file of a run should be.

#![expect(clippy::disallowed_methods, reason = "a run that would not end is given up by the wall clock")]

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gridemu::output::RunFolder;

use super::{argument, file, gridemu, gzipped, log, row};

const SITE: &str = "seed = 1\n[[site]]\nname = \"a\"\nmachines = [{ class = \"x\", count = 4 }]\n";

fn scenario(folder: &Path, more: &str) -> String {
    file(folder, "scenario.toml", format!("{SITE}{more}"))
}

/// A packed file of 100 KB that would be a hundred megabytes, under the name of each format.
#[test]
fn files_that_unpack_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let bomb = gzipped(&[&[b' '; 999][..], b"\n"].concat().repeat(100_000));
    for name in ["a.swf.gz", "a.cwf.gz", "a.json.gz", "a.xml.gz", "a.gwf.gz"] {
        let path = file(folder.path(), name, &bomb);
        gridemu(&["inspect", &path]).ends(2, &[&format!("`{name}`"), "32 times its size", "hint: "]);
    }
    let path = file(folder.path(), "trace.gz", &bomb);
    let trace = scenario(folder.path(), &format!("churn = {{ trace = \"{path}\" }}\n"));
    gridemu(&["check", &trace]).ends(2, &["`trace.gz`", "32 times its size"]);
    let prices = format!("electricity = {{ trace = \"{path}\", unit = \"EUR/MWh\" }}\n");
    gridemu(&["check", &scenario(folder.path(), &prices)]).ends(2, &["`trace.gz`", "32 times its size"]);
}

/// Files that do not end, or hardly.
#[test]
fn files_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let device = "it is a device, not a file";
    gridemu(&["check", "/dev/zero"]).ends(2, &["`/dev/zero`", device]);
    gridemu(&["campaign", "/dev/zero"]).ends(2, &["`/dev/zero`", device]);
    gridemu(&["replay", "/dev/zero", "--policy", "easy"]).ends(2, &["`/dev/zero`", device]);
    let included = file(folder.path(), "included.toml", "[[site]]\nname = \"a\"\nuse = \"/dev/zero\"\n");
    gridemu(&["check", &included]).ends(2, &["`/dev/zero`", device]);
    for more in ["workload = { log = \"/dev/zero\" }\n", "churn = { trace = \"/dev/zero\" }\n"] {
        let path = scenario(folder.path(), more);
        gridemu(&["run", &path]).ends(2, &[device]);
    }
    // A file without blocks, of a terabyte.
    let hollow = |name: &str| {
        let path = folder.path().join(name);
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        argument(&path)
    };
    gridemu(&["check", &hollow("hollow.toml")]).ends(2, &["it has more than 8388608 bytes"]);
    gridemu(&["inspect", &hollow("hollow.swf")]).ends(2, &["line 1", "the line has more than"]);
}

/// What is quoted of the input is a line at most, and does nothing to a terminal.
#[test]
fn messages_are_safe_and_short() {
    let folder = tempfile::tempdir().unwrap();
    let esc = file(folder.path(), "esc.toml", "\"a\\u001b[2J\" = 1\n");
    let ran = gridemu(&["check", &esc]);
    ran.ends(2, &["a\\u{1b}[2J"]);
    assert!(!ran.err.contains('\u{1b}'), "{}", ran.err);
    let two = file(folder.path(), "two.toml", "\"a\\nerror: b\" = 1\n");
    let ran = gridemu(&["check", &two]);
    assert_eq!(ran.ends(2, &["`a\\nerror: b`"]).err.matches("error: ").count(), 2, "{}", ran.err);
    let gwf = "WorkflowID, JobID, SubmitTime, RunTime, NProcs, ReqNProcs, Dependencies\n1, \u{1b}[2J, 0, 5, 1, 1, x\u{7}\n";
    let ran = gridemu(&["inspect", &file(folder.path(), "esc.gwf", gwf)]);
    ran.ends(2, &["\\u{1b}[2J"]);
    assert!(!ran.err.contains(['\u{1b}', '\u{7}']), "{}", ran.err);
    let long = "x".repeat(1 << 20);
    let (key, json) = (format!("{long} = 1\n"), format!("{{\"workflow\": {{\"tasks\": \"{long}\"}}}}"));
    for path in [file(folder.path(), "long.toml", key), file(folder.path(), "long.json", json)] {
        let ran = gridemu(&[if path.ends_with("toml") { "check" } else { "inspect" }, &path]);
        ran.ends(2, &["xxx"]);
        assert!(ran.err.len() < 10_000, "{} bytes", ran.err.len());
    }
}

/// A spreadsheet takes what begins with `=` for a formula: such names have an apostrophe in tables, and none when these are read back.
#[test]
fn no_cell_is_a_formula() {
    let folder = tempfile::tempdir().unwrap();
    let head = "WorkflowID, JobID, SubmitTime, RunTime, NProcs, ReqNProcs, Dependencies";
    let flow = format!("{head}\n=1+1, @SUM(A1), 0, 60, 1, 1,\n=1+1, -2, 0, 60, 1, 1, @SUM(A1)\n");
    file(folder.path(), "flow.gwf", flow);
    let more =
        "[broker]\npolicy = \"mct\"\n[network]\nlatency = \"1 s\"\n[[workload]]\nworkflow = \"flow.gwf\"\n";
    let out = argument(&folder.path().join("out"));
    gridemu(&["run", &scenario(folder.path(), more), "--out", &out]).well();
    let tasks = fs::read_to_string(folder.path().join("out/tasks.csv")).unwrap();
    assert!(tasks.contains(",'@SUM(A1),") && tasks.contains(",-2,"), "{tasks}");
    let read = RunFolder::open(Path::new(&out)).unwrap();
    let names: Vec<String> =
        read.tasks().unwrap().unwrap().map(|row| row.unwrap().task.to_string()).collect();
    assert_eq!(names, ["@SUM(A1)", "-2"]);
    let workflows = fs::read_to_string(folder.path().join("out/workflows.csv")).unwrap();
    assert!(workflows.contains("'=1+1"), "{workflows}");
    gridemu(&["validate", &out]).well();
}

/// Nothing is written through a link or into a pipe that stands where a file should.
#[test]
fn outputs_are_files_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| argument(&folder.path().join(name));
    let jobs = file(folder.path(), "jobs.swf", log(&[&row(1, &[]), &row(2, &[])]));
    let mine = file(folder.path(), "mine.txt", "mine");
    let pipe = at("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let out = folder.path().join("out");
    let replay = ["replay", &jobs, "--policy", "easy", "--out", &at("out")];
    let link = "a symbolic link, which is not followed, is in its place";
    for name in ["jobs.csv", "segments.csv", "summary.json.part"] {
        fs::create_dir_all(&out).unwrap();
        symlink(&mine, out.join(name)).unwrap();
        let ran = gridemu(&replay);
        if name.ends_with(".part") {
            // Removed, as the rest of a run that was killed is.
            ran.well();
        } else {
            ran.ends(2, &[&format!("out/{name}`"), link, "hint: "]);
        }
        fs::remove_dir_all(&out).unwrap();
    }
    fs::create_dir_all(&out).unwrap();
    fs::rename(&pipe, out.join("jobs.csv")).unwrap();
    gridemu(&replay).ends(2, &["out/jobs.csv`", "a pipe or a device is in its place"]);
    fs::rename(out.join("jobs.csv"), &pipe).unwrap();
    gridemu(&replay).well();
    symlink(&mine, at("link")).unwrap();
    for place in [at("link"), pipe] {
        gridemu(&["generate", "lublin", "jobs=5", "-o", &place]).ends(2, &[&place, "is in its place"]);
        gridemu(&["report", &at("out"), "--out", &place]).ends(1, &[&place, "is in its place"]);
    }
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    // What the system has is no file of anybody.
    let said = gridemu(&["generate", "lublin", "jobs=5", "-o", "/dev/stdout"]);
    assert_eq!(said.well().out, gridemu(&["generate", "lublin", "jobs=5"]).out);
    gridemu(&["generate", "lublin", "jobs=5", "-o", "/dev/null"]).well();
}

/// A run that was killed before its first snapshot has one answer, and the same command begins it again.
#[test]
fn a_run_without_a_snapshot_begins_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = argument(&folder.path().join("store"));
    let run = ["run", "tests/it/scenarios/quickstart.toml", "--set", "until=1 d", "--checkpoint", &store];
    for remains in [None, Some("lock"), Some("run")] {
        fs::create_dir_all(&store).unwrap();
        if let Some(name) = remains {
            file(Path::new(&store), name, "");
        }
        let told = ["ended before its first snapshot", "hint: begin it again"];
        gridemu(&["resume", &store]).ends(2, &told);
        gridemu(&run).well();
        fs::remove_dir_all(&store).unwrap();
    }
}

/// A log whose header has changed is named: no version of the program is blamed.
#[test]
fn a_header_that_has_changed_is_a_changed_log() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = file(folder.path(), "jobs.swf", log(&[&row(1, &[]), &row(2, &[])]));
    let store = argument(&folder.path().join("store"));
    gridemu(&["replay", &jobs, "--policy", "easy", "--checkpoint", &store]).well();
    fs::remove_file(Path::new(&store).join("finished")).unwrap();
    gridemu(&["resume", &store]).well();
    fs::remove_file(Path::new(&store).join("finished")).unwrap();
    file(
        folder.path(),
        "jobs.swf",
        log(&[&row(1, &[]), &row(2, &[])]).replace("MaxProcs: 10", "MaxProcs: 12"),
    );
    let ran = gridemu(&["resume", &store]);
    ran.ends(2, &["jobs.swf` has changed since the run", "hint: put back the file"]);
    assert!(!ran.err.contains("version"), "{}", ran.err);
}

/// A byte of a store that has changed is found, or has no effect: a resumed run gives the same or says why not.
#[test]
fn a_damaged_store_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| argument(&folder.path().join(name));
    let run = ["replay", "lublin[jobs=300]", "--policy", "easy", "--checkpoint", &at("store"), "--json"];
    let fingerprint = gridemu(&run).json()["fingerprint"].clone();
    let (whole, store) = (folder.path().join("store"), folder.path().join("damaged"));
    fs::remove_file(whole.join("finished")).unwrap();
    let (mut folders, mut names) = (vec![whole.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => names.push(argument(path.strip_prefix(&whole).unwrap())),
            }
        }
    }
    names.sort();
    let (mut same, mut told) = (0, 0);
    for (number, name) in names.iter().filter(|name| *name != "lock").enumerate() {
        let copied = Command::new("cp").arg("-r").args([&whole, &store]).status().unwrap();
        assert!(copied.success());
        let mut bytes = fs::read(store.join(name)).unwrap();
        let Some(place) = Some(bytes.len() * (number % 7 + 1) / 9).filter(|at| *at < bytes.len()) else {
            fs::remove_dir_all(&store).unwrap();
            continue;
        };
        bytes[place] ^= 0x10;
        fs::write(store.join(name), bytes).unwrap();
        let ran = gridemu(&["resume", &at("damaged"), "--json"]);
        if ran.code == Some(0) {
            assert_eq!(ran.json()["fingerprint"], fingerprint, "{name}");
            same += 1;
        } else {
            ran.ends(2, &["error: ", "hint: "]);
            told += 1;
        }
        fs::remove_dir_all(&store).unwrap();
    }
    assert!(told > 0 && same + told > 4, "{told} of {} told", same + told);
}

/// Machines that come and go each microsecond: their records are written as they come, and not kept until the minute is over.
#[test]
fn records_of_fast_churn_do_not_gather() {
    let folder = tempfile::tempdir().unwrap();
    let fast = "exponential[mean=0.000002 s]";
    let more = format!(
        "churn = {{ up = \"{fast}\", down = \"{fast}\" }}\nworkload = {{ poisson = {{ jobs = 9 }} }}\n"
    );
    let (path, out) = (scenario(folder.path(), &more), argument(&folder.path().join("out")));
    let mut run = Command::new(assert_cmd::cargo::cargo_bin!("gridemu"))
        .args(["run", &path, "--out", &out])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (began, events) = (Instant::now(), folder.path().join("out/events.csv"));
    let written = || fs::metadata(&events).is_ok_and(|about| about.len() > 300_000);
    while !written() && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(written(), "nothing is written in a minute");
}
