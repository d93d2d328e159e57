//! A broker policy in one file: the policy, its description, and a grid on which it is held against others.
//!
//! `cargo run --release --example toy_broker`
//!
//! Inside the library a policy is the same file under `src/broker/policies` and its name in `policies.rs`.

#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::error::Error;

use gridemu::broker::{BrokerAbilities, BrokerPolicy, BrokerPolicyInfo, BrokerRegistry, Picture};
use gridemu::grid::Grid;
use gridemu::local::Registry;
use gridemu::metrics::{Definitions, Measures, Summary};
use gridemu::model::{BrokerSpec, GridSpec, JobClasses, Link, NetworkSpec, Record, SiteSpec};
use gridemu::units::Span;
use gridemu::workload::Source;
use gridemu::workload::lublin::{Lublin, LublinSpec};

/// What the registry knows of it.
static INFO: BrokerPolicyInfo = BrokerPolicyInfo {
    name: "tightest",
    doc: "Sends each job, in order of arrival, to the pool where it leaves the fewest processors free.",
    source: "best fit of bin packing",
    params: &[],
    abilities: BrokerAbilities::PLAIN,
    build: |named, _seed| {
        named.finish(&[])?;
        Ok(Box::new(Tightest))
    },
};

/// Best fit. A job that finds its processors nowhere free waits with the broker.
#[derive(Debug)]
struct Tightest;

impl BrokerPolicy for Tightest {
    fn plan(&mut self, picture: &mut Picture<'_>) {
        for job in 0..picture.waiting().len() {
            // What is free, less what this broker has sent there since. The job fits, so nothing is negative.
            let left = |at: usize| {
                let pool = &picture.pools()[at];
                let free = u64::from(pool.report.free).saturating_sub(pool.in_flight.procs);
                picture.is_free(job, at).then_some(free)
            };
            if let Some(pool) = picture.least(job, true, left) {
                picture.assign(job, pool);
            }
        }
    }
}

/// The sites and their processors.
const SITES: [(&str, u32); 3] = [("windsor", 128), ("delft", 64), ("lyon", 32)];
const WORKLOAD: &str = "lublin[jobs=3000,procs=128,load=1.2,seed=7]";

/// Runs jobs that come through the portal under a broker policy.
fn run(policy: &str, jobs: Box<dyn Source>) -> Result<Vec<Record>, Box<dyn Error>> {
    let link = Link { latency: Span::from_micros(20_000), bandwidth: None };
    let site = |(name, processors)| -> Result<SiteSpec, Box<dyn Error>> {
        Ok(SiteSpec { record_segments: false, ..SiteSpec::plain(name, processors, "easy".parse()?) })
    };
    let spec = GridSpec {
        seed: 7,
        sites: SITES.into_iter().map(site).collect::<Result<_, _>>()?,
        network: NetworkSpec::uniform(SITES.len(), link),
        broker: Some(BrokerSpec::new(policy.parse()?)),
    };
    let brokers = BrokerRegistry::standard().with(&INFO);
    let mut records: Vec<Record> = Vec::new();
    Grid::build(&spec, Vec::new(), Some(jobs), &Registry::standard(), &brokers)?.run(&mut records)?;
    Ok(records)
}

/// Measures of all jobs of the workload, and how many of them each site ran.
fn measured(policy: &str) -> Result<(Measures, [usize; 3]), Box<dyn Error>> {
    let spec: LublinSpec = WORKLOAD.parse()?;
    let mut summary = Summary::new(Definitions::new(Definitions::TAU, JobClasses::none(), 128));
    let mut ran = [0; 3];
    for record in run(policy, Box::new(Lublin::new(spec, 1, "portal")?))? {
        if let Record::Job(job) = &record {
            summary.add(job);
            ran[job.site.index()] += 1;
        }
    }
    Ok((summary.whole(), ran))
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("{WORKLOAD} through a broker that hears of its sites once a minute\n");
    print!("{:<16}{:>6}{:>12}{:>12}{:>12}", "policy", "jobs", "mean wait", "p95 wait", "mean bsld");
    SITES.iter().for_each(|(name, _)| print!("{name:>10}"));
    println!();
    for policy in ["tightest", "fastest-free", "random", "round-robin", "least-loaded", "mct"] {
        let (all, ran) = measured(policy)?;
        print!(
            "{policy:<16}{:>6}{:>10.2} h{:>10.2} h{:>12.1}",
            all.measured,
            all.mean_wait.unwrap_or_default() / 3_600.0,
            all.p95_wait.unwrap_or_default() / 3_600.0,
            all.mean_bounded_slowdown.unwrap_or_default(),
        );
        ran.iter().for_each(|jobs| print!("{jobs:>10}"));
        println!();
    }
    println!("\nWait: from submission to first start. bsld: slowdown, with runs below 10 s counted as 10 s.");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridemu::model::Job;
    use gridemu::units::Time;
    use gridemu::workload::Jobs;

    /// Where jobs of so many processors run that come within a minute, each for an hour.
    fn sites(policy: &str, procs: &[u32]) -> Vec<(u32, bool)> {
        let job =
            |(id, procs): (u64, &u32)| Job::rigid(id, Time::from_secs(id), *procs, Span::from_secs(3_600));
        let jobs: Vec<Job> = (1..).zip(procs).map(job).collect();
        let mut ran: Vec<_> = run(policy, Box::new(Jobs::new(jobs)))
            .unwrap()
            .into_iter()
            .filter_map(|record| match record {
                Record::Job(job) => Some((job.id, (job.site.0, job.wait() < Span::SECOND))),
                _ => None,
            })
            .collect();
        ran.sort_unstable();
        ran.into_iter().map(|(_, site)| site).collect()
    }

    /// 32 fill lyon; 32, 16 and 16 fill delft; windsor is left for 128, which fit nowhere else and start at once. Under the
    /// others somebody is there by then.
    #[test]
    fn a_tight_fit_leaves_room_for_the_widest() {
        let procs = [32, 32, 16, 16, 128];
        let tight = [(2, true), (1, true), (1, true), (1, true), (0, true)];
        assert_eq!(sites("tightest", &procs), tight);
        for policy in ["fastest-free", "round-robin", "least-loaded", "mct"] {
            assert_eq!(sites(policy, &procs)[4], (0, false), "{policy}");
        }
    }

    #[test]
    fn every_job_of_the_workload_ends_at_a_site() {
        let (all, ran) = measured("tightest").unwrap();
        assert_eq!((all.measured, ran.iter().sum::<usize>()), (3_000, 3_000));
    }
}
