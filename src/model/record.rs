//! What a run leaves behind: a record a job, a record a segment, a record a change of machine state, a record an
//! event of the grid.
//!
//! All metrics, tables and plots are made from records, so a figure can be recomputed from the files.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{CommandRefusal, Elastic, JobId, Origin, Outcome, PartitionId, ProcSet, RejectReason, SiteId};
use crate::units::{Energy, Money, Rate, Span, Time};

/// One line of `jobs.csv`, written when the job ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRecord {
    /// Number in the workload.
    pub id: JobId,
    /// Whose job it is.
    pub origin: Origin,
    /// The site it ended at.
    pub site: SiteId,
    /// The partition it ended in.
    pub partition: PartitionId,
    /// User number, −1 if unknown.
    pub user: i32,
    /// When it was submitted.
    pub submit: Time,
    /// When it first started; `None` if it never did.
    pub start: Option<Time>,
    /// When it ended (for a rejected job: when it was refused).
    pub end: Time,
    /// Processors asked for.
    pub requested: u32,
    /// Processors given (whole allocation blocks); 0 if it never started.
    pub procs: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// How long it ran, or would have run without sharing or suspension: the work it was allowed to do at
    /// the rate of its dedicated processors. The `run` of slowdown metrics.
    pub run: Span,
    /// The estimate, at the partition's speed.
    pub estimate: Span,
    /// Tries that were started.
    pub attempts: u32,
    /// Energy charged to it.
    pub energy: Energy,
    /// Money charged to it.
    pub cost: Money,
    /// The wait that the workload's own machine recorded, for validation.
    pub recorded_wait: Option<Span>,
    /// The start that it asked for, if it was a dedicated job.
    pub requested_start: Option<Time>,
}

impl JobRecord {
    /// When it could first have started: its submission, or the start that it asked for if that was later. A dedicated job that
    /// starts when it asked to has waited for nothing.
    pub fn ready(&self) -> Time {
        ready(self.submit, self.requested_start)
    }

    /// From when it was [ready](Self::ready) to its first start; for a job that never started, to its end.
    pub fn wait(&self) -> Span {
        self.start.unwrap_or(self.end).since(self.ready())
    }

    /// From when it was [ready](Self::ready) to its end.
    pub fn response(&self) -> Span {
        self.end.since(self.ready())
    }
}

/// When a job can first start: when it is submitted, or when it asks to if that is later. What it waits counts from here.
pub fn ready(submit: Time, requested_start: Option<Time>) -> Time {
    requested_start.map_or(submit, |start| start.max(submit))
}

/// Why processors were held during a segment.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Cause {
    /// The job ran.
    Run,
    /// The job was being suspended.
    Suspend,
    /// The job was being resumed.
    Resume,
    /// The job was writing a checkpoint.
    Checkpoint,
    /// Input or output was being staged.
    Staging,
}

impl Cause {
    /// The word used in `segments.csv`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Suspend => "suspend",
            Self::Resume => "resume",
            Self::Checkpoint => "checkpoint",
            Self::Staging => "staging",
        }
    }
}

/// One line of `segments.csv`: a stretch of an attempt on fixed processors at a fixed rate. Half-open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentRecord {
    /// The job.
    pub job: JobId,
    /// Whose job it is.
    pub origin: Origin,
    /// Which try, from 1.
    pub attempt: u32,
    /// Where.
    pub site: SiteId,
    /// Where in the site.
    pub partition: PartitionId,
    /// The processors held.
    pub procs: ProcSet,
    /// Beginning.
    pub from: Time,
    /// End.
    pub to: Time,
    /// Progress of the job, relative to its dedicated run at reference speed.
    pub rate: Rate,
    /// The share of each processor's time that was the job's ([`Rate::FULL`] is all of it).
    pub share: Rate,
    /// Why the processors were held.
    pub cause: Cause,
    /// Energy of this segment.
    pub energy: Energy,
    /// Cost of this segment.
    pub cost: Money,
}

/// What a machine (or a partition's processors) is doing.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum MachineState {
    /// At least one processor in use.
    Busy,
    /// None in use.
    Idle,
    /// Held by a reservation.
    Reserved,
    /// Away.
    Away,
}

impl MachineState {
    /// The word used in `machines.csv`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Idle => "idle",
            Self::Reserved => "reserved",
            Self::Away => "away",
        }
    }
}

/// One line of `machines.csv`: from `time` on, `procs` are in `state`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineRecord {
    /// Since when.
    pub time: Time,
    /// Where.
    pub site: SiteId,
    /// Where in the site.
    pub partition: PartitionId,
    /// Which processors.
    pub procs: ProcSet,
    /// Their new state.
    pub state: MachineState,
}

/// What happened, beyond jobs that end in their order: a line of `events.csv`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EventKind {
    /// Machines left.
    Left,
    /// Machines came (back).
    Joined,
    /// Machines go on at another speed.
    Slowed,
    /// A job lost its attempt and waits at its site again.
    Requeued,
    /// A job lost its attempt or its place in a queue and went back to the broker.
    GivenBack,
    /// A job stands still until its machine is back.
    Halted,
    /// A job that stood still goes on.
    Continued,
    /// A job lost its attempt and has failed with it.
    Failed,
    /// A site would not take a job, and sent it back.
    Refused,
    /// The broker took an assignment back.
    Recalled,
    /// A job was assigned again after it had come back.
    Reassigned,
    /// A job was given up: nobody takes it, or its retries are used up.
    GivenUp,
    /// A job got more time or more processors, by an elastic command.
    Extended,
    /// A job got less time or fewer processors, by an elastic command.
    Reduced,
    /// An elastic command was not carried out.
    CommandRefused,
}

impl EventKind {
    /// All of them, in the order of declaration.
    pub const ALL: [Self; 15] = [
        Self::Left,
        Self::Joined,
        Self::Slowed,
        Self::Requeued,
        Self::GivenBack,
        Self::Halted,
        Self::Continued,
        Self::Failed,
        Self::Refused,
        Self::Recalled,
        Self::Reassigned,
        Self::GivenUp,
        Self::Extended,
        Self::Reduced,
        Self::CommandRefused,
    ];

    /// The word used in `events.csv`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Joined => "joined",
            Self::Slowed => "slowed",
            Self::Requeued => "requeued",
            Self::GivenBack => "given-back",
            Self::Halted => "halted",
            Self::Continued => "continued",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Recalled => "recalled",
            Self::Reassigned => "reassigned",
            Self::GivenUp => "given-up",
            Self::Extended => "extended",
            Self::Reduced => "reduced",
            Self::CommandRefused => "command-refused",
        }
    }
}

/// Why it happened.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EventCause {
    /// It speaks for itself.
    #[default]
    None,
    /// By chance.
    Chance,
    /// By the script of the scenario.
    Script,
    /// By command.
    Command,
    /// A machine left.
    MachineLeft,
    /// The whole site left, or had left.
    SiteLeft,
    /// The site refused the job.
    Refused(RejectReason),
    /// The broker plans anew.
    Replanned,
    /// An elastic command cannot be carried out.
    Unheeded(CommandRefusal),
}

impl fmt::Display for EventCause {
    /// As in `events.csv`: nothing for what speaks for itself, and the words of a rejection for a refusal.
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
        })
    }
}

/// One line of `events.csv`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRecord {
    /// When.
    pub time: Time,
    /// What.
    pub kind: EventKind,
    /// Why.
    pub cause: EventCause,
    /// Where; [`SiteId::GRID`] for what the broker does.
    pub site: SiteId,
    /// Where in the site, if it matters.
    pub partition: Option<PartitionId>,
    /// Which machines, by number in their partition.
    pub machines: ProcSet,
    /// Processors concerned: of the machines, or of the job.
    pub procs: u32,
    /// Which job, if one.
    pub job: Option<JobId>,
    /// Whose job.
    pub origin: Origin,
    /// Which of its attempts.
    pub attempt: u32,
    /// Processor time lost with the attempt, in processors × 2⁻²⁰ × microseconds.
    pub lost: u128,
    /// For a job whose earlier attempt was lost: how long it has not run since, told when it runs again (with
    /// [`EventKind::Continued`] or [`EventKind::Reassigned`]).
    pub since_lost: Option<Span>,
    /// The elastic command that it is about, if it is about one.
    pub command: Option<Elastic>,
}

/// Anything a run leaves behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Record {
    /// A job ended.
    Job(JobRecord),
    /// A segment ended.
    Segment(SegmentRecord),
    /// Processors changed state.
    Machine(MachineRecord),
    /// Something happened to machines or to a job on its way.
    Event(EventRecord),
}

impl Record {
    /// When it was written: at the end of what it tells.
    pub const fn written(&self) -> Time {
        match self {
            Self::Job(job) => job.end,
            Self::Segment(segment) => segment.to,
            Self::Machine(machine) => machine.time,
            Self::Event(event) => event.time,
        }
    }
}

/// Where records go.
pub trait RecordSink {
    /// Takes one record.
    fn record(&mut self, record: Record);

    /// True once it can take no more (a disk is full): the run need not go on.
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
        // A kind that is added goes last.
        assert_eq!(EventKind::CommandRefused as usize + 1, EventKind::ALL.len());
        let names: std::collections::BTreeSet<&str> = EventKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), EventKind::ALL.len());
    }
}
