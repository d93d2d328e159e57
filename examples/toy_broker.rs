//! A broker policy in one file: the policy, its description, and a picture over which it is held against others.
//!
//! `cargo run --release --example toy_broker`
//!
//! Inside the library a policy is the same file under `src/broker/policies` and its name in `policies.rs`.

#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::error::Error;

use gridemu::broker::{
    BrokerAbilities, BrokerPolicy, BrokerPolicyInfo, BrokerRegistry, Picture, Pool, PoolFacts, WaitingJob,
};
use gridemu::model::{Job, PartitionId, PoolId, SiteId};
use gridemu::units::{Power, Rate, Span, Time};

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

/// An idle pool of a nearby site.
fn pool(number: u32, name: &str, processors: u32) -> Pool {
    Pool::unheard_of(PoolFacts {
        id: PoolId { site: SiteId(number), partition: PartitionId(0) },
        site: name.to_owned(),
        partition: "default".to_owned(),
        processors,
        quantum: 1,
        speed: Rate::FULL,
        idle: Power::ZERO,
        busy: Power::ZERO,
        pue_ppm: 1_000_000,
        latency: Span::ZERO,
        bandwidth: None,
    })
}

/// Where the policy sends jobs of so many processors, all of an hour, that come in this order to three idle sites.
fn sent(policy: &str, procs: &[u32]) -> Result<Vec<Option<String>>, Box<dyn Error>> {
    let registry = BrokerRegistry::standard().with(&INFO);
    let mut policy = registry.build(&policy.parse()?, 7)?;
    let mut pools = [pool(0, "windsor", 64), pool(1, "delft", 32), pool(2, "lyon", 16)];
    let job = |(id, procs): (u64, &u32)| Job::rigid(id, Time::ZERO, *procs, Span::from_secs(3_600));
    let jobs: Vec<Job> = (1..).zip(procs).map(job).collect();
    let waiting: Vec<WaitingJob<'_>> = jobs.iter().map(|job| WaitingJob::new(job, &[])).collect();

    let mut picture = Picture::new(Time::ZERO, &mut pools, &waiting, true);
    policy.plan(&mut picture);
    let mut sent = vec![None; jobs.len()];
    for planned in picture.into_plan() {
        sent[planned.job] = Some(pools[planned.pool].facts.site.clone());
    }
    Ok(sent)
}

const PROCS: [u32; 5] = [16, 16, 8, 8, 64];

fn main() -> Result<(), Box<dyn Error>> {
    println!("Three idle sites: windsor with 64 processors, delft with 32, lyon with 16.");
    println!("Five jobs of an hour, in order of arrival, and where each goes:\n");
    print!("{:<24}", "policy");
    PROCS.iter().for_each(|procs| print!("{:>12}", format!("{procs} procs")));
    println!();
    for policy in ["tightest", "fastest-free", "round-robin", "least-loaded", "mct"] {
        print!("{policy:<24}");
        sent(policy, &PROCS)?
            .into_iter()
            .for_each(|site| print!("{:>12}", site.unwrap_or_else(|| "waits".to_owned())));
        println!();
    }
    println!("\nOnly a tight fit leaves windsor empty for the last, which fits nowhere else.");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 16 fill lyon, 16 and twice 8 fill delft, and windsor is left for 64. Who takes the first or the emptiest site has
    /// a small job there by then.
    #[test]
    fn a_tight_fit_leaves_room_for_the_widest() {
        let sent = |policy| sent(policy, &PROCS).unwrap();
        let expected = ["lyon", "delft", "delft", "delft", "windsor"].map(|site| Some(site.to_owned()));
        assert_eq!(sent("tightest"), expected);
        assert_eq!(sent("fastest-free")[4], None, "waits");
        assert_eq!(sent("fastest-free")[..4], vec![Some("windsor".to_owned()); 4]);
        for policy in ["round-robin", "least-loaded", "mct"] {
            let sent = sent(policy);
            assert_eq!(sent[4].as_deref(), Some("windsor"), "{policy}: it fits nowhere else");
            assert!(sent[..4].contains(&sent[4]), "{policy}: behind another");
        }
    }

    #[test]
    fn what_finds_nothing_free_waits() {
        assert_eq!(sent("tightest", &[64, 40, 32]).unwrap()[1], None);
    }
}
