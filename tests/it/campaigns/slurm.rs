//! `gridemu campaign --slurm`: the scripts, as text and run by `sh`. With a real SLURM: `tests/slurm`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;

use super::{file, of};

const VERSION: &str = concat!("gridemu ", env!("CARGO_PKG_VERSION"));

/// A working folder whose name a script must quote, with `tools` that stand for those of SLURM.
struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { root: tempfile::tempdir().unwrap() };
        fs::create_dir_all(place.work()).unwrap();
        fs::create_dir(place.root.path().join("tools")).unwrap();
        place
    }

    fn work(&self) -> PathBuf {
        self.root.path().join("my work 100%")
    }

    /// A program that the scripts find before those of the machine, and gridemu instead of them.
    fn tool(&self, name: &str, body: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.root.path().join("tools").join(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.work()).env_remove("GRIDEMU_DATA").env("TMPDIR", self.root.path());
        command.env("PATH", format!("{}:/usr/bin:/bin", self.root.path().join("tools").display()));
        command
    }

    /// `gridemu campaign`, of a file of the tests.
    fn campaign(&self, name: &str, args: &[&str]) -> Output {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file(name));
        let mut command = self.command(cargo_bin!("gridemu"));
        // This machine may have SLURM.
        command.env("PATH", self.root.path().join("tools")).arg("campaign").arg(file).args(args);
        command.output().unwrap()
    }

    /// A script, as a task of an array.
    fn script(&self, name: &str, task: u32) -> Command {
        let mut command = self.command(Path::new("sh"));
        command.arg(self.work().join("small.slurm").join(name));
        command.env("SLURM_ARRAY_TASK_ID", task.to_string()).env("SLURM_ARRAY_JOB_ID", "42");
        command
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.work().join(name)).unwrap()
    }

    /// Text without what differs from machine to machine.
    fn plain(&self, text: &str) -> String {
        let binary = cargo_bin!("gridemu").display().to_string();
        text.replace(&self.root.path().canonicalize().unwrap().display().to_string(), "/home/me")
            .replace(&self.root.path().display().to_string(), "/home/me")
            .replace(&binary, "/opt/gridemu")
            .replace(&format!("{}/", env!("CARGO_MANIFEST_DIR")), "/src/")
            .replace(VERSION, "gridemu 1.2.3")
    }
}

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

#[track_caller]
fn ends(output: &Output, code: i32, says: &[&str]) {
    let said = said(output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    for part in says {
        assert!(said.contains(part), "no `{part}` in {said}");
    }
}

/// What was timed, as if runs took minutes.
fn as_if_long(place: &Place) {
    let path = place.work().join("small.slurm/timing.json");
    let mut timing: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    (timing["runs"], timing["mean"]) = (4.into(), 120_000_000.into());
    (timing["longest"], timing["peak"]) = (300_000_000.into(), 250_000_000.into());
    fs::write(&path, timing.to_string()).unwrap();
}

#[test]
fn scripts_ask_for_what_was_measured() {
    let place = Place::new();
    ends(
        &place.campaign("small.toml", &["--slurm"]),
        0,
        &["measured now     18 of 18 runs:", "1 task of up to 18 runs"],
    );
    as_if_long(&place);
    let all = [
        "--slurm",
        "--time-per-task",
        "30 min",
        "--threads",
        "2",
        "--set",
        "site.main.policy=fcfs",
        "--store",
        "small.campaign",
        "--out",
        "all runs.csv",
        "--folders",
        "runs",
        "--slurm-option=--partition=short",
        "--slurm-option",
        "-t 0:45:00",
        "--slurm-option=--mem-per-cpu=1G",
        "--scratch",
        "$TMPDIR/me",
        "--slurm-command",
        "apptainer exec gridemu.sif gridemu",
    ];
    // The policy is an axis of this campaign.
    ends(&place.campaign("small.toml", &all), 2, &["`site.main.policy` is what the axis `policy`"]);
    let all: Vec<&str> =
        all.iter().copied().filter(|arg| !["--set", "site.main.policy=fcfs"].contains(arg)).collect();
    let output = place.campaign("small.toml", &all);
    ends(&output, 0, &["measured before  4 of 18 runs: 2 min each, the longest 5 min, and at most 239 MiB"]);
    let scripts = ["array.sh", "merge.sh"].map(|name| place.read(&format!("small.slurm/{name}")));
    // The bodies are the same in all scripts.
    let heads = scripts.map(|text| text.split("\n\n").take(2).collect::<Vec<_>>().join("\n\n"));
    insta::assert_snapshot!("slurm", place.plain(&format!("{}\n{}", said(&output), heads.join("\n\n"))));
}

#[test]
fn what_cannot_be_submitted_is_refused() {
    let place = Place::new();
    let refused = |args: &[&str], says: &[&str]| {
        let output = place.campaign("small.toml", &[&["--slurm"], args].concat());
        ends(&output, 2, says);
        assert!(!place.work().join("small.slurm/array.sh").exists());
    };
    refused(
        &["--slurm-option", "short"],
        &["`short` is not an option of sbatch such as `--partition=short`"],
    );
    refused(&["--slurm-option=--array=1-3%2"], &["`--array` is what gridemu sets itself"]);
    refused(&["--store", "a\"b"], &["an option of sbatch cannot name the folder", "hint: `--store DIR`"]);
    refused(&["--scratch", ""], &["`--scratch` cannot be ``"]);
    refused(&["--shards", "19"], &["19 parts are too many for 18 runs", "hint: `--shards 18`"]);
    refused(
        &["--time-per-task", "1 min"],
        &["a task of 1 min is too short: a run of", "hint: `--time-per-task '4 min'`"],
    );
    refused(&["--shards", "0"], &["0 is not in 1.."]);
    refused(&["--shards", "2", "--time-per-task", "1 h"], &["cannot be used with"]);
    ends(&place.campaign("small.toml", &["--submit"]), 2, &["--slurm"]);
}

#[test]
fn both_jobs_are_submitted() {
    let place = Place::new();
    let submit = || place.campaign("small.toml", &["--slurm", "--shards", "3", "--submit"]);
    ends(
        &submit(),
        1,
        &[
            "there is no `sbatch` on this machine; the scripts are written",
            "hint: where SLURM is: `array=$(sbatch --parsable small.slurm/array.sh) && sbatch --dependency=afterany:${array%%;*} small.slurm/merge.sh`",
        ],
    );
    // One cluster of several, which sbatch names.
    place.tool("sbatch", "echo \"$@\" >> asked; case $* in *array.sh) echo '17;green' ;; *) echo 18 ;; esac");
    ends(
        &submit(),
        0,
        &["job array 17, and its merge 18, which begins when all tasks have ended", "squeue --jobs=17,18"],
    );
    let asked = "--parsable small.slurm/array.sh\n--parsable --dependency=afterany:17 small.slurm/merge.sh\n";
    assert_eq!(place.read("asked"), asked);
    place.tool(
        "sbatch",
        "case $* in *array.sh) echo 17 ;; *) echo 'sbatch: error: Invalid partition' >&2; exit 1 ;; esac",
    );
    ends(
        &submit(),
        1,
        &[
            "`sbatch` refuses `small.slurm/merge.sh`: sbatch: error: Invalid partition",
            "hint: the job array 17 is submitted; `scancel 17` takes it back",
        ],
    );
}

#[test]
fn the_largest_part_counts_each_scenario_once() {
    // The runs of both points are the same: those of the second belong to the parts of runs 1 to 5.
    let axis = "[[axis]]\nname = \"same\"\n[axis.variants]\none = {}\nother = {}\n";
    let campaign = of(&format!("scenario = \"base.toml\"\nseeds = 5\n{axis}")).unwrap();
    assert_eq!(campaign.runs().len(), 10);
    assert_eq!([1, 2, 3, 5, 9].map(|of| campaign.largest_part(of)), [5, 3, 2, 1, 1]);
    // As many are timed as there are, each once.
    assert_eq!(campaign.time_some(Duration::from_secs(60)).runs, 5);
    assert_eq!(campaign.time_some(Duration::ZERO).runs, 1);
}

/// Says the state of a job, and notes what it is told to requeue.
const SCONTROL: &str =
    "if [ \"$1\" = show ]; then echo JobState=$(cat state); else echo \"$2\" >> requeued; fi";

/// Jobs of a run, so that a task takes long enough to be killed in the middle; an optimised program is faster.
const LONGER: &str = if cfg!(debug_assertions) {
    "site.main.workload.lublin.jobs=2000"
} else {
    "site.main.workload.lublin.jobs=40000"
};

/// Tasks that are killed and stopped, in their stores or in archives of them, give the table of one machine.
fn killed_and_stopped(scratch: &[&str]) {
    let place = Place::new();
    let whole = place.campaign("small.toml", &["--set", LONGER, "--store", "whole"]);
    ends(&whole, 0, &["18 runs done"]);
    let made = [&["--slurm", "--shards", "2", "--set", LONGER][..], scratch].concat();
    ends(&place.campaign("small.toml", &made), 0, &["2 tasks of up to 9 runs"]);
    ends(&place.script("merge.sh", 0).output().unwrap(), 1, &["no part has a result"]);
    place.tool("scontrol", SCONTROL);
    fs::write(place.work().join("state"), "RUNNING").unwrap();

    // A node that fails takes the script with it.
    let store = if scratch.is_empty() {
        place.work().join("small.slurm/parts-2/1")
    } else {
        place.root.path().to_owned()
    };
    let mut killed = 0;
    for millis in [0, 50, 200] {
        let mut task = started(place.script("array.sh", 1));
        while task.try_wait().unwrap().is_none() && !has_begun(&store) {
            sleep(Duration::from_millis(2));
        }
        sleep(Duration::from_millis(millis));
        signal("KILL", &format!("-{}", task.id()));
        killed += u32::from(task.wait().unwrap().code().is_none());
        // What a killed script leaves on its node, SLURM or the node removes.
        on_the_node(&place).iter().for_each(|left| fs::remove_dir_all(left).unwrap());
    }
    assert!(killed > 0, "every task had ended before it was killed");
    ends(&place.script("array.sh", 1).output().unwrap(), 0, &["part 1 of 2 on", "ended with code 0"]);
    ends(&place.script("array.sh", 1).output().unwrap(), 0, &["part 1/2: 0 runs done, 9 kept from before"]);

    // The end of its time is near: it ends its current run, and asks to be requeued.
    let mut task = started(place.script("array.sh", 2));
    let store = if scratch.is_empty() {
        place.work().join("small.slurm/parts-2/2")
    } else {
        place.root.path().to_owned()
    };
    while task.try_wait().unwrap().is_none() && !has_begun(&store) {
        sleep(Duration::from_millis(2));
    }
    sleep(Duration::from_millis(100));
    signal("USR1", &task.id().to_string());
    let output = task.wait_with_output().unwrap();
    ends(&output, 0, &["stopped with", "of 9 runs done, all kept in", "stopped with code 130 and"]);
    let done =
        said(&output).split("error: stopped with ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    assert_eq!(place.read("requeued"), "42_2\n");
    let output = place.script("merge.sh", 0).output().unwrap();
    ends(
        &output,
        1,
        &["have no result", "what is missing or failed is done when both jobs are submitted again"],
    );
    // On a machine with much to do its first run may not have begun.
    let continued = match done.as_str() {
        "0" => "9 runs done".to_owned(),
        done => format!("{done} kept from before"),
    };
    ends(&place.script("array.sh", 2).output().unwrap(), 0, &[&continued, "ended with code 0"]);

    ends(&place.script("merge.sh", 0).output().unwrap(), 0, &["the table of all 18 runs is"]);
    assert_eq!(place.read("small.campaign/results.csv"), place.read("whole/results.csv"));
    assert_eq!(on_the_node(&place), [] as [PathBuf; 0]);
    let other = place.campaign("small.toml", &["--slurm", "--shards", "3", "--set", LONGER]);
    ends(&other, 0, &["note: `small.slurm/parts-2` has results of 2 parts", "`--shards 2` continues them"]);
}

/// The folders of tasks on the disk of the node.
fn on_the_node(place: &Place) -> Vec<PathBuf> {
    let all = fs::read_dir(place.root.path()).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("gridemu-")).collect()
}

/// Starts a task in a process group of its own, as SLURM does.
fn started(mut script: Command) -> std::process::Child {
    use std::os::unix::process::CommandExt;
    script.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// True once the runs of a part have begun in `folder` or in a folder of it.
fn has_begun(folder: &Path) -> bool {
    let inside = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    inside.chain([folder.to_owned()]).any(|folder| {
        let about = fs::read_to_string(folder.join("campaign.json")).unwrap_or_default();
        about.contains("\"tabled\": null")
    })
}

fn signal(signal: &str, process: &str) {
    assert!(Command::new("kill").args(["-s", signal, "--", process]).status().unwrap().success());
}

#[test]
fn tasks_that_are_killed_and_stopped_give_the_table_of_one_machine() {
    killed_and_stopped(&[]);
}

#[test]
fn so_do_tasks_that_work_on_the_disk_of_their_node() {
    killed_and_stopped(&["--scratch", "$TMPDIR"]);
}

#[test]
fn a_task_that_cannot_go_on_says_why() {
    let place = Place::new();
    let made = ["--slurm", "--shards", "2", "--set", LONGER, "--slurm-command", "nowhere/gridemu"];
    ends(&place.campaign("small.toml", &made), 0, &[]);
    ends(
        &place.script("array.sh", 1).output().unwrap(),
        127,
        &["nowhere/gridemu", &format!("needs {VERSION}, and finds: none")],
    );

    // Killed without a new result, again and again: after the third time it is not requeued.
    place.tool("killed", &format!("[ \"$1\" != --version ] || {{ echo {VERSION}; exit; }}; kill -KILL $$"));
    place.tool("scontrol", SCONTROL);
    fs::write(place.work().join("state"), "RUNNING").unwrap();
    let made = ["--slurm", "--shards", "2", "--set", LONGER, "--slurm-command", "killed"];
    ends(&place.campaign("small.toml", &made), 0, &["measured before"]);
    for _ in 0..2 {
        ends(
            &place.script("array.sh", 1).output().unwrap(),
            0,
            &["stopped with code 137 and 0 results; requeued, to continue"],
        );
    }
    ends(
        &place.script("array.sh", 1).output().unwrap(),
        1,
        &["three times without a new one: give it more time or memory"],
    );
    assert_eq!(place.read("requeued"), "42_1\n42_1\n");

    // What does not end when it is asked to is killed before SLURM would, 15 s before the limit.
    let script = place.work().join("small.slurm/array.sh");
    let text = fs::read_to_string(&script).unwrap();
    assert!(text.contains("\ngrace=60\n"));
    fs::write(&script, text.replace("\ngrace=60\n", "\ngrace=16\n")).unwrap();
    let deaf = "trap '' TERM; touch began; exec sleep 20";
    place.tool("killed", &format!("case $* in --version) echo {VERSION} ;; *--list*) ;; *) {deaf} ;; esac"));
    let task = started(place.script("array.sh", 1));
    while !place.work().join("began").exists() {
        sleep(Duration::from_millis(2));
    }
    signal("USR1", &task.id().to_string());
    ends(
        &task.wait_with_output().unwrap(),
        0,
        &["stopped with code 137 and 0 results; requeued, to continue"],
    );

    // Asked to end from outside: a cancelled job stays so, one that still runs is requeued.
    place.tool(
        "killed",
        &format!(
            "[ \"$1\" != --version ] || {{ echo {VERSION}; exit; }}; kill -TERM $PPID; sleep 0.2; exit 130"
        ),
    );
    fs::write(place.work().join("state"), "CANCELLED").unwrap();
    ends(&place.script("array.sh", 1).output().unwrap(), 130, &["stopped from outside with code 130"]);
    fs::write(place.work().join("state"), "RUNNING").unwrap();
    ends(&place.script("array.sh", 1).output().unwrap(), 0, &["results; requeued, to continue"]);
}
