//! The rows of the tables that runs leave, as they are read back.

mod read;

use std::sync::Arc;

pub(super) use read::{BatsimJob, OurJob};

use crate::model::{Cause, Elastic, MachineState, Origin, Outcome, ProcSet, ready};
use crate::units::{Energy, Money, Rate, Span, Time};

/// A row of `jobs.csv`, ours or Batsim's.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRow {
    /// Line of the file, from 1.
    pub line: u64,
    /// Number in its workload.
    pub job: u64,
    /// When it was submitted.
    pub submit: Time,
    /// When it first started; `None` if it never did.
    pub start: Option<Time>,
    /// When it ended.
    pub end: Time,
    /// Processors given; 0 if it never started.
    pub procs: u32,
    /// The site that it ended at; `grid` for none, empty where the table has no sites.
    pub site: Arc<str>,
    /// How it ended. The reason of a rejection is in [`JobRow::reason`].
    pub outcome: Outcome,
    /// Processors asked for.
    pub requested: u32,
    /// How long it ran, or would have run on dedicated processors.
    pub run: Span,
    /// Its estimate.
    pub estimate: Span,
    /// From when it was ready to its first start; `None` if it never started.
    pub wait: Option<Span>,
    /// From when it was ready to its end; `None` if it never started.
    pub response: Option<Span>,
    /// Bounded slowdown; `None` if it is not measured, or the table does not say.
    pub bsld: Option<f64>,
    /// User number, −1 if unknown.
    pub user: i32,
    /// Its class; `all` without classes.
    pub class: Arc<str>,
    /// Tries that were started.
    pub attempts: u32,
    /// Energy charged to it.
    pub energy: Energy,
    /// Money charged to it.
    pub cost: Money,
    /// Why it was rejected.
    pub reason: Option<Arc<str>>,
    /// The partition that it ended in.
    pub partition: Option<Arc<str>>,
    /// Whose job it is.
    pub origin: Origin,
    /// The start that it asked for, if it was a dedicated job.
    pub requested_start: Option<Time>,
    /// Its processors, where the table of jobs has them (Batsim's).
    pub allocated: Option<ProcSet>,
}

impl JobRow {
    /// When it could first have started; see [`crate::model::JobRecord::ready`].
    pub fn ready(&self) -> Time {
        ready(self.submit, self.requested_start)
    }
}

/// A row of `segments.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentRow {
    /// Line of the file, from 1.
    pub line: u64,
    /// The job.
    pub job: u64,
    /// Whose job it is.
    pub origin: Origin,
    /// Which try, from 1; 0 for staging.
    pub attempt: u32,
    /// Where.
    pub site: Arc<str>,
    /// Where in the site.
    pub partition: Arc<str>,
    /// Processors held.
    pub procs: u32,
    /// Beginning.
    pub from: Time,
    /// First instant after it.
    pub to: Time,
    /// Progress, relative to a dedicated run at reference speed.
    pub rate: Rate,
    /// The share of each processor's time that was the job's.
    pub share: Rate,
    /// Why they were held.
    pub cause: Cause,
    /// Energy of the segment.
    pub energy: Energy,
    /// Cost of the segment.
    pub cost: Money,
    /// Which processors, numbered inside the partition.
    pub processors: ProcSet,
}

/// A row of `machines.csv`: from `time` on, `processors` are in `state`.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineRow {
    /// Line of the file, from 1.
    pub line: u64,
    /// Since when.
    pub time: Time,
    /// Where.
    pub site: Arc<str>,
    /// Where in the site.
    pub partition: Arc<str>,
    /// In what state.
    pub state: MachineState,
    /// Which processors, numbered inside the partition.
    pub processors: ProcSet,
}

/// A row of `events.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRow {
    /// Line of the file, from 1.
    pub line: u64,
    /// When.
    pub time: Time,
    /// What, in the words of `docs/output.md`.
    pub event: Arc<str>,
    /// Why; empty where it speaks for itself.
    pub cause: Arc<str>,
    /// Where; `grid` for what the broker or the dispatcher does.
    pub site: Arc<str>,
    /// Where in the site.
    pub partition: Option<Arc<str>>,
    /// Which machines, numbered inside the partition.
    pub machines: ProcSet,
    /// Processors of the machines, or of the job.
    pub procs: u32,
    /// Which job, if it is about one.
    pub job: Option<u64>,
    /// Whose job.
    pub origin: Option<Origin>,
    /// Which of its attempts.
    pub attempt: Option<u32>,
    /// Processor-seconds lost with the attempt.
    pub lost_proc_s: Option<f64>,
    /// How long the job has not run since it lost an attempt, in seconds.
    pub since_lost_s: Option<f64>,
    /// The elastic command that it is about.
    pub command: Option<Elastic>,
}
