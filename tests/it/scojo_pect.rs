//! SCOJO-PECT: schedules worked by hand. What holds of all policies that preempt is in `invariants.rs`.

use gridemu::local::Reason;
use gridemu::model::{Job, JobMemory, MemoryLaw, Preemption};
use gridemu::report::explained_rule;
use gridemu::units::{Bytes, Time};

use crate::explaining::explained;
use crate::support::{job, run, site};

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
    // With shares of 60 and 20 % the medium job has 75 s, of which it needs 62, and the long one goes on after the next switch.
    let shares = "classes=10 s/70 s,shares=20%/60%/20%,cycle=100 s,floor=10 s,switch=2 s";
    let ran = run(&site(10, &format!("scojo-pect[{shares}]")), &jobs);
    assert_eq!([1, 2].map(|id| ran.job(id).end), [214, 162].map(Time::from_secs));
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
    let spec = gridemu::model::SiteSpec { preemption, ..site(10, &format!("scojo-pect[{SLICES}]")) };
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
