//! First come, first served.

use crate::local::{Abilities, Actions, Arrivals, Change, LocalPolicy, PolicyInfo, Rule, View};

pub(super) fn info() -> PolicyInfo {
    PolicyInfo::new("fcfs", |_| Ok((Box::new(Fcfs::default()), Abilities::PLAIN)))
        .doc("Starts jobs in order of arrival; a job that does not fit blocks all jobs behind it.")
        .source("folklore; the baseline of Huang 2004")
}

/// First come, first served, without backfilling.
#[derive(Debug, Default)]
pub struct Fcfs {
    queue: Arrivals,
}

impl LocalPolicy for Fcfs {
    fn on(&mut self, change: Change, view: &View<'_>) {
        // Waiting jobs are never larger than the capacity, and free processors are looked up.
        if let Change::Arrived(job) = change {
            self.queue.push(view.job(job).seq(), job);
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        let mut free = view.free();
        while let Some(head) = self.queue.first(view) {
            let procs = view.job(head).procs();
            if procs > free {
                break;
            }
            free -= procs;
            actions.start(head, procs);
            self.queue.pop();
        }
        if let Some(trace) = actions.trace() {
            (trace.free, trace.rule) = (free, Rule::InOrder { first: self.queue.first(view) });
        }
    }

    fn adopt(&mut self, view: &View<'_>) {
        self.queue = Arrivals::of(view);
    }
}
