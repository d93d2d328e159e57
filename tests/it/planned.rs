//! Plans that decide about tasks before they are ready: the broker sends each in its turn, and decides anew about what was lost.

use std::collections::BTreeMap;

use gridemu::broker::mapping::{Dag, Etc, Links, Placement, Profiles, cpop, heft, peft};
use gridemu::broker::{
    Answer, BrokerAbilities, BrokerPolicy, BrokerPolicyInfo, GridView, Planned, Reason, TaskProgress,
};
use gridemu::grid::{Grid, Policies};
use gridemu::model::{
    ChurnAct, EstimateBase, GridSpec, Outcome, PlanRepair, PlannedChurn, Record, TaskOrder, WorkflowSettings,
    WorkflowSpec,
};
use gridemu::units::{Rate, Span, Time};
use gridemu::workflow::{Workflow, WorkflowSource};
use proptest::prelude::*;
use proptest::sample::select;

use crate::enactment::{instant, speeds, submissions, tasks, workflow, workflows};
use crate::grid::{jobs_of, plain};
use crate::support::{cases, through_bytes};

/// It plans each task for a pool and a start in seconds, as it was told; a second decision about a task follows the second of its entries.
struct Fixed {
    told: BTreeMap<u64, Vec<(usize, u64)>>,
}

impl BrokerPolicy for Fixed {
    fn plan(&mut self, view: &mut GridView<'_>) -> Answer {
        let workflows = view.workflows().to_vec();
        for workflow in workflows {
            for at in 0..workflow.tasks() {
                if view.progress(workflow, at) != TaskProgress::Undecided {
                    continue;
                }
                let task = view.task(workflow.id(at)).expect("it waits");
                let Some(told) = self.told.get_mut(&task.id().0).filter(|told| !told.is_empty()) else {
                    continue;
                };
                let (pool, start) = told.remove(0);
                let start = Time::from_secs(start);
                view.plan(
                    task,
                    Planned { pool, start, end: start + Span::from_secs(1), reason: Reason::Policy },
                );
            }
        }
        view.done()
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.told).expect("bytes")
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), String> {
        self.told = postcard::from_bytes(saved).map_err(|error| error.to_string())?;
        Ok(())
    }
}

fn built(spec: &GridSpec, workflow: &WorkflowSpec, told: &[(u64, usize, u64)]) -> Grid {
    built_of(spec, &[(0, workflow.clone())], told)
}

/// Workflows with their submissions in seconds. `told` has task, pool and start.
fn built_of(spec: &GridSpec, workflows: &[(u64, WorkflowSpec)], told: &[(u64, usize, u64)]) -> Grid {
    let mut by_task: BTreeMap<u64, Vec<(usize, u64)>> = BTreeMap::new();
    told.iter().for_each(|(task, pool, start)| by_task.entry(*task).or_default().push((*pool, *start)));
    let abilities = BrokerAbilities { workflows: true, batch: true, ..BrokerAbilities::PLAIN };
    let info = BrokerPolicyInfo::new("fixed", move |_, _| {
        Ok((Box::new(Fixed { told: by_task.clone() }), abilities))
    });
    let given = workflows.iter().map(|(at, workflow)| (Time::from_secs(*at), workflow.clone())).collect();
    let source = WorkflowSource::given("test", given, 1, "portal");
    let policies = Policies::standard().with_broker(info);
    Grid::build(spec, Vec::new(), Some(Box::new(source)), &policies).expect("a grid")
}

/// Site, start and end of each task, in seconds.
fn placed(records: &[Record]) -> Vec<(usize, u64, u64)> {
    let secs = |time: Time| time.micros() / 1_000_000;
    let placed = |task: &gridemu::model::TaskRecord| {
        (task.site.index(), secs(task.start.expect("it started")), secs(task.end))
    };
    tasks(records).into_iter().map(placed).collect()
}

/// t0 takes 10 s and then t1 20 s; t2 (5 s) waits for none. On one processor t1 is planned before t2: t2 waits for its turn, although it is
/// ready and the processor is free. The other way round it goes at once.
#[test]
fn what_is_planned_for_a_pool_goes_there_in_its_order() {
    let workflow = workflow(&[10, 20, 5], &[(0, 1)]);
    let spec = plain(&[1, 1], "fixed", 0, 10);
    for (start, expected) in
        [(30, [(1, 0, 10), (0, 10, 30), (0, 30, 35)]), (3, [(1, 0, 10), (0, 10, 30), (0, 0, 5)])]
    {
        let told = [(0, 1, 0), (1, 0, 10), (2, 0, start)];
        let mut records = Vec::new();
        built(&spec, &workflow, &told).run(&mut records).expect("it runs");
        assert_eq!(placed(&records), expected);
    }
}

#[test]
fn a_run_goes_on_from_a_snapshot_with_tasks_that_wait_for_their_turn() {
    let workflow = workflow(&[10, 20, 5, 7], &[(0, 1), (1, 3)]);
    let spec = plain(&[1, 1], "fixed", 0, 10);
    let told = [(0, 1, 0), (1, 0, 10), (2, 0, 30), (3, 0, 35)];
    let mut whole = Vec::new();
    let on = |grid: &mut Grid, records: &mut Vec<Record>| {
        while grid.now() < Time::from_secs(70) {
            grid.step(records).expect("it runs");
        }
    };
    on(&mut built(&spec, &workflow, &told), &mut whole);
    for cut in 0..30 {
        let (mut first, mut parts) = (built(&spec, &workflow, &told), Vec::new());
        for _ in 0..cut {
            first.step(&mut parts).expect("it runs");
        }
        let saved = first.snapshot().expect("a state");
        let mut second = built(&spec, &workflow, &told);
        second.restore(through_bytes(&saved), false).expect("it fits");
        assert_eq!(second.snapshot().expect("a state"), saved);
        on(&mut second, &mut parts);
        assert_eq!(parts, whole, "cut at {cut}");
    }
}

fn settings(spec: &mut GridSpec) -> &mut WorkflowSettings {
    &mut spec.broker.as_mut().expect("a broker").workflow
}

/// The site of t0 leaves at 4 s, and the broker recalls t0 with the report of 10 s: t0 is planned anew, and with it t1, which waits for it; t2 keeps its place, and now waits for none.
#[test]
fn what_waits_for_a_lost_task_is_planned_anew() {
    let workflow = workflow(&[10, 20, 5], &[(0, 1)]);
    let mut spec = plain(&[1, 1], "fixed", 0, 10);
    spec.sites[1].churn.script = vec![PlannedChurn { at: Time::from_secs(4), act: ChurnAct::LeaveSite }];
    let told = [(0, 1, 0), (1, 0, 10), (2, 0, 30), (0, 0, 40), (1, 0, 50), (2, 0, 60)];
    let mut run = |replan| {
        settings(&mut spec).replan = replan;
        let mut records = Vec::new();
        built(&spec, &workflow, &told).run(&mut records).expect("it runs");
        placed(&records)
    };
    // The first start of t0 was at the site that left.
    assert_eq!(run(PlanRepair::Lost), [(0, 0, 25), (0, 25, 45), (0, 10, 15)]);
    // t2, planned anew, comes last.
    assert_eq!(run(PlanRepair::Rest), [(0, 0, 20), (0, 20, 40), (0, 40, 45)]);
}

/// When the second workflow arrives, at 5 s, t1 of the first has not been sent. If both are planned together, it is planned once more.
#[test]
fn workflows_are_planned_each_by_itself_or_together() {
    let two = [(0, workflow(&[10, 20], &[(0, 1)])), (5, workflow(&[7], &[]))];
    let told = [(0, 1, 0), (1, 0, 10), (2, 0, 5), (1, 1, 10)];
    for (together, second) in [(false, (0, 12, 32)), (true, (1, 10, 30))] {
        let mut spec = plain(&[1, 1], "fixed", 0, 10);
        settings(&mut spec).together = together;
        let mut records = Vec::new();
        built_of(&spec, &two, &told).run(&mut records).expect("it runs");
        assert_eq!(placed(&records), [(1, 0, 10), second, (0, 5, 12)]);
    }
}

/// t0 (5 s) waits for none, and t1 (6 s) is waited for by t2 (100 s). On one processor the order of submission has t0 first, the critical path t1.
#[test]
fn tasks_of_the_longest_way_come_first_if_wanted() {
    for (order, expected) in [
        (TaskOrder::Policy, [(0, 0, 5), (0, 5, 11), (0, 11, 111)]),
        (TaskOrder::CriticalPath, [(0, 6, 11), (0, 0, 6), (0, 11, 111)]),
    ] {
        let mut spec = plain(&[1], "mct", 0, 10);
        settings(&mut spec).order = order;
        let mut records = Vec::new();
        built(&spec, &workflow(&[5, 6, 100], &[(1, 2)]), &[]).run(&mut records).expect("it runs");
        assert_eq!(placed(&records), expected);
    }
}

/// Two tasks of one type, of 10 s and 30 s: both are estimated at 20 s, run as long as they do, and are not killed.
#[test]
fn estimates_err_and_tasks_run_on() {
    let run = |change: &dyn Fn(&mut WorkflowSettings)| {
        let mut spec = plain(&[2], "mct", 0, 10);
        change(settings(&mut spec));
        let mut records = Vec::new();
        built(&spec, &workflow(&[10, 30], &[]), &[]).run(&mut records).expect("it runs");
        let jobs: Vec<(u64, Outcome)> =
            jobs_of(&records).iter().map(|job| (job.estimate.micros(), job.outcome)).collect();
        assert_eq!(placed(&records), [(0, 0, 10), (0, 0, 30)]);
        assert!(jobs.iter().all(|(_, outcome)| *outcome == Outcome::Completed));
        (jobs[0].0, jobs[1].0)
    };
    assert_eq!(run(&|_| {}), (10_000_000, 30_000_000));
    assert_eq!(run(&|settings| settings.estimates = EstimateBase::TypeMean), (20_000_000, 20_000_000));
    let wrong = run(&|settings| settings.error_ppm = 500_000);
    assert!(wrong.0 != 10_000_000 && wrong.1 != 30_000_000, "{wrong:?}");
    assert_eq!(run(&|settings| settings.error_ppm = 500_000), wrong);
}

/// A fork under another policy plans anew what has not been sent; under the same description it is the same run.
#[test]
fn a_fork_goes_on_with_another_policy() {
    let workflow = workflow(&[10, 20, 5, 7], &[(0, 1), (1, 3)]);
    let spec = |policy| plain(&[1, 1], policy, 0, 10);
    let on = |grid: &mut Grid, until: u64, records: &mut Vec<Record>| {
        while grid.now() < Time::from_secs(until) {
            grid.step(records).expect("it runs");
        }
    };
    let (mut whole, mut parts) = (Vec::new(), Vec::new());
    on(&mut built(&spec("heft"), &workflow, &[]), 90, &mut whole);
    let mut first = built(&spec("heft"), &workflow, &[]);
    on(&mut first, 5, &mut parts);
    let saved = through_bytes(&first.snapshot().expect("a state"));
    for policy in ["heft", "mct", "peft"] {
        let mut fork = built(&spec(policy), &workflow, &[]);
        fork.restore(saved.clone(), true).expect("it fits");
        let mut records = parts.clone();
        on(&mut fork, 90, &mut records);
        let all = tasks(&records);
        assert!(all.len() == 4 && all.iter().all(|task| task.outcome == Outcome::Completed), "{policy}");
        assert!(policy != "heft" || records == whole);
    }
}

/// By hand. Under `mct`, t0 (100 s) and t1 (20 s) run at two sites of one processor from 0 on; t2 (50 s) waits for t0 and t3 (10 s) for t1. A planner that takes
/// over at 10 knows that t0 ends at 100: t2 is planned to start then, so that t3 goes to the other site at 20 and is not behind it.
#[test]
fn a_planner_that_takes_over_expects_what_runs_to_end() {
    let workflow = workflow(&[100, 20, 50, 10], &[(0, 2), (1, 3)]);
    let at = |policy| built(&plain(&[1, 1], policy, 0, 10), &workflow, &[]);
    let on = |grid: &mut Grid, until: u64, records: &mut Vec<Record>| {
        while grid.now() < Time::from_secs(until) {
            grid.step(records).expect("it runs");
        }
    };
    for policy in ["heft", "peft"] {
        let (mut first, mut fork, mut records) = (at("mct"), at(policy), Vec::new());
        on(&mut first, 10, &mut records);
        fork.restore(through_bytes(&first.snapshot().expect("a state")), true).expect("it fits");
        on(&mut fork, 200, &mut records);
        let starts: Vec<_> = placed(&records).into_iter().map(|(_, start, end)| (start, end)).collect();
        assert_eq!(starts, [(0, 100), (0, 20), (100, 150), (20, 30)], "{policy}");
    }
}

proptest! {
    #![proptest_config(cases(200))]

    /// On idle processors, without data and with exact estimates, each task runs where and when the heuristic has it.
    #[test]
    fn static_plans_come_true(
        policy in select(vec!["heft", "peft", "cpop"]),
        speeds in speeds(),
        submitted in submissions(),
    ) {
        let mut spec = submitted[0].1.clone();
        // The grid plans a task of no time as one of a microsecond.
        spec.tasks.iter_mut().for_each(|task| task.runtime = task.runtime.max(Span::from_secs(1)));
        let mut records = Vec::new();
        built(&instant(policy, &speeds), &spec, &[]).run(&mut records).expect("it runs");
        let workflow = Workflow::from_spec(spec).expect("it is valid");
        let number = speeds.len();
        let pools: Vec<(&str, Rate)> = speeds.iter().map(|speed| ("default", Rate::from_units(*speed))).collect();
        let (dag, etc) = (Dag::of(&workflow), Etc::of_workflow(&workflow, &pools));
        let (links, mut idle) =
            (Links::uniform(number, Span::ZERO, None), Profiles::idle(Time::ZERO, &vec![1; number]));
        let mut plan = match policy {
            "heft" => heft(&dag, &etc, &links, &mut idle),
            "peft" => peft(&dag, &etc, &links, &mut idle),
            _ => cpop(&dag, &etc, &links, &mut idle),
        };
        plan.sort_by_key(|placed| placed.task);
        let ran = tasks(&records).into_iter().enumerate().map(|(task, ran)| Placement {
            task,
            pool: ran.site.index(),
            start: ran.start.expect("it started"),
            end: ran.end,
        });
        prop_assert_eq!(ran.collect::<Vec<_>>(), plan);
        prop_assert_eq!(workflows(&records)[0].outcome, Outcome::Completed);
    }
}
