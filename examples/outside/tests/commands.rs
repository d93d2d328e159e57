//! Every command of the program accepts its policies.

use std::path::{Path, PathBuf};
use std::process::Command;

const SCENARIO: &str = r#"
[[site]]
name = "windsor"
machines = [{ class = "node", count = 16 }]
policy = "smallest-first"
workload = { lublin = { jobs = 200, load = 0.6 } }

[[site]]
name = "delft"
machines = [{ class = "node", count = 8 }]
policy = "smallest-first"

[broker]
policy = "tightest"

[[workload]]
lublin = { jobs = 200, procs = 16, load = 0.6 }
"#;

/// An empty folder with only the scenario.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("own.toml"), SCENARIO).unwrap();
    folder
}

/// The standard output of the command, run in a folder.
fn said(folder: &Path, command: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_outside"))
        .args(command.split(' '))
        .current_dir(folder)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {told}");
    String::from_utf8(output.stdout).unwrap()
}

fn fingerprint(text: &str) -> Option<String> {
    text.lines().find(|line| line.contains("fingerprint")).map(str::to_owned)
}

#[test]
fn they_are_listed_and_checked() {
    let folder = folder("listed");
    let listed = said(&folder, "policies");
    assert!(listed.contains("\nsmallest-first\n") && listed.contains("\ntightest\n"), "{listed}");
    assert!(said(&folder, "policies tightest").starts_with("tightest (broker policy)"));
    let schema = said(&folder, "schema");
    assert!(schema.contains("\"smallest-first\"") && schema.contains("\"tightest\""));
    assert!(said(&folder, "check --show own.toml").contains("smallest-first"));
}

#[test]
fn a_run_is_interrupted_explained_and_forked() {
    let folder = folder("run");
    let ran = said(&folder, "run own.toml --out out --checkpoint store --checkpoint-keep-at=1d");
    let resumed = said(&folder, "resume store");
    assert!(fingerprint(&ran).is_some());
    assert_eq!(fingerprint(&resumed), fingerprint(&ran));
    assert!(said(&folder, "validate out").contains("valid"));
    assert!(!said(&folder, "explain out --job 17 --origin grid").is_empty());
    assert!(!said(&folder, "snapshots store").is_empty());
    assert!(!said(&folder, "fork store --at=1d --set broker.policy=mct").is_empty());
}

#[test]
fn a_log_is_replayed_and_a_campaign_run() {
    let folder = folder("many");
    let replayed =
        said(&folder, "replay lublin[jobs=500,procs=64,load=0.7] --policy fcfs --policy smallest-first");
    assert!(replayed.contains("smallest-first"), "{replayed}");
    let campaign =
        "scenario = \"own.toml\"\n[[axis]]\nkey = \"broker.policy\"\nvalues = [\"tightest\", \"mct\"]\n";
    std::fs::write(folder.join("campaign.toml"), campaign).unwrap();
    assert!(said(&folder, "campaign campaign.toml").contains("tightest"));
}

/// The policy survives what real brokers have died of.
#[test]
fn the_drills_try_a_policy_of_ones_own() {
    let folder = folder("drilled");
    let table = said(&folder, "drill --broker tightest");
    let rows = |word: &str| table.lines().filter(|line| line.contains(word)).count();
    assert_eq!((rows(" held "), rows("FAILED")), (18, 0), "{table}");
}
