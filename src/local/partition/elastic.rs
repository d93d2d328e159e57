//! Elastic commands: a user changes the time or the processors of a job that waits or runs (Kumar, Shae and Jamjoom 2012, section
//! III-C).
//!
//! The partition is the ECC processor of figure 3: it carries out commands first come, first served, and notifies its policy of
//! them. The effect of a command on a job is in `change`.

mod change;

use super::Partition;
use crate::local::Step;
use crate::local::error::PartitionError;
use crate::local::table::LiveJob;
use crate::model::{
    CommandRefusal, Elastic, EventCause, EventKind, EventRecord, JobId, JobKey, JobRef, Outcome,
};
use crate::units::{Span, Time};

/// The result of a command: whether the job has ended by it.
type Executed = Result<bool, CommandError>;

/// Why a command was not carried out.
enum CommandError {
    Refused(CommandRefusal),
    Failed(PartitionError),
}

impl From<CommandRefusal> for CommandError {
    fn from(refusal: CommandRefusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<PartitionError> for CommandError {
    fn from(error: PartitionError) -> Self {
        Self::Failed(error)
    }
}

impl Partition {
    /// Ends the jobs whose deadline has come, and those that have cost their budget, if they are ended there; then carries out the commands of the workload's users that are due, by their times, then in the
    /// order in which their jobs came. Returns true if there was anything to do.
    ///
    /// # Errors
    /// [`PartitionError::EndOfTime`] if a job would end beyond the time axis.
    #[inline]
    pub fn execute_due(&mut self, step: &mut Step<'_>) -> Result<bool, PartitionError> {
        // This is called at every moment, and nearly always no command is due.
        let ended = self.state.agenda.ends_jobs() && self.end_overdue(step);
        let done = if self.state.agenda.has_commands() { self.execute_those_due(step)? } else { false };
        Ok(ended || done)
    }

    /// Ends the jobs whose deadline has come, then those that have cost their budget, if they are ended there. True if there were any.
    fn end_overdue(&mut self, step: &mut Step<'_>) -> bool {
        let mut any = false;
        while let Some(key) = self.state.agenda.take_overdue(step.now) {
            any |= self.end_at_limit(key, EventKind::Overdue, step);
        }
        while let Some(key) = self.state.take_spent(step.now) {
            any |= self.end_at_limit(key, EventKind::Spent, step);
        }
        any
    }

    fn end_at_limit(&mut self, key: JobKey, kind: EventKind, step: &mut Step<'_>) -> bool {
        let Some(job) = self.state.table.get(key) else { return false };
        let procs = job.held_or_requested();
        step.record(self.state.job_event(step.now, kind, EventCause::None, job, procs));
        self.end_job(key, Outcome::Cancelled, step);
        true
    }

    fn execute_those_due(&mut self, step: &mut Step<'_>) -> Result<bool, PartitionError> {
        let mut any = false;
        while let Some(key) = self.state.agenda.take_command(step.now) {
            let Some(live) = self.state.table.get_mut(key) else { continue };
            let Some(change) = live.take_command() else { continue };
            self.state.await_command(key);
            any |= self.execute(key, change, EventCause::None, step)?;
        }
        Ok(any)
    }

    /// When the job of that number was submitted; if several have it, the one that came first. `None` if there is none.
    pub fn submitted(&mut self, id: JobId) -> Option<Time> {
        self.named(id).and_then(|key| self.state.table.get(key)).map(LiveJob::submit)
    }

    /// Whether this job is here.
    pub fn has(&mut self, job: JobRef) -> bool {
        let state = &mut self.state;
        let named: Vec<JobKey> = state.numbers.all(job.number, &state.table).collect();
        named
            .into_iter()
            .filter_map(|key| self.state.table.get(key))
            .any(|live| self.state.job_ref(live) == job)
    }

    /// The job of that number; if several have it, the one that came first.
    pub(super) fn named(&mut self, id: JobId) -> Option<JobKey> {
        self.state.numbers.first(id, &self.state.table)
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
        step: &mut Step<'_>,
    ) -> Result<Option<bool>, PartitionError> {
        let Some(key) = self.named(id) else { return Ok(None) };
        self.execute(key, change, cause, step).map(Some)
    }

    /// Refuses a command for a job that is not here; without a change, it was a cancellation.
    pub fn refuse_command(&mut self, id: JobId, change: Option<Elastic>, step: &mut Step<'_>) {
        let why = CommandRefusal::NoJob;
        self.state.tally.refused_commands[why as usize] += 1;
        let event = self.state.event(step.now, EventKind::CommandRefused, EventCause::Unheeded(why));
        step.record(EventRecord { job: Some(id), command: change, ..event });
    }

    /// Carries out a command or refuses it, and records which. Returns true if it was carried out.
    fn execute(
        &mut self,
        key: JobKey,
        change: Elastic,
        cause: EventCause,
        step: &mut Step<'_>,
    ) -> Result<bool, PartitionError> {
        let most = self.state.abilities.elastic;
        let carried = self.state.agenda.carried(key);
        let Some(live) = self.state.table.get(key) else { return Ok(false) };
        // The job as it was: it may have left afterwards.
        let procs = live.held_or_requested();
        let event = self.state.job_event(step.now, EventKind::CommandRefused, cause, live, procs);
        let event = EventRecord { command: Some(change), ..event };
        let executed = match change {
            _ if most == 0 => Err(CommandRefusal::NoProcessor.into()),
            _ if carried >= most => Err(CommandRefusal::TooMany.into()),
            Elastic::ExtendTime(by) => self.change_time(key, Some(by), Span::ZERO, step),
            Elastic::ReduceTime(by) => self.change_time(key, None, by, step),
            Elastic::ExtendProcs(by) => self.change_procs(key, i64::from(by), step),
            Elastic::ReduceProcs(by) => self.change_procs(key, -i64::from(by), step),
        };
        match executed {
            Ok(has_ended) => {
                let kind = match change {
                    Elastic::ExtendTime(_) | Elastic::ExtendProcs(_) => EventKind::Extended,
                    Elastic::ReduceTime(_) | Elastic::ReduceProcs(_) => EventKind::Reduced,
                };
                self.state.tally.commands += 1;
                let procs = self.state.table.get(key).filter(|_| !has_ended).map(LiveJob::held_or_requested);
                if !has_ended {
                    self.state.agenda.know(key).carried += 1;
                }
                step.record(EventRecord { kind, procs: procs.unwrap_or(event.procs), ..event });
                Ok(true)
            }
            Err(CommandError::Refused(why)) => {
                self.state.tally.refused_commands[why as usize] += 1;
                step.record(EventRecord { cause: EventCause::Unheeded(why), ..event });
                Ok(false)
            }
            Err(CommandError::Failed(error)) => Err(error),
        }
    }
}
