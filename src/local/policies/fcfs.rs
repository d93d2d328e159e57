//! First come, first served.

use std::collections::VecDeque;

use crate::local::explanation::{free_now, processors};
use crate::local::{Abilities, Actions, Change, Explanation, LocalPolicy, Phase, PolicyInfo, Reason, View};
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
            | Change::Altered { .. }
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

    fn explain(&self, view: &View<'_>, job: JobKey) -> Explanation {
        let (now, mut free, mut profile) = (view.now(), view.free(), view.profile());
        let needs = view.job(job).procs();
        // Those that start before it in a pass now.
        let mut started = Vec::new();
        for waiting in &self.queue {
            let live = view.job(*waiting);
            let procs = live.procs();
            if procs <= free {
                free -= procs;
                profile.reserve(now, now + live.estimate(), procs);
                started.push(view.waits(*waiting, Some(now)));
                if *waiting == job {
                    return Explanation::new(
                        Reason::Starts,
                        "it is its turn, and it fits",
                        needs,
                        free + needs,
                    );
                }
                continue;
            }
            let ends = view.released_for(procs, free);
            let start = profile.earliest(now, live.estimate(), procs);
            let profile = profile.steps().take_while(|(since, _)| start.is_none_or(|start| *since <= start));
            if *waiting == job {
                let rule =
                    format!("it is the first in line, needs {}, and {}", processors(needs), free_now(free));
                return Explanation::new(Reason::NoRoom, rule, needs, free)
                    .starting(start)
                    .blocked_by(ends)
                    .blocked_by(started)
                    .over(profile);
            }
            let head = view.who(*waiting);
            let mut rule = format!(
                "nobody overtakes: {head} is the first in line, needs {}, and {}",
                processors(procs),
                free_now(free)
            );
            if needs <= free {
                rule += ", which would do for this one";
            }
            return Explanation::new(Reason::Behind, rule, needs, free)
                .blocked_by([view.waits(*waiting, start)])
                .blocked_by(ends)
                .blocked_by(started)
                .over(profile);
        }
        view.explanation(job)
    }

    fn adopt(&mut self, view: &View<'_>) {
        self.queue = view.jobs_in(Phase::Waiting).into();
    }
}
