//! Hand-worked cases of grids; comments contain the arithmetic.

use gridemu::grid::{Grid, Policies};
use gridemu::model::{
    ChurnAct, EventCause, EventKind, EventRecord, FailureAction, GridContext, GridSpec, Job, Link, Machines,
    Outcome, PartitionId, Payer, PlannedChurn, ProcSet, Record, RejectReason, SegmentRecord, SiteId,
};
use gridemu::platform::Usage;
use gridemu::units::{Bandwidth, Bytes, Energy, Money, Power, Price, Span, Time};
use gridemu::workload::{Jobs, Source};

use crate::grid::{build, jobs_of, plain};
use crate::support::job;

pub(crate) fn at(secs: u64) -> Time {
    Time::from_secs(secs)
}

/// At this site, at this second.
fn plan(spec: &mut GridSpec, site: usize, secs: u64, act: ChurnAct) {
    spec.sites[site].churn.script.push(PlannedChurn { at: at(secs), act });
}

fn machines(count: u32) -> Machines {
    Machines { partition: PartitionId(0), which: ProcSet::full(count) }
}

/// 10 W idle, 30 W busy, and so many cents a processor-second.
fn priced(spec: &mut GridSpec, site: usize, cents: u64) {
    let part = &mut spec.sites[site].partitions[0];
    (part.groups[0].idle, part.groups[0].busy) =
        (Power::from_milliwatts(10_000), Power::from_milliwatts(30_000));
    part.groups[0].price = Price::from_nanos(36_000_000_000 * cents);
}

pub(crate) fn run(spec: &GridSpec, jobs: Vec<Job>) -> (Vec<Record>, Grid) {
    let (mut grid, mut records) = (build(spec, jobs), Vec::new());
    grid.run(&mut records).expect("it runs");
    (records, grid)
}

/// Number, site, first start and end of each job, in seconds.
pub(crate) fn times(records: &[Record]) -> Vec<(u64, u32, u64, u64)> {
    let secs = |time: Time| {
        assert_eq!(time.micros() % 1_000_000, 0, "{time}");
        time.micros() / 1_000_000
    };
    jobs_of(records)
        .into_iter()
        .map(|job| (job.id.0, job.site.0, secs(job.start.expect("it started")), secs(job.end)))
        .collect()
}

pub(crate) fn events(records: &[Record]) -> Vec<&EventRecord> {
    records
        .iter()
        .filter_map(|record| match record {
            Record::Event(event) => Some(event),
            _ => None,
        })
        .collect()
}

/// Second, kind and attempt of what happened.
fn told(records: &[Record]) -> Vec<(u64, EventKind, u32)> {
    let told = |event: &EventRecord| (event.time.micros() / 1_000_000, event.kind, event.attempt);
    events(records).into_iter().map(told).collect()
}

fn staged(records: &[Record]) -> Vec<(u64, Time, Time)> {
    let staged = |segment: &SegmentRecord| (segment.job.0, segment.from, segment.to);
    let staging = records.iter().filter_map(|record| match record {
        Record::Segment(segment) if segment.procs.is_empty() => Some(staged(segment)),
        _ => None,
    });
    staging.collect()
}

/// A job that brings and leaves so many megabytes.
fn with_data(mut job: Job, input: u64, output: u64) -> Job {
    let (input, output) = (Bytes::new(input * 1_000_000), Bytes::new(output * 1_000_000));
    job.grid = Some(Box::new(GridContext { input, output, ..GridContext::default() }));
    job
}

#[test]
fn a_job_is_given_back_when_its_site_leaves_and_completes_elsewhere() {
    // Both sites promise the same, so the job goes to the first: it starts at 1, one second away, and has run 40 s when the site
    // leaves at 41. Word of it is at the dispatcher at 42; the job rests 10 s, is assigned to the other site at 52, and
    // runs from 53 to 153.
    let mut spec = plain(&[4, 4], "mct", 1, 10);
    spec.sites[0].churn.on_failure = FailureAction::Resubmit;
    plan(&mut spec, 0, 41, ChurnAct::LeaveSite);
    priced(&mut spec, 0, 1);
    priced(&mut spec, 1, 2);
    // 2 × 40 × 30 J + 2 × 100 × 30 J. The first attempt costs 80 cents, the second 400.
    for (payer, cents) in [(Payer::User, 480), (Payer::Site, 400)] {
        spec.broker.as_mut().unwrap().failed_attempts = payer;
        let (records, grid) = run(&spec, vec![job(1, 0, 2, 100)]);
        assert_eq!(times(&records), [(1, 1, 1, 153)]);
        let record = jobs_of(&records)[0];
        assert_eq!((record.outcome, record.attempts), (Outcome::Completed, 2));
        assert_eq!(record.energy, Energy::from_nanojoules(8_400 * 1_000_000_000));
        assert_eq!(record.cost, Money::from_nanos(cents * 10_000_000));
        let kinds = [EventKind::Left, EventKind::Returned, EventKind::Reassigned, EventKind::Continued];
        assert_eq!(
            told(&records),
            [(41, kinds[0], 0), (41, kinds[1], 1), (52, kinds[2], 1), (53, kinds[3], 2)]
        );
        let events = events(&records);
        assert_eq!((events[0].cause, events[1].cause), (EventCause::SiteLeft, EventCause::SiteLeft));
        assert_eq!((events[1].wasted, events[1].procs), (80 * Usage::PROC_SECOND, 2));
        assert_eq!((events[2].site, events[2].cause), (SiteId(1), EventCause::None));
        assert_eq!(events[3].since_failure, Some(Span::from_secs(12)));
        // The last word is at 154: the accounts are closed at the full minute after it. The first site is there for 41 s
        // with 4 processors, 2 of them for 40 s in use.
        assert_eq!(grid.now(), at(180));
        let usage = grid.site(SiteId(0)).unwrap().partitions()[0].usage();
        assert_eq!((usage.from, usage.to, usage.useful), (at(0), at(180), 0));
        assert_eq!(usage.wasted, 80 * Usage::PROC_SECOND);
        assert_eq!(usage.down, 4 * 139 * Usage::PROC_SECOND);
        assert_eq!(usage.idle(), (4 * 41 - 80) * Usage::PROC_SECOND);
        let joules = 80 * 30 + (4 * 41 - 80) * 10;
        assert_eq!(usage.meter(), Energy::from_nanojoules(joules * 1_000_000_000));
    }
}

/// Two sites without a broker, one job each, far apart: both are accounted from 0 to the full minute after the last end of all.
#[test]
fn sites_without_a_broker_are_accounted_over_the_same_time() {
    let mut spec = plain(&[4, 2], "mct", 1, 10);
    spec.broker = None;
    priced(&mut spec, 0, 1);
    priced(&mut spec, 1, 1);
    let source = |job| Some(Box::new(Jobs::new(vec![job])) as Box<dyn Source>);
    let sources = vec![source(job(1, 0, 4, 100)), source(job(2, 10_000, 2, 50))];
    let mut grid = Grid::build(&spec, sources, None, &Policies::standard()).expect("a grid");
    grid.run(&mut Vec::new()).expect("it runs");
    assert_eq!(grid.now(), at(10_080));
    // 4 × (100 × 30 J + 9980 × 10 J), and 2 × (50 × 30 J + 10030 × 10 J).
    for (site, joules) in [(0, 411_200), (1, 203_600)] {
        let usage = grid.site(SiteId(site)).unwrap().partitions()[0].usage();
        assert_eq!((usage.from, usage.to), (at(0), at(10_080)));
        assert_eq!(usage.meter(), Energy::from_nanojoules(joules * 1_000_000_000));
    }
}

#[test]
fn a_departed_site_turns_a_job_away() {
    // The first site leaves at 10, which nobody is told before 60. The job comes at 20, is there at 21, back at 22, rests until
    // 32 and starts at the other site at 33.
    let mut spec = plain(&[4, 4], "mct", 1, 60);
    plan(&mut spec, 0, 10, ChurnAct::LeaveSite);
    let (records, grid) = run(&spec, vec![job(1, 20, 2, 10)]);
    assert_eq!(times(&records), [(1, 1, 33, 43)]);
    assert_eq!(jobs_of(&records)[0].attempts, 1, "it has not been started before");
    let kinds = [EventKind::Left, EventKind::Refused, EventKind::Reassigned];
    assert_eq!(told(&records), [(10, kinds[0], 0), (21, kinds[1], 0), (32, kinds[2], 0)]);
    let refused = events(&records)[1];
    assert_eq!((refused.cause, refused.site), (EventCause::SiteLeft, SiteId(0)));
    assert_eq!(grid.broker().unwrap().tally().landed_nowhere, 1);
}

#[test]
fn a_job_is_given_up_when_its_retries_are_used_up() {
    // One machine, one second away, whose changes are told at once. It leaves at 11 and 33, and is back at 15 and 40.
    let mut spec = plain(&[1], "mct", 1, 0);
    spec.sites[0].churn.on_failure = FailureAction::Resubmit;
    priced(&mut spec, 0, 1);
    for (leaves, joins) in [(11, 15), (33, 40)] {
        plan(&mut spec, 0, leaves, ChurnAct::Leave(machines(1)));
        plan(&mut spec, 0, joins, ChurnAct::Join(machines(1)));
    }
    // It runs from 1 to 11, is back at 12 and rests until 22; runs from 23 to 33 and is back at 34: the second try was the last.
    spec.broker.as_mut().unwrap().retries = 1;
    let (records, grid) = run(&spec, vec![job(1, 0, 1, 100)]);
    let record = jobs_of(&records)[0];
    assert_eq!((record.outcome, record.site, record.attempts), (Outcome::Failed, SiteId::GRID, 2));
    assert_eq!((record.start, record.end, record.procs), (Some(at(1)), at(34), 0));
    assert_eq!(record.cost, Money::from_nanos(20 * 10_000_000));
    let given_up = *events(&records).iter().find(|event| event.kind == EventKind::GivenUp).unwrap();
    assert_eq!((given_up.time, given_up.cause), (at(34), EventCause::MachineLeft));
    assert_eq!(grid.dispatcher().unwrap().tally().given_up, 1);
    // With one more it rests twice as long, until 54, and runs from 55 to 155.
    spec.broker.as_mut().unwrap().retries = 2;
    let (records, _) = run(&spec, vec![job(1, 0, 1, 100)]);
    assert_eq!((times(&records), jobs_of(&records)[0].attempts), (vec![(1, 0, 1, 155)], 3));
}

#[test]
fn a_full_site_gets_the_next_job_when_word_of_an_end_has_come() {
    // Both would fit. The first runs from 1 to 11; word of it is there at 12, and the second runs from 13.
    let mut spec = plain(&[4], "mct", 1, 10);
    spec.broker.as_mut().unwrap().in_flight = Some(1);
    let jobs = vec![job(1, 0, 1, 10), job(2, 0, 1, 10)];
    let (records, grid) = run(&spec, jobs.clone());
    assert_eq!(times(&records), [(1, 0, 1, 11), (2, 0, 13, 23)]);
    assert_eq!(grid.dispatcher().unwrap().tally().longest_hold, 1);
    spec.broker.as_mut().unwrap().in_flight = Some(2);
    assert_eq!(times(&run(&spec, jobs).0), [(1, 0, 1, 11), (2, 0, 1, 11)]);
}

#[test]
fn dispatches_take_their_time_one_after_the_other() {
    // Two seconds each: the jobs leave at 2 and 4, and are there a second later.
    let mut spec = plain(&[4], "mct", 1, 10);
    spec.broker.as_mut().unwrap().overhead = Span::from_secs(2);
    let (records, _) = run(&spec, vec![job(1, 0, 1, 10), job(2, 0, 1, 10)]);
    assert_eq!(times(&records), [(1, 0, 3, 13), (2, 0, 5, 15)]);
}

#[test]
fn input_comes_before_its_job_and_shares_the_link() {
    let mut spec = plain(&[4], "mct", 1, 10);
    let bandwidth = Some(Bandwidth::from_bits(8_000_000)); // 1 MB/s
    spec.network.set(0, 1, Link { bandwidth, ..spec.network.link(0, 1) });
    // Alone: 10 s and the latency, then the job itself takes the latency.
    let (records, _) = run(&spec, vec![with_data(job(1, 0, 1, 100), 10, 0)]);
    assert_eq!((times(&records), staged(&records)), (vec![(1, 0, 12, 112)], vec![(1, at(0), at(11))]));
    // Two of 10 and 5 MB at once: at half the speed each, the smaller has passed at 10, when 5 MB of the larger are left, which
    // has passed at 15. Output: the smaller job ends at 112, which is known at 113; its 2 MB take 2 s and the latency.
    // The larger ends at 117 and leaves nothing.
    let jobs = vec![with_data(job(1, 0, 1, 100), 10, 0), with_data(job(2, 0, 1, 100), 5, 2)];
    let (records, grid) = run(&spec, jobs);
    assert_eq!(times(&records), [(1, 0, 17, 117), (2, 0, 12, 112)]);
    assert_eq!(staged(&records), [(2, at(0), at(11)), (1, at(0), at(16)), (2, at(113), at(116))]);
    let tally = grid.dispatcher().unwrap().tally();
    assert_eq!((tally.transfers, tally.moved), (3, 17_000_000));
}

#[test]
fn a_pool_pulls_what_it_has_room_for() {
    // Two processors, one second away. What the pool asks at 0 is heard at 1: job 1 goes and runs from 2 to 12. What it asks at
    // 2, one processor, is heard at 3: too few for job 2, which came at 3; job 3, which comes at 5, passes it and runs from
    // 6 to 10. Both processors are asked for at 12, which is heard at 13: job 2 runs from 14 to 19.
    let spec = plain(&[2], "pull", 1, 10);
    let (records, _) = run(&spec, vec![job(1, 0, 1, 10), job(2, 3, 2, 5), job(3, 5, 1, 4)]);
    assert_eq!(times(&records), [(1, 0, 2, 12), (2, 0, 14, 19), (3, 0, 6, 10)]);
}

/// The first site is full from 1 to 101; the second has no machines until 42, which is told at 50 and heard at 51.
fn growing() -> (GridSpec, Vec<Job>) {
    let mut spec = plain(&[4, 4], "mct", 1, 10);
    spec.sites[1].partitions[0].absent = 4;
    plan(&mut spec, 1, 42, ChurnAct::Join(machines(4)));
    (spec, vec![job(1, 0, 4, 100), job(2, 5, 1, 10)])
}

#[test]
fn a_held_job_is_called_back_when_machines_come() {
    // Job 2 waits at the dispatcher for a place at the first site. At 51 it is assigned to the second instead.
    let (mut spec, jobs) = growing();
    spec.broker.as_mut().unwrap().in_flight = Some(1);
    spec.broker.as_mut().unwrap().retries = 0;
    let (records, grid) = run(&spec, jobs.clone());
    assert_eq!(times(&records), [(1, 0, 1, 101), (2, 1, 52, 62)]);
    // Of one instant, what the broker writes comes before what the dispatcher writes, which was earlier.
    let kinds = [EventKind::Joined, EventKind::Reassigned, EventKind::Recalled];
    assert_eq!(told(&records), [(42, kinds[0], 0), (51, kinds[1], 0), (51, kinds[2], 0)]);
    assert_eq!(events(&records)[2].cause, EventCause::Replanned);
    let tally = grid.dispatcher().unwrap().tally();
    assert_eq!((tally.recalled, tally.returned, tally.given_up), (1, 1, 0));
    // Nobody replans: it goes when word of the first end is there.
    spec.broker.as_mut().unwrap().replan = gridemu::model::Replan::Never;
    assert_eq!(times(&run(&spec, jobs).0), [(1, 0, 1, 101), (2, 0, 103, 113)]);
}

#[test]
fn a_waiting_job_is_called_back_from_its_site() {
    // It waits at the first site. The call leaves at 51 and is there at 52, the job is back at 53 and at the second site at 54.
    let (mut spec, jobs) = growing();
    let (records, _) = run(&spec, jobs.clone());
    assert_eq!(times(&records), [(1, 0, 1, 101), (2, 1, 54, 64)]);
    // Of one instant, what the broker writes comes before what the dispatcher writes, which was earlier.
    let kinds = [EventKind::Joined, EventKind::Reassigned, EventKind::Recalled];
    assert_eq!(told(&records), [(42, kinds[0], 0), (53, kinds[1], 0), (53, kinds[2], 0)]);
    // Only held jobs are called back.
    spec.broker.as_mut().unwrap().recall_queued = false;
    assert_eq!(times(&run(&spec, jobs).0), [(1, 0, 1, 101), (2, 0, 101, 111)]);
}

#[test]
fn a_job_that_its_pool_refuses_is_rejected_when_nobody_else_is_left() {
    // It fits no pool: it is rejected with the broker, as soon as it comes.
    let (records, _) = run(&plain(&[4], "mct", 1, 10), vec![job(1, 7, 5, 100)]);
    let record = jobs_of(&records)[0];
    assert_eq!((record.outcome, record.end), (Outcome::Rejected(RejectReason::TooLarge), at(7)));
}

#[test]
fn a_job_that_returns_late_is_no_news_of_its_site() {
    // The only site is down from 100 to 101, which it reports at once. The job comes to it at 100, is back at 101 and rests until 111: the site is known
    // to be back since 102, and takes it at 112.
    let mut spec = plain(&[1], "mct", 1, 0);
    plan(&mut spec, 0, 100, ChurnAct::LeaveSite);
    plan(&mut spec, 0, 101, ChurnAct::JoinSite);
    let (records, _) = run(&spec, vec![job(1, 99, 1, 5)]);
    assert_eq!(times(&records), [(1, 0, 112, 117)]);
}
