//! Suspending, resuming and resizing jobs where that takes time, worked out by hand.

use std::collections::BTreeMap;

use gridemu::grid::GridError;
use gridemu::local::{
    Abilities, Action, Actions, Change, LiveJob, LocalPolicy, Phase, Placement, PolicyInfo, Registry, View,
};
use gridemu::model::{
    Cause, FailureAction, Job, JobId, JobKey, JobMemory, MemoryLaw, Outcome, Preemption, ProcSet, SiteSpec,
    Speedup,
};
use gridemu::units::{Bytes, Rate, Span, Time};

use crate::driver::{Act, Driver, Script};
use crate::support::{With, grid, job, site, try_run};

/// What the policy does to a job at a time of its plan.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Do {
    Suspend(u64),
    Resume(u64),
    /// Gives it so many of the lowest free processors.
    Resize(u64, u32),
}

/// Starts waiting jobs in order of arrival wherever they fit, and does what its plan says, by time in seconds.
#[derive(Debug)]
struct Planned {
    plan: BTreeMap<u64, Vec<Do>>,
    /// Whether suspended jobs release their processors at once, so that others start there in the same pass.
    at_once: bool,
    /// Jobs that it was told are suspended now, with the processors that were free then.
    told: Vec<(u64, u32)>,
}

fn key_of(view: &View<'_>, id: u64) -> JobKey {
    let phases = [Phase::Waiting, Phase::Running, Phase::Suspended];
    let mut all = phases.into_iter().flat_map(|phase| view.jobs_in(phase));
    all.find(|key| view.job(*key).id() == JobId(id)).unwrap_or_else(|| panic!("job {id} at {}", view.now()))
}

impl LocalPolicy for Planned {
    fn on(&mut self, change: Change, view: &View<'_>) {
        if let Change::Suspended(job) = change {
            let live = view.job(job);
            assert_eq!((live.phase(), live.held()), (Phase::Suspended, 0));
            self.told.push((live.id().0, view.free()));
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = view.now().micros() / 1_000_000;
        let later = self.plan.split_off(&(now + 1));
        let due = std::mem::replace(&mut self.plan, later);
        let mut free = view.free();
        for act in due.into_values().flatten() {
            match act {
                Do::Suspend(id) => {
                    let job = key_of(view, id);
                    free += if self.at_once { view.job(job).held() } else { 0 };
                    actions.push(Action::Suspend { job, why: None });
                }
                Do::Resume(id) => {
                    let job = key_of(view, id);
                    let procs = view.job(job).placement().clone();
                    free = free.saturating_sub(procs.len());
                    actions.push(Action::Resume { job, placement: Placement::On(procs), share: Rate::FULL });
                }
                Do::Resize(id, procs) => {
                    actions.push(Action::Resize { job: key_of(view, id), placement: Placement::Any(procs) });
                }
            }
        }
        for job in view.jobs_in(Phase::Waiting) {
            let procs = view.job(job).procs();
            if procs <= free {
                free -= procs;
                actions.start(job, procs);
            }
        }
        if let Some((at, _)) = self.plan.first_key_value() {
            actions.wake_at(Time::from_secs(*at));
        }
    }

    /// Its plan is given anew; what is over is left out.
    fn adopt(&mut self, view: &View<'_>) {
        self.plan = self.plan.split_off(&(view.now().micros() / 1_000_000 + 1));
    }
}

/// The standard policies, and one that follows this plan.
fn planned(plan: &[(u64, Do)]) -> Registry {
    planned_with(plan, false)
}

/// The same; suspended jobs may release their processors at once.
fn planned_with(plan: &[(u64, Do)], at_once: bool) -> Registry {
    let mut by_time = BTreeMap::<u64, Vec<Do>>::new();
    plan.iter().for_each(|(at, act)| by_time.entry(*at).or_default().push(*act));
    let able = Abilities { preempts: true, resizes: true, picks_processors: true, ..Abilities::PLAIN };
    let able = Abilities { same_processors: true, ..able };
    let info = PolicyInfo::new("planned", move |_| {
        Ok((Box::new(Planned { plan: by_time.clone(), at_once, told: Vec::new() }), able))
    });
    Registry::standard().with(info.doc("Follows a plan."))
}

/// Writing takes 10 s, and reading 5 s.
pub(crate) fn costs() -> Preemption {
    Preemption {
        memory: JobMemory::Law(MemoryLaw::Fixed(Bytes::new(20_000_000))),
        write: Some("2 MB/s".parse().expect("a bandwidth")),
        read: Some("4 MB/s".parse().expect("a bandwidth")),
        ..Preemption::default()
    }
}

/// Four processors, each a machine.
fn four() -> SiteSpec {
    SiteSpec { preemption: costs(), ..site(4, "planned") }
}

/// Segments of a job: from, to, cause.
fn segments(ran: &crate::support::Ran, id: u64) -> Vec<(u64, u64, Cause)> {
    let of = ran.segments().filter(|segment| segment.job == JobId(id));
    of.map(|segment| (segment.from.micros() / 1_000_000, segment.to.micros() / 1_000_000, segment.cause))
        .collect()
}

/// The live job with this number.
fn live(driver: &Driver, id: u64) -> &LiveJob {
    let view = driver.partition.view(driver.now);
    let phases = [
        Phase::Waiting,
        Phase::Running,
        Phase::Suspending,
        Phase::Suspended,
        Phase::Resuming,
        Phase::Reconfiguring,
        Phase::Stalled,
        Phase::Ineligible,
    ];
    let mut all = phases.into_iter().flat_map(|phase| view.jobs_in(phase)).map(|key| view.job(key));
    all.find(|job| job.id() == JobId(id)).expect("it is here")
}

const ONE_FOR_ANOTHER: [(u64, Do); 2] = [(10, Do::Suspend(1)), (40, Do::Resume(1))];

/// Job 1 has all four processors for 100 s, and is suspended at 10 s for job 2, which takes 20 s.
fn two_jobs() -> Vec<Job> {
    vec![job(1, 0, 4, 100), job(2, 10, 4, 20)]
}

/// Job 1 writes from 10 s to 20 s, so that job 2 runs from 20 s to 40 s; job 1 reads until 45 s, and has 90 s left: it ends at 135 s.
#[test]
fn writing_and_reading_take_their_time() {
    let registry = planned(&ONE_FOR_ANOTHER);
    let (ran, _) = Driver::new(&registry, &four(), &two_jobs(), &Script::default()).run();
    use Cause::{Resume, Run, Suspend};
    assert_eq!(segments(&ran, 1), [(0, 10, Run), (10, 20, Suspend), (40, 45, Resume), (45, 135, Run)]);
    assert_eq!(segments(&ran, 2), [(20, 40, Run)]);
    assert_eq!((ran.times(1), ran.times(2)), ((0, 135), (20, 40)));
    assert_eq!((ran.job(1).outcome, ran.job(1).attempts), (Outcome::Completed, 1));
    assert!(ran.segments().all(|segment| (segment.rate == Rate::FULL) == (segment.cause == Run)));
    // 4 × (100 + 20) s of work, and 4 × 15 s of overhead.
    let secs = |secs: u128| secs * 1_000_000 << Rate::BITS;
    let usage = ran.usage[0];
    assert_eq!((usage.useful, usage.overhead, usage.wasted), (secs(480), secs(60), 0));
    assert_eq!(usage.to, Time::from_secs(135));
}

/// Without what it costs, all is at once: job 2 runs from 10 s to 30 s, when it is resumed at 40 s job 1 ends at 130 s.
#[test]
fn what_costs_nothing_takes_no_time() {
    let registry = planned_with(&ONE_FOR_ANOTHER, true);
    for preemption in [Preemption::default(), Preemption { write: None, read: None, ..costs() }] {
        let spec = SiteSpec { preemption, ..four() };
        let (ran, _) = Driver::new(&registry, &spec, &two_jobs(), &Script::default()).run();
        assert_eq!(segments(&ran, 1), [(0, 10, Cause::Run), (40, 130, Cause::Run)]);
        assert_eq!((ran.times(2), ran.usage[0].overhead), ((10, 30), 0));
    }
}

/// What a policy sees of a job on its way: it waits while it does no work, and its expansion factor grows.
#[test]
fn a_job_in_transition_is_seen_as_such() {
    let registry = planned(&ONE_FOR_ANOTHER);
    let mut driver = Driver::new(&registry, &four(), &two_jobs(), &Script::default());
    let at = |driver: &Driver, secs: u64| {
        let (job, now) = (live(driver, 1), Time::from_secs(secs));
        (
            job.phase(),
            job.expected_end(),
            job.ran(now).micros() / 1_000_000,
            job.waited(now).micros() / 1_000_000,
        )
    };
    driver.until(0);
    assert_eq!(at(&driver, 8), (Phase::Running, Time::from_secs(100), 8, 0));
    assert_eq!(live(&driver, 1).xfactor(Time::from_secs(8)).to_string(), "1.00");
    driver.until(10);
    assert_eq!(at(&driver, 15), (Phase::Suspending, Time::from_secs(20), 10, 5));
    assert_eq!(live(&driver, 1).xfactor(Time::from_secs(15)).to_string(), "1.05");
    let view = driver.partition.view(driver.now);
    assert_eq!((view.holders().len(), view.free()), (1, 0));
    assert_eq!(view.holding(&ProcSet::range(2, 3)), view.holders());
    // Its processors are expected to be free at 20 s, when job 2 can start.
    assert_eq!(view.profile().earliest(driver.now, Span::TICK, 4), Some(Time::from_secs(20)));
    driver.until(20);
    assert_eq!(at(&driver, 30), (Phase::Suspended, Time::NEVER, 10, 20));
    assert_eq!(driver.partition.view(driver.now).holding(&ProcSet::full(4)).len(), 1, "job 2");
    // 4 × 90 s are left of job 1.
    assert_eq!(driver.partition.backlog(), 4 * 90_000_000);
    // All processors together work that off before anybody else starts.
    assert_eq!(driver.partition.view(driver.now).turn(), Time::from_secs(110));
    driver.until(40);
    assert_eq!(at(&driver, 44), (Phase::Resuming, Time::from_secs(135), 10, 34));
    driver.until(45);
    assert_eq!(at(&driver, 60), (Phase::Running, Time::from_secs(135), 25, 35));
    // (35 + 100) / 100, and it stands still.
    assert_eq!(live(&driver, 1).xfactor(Time::from_secs(60)).to_string(), "1.35");
    assert_eq!(live(&driver, 1).xfactor(Time::from_secs(999)), live(&driver, 1).xfactor(Time::from_secs(60)));
}

/// A job that adapts to other processors for 7 s: half its work is done at 50 s, the rest takes 100 s on one processor, from 57 s on.
#[test]
fn other_processors_are_adapted_to() {
    let registry = planned(&[(50, Do::Resize(1, 1))]);
    let spec = SiteSpec { preemption: Preemption { resize: Span::from_secs(7), ..costs() }, ..four() };
    let jobs = [job(1, 0, 2, 100).malleable(1, 4, Speedup::Linear), job(2, 0, 3, 5)];
    let mut driver = Driver::new(&registry, &spec, &jobs, &Script::default());
    driver.until(50);
    assert_eq!((live(&driver, 1).phase(), live(&driver, 1).held()), (Phase::Reconfiguring, 1));
    // What it has given up is free at once.
    assert_eq!(driver.partition.view(driver.now).free(), 3);
    let (ran, _) = driver.run();
    assert_eq!(segments(&ran, 1), [(0, 50, Cause::Run), (50, 57, Cause::Resize), (57, 157, Cause::Run)]);
    // The policy has counted what was free before; its next pass is when the job has adapted.
    assert_eq!(ran.times(2), (57, 62));
}

/// The machine of a job that is being suspended goes down: its attempt has failed like one that runs.
#[test]
fn a_job_that_is_being_suspended_fails_with_its_machine() {
    let registry = planned(&[(10, Do::Suspend(1))]);
    let acts = vec![
        (Time::from_secs(15), Act::Leave(ProcSet::range(0, 1))),
        (Time::from_secs(30), Act::Join(ProcSet::range(0, 1))),
    ];
    let script = Script { acts, ..Script::default() };
    let spec = four();
    let (ran, _) = Driver::new(&registry, &spec, &[job(1, 0, 4, 100)], &script).run();
    assert_eq!(segments(&ran, 1), [(0, 10, Cause::Run), (10, 15, Cause::Suspend), (30, 130, Cause::Run)]);
    assert_eq!(ran.job(1).attempts, 2);
    let secs = |secs: u128| secs * 1_000_000 << Rate::BITS;
    assert_eq!((ran.usage[0].wasted, ran.usage[0].overhead), (secs(40), secs(20)));
    // Where it waits for its machine it goes on there: it has not been suspended.
    let mut spec = four();
    spec.churn.on_failure = FailureAction::Wait;
    let (ran, _) = Driver::new(&registry, &spec, &[job(1, 0, 4, 100)], &script).run();
    assert_eq!(segments(&ran, 1), [(0, 10, Cause::Run), (10, 15, Cause::Suspend), (30, 120, Cause::Run)]);
}

/// The machine of a job that reads its memory goes down: what it has written is still there, and it resumes when its policy resumes it.
#[test]
fn a_job_that_resumes_is_suspended_again_with_its_machine() {
    let registry = planned(&[(10, Do::Suspend(1)), (40, Do::Resume(1)), (60, Do::Resume(1))]);
    let acts = vec![
        (Time::from_secs(42), Act::Leave(ProcSet::range(0, 1))),
        (Time::from_secs(50), Act::Join(ProcSet::range(0, 1))),
    ];
    let script = Script { acts, ..Script::default() };
    let (ran, _) = Driver::new(&registry, &four(), &[job(1, 0, 4, 100)], &script).run();
    use Cause::{Resume, Run, Suspend};
    let expected = [(0, 10, Run), (10, 20, Suspend), (40, 42, Resume), (60, 65, Resume), (65, 155, Run)];
    assert_eq!(segments(&ran, 1), expected);
    assert_eq!((ran.job(1).attempts, ran.usage[0].wasted), (1, 0));
}

/// Jobs that are cancelled on their way leave their processors at once.
#[test]
fn a_job_in_transition_can_be_cancelled() {
    for (secs, causes) in [(15, 2), (25, 2), (42, 3)] {
        let registry = planned(&[(10, Do::Suspend(1)), (40, Do::Resume(1))][..if secs < 40 { 1 } else { 2 }]);
        let script = Script { acts: vec![(Time::from_secs(secs), Act::Cancel(1))], ..Script::default() };
        let jobs = [job(1, 0, 4, 100), job(2, 12, 4, 20)];
        let jobs = if secs < 20 { &jobs[..] } else { &jobs[..1] };
        let (ran, _) = Driver::new(&registry, &four(), jobs, &script).run();
        assert_eq!((ran.job(1).outcome, ran.job(1).end), (Outcome::Cancelled, Time::from_secs(secs)));
        assert_eq!(segments(&ran, 1).len(), causes, "at {secs} s");
        if secs < 20 {
            assert_eq!(ran.times(2), (15, 35));
        }
    }
}

/// Saved and restored at every second, in the middle of every transition.
#[test]
fn transitions_go_on_when_a_partition_is_restored() {
    let registry = planned(&ONE_FOR_ANOTHER);
    let (straight, _) = Driver::new(&registry, &four(), &two_jobs(), &Script::default()).run();
    for secs in [5, 12, 20, 30, 41, 45, 60] {
        let mut driver = Driver::new(&registry, &four(), &two_jobs(), &Script::default());
        driver.until(secs).resume();
        let (ran, _) = driver.run();
        assert_eq!(ran, straight, "at {secs} s");
    }
}

/// A policy that does not preempt takes over: jobs that are suspended, or still being suspended, wait in the queue with the work they have done; what resumes
/// goes on.
#[test]
fn a_policy_that_does_not_preempt_takes_over() {
    for (secs, end) in [(15, 105), (20, 130), (30, 130), (42, 135), (50, 135)] {
        let registry = planned(&ONE_FOR_ANOTHER);
        let mut driver = Driver::new(&registry, &four(), &two_jobs(), &Script::default());
        driver.until(secs);
        driver.now = Time::from_secs(secs);
        driver.resume_under("easy");
        let (ran, _) = driver.run();
        assert_eq!(
            (ran.job(1).outcome, ran.job(1).end),
            (Outcome::Completed, Time::from_secs(end)),
            "at {secs} s"
        );
        assert_eq!(ran.job(2).outcome, Outcome::Completed);
        assert_eq!(ran.usage[0].wasted, 0);
    }
}

/// Asks for a pass every second, and never does anything.
#[derive(Debug)]
struct Dozes;

impl LocalPolicy for Dozes {
    fn on(&mut self, _change: Change, _view: &View<'_>) {}

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        actions.wake_at(view.now() + Span::SECOND);
    }

    fn adopt(&mut self, _view: &View<'_>) {}
}

/// A wake alone is no sign of life: the run ends, and says who waits.
#[test]
fn a_policy_that_only_wakes_does_not_keep_a_run_alive() {
    let dozes = PolicyInfo::new("dozes", |_| Ok((Box::new(Dozes), Abilities::PLAIN)));
    let registry = Registry::standard().with(dozes.doc("Never starts a job."));
    let spec = site(4, "dozes");
    let waits = |error| matches!(error, GridError::Stuck { .. });
    assert!(try_run(&registry, &spec, &[job(1, 0, 1, 10)]).is_err_and(waits));
    let mut stepwise = grid(&registry, &spec, &[job(1, 0, 1, 10)]).expect("a grid");
    assert!(stepwise.run_stepwise(None, &mut Vec::new()).is_err_and(waits));
    // Without a job it has run to its end.
    assert!(try_run(&registry, &spec, &[]).is_ok_and(|ran| ran.records.is_empty()));
}
