//! A job: one request for processors.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{ElasticCommand, JobId, PartitionId, Speedup, SpeedupError};
use crate::units::{Bytes, Energy, Money, Rate, Span, Time, Work};

/// How many processors a job can use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Size {
    /// Exactly this many.
    Rigid(u32),
    /// Any number in the range, settled when the job starts.
    Moldable {
        /// Fewest processors.
        min: u32,
        /// The number for which the run time is given.
        preferred: u32,
        /// Most processors.
        max: u32,
        /// How the rate depends on the number.
        speedup: Speedup,
    },
    /// Any number in the range, changeable while the job runs.
    Malleable {
        /// Fewest processors.
        min: u32,
        /// The number for which the run time is given.
        preferred: u32,
        /// Most processors.
        max: u32,
        /// How the rate depends on the number.
        speedup: Speedup,
    },
}

/// Where a job came from.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Origin {
    /// A user of the site: its own workload, which wants to hear of its end, or a command.
    #[default]
    Own,
    /// The grid: it came through the portal.
    Sent,
}

impl Origin {
    /// The word used in every table and file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Own => "local",
            Self::Sent => "grid",
        }
    }
}

/// What a job of the grid carries with it from site to site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GridPart {
    /// Its number among the jobs that the portal has let in, unique in the run.
    pub number: u64,
    /// Data that must be at the site before it is submitted there.
    pub input: Bytes,
    /// Data that goes back to the portal when it has completed.
    pub output: Bytes,
    /// Which assignment this is, from 1; a late word about an older one can be told from the present one.
    pub try_number: u32,
    /// Assignments that do not count as tries, because the broker itself took them back.
    pub excused: u32,
    /// Attempts that were started before, at whatever site.
    pub attempts: u32,
    /// When the first of them started.
    pub first_start: Option<Time>,
    /// Work that earlier attempts have done and checkpoints have kept.
    pub kept: Work,
    /// Energy charged for earlier attempts.
    pub energy: Energy,
    /// Money charged for earlier attempts.
    pub cost: Money,
    /// When the last attempt was lost to churn, if one was and no other has started since.
    pub lost_at: Option<Time>,
    /// Elastic commands that have been carried out for it.
    pub commands: u32,
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
/// run time and the estimate both divide by `v`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Number in the workload.
    pub id: JobId,
    /// When it is submitted.
    pub submit: Time,
    /// Processors it can use.
    pub size: Size,
    /// Run time on the (preferred) size at the reference speed.
    pub runtime: Span,
    /// What the user says the run time is; the kill limit unless the site allows overrun.
    pub estimate: Span,
    /// User number, −1 if unknown.
    pub user: i32,
    /// Group number, −1 if unknown.
    pub group: i32,
    /// Executable number, −1 if unknown.
    pub executable: i32,
    /// Queue number, −1 if unknown.
    pub queue: i32,
    /// The partition it asks for, if any.
    pub partition: Option<PartitionId>,
    /// The job it follows, if its workload is replayed with user feedback.
    pub after: Option<Predecessor>,
    /// The wait that the workload's own machine recorded (SWF field 3), for validation.
    pub recorded_wait: Option<Span>,
    /// Earliest start it asks for, if it is a dedicated (interactive) job.
    pub requested_start: Option<Time>,
    /// Commands that its user will give, in the order of their times; known to nobody before.
    pub elastic: Option<Box<[ElasticCommand]>>,
    /// When its result is worth less, if ever.
    pub deadline: Option<Time>,
    /// What it carries from site to site, if it came through the portal.
    pub grid: Option<Box<GridPart>>,
}

/// A job that makes no sense on any machine.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum JobError {
    /// No processors asked for.
    #[error("job {0} asks for no processors")]
    NoProcessors(JobId),
    /// `min ≤ preferred ≤ max` does not hold.
    #[error("job {id} has a size of {min} to {max} processors that does not hold its preferred {preferred}")]
    BadRange {
        /// The job.
        id: JobId,
        /// Fewest processors.
        min: u32,
        /// Preferred number.
        preferred: u32,
        /// Most processors.
        max: u32,
    },
    /// A speedup curve that is none.
    #[error("job {id}: {problem}")]
    Speedup {
        /// The job.
        id: JobId,
        /// What is wrong with it.
        problem: SpeedupError,
    },
}

impl Size {
    /// The number of processors for which the run time is given.
    pub const fn preferred(&self) -> u32 {
        match self {
            Self::Rigid(n) => *n,
            Self::Moldable { preferred, .. } | Self::Malleable { preferred, .. } => *preferred,
        }
    }

    /// The fewest processors the job can start on.
    pub const fn min(&self) -> u32 {
        match self {
            Self::Rigid(n) => *n,
            Self::Moldable { min, .. } | Self::Malleable { min, .. } => *min,
        }
    }

    /// The most processors the job can use.
    pub const fn max(&self) -> u32 {
        match self {
            Self::Rigid(n) => *n,
            Self::Moldable { max, .. } | Self::Malleable { max, .. } => *max,
        }
    }

    /// True if the number may change while the job runs.
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
    /// A rigid job with an exact estimate and nothing else known.
    pub fn rigid(id: u64, submit: Time, procs: u32, runtime: Span) -> Self {
        Self {
            id: JobId(id),
            submit,
            size: Size::Rigid(procs),
            runtime,
            estimate: runtime,
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
            deadline: None,
        }
    }

    /// The same job with another estimate.
    #[must_use]
    pub fn estimated(mut self, estimate: Span) -> Self {
        self.estimate = estimate;
        self
    }

    /// Submits it at `at` instead. The start that it asks for and the commands of its user move along, as they are seen from
    /// the submission.
    pub fn resubmit(&mut self, at: Time) {
        let submit = self.submit;
        let moved = |time: Time| at + time.since(submit);
        self.requested_start = self.requested_start.map(moved);
        self.elastic.iter_mut().flatten().for_each(|command| command.at = moved(command.at));
        self.submit = at;
    }

    /// Checks what holds for a job on any machine.
    ///
    /// # Errors
    /// [`JobError`] names the job and what is wrong with its size or speedup.
    pub fn check(&self) -> Result<(), JobError> {
        let (min, preferred, max) = (self.size.min(), self.size.preferred(), self.size.max());
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
