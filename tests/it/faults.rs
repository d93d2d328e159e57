//! Faults of what sites and the grid say to each other: cases worked by hand, and what holds of all grids.

use gridemu::grid::{WindowOptions, changes};
use gridemu::model::{
    EventCause, EventKind, FaultKind, FaultSpec, GridSpec, Heartbeat, JobRecord, Link, MessageKind,
    MessageKinds, Outcome, Record, SiteId,
};
use gridemu::platform::Usage;
use gridemu::units::{Span, Time};
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;

use crate::forks::{Aspects, check_fork, forked, mixed};
use crate::grid::{jobs_of, plain};
use crate::grid_by_hand::{at, events, run, times};
use crate::grid_invariants::check_run;
use crate::grid_same::{all_actors, all_windows};
use crate::grids::{GridCase, grids, grouped_grids};
use crate::legs::{in_legs, same, stretches};
use crate::support::job;

fn fault(kind: FaultKind, sites: &[u32], from: u64, until: u64) -> FaultSpec {
    let sites = sites.iter().copied().map(SiteId).collect();
    FaultSpec { kind, sites, from: at(from), until: at(until) }
}

fn with(spec: &mut GridSpec, heartbeat: Option<(u64, u64)>, faults: &[FaultSpec]) {
    let broker = spec.broker.as_mut().expect("a broker");
    let span = Span::from_secs;
    broker.heartbeat =
        heartbeat.map(|(timeout, lease)| Heartbeat { timeout: span(timeout), lease: span(lease) });
    broker.faults = faults.to_vec();
}

/// Second, kind and cause of what happened to jobs and to messages.
fn told(records: &[Record]) -> Vec<(u64, EventKind, EventCause)> {
    let machines = |kind| matches!(kind, EventKind::Left | EventKind::Joined);
    let events = events(records).into_iter().filter(|event| !machines(event.kind));
    events.map(|event| (event.time.micros() / 1_000_000, event.kind, event.cause)).collect()
}

use EventCause::{Fault, None as Plain, Silence};
use EventKind::{Continued, Heard, Lost, Reassigned, Refused, Returned, Stale, Unheard};

/// The job starts at 1 and is done at 101. Nothing passes from 50 to 1000: its end is heard at 1001, and nobody missed the site.
#[test]
fn a_partition_holds_up_the_news() {
    let mut spec = plain(&[4, 4], "mct", 1, 10);
    with(&mut spec, None, &[fault(FaultKind::Partition, &[0], 50, 1_000)]);
    let (records, grid) = run(&spec, vec![job(1, 0, 4, 100)]);
    assert_eq!(times(&records), [(1, 0, 1, 101)]);
    assert_eq!(told(&records), []);
    // The end is handled at 1001, and the run lasts to the next full minute.
    assert_eq!(grid.now(), at(1_020));
}

/// Reports come every 10 s. The last that is heard before the partition is that of 40, at 41. With a timeout of 60 s the site is taken as lost at 101,
/// when the job has just ended; with a lease of 200 s it is over at 241. Nobody would hear of its end at 101 before 1001, so all that it has done is
/// wasted. The job is back at 241 (what is left of it came at 102), rests 10 s, and runs at the other site from 252 to 352.
#[test]
fn an_end_of_which_nobody_hears_is_a_lost_attempt() {
    let mut spec = plain(&[4, 4], "mct", 1, 10);
    with(&mut spec, Some((60, 200)), &[fault(FaultKind::Partition, &[0], 50, 1_000)]);
    let (records, grid) = run(&spec, vec![job(1, 0, 4, 100)]);
    assert_eq!(times(&records), [(1, 1, 1, 352)]);
    let record = jobs_of(&records)[0];
    assert_eq!((record.outcome, record.attempts), (Outcome::Completed, 2));
    assert_eq!(
        told(&records),
        [
            (101, Returned, Silence),
            (101, Unheard, Silence),
            (241, Lost, Silence),
            (251, Reassigned, Plain),
            (252, Continued, Plain),
        ]
    );
    let usage = |site| grid.site(SiteId(site)).unwrap().partitions()[0].usage();
    assert_eq!((usage(0).useful, usage(0).wasted), (0, 400 * Usage::PROC_SECOND));
    assert_eq!((usage(1).useful, usage(1).wasted), (400 * Usage::PROC_SECOND, 0));
}

/// The same with a job of 1000 s: the site ends it when its lease is over, at 241, after 240 s. What is left of it is known at 242. It runs again from 253.
/// The site is heard again at 1001.
#[test]
fn a_lease_that_is_over_ends_the_attempt_at_the_site() {
    let mut spec = plain(&[4, 4], "mct", 1, 10);
    with(&mut spec, Some((60, 200)), &[fault(FaultKind::Partition, &[0], 50, 1_000)]);
    let (records, grid) = run(&spec, vec![job(1, 0, 4, 1_000)]);
    assert_eq!(times(&records), [(1, 1, 1, 1_253)]);
    assert_eq!(
        told(&records),
        [
            (101, Unheard, Silence),
            (241, Returned, Silence),
            (242, Lost, Silence),
            (252, Reassigned, Plain),
            (253, Continued, Plain),
            (1_001, Heard, Silence),
        ]
    );
    assert_eq!(grid.site(SiteId(0)).unwrap().partitions()[0].usage().wasted, 960 * Usage::PROC_SECOND);
    assert_eq!(grid.dispatcher().unwrap().tally().lost, 1);
}

/// The partition is over before the lease: the end of the job, at 101, is heard at 201 and counts, although the site was taken as lost.
#[test]
fn an_end_that_is_heard_within_the_lease_counts() {
    let mut spec = plain(&[4, 4], "mct", 1, 10);
    with(&mut spec, Some((60, 200)), &[fault(FaultKind::Partition, &[0], 50, 200)]);
    let (records, _) = run(&spec, vec![job(1, 0, 4, 100)]);
    assert_eq!(times(&records), [(1, 0, 1, 101)]);
    assert_eq!(told(&records), [(101, Unheard, Silence), (201, Heard, Silence)]);
}

/// The site fails at 50 and is back at 500, empty, and says so at once: only then the dispatcher learns that its job is lost. It rests until 511.
#[test]
fn a_silent_site_is_noticed_when_it_is_back() {
    let mut spec = plain(&[4], "mct", 1, 10);
    with(&mut spec, None, &[fault(FaultKind::Silent, &[], 50, 500)]);
    let (records, grid) = run(&spec, vec![job(1, 0, 4, 100)]);
    assert_eq!(times(&records), [(1, 0, 1, 612)]);
    assert_eq!(
        told(&records),
        [(50, Returned, Silence), (501, Lost, Silence), (511, Reassigned, Plain), (512, Continued, Plain)]
    );
    let usage = grid.site(SiteId(0)).unwrap().partitions()[0].usage();
    assert_eq!((usage.useful, usage.wasted), (400 * Usage::PROC_SECOND, 196 * Usage::PROC_SECOND));
}

/// With a heartbeat it is missed: the last report was heard at 41. A job that comes at 60 is still sent there, in vain: it is found out with the others.
#[test]
fn a_silent_site_is_missed_by_a_heartbeat() {
    let mut spec = plain(&[4, 2], "mct", 1, 10);
    with(&mut spec, Some((60, 60)), &[fault(FaultKind::Silent, &[0], 50, 5_000)]);
    let (records, _) = run(&spec, vec![job(1, 0, 2, 100), job(2, 60, 4, 10), job(3, 200, 2, 100)]);
    // Job 1 comes back at 101 and goes to the other site at 111; job 3 starts there when it ends. Job 2 fits there never: it waits until the first is back.
    assert_eq!(times(&records)[0], (1, 1, 1, 212));
    assert_eq!(times(&records)[2], (3, 1, 212, 312));
    assert!(times(&records)[1].2 > 5_000, "{:?}", times(&records)[1]);
    let lost = told(&records).into_iter().filter(|(_, kind, _)| *kind == Lost).map(|(at, ..)| at);
    assert_eq!(lost.collect::<Vec<_>>(), [101, 101]);
}

fn kinds(of: &[MessageKind]) -> MessageKinds {
    of.iter().copied().collect()
}

/// Everything is said twice, and the second time is ignored.
#[test]
fn what_is_said_twice_counts_once() {
    let delay = "exponential[mean=30 s]".parse().unwrap();
    let all = kinds(&MessageKind::ALL);
    let jobs = || vec![job(1, 0, 4, 100), job(2, 20, 2, 50), job(3, 30, 2, 10)];
    let mut spec = plain(&[4, 2], "mct", 1, 10);
    let expected = run(&spec, jobs()).0;
    with(&mut spec, None, &[fault(FaultKind::Twice { of: all, delay }, &[], 0, 10_000)]);
    let (records, grid) = run(&spec, jobs());
    assert_eq!(jobs_of(&records), jobs_of(&expected));
    assert_eq!(grid.dispatcher().unwrap().tally().stale, 2, "their ends, but the last");
    let of_jobs = events(&records).into_iter().filter(|event| event.job.is_some());
    assert_eq!(of_jobs.filter(|event| event.kind == Stale).count(), 5, "and their submissions");
}

/// The first site refuses the job at 1; it rests 10 s from 2 and is sent there again, as it promises the earlier end, in vain until 40.
#[test]
fn a_site_that_refuses_all_uses_up_retries() {
    let mut spec = plain(&[4], "mct", 1, 10);
    spec.broker.as_mut().unwrap().retries = 1;
    with(&mut spec, None, &[fault(FaultKind::Refuse, &[0], 0, 40)]);
    let (records, _) = run(&spec, vec![job(1, 0, 4, 100)]);
    let record = jobs_of(&records)[0];
    assert_eq!((record.outcome.name(), record.attempts, record.end), ("rejected", 0, at(14)));
    assert_eq!(told(&records)[..3], [(1, Refused, Fault), (12, Reassigned, Plain), (13, Refused, Fault)]);
}

/// The hole takes the job at 1 and fails it at 6; it is back at 7, rests to 17, is taken at 18, fails at 23, is back at 24 and rests for 20 s: it runs from 45.
#[test]
fn a_black_hole_fails_all_until_it_is_over() {
    let mut spec = plain(&[4], "mct", 1, 10);
    let hole = FaultKind::BlackHole { after: Span::from_secs(5) };
    with(&mut spec, None, &[fault(hole, &[0], 0, 40)]);
    let (records, _) = run(&spec, vec![job(1, 0, 4, 100)]);
    let record = jobs_of(&records)[0];
    assert_eq!((record.outcome, record.attempts, record.end), (Outcome::Completed, 3, at(145)));
    let failed = told(&records).into_iter().filter(|(_, kind, _)| *kind == Returned);
    assert_eq!(failed.collect::<Vec<_>>(), [(6, Returned, Fault), (23, Returned, Fault)]);
}

/// The directory forgets everything at 15, or answers the same until 100. Jobs that were sent are neither recalled nor lost.
#[test]
fn no_news_of_the_directory_is_no_departure() {
    for kind in [FaultKind::EmptyDirectory, FaultKind::StaleDirectory] {
        let mut spec = plain(&[4, 4], "mct", 1, 10);
        with(&mut spec, Some((60, 60)), &[fault(kind, &[], 15, 300)]);
        let (records, grid) = run(&spec, vec![job(1, 0, 4, 100), job(2, 20, 4, 50), job(3, 400, 4, 10)]);
        assert_eq!(told(&records), []);
        assert_eq!(times(&records), [(1, 0, 1, 101), (2, 1, 21, 71), (3, 0, 401, 411)]);
        assert_eq!(grid.dispatcher().unwrap().tally().recalled, 0);
    }
}

/// What decides when messages arrive cannot change, and the refusal says why.
#[test]
fn a_fork_keeps_the_faults() {
    let mut spec = plain(&[4, 4], "mct", 1, 10);
    with(&mut spec, Some((60, 200)), &[fault(FaultKind::Partition, &[0], 50, 1_000)]);
    let refused = |change: fn(&mut GridSpec)| {
        let mut other = spec.clone();
        change(&mut other);
        changes(&spec, &other, at(10)).expect_err("it is refused").to_string()
    };
    let broker = |spec: &mut GridSpec| spec.broker.as_mut().expect("a broker").faults.clear();
    assert!(refused(broker).contains("faults would be none instead of 1 fault"));
    let longer: fn(&mut GridSpec) =
        |spec| spec.broker.as_mut().expect("a broker").faults[0].until = at(2_000);
    assert!(refused(longer).contains("faults differ, but what has been sent was sent with them in mind"));
    let patient: fn(&mut GridSpec) = |spec| spec.broker.as_mut().expect("a broker").heartbeat = None;
    assert!(refused(patient).contains("timeout of the heartbeat would be none"));
    let often: fn(&mut GridSpec) =
        |spec| spec.broker.as_mut().expect("a broker").monitoring_interval = Span::from_secs(5);
    assert!(refused(often).contains("sites report at other times"));
    assert!(refused(|spec| spec.network.set(0, 1, Link::default())).contains("latencies differ"));
}

/// What a fault does, drawn at random.
fn kind() -> impl Strategy<Value = FaultKind> {
    let of = vec(select(MessageKind::ALL.to_vec()), 1..4).prop_map(|of| kinds(&of));
    let mean = |secs| gridemu::model::Distribution::Exponential { mean: Span::from_secs(secs) };
    (0_u8..13, of, 1_u64..100, 0_u64..20).prop_map(move |(kind, of, secs, after)| match kind {
        0 | 1 => FaultKind::Partition,
        2..=4 => FaultKind::Late { of, delay: mean(secs) },
        5 | 6 => FaultKind::Twice { of, delay: mean(secs) },
        7 | 8 => FaultKind::Silent,
        9 => {
            if after < 10 {
                FaultKind::StaleDirectory
            } else {
                FaultKind::EmptyDirectory
            }
        }
        10 => FaultKind::Refuse,
        11 => FaultKind::Lost,
        _ => FaultKind::BlackHole { after: Span::from_secs(after) },
    })
}

/// Grids with faults at any times.
pub(crate) fn faulty() -> impl Strategy<Value = GridCase> {
    let fault = (kind(), vec(0_u32..4, 0..3), 0_u64..250_000_000, 1_u64..200_000_000);
    let heartbeat = weighted(0.7, (1_u64..60, 0_u64..200));
    (grouped_grids(), vec(fault, 1..5), heartbeat).prop_map(|(mut case, faults, heartbeat)| {
        let sites = case.spec.sites.len() as u32;
        let broker = case.spec.broker.as_mut().expect("a broker");
        broker.faults = faults
            .into_iter()
            .map(|(kind, of, from, lasts)| {
                let mut sites: Vec<SiteId> = of.into_iter().map(|site| SiteId(site % sites)).collect();
                sites.dedup();
                let from = Time::from_micros(from);
                FaultSpec { kind, sites, from, until: from + Span::from_micros(lasts) }
            })
            .collect();
        if let Some((more, lease)) = heartbeat {
            if broker.monitoring_interval.is_zero() {
                broker.monitoring_interval = Span::from_secs(10);
            }
            let timeout = broker.monitoring_interval + Span::from_secs(1 + more);
            broker.heartbeat = Some(Heartbeat { timeout, lease: timeout + Span::from_secs(lease) });
        }
        case
    })
}

fn of_jobs(records: &[Record]) -> Vec<&JobRecord> {
    records.iter().filter_map(|record| if let Record::Job(job) = record { Some(job) } else { None }).collect()
}

proptest! {
    #![proptest_config(crate::support::cases(150))]

    /// Outcomes sum to what was submitted, nothing is done twice, what was charged is what was used, and the checker finds nothing.
    #[test]
    fn faults_lose_nothing_and_do_nothing_twice(case in faulty()) {
        let before = case.build();
        let (ran, after) = case.windows(WindowOptions::default());
        check_run(&case, &before, &ran, &after, None);
    }

    #[test]
    fn windows_change_no_record_with_faults(case in faulty(), ends in any::<u64>(), lag in 0_u64..100_000_000) {
        all_windows(&case, ends, lag);
    }

    #[test]
    fn legs_change_no_record_with_faults(case in faulty(), stretches in stretches()) {
        same(&in_legs(&case, &stretches), &case.stepwise());
    }

    /// A fork that changes nothing is the same run, and one under other policies, churn and prices is lawful.
    #[test]
    fn forks_go_on_with_faults(case in faulty(), other in grids(), at in 0_u64..200_000_000) {
        let at = Time::from_micros(at);
        let straight = case.windows(WindowOptions::default()).0;
        if let Some((_, ran, _)) = forked(&case, &case.spec, at) {
            prop_assert_eq!(ran, straight);
        }
        check_fork(&case, &mixed(&case.spec, &other.spec, Aspects::BESIDE_FAULTS, at), at);
    }

    /// Repetitions alone change no job, if reports come at fixed times.
    #[test]
    fn repetitions_change_no_job(mut case in grouped_grids(), from in 0_u64..100, secs in 1_u64..60) {
        let broker = case.spec.broker.as_mut().expect("a broker");
        if broker.monitoring_interval.is_zero() {
            broker.monitoring_interval = Span::from_secs(10);
        }
        let expected = case.windows(WindowOptions::default()).0;
        let delay = gridemu::model::Distribution::Exponential { mean: Span::from_secs(secs) };
        let twice = FaultKind::Twice { of: kinds(&MessageKind::ALL), delay };
        case.spec.broker.as_mut().expect("a broker").faults = vec![fault(twice, &[], from, 100_000)];
        let found = case.windows(WindowOptions::default()).0;
        // A run in which nothing can happen any more lasts longer while messages still come.
        let ended = |records| -> Vec<JobRecord> {
            of_jobs(records).into_iter().filter(|job| job.outcome != Outcome::Unfinished).cloned().collect()
        };
        prop_assert_eq!(ended(&found.records), ended(&expected.records));
        prop_assert_eq!(of_jobs(&found.records).len(), of_jobs(&expected.records).len());
    }
}

proptest! {
    // Threads that wait for each other take their time.
    #![proptest_config(crate::support::cases(15))]

    #[test]
    fn actors_change_no_record_with_faults(case in faulty()) {
        all_actors(&case);
    }
}
