//! SCOJO-PECT: schedules worked by hand. What holds of all policies that preempt is in `invariants.rs`.

use gridemu::grid::{Grid, GridSave};
use gridemu::local::{Reason, Registry};
use gridemu::model::{Job, JobMemory, MemoryLaw, Preemption, SiteSpec};
use gridemu::report::explained_rule;
use gridemu::units::{Bytes, Span, Time};

use crate::churn_rules::check_churn;
use crate::driver::{Act, Driver, Script};
use crate::explaining::explained;
use crate::support::{self, Ran, job, run, site};

/// Short jobs take less than 10 s, long ones 70 s or more. A cycle takes 100 s, and a switch 2 s of a slice.
const SLICES: &str = "classes=10 s/70 s,shares=20%/40%/40%,cycle=100 s,floor=10 s,switch=2 s";

/// First starts and ends of jobs 1, 2, ... on 10 processors, in seconds.
fn times(more: &str, jobs: &[Job]) -> Vec<(f64, f64)> {
    let ran = run(&site(10, &format!("scojo-pect[{SLICES}{more}]")), jobs);
    let of = |job: &Job| {
        let record = ran.job(job.id.0);
        (record.start.expect("it started").as_secs_f64(), record.end.as_secs_f64())
    };
    jobs.iter().map(of).collect()
}

#[test]
fn two_classes_take_turns() {
    let jobs = [job(1, 0, 6, 150), job(2, 1, 6, 60)];
    // The long job is alone at first, and its class has the whole cycle: until 100. Then both classes have 50 s of each cycle, of which a switch takes 2.
    // Job 2 runs from 102 to 150, job 1 on its old processors from 152 to 200, job 2 its last 12 s from 202. At 214 no medium job is left, and the last 2 s of
    // job 1 come after another switch.
    assert_eq!(times("", &jobs), [(0.0, 218.0), (102.0, 214.0)]);
    // The slices, as they are told. The last one would be as long as a cycle, because its class is alone again.
    let told = run(&site(10, &format!("scojo-pect[{SLICES}]")), &jobs).slices();
    let slices = [
        ("long", [0.0, 0.0, 100.0]),
        ("medium", [100.0, 102.0, 150.0]),
        ("long", [150.0, 152.0, 200.0]),
        ("medium", [200.0, 202.0, 250.0]),
        ("long", [214.0, 216.0, 314.0]),
    ];
    assert_eq!(told, slices);
    // With shares of 60 and 20 % the medium job has 75 s, of which it needs 62, and the long one goes on after the next switch.
    let shares = "classes=10 s/70 s,shares=20%/60%/20%,cycle=100 s,floor=10 s,switch=2 s";
    let ran = run(&site(10, &format!("scojo-pect[{shares}]")), &jobs);
    assert_eq!([1, 2].map(|id| ran.job(id).end), [214, 162].map(Time::from_secs));
}

#[test]
fn shares_may_differ_by_the_hour_of_the_day() {
    let jobs = [job(1, 0, 6, 150), job(2, 1, 6, 60)];
    let more = ",shares_by_hour=0-1=20%/60%/20%;12-15=98%/1%/1%";
    // Ends of the jobs if the run begins so long before midnight, in seconds.
    let ends = |before: u64| {
        let mut spec = site(10, &format!("scojo-pect[{SLICES}{more}]"));
        spec.tariff.starts_at = Span::from_secs(86_400 - before);
        let ran = run(&spec, &jobs);
        [1, 2].map(|id| ran.job(id).end.micros() / 1_000_000)
    };
    // Slices begin at 100, 150, 200 and 214 s with the usual shares, as in the case above. When all of that is before midnight nothing differs.
    assert_eq!(ends(1_000), [218, 214]);
    // From midnight on the medium job has 75 s, which is enough for it: as with these shares at any time.
    assert_eq!(ends(60), [214, 162]);
    // The hour begins with its first instant.
    assert_eq!(ends(100), [214, 162]);
    // Midnight is in the first slice of the medium job, which stays as long as it was when it began: 102 to 150. The long job then has 25 s, of which it runs 23, and the medium one
    // 75 s from 175 on: its last 12 s are over at 189. The long job has 27 s left, from 191 on.
    assert_eq!(ends(101), [218, 189]);
}

#[test]
fn smart_backfilling_uses_what_a_slice_leaves() {
    let jobs = [job(1, 0, 6, 150), job(2, 1, 6, 60), job(3, 5, 4, 30), job(4, 90, 3, 40)];
    // Job 3 fits beside the long job at once, and ends in its slice. Job 4 starts there too, is suspended at 100 and goes on in its own slice, 102 to 132, where job 2
    // gets other processors than the three that job 4 has.
    let smart = times("", &jobs);
    assert_eq!((smart[2], smart[3], smart[1].0), ((5.0, 35.0), (90.0, 132.0), 102.0));
    // Otherwise both wait for the slice of their class. Job 4 is the last: beside job 2 and job 3 there is no room before 132.
    let plain = times(",smart=false", &jobs);
    assert_eq!((plain[1].0, plain[2], plain[3].0), (102.0, (102.0, 132.0), 132.0));
}

#[test]
fn waiting_jobs_of_a_class_are_backfilled() {
    // All are long, so that there is one slice. Job 2 has a reservation from 100 to 180, job 3 from 180 to 280, when it leaves 1 processor.
    let jobs = [job(1, 0, 6, 100), job(2, 1, 8, 80), job(3, 2, 9, 100), job(4, 3, 2, 200)];
    assert_eq!(times("", &jobs)[1..], [(100.0, 180.0), (180.0, 280.0), (280.0, 480.0)]);
    // Under EASY job 3 has none at 3, and job 4 may start.
    assert_eq!(times(",backfill=easy", &jobs)[1..], [(100.0, 180.0), (203.0, 303.0), (3.0, 203.0)]);
}

#[test]
fn there_is_no_switch_without_a_change() {
    let jobs = [job(1, 0, 6, 150), job(2, 60, 4, 60), job(3, 61, 6, 80)];
    // Job 3 waits for room in its class. When the slice of long jobs is over, at 100, that of medium ones has the same two jobs; nor is anything to be written or read at 120, when no
    // medium job is left. So job 1 ends after 150 s, and job 2 after 60.
    assert_eq!(times("", &jobs), [(0.0, 150.0), (60.0, 120.0), (150.0, 230.0)]);
    let told = run(&site(10, &format!("scojo-pect[{SLICES}]")), &jobs).slices();
    let slices =
        [("long", [0.0, 0.0, 100.0]), ("medium", [100.0, 100.0, 150.0]), ("long", [120.0, 120.0, 220.0])];
    assert_eq!(told, slices);
    // Without smart backfilling it would not run beside the other: job 2 has the slice from 102 to 150, job 1 that from 152 to 200, and then each the rest after a switch.
    assert_eq!(times(",smart=false", &jobs), [(0.0, 218.0), (102.0, 214.0), (218.0, 298.0)]);
}

#[test]
fn a_switch_may_take_no_time() {
    let jobs = [job(1, 0, 6, 150), job(2, 1, 6, 60)];
    let free = SLICES.replace("switch=2 s", "switch=0 s");
    let spec = |more: &str| site(10, &format!("scojo-pect[{free}{more}]"));
    // Slices as with a switch of 2 s, of which nothing is lost: job 2 runs from 100 to 150, job 1 from 150 to 200, job 2 its last 10 s. Job 1 has run for 150 s then, and was over at 200.
    let ran = run(&spec(""), &jobs);
    assert_eq!([1, 2].map(|id| ran.times(id)), [(0, 200), (100, 210)]);
    // At 200 no long job is left.
    let slices = [
        ("long", [0.0, 0.0, 100.0]),
        ("medium", [100.0, 100.0, 150.0]),
        ("long", [150.0, 150.0, 200.0]),
        ("medium", [200.0, 200.0, 300.0]),
    ];
    assert_eq!(ran.slices(), slices);
    // Job 3 runs beside the long job from 5 s on and needs 200 s: in the slice of medium jobs it stays where it is, as it does in that of long jobs, and is never suspended. Jobs 1 and 2 are in turn.
    let jobs = [job(1, 0, 6, 150), job(2, 1, 6, 60), job(3, 5, 4, 65)];
    let ran = run(&spec(""), &jobs);
    assert_eq!([1, 2, 3].map(|id| ran.times(id)), [(0, 200), (100, 210), (5, 70)]);
    let jobs = [job(1, 0, 6, 150), job(2, 1, 6, 60), job(3, 5, 4, 200)];
    let ran = run(&spec(""), &jobs);
    assert_eq!([1, 2, 3].map(|id| ran.times(id)), [(0, 200), (100, 210), (5, 205)]);
    assert_eq!(ran.segments().filter(|segment| segment.job.0 == 3).count(), 1);
    // With a switch of 2 s it is suspended with all others at each of them.
    let ran = run(&site(10, &format!("scojo-pect[{SLICES}]")), &jobs);
    assert!(ran.segments().filter(|segment| segment.job.0 == 3).count() > 2);
}

#[test]
fn a_class_whose_jobs_wait_for_machines_gets_no_slice() {
    let spec = site(10, &format!("scojo-pect[{SLICES}]"));
    let jobs = [job(1, 0, 6, 150), job(2, 1, 8, 60)];
    let down = [7].into_iter().collect();
    let acts = vec![
        (Time::from_secs(160), Act::Leave(down)),
        (Time::from_secs(300), Act::Join([7].into_iter().collect())),
    ];
    let script = Script { acts, ..Script::default() };
    let registry = Registry::standard();
    let (ran, gone) = Driver::new(&registry, &spec, &jobs, &script).run();
    check_churn(&registry, &spec, &jobs, &script, &ran, &gone);
    // Job 2 has run from 102 to 150 on processors 0 to 7. Job 1 goes on at 152; at 200 its slice would be over, but job 2 could not run in its own, and job 1 has its last 2 s. At 300 job 2 is
    // read, and has 12 s left.
    assert_eq!([1, 2].map(|id| ran.job(id).end), [202, 314].map(Time::from_secs));
    assert_eq!(ran.segments().filter(|segment| segment.job.0 == 1).count(), 2);
}

/// The grid goes on from what is saved of it, as it was or under another description of the site.
fn go_on(grid: &Grid, spec: &SiteSpec, jobs: &[Job], is_fork: bool) -> Grid {
    let saved: GridSave = support::through_bytes(&grid.snapshot().expect("a snapshot"));
    let mut grid = support::grid(&Registry::standard(), spec, jobs).expect("a grid");
    grid.restore(saved, is_fork).expect("it fits");
    grid
}

#[test]
fn fork_from_easy_and_back() {
    let (easy, slices) = (site(10, "easy"), site(10, &format!("scojo-pect[{SLICES}]")));
    let jobs = [job(1, 0, 6, 150), job(2, 1, 6, 60)];
    let mut grid = support::grid(&Registry::standard(), &easy, &jobs).expect("a grid");
    let mut records = Vec::new();
    // Job 1 runs, and the first slice is that of long jobs: 50 s of a cycle that both classes share.
    grid.run_until(Time::from_secs(50), &mut records).expect("it runs");
    let mut grid = go_on(&grid, &slices, &jobs, true);
    grid.run_until(Time::from_secs(130), &mut records).expect("it runs");
    // Job 1 is suspended, and waits in the queue of EASY for its last 50 s, until job 2 has ended.
    let mut grid = go_on(&grid, &easy, &jobs, true);
    grid.run(&mut records).expect("it runs");
    let ran = Ran::of(&grid, records);
    let times = [1, 2].map(|id| ran.times(id));
    assert_eq!(times, [(0, 212), (102, 162)]);
}

#[test]
fn a_run_is_resumed_within_a_switch_and_within_a_slice() {
    let spec = site(10, &format!("scojo-pect[{SLICES}]"));
    let jobs = [job(1, 0, 6, 150), job(2, 1, 6, 60), job(3, 5, 4, 30), job(4, 90, 3, 40)];
    let straight = run(&spec, &jobs);
    let mut grid = support::grid(&Registry::standard(), &spec, &jobs).expect("a grid");
    let mut records = Vec::new();
    for stop in [20, 101, 130, 150, 151] {
        grid.run_until(Time::from_secs(stop), &mut records).expect("it runs");
        grid = go_on(&grid, &spec, &jobs, false);
    }
    grid.run(&mut records).expect("it runs");
    assert_eq!(Ran::of(&grid, records), straight);
}

/// Table 1 of the thesis, of which the drawing (Figure 3) is lost: what the text says of it. Job 1 is long and job 2 short, and both run when it begins.
#[test]
fn the_jobs_of_table_1() {
    let table = [(3, 10, 65, 7), (4, 35, 34, 3), (5, 40, 9, 7), (6, 41, 5, 2), (7, 50, 5, 3), (8, 75, 98, 4)];
    let rest = [(9, 77, 80, 5), (10, 90, 40, 6)];
    let mut jobs = vec![job(1, 0, 3, 120), job(2, 0, 2, 5)];
    jobs.extend(
        table.iter().chain(&rest).map(|(id, submit, runtime, procs)| job(*id, *submit, *procs, *runtime)),
    );
    let ran = run(&site(10, &format!("scojo-pect[{SLICES}]")), &jobs);
    let start = |id: u64| ran.job(id).start.expect("it started");
    // In its slice the medium job 3 comes before job 4, and the short jobs 5, 6 and 7 start in order; 7 + 2 + 3 processors are more than there are.
    assert!(start(3) <= start(4) && start(5) <= start(6));
    assert!(start(7) >= ran.job(6).end || start(7) >= ran.job(5).end, "they do not fit together");
    // Preempted jobs resume on their initial nodes.
    for id in 1..=10 {
        let mut segments = ran.segments().filter(|segment| segment.job.0 == id);
        let first = segments.next().expect("it ran").procs.clone();
        assert!(segments.all(|segment| segment.procs == first), "job {id}");
    }
}

#[test]
fn writing_takes_the_time_that_the_site_says_beside_the_switch() {
    let memory = JobMemory::Law(MemoryLaw::Fixed(Bytes::new(5_000_000)));
    let write = Some("1 MB/s".parse().expect("a bandwidth"));
    let preemption = Preemption { memory, write, ..Preemption::default() };
    let spec = SiteSpec { preemption, ..site(10, &format!("scojo-pect[{SLICES}]")) };
    let ran = run(&spec, &[job(1, 0, 6, 150), job(2, 1, 6, 60)]);
    // Job 1 writes until 105, longer than the switch takes: job 2 starts then.
    assert_eq!(ran.job(2).start, Some(Time::from_secs(105)));
}

#[test]
fn it_is_told_whose_slice_it_is() {
    let spec = site(10, &format!("scojo-pect[{SLICES}]"));
    let jobs = [job(1, 0, 6, 150), job(2, 1, 6, 60)];
    let told = |id, at| {
        let told = explained(&spec, &jobs, id, at);
        assert_eq!(told.reason(), Reason::OtherSlice);
        explained_rule(&told)
    };
    assert_eq!(told(2, 50), "it is a medium job, and the slice of long jobs lasts until 100 s");
    assert_eq!(told(2, 101), "slices of job classes change, and no job runs until 102 s");
    assert_eq!(told(1, 120), "it is a long job, and the slice of medium jobs lasts until 150 s");
}
