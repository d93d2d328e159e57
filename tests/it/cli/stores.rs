//! Stores from the command line: what is refused and why, and what comes of it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{argument, gridemu};

/// A finished run in a folder: its files in `out`, its snapshots in `store`, those kept that were taken at 3 d and 6 d.
fn finished(folder: &Path) -> (String, String) {
    let [out, store] = ["out", "store"].map(|name| argument(&folder.join(name)));
    let keep = "checkpoint.keep_at=[\"3 d\", \"6 d\"]";
    gridemu(&[
        "run",
        "tests/it/scenarios/quickstart.toml",
        "--out",
        &out,
        "--checkpoint",
        &store,
        "--set",
        keep,
    ])
    .well();
    (out, store)
}

/// A run that was stopped in the middle: SIGTERM, as a batch system sends it.
fn stopped(folder: &Path, scenario: &str) -> (String, String) {
    let [out, store] = ["out", "store"].map(|name| argument(&folder.join(name)));
    // Paced, so that it does not end by itself.
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("gridemu"))
        .args(["run", scenario, "--pace", "40000", "--out", &out, "--checkpoint", &store])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // As soon as there is something to go on from.
    while !Path::new(&store).join("snapshot-00000001").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("everything saved in") && said.contains("gridemu resume"), "{said}");
    (out, store)
}

/// Where the pace is of no interest: a run is resumed as it was typed, and this one would take hours.
fn fingerprint_as_it_was(store: &str) -> String {
    let futures = gridemu(&["fork", store, "--at", &newest(store), "--json"]).json();
    futures["grid"]["as_it_was"]["fingerprint"].as_str().unwrap().to_owned()
}

/// The time of the newest snapshot.
fn newest(store: &str) -> String {
    let facts = gridemu(&["snapshots", store, "--json"]).json();
    format!("{} s", facts["snapshots"].as_array().unwrap().last().unwrap()["at_s"])
}

const QUICKSTART: &str = "11652:219ed163b443cd1fa1dac6db804fd09c";

/// The scenario of these tests is that of the README, but for its reports.
#[test]
fn the_scenario_is_quickstart_with_fewer_reports() {
    let lines = |path: &str| -> Vec<String> {
        let text = fs::read_to_string(path).unwrap();
        // Without what stands before the first key.
        text.lines().skip_while(|line| !line.starts_with("seed")).map(str::to_owned).collect()
    };
    let (own, whole) = (lines("tests/it/scenarios/quickstart.toml"), lines("configs/quickstart.toml"));
    assert_eq!(own.len(), whole.len());
    let differ = own.iter().zip(&whole).filter(|(own, whole)| own != whole).map(|(own, _)| own.as_str());
    assert_eq!(differ.collect::<Vec<_>>(), ["monitoring_interval = \"10 min\""]);
}

#[test]
fn a_finished_run_says_so_and_is_not_run_over() {
    let folder = tempfile::tempdir().unwrap();
    let (out, store) = finished(folder.path());
    let again = gridemu(&["resume", &store, "--json"]);
    assert!(again.err.contains("is finished"), "{}", again.err);
    assert_eq!(again.json()["fingerprint"], QUICKSTART);
    let run = ["run", "tests/it/scenarios/quickstart.toml", "--out", &out, "--checkpoint", &store];
    gridemu(&run).ends(2, &["store", "quickstart", "--checkpoint-anew"]);
    gridemu(&[&run[..], &["--checkpoint-anew"]].concat()).well();
    // What is no store is never removed.
    let [diary, page] = ["diary", "diary/page.txt"].map(|name| folder.path().join(name));
    fs::create_dir(&diary).unwrap();
    fs::write(&page, "dear diary").unwrap();
    let diary = argument(&diary);
    gridemu(&["run", "tests/it/scenarios/quickstart.toml", "--checkpoint", &diary, "--checkpoint-anew"])
        .ends(2, &["page.txt"]);
    assert!(page.exists());
}

#[test]
fn a_run_stops_cleanly_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (_, store) = stopped(folder.path(), "tests/it/scenarios/quickstart.toml");
    let facts = gridemu(&["snapshots", &store, "--json"]).json();
    assert_eq!(facts["finished"], false);
    let rows = facts["snapshots"].as_array().unwrap();
    assert!(rows.len() == 2 && rows[1]["at_s"].as_f64() > Some(1_000.0), "{facts}");
    assert_eq!(fingerprint_as_it_was(&store), QUICKSTART);
    let number = rows[1]["number"].to_string();
    let inside = gridemu(&["snapshots", &store, "--inspect", &number]);
    inside.well();
    assert!(inside.out.contains("windsor / i7-2600") && inside.out.contains("broker"), "{}", inside.out);
    gridemu(&["snapshots", &store, "--inspect", "999"]).ends(2, &["999"]);
    gridemu(&["snapshots", &store, "--prune", "1"]).well();
    assert_eq!(gridemu(&["snapshots", &store, "--json"]).json()["snapshots"].as_array().unwrap().len(), 1);
    gridemu(&["snapshots", &store, "--remove", &number]).ends(2, &["snapshot"]);
}

#[test]
fn nothing_is_taken_for_a_store_that_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| argument(&folder.path().join(name));
    fs::write(folder.path().join("file"), "text").unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    fs::write(folder.path().join("folder/data.db"), [0; 100]).unwrap();
    for command in ["resume", "snapshots"] {
        gridemu(&[command, &path("nowhere")]).ends(2, &["nowhere"]);
        gridemu(&[command, &path("file")]).ends(2, &["file"]);
        gridemu(&[command, &path("folder")]).ends(2, &["folder", "gridemu-store"]);
    }
    gridemu(&["fork", &path("nowhere"), "--at", "1 d"]).ends(2, &["nowhere"]);
}

/// The files of a run are checked before it goes on, and each damage is told apart. Nothing is changed then.
#[test]
fn files_that_are_not_what_they_were_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let (out, store) = stopped(folder.path(), "tests/it/scenarios/quickstart.toml");
    let jobs = Path::new(&out).join("jobs.csv");
    let text = fs::read(&jobs).unwrap();
    let refused = |words: &[&str]| {
        gridemu(&["resume", &store]).ends(2, &[&["jobs.csv"], words].concat());
    };
    fs::remove_file(&jobs).unwrap();
    refused(&["is missing"]);
    fs::write(&jobs, &text[..text.len() / 2]).unwrap();
    refused(&["at the snapshot"]);
    let mut edited = text.clone();
    let at = edited.len() / 3;
    edited[at] = if edited[at] == b'7' { b'8' } else { b'7' };
    fs::write(&jobs, &edited).unwrap();
    refused(&["was changed"]);
    fs::write(&jobs, &text).unwrap();
    assert_eq!(fingerprint_as_it_was(&store), QUICKSTART);
}

/// Whatever byte of a store is damaged, the run goes on from the snapshot before, or says what is damaged.
#[test]
fn a_damaged_store_is_never_believed() {
    let folder = tempfile::tempdir().unwrap();
    // A small run: it is run again for every file of its store.
    let scenario = argument(&folder.path().join("small.toml"));
    let text = fs::read_to_string("configs/two-sites.toml").unwrap().replace("jobs = 500", "jobs = 100");
    fs::write(&scenario, text).unwrap();
    let scenario = scenario.as_str();
    let fingerprint = gridemu(&["run", scenario, "--json"]).json()["fingerprint"].as_str().map(str::to_owned);
    let (_, store) = stopped(folder.path(), scenario);
    let at = newest(&store);
    let mut files = Vec::new();
    let mut folders = vec![Path::new(&store).to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    for file in files {
        let whole = fs::read(&file).unwrap();
        if whole.is_empty() {
            continue;
        }
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 0x10;
        for damaged in [flipped, whole[..whole.len() / 2].to_vec()] {
            fs::write(&file, damaged).unwrap();
            let ran = gridemu(&["fork", &store, "--at", &at, "--json"]);
            match ran.code {
                Some(0) => {
                    let found = ran.json()["grid"]["as_it_was"]["fingerprint"].as_str().map(str::to_owned);
                    assert_eq!(found, fingerprint, "{}", file.display());
                }
                code => {
                    assert_eq!(code, Some(2), "{}: {}", file.display(), ran.err);
                    assert!(ran.err.contains("error:") && ran.err.contains("hint:"), "{}", ran.err);
                }
            }
            fs::write(&file, &whole).unwrap();
        }
    }
    // Of a newer gridemu.
    let marker = Path::new(&store).join("gridemu-store");
    let text = fs::read_to_string(&marker).unwrap();
    assert!(text.contains("layout"), "{text}");
    assert_eq!(Some(fingerprint_as_it_was(&store)), fingerprint);
}

#[test]
fn two_processes_do_not_share_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = argument(&folder.path().join("store"));
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("gridemu"))
        .args(["run", "tests/it/scenarios/quickstart.toml", "--pace", "1000", "--checkpoint", &store])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !Path::new(&store).join("snapshot-00000001").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    for command in [&["resume", &store][..], &["snapshots", &store], &["fork", &store, "--at", "1 d"]] {
        gridemu(command).ends(2, &["use"]);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // Whoever is killed lets go of it.
    gridemu(&["snapshots", &store]).well();
}

/// A log that has been changed since is told, and not gone on with.
#[test]
fn a_log_that_has_changed_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| argument(&folder.path().join(name));
    let log = gridemu(&["generate", "lublin[jobs=4000,load=0.7]"]).well().out.clone();
    fs::write(folder.path().join("log.swf"), &log).unwrap();
    let (log_path, store) = (path("log.swf"), path("store"));
    let replay =
        ["replay", &log_path, "--policy", "easy", "--checkpoint", &store, "--checkpoint-keep-at", "2 d"];
    gridemu(&replay).well();
    fs::remove_file(folder.path().join("store/finished")).unwrap();
    gridemu(&["resume", &store]).well();
    fs::remove_file(folder.path().join("store/finished")).unwrap();
    let changed = log.replacen("\n100 ", "\n100 9", 1);
    assert_ne!(changed, log);
    // In what was read before, beyond it, and in a header that the scenario is made of.
    let header = log.replacen("MaxProcs: 128", "MaxProcs: 256", 1);
    assert_ne!(header, log);
    for changed in [changed, log.clone() + "\n", log.replacen("\n3999 ", "\n3999 9", 1), header] {
        fs::write(folder.path().join("log.swf"), changed).unwrap();
        let told = gridemu(&["resume", &store]);
        told.ends(2, &["log.swf` has changed since the run", "put back the file"]);
    }
    fs::remove_file(folder.path().join("log.swf")).unwrap();
    gridemu(&["resume", &store]).ends(2, &["log.swf"]);
}

/// Both futures of a fork have the same past, byte by byte, and part after it.
#[test]
fn futures_part_at_the_fork() {
    let folder = tempfile::tempdir().unwrap();
    let (out, store) = finished(folder.path());
    let futures = argument(&folder.path().join("futures"));
    let fork = ["fork", &store, "--at", "4 d", "--json"];
    let same = gridemu(&fork).json();
    assert_eq!(same["grid"]["as_it_was"]["fingerprint"], QUICKSTART);
    assert_eq!(same["grid"]["changed"]["fingerprint"], QUICKSTART);
    assert!(same["grid"]["difference"].is_null());
    for change in [
        "broker.policy=random",
        "site.delft.policy=fcfs",
        "site.windsor.policy=conservative",
        "broker.monitoring_interval=30 min",
        "network.latency=2 s",
        "site.oslo.price_by_hour=8-20=2",
    ] {
        let told = gridemu(&[&fork[..], &["--set", change, "--out", &futures]].concat()).json();
        let told = &told["grid"];
        assert_eq!(told["as_it_was"]["fingerprint"], QUICKSTART, "{change}");
        assert_ne!(told["changed"]["fingerprint"], QUICKSTART, "{change}");
        let at = told["branch"]["at_s"].as_f64().unwrap();
        assert_eq!(at, 345_600.0, "{change}");
        assert!(told["difference"]["at_s"].as_f64().unwrap() >= at, "{change}: {}", told["difference"]);
        let read = |of: &str, file: &str| fs::read_to_string(Path::new(of).join(file)).unwrap();
        for file in ["jobs.csv", "segments.csv", "events.csv"] {
            let whole = read(&out, file);
            assert_eq!(read(&futures, &format!("as-it-was/{file}")), whole, "{change}: {file}");
            let changed = read(&futures, &format!("changed/{file}"));
            let same = changed.lines().zip(whole.lines()).take_while(|(a, b)| a == b).count();
            assert!(file != "jobs.csv" || same > 1_628, "{change}: {same} lines of {file} are the same");
        }
    }
    for (change, word) in [
        ("site.delft.machines.node.count=3", "machines"),
        ("seed=99", "workload"),
        ("broker.policy=nonsense", "nonsense"),
        ("until=1 d", "ended"),
        ("measure=all", "count"),
    ] {
        gridemu(&[&fork[..], &["--set", change]].concat()).ends(2, &[word]);
    }
    gridemu(&["fork", &store, "--at", "4 d", "--policy", "easy"]).ends(2, &["site.delft.policy"]);
}

#[test]
fn a_replay_has_other_futures_too() {
    let folder = tempfile::tempdir().unwrap();
    let store = argument(&folder.path().join("store"));
    let model = "lublin[jobs=3000,load=0.9]";
    gridemu(&["replay", model, "--policy", "easy", "--checkpoint", &store, "--checkpoint-every", "5 ms"])
        .well();
    let fork = ["fork", &store, "--at", &newest(&store), "--json"];
    let same = gridemu(&fork).json();
    assert_eq!(same["grid"]["as_it_was"]["fingerprint"], same["grid"]["changed"]["fingerprint"]);
    let told = gridemu(&[&fork[..], &["--policy", "fcfs"]].concat()).json();
    assert_eq!(told["grid"]["as_it_was"]["fingerprint"], same["grid"]["changed"]["fingerprint"]);
    let change = told["grid"]["branch"]["changes"][0].as_str().unwrap();
    assert!(change.contains("`fcfs` instead of `easy`"), "{change}");
    let set = gridemu(&[&fork[..], &["--set", "site.site.policy=fcfs"]].concat()).json();
    assert_eq!(set["grid"]["changed"]["fingerprint"], told["grid"]["changed"]["fingerprint"]);
    let several = ["replay", model, "--policy", "easy", "--policy", "fcfs", "--checkpoint", &store];
    gridemu(&several).ends(2, &["several policies"]);
    gridemu(&["replay", "-", "--policy", "easy", "--checkpoint", &store]).ends(2, &["only once"]);
}

/// What a replay was before replays were runs of a scenario is refused by name.
#[test]
fn the_store_of_a_replay_of_before_is_refused() {
    use gridemu::store::{About, RunKind, Store, StoreOptions};
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let about = About {
        kind: RunKind::Replay,
        description: br#"{"replay":{}}"#.to_vec(),
        title: "easy on a log".to_owned(),
        hash: 7,
        program: "0.0.9".to_owned(),
    };
    drop(Store::create(&store, &about, &StoreOptions::default()).unwrap());
    let says =
        ["is the store of a replay by gridemu 0.0.9", "hint: resume it with gridemu 0.0.9, or replay anew"];
    gridemu(&["resume", &argument(&store)]).ends(2, &says);
    gridemu(&["fork", &argument(&store), "--at", "1 d"]).ends(2, &says);
}

/// `--checkpoint-anew` removes snapshots and nothing else, and nothing at all if the run cannot begin.
#[test]
fn only_snapshots_are_removed_for_a_run_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| argument(&folder.path().join(name));
    let log = gridemu(&["generate", "lublin[jobs=500,load=0.7]"]).well().out.clone();
    fs::write(folder.path().join("log.swf"), log).unwrap();
    let (log, store, gone) = (path("log.swf"), path("store"), path("gone.swf"));
    let keep = ["--checkpoint", &store, "--checkpoint-keep-at", "1 h", "--checkpoint-keep-at", "2 h"];
    gridemu(&[&["replay", &log, "--policy", "easy"][..], &keep].concat()).well();
    let kept = |rows: &serde_json::Value| {
        rows["snapshots"].as_array().unwrap().iter().filter(|row| row["kept"] == true).count()
    };
    assert_eq!(kept(&gridemu(&["snapshots", &store, "--json"]).json()), 2);
    // A log that is not there is found out first.
    let anew = [&keep[..], &["--checkpoint-anew"]].concat();
    gridemu(&[&["replay", &gone, "--policy", "easy"][..], &anew].concat()).ends(2, &["gone.swf"]);
    assert_eq!(kept(&gridemu(&["snapshots", &store, "--json"]).json()), 2);
    // Removing is all or nothing.
    let number = gridemu(&["snapshots", &store, "--json"]).json()["snapshots"][0]["number"].to_string();
    gridemu(&["snapshots", &store, "--remove", &number, "--remove", "99"]).ends(2, &["99"]);
    assert_eq!(kept(&gridemu(&["snapshots", &store, "--json"]).json()), 2);
    // What somebody else put there stays, and is told.
    let page = folder.path().join("store/page.txt");
    fs::write(&page, "dear diary").unwrap();
    gridemu(&[&["replay", &log, "--policy", "easy"][..], &anew].concat()).ends(2, &["page.txt"]);
    assert!(page.exists());
    fs::remove_file(&page).unwrap();
    gridemu(&[&["replay", &log, "--policy", "easy"][..], &anew].concat()).well();
    // Files and snapshots do not share a folder.
    let both = path("both");
    gridemu(&["run", "tests/it/scenarios/quickstart.toml", "--out", &both, "--checkpoint", &both])
        .ends(2, &["both"]);
    gridemu(&["run", "tests/it/scenarios/quickstart.toml", "--checkpoint-every", "5 s"])
        .ends(2, &["--checkpoint STORE"]);
}

/// The newest snapshot is damaged: the one before is used, and that is said. If the run cannot go on from that, nothing is lost.
#[test]
fn the_snapshot_before_a_damaged_one_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let (out, store) = finished(folder.path());
    let snapshots = || {
        let facts = gridemu(&["snapshots", &store, "--json"]).json();
        facts["snapshots"].as_array().unwrap().len()
    };
    let newest = Path::new(&store).join("snapshot-00000003/seal");
    let seal = fs::read(&newest).unwrap();
    fs::write(&newest, &seal[..seal.len() / 2]).unwrap();
    fs::remove_file(Path::new(&store).join("finished")).unwrap();
    let forked = gridemu(&["fork", &store, "--at", "7 d", "--json"]);
    assert_eq!(forked.json()["grid"]["branch"]["snapshot_at_s"], 259_200.0);
    forked.ends(0, &["snapshot 3 cannot be used"]);
    let jobs = Path::new(&out).join("jobs.csv");
    let whole = fs::read(&jobs).unwrap();
    fs::write(&jobs, "job\n").unwrap();
    let before = snapshots();
    gridemu(&["resume", &store]).ends(2, &["jobs.csv", "snapshot 3"]);
    assert_eq!(snapshots(), before, "nothing is removed before it is known that the run goes on");
    fs::write(&jobs, &whole).unwrap();
    let resumed = gridemu(&["resume", &store, "--json"]);
    assert_eq!(resumed.json()["fingerprint"], QUICKSTART);
    resumed.ends(0, &["snapshot 3", "resumes from snapshot 2"]);
    assert_eq!(fs::read(&jobs).unwrap(), whole);
}

/// A run without segments leaves no segments.csv, and a valid schedule; so does a future of it.
#[test]
fn a_run_without_segments_is_legal() {
    let folder = tempfile::tempdir().unwrap();
    let [out, store, futures] = ["out", "store", "futures"].map(|name| argument(&folder.path().join(name)));
    // A file of an earlier run.
    fs::create_dir(&out).unwrap();
    fs::write(Path::new(&out).join("segments.csv"), "job\n1\n").unwrap();
    let sets = ["--set", "output.segments=false", "--checkpoint-keep-at", "3 d"];
    let run = ["run", "configs/churn.toml", "--out", &out, "--checkpoint", &store];
    gridemu(&[&run[..], &sets].concat()).well();
    gridemu(&["fork", &store, "--at", "3 d", "--out", &futures]).well();
    for dir in [&out, &futures] {
        let judged = gridemu(&["validate", dir]);
        assert!(judged.well().out.contains(": valid\n"), "{}", judged.out);
        let unchecked = "not checked: down: the folder has no segments.csv";
        assert!(judged.out.contains(unchecked), "{}", judged.out);
    }
    let mut left = fs::read_dir(&futures).unwrap().map(|future| future.unwrap().path());
    assert!(left.all(|future| !future.join("segments.csv").exists()));
    assert!(!Path::new(&out).join("segments.csv").exists());
}

/// A second run into the folder of one that is not over is refused, and changes nothing there.
#[test]
fn a_folder_that_a_run_writes_is_not_given_to_another() {
    let folder = tempfile::tempdir().unwrap();
    let out = argument(&folder.path().join("out"));
    let run = ["run", "tests/it/scenarios/quickstart.toml", "--out", &out];
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("gridemu"))
        .args(run)
        .args(["--pace", "1000"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !Path::new(&out).join("scenario.toml").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    let by = format!("is being written by another run (process {})", child.id());
    gridemu(&run).ends(2, &[by.as_str(), "hint: wait until that run has ended, or choose another folder"]);
    child.kill().unwrap();
    child.wait().unwrap();
    // A run that is killed lets go of it, and one that ends leaves no lock.
    gridemu(&run).well();
    assert!(!Path::new(&out).join("run.lock").exists());
}
