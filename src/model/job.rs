//! A job: one request for processors.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::text::words;
use super::{ElasticCommand, HoldId, JobId, Limits, PartitionId, Speedup, SpeedupError, TaskContext};
use crate::units::{Bytes, Energy, Money, Rate, Span, Time, Work};

/// The processors that a job can use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Size {
    /// Exactly this many.
    Rigid(u32),
    /// Any number in the range, chosen when the job starts.
    Moldable {
        /// The fewest processors.
        min: u32,
        /// The number for which the run time is given.
        preferred: u32,
        /// The most processors.
        max: u32,
        /// The rate as a function of the number.
        speedup: Speedup,
    },
    /// Any number in the range, changeable while the job runs.
    Malleable {
        /// The fewest processors.
        min: u32,
        /// The number for which the run time is given.
        preferred: u32,
        /// The most processors.
        max: u32,
        /// The rate as a function of the number.
        speedup: Speedup,
    },
}

words! {
    /// Whether and when the number of processors of a job can change (Feitelson and Rudolph 1996).
    #[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum JobKind {
        /// Never.
        #[default]
        Rigid = "rigid",
        /// When it starts.
        Moldable = "moldable",
        /// While it runs, too.
        Malleable = "malleable",
    }
}

words! {
    /// The origin of a job.
    #[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum Origin {
        /// A user of the site: the site's own workload, which is notified of its end, or a command.
        #[default]
        Local = "local",
        /// The grid: it came through the portal.
        Grid = "grid",
    }
}

/// The data that a job of the grid carries from entity to entity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GridContext {
    /// Its number among the jobs that the portal has admitted, unique in the run.
    pub number: u64,
    /// Input data, which must be at the site before the job is submitted there.
    pub input: Bytes,
    /// Output data, which returns to the portal when the job has completed.
    pub output: Bytes,
    /// The number of this assignment, from 1; it distinguishes a late message about an older one.
    pub assignment: u32,
    /// The number of assignments that do not count as tries, because the broker itself recalled them.
    pub recalled: u32,
    /// The number of earlier attempts, at any site.
    pub attempts: u32,
    /// The start of the first attempt.
    pub first_start: Option<Time>,
    /// Work of earlier attempts that checkpoints have kept.
    pub kept: Work,
    /// Energy charged for earlier attempts.
    pub energy: Energy,
    /// The part of it beyond what machines draw idle.
    pub dynamic: Energy,
    /// Money charged for earlier attempts.
    pub cost: Money,
    /// The time at which the last attempt failed, if one did and none has started since.
    pub failed_at: Option<Time>,
    /// The number of elastic commands that have been carried out for it.
    pub commands: u32,
    /// What a task of a workflow has beyond that, if anything.
    pub task: Option<Box<TaskContext>>,
    /// The reservation that is kept for it, if it is a part of a co-allocated job.
    pub part: Option<HoldId>,
}

/// The job that this one follows (SWF fields 17 and 18).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Predecessor {
    /// The job to wait for.
    pub job: JobId,
    /// The user's think time between its end and this job's submission.
    pub think: Span,
}

/// One request, as a workload states it. Times are at the reference speed 1; on processors of speed `v` the
/// run time and the estimate are both divided by `v`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The number in the workload.
    pub id: JobId,
    /// The time of submission.
    pub submit: Time,
    /// The processors that it can use.
    pub size: Size,
    /// The run time on the (preferred) size at the reference speed.
    pub runtime: Span,
    /// The run time as the user estimates it; the kill limit unless the site allows overrun.
    pub estimate: Span,
    /// The memory that it needs on each processor, if its workload states it: requested, or else used (SWF fields 10 and 7). A task of a workflow states it
    /// otherwise ([`Needs`](super::Needs)).
    pub memory: Option<Bytes>,
    /// User number, −1 if unknown.
    pub user: i32,
    /// Group number, −1 if unknown.
    pub group: i32,
    /// Executable number, −1 if unknown.
    pub executable: i32,
    /// Queue number, −1 if unknown.
    pub queue: i32,
    /// The partition that it requests, if any.
    pub partition: Option<PartitionId>,
    /// The job it follows, if its workload is replayed with user feedback.
    pub after: Option<Predecessor>,
    /// The wait that the workload's own machine recorded (SWF field 3), for validation.
    pub recorded_wait: Option<Span>,
    /// The earliest start that it requests, if it is a dedicated (interactive) job.
    pub requested_start: Option<Time>,
    /// Commands that its user will give, in the order of their times; no policy sees them before.
    pub elastic: Option<Box<[ElasticCommand]>>,
    /// Its deadline and its budget, if it has any.
    pub limits: Option<Box<Limits>>,
    /// The data of a job that came through the portal.
    pub grid: Option<Box<GridContext>>,
}

/// A job that is invalid on any machine.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum JobError {
    /// A request for no processors.
    #[error("job {0} requests no processors")]
    NoProcessors(JobId),
    /// `min ≤ preferred ≤ max` does not hold.
    #[error("job {id} has a size of {min} to {max} processors without its preferred {preferred}")]
    BadRange {
        /// The job.
        id: JobId,
        /// The fewest processors.
        min: u32,
        /// The preferred number.
        preferred: u32,
        /// The most processors.
        max: u32,
    },
    /// An invalid speedup curve.
    #[error("job {id}: {problem}")]
    Speedup {
        /// The job.
        id: JobId,
        /// What is wrong with it.
        problem: SpeedupError,
    },
}

impl Size {
    /// The fewest, the preferred and the most processors.
    const fn range(&self) -> (u32, u32, u32) {
        match *self {
            Self::Rigid(n) => (n, n, n),
            Self::Moldable { min, preferred, max, .. } | Self::Malleable { min, preferred, max, .. } => {
                (min, preferred, max)
            }
        }
    }

    /// The number of processors for which the run time is given.
    pub const fn preferred(&self) -> u32 {
        self.range().1
    }

    /// The fewest processors the job can start on.
    pub const fn min(&self) -> u32 {
        self.range().0
    }

    /// The most processors the job can use.
    pub const fn max(&self) -> u32 {
        self.range().2
    }

    /// Whether and when the number can change.
    pub const fn kind(&self) -> JobKind {
        match self {
            Self::Rigid(_) => JobKind::Rigid,
            Self::Moldable { .. } => JobKind::Moldable,
            Self::Malleable { .. } => JobKind::Malleable,
        }
    }

    /// Whether the number may change while the job runs.
    pub const fn is_malleable(&self) -> bool {
        matches!(self, Self::Malleable { .. })
    }

    /// Progress on `procs` dedicated processors of speed 1, relative to the preferred size.
    pub fn rate_on(&self, procs: u32) -> Rate {
        match self {
            Self::Rigid(_) => Rate::FULL,
            Self::Moldable { preferred, speedup, .. } | Self::Malleable { preferred, speedup, .. } => {
                Rate::ratio(speedup.on(procs).units(), speedup.on(*preferred).units())
            }
        }
    }
}

impl Job {
    /// A rigid job with an exact estimate and no other properties.
    pub fn rigid(id: u64, submit: Time, procs: u32, runtime: Span) -> Self {
        Self {
            id: JobId(id),
            submit,
            size: Size::Rigid(procs),
            runtime,
            estimate: runtime,
            memory: None,
            user: -1,
            group: -1,
            executable: -1,
            queue: -1,
            partition: None,
            after: None,
            recorded_wait: None,
            grid: None,
            requested_start: None,
            elastic: None,
            limits: None,
        }
    }

    /// The same job with another estimate.
    #[must_use]
    pub fn estimated(mut self, estimate: Span) -> Self {
        self.estimate = estimate;
        self
    }

    /// The time after which its result is worth less, if any.
    pub fn deadline(&self) -> Option<Time> {
        self.limits.as_ref()?.deadline
    }

    /// The deadline at which it is ended, if it is.
    #[inline]
    pub fn killed_at(&self) -> Option<Time> {
        self.limits.as_ref()?.killed_at()
    }

    /// The cost at which it is ended, if it is.
    #[inline]
    pub fn killed_over(&self) -> Option<Money> {
        self.limits.as_ref()?.killed_over()
    }

    /// Changes the submission to `at`. The requested start, the deadline and the commands of its user move along, since they are relative to
    /// the submission.
    pub fn resubmit(&mut self, at: Time) {
        let submit = self.submit;
        let moved = |time: Time| at + time.since(submit);
        self.requested_start = self.requested_start.map(moved);
        self.elastic.iter_mut().flatten().for_each(|command| command.at = moved(command.at));
        if let Some(limits) = &mut self.limits {
            limits.deadline = limits.deadline.map(moved);
        }
        self.submit = at;
    }

    /// Checks what holds for a job on any machine.
    ///
    /// # Errors
    /// [`JobError`] names the job and what is wrong with its size or speedup.
    pub fn check(&self) -> Result<(), JobError> {
        let (min, preferred, max) = self.size.range();
        if min == 0 {
            Err(JobError::NoProcessors(self.id))
        } else if !(min <= preferred && preferred <= max) {
            Err(JobError::BadRange { id: self.id, min, preferred, max })
        } else {
            match &self.size {
                Size::Rigid(_) => Ok(()),
                Size::Moldable { speedup, .. } | Size::Malleable { speedup, .. } => {
                    speedup.check().map_err(|problem| JobError::Speedup { id: self.id, problem })
                }
            }
        }
    }
}
