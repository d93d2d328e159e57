//! Invariants of every grid, checked from its description and its records alone.

use std::collections::{BTreeMap, BTreeSet};

use gridemu::grid::{Grid, WindowOptions};
use gridemu::local::Registry;
use gridemu::model::{
    Cause, EventCause, EventKind, EventRecord, GridSpec, InstantOrder, Job, JobId, JobRecord, Link,
    MachineRecord, Origin, Outcome, PartitionId, PartitionSpec, Payer, Record, RejectReason, SegmentRecord,
    SiteId, SiteSpec,
};
use gridemu::units::{Bytes, Span, Time};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::grids::{GridCase, GridRan, brokers, grouped_grids};
use crate::invariants::variants;
use crate::naps;
use crate::support::{Law, SHARE, assert_legal, check_processors};

struct JournalEntry<'a> {
    jobs: BTreeMap<JobId, &'a JobRecord>,
    /// What held processors.
    segments: Vec<&'a SegmentRecord>,
    staging: Vec<&'a SegmentRecord>,
    events: Vec<&'a EventRecord>,
    machines: Vec<&'a MachineRecord>,
}

impl<'a> JournalEntry<'a> {
    fn of(records: &'a [Record]) -> Self {
        let mut told = Self {
            jobs: BTreeMap::new(),
            segments: vec![],
            staging: vec![],
            events: vec![],
            machines: vec![],
        };
        for record in records {
            match record {
                Record::Job(job) => {
                    let before = told.jobs.insert(job.id, job);
                    assert!(before.is_none(), "job {} ends twice", job.id);
                }
                Record::Segment(segment) if segment.cause == Cause::Staging => told.staging.push(segment),
                Record::Segment(segment) => told.segments.push(segment),
                Record::Event(event) => told.events.push(event),
                Record::Machine(machine) => told.machines.push(machine),
                _ => {}
            }
        }
        told
    }
}

/// That a run went on under another description from an instant on, and under which it began.
#[derive(Clone, Copy)]
pub(crate) struct Fork<'a> {
    pub(crate) at: Time,
    pub(crate) old: &'a GridSpec,
}

/// Checks a whole run.
fn check(case: &GridCase) -> GridRan {
    let before = case.build();
    let (ran, after) = case.windows(WindowOptions::default());
    check_run(case, &before, &ran, &after, None);
    ran
}

/// Checks what a run of `case` has left. `before` is the grid at the beginning, `after` at the end.
pub(crate) fn check_run(case: &GridCase, before: &Grid, ran: &GridRan, after: &Grid, fork: Option<Fork<'_>>) {
    // Jobs may be left that wait for machines that never come; nothing else goes wrong.
    if let Err(error) = &ran.result {
        assert!(error.contains("nothing can happen any more"), "{error}");
        let unfinished = ran
            .records
            .iter()
            .any(|record| matches!(record, Record::Job(job) if job.outcome == Outcome::Unfinished));
        assert!(unfinished, "{error}");
    }
    let told = JournalEntry::of(&ran.records);
    check_order(&ran.records, ran.end);
    check_sums(case, &told, after);
    for job in case.jobs() {
        check_job(case, job, &told, fork);
    }
    check_partitions(case, &told, before, after, fork);
    // Under another description from the middle on, there is no one grid to judge by.
    if fork.is_none() {
        for (at, site) in case.spec.sites.iter().enumerate() {
            let here = |record: &&Record| match record {
                Record::Segment(segment) => segment.site.index() == at,
                Record::Machine(machine) => machine.site.index() == at,
                _ => false,
            };
            crate::power_cap::check_cap(site, ran.records.iter().filter(here));
        }
        let jobs: Vec<Job> = case.jobs().cloned().collect();
        assert_legal(&Registry::standard(), &case.spec.sites, &jobs, &ran.records);
    }
}

/// Records come in the order of time, the segments of the jobs that are cut off at the end last.
fn check_order(records: &[Record], end: Time) {
    let mut last = Time::ZERO;
    for record in records {
        let time = record.written();
        assert!(last <= time && time <= end, "{record:?} after {last}, before {end}");
        last = time;
    }
}

/// Every job that was submitted has one outcome.
fn check_sums(case: &GridCase, told: &JournalEntry<'_>, after: &Grid) {
    let submitted: BTreeSet<JobId> = case.jobs().map(|job| job.id).collect();
    assert_eq!(told.jobs.keys().copied().collect::<BTreeSet<_>>(), submitted, "one record a job");
    let of_grid = told.jobs.values().filter(|job| job.origin == Origin::Grid).count() as u64;
    assert_eq!(after.portal().expect("a portal").admitted(), of_grid);
    for job in &case.portal {
        assert!(told.jobs.get(&job.id).is_none_or(|record| record.origin == Origin::Grid));
    }
    for pool in after.broker().expect("a broker").pools() {
        let site = &case.spec.sites[pool.facts.id.site.index()];
        let part = &site.partitions[pool.facts.id.partition.index()];
        assert_eq!(pool.facts.groups.len(), if part.groups.len() > 1 { part.groups.len() } else { 0 });
        assert_eq!(pool.report.free_by_group.len(), pool.facts.groups.len());
        let processors: u32 = pool.facts.groups.iter().map(|group| group.processors).sum();
        let free: u32 = pool.report.free_by_group.iter().sum();
        if part.groups.len() > 1 {
            assert_eq!(processors, part.usable(), "every block is of one group");
            // Under one pass per event the jobs that end now count as free; a cap, of now or before a fork, keeps some back.
            let by_event = site.order == InstantOrder::Event;
            assert!(by_event || free >= pool.report.free, "{:?}", pool.report);
        }
    }
    let tries: u64 = told.events.iter().filter(|event| event.kind == EventKind::Reassigned).count() as u64;
    assert_eq!(after.broker().expect("a broker").tally().reassigned, tries);
    let recalled = told.events.iter().filter(|event| event.kind == EventKind::Recalled).count() as u64;
    assert_eq!(after.dispatcher().expect("a dispatcher").tally().recalled, recalled);
}

/// The connection of the portal and a site, at its best.
fn link(case: &GridCase, site: SiteId, fork: Option<Fork<'_>>) -> Link {
    let mut link = case.spec.network.link(0, site.index() + 1);
    if let Some(fork) = fork {
        let old = fork.old.network.link(0, site.index() + 1);
        link.latency = link.latency.min(old.latency);
        link.bandwidth = link.bandwidth.zip(old.bandwidth).map(|(a, b)| a.max(b));
    }
    link
}

/// How long so much data takes at least, one way.
fn transfer(link: Link, data: Bytes) -> Span {
    let micros = link.bandwidth.map_or(0, |bandwidth| {
        (u128::from(data.count()) * 8_000_000).div_ceil(u128::from(bandwidth.bits())) as u64
    });
    link.latency + Span::from_micros(micros)
}

fn check_job(case: &GridCase, job: &Job, told: &JournalEntry<'_>, fork: Option<Fork<'_>>) {
    let id = job.id;
    let record = told.jobs[&id];
    let of_grid = case.portal.iter().any(|other| other.id == id);
    assert_eq!(record.origin, if of_grid { Origin::Grid } else { Origin::Local });
    assert_eq!((record.submit, record.requested), (job.submit, job.size.preferred()));
    let segments: Vec<&SegmentRecord> = told.segments.iter().copied().filter(|s| s.job == id).collect();
    let events: Vec<&EventRecord> = told.events.iter().copied().filter(|e| e.job == Some(id)).collect();
    assert!(record.start.is_none_or(|start| job.submit <= start && start <= record.end), "job {id}");
    assert_eq!(record.start.is_some(), record.attempts > 0, "job {id}");

    // Attempts: one after the other, each in one place, none before the job can be there.
    let mut ended = job.submit;
    for attempt in 1..=record.attempts {
        let of: Vec<&SegmentRecord> = segments.iter().copied().filter(|s| s.attempt == attempt).collect();
        let Some(first) = of.first() else { continue };
        let place = (first.site, first.partition);
        assert!(first.from >= ended, "job {id}: attempt {attempt} begins before {ended}");
        for segment in &of {
            assert!(segment.from >= ended && segment.to > segment.from, "job {id}: {segment:?}");
            assert_eq!((segment.site, segment.partition), place, "job {id}: attempt {attempt} moves");
            assert_eq!(segment.origin, record.origin);
            ended = segment.to;
        }
        if of_grid {
            let latency = link(case, first.site, fork).latency;
            assert!(first.from >= job.submit + latency, "job {id} starts before it can have arrived");
            let input = job.grid.as_ref().map_or(Bytes::ZERO, |grid| grid.input);
            let staged = told.staging.iter().any(|staged| {
                let is_input = staged.job == id && staged.attempt > 0 && staged.site == first.site;
                let there = staged.to + latency <= first.from;
                is_input && there && staged.from >= job.submit
            });
            assert!(input == Bytes::ZERO || staged, "job {id} starts without its input");
        } else {
            let home = case.local.iter().position(|jobs| jobs.iter().any(|other| other.id == id));
            assert_eq!(home, Some(first.site.index()), "job {id} is at its own site");
        }
    }
    assert!(ended <= record.end);
    assert!(segments.iter().all(|segment| (1..=record.attempts).contains(&segment.attempt)), "job {id}");

    // Each attempt but the last was lost, once, and nothing of it comes later.
    let mut lost: BTreeMap<u32, Vec<&EventRecord>> = BTreeMap::new();
    for event in events.iter().filter(|event| event.attempt > 0) {
        let loses = matches!(event.kind, EventKind::Requeued | EventKind::Returned | EventKind::Failed);
        // Of an attempt that is lost already it tells that the job leaves a queue.
        let again = event.kind == EventKind::Returned && lost.contains_key(&event.attempt);
        if loses && !again {
            lost.entry(event.attempt).or_default().push(event);
        }
    }
    for (attempt, events) in &lost {
        assert_eq!(events.len(), 1, "job {id}: attempt {attempt} ends twice: {events:?}");
        let later = segments.iter().find(|s| s.attempt == *attempt && s.to > events[0].time);
        assert!(later.is_none(), "job {id}: {later:?} after {:?}", events[0]);
    }
    let ends: BTreeMap<u32, &EventRecord> =
        lost.iter().map(|(attempt, events)| (*attempt, events[0])).collect();
    let lost: Vec<u32> = lost.into_keys().collect();
    let all: Vec<u32> = (1..=record.attempts).collect();
    let but_the_last = &all[..all.len().saturating_sub(1)];
    match record.outcome {
        Outcome::Completed | Outcome::Killed => assert_eq!(lost, but_the_last, "job {id}"),
        Outcome::Failed => assert_eq!(lost, all, "job {id}"),
        Outcome::Unfinished => assert!(lost == all || lost == but_the_last, "job {id}: {lost:?} of {all:?}"),
        // A fork with a lower power cap may refuse a job that has been at work; one of the grid if no other pool is large enough.
        Outcome::Rejected(reason) => {
            let refused = all.is_empty() || matches!(reason, RejectReason::TooLarge | RejectReason::NoPool);
            assert!(lost == all && refused, "job {id}, refused for {reason:?}: {lost:?} of {all:?}");
        }
        Outcome::Cancelled => panic!("nobody cancels"),
    }

    // Data goes where the job goes, and back once.
    let (input, output) =
        job.grid.as_ref().map_or((Bytes::ZERO, Bytes::ZERO), |grid| (grid.input, grid.output));
    let staging: Vec<&SegmentRecord> = told.staging.iter().copied().filter(|s| s.job == id).collect();
    for staged in &staging {
        let data = if staged.attempt > 0 { input } else { output };
        assert!(data > Bytes::ZERO && staged.procs.is_empty());
        let took = staged.to.since(staged.from);
        assert!(took >= transfer(link(case, staged.site, fork), data), "job {id}: {staged:?} was too fast");
    }
    assert!(staging.iter().filter(|staged| staged.attempt == 0).count() <= 1, "job {id}: output goes once");

    // What was charged is what was used, but for attempts that their sites pay for.
    let energy: u128 = segments.iter().map(|segment| segment.energy.nanojoules()).sum();
    assert_eq!(record.energy.nanojoules(), energy, "job {id}: energy");
    let site_pays = |spec: &GridSpec, at: u32| {
        // What a fork takes off its processors is not lost.
        ends.get(&at).is_some_and(|end| end.cause != EventCause::Command)
            && spec.broker.as_ref().is_some_and(|broker| broker.failed_attempts == Payer::Site)
    };
    let charged = segments.iter().filter(|segment| match fork {
        Some(fork) if ends.get(&segment.attempt).is_some_and(|end| end.time < fork.at) => {
            !site_pays(fork.old, segment.attempt)
        }
        _ => !site_pays(&case.spec, segment.attempt),
    });
    let cost: i128 = charged.map(|segment| segment.cost.nanos()).sum();
    assert_eq!(record.cost.nanos(), cost, "job {id}: cost");
}

/// When each machine of a partition was down.
fn down(
    told: &JournalEntry<'_>,
    site: SiteId,
    partition: PartitionId,
    from: BTreeSet<u32>,
    end: Time,
) -> BTreeMap<u32, Vec<(Time, Time)>> {
    let mut since: BTreeMap<u32, Time> = from.into_iter().map(|machine| (machine, Time::ZERO)).collect();
    let mut spans: BTreeMap<u32, Vec<(Time, Time)>> = BTreeMap::new();
    for event in &told.events {
        if (event.site, event.partition) != (site, Some(partition)) {
            continue;
        }
        match event.kind {
            EventKind::Left => event.machines.iter().for_each(|machine| {
                assert!(since.insert(machine, event.time).is_none(), "{event:?}: away already");
            }),
            EventKind::Joined => event.machines.iter().for_each(|machine| {
                let left = since.remove(&machine).expect("it was away");
                spans.entry(machine).or_default().push((left, event.time));
            }),
            _ => {}
        }
    }
    for (machine, left) in since {
        spans.entry(machine).or_default().push((left, end));
    }
    spans
}

fn check_partitions(
    case: &GridCase,
    told: &JournalEntry<'_>,
    before: &Grid,
    after: &Grid,
    fork: Option<Fork<'_>>,
) {
    let end = after.now();
    let slots_of = |spec: &SiteSpec| {
        Registry::standard().build(&spec.policy).expect("a policy").1.multiprogramming_level
    };
    for (at, (site, spec)) in after.sites().zip(&case.spec.sites).enumerate() {
        let id = SiteId(at as u32);
        let multiprogramming_level = slots_of(spec);
        let was = fork.map(|fork| &fork.old.sites[at]);
        for (number, (partition, part)) in site.partitions().iter().zip(&spec.partitions).enumerate() {
            let here = PartitionId(number as u32);
            let segments: Vec<&SegmentRecord> =
                told.segments.iter().copied().filter(|s| (s.site, s.partition) == (id, here)).collect();
            let most = was.map_or(multiprogramming_level, |was| slots_of(was).max(multiprogramming_level));
            check_processors(part, &segments, Law { multiprogramming_level: most, ..Law::default() });
            if let Some(fork) = fork {
                // From then on nobody shares more than the policy of the time would let them.
                let after: Vec<SegmentRecord> = segments
                    .iter()
                    .filter(|segment| segment.to > fork.at)
                    .map(|segment| SegmentRecord { from: segment.from.max(fork.at), ..(*segment).clone() })
                    .collect();
                let after: Vec<&SegmentRecord> = after.iter().collect();
                check_processors(part, &after, Law { multiprogramming_level, ..Law::default() });
            }
            let begin =
                before.site(id).expect("the site").partitions()[number].view(Time::ZERO).here().clone();
            // Absent machines and those that are down by chance before anything happens: none of their processors is there.
            let cores = part.cores;
            let missing = (0..part.machines())
                .filter(|machine| (machine * cores..(machine + 1) * cores).all(|proc| !begin.contains(proc)));
            let spans = down(told, id, here, missing.collect(), end);
            for segment in &segments {
                for machine in segment.procs.iter().map(|proc| proc / cores).collect::<BTreeSet<_>>() {
                    let gone = spans.get(&machine).into_iter().flatten();
                    let clash = gone.clone().find(|(from, to)| segment.from < *to && *from < segment.to);
                    assert!(clash.is_none(), "{segment:?} on machine {machine}, away {clash:?}");
                }
            }

            let usage = partition.usage();
            assert_eq!((usage.from, usage.to), (Time::ZERO, end), "the account is of the whole run");
            let time = |segment: &&SegmentRecord| {
                let span = u128::from(segment.to.since(segment.from).micros());
                u128::from(segment.procs.len()) * u128::from(segment.share.units()) * span
            };
            let busy: u128 = segments.iter().map(time).sum();
            assert_eq!(usage.busy(), busy, "all that was used");
            // Blocks are machines here, so that none is there in part.
            let span = |(from, to): &(Time, Time)| u128::from(to.since(*from).micros());
            let gone: u128 = spans.values().flatten().map(span).sum();
            assert_eq!(usage.down, gone * u128::from(cores) * SHARE, "time away");
            let nominal = u128::from(part.processors()) * SHARE * u128::from(end.micros());
            assert_eq!(usage.nominal(), nominal);
            assert!(busy + usage.reserved + usage.down <= nominal, "more was used than there was");
            assert_eq!(busy + usage.reserved + usage.down + usage.idle(), nominal);
            let meter = |part: &PartitionSpec, busy: u128, powered: u128| {
                let idle = (powered - busy) * u128::from(part.idle().milliwatts());
                (busy * u128::from(part.busy().milliwatts()) + idle) / SHARE
            };
            let old = was.map(|was| &was.partitions[number]);
            let machines = told.machines.iter().filter(|m| (m.site, m.partition) == (id, here)).copied();
            let naps = naps::naps(machines, cores, end);
            if fork.is_none() {
                naps::check(&naps, part, &segments, &spec.churn.script, end);
            }
            let beyond = match (fork, old) {
                (Some(fork), Some(old)) => {
                    naps::beyond_idle(&naps, old, Time::ZERO, fork.at)
                        + naps::beyond_idle(&naps, part, fork.at, end)
                }
                _ => naps::beyond_idle(&naps, part, Time::ZERO, end),
            };
            let drawn = match (fork, old) {
                (Some(fork), Some(old))
                    if (old.idle(), old.busy(), old.price()) != (part.idle(), part.busy(), part.price())
                        || was.is_some_and(|was| was.tariff != spec.tariff) =>
                {
                    let busy_then = segments.iter().filter(|s| s.to <= fork.at).map(time).sum();
                    assert!(segments.iter().all(|s| s.to <= fork.at || s.from >= fork.at), "settled then");
                    let gone: u128 = spans
                        .values()
                        .flatten()
                        .map(|(from, to)| span(&((*from).min(fork.at), (*to).min(fork.at))))
                        .sum();
                    let nominal_then = u128::from(part.processors()) * SHARE * u128::from(fork.at.micros());
                    let powered_then = nominal_then - gone * u128::from(cores) * SHARE;
                    meter(old, busy_then, powered_then)
                        + meter(part, busy - busy_then, nominal - usage.down - powered_then)
                }
                _ => meter(part, busy, nominal - usage.down),
            };
            let drawn = drawn as i128 + beyond;
            assert_eq!(usage.meter().nanojoules() as i128, drawn, "the meter is the integral of power");
            let energy: u128 = segments.iter().map(|segment| segment.energy.nanojoules()).sum();
            assert_eq!(usage.job_energy().nanojoules(), energy);
            assert!(usage.job_energy() <= usage.meter());
        }
    }
    let paid: i128 = told.jobs.values().map(|job| job.cost.nanos()).sum();
    let costs =
        after.sites().flat_map(|site| site.partitions()).map(|partition| partition.usage().cost.nanos());
    assert_eq!(costs.sum::<i128>(), paid, "what was paid was paid to somebody");
}

/// Machines that leave, come and slow down, up to an instant.
fn outages(ran: &GridRan, end: Time) -> Vec<(Time, SiteId, EventKind, EventCause, String)> {
    let told = |record: &Record| match record {
        Record::Event(event)
            if event.time < end
                && matches!(event.kind, EventKind::Left | EventKind::Joined | EventKind::Slowed) =>
        {
            let machines = format!("{:?} {:?}", event.partition, event.machines);
            Some((event.time, event.site, event.kind, event.cause, machines))
        }
        _ => None,
    };
    ran.records.iter().filter_map(told).collect()
}

fn arrivals(ran: &GridRan) -> BTreeMap<JobId, (Time, Origin, u32)> {
    let told = |record: &Record| match record {
        Record::Job(job) => Some((job.id, (job.submit, job.origin, job.requested))),
        _ => None,
    };
    ran.records.iter().filter_map(told).collect()
}

proptest! {
    #![proptest_config(crate::support::cases(150))]

    #[test]
    fn every_grid_keeps_the_law(case in grouped_grids()) {
        check(&case);
    }

    #[test]
    fn every_grid_whose_broker_believes_forecasts_keeps_the_law(case in grouped_grids(), within in 1_u64..200) {
        check(&case.believing_forecasts(within));
    }

    /// Policies decide where and when jobs run, and have no influence on what comes and what breaks. Under a power cap, machines that are back
    /// stay off while jobs draw what is left.
    #[test]
    fn no_policy_changes_an_arrival_or_an_outage(
        mut case in grouped_grids(),
        local in proptest::sample::select(variants()),
        broker in proptest::sample::select(brokers()),
    ) {
        case.spec.sites.iter_mut().for_each(|site| site.cap_power(None).expect("no cap"));
        let (one, other) = (check(&case), check(&case.under(&local, &broker)));
        prop_assert_eq!(arrivals(&one), arrivals(&other));
        let end = one.end.min(other.end);
        prop_assert_eq!(outages(&one, end), outages(&other, end));
    }
}

#[test]
fn every_pair_of_policies_keeps_the_law() {
    let (mut runner, strategy) = (TestRunner::deterministic(), grouped_grids());
    for broker in brokers() {
        for local in variants() {
            // One that has something to decide.
            let case = std::iter::repeat_with(|| strategy.new_tree(&mut runner).expect("a grid").current())
                .find(|case| case.portal.len() > 4 && case.spec.sites.len() > 1)
                .expect("many are");
            let pair = case.under(&local, &broker);
            let ran = check(&pair);
            assert_eq!(ran, pair.stepwise(), "{local} under {broker}");
        }
    }
}
