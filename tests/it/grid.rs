//! Grids under a broker: small hand-worked cases, and invariants of all grids.

use gridemu::grid::{Grid, Policies};
use gridemu::model::{
    BrokerSpec, GridSpec, Job, JobRecord, Link, NetworkSpec, Origin, Outcome, Record, RejectReason, SiteId,
    SiteSpec,
};
use gridemu::units::{Span, Time};
use gridemu::workload::Jobs;

use crate::support::job;

/// Plain FCFS sites of so many processors, all `latency` seconds from the portal.
pub(crate) fn plain(processors: &[u32], policy: &str, latency: u64, monitoring_interval: u64) -> GridSpec {
    let link = Link { latency: Span::from_secs(latency), bandwidth: None };
    let site =
        |(at, procs): (usize, &u32)| SiteSpec::plain(&format!("site-{at}"), *procs, "fcfs".parse().unwrap());
    GridSpec {
        seed: 1,
        sites: processors.iter().enumerate().map(site).collect(),
        network: NetworkSpec::uniform(link),
        broker: Some(BrokerSpec {
            monitoring_interval: Span::from_secs(monitoring_interval),
            ..BrokerSpec::new(policy.parse().expect("a broker policy"))
        }),
    }
}

pub(crate) fn build(spec: &GridSpec, jobs: Vec<Job>) -> Grid {
    let policies = Policies::standard();
    Grid::build(spec, Vec::new(), Some(Box::new(Jobs::new(jobs))), &policies).expect("a grid")
}

pub(crate) fn jobs_of(records: &[Record]) -> Vec<&JobRecord> {
    let mut jobs: Vec<&JobRecord> = records
        .iter()
        .filter_map(|record| match record {
            Record::Job(job) => Some(job),
            _ => None,
        })
        .collect();
    jobs.sort_by_key(|job| job.id);
    jobs
}

/// Two sites of 4 and 2 processors, 1 s away, a report every 10 s. Job 1 (4 processors, 100 s) fits only the first site. Job
/// 2 (2 processors) comes at 20: the first site is full until 101, so the second promises earlier. Job 3 (2
/// processors) comes at 30, when both are busy: the second is free at 71 (job 2: 21 to 71).
#[test]
fn the_earliest_completion_is_chosen_from_what_sites_said() {
    let spec = plain(&[4, 2], "mct", 1, 10);
    let jobs = vec![job(1, 0, 4, 100), job(2, 20, 2, 50), job(3, 30, 2, 10)];
    let mut records: Vec<Record> = Vec::new();
    build(&spec, jobs).run(&mut records).expect("it runs");
    let of =
        |job: &JobRecord| (job.id.0, job.site.0, job.start.map(|start| start.micros() / 1_000_000), job.end);
    let jobs: Vec<_> = jobs_of(&records).into_iter().map(of).collect();
    assert_eq!(
        jobs,
        [
            (1, 0, Some(1), Time::from_secs(101)),
            (2, 1, Some(21), Time::from_secs(71)),
            (3, 1, Some(71), Time::from_secs(81)),
        ]
    );
}

#[test]
fn a_job_that_no_pool_ever_takes_is_given_up() {
    let mut records: Vec<Record> = Vec::new();
    build(&plain(&[4, 2], "mct", 1, 10), vec![job(1, 0, 5, 100)]).run(&mut records).expect("it runs");
    let jobs = jobs_of(&records);
    assert_eq!(jobs[0].outcome, Outcome::Rejected(RejectReason::TooLarge));
    assert_eq!((jobs[0].site, jobs[0].origin), (SiteId::GRID, Origin::Grid));
}
