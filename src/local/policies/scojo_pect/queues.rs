//! The jobs of each class: waiting, preempted, and on processors.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::local::{LiveJob, Phase, View};
use crate::model::{JobKey, ProcSet};

/// The number of classes.
pub(super) const CLASSES: usize = 3;

/// The jobs of a class, in order of arrival.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Queue {
    pub(super) waiting: BTreeMap<u64, JobKey>,
    pub(super) preempted: BTreeMap<u64, JobKey>,
    /// Those that run, or are in transition.
    pub(super) running: BTreeMap<u64, JobKey>,
}

impl Queue {
    /// The jobs of this class that can run on these processors: whether there are any, and whether any of them is idle.
    fn needs(&self, view: &View<'_>, reach: &ProcSet, lookahead: usize) -> Need {
        let fits = |job: &JobKey| reach.contains_all(view.job(*job).placement());
        let starts = |job: &JobKey| view.job(*job).procs() <= reach.len();
        let idle = self.preempted.values().any(fits) || self.waiting.values().take(lookahead).any(starts);
        Need { idle, any: idle || self.running.values().any(fits) }
    }
}

/// Whether a class can use a slice.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Need {
    /// It has jobs that can run.
    pub(super) any: bool,
    /// Some of them wait or are preempted.
    pub(super) idle: bool,
}

/// The queues of the classes: short, medium and long jobs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Queues(pub(super) [Queue; CLASSES]);

impl Queues {
    /// Whether no job waits or is preempted.
    pub(super) fn none_idle(&self) -> bool {
        self.0.iter().all(|queue| queue.waiting.is_empty() && queue.preempted.is_empty())
    }

    /// All jobs.
    pub(super) fn jobs(&self) -> impl Iterator<Item = JobKey> {
        let all = self.0.iter().flat_map(|queue| [&queue.waiting, &queue.preempted, &queue.running]);
        all.flat_map(|jobs| jobs.values().copied())
    }

    /// Whether a job with this place in the order of arrival is there.
    pub(super) fn has(&self, seq: u64) -> bool {
        self.0.iter().any(|queue| {
            [&queue.waiting, &queue.preempted, &queue.running].into_iter().any(|jobs| jobs.contains_key(&seq))
        })
    }

    /// Removes the job with this place in the order of arrival, and returns its class.
    pub(super) fn remove(&mut self, seq: u64) -> Option<usize> {
        self.0.iter_mut().position(|queue| {
            [&mut queue.waiting, &mut queue.preempted, &mut queue.running]
                .into_iter()
                .any(|jobs| jobs.remove(&seq).is_some())
        })
    }

    /// The processors that a slice can have: those that are free, and those of jobs that can be suspended or are in transition. Stalled jobs keep theirs, and
    /// so do jobs on machines that drain.
    pub(super) fn reach(&self, view: &View<'_>) -> ProcSet {
        let (here, free) = (view.here(), view.free_set());
        let running = self.0.iter().flat_map(|queue| queue.running.values());
        let placed = running.map(|job| view.job(*job).placement());
        let gives = |procs: &&ProcSet| here.contains_all(procs);
        let given: u32 = placed.clone().filter(gives).map(ProcSet::len).sum();
        if free.len() + given == here.len() {
            return here.clone();
        }
        let mut reach = free.clone();
        placed.filter(gives).for_each(|procs| reach.insert_all(procs));
        reach
    }

    /// Which classes can use a slice.
    pub(super) fn needs(&self, view: &View<'_>, reach: &ProcSet, lookahead: usize) -> [Need; CLASSES] {
        self.0.each_ref().map(|queue| queue.needs(view, reach, lookahead))
    }
}

/// Whether a job is suspended at the end of a slice: one on machines that drain could not resume there, and one that does not work yet would never get to it.
pub(super) fn goes(view: &View<'_>, job: &LiveJob) -> bool {
    job.phase() == Phase::Running
        && job.works_from() < view.now()
        && view.here().contains_all(job.placement())
}
