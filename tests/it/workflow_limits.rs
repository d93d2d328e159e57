//! Deadlines and budgets of workflows, by hand.

use std::fs;

use gridemu::formats::wfformat;
use gridemu::verify::Rule;
use gridemu::workflow::Workflow;
use serde_json::Value;
use tempfile::TempDir;

use crate::cli::gridemu;
use crate::enactment::workflow;
use crate::validating::{judged, legal};

/// One processor at 0.001 a second, and no messages.
const SLOW: &str = "[[site]]\nname = 'slow'\nmachines = [{ class = 'node', count = 1, price = '3.6/core-h' }]\npolicy = 'fcfs'\n";
/// Two of twice the speed at 0.003 a second.
const FAST: &str = "[[site]]\nname = 'fast'\nmachines = [{ class = 'node', count = 2, speed = 2.0, price = '10.8/core-h' }]\npolicy = 'fcfs'\n";

/// A folder with a diamond of 10, 20 (beside 5) and 10 s and a scenario, in which its workload has these keys from line 12 on.
fn folder(sites: &str, policy: &str, keys: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let diamond = Workflow::from_spec(workflow(&[10, 20, 5, 10], &[(0, 1), (0, 2), (1, 3), (2, 3)])).unwrap();
    wfformat::write(&diamond, fs::File::create(folder.path().join("diamond.json")).unwrap()).unwrap();
    let text = format!(
        "{sites}[network]\nlatency = '0 s'\n[broker]\npolicy = '{policy}'\n[[workload]]\nworkflow = 'diamond.json'\n{keys}\n"
    );
    fs::write(folder.path().join("run.toml"), text).unwrap();
    folder
}

struct Ran {
    /// Task, site, start, end and outcome.
    tasks: Vec<String>,
    /// The last two columns of its row, its outcome and its end.
    workflow: String,
    jobs: String,
    summary: Value,
}

fn run(folder: &TempDir) -> Ran {
    let out = folder.path().join("out");
    let scenario = folder.path().join("run.toml");
    gridemu(&["run", scenario.to_str().unwrap(), "--out", out.to_str().unwrap()]).well();
    legal(&out);
    let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    let rows = |name: &str, columns: &[&str]| -> Vec<String> {
        let text = read(name);
        let names: Vec<&str> = text.lines().next().unwrap().split(',').collect();
        let at = |column: &&str| names.iter().position(|name| name == column).expect("a column");
        let row = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            columns.iter().map(|column| cells[at(column)]).collect::<Vec<_>>().join(" ").trim().to_owned()
        };
        let mut rows: Vec<String> = text.lines().skip(1).map(row).collect();
        rows.sort();
        rows
    };
    let limited = read("workflows.csv").lines().next().unwrap().ends_with(",deadline,budget");
    let columns = ["outcome", "ended", "deadline", "budget"];
    let workflow = rows("workflows.csv", if limited { &columns } else { &columns[..2] }).join("\n");
    Ran {
        tasks: rows("tasks.csv", &["task", "site", "started", "ended", "outcome"]),
        workflow,
        jobs: read("jobs.csv"),
        summary: serde_json::from_str(&read("summary.json")).unwrap(),
    }
}

/// On one processor the tasks end at 10, 30, 35 and 45, and the critical path is 40 s. Due at 40, its tasks are due at 10, 30, 30 and 40: two of them and the workflow are
/// 5 s late. They cost 0.010, 0.020, 0.005 and 0.010; 1.2 times three quarters of that are 0.0405 together.
#[test]
fn what_is_late_and_too_dear_is_counted() {
    let keys = "deadline = 'submit + 1 x estimate'\nbudget = '1.2 x cost'\nreference_price = '2.7/core-h'";
    let ran = run(&folder(SLOW, "mct", keys));
    assert_eq!(ran.workflow, "completed 45 40 0.0405");
    let mut limits: Vec<[&str; 3]> = Vec::new();
    for row in ran.jobs.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        limits.push([cells[0], cells[cells.len() - 2], cells[cells.len() - 1]]);
    }
    limits.sort_unstable();
    let expected = [["1", "10", "0.009"], ["2", "30", "0.018"], ["3", "30", "0.0045"], ["4", "40", "0.009"]];
    assert_eq!(limits, expected);
    let of = |limits: &Value, key: &str| limits[key].as_f64().unwrap_or_else(|| panic!("{key} of {limits}"));
    let (tasks, whole) = (&ran.summary["limits"], &ran.summary["workflows"]["limits"]);
    assert_eq!(
        ["deadlines", "met", "missed", "mean_lateness"].map(|key| of(tasks, key)),
        [4.0, 2.0, 2.0, 2.5]
    );
    assert_eq!(
        ["deadlines", "met", "missed", "mean_lateness"].map(|key| of(whole, key)),
        [1.0, 0.0, 1.0, 5.0]
    );
    for limits in [tasks, whole] {
        assert_eq!(of(limits, "overspent"), 0.0045);
        assert_eq!(of(limits, "budgets"), of(limits, "over_budget"));
    }
}

#[test]
fn without_limits_nothing_is_added() {
    let ran = run(&folder(SLOW, "mct", ""));
    assert_eq!(ran.workflow, "completed 45");
    assert!(ran.summary["workflows"].get("limits").is_none() && ran.summary.get("limits").is_none());
    assert!(ran.jobs.lines().next().unwrap().ends_with(",requested_start,dynamic_j"));
}

/// A workflow that is ended at 40 loses its last task, which runs from 35 on; one at 32 the third, which runs from 30 on, and so also the last. No task is ended at its own
/// deadline: the third one, due at 30, runs.
#[test]
fn a_workflow_is_ended_at_its_deadline_and_no_task_before() {
    let ends = |secs: u64| {
        run(&folder(SLOW, "mct", &format!("deadline = 'submit + {secs} s'\nat_deadline = 'kill'")))
    };
    let first = ["t0 slow 0 10 completed", "t1 slow 10 30 completed"];
    let ran = ends(40);
    assert_eq!(ran.workflow, "failed 40 40");
    assert_eq!(ran.tasks[..2], first);
    assert_eq!(ran.tasks[2..], ["t2 slow 30 35 completed", "t3 slow 35 40 cancelled"]);
    let ran = ends(32);
    assert_eq!(ran.workflow, "failed 32 32");
    assert_eq!(ran.tasks[2..], ["t2 slow 30 32 cancelled", "t3 grid  32 cancelled"]);
    assert_eq!(ends(45).workflow, "completed 45 45");
    // Where it waits with the broker for its turn in a plan, too: at 25 the second runs, the third is next.
    let keys = "deadline = 'submit + 25 s'\nat_deadline = 'kill'";
    let ran = run(&folder(SLOW, "heft", keys));
    assert_eq!(ran.workflow, "failed 25 25");
    assert_eq!(ran.tasks[..2], ["t0 slow 0 10 completed", "t1 slow 10 25 cancelled"]);
}

/// The critical path is 40 s on the slow processor and 20 s on the fast ones; the tasks cost 0.045 on the slow one and half as much more on the fast.
#[test]
fn a_workflow_that_cannot_keep_its_limits_is_refused_as_a_whole() {
    let both = format!("{SLOW}{FAST}");
    let outcome = |sites: &str, keys: &str| run(&folder(sites, "mct", keys));
    let by = |secs: u64| format!("deadline = 'submit + {secs} s'\nat_deadline = 'refuse'");
    let refused = outcome(SLOW, &by(39));
    assert_eq!(refused.workflow, "failed 0 39");
    assert_eq!(
        refused.tasks,
        ["t0 grid  0 rejected", "t1 grid  0 cancelled", "t2 grid  0 cancelled", "t3 grid  0 cancelled"]
    );
    assert!(refused.jobs.contains(",deadline,"), "{}", refused.jobs);
    // It could have been done by 40; that other tasks are in the way is not seen.
    assert_eq!(outcome(SLOW, &by(40)).workflow, "completed 45 40");
    assert_eq!(outcome(&both, &by(20)).workflow, "completed 20 20");
    assert_eq!(outcome(&both, &by(19)).workflow, "failed 0 19");
    let within = |nanos: &str| format!("budget = {nanos}\nat_budget = 'refuse'");
    assert_eq!(outcome(&both, &within("0.045")).workflow, "completed 20  0.045");
    let refused = outcome(&both, &within("0.0449"));
    assert_eq!(refused.workflow, "failed 0  0.0449");
    assert_eq!(refused.summary["outcomes"]["rejected"], 1);
    let note = refused.summary["notes"].to_string();
    assert!(note.contains("no pool could run it, or none within their limits"), "{note}");
    // The engine makes no job of what is refused.
    let late = run(&folder(SLOW, "heft", &(by(39) + "\nengine_delay = '7 s'")));
    assert_eq!((late.workflow.as_str(), late.tasks[0].as_str()), ("failed 0 39", "t0 grid  0 rejected"));
}

#[test]
fn a_row_with_other_limits_is_found() {
    let folder = folder(SLOW, "mct", "deadline = 'submit + 50 s'\nbudget = 1");
    run(&folder);
    let path = folder.path().join("out/workflows.csv");
    let text = fs::read_to_string(&path).unwrap();
    for other in [",51,1", ",50,2"] {
        assert_eq!(text.matches(",50,1\n").count(), 1, "{text}");
        fs::write(&path, text.replace(",50,1\n", &format!("{other}\n"))).unwrap();
        let found = judged(&folder.path().join("out"));
        assert_eq!(found[0].verdict.first().map(|found| found.rule), Some(Rule::Columns), "{found:?}");
    }
}

#[test]
fn wrong_limits_are_told() {
    for (key, says) in [
        ("deadline = 'submit - 1 h'", "cannot be due before its submission"),
        ("budget = '1.2 x cost'", "needs a `reference_price`"),
        ("at_deadline = 'kill'", "there is no `deadline`"),
    ] {
        let folder = folder(SLOW, "mct", key);
        let scenario = folder.path().join("run.toml");
        gridemu(&["run", scenario.to_str().unwrap()]).ends(2, &["run.toml, line 11, `workload[0].", says]);
    }
}

/// Under `cheapest-by-deadline` all is slow with time enough, and only the third task fast where the critical path just fits beside it; under `heft-budget` all is slow that only the least
/// is paid for, and as under `heft` with more than that costs.
#[test]
fn mappers_keep_limits() {
    let both = format!("{SLOW}{FAST}");
    let ends = |policy: &str, keys: &str| {
        let ran = run(&folder(&both, policy, keys));
        let site = |row: &String| row.split(' ').nth(1).expect("a site").to_owned();
        (ran.workflow, ran.tasks.iter().map(site).collect::<Vec<_>>().join(" "))
    };
    let cheapest = |keys: &str| ends("cheapest-by-deadline", keys);
    assert_eq!(
        cheapest("deadline = 'submit + 100 s'"),
        ("completed 45 100".into(), "slow slow slow slow".into())
    );
    assert_eq!(
        cheapest("deadline = 'submit + 40 s'"),
        ("completed 40 40".into(), "slow slow fast slow".into())
    );
    assert_eq!(
        cheapest("deadline = 'submit + 20 s'"),
        ("completed 20 20".into(), "fast fast slow fast".into())
    );
    assert_eq!(cheapest("").1, "slow slow slow slow");
    let heft = |keys: &str| ends("heft-budget", keys);
    assert_eq!(heft("budget = 0.045"), ("completed 45  0.045".into(), "slow slow slow slow".into()));
    let rich = heft("budget = 0.07").1;
    assert_eq!(rich, ends("heft", "").1);
    assert_eq!(heft("").1, rich);
}

/// The example that users are shown: the first mapper is the cheapest of the three and in time, the second completes earlier within the budget, and the one that knows no limits is dearer.
#[test]
fn the_example_shows_what_limits_do() {
    let ran = |policy: &str| {
        let set = format!("broker.policy={policy}");
        let found = gridemu(&["run", "configs/limits.toml", "--set", &set, "--json"]).json();
        let workflows = found["workflows"].clone();
        let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value} of {workflows}"));
        let limits = &workflows["limits"];
        (
            number(&limits["missed"]),
            number(&limits["over_budget"]),
            number(&workflows["mean_cost"]),
            number(&workflows["mean_makespan"]),
        )
    };
    let (cheapest, budget, heft) = (ran("cheapest-by-deadline"), ran("heft-budget"), ran("heft"));
    assert!(cheapest.0 == 0.0 && budget.1 == 0.0 && heft.1 == 12.0);
    assert!(cheapest.2 < budget.2 && budget.2 < heft.2);
    assert!(cheapest.3 > budget.3 && budget.3 > heft.3);
}

/// A mapper without the limits that it maps by is told of.
#[test]
fn a_mapper_without_limits_is_told_of() {
    for (policy, limit, other) in [
        ("cheapest-by-deadline", "deadline = 'submit + 1 h'", "budget = 1"),
        ("heft-budget", "budget = 1", "deadline = 'submit + 1 h'"),
    ] {
        let checked = |keys: &str| {
            let folder = folder(SLOW, policy, keys);
            gridemu(&["check", folder.path().join("run.toml").to_str().unwrap()]).well().err.clone()
        };
        assert!(checked(other).contains("no workload of the portal has a"), "{policy}");
        assert!(!checked(limit).contains("no workload of the portal has a"), "{policy}");
    }
}

/// An objective whose weight is given, and which nothing has, is told of.
#[test]
fn an_aim_without_what_it_needs_is_told_of() {
    let checked = |policy: &str, keys: &str| {
        let folder = folder(SLOW, policy, keys);
        gridemu(&["check", folder.path().join("run.toml").to_str().unwrap()]).well().err.clone()
    };
    for (weight, limit) in
        [("lateness", "deadline = 'submit + 1 h'"), ("overspending", "budget = 1"), ("energy", "")]
    {
        let told = format!("`{weight}` of `mojs` has no effect: no ");
        assert!(checked(&format!("mojs[{weight}=2]"), "").contains(&told), "{weight}");
        assert!(!checked(&format!("mojs[{weight}=0]"), "").contains(&told), "{weight}");
        assert!(!checked("mojs", "").contains(&told), "{weight}");
        assert!(
            limit.is_empty() || !checked(&format!("mojs[{weight}=2]"), limit).contains(&told),
            "{weight}"
        );
    }
    // Of equal weights those that nothing has are told of if no other is left.
    let left = checked("mojs[makespan=0,idle=0,energy=0]", "");
    assert!(left.contains("`lateness` of `mojs`") && left.contains("`overspending` of `mojs`"), "{left}");
    assert!(!left.contains("`energy` of `mojs`"), "{left}");
    let one = checked("mojs[makespan=0,idle=0,energy=0]", "budget = 1");
    assert!(!one.contains("of `mojs` has no effect"), "{one}");
}
