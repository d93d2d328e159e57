//! Failures in a grid are errors that name the entity, the time and the jobs, with every engine.

use std::num::NonZeroUsize;

use gridemu::broker::{
    Answer, BrokerAbilities, BrokerPolicy, BrokerPolicyInfo, Choose, GridView, OneByOne, Pick, Reason, Task,
};
use gridemu::entity::{Address, EntityError};
use gridemu::grid::{Grid, GridError, Policies, Waiter, WindowError, WindowOptions};
use gridemu::model::{
    ChurnAct, EventKind, GridSpec, Job, JobId, JobRef, Machines, Needs, Outcome, PartitionId, PlannedChurn,
    ProcSet, Record, RejectReason, Replan, SiteId, WorkloadId,
};
use gridemu::runtime::{RuntimeError, RuntimeOptions, run_grid};
use gridemu::units::{Span, Time};
use gridemu::workload::{Jobs, Mark, Source, SourceError};

use crate::grid::{build, jobs_of, plain};
use crate::support::job;

fn actors(grid: &mut Grid, threads: usize) -> (Result<(), RuntimeError>, Vec<Record>) {
    let threads = NonZeroUsize::new(threads).expect("a thread");
    let (options, mut records) = (RuntimeOptions { threads, ..RuntimeOptions::default() }, Vec::new());
    (run_grid(grid, None, options, &mut records), records)
}

/// Fails in one way or another when the job of that number is taken.
struct Faulty {
    jobs: Jobs,
    panics_at: u64,
    /// Each end brings a job of no length at the same instant.
    endless: bool,
    more: Option<Job>,
}

impl Faulty {
    fn panics(at: u64, jobs: Vec<Job>) -> Option<Box<dyn Source>> {
        Some(Box::new(Self { jobs: Jobs::new(jobs), panics_at: at, endless: false, more: None }))
    }

    fn endless(jobs: Vec<Job>) -> Option<Box<dyn Source>> {
        Some(Box::new(Self { jobs: Jobs::new(jobs), panics_at: u64::MAX, endless: true, more: None }))
    }
}

impl Source for Faulty {
    fn peek_time(&mut self) -> Result<Option<Time>, SourceError> {
        match &self.more {
            Some(job) => Ok(Some(job.submit)),
            None => self.jobs.peek_time(),
        }
    }

    fn next_job(&mut self) -> Result<Option<Job>, SourceError> {
        let job = if self.more.is_some() { self.more.take() } else { self.jobs.next_job()? };
        assert!(job.as_ref().is_none_or(|job| job.id.0 != self.panics_at), "the disk is on fire");
        Ok(job)
    }

    fn ended(&mut self, id: JobId, at: Time) {
        if self.endless {
            self.more = Some(Job::rigid(id.0 + 1, at, 1, gridemu::units::Span::ZERO));
        }
    }

    fn has_feedback(&self) -> bool {
        self.endless
    }

    fn mark(&self) -> Option<Mark> {
        None
    }

    fn seek(&mut self, _: &Mark) -> Result<(), SourceError> {
        Ok(())
    }
}

fn with_sources(spec: &GridSpec, local: Option<Box<dyn Source>>, portal: Option<Box<dyn Source>>) -> Grid {
    let policies = Policies::standard();
    Grid::build(spec, vec![local], portal, &policies).expect("a grid")
}

#[test]
fn a_panic_names_who_and_when() {
    let jobs = || vec![job(1, 3, 1, 10), job(2, 7, 1, 10)];
    let spec = plain(&[4, 4], "mct", 1, 10);
    for threads in [1, 2, 8] {
        let mut grid = with_sources(&spec, None, Faulty::panics(2, jobs()));
        let error = actors(&mut grid, threads).0.expect_err("it panics");
        let RuntimeError::Panicked { entity, at, message } = &error else { panic!("{error:?}") };
        assert_eq!((*entity, at.time), (Address::Portal, Time::from_secs(7)), "{threads} threads");
        assert_eq!(message, "the disk is on fire");
        assert_eq!(error.to_string(), "the portal panicked at 7 s, round 1: the disk is on fire");

        let mut grid = with_sources(&spec, Faulty::panics(2, jobs()), None);
        let error = actors(&mut grid, threads).0.expect_err("it panics");
        let RuntimeError::Panicked { entity, at, .. } = error else { panic!("{error:?}") };
        assert_eq!((entity, at.time), (Address::Site(SiteId(0)), Time::from_secs(7)), "{threads} threads");
    }
}

fn clumsy() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("clumsy", |_, _| Ok((Box::new(Clumsy), BrokerAbilities::PLAIN)))
        .doc("Panics at the second job.")
}

struct Clumsy;

impl BrokerPolicy for Clumsy {
    fn plan(&mut self, view: &mut GridView<'_>) -> Answer {
        assert!(view.ready().all(|task| task.job() != JobId(2)), "two is one too many");
        for task in view.ready() {
            view.assign(task, 0, Reason::Policy);
        }
        view.done()
    }
}

fn under(policy: BrokerPolicyInfo, spec: &GridSpec, jobs: Vec<Job>) -> Grid {
    let policies = Policies::standard().with_broker(policy);
    Grid::build(spec, vec![], Some(Box::new(Jobs::new(jobs))), &policies).expect("a grid")
}

#[test]
fn a_broker_policy_that_panics_is_named_with_its_moment() {
    let spec = plain(&[4, 4], "clumsy", 1, 10);
    for threads in [1, 2] {
        let mut grid = under(clumsy(), &spec, vec![job(1, 3, 1, 10), job(2, 7, 1, 10)]);
        let error = actors(&mut grid, threads).0.expect_err("it panics").to_string();
        assert_eq!(error, "the broker panicked at 7 s, round 2: two is one too many", "{threads} threads");
    }
}

fn stubborn() -> BrokerPolicyInfo {
    BrokerPolicyInfo::new("stubborn", |_, _| Ok((Box::new(OneByOne(Stubborn)), BrokerAbilities::PLAIN)))
        .doc("Sends all jobs to the first pool, also those that it has refused.")
}

struct Stubborn;

impl Choose for Stubborn {
    fn choose(&mut self, _: &GridView<'_>, _: Task<'_>) -> Pick {
        Pick::Pool(0, Reason::Policy)
    }
}

/// It keeps the first task that it sees and assigns it again and again, or all tasks to a pool that is not there.
struct Wrong {
    pool: usize,
    first: Option<Answer>,
}

impl BrokerPolicy for Wrong {
    fn plan(&mut self, view: &mut GridView<'_>) -> Answer {
        for task in view.ready() {
            view.assign(task, self.pool, Reason::Policy);
        }
        self.first.get_or_insert(view.done()).clone()
    }
}

#[test]
fn a_plan_that_cannot_be_carried_out_ends_the_run() {
    for (pool, told) in [
        (0, "broker policy `wrong` assigns task 0 which does not wait with the broker"),
        (7, "broker policy `wrong` assigns task 0 to pool 7 of 2"),
    ] {
        let info = BrokerPolicyInfo::new("wrong", move |_, _| {
            Ok((Box::new(Wrong { pool, first: None }), BrokerAbilities::PLAIN))
        });
        let spec = plain(&[4, 4], "wrong", 1, 10);
        let mut grid = under(info, &spec, vec![job(1, 3, 1, 10), job(2, 7, 1, 10)]);
        let error = grid.run(&mut Vec::<Record>::new()).expect_err("it cannot be carried out");
        assert!(error.to_string().contains(told), "{error}");
    }
}

/// Five processors of four: refused at 1, back at 2, resting until 12; refused at 13, back at 14, resting twice as long until 34;
/// refused at 35, and given up at 36.
#[test]
fn a_job_that_is_sent_where_it_is_refused_is_given_up() {
    let mut spec = plain(&[4, 8], "stubborn", 1, 10);
    spec.broker.as_mut().unwrap().retries = 2;
    let mut records: Vec<Record> = Vec::new();
    under(stubborn(), &spec, vec![job(1, 0, 5, 10), job(2, 0, 4, 10)]).run(&mut records).expect("it runs");
    let jobs = jobs_of(&records);
    assert_eq!(
        (jobs[0].outcome, jobs[0].end),
        (Outcome::Rejected(RejectReason::TooLarge), Time::from_secs(36))
    );
    assert_eq!((jobs[1].outcome, jobs[1].end), (Outcome::Completed, Time::from_secs(11)));
    let events: Vec<_> = records
        .iter()
        .filter_map(|record| match record {
            Record::Event(event) => Some((event.time.micros() / 1_000_000, event.kind)),
            _ => None,
        })
        .collect();
    let (refused, again) = (EventKind::Refused, EventKind::Reassigned);
    assert_eq!(
        events,
        [(1, refused), (12, again), (13, refused), (34, again), (35, refused), (36, EventKind::GivenUp)]
    );
}

/// A job of no length follows each at its very end, and no message takes any time.
#[test]
fn an_instant_that_never_ends_is_a_stall() {
    let spec = plain(&[4], "mct", 0, 10);
    let grid = || with_sources(&spec, None, Faulty::endless(vec![job(1, 5, 1, 0)]));
    let at = Time::from_secs(5);
    let stalled = |error: &GridError| match error {
        GridError::Entity(EntityError::Stalled { at, rounds, .. }) => (at.time, *rounds),
        GridError::Window(WindowError::Stalled { at, .. }) => (at.time, at.round),
        error => panic!("{error:?}"),
    };
    let error = grid().run_to(None, WindowOptions::default(), &mut Vec::new()).expect_err("it stalls");
    assert_eq!(stalled(&error), (at, 10_000), "{error}");
    let error = grid().run_stepwise(None, &mut Vec::new()).expect_err("it stalls");
    assert_eq!(stalled(&error), (at, 10_000), "{error}");
    let error = actors(&mut grid(), 2).0.expect_err("it stalls").to_string();
    assert!(error.contains("does not get beyond 5 s, round 10000"), "{error}");
    // At a site alone it is the same.
    let mut grid = with_sources(&spec, Faulty::endless(vec![job(1, 5, 1, 0)]), None);
    let error = grid.run(&mut Vec::new()).expect_err("it stalls").to_string();
    assert!(error.contains("site") && error.contains("does not get beyond 5 s, round 10000"), "{error}");
}

/// The only site leaves for ever at 10; a job waits there, and one comes at 100.
#[test]
fn a_grid_that_can_go_no_further_says_which_jobs_wait() {
    let mut spec = plain(&[4], "mct", 1, 10);
    spec.broker.as_mut().expect("a broker").recall_queued = false;
    spec.sites[0].churn.script = vec![PlannedChurn { at: Time::from_secs(10), act: ChurnAct::LeaveSite }];
    let jobs = vec![job(1, 0, 4, 5), job(2, 0, 4, 100), job(3, 100, 2, 10)];
    let mut records: Vec<Record> = Vec::new();
    let error = build(&spec, jobs.clone()).run(&mut records).expect_err("it is stuck");
    let GridError::Stuck { at, total, first, .. } = &error else { panic!("{error:?}") };
    let waiter = |job, site: Option<&str>, procs| Waiter {
        job: JobRef { workload: WorkloadId::GRID, number: JobId(job) },
        site: site.map(str::to_owned),
        procs,
        needs: Needs::default(),
        files: Vec::new(),
    };
    assert_eq!(*first, [waiter(2, Some("site-0"), 4), waiter(3, None, 2)]);
    // Job 3 came at 100, and nothing has moved a job for two reports and ten messages: 100 + 20 + 10, and the full minute.
    assert_eq!((*at, *total), (Time::from_secs(180), 2));
    let told = error.to_string();
    assert!(told.contains("2 jobs are left: job 2 waits for 4 processors of `site-0`"), "{told}");
    let outcomes: Vec<Outcome> = jobs_of(&records).iter().map(|job| job.outcome).collect();
    assert_eq!(outcomes, [Outcome::Completed, Outcome::Unfinished, Outcome::Unfinished]);
    for threads in [1, 2] {
        let (result, told) = actors(&mut build(&spec, jobs.clone()), threads);
        assert_eq!(result, Err(RuntimeError::Grid(error.clone())));
        assert_eq!(told, records);
    }
}

#[test]
fn a_workload_for_the_portal_needs_a_broker() {
    let mut spec = plain(&[4], "mct", 1, 10);
    spec.broker = None;
    let jobs: Option<Box<dyn Source>> = Some(Box::new(Jobs::new(vec![job(1, 0, 1, 1)])));
    let built = Grid::build(&spec, vec![], jobs, &Policies::standard());
    let error = built.expect_err("nobody takes them");
    assert_eq!(error, GridError::NoBroker);
    assert_eq!(error.to_string(), "jobs come through the portal, but the grid has no broker");
}

/// A job of 4 processors is sent to a site that has 3 left, waits there, and is taken back with every report: that moves it, but
/// gets it nowhere, and the run ends all the same.
#[test]
fn a_job_that_is_taken_back_for_ever_does_not_keep_the_run_alive() {
    let mut spec = plain(&[4], "mct[absent=queue]", 1, 10);
    let broker = spec.broker.as_mut().expect("a broker");
    (broker.replan, broker.recall_queued) = (Replan::EveryReport, true);
    let which = ProcSet::range(0, 1);
    let act = ChurnAct::Leave(Machines { partition: PartitionId(0), which });
    spec.sites[0].churn.script = vec![PlannedChurn { at: Time::from_secs(10), act }];
    let mut records: Vec<Record> = Vec::new();
    let error = build(&spec, vec![job(1, 20, 4, 10)]).run(&mut records).expect_err("it is stuck");
    assert!(matches!(error, GridError::Stuck { total: 1, .. }), "{error}");
    assert_eq!(jobs_of(&records)[0].outcome, Outcome::Unfinished);
}

/// A job of 4 processors waits at a site that has 3 left. Another site joins at 4000, the last churn of all. The broker recalls the job
/// (the report takes 50, the recall 100, the dispatch 1030) and it is on its way from 5180 to 5230, over a full minute and long after
/// the 520 in which news reaches everyone: the run goes on.
#[test]
fn a_recalled_job_on_its_way_keeps_the_run_alive() {
    let mut spec = plain(&[4, 4], "mct[absent=queue]", 50, 10);
    let broker = spec.broker.as_mut().expect("a broker");
    (broker.replan, broker.recall_queued, broker.overhead) = (Replan::OnChurn, true, Span::from_secs(1030));
    let leave = ChurnAct::Leave(Machines { partition: PartitionId(0), which: ProcSet::range(0, 1) });
    spec.sites[0].churn.script = vec![PlannedChurn { at: Time::from_secs(10), act: leave }];
    spec.sites[1].churn.script = [(10, ChurnAct::LeaveSite), (4000, ChurnAct::JoinSite)]
        .map(|(at, act)| PlannedChurn { at: Time::from_secs(at), act })
        .to_vec();
    let mut records: Vec<Record> = Vec::new();
    build(&spec, vec![job(1, 1500, 4, 10)]).run(&mut records).expect("it is not stuck");
    let job = jobs_of(&records)[0];
    assert_eq!(
        (job.outcome, job.site, job.start),
        (Outcome::Completed, SiteId(1), Some(Time::from_secs(5230)))
    );
}

/// All machines of the site are never up at once, but they come and go for ever: the error says how long nothing has moved.
#[test]
fn a_job_that_waits_for_more_than_is_ever_up_is_given_up_after_a_year() {
    let mut spec = plain(&[4], "mct[absent=queue]", 1, 3_600);
    let machines = |which| Machines { partition: PartitionId(0), which: ProcSet::range(which, which + 1) };
    let days = |day: u64| Time::from_secs(86_400 * day);
    spec.sites[0].churn.script = (0..400)
        .flat_map(|day| {
            let (up, down) = if day % 2 == 0 { (0, 1) } else { (1, 0) };
            [(ChurnAct::Leave(machines(down)), 0), (ChurnAct::Join(machines(up)), 1)]
                .map(|(act, later)| PlannedChurn { at: days(day) + Span::from_secs(later), act })
        })
        .collect();
    let mut records: Vec<Record> = Vec::new();
    let error = build(&spec, vec![job(1, 7_200, 4, 10)]).run(&mut records);
    let error = error.expect_err(&format!("it is stuck: {:?}", jobs_of(&records)));
    assert!(matches!(error, GridError::Stuck { churn: true, total: 1, .. }), "{error:?}");
    let told = error.to_string();
    assert!(
        told.contains("no job has moved for 365 days, although machines came and went, and 1 job is left"),
        "{told}"
    );
}
