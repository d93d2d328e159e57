//! The interface of a local policy: changes in, actions out.

use super::{Decision, Note, SearchEffort, Slot, SlotRequest, StartEstimates, View, XFactor};
use crate::model::{EventCause, JobKey, Preemption, ProcSet};
use crate::units::{Rate, Span, Time};

/// A change in the partition, of which its policy is notified when it happens.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// The job has joined the end of the queue: it is new, or its attempt failed with a machine, or it had been ineligible for
    /// lack of machines. Its [`super::LiveJob::seq`] is new in any case.
    Arrived(JobKey),
    /// A job that had started does not run any more: it has ended, or it has lost its machine. Its processors are free, unless
    /// they are down. The job can still be looked up as it ran, but its key will be reused.
    Ended(JobKey),
    /// The job is suspended now, and has released its processors: it had to write its memory before, or it had not yet gone on when a machine of it went
    /// down. [`super::LiveJob::expected_end`] is still what it was before. Not sent of jobs that are suspended at once, by the pass itself.
    Suspended(JobKey),
    /// The job has left the queue without having started, for good or because it is larger than the present capacity.
    Withdrawn(JobKey),
    /// An elastic command has changed the request of the waiting job, which keeps its place. Sent only to policies with
    /// [`super::Abilities::elastic`].
    Altered {
        /// The job, with its new processors and estimate.
        job: JobKey,
        /// Processors it requested before.
        procs: u32,
        /// Its estimate before.
        estimate: Span,
    },
    /// The reservation book changed, or a reservation began or ended.
    Reserved,
    /// [`View::capacity`] and [`View::here`] have become smaller. The jobs that ran there have been reported as ended before, unless the machines only
    /// drain: then they go on, [`super::LiveJob::held`] is less, and [`Change::Moved`] follows for each.
    Left,
    /// The capacity has grown: machines are back or drain no longer, or processors that a stalled job had kept.
    Joined,
    /// A job runs that the policy has not started now: it was stalled because of a machine (and had been reported as ended), and
    /// continues where it ran. On shared processors the next pass must leave the shares valid, its own among them.
    Continued(JobKey),
    /// The running job is expected to end at another time than before: a machine has changed its speed, or an elastic command has
    /// changed the job. Also sent right after a suspension that takes time, with when it releases its processors; and right after a start if the job's machines are slowed down, or if its checkpoints differ from
    /// those that were foreseen. And if another number of its processors is released at its end, because machines drain or do so no longer.
    Moved {
        /// The job; [`super::LiveJob::expected_end`] is the new time.
        job: JobKey,
        /// When it was expected to end. Right after a start on its [`super::LiveJob::procs`] processors with a full share: now
        /// plus its estimate.
        from: Time,
    },
}

/// The processors to place a job on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// This many processors, the lowest free ones.
    Any(u32),
    /// Exactly these processors.
    On(ProcSet),
}

/// An action of a policy. The partition checks each one before it carries it out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Start a waiting job, with this share of its processors' time.
    Start {
        /// The job.
        job: JobKey,
        /// The processors to start it on.
        placement: Placement,
        /// [`Rate::FULL`] unless processors are time-shared.
        share: Rate,
    },
    /// Take a running job off its processors; it keeps the work it has done. If that takes time, it holds its processors until then
    /// ([`super::Phase::Suspending`]), and [`Change::Suspended`] follows.
    Suspend {
        /// The job to suspend.
        job: JobKey,
        /// Why, if it is for another job.
        why: Option<Preempted>,
    },
    /// Put a suspended job on processors again. If that takes time, it does no work until then ([`super::Phase::Resuming`]).
    Resume {
        /// The job to resume.
        job: JobKey,
        /// The processors to resume it on.
        placement: Placement,
        /// Its share from now on.
        share: Rate,
    },
    /// Give a running malleable job another set of processors. If that takes time, it does no work until then
    /// ([`super::Phase::Reconfiguring`]); those that it gives up are free at once.
    Resize {
        /// The job to resize.
        job: JobKey,
        /// Its processors from now on; they may include some that it has now.
        placement: Placement,
        /// Why, for the record of it.
        why: EventCause,
    },
    /// Change a running job's share.
    SetShare {
        /// The job whose share changes.
        job: JobKey,
        /// Its share from now on.
        share: Rate,
    },
    /// Change what part of its rate a running job keeps beside the jobs that it shares processors with. It has all of it when it starts or resumes.
    SetEfficiency {
        /// The job whose efficiency changes.
        job: JobKey,
        /// Its efficiency from now on; above 1 if it gains by the others.
        efficiency: Rate,
    },
    /// End a started job.
    Kill {
        /// The job to kill.
        job: JobKey,
    },
    /// Refuse a waiting job.
    Reject {
        /// The job to refuse.
        job: JobKey,
    },
}

/// Why a job is suspended: another one gets its processors.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Preempted {
    /// The job that gets them.
    pub by: JobKey,
    /// The expansion factor of the job that is suspended.
    pub ours: XFactor,
    /// That of the job that gets its processors.
    pub theirs: XFactor,
}

/// The actions of one pass, in order; its wake; and, if requested, the facts of its decision.
#[derive(Debug, Default)]
pub struct Actions {
    pub(super) list: Vec<Action>,
    pub(super) wake: Option<Time>,
    pub(super) notes: Vec<Note>,
    pub(super) trace: Option<Box<Decision>>,
}

impl Actions {
    /// The actions of a pass at `now` that records the facts of its decision.
    pub fn traced(now: Time) -> Self {
        Self { trace: Some(Box::new(Decision { at: now, ..Decision::default() })), ..Self::default() }
    }

    /// Where the pass records the facts of its decision; `None`, the usual case, if they were not requested.
    #[inline]
    pub fn trace(&mut self) -> Option<&mut Decision> {
        self.trace.as_deref_mut()
    }

    /// The facts of the decision, after the pass, if they were requested.
    pub fn decision(&self) -> Option<&Decision> {
        self.trace.as_deref()
    }

    /// Starts a waiting job on `procs` dedicated processors, the lowest free ones.
    pub fn start(&mut self, job: JobKey, procs: u32) {
        self.push(Action::Start { job, placement: Placement::Any(procs), share: Rate::FULL });
    }

    /// Suspends a running job, which nothing is known to get the processors of.
    pub fn suspend(&mut self, job: JobKey) {
        self.push(Action::Suspend { job, why: None });
    }

    /// Suspends a running job for another one.
    pub fn preempt(&mut self, job: JobKey, why: Preempted) {
        self.push(Action::Suspend { job, why: Some(why) });
    }

    /// Resumes a suspended job on these processors, which it does not share.
    pub fn resume_on(&mut self, job: JobKey, procs: ProcSet) {
        self.push(Action::Resume { job, placement: Placement::On(procs), share: Rate::FULL });
    }

    /// Adds any action.
    #[inline]
    pub fn push(&mut self, action: Action) {
        if let (Some(trace), Action::Start { job, .. } | Action::Resume { job, .. }) =
            (&mut self.trace, &action)
        {
            trace.started.push(*job);
        }
        self.list.push(action);
    }

    /// Requests a pass at `at`, strictly later than now. The earliest request of a pass counts; each pass replaces the wake
    /// of the one before.
    pub fn wake_at(&mut self, at: Time) {
        self.wake = Some(self.wake.map_or(at, |earlier| earlier.min(at)));
    }

    /// Tells what the files of a run have of slices and groups.
    pub fn note(&mut self, note: Note) {
        self.notes.push(note);
    }

    /// What has been told so far.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The actions so far.
    pub fn as_slice(&self) -> &[Action] {
        &self.list
    }

    /// The time of the pass that has been requested so far, if any.
    pub fn wake(&self) -> Option<Time> {
        self.wake
    }

    pub(super) fn begin(&mut self, now: Time) {
        self.list.clear();
        self.notes.clear();
        self.wake = None;
        if let Some(trace) = &mut self.trace {
            trace.begin(now);
        }
    }
}

/// A scheduling algorithm of a partition.
///
/// A policy decides from the changes it is notified of and from the [`View`]; it reads no clock and draws no random numbers.
/// Each partition of a site has an instance of its own.
pub trait LocalPolicy: Send {
    /// Notifies the policy of a change, before the pass that follows it. Several changes of one instant may precede one pass.
    fn on(&mut self, change: Change, view: &View<'_>);

    /// One scheduling pass: records what should be done now; and, if [`Actions::trace`] is there, the facts of the decision.
    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions);

    /// When the present queue would leave enough processors for the requested slot, earliest first. The default considers running
    /// jobs and reservations, but no waiting job.
    fn offers(&self, view: &View<'_>, request: &SlotRequest) -> Vec<Slot> {
        view.profile_ahead().offers(request)
    }

    /// When an arriving job could start, by size. The default is [`View::start_estimates`]: expected ends of running jobs, the
    /// reservation book, and the backlog; a policy that has a plan can estimate better.
    fn start_estimates(&self, view: &View<'_>) -> StartEstimates {
        view.start_estimates()
    }

    /// What a user should know who runs it where preemption costs this: a sentence whose subject is the policy.
    fn remark(&self, _costs: &Preemption) -> Option<String> {
        None
    }

    /// What its decisions have taken so far, if it searches.
    fn effort(&self) -> Option<SearchEffort> {
        None
    }

    /// Whether it gives the machine to classes of jobs in turn, and [tells](Note::Slice) of its slices.
    fn has_slices(&self) -> bool {
        false
    }

    /// Whether it [tells](Note::Group) of groups of jobs.
    fn has_groups(&self) -> bool {
        false
    }

    /// The policy's own state for a snapshot, beyond what [`LocalPolicy::adopt`] rebuilds from the view.
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Restores what [`LocalPolicy::save`] returned, in the state in which it was saved. The default calls
    /// [`LocalPolicy::adopt`].
    ///
    /// # Errors
    /// A sentence on what is wrong with the saved state.
    fn restore(&mut self, _saved: &[u8], view: &View<'_>) -> Result<(), String> {
        self.adopt(view);
        Ok(())
    }

    /// Takes over a partition in the middle of a run and drops all earlier state: there are waiting and running jobs that the
    /// policy has not been notified of.
    fn adopt(&mut self, view: &View<'_>);
}
