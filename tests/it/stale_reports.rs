//! What a broker believes of pools between their reports; comments contain the arithmetic.

use gridemu::model::{GridSpec, Job, Record};
use gridemu::units::{Rate, Span, Time};

use crate::cli::gridemu;
use crate::grid::{build, jobs_of, plain};
use crate::support::job;

/// Number, site, first start and end of each job, in seconds.
fn times(spec: &GridSpec, jobs: Vec<Job>) -> Vec<(u64, u32, u64, u64)> {
    let mut records: Vec<Record> = Vec::new();
    build(spec, jobs).run(&mut records).expect("it runs");
    let secs = |time: Time| time.micros() / 1_000_000;
    let all = jobs_of(&records).into_iter();
    all.map(|job| (job.id.0, job.site.0, secs(job.start.expect("it started")), secs(job.end))).collect()
}

/// Four idle machines that report at 0 and at 600. Twelve tasks of a minute come at 300: three for each, by 480. Counted from the report, five would seem to be
/// over at 300, and so the first machine got six.
#[test]
fn a_task_counts_from_when_it_is_sent_and_not_from_the_last_report() {
    for policy in ["mct", "least-loaded[by=start]", "fastest-free[full=queue]"] {
        let spec = plain(&[1; 4], policy, 0, 600);
        let jobs = (1..=12).map(|id| job(id, 300, 1, 60)).collect();
        let placed = times(&spec, jobs);
        assert!(placed.iter().all(|(id, site, ..)| u64::from(*site) == (id - 1) % 4), "{policy}: {placed:?}");
        assert_eq!(placed.iter().map(|(.., end)| *end).max(), Some(480), "{policy}");
    }
}

/// Reports at 0, 1000 and 2000. That at 1000 says: the first machine is taken until 1600, the second, of half the speed, until 1665. Three tasks of a minute at
/// 1010 go behind the first: until 1660, 1720, 1780, where the second would do the third by 1665 + 120 = 1785. At 1666 one of them has ended: two are left, and
/// they take not 120 from 1600 on, but until 1780. So the next goes to the second machine, until 1786, and not to the first, until 1840.
#[test]
fn what_is_left_in_flight_comes_after_what_has_ended() {
    let mut spec = plain(&[1, 1], "mct", 0, 1000);
    spec.sites[1].partitions[0].groups[0].speed = Rate::ratio(1, 2);
    let mut second = job(2, 0, 1, 0);
    (second.runtime, second.estimate) = (Span::from_micros(832_500_000), Span::from_micros(832_500_000));
    let mut jobs = vec![job(1, 0, 1, 1600), second];
    jobs.extend((3..=5).map(|id| job(id, 1010, 1, 60)));
    jobs.push(job(6, 1666, 1, 60));
    assert_eq!(
        times(&spec, jobs),
        [
            (1, 0, 0, 1600),
            (2, 1, 0, 1665),
            (3, 0, 1600, 1660),
            (4, 0, 1660, 1720),
            (5, 0, 1720, 1780),
            (6, 1, 1666, 1786),
        ]
    );
}

/// A task that is estimated to take an hour and takes ten seconds leaves its pool to the next. Both machines get one of these and one of a minute at 300; at 320
/// the minutes run, until 370, and the next goes to the first machine.
#[test]
fn what_ends_early_frees_its_pool() {
    let spec = plain(&[1, 2], "mct", 0, 3600);
    let short = |id| {
        let mut job = job(id, 300, 1, 10);
        job.estimate = Span::from_secs(3600);
        job
    };
    // 1: the first, by 3900. 2 and 3: the second, by 3900. 4 of a minute: behind 2 and 3, 300 + 7200 / 2, as behind 1: the first. At 320 the first machine
    // runs it until 370, and has only that in flight; the second site is idle.
    let jobs = vec![short(1), short(2), short(3), job(4, 300, 1, 60), job(5, 320, 2, 60), job(6, 321, 1, 60)];
    assert_eq!(
        times(&spec, jobs),
        [
            (1, 0, 300, 310),
            (2, 1, 300, 310),
            (3, 1, 300, 310),
            (4, 0, 310, 370),
            (5, 1, 320, 380),
            // By 370 + 60 at the first and 320 + 60 + 60 at the second.
            (6, 0, 370, 430),
        ]
    );
}

/// A pool asks for work once. Tasks that were to answer it, and are taken back while their files are on their way, leave its request open: the run went on for ever
/// with jobs that no pool asked for again.
#[test]
fn what_is_taken_back_on_its_way_leaves_a_request_for_work_open() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.toml");
    let scenario = "[[site]]\nname = 'a'\nmachines = [{ class = 'node', count = 5 }]\n[network]\nlatency = '20 ms'\n\
                    [broker]\npolicy = 'pull'\nreplan = 'every-report'\n\
                    [[workload]]\npoisson = { jobs = 10, every = '8 min', size = '1..2', runtime = 'exponential[mean=15 min]' }\n\
                    [[workload]]\nworkflow = 'montage[tasks=40]'\n";
    std::fs::write(&file, scenario).unwrap();
    gridemu(&["run", file.to_str().unwrap()]).well();
}
