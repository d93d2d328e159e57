//! The idle job that starts next.

use super::Books;
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
    /// Its place among the suspended jobs, if it is one.
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
    /// The idle job with the largest expansion factor for which there are enough free processors; if it is suspended, its own.
    pub(in crate::local::policies) fn best_fit(&mut self, now: Time, free: &ProcSet) -> Option<Choice> {
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
        for (at, idle) in self.suspended.iter_mut().enumerate() {
            // Most often it is as it was.
            if !free.contains(idle.hindrance) {
                continue;
            }
            let waited = idle.line.at(now);
            if best.is_some_and(|best| !best.is_after(waited, idle.seq)) {
                continue;
            }
            if let Some(proc) = idle.procs.difference(free).first() {
                idle.hindrance = proc;
                continue;
            }
            let (seq, job, procs) = (idle.seq, idle.job, idle.count);
            best = Some(Choice { waited, seq, job, procs, suspended: Some(at) });
        }
        best
    }
}
