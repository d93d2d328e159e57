//! A local policy: the smallest job first.

use std::collections::BTreeMap;

use gridemu::local::{Abilities, Actions, Change, LocalPolicy, Phase, PolicyInfo, View};
use gridemu::model::JobKey;

/// What the registry knows of it.
pub fn info() -> PolicyInfo {
    PolicyInfo::new("smallest-first", |_| Ok((Box::new(SmallestFirst::default()), Abilities::PLAIN)))
        .doc("Starts the job with the fewest processors first, in order of arrival among equals.")
        .source("folklore; known to starve wide jobs")
}

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

    fn adopt(&mut self, view: &View<'_>) {
        self.queue =
            view.jobs_in(Phase::Waiting).into_iter().map(|job| (Self::place(view, job), job)).collect();
    }
}
