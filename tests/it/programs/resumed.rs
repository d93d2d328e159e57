//! Runs that are killed and resumed: the program goes on as if nothing had been, with what it has given to be saved, or with history.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{CHURN, PLAIN, assert_same, has, ran, written};
use crate::cli::gridemu;

/// Sends each task to the next pool in turn: what it does depends on all that it did. `how` is what it saves, `kill` the question at which it
/// kills the run, unless it has been resumed.
pub(super) const TURNS: &str = r#"
import json, os, signal, sys
how, kill = sys.argv[1], int(sys.argv[2])
turn, sent, resumed = 0, 0, False
for line in sys.stdin:
    q = json.loads(line)
    if "hello" in q:
        resumed = "resumed" in q["hello"]
        saved = q["hello"].get("resumed", {}).get("save")
        if saved: turn, sent = json.loads(saved)
        if resumed and how == "forgets": turn = 1
        answer = {"hello": {"version": 1, "name": "turns", "mode": "immediate", "gate": "fits"}}
    else:
        if q["ask"] == kill and not resumed: os.kill(os.getppid(), signal.SIGKILL)
        fits = [c for c in q["choices"] if "end" in c]
        answer = {"answer": q["ask"]}
        if fits:
            turn, sent = turn + 1, sent + 1
            answer["plan"] = [{"id": sent, "task": q["task"], "assign": fits[turn % len(fits)]["pool"]}]
        if how == "save" or how == "sometimes" and q["ask"] % 17 == 0: answer["save"] = json.dumps([turn, sent])
        if q.get("replayed"): sys.stderr.write("again %d\n" % q["ask"])
    print(json.dumps(answer), flush=True)
"#;

/// Runs with snapshots until the program kills the run.
fn killed(folder: &Path, name: &str, scenario: &str, broker: &str) -> (String, std::path::PathBuf) {
    let (file, out) = (written(folder, &format!("{name}.toml"), scenario), folder.join(name));
    let store = folder.join(format!("{name}-store")).display().to_string();
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("gridemu"));
    command.args(["run", &file, "--out", out.to_str().unwrap(), "--checkpoint", &store]);
    command.args([
        "--set",
        "checkpoint.every_virtual=1 h",
        "--set",
        "checkpoint.every=none",
        "--broker",
        broker,
    ]);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), None, "{name}: the run was killed");
    (store, out)
}

#[test]
fn a_killed_run_goes_on_with_its_program() {
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = written(folder.path(), "turns.py", TURNS);
    let scenario = format!("{PLAIN}{CHURN}");
    let broker = |how: &str, kill: u32| format!("python3 {script} {how} {kill}");
    let (straight, whole) = ran(folder.path(), "straight", &scenario, &["--broker", &broker("save", 0)]);
    straight.well();
    for (how, kill) in [("save", 150), ("sometimes", 190), ("history", 150), ("history", 3)] {
        let name = format!("{how}-{kill}");
        let (store, out) = killed(folder.path(), &name, &scenario, &broker(how, kill));
        let resumed = gridemu(&["resume", &store, "--json"]);
        resumed.well();
        assert_same(&whole, &out);
        let questions = |ran: &crate::cli::Ran| ran.json()["broker"]["program"]["questions"].clone();
        assert_eq!(questions(&resumed), questions(&straight), "{name}");
        let again = resumed.err.matches("turns: again").count();
        match how {
            "save" => assert_eq!(again, 0, "{}", resumed.err),
            "sometimes" => assert!(again < 17, "{}", resumed.err),
            _ => assert!(again + 1 == kill as usize || again + 70 > kill as usize, "{}", resumed.err),
        }
    }
    // What it answers to history must be what it answered before.
    let (store, _) = killed(folder.path(), "forgets", &scenario, &broker("forgets", 150));
    let ran = gridemu(&["resume", &store]);
    ran.ends(1, &["otherwise than before the run was resumed, so it is not deterministic", "with `save`"]);
    // A snapshot whose conversation is gone is refused.
    let (store, _) = killed(folder.path(), "gone", &scenario, &broker("history", 150));
    let journal = Path::new(&store).join("conversation");
    let kept = fs::read_to_string(&journal).unwrap();
    let short: String = kept.lines().take(12).map(|line| format!("{line}\n")).collect();
    fs::write(&journal, short).unwrap();
    gridemu(&["resume", &store]).ends(1, &["ends with question 5, and the snapshot is of question "]);
    fs::write(&journal, kept.replacen("\"why\":[\"arrived\"]", "\"why\":[\"moved\"]", 1_000)).unwrap();
    let changed = gridemu(&["resume", &store]);
    assert!(
        changed.code == Some(0) || changed.err.contains("is not the one that the journal"),
        "{}",
        changed.err
    );
}

/// Minimum completion time, until the question at which it ends.
const DIES: &str = r#"
import json, sys
for line in sys.stdin:
    q = json.loads(line)
    if "hello" in q: a = {"hello": {"version": 1, "name": "dies", "mode": "immediate", "gate": "fits", "steady": True}}
    else:
        if q["ask"] == 140: sys.exit(4)
        fits = sorted((c["end"], c["pool"]) for c in q["choices"] if "end" in c)
        a = {"answer": q["ask"], "plan": [{"id": q["ask"], "task": q["task"], "assign": fits[0][1]}] if fits else []}
    print(json.dumps(a), flush=True)
"#;

/// That a policy has taken the place of a program is journaled, too: a run that resumes from before does the same again, and starts no program.
#[test]
fn a_fallback_is_journaled() {
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = written(folder.path(), "dies.py", DIES);
    let scenario = format!("{PLAIN}{CHURN}").replace("[broker]\n", "[broker]\nfallback = \"min-min\"\n");
    let broker = format!("python3 {script}");
    let (straight, whole) = ran(folder.path(), "straight", &scenario, &["--broker", &broker]);
    straight.well();
    let (file, out) = (written(folder.path(), "killed.toml", &scenario), folder.path().join("killed"));
    let store = folder.path().join("store");
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("gridemu"));
    command.args(["run", &file, "--out", out.to_str().unwrap(), "--checkpoint", store.to_str().unwrap()]);
    command.args(["--set", "checkpoint.every_virtual=1 h", "--set", "checkpoint.every=none"]);
    command.args(["--set", "checkpoint.last=1000", "--broker", &broker]);
    let mut run = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let journal = store.join("conversation");
    while !fs::read_to_string(&journal).is_ok_and(|said| said.contains("\n! it has ended")) {
        assert!(run.try_wait().unwrap().is_none(), "the run is killed before its end");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    // Only the first two snapshots are left.
    for name in fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().file_name()) {
        let number = name.to_str().and_then(|name| name.strip_prefix("snapshot-")?.parse::<u64>().ok());
        if let Some(number) = number.filter(|number| *number > 2) {
            gridemu(&["snapshots", store.to_str().unwrap(), "--remove", &number.to_string()]).well();
        }
    }
    let resumed = gridemu(&["resume", store.to_str().unwrap(), "--json"]);
    resumed.ends(0, &["warning: broker program `dies`, question 140: it has ended with exit code 4"]);
    assert_same(&whole, &out);
    let program = |ran: &crate::cli::Ran| ran.json()["broker"]["program"]["fallback"].clone();
    assert_eq!(program(&resumed), program(&straight));
    assert_eq!(resumed.json()["broker"]["program"]["waited_s"], 0.0, "no program was asked");
}
