//! A local policy in one file: the policy, its description, and a run that holds it against others.
//!
//! `cargo run --release --example toy_policy`
//!
//! Inside the library a policy is the same file under `src/local/policies` and its name in `policies.rs`.

#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::collections::BTreeMap;
use std::error::Error;

use gridemu::grid::Grid;
use gridemu::local::{
    Abilities, Actions, Change, Explanation, LocalPolicy, Phase, PolicyInfo, Reason, Registry, View,
};
use gridemu::metrics::{Definitions, Measures, Summary};
use gridemu::model::{JobClasses, JobKey, Record, SiteSpec};
use gridemu::workload::lublin::{Lublin, LublinSpec};

/// What the registry knows of it.
static INFO: PolicyInfo = PolicyInfo {
    name: "smallest-first",
    doc: "Starts the job with the fewest processors first, in order of arrival among equals.",
    source: "folklore; known to starve wide jobs",
    params: &[],
    abilities: |_| Abilities::PLAIN,
    build: |named| {
        named.finish(&[])?;
        Ok(Box::new(SmallestFirst::default()))
    },
};

/// Waiting jobs by `(processors, place in the order of arrival)`.
#[derive(Debug, Default)]
struct SmallestFirst {
    queue: BTreeMap<(u32, u64), JobKey>,
}

impl SmallestFirst {
    fn place(view: &View<'_>, job: JobKey) -> (u32, u64) {
        let live = view.job(job);
        (live.procs(), live.seq())
    }
}

impl LocalPolicy for SmallestFirst {
    fn on(&mut self, change: Change, view: &View<'_>) {
        match change {
            Change::Arrived(job) => {
                self.queue.insert(Self::place(view, job), job);
            }
            Change::Withdrawn(job) => {
                self.queue.remove(&Self::place(view, job));
            }
            // What is free is looked up, and no job that waits is larger than what is there.
            _ => {}
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        let mut free = view.free();
        // If the smallest does not fit, nothing does.
        while let Some(first) = self.queue.first_entry().filter(|first| first.key().0 <= free) {
            let ((procs, _), job) = first.remove_entry();
            free -= procs;
            actions.start(job, procs);
        }
    }

    /// For `gridemu explain`: who is smaller, and who has the processors.
    fn explain(&self, view: &View<'_>, job: JobKey) -> Explanation {
        let (needs, mut free) = (view.job(job).procs(), view.free());
        let mut before = Vec::new();
        for ((procs, _), smaller) in &self.queue {
            if *procs > free {
                break;
            }
            if *smaller == job {
                return Explanation::new(Reason::Starts, "it is the smallest, and it fits", needs, free);
            }
            free -= procs;
            before.push(view.waits(*smaller, Some(view.now())));
        }
        let rule = "the smallest job starts first, and not enough is free";
        Explanation::new(Reason::NoRoom, rule, needs, free)
            .blocked_by(before)
            .blocked_by(view.released_for(needs, free))
    }

    fn adopt(&mut self, view: &View<'_>) {
        self.queue =
            view.jobs_in(Phase::Waiting).into_iter().map(|job| (Self::place(view, job), job)).collect();
    }
}

const PROCESSORS: u32 = 128;
const WORKLOAD: &str = "lublin[jobs=3000,procs=128,load=0.75,seed=7]";

/// Runs the workload under a policy: measures of all jobs, and the longest wait (in seconds) of a job that was given
/// half the machine or more.
fn measured(policy: &str) -> Result<(Measures, f64), Box<dyn Error>> {
    let registry = Registry::standard().with(&INFO);
    let spec: LublinSpec = WORKLOAD.parse()?;
    let source = Box::new(Lublin::new(spec, 1, "users")?);
    let site = SiteSpec { record_segments: false, ..SiteSpec::plain("toy", PROCESSORS, policy.parse()?) };
    let mut records: Vec<Record> = Vec::new();
    Grid::new(vec![(site, Some(source))], &registry)?.run(&mut records)?;

    let mut summary = Summary::new(Definitions::new(Definitions::TAU, JobClasses::none(), PROCESSORS));
    let mut longest_wide = 0.0_f64;
    for record in &records {
        if let Record::Job(job) = record {
            summary.add(job);
            if job.procs >= PROCESSORS / 2 {
                longest_wide = longest_wide.max(job.wait().as_secs_f64());
            }
        }
    }
    Ok((summary.whole(), longest_wide))
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("{WORKLOAD} on {PROCESSORS} processors\n");
    println!(
        "{:<16}{:>6}{:>12}{:>12}{:>12}{:>24}",
        "policy", "jobs", "mean wait", "p95 wait", "mean bsld", "longest wait, 64+ procs"
    );
    for policy in ["fcfs", "smallest-first", "easy", "easy[order=saf]"] {
        let (all, wide) = measured(policy)?;
        println!(
            "{policy:<16}{:>6}{:>10.2} h{:>10.2} h{:>12.1}{:>22.1} h",
            all.measured,
            all.mean_wait.unwrap_or_default() / 3_600.0,
            all.p95_wait.unwrap_or_default() / 3_600.0,
            all.mean_bounded_slowdown.unwrap_or_default(),
            wide / 3_600.0,
        );
    }
    println!("\nWait: from submission to first start. bsld: slowdown, with runs below 10 s counted as 10 s.");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridemu::model::Job;
    use gridemu::units::{Span, Time};
    use gridemu::workload::Jobs;

    /// On 4 processors, a job of 4 runs until 10 s. Of those that wait then, the ones of 1 and 2 start; the one of 3,
    /// although it came first, when both have ended.
    #[test]
    fn the_smallest_start_first() {
        let job = |id, submit, procs| Job::rigid(id, Time::from_secs(submit), procs, Span::from_secs(10));
        let jobs = Jobs::new(vec![job(1, 0, 4), job(2, 1, 3), job(3, 2, 2), job(4, 3, 1)]);
        let site = SiteSpec::plain("toy", 4, "smallest-first".parse().unwrap());
        let registry = Registry::standard().with(&INFO);
        let mut records: Vec<Record> = Vec::new();
        Grid::new(vec![(site, Some(Box::new(jobs)))], &registry).unwrap().run(&mut records).unwrap();
        let mut starts: Vec<_> = records
            .iter()
            .filter_map(|record| match record {
                Record::Job(job) => Some((job.id.0, job.start?)),
                _ => None,
            })
            .collect();
        starts.sort_unstable();
        assert_eq!(starts, [(1, 0), (2, 20), (3, 10), (4, 10)].map(|(id, at)| (id, Time::from_secs(at))));
    }

    #[test]
    fn small_jobs_gain_what_wide_ones_lose() {
        let (toy, toy_wide) = measured("smallest-first").unwrap();
        let (fcfs, _) = measured("fcfs").unwrap();
        let (_, easy_wide) = measured("easy").unwrap();
        assert_eq!((toy.measured, fcfs.measured), (3_000, 3_000), "every job ends");
        assert!(toy.mean_wait < fcfs.mean_wait, "{:?} {:?}", toy.mean_wait, fcfs.mean_wait);
        assert!(toy_wide > easy_wide, "{toy_wide} {easy_wide}");
    }
}
