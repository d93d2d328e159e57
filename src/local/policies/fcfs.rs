//! First come, first served.

use std::collections::VecDeque;

use crate::local::{Abilities, Actions, Change, LocalPolicy, Phase, PolicyInfo, View};
use crate::model::JobKey;

pub(super) const INFO: PolicyInfo = PolicyInfo {
    name: "fcfs",
    doc: "Starts jobs in order of arrival; a job that does not fit holds up all behind it.",
    source: "folklore; the baseline of Huang 2004",
    params: &[],
    abilities: |_| Abilities::PLAIN,
    build: |named| {
        named.finish(&[])?;
        Ok(Box::new(Fcfs::default()))
    },
};

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
            // Those that wait are not larger than what is there, and what is free is looked up.
            Change::Ended(_)
            | Change::Reserved
            | Change::Left
            | Change::Joined
            | Change::Continued(_)
            | Change::Moved { .. } => {}
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
    }

    fn adopt(&mut self, view: &View<'_>) {
        self.queue = view.jobs_in(Phase::Waiting).into();
    }
}
