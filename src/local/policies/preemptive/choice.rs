//! The idle job that starts next.

use super::{Books, Idle, Run};
use crate::local::Quotient;
use crate::model::{JobKey, ProcSet};
use crate::units::Time;

/// An idle job that can start.
#[derive(Copy, Clone, Debug)]
pub(in crate::local::policies) struct Choice {
    /// Its expansion factor, less 1.
    pub(in crate::local::policies) waited: Quotient,
    pub(in crate::local::policies) seq: u64,
    pub(in crate::local::policies) job: JobKey,
    pub(in crate::local::policies) procs: u32,
    /// Its slot among the suspended jobs, if it is one.
    pub(in crate::local::policies) suspended: Option<usize>,
}

impl Choice {
    /// Whether a job with this expansion factor (less 1) and place in the order of arrival goes before it.
    #[inline]
    pub(in crate::local::policies) fn is_after(&self, waited: Quotient, seq: u64) -> bool {
        waited > self.waited || waited == self.waited && seq < self.seq
    }
}

impl Books {
    /// The idle job with the largest expansion factor for which there are enough free processors; if it is suspended, its own. `keeps` says until when
    /// a running job is certain to keep a suspended one from resuming, if it does.
    pub(in crate::local::policies) fn best_fit(
        &mut self,
        now: Time,
        free: &ProcSet,
        keeps: impl Fn(&Idle, &Run) -> Option<Time>,
    ) -> Option<Choice> {
        let mut best: Option<Choice> = None;
        if free.is_empty() {
            return None;
        }
        for (procs, width) in self.waiting.range_mut(..=free.len()) {
            let Some(head) = width.jobs.best(now) else { continue };
            let waited = head.line.at(now);
            if best.is_none_or(|best| best.is_after(waited, head.seq)) {
                best = Some(Choice { waited, seq: head.seq, job: head.item, procs: *procs, suspended: None });
            }
        }
        self.best_suspended(now, free, best, keeps, |_, _| false)
    }

    /// The best of a choice and the suspended jobs that can resume on their processors: all of them are free, or held by running jobs none of which keeps
    /// it, and which it may replace, given how many processors they have.
    pub(in crate::local::policies) fn best_suspended(
        &mut self,
        now: Time,
        free: &ProcSet,
        mut best: Option<Choice>,
        keeps: impl Fn(&Idle, &Run) -> Option<Time>,
        may_replace: impl Fn(&Idle, u64) -> bool,
    ) -> Option<Choice> {
        let mut at = 0;
        while let Some(slot) = self.suspended.loose(at) {
            let Some(idle) = self.suspended.get(slot) else { break };
            // Before anything else: one that is kept leaves the list.
            let before = self.suspended.lacks(slot).and_then(|proc| {
                let run = self.owner(proc)?;
                keeps(idle, run).map(|until| (proc, run.job, until))
            });
            if let Some((proc, keeper, until)) = before {
                self.suspended.keep(at, proc, keeper, until);
                continue;
            }
            let waited = idle.line.at(now);
            if best.is_some_and(|best| !best.is_after(waited, idle.seq)) {
                at += 1;
                continue;
            }
            let mut rest = idle.procs.difference(free);
            let (mut freed, mut is_taken, mut keeper) = (0, false, None);
            while let Some(proc) = rest.first() {
                let Some(run) = self.owner(proc) else {
                    // By a machine that is down, a reservation, or a job that is being suspended.
                    is_taken = true;
                    rest.remove_all(&ProcSet::range(proc, proc + 1));
                    continue;
                };
                if let Some(until) = keeps(idle, run) {
                    keeper = Some((proc, run.job, until));
                    break;
                }
                freed += u64::from(run.count);
                rest.remove_all(&run.procs);
            }
            if let Some((proc, keeper, until)) = keeper {
                self.suspended.keep(at, proc, keeper, until);
                continue;
            }
            if !is_taken && (freed == 0 || may_replace(idle, freed)) {
                let (seq, job, procs) = (idle.seq, idle.job, idle.count);
                best = Some(Choice { waited, seq, job, procs, suspended: Some(slot) });
            }
            at += 1;
        }
        best
    }
}
