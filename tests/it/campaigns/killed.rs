//! A campaign whose process is killed goes on where it was.
//!
//! `GRIDEMU_KILLS=100 cargo test --test it campaigns::killed` kills it so often; without it, a few times.

#![expect(clippy::disallowed_methods, reason = "moments to kill at follow the wall clock")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use assert_cmd::cargo::cargo_bin;

fn command(folder: &Path) -> Command {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/campaigns/backfilling.toml");
    let mut command = Command::new(cargo_bin!("gridemu"));
    command.current_dir(folder).arg("campaign").arg(file);
    command.args(["--threads", "2", "--set", "site.cluster.workload.lublin.jobs=120"]);
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

#[test]
fn a_killed_campaign_ends_with_the_same_table() {
    let whole = tempfile::tempdir().unwrap();
    let began = Instant::now();
    assert!(command(whole.path()).output().unwrap().status.success());
    let (took, whole) = (began.elapsed(), table(whole.path()));
    assert_eq!(whole.lines().count(), 451);
    let wanted: u32 = std::env::var("GRIDEMU_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(6);
    let (mut kills, mut went_on) = (0, 0);
    while kills < wanted {
        let folder = tempfile::tempdir().unwrap();
        // Later and later, so that it comes to its end, whatever else the machine does.
        for tenths in 2.. {
            let mut child =
                command(folder.path()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
            std::thread::sleep(took * tenths / 10);
            let ended = child.try_wait().unwrap().is_some();
            if !ended {
                child.kill().unwrap();
            }
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!said.contains("panicked") && !said.contains("error"), "{said}");
            if output.status.success() {
                went_on += kept(&said);
                break;
            }
            kills += 1;
        }
        assert_eq!(table(folder.path()), whole);
    }
    assert!(went_on > 0, "in {kills} kills nothing was ever kept");
}
