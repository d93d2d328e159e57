//! The real program is killed at random moments, and continues as if it had not been interrupted.
//!
//! `GRIDEMU_KILLS=200 cargo test --test it killed -- --nocapture` sets the number of kills; the default is one for each scenario.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "moments to kill at follow the wall clock"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;

use crate::validating::legal;

/// A run, typed in a folder of its own. It writes to `out` and keeps snapshots in `store`.
struct Case {
    name: &'static str,
    args: Vec<String>,
}

impl Case {
    fn run(name: &'static str, scenario: &str, more: &[&str]) -> Self {
        let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join(scenario);
        let fixed = ["run", scenario.to_str().unwrap(), "--out", "out"];
        Self { name, args: fixed.iter().chain(more).map(|arg| (*arg).to_owned()).collect() }
    }

    fn replay(name: &'static str, more: &[&str]) -> Self {
        let fixed = ["replay", "lublin[jobs=6000,load=0.85]", "--out", "out", "--machines", "--batsim"];
        Self { name, args: fixed.iter().chain(more).map(|arg| (*arg).to_owned()).collect() }
    }

    fn command(&self, folder: &Path, more: &[&str]) -> Command {
        let mut command = Command::new(cargo_bin!("gridemu"));
        command.current_dir(folder).args(&self.args).args(more).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }
}

fn cases() -> Vec<Case> {
    vec![
        Case::run(
            "quickstart",
            "configs/quickstart.toml",
            &["--engine", "direct", "--set", "checkpoint.every_virtual=12 h"],
        ),
        Case::run("everything", "tests/it/scenarios/killed/everything.toml", &["--threads", "2"]),
        Case::run("churn", "configs/churn.toml", &["--set", "checkpoint.every_events=500"]),
        Case::run("trace", "configs/failure-trace.toml", &["--set", "checkpoint.every_events=200"]),
        Case::run("workflows", "configs/workflows.toml", &["--set", "checkpoint.every_events=300"]),
        Case::run(
            "lost data",
            "configs/workflows.toml",
            &["--set", "workflow.lost=again", "--set", "checkpoint.every_events=300"],
        ),
        Case::run(
            "fronts",
            "tests/it/scenarios/killed/fronts.toml",
            &["--set", "checkpoint.every_events=20"],
        ),
        Case::run(
            "groups",
            "tests/it/scenarios/killed/groups.toml",
            &["--set", "checkpoint.every_events=200"],
        ),
        // What is made of the files once the run has ended.
        Case::run(
            "followed",
            "configs/quickstart.toml",
            &["--trace", "--report=page.html", "--set", "until=3 d", "--set", "checkpoint.every_virtual=6 h"],
        ),
        Case::run("paced", "tests/it/scenarios/killed/everything.toml", &["--pace", "1000000"]),
        Case::replay("replay", &["--policy", "easy"]),
        Case::replay(
            "booked",
            &["--policy", "conservative", "--reserve", "2d..3d:64", "--classes", "kettimuthu-16"],
        ),
        Case::replay("shared", &["--policy", "equal-share[mpl=4]", "--estimates", "tsafrir", "--seed", "5"]),
    ]
}

/// The files of a folder, without what tells how long the run took.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for name in [
        "jobs.csv",
        "segments.csv",
        "events.csv",
        "machines.csv",
        "tasks.csv",
        "workflows.csv",
        "transfers.csv",
        "fronts.csv",
        "slices.csv",
        "groups.csv",
        "trace.json",
        "batsim/out_jobs.csv",
        "scenario.toml",
        "summary.json",
    ] {
        if let Ok(text) = std::fs::read_to_string(folder.join(name)) {
            let timed = ["read_s", "schedule_s", "write_s", "wall_s"];
            let is_result = |line: &&str| !timed.iter().any(|key| line.contains(&format!("\"{key}\"")));
            let told = |text: &str| text.lines().filter(is_result).map(|line| format!("{line}\n")).collect();
            let text = if name.ends_with(".json") { told(&text) } else { text };
            files.insert(name.to_owned(), text);
        }
    }
    files
}

/// Runs a command, killed after a while if it is not over by then. True if it was killed.
fn killed(command: &mut Command, after: Duration) -> (bool, Output) {
    let began = Instant::now();
    let mut child = command.spawn().expect("the program starts");
    let mut killed = false;
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() >= after {
            killed = child.kill().is_ok();
            break;
        }
        std::thread::sleep(Duration::from_micros(300));
    }
    let output = child.wait_with_output().unwrap();
    (killed && output.status.code().is_none(), output)
}

/// Whether a run ended before its first snapshot.
fn is_unsaved(said: &str) -> bool {
    said.contains("ended before its first snapshot") && said.contains("hint: begin it again")
}

/// Numbers that are not the same in two runs of the tests: moments to kill at.
struct Dice(u64);

impl Dice {
    fn new() -> Self {
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        Self(time.as_nanos() as u64 | 1)
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Kills a run again and again until it gets to its end, and looks at what it leaves. Returns how often it was killed.
fn kill(
    case: &Case,
    store: &[&str],
    whole: &BTreeMap<String, String>,
    took: Duration,
    dice: &mut Dice,
) -> u32 {
    let folder = tempfile::tempdir().unwrap();
    let (mut kills, mut anew) = (0, false);
    loop {
        let mut command = Command::new(cargo_bin!("gridemu"));
        command.current_dir(folder.path()).args(["resume", "store"]);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let has_begun = folder.path().join("store").exists() && !std::mem::take(&mut anew);
        let command = if has_begun { &mut command } else { &mut case.command(folder.path(), store) };
        // Most of them in the beginning or in the middle, some of them when the run is over.
        let (was_killed, output) = killed(command, took.mul_f64(dice.share().powi(2) * 1.1));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("panicked"), "{}: {said}", case.name);
        if was_killed {
            kills += 1;
            if kills < 12 {
                continue;
            }
        } else if output.status.success() {
            break;
        } else {
            // Killed before anything was saved: it says so, and the same command begins it again.
            assert!(is_unsaved(&said) && kills > 0, "{} after {kills} kills: {said}", case.name);
            anew = true;
            continue;
        }
        // Often enough: to the end now.
        let (_, output) = killed(
            Command::new(cargo_bin!("gridemu"))
                .current_dir(folder.path())
                .args(["resume", "store"])
                .stdout(Stdio::null())
                .stderr(Stdio::piped()),
            Duration::from_secs(600),
        );
        let said = String::from_utf8_lossy(&output.stderr);
        if is_unsaved(&said) {
            anew = true;
            continue;
        }
        assert!(output.status.success(), "{} after {kills} kills: {said}", case.name);
        break;
    }
    legal(&folder.path().join("out"));
    assert_eq!(case.name == "followed", folder.path().join("page.html").exists(), "{}", case.name);
    let found = files(&folder.path().join("out"));
    assert_eq!(found.keys().collect::<Vec<_>>(), whole.keys().collect::<Vec<_>>(), "{}", case.name);
    for (name, text) in found {
        let whole = &whole[&name];
        let differs = (1..).zip(text.lines().zip(whole.lines())).find(|(_, (a, b))| a != b);
        assert!(differs.is_none(), "{} after {kills} kills: {name}, line {differs:?}", case.name);
        assert_eq!(text.len(), whole.len(), "{} after {kills} kills: {name}", case.name);
    }
    kills
}

#[test]
fn a_run_that_is_killed_goes_on_as_if_nothing_had_happened() {
    let wanted: Option<u32> =
        std::env::var("GRIDEMU_KILLS").ok().map(|kills| kills.parse().expect("a number"));
    let cases = cases();
    let each = wanted.map_or(1, |wanted| wanted.div_ceil(cases.len() as u32));
    let mut dice = Dice::new();
    let (mut all, mut runs) = (0, 0);
    for case in &cases {
        let plain = tempfile::tempdir().unwrap();
        let began = Instant::now();
        let ran = case.command(plain.path(), &["--checkpoint", "store"]).output().unwrap();
        assert!(ran.status.success());
        // Some twenty snapshots, however fast the program was built.
        let every = format!("{} ms", began.elapsed().as_millis().div_euclid(20).max(15));
        let store = ["--checkpoint", "store", "--checkpoint-every", &every];
        let folder = tempfile::tempdir().unwrap();
        let began = Instant::now();
        let whole = case.command(folder.path(), &store).output().unwrap();
        let took = began.elapsed();
        assert!(whole.status.success(), "{}: {}", case.name, String::from_utf8_lossy(&whole.stderr));
        let whole = files(&folder.path().join("out"));
        // It is what a run without snapshots leaves, but for the scenario.
        for (name, text) in files(&plain.path().join("out")) {
            let is_told = name == "scenario.toml" || name == "summary.json";
            assert!(is_told || text == whole[&name], "{}: snapshots change {name}", case.name);
        }
        let mut kills = 0;
        while kills < each {
            kills += kill(case, &store, &whole, took, &mut dice);
            runs += 1;
        }
        all += kills;
    }
    println!("killed {all} times in {runs} runs of {} scenarios", cases.len());
}
