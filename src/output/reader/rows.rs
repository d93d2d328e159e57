//! The rows of a run's tables, as they are read back.

mod read;

use std::sync::Arc;

pub(super) use read::{BatsimJob, OurJob};

use crate::model::{
    Booked, Cause, Elastic, JobKind, MachineState, Origin, Outcome, ProcSet, SliceClass, TransferOutcome,
    ready,
};
use crate::units::{Energy, Money, Rate, Span, Time};

/// What was ordered from outside of the workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ordered {
    /// A change of a job.
    Change(Elastic),
    /// A reservation.
    Booked(Box<Booked>),
}

/// A row of `jobs.csv`, gridemu's or Batsim's.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRow {
    /// Line of the file, from 1.
    pub line: u64,
    /// Job number in its workload.
    pub job: u64,
    /// Submission.
    pub submit: Time,
    /// First start; `None` if the job never started.
    pub start: Option<Time>,
    /// End.
    pub end: Time,
    /// Processors allocated; 0 if the job never started.
    pub procs: u32,
    /// The site at which it ended; `grid` for none, empty where the table has no sites.
    pub site: Arc<str>,
    /// Its outcome. The reason of a rejection is in [`JobRow::reason`].
    pub outcome: Outcome,
    /// Processors requested.
    pub requested: u32,
    /// Run time: the actual one, or that on dedicated processors.
    pub run: Span,
    /// Its estimate.
    pub estimate: Span,
    /// Time from ready to the first start; `None` if it never started.
    pub wait: Option<Span>,
    /// Time from ready to the end; `None` if it never started.
    pub response: Option<Span>,
    /// Bounded slowdown; `None` if the job is not measured, or the table lacks it.
    pub bsld: Option<f64>,
    /// User number, −1 if unknown.
    pub user: i32,
    /// Its class; `all` without classes.
    pub class: Arc<str>,
    /// Number of attempts that were started.
    pub attempts: u32,
    /// Energy charged to it.
    pub energy: Energy,
    /// The part of it beyond what machines draw idle, if the table has it.
    pub dynamic: Option<Energy>,
    /// Money charged to it.
    pub cost: Money,
    /// The reason of a rejection.
    pub reason: Option<Arc<str>>,
    /// The partition in which it ended.
    pub partition: Option<Arc<str>>,
    /// The origin of the job.
    pub origin: Origin,
    /// The requested start of a dedicated job.
    pub requested_start: Option<Time>,
    /// Whether it is rigid, moldable or malleable; `None` where the table does not say, because all are rigid.
    pub kind: Option<JobKind>,
    /// Its deadline.
    pub deadline: Option<Time>,
    /// Its budget.
    pub budget: Option<Money>,
    /// Its processors, where the table of jobs has them (Batsim's).
    pub allocated: Option<ProcSet>,
}

impl JobRow {
    /// The earliest time at which it could have started; see [`crate::model::JobRecord::ready`].
    pub fn ready(&self) -> Time {
        ready(self.submit, self.requested_start)
    }
}

/// A row of `segments.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentRow {
    /// Line of the file, from 1.
    pub line: u64,
    /// The job number.
    pub job: u64,
    /// The origin of the job.
    pub origin: Origin,
    /// The number of the attempt, from 1; 0 for staging.
    pub attempt: u32,
    /// The site.
    pub site: Arc<str>,
    /// The partition.
    pub partition: Arc<str>,
    /// Processors held.
    pub procs: u32,
    /// Beginning.
    pub from: Time,
    /// First instant after it.
    pub to: Time,
    /// The rate of progress, relative to a dedicated run at reference speed.
    pub rate: Rate,
    /// The share of each processor's time that the job had.
    pub share: Rate,
    /// The purpose for which the processors were held.
    pub cause: Cause,
    /// Energy of the segment.
    pub energy: Energy,
    /// The part of it beyond what machines draw idle, if the table has it.
    pub dynamic: Option<Energy>,
    /// Cost of the segment.
    pub cost: Money,
    /// The processors, numbered inside the partition.
    pub processors: ProcSet,
}

/// A row of `machines.csv`: from `time` on, `processors` are in `state`.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineRow {
    /// Line of the file, from 1.
    pub line: u64,
    /// The first instant of the state.
    pub time: Time,
    /// The site.
    pub site: Arc<str>,
    /// The partition.
    pub partition: Arc<str>,
    /// The state.
    pub state: MachineState,
    /// The processors, numbered inside the partition.
    pub processors: ProcSet,
}

/// A row of `events.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRow {
    /// Line of the file, from 1.
    pub line: u64,
    /// The time.
    pub time: Time,
    /// The kind of event, in the words of `docs/output.md`.
    pub event: Arc<str>,
    /// The cause; empty where the kind implies it.
    pub cause: Arc<str>,
    /// The site; `grid` for events of the broker or the dispatcher.
    pub site: Arc<str>,
    /// The partition.
    pub partition: Option<Arc<str>>,
    /// The machines, numbered inside the partition.
    pub machines: ProcSet,
    /// Processors of the machines, or of the job.
    pub procs: u32,
    /// The job number, if the event concerns a job.
    pub job: Option<u64>,
    /// The origin of the job.
    pub origin: Option<Origin>,
    /// The number of the attempt.
    pub attempt: Option<u32>,
    /// Processor-seconds wasted by the failed attempt.
    pub wasted_proc_s: Option<f64>,
    /// How long the job has not run since its attempt failed, in seconds.
    pub since_failure_s: Option<f64>,
    /// The elastic command or the reservation that the event concerns.
    pub command: Option<Ordered>,
}

/// A row of `tasks.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRow {
    /// Line of the file, from 1.
    pub line: u64,
    /// The number of its workflow.
    pub workflow: u32,
    /// Its name.
    pub task: Box<str>,
    /// Its type.
    pub kind: Arc<str>,
    /// The number of its job.
    pub job: u64,
    /// The site to which it was assigned last; `grid` for none.
    pub site: Arc<str>,
    /// The partition.
    pub partition: Option<Arc<str>>,
    /// The job of the task that it waited for last.
    pub after: Option<u64>,
    /// When all that it waits for had completed.
    pub ready: Option<Time>,
    /// When the broker decided where it goes.
    pub decided: Option<Time>,
    /// When it left the broker.
    pub sent: Option<Time>,
    /// When it was at its site.
    pub queued: Option<Time>,
    /// Its first start.
    pub started: Option<Time>,
    /// The start of its last attempt.
    pub last_start: Option<Time>,
    /// Its end.
    pub ended: Time,
    /// When the broker knew of its end.
    pub known: Time,
    /// Its outcome; without the reason of a rejection.
    pub outcome: Outcome,
    /// The number of attempts that were started.
    pub attempts: u32,
    /// From when it was ready to when the broker knew of its end: in the attempt that completed,
    pub run: Option<Span>,
    /// waiting for files,
    pub data: Option<Span>,
    /// with the broker and on the way,
    pub dispatch: Option<Span>,
    /// in the queue of its site,
    pub queue: Option<Span>,
    /// and from its first start to the start of the attempt that completed.
    pub lost: Option<Span>,
}

/// A row of `workflows.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowRow {
    /// Line of the file, from 1.
    pub line: u64,
    /// Its number.
    pub workflow: u32,
    /// Its name.
    pub name: Arc<str>,
    /// When it was submitted.
    pub submitted: Time,
    /// When the broker knew that its last task had ended.
    pub ended: Time,
    /// From the one to the other.
    pub makespan: Span,
    /// The longest way through it at reference speed.
    pub critical_path: Span,
    /// Its outcome.
    pub outcome: Outcome,
    /// The number of its tasks.
    pub tasks: u32,
    /// The number of those that completed.
    pub completed: u32,
    /// The number of attempts of its tasks.
    pub attempts: u64,
    /// The longest way through it, each task on the fastest processors that fit it.
    pub fastest_path: Span,
    /// Processors × run time of each task on the fastest processors that fit it.
    pub work: Span,
    /// The time below which no schedule can finish it alone.
    pub alone: Span,
    /// Most processors that its tasks held at once.
    pub peak_procs: u32,
    /// The makespan over the fastest path.
    pub slr: Option<f64>,
    /// The makespan over `alone`.
    pub slowdown: Option<f64>,
    /// The work over the makespan.
    pub speedup: Option<f64>,
    /// The speedup over `peak_procs`.
    pub efficiency: Option<f64>,
    /// The job of the task that ended last.
    pub last: Option<u64>,
    /// The parts of the makespan, along the path that determined the end: attempts that completed,
    pub run: Option<Span>,
    /// waiting for files,
    pub data: Option<Span>,
    /// with the broker and on the way,
    pub dispatch: Option<Span>,
    /// in queues of sites,
    pub queue: Option<Span>,
    /// and from first starts to the starts of the attempts that completed.
    pub lost: Option<Span>,
    /// The sizes of all copies of its files that had arrived; this and what follows is `None` in a table of an older gridemu.
    pub moved_bytes: Option<u64>,
    /// Energy charged to the jobs of its tasks.
    pub energy: Option<Energy>,
    /// Money charged to them.
    pub cost: Option<Money>,
    /// Its deadline.
    pub deadline: Option<Time>,
    /// Its budget.
    pub budget: Option<Money>,
}

/// A row of `fronts.csv`: a schedule of the front of a planning.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontRow {
    /// Line of the file, from 1.
    pub line: u64,
    /// The number of the planning.
    pub planning: u64,
    /// When it was.
    pub at: Time,
    /// The number of tasks that it placed.
    pub tasks: u64,
    /// The number of schedules that it evaluated.
    pub evaluations: u64,
    /// The number of the schedule in the front, from 1.
    pub point: u64,
    /// Whether it was chosen.
    pub chosen: bool,
    /// What chose: the least.
    pub value: f64,
    /// Its objectives, in the order of their columns.
    pub objectives: Vec<f64>,
}

/// A row of `coallocations.csv`: a co-allocated job.
#[derive(Clone, Debug, PartialEq)]
pub struct CoallocationRow {
    /// Line of the file, from 1.
    pub line: u64,
    /// The number of its first part.
    pub job: u64,
    /// When it was submitted.
    pub submitted: Time,
    /// Its earliest start.
    pub earliest: Time,
    /// The start that was agreed.
    pub start: Option<Time>,
    /// How long the processors were reserved for.
    pub length: Option<Span>,
    /// When its last part ended.
    pub ended: Time,
    /// The number of its parts.
    pub parts: u32,
    /// Their processors.
    pub procs: u32,
    /// The sites of its parts, in order.
    pub sites: Arc<str>,
    /// What became of it: a [`CoallocationOutcome`](crate::model::CoallocationOutcome).
    pub outcome: Arc<str>,
    /// How many starts were tried.
    pub tries: u32,
    /// Messages to and from sites.
    pub messages: u32,
    /// How much longer it took because of the links between its parts.
    pub slowdown: f64,
    /// What the sites charged for reserving.
    pub charge: f64,
    /// Processor time, in seconds, taken from jobs that waited.
    pub harm: f64,
}

/// A row of `slices.csv`: from `time` on the slice is this one, until the next one of the partition.
#[derive(Clone, Debug, PartialEq)]
pub struct SliceRow {
    /// Line of the file, from 1.
    pub line: u64,
    /// When it began.
    pub time: Time,
    /// The site.
    pub site: Arc<str>,
    /// The partition.
    pub partition: Arc<str>,
    /// Its class.
    pub class: SliceClass,
    /// From when on jobs run in it.
    pub runs_from: Time,
    /// When it was to end.
    pub until: Time,
}

/// A row of `groups.csv`: a job in the plan of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupRow {
    /// Line of the file, from 1.
    pub line: u64,
    /// When the order of the group was searched.
    pub time: Time,
    /// The site.
    pub site: Arc<str>,
    /// The partition.
    pub partition: Arc<str>,
    /// The class of the group.
    pub class: SliceClass,
    /// When the group formed.
    pub formed: Time,
    /// From when on the plan holds.
    pub ready: Time,
    /// When its last job would end with the share of the class.
    pub until: Time,
    /// The job number.
    pub job: u64,
    /// The origin of the job.
    pub origin: Origin,
    /// The planned start, as if the class had all the time.
    pub start: Time,
    /// The planned end.
    pub end: Time,
}

/// A row of `transfers.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct TransferRow {
    /// Line of the file, from 1.
    pub line: u64,
    /// The number of the workflow.
    pub workflow: u32,
    /// The name of the file.
    pub file: Arc<str>,
    /// Its size in bytes.
    pub bytes: u64,
    /// The site that it came from, or `portal`.
    pub from: Arc<str>,
    /// The site that it went to, or `portal`.
    pub to: Arc<str>,
    /// The number of the job for which it was asked first, or which made it.
    pub job: u64,
    /// When it was asked for.
    pub asked: Time,
    /// When it began to move.
    pub began: Option<Time>,
    /// When it arrived, or the run ended.
    pub ended: Time,
    /// What became of it.
    pub outcome: TransferOutcome,
}
