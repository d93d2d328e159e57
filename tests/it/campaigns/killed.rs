//! A campaign whose process is killed goes on where it was.
//!
//! `GRIDEMU_KILLS=100 cargo test --test it campaigns::killed` kills it so often; without it, a few times.

#![expect(clippy::disallowed_methods, reason = "moments to kill at follow the wall clock")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;

/// A campaign of 450 runs, in so many parts or as a whole.
fn command(folder: &Path, more: &[&str]) -> Command {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/campaigns/backfilling.toml");
    let mut command = Command::new(cargo_bin!("gridemu"));
    command.current_dir(folder).arg("campaign").arg(file);
    command.args(["--set", "site.cluster.workload.lublin.jobs=120"]).args(more);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

fn table(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("backfilling.campaign/results.csv")).unwrap()
}

/// Results that the store has.
fn kept(said: &str) -> u64 {
    let line = said.lines().find(|line| line.contains("runs done")).unwrap();
    match line.split([',', ';']).map(str::trim).find(|part| part.ends_with("kept from before")) {
        Some(part) => part.split(' ').next().unwrap().parse().unwrap(),
        None => 0,
    }
}

/// Kills a command again and again until it comes to its end. How often it was killed, and what it said in the end.
fn to_its_end(command: impl Fn() -> Command, took: Duration) -> (u32, String) {
    // Later and later, so that it comes to its end, whatever else the machine does.
    for (kills, tenths) in (0..).zip(2..) {
        let mut child = command().spawn().unwrap();
        std::thread::sleep(took * tenths / 10);
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
        }
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("panicked") && !said.contains("error"), "{said}");
        if output.status.success() {
            return (kills, said);
        }
    }
    unreachable!("it has all the time")
}

fn wanted() -> u32 {
    std::env::var("GRIDEMU_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(6)
}

/// How long a command takes that ends well.
fn took(mut command: Command) -> Duration {
    let began = Instant::now();
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    began.elapsed()
}

#[test]
fn a_killed_campaign_ends_with_the_same_table() {
    const TWO: [&str; 2] = ["--threads", "2"];
    let whole = tempfile::tempdir().unwrap();
    let (took, whole) = (took(command(whole.path(), &TWO)), table(whole.path()));
    assert_eq!(whole.lines().count(), 451);
    let (mut kills, mut went_on) = (0, 0);
    while kills < wanted() {
        let folder = tempfile::tempdir().unwrap();
        let (killed, said) = to_its_end(|| command(folder.path(), &TWO), took);
        went_on += kept(&said);
        kills += killed;
        assert_eq!(table(folder.path()), whole);
    }
    assert!(went_on > 0, "in {kills} kills nothing was ever kept");
}

/// Parts that are killed, and then their merge: the table of a campaign that was done as a whole.
#[test]
fn killed_parts_and_their_killed_merge_give_the_same_table() {
    const PARTS: [[&str; 4]; 2] =
        [["--shard", "1/2", "--store", "part-1"], ["--shard", "2/2", "--store", "part-2"]];
    const MERGE: [&str; 3] = ["--merge", "part-1", "part-2"];
    let plain = tempfile::tempdir().unwrap();
    let of_part = took(command(plain.path(), &PARTS[0]));
    took(command(plain.path(), &PARTS[1]));
    let of_merge = took(command(plain.path(), &MERGE));
    let whole = table(plain.path());
    assert_eq!(whole.lines().count(), 451);
    let mut kills = 0;
    while kills < wanted() {
        let folder = tempfile::tempdir().unwrap();
        for part in &PARTS {
            kills += to_its_end(|| command(folder.path(), part), of_part).0;
        }
        kills += to_its_end(|| command(folder.path(), &MERGE), of_merge).0;
        assert_eq!(table(folder.path()), whole);
    }
}
