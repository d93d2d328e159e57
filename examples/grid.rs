//! A grid as a library object: two sites under a broker, one of which goes down while it runs a job.
//!
//! `cargo run --example grid`
//!
//! ```text
//! jobs --> portal --> broker --> dispatcher --1 s--> [ windsor: 4 processors ]
//!                       ^                     \-1 s--> [ delft: 4 processors, down from 50 s to 200 s ]
//!                       '---- a report of each site every 10 s, 1 s old when it comes
//! ```

#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::error::Error;

use gridemu::grid::{Grid, Policies};
use gridemu::model::{
    BrokerSpec, ChurnAct, ChurnSpec, FailureAction, GridSpec, Job, JobRecord, Link, NetworkSpec,
    PlannedChurn, Record, SiteSpec,
};
use gridemu::units::{Span, Time};
use gridemu::workload::Jobs;

/// Both sites are free when job 1 arrives, and ties go to the first site. Job 2 is sent to `delft`, fails when the site leaves at
/// 50 s, and returns to the broker; 10 s later it is sent to `windsor`, where it waits for job 1.
fn run() -> Result<Vec<Record>, Box<dyn Error>> {
    let (seconds, span) = (Time::from_secs, Span::from_secs);
    let mut delft = SiteSpec::plain("delft", 4, "easy".parse()?);
    delft.churn = ChurnSpec {
        on_failure: FailureAction::Resubmit,
        script: vec![
            PlannedChurn { at: seconds(50), act: ChurnAct::LeaveSite },
            PlannedChurn { at: seconds(200), act: ChurnAct::JoinSite },
        ],
        ..ChurnSpec::default()
    };
    let spec = GridSpec {
        seed: 1,
        sites: vec![SiteSpec::plain("windsor", 4, "easy".parse()?), delft],
        network: NetworkSpec::uniform(Link { latency: span(1), bandwidth: None }),
        broker: Some(BrokerSpec { monitoring_interval: span(10), ..BrokerSpec::new("mct".parse()?) }),
    };
    let jobs = vec![Job::rigid(1, seconds(0), 4, span(100)), Job::rigid(2, seconds(20), 4, span(50))];
    let policies = Policies::standard();
    let mut grid = Grid::build(&spec, Vec::new(), Some(Box::new(Jobs::new(jobs))), &policies)?;
    let mut records = Vec::new();
    grid.run(&mut records)?;
    Ok(records)
}

fn jobs(records: &[Record]) -> impl Iterator<Item = &JobRecord> {
    records.iter().filter_map(|record| match record {
        Record::Job(job) => Some(job),
        _ => None,
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let records = run()?;
    for record in &records {
        if let Record::Event(event) = record {
            let job = event.job.map_or_else(String::new, |job| format!(" job {job}"));
            println!("at {:>3} s: {}{job}", event.time, event.kind.name());
        }
    }
    for job in jobs(&records) {
        let start = job.start.map_or_else(|| "never".to_owned(), |at| at.to_string());
        println!(
            "job {}: first started {start:>2}, ended {:>3} at site {}, {} attempts",
            job.id, job.end, job.site, job.attempts
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each message takes a second. Job 1 runs from 1 to 101, job 2 from 21 to 50; job 2 is back at the broker at 51, planned again
    /// at 61, at `windsor` at 62, and runs from 101 to 151.
    #[test]
    fn a_job_that_lost_its_site_ends_at_the_other() {
        let records = run().unwrap();
        let seen: Vec<_> = jobs(&records)
            .map(|job| {
                let start = job.start.map(|at| at.micros() / 1_000_000);
                (job.id.0, job.site.0, start, job.end.micros() / 1_000_000, job.attempts)
            })
            .collect();
        assert_eq!(seen, [(1, 0, Some(1), 101, 1), (2, 0, Some(21), 151, 2)]);
        let events: Vec<_> = records
            .iter()
            .filter_map(|record| match record {
                Record::Event(event) => Some((event.time.micros() / 1_000_000, event.kind.name())),
                _ => None,
            })
            .collect();
        assert_eq!(events, [(50, "left"), (50, "returned"), (61, "reassigned"), (101, "continued")]);
    }
}
