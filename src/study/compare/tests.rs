use std::fs;

use super::*;

/// A folder with a summary, and a table of jobs: number, submission, start, end; one processor each.
fn folder(path: &Path, summary: &Value, jobs: &[(u64, u64, u64, u64)]) {
    fs::create_dir_all(path).unwrap();
    fs::write(path.join("summary.json"), summary.to_string()).unwrap();
    let mut text = String::from(
        "job,submit,start,end,procs,site,outcome,requested,run,estimate,wait,response,bsld,user,class,attempts,energy_j,cost,reason,partition,origin\n",
    );
    for (job, submit, start, end) in jobs {
        let (run, wait, response) = (end - start, start - submit, end - submit);
        text += &format!(
            "{job},{submit},{start},{end},1,here,completed,1,{run},{run},{wait},{response},1,-1,all,1,0,0,,p,local\n"
        );
    }
    fs::write(path.join("jobs.csv"), text).unwrap();
}

fn summary(seed: u64, tau: u64) -> Value {
    serde_json::json!({
        "scenario": "s", "scenario_hash": "h", "fingerprint": format!("f{seed}"), "seed": seed, "tau": tau, "jobs": 9, "mean_wait": 5.0,
        "outcomes": { "completed": 9, "killed": 0, "failed": 0, "rejected": 0, "cancelled": 0, "unfinished": 0 },
    })
}

fn asked(paths: &[PathBuf]) -> Result<Comparison, RunError> {
    asked_for(paths, &[])
}

fn asked_for(paths: &[PathBuf], measures: &[&str]) -> Result<Comparison, RunError> {
    let options = CompareOptions {
        by: None,
        baseline: None,
        only: Vec::new(),
        measures: measures.iter().map(|id| (*id).to_owned()).collect(),
        charge: None,
        tolerance: 0.0,
        finite: false,
        level: 0.95,
        top: 0,
        seed: 1,
    };
    compare(paths, &options)
}

fn said(paths: &[PathBuf]) -> String {
    asked(paths).unwrap_err().to_string()
}

#[test]
fn folders_with_a_run_for_each_seed_are_a_study() {
    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str| dir.path().join(name);
    for (name, tau) in [("a", 10), ("b", 10), ("c", 60)] {
        for seed in [1, 2] {
            folder(&place(name).join(seed.to_string()), &summary(seed, tau), &[(1, 0, 5, 6)]);
        }
    }
    folder(&place("one"), &summary(1, 10), &[(1, 0, 5, 6)]);
    let Comparison::Study(found) = asked(&[place("a"), place("b")]).unwrap() else { panic!("no study") };
    assert_eq!((found.by.as_str(), found.seeds), ("run", Some((2, 2))));
    // All runs must have one bound of the slowdown, as runs that are compared job by job.
    assert!(said(&[place("a"), place("c")]).contains("different bounds of the slowdown"));
    // Several seeds in one place and one run in the other are ambiguous.
    let mixed = said(&[place("a"), place("one")]);
    assert!(
        mixed.contains("a` has a run for each of 2 seeds, and `") && mixed.ends_with("one` has not"),
        "{mixed}"
    );
}

#[test]
fn runs_are_compared_in_the_window_that_they_measure() {
    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str| dir.path().join(name);
    let windowed = |from: f64, to: f64| {
        let mut summary = summary(1, 10);
        summary["measure"] = serde_json::json!({ "from": from, "to": to });
        summary
    };
    folder(&place("a"), &windowed(10.0, 20.0), &[(1, 0, 500, 600), (2, 10, 30, 60), (3, 20, 900, 901)]);
    folder(&place("b"), &windowed(10.0, 20.0), &[(1, 0, 0, 100), (2, 10, 15, 45), (3, 20, 20, 21)]);
    folder(&place("c"), &windowed(0.0, 20.0), &[(2, 10, 15, 45)]);
    // A window without an end, as a summary writes it.
    for name in ["d", "e"] {
        folder(&place(name), &windowed(10.0, Time::NEVER.as_secs_f64()), &[(1, 0, 0, 1), (2, 10, 15, 45)]);
    }
    let cell = |x: &str, y: &str| {
        let Comparison::Runs(found) = asked(&[place(x), place(y)]).unwrap() else { panic!("a study") };
        let cell = found.pairs[0].cells[0].clone();
        (cell.pairs, cell.difference)
    };
    assert_eq!(cell("a", "b"), (1, Some(-15.0)));
    assert_eq!(cell("d", "e"), (1, Some(0.0)));
    assert!(said(&[place("a"), place("c")]).contains("different windows (10 s to 20 s; 0 s to 20 s)"));
}

#[test]
fn users_that_wait_for_their_jobs_submit_them_at_other_instants() {
    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str| dir.path().join(name);
    let replay = |options: &[&str]| {
        let mut summary = summary(1, 10);
        summary["options"] = serde_json::json!(options);
        summary
    };
    folder(&place("a"), &replay(&["--feedback"]), &[(1, 0, 5, 6), (2, 10, 10, 11)]);
    folder(&place("b"), &replay(&["--feedback"]), &[(1, 0, 0, 1), (2, 5, 5, 6)]);
    folder(&place("c"), &replay(&[]), &[(1, 0, 5, 6), (2, 10, 10, 11)]);
    folder(&place("d"), &replay(&[]), &[(1, 0, 0, 1), (2, 5, 5, 6)]);
    let paired = |x: &str, y: &str| {
        let Comparison::Runs(found) = asked(&[place(x), place(y)]).unwrap() else { panic!("a study") };
        (found.pairs[0].jobs, found.pairs[0].unpaired)
    };
    assert_eq!(paired("a", "b"), (2, [0, 0]));
    assert_eq!(paired("c", "d"), (1, [1, 1]));
    // A scenario has `feedback` in its workload.
    for name in ["c", "d"] {
        let text = "[[site]]\nname = \"here\"\nworkload = { log = \"x.swf\", feedback = true }\n";
        fs::write(place(name).join("scenario.toml"), text).unwrap();
    }
    assert_eq!(paired("c", "d"), (2, [0, 0]));
}

#[test]
fn folders_are_compared_by_the_measures_that_are_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str| dir.path().join(name);
    let with_sites = |seed: u64, wait: f64| {
        let mut summary = summary(seed, 10);
        for (key, value) in [("mean_wait", wait), ("p95_wait", 3.0 * wait), ("cost", 0.0)] {
            summary[key] = value.into();
        }
        summary["local"] = serde_json::json!({ "mean_wait": wait });
        summary
    };
    for (name, wait) in [("a", 5.0), ("b", 7.0)] {
        folder(&place(name), &with_sites(1, wait), &[(1, 0, 5, 6)]);
        for seed in [1, 2] {
            let run = format!("{name}s/{seed}");
            folder(&place(&run), &with_sites(seed, wait + seed as f64), &[(1, 0, 5, 6)]);
        }
    }
    let pair = [place("a"), place("b")];
    let Comparison::Runs(found) = asked_for(&pair, &["mean_wait", "p95_wait"]).unwrap() else {
        panic!("a study")
    };
    let cells: Vec<&str> = found.pairs[0].cells.iter().map(|cell| cell.measure.as_str()).collect();
    assert_eq!(cells, ["mean_wait"]);
    assert_eq!(found.whole, [("p95_wait".to_owned(), vec![Some(15.0), Some(21.0)])]);
    let wrong = asked_for(&pair, &["p95_wiat"]).unwrap_err();
    assert_eq!(wrong.to_string(), "the runs have no measure `p95_wiat` (did you mean `p95_wait`?)");
    let hint = wrong.hint().unwrap();
    assert!(hint.contains("`mean_wait`") && hint.contains("`p95_wait`"), "what there is: {hint}");
    let seeds = [place("as"), place("bs")];
    let of_study = |measures: &[&str]| {
        let Comparison::Study(found) = asked_for(&seeds, measures).unwrap() else { panic!("no study") };
        found.cells.into_iter().map(|cell| cell.measure).collect::<Vec<_>>()
    };
    // The jobs of the only site's users are all jobs.
    assert_eq!(of_study(&[]), ["cost", "mean_wait"]);
    assert_eq!(of_study(&["p95_wait"]), ["p95_wait"]);
    assert_eq!(of_study(&["local.mean_wait"]), ["local.mean_wait"]);
    assert!(asked_for(&seeds, &["p95_wiat"]).unwrap_err().to_string().contains("no measure `p95_wiat`"));
}

#[test]
fn a_job_that_stands_twice_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str| dir.path().join(name);
    folder(&place("a"), &summary(1, 10), &[(1, 0, 5, 6), (2, 0, 5, 6)]);
    folder(&place("b"), &summary(1, 10), &[(1, 0, 5, 6), (2, 0, 5, 6), (1, 0, 5, 6)]);
    for paths in [[place("a"), place("b")], [place("b"), place("a")]] {
        let said = said(&paths);
        assert!(said.ends_with("b/jobs.csv:4: job 1 is already in line 2"), "{said}");
    }
}
