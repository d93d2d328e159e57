//! Forks worked by hand: the arithmetic stands in the comments.

use gridemu::grid::{Grid, Merge, RunSegment, WindowOptions};
use gridemu::model::{
    ChurnAct, FailureAction, Machines, PartitionId, PlannedChurn, ProcSet, RandomChurn, Sharing,
};
use gridemu::model::{
    Distribution, EventKind, EventRecord, GridContext, GridSpec, Job, Link, Record, SegmentRecord,
};
use gridemu::units::{Bandwidth, Bytes, Power, Price, Span, Time};

use crate::grid::{build, jobs_of, plain};
use crate::support::{job, through_bytes};

fn at(secs: u64) -> Time {
    Time::from_secs(secs)
}

/// Runs `old` for so many seconds, and goes on as `new`.
fn run(old: &GridSpec, new: &GridSpec, secs: u64, jobs: Vec<Job>) -> (Vec<Record>, Grid) {
    let (mut grid, mut records) = (build(old, jobs.clone()), Vec::new());
    let mut merge = Merge::new(grid.nodes().len());
    let options = WindowOptions::default();
    let segment = grid.run_segment(None, Some(at(secs)), options, &mut merge, &mut records).expect("it runs");
    assert_eq!(segment, RunSegment::Barrier(at(secs)));
    let saved = through_bytes(&grid.snapshot().expect("a state"));
    let mut fork = build(new, jobs);
    fork.restore(saved, true).expect("it goes on");
    fork.run_segment(None, None, WindowOptions::default(), &mut merge, &mut records).expect("it runs");
    fork.finish_run(None, &mut merge, &mut records).expect("it ends");
    (records, fork)
}

/// Number, first start, end in seconds, and attempts of each job.
fn times(records: &[Record]) -> Vec<(u64, u64, u64, u32)> {
    let secs = |time: Time| time.micros() / 1_000_000;
    let told = jobs_of(records).into_iter();
    told.map(|job| (job.id.0, secs(job.start.expect("it started")), secs(job.end), job.attempts)).collect()
}

fn segments(records: &[Record]) -> Vec<&SegmentRecord> {
    let told = records.iter().filter_map(|record| match record {
        Record::Segment(segment) => Some(segment),
        _ => None,
    });
    told.collect()
}

fn events(records: &[Record], kind: EventKind) -> Vec<&EventRecord> {
    let told = records.iter().filter_map(|record| match record {
        Record::Event(event) if event.kind == kind => Some(event),
        _ => None,
    });
    told.collect()
}

/// So many W idle and busy, so many cents a processor-second.
fn priced(spec: &GridSpec, idle: u64, busy: u64, cents: u64) -> GridSpec {
    let mut spec = spec.clone();
    let part = &mut spec.sites[0].partitions[0];
    (part.groups[0].idle, part.groups[0].busy) =
        (Power::from_milliwatts(idle * 1_000), Power::from_milliwatts(busy * 1_000));
    part.groups[0].price = Price::from_nanos(36_000_000_000 * cents);
    spec
}

/// Under conservative backfilling job 1 says 20 s and takes 30 s; nothing happens in between. At 29.5 s it is overdue, but the
/// plan of who goes on must not be another than that of who was never stopped: job 2 comes at 30 s and starts at once.
#[test]
fn an_overdue_job_is_in_no_plan_of_before() {
    let mut spec = plain(&[4], "mct", 0, 1_000);
    spec.sites[0].policy = "conservative".parse().expect("a policy");
    spec.sites[0].overrun = true;
    let jobs = vec![job(1, 0, 4, 30).estimated(Span::from_secs(20)), job(2, 30, 4, 10)];
    let (mut grid, mut records) = (build(&spec, jobs.clone()), Vec::new());
    let mut merge = Merge::new(grid.nodes().len());
    let cut = Some(Time::from_micros(29_500_000));
    grid.run_segment(None, cut, WindowOptions::default(), &mut merge, &mut records).expect("it runs");
    let mut resumed = build(&spec, jobs);
    resumed.restore(through_bytes(&grid.snapshot().expect("a state")), false).expect("it goes on");
    resumed.run_to(None, WindowOptions::default(), &mut records).expect("it runs");
    assert_eq!(times(&records), [(1, 0, 30, 1), (2, 30, 40, 1)]);
}

/// One processor, a job from 0 to 100 s, accounts closed at 120 s. Until 40 s it costs 1 cent and 30 W, then 3 cents and 50 W: 40 +
/// 60 · 3 = 220 cents and 1,200 + 3,000 = 4,200 J. Idle are the last 20 s, at 20 W: 400 J.
#[test]
fn what_was_used_before_is_charged_as_it_was() {
    let spec = plain(&[1], "mct", 0, 10);
    let (old, new) = (priced(&spec, 10, 30, 1), priced(&spec, 20, 50, 3));
    let (records, grid) = run(&old, &new, 40, vec![job(1, 0, 1, 100)]);
    let told = segments(&records);
    let spans: Vec<_> = told.iter().map(|s| (s.from, s.to, s.cost.nanos(), s.energy.nanojoules())).collect();
    let (cent, joule) = (10_000_000_i128, 1_000_000_000_u128);
    assert_eq!(
        spans,
        [(at(0), at(40), 40 * cent, 1_200 * joule), (at(40), at(100), 180 * cent, 3_000 * joule)]
    );
    let job = jobs_of(&records)[0];
    assert_eq!((job.cost.nanos(), job.energy.nanojoules()), (220 * cent, 4_200 * joule));
    let usage = grid.sites().next().expect("a site").partitions()[0].usage();
    assert_eq!((usage.cost.nanos(), usage.job_energy().nanojoules()), (220 * cent, 4_200 * joule));
    assert_eq!((usage.meter().nanojoules(), usage.to), (4_600 * joule, at(120)));
}

/// Electricity at 36 for a kWh, which is 1 for 100,000 J, and from 40 s on at twice that: 1,200 J cost 0.012, and what comes
/// after, 60 · 30 + 20 · 10 = 2,000 J, costs 0.04.
#[test]
fn so_is_electricity() {
    use gridemu::units::EnergyPrice;
    let mut old = priced(&plain(&[1], "mct", 0, 10), 10, 30, 1);
    old.sites[0].tariff.electricity = Some(EnergyPrice::from_nanos(36_000_000_000).into());
    let mut new = old.clone();
    new.sites[0].tariff.electricity = Some(EnergyPrice::from_nanos(72_000_000_000).into());
    let (_, grid) = run(&old, &new, 40, vec![job(1, 0, 1, 100)]);
    let usage = grid.sites().next().expect("a site").partitions()[0].usage();
    assert_eq!(usage.electricity.map(|paid| paid.nanos()), Some(52_000_000));
    // Twice changed, the same: 20 s at the first price, 20 s at the second as before.
    let (_, grid) = run(&old, &old, 40, vec![job(1, 0, 1, 100)]);
    let usage = grid.sites().next().expect("a site").partitions()[0].usage();
    assert_eq!(usage.electricity.map(|paid| paid.nanos()), Some(32_000_000));
}

/// Two jobs of 100 s share a processor; at 40 s each has done 20 s. From then on nobody shares: the first has the processor to
/// itself for the 80 s that are left, and the second waits until 120 s for its own 80 s.
#[test]
fn who_shared_waits_with_what_it_has_done() {
    let mut old = plain(&[1], "mct", 0, 10);
    let new = priced(&old, 0, 10, 1);
    old = priced(&old, 0, 10, 1);
    old.sites[0].policy = "equal-share".parse().expect("a policy");
    let (records, grid) = run(&old, &new, 40, vec![job(1, 0, 1, 100), job(2, 0, 1, 100)]);
    assert_eq!(times(&records), [(1, 0, 120, 1), (2, 0, 200, 2)]);
    let taken_off = events(&records, EventKind::Requeued);
    assert_eq!(taken_off.len(), 1);
    assert_eq!((taken_off[0].time, taken_off[0].wasted), (at(40), 0));
    // 100 processor-seconds each, at a cent.
    let costs: Vec<i128> = jobs_of(&records).iter().map(|job| job.cost.nanos()).collect();
    assert_eq!(costs, [1_000_000_000, 1_000_000_000]);
    let usage = grid.sites().next().expect("a site").partitions()[0].usage();
    assert_eq!(usage.wasted, 0);
}

/// The other way round, a second job that waited shares from 40 s on: the first has 60 s left and the second 100 s. Both at
/// half, so that the first ends at 160 s, and the second, which has 40 s left then, at 200 s.
#[test]
fn who_waited_shares() {
    let old = plain(&[1], "mct", 0, 10);
    let mut new = old.clone();
    new.sites[0].policy = "equal-share".parse().expect("a policy");
    let (records, _) = run(&old, &new, 40, vec![job(1, 0, 1, 100), job(2, 0, 1, 100)]);
    assert_eq!(times(&records), [(1, 0, 160, 1), (2, 40, 200, 1)]);
}

/// 1 MB at 1 Mb/s takes 8 s. After 4 s half of it is left, which takes 0.5 s at 8 Mb/s, and nothing where there is no limit. The
/// latency of a second is that of the link it has passed.
#[test]
fn data_on_its_way_takes_the_new_link() {
    let mut carried = job(1, 0, 1, 10);
    let input = Bytes::new(1_000_000);
    carried.grid = Some(Box::new(GridContext { input, ..GridContext::default() }));
    let mut old = plain(&[1], "mct", 1, 10);
    let link = |mbits: Option<u64>, latency| Link {
        latency: Span::from_secs(latency),
        bandwidth: mbits.map(|mbits| Bandwidth::from_bits(mbits * 1_000_000)),
    };
    old.network.set(0, 1, link(Some(1), 1));
    for (new_link, arrives) in [
        (link(Some(1), 1), 9_000_000),
        (link(Some(8), 1), 5_500_000),
        (link(None, 1), 5_000_000),
        (link(None, 3), 7_000_000),
        (link(Some(4), 0), 5_000_000),
    ] {
        let mut new = old.clone();
        new.network.set(0, 1, new_link);
        let (records, _) = run(&old, &new, 4, vec![carried.clone()]);
        let staged = segments(&records)[0];
        assert_eq!((staged.from, staged.to.micros()), (at(0), arrives), "{new_link:?}");
    }
}

/// Two transfers of 1 MB at 1 Mb/s together have 0.5 Mb/s each; after 4 s 6 Mb of each are left. Alone on an unshared link that takes
/// 6 s; with uplinks of 0.75 Mb/s 16 s, at the portal or, where both go, at the site. All arrive a second later.
#[test]
fn data_on_its_way_is_shared_as_the_new_network_says() {
    let jobs: Vec<Job> = [1, 2]
        .map(|id| {
            let mut carried = job(id, 0, 1, 10);
            let input = Bytes::new(1_000_000);
            carried.grid = Some(Box::new(GridContext { input, ..GridContext::default() }));
            carried
        })
        .into();
    let mbits = |thousands: u64| Some(Bandwidth::from_bits(thousands * 1_000));
    let mut old = plain(&[2], "mct", 1, 10);
    old.network.set(0, 1, Link { latency: Span::from_secs(1), bandwidth: mbits(1_000) });
    let narrow = [vec![mbits(750)], vec![None, mbits(750)]];
    let mut unshared = old.clone();
    unshared.network.sharing = Sharing::Unshared;
    let mut cases = vec![(old.clone(), old.clone(), 17), (old.clone(), unshared, 11)];
    for uplinks in narrow {
        let mut new = old.clone();
        new.network.uplinks = uplinks;
        cases.push((old.clone(), new.clone(), 21));
        // The other way round: 0.375 Mb/s each for 4 s leave 6.5 Mb, which take 13 s.
        cases.push((new, old.clone(), 18));
    }
    for (old, new, arrives) in cases {
        let (records, _) = run(&old, &new, 4, jobs.clone());
        let staged: Vec<u64> = segments(&records).iter().take(2).map(|segment| segment.to.micros()).collect();
        assert_eq!(staged, [arrives * 1_000_000; 2], "{:?} to {:?}", old.network, new.network);
    }
}

/// One place at a site of four processors: the others are held back. Without the limit they go at 20 s.
#[test]
fn who_was_held_back_goes() {
    let mut old = plain(&[4], "mct", 0, 10);
    let new = old.clone();
    old.broker.as_mut().expect("a broker").in_flight = Some(1);
    let jobs = vec![job(1, 0, 1, 100), job(2, 0, 1, 100), job(3, 0, 1, 100)];
    let (records, _) = run(&old, &new, 20, jobs);
    assert_eq!(times(&records), [(1, 0, 100, 1), (2, 20, 120, 1), (3, 20, 120, 1)]);
}

fn by_chance(up: u64, down: u64) -> Option<RandomChurn> {
    let law = |secs| Distribution::Exponential { mean: Span::from_secs(secs) };
    Some(RandomChurn { up: law(up), down: law(down) })
}

/// From then on, and not before; and when it ceases everybody comes back and stays.
#[test]
fn churn_begins_and_ceases() {
    let calm = plain(&[8], "mct", 0, 10);
    let mut wild = calm.clone();
    wild.sites[0].churn.random = by_chance(60, 30);
    let jobs = || vec![job(1, 0, 1, 10), job(2, 900, 1, 10)];
    let (records, _) = run(&calm, &wild, 300, jobs());
    let left = events(&records, EventKind::Left);
    assert!(left.len() > 20 && left.iter().all(|event| event.time > at(300)), "{}", left.len());
    let (records, grid) = run(&wild, &calm, 300, jobs());
    let (left, joined) = (events(&records, EventKind::Left), events(&records, EventKind::Joined));
    assert!(left.len() > 10 && left.iter().all(|event| event.time < at(300)), "{}", left.len());
    assert!(joined.iter().any(|event| event.time > at(300)), "those who were away come back");
    assert_eq!(grid.sites().next().expect("a site").partitions()[0].present(), 8);
}

/// A script is played from the fork on, and what a machine's leaving means is what it means then.
#[test]
fn a_script_goes_on_as_another() {
    let mut old = plain(&[1], "mct", 0, 10);
    let act = |secs, act| PlannedChurn { at: at(secs), act };
    let all = Machines { partition: PartitionId(0), which: ProcSet::full(1) };
    old.sites[0].churn.script =
        vec![act(10, ChurnAct::Leave(all.clone())), act(20, ChurnAct::Join(all.clone()))];
    let mut new = old.clone();
    new.sites[0].churn.script.extend([act(50, ChurnAct::Leave(all.clone())), act(60, ChurnAct::Join(all))]);
    new.sites[0].churn.on_failure = FailureAction::Wait;
    // Loses 10 s, begins anew at 20, has done 30 s at 50, stands still until 60 and ends at 130.
    let (records, _) = run(&old, &new, 40, vec![job(1, 0, 1, 100)]);
    assert_eq!(times(&records), [(1, 0, 130, 2)]);
}

/// Sites that ask for nothing begin to when the broker pulls, without waiting for anything else to happen.
#[test]
fn a_broker_that_pulls_takes_over() {
    let mut old = plain(&[1], "mct", 0, 0);
    old.broker.as_mut().expect("a broker").monitoring_interval = Span::ZERO;
    let mut new = old.clone();
    new.broker.as_mut().expect("a broker").policy = "pull".parse().expect("a policy");
    let (records, _) = run(&old, &new, 20, vec![job(1, 0, 1, 10), job(2, 30, 1, 10)]);
    assert_eq!(times(&records), [(1, 0, 10, 1), (2, 30, 40, 1)]);
}
