//! The contract of a local policy.

use serde::{Deserialize, Serialize};

use super::{Explanation, Outlook, View};
use crate::model::{JobKey, ProcSet};
use crate::units::{Rate, Span, Time};

/// Something that happened in the partition, told to its policy when it happens.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The job has joined the queue, at its end: it is new, or lost its attempt with a machine, or had stepped aside for want
    /// of machines. Its [`super::LiveJob::seq`] is new in any case.
    Arrived(JobKey),
    /// The job, which had started, runs no more: it has ended, or it has lost its machine. Its processors are free, unless
    /// they have left. The job can still be looked at as it ran, but its key will be reused.
    Ended(JobKey),
    /// The job has left the queue without having started, for good or because it is larger than what is there.
    Withdrawn(JobKey),
    /// The waiting job asks for something else than before, by an elastic command; it keeps its place. Told only to policies that
    /// have [`super::Abilities::elastic`].
    Altered {
        /// The job, which asks for the new processors and estimate already.
        job: JobKey,
        /// Processors it asked for before.
        procs: u32,
        /// Its estimate before.
        estimate: Span,
    },
    /// The reservation book changed, or a reservation began or ended.
    Reserved,
    /// There is less: [`View::capacity`] and [`View::here`] are smaller. What ran on it has been told as ended before.
    Left,
    /// There is more: machines are back, or what a job kept that stood still.
    Joined,
    /// The job runs that the policy has not started now: it stood still for a machine (and had been told as ended), and goes on
    /// where it ran. On shared processors the next pass must leave the shares in order, its own among them.
    Continued(JobKey),
    /// The running job is expected to end at another time than it was: a machine has changed its speed. Told right after a start
    /// too, if the job's machines are slowed down, or its checkpoints are others than could be foreseen.
    Moved {
        /// The job; [`super::LiveJob::expected_end`] tells the new time.
        job: JobKey,
        /// When it was expected to end. After a start on its [`super::LiveJob::procs`] processors with a full share: its
        /// estimate from now.
        from: Time,
    },
}

/// Where to put a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// On this many processors, the lowest free ones.
    Any(u32),
    /// On exactly these.
    On(ProcSet),
}

/// What a policy wants done. The partition checks each one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Start a waiting job, with this share of its processors' time.
    Start {
        /// The job.
        job: JobKey,
        /// Where.
        place: Place,
        /// [`Rate::FULL`] unless processors are time-shared.
        share: Rate,
    },
    /// Take a running job off its processors; it keeps the work it has done.
    Suspend {
        /// The job.
        job: JobKey,
    },
    /// Put a suspended job back.
    Resume {
        /// The job.
        job: JobKey,
        /// Where.
        place: Place,
        /// Its share from now on.
        share: Rate,
    },
    /// Give a running malleable job other processors.
    Resize {
        /// The job.
        job: JobKey,
        /// Where from now on; may hold processors it has now.
        place: Place,
    },
    /// Change a running job's share.
    SetShare {
        /// The job.
        job: JobKey,
        /// Its share from now on.
        share: Rate,
    },
    /// End a started job.
    Kill {
        /// The job.
        job: JobKey,
    },
    /// Refuse a waiting job.
    Reject {
        /// The job.
        job: JobKey,
    },
}

/// The actions of one pass, in order, and the one wake.
#[derive(Debug, Default)]
pub struct Actions {
    pub(super) list: Vec<Action>,
    pub(super) wake: Option<Time>,
}

impl Actions {
    /// Starts a waiting job on `procs` dedicated processors, the lowest free ones.
    pub fn start(&mut self, job: JobKey, procs: u32) {
        self.list.push(Action::Start { job, place: Place::Any(procs), share: Rate::FULL });
    }

    /// Adds any action.
    pub fn push(&mut self, action: Action) {
        self.list.push(action);
    }

    /// Asks for a pass at `at`, strictly later than now. The earliest wish of a pass counts; each pass replaces the wake
    /// of the one before.
    pub fn wake_at(&mut self, at: Time) {
        self.wake = Some(self.wake.map_or(at, |earlier| earlier.min(at)));
    }

    /// The actions so far.
    pub fn as_slice(&self) -> &[Action] {
        &self.list
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.wake = None;
    }
}

/// A question for a slot: when could `procs` processors be had for `duration`?
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotRequest {
    /// Processors.
    pub procs: u32,
    /// How long.
    pub duration: Span,
    /// Not before.
    pub earliest: Time,
    /// How many alternatives at most.
    pub alternatives: u32,
}

/// An answer: `procs` processors from `start` for the duration asked for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// First instant.
    pub start: Time,
    /// Processors.
    pub procs: u32,
}

/// A scheduling algorithm of a partition.
///
/// A policy decides from what it is told and from the [`View`]; it reads no clock and draws nothing. Each partition of a site
/// has an instance of its own.
pub trait LocalPolicy: Send {
    /// Told of a change, before the pass that follows it. Several changes of one instant may come before one pass.
    fn on(&mut self, change: Change, view: &View<'_>);

    /// One scheduling pass: what should be done now.
    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions);

    /// When the queue as it stands would leave room for a slot, earliest first. The default looks at what runs and
    /// what is reserved, and at nothing that waits.
    fn offers(&self, view: &View<'_>, request: &SlotRequest) -> Vec<Slot> {
        view.profile().offers(request)
    }

    /// When a newcomer could start, by size. The default is [`View::outlook`]: ends of what runs, the book, and the
    /// backlog; a policy that has a plan can tell better.
    fn outlook(&self, view: &View<'_>) -> Outlook {
        view.outlook()
    }

    /// Why the waiting job `job` does or does not start in a pass at this instant, in the policy's own words. Asked before a pass
    /// (when all changes have been told) and after one, and changes nothing. The default is [`View::explanation`], which knows what
    /// runs and what is reserved, and not what the policy prefers.
    fn explain(&self, view: &View<'_>, job: JobKey) -> Explanation {
        view.explanation(job)
    }

    /// The policy's own state for a snapshot, beyond what [`LocalPolicy::adopt`] rebuilds from the view.
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes back what [`LocalPolicy::save`] gave, in the state that it was saved in. The default adopts.
    ///
    /// # Errors
    /// A sentence on what is wrong with the saved state.
    fn restore(&mut self, _saved: &[u8], view: &View<'_>) -> Result<(), String> {
        self.adopt(view);
        Ok(())
    }

    /// Takes over a partition in the middle of a run, forgetting whatever it knew: jobs wait and run that it never
    /// heard of.
    fn adopt(&mut self, view: &View<'_>);
}
