//! Power caps of sites: worked by hand, against a site with fewer processors, and against what is drawn according to the records.

use std::collections::BTreeMap;
use std::fs;

use gridemu::local::Registry;
use gridemu::model::{
    ChurnAct, EventCause, EventKind, Job, MachineGroup, MachineState, Machines, Origin, Outcome, PartitionId,
    PartitionSpec, PlannedChurn, ProcSet, Record, RejectReason, SegmentRecord, SiteSpec, SleepSpec, Speedup,
};
use gridemu::units::{Power, Span, Time};
use proptest::prelude::*;
use serde_json::Value;

use crate::churn_invariants::{Churning, churning};
use crate::cli::gridemu;
use crate::driver::Act;
use crate::invariants::{Case, cases, variants};
use crate::naps::{Nap, naps};
use crate::support::{self, With, job, reserve, run, site};

fn watts(watts: u64) -> Power {
    Power::from_milliwatts(1_000 * watts)
}

/// Caps a site so that this percentage of what jobs can draw is left to them, unless its jobs share processors or none could run.
pub(crate) fn cap_at(spec: &mut SiteSpec, percent: u64) {
    let able = Registry::standard().build(&spec.policy).expect("a policy").1;
    let sharing = able.multiprogramming_level > 1 || able.picks_processors;
    let (standing, greatest) = (spec.standing_power().milliwatts(), spec.greatest_power().milliwatts());
    let cap = standing.max(standing + greatest.saturating_sub(standing) * percent / 100);
    if sharing || spec.cap_power(Some(Power::from_milliwatts(cap))).is_err() {
        spec.cap_power(None).expect("no cap");
    }
}

/// What the machines of a partition draw at an instant, in milliwatts, given which are down then.
fn drawn(
    part: &PartitionSpec,
    segments: &[&SegmentRecord],
    naps: &[Nap],
    off: &[(u32, Time, Time)],
    at: Time,
) -> u128 {
    let now = |nap: &&Nap| nap.from <= at && at < nap.to;
    let asleep: BTreeMap<u32, &Nap> = naps.iter().filter(now).map(|nap| (nap.machine, nap)).collect();
    let milliwatts = |power: Power| u128::from(power.milliwatts());
    let mut busy: BTreeMap<u32, u32> = BTreeMap::new();
    for segment in segments.iter().filter(|segment| segment.from <= at && at < segment.to) {
        segment.procs.iter().for_each(|proc| *busy.entry(proc / part.cores).or_default() += 1);
    }
    let draws = |machine: u32| {
        let group = part.group_of(machine).expect("a machine");
        let busy = u128::from(busy.get(&machine).copied().unwrap_or_default());
        if off.iter().any(|(down, from, to)| *down == machine && *from <= at && at < *to) {
            assert_eq!(busy, 0, "machine {machine} is down at {at}");
            return 0;
        }
        if let Some(nap) = asleep.get(&machine) {
            use gridemu::model::MachineState::{Asleep, Waking};
            let state = group.sleep.expect("it sleeps");
            return milliwatts(match nap.state {
                Asleep => state.asleep,
                Waking => state.waking,
                _ => state.falling,
            });
        }
        let cores = u128::from(part.cores);
        let Some(points) = &group.by_load else {
            return milliwatts(group.idle) * (cores - busy) + milliwatts(group.busy) * busy;
        };
        let steps = points.len() as u128 - 1;
        let (step, rest) = ((busy * steps / cores) as usize, busy * steps % cores);
        let above = points.get(step + 1).copied().map_or(0, milliwatts);
        (milliwatts(points[step]) * (cores - rest) + above * rest) / cores
    };
    (0..part.machines()).map(draws).sum()
}

/// When machines were down, of the records of a partition.
fn downs<'a>(
    records: impl Iterator<Item = &'a gridemu::model::MachineRecord>,
    cores: u32,
) -> Vec<(u32, Time, Time)> {
    let (mut since, mut found) = (BTreeMap::new(), Vec::new());
    for record in records {
        for proc in record.procs.iter().filter(|proc| proc.is_multiple_of(cores)) {
            if record.state == gridemu::model::MachineState::Down {
                since.entry(proc / cores).or_insert(record.time);
            } else if let Some(from) = since.remove(&(proc / cores)) {
                found.push((proc / cores, from, record.time));
            }
        }
    }
    found.extend(since.into_iter().map(|(machine, from)| (machine, from, Time::NEVER)));
    found
}

/// At no instant do the machines of a site draw more than its cap, and no partition has more processors in use than it leaves.
pub(crate) fn check_cap<'a>(spec: &SiteSpec, records: impl Iterator<Item = &'a Record> + Clone) {
    let Some(cap) = spec.power_cap else { return };
    for (at, drawn, used) in draws(spec, records) {
        for (part, used) in spec.partitions.iter().zip(used) {
            assert!(
                part.power_part.is_some_and(|part| part.in_watts) || used <= part.most(),
                "{used} of {} processors are in use at {at}",
                part.most()
            );
        }
        assert!(drawn <= u128::from(cap.milliwatts()), "{drawn} mW are drawn at {at} under {cap}");
    }
}

/// When the machines of a site may have begun to draw more, what they draw from then on in milliwatts, and how many processors of each partition are
/// in use.
fn draws<'a>(
    spec: &SiteSpec,
    records: impl Iterator<Item = &'a Record> + Clone,
) -> Vec<(Time, u128, Vec<u32>)> {
    let mut moments: Vec<Time> = Vec::new();
    let mut parts = Vec::new();
    for (at, part) in spec.partitions.iter().enumerate() {
        let segments: Vec<&SegmentRecord> = records
            .clone()
            .filter_map(|record| match record {
                Record::Segment(segment) if segment.partition.index() == at => Some(segment),
                _ => None,
            })
            .collect();
        let states = records.clone().filter_map(|record| match record {
            Record::Machine(machine) if machine.partition.index() == at => Some(machine),
            _ => None,
        });
        let (off, naps) = (downs(states.clone(), part.cores), naps(states, part.cores, Time::NEVER));
        moments.extend(segments.iter().map(|segment| segment.from));
        moments.extend(naps.iter().flat_map(|nap| [nap.from, nap.to]));
        moments.extend(off.iter().map(|(.., to)| *to));
        parts.push((part, segments, naps, off));
    }
    moments.sort_unstable();
    moments.dedup();
    let then = |at: Time| {
        let of = |(part, segments, naps, off): &(&PartitionSpec, Vec<&SegmentRecord>, Vec<Nap>, Vec<_>)| {
            let running = segments.iter().filter(|segment| segment.from <= at && at < segment.to);
            (drawn(part, segments, naps, off, at), running.map(|segment| segment.procs.len()).sum::<u32>())
        };
        let (drawn, used): (Vec<u128>, Vec<u32>) = parts.iter().map(of).unzip();
        (at, drawn.into_iter().sum(), used)
    };
    moments.into_iter().filter(|at| *at < Time::NEVER).map(then).collect()
}

/// Ten machines of one core, 100 W idle and 200 W busy, under 1500 W: five may be in use.
fn half(policy: &str) -> SiteSpec {
    let mut spec = site(10, policy);
    let group = &mut spec.partitions[0].groups[0];
    (group.idle, group.busy) = (watts(100), watts(200));
    spec.cap_power(Some(watts(1_500))).expect("a cap");
    spec
}

fn times(spec: &SiteSpec, jobs: &[Job]) -> Vec<(u64, u64)> {
    let ran = run(spec, jobs);
    check_cap(spec, ran.records.iter());
    jobs.iter().map(|job| ran.times(job.id.0)).collect()
}

#[test]
fn five_of_ten_machines_run() {
    let jobs: Vec<Job> = (1..=7).map(|id| job(id, 0, 1, 100)).collect();
    let expected = [(0, 100), (0, 100), (0, 100), (0, 100), (0, 100), (100, 200), (100, 200)];
    for policy in ["fcfs", "easy", "conservative", "los"] {
        assert_eq!(times(&half(policy), &jobs), expected, "{policy}");
        let event = SiteSpec { order: gridemu::model::InstantOrder::Event, ..half(policy) };
        assert_eq!(times(&event, &jobs), expected, "{policy}, one pass an event");
    }
}

/// Job 1 has 3 of the 5 until 100. Job 2 needs 4: its reservation is at 100, with 1 to spare. Job 3 takes that one. Job 4 ends at 100. Job 5 finds
/// nothing free, and at 100 there are 4 for job 2, until 150.
#[test]
fn the_reservation_of_the_head_is_under_the_cap() {
    let jobs = [job(1, 0, 3, 100), job(2, 0, 4, 50), job(3, 0, 1, 200), job(4, 0, 1, 100), job(5, 0, 2, 10)];
    let expected = [(0, 100), (100, 150), (0, 200), (0, 100), (150, 160)];
    assert_eq!(times(&half("easy"), &jobs), expected);
    // Conservative plans the same: job 5 has no place before 150 either.
    assert_eq!(times(&half("conservative"), &jobs), expected);
    // Without the cap all but job 5 fit at once, and that one too.
    let mut free = half("easy");
    free.cap_power(None).expect("none");
    assert!(times(&free, &jobs[..2]).iter().all(|(start, _)| *start == 0));
}

/// A job that needs 6 is too large, a moldable one of 2 to 8 gets 5, and a reservation of 2 leaves 3.
#[test]
fn what_is_larger_than_the_cap_leaves() {
    let ran = run(&half("easy"), &[job(1, 0, 6, 100), job(2, 0, 8, 100).moldable(2, 8, Speedup::Linear)]);
    assert_eq!(ran.job(1).outcome, Outcome::Rejected(RejectReason::TooLarge));
    assert_eq!((ran.job(2).procs, ran.times(2).0), (5, 0));
    let booked = reserve(half("easy"), "demo", 0, 50, 2);
    let jobs: Vec<Job> = (1..=4).map(|id| job(id, 0, 1, 100)).collect();
    assert_eq!(times(&booked, &jobs), [(0, 100), (0, 100), (0, 100), (50, 150)]);
    let too_large = reserve(half("easy"), "demo", 0, 50, 6).check().unwrap_err().to_string();
    assert!(
        too_large.ends_with("it requests 6 of the 5 processors that the power cap leaves"),
        "{too_large}"
    );
}

/// A site of one partition of these groups, which sleeps when it has been idle for so many seconds, and how many jobs of so many processors
/// and 1000 s run at once that come after 1000 s, under a cap.
fn at_once(groups: Vec<MachineGroup>, cores: u32, sleeps: Option<u64>, cap: u64, procs: u32) -> usize {
    let mut spec = site(1, "easy");
    spec.partitions[0] = PartitionSpec { groups, cores, ..PartitionSpec::plain(1) };
    spec.record_machines = true;
    if let Some(after) = sleeps {
        spec.power = format!("sleep-idle[after={after} s]").parse().expect("a policy");
    }
    spec.cap_power(Some(watts(cap))).expect("a cap");
    let jobs: Vec<Job> = (1..=20).map(|id| job(id, 1_000, procs, 1_000)).collect();
    let ran = run(&spec, &jobs);
    check_cap(&spec, ran.records.iter());
    jobs.iter().filter(|job| ran.times(job.id.0).0 < 1_500).count()
}

fn machines(count: u32, idle: u64, busy: u64) -> MachineGroup {
    MachineGroup { idle: watts(idle), busy: watts(busy), ..MachineGroup::plain("any", count) }
}

fn sleep(asleep: u64, waking: u64, falling: u64) -> Option<SleepSpec> {
    let [wake, fall] = [60, 6].map(Span::from_secs);
    Some(SleepSpec { asleep: watts(asleep), wake, waking: watts(waking), fall, falling: watts(falling) })
}

/// Seven machines that work and three that sleep draw 1430 W; with an eighth it would be 1620 W.
#[test]
fn machines_that_sleep_leave_their_power() {
    let nodes = || vec![MachineGroup { sleep: sleep(10, 125, 100), ..machines(10, 100, 200) }];
    assert_eq!(at_once(nodes(), 1, Some(10), 1_500, 1), 7);
    assert_eq!(at_once(nodes(), 1, Some(10), 1_430, 1), 7);
    assert_eq!(at_once(nodes(), 1, Some(10), 1_429, 1), 6);
    // None sleeps yet.
    assert_eq!(at_once(nodes(), 1, Some(2_000), 1_500, 1), 5);
    // The five that stay idle go to sleep at 1001 s, and leave their power from 1007 s on.
    assert_eq!(at_once(nodes(), 1, Some(1_001), 1_500, 1), 7);
}

/// Twelve machines of 117 W at most that draw 125 W while they wake up. Of their 1500 W 97 % are enough for eleven that wake up and one that sleeps,
/// 1384 W, and once they are awake for the last one too, 1412 W.
#[test]
fn waking_may_draw_more_than_work() {
    let nodes = || vec![MachineGroup { sleep: sleep(9, 125, 93), ..machines(12, 93, 117) }];
    assert_eq!(at_once(nodes(), 1, Some(10), 1_455, 1), 12);
    assert_eq!(at_once(nodes(), 1, Some(10), 1_411, 1), 11);
}

/// Four machines of 100 W and 200 W, and four of 50 W and 350 W: 600 W without jobs, 1000 W with four on the first.
#[test]
fn what_jobs_draw_where_they_are_counts() {
    let nodes = || vec![machines(4, 100, 200), machines(4, 50, 350)];
    assert_eq!(at_once(nodes(), 1, None, 1_000, 1), 4);
    assert_eq!(at_once(nodes(), 1, None, 1_300, 1), 5);
    assert_eq!(at_once(nodes(), 1, None, 1_000, 4), 1);
    // Those that draw less are chosen although others have lower numbers.
    let nodes = vec![machines(4, 50, 350), machines(4, 100, 200)];
    assert_eq!(at_once(nodes, 1, None, 1_000, 2), 2);
}

/// A machine draws 50 W more with a core busy, and no more with others: four draw 200 W without jobs, and 350 W with three busy.
#[test]
fn a_table_counts_as_it_is() {
    let by_load = Some([50, 100, 100, 100, 100].map(watts).to_vec());
    let nodes = || {
        vec![MachineGroup {
            by_load: by_load.clone(),
            idle: Power::from_milliwatts(12_500),
            ..machines(4, 12, 25)
        }]
    };
    assert_eq!(at_once(nodes(), 4, None, 360, 4), 3);
    assert_eq!(at_once(nodes(), 4, None, 360, 1), 12);
    assert_eq!(at_once(nodes(), 4, None, 360, 12), 1);
}

/// Under 1430 W seven machines work and two sleep, 1420 W, while the last is down. When it is back at 1100 s it would draw 100 W: it stays off until
/// the jobs end.
#[test]
fn a_machine_that_returns_above_the_cap_stays_off() {
    let mut spec = site(1, "easy");
    let nodes = MachineGroup { sleep: sleep(10, 125, 100), ..machines(10, 100, 200) };
    spec.partitions[0] = PartitionSpec { groups: vec![nodes], ..PartitionSpec::plain(1) };
    spec.record_machines = true;
    spec.power = "sleep-idle[after=10 s]".parse().expect("a policy");
    let last = || Machines { partition: PartitionId(0), which: ProcSet::range(9, 10) };
    let planned = |secs, act| PlannedChurn { at: Time::from_secs(secs), act };
    spec.churn.script = vec![planned(500, ChurnAct::Leave(last())), planned(1_100, ChurnAct::Join(last()))];
    spec.cap_power(Some(watts(1_430))).expect("a cap");
    let jobs: Vec<Job> = (1..=7).map(|id| job(id, 1_000, 1, 1_000)).collect();
    let ran = run(&spec, &jobs);
    check_cap(&spec, ran.records.iter());
    assert!(jobs.iter().all(|job| ran.times(job.id.0) == (1_060, 2_060)));
    let told = ran.records.iter().filter_map(|record| match record {
        Record::Event(event) if !event.machines.is_empty() => {
            Some((event.time.micros() / 1_000_000, event.kind, event.cause))
        }
        _ => None,
    });
    let (left, joined) = (EventKind::Left, EventKind::Joined);
    let expected = [(500, left, EventCause::Script), (2_060, joined, EventCause::PowerCap)];
    assert_eq!(told.collect::<Vec<_>>(), expected);
}

/// Until a fork at 1500 s seven machines work and three sleep, 1430 W. Then none is to sleep any more, and five may work. What runs goes on; when it ends
/// at 2060 s, five more jobs begin, and two machines wake up beside them, 1460 W. The last would draw 1525 W with them: it wakes up when they end.
#[test]
fn machines_that_sleep_before_a_fork_wake_up_as_there_is_room() {
    let mut spec = site(1, "easy");
    let nodes = MachineGroup { sleep: sleep(10, 125, 100), ..machines(10, 100, 200) };
    spec.partitions[0] = PartitionSpec { groups: vec![nodes], ..PartitionSpec::plain(1) };
    spec.record_machines = true;
    spec.power = "sleep-idle[after=10 s]".parse().expect("a policy");
    spec.cap_power(Some(watts(1_500))).expect("a cap");
    let jobs: Vec<Job> = (1..=12).map(|id| job(id, 1_000, 1, 1_000)).collect();
    let mut on = spec.clone();
    on.power = "always-on".parse().expect("a policy");
    on.cap_power(Some(watts(1_500))).expect("a cap");
    assert_eq!(on.partitions[0].most_in_use, Some(5));
    let records = forked(&spec, &on, &jobs, Time::from_secs(1_500)).expect("it goes on");
    for (at, drawn, _) in draws(&on, records.iter()) {
        assert!(drawn <= 1_500_000, "{drawn} mW at {at}");
    }
    let begins = |from: u64| {
        let at = Time::from_secs(from);
        records.iter().filter(|record| matches!(record, Record::Segment(run) if run.from == at)).count()
    };
    assert_eq!((begins(1_060), begins(2_060)), (7, 5));
    let waking = |record: &Record| match record {
        Record::Machine(row) if row.state == MachineState::Waking && row.time > Time::from_secs(1_500) => {
            Some((row.time.micros() / 1_000_000, row.procs.to_string()))
        }
        _ => None,
    };
    let woken: Vec<(u64, String)> = records.iter().filter_map(waking).collect();
    assert_eq!(woken, [(2_060, "7-8".to_owned()), (3_060, "9".to_owned())]);
}

/// Machines that a job waits for leave while they wake up, twice. It begins on the third, when that is awake, and draws power from then on.
#[test]
fn a_job_whose_machines_leave_while_they_wake_up_draws_what_the_last_do() {
    let mut spec = site(1, "fcfs");
    let of = |class: &str, points: &[u64]| MachineGroup {
        class: class.to_owned(),
        sleep: sleep(0, 0, 0),
        by_load: (!points.is_empty()).then(|| points.iter().copied().map(watts).collect()),
        ..machines(3, 100, 200)
    };
    spec.partitions[0] =
        PartitionSpec { groups: vec![of("any", &[100, 150, 200])], ..PartitionSpec::plain(1) };
    spec.record_machines = true;
    spec.power = "sleep-idle[after=10 s]".parse().expect("a policy");
    let planned = |secs, machine| PlannedChurn {
        at: Time::from_secs(secs),
        act: ChurnAct::Leave(Machines {
            partition: PartitionId(0),
            which: ProcSet::range(machine, machine + 1),
        }),
    };
    // The first would be awake at 160, the second at 180; the third is at 210, when nothing else happens in between.
    spec.churn.script = vec![planned(120, 0), planned(150, 1)];
    let ran = run(&spec, &[job(1, 100, 1, 400)]);
    assert_eq!(ran.times(1), (210, 610));
    let of_job = |record: &Record| match record {
        Record::Segment(run) => Some((run.energy.nanojoules(), run.dynamic.nanojoules())),
        _ => None,
    };
    let drawn: Vec<_> = ran.records.iter().filter_map(of_job).collect();
    assert_eq!(drawn, [(80_000 * 1_000_000_000, 40_000 * 1_000_000_000)]);
}

/// Machines 2 and 3 are a block and sleep. When machine 3 leaves, nobody uses machine 2 either: it sleeps on, and when machine 3 is back the block is
/// given again.
#[test]
fn the_rest_of_an_incomplete_block_sleeps_on() {
    let mut spec = site(1, "easy");
    let nodes = MachineGroup { sleep: sleep(10, 125, 100), ..machines(4, 100, 200) };
    spec.partitions[0] = PartitionSpec { groups: vec![nodes], allocation_unit: 2, ..PartitionSpec::plain(1) };
    spec.record_machines = true;
    spec.power = "sleep-idle[after=10 s]".parse().expect("a policy");
    let last = || Machines { partition: PartitionId(0), which: ProcSet::range(3, 4) };
    let planned = |secs, act| PlannedChurn { at: Time::from_secs(secs), act };
    spec.churn.script = vec![planned(500, ChurnAct::Leave(last())), planned(700, ChurnAct::Join(last()))];
    spec.cap_power(Some(watts(440))).expect("a cap");
    let ran = run(&spec, &[job(1, 600, 2, 400), job(2, 2_000, 2, 100), job(3, 2_000, 2, 100)]);
    check_cap(&spec, ran.records.iter());
    let of_the_third = |record: &Record| match record {
        Record::Machine(row) if row.procs.contains(2) => Some((row.time.micros() / 1_000_000, row.state)),
        _ => None,
    };
    let states: Vec<_> = ran.records.iter().filter_map(of_the_third).collect();
    let (falling, asleep) = (MachineState::Falling, MachineState::Asleep);
    assert_eq!(states, [(10, falling), (16, asleep)], "one block is all that the cap leaves");
    assert_eq!([1, 2, 3].map(|id| ran.times(id)), [(660, 1_060), (2_060, 2_160), (2_160, 2_260)]);
}

/// The records of a site that goes on under another description from an instant on; `None` if it is over before.
fn forked(spec: &SiteSpec, other: &SiteSpec, jobs: &[Job], at: Time) -> Option<Vec<Record>> {
    let registry = Registry::standard();
    let (mut grid, mut records) = (support::grid(&registry, spec, jobs).expect("a grid"), Vec::new());
    grid.run_until(at, &mut records).ok()?;
    let saved: gridemu::grid::GridSave = support::through_bytes(&grid.snapshot().expect("a state"));
    let mut grid = support::grid(&registry, other, jobs).expect("a grid");
    grid.restore(saved, true).expect("it goes on");
    if let Err(error) = grid.run(&mut records) {
        assert!(error.to_string().contains("nothing can happen any more"), "{error}");
    }
    Some(records)
}

/// A site of one partition with machines that come and go, of several classes that draw otherwise, some by load, and that sleep; with other rules for
/// when they sleep.
struct Restless {
    spec: SiteSpec,
    later: SiteSpec,
    jobs: Vec<Job>,
}

impl std::fmt::Debug for Restless {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        support::show(f, &self.spec, &self.jobs)?;
        for group in &self.spec.partitions[0].groups {
            writeln!(f, "  {:?} idle, {:?} busy, {:?}", group.idle, group.busy, group.by_load)?;
        }
        writeln!(f, "  later {}, absent {}", self.later.power, self.spec.partitions[0].absent)?;
        writeln!(f, "  {:?}, {:?}", self.spec.placement, self.spec.churn)
    }
}

fn restless() -> impl Strategy<Value = Restless> {
    let drawn = (churning(variants(), 25), any::<u64>(), support::sleep(), support::sleep());
    drawn.prop_map(|(case, number, sleep, other)| {
        let Churning { mut spec, mut jobs, script } = case;
        // There is no broker.
        jobs.iter_mut().for_each(|job| job.grid = None);
        spec.cap_power(None).expect("no cap");
        let cores = u64::from(spec.partitions[0].cores);
        for (at, group) in spec.partitions[0].groups.iter_mut().enumerate() {
            let [idle, busy] = [group.idle, group.busy].map(Power::milliwatts);
            let more = (busy - idle) * (number >> (4 * at % 60) & 7) / 4;
            group.busy = Power::from_milliwatts(idle + more);
            if number >> (at % 60) & 3 == 1 {
                let points = [idle, idle + more * 9 / 10, idle + more];
                group.by_load = Some(points.map(|core| Power::from_milliwatts(core * cores)).to_vec());
            }
        }
        support::put_to_sleep(&mut spec, sleep.clone());
        for (at, act) in script.acts {
            let some = |which| Machines { partition: PartitionId(0), which };
            let act = match act {
                Act::Leave(which) => ChurnAct::Leave(some(which)),
                Act::Join(which) => ChurnAct::Join(some(which)),
                _ => continue,
            };
            spec.churn.script.push(PlannedChurn { at, act });
        }
        let mut later = spec.clone();
        if sleep.0.is_some() && later.partitions[0].groups[0].sleep.is_some() {
            later.power = other.1;
        }
        Restless { spec, later, jobs }
    })
}

fn without_power(spec: &SiteSpec) -> SiteSpec {
    let mut spec = spec.clone();
    for group in spec.partitions.iter_mut().flat_map(|part| &mut part.groups) {
        (group.idle, group.busy, group.sleep) = (Power::ZERO, Power::ZERO, None);
    }
    spec
}

proptest! {
    #![proptest_config(support::cases(300))]

    /// A site under a cap does what a site does that has only as many processors, each a machine.
    #[test]
    fn a_cap_is_as_good_as_fewer_processors(case in cases(variants(), 25), leaves in 1_u64..100) {
        let Case { spec, jobs, .. } = case;
        let mut capped = support::awake(without_power(&spec));
        capped.partitions.truncate(1);
        capped.reservations.clear();
        (capped.tariff, capped.power_cap) = (Default::default(), None);
        let part = &mut capped.partitions[0];
        let procs = part.processors();
        *part = PartitionSpec { allocation_unit: part.allocation_unit, ..PartitionSpec::plain(procs) };
        part.groups[0].busy = watts(1);
        let jobs: Vec<Job> = jobs.into_iter().map(|job| Job { partition: None, ..job }).collect();
        cap_at(&mut capped, leaves);
        let most = capped.partitions[0].most();
        prop_assume!(most < procs);
        let mut fewer = capped.clone();
        fewer.cap_power(None).expect("none");
        fewer.partitions[0].groups[0].machines = most;
        let told = |spec: &SiteSpec| {
            let ran = support::try_run(&Registry::standard(), spec, &jobs).expect("it runs");
            let job = |id: u64| {
                let job = ran.job(id);
                (id, job.start, job.end, job.outcome, job.procs)
            };
            jobs.iter().map(|of| job(of.id.0)).collect::<Vec<_>>()
        };
        prop_assert_eq!(told(&capped), told(&fewer));
    }

    /// Nothing that is started, wakes up or comes back draws more than the cap, whatever machines do, also after a fork to another power policy and
    /// another cap. Under a lower cap what runs goes on: then nothing may begin later while more is drawn.
    #[test]
    fn what_is_drawn_never_exceeds_the_cap(
        case in restless(), percent in 1_u64..100, change in -60_i64..60, at in 0_u64..120_000_000,
    ) {
        let Restless { mut spec, mut later, jobs } = case;
        cap_at(&mut spec, percent);
        let Some(cap) = spec.power_cap.filter(|_| spec.check().is_ok()) else { return Ok(()) };
        let records_of = |spec: &SiteSpec| {
            let mut grid = support::grid(&Registry::standard(), spec, &jobs).expect("a grid");
            let mut records = Vec::new();
            if let Err(error) = grid.run(&mut records) {
                assert!(error.to_string().contains("nothing can happen any more"), "{error}");
            }
            records
        };
        check_cap(&spec, records_of(&spec).iter());
        let changed = cap.milliwatts() * (100 + change).unsigned_abs() / 100;
        if later.cap_power(Some(Power::from_milliwatts(changed))).is_err() || later.check().is_err() {
            return Ok(());
        }
        let at = Time::from_micros(at);
        let Some(records) = forked(&spec, &later, &jobs, at) else { return Ok(()) };
        let state = later.partitions[0].groups[0].sleep;
        let settled = at + state.map_or(Span::ZERO, |state| state.wake + state.fall);
        let mut begun: BTreeMap<(Origin, u64, u32), Time> = BTreeMap::new();
        for record in &records {
            if let Record::Segment(run) = record {
                begun.entry((run.origin, run.job.0, run.attempt)).or_insert(run.from);
            }
        }
        for (time, drawn, _) in draws(&later, records.iter()) {
            let strictly = change >= 0 || begun.values().any(|begin| *begin == time && time > settled);
            let cap = if time < at { cap.milliwatts() } else { changed };
            prop_assert!(
                drawn <= u128::from(cap) || time >= at && !strictly,
                "{drawn} mW are drawn at {time} under {cap} mW, after {at}"
            );
        }
    }

    /// A cap of all that machines draw, or more, changes nothing.
    #[test]
    fn a_cap_of_all_has_no_effect(case in cases(variants(), 20), percent in 100_u64..150) {
        let mut capped = case.spec.clone();
        capped.cap_power(None).expect("none");
        let ran = |spec: &SiteSpec| support::try_run(&Registry::standard(), spec, &case.jobs).expect("it runs").records;
        let free = ran(&capped);
        cap_at(&mut capped, percent);
        prop_assert_eq!(ran(&capped), free);
    }
}

const SCENARIO: &str = "[[site]]
name = 'delft'
machines = [{ class = 'node', count = 10, idle = '100 W', busy = '200 W' }]
power_cap = '75 %'
workload = { log = 'six.swf' }
";

/// Six jobs of a processor and 100 s.
fn scenario(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let line = |id: u64| format!("{id} 0 -1 100 1 -1 -1 1 100 -1 1 1 1 1 1 1 -1 -1\n");
    let log: String = (1..=6).map(line).collect();
    fs::write(folder.path().join("six.swf"), format!("; MaxProcs: 10\n{log}")).unwrap();
    let file = folder.path().join("grid.toml");
    fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap().to_owned();
    (folder, file)
}

#[test]
fn a_job_is_held_by_the_cap() {
    let (folder, file) = scenario(SCENARIO);
    let out = folder.path().join("out");
    gridemu(&["run", &file, "--out", out.to_str().unwrap()]).well();
    let ran = gridemu(&["explain", out.to_str().unwrap(), "--job", "6"]);
    let told = &ran.well().out;
    let summary: Value = serde_json::from_slice(&fs::read(out.join("summary.json")).unwrap()).unwrap();
    let site = &summary["sites"][0];
    assert_eq!((site["power_cap_w"].as_f64(), site["most_in_use"].as_u64()), (Some(1_500.0), Some(5)));
    for words in ["held by the cap", "keeps back 5 processors more", "the power cap"] {
        assert!(told.contains(words), "{words}: {told}");
    }
}

/// Jobs that are too large because of the cap are told with it, at a single site and at one of several.
#[test]
fn what_the_cap_rejects_is_told() {
    let (folder, file) = scenario(SCENARIO);
    let large = "7 0 -1 100 6 -1 -1 6 100 -1 1 1 1 1 1 1 -1 -1\n";
    let log = fs::read_to_string(folder.path().join("six.swf")).unwrap();
    fs::write(folder.path().join("six.swf"), log + large).unwrap();
    let told = gridemu(&["run", &file, "--json"]).json()["notes"].to_string();
    let note =
        "rejected 1 job that requests more than the 5 of 10 processors that the power cap of 1500 W leaves";
    assert!(told.contains(note), "{told}");
    fs::write(&file, format!("{SCENARIO}\n[[site]]\nname = 'oslo'\nmachines = [{{ class = 'node' }}]\n"))
        .unwrap();
    let told = gridemu(&["run", &file, "--json"]).json()["notes"].to_string();
    assert!(told.contains("site `delft`: its power cap of 1500 W leaves 5 of 10 processors: jobs"), "{told}");
}

#[test]
fn a_cap_below_what_is_idle_is_refused() {
    let check = |cap: &str| {
        let (_folder, file) = scenario(&SCENARIO.replace("75 %", cap));
        let ran = gridemu(&["check", &file]);
        (ran.out.clone(), ran.err.clone())
    };
    let told = check("900 W").1;
    assert!(told.contains("line 4, `site.delft.power_cap`: 900 W leave no power to jobs"), "{told}");
    assert!(told.contains("draw 1000 W without any, and 2000 W at most"), "{told}");
    assert!(check("54.9 %").1.contains("1098 W leave no power"));
    let told = check("2 kW").1;
    assert!(
        told.contains("line 4, `site.delft.power_cap`: it has no effect: the machines draw 2000 W at most"),
        "{told}"
    );
    assert!(check("lots").1.contains("or a percentage such as `60 %`"), "{}", check("lots").1);
    assert!(check("55 %").0.contains("valid") && !check("55 %").1.contains("effect"));
    let sharing = SCENARIO.replace("power_cap", "policy = 'equal-share'\npower_cap");
    let (_folder, file) = scenario(&sharing);
    let told = gridemu(&["check", &file]).err.clone();
    assert!(told.contains("chooses them by number, which a power cap does not support"), "{told}");
}

/// Nine machines have no job. At 60 s the site begins to let them sleep, at 10 W instead of their 100 W, at once.
#[test]
fn a_fork_may_change_when_machines_sleep() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("one.swf"),
        "; MaxProcs: 10\n1 0 -1 1000 1 -1 -1 1 1000 -1 1 1 1 1 1 1 -1 -1\n",
    )
    .unwrap();
    let text = "at_least = '1020 s'\n\n[[site]]\nname = 'a'\npolicy = 'easy'\nworkload = { log = 'one.swf' }\n\
        machines = [{ class = 'n', count = 10, idle = '100 W', busy = '200 W', sleep = { power = '10 W', wake = '10 s', fall = '0 s' } }]\n";
    let file = folder.path().join("run.toml");
    fs::write(&file, text).unwrap();
    let [file, store] = [file, folder.path().join("store")].map(|path| path.to_str().unwrap().to_owned());
    gridemu(&["run", &file, "--checkpoint", &store, "--checkpoint-keep-at", "60 s"]).well();
    let forked = |set: &str| -> (Value, f64) {
        let mut forked: Value = gridemu(&["fork", &store, "--at", "60 s", "--set", set, "--json"]).json();
        let kwh = forked["grid"]["changed"]["energy"]["meter_kwh"].as_f64().unwrap();
        (forked["grid"]["branch"]["changes"].take(), kwh)
    };
    let near = |found: f64, joules: f64| assert!((found * 3.6e6 - joules).abs() < 1e-3, "{found} {joules}");
    let (changes, kwh) = forked("site.a.power_policy=sleep-idle[after=0 s]");
    assert!(changes.to_string().contains("power policy"), "{changes}");
    let until = 60.0 * 900.0;
    // The last machine falls asleep when its job has ended.
    near(kwh, until + 960.0 * 90.0 + 1000.0 * 200.0 + 20.0 * 10.0);
    let (changes, _) = forked("site.a.machines.n.sleep.power=5 W");
    assert!(changes.to_string().contains("sleep state: 5 W asleep"), "{changes}");
}

/// Ten jobs on ten machines. At 60 s the cap falls to 1500 W: what runs goes on, and nothing starts until fewer than five machines are in use.
#[test]
fn a_fork_may_lower_the_cap() {
    let (folder, file) = scenario(&SCENARIO.replace("power_cap = '75 %'\n", ""));
    let log: String = (1..=12)
        .map(|id: u64| {
            let (submit, procs) = if id <= 10 { (0, 1) } else { (60, 16 - id) };
            let runs = 100 + 10 * id.min(10);
            format!("{id} {submit} -1 {runs} {procs} -1 -1 {procs} {runs} -1 1 1 1 1 1 1 -1 -1\n")
        })
        .collect();
    fs::write(folder.path().join("six.swf"), format!("; MaxProcs: 10\n{log}")).unwrap();
    let [store, out] = ["store", "out"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    let whole = folder.path().join("whole").to_str().unwrap().to_owned();
    gridemu(&["run", &file, "--out", &whole, "--checkpoint", &store, "--checkpoint-keep-at", "60 s"]).well();
    let args =
        ["fork", &store, "--at", "60 s", "--set", "site.delft.power_cap=1500 W", "--out", &out, "--json"];
    let forked: Value = gridemu(&args).json();
    let changes = forked["grid"]["branch"]["changes"].to_string();
    assert!(changes.contains("power cap: 1500 W instead of none"), "{changes}");
    let mut rows = csv::Reader::from_path(format!("{out}/changed/jobs.csv")).unwrap();
    let rows: Vec<BTreeMap<String, String>> = rows.deserialize().map(Result::unwrap).collect();
    let start = |id: &str| rows.iter().find(|row| row["job"] == id).unwrap()["start"].parse::<f64>().unwrap();
    // Jobs end at 110, 120, ... 200. Job 11 needs 5, all that may be in use: it starts when the last has ended. Job 12 needs 4, which may be used
    // from 190 on, but it would delay job 11.
    assert_eq!((start("11"), start("12")), (200.0, 400.0));
}
