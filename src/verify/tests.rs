//! Schedules of a few jobs, valid ones and ones broken by hand.

use super::*;
use crate::local::Abilities;
use crate::model::{
    Cause, EventCause, EventRecord, Job, JobId, JobKind, JobRecord, Named, Origin, Outcome, PartitionSpec,
    ProcSet, RejectReason, Reservation, SegmentRecord, SiteSpec, Size, SleepSpec, Speedup,
};
use crate::units::{Energy, Money, Power, Rate, Span};

const ROW: Row = Row { file: "test", line: 0 };

fn platform(spec: SiteSpec, abilities: Abilities) -> Platform {
    Platform {
        sites: vec![SiteFacts { spec, abilities }],
        rigid: true,
        segments: true,
        known: true,
        has_local: true,
        ..Platform::default()
    }
}

fn site() -> SiteSpec {
    SiteSpec { partitions: vec![PartitionSpec::plain(8)], ..SiteSpec::plain("delft", 8, Named::bare("easy")) }
}

fn segment(job: u64, from: u64, to: u64, procs: (u32, u32)) -> SegmentRecord {
    SegmentRecord {
        job: JobId(job),
        origin: Origin::Local,
        attempt: 1,
        site: SiteId(0),
        partition: PartitionId(0),
        procs: ProcSet::range(procs.0, procs.1),
        from: Time::from_secs(from),
        to: Time::from_secs(to),
        rate: Rate::FULL,
        share: Rate::FULL,
        cause: Cause::Run,
        energy: Energy::ZERO,
        dynamic: Energy::ZERO,
        cost: Money::ZERO,
    }
}

fn job(id: u64, submit: u64, start: u64, end: u64, procs: u32) -> JobRecord {
    JobRecord {
        id: JobId(id),
        origin: Origin::Local,
        site: SiteId(0),
        partition: PartitionId(0),
        user: -1,
        submit: Time::from_secs(submit),
        start: Some(Time::from_secs(start)),
        end: Time::from_secs(end),
        requested: procs,
        kind: JobKind::Rigid,
        procs,
        outcome: Outcome::Completed,
        run: Span::from_secs(end.saturating_sub(start)),
        estimate: Span::from_secs(1_000),
        attempts: 1,
        energy: Energy::ZERO,
        dynamic: Energy::ZERO,
        cost: Money::ZERO,
        recorded_wait: None,
        requested_start: None,
        limits: None,
    }
}

fn event(time: u64, kind: EventKind, machines: (u32, u32)) -> EventRecord {
    EventRecord {
        time: Time::from_secs(time),
        kind,
        cause: EventCause::Script,
        site: SiteId(0),
        partition: Some(PartitionId(0)),
        machines: ProcSet::range(machines.0, machines.1),
        procs: machines.1 - machines.0,
        job: None,
        origin: Origin::Local,
        attempt: 0,
        wasted: 0,
        since_failure: None,
        command: None,
        suspension: None,
        booked: None,
    }
}

fn about(job: u64, attempt: u32, time: u64, kind: EventKind) -> EventRecord {
    EventRecord { job: Some(JobId(job)), attempt, ..event(time, kind, (0, 0)) }
}

/// The verdict on rows, checked in the order in which a run writes them.
fn judge(spec: SiteSpec, events: &[EventRecord], segments: &[SegmentRecord], jobs: &[JobRecord]) -> Verdict {
    judge_with(spec, Abilities::PLAIN, events, segments, jobs)
}

fn judge_with(
    spec: SiteSpec,
    abilities: Abilities,
    events: &[EventRecord],
    segments: &[SegmentRecord],
    jobs: &[JobRecord],
) -> Verdict {
    let mut rows: Vec<(Time, u8, usize)> = Vec::new();
    rows.extend((0..).zip(events).map(|(at, event)| (event.time, 0, at)));
    rows.extend((0..).zip(segments).map(|(at, segment)| (segment.to, 1, at)));
    rows.extend((0..).zip(jobs).map(|(at, job)| (job.end, 2, at)));
    rows.sort_unstable();
    let mut checker = Checker::new(Platform { events: true, ..platform(spec, abilities) });
    for (_, kind, at) in rows {
        match kind {
            0 => checker.event(&events[at], ROW),
            1 => checker.segment(&segments[at], ROW),
            _ => checker.job(&jobs[at], ROW),
        }
    }
    checker.finish()
}

#[track_caller]
fn first(verdict: &Verdict, rule: Rule, secs: u64, jobs: &[u64], says: &str) {
    let first = verdict.first().expect("a violation");
    let named: Vec<u64> = first.jobs.iter().map(|job| job.number.0).collect();
    assert_eq!((first.rule, first.time, &*named), (rule, Time::from_secs(secs), jobs), "{}", first.message);
    assert!(first.message.contains(says), "no `{says}` in `{}`", first.message);
}

#[test]
fn a_legal_schedule_is_legal() {
    let verdict = judge(
        site(),
        &[],
        &[segment(1, 0, 10, (0, 4)), segment(2, 5, 20, (4, 8)), segment(3, 10, 30, (0, 4))],
        &[job(1, 0, 0, 10, 4), job(2, 5, 5, 20, 4), job(3, 6, 10, 30, 4)],
    );
    assert!(verdict.is_valid(), "{:?}", verdict.first());
    assert_eq!((verdict.jobs, verdict.segments, verdict.checked[&Rule::Capacity]), (3, 3, 3));
}

#[test]
fn two_jobs_on_one_processor() {
    let verdict = judge(
        site(),
        &[],
        &[segment(1, 0, 10, (0, 4)), segment(2, 5, 20, (3, 8))],
        &[job(1, 0, 0, 10, 4), job(2, 5, 5, 20, 5)],
    );
    first(
        &verdict,
        Rule::Capacity,
        5,
        &[2, 1],
        "job 2 has processor 3 of delft from 5 s to 20 s, and so has job 1",
    );
    assert_eq!(verdict.count(), 1);
}

#[test]
fn processors_and_partitions_that_are_not_there() {
    let verdict = judge(site(), &[], &[segment(1, 0, 10, (6, 9))], &[job(1, 0, 0, 10, 3)]);
    first(&verdict, Rule::Place, 0, &[1], "job 1 has processor 8 of the 8 (from 0) of delft");
    let elsewhere = SegmentRecord { partition: PartitionId(1), ..segment(1, 0, 10, (0, 1)) };
    first(
        &judge(site(), &[], &[elsewhere], &[]),
        Rule::Place,
        0,
        &[1],
        "partition 1 of delft, which the grid does not have",
    );
    let mut blocks = site();
    blocks.partitions[0].allocation_unit = 4;
    let verdict = judge(blocks, &[], &[segment(1, 0, 10, (2, 6))], &[job(1, 0, 0, 10, 4)]);
    first(&verdict, Rule::Place, 0, &[1], "not whole allocation units of 4");
}

#[test]
fn a_start_before_the_submission() {
    let verdict = judge(site(), &[], &[segment(1, 3, 10, (0, 1))], &[job(1, 5, 3, 10, 1)]);
    first(&verdict, Rule::Arrival, 3, &[1], "job 1 starts at 3 s, before its submission at 5 s");
}

#[test]
fn a_job_twice() {
    let verdict =
        judge(site(), &[], &[segment(1, 0, 10, (0, 1))], &[job(1, 0, 0, 10, 1), job(1, 0, 0, 12, 1)]);
    first(&verdict, Rule::Once, 12, &[1], "job 1 has a second row");
}

#[test]
fn machines_that_were_away() {
    let rows = [segment(1, 0, 10, (0, 4))];
    let events = [event(4, EventKind::Left, (2, 3)), event(12, EventKind::Joined, (2, 3))];
    let verdict = judge(site(), &events, &rows, &[job(1, 0, 0, 10, 4)]);
    first(&verdict, Rule::Down, 4, &[1], "machine 2 is down then");
    // It joins without having left, so it was down from the beginning.
    let verdict = judge(site(), &events[1..], &rows, &[job(1, 0, 0, 10, 4)]);
    first(&verdict, Rule::Down, 0, &[1], "runs on machine 2 of delft from 0 s, which joins only at 12 s");
}

#[test]
fn attempts_that_begin_on_machines_that_drain() {
    let events =
        |from, end| [event(from, EventKind::Draining, (2, 3)), event(end, EventKind::Undrained, (2, 3))];
    let rows = [segment(1, 5, 15, (0, 4))];
    let verdict = |events: &[EventRecord]| judge(site(), events, &rows, &[job(1, 0, 5, 15, 4)]);
    first(
        &verdict(&events(5, 15)),
        Rule::Draining,
        5,
        &[1],
        "begins on processors 0-3 of delft at 5 s, and machine 2 drains then",
    );
    // What runs already may go on, and afterwards it may begin.
    for (from, end) in [(6, 15), (2, 5)] {
        assert!(verdict(&events(from, end)).is_valid());
    }
    // Machines that were woken up for it may begin to drain when they are awake.
    let mut sleeps = site();
    let (asleep, waking, falling) = (Power::ZERO, Power::ZERO, Power::ZERO);
    let wake = Span::from_secs(5);
    sleeps.partitions[0].groups[0].sleep =
        Some(SleepSpec { asleep, wake, waking, fall: Span::ZERO, falling });
    let verdict = |from| judge(sleeps.clone(), &events(from, 15), &rows, &[job(1, 0, 5, 15, 4)]);
    assert!(verdict(5).is_valid());
    first(&verdict(4), Rule::Draining, 5, &[1], "machine 2 drains then");
}

#[test]
fn attempts_follow_a_loss_and_do_not_overlap() {
    let second = |from, to| SegmentRecord { attempt: 2, ..segment(1, from, to, (4, 6)) };
    let row = |end| JobRecord { attempts: 2, run: Span::from_secs(10), ..job(1, 0, 0, end, 2) };
    let lost = [about(1, 1, 6, EventKind::Requeued)];
    let legal = judge(site(), &lost, &[segment(1, 0, 6, (0, 2)), second(8, 18)], &[row(18)]);
    assert!(legal.is_valid(), "{:?}", legal.first());
    let verdict = judge(site(), &[], &[segment(1, 0, 6, (0, 2)), second(8, 18)], &[row(18)]);
    first(
        &verdict,
        Rule::Attempts,
        8,
        &[1],
        "attempt 2 of job 1 begins, and attempt 1 has not failed before",
    );
    let verdict = judge(site(), &lost, &[segment(1, 0, 6, (0, 2)), second(4, 14)], &[row(14)]);
    first(&verdict, Rule::Attempts, 4, &[1], "job 1 runs twice: from 0 s to 6 s");
}

#[test]
fn an_attempt_stays_where_it_is() {
    let rows = [segment(1, 0, 6, (0, 2)), segment(1, 9, 13, (2, 4))];
    let row = JobRecord { run: Span::from_secs(10), ..job(1, 0, 0, 13, 2) };
    let verdict = judge(site(), &[], &rows, std::slice::from_ref(&row));
    first(&verdict, Rule::Attempts, 6, &[1], "job 1 pauses from 6 s to 9 s, in the middle of an attempt");
    let preempts = Abilities { preempts: true, same_processors: true, ..Abilities::PLAIN };
    let verdict = judge_with(site(), preempts, &[], &rows, std::slice::from_ref(&row));
    first(
        &verdict,
        Rule::SameProcessors,
        9,
        &[1],
        "job 1 continues on processors 2-3 of delft, and had processors 0-1",
    );
    let anywhere = Abilities { same_processors: false, ..preempts };
    assert!(judge_with(site(), anywhere, &[], &rows, &[row]).is_valid());
}

#[test]
fn a_job_that_stands_still_keeps_its_processors() {
    let halted = [about(1, 1, 6, EventKind::Stalled), about(1, 1, 9, EventKind::Continued)];
    let rows = [segment(1, 0, 6, (0, 2)), segment(2, 6, 8, (1, 2)), segment(1, 9, 13, (0, 2))];
    let jobs = [job(2, 0, 6, 8, 1), JobRecord { run: Span::from_secs(10), ..job(1, 0, 0, 13, 2) }];
    first(&judge(site(), &halted, &rows, &jobs), Rule::Capacity, 6, &[1, 2], "processor 1 of delft");
    let legal = judge(site(), &halted, &[rows[0].clone(), rows[2].clone()], &jobs[1..]);
    assert!(legal.is_valid(), "{:?}", legal.first());
    // One whose machine leaves at the instant at which it begins has run for no time before it stands still.
    let begins = [segment(1, 9, 13, (0, 2))];
    let started_at = |at| {
        let row =
            JobRecord { start: Some(Time::from_secs(at)), run: Span::from_secs(4), ..job(1, 0, at, 13, 2) };
        judge(site(), &halted, &begins, &[row])
    };
    assert!(started_at(6).is_valid(), "{:?}", started_at(6).first());
    first(&started_at(7), Rule::Rows, 6, &[1], "job 1 started at 7 s by its row");
}

#[test]
fn reservations_are_kept_free() {
    let mut spec = site();
    let (start, end) = (Time::from_secs(10), Time::from_secs(20));
    spec.reservations.push((0, Reservation { name: "demo".to_owned(), start, end, procs: 6, job: None }));
    let beside = [segment(1, 0, 30, (0, 2))];
    let run = |rows: &[SegmentRecord], jobs: &[JobRecord]| judge(spec.clone(), &[], rows, jobs);
    assert!(run(&beside, &[job(1, 0, 0, 30, 2)]).is_valid());
    let into = [segment(1, 0, 12, (0, 3))];
    first(
        &run(&into, &[job(1, 0, 0, 12, 3)]),
        Rule::Reservation,
        10,
        &[1],
        "still runs when a reservation begins: 3 of 8",
    );
    let starts = [segment(1, 12, 14, (0, 3))];
    first(&run(&starts, &[job(1, 0, 12, 14, 3)]), Rule::Reservation, 12, &[1], "6 are reserved (`demo`)");
    assert!(run(&[segment(1, 20, 22, (0, 8))], &[job(1, 0, 20, 22, 8)]).is_valid());
}

#[test]
fn work_that_was_not_done() {
    let short = JobRecord { run: Span::from_secs(12), ..job(1, 0, 0, 10, 1) };
    first(
        &judge(site(), &[], &[segment(1, 0, 10, (0, 1))], &[short]),
        Rule::Work,
        10,
        &[1],
        "its run is 12 s, its segments do 10 s",
    );
    let long = JobRecord { run: Span::from_secs(8), ..job(1, 0, 0, 10, 1) };
    first(
        &judge(site(), &[], &[segment(1, 0, 10, (0, 1))], &[long]),
        Rule::Work,
        10,
        &[1],
        "did more than that",
    );
    let slow = SegmentRecord { rate: Rate::ratio(1, 2), ..segment(1, 0, 10, (0, 1)) };
    first(&judge(site(), &[], &[slow], &[]), Rule::Work, 0, &[1], "at a rate of 0.5 where the speed is 1");
}

#[test]
fn outcomes_that_do_not_go_with_what_happened() {
    let never = JobRecord { start: None, attempts: 0, procs: 0, ..job(1, 0, 0, 10, 1) };
    first(
        &judge(site(), &[], &[], &[never]),
        Rule::Outcome,
        10,
        &[1],
        "job 1 is completed and never started",
    );
    let killed = JobRecord { outcome: Outcome::Killed, ..job(1, 0, 0, 10, 1) };
    first(
        &judge(site(), &[], &[segment(1, 0, 10, (0, 1))], &[killed]),
        Rule::Outcome,
        10,
        &[1],
        "and that is 1000 s",
    );
    let rejected = JobRecord { outcome: Outcome::Rejected(RejectReason::TooLarge), ..job(1, 0, 0, 10, 1) };
    first(
        &judge(site(), &[], &[segment(1, 0, 10, (0, 1))], &[rejected]),
        Rule::Outcome,
        10,
        &[1],
        "is rejected and started",
    );
}

#[test]
fn rows_that_do_not_agree() {
    let segments = [segment(1, 0, 10, (0, 2))];
    let late = JobRecord { run: Span::from_secs(10), ..job(1, 0, 1, 10, 2) };
    first(
        &judge(site(), &[], &segments, &[late]),
        Rule::Rows,
        0,
        &[1],
        "started at 1 s by its row, and at 0 s by its first segment",
    );
    first(&judge(site(), &[], &segments, &[]), Rule::Rows, 10, &[1], "has no row among the jobs");
    first(&judge(site(), &[], &[], &[job(1, 0, 0, 10, 2)]), Rule::Rows, 0, &[1], "has no segment");
    let wide = job(1, 0, 0, 10, 3);
    first(
        &judge(site(), &[], &segments, &[wide]),
        Rule::Rows,
        0,
        &[1],
        "3 processors by its row, and 2 by its last segment",
    );
}

#[test]
fn without_segments_processors_are_counted() {
    let mut checker = Checker::new(Platform { segments: false, ..platform(site(), Abilities::PLAIN) });
    for row in [job(1, 0, 0, 10, 5), job(2, 0, 10, 15, 8), job(3, 0, 14, 20, 3)] {
        checker.job(&row, ROW);
    }
    first(&checker.finish(), Rule::Capacity, 14, &[3], "11 processors of delft are in use, which has 8");
}

/// The verdict on a job that prefers 4 processors for 10 s and may have 2 to 8, on which its speedup is linear.
fn judge_size(
    wanted: fn(u32, u32, u32, Speedup) -> Size,
    events: &[EventRecord],
    segments: &[SegmentRecord],
    row: &JobRecord,
) -> Verdict {
    let kind = wanted(2, 4, 8, Speedup::Linear).kind();
    judge_kind(wanted, events, segments, &JobRecord { kind, ..row.clone() })
}

/// The same, whatever kind the row has.
fn judge_kind(
    wanted: fn(u32, u32, u32, Speedup) -> Size,
    events: &[EventRecord],
    segments: &[SegmentRecord],
    row: &JobRecord,
) -> Verdict {
    let able = Abilities { resizes: true, ..Abilities::PLAIN };
    let mut checker = Checker::new(Platform { rigid: false, events: true, ..platform(site(), able) });
    events.iter().for_each(|event| checker.event(event, ROW));
    segments.iter().for_each(|segment| checker.segment(segment, ROW));
    let mut job = Job::rigid(1, Time::ZERO, 4, Span::from_secs(10)).estimated(Span::from_secs(1_000));
    job.size = wanted(2, 4, 8, Speedup::Linear);
    checker.request(row, &JobRequest::of(&job, false), ROW);
    checker.job(row, ROW);
    checker.finish()
}

/// A job shrinks from 4 to 2 processors after 6 of its 10 s: the other 4 take 8.
#[test]
fn moldable_and_malleable_jobs_do_what_their_workload_says() {
    let malleable = |min, preferred, max, speedup| Size::Malleable { min, preferred, max, speedup };
    let moldable = |min, preferred, max, speedup| Size::Moldable { min, preferred, max, speedup };
    let rigid = |_, preferred, _, _| Size::Rigid(preferred);
    let half = |from, to| SegmentRecord { rate: Rate::ratio(1, 2), ..segment(1, from, to, (0, 2)) };
    let resized = [EventRecord { procs: 2, ..about(1, 1, 6, EventKind::Resized) }];
    let of = |end, procs| JobRecord {
        requested: 4,
        run: Span::from_secs(if procs == 2 { 20 } else { 10 }),
        ..job(1, 0, 0, end, procs)
    };
    let (whole, shrunk) = (segment(1, 0, 6, (0, 4)), [segment(1, 0, 6, (0, 4)), half(6, 14)]);
    let legal = judge_size(malleable, &resized, &shrunk, &of(14, 2));
    assert!(legal.is_valid(), "{:?}", legal.first());
    assert!(legal.checked[&Rule::Work] > 2 && legal.checked[&Rule::Place] > 2);

    let other = judge_kind(malleable, &resized, &shrunk, &JobRecord { kind: JobKind::Rigid, ..of(14, 2) });
    first(&other, Rule::Work, 0, &[1], "job 1 is rigid, and malleable in its workload");

    let verdict = judge_size(moldable, &resized, &shrunk, &of(14, 2));
    first(&verdict, Rule::SameProcessors, 6, &[1], "job 1 is moldable, and gets other processors at 6 s");
    // One that is moldable may begin on 2.
    let small = judge_size(moldable, &[], &[half(0, 20)], &of(20, 2));
    assert!(small.is_valid(), "{:?}", small.first());
    let verdict = judge_size(rigid, &[], &[half(0, 20)], &of(20, 2));
    first(&verdict, Rule::Place, 0, &[1], "job 1 has 2 processors, and requests 4 by its workload");

    let one = SegmentRecord { rate: Rate::ratio(1, 4), ..segment(1, 6, 22, (0, 1)) };
    let row = JobRecord { run: Span::from_secs(40), ..of(22, 1) };
    let verdict = judge_size(malleable, &resized, &[whole.clone(), one], &row);
    first(&verdict, Rule::Place, 6, &[1], "job 1 has 1 processors, and may have 2 to 8 by its workload");

    let fast = SegmentRecord { rate: Rate::FULL, ..half(6, 10) };
    let verdict = judge_size(malleable, &resized, &[whole.clone(), fast], &of(10, 2));
    first(
        &verdict,
        Rule::Work,
        6,
        &[1],
        "job 1 runs at a rate of 1 on 2 processors, where it has 0.5 of its own, and its share is 1",
    );
    for (end, says) in [(13, "did less than its work, which takes 10 s"), (15, "did more than its work")] {
        let verdict = judge_size(malleable, &resized, &[whole.clone(), half(6, end)], &of(end, 2));
        first(&verdict, Rule::Work, end, &[1], says);
    }
    let other = JobRecord { run: Span::from_secs(10), ..of(14, 2) };
    first(
        &judge_size(malleable, &resized, &shrunk, &other),
        Rule::Work,
        14,
        &[1],
        "the run of job 1 is 10 s, and 20 s by its workload",
    );
}
