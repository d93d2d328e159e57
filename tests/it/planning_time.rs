//! Planning that takes time: what is decided when, what no longer holds by then, and that nothing is lost.

use gridemu::broker::{Answer, BrokerAbilities, BrokerPolicy, BrokerPolicyInfo, GridView, Reason};
use gridemu::entity::{Broker, BrokerTally};
use gridemu::grid::{Grid, Policies, WindowOptions};
use gridemu::model::{
    ChurnAct, GridSpec, Outcome, PlanRepair, PlannedChurn, PlanningTime, Record, Replan, WorkflowSpec,
};
use gridemu::units::{Span, Time};
use gridemu::workflow::WorkflowSource;
use gridemu::workload::Jobs;
use proptest::prelude::*;
use proptest::sample::select;

use crate::enactment::{instant, secs, speeds, submissions, tasks, workflow, workflows};
use crate::grid::{build, jobs_of, plain};
use crate::grid_invariants::check_run;
use crate::grids::{GridCase, grouped_grids, random_ends};
use crate::support::{cases, job, through_bytes};

/// The same grid, whose plans take `base` and for each task `per_task` seconds.
fn planning(mut spec: GridSpec, base: u64, per_task: u64) -> GridSpec {
    let [base, per_task] = [base, per_task].map(Span::from_secs);
    spec.broker.as_mut().expect("a broker").planning = PlanningTime { base, per_task };
    spec
}

/// The seconds at which jobs started and ended and the place of their site, by number, and what the broker counted.
fn ran(mut grid: Grid) -> (Vec<(u64, u64, usize)>, BrokerTally) {
    let mut records = Vec::new();
    grid.run(&mut records).expect("it runs");
    let of = |job: &&gridemu::model::JobRecord| {
        assert_eq!(job.outcome, Outcome::Completed);
        (secs(job.start.expect("it started")), secs(job.end), job.site.index())
    };
    let tally = grid.broker().map(Broker::tally).expect("a broker");
    (jobs_of(&records).iter().map(of).collect(), tally)
}

/// One site of four processors, 1 s away; a plan takes 5 s and 2 s for each task. Three jobs at 0 are planned until 11, and reach their site at 12. The fourth,
/// which comes at 3, is planned from 11 to 18.
#[test]
fn a_plan_takes_a_time_of_its_own_and_one_for_each_task() {
    let spec = planning(plain(&[4], "mct", 1, 10), 5, 2);
    let jobs = vec![job(1, 0, 1, 100), job(2, 0, 1, 100), job(3, 0, 1, 100), job(4, 3, 1, 100)];
    let (jobs, tally) = ran(build(&spec, jobs));
    assert_eq!(jobs, [(12, 112, 0), (12, 112, 0), (12, 112, 0), (19, 119, 0)]);
    assert_eq!((tally.awaited, tally.planning, tally.stale), (2, 18_000_000, 0));
    // Three go out 11 s after 0, the other 8 s after the report of 10 s.
    assert_eq!(tally.age_max, Span::from_secs(11));
}

/// If sites report at every change over a network that takes no time, a policy of immediate mode plans one job after the other.
#[test]
fn one_job_is_planned_after_the_other_where_each_assignment_is_seen() {
    let spec = planning(plain(&[2, 1], "mct", 0, 0), 5, 2);
    let jobs = (1..=3).map(|id| job(id, 0, 1, 100)).collect();
    assert_eq!(ran(build(&spec, jobs)).0, [(7, 107, 0), (14, 114, 0), (21, 121, 1)]);
    // Comparing them, it plans them at once.
    let spec = planning(plain(&[2, 1], "min-min", 0, 0), 5, 2);
    let jobs = (1..=3).map(|id| job(id, 0, 1, 100)).collect();
    assert_eq!(ran(build(&spec, jobs)).0, [(11, 111, 0), (11, 111, 0), (11, 111, 1)]);
}

/// Site 0 leaves at 4 s, as the broker learns at 11 s from the report of 10 s. What was planned for it from 0 to 20 s is planned anew until 40 s.
#[test]
fn what_is_planned_for_a_site_that_has_left_is_planned_anew() {
    let mut spec = planning(plain(&[4, 4], "mct", 1, 10), 20, 0);
    spec.sites[0].churn.script = vec![PlannedChurn { at: Time::from_secs(4), act: ChurnAct::LeaveSite }];
    let (jobs, tally) = ran(build(&spec, vec![job(1, 0, 4, 10)]));
    assert_eq!(jobs, [(41, 51, 1)]);
    assert_eq!((tally.awaited, tally.planning, tally.stale), (2, 40_000_000, 1));
    assert_eq!((tally.landed_nowhere, tally.assigned), (0, 1));
}

/// Two processors 1 s away ask for work: at 0, known at 1; from 15 on whenever a job ends. A plan takes 3 s.
#[test]
fn pools_that_ask_for_work_get_it_after_the_planning() {
    let spec = planning(plain(&[2], "pull", 1, 10), 3, 0);
    let jobs = (1..=3).map(|id| job(id, 0, 1, 10)).collect();
    assert_eq!(ran(build(&spec, jobs)).0, [(5, 15, 0), (5, 15, 0), (20, 30, 0)]);
}

/// A job that comes while another is planned does not get what that one will take, although its pool has asked anew in the meantime: job 2 takes both
/// processors from 9 to 19, and job 3 waits for the next request.
#[test]
fn what_is_planned_answers_a_request_that_comes_meanwhile() {
    // One processor is free from 0; the other, of the site's own job, from 2, as is known at 3.
    let spec = planning(plain(&[2], "pull", 1, 10), 3, 0);
    let local = vec![Some(Box::new(Jobs::new(vec![job(9, 0, 1, 2)])) as Box<dyn gridemu::workload::Source>)];
    let portal = Box::new(Jobs::new(vec![job(1, 0, 1, 100), job(2, 0, 2, 10), job(3, 2, 1, 10)]));
    let mut grid = Grid::build(&spec, local, Some(portal), &Policies::standard()).expect("a grid");
    let mut records = Vec::new();
    grid.run(&mut records).expect("it runs");
    let started = |id: u64| {
        let jobs = jobs_of(&records);
        secs(jobs.iter().find(|job| job.id.0 == id).and_then(|job| job.start).expect("it started"))
    };
    // Planned from 1 to 4; the request of 2 s is for both processors, of which it takes one: the next plan is for job 3, from 4 to 7.
    assert_eq!([1, 3, 2].map(started), [5, 8, 110]);
}

/// Planning is a part of what a task waits for at the broker.
#[test]
fn planning_is_a_part_of_dispatch() {
    let spec = planning(plain(&[2], "mct", 1, 10), 5, 2);
    let source =
        WorkflowSource::given("test", vec![(Time::ZERO, workflow(&[10, 20], &[(0, 1)]))], 1, "portal");
    let mut grid =
        Grid::build(&spec, Vec::new(), Some(Box::new(source)), &Policies::standard()).expect("a grid");
    let mut records = Vec::new();
    grid.run(&mut records).expect("it runs");
    let times = |of: &&gridemu::model::TaskRecord| {
        [of.ready, of.decided, of.start, Some(of.known)].map(|time| secs(time.expect("it came")))
    };
    let told: Vec<_> = tasks(&records).iter().map(times).collect();
    assert_eq!(told, [[0, 7, 8, 19], [19, 26, 27, 48]]);
    let parts = workflows(&records)[0].parts.expect("it completed");
    assert_eq!((parts.run, parts.dispatch), (Span::from_secs(30), Span::from_secs(18)));
}

/// Assigns the first task, and says that this took 4 s.
struct Slow;

impl BrokerPolicy for Slow {
    fn plan(&mut self, view: &mut GridView<'_>) -> Answer {
        let first = view.ready().next();
        first.into_iter().for_each(|task| view.assign(task, 0, Reason::Policy));
        match view.done() {
            Answer::Done(plan) => Answer::After(Span::from_secs(4), plan),
            other => other,
        }
    }
}

#[test]
fn a_policy_may_say_how_long_it_took() {
    let info = BrokerPolicyInfo::new("slow", |_, _| Ok((Box::new(Slow), BrokerAbilities::PLAIN)));
    let policies = Policies::standard().with_broker(info);
    let jobs = Jobs::new(vec![job(1, 0, 1, 100), job(2, 0, 1, 100)]);
    let spec = planning(plain(&[2], "slow", 1, 10), 1, 0);
    let grid = Grid::build(&spec, Vec::new(), Some(Box::new(jobs)), &policies).expect("a grid");
    assert_eq!(ran(grid).0, [(6, 106, 0), (11, 111, 0)]);
}

fn built(spec: &GridSpec, submitted: &[(u64, WorkflowSpec)]) -> Grid {
    let given = submitted.iter().map(|(at, spec)| (Time::from_secs(*at), spec.clone())).collect();
    let source = WorkflowSource::given("test", given, 1, "portal");
    Grid::build(spec, Vec::new(), Some(Box::new(source)), &Policies::standard()).expect("a grid")
}

/// The records of so many moments of a grid, after those before.
fn onwards(mut grid: Grid, moments: usize, mut records: Vec<Record>) -> Vec<Record> {
    for _ in 0..moments {
        grid.step(&mut records).expect("it runs");
    }
    records
}

fn times() -> impl Strategy<Value = (u64, u64)> {
    select(vec![(1, 0), (0, 1), (3, 2), (17, 0), (61, 5)])
}

proptest! {
    #![proptest_config(cases(150))]

    /// Whatever drives the grid and wherever it is cut, the records are the same, and they are those of a possible schedule.
    #[test]
    fn grids_whose_broker_takes_its_time(
        case in grouped_grids(),
        (base, per_task) in times(),
        ends in any::<u64>(),
        cut in 0_usize..400,
    ) {
        let case = GridCase { spec: planning(case.spec.clone(), base, per_task), ..case };
        let before = case.build();
        let (found, after) = case.windows(WindowOptions::default());
        check_run(&case, &before, &found, &after, None);
        let options = WindowOptions { ends: Some(random_ends(ends)), ..WindowOptions::default() };
        prop_assert_eq!(&case.windows(options).0, &found);
        prop_assert_eq!(&case.actors(2, None), &found);
        prop_assert_eq!(case.stepwise().records.len(), found.records.len());
        let (mut first, mut parts) = (case.build(), Vec::new());
        for _ in 0..cut {
            first.step(&mut parts).expect("it runs");
        }
        let saved = first.snapshot().expect("a state");
        let mut second = case.build();
        second.restore(through_bytes(&saved), false).expect("it fits");
        prop_assert_eq!(second.snapshot().expect("a state"), saved);
        prop_assert_eq!(onwards(second, 600 - cut, parts), onwards(case.build(), 600, Vec::new()));
    }

    /// Workflows complete, also where sites come and go while they are planned, and a run goes on from a snapshot.
    #[test]
    fn workflows_whose_planning_takes_time(
        policy in select(vec!["mct", "fastest-free", "random", "pull", "sufferage", "heft", "peft"]),
        speeds in speeds(),
        submitted in submissions(),
        (base, per_task) in times(),
        (cut, interval) in (0_usize..200, select(vec![0, 10])),
        churn in prop::collection::vec((0_usize..4, 1_u64..150, 1_u64..60), 0..6),
        (repair, replan) in (select(vec![PlanRepair::Lost, PlanRepair::Rest]), select(vec![Replan::Never, Replan::OnChurn])),
    ) {
        let mut spec = planning(instant(policy, &speeds), base, per_task);
        let broker = spec.broker.as_mut().expect("a broker");
        (broker.monitoring_interval, broker.replan, broker.retries) = (Span::from_secs(interval), replan, 1_000);
        broker.workflow.replan = repair;
        for (site, at, down) in churn {
            let script = &mut spec.sites[site % speeds.len()].churn.script;
            let begin = script.last().map_or(Time::ZERO, |last: &PlannedChurn| last.at) + Span::from_secs(at);
            script.push(PlannedChurn { at: begin, act: ChurnAct::LeaveSite });
            script.push(PlannedChurn { at: begin + Span::from_secs(down), act: ChurnAct::JoinSite });
        }
        let (mut whole, mut parts) = (Vec::new(), Vec::new());
        built(&spec, &submitted).run(&mut whole).expect("it runs");
        prop_assert!(workflows(&whole).iter().all(|of| of.outcome == Outcome::Completed));
        let mut first = built(&spec, &submitted);
        for _ in 0..cut {
            first.step(&mut parts).expect("it runs");
        }
        let saved = first.snapshot().expect("a state");
        let mut second = built(&spec, &submitted);
        second.restore(through_bytes(&saved), false).expect("it fits");
        prop_assert_eq!(&second.snapshot().expect("a state"), &saved);
        let whole = onwards(built(&spec, &submitted), 600, Vec::new());
        prop_assert_eq!(onwards(second, 600 - cut, parts), whole);
    }
}
