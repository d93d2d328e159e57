//! The records of a run: one for each job, segment, change of machine state, and event of the grid.
//!
//! All metrics, tables and charts are computed from records, so a figure can be computed again from the files.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::text::words;
use super::{
    Booked, BookingRefusal, CoallocationRecord, CommandRefusal, Elastic, FrontRecord, GroupRecord, JobId,
    JobKind, JobRef, Limits, Origin, Outcome, PartitionId, ProcSet, RejectReason, SiteId, SliceRecord,
    TaskRecord, TransferRecord, WorkflowRecord,
};
use crate::units::{Energy, Money, Rate, Span, Time};

/// One line of `jobs.csv`, written when the job ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRecord {
    /// The number in the workload.
    pub id: JobId,
    /// The origin of the job.
    pub origin: Origin,
    /// The site where it ended.
    pub site: SiteId,
    /// The partition where it ended.
    pub partition: PartitionId,
    /// User number, −1 if unknown.
    pub user: i32,
    /// The time of submission.
    pub submit: Time,
    /// The time of its first start; `None` if it never started.
    pub start: Option<Time>,
    /// The time of its end (for a rejected job: of the rejection).
    pub end: Time,
    /// The processors that it requested.
    pub requested: u32,
    /// Whether it is rigid, moldable or malleable. No part of the fingerprint: it follows from the workload.
    pub kind: JobKind,
    /// The processors that it got (whole allocation units); 0 if it never started.
    pub procs: u32,
    /// Its outcome.
    pub outcome: Outcome,
    /// How long it ran, or would have run without sharing or suspension: the work that it was allowed to do at
    /// the rate of its dedicated processors. The `run` of slowdown metrics.
    pub run: Span,
    /// The estimate, at the partition's speed.
    pub estimate: Span,
    /// The number of attempts that were started.
    pub attempts: u32,
    /// Energy charged to it.
    pub energy: Energy,
    /// The part of it that its machines drew beyond what they draw idle.
    pub dynamic: Energy,
    /// Money charged to it.
    pub cost: Money,
    /// The wait that the workload's own machine recorded, for validation.
    pub recorded_wait: Option<Span>,
    /// The start that it requested, if it was a dedicated job.
    pub requested_start: Option<Time>,
    /// Its deadline and its budget, if it has any.
    pub limits: Option<Box<Limits>>,
}

impl JobRecord {
    /// The name of the job.
    pub const fn job_ref(&self) -> JobRef {
        JobRef::new(self.origin, self.site, self.id)
    }

    /// The earliest possible start: its submission, or the start that it requested if that was later. A dedicated job that
    /// starts at the requested time has not waited.
    pub fn ready(&self) -> Time {
        ready(self.submit, self.requested_start)
    }

    /// The time from when it was [ready](Self::ready) to its first start; for a job that never started, to its end.
    pub fn wait(&self) -> Span {
        self.start.unwrap_or(self.end).since(self.ready())
    }

    /// Its deadline, if it has one.
    pub fn deadline(&self) -> Option<Time> {
        self.limits.as_ref()?.deadline
    }

    /// Its budget, if it has one.
    pub fn budget(&self) -> Option<Money> {
        self.limits.as_ref()?.budget
    }

    /// The time from when it was [ready](Self::ready) to its end.
    pub fn response(&self) -> Span {
        self.end.since(self.ready())
    }
}

/// The earliest possible start of a job: its submission, or the start that it requests if that is later. Its wait counts from here.
pub fn ready(submit: Time, requested_start: Option<Time>) -> Time {
    requested_start.map_or(submit, |start| start.max(submit))
}

words! {
    /// The reason why processors were held during a segment.
    #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum Cause {
        /// The job ran.
        Run = "run",
        /// The job was being suspended.
        Suspend = "suspend",
        /// The job was being resumed.
        Resume = "resume",
        /// The job was writing a checkpoint.
        Checkpoint = "checkpoint",
        /// Input or output was being staged.
        Staging = "staging",
        /// The job adapted to other processors.
        Resize = "resize",
    }
}

/// One line of `segments.csv`: a stretch of an attempt on fixed processors at a fixed rate. The interval is half-open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentRecord {
    /// The job.
    pub job: JobId,
    /// The origin of the job.
    pub origin: Origin,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The site.
    pub site: SiteId,
    /// The partition.
    pub partition: PartitionId,
    /// The processors held.
    pub procs: ProcSet,
    /// The beginning.
    pub from: Time,
    /// The end.
    pub to: Time,
    /// The progress rate of the job, relative to its dedicated run at reference speed.
    pub rate: Rate,
    /// The share of each processor's time that was the job's ([`Rate::FULL`] is all of it).
    pub share: Rate,
    /// The reason why the processors were held.
    pub cause: Cause,
    /// The energy of this segment.
    pub energy: Energy,
    /// The part of it that the machines drew beyond what they draw idle.
    pub dynamic: Energy,
    /// The cost of this segment.
    pub cost: Money,
}

impl SegmentRecord {
    /// The name of the job.
    pub const fn job_ref(&self) -> JobRef {
        JobRef::new(self.origin, self.site, self.job)
    }
}

words! {
    /// The state of a machine, or of a partition's processors.
    #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum MachineState {
        /// At least one processor is in use.
        Busy = "busy",
        /// No processor is in use.
        Idle = "idle",
        /// A reservation holds it.
        Reserved = "reserved",
        /// It is down.
        Down = "down",
        /// It sleeps.
        Asleep = "asleep",
        /// It wakes up, for a job or to be ready.
        Waking = "waking",
        /// It goes to sleep.
        Falling = "falling",
    }
}

/// One line of `machines.csv`: from `time` on, `procs` are in `state`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineRecord {
    /// The beginning of the state.
    pub time: Time,
    /// The site.
    pub site: SiteId,
    /// The partition.
    pub partition: PartitionId,
    /// The processors.
    pub procs: ProcSet,
    /// Their new state.
    pub state: MachineState,
}

words! {
    /// The kind of an event beyond the regular ends of jobs: a line of `events.csv`.
    #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum EventKind {
        /// Machines left.
        Left = "left",
        /// Machines came, or came back.
        Joined = "joined",
        /// Machines continue at another speed.
        Slowed = "slowed",
        /// An attempt of a job failed, and the job waits at its site again.
        Requeued = "requeued",
        /// A job returned to the broker, after a failed attempt or from a queue.
        Returned = "returned",
        /// A job stalls until its machine is back.
        Stalled = "stalled",
        /// A stalled job continues, or a job starts again after a failed attempt.
        Continued = "continued",
        /// An attempt of a job failed, and the job with it.
        Failed = "failed",
        /// A site refused a job and returned it.
        Refused = "refused",
        /// The broker recalled an assignment.
        Recalled = "recalled",
        /// A returned job was assigned again.
        Reassigned = "reassigned",
        /// A job was abandoned: no pool accepts it, or its retries are used up.
        GivenUp = "given-up",
        /// An elastic command gave a job more time or more processors.
        Extended = "extended",
        /// An elastic command left a job less time or fewer processors.
        Reduced = "reduced",
        /// An elastic command was not carried out.
        CommandRefused = "command-refused",
        /// A task that had completed runs again, because what it wrote is lost.
        Repeated = "repeated",
        /// A job was ended at its deadline.
        Overdue = "overdue",
        /// A job was ended when it had cost more than its budget.
        Spent = "spent",
        /// A message about an assignment that is over was ignored.
        Stale = "stale",
        /// The dispatcher took an assignment as lost.
        Lost = "lost",
        /// The dispatcher has not heard of a site for too long.
        Unheard = "unheard",
        /// It has heard of it again.
        Heard = "heard",
        /// Machines drain: they get no new job, because they will leave.
        Draining = "draining",
        /// Machines drain no longer, although they have not left.
        Undrained = "undrained",
        /// A job is suspended: from now on it does no work.
        Suspended = "suspended",
        /// A suspended job gets processors again, and goes on when it has read its memory.
        Resumed = "resumed",
        /// A job gets other processors while it runs: so many from now on.
        Resized = "resized",
        /// Processors are reserved by an order.
        Reserved = "reserved",
        /// A reservation is given up by an order.
        Released = "released",
        /// An order to reserve processors, or to give them up, was not carried out.
        BookingRefused = "booking-refused",
    }
}

/// The cause of an event.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum EventCause {
    /// The kind of the event implies its cause.
    #[default]
    None,
    /// Chance.
    Chance,
    /// The script of the scenario.
    Script,
    /// A command from outside.
    Command,
    /// A machine left.
    MachineLeft,
    /// The whole site left, or had left.
    SiteLeft,
    /// The site refused the job.
    Refused(RejectReason),
    /// The broker replans.
    Replanned,
    /// An elastic command cannot be carried out, for this reason.
    Unheeded(CommandRefusal),
    /// The attempt failed by itself, whatever the machines did.
    TaskFailed,
    /// A node of the trace that the machines follow went down, or came back.
    Trace,
    /// Machines failed in a group, or came back after that.
    Group,
    /// The power cap of the site kept machines off that could have come up before.
    PowerCap,
    /// The site failed without a word, or no word of it came.
    Silence,
    /// A fault of the site: it refuses all jobs, or fails them.
    Fault,
    /// The whole site drains, and will leave.
    SiteDrains,
    /// Another job gets its processors.
    Preempted,
    /// The reservation that was kept for it has lapsed.
    Lapsed,
    /// Its reservation did not have its processors when it was to start.
    Missed,
    /// Another part of the job has failed.
    PartFailed,
    /// The load of the partition is low, so that jobs grow.
    LoadLow,
    /// The load of the partition is high, so that jobs shrink.
    LoadHigh,
    /// An order about a reservation cannot be carried out, for this reason.
    Unbooked(BookingRefusal),
}

impl fmt::Display for EventCause {
    /// The form of `events.csv`: empty for [`EventCause::None`], and the words of the rejection for a refusal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::None => "",
            Self::Chance => "chance",
            Self::Script => "script",
            Self::Command => "command",
            Self::MachineLeft => "machine-left",
            Self::SiteLeft => "site-left",
            Self::Replanned => "replanned",
            Self::Refused(reason) => return reason.fmt(f),
            Self::Unheeded(reason) => reason.name(),
            Self::Unbooked(reason) => reason.name(),
            Self::TaskFailed => "task-failed",
            Self::Trace => "trace",
            Self::Group => "group",
            Self::PowerCap => "power-cap",
            Self::Silence => "silence",
            Self::Fault => "fault",
            Self::SiteDrains => "site-drains",
            Self::Preempted => "preempted",
            Self::Lapsed => "lapsed",
            Self::Missed => "missed",
            Self::PartFailed => "part-failed",
            Self::LoadLow => "load-low",
            Self::LoadHigh => "load-high",
        })
    }
}

/// One line of `events.csv`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRecord {
    /// The time of the event.
    pub time: Time,
    /// Its kind.
    pub kind: EventKind,
    /// Its cause.
    pub cause: EventCause,
    /// The site; [`SiteId::GRID`] for actions of the broker.
    pub site: SiteId,
    /// The partition, if it matters.
    pub partition: Option<PartitionId>,
    /// The machines, by number in their partition.
    pub machines: ProcSet,
    /// The number of processors concerned: of the machines, or of the job.
    pub procs: u32,
    /// The job, if the event concerns one.
    pub job: Option<JobId>,
    /// The origin of the job.
    pub origin: Origin,
    /// The number of its attempt.
    pub attempt: u32,
    /// Processor time wasted with the failed attempt, in processors × 2⁻²⁰ × microseconds.
    pub wasted: u128,
    /// For a job with an earlier failed attempt: the time that it has not run since, recorded when it runs again (with
    /// [`EventKind::Continued`] or [`EventKind::Reassigned`]).
    pub since_failure: Option<Span>,
    /// The elastic command of the event, if it concerns one.
    pub command: Option<Elastic>,
    /// What else is known of a job that is suspended or resumed.
    pub suspension: Option<Box<Suspension>>,
    /// The reservation of the event, if it concerns one.
    pub booked: Option<Box<Booked>>,
}

/// What is known of a suspension of a job.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspension {
    /// The number of the suspension among those of the job, from 1.
    pub number: u32,
    /// The job that gets its processors, if its policy names one.
    pub by: Option<JobRef>,
    /// Expansion factors in hundredths, rounded down: that of the job which is suspended, and that of the one which gets its processors. 0 if the policy
    /// names none.
    pub factors: (u64, u64),
    /// When it is resumed: how long it has done no work since it was suspended.
    pub lasted: Option<Span>,
}

impl EventRecord {
    /// An event that concerns no machine and no job, to be completed by the caller.
    pub fn new(time: Time, kind: EventKind, cause: EventCause, site: SiteId) -> Self {
        Self {
            time,
            kind,
            cause,
            site,
            partition: None,
            machines: ProcSet::new(),
            procs: 0,
            job: None,
            origin: Origin::default(),
            attempt: 0,
            wasted: 0,
            since_failure: None,
            command: None,
            suspension: None,
            booked: None,
        }
    }

    /// The cause as it is written: of a job that is suspended for another one with both expansion factors.
    pub fn cause_text(&self) -> String {
        match self.suspension.as_deref() {
            Some(Suspension { by: Some(by), factors: (ours, theirs), .. }) => {
                let factor = |hundredths: &u64| format!("{}.{:02}", hundredths / 100, hundredths % 100);
                format!("for {by} ({} against {})", factor(theirs), factor(ours))
            }
            _ => self.cause.to_string(),
        }
    }

    /// The name of the job, if the event concerns one.
    pub fn job_ref(&self) -> Option<JobRef> {
        Some(JobRef::new(self.origin, self.site, self.job?))
    }
}

/// Any record of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Record {
    /// A job ended.
    Job(JobRecord),
    /// A segment ended.
    Segment(SegmentRecord),
    /// Processors changed state.
    Machine(MachineRecord),
    /// An event of machines, or of a job before its end.
    Event(EventRecord),
    /// A task of a workflow ended.
    Task(TaskRecord),
    /// A workflow ended.
    Workflow(WorkflowRecord),
    /// A file of a workflow was copied.
    Transfer(TransferRecord),
    /// The broker's policy chose its plan from a front.
    Front(Box<FrontRecord>),
    /// A co-allocated job ended.
    Coallocation(Box<CoallocationRecord>),
    /// A class of jobs got the machine of a partition.
    Slice(SliceRecord),
    /// A group of jobs was planned.
    Group(Box<GroupRecord>),
}

impl Record {
    /// The time at which the record is written: the end of what it describes.
    pub const fn written(&self) -> Time {
        match self {
            Self::Job(job) => job.end,
            Self::Segment(segment) => segment.to,
            Self::Machine(machine) => machine.time,
            Self::Event(event) => event.time,
            Self::Task(task) => task.known,
            Self::Workflow(workflow) => workflow.end,
            Self::Transfer(transfer) => transfer.end,
            Self::Front(front) => front.at,
            Self::Coallocation(job) => job.end,
            Self::Slice(slice) => slice.time,
            Self::Group(group) => group.time,
        }
    }
}

/// A receiver of records.
pub trait RecordSink {
    /// Takes one record.
    fn record(&mut self, record: Record);

    /// Whether it accepts no more records (a disk is full): the run need not go on.
    fn is_closed(&self) -> bool {
        false
    }
}

impl RecordSink for Vec<Record> {
    fn record(&mut self, record: Record) {
        self.push(record);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_of_events_are_listed_in_their_order_under_names_of_their_own() {
        assert!(EventKind::ALL.into_iter().enumerate().all(|(at, kind)| kind as usize == at));
        // A new kind goes last.
        assert_eq!(EventKind::BookingRefused as usize + 1, EventKind::ALL.len());
        let names: std::collections::BTreeSet<&str> = EventKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), EventKind::ALL.len());
    }
}
