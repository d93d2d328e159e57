//! Gang scheduling and adaptive SCOJO [Huang 2004, chapters 6 and 7]: schedules worked by hand, what it is at level 1, and a twin.

mod estimates;
mod twin;

use gridemu::grid::GridSave;
use gridemu::local::{Reason, Registry};
use gridemu::model::{Cause, EventCause, EventKind, Job, Preemption, Record, SiteSpec, Speedup};
use gridemu::units::{Span, Time};
use proptest::prelude::*;

use crate::explaining::explained;
use crate::invariants::cases;
use crate::support::{self, Ran, With, job, run, site, try_run};

/// Runs, and returns `(start, end)` of jobs 1, 2, ... in seconds, rounded to hundredths: a third is no binary fraction.
fn times(spec: &SiteSpec, jobs: &[Job]) -> Vec<(f64, f64)> {
    let ran = run(spec, jobs);
    let round = |time: Time| (time.as_secs_f64() * 1e2).round() / 1e2;
    let of = |job: &Job| {
        let record = ran.job(job.id.0);
        (round(record.start.expect("it started")), round(record.end))
    };
    jobs.iter().map(of).collect()
}

/// Which processors a job had, and from when on in seconds.
fn places(ran: &Ran, id: u64) -> Vec<(u64, String)> {
    let own = ran.segments().filter(|segment| segment.job.0 == id);
    let mut places: Vec<(u64, String)> =
        own.map(|segment| (segment.from.micros() / 1_000_000, segment.procs.to_string())).collect();
    places.dedup_by(|next, before| next.1 == before.1);
    places
}

/// When a job was resized, in seconds, to which size and why.
fn resizes(ran: &Ran, id: u64) -> Vec<(u64, u32, EventCause)> {
    let of = |record: &Record| match record {
        Record::Event(event)
            if event.kind == EventKind::Resized && event.job.is_some_and(|job| job.0 == id) =>
        {
            Some((event.time.micros() / 1_000_000, event.procs, event.cause))
        }
        _ => None,
    };
    ran.records.iter().filter_map(of).collect()
}

fn working_set(job: Job, least: u32, most: u32) -> Speedup {
    Speedup::of_working_set(least, job.size.preferred(), most)
}

fn moldable(job: Job, least: u32, most: u32) -> Job {
    let speedup = working_set(job.clone(), least, most);
    job.moldable(least, most, speedup)
}

fn malleable(job: Job, least: u32, most: u32) -> Job {
    let speedup = working_set(job.clone(), least, most);
    job.malleable(least, most, speedup)
}

#[test]
fn jobs_take_turns_in_the_slots_of_figure_6_2() {
    // Job 2 does not fit beside job 1. Both have half of the time until job 2 has ended at 40.
    let jobs = [job(1, 0, 8, 100), job(2, 0, 4, 20)];
    assert_eq!(times(&site(10, "gang[slice=none]"), &jobs), [(0.0, 120.0), (0.0, 40.0)]);
    assert_eq!(times(&site(10, "gang[level=1,slice=none]"), &jobs), [(0.0, 100.0), (100.0, 120.0)]);
    let ran = run(&site(10, "gang[slice=none]"), &jobs);
    assert_eq!(places(&ran, 2), [(0, "0-3".to_owned())]);
    // Switching takes a tenth of the time while there are two slots: 20 take 20 / 0.45.
    assert_eq!(times(&site(10, "gang[passes=event]"), &jobs), [(0.0, 124.44), (0.0, 44.44)]);
    // Slices are 2 s × 5 / 2; 40 ms are 0.8 % of that.
    assert_eq!(times(&site(10, "gang[passes=event,switch=40 ms]"), &jobs), [(0.0, 120.32), (0.0, 40.32)]);
}

#[test]
fn passes_are_at_the_ends_of_slices() {
    // At level 2 a slice is 4 s with one slot, and 2 s with two. Job 2 begins when the first one ends. It has done its 3 at 10, and job 1 has as well.
    let jobs = [job(1, 0, 2, 20), job(2, 1, 2, 3), job(3, 11, 2, 1)];
    // Job 3 comes at 11, when slices of 4 s run since 10, and starts at 14. Job 1 has done 4 + 3 + 4 then.
    let policy = "gang[level=2,switch=none]";
    assert_eq!(times(&site(2, policy), &jobs), [(0.0, 24.0), (4.0, 10.0), (14.0, 16.0)]);
    let at_events = [(0.0, 24.0), (1.0, 7.0), (11.0, 13.0)];
    assert_eq!(times(&site(2, "gang[level=2,switch=none,passes=event]"), &jobs), at_events);
    let told = explained(&site(2, policy), &jobs, 2, 2);
    assert_eq!(told.reason(), Reason::Slice);
    assert_eq!(gridemu::report::explained_rule(&told), "jobs start when the present time slice ends, at 4 s");
    let told = explained(&site(2, "gang[level=1,variant=fcfs-b,slice=none]"), &jobs, 2, 2);
    assert_eq!(told.reason(), Reason::Level);
    assert_eq!(
        gridemu::report::explained_rule(&told),
        "it is the head of the queue and starts on 2 processors, and no time slot has more than 0 free"
    );
}

#[test]
fn figure_6_9() {
    // Job 3 of the second slot ends, and job 5 gets processors on both sides of job 4. The jobs of the thesis count from 0.
    let jobs = [job(1, 0, 6, 99), job(2, 0, 4, 99), job(3, 0, 2, 5), job(4, 0, 6, 99), job(5, 1, 4, 9)];
    let ran = run(&site(10, "gang[level=2,slice=none]"), &jobs);
    assert_eq!(ran.times(3), (0, 10));
    assert_eq!(ran.times(5).0, 10);
    assert_eq!(places(&ran, 5), [(10, "0-1 8-9".to_owned())]);
    assert_eq!(places(&ran, 4), [(0, "2-7".to_owned())]);
}

#[test]
fn alternate_scheduling_and_slot_unification() {
    // Jobs 2 and 3 have different processors, in different slots. When the others have ended, each has a half; if each runs in both slots, or these are
    // joined, all of the time.
    let jobs = [job(1, 0, 2, 10), job(2, 0, 2, 30), job(3, 0, 2, 30), job(4, 0, 2, 10)];
    let of = |more: &str| times(&site(4, &format!("gang[level=2,slice=none{more}]")), &jobs);
    let (all, none) = ((0.0, 40.0), (0.0, 20.0));
    assert_eq!(of(",unify=true"), [none, all, all, none]);
    assert_eq!(of(",alternate=true"), [none, all, all, none]);
    assert_eq!(of(""), [none, (0.0, 60.0), (0.0, 60.0), none]);
}

/// Four processors at level 1: job 1 has three of them until 10, job 2 needs all, job 3 one until 30, job 4 one until 9.
#[test]
fn three_ways_of_backfilling() {
    let jobs = [job(1, 0, 3, 10), job(2, 1, 4, 10), job(3, 2, 1, 28), job(4, 3, 1, 6)];
    let starts = |variant: &str| -> Vec<f64> {
        let spec = site(4, &format!("gang[level=1,slice=none,variant={variant}]"));
        times(&spec, &jobs).into_iter().map(|(start, _)| start).collect()
    };
    assert_eq!(starts("fcfs"), [0.0, 10.0, 20.0, 20.0]);
    for variant in ["fcfs-b", "fcfs-easy"] {
        assert_eq!(starts(variant), [0.0, 10.0, 20.0, 3.0], "{variant}");
    }
    // As the thesis has EASY backfilling: it delays job 2 to 30.
    assert_eq!(starts("fcfs-eb"), [0.0, 30.0, 2.0, 10.0]);
    // Job 4 would delay job 3, which is planned for 20, but not the first in line.
    let jobs = [job(1, 0, 3, 10), job(2, 1, 3, 10), job(3, 2, 4, 28), job(4, 3, 1, 40)];
    let spec = |variant: &str| site(4, &format!("gang[level=1,slice=none,variant={variant}]"));
    let start = |variant: &str| times(&spec(variant), &jobs)[3].0;
    assert_eq!((start("fcfs-b"), start("fcfs-easy")), (48.0, 3.0));
}

/// A job of 16 processors, 8 to 32 of 64, alone: it starts on 24, and has 32 after four intervals.
#[test]
fn a_job_grows_under_a_low_load() {
    let jobs = [malleable(job(1, 0, 16, 3_000), 8, 32)];
    let ran = run(&site(64, "gang[variant=fcfs-wa,slice=none]"), &jobs);
    let low = EventCause::LoadLow;
    assert_eq!(resizes(&ran, 1), [(300, 28, low), (600, 30, low), (900, 31, low), (1_200, 32, low)]);
    assert_eq!(places(&ran, 1).last(), Some(&(1_200, "0-31".to_owned())));
    // Speedups of 13.2, 14.6, 15.3, 15.65 and 16 over 10.4 (section 6.6): what is left after 1,200 s takes 16 / 10.4 less time.
    let done = 300.0 * (13.2 + 14.6 + 15.3 + 15.65) / 10.4;
    let end = 1_200.0 + (3_000.0 - done) * 10.4 / 16.0;
    assert!((ran.job(1).end.as_secs_f64() - end).abs() < 0.01, "{end}: {:?}", ran.job(1));
    // What fits beside it is not taken from it.
    let ran = run(&site(17, "gang[variant=fcfs-wa,slice=none]"), &jobs);
    assert_eq!((ran.job(1).procs, resizes(&ran, 1)), (16, vec![]));
}

/// The same job among others that need 80 more processors: it shrinks to 8.
#[test]
fn a_job_shrinks_under_a_high_load() {
    let others = || (2..12).map(|id| job(id, 10, 8, 20_000));
    let jobs: Vec<Job> = [malleable(job(1, 0, 16, 3_000), 8, 17)].into_iter().chain(others()).collect();
    let (low, high) = (EventCause::LoadLow, EventCause::LoadHigh);
    // It starts alone, on 17; then the load is high.
    let ran = run(&site(64, "gang[variant=fcfs-wa,level=1,slice=none]"), &jobs);
    assert_eq!(places(&ran, 1)[0], (0, "0-16".to_owned()));
    assert_eq!(resizes(&ran, 1), [(300, 12, high), (600, 10, high), (900, 9, high), (1_200, 8, high)]);
    // At each pass, instead: job 12 comes at 20.
    let mut more = jobs.clone();
    more.push(job(12, 20, 8, 10));
    let ran = run(&site(64, "gang[variant=fcfs-wa,level=1,slice=none,resizes=event]"), &more);
    assert_eq!(resizes(&ran, 1)[..2], [(10, 12, high), (20, 10, high)]);
    // Where slices last 8 s, that is at the first end of one.
    let ran = run(&site(64, "gang[variant=fcfs-wa,level=1,slice=8 s]"), &jobs);
    assert_eq!(resizes(&ran, 1)[..2], [(304, 12, high), (600, 10, high)]);
    // Jobs that are shorter than the interval do not count.
    let short: Vec<Job> = [malleable(job(1, 0, 16, 3_000), 8, 32)]
        .into_iter()
        .chain((2..40).map(|id| job(id, 10, 8, 299)))
        .collect();
    let ran = run(&site(64, "gang[variant=fcfs-wa,level=1,slice=none]"), &short);
    assert!(resizes(&ran, 1).iter().all(|(_, _, cause)| *cause == low));
    // A job that starts under a high load has N_min + (N_opt - N_min) / 2.
    let first = moldable(job(1, 0, 16, 3_000), 8, 32);
    let at_once: Vec<Job> = [first].into_iter().chain((2..12).map(|id| job(id, 0, 8, 20_000))).collect();
    assert_eq!(run(&site(64, "gang[variant=fcfs-wa,level=1,slice=none]"), &at_once).job(1).procs, 12);
}

/// Each second that a processor is gained or lost costs a second.
#[test]
fn adapting_costs_by_size() {
    let jobs = [malleable(job(1, 0, 16, 3_000), 8, 32)];
    let (resize, resize_per_processor) = (Span::SECOND, Span::from_secs(2));
    let preemption = Preemption { resize, resize_per_processor, ..Preemption::default() };
    let spec = SiteSpec { preemption, ..site(64, "gang[variant=fcfs-wa,slice=none]") };
    let ran = run(&spec, &jobs);
    let waits: Vec<(u64, u64)> = ran
        .segments()
        .filter(|segment| segment.cause == Cause::Resize)
        .map(|segment| (segment.from.micros() / 1_000_000, segment.to.micros() / 1_000_000))
        .collect();
    assert_eq!(waits, [(300, 309), (600, 605), (900, 903), (1_200, 1_203)]);
}

/// Moldable jobs take what is idle in their slot, then malleable ones that are not long.
#[test]
fn jobs_that_start_fill_their_slot() {
    let start = |jobs: &[Job]| -> Vec<u32> {
        let ran = run(&site(10, "gang[variant=fcfs-fa,level=2,slice=none]"), jobs);
        jobs.iter().map(|job| ran.job(job.id.0).procs).collect()
    };
    let (medium, long) = (600, 4_000);
    // Six of ten are idle: the moldable job takes them up to its 6, and the malleable one what is left.
    let jobs =
        [malleable(job(1, 0, 2, medium), 1, 9), moldable(job(2, 0, 2, long), 1, 6), job(3, 0, 1, medium)];
    assert_eq!(start(&jobs), [3, 6, 1]);
    let jobs = [malleable(job(1, 0, 2, long), 1, 9), job(2, 0, 1, medium)];
    assert_eq!(start(&jobs), [2, 1]);
    // Without that part they have what they prefer.
    let ran = run(&site(10, "gang[variant=fcfs,level=2,slice=none]"), &[moldable(job(1, 0, 2, 10), 1, 6)]);
    assert_eq!(ran.job(1).procs, 2);
}

/// EASY and adaptive SCOJO take turns in the middle of a run.
#[test]
fn fork_from_easy_and_back() {
    let registry = Registry::standard();
    let jobs = [malleable(job(1, 0, 4, 2_000), 2, 8), job(2, 10, 6, 500), job(3, 20, 8, 300)];
    let (easy, gang) = (site(8, "easy"), site(8, "gang[variant=pri-b-wa-fa,level=1,slice=none]"));
    let (mut grid, mut records) = (support::grid(&registry, &easy, &jobs).expect("a grid"), Vec::new());
    grid.run_until(Time::from_secs(100), &mut records).expect("it runs");
    let go_on = |grid: gridemu::grid::Grid, spec: &SiteSpec| {
        let saved: GridSave = support::through_bytes(&grid.snapshot().expect("a snapshot"));
        let mut grid = support::grid(&registry, spec, &jobs).expect("a grid");
        grid.restore(saved, true).expect("it fits");
        grid
    };
    // Job 1 shrinks, so that job 2 fits beside it.
    let mut grid = go_on(grid, &gang);
    grid.run_until(Time::from_secs(700), &mut records).expect("it runs");
    let mut grid = go_on(grid, &easy);
    grid.run(&mut records).expect("it runs");
    let ran = Ran::of(&grid, records);
    support::check(&easy, &jobs, &ran, support::Law::default());
    let high = EventCause::LoadHigh;
    assert_eq!(resizes(&ran, 1), [(300, 3, high), (600, 2, high)]);
    assert_eq!(ran.job(2).start, Some(Time::from_secs(600)));
    // The other two could not start before job 1 has ended if it had kept its processors.
    assert!(ran.job(2).start < Some(ran.job(1).end) && ran.job(3).start >= Some(ran.job(1).end));
}

proptest! {
    #![proptest_config(crate::support::cases(200))]

    /// At level 1 without slices it is what others are, record by record.
    #[test]
    fn at_level_1_it_is_fcfs_and_easy(case in cases(vec!["fcfs".to_owned()], 40)) {
        for (other, variant) in [("fcfs", "fcfs"), ("easy", "fcfs-easy")] {
            let ran = |policy: &str| {
                let spec = SiteSpec { policy: policy.parse().expect("a policy"), ..case.spec.clone() };
                try_run(&Registry::standard(), &spec, &case.jobs).expect("it runs")
            };
            let (one, gang) = (ran(other), ran(&format!("gang[level=1,slice=none,variant={variant}]")));
            prop_assert_eq!(one.records, gang.records, "{}", other);
            prop_assert_eq!(one.usage, gang.usage);
        }
    }

    /// If all jobs end when they are expected to, no reservation moves: then conservative backfilling is planning all jobs in order.
    #[test]
    fn at_level_1_it_is_conservative(case in cases(vec!["fcfs".to_owned()], 40)) {
        let mut case = case;
        case.spec = support::awake(case.spec);
        // A job of no length is expected to take a microsecond.
        for job in &mut case.jobs {
            job.runtime = job.runtime.max(Span::TICK);
            job.estimate = job.runtime;
        }
        // Where machines are not equally fast, plans count on the slowest.
        prop_assume!(case.spec.partitions.iter().all(|part| part.groups.len() == 1));
        let ran = |policy: &str| {
            let spec = SiteSpec { policy: policy.parse().expect("a policy"), ..case.spec.clone() };
            try_run(&Registry::standard(), &spec, &case.jobs).expect("it runs")
        };
        let (conservative, gang) =
            (ran("conservative"), ran("gang[level=1,slice=none,variant=fcfs-b,lookahead=1000]"));
        prop_assert_eq!(conservative.records, gang.records);
        prop_assert_eq!(conservative.usage, gang.usage);
    }
}
