//! Invariants of every policy on every site: random grids, the schedule checker, and runs that are interrupted, repeated and
//! resumed.

use std::collections::BTreeMap;

use gridemu::entity::ToSite;
use gridemu::grid::{Grid, GridSave};
use gridemu::local::policies::{Compress, Conservative};
use gridemu::local::{Abilities, Action, Actions, Change, LocalPolicy, PolicyInfo, Registry, View};
use gridemu::model::{
    Elastic, ElasticCommand, Equipment, InstantOrder, Job, JobId, MachineGroup, PartitionSpec, Record,
    Reservation, SiteId, SiteSpec, SiteTariff, SleepSpec, Speedup, WorkloadId,
};
use gridemu::units::{EnergyPrice, Power, Price, Rate, Span, Time};
use gridemu::workload::{Jobs, Source};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::support::{self, Law, Ran, With, check, command, day_rates, job, try_run};

/// Every policy of the registry, with its parameters' choices.
pub(crate) fn variants() -> Vec<String> {
    let mut all = Vec::new();
    for name in Registry::standard().names() {
        all.push(name.to_owned());
        let choices: &[&str] = match name {
            "easy" => &["order=sjf", "order=ljf", "order=saf", "order=lxf"],
            "los" => &["lookahead=1", "shadow=by", "cs=2,dedicated=reserve"],
            "delayed-los" => &["cs=0", "cs=1", "cs=1000"],
            "hybrid-los" => &["cs=0", "cs=1"],
            "conservative" => &["compress=start", "compress=none"],
            "equal-share" => &["mpl=1", "mpl=3", "mpl=5"],
            "scojo" => &[
                "level=1",
                "level=1,order=fcfs",
                "level=3,order=fcfs,backfill=false,age_every=none",
                "level=3,slots=40%/40%/20%,slowdown=1.3,age_every=20 s,lookahead=3",
                "level=5,compensate=true,share=10%,classes=5 s/10 s/20 s,age_every=3 s,most=1.4",
                "share=50%/40%/30%/20%,classes=5 s/10 s/20 s,slowdown=0.8",
            ],
            "gang" => &[
                "variant=pri-b-fa,level=3,slice=none,classes=5 s/20 s,age_every=9 s",
                "variant=fcfs-eb-wa,level=2,slice=3 s,switch=40 ms,reconfigure=10 s,alternate=true,fit=best",
                "variant=pri-easy-wa-fa,level=1,slice=none,reconfigure=7 s,lookahead=3",
                "variant=fcfs-b,level=1,slice=none",
                "variant=pri-wa,unify=true,alternate=true,resizes=event,reconfigure=5 s,passes=event",
            ],
            "adaptive-scojo" => &["classes=5 s/20 s,slice=1 s,reconfigure=10 s"],
            // With a factor of 1, jobs that take years, as absurd checkpoints make them, would take turns for years.
            "ss" => &[
                "every=1 s",
                "every=2 s,restart=anywhere",
                "factor=1.05,every=500 ms,width=none,placement=away",
                "factor=1.2,every=3 s,min_gain=-2,compare=at-least",
            ],
            "tss" => &["factor=1.1,every=2 s,limit=1.2"],
            "is" => &["quantum=3 s,placement=away", "quantum=0 s,drop=last,restart=anywhere"],
            "scojo-pect" => &[
                "classes=5 s/20 s,shares=20%/30%/50%,cycle=30 s,floor=3 s,switch=1 s",
                "classes=2 s/10 s,shares=0%/0%/100%,cycle=12 s,floor=4 s,switch=2 s,backfill=easy,lookahead=3",
                "classes=5 s/20 s,cycle=60 s,floor=10 s,switch=500 ms,smart=false",
                "classes=5 s/20 s,shares=20%/30%/50%,cycle=30 s,floor=3 s,switch=1 s,order=dds-lxf-dynb",
                "classes=5 s/20 s,shares=20%/30%/50%,cycle=30 s,floor=3 s,switch=0 s,shares_by_hour=0-1=40%/30%/30%",
            ],
            "scojo-pect-groups" => &[
                "classes=5 s/20 s,shares=20%/30%/50%,cycle=30 s,floor=3 s,switch=1 s,least=2/2,most=4/5,size=0.2/0.2,work=0/0,runtime=5 s/20 s,wide=20%/30%,first=1/3,orders=20",
                "classes=2 s/10 s,shares=20%/30%/50%,cycle=12 s,floor=4 s,switch=2 s,backfill=easy,least=1/1,most=3/6,size=0/0,work=0/0,first=1/2,search=dds,orders=9,bound=least,fixed=true,plan_backfill=false,dynamic=false,per_node=50 ms,again=1.1",
                "classes=5 s/20 s,cycle=60 s,floor=10 s,switch=500 ms,smart=false,least=2/1,most=2/2,size=0.1/0.1,work=0.1/0.1,runtime=1 s/1 s,second=false,choice=printed,shift=none,bound=none,again=1",
                "classes=5 s/20 s,shares=20%/30%/50%,cycle=30 s,floor=3 s,switch=0 s,least=2/2,most=4/5,size=0.2/0.2,work=0/0,runtime=5 s/20 s,wide=20%/30%,first=1/3,orders=20",
            ],
            "discrepancy" => &[
                "nodes=3,order=sjf",
                "search=lds,nodes=60,lookahead=4",
                "search=ilds,order=fcfs,bound=20 s,prune=false",
                "search=dfs,nodes=40,lookahead=6",
            ],
            _ => &[],
        };
        all.extend(choices.iter().map(|choice| format!("{name}[{choice}]")));
    }
    all
}

fn law(spec: &SiteSpec) -> Law {
    let (_, abilities) = Registry::standard().build(&spec.policy).expect("it is a policy");
    Law {
        multiprogramming_level: abilities.multiprogramming_level,
        gaps: abilities.preempts,
        slows: abilities.slows,
        ..Law::default()
    }
}

#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) spec: SiteSpec,
    pub(crate) jobs: Vec<Job>,
    /// Cancels: when, and which job.
    pub(crate) cancels: Vec<(Time, JobId)>,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        support::show(f, &self.spec, &self.jobs)?;
        for (time, id) in &self.cancels {
            writeln!(f, "  cancel {id} at {time}")?;
        }
        Ok(())
    }
}

fn partition() -> impl Strategy<Value = PartitionSpec> {
    let speed = prop_oneof![
        3 => Just(Rate::FULL),
        1 => Just(Rate::ratio(2, 1)),
        1 => (1_u64..300, 1_u64..100).prop_map(|(num, den)| Rate::ratio(num, den)),
    ];
    let allocation_unit = prop_oneof![3 => Just(1_u32), 1 => 2_u32..5];
    let power = (0_u64..90_000, 0_u64..200_000);
    (3_u32..9, 1_u32..5, speed, allocation_unit, power, 0_u64..5_000_000_000).prop_map(
        |(machines, cores, speed, allocation_unit, (idle, more), price)| PartitionSpec {
            name: "part".to_owned(),
            groups: vec![MachineGroup {
                class: "part".to_owned(),
                machines,
                speed,
                idle: Power::from_milliwatts(idle),
                busy: Power::from_milliwatts(idle + more),
                price: Price::from_nanos(price),
                equipment: Equipment::default(),
                sleep: None,
                by_load: None,
                embodied: None,
            }],
            absent: 0,
            cores,
            allocation_unit: allocation_unit.min(machines * cores),
            most_in_use: None,
            power_part: None,
        },
    )
}

fn size(job: Job, kind: u8, less: u32, more: u32, serial_ppm: u32) -> Job {
    let preferred = job.size.preferred();
    let (min, max) = (preferred.saturating_sub(less).max(1), preferred + more);
    let speedup = if serial_ppm == 0 { Speedup::Linear } else { Speedup::Amdahl { serial_ppm } };
    match kind {
        0 => job.moldable(min, max, speedup),
        1 => job.malleable(min, max, speedup),
        _ => job,
    }
}

/// Flat prices or prices by the hour, with or without a price of electricity; an hour ends while the jobs run.
fn tariff() -> impl Strategy<Value = SiteTariff> {
    let day = || prop_oneof![1 => Just(None), 2 => vec(0_u16..=10_000, 24).prop_map(Some)];
    let electricity = prop_oneof![1 => Just(None), 2 => (0_u64..5_000_000_000).prop_map(Some)];
    (day(), electricity, day(), 1_u64..=24, 1_u64..200_000_000).prop_map(
        |(price, electricity, by_hour, hour, before)| {
            let rates = |day: Vec<u16>| day_rates(&day);
            SiteTariff {
                price_by_hour: price.map(rates),
                electricity: electricity.map(|nanos| EnergyPrice::from_nanos(nanos).into()),
                electricity_by_hour: by_hour.filter(|_| electricity.is_some()).map(rates),
                starts_at: Span::from_micros(hour * 3_600_000_000 - before),
                ..SiteTariff::default()
            }
        },
    )
}

type Raw = (u64, u32, u64, i64, (u8, u32, u32, u32), (Option<u32>, Option<u64>, Vec<(u64, u8, u64)>));

/// Jobs of all kinds; some too large for any partition, some for a partition that is not there, some of no length, with
/// times in fractions of seconds.
pub(crate) fn jobs(most: usize) -> impl Strategy<Value = Vec<Job>> {
    let gap =
        prop_oneof![4 => Just(0_u64), 4 => (0_u64..6).prop_map(|s| s * 1_000_000), 2 => 0_u64..9_000_000];
    let runtime = prop_oneof![
        1 => Just(0_u64),
        6 => (1_u64..30).prop_map(|s| s * 1_000_000),
        3 => 1_u64..90_000_000,
    ];
    let error = prop_oneof![3 => Just(0_i64), 3 => 1_i64..40_000_000, 2 => -20_000_000_i64..0];
    let procs = prop_oneof![20 => 1_u32..9, 8 => 1_u32..30, 1 => 30_u32..200];
    let kind = (0_u8..8, 0_u32..6, 0_u32..6, prop_oneof![Just(0_u32), 1_u32..300_000]);
    let to = prop_oneof![40 => Just(None), 1 => Just(Some(7)), 10 => (0_u32..2).prop_map(Some)];
    // Seconds from its submission, and five more, to the start that a dedicated job asks for.
    let asks = prop_oneof![5 => Just(None), 1 => (0_u64..60).prop_map(Some)];
    // Elastic commands: how long after the one before (the first: after its submission), of what kind, by how much.
    let command = (prop_oneof![Just(0_u64), 0_u64..20_000_000], 0_u8..4, 0_u64..25_000_000);
    let commands = prop_oneof![3 => Just(Vec::new()), 1 => vec(command, 1..4)];
    vec((gap, procs, runtime, error, kind, (to, asks, commands)), 0..most).prop_map(|raw| {
        let mut submit = 0;
        let build = |(at, raw): (usize, Raw)| {
            let (gap, procs, runtime, error, (kind, less, more, serial), (to, asks, commands)) = raw;
            submit += gap;
            let job = job(1 + at as u64, 0, procs, 0);
            let mut job = size(job, kind, less, more, serial);
            job.submit = Time::from_micros(submit);
            job.runtime = Span::from_micros(runtime);
            job.estimate = Span::from_micros(runtime.saturating_add_signed(error));
            job.partition = to.map(gridemu::model::PartitionId);
            let start = |lead: u64| Time::from_micros((submit + lead * 1_000_000).saturating_sub(5_000_000));
            job.requested_start = asks.map(start);
            let mut at = submit;
            let command = |(later, kind, by): (u64, u8, u64)| {
                at += later;
                let (span, procs) = (Span::from_micros(by), (by % 7) as u32);
                let change = match kind {
                    0 => Elastic::ExtendTime(span),
                    1 => Elastic::ReduceTime(span),
                    2 => Elastic::ExtendProcs(procs),
                    _ => Elastic::ReduceProcs(procs),
                };
                ElasticCommand { at: Time::from_micros(at), change }
            };
            let commands: Box<[ElasticCommand]> = commands.into_iter().map(command).collect();
            job.elastic = (!commands.is_empty()).then_some(commands);
            job
        };
        raw.into_iter().enumerate().map(build).collect()
    })
}

pub(crate) fn cases(policies: Vec<String>, most: usize) -> impl Strategy<Value = Case> {
    let cancels = vec((any::<Index>(), prop_oneof![Just(None), (0_u64..80).prop_map(Some)]), 0..6);
    let kept = proptest::option::of(any::<Index>());
    let booked = vec((0_usize..3, 0_u64..120, 1_u64..50, 1_u32..9, kept), 0..4);
    let site =
        (vec(partition(), 1..4), proptest::sample::select(policies), any::<bool>(), any::<bool>(), booked);
    (site, jobs(most), cancels, tariff(), (any::<u64>(), support::sleep())).prop_map(
        |((partitions, policy, overrun, event, booked), jobs, cancels, tariff, (groups, sleep))| {
            let mut spec = support::site(1, &policy);
            spec.tariff = tariff;
            spec.partitions = partitions;
            for (at, part) in spec.partitions.iter_mut().enumerate() {
                part.name = format!("part{at}");
            }
            support::regroup(&mut spec, groups);
            support::put_to_sleep(&mut spec, sleep);
            if groups % 5 == 1 {
                crate::power_cap::cap_at(&mut spec, groups / 5 % 110);
            }
            (spec.overrun, spec.pue_ppm, spec.record_machines) = (overrun, 1_400_000, true);
            let abilities = Registry::standard().build(&spec.policy).expect("a policy").1;
            if event && abilities.space_sharing() {
                spec.order = InstantOrder::Event;
            }
            for (at, (partition, start, length, procs, kept)) in booked.into_iter().enumerate() {
                let mut grown = spec.clone();
                let (start, end) = (Time::from_secs(start), Time::from_secs(start + length));
                // Some are kept for a job, which may be too large for them, too long or too late.
                let job = kept.filter(|_| !jobs.is_empty()).map(|which| which.get(&jobs).id);
                grown
                    .reservations
                    .push((partition, Reservation { name: format!("r{at}"), start, end, procs, job }));
                if abilities.keeps_reservations && grown.check().is_ok() {
                    spec = grown;
                }
            }
            // Some cancels at whole seconds of their own, the others the moment that the job comes.
            let cancels = cancels.into_iter().filter(|_| !jobs.is_empty()).map(|(which, after)| {
                let job: &Job = which.get(&jobs);
                (job.submit + Span::from_secs(after.unwrap_or(0)), job.id)
            });
            let cancels = cancels.collect();
            Case { spec, jobs, cancels }
        },
    )
}

/// A grid with its commands given.
fn prepared(case: &Case) -> Grid {
    let mut grid = support::grid(&Registry::standard(), &case.spec, &case.jobs).expect("a grid");
    for (time, id) in &case.cancels {
        grid.command(command(*time, ToSite::Cancel(*id))).expect("nothing has happened yet");
    }
    grid
}

fn straight(case: &Case) -> Ran {
    let (mut grid, mut records) = (prepared(case), Vec::new());
    grid.run(&mut records).expect("it runs to its end");
    Ran::of(&grid, records)
}

/// Runs on from wherever the grid stands.
fn finish(mut grid: Grid, mut records: Vec<Record>) -> Ran {
    grid.run(&mut records).expect("it runs to its end");
    Ran::of(&grid, records)
}

proptest! {
    #![proptest_config(crate::support::cases(1000))]

    #[test]
    fn every_policy_keeps_the_law(case in cases(variants(), 40)) {
        let ran = straight(&case);
        check(&case.spec, &case.jobs, &ran, law(&case.spec));
        prop_assert_eq!(&ran, &straight(&case), "the same again");
    }

    #[test]
    fn it_does_not_matter_where_a_run_is_cut(case in cases(variants(), 25), stops in vec(0_u64..100_000_000, 0..12)) {
        let ran = straight(&case);
        let (mut grid, mut records) = (prepared(&case), Vec::new());
        while let Some(stamp) = grid.step(&mut records).expect("a step") {
            prop_assert_eq!(stamp.time, grid.now());
        }
        prop_assert_eq!(&ran, &Ran::of(&grid, records), "step by step");
        let (mut grid, mut records) = (prepared(&case), Vec::new());
        let mut stops = stops;
        stops.sort_unstable();
        for stop in stops {
            grid.run_until(Time::from_micros(stop), &mut records).expect("it runs");
            prop_assert_eq!(grid.now(), Time::from_micros(stop));
        }
        prop_assert_eq!(ran, finish(grid, records), "stop by stop");
    }

    #[test]
    fn a_run_is_resumed_as_if_never_stopped(
        case in cases(variants(), 25),
        steps in vec(0_usize..20, 1..5),
        stop in proptest::option::of(0_u64..100_000_000),
    ) {
        let ran = straight(&case);
        let (mut grid, mut records) = (prepared(&case), Vec::new());
        if let Some(stop) = stop {
            grid.run_until(Time::from_micros(stop), &mut records).expect("it runs");
        }
        for steps in steps {
            for _ in 0..steps {
                grid.step(&mut records).expect("it runs");
            }
            let saved: GridSave = support::through_bytes(&grid.snapshot().expect("a snapshot"));
            grid = support::grid(&Registry::standard(), &case.spec, &case.jobs).expect("a grid");
            grid.restore(saved.clone(), false).expect("it fits");
            prop_assert_eq!(&saved, &grid.snapshot().expect("a snapshot"), "a save restored saves the same");
        }
        prop_assert_eq!(ran, finish(grid, records));
    }

    /// Commands given along the way do what the same commands do when given beforehand.
    #[test]
    fn commands_may_come_late(case in cases(variants(), 25), ahead in 0_u64..4_000_000) {
        let mut case = case;
        case.cancels.sort_unstable();
        let ran = straight(&case);
        let mut grid = support::grid(&Registry::standard(), &case.spec, &case.jobs).expect("a grid");
        let mut records = Vec::new();
        for (time, id) in &case.cancels {
            let before = Time::from_micros(time.micros().saturating_sub(1 + ahead));
            if before > grid.now() {
                grid.run_until(before, &mut records).expect("it runs");
            }
            grid.command(command(*time, ToSite::Cancel(*id))).expect("its time is to come");
        }
        prop_assert_eq!(ran, finish(grid, records));
    }

    /// Another policy takes over in the middle; records and ledger stay lawful.
    #[test]
    fn any_policy_takes_over_from_any(
        case in cases(variants(), 25),
        other in any::<Index>(),
        steps in 0_usize..30,
    ) {
        let registry = Registry::standard();
        let multiprogramming_level = |spec: &SiteSpec| registry.build(&spec.policy).unwrap().1.multiprogramming_level;
        let preempts = |spec: &SiteSpec| registry.build(&spec.policy).unwrap().1.preempts;
        let others: Vec<SiteSpec> = variants()
            .into_iter()
            .map(|other| SiteSpec { policy: other.parse().unwrap(), ..case.spec.clone() })
            .filter(|other| multiprogramming_level(other) == multiprogramming_level(&case.spec))
            // Where nobody resumes them, suspended jobs wait in the queue again: `preemption.rs` has that.
            .filter(|other| preempts(other) || !preempts(&case.spec))
            .filter(|other| support::grid(&registry, other, &[]).is_ok())
            .collect();
        let other = other.get(&others);
        let (mut grid, mut records) = (prepared(&case), Vec::new());
        for _ in 0..steps {
            grid.step(&mut records).expect("it runs");
        }
        let saved = grid.snapshot().expect("a snapshot");
        let mut grid = support::grid(&registry, other, &case.jobs).expect("a grid");
        grid.restore(saved, true).expect("it fits");
        let ran = finish(grid, records);
        // Before the fork sharing may have cost something.
        let slows = law(&case.spec).slows || law(other).slows;
        check(other, &case.jobs, &ran, Law { slows, ..law(other) });
    }

    /// Whatever is left when a run is ended early is recorded as unfinished, and the ledger holds.
    #[test]
    fn a_run_can_be_ended_anywhere(case in cases(variants(), 25), stops in vec(0_u64..60_000_000, 1..4)) {
        let (mut grid, mut records) = (prepared(&case), Vec::new());
        let mut stops = stops;
        stops.sort_unstable();
        for stop in &stops {
            grid.run_until(Time::from_micros(*stop), &mut records).expect("it runs");
        }
        let stop = grid.now();
        grid.close(&mut records);
        let ran = Ran::of(&grid, records);
        let come: Vec<Job> = case.jobs.iter().filter(|job| job.submit <= stop).cloned().collect();
        check(&case.spec, &come, &ran, law(&case.spec));
        for record in ran.jobs() {
            if record.outcome == gridemu::model::Outcome::Unfinished {
                prop_assert_eq!(record.end, stop);
            }
        }
    }
}

proptest! {
    #![proptest_config(crate::support::cases(120))]

    /// Sites that have nothing to say to each other do the same together as each alone.
    #[test]
    fn sites_do_not_touch_each_other(
        both in (cases(variants(), 20), cases(variants(), 20)),
        stops in vec(0_u64..100_000_000, 0..5),
    ) {
        let cases = [both.0, both.1];
        let build = || {
            let sites = cases.iter().enumerate().map(|(at, case)| {
                let spec = SiteSpec { name: format!("site{at}"), ..case.spec.clone() };
                let source: Box<dyn Source> = Box::new(Jobs::new(case.jobs.clone()));
                (spec, Some(source))
            });
            Grid::new(sites.collect(), &Registry::standard()).expect("a grid")
        };
        let of_site = |records: &[Record], site: SiteId| -> Vec<Record> {
            let mut of_site: Vec<Record> = records
                .iter()
                .filter(|record| site == match record {
                    Record::Job(job) => job.site,
                    Record::Segment(segment) => segment.site,
                    Record::Machine(machine) => machine.site,
                    Record::Event(event) => event.site,
                    Record::Slice(slice) => slice.site,
                    Record::Group(group) => group.site,
                    another => unreachable!("a record of a new kind: {another:?}"),
                })
                .cloned()
                .collect();
            for record in &mut of_site {
                match record {
                    Record::Job(job) => job.site = SiteId(0),
                    Record::Segment(segment) => segment.site = SiteId(0),
                    Record::Machine(machine) => machine.site = SiteId(0),
                    Record::Slice(slice) => slice.site = SiteId(0),
                    Record::Group(group) => group.site = SiteId(0),
                    Record::Event(event) => {
                        event.site = SiteId(0);
                        // For which job one was suspended is told by its workload, that of the site.
                        if let Some(by) = event.suspension.as_mut().and_then(|why| why.by.as_mut()) {
                            by.workload = WorkloadId::of_site(SiteId(0));
                        }
                    }
                    another => unreachable!("a record of a new kind: {another:?}"),
                }
            }
            of_site
        };
        let alone: Vec<Vec<Record>> = cases
            .iter()
            .map(|case| straight(&Case { cancels: Vec::new(), ..case.clone() }).records)
            .collect();
        let mut records = Vec::new();
        build().run(&mut records).expect("it runs");
        for (site, alone) in (0..).zip(&alone) {
            prop_assert_eq!(&of_site(&records, SiteId(site)), alone);
        }
        let (mut grid, mut records) = (build(), Vec::new());
        for stop in stops {
            grid.run_until(Time::from_micros(stop), &mut records).expect("it runs");
            grid.step(&mut records).expect("it runs");
            let saved = support::through_bytes(&grid.snapshot().expect("a snapshot"));
            grid = build();
            grid.restore(saved, false).expect("it fits");
        }
        while grid.step(&mut records).expect("it runs").is_some() {}
        for (site, alone) in (0..).zip(&alone) {
            prop_assert_eq!(&of_site(&records, SiteId(site)), alone);
        }
    }
}

// ---- promises ----

fn promising() -> PolicyInfo {
    PolicyInfo::new("promising", |named| {
        const CHOICES: [(&str, Compress); 3] =
            [("submission", Compress::Submission), ("start", Compress::Start), ("none", Compress::None)];
        let compress = named.take_choice("compress", &CHOICES)?.unwrap_or_default();
        let able = Abilities { keeps_reservations: true, guarantees_starts: true, ..Abilities::PLAIN };
        Ok((Box::new(Promising { inner: Conservative::new(compress), promises: BTreeMap::new() }), able))
    })
    .doc("Conservative backfilling, watched.")
}

/// Keeps the start that each job was promised when it came, and fails when one is not kept.
struct Promising {
    inner: Conservative,
    promises: BTreeMap<u64, Time>,
}

impl LocalPolicy for Promising {
    fn on(&mut self, change: Change, view: &View<'_>) {
        self.inner.on(change, view);
        if let Change::Arrived(job) = change {
            let seq = view.job(job).seq();
            let promise = self.inner.reserved_start(seq).expect("it has a reservation from the first");
            assert!(promise >= view.now());
            self.promises.insert(seq, promise);
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.inner.schedule(view, actions);
        for action in actions.as_slice() {
            let Action::Start { job, .. } = action else { panic!("it only starts jobs: {action:?}") };
            assert!(view.now() <= self.promises[&view.job(*job).seq()], "a promised start was missed");
        }
        for (seq, promise) in &self.promises {
            let reserved = self.inner.reserved_start(*seq);
            assert!(reserved.is_none_or(|start| start <= *promise), "a reservation was moved back");
        }
    }

    fn adopt(&mut self, view: &View<'_>) {
        self.inner.adopt(view);
    }
}

proptest! {
    #![proptest_config(crate::support::cases(600))]

    #[test]
    fn conservative_keeps_what_it_promised(
        case in cases(["submission", "start", "none"].map(|c| format!("conservative[compress={c}]")).into(), 40),
    ) {
        let mut watched = case.spec.clone();
        watched.overrun = false;
        // A job on a machine that sleeps begins later than it gets its processors.
        watched.power = gridemu::model::Named::bare("always-on");
        if watched.cap_power(watched.power_cap).is_err() || watched.check().is_err() {
            watched.cap_power(None).expect("no cap");
        }
        let straight = straight(&Case { spec: watched.clone(), ..case.clone() });
        watched.policy.name = "promising".to_owned();
        let mut grid =
            support::grid(&Registry::standard().with(promising()), &watched, &case.jobs).expect("a grid");
        for (time, id) in &case.cancels {
            grid.command(command(*time, ToSite::Cancel(*id))).expect("nothing has happened yet");
        }
        prop_assert_eq!(straight, finish(grid, Vec::new()));
    }
}

#[test]
fn every_policy_runs_nothing_at_all() {
    for policy in variants() {
        let spec = support::site(4, &policy);
        let ran = try_run(&Registry::standard(), &spec, &[]).expect("nothing to do");
        assert!(ran.records.is_empty());
        check(&spec, &[], &ran, Law::default());
    }
}

/// A site of so many machines that sleep after some seconds.
fn drowsy(machines: u32, cores: u32, after: u64, wake: u64, fall: u64) -> SiteSpec {
    let mut spec = support::site(machines * cores, "conservative");
    spec.partitions[0].cores = cores;
    let group = &mut spec.partitions[0].groups[0];
    group.machines = machines;
    let (none, [wake, fall]) = (Power::ZERO, [wake, fall].map(Span::from_secs));
    group.sleep = Some(SleepSpec { asleep: none, wake, waking: none, fall, falling: none });
    spec.power = format!("sleep-idle[after={after} s]").parse().expect("a policy");
    spec
}

/// A job of so many processors, by its submission, run time and estimate in microseconds.
fn sized(id: u64, procs: u32, submit: u64, runtime: u64, estimate: u64) -> Job {
    let mut job = job(id, 0, procs, 0);
    (job.submit, job.runtime, job.estimate) =
        (Time::from_micros(submit), Span::from_micros(runtime), Span::from_micros(estimate));
    job
}

/// Stopped and resumed after any number of steps, the run is the same.
fn is_resumed_anywhere(case: &Case) {
    let ran = straight(case);
    for steps in 0..20 {
        let (mut grid, mut records) = (prepared(case), Vec::new());
        for _ in 0..steps {
            grid.step(&mut records).expect("it runs");
        }
        let saved: GridSave = support::through_bytes(&grid.snapshot().expect("a snapshot"));
        grid = support::grid(&Registry::standard(), &case.spec, &case.jobs).expect("a grid");
        grid.restore(saved, false).expect("it fits");
        assert_eq!(ran, finish(grid, records), "after {steps}");
    }
}

/// Six of nine machines sleep. The last job would end in time if they were awake, and is planned behind the reservation; a plan that is resumed looks for
/// an earlier start at the same ends as the one that goes straight on.
#[test]
fn a_plan_around_machines_that_sleep_is_resumed() {
    let spec = support::reserve(drowsy(3, 3, 7, 30, 0), "maintenance", 79, 80, 6);
    let jobs = vec![
        sized(1, 1, 6_000_001, 0, 0),
        sized(2, 2, 9_000_001, 25_229_221, 25_229_221),
        sized(3, 8, 9_000_001, 0, 0),
        sized(4, 4, 14_000_001, 12_000_000, 44_770_778),
        sized(5, 4, 18_000_001, 14_770_778, 14_770_778),
    ];
    is_resumed_anywhere(&Case { spec, jobs, cancels: Vec::new() });
}

/// Under one pass per event a job may be planned to wait for a machine to wake up, and get one that a job releases at that instant. The plan does not keep
/// its processors for longer than it has them.
#[test]
fn a_plan_holds_nothing_for_a_wake_up_that_was_not_needed() {
    let mut spec = drowsy(6, 4, 11, 0, 2);
    spec.order = InstantOrder::Event;
    let at_once = |id| sized(id, 1, 0, 0, 0);
    let mut jobs: Vec<Job> = (1..5).map(at_once).collect();
    jobs.extend([
        sized(5, 1, 0, 1, 1),
        sized(6, 2, 1_000_000, 0, 0),
        sized(7, 1, 3_000_000, 9_000_000, 9_000_000),
    ]);
    jobs.push(sized(8, 4, 10_000_001, 0, 0));
    let late = [
        (3, 0, 0),
        (5, 1_000_000, 1_000_000),
        (1, 0, 0),
        (1, 0, 0),
        (1, 0, 0),
        (1, 0, 0),
        (5, 0, 0),
        (1, 0, 0),
    ];
    let late = late.into_iter().chain([(7, 0, 1_000_000), (5, 0, 0), (1, 0, 0)]);
    let late =
        late.zip(9..).map(|((procs, runtime, estimate), id)| sized(id, procs, 11_000_001, runtime, estimate));
    jobs.extend(late);
    let cancels = vec![(Time::from_micros(11_000_001), JobId(9))];
    is_resumed_anywhere(&Case { spec, jobs, cancels });
}
