//! Suspending, resuming and resizing jobs where that takes time, worked out by hand.

use std::collections::BTreeMap;
use std::path::Path;

use gridemu::grid::{GridError, Policies};
use gridemu::local::{
    Abilities, Action, Actions, Change, Exit, ExitKind, LiveJob, LocalPolicy, Phase, Placement, PolicyInfo,
    Preempted, Registry, View, XFactor,
};
use gridemu::model::{
    Cause, CheckpointInterval, Checkpointing, EventCause, EventKind, EventRecord, FailureAction,
    InstantOrder, Job, JobId, JobKey, JobMemory, MemoryLaw, MemoryOf, OnLeave, Outcome, Preemption, ProcSet,
    Record, SiteSpec, Speedup,
};
use gridemu::scenario::{Scenario, ScenarioError};
use gridemu::units::{Bytes, Energy, Power, Rate, Span, Time};

use crate::driver::{Act, Driver, PHASES, Script, of_grid};
use crate::support::{With, grid, job, reserve, run_with, site, try_run};

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
                    let (job, placement) = (key_of(view, id), Placement::Any(procs));
                    actions.push(Action::Resize { job, placement, why: EventCause::None });
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
    let mut all = PHASES.into_iter().flat_map(|phase| view.jobs_in(phase)).map(|key| view.job(key));
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
    let secs = |secs: u128| (secs * 1_000_000) << Rate::BITS;
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
    // What is left of job 1 is to be done while it is being suspended, too.
    assert!(driver.partition.backlog() >= 4 * 90_000_000, "{}", driver.partition.backlog());
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
    let secs = |secs: u128| (secs * 1_000_000) << Rate::BITS;
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

/// A processor draws 60 W idle and 100 W busy, and in transition it is busy: job 1 draws that for 115 s. All four are in use until 135 s.
#[test]
fn transitions_draw_power_and_are_told() {
    let registry = planned(&ONE_FOR_ANOTHER);
    let mut spec = four();
    let group = &mut spec.partitions[0].groups[0];
    (group.idle, group.busy) = (Power::from_milliwatts(60_000), Power::from_milliwatts(100_000));
    spec.record_machines = true;
    // Its schedule is valid.
    let ran = run_with(&registry, &spec, &two_jobs());
    let joules = |energy: Energy| energy.nanojoules() / 1_000_000_000;
    assert_eq!(joules(ran.job(1).energy), 4 * 115 * 100);
    assert_eq!(joules(ran.job(1).dynamic), 4 * 115 * 40);
    assert_eq!(joules(ran.job(2).energy), 4 * 20 * 100);
    assert_eq!(joules(ran.usage[0].meter()), 4 * 135 * 100);
    // What is recorded: suspended at 10 s, resumed 30 s later.
    let events: Vec<&EventRecord> = ran
        .records
        .iter()
        .filter_map(|record| if let Record::Event(event) = record { Some(event) } else { None })
        .collect();
    let told = |event: &EventRecord| (event.time, event.kind, event.cause, event.procs, event.job);
    let one = Some(JobId(1));
    assert_eq!(
        events.iter().map(|event| told(event)).collect::<Vec<_>>(),
        [
            (Time::from_secs(10), EventKind::Suspended, EventCause::None, 4, one),
            (Time::from_secs(40), EventKind::Resumed, EventCause::None, 4, one),
        ]
    );
    let suspension = |at: usize| events[at].suspension.as_deref().copied().expect("it says more");
    assert_eq!((suspension(0).number, suspension(0).lasted), (1, None));
    assert_eq!((suspension(1).number, suspension(1).lasted), (1, Some(Span::from_secs(30))));
}

/// The processors of the policy's plan, said to be for another job with both expansion factors.
#[test]
fn a_suspension_names_the_job_that_it_is_for() {
    #[derive(Debug)]
    struct Prefers;
    impl LocalPolicy for Prefers {
        fn on(&mut self, _change: Change, _view: &View<'_>) {}
        fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
            for job in view.jobs_in(Phase::Waiting) {
                if view.free() >= view.job(job).procs() {
                    return actions.start(job, view.job(job).procs());
                }
                for victim in view.jobs_in(Phase::Running) {
                    let now = view.now();
                    let (ours, theirs) = (
                        view.job(victim).xfactor(now),
                        XFactor::new(Span::from_secs(90), Span::from_secs(20)),
                    );
                    actions.preempt(victim, Preempted { by: job, ours, theirs });
                }
            }
        }
        fn adopt(&mut self, _view: &View<'_>) {}
    }
    let able = Abilities { preempts: true, ..Abilities::PLAIN };
    let prefers = PolicyInfo::new("prefers", move |_| Ok((Box::new(Prefers), able)));
    let registry = Registry::standard().with(prefers.doc("Suspends whoever runs."));
    let spec = SiteSpec { policy: "prefers".parse().expect("a policy"), ..four() };
    let mut driver = Driver::new(&registry, &spec, &two_jobs(), &Script::default());
    driver.until(30);
    let suspended = driver.records.iter().find_map(|record| match record {
        Record::Event(event) if event.kind == EventKind::Suspended => Some(event),
        _ => None,
    });
    let suspended = suspended.expect("job 1 is suspended");
    assert_eq!(suspended.cause, EventCause::Preempted);
    assert_eq!(suspended.cause_text(), "for job 2 (5.50 against 1.00)");
}

/// What a suspended job has written is lost with a machine of it, where it says so: it waits in the queue again, or returns to the broker.
#[test]
fn a_suspended_job_may_lose_what_it_has_done() {
    let registry = planned(&[(10, Do::Suspend(1))]);
    let acts = vec![
        (Time::from_secs(30), Act::Leave(ProcSet::range(3, 4))),
        (Time::from_secs(50), Act::Join(ProcSet::range(3, 4))),
    ];
    let script = Script { acts, ..Script::default() };
    let mut spec = SiteSpec { preemption: Preemption { on_leave: OnLeave::Lose, ..costs() }, ..four() };
    let (ran, _) = Driver::new(&registry, &spec, &[job(1, 0, 4, 100)], &script).run();
    assert_eq!(segments(&ran, 1), [(0, 10, Cause::Run), (10, 20, Cause::Suspend), (50, 150, Cause::Run)]);
    let secs = |secs: u128| (secs * 1_000_000) << Rate::BITS;
    assert_eq!((ran.usage[0].wasted, ran.usage[0].overhead), (secs(40), secs(40)));
    // One that stands still where it ran would have nothing there.
    spec.churn.on_failure = FailureAction::Wait;
    let (waited, _) = Driver::new(&registry, &spec, &[job(1, 0, 4, 100)], &script).run();
    assert_eq!(waited.times(1), (0, 150));
    // A job on other processors loses nothing.
    let (other, _) = Driver::new(&registry, &spec, &[job(1, 0, 3, 100)], &script).run();
    assert_eq!(other.job(1).outcome, Outcome::Unfinished, "its policy does not resume it");
    assert_eq!(other.usage[0].wasted, secs(30));
    // A job of the grid goes back.
    spec.churn.on_failure = FailureAction::Resubmit;
    let (_, gone) = Driver::new(&registry, &spec, &[of_grid(job(1, 0, 4, 100))], &script).run();
    assert!(
        matches!(gone[..], [(at, Exit { how: ExitKind::Returned { .. }, .. })] if at == Time::from_secs(30))
    );
}

/// A job that is being suspended goes on writing where its machine drains, and releases fewer processors then.
#[test]
fn a_job_writes_also_where_its_machine_drains() {
    let registry = planned(&[(10, Do::Suspend(1)), (60, Do::Resume(1))]);
    // Machine 0 drains while the job writes: it goes on writing, and does not resume there before it drains no longer.
    let acts = vec![
        (Time::from_secs(12), Act::Drain(ProcSet::range(0, 1))),
        (Time::from_secs(35), Act::Stay(ProcSet::range(0, 1))),
    ];
    let script = Script { acts, ..Script::default() };
    let mut driver = Driver::new(&registry, &four(), &two_jobs(), &script);
    driver.until(12);
    assert_eq!((live(&driver, 1).phase(), live(&driver, 1).held()), (Phase::Suspending, 3));
    driver.until(20);
    let view = driver.partition.view(driver.now);
    assert_eq!((view.free(), view.capacity()), (3, 3));
    let (ran, _) = driver.run();
    // Job 2 waits for four processors until 35 s.
    assert_eq!((ran.times(2), ran.times(1)), ((35, 55), (0, 155)));
}

/// A reservation that begins while a job writes is owed its processors until then; a suspended job holds none.
#[test]
fn a_reservation_gets_what_a_job_leaves_when_it_has_written() {
    let registry = planned(&[(10, Do::Suspend(1)), (60, Do::Resume(1))]);
    let spec = reserve(four(), "demo", 15, 50, 2);
    let jobs = [job(1, 0, 4, 100), job(2, 12, 2, 10)];
    let (ran, _) = Driver::new(&registry, &spec, &jobs, &Script::default()).run();
    assert_eq!((ran.times(2), ran.times(1)), ((20, 30), (0, 155)));
    // Two processors from 20 s to 50 s.
    assert_eq!(ran.usage[0].reserved, (60 * 1_000_000) << Rate::BITS);
    assert_eq!(ran.tally.short_reservations, 1);
}

/// The broker recalls only what waits in the queue.
#[test]
fn a_suspended_job_is_not_recalled() {
    let registry = planned(&ONE_FOR_ANOTHER);
    let script = Script { acts: vec![(Time::from_secs(30), Act::Withdraw(1))], ..Script::default() };
    let jobs = [of_grid(job(1, 0, 4, 100)), job(2, 10, 4, 20)];
    let (ran, gone) = Driver::new(&registry, &four(), &jobs, &script).run();
    assert_eq!(ran.times(1), (0, 135));
    assert!(gone.iter().all(|(_, gone)| matches!(gone.how, ExitKind::Ended(_))));
}

/// After 12 s a machine leaves, and checkpoints have kept 10 s of them: 2 s were in vain, and count as waited like the 8 s until it is back. Without
/// checkpoints all 12 s were in vain.
#[test]
fn what_is_lost_was_waited_for_in_vain() {
    let acts = vec![
        (Time::from_secs(12), Act::Leave(ProcSet::range(0, 1))),
        (Time::from_secs(20), Act::Join(ProcSet::range(0, 1))),
    ];
    let script = Script { acts, ..Script::default() };
    let registry = planned(&[]);
    let told = |checkpoint: Option<Checkpointing>| {
        let mut spec = four();
        spec.churn.checkpoint = checkpoint;
        let mut driver = Driver::new(&registry, &spec, &[job(1, 0, 4, 100)], &script);
        driver.until(20);
        let (job, now) = (live(&driver, 1), Time::from_secs(25));
        (
            job.ran(now).micros() / 1_000_000,
            job.waited(now).micros() / 1_000_000,
            job.xfactor(now).to_string(),
        )
    };
    let interval = CheckpointInterval::Every(Span::from_secs(5));
    let kept = told(Some(Checkpointing { interval, cost: Span::ZERO }));
    // It has run 5 s since; (10 + 100) / 100.
    assert_eq!(kept, (15, 10, "1.10".to_owned()));
    assert_eq!(told(None), (5, 20, "1.20".to_owned()));
}

/// Memory that is drawn is drawn by the job, whatever else happens; what a log states counts for it.
#[test]
fn memory_is_that_of_the_job() {
    let writes = |memory: &str, jobs: &[Job]| -> Vec<(u64, Span)> {
        let registry = planned(&[(10, Do::Suspend(1)), (20, Do::Suspend(2))]);
        let spec = SiteSpec {
            preemption: Preemption { memory: memory.parse().expect(memory), ..costs() },
            ..four()
        };
        let (ran, _) = Driver::new(&registry, &spec, jobs, &Script::default()).run();
        let written = ran.segments().filter(|segment| segment.cause == Cause::Suspend);
        written.map(|segment| (segment.job.0, segment.to.since(segment.from))).collect()
    };
    let with_memory = |job: Job, bytes: u64| Job { memory: Some(Bytes::new(bytes)), ..job };
    let (first, second) = (job(1, 0, 1, 100), job(2, 0, 2, 100));
    let drawn = writes("2 MB..40 MB", &[first.clone(), second.clone()]);
    assert_eq!(drawn.len(), 2);
    assert!(drawn.iter().all(|(_, span)| (Span::SECOND..=Span::from_secs(20)).contains(span)), "{drawn:?}");
    assert_ne!(drawn[0].1, drawn[1].1);
    // Another job in between changes no draw.
    let third = [first.clone(), job(3, 0, 1, 5), second.clone()];
    assert_eq!(writes("2 MB..40 MB", &third), drawn);
    let logged = [with_memory(first, 8_000_000), second];
    assert_eq!(writes("log", &logged), [(1, Span::from_secs(4))]);
    assert_eq!(writes("log, else 4 MB", &logged), [(1, Span::from_secs(4)), (2, Span::from_secs(2))]);
    assert_eq!(writes("4 MB", &logged), [(1, Span::from_secs(2)), (2, Span::from_secs(2))]);
}

/// A site with these keys of preemption, under a policy that preempts or not.
fn read(keys: &str, policy: &str) -> Result<Scenario, ScenarioError> {
    let able = Abilities { preempts: true, ..Abilities::PLAIN };
    let preempting =
        PolicyInfo::new("preempting", move |_| Ok((Box::new(Dozes), able))).doc("Could suspend jobs.");
    let machines = "machines = [{ class = 'node', count = 2, cores = 4, memory = '8 GB' }]";
    let text = format!("[[site]]\nname = 'a'\n{machines}\npolicy = '{policy}'\n[site.preemption]\n{keys}");
    let policies = Policies::standard().with_local(preempting);
    Scenario::read(Path::new("here.toml"), &text, &[], &policies)
}

#[test]
fn what_preemption_costs_is_read() {
    let keys = "memory = 'log, else 100 MB..1 GB'\nwrite = '2 MB/s'\nread = '16 Mbit/s'\nnode = '10 MB/s'\non_leave = 'lose'\nresize = '3 s'\nresize_per_processor = '100 ms'";
    let scenario = read(keys, "preempting").expect("it is right");
    let two = Some("2 MB/s".parse().expect("a bandwidth"));
    let expected = Preemption {
        memory: "log, else 100 MB..1 GB".parse().expect("memory"),
        memory_of: MemoryOf::Processor,
        write: two,
        read: two,
        node: Some("10 MB/s".parse().expect("a bandwidth")),
        on_leave: OnLeave::Lose,
        resize: Span::from_secs(3),
        resize_per_processor: Span::from_micros(100_000),
    };
    assert_eq!(scenario.resolved.grid.sites[0].preemption, expected);
    assert_eq!(scenario.warnings().len(), 1, "{:?}", scenario.warnings());
    for (keys, says) in [
        ("write = '0 MB/s'", "`site.a.preemption.write`: nothing could ever be moved at a bandwidth of 0"),
        ("memory = '2 GB..1 GB'", "`site.a.preemption.memory`"),
        (
            "memory = '1 GB..3 GB'\nwrite = '1 MB/s'",
            "the 4 processors of a machine of `node` would have 12 GB, and it has 8 GB; give less, or `memory_of = \"job\"`",
        ),
        ("on_leave = 'stay'", "`site.a.preemption.on_leave`"),
        ("memry = '1 GB'", "`site.a.preemption.memry`: there is no such key (did you mean `memory`?)"),
    ] {
        let error = read(keys, "preempting").expect_err(keys).to_string();
        assert!(error.contains(says), "{keys}: {error}");
    }
    let of_job = |memory: &str| {
        read(&format!("memory = '{memory}'\nmemory_of = 'job'\nwrite = '1 MB/s'"), "preempting")
    };
    let warned = of_job("9 GB").expect("a job may have several machines");
    let says = "`site.a.preemption.memory`: a job on one machine of `node` would have up to 9 GB, and the machine has 8 GB";
    assert!(
        warned.warnings().iter().any(|warning| warning.to_string().contains(says)),
        "{:?}",
        warned.warnings()
    );
    let error = of_job("100 GB").expect_err("there is not so much").to_string();
    assert!(error.contains("a job would have up to 100 GB, and all machines of `node` "), "{error}");
}

/// With a factor of 1 two equal jobs would change places at each pass of the routine, which says so where that takes time.
#[test]
fn a_factor_of_1_is_warned_of_where_preemption_takes_time() {
    let told = |keys: &str, policy: &str| {
        let scenario = read(keys, policy).expect("it is right");
        scenario.warnings().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let costs = "memory = '1 GB'\nwrite = '2 MB/s'";
    let says = "`site.a.preemption`: `ss[factor=1]` lets two jobs take each other's place every 60 s";
    assert!(told(costs, "ss[factor=1]").contains(says), "{}", told(costs, "ss[factor=1]"));
    assert_eq!(told(costs, "ss[factor=1.1]"), "");
    assert!(!told("write = '2 MB/s'", "ss[factor=1]").contains("place"));
}

#[test]
fn costs_that_nothing_causes_are_told() {
    let told = |keys: &str, policy: &str| {
        let scenario = read(keys, policy).expect("it is right");
        let warnings = scenario.warnings().iter().map(ToString::to_string);
        warnings.collect::<Vec<_>>().join("\n")
    };
    let plain = "memory = '1 GB'\nwrite = '2 MB/s'";
    assert_eq!(told(plain, "preempting"), "");
    assert!(told(plain, "easy").contains("`site.a.preemption`: it has no effect: `easy` suspends no jobs"));
    let says = |keys: &str, text: &str| {
        assert!(told(keys, "preempting").contains(text), "{}", told(keys, "preempting"))
    };
    says("memory = '1 GB'", "it has no effect: it takes no time without `write` or `read`");
    says("write = '1 MB/s'", "it takes no time, since jobs have no `memory`");
    says(
        "memory = '1 GB'\nnode = '1 MB/s'",
        "`site.a.preemption.node`: it has no effect without `write` or `read`",
    );
    says(
        "memory = '1 GB'\nwrite = '1 MB/s'\nresize = '1 s'",
        "it has no effect: `preempting` resizes no jobs",
    );
}

/// One pass per event is refused for such a policy, by name.
#[test]
fn one_pass_per_event_is_refused_for_a_policy_that_preempts() {
    let spec = SiteSpec { order: InstantOrder::Event, ..four() };
    let error = grid(&planned(&[]), &spec, &[]).expect_err("it is refused").to_string();
    assert!(error.contains("`planned`") && error.contains("preempts"), "{error}");
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
