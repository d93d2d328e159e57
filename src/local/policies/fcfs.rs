//! First come, first served.

use std::collections::VecDeque;

use crate::local::{Abilities, Actions, Change, LocalPolicy, Phase, PolicyInfo, Rule, View};
use crate::model::JobKey;

pub(super) fn info() -> PolicyInfo {
    PolicyInfo::new("fcfs", |_| Ok((Box::new(Fcfs::default()), Abilities::PLAIN)))
        .doc("Starts jobs in order of arrival; a job that does not fit blocks all jobs behind it.")
        .source("folklore; the baseline of Huang 2004")
}

/// First come, first served, without backfilling.
#[derive(Debug, Default)]
pub struct Fcfs {
    queue: VecDeque<JobKey>,
}

impl LocalPolicy for Fcfs {
    fn on(&mut self, change: Change, _view: &View<'_>) {
        match change {
            Change::Arrived(job) => self.queue.push_back(job),
            Change::Withdrawn(job) => self.queue.retain(|waiting| *waiting != job),
            // Waiting jobs are never larger than the capacity, and free processors are looked up.
            _ => {}
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        let mut free = view.free();
        while let Some(head) = self.queue.front() {
            let procs = view.job(*head).procs();
            if procs > free {
                break;
            }
            free -= procs;
            actions.start(*head, procs);
            self.queue.pop_front();
        }
        if let Some(trace) = actions.trace() {
            (trace.free, trace.rule) = (free, Rule::InOrder { first: self.queue.front().copied() });
        }
    }

    fn adopt(&mut self, view: &View<'_>) {
        self.queue = view.jobs_in(Phase::Waiting).into();
    }
}
