//! A snapshot from an earlier build, stored in `tests/it/data`, can still be read and continues to the same end.
//!
//! If one of these tests fails, the layout of saved states has changed. Raise the version of the kind of entity in
//! `src/grid/save.rs`, either read the older layout there or refuse it, add a line to CHANGELOG.md, and write the snapshot again:
//! `GRIDEMU_BLESS=1 cargo test --test it saved_before`.

use std::path::PathBuf;

use gridemu::entity::ToSite;
use gridemu::grid::{Command, Grid, GridSave, Merge, Policies, RunSegment, WindowOptions};
use gridemu::metrics::Fingerprint;
use gridemu::model::{
    BrokerSpec, CheckpointInterval, Checkpointing, ChurnAct, Distribution, FailureAction, GridSpec,
    GroupFailures, GroupSize, Job, JobId, Link, Machines, NetworkSpec, PartitionId, PlannedChurn,
    Predecessor, ProcSet, RandomChurn, Record, Replan, Reservation, SiteId, SiteSpec,
};
use gridemu::units::{Bandwidth, Bytes, EnergyPrice, Power, Price, Rate, Span, Time};
use gridemu::workload::poisson::Poisson;
use gridemu::workload::{Carrying, Feedback, Jobs, Merged, Source};

fn secs(secs: u64) -> Span {
    Span::from_secs(secs)
}

fn at(secs: u64) -> Time {
    Time::from_secs(secs)
}

fn machines(range: std::ops::Range<u32>) -> Machines {
    Machines { partition: PartitionId(0), which: ProcSet::range(range.start, range.end) }
}

/// Three sites that have a little of everything between them.
fn spec() -> GridSpec {
    let site =
        |name: &str, procs, policy: &str| SiteSpec::plain(name, procs, policy.parse().expect("a policy"));
    let mut ada = site("ada", 8, "conservative");
    (ada.partitions[0].groups[0].machines, ada.partitions[0].cores, ada.partitions[0].allocation_unit) =
        (8, 2, 2);
    (ada.partitions[0].groups[0].idle, ada.partitions[0].groups[0].busy) =
        (Power::from_milliwatts(40_000), Power::from_milliwatts(95_000));
    ada.partitions[0].groups[0].price = Price::from_nanos(50_000_000);
    ada.overrun = true;
    let law = |mean| Distribution::Exponential { mean: secs(mean) };
    ada.churn.random = Some(RandomChurn { up: law(600), down: law(60) });
    ada.churn.groups = Some(GroupFailures {
        every: law(400),
        size: GroupSize::Geometric { mean: 2_000_000 },
        window: secs(40),
        down: law(80),
        notice: secs(0),
    });
    ada.churn.on_failure = FailureAction::Resubmit;
    ada.churn.checkpoint =
        Some(Checkpointing { interval: CheckpointInterval::Every(secs(20)), cost: secs(1) });
    ada.tariff.price_by_hour = "0-1=2,1-9=0.5".parse().ok();
    (ada.tariff.electricity, ada.tariff.starts_at) =
        (Some(EnergyPrice::from_nanos(150_000_000).into()), secs(3_300));
    ada.tariff.electricity_by_hour = "0-1=1.5".parse().ok();

    let mut bob = site("bob", 6, "equal-share");
    bob.churn.script = vec![
        PlannedChurn { at: at(250), act: ChurnAct::Leave(machines(0..2)) },
        PlannedChurn { at: at(450), act: ChurnAct::Join(machines(0..2)) },
    ];
    bob.churn.on_failure = FailureAction::Wait;

    let mut eve = site("eve", 10, "easy");
    eve.partitions
        .push(gridemu::model::PartitionSpec { name: "small".to_owned(), ..eve.partitions[0].clone() });
    (eve.partitions[1].groups[0].class, eve.partitions[1].groups[0].machines) = ("small".to_owned(), 3);
    let booked = |name: &str, from, to| Reservation {
        name: name.to_owned(),
        start: at(from),
        end: at(to),
        procs: 4,
        job: None,
    };
    eve.reservations = vec![(0, booked("now", 260, 700)), (0, booked("later", 900, 1_000))];
    let slow = ChurnAct::Slow { machines: machines(4..6), factor: Rate::ratio(1, 2) };
    eve.churn.script = vec![PlannedChurn { at: at(200), act: slow }];

    let link = |micros, bits| Link {
        latency: Span::from_micros(micros),
        bandwidth: Some(Bandwidth::from_bits(bits)),
    };
    let mut network = NetworkSpec::uniform(link(500_000, 2_000_000));
    network.set(0, 2, link(20_000, 400_000));
    let broker = BrokerSpec {
        monitoring_interval: secs(30),
        replan: Replan::OnChurn,
        recall_queued: true,
        in_flight: Some(7),
        overhead: Span::from_micros(300_000),
        ..BrokerSpec::new("round-robin".parse().expect("a policy"))
    };
    GridSpec { seed: 11, sites: vec![ada, bob, eve], network, broker: Some(broker) }
}

fn grid() -> Grid {
    let poisson = |written: &str, entity: &str| -> Box<dyn Source> {
        Box::new(Poisson::new(written.parse().expect("a generator"), 11, entity).expect("a generator"))
    };
    let follows = |id: u64| {
        let mut job = Job::rigid(id, at(id * 40), 4, secs(70)).estimated(secs(60));
        job.after = (id > 1).then(|| Predecessor { job: JobId(id - 1), think: secs(5) });
        job
    };
    let ada: Box<dyn Source> = Box::new(Feedback::new(Box::new(Jobs::new((1..20).map(follows).collect()))));
    let bob = poisson("poisson[jobs=40,every=15 s,size=1..3,runtime=exponential[mean=40 s]]", "bob");
    let first = poisson("poisson[jobs=80,every=6 s,size=1..4,runtime=exponential[mean=50 s]]", "portal");
    let second = poisson("poisson[jobs=30,every=20 s,size=2..9,runtime=1 min]", "portal/2");
    let carried = Carrying::new(second, Bytes::new(300_000), Bytes::new(100_000));
    let portal: Box<dyn Source> = Box::new(Merged::new(vec![first, Box::new(carried)]));
    let policies = Policies::standard();
    Grid::build(&spec(), vec![Some(ada), Some(bob), None], Some(portal), &policies).expect("a grid")
}

const CUT: u64 = 333;

/// The grid in the middle of its run.
fn in_the_middle() -> Grid {
    let (mut grid, mut merge) = (grid(), Merge::new(8));
    let leave = ToSite::Churn(ChurnAct::LeaveSite);
    grid.command(Command { at: at(800), site: SiteId(1), body: leave }).expect("it is to come");
    let segment =
        grid.run_segment(None, Some(at(CUT)), WindowOptions::default(), &mut merge, &mut Vec::new());
    assert_eq!(segment.expect("it runs"), RunSegment::Barrier(at(CUT)));
    assert_eq!(merge.waiting(), 0, "what comes is the rest, and all of it");
    grid
}

/// How it goes on: hash and number of the records to come.
fn rest(mut grid: Grid) -> String {
    let mut records: Vec<Record> = Vec::new();
    let ended = grid.run_to(Some(at(3_600)), WindowOptions::default(), &mut records);
    ended.expect("it ends");
    let mut fingerprint = Fingerprint::new();
    records.iter().for_each(|record| fingerprint.add(record));
    format!("{fingerprint} of {} records until {} s\n", records.len(), grid.now())
}

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/data").join(name)
}

#[test]
fn a_snapshot_of_today_is_read_and_goes_on() {
    let (snapshot, told) = (data("grid.snapshot"), data("grid.snapshot.rest"));
    let stood = in_the_middle();
    let held = stood.sites().map(gridemu::entity::Site::live).collect::<Vec<_>>();
    assert!(held.iter().all(|live| *live > 2), "something is everywhere: {held:?}");
    assert!(
        stood.broker().expect("a broker").waiting().count()
            + stood.dispatcher().map_or(0, |d| d.at_site(SiteId(1)) as usize)
            > 0
    );
    #[expect(clippy::disallowed_methods, reason = "whoever changes a layout asks for it")]
    let bless = std::env::var_os("GRIDEMU_BLESS").is_some();
    if bless {
        let saved = stood.snapshot().expect("a state");
        std::fs::write(&snapshot, postcard::to_stdvec(&saved).expect("bytes")).expect("it is written");
        std::fs::write(&told, rest(in_the_middle())).expect("it is written");
    }
    let bytes = std::fs::read(&snapshot).expect("it is there");
    let saved: GridSave = postcard::from_bytes(&bytes).expect("its frame is read");
    let mut grid = grid();
    grid.restore(saved.clone(), false).unwrap_or_else(|error| panic!("{error}; see the top of this file"));
    let now = grid.snapshot().expect("a state");
    assert!(now == saved, "it is written in another way than before; see the top of this file");
    assert_eq!(rest(grid), std::fs::read_to_string(&told).expect("it is there"), "it goes on in another way");
    assert_eq!(rest(stood), std::fs::read_to_string(&told).expect("it is there"), "nobody stopped here");
}

/// A snapshot with other versions, or with bytes that are none, is refused, saying whose they are and what to do.
#[test]
fn what_cannot_be_read_is_refused_by_name() {
    let bytes = postcard::to_stdvec(&in_the_middle().snapshot().expect("a state")).expect("bytes");
    let refused = |bytes: &[u8]| {
        let saved: GridSave = postcard::from_bytes(bytes).expect("its frame is read");
        grid().restore(saved, false).expect_err("it does not fit").to_string()
    };
    // Version, description, moment and sequence, then the number of entities; each begins with its kind and its version.
    let frame = postcard::to_stdvec(&(3_u32, 0_u128)).expect("bytes").len();
    assert_eq!(bytes[0], 3, "the version of the frame");
    let first = bytes[frame..].windows(4).position(|four| four[0] == 8 && four[1] == 5 && four[2] == 21);
    let first = bytes.len() - bytes[frame..].len() + first.expect("eight entities, the first is a site") + 2;
    let mut newer = bytes.clone();
    newer[first] = 22;
    let told = refused(&newer);
    assert!(
        told.contains("site `ada`") && told.contains("layout 22 of a site, which a newer gridemu wrote"),
        "{told}"
    );
    let mut older = bytes.clone();
    older[first] = 0;
    assert!(refused(&older).contains("which an older gridemu wrote"), "{}", refused(&older));
    let mut another = bytes.clone();
    (another[first - 1], another[first]) = (1, 2);
    assert!(refused(&another).contains("site `ada`"), "{}", refused(&another));
}
