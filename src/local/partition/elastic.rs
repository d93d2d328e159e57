//! Elastic commands: a user changes the time or the processors of a job that waits or runs (Kumar, Shae and Jamjoom 2012, section
//! III-C).
//!
//! The partition is the ECC processor of figure 3: it carries out commands first come, first served, and notifies its policy of
//! them. The effect of a command on a job is in `change`.

mod change;

use super::Partition;
use crate::local::error::PartitionError;
use crate::local::table::{Exit, LiveJob};
use crate::model::{
    CommandRefusal, Elastic, EventCause, EventKind, EventRecord, JobId, JobKey, Record, RecordSink,
};
use crate::units::{Span, Time};

type Obeyed = Result<Option<Exit>, Trouble>;

/// Why a command was not carried out.
enum Trouble {
    Refused(CommandRefusal),
    Broken(PartitionError),
}

impl From<CommandRefusal> for Trouble {
    fn from(refusal: CommandRefusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<PartitionError> for Trouble {
    fn from(error: PartitionError) -> Self {
        Self::Broken(error)
    }
}

impl Partition {
    /// Carries out the commands of the workload's users that are due, by their times, then in the order in which their jobs came.
    /// Jobs that end by them are added to `gone`. Returns true if any was carried out.
    ///
    /// # Errors
    /// [`PartitionError::EndOfTime`] if a job would end beyond the time axis.
    #[inline]
    pub fn obey_due(
        &mut self,
        now: Time,
        sink: &mut dyn RecordSink,
        gone: &mut Vec<Exit>,
    ) -> Result<bool, PartitionError> {
        // This is called at every moment, and nearly always no command is due.
        if self.state.agenda.has_commands() { self.obey_those_due(now, sink, gone) } else { Ok(false) }
    }

    fn obey_those_due(
        &mut self,
        now: Time,
        sink: &mut dyn RecordSink,
        gone: &mut Vec<Exit>,
    ) -> Result<bool, PartitionError> {
        let mut any = false;
        while let Some(key) = self.state.agenda.take_command(now) {
            let Some(live) = self.state.table.get_mut(key) else { continue };
            let Some(change) = live.take_command() else { continue };
            self.state.await_command(key);
            any |= self.obey(key, change, EventCause::None, now, sink, gone)?;
        }
        Ok(any)
    }

    /// When the job of that number was submitted; if several have it, the one that came first. `None` if there is none.
    pub fn submitted(&self, id: JobId) -> Option<Time> {
        self.named(id).and_then(|key| self.state.table.get(key)).map(LiveJob::submit)
    }

    /// The job of that number; if several have it, the one that came first.
    pub(super) fn named(&self, id: JobId) -> Option<JobKey> {
        let named = self.state.table.iter().filter(|(_, job)| job.job.id == id);
        named.min_by_key(|(_, job)| job.seq).map(|(key, _)| key)
    }

    /// A command from outside the workload, for the job of that number; if several have it, for the one that came first. Returns
    /// `None` if there is no such job; otherwise whether the command was carried out. `cause` is the origin of the command.
    ///
    /// # Errors
    /// [`PartitionError::EndOfTime`] if a job would end beyond the time axis.
    pub fn command(
        &mut self,
        id: JobId,
        change: Elastic,
        cause: EventCause,
        now: Time,
        sink: &mut dyn RecordSink,
        gone: &mut Vec<Exit>,
    ) -> Result<Option<bool>, PartitionError> {
        let Some(key) = self.named(id) else { return Ok(None) };
        self.obey(key, change, cause, now, sink, gone).map(Some)
    }

    /// Refuses a command for a job that is not here; without a change, it was a cancellation.
    pub fn refuse_command(
        &mut self,
        id: JobId,
        change: Option<Elastic>,
        now: Time,
        sink: &mut dyn RecordSink,
    ) {
        let why = CommandRefusal::NoJob;
        self.state.tally.refused_commands[why as usize] += 1;
        let event = self.state.event(now, EventKind::CommandRefused, EventCause::Unheeded(why));
        sink.record(Record::Event(EventRecord { job: Some(id), command: change, ..event }));
    }

    /// Carries out a command or refuses it, and records which. Returns true if it was carried out.
    fn obey(
        &mut self,
        key: JobKey,
        change: Elastic,
        cause: EventCause,
        now: Time,
        sink: &mut dyn RecordSink,
        gone: &mut Vec<Exit>,
    ) -> Result<bool, PartitionError> {
        let most = self.state.abilities.elastic;
        let carried = self.state.agenda.carried(key);
        let Some(live) = self.state.table.get(key) else { return Ok(false) };
        // The job as it was: it may have left afterwards.
        let event = self.state.job_event(now, EventKind::CommandRefused, cause, live, live.asked());
        let event = EventRecord { command: Some(change), ..event };
        let obeyed = match () {
            () if most == 0 => Err(CommandRefusal::NoProcessor.into()),
            () if carried >= most => Err(CommandRefusal::TooMany.into()),
            () => match change {
                Elastic::ExtendTime(by) => self.change_time(key, Some(by), Span::ZERO, now, sink),
                Elastic::ReduceTime(by) => self.change_time(key, None, by, now, sink),
                Elastic::ExtendProcs(by) => self.change_procs(key, i64::from(by), now, sink),
                Elastic::ReduceProcs(by) => self.change_procs(key, -i64::from(by), now, sink),
            },
        };
        match obeyed {
            Ok(departed) => {
                let kind = match change {
                    Elastic::ExtendTime(_) | Elastic::ExtendProcs(_) => EventKind::Extended,
                    Elastic::ReduceTime(_) | Elastic::ReduceProcs(_) => EventKind::Reduced,
                };
                self.state.tally.commands += 1;
                let procs = self.state.table.get(key).filter(|_| departed.is_none()).map(LiveJob::asked);
                let procs = procs.unwrap_or(event.procs);
                if departed.is_none() {
                    self.state.agenda.know(key).carried += 1;
                }
                sink.record(Record::Event(EventRecord { kind, procs, ..event }));
                gone.extend(departed);
                Ok(true)
            }
            Err(Trouble::Refused(why)) => {
                self.state.tally.refused_commands[why as usize] += 1;
                sink.record(Record::Event(EventRecord { cause: EventCause::Unheeded(why), ..event }));
                Ok(false)
            }
            Err(Trouble::Broken(error)) => Err(error),
        }
    }
}
