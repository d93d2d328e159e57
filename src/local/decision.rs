//! The facts of a decision, which a pass records if an explanation is requested.
//!
//! A policy decides once. If facts are requested, [`super::Actions::trace`] is there, and the pass records what it has found:
//!
//! ```
//! # use gridemu::local::{Actions, Rule, View};
//! # fn schedule(view: &View<'_>, actions: &mut Actions) {
//! # let (free, first) = (view.free(), None);
//! if let Some(trace) = actions.trace() {
//!     trace.free = free;
//!     trace.rule = Rule::InOrder { first };
//! }
//! # }
//! ```
//!
//! Facts describe the pass, and not each job that it has skipped: queues are indexed, and a pass looks at few jobs. Why a waiting
//! job has or has not started is a function of the facts, the job and the view: [`Decision::explain`].

use super::Awake;
use crate::model::{JobKey, ProcSet};
use crate::units::{Span, Time};

/// The facts of one pass of a local policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// The instant of the pass.
    pub at: Time,
    /// Jobs that it has started or resumed, in order. [`super::Actions`] records them.
    pub started: Vec<JobKey>,
    /// Jobs that earlier passes of its instant have started, and that are not on processors yet: where there is a pass per event, that is so until
    /// the instant ends. With when they are expected to end, on the slowest machines. The partition records them.
    pub before: Vec<(JobKey, Time)>,
    /// Processors that it has left free; where processors are shared, those that can take another job.
    pub free: u32,
    /// The free processors of machines that were awake when it began, if any slept. The partition records them.
    pub awake: Option<Awake>,
    /// Waiting dedicated jobs that the policy handles as such, by requested start; with the start of the reservation that each
    /// has in the policy's plan, where it plans.
    pub dedicated: Vec<(JobKey, Option<Time>)>,
    /// The rule by which the other jobs wait.
    pub rule: Rule,
}

/// The rule by which the jobs wait that a pass has not started, with the facts needed to apply it to one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// The policy does not record a rule.
    #[default]
    Unsaid,
    /// No job overtakes the first in line.
    InOrder {
        /// The first in line, which does not fit; `None` if no job waits.
        first: Option<JobKey>,
    },
    /// No job overtakes the first in line, which needs processors with fewer than `most` jobs.
    Level {
        /// The first in line, for which there are too few of them; `None` if no job waits.
        first: Option<JobKey>,
        /// Processors that run `most` jobs after the pass.
        full: ProcSet,
        /// The multiprogramming level.
        most: u32,
    },
    /// The first in line needs processors whose jobs it may join.
    Sharing {
        /// The first in line, for which there are too few of them; `None` if no job waits.
        first: Option<JobKey>,
        /// Processors that the first in line cannot get after the pass.
        closed: ProcSet,
        /// Whether jobs may overtake it.
        backfills: bool,
    },
    /// The first in line needs processors that are free in one time slot.
    Slots {
        /// The first in line, for which no slot has enough; `None` if no job waits.
        first: Option<JobKey>,
        /// Processors on which it is to start.
        needs: u32,
        /// Whether jobs may overtake it.
        backfills: bool,
        /// When the time slice ends that runs now, if nothing is done before.
        slice: Option<Time>,
    },
    /// The first in line has a reservation; another job starts if it fits beside all reservations.
    Backfill {
        /// The first in line, which does not fit; `None` if no job waits.
        first: Option<JobKey>,
        /// The shadow time, at which its reservation begins, if the pass computed it.
        shadow: Option<Time>,
    },
    /// Every waiting job has a reservation.
    Plan {
        /// Waiting jobs, by the start of their reservations.
        starts: Vec<(JobKey, Time)>,
        /// How reservations move up when a job ends.
        compress: Compress,
    },
    /// The pass starts the set of jobs that fills the free processors best.
    Packing(Packing),
    /// The pass starts what the best order of the waiting jobs starts that it has found.
    Search(Searched),
    /// Classes of jobs have the machine in turn.
    Slices(SliceFacts),
    /// The idle job with the largest expansion factor that fits starts, and may suspend others.
    Preemption {
        /// How many processors idle jobs could get by suspending running jobs, as far as those hold any that they need; the others could get none.
        may_suspend: Vec<(JobKey, u32)>,
        /// Jobs for which others are being suspended, and the processors that they get.
        claims: Vec<(JobKey, ProcSet)>,
        /// How many times the expansion factor of a running job that of an idle job must be, in millionths, and that it matters at multiples of
        /// this; `None` if idle jobs suspend none.
        routine: Option<(u64, Span)>,
    },
}

/// How reservations move when a job ends before its estimate.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Compress {
    /// Each moves to its earliest time, in order of submission.
    #[default]
    Submission,
    /// Each moves to its earliest time, in order of reserved start.
    Start,
    /// Each keeps its time.
    None,
}

/// Whose slice it is, where classes of jobs have the machine in turn. Classes have numbers: short jobs 0, medium ones 1, long ones 2.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SliceFacts {
    /// From which estimate on a job is a medium one, and a long one.
    pub bounds: [Span; 2],
    /// The class of the slice, from when on jobs run in it, and when it ends; `None` before the first.
    pub slice: Option<(usize, Time, Time)>,
    /// The first waiting job of each class, in the order of the pass.
    pub first: [Option<JobKey>; 3],
    /// The preempted jobs of each class.
    pub preempted: [Vec<JobKey>; 3],
    /// The group of each class, if there is one.
    pub groups: [Option<GroupFacts>; 3],
}

/// A group of waiting jobs whose order has been searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupFacts {
    /// Its jobs that have not started, in the order of its plan.
    pub left: Vec<JobKey>,
    /// When it was formed.
    pub formed: Time,
    /// From when on its plan holds: the search may take time.
    pub ready: Time,
    /// How many jobs it had then.
    pub size: u32,
    /// Jobs that were placed, over all orders.
    pub nodes: u64,
    /// Orders that were completed.
    pub orders: u64,
    /// Whether the best order has less slowdown than that of the heuristic.
    pub is_better: bool,
}

/// A search of a pass for the best order of the waiting jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Searched {
    /// How many jobs are planned.
    pub lookahead: u32,
    /// What the search has found; `None` if no job that is planned fits on the free processors, so that there was none.
    pub found: Option<SearchFacts>,
    /// The first job that is planned and does not start now.
    pub first: Option<JobKey>,
    /// Jobs of the best order that do not start now, in this order.
    pub plan: Vec<PlannedJob>,
}

/// What a search has found.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchFacts {
    /// Nodes that were entered: jobs that were placed, over all orders.
    pub nodes: u64,
    /// Orders that were completed.
    pub orders: u64,
    /// At how many places the best order does not follow the heuristic.
    pub discrepancies: u32,
    /// Whether it is better than the heuristic's own order.
    pub is_better: bool,
    /// Whether no order is better.
    pub is_proven: bool,
}

/// A job in the best order of a search.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PlannedJob {
    /// The job.
    pub job: JobKey,
    /// When it starts in this schedule.
    pub start: Time,
    /// Its place in the order, from 1.
    pub place: u32,
    /// Its place in the heuristic's own order.
    pub in_heuristic: u32,
}

/// The last set of jobs that a pass has chosen to fill the free processors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packing {
    /// The first job of the queue, after the pass.
    pub first: Option<JobKey>,
    /// Processors that were free for the set; `None` if the pass looked for no set.
    pub free: Option<u32>,
    /// The freeze that the set must not delay.
    pub freeze: Option<FreezeFacts>,
    /// The candidates.
    pub looked_at: Vec<JobKey>,
    /// Candidates that cannot start beside the others because of a reservation.
    pub refused: Vec<JobKey>,
    /// Candidates that were chosen.
    pub chosen: Vec<JobKey>,
    /// The lookahead: how many jobs may be candidates.
    pub lookahead: u32,
    /// How often each waiting job has been skipped as the first of the queue.
    pub skipped: Vec<(JobKey, u32)>,
    /// How often a job may be skipped.
    pub most_skips: u32,
}

/// The freeze end (shadow time) of a pass.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FreezeFacts {
    /// The freeze end.
    pub time: Time,
    /// Time until the freeze end: a job that runs longer than this still runs then.
    pub window: Span,
    /// Processors that are spare at the freeze end.
    pub spare: u32,
    /// The first job of the queue, if the freeze is for that job.
    pub first: Option<JobKey>,
    /// The number of dedicated jobs that the freeze is for.
    pub dedicated: usize,
}

impl Decision {
    /// Begins the facts of a pass at `at`: none is known yet.
    pub(super) fn begin(&mut self, at: Time) {
        self.at = at;
        self.started.clear();
        self.before.clear();
        self.dedicated.clear();
        (self.free, self.awake, self.rule) = (0, None, Rule::Unsaid);
    }
}
