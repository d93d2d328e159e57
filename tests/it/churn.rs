//! Hand-worked cases of churn (machine availability); comments contain the arithmetic.

use gridemu::local::{Exit, ExitKind, Registry, Step};
use gridemu::model::{
    CheckpointInterval, Checkpointing, EventCause, EventKind, EventRecord, FailureAction, GridContext,
    InstantOrder, Job, Origin, Outcome, Payer, ProcSet, Record, RejectReason, SiteSpec, Speedup,
};
use gridemu::platform::Usage;
use gridemu::units::{Bytes, Energy, Money, Power, Price, Rate, Span, Time, Work};

use crate::churn_rules::check_churn;
use crate::driver::{Act, Driver, Script, of_grid};
use crate::support::{Ran, With, job, reserve, site};

fn at(secs: u64) -> Time {
    Time::from_secs(secs)
}

fn machines(which: &[u32]) -> ProcSet {
    which.iter().copied().collect()
}

fn script(acts: &[(u64, Act)]) -> Script {
    Script { acts: acts.iter().map(|(secs, act)| (at(*secs), act.clone())).collect(), ..Script::default() }
}

fn leave(secs: u64, which: &[u32]) -> (u64, Act) {
    (secs, Act::Leave(machines(which)))
}

fn join(secs: u64, which: &[u32]) -> (u64, Act) {
    (secs, Act::Join(machines(which)))
}

fn under(mut spec: SiteSpec, on_failure: FailureAction) -> SiteSpec {
    spec.churn.on_failure = on_failure;
    spec.record_machines = true;
    spec
}

/// Runs and checks everything that can be checked.
fn lawful(spec: &SiteSpec, jobs: &[Job], script: &Script) -> (Ran, Vec<(Time, Exit)>) {
    let registry = Registry::standard();
    let (ran, gone) = Driver::new(&registry, spec, jobs, script).run();
    check_churn(&registry, spec, jobs, script, &ran, &gone);
    (ran, gone)
}

fn events(ran: &Ran) -> Vec<&EventRecord> {
    let mut events = Vec::new();
    for record in &ran.records {
        if let Record::Event(event) = record {
            events.push(event);
        }
    }
    events
}

/// Kinds of events with their seconds.
fn told(ran: &Ran) -> Vec<(u64, EventKind)> {
    events(ran).iter().map(|event| (event.time.micros() / 1_000_000, event.kind)).collect()
}

fn proc_secs(secs: u64) -> u128 {
    u128::from(secs) * Usage::PROC_SECOND
}

/// Where the processors' time went, in seconds: useful, wasted, overhead, reserved, idle, away.
fn ledger(ran: &Ran) -> [u64; 6] {
    let usage = &ran.usage[0];
    [usage.useful, usage.wasted, usage.overhead, usage.reserved, usage.idle(), usage.down].map(|time| {
        assert_eq!(time % Usage::PROC_SECOND, 0);
        (time / Usage::PROC_SECOND) as u64
    })
}

const SPACE_SHARING: [&str; 3] = ["fcfs", "easy", "conservative"];

/// Four machines of one processor. Job 1 runs on 0 and 1, job 2 on 2 and 3; job 3 wants all four.
fn three() -> Vec<Job> {
    vec![job(1, 0, 2, 100), job(2, 0, 2, 100), job(3, 5, 4, 10)]
}

#[test]
fn a_lost_job_joins_the_end_of_the_queue() {
    for policy in SPACE_SHARING {
        // At 40 machine 0 leaves: job 1 has lost 2 × 40. Job 3 is larger than the three that are left and steps aside, so that
        // job 1 waits alone, for one more processor than machine 1. At 60 machine 0 is back: job 1 runs until 160, and job 3, now
        // behind it, from 160 to 170.
        let spec = under(site(4, policy), FailureAction::Requeue);
        let (ran, gone) = lawful(&spec, &three(), &script(&[leave(40, &[0]), join(60, &[0])]));
        assert_eq!([ran.times(1), ran.times(2), ran.times(3)], [(0, 160), (0, 100), (160, 170)], "{policy}");
        assert_eq!([ran.job(1).attempts, ran.job(2).attempts, ran.job(3).attempts], [2, 1, 1]);
        assert!(gone.iter().all(|(_, gone)| gone.how == ExitKind::Ended(Outcome::Completed)));
        // 200 + 200 + 40 useful, 80 wasted, 20 away; of 4 × 170 the rest idle.
        assert_eq!(ledger(&ran), [440, 80, 0, 0, 140, 20], "{policy}");
        let kinds = [EventKind::Left, EventKind::Requeued, EventKind::Joined, EventKind::Continued];
        assert_eq!(told(&ran), [40, 40, 60, 60].into_iter().zip(kinds).collect::<Vec<_>>());
        let events = events(&ran);
        assert_eq!((events[0].machines.clone(), events[0].procs), (machines(&[0]), 1));
        assert_eq!((events[1].cause, events[1].attempt), (EventCause::MachineLeft, 1));
        assert_eq!((events[1].procs, events[1].wasted, events[1].since_failure), (2, proc_secs(80), None));
        assert_eq!((events[3].attempt, events[3].since_failure), (2, Some(Span::from_secs(20))));
    }
}

#[test]
fn a_job_that_waits_for_its_machine_keeps_the_others() {
    for policy in SPACE_SHARING {
        // Job 1 stands still from 40 to 60 and ends at 120. Meanwhile processor 1 is nobody's: job 4, of one processor, waits for
        // job 2's. Job 3 has to wait for 120.
        let mut jobs = three();
        jobs.push(job(4, 45, 1, 10));
        let spec = under(site(4, policy), FailureAction::Wait);
        let (ran, _) = lawful(&spec, &jobs, &script(&[leave(40, &[0]), join(60, &[0])]));
        assert_eq!([ran.times(1), ran.times(2), ran.times(4)], [(0, 120), (0, 100), (100, 110)], "{policy}");
        assert_eq!(ran.times(3), (120, 130), "{policy}");
        assert_eq!(ran.job(1).attempts, 1);
        // All that was done was useful: 200 + 200 + 40 + 10.
        assert_eq!(ledger(&ran), [450, 0, 0, 0, 50, 20]);
        let kinds = [EventKind::Left, EventKind::Stalled, EventKind::Joined, EventKind::Continued];
        assert_eq!(told(&ran), [40, 40, 60, 60].into_iter().zip(kinds).collect::<Vec<_>>());
        assert_eq!(events(&ran)[3].since_failure, None, "nothing was lost");
    }
}

#[test]
fn it_waits_for_all_of_its_machines() {
    // The other machine leaves while the job stands still: it goes on at 90, when both are there, 60 s of work left.
    let acts = [leave(40, &[0]), leave(50, &[1]), join(70, &[0]), join(90, &[1])];
    let spec = under(site(4, "easy"), FailureAction::Wait);
    let (ran, _) = lawful(&spec, &three(), &script(&acts));
    assert_eq!([ran.times(1), ran.times(3)], [(0, 150), (150, 160)]);
    // Cancelled while it stands still, it gives up what it kept: job 3 has all four at 100.
    let acts = [leave(40, &[0]), (50, Act::Cancel(1)), join(60, &[0])];
    let (ran, _) = lawful(&spec, &three(), &script(&acts));
    assert_eq!((ran.job(1).outcome, ran.times(1)), (Outcome::Cancelled, (0, 50)));
    assert_eq!(ran.times(3), (100, 110));
    // It never comes back: at the end the job is unfinished.
    let (ran, _) = lawful(&spec, &three()[..1], &script(&[leave(40, &[0])]));
    assert_eq!((ran.job(1).outcome, ran.times(1)), (Outcome::Unfinished, (0, 40)));
}

#[test]
fn a_job_fails_with_its_machine() {
    let spec = under(site(4, "conservative"), FailureAction::Fail);
    let (ran, gone) = lawful(&spec, &three(), &script(&[leave(40, &[0]), join(60, &[0])]));
    assert_eq!((ran.job(1).outcome, ran.times(1)), (Outcome::Failed, (0, 40)));
    assert_eq!(gone[0], (at(40), Exit { how: ExitKind::Ended(Outcome::Failed), ..gone[0].1.clone() }));
    assert_eq!(ran.times(3), (100, 110));
    assert_eq!(told(&ran)[1], (40, EventKind::Failed));
    assert_eq!(events(&ran)[1].wasted, proc_secs(80));
}

/// 10 W idle, 30 W busy, 36 a core-hour: a processor-second costs 0.01.
fn priced(mut spec: SiteSpec) -> SiteSpec {
    let part = &mut spec.partitions[0];
    (part.groups[0].idle, part.groups[0].busy) =
        (Power::from_milliwatts(10_000), Power::from_milliwatts(30_000));
    part.groups[0].price = Price::from_nanos(36_000_000_000);
    spec
}

fn joules(joules: u128) -> Energy {
    Energy::from_nanojoules(joules * 1_000_000_000)
}

fn cents(cents: i128) -> Money {
    Money::from_nanos(cents * 10_000_000)
}

fn carried(gone: &Exit) -> &GridContext {
    match &gone.how {
        ExitKind::Returned { job, .. } => job.grid.as_ref().expect("a job of the grid"),
        _ => panic!("it has ended: {gone:?}"),
    }
}

#[test]
fn a_job_of_the_grid_goes_back_with_what_it_carries() {
    let spec = priced(under(site(4, "easy"), FailureAction::Resubmit));
    let mut first = of_grid(job(1, 0, 2, 100));
    first.grid.as_mut().expect("of the grid").output = Bytes::new(7);
    let jobs = [first, job(2, 0, 2, 100)];
    // Both lose a machine at 40. The grid's job goes back; the site's own is requeued, starts at once on the two processors that
    // are left, and ends at 140.
    let acts = [leave(40, &[0, 2]), join(60, &[0, 2])];
    let (ran, gone) = lawful(&spec, &jobs, &script(&acts));
    assert_eq!(ran.jobs().count(), 1, "of what goes back there is no record");
    assert_eq!((ran.times(2), ran.job(2).attempts), ((0, 140), 2));
    let kinds = [EventKind::Left, EventKind::Returned, EventKind::Requeued];
    assert_eq!(told(&ran)[..3], [40, 40, 40].into_iter().zip(kinds).collect::<Vec<_>>());
    let (when, back) = &gone[0];
    assert_eq!((*when, back.number, back.output), (at(40), Some(1), Bytes::ZERO));
    let ExitKind::Returned { why, .. } = back.how else { panic!("it goes back") };
    assert_eq!(why, EventCause::MachineLeft);
    // 80 processor-seconds: 2400 J, of which 1600 J beyond the 10 W that a processor draws idle, and 0.80.
    let part = GridContext {
        number: 1,
        output: Bytes::new(7),
        assignment: 1,
        attempts: 1,
        first_start: Some(at(0)),
        energy: joules(2400),
        dynamic: joules(1600),
        cost: cents(80),
        failed_at: Some(at(40)),
        ..GridContext::default()
    };
    assert_eq!(carried(back), &part);
    // Sent again 30 s later, it runs from 70 to 170. Its record tells of both attempts.
    let again = Script { again: Some((Span::from_secs(30), 5)), ..script(&acts) };
    let (ran, gone) = lawful(&spec, &jobs, &again);
    assert_eq!((ran.times(1), ran.job(1).attempts), ((0, 170), 2));
    assert_eq!((ran.job(1).energy, ran.job(1).cost), (joules(2400 + 6000), cents(80 + 200)));
    assert_eq!(ran.job(1).dynamic, joules(1600 + 4000));
    let (_, last) = gone.last().expect("it ends");
    assert_eq!((last.output, &last.how), (Bytes::new(7), &ExitKind::Ended(Outcome::Completed)));
    let continued = events(&ran).into_iter().filter(|event| event.kind == EventKind::Continued);
    let since: Vec<_> = continued.map(|event| (event.time, event.origin, event.since_failure)).collect();
    let secs = |secs| Some(Span::from_secs(secs));
    assert_eq!(since, [(at(40), Origin::Local, secs(0)), (at(70), Origin::Grid, secs(30))]);
}

#[test]
fn who_pays_for_a_lost_attempt_is_a_key() {
    let jobs = [of_grid(job(1, 0, 2, 100)), job(2, 0, 2, 100)];
    let acts = [leave(40, &[0, 2]), join(60, &[0, 2])];
    let again = Some((Span::from_secs(30), 5));
    let script = Script { again, failed_attempts: Payer::Site, ..script(&acts) };
    let (ran, _) = lawful(&priced(under(site(4, "easy"), FailureAction::Resubmit)), &jobs, &script);
    // The energy was drawn for it all the same.
    for id in [1, 2] {
        assert_eq!((ran.job(id).energy, ran.job(id).cost), (joules(8400), cents(200)));
    }
    assert_eq!((ran.usage[0].cost, ran.usage[0].job_energy()), (cents(400), joules(16_800)));
    // A job that fails with its machine is charged nothing at all.
    let (ran, _) = lawful(&priced(under(site(4, "easy"), FailureAction::Fail)), &jobs[1..], &script);
    assert_eq!((ran.job(2).cost, ran.job(2).energy, ran.usage[0].cost), (cents(0), joules(2400), cents(0)));
}

#[test]
fn jobs_of_the_grid_that_wait_go_back_when_the_site_leaves() {
    // Job 1 runs on all; 2 (grid), 3 (own) and 4 (grid) wait. The site leaves at 40 and is back at 60.
    let jobs =
        [of_grid(job(1, 0, 4, 100)), of_grid(job(2, 1, 1, 10)), job(3, 2, 2, 10), of_grid(job(4, 3, 4, 10))];
    let acts = [(40, Act::LeaveSite), join(60, &[0, 1, 2, 3])];
    for on_failure in [FailureAction::Resubmit, FailureAction::Requeue] {
        let mut spec = under(site(4, "easy"), on_failure);
        spec.churn.return_queued = true;
        let (ran, gone) = lawful(&spec, &jobs, &script(&acts));
        let back: Vec<u64> =
            gone.iter().filter(|(time, _)| *time == at(40)).map(|(_, g)| g.job.number.0).collect();
        assert_eq!(back, [1, 2, 4], "what ran, then what waits; what would be requeued would wait");
        for (_, gone) in &gone[..3] {
            assert!(matches!(gone.how, ExitKind::Returned { why: EventCause::SiteLeft, .. }), "{gone:?}");
        }
        assert_eq!((carried(&gone[0].1).attempts, carried(&gone[1].1).attempts), (1, 0));
        assert_eq!(carried(&gone[1].1).failed_at, None, "it has not lost anything");
        assert_eq!(ran.times(3), (60, 70));
        assert_eq!(ran.tally.returned, 3);
        // Otherwise they wait for the site: aside in the order in which they came, and job 1, requeued, behind them.
        spec.churn.return_queued = false;
        let (ran, gone) = lawful(&spec, &jobs, &script(&acts));
        assert_eq!([ran.times(2).0, ran.times(3).0], [60, 60]);
        assert_eq!(ran.times(4), (70, 80));
        match on_failure {
            FailureAction::Requeue => assert_eq!(ran.times(1), (0, 180)),
            _ => assert_eq!(gone[0].1.job.number.0, 1),
        }
    }
}

fn withdraw(driver: &mut Driver, number: u64) -> Option<Box<gridemu::model::Job>> {
    let (mut records, mut exits) = (Vec::<Record>::new(), Vec::new());
    driver.partition.withdraw(number, &mut Step::new(at(10), &mut records, &mut exits))
}

#[test]
fn a_waiting_job_is_withdrawn_once() {
    let jobs = [of_grid(job(1, 0, 4, 100)), of_grid(job(2, 1, 2, 10)), job(3, 2, 4, 10)];
    let registry = Registry::standard();
    for policy in SPACE_SHARING {
        let mut driver = Driver::new(&registry, &site(4, policy), &jobs, &Script::default());
        driver.until(10);
        assert_eq!(
            (driver.partition.waiting(), driver.partition.backlog()),
            (2, (2 * 10 + 4 * 10) * 1_000_000)
        );
        let job = withdraw(&mut driver, 2).expect("it waits");
        assert_eq!((job.id.0, job.grid.as_ref().map(|grid| grid.attempts)), (2, Some(0)));
        assert_eq!(withdraw(&mut driver, 2), None, "it is gone");
        assert_eq!(withdraw(&mut driver, 1), None, "it runs");
        assert_eq!(withdraw(&mut driver, 3), None, "it is the site's own");
        let (ran, _) = driver.run();
        assert_eq!(ran.times(3), (100, 110));
    }
}

#[test]
fn what_a_partition_refuses_of_the_grid_goes_back() {
    let mut malformed = of_grid(job(2, 1, 2, 10));
    malformed.size = gridemu::model::Size::Rigid(0);
    let jobs = [of_grid(job(1, 0, 5, 10)), malformed, job(3, 2, 5, 10)];
    let (ran, gone) = lawful(&site(4, "easy"), &jobs, &Script::default());
    let why: Vec<EventCause> = gone
        .iter()
        .filter_map(|(_, gone)| match gone.how {
            ExitKind::Returned { why, .. } => Some(why),
            _ => None,
        })
        .collect();
    let refused = [RejectReason::TooLarge, RejectReason::Malformed].map(EventCause::Refused);
    assert_eq!(why, refused);
    assert_eq!(events(&ran).iter().map(|event| event.cause).collect::<Vec<_>>(), refused);
    assert_eq!(ran.job(3).outcome, Outcome::Rejected(RejectReason::TooLarge), "the site's own has ended");
    assert_eq!((ran.tally.arrived, ran.tally.returned, ran.tally.ended()), (3, 2, 1));
}

#[test]
fn a_job_runs_at_the_pace_of_its_slowest_machine() {
    // Machine 1 is at half speed from 40 to 60, machine 0 at three quarters from 50 to 80. Job 1 does 40 s of work until 40, 10
    // until 60, 15 until 80, and its last 35 until 115. It says 100 and is not killed, for it has not done more.
    let slow = |secs, machine, num, den| (secs, Act::Slow(machines(&[machine]), Rate::ratio(num, den)));
    let acts = [slow(40, 1, 1, 2), slow(50, 0, 3, 4), slow(60, 1, 1, 1), slow(80, 0, 1, 1)];
    for policy in ["fcfs", "easy", "conservative", "equal-share", "scojo", "discrepancy"] {
        let (ran, _) = lawful(&under(site(4, policy), FailureAction::Requeue), &three()[..2], &script(&acts));
        assert_eq!((ran.job(1).outcome, ran.times(1)), (Outcome::Completed, (0, 115)), "{policy}");
        assert_eq!(ran.times(2), (0, 100), "it is elsewhere");
        assert_eq!(
            ran.segments().filter(|segment| segment.job.0 == 1).count(),
            4,
            "50 changes nothing for it"
        );
    }
}

#[test]
fn policies_hear_of_ends_that_move() {
    // Job 1 (3 of 4) would end at 100 and, slowed to half at 50, ends at 150. Job 3 says 90 and comes at 55: by 145 it is over,
    // in time for job 2 (4) at 150, which takes 20. And job 4, which comes at 56, would be over at 151 and has to
    // wait for 170.
    let jobs = [job(1, 0, 3, 100), job(2, 1, 4, 10), job(3, 55, 1, 90), job(4, 56, 1, 95)];
    let slow = |secs, num, den| (secs, Act::Slow(machines(&[0]), Rate::ratio(num, den)));
    for order in [InstantOrder::Instant, InstantOrder::Event] {
        for policy in ["easy", "conservative"] {
            let spec = SiteSpec { order, ..under(site(4, policy), FailureAction::Requeue) };
            let (ran, _) = lawful(&spec, &jobs, &script(&[slow(50, 1, 2)]));
            assert_eq!([ran.times(1).1, ran.times(2).0, ran.times(3).0, ran.times(4).0], [150, 150, 55, 170]);
            // Slowed down before it starts, it is expected to end at 200 from the first: so job 3, too long for 100, fits as well.
            let (ran, _) = lawful(&spec, &jobs, &script(&[slow(0, 1, 2)]));
            assert_eq!(
                [ran.times(1).1, ran.times(2).0, ran.times(3).0],
                [200, 200, 55],
                "{policy} {order:?}"
            );
            // All its machines twice as fast from 50 on: it ends at 75.
            let fast = (50, Act::Slow(machines(&[0, 1, 2]), Rate::ratio(2, 1)));
            let (ran, _) = lawful(&spec, &jobs, &script(&[fast]));
            assert_eq!([ran.times(1).1, ran.times(2).0, ran.times(3).0], [75, 75, 85], "{policy} {order:?}");
        }
    }
}

#[test]
fn a_block_is_there_only_as_a_whole() {
    // Six machines of two processors, in blocks of four: machines 0 and 1, 2 and 3, 4 and 5. Machine 3 leaves: the block of
    // processors 4 to 7 is gone, with job 2 on it, though machine 2 is there.
    let mut spec = under(site(1, "easy"), FailureAction::Requeue);
    let part = &mut spec.partitions[0];
    (part.groups[0].machines, part.cores, part.allocation_unit) = (6, 2, 4);
    let jobs = [job(1, 0, 4, 100), job(2, 0, 3, 100), job(3, 0, 4, 100), job(4, 1, 12, 10)];
    let registry = Registry::standard();
    let acts = script(&[leave(40, &[3]), leave(50, &[3, 2]), join(70, &[3]), join(80, &[2])]);
    let mut driver = Driver::new(&registry, &spec, &jobs, &acts);
    assert_eq!(driver.partition.present(), 12);
    assert_eq!(driver.until(60).partition.present(), 8);
    assert_eq!(driver.until(70).partition.present(), 8, "machine 2 has left as well");
    assert_eq!(driver.until(80).partition.present(), 12);
    let (ran, _) = lawful(&spec, &jobs, &acts);
    assert_eq!((ran.times(2), ran.times(4)), ((0, 180), (180, 190)));
    // Away: machine 3 for 30 s, machine 2 for 30 s, two processors each.
    assert_eq!(ledger(&ran)[5], 120);
    let left: Vec<ProcSet> =
        events(&ran).iter().filter(|e| e.kind == EventKind::Left).map(|e| e.machines.clone()).collect();
    assert_eq!(left, [machines(&[3]), machines(&[2])], "who is away cannot leave");
}

#[test]
fn absent_machines_join() {
    let mut spec = under(site(4, "easy"), FailureAction::Requeue);
    spec.partitions[0].absent = 2;
    // Job 1 (4) steps aside until two more come; job 2 does not wait for it. Job 3 is moldable and does with two, for twice as
    // long.
    let jobs = [job(1, 0, 4, 10), job(2, 0, 2, 10), job(3, 1, 4, 20).moldable(2, 4, Speedup::Linear)];
    let (ran, _) = lawful(&spec, &jobs, &script(&[join(20, &[2, 3])]));
    // Job 3 has the two that job 2 leaves at 10, until 50.
    assert_eq!([ran.times(1), ran.times(2), ran.times(3)], [(50, 60), (0, 10), (10, 50)]);
    assert_eq!(ledger(&ran)[5], 40);
    // Larger than the partition will ever be.
    let (ran, _) = lawful(&spec, &[job(1, 0, 5, 10)], &Script::default());
    assert_eq!(ran.job(1).outcome, Outcome::Rejected(RejectReason::TooLarge));
}

#[test]
fn a_reservation_is_owed_what_leaves() {
    for policy in ["easy", "conservative"] {
        // From 10 to 100 two processors are reserved: 0 and 1. Machine 0 leaves at 20. Processor 2 is free and replaces it.
        let spec = under(reserve(site(4, policy), "r", 10, 100, 2), FailureAction::Requeue);
        let jobs = [job(1, 0, 1, 5), job(2, 15, 1, 15), job(3, 16, 2, 10)];
        let (ran, _) = lawful(&spec, &jobs, &script(&[leave(20, &[0]), join(110, &[0])]));
        // Job 2 (on 2) is not touched: 3 replaces 0. Job 3 would start beside them if 0 were there; it is now larger than what
        // the reservation leaves of three until 100.
        assert_eq!([ran.times(2), ran.times(3)], [(15, 30), (100, 110)], "{policy}");
        assert_eq!(ran.tally.short_reservations, 0);
        // With nothing free it is short, gets the processor that job 2 leaves at 30, and is counted once.
        let acts = [leave(20, &[0, 3]), leave(40, &[1]), join(110, &[0])];
        let (ran, _) = lawful(&spec, &jobs, &script(&acts));
        assert_eq!(ran.tally.short_reservations, 1, "{policy}");
        assert_eq!(ran.times(2), (15, 30));
    }
}

/// Every 30 s of progress a checkpoint of 5 s.
fn checkpointed(mut spec: SiteSpec) -> SiteSpec {
    let interval = CheckpointInterval::Every(Span::from_secs(30));
    spec.churn.checkpoint = Some(Checkpointing { interval, cost: Span::from_secs(5) });
    spec
}

#[test]
fn what_a_checkpoint_holds_is_not_lost() {
    for policy in SPACE_SHARING {
        // 100 s of work have 3 checkpoints (none at the end): 115 s in all, and the estimate grows as much. At 50 the job has done
        // 30 + 5 + 15: it keeps 30 and loses 15. The 70 that are left take 80 (two checkpoints): from 60 to 140.
        let spec = checkpointed(under(site(2, policy), FailureAction::Requeue));
        let (ran, _) = lawful(&spec, &[job(1, 0, 2, 100)], &script(&[leave(50, &[0]), join(60, &[0])]));
        assert_eq!((ran.job(1).outcome, ran.times(1)), (Outcome::Completed, (0, 140)), "{policy}");
        assert_eq!(ran.job(1).run, Span::from_secs(100), "the run of slowdowns is the job's own");
        // Useful 2 × 30 and 2 × 70, wasted 2 × 15, overhead 2 × 5 and 2 × 10; processor 1 is idle for 10 s.
        assert_eq!(ledger(&ran), [200, 30, 30, 0, 10, 10]);
        assert_eq!(events(&ran)[1].wasted, proc_secs(30));
        // In the middle of writing the second: 30 + 5 + 30 + 2. It keeps 30.
        let (ran, _) = lawful(&spec, &[job(1, 0, 2, 100)], &script(&[leave(67, &[0]), join(70, &[0])]));
        assert_eq!((ran.times(1), ledger(&ran)), ((0, 150), [200, 60, 34, 0, 3, 3]));
        // Without churn.
        let (ran, _) = lawful(&spec, &[job(1, 0, 2, 100)], &Script::default());
        assert_eq!((ran.times(1), ledger(&ran)), ((0, 115), [200, 0, 30, 0, 0, 0]));
        // A job that is killed has done 60 s of its own: 65 with the checkpoint.
        let (ran, _) = lawful(&spec, &[job(1, 0, 2, 100).estimate(60)], &Script::default());
        assert_eq!((ran.job(1).outcome, ran.times(1)), (Outcome::Killed, (0, 65)));
        assert_eq!(ledger(&ran), [0, 120, 10, 0, 0, 0]);
    }
}

#[test]
fn checkpoints_are_spaced_by_work() {
    // At double speed all is over in half the time; slowed to that half by its machine, in the whole again.
    let mut spec = checkpointed(under(site(1, "easy"), FailureAction::Requeue));
    spec.partitions[0].groups[0].speed = Rate::ratio(2, 1);
    let jobs = [job(1, 0, 1, 200)];
    // 200 s of work: 6 checkpoints, 230 s at speed 1, 115 at speed 2.
    let (ran, _) = lawful(&spec, &jobs, &Script::default());
    assert_eq!((ran.times(1), ledger(&ran)), ((0, 115), [100, 0, 15, 0, 0, 0]));
    let slow = (0, Act::Slow(machines(&[0]), Rate::ratio(1, 2)));
    let (ran, _) = lawful(&spec, &jobs, &script(std::slice::from_ref(&slow)));
    assert_eq!((ran.times(1), ledger(&ran)), ((0, 230), [200, 0, 30, 0, 0, 0]));
    // Lost at 40, at half of double speed: 40 s of work, one checkpoint. 170 left take 195.
    let (ran, _) = lawful(&spec, &jobs, &script(&[slow, leave(40, &[0]), join(40, &[0])]));
    assert_eq!((ran.times(1), ledger(&ran)), ((0, 235), [200, 5, 30, 0, 0, 0]));
}

#[test]
fn progress_is_carried_to_the_next_site() {
    let spec = checkpointed(under(site(2, "easy"), FailureAction::Resubmit));
    let jobs = [of_grid(job(1, 0, 2, 100))];
    let acts = script(&[leave(50, &[0]), join(60, &[0])]);
    let (_, gone) = lawful(&spec, &jobs, &acts);
    let part = carried(&gone[0].1);
    assert_eq!((part.kept, part.attempts), (Work::of_runtime(Span::from_secs(30)), 1));
    // Where no checkpoints are written what is left takes 70 s.
    let ExitKind::Returned { job, .. } = &gone[0].1.how else { panic!("it goes back") };
    let registry = Registry::standard();
    let plain = site(2, "easy");
    let (ran, _) =
        Driver::new(&registry, &plain, &[Job { submit: at(100), ..(**job).clone() }], &Script::default())
            .run();
    assert_eq!((ran.times(1), ran.job(1).attempts, ran.job(1).end), ((0, 170), 2, at(170)));
    assert_eq!(ledger(&ran), [140, 0, 0, 0, 0, 0]);
}

#[test]
fn youngs_interval_is_that_of_the_jobs_machines() {
    // A machine is up for 800 s in the mean and a checkpoint takes 4 s: on one machine every √(2 · 4 · 800) = 80 s, on four of
    // them every 40 s. 200 s of work have 2 checkpoints (after 80 and 160) or 4 (after 40, 80, 120 and 160).
    let mut spec = under(site(1, "easy"), FailureAction::Requeue);
    (spec.partitions[0].groups[0].machines, spec.partitions[0].cores) = (5, 2);
    spec.churn.checkpoint =
        Some(Checkpointing { interval: CheckpointInterval::Young, cost: Span::from_secs(4) });
    let script = Script { mean_up: Some(Span::from_secs(800)), ..Script::default() };
    let (ran, _) = lawful(&spec, &[job(1, 0, 2, 200), job(2, 0, 8, 200)], &script);
    assert_eq!([ran.times(1).1, ran.times(2).1], [208, 216]);
    // Nothing is known of failures: none are written.
    let (ran, _) = lawful(&spec, &[job(1, 0, 2, 200)], &Script::default());
    assert_eq!(ran.times(1).1, 200);
}

#[test]
fn a_plan_knows_the_machines_that_a_job_was_given() {
    // As above, in machines of two. Job 1 takes half a machine. Job 2, of two processors, would fit on one machine (every 80 s)
    // and is given halves of two: √(2 · 4 · 400) = 56.57 s, so 3 checkpoints in 200 s. It ends at 212, not at 208 as was
    // foreseen, and that is when the others may have its room: job 3 (all ten) waits for it, and job 4, which says 211, is over
    // by then.
    let mut spec = under(site(1, "easy"), FailureAction::Requeue);
    (spec.partitions[0].groups[0].machines, spec.partitions[0].cores) = (5, 2);
    spec.churn.checkpoint =
        Some(Checkpointing { interval: CheckpointInterval::Young, cost: Span::from_secs(4) });
    let script = Script { mean_up: Some(Span::from_secs(800)), ..Script::default() };
    // 202 s of work, too, have 2 checkpoints on one machine: 210.
    let jobs = [job(1, 0, 1, 1), job(2, 0, 2, 200), job(3, 0, 10, 10), job(4, 1, 1, 202)];
    for policy in ["easy", "conservative"] {
        spec.policy = policy.parse().expect("a policy");
        let (ran, _) = lawful(&spec, &jobs, &script);
        assert_eq!((ran.times(2).1, ran.times(3).0, ran.times(4)), (212, 212, (1, 211)), "{policy}");
    }
}

#[test]
fn a_job_on_more_machines_than_it_needs_may_end_after_a_reservation_begins() {
    // As above: job 2 was expected to end at 208, and is on parts of two machines until 212. At 210, when 8 of the 10 processors
    // are reserved, it and job 1 have three.
    let mut spec = under(reserve(site(1, "easy"), "r", 210, 300, 8), FailureAction::Requeue);
    (spec.partitions[0].groups[0].machines, spec.partitions[0].cores) = (5, 2);
    spec.churn.checkpoint =
        Some(Checkpointing { interval: CheckpointInterval::Young, cost: Span::from_secs(4) });
    let script = Script { mean_up: Some(Span::from_secs(800)), ..Script::default() };
    let (ran, _) = lawful(&spec, &[job(1, 0, 1, 230), job(2, 0, 2, 200)], &script);
    assert_eq!([ran.times(1), ran.times(2)], [(0, 238), (0, 212)]);
}

#[test]
fn a_job_that_stands_still_keeps_its_place_on_shared_processors() {
    // Two processors, two jobs on each. Job 1 alone does 40 s of work until 40; then it stands still. Job 2 comes at 45 and takes
    // the one that is left, where job 1's place counts: it runs at half speed, and until 60 it does 7.5. Back, job 1 shares
    // processor 1 with it: both at half speed. Job 2 has 22.5 left, until 105. Job 1 has done 22.5 by then; 37.5 are left:
    // 142.5.
    let spec = under(site(2, "equal-share"), FailureAction::Wait);
    let jobs = [job(1, 0, 2, 100), job(2, 45, 1, 30)];
    let (ran, _) = lawful(&spec, &jobs, &script(&[leave(40, &[0]), join(60, &[0])]));
    assert_eq!(ran.times(2), (45, 105));
    assert_eq!(ran.job(1).end, Time::from_micros(142_500_000));
    assert_eq!(ran.job(1).attempts, 1);
}

#[test]
fn a_decided_start_for_which_there_is_no_room_any_more_is_undone() {
    // One pass an event: at 10 jobs 2 and 3 come and are to start, on four processors, when machines 0 and 1 leave. The later
    // decision is taken back; job 3 starts when they are back.
    for policy in SPACE_SHARING {
        let mut spec = under(site(4, policy), FailureAction::Requeue);
        spec.order = InstantOrder::Event;
        let jobs = [job(2, 10, 2, 30), job(3, 10, 2, 30)];
        let acts = Script { acts_late: true, ..script(&[leave(10, &[0, 1]), join(20, &[0, 1])]) };
        let (ran, _) = lawful(&spec, &jobs, &acts);
        assert_eq!([ran.times(2), ran.times(3)], [(10, 40), (20, 50)], "{policy}");
        assert_eq!(ran.job(3).attempts, 1, "it had not begun");
        // Two are reserved from 10 to 15, beside which job 2 is to start. The reservation has the two that are left, and job 2 has
        // them at 15.
        if policy != "fcfs" {
            let spec = reserve(spec.clone(), "r", 10, 15, 2);
            let acts = Script { acts_late: true, ..script(&[leave(10, &[0, 1])]) };
            let (ran, _) = lawful(&spec, &jobs[..1], &acts);
            assert_eq!((ran.times(2), ran.job(2).attempts), ((15, 45), 1), "{policy}");
            assert_eq!(ran.tally.short_reservations, 0);
        }
        // Of the grid, it goes back with those that wait if the whole site leaves.
        spec.churn.return_queued = true;
        let acts = Script { acts_late: true, ..script(&[(10, Act::LeaveSite)]) };
        let (ran, gone) = lawful(&spec, &jobs.clone().map(of_grid), &acts);
        assert_eq!((ran.jobs().count(), gone.len()), (0, 2));
        assert_eq!(carried(&gone[0].1).attempts, 0);
    }
}

#[test]
fn a_job_whose_end_has_come_is_not_lost() {
    // Machine 0 leaves at the very instant at which job 1 ends, and before that is handled.
    for policy in SPACE_SHARING {
        let spec = SiteSpec { order: InstantOrder::Event, ..under(site(4, policy), FailureAction::Requeue) };
        let (ran, _) = lawful(&spec, &three(), &script(&[leave(100, &[0]), join(120, &[0])]));
        assert_eq!([ran.times(1), ran.times(2), ran.times(3)], [(0, 100), (0, 100), (120, 130)], "{policy}");
    }
}

/// StartEstimates of a partition at an instant: processors and seconds.
fn start_estimates(driver: &Driver, secs: u64) -> Vec<(u32, u64)> {
    let steps = driver.partition.start_estimates(at(secs)).steps;
    steps.into_iter().map(|(procs, time)| (procs, time.micros() / 1_000_000)).collect()
}

#[test]
fn an_outlook_tells_when_a_newcomer_could_start() {
    let registry = Registry::standard();
    // Six processors: job 1 has 2 until 100, job 2 has 3 until 50; one is free.
    let jobs = [job(1, 0, 2, 100), job(2, 0, 3, 50), job(3, 20, 4, 90)];
    for policy in SPACE_SHARING {
        let mut driver = Driver::new(&registry, &site(6, policy), &jobs, &Script::default());
        assert_eq!(start_estimates(driver.until(10), 10), [(1, 10), (4, 50), (6, 100)], "{policy}");
        // Job 3 waits: 4 × 90 on six processors are 60 s more.
        let told = start_estimates(driver.until(20), 20);
        if policy == "conservative" {
            // It has a place from 50 to 140, and until 100 nothing is left beside it and job 1. A job as long as that, 90 s, finds two
            // from 100 on, and all when job 3 is over.
            assert_eq!(told, [(2, 100), (6, 140)]);
        } else {
            assert_eq!(told, [(4, 80), (6, 100)], "{policy}");
        }
        assert_eq!((driver.partition.waiting(), driver.partition.running()), (1, 2));
        assert_eq!(driver.partition.backlog(), 360_000_000);
    }
}

#[test]
fn an_outlook_knows_who_is_away_overdue_or_reserved() {
    let registry = Registry::standard();
    // Job 1 said 10; at 20 it is overdue, and expected to end at 21.
    let spec = SiteSpec { overrun: true, ..site(4, "easy") };
    let jobs = [job(1, 0, 2, 100).estimate(10)];
    let acts = script(&[leave(30, &[3])]);
    let mut driver = Driver::new(&registry, &spec, &jobs, &acts);
    assert_eq!(start_estimates(driver.until(20), 20), [(2, 20), (4, 21)]);
    assert_eq!(start_estimates(driver.until(30), 30), [(1, 30), (3, 31)], "three are left");
    // A job that stands still keeps what it has for nobody knows how long.
    let acts = script(&[leave(30, &[0])]);
    let mut driver = Driver::new(&registry, &under(site(4, "easy"), FailureAction::Wait), &jobs[..1], &acts);
    assert_eq!(start_estimates(driver.until(5), 5), [(2, 5), (4, 10)]);
    let jobs = [job(1, 0, 2, 100)];
    let mut driver = Driver::new(&registry, &under(site(4, "easy"), FailureAction::Wait), &jobs, &acts);
    assert_eq!(start_estimates(driver.until(30), 30), [(2, 30)]);
    assert_eq!(driver.partition.present(), 3);
    // Two are reserved from 20 to 80: until then there are four, however shortly.
    let spec = reserve(site(4, "easy"), "r", 20, 80, 2);
    let mut driver = Driver::new(&registry, &spec, &[], &Script::default());
    assert_eq!(start_estimates(driver.until(10), 10), [(4, 10)]);
    assert_eq!(start_estimates(driver.until(20), 20), [(2, 20), (4, 80)]);
    // Everything is away.
    let mut driver = Driver::new(&registry, &site(4, "easy"), &[], &script(&[(5, Act::LeaveSite)]));
    assert_eq!(start_estimates(driver.until(5), 5), []);
    // Two jobs on a processor: job 1 is alone on both; job 2 shares processor 0 until 30 + 30, being slowed down to half.
    let jobs = [job(1, 0, 2, 100), job(2, 0, 1, 30)];
    let mut driver = Driver::new(&registry, &site(2, "equal-share"), &jobs, &Script::default());
    assert_eq!(start_estimates(driver.until(10), 10), [(1, 10), (2, 60)]);
}

#[test]
fn power_is_that_of_machines_that_are_there() {
    // Two machines of two processors, 10 W idle and 30 W busy. Job 1 has three.
    let mut spec = priced(under(site(1, "easy"), FailureAction::Wait));
    (spec.partitions[0].groups[0].machines, spec.partitions[0].cores) = (2, 2);
    let registry = Registry::standard();
    let acts = script(&[leave(20, &[0]), join(30, &[0])]);
    let mut driver = Driver::new(&registry, &spec, &[job(1, 10, 3, 50)], &acts);
    let mut watts = |secs| driver.until(secs).partition.power(Time::from_secs(secs)).milliwatts() / 1000;
    assert_eq!([watts(0), watts(10), watts(20), watts(30), watts(70)], [40, 100, 20, 100, 40]);
}
