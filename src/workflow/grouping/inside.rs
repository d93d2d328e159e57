//! What happens inside a group: when each of its tasks runs.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use rustc_hash::FxHashMap;

use crate::units::{Bytes, Span};
use crate::workflow::{Task, TaskId, Workflow};

/// How the tasks of a group share its processors.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Inside {
    /// They run one after the other. The group has the processors of the task that needs most.
    InTurn,
    /// They run side by side, on so many processors at most, or more if one of them needs more: in the order of levels, then of numbers,
    /// each as soon as those before it have started, its predecessors in the group have ended and there are processors.
    SideBySide(u32),
}

impl Inside {
    /// The same on no more processors than a group has.
    pub(super) fn on(self, procs: u32) -> Self {
        match self {
            Self::InTurn => Self::InTurn,
            Self::SideBySide(_) => Self::SideBySide(procs),
        }
    }

    /// When each task of a group runs, from the group's start on, and the most processors that are in use at once. `tasks` are in an order in
    /// which each stands behind its predecessors; `runtime` is how long a task runs.
    pub(super) fn runs(
        self,
        workflow: &Workflow,
        tasks: &[TaskId],
        runtime: impl Fn(&Task) -> Span,
    ) -> (Vec<(Span, Span)>, u32) {
        let most = tasks.iter().map(|task| workflow.task(*task).procs).max().unwrap_or(1);
        let procs = match self {
            Self::InTurn => {
                let mut now = Span::ZERO;
                let run = |task: &TaskId| {
                    let start = now;
                    now += runtime(workflow.task(*task));
                    (start, now)
                };
                return (tasks.iter().map(run).collect(), most);
            }
            Self::SideBySide(procs) => procs.max(most),
        };
        let place: FxHashMap<TaskId, usize> =
            tasks.iter().enumerate().map(|(at, task)| (*task, at)).collect();
        let inner =
            |at: usize| workflow.successors(tasks[at]).filter_map(|(next, _)| place.get(&next).copied());
        let mut missing = vec![0_u32; tasks.len()];
        (0..tasks.len()).flat_map(inner).for_each(|next| missing[next] += 1);
        let mut ready: BTreeSet<usize> = (0..tasks.len()).filter(|at| missing[*at] == 0).collect();
        let mut runs = vec![(Span::ZERO, Span::ZERO); tasks.len()];
        let mut ends = BinaryHeap::new();
        let (mut now, mut free, mut peak) = (Span::ZERO, procs, 0);
        loop {
            while let Some(at) = ready.first().copied().filter(|at| workflow.task(tasks[*at]).procs <= free) {
                ready.pop_first();
                let task = workflow.task(tasks[at]);
                free -= task.procs;
                runs[at] = (now, now + runtime(task));
                ends.push(Reverse((runs[at].1, at)));
            }
            peak = peak.max(procs - free);
            let Some(Reverse((end, _))) = ends.peek().copied() else { break };
            now = end;
            while let Some(Reverse((_, at))) = ends.peek().copied().filter(|Reverse((end, _))| *end == now) {
                ends.pop();
                free += workflow.task(tasks[at]).procs;
                for next in inner(at) {
                    missing[next] -= 1;
                    if missing[next] == 0 {
                        ready.insert(next);
                    }
                }
            }
        }
        (runs, peak)
    }
}

/// The most memory that is in use at once, as far as it is known; `None` if it is of no task.
pub(super) fn peak_memory(tasks: &[&Task], runs: &[(Span, Span)]) -> Option<Bytes> {
    let known = || tasks.iter().zip(runs).filter_map(|(task, run)| Some((task.memory?.count(), run)));
    known().next()?;
    // At an instant, who ends frees before who starts takes; a task without length takes for that instant.
    let mut changes: Vec<(Span, bool, u64)> = known()
        .flat_map(|(bytes, run)| [(run.0, true, bytes), (run.1.max(run.0 + Span::TICK), false, bytes)])
        .collect();
    changes.sort_unstable();
    let (mut used, mut peak) = (0_u64, 0);
    for (_, takes, bytes) in changes {
        used = if takes { used.saturating_add(bytes) } else { used.saturating_sub(bytes) };
        peak = peak.max(used);
    }
    Some(Bytes::new(peak))
}
