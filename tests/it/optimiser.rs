//! A broker that plans by a search: what it plans together, and the measures of its fronts.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::cli::gridemu;

/// A folder with a scenario of these sites and this workload under this policy.
fn folder(sites: &str, policy: &str, workload: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "{sites}[network]\nlatency = '0 s'\n[broker]\npolicy = '{policy}'\n[[workload]]\n{workload}\n"
    );
    fs::write(folder.path().join("run.toml"), text).unwrap();
    folder
}

/// Runs it, into `out` beside it; returns the summary.
fn run(folder: &Path) -> Value {
    let out = folder.join("out");
    gridemu(&["run", folder.join("run.toml").to_str().unwrap(), "--out", out.to_str().unwrap()]).well();
    serde_json::from_str(&fs::read_to_string(out.join("summary.json")).unwrap()).unwrap()
}

/// A log of jobs of one processor: submission and run time.
fn log(jobs: &[(u64, u64)]) -> String {
    let row = |(number, (submit, runtime)): (usize, &(u64, u64))| {
        format!("{} {submit} -1 {runtime} 1 -1 -1 1 {runtime} -1 1 1 1 1 -1 -1 -1 -1\n", number + 1)
    };
    jobs.iter().enumerate().map(row).collect()
}

/// One processor. The first job starts at once. The second must wait for it; it is queued, because one must be. The two that come then are planned together at
/// the next planning, and the one that is due first goes first, though it came last.
#[test]
fn what_comes_while_a_task_waits_is_planned_together() {
    let site = "[[site]]\nname = 'one'\nmachines = [{ class = 'node', count = 1 }]\npolicy = 'fcfs'\n";
    let workload = "log = 'jobs.swf'\ndeadline = 'submit + 4 x estimate'";
    let folder = folder(site, "mojs[population=4,generations=2]", workload);
    fs::write(folder.path().join("jobs.swf"), log(&[(0, 3600), (60, 3000), (120, 600), (180, 300)])).unwrap();
    run(folder.path());
    let jobs = fs::read_to_string(folder.path().join("out/jobs.csv")).unwrap();
    let ended: Vec<&str> = jobs.lines().skip(1).filter_map(|row| row.split(',').next()).collect();
    assert_eq!(ended, ["1", "2", "4", "3"]);
}

/// One job of 100 s. In the fast pool it takes 100 s at full dissipation, in the frugal one 160 s at a fifth: (1, 1) and (1.6, 0.32) of makespan and energy in the
/// fast one, where it ends first. All else is 0. Of the square up to (2, 2) the first dominates 1 x 1, the second 0.4 x 1.68, both 0.4 x 1 of it: 1.272 of 4.
/// The sums are 2 and 1.92, so the second is chosen.
#[test]
fn a_front_of_two_by_hand() {
    let sites = "[[site]]\nname = 'fast'\nmachines = [{ class = 'node', count = 1, busy = '100 W' }]\npolicy = 'fcfs'\n\
        [[site]]\nname = 'frugal'\nmachines = [{ class = 'node', count = 1, speed = 0.625, busy = '20 W' }]\npolicy = 'fcfs'\n";
    let made = |policy: &str| {
        let folder = folder(sites, policy, "log = 'jobs.swf'");
        fs::write(folder.path().join("jobs.swf"), log(&[(0, 100)])).unwrap();
        folder
    };
    let planned = made("mojs");
    let summary = run(planned.path());
    assert_eq!(summary["makespan"], 160.0);
    let fronts = &summary["fronts"];
    let counts = ["plannings", "tasks", "evaluations", "size"].map(|key| fronts[key].as_f64().unwrap());
    assert_eq!(counts, [1.0, 1.0, 2.0, 2.0]);
    let near = |key: &str, value: f64| (fronts[key].as_f64().unwrap() - value).abs() < 1e-9;
    assert!(near("hypervolume", 1.272 / 4.0) && near("value", 1.92), "{fronts}");

    // Campaigns know these measures where the policy has a front, and those of limits where there are any.
    let campaign = |folder: &Path, measure: &str| {
        let text = format!("scenario = 'run.toml'\nmeasures = ['{measure}']\nseeds = 1\n");
        fs::write(folder.join("study.toml"), text).unwrap();
        let file = folder.join("study.toml");
        gridemu(&[
            "campaign",
            file.to_str().unwrap(),
            "--store",
            folder.join("store").to_str().unwrap(),
            "--json",
        ])
    };
    let told = campaign(planned.path(), "fronts.hypervolume").json();
    assert!(told.to_string().contains("0.31799999"), "{told}");
    campaign(made("mct").path(), "fronts.hypervolume").ends(2, &["there is no measure `fronts.hypervolume`"]);
    // They know how long planning takes where it takes time, and be it by the policy alone: one task in two schedules.
    let told = campaign(made("mojs[per_gene=30 ms]").path(), "planning.time_s").json();
    assert_eq!(told["rows"][0]["values"][0], 0.06, "{told}");
    campaign(planned.path(), "planning.time_s").ends(2, &["there is no measure `planning.time_s`"]);
    campaign(planned.path(), "limits.missed").ends(2, &["there is no measure `limits.missed`"]);
    let due = folder(sites, "mct", "log = 'jobs.swf'\ndeadline = 'submit + 50 s'");
    fs::write(due.path().join("jobs.swf"), log(&[(0, 100)])).unwrap();
    campaign(due.path(), "limits.missed").well();
    campaign(due.path(), "limits.missing").ends(2, &["did you mean `limits.missed`"]);
}
