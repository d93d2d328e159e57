//! The grid as a library: steps, a run up to an instant, a command from outside, and two futures of one snapshot.
//!
//! `cargo run --example one_site`
//!
//! ```text
//! four jobs --> [ site `windsor`: 4 processors, EASY ] --> records
//!                              ^
//!        "cancel job 2 at 20 s"
//! ```

#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::error::Error;

use gridemu::entity::ToSite;
use gridemu::grid::{Command, Grid, GridSave};
use gridemu::local::Registry;
use gridemu::model::{Job, JobId, JobRecord, Record, SiteId, SiteSpec};
use gridemu::units::{Span, Time};
use gridemu::workload::Jobs;

const PROCESSORS: u32 = 4;

/// The grid at its beginning. Job 1 leaves one processor free. Job 2 requests all four and waits, with a reservation at 60 s. Job 3
/// ends before that and is backfilled. Job 4 would run past it, and waits behind job 2.
fn grid() -> Result<Grid, Box<dyn Error>> {
    let job = |id, submit, procs, run| Job::rigid(id, Time::from_secs(submit), procs, Span::from_secs(run));
    let jobs = vec![job(1, 0, 3, 60), job(2, 5, 4, 30), job(3, 10, 1, 40), job(4, 15, 1, 100)];
    let site = SiteSpec::plain("windsor", PROCESSORS, "easy".parse()?);
    Ok(Grid::new(vec![(site, Some(Box::new(Jobs::new(jobs))))], &Registry::standard())?)
}

/// Continues from a snapshot, with one more command if given, and returns the records.
fn future(from: &GridSave, command: Option<Command>) -> Result<Vec<Record>, Box<dyn Error>> {
    let mut grid = grid()?;
    grid.restore(from.clone(), false)?;
    if let Some(command) = command {
        grid.command(command)?;
    }
    let mut records = Vec::new();
    grid.run(&mut records)?;
    Ok(records)
}

fn cancel() -> Command {
    Command { at: Time::from_secs(20), site: SiteId(0), body: ToSite::Cancel(JobId(2)) }
}

fn jobs(records: &[Record]) -> Vec<&JobRecord> {
    let mut jobs: Vec<_> = records
        .iter()
        .filter_map(|record| match record {
            Record::Job(job) => Some(job),
            _ => None,
        })
        .collect();
    jobs.sort_by_key(|job| job.id);
    jobs
}

/// Prints a line for each job, then one for each processor: a character is 5 s, and the digit is the job that holds the processor.
fn show(records: &[Record]) {
    for job in jobs(records) {
        let start = job.start.map_or_else(|| "never".to_owned(), |at| at.to_string());
        println!(
            "  job {}  submitted {:>2}  started {start:>5}  ended {:>3}  {}",
            job.id, job.submit, job.end, job.outcome
        );
    }
    let width = jobs(records).iter().map(|job| job.end.micros() / 5_000_000).max().unwrap_or(0);
    let mut chart = vec![vec![b'.'; width as usize]; PROCESSORS as usize];
    for record in records {
        if let Record::Segment(segment) = record {
            let cells = segment.from.micros() / 5_000_000..segment.to.micros() / 5_000_000;
            for proc in segment.procs.iter() {
                chart[proc as usize][cells.start as usize..cells.end as usize]
                    .fill(b'0' + segment.job.0 as u8);
            }
        }
    }
    for (proc, line) in chart.iter().enumerate() {
        println!("  processor {proc} |{}|", String::from_utf8_lossy(line));
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut grid = grid()?;
    let mut records: Vec<Record> = Vec::new();

    println!("Step by step:");
    for _ in 0..2 {
        let Some(at) = grid.step(&mut records)? else { break };
        println!("  handled {at}");
    }

    grid.run_until(Time::from_secs(16), &mut records)?;
    let live = grid.sites().map(gridemu::entity::Site::live).sum::<usize>();
    println!("At {} s: {live} jobs wait or run, {} records so far.", grid.now(), records.len());
    let snapshot = grid.snapshot()?;

    println!("\nLeft alone:");
    show(&future(&snapshot, None)?);
    println!("\nJob 2 cancelled at 20 s:");
    show(&future(&snapshot, Some(cancel()))?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(records: &[Record]) -> Vec<(u64, Option<Time>)> {
        jobs(records).iter().map(|job| (job.id.0, job.start)).collect()
    }

    fn at(seconds: u64) -> Option<Time> {
        Some(Time::from_secs(seconds))
    }

    #[test]
    fn a_snapshot_has_two_futures() {
        let mut grid = grid().unwrap();
        let mut records: Vec<Record> = Vec::new();
        grid.run_until(Time::from_secs(16), &mut records).unwrap();
        let snapshot = grid.snapshot().unwrap();

        let alone = future(&snapshot, None).unwrap();
        assert_eq!(starts(&alone), [(1, at(0)), (2, at(60)), (3, at(10)), (4, at(90))]);
        // Without job 2 ahead of it, job 4 starts as soon as job 3 releases its processor.
        let cancelled = future(&snapshot, Some(cancel())).unwrap();
        assert_eq!(starts(&cancelled), [(1, at(0)), (2, None), (3, at(10)), (4, at(50))]);

        // The uninterrupted run has the same records as the continued one.
        grid.run(&mut records).unwrap();
        assert_eq!(records, alone);
    }
}
