//! Checks that a partition under churn did only what a real one could have done, from the description, the script and the records
//! alone.

use std::collections::{BTreeMap, BTreeSet};

use gridemu::local::{Exit, ExitKind, Registry};
use gridemu::model::{
    Cause, CheckpointInterval, EventKind, EventRecord, InstantOrder, Job, JobId, JobRecord, MachineState,
    Outcome, Payer, ProcSet, Record, SegmentRecord, SiteSpec, Size,
};
use gridemu::units::{Rate, Span, Time};
use gridemu::verify::Rule;

use crate::driver::{Act, Script};
use crate::support::{Law, Ran, SHARE, check_processors, judged, own_speed, rate_at, speed_on};

/// The state of the machines from an instant on.
#[derive(Clone)]
struct MachineStates {
    from: Time,
    /// Machines that are down.
    down: BTreeSet<u32>,
    slow: BTreeMap<u32, Rate>,
}

/// The machines over time, from the script.
struct Machines {
    spec: SiteSpec,
    states: Vec<MachineStates>,
}

impl Machines {
    fn of(spec: &SiteSpec, script: &Script) -> Self {
        let part = &spec.partitions[0];
        let mut down: BTreeSet<u32> = (part.machines() - part.absent..part.machines()).collect();
        down.extend(script.down.iter());
        let mut now = MachineStates { from: Time::ZERO, down, slow: BTreeMap::new() };
        let mut states = vec![now.clone()];
        for (time, act) in &script.acts {
            match act {
                Act::Leave(machines) => now.down.extend(machines.iter()),
                Act::LeaveSite => now.down.extend(0..part.machines()),
                Act::Join(machines) => machines.iter().for_each(|machine| {
                    now.down.remove(&machine);
                }),
                Act::Slow(machines, factor) => {
                    now.slow.extend(machines.iter().map(|machine| (machine, *factor)))
                }
                Act::Drain(_) | Act::Stay(_) | Act::Cancel(_) | Act::Withdraw(_) => continue,
            }
            now.down.retain(|machine| *machine < part.machines());
            now.from = *time;
            // The first is how it was before anything happened.
            if states.len() > 1 && states.last().is_some_and(|last| last.from == *time) {
                states.pop();
            }
            states.push(now.clone());
        }
        Self { spec: spec.clone(), states }
    }

    /// What stands at some time of `[from, to)`.
    fn during(&self, from: Time, to: Time) -> impl Iterator<Item = &MachineStates> {
        let first = self.states.partition_point(|state| state.from <= from) - 1;
        self.states[first..].iter().take_while(move |state| state.from < to || state.from <= from)
    }

    /// Whether all machines of a processor's block are there.
    fn is_there(&self, state: &MachineStates, proc: u32) -> bool {
        let part = &self.spec.partitions[0];
        let block = proc / part.allocation_unit * part.allocation_unit;
        (block..block + part.allocation_unit).all(|proc| !state.down.contains(&(proc / part.cores)))
    }

    /// Processors that are down, in processors × microseconds within `[from, to)`.
    fn away_time(&self, from: Time, to: Time) -> u128 {
        let ends = self.states.iter().skip(1).map(|next| next.from).chain([Time::NEVER]);
        let spans = self.states.iter().zip(ends).map(|(state, end)| {
            let span = end.min(to).since(state.from.max(from)).micros();
            u128::from(span) * (state.down.len() as u128)
        });
        spans.sum::<u128>() * u128::from(self.spec.partitions[0].cores)
    }
}

/// The checkpoints of an attempt: progress between two and cost of one, in units of work.
type Plan = Option<(u128, u128)>;

fn plan(spec: &SiteSpec, script: &Script, place: &ProcSet) -> Plan {
    let wanted = spec.churn.checkpoint?;
    let machines: BTreeSet<u32> = place.iter().map(|proc| proc / spec.partitions[0].cores).collect();
    let cost = wanted.cost.micros() as f64;
    let mean = script.mean_up.map(|up| up.micros() as f64 / machines.len().max(1) as f64);
    let interval = match wanted.interval {
        CheckpointInterval::Every(span) => span.micros(),
        CheckpointInterval::Young => libm::round(libm::sqrt(2.0 * cost * mean?)) as u64,
        CheckpointInterval::Daly => {
            let half = cost / (2.0 * mean?);
            let root = libm::sqrt(2.0 * cost * mean?);
            let daly = root * (1.0 + libm::sqrt(half) / 3.0 + half / 9.0) - cost;
            libm::round(if half < 1.0 { daly } else { mean? }) as u64
        }
        other => panic!("no rule for {other:?}"),
    };
    Some((u128::from(interval.max(1)) * SHARE, u128::from(wanted.cost.micros()) * SHARE))
}

fn stretched(work: u128, plan: Plan) -> u128 {
    match plan {
        Some((interval, cost)) if work > 0 => work + (work - 1) / interval * cost,
        _ => work,
    }
}

/// Progress that an attempt's checkpoints hold, and what it spent on writing, of the work that it did.
fn split(done: u128, plan: Plan) -> (u128, u128) {
    let Some((interval, cost)) = plan else { return (0, 0) };
    let (cycles, rest) = (done / (interval + cost), done % (interval + cost));
    (cycles * interval, cycles * cost + rest.saturating_sub(interval))
}

/// Sums over the whole account.
#[derive(Default)]
struct Sums {
    busy: u128,
    useful: u128,
    overhead: u128,
    energy: u128,
    cost: i128,
    /// Segments, each of which may round a little.
    segments: u128,
}

/// How a job's attempts ended.
struct History<'a> {
    record: Option<&'a JobRecord>,
    /// When its n-th attempt was lost, and with which event.
    lost: BTreeMap<u32, &'a EventRecord>,
    /// From when until when it stood still.
    halts: Vec<(Time, Time)>,
}

/// Checks a run.
pub(crate) fn check_churn(
    registry: &Registry,
    spec: &SiteSpec,
    jobs: &[Job],
    script: &Script,
    ran: &Ran,
    gone: &[(Time, Exit)],
) {
    let abilities = registry.build(&spec.policy).expect("a policy").1;
    let law = Law {
        multiprogramming_level: abilities.multiprogramming_level,
        gaps: abilities.preempts,
        kills: abilities.preempts,
        slows: abilities.slows,
    };
    let machines = Machines::of(spec, script);
    let part = &spec.partitions[0];
    let segments: Vec<&SegmentRecord> = ran.segments().collect();
    check_processors(part, &segments, law);
    crate::power_cap::check_cap(spec, ran.records.iter());
    check_events(&machines, ran);
    for segment in &segments {
        let procs: BTreeSet<u32> = segment.procs.iter().collect();
        for state in machines.during(segment.from, segment.to) {
            let all = procs.iter().all(|proc| machines.is_there(state, *proc));
            assert!(all, "job {} runs on {} from {}", segment.job, segment.procs, segment.from);
            let factor = |proc: &u32| state.slow.get(&(proc / part.cores)).copied().unwrap_or(Rate::FULL);
            let job = jobs.iter().find(|job| job.id == segment.job).expect("its job");
            let on = |proc: &u32| {
                let whole = rate_at(own_speed(part, *proc), &job.size, procs.len() as u32);
                whole * u128::from(segment.share.units()) / SHARE * u128::from(factor(proc).units()) / SHARE
            };
            let rate = procs.iter().map(on).min().expect("a processor");
            let rate = if segment.cause == Cause::Run { rate } else { 0 };
            let rate = if law.slows { u128::from(segment.rate.units()) } else { rate };
            assert_eq!(u128::from(segment.rate.units()), rate, "job {}: rate from {}", job.id, segment.from);
        }
    }
    let mut sums = Sums::default();
    for job in jobs {
        let of_job: Vec<&SegmentRecord> = segments.iter().copied().filter(|s| s.job == job.id).collect();
        let history = history(job, ran, gone, script);
        check_job(spec, script, job, &of_job, &history, law, gone, &mut sums);
        if law.multiprogramming_level <= 1 {
            check_kept(&of_job, &segments, &history);
        }
    }
    let rigid = jobs.iter().all(|job| matches!(job.size, Size::Rigid(_)));
    let mut verdict = judged(registry, std::slice::from_ref(spec), rigid, &ran.records);
    // Jobs that went back have no row here.
    if gone.iter().any(|(_, gone)| matches!(gone.how, ExitKind::Returned { .. })) {
        verdict.broken.remove(&Rule::Rows);
    }
    assert!(verdict.is_valid(), "{:#?}", verdict.broken);
    check_tally(ran, gone);
    check_ledger(&machines, ran, &sums);
    if spec.record_machines {
        check_states(&machines, ran, &segments);
    }
}

/// Machines leave and join as the script says, each change told once.
fn check_events(machines: &Machines, ran: &Ran) {
    let mut down = machines.states[0].down.clone();
    let mut told = Vec::new();
    for record in &ran.records {
        let Record::Event(event) = record else { continue };
        let which: BTreeSet<u32> = event.machines.iter().collect();
        let cores = machines.spec.partitions[0].cores;
        match event.kind {
            EventKind::Left => {
                assert!(which.is_disjoint(&down) && !which.is_empty());
                down.extend(&which);
            }
            EventKind::Joined => {
                assert!(which.is_subset(&down) && !which.is_empty());
                down.retain(|machine| !which.contains(machine));
            }
            _ => continue,
        }
        assert_eq!(event.procs, which.len() as u32 * cores);
        told.push((event.time, down.clone()));
    }
    for state in &machines.states[1..] {
        let last = told.iter().rev().find(|(time, _)| *time <= state.from).map(|(_, down)| down);
        assert_eq!(last.unwrap_or(&machines.states[0].down), &state.down, "at {}", state.from);
    }
}

fn history<'a>(job: &Job, ran: &'a Ran, gone: &[(Time, Exit)], script: &Script) -> History<'a> {
    let records: Vec<&JobRecord> = ran.jobs().filter(|record| record.id == job.id).collect();
    assert!(records.len() <= 1, "job {} has one end", job.id);
    let (mut lost, mut halts) = (BTreeMap::new(), Vec::new());
    for record in &ran.records {
        let Record::Event(event) = record else { continue };
        if event.job != Some(job.id) {
            continue;
        }
        match event.kind {
            // The second one of an attempt tells that the job left the queue.
            EventKind::Requeued | EventKind::Returned | EventKind::Failed if event.attempt > 0 => {
                lost.entry(event.attempt).or_insert(event);
            }
            EventKind::Stalled => match halts.last_mut() {
                // It had gone on at this very instant.
                Some((_, to)) if *to == event.time => *to = Time::NEVER,
                _ => halts.push((event.time, Time::NEVER)),
            },
            EventKind::Continued => match event.since_failure {
                Some(since) => {
                    let before: &&EventRecord =
                        lost.get(&(event.attempt - 1)).expect("an attempt that was lost");
                    assert_eq!(event.time.since(before.time), since, "job {}", job.id);
                }
                None => halts.last_mut().expect("it stood still").1 = event.time,
            },
            _ => {}
        }
    }
    let record = records.first().copied();
    if let (Some(record), Some(last)) = (record, halts.last_mut()) {
        last.1 = last.1.min(record.end);
    }
    let mine = |(_, departed): &&(Time, Exit)| departed.job.number == job.id;
    match gone.iter().rev().find(mine).map(|(_, departed)| &departed.how) {
        Some(ExitKind::Ended(outcome)) => assert_eq!(record.map(|record| record.outcome), Some(*outcome)),
        Some(ExitKind::Returned { .. }) => {
            assert!(script.again.is_some() || record.is_none(), "job {}", job.id)
        }
        None => assert!(record.is_some_and(|record| record.outcome == Outcome::Unfinished)),
        other => panic!("no rule for {other:?}"),
    }
    History { record, lost, halts }
}

#[expect(clippy::too_many_arguments, reason = "the facts of a run")]
fn check_job(
    spec: &SiteSpec,
    script: &Script,
    job: &Job,
    segments: &[&SegmentRecord],
    history: &History<'_>,
    law: Law,
    gone: &[(Time, Exit)],
    sums: &mut Sums,
) {
    let (id, part) = (job.id, &spec.partitions[0]);
    let attempts =
        segments.last().map_or(0, |last| last.attempt).max(history.lost.keys().last().copied().unwrap_or(0));
    let attempts = attempts.max(history.record.map_or(0, |record| record.attempts));
    let full = u128::from(job.runtime.micros()) * SHARE;
    let allowed = if spec.overrun { full } else { full.min(u128::from(job.estimate.micros()) * SHARE) };
    let (mut time, mut kept, mut energy, mut cost) = (job.submit, 0, 0, 0);
    for attempt in 1..=attempts {
        let of_attempt: Vec<&SegmentRecord> =
            segments.iter().copied().filter(|s| s.attempt == attempt).collect();
        let place = of_attempt.first().map_or_else(ProcSet::new, |first| first.procs.clone());
        let plan = plan(spec, script, &place);
        let target = stretched(allowed - kept, plan);
        let (mut done, mut busy, mut drawn, mut paid) = (0, 0, 0, 0);
        let (mut writing, mut held, mut spent_when_held) = (0, 0, 0);
        // In transition, in all and up to the last checkpoint.
        let (mut moved, mut moved_when_held) = (0, 0);
        for (at, segment) in of_attempt.iter().enumerate() {
            assert!(segment.from >= time && segment.from < segment.to, "job {id}: {segment:?} before {time}");
            let halted = history.halts.contains(&(time, segment.from));
            assert!(at == 0 || law.gaps || halted || segment.from == time, "job {id} has a hole at {time}");
            time = segment.to;
            let procs = u128::from(segment.procs.len()) * u128::from(segment.share.units());
            let rate = u128::from(segment.rate.units());
            let span = u128::from(segment.to.since(segment.from).micros());
            if segment.cause != Cause::Run {
                writing += procs * span;
                moved += procs * span;
            }
            let before = done.min(target);
            done += rate * span;
            let after = done.min(target);
            // Within a segment processor time is in proportion to work.
            let (was, is) = (split(before, plan), split(after, plan));
            writing += (is.1 - was.1) * procs / rate.max(1);
            if is.0 > was.0 {
                held = is.0;
                let (interval, overhead) = plan.expect("it wrote one");
                let boundary = is.0 / interval * (interval + overhead);
                moved_when_held = moved;
                spent_when_held = busy + (boundary - before) * procs / rate.max(1);
            }
            busy += procs * span;
            drawn += segment.energy.nanojoules();
            paid += segment.cost.nanos();
        }
        // What was spent up to the last checkpoint, without the writing up to it.
        let overhead_until_held = plan.map_or(0, |(interval, cost)| held / interval * cost);
        let lost = history.lost.get(&attempt);
        assert_eq!(drawn, busy * u128::from(part.busy().milliwatts()) / SHARE, "job {id}: energy");
        energy += drawn;
        sums.energy += drawn;
        sums.busy += busy;
        sums.overhead += writing;
        sums.segments += of_attempt.len() as u128;
        if lost.is_none() || script.failed_attempts == Payer::User {
            cost += paid;
        }
        let last_rate = of_attempt.last().map_or(0, |segment| u128::from(segment.rate.units()));
        match lost {
            Some(event) => {
                assert!(
                    time <= event.time && (done < target || target == 0),
                    "job {id} had done all its work"
                );
                if event.kind == EventKind::Failed {
                    assert_eq!(history.record.map(|record| record.outcome), Some(Outcome::Failed));
                } else {
                    kept += held;
                    assert_eq!(held, split(done.min(target), plan).0);
                    let until_held =
                        overhead_time(&of_attempt, plan, overhead_until_held, target) + moved_when_held;
                    let useful = spent_when_held - until_held.min(spent_when_held);
                    sums.useful += useful;
                    let wasted = busy - useful - writing;
                    assert!(event.wasted.abs_diff(wasted) <= 4 * sums.segments, "job {id}: lost");
                }
            }
            None => {
                assert_eq!(attempt, attempts, "job {id}: an attempt follows one that was not lost");
                let Some(record) = history.record else { continue };
                match record.outcome {
                    Outcome::Completed | Outcome::Killed => {
                        assert!(done >= target, "job {id} did {done} of {target}");
                        assert!(done == target || done - target < last_rate, "job {id} did too much");
                        let killed = !spec.overrun && job.runtime > job.estimate;
                        assert_eq!(record.outcome == Outcome::Killed, killed, "job {id}");
                    }
                    Outcome::Failed => assert!(law.kills),
                    _ if spec.order == InstantOrder::Event => assert!(done < target + last_rate.max(1)),
                    _ => assert!(done < target || target == 0, "job {id} had done all its work"),
                }
                if record.outcome == Outcome::Completed {
                    sums.useful += busy - writing;
                }
            }
        }
    }
    sums.cost += cost;
    let mine = |(_, departed): &&(Time, Exit)| departed.job.number == id;
    if let Some(record) = history.record {
        assert_eq!(record.start.is_some(), record.attempts > 0);
        assert_eq!(record.attempts, attempts);
        assert!(segments.first().is_none_or(|first| record.start.is_some_and(|start| start <= first.from)));
        assert_eq!((record.energy.nanojoules(), record.cost.nanos()), (energy, cost), "job {id}");
        assert!(time <= record.end);
        let given = speed_on(part, &job.size, if record.procs > 0 { record.procs } else { return });
        assert_eq!(u128::from(record.run.micros()), allowed.div_ceil(given), "job {id}: run");
    } else if let Some((_, Exit { how: ExitKind::Returned { job, .. }, .. })) = gone.iter().rev().find(mine) {
        let carried = job.grid.as_ref().expect("a job of the grid");
        assert_eq!((carried.attempts, carried.kept.units()), (attempts, kept), "job {id}");
        assert_eq!((carried.energy.nanojoules(), carried.cost.nanos()), (energy, cost), "job {id}");
    }
}

/// The processor time of the first `overhead` of an attempt's writing.
fn overhead_time(segments: &[&SegmentRecord], plan: Plan, overhead: u128, target: u128) -> u128 {
    let (mut done, mut time, mut left) = (0, 0, overhead);
    for segment in segments {
        let procs = u128::from(segment.procs.len()) * u128::from(segment.share.units());
        let (rate, span) = (u128::from(segment.rate.units()), segment.to.since(segment.from));
        let before = split(u128::min(done, target), plan).1;
        done += rate * u128::from(span.micros());
        let here = (split(done.min(target), plan).1 - before).min(left);
        time += here * procs / rate.max(1);
        left -= here;
    }
    time
}

/// Nobody runs on the processors of a job that stands still.
fn check_kept(segments: &[&SegmentRecord], all: &[&SegmentRecord], history: &History<'_>) {
    for (from, to) in &history.halts {
        let Some(last) = segments.iter().rev().find(|segment| segment.to <= *from) else { continue };
        let other = all.iter().find(|other| {
            other.job != last.job
                && other.from < *to
                && other.to > *from
                && !other.procs.is_disjoint(&last.procs)
        });
        assert!(other.is_none() || last.to < *from, "job {} keeps {}: {other:?}", last.job, last.procs);
    }
}

fn check_tally(ran: &Ran, gone: &[(Time, Exit)]) {
    let mut outcomes = [0; 6];
    ran.jobs().for_each(|job| outcomes[job.outcome.index()] += 1);
    assert_eq!(ran.tally.outcomes, outcomes, "the tally counts what the records say");
    let returned = gone.iter().filter(|(_, gone)| matches!(gone.how, ExitKind::Returned { .. })).count();
    assert_eq!(ran.tally.returned, returned as u64);
    let ended: BTreeSet<JobId> = ran.jobs().map(|job| job.id).collect();
    assert_eq!(ended.len(), ran.jobs().count(), "nobody ends twice");
}

fn check_ledger(machines: &Machines, ran: &Ran, sums: &Sums) {
    let (spec, usage) = (&machines.spec, &ran.usage[0]);
    let part = &spec.partitions[0];
    let last = ran.segments().map(|segment| segment.to).max().unwrap_or(usage.from);
    assert!(usage.to >= last && ran.segments().all(|segment| segment.from >= usage.from));
    let nominal = u128::from(part.processors()) * SHARE * u128::from(usage.to.since(usage.from).micros());
    assert_eq!(usage.nominal(), nominal);
    assert_eq!(usage.useful + usage.wasted + usage.overhead, sums.busy, "all that was used");
    let near = |a: u128, b: u128| a.abs_diff(b) <= 4 * sums.segments;
    assert!(near(usage.overhead, sums.overhead), "overhead {} and {}", usage.overhead, sums.overhead);
    assert!(near(usage.useful, sums.useful), "useful {} and {}", usage.useful, sums.useful);
    let down = machines.away_time(usage.from, usage.to) * SHARE;
    assert_eq!(usage.down, down, "time away");
    assert!(sums.busy + usage.reserved + down <= nominal, "more was used than there was");
    assert_eq!(sums.busy + usage.reserved + down + usage.idle(), nominal, "everything is accounted for");
    let meter = sums.busy * u128::from(part.busy().milliwatts())
        + (nominal - down - sums.busy) * u128::from(part.idle().milliwatts());
    assert_eq!(usage.meter().nanojoules(), meter / SHARE, "the meter is the integral of power");
    assert_eq!(usage.job_energy().nanojoules(), sums.energy);
    assert_eq!(usage.cost.nanos(), sums.cost);
}

/// The records of machine states tell the same story.
fn check_states(machines: &Machines, ran: &Ran, segments: &[&SegmentRecord]) {
    let usage = &ran.usage[0];
    let procs = machines.spec.partitions[0].processors();
    let mut changes: Vec<Vec<(Time, MachineState)>> =
        vec![vec![(Time::ZERO, MachineState::Idle)]; procs as usize];
    let mut last = Time::ZERO;
    for record in &ran.records {
        let Record::Machine(machine) = record else { continue };
        assert!(machine.time >= last, "states come in order");
        last = machine.time;
        machine.procs.iter().for_each(|proc| changes[proc as usize].push((machine.time, machine.state)));
    }
    let (mut reserved, mut down) = (0, 0);
    for (proc, changes) in (0..).zip(&changes) {
        let ends = changes.iter().skip(1).map(|(time, _)| *time).chain([usage.to.max(last)]);
        let mut busy = 0_u128;
        for ((from, state), to) in changes.iter().zip(ends) {
            let within = u128::from(to.min(usage.to).since((*from).max(usage.from)).micros());
            match state {
                MachineState::Busy => busy += u128::from(to.since(*from).micros()),
                MachineState::Reserved => reserved += within,
                MachineState::Down => down += within,
                _ => {}
            }
        }
        let mut on: Vec<(Time, Time)> =
            segments.iter().filter(|s| s.procs.contains(proc)).map(|s| (s.from, s.to)).collect();
        on.sort_unstable();
        let (mut union, mut until) = (Span::ZERO, Time::ZERO);
        for (from, to) in on {
            union += to.since(from.max(until));
            until = until.max(to);
        }
        assert_eq!(busy, u128::from(union.micros()), "busy time of processor {proc}");
    }
    assert_eq!(reserved * SHARE, usage.reserved, "reserved time");
    // Those that are down from the beginning are told when somebody can hear it.
    if machines.states[0].down.is_empty() {
        assert_eq!(down * SHARE, usage.down, "time away");
    }
}
