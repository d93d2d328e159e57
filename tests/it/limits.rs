//! Deadlines and budgets of jobs, by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use gridemu::local::Registry;
use gridemu::model::{AtLimit, EventKind, Job, JobId, JobRecord, Outcome, Record, RejectReason};
use gridemu::units::Time;
use proptest::prelude::*;
use serde_json::Value;

use crate::cli::gridemu;
use crate::grids::{GridCase, grids};
use crate::support::assert_legal;
use crate::validating::legal;

/// Ten processors at 0.001 a second.
const LOG: &str = "; MaxProcs: 10
1 0 -1 100 6 -1 -1 6 100 -1 1 1 1 1 1 1 -1 -1
2 10 -1 50 8 -1 -1 8 50 -1 1 1 1 1 1 1 -1 -1
3 20 -1 200 4 -1 -1 4 200 -1 1 1 1 1 1 1 -1 -1
4 25 -1 60 4 -1 -1 4 75 -1 1 1 1 1 1 1 -1 -1
";

/// A folder with the log and a scenario of one site, whose workload has these keys.
fn folder(keys: &str, others: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("four.swf"), LOG).unwrap();
    let text = format!(
        "{others}\n[[site]]\nname = 'a'\npolicy = 'fcfs'\n\
         machines = [{{ class = 'node', count = 10, price = '3.6/core-h' }}]\n\
         workload = {{ log = 'four.swf'{keys} }}\n"
    );
    fs::write(folder.path().join("run.toml"), text).unwrap();
    folder
}

/// The rows of `jobs.csv` and the summary of a run.
fn run(folder: &tempfile::TempDir) -> (Vec<String>, Value) {
    let (scenario, out) = (folder.path().join("run.toml"), folder.path().join("out"));
    gridemu(&["run", scenario.to_str().unwrap(), "--out", out.to_str().unwrap()]).well();
    legal(&out);
    let jobs = fs::read_to_string(out.join("jobs.csv")).unwrap();
    let summary = fs::read_to_string(out.join("summary.json")).unwrap();
    (jobs.lines().map(str::to_owned).collect(), serde_json::from_str(&summary).unwrap())
}

/// Under `fcfs` the jobs run from 0 to 100, 100 to 150, 150 to 350 and 150 to 210. Two estimates after their submission are 200, 110, 420 and 175: the second
/// is 40 s late, the fourth 35. With a scale of 20 s these count e² − 1, of which 5 are left, and e^1.75 − 1 = 4.7546.
///
/// The jobs cost 0.6, 0.4, 0.8 and, for 60 of its 75 s, 0.24. 1.2 times three quarters of that are 0.54, 0.36, 0.72 and 0.27.
#[test]
fn what_is_late_and_too_dear_is_counted() {
    let keys = ", deadline = 'submit + 2 x estimate', budget = '1.2 x cost', reference_price = '2.7/core-h'";
    let folder = folder(keys, "penalty = { scale = '20 s', most = 5 }");
    let (jobs, summary) = run(&folder);
    assert!(jobs[0].ends_with(",requested_start,dynamic_j,deadline,budget"), "{}", jobs[0]);
    let mut ends: Vec<Vec<&str>> = jobs[1..].iter().map(|row| row.split(',').collect()).collect();
    ends.sort();
    let limits: Vec<[&str; 2]> = ends.iter().map(|row| [row[row.len() - 2], row[row.len() - 1]]).collect();
    let of = [["200", "0.54"], ["110", "0.36"], ["420", "0.72"], ["175", "0.27"]];
    assert_eq!(limits, of);
    let limits = &summary["limits"];
    let number = |key: &str| limits[key].as_f64().unwrap_or_else(|| panic!("{key} of {limits}"));
    assert_eq!([number("deadlines"), number("met"), number("missed")], [4.0, 2.0, 2.0]);
    assert_eq!([number("mean_lateness"), number("max_lateness")], [18.75, 40.0]);
    assert!((number("mean_penalty") - (5.0 + 4.754_602_676) / 4.0).abs() < 1e-6, "{limits}");
    assert_eq!([number("budgets"), number("over_budget"), number("overspent")], [4.0, 3.0, 0.18]);
}

#[test]
fn without_limits_nothing_is_added() {
    let (jobs, summary) = run(&folder("", ""));
    assert!(jobs[0].ends_with(",requested_start,dynamic_j"), "{}", jobs[0]);
    assert!(summary.get("limits").is_none(), "{summary}");
}

/// Wrong keys are told with file, line and key.
#[test]
fn wrong_limits_are_told() {
    for (keys, says) in [
        (", deadline = 'submit - 1 h'", "a job cannot be due before its submission"),
        (", deadline = 'submit + 0 x estimate'", "`submit + 0 x estimate` is not a deadline"),
        (", budget = '1.2 x cost'", "needs a `reference_price`"),
        (", budget = 'cheap'", "`cheap` is not a budget"),
        (", budget = '2 x cost', reference_price = '0/core-h'", "reference_price`: every budget would be 0"),
    ] {
        let folder = folder(keys, "");
        let scenario = folder.path().join("run.toml");
        gridemu(&["check", scenario.to_str().unwrap()])
            .ends(2, &["run.toml, line 6, `site.a.workload.", says]);
    }
}

/// Machines of speed 2 do in half the estimate what takes it at speed 1.
#[test]
fn deadlines_that_nothing_can_keep_are_told() {
    for (times, told) in [("0.4", true), ("0.3..0.49", true), ("0.3..0.5", false), ("0.5", false)] {
        let folder = folder(&format!(", deadline = 'submit + {times} x estimate'"), "");
        let scenario = folder.path().join("run.toml");
        let speed = ["check", scenario.to_str().unwrap(), "--set", "site.a.machines.node.speed=2"];
        let says = "`site.a.workload.deadline`: what takes all that time at speed 1 can end in time nowhere: the fastest machines have speed 2";
        let found = gridemu(&speed);
        assert_eq!(found.well().err.contains(says), told, "{times}: {}", found.err);
    }
}

/// Machines of 3.6 a core-hour at speed 1: 0.5 times the cost at 3.6 pays for none of them, nor 0.9 times at speed 0.8 and a price at night of half that.
#[test]
fn budgets_that_nothing_can_keep_are_told() {
    for (budget, sets, told) in [
        ("0.5 x cost", &[][..], true),
        ("0.5..0.99 x cost", &[], true),
        ("0.5..1 x cost", &[], false),
        ("0.5 x cost", &["site.a.machines.node.speed=2"], false),
        ("0.5 x cost", &["site.a.price_by_hour=0-6=0.5"], false),
        ("0.5 x cost", &["site.a.price_by_hour=0-6=0.5", "site.a.machines.node.speed=0.9"], true),
        ("5", &[], false),
    ] {
        let reference = if budget == "5" { "" } else { ", reference_price = '3.6/core-h'" };
        let folder = folder(&format!(", budget = '{budget}'{reference}"), "");
        let scenario = folder.path().join("run.toml");
        let mut command = vec!["check", scenario.to_str().unwrap()];
        command.extend(sets.iter().flat_map(|set| ["--set", set]));
        let says = "`site.a.workload.budget`: what takes all of its estimate costs more everywhere: for an hour of a core of speed 1 it pays ";
        let found = gridemu(&command);
        assert_eq!(found.well().err.contains(says), told, "{budget} {sets:?}: {}", found.err);
    }
    let folder = folder(", budget = 5, at_budget = 'kill'", "");
    let scenario = folder.path().join("run.toml");
    let free = ["check", scenario.to_str().unwrap(), "--set", "site.a.machines.node.price=0/core-h"];
    let says =
        "`site.a.workload.at_budget`: it has no effect: nothing costs anything, no machine has a `price`";
    gridemu(&free).ends(0, &[says]);
}

/// At the end of a run it is told how many jobs their limits have cost, where these are many.
#[test]
fn many_jobs_that_limits_have_ended_are_told() {
    for (keys, says) in [
        (
            ", deadline = 'submit + 1 s', at_deadline = 'refuse'",
            "all 4 of 4 jobs were rejected (4) or cancelled (0), and deadlines (`at_deadline`) refuse or end jobs here",
        ),
        (
            ", budget = 0.3, at_budget = 'kill'",
            "3 of 4 jobs were rejected (0) or cancelled (3), and budgets (`at_budget`) refuse or end jobs here",
        ),
        (", budget = 0.3", ""),
        (", budget = 0.7, at_budget = 'kill'", ""),
    ] {
        let (_, summary) = run(&folder(keys, ""));
        let notes = summary["notes"].to_string();
        assert_eq!(notes.contains("refuse or end jobs"), !says.is_empty(), "{keys}: {notes}");
        assert!(notes.contains(says), "{keys}: {notes}");
    }
}

/// What has no effect for want of another key: `check` and a run refuse it.
#[test]
fn limits_without_effect_are_told() {
    let penalty = "penalty = { scale = '20 s' }";
    for (keys, others, says) in [
        ("", penalty, "line 1, `penalty`: it has no effect: no workload has a `deadline`"),
        (", budget = 5", penalty, "line 1, `penalty`: it has no effect: no workload has a `deadline`"),
        (", at_deadline = 'kill'", "", "at_deadline`: it has no effect: there is no `deadline`"),
        (", at_budget = 'kill'", "", "at_budget`: it has no effect: there is no `budget`"),
        (
            ", budget = 5, reference_price = '0.1/core-h'",
            "",
            "reference_price`: it has no effect: there is no `budget` of so many times the cost",
        ),
    ] {
        let folder = folder(keys, others);
        let scenario = folder.path().join("run.toml");
        gridemu(&["check", scenario.to_str().unwrap()]).ends(2, &["error: ", says]);
        gridemu(&["run", scenario.to_str().unwrap()]).ends(2, &["error: ", says]);
    }
}

/// A row with another deadline, or another budget, is found.
#[test]
fn the_checker_knows_the_limits() {
    use gridemu::verify::Rule;
    for (from, to) in [(",110,0.36", ",111,0.36"), (",110,0.36", ",110,0.37")] {
        let keys =
            ", deadline = 'submit + 2 x estimate', budget = '1.2 x cost', reference_price = '2.7/core-h'";
        let folder = folder(keys, "");
        run(&folder);
        let path = folder.path().join("out/jobs.csv");
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{text}");
        fs::write(&path, text.replace(from, to)).unwrap();
        let found = crate::validating::judged(&folder.path().join("out"));
        assert_eq!(found[0].verdict.first().map(|found| found.rule), Some(Rule::Limits), "{found:?}");
    }
}

/// The rows of the jobs: number, start, end, outcome, reason.
fn ends(keys: &str) -> Vec<String> {
    let (jobs, _) = run(&folder(keys, ""));
    let mut all: Vec<String> = jobs[1..]
        .iter()
        .map(|row| {
            let row: Vec<&str> = row.split(',').collect();
            [row[0], row[2], row[3], row[6], row[18]].join(" ").trim().to_owned()
        })
        .collect();
    all.sort();
    all
}

/// Job 2 runs from 100 on, and is ended at 110. So jobs 3 and 4 start there, and are in time.
#[test]
fn a_job_is_ended_at_its_deadline() {
    let found = ends(", deadline = 'submit + 2 x estimate', at_deadline = 'kill'");
    assert_eq!(
        found,
        ["1 0 100 completed", "2 100 110 cancelled", "3 110 310 completed", "4 110 170 completed"]
    );
    // One that waits ends in the queue.
    let found = ends(", deadline = 'submit + 1.5 x estimate', at_deadline = 'kill'");
    assert_eq!(
        found,
        ["1 0 100 completed", "2  85 cancelled", "3 85 285 completed", "4 100 137.5 cancelled"]
    );
}

/// Job 1 costs 0.006 a second, job 2 0.008, the others 0.004 each: 0.5 after 83⅓ s, not at all, and after 125 s.
/// Job 1 has all processors and is ended at 110 s; job 2 fits then and starts at once, whether there is a pass an instant or one an event.
#[test]
fn a_pass_follows_a_job_that_is_ended() {
    for order in ["instant", "event"] {
        let folder = tempfile::tempdir().unwrap();
        let log = "; MaxProcs: 10\n1 10 -1 300 10 -1 -1 10 300 -1 1 1 1 1 1 1 -1 -1\n2 20 -1 5 5 -1 -1 5 20 -1 1 1 1 1 1 1 -1 -1\n";
        fs::write(folder.path().join("two.swf"), log).unwrap();
        let text = format!(
            "[[site]]\nname = 'a'\npolicy = 'easy'\norder = '{order}'\nmachines = [{{ class = 'node', count = 10 }}]\n\
             workload = {{ log = 'two.swf', deadline = 'submit + 100 s', at_deadline = 'kill' }}\n"
        );
        fs::write(folder.path().join("run.toml"), text).unwrap();
        let (rows, _) = run(&folder);
        assert!(rows.iter().any(|row| row.starts_with("2,20,110,115,")), "{order}: {rows:?}");
    }
}

#[test]
fn a_job_is_ended_when_it_has_cost_its_budget() {
    let found = ends(", budget = 0.5, at_budget = 'kill'");
    assert_eq!(
        found,
        [
            "1 0 83.333334 cancelled",
            "2 83.333334 133.333334 completed",
            "3 133.333334 258.333335 cancelled",
            "4 133.333334 193.333334 completed"
        ]
    );
    // What ends by itself at that instant has ended.
    assert_eq!(ends(", budget = 0.6, at_budget = 'kill'")[0], "1 0 100 completed");
}

/// Whom its budget suffices is not ended: at 0.05 a core-hour no stretch of these jobs costs a whole number of 10⁻⁹.
#[test]
fn a_job_that_costs_its_budget_completes() {
    let folder = folder(", budget = '1 x cost', reference_price = '0.05/core-h', at_budget = 'kill'", "");
    let path = folder.path().join("run.toml");
    let text = fs::read_to_string(&path).unwrap().replace("3.6/core-h", "0.05/core-h");
    fs::write(&path, text).unwrap();
    let (jobs, summary) = run(&folder);
    assert!(jobs[1..].iter().all(|row| row.contains("completed")), "{jobs:?}");
    assert_eq!(summary["limits"]["over_budget"], 0);
}

/// From a minute after the beginning on all costs three times as much: job 1 has cost 0.36 by then, and the rest of 0.5 in 7.777778 s; the others
/// cost 0.024 and 0.012 a second.
#[test]
fn prices_by_the_hour_count_towards_a_budget() {
    let folder = folder(", budget = 0.5, at_budget = 'kill'", "");
    let path = folder.path().join("run.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("policy =", "starts_at = '59 min'\nprice_by_hour = '1-2=3'\npolicy ="))
        .unwrap();
    let (jobs, _) = run(&folder);
    let found: Vec<Vec<&str>> = jobs[1..].iter().map(|row| row.split(',').collect()).collect();
    let found: Vec<[&str; 4]> = found.iter().map(|row| [row[0], row[3], row[6], row[17]]).collect();
    let expected = [
        ["1", "67.777778", "cancelled", "0.500000004"],
        ["2", "88.611112", "cancelled", "0.500000016"],
        ["3", "130.277779", "cancelled", "0.500000004"],
        ["4", "130.277779", "cancelled", "0.500000004"],
    ];
    assert_eq!(found, expected);
    let events = fs::read_to_string(folder.path().join("out/events.csv")).unwrap();
    assert_eq!(events.lines().filter(|line| line.contains(",spent,")).count(), 4, "{events}");
    let out = folder.path().join("out");
    let told = gridemu(&["explain", out.to_str().unwrap(), "--job", "2"]);
    assert!(told.out.contains("it had cost more than its budget"), "{}", told.out);
}

/// A job's explanation says what became of its deadline.
#[test]
fn a_missed_deadline_is_explained() {
    for (keys, job, says) in [
        (", at_deadline = 'kill'", "2", "cancelled at 110 s: its deadline"),
        ("", "2", "completed at 150 s: 40 s after its deadline"),
        (", at_deadline = 'refuse'", "1", "completed at 100 s\n"),
    ] {
        let folder = folder(&format!(", deadline = 'submit + 2 x estimate'{keys}"), "");
        run(&folder);
        let out = folder.path().join("out");
        let told = gridemu(&["explain", out.to_str().unwrap(), "--job", job]);
        let words: Vec<&str> = told.out.split_whitespace().collect();
        let says: Vec<&str> = says.split_whitespace().collect();
        assert!(words.windows(says.len()).any(|found| found == says), "{}", told.out);
    }
}

/// Within 80 s of their submission only jobs of 50 and 75 s can be done. At 3.6 a core-hour these are expected to cost 0.4 and 0.3.
#[test]
fn what_cannot_be_done_in_time_or_for_so_little_is_refused() {
    let late = "cannot be done by its deadline";
    let rejected = |id: u64, submit: u64, why: &str| format!("{id}  {submit} rejected {why}");
    let found = ends(", deadline = 'submit + 80 s', at_deadline = 'refuse'");
    assert_eq!(
        found,
        [
            rejected(1, 0, late),
            "2 10 60 completed".to_owned(),
            rejected(3, 20, late),
            "4 60 120 completed".into()
        ]
    );
    let dear = "costs more than its budget";
    let found = ends(", budget = 0.35, at_budget = 'refuse'");
    let refused = [(1, 0), (2, 10), (3, 20)].map(|(id, submit)| rejected(id, submit, dear));
    assert_eq!(found[..3], refused);
    assert_eq!(found[3], "4 25 85 completed");
}

/// What holds of jobs with limits, whatever the grid.
fn kept(case: &GridCase) {
    let ran = case.stepwise();
    let jobs: Vec<Job> = case.jobs().cloned().collect();
    assert_legal(&Registry::standard(), &case.spec.sites, &jobs, &ran.records);
    let of: BTreeMap<JobId, &Job> = jobs.iter().map(|job| (job.id, job)).collect();
    let mut overdue: BTreeMap<JobId, Time> = BTreeMap::new();
    let mut spent: BTreeSet<JobId> = BTreeSet::new();
    let ended: BTreeMap<JobId, &JobRecord> = ran
        .records
        .iter()
        .filter_map(|record| if let Record::Job(job) = record { Some((job.id, job)) } else { None })
        .collect();
    for record in &ran.records {
        match record {
            Record::Segment(segment) if !segment.procs.is_empty() => {
                let deadline = of[&segment.job].killed_at().unwrap_or(Time::NEVER);
                assert!(segment.to <= deadline, "{segment:?} beyond {deadline}");
            }
            Record::Event(event) if event.kind == EventKind::Overdue => {
                let job = event.job.expect("a job");
                assert!(of[&job].killed_at().is_some_and(|deadline| deadline <= event.time), "{event:?}");
                assert_eq!(overdue.insert(job, event.time), None, "{event:?}");
            }
            Record::Event(event) if event.kind == EventKind::Spent => {
                assert!(spent.insert(event.job.expect("a job")), "{event:?}");
            }
            _ => {}
        }
    }
    for (id, record) in &ended {
        let job = of[id];
        let at = job.limits.as_ref().map_or(AtLimit::Overrun, |limits| limits.at_deadline);
        let is_ended = overdue.contains_key(id) || spent.contains(id);
        assert_eq!(record.outcome == Outcome::Cancelled, is_ended, "{record:?}");
        if let Some(budget) = job.killed_over() {
            // A microsecond of each attempt, at the highest price in the dearest hour.
            let groups =
                case.spec.sites.iter().flat_map(|site| &site.partitions).flat_map(|part| &part.groups);
            let dearest = groups.map(|group| i128::from(group.price.nanos())).max().unwrap_or_default() * 10;
            let tick =
                (i128::from(record.procs) * dearest / 3_600_000_000 + 2) * i128::from(record.attempts.max(1));
            assert!(record.cost.nanos() <= budget.nanos() + tick, "{record:?}");
        }
        assert!(
            !spent.contains(id) || job.killed_over().is_some_and(|budget| record.cost > budget),
            "{record:?}"
        );
        if let (Some(deadline), AtLimit::Kill) = (job.deadline(), at) {
            assert!(record.outcome != Outcome::Completed || record.end <= deadline, "{record:?}");
            // What runs is ended at the very deadline.
            let mut last = ran.records.iter().filter_map(|record| match record {
                Record::Segment(segment) if segment.job == *id && segment.to == deadline => Some(segment),
                _ => None,
            });
            let ran_on = last.next().is_some() && record.outcome == Outcome::Cancelled;
            assert!(!ran_on || record.end == deadline || record.attempts > 1, "{record:?}");
        }
        if let Outcome::Rejected(RejectReason::Deadline | RejectReason::Budget) = record.outcome {
            assert_eq!((at, record.start), (AtLimit::Refuse, None), "{record:?}");
        }
    }
}

proptest! {
    #![proptest_config(crate::support::cases(100))]

    #[test]
    fn no_job_runs_beyond_a_deadline_at_which_it_is_ended(case in grids()) {
        kept(&case.limited());
    }
}
