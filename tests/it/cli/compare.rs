//! `gridemu compare`

use std::fs;
use std::path::Path;

use super::gridemu;

/// A table of jobs: number, submission, start (none: rejected), end, run time; one processor each.
fn jobs(path: &Path, rows: &[(u64, u64, Option<u64>, u64, u64)]) {
    let mut text = String::from(
        "job,submit,start,end,procs,site,outcome,requested,run,estimate,wait,response,bsld,user,class,attempts,energy_j,cost,reason,partition,origin\n",
    );
    for (job, submit, start, end, run) in rows {
        let (wait, response) = (start.map(|start| start - submit), start.map(|_| end - submit));
        let shown = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        let outcome = if start.is_some() { "completed" } else { "rejected" };
        let reason = if start.is_some() { "" } else { "too-large" };
        text += &format!(
            "{job},{submit},{},{end},1,here,{outcome},1,{run},{run},{},{},,-1,all,1,0,0,{reason},p,local\n",
            shown(*start),
            shown(wait),
            shown(response),
        );
    }
    fs::write(path, text).unwrap();
}

#[test]
fn runs_of_one_workload_are_paired_by_job() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a.csv"), dir.path().join("b.csv"));
    // Waits of 0, 90 and 180 s become 0, 0 and 240 s.
    jobs(&a, &[(1, 0, Some(0), 100, 100), (2, 10, Some(100), 200, 100), (3, 20, Some(200), 300, 100)]);
    jobs(&b, &[(1, 0, Some(0), 100, 100), (2, 10, Some(10), 110, 100), (3, 20, Some(260), 360, 100)]);
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    let ran = gridemu(&["compare", a, b]);
    let out = &ran.well().out;
    assert!(out.contains("1 jobs start sooner, 1 at the same instant, 1 later"), "{out}");
    assert!(
        out.contains(
            "no intervals and no verdict\nwith a log, compare a longer part; with a model, 30 seeds"
        ),
        "{out}"
    );
    // What is the same in every pair is no verdict, and stands in no brackets.
    let same = gridemu(&["compare", a, a]);
    let out = &same.well().out;
    assert!(out.contains("  same\n") && !out.contains("brackets"), "{out}");
    let json = gridemu(&["compare", a, b, "--json"]).json();
    let cell = &json["runs"]["pairs"][0]["cells"][0];
    assert_eq!((cell["baseline_mean"].as_f64(), cell["variant_mean"].as_f64()), (Some(90.0), Some(80.0)));
    assert_eq!((cell["difference"].as_f64(), cell["says"].as_str()), (Some(-10.0), Some("nothing")));
    let back = gridemu(&["compare", a, b, "--baseline", "b.csv", "--json"]);
    back.ends(2, &["there is no run `b.csv`"]);
}

#[test]
fn a_ranking_is_refused_where_jobs_did_not_end_alike() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a.csv"), dir.path().join("b.csv"));
    jobs(&a, &[(1, 0, Some(0), 100, 100), (2, 10, Some(110), 210, 100)]);
    jobs(&b, &[(1, 0, Some(50), 150, 100), (2, 10, None, 10, 100)]);
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    let ran = gridemu(&["compare", a, b]);
    let out = &ran.well().out;
    assert!(
        out.contains("warning: 1 job have different outcomes: completed 2 and 1, rejected 0 and 1"),
        "{out}"
    );
    assert!(
        out.contains("refused: 1 of 2 jobs have different outcomes, more than the tolerance of 1 %; `--charge to-the-end`"),
        "{out}"
    );
    let wait = |charge: &str| {
        let json = gridemu(&["compare", a, b, "--charge", charge, "--json"]).json();
        let cell = &json["runs"]["pairs"][0]["cells"][0];
        (cell["baseline_mean"].as_f64().unwrap(), cell["variant_mean"].as_f64().unwrap())
    };
    assert_eq!(wait("leave-out"), (0.0, 50.0));
    // Tolerated, it is left out too, and the other end of the effect is that of `to-the-end`.
    let json = gridemu(&["compare", a, b, "--tolerance", "50", "--json"]).json();
    let cell = &json["runs"]["pairs"][0]["cells"][0];
    assert_eq!((cell["difference"].as_f64(), cell["charged"].as_f64()), (Some(50.0), Some(75.0)));
    let out = gridemu(&["compare", a, b, "--tolerance", "50"]).well().out.clone();
    assert!(out.contains(" charged ") && out.contains("\ncharged: the difference if"), "{out}");
    // The longer run ends at 210 s: job 2, rejected in b, waits 200 s there.
    assert_eq!(wait("to-the-end"), (50.0, 125.0));
    gridemu(&["compare", a, b, "--charge", "somehow"]).ends(2, &["leave-out", "to-the-end"]);
}

/// A study of `policy` x `load` with three seeds.
const STUDY: &str = "\
run,policy,load,seed,status,jobs,completed,killed,failed,rejected,cancelled,unfinished,unstable,scenario_hash,fingerprint,error,mean_wait,utilization
1,fcfs,0.5,1,done,9,9,0,0,0,0,0,no,a,b,,10,0.5
2,fcfs,0.5,2,done,9,9,0,0,0,0,0,no,a,b,,20,0.5
3,fcfs,0.5,3,done,9,9,0,0,0,0,0,no,a,b,,30,0.5
4,easy,0.5,1,done,9,9,0,0,0,0,0,no,a,b,,9,0.5
5,easy,0.5,2,done,9,9,0,0,0,0,0,no,a,b,,18,0.5
6,easy,0.5,3,failed,9,9,0,0,0,0,0,no,a,b,it broke,,
7,fcfs,0.9,1,done,9,9,0,0,0,0,0,yes,a,b,,900,0.8
8,easy,0.9,1,done,9,9,0,0,0,0,0,no,a,b,,90,0.9
";

#[test]
fn variants_of_a_study_are_paired_by_seed() {
    let dir = tempfile::tempdir().unwrap();
    let study = dir.path().join("results.csv");
    fs::write(&study, STUDY).unwrap();
    let study = study.to_str().unwrap();
    let ran = gridemu(&["compare", study]);
    let out = &ran.well().out;
    assert!(out.contains("warning: 1 run failed; comparisons that need a failed run are refused"), "{out}");
    assert!(out.contains("refused: a run failed in 1 of 3 pairs (seed 3)"), "{out}");
    let ran = gridemu(&["compare", study, "--charge", "leave-out"]);
    let out = &ran.well().out;
    assert!(out.contains("easy against fcfs, paired by seed"), "{out}");
    assert!(
        out.contains("2 seeds: too few for a statement (5 seeds make a smoke test, 30 a verdict)"),
        "{out}"
    );
    assert!(out.contains("warning: 1 run failed; left out"), "{out}");
    assert!(out.contains("no mean: the backlog grows (unstable) in 1 of 1 runs of the baseline"), "{out}");
    // The folder of the store is as good as its table.
    let folder = dir.path().to_str().unwrap();
    assert_eq!(&gridemu(&["compare", folder, "--charge", "leave-out"]).well().out.len(), &out.len());
    let narrow = ["--charge", "leave-out", "--where", "load=0.5", "--measure", "mean_wait", "--json"];
    let json = gridemu(&[&["compare", study], &narrow[..]].concat()).json();
    let cells = json["study"]["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 1);
    assert_eq!((cells[0]["pairs"].as_u64(), cells[0]["difference"].as_f64()), (Some(2), Some(-1.5)));
}

#[test]
fn questions_that_make_no_sense_are_refused_with_a_hint() {
    let dir = tempfile::tempdir().unwrap();
    let study = dir.path().join("results.csv");
    fs::write(&study, STUDY).unwrap();
    let study = study.to_str().unwrap();
    gridemu(&["compare", study, "--by", "polcy"]).ends(2, &["no axis `polcy`", "did you mean `policy`?"]);
    gridemu(&["compare", study, "--measure", "mean_wiat"])
        .ends(2, &["no measure `mean_wiat`", "did you mean `mean_wait`?"]);
    gridemu(&["compare", study, "--where", "load=0.7"])
        .ends(2, &["axis `load` has no `0.7`; it has `0.5`, `0.9`"]);
    gridemu(&["compare", study, "--where", "load"]).ends(2, &["such as `load=0.7`"]);
    gridemu(&["compare", study, "--store", "somewhere"]).ends(2, &["are for the file of a campaign"]);
    gridemu(&["compare", study, "--tolerance", "101"]).ends(2, &["from 0 to 100"]);
    gridemu(&["compare", study, study]).ends(2, &["is the table of a campaign"]);
    gridemu(&["compare", dir.path().join("nowhere").to_str().unwrap()]).ends(2, &["cannot be read"]);
    let broken = dir.path().join("broken.csv");
    fs::write(&broken, &STUDY[..STUDY.len() - 30]).unwrap();
    gridemu(&["compare", broken.to_str().unwrap()])
        .ends(2, &["broken.csv", "a complete table of `gridemu campaign`"]);
    let alone = dir.path().join("alone.csv");
    jobs(&alone, &[(1, 0, Some(0), 100, 100)]);
    let alone = alone.to_str().unwrap();
    gridemu(&["compare", alone]).ends(2, &["one run alone: there is nothing to compare it with"]);
    gridemu(&["compare", alone, alone, "--by", "policy"]).ends(2, &["are for campaigns"]);
    // A table of jobs that breaks off in the middle of a line.
    let cut = dir.path().join("cut.csv");
    let whole = fs::read_to_string(alone).unwrap();
    fs::write(&cut, &whole[..whole.len() - 12]).unwrap();
    gridemu(&["compare", alone, cut.to_str().unwrap()]).ends(2, &["cut.csv", "truncated"]);
}

/// One run at a point, as a campaign of a log has it.
const ONE_RUN: &str = "\
run,policy,seed,status,jobs,completed,killed,failed,rejected,cancelled,unfinished,unstable,scenario_hash,fingerprint,error,mean_wait
1,fcfs,1,done,9,9,0,0,0,0,0,no,a,b,,10
2,easy,1,done,9,9,0,0,0,0,0,no,a,b,,9
";

#[test]
fn one_run_at_a_point_is_better_compared_job_by_job() {
    let dir = tempfile::tempdir().unwrap();
    let study = dir.path().join("results.csv");
    fs::write(&study, ONE_RUN).unwrap();
    let ran = gridemu(&["compare", study.to_str().unwrap()]);
    let out = &ran.well().out;
    assert!(out.contains("\n1 seed: too few for a statement"), "{out}");
    assert!(out.contains("`gridemu campaign FILE --folders DIR`"), "{out}");
}

#[test]
fn runs_are_compared_by_the_measures_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a.csv"), dir.path().join("b.csv"));
    jobs(&a, &[(1, 0, Some(0), 100, 100), (2, 10, Some(100), 200, 100)]);
    jobs(&b, &[(1, 0, Some(0), 100, 100), (2, 10, Some(10), 110, 100)]);
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    let cells = |more: &[&str]| {
        let json = gridemu(&[&["compare", a, b, "--json"], more].concat()).json();
        json["runs"]["pairs"][0]["cells"].as_array().unwrap().len()
    };
    assert_eq!((cells(&[]), cells(&["--measure", "mean_wait"]), cells(&["--measure", "mean_*"])), (3, 1, 3));
    gridemu(&["compare", a, b, "--measure", "mean_wiat"])
        .ends(2, &["the runs have no measure `mean_wiat`", "did you mean `mean_wait`?"]);
    gridemu(&["compare", a, b, "--by", "policy"]).ends(2, &["`--by` and `--where` are for campaigns"]);
}

/// Tasks are submitted when others have ended, so at other instants under another policy; in groups they are not the same jobs.
#[test]
fn workflows_are_paired_by_number() {
    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let file = place("chain.toml");
    let text = r#"
        site = [{ name = "a", machines = [{ class = "n", count = 1, cores = 2, speed = 2.0 }], policy = "fcfs" },
                { name = "b", machines = [{ class = "n", count = 1, cores = 2 }], policy = "fcfs" }]
        broker = { policy = "mct" }
        network = { latency = "0 s" }
        workload = [{ workflow = "pipeline[tasks=4,runtime=10 s]", count = 2 }]
    "#;
    fs::write(&file, text).unwrap();
    let run = |name: &str, set: &str| {
        gridemu(&["run", &file, "--set", set, "--out", &place(name)]).well();
    };
    run("fast", "broker.policy=mct");
    run("slow", "broker.policy=round-robin");
    run("grouped", "workload[0].group=vertical");
    let compared = |other: &str, more: &[&str]| {
        let (fast, other) = (place("fast"), place(other));
        gridemu(&[&["compare", &fast, &other, "--json"], more].concat()).json()
    };
    let pair = &compared("slow", &[])["runs"]["pairs"][0];
    assert_eq!((pair["jobs"].as_u64(), &pair["unpaired"]), (Some(8), &serde_json::json!([0, 0])));
    let cells = pair["cells"].as_array().unwrap();
    let makespan = cells.iter().find(|cell| cell["measure"] == "workflows.mean_makespan").unwrap();
    assert_eq!((makespan["of"][0].as_str(), makespan["pairs"].as_u64()), (Some("workflows"), Some(2)));
    assert!(makespan["difference"].as_f64().unwrap() > 0.0, "{makespan}");
    let asked = &compared("slow", &["--measure", "workflows.mean_slowdown"])["runs"]["pairs"][0]["cells"];
    assert_eq!(asked.as_array().unwrap().len(), 1);
    let cells = &compared("grouped", &[])["runs"]["pairs"][0]["cells"];
    assert!(cells.as_array().unwrap().iter().all(|cell| cell["of"][0] == "workflows"), "{cells}");
    let said = gridemu(&["compare", &place("fast"), &place("grouped")]);
    assert!(said.well().out.contains("only workflows are paired"), "{}", said.out);
}
