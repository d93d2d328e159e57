//! Elastic commands of a workload that are still to come.

use super::State;
use crate::local::{LiveJob, Step};
use crate::model::{CommandRefusal, Elastic, EventCause, EventKind, EventRecord, JobKey, Outcome};
use crate::units::Time;

impl State {
    /// Schedules the next command of a job's workload.
    pub(in crate::local) fn await_command(&mut self, key: JobKey) {
        if let Some(next) = self.table.get(key).and_then(LiveJob::next_command) {
            self.agenda.await_command(key, next);
        }
    }

    /// Handles the arrival of a job with commands of its workload.
    pub(in crate::local) fn register_commands(&mut self, key: JobKey) {
        let Some(live) = self.table.get(key) else { return };
        let carried = live.job.grid.as_ref().map_or(0, |grid| grid.commands);
        if live.next_command().is_some() || carried > 0 {
            self.agenda.know(key).carried = carried;
            self.await_command(key);
        }
    }

    /// Refuses the remaining commands of a job that leaves for good.
    #[cold]
    pub(in crate::local) fn drop_commands(&mut self, key: JobKey, outcome: Outcome, step: &mut Step<'_>) {
        self.agenda.forget(key, self.table.get(key).and_then(LiveJob::next_command));
        let Some(live) = self.table.get_mut(key) else { return };
        live.drop_taken_commands();
        let Some(commands) = live.job.elastic.take() else { return };
        // The remaining commands of a job that is unfinished at the end of the run are not recorded.
        if outcome == Outcome::Unfinished {
            return;
        }
        let Some(live) = self.table.get(key) else { return };
        let why = CommandRefusal::NoJob;
        for command in &commands {
            let cause = EventCause::Unheeded(why);
            let event =
                self.job_event(step.now, EventKind::CommandRefused, cause, live, live.held_or_requested());
            step.record(EventRecord { command: Some(command.change), ..event });
        }
        self.tally.refused_commands[why as usize] += commands.len() as u64;
    }
}

impl LiveJob {
    /// Processors that it holds, or requests while it does not run.
    pub(in crate::local) fn held_or_requested(&self) -> u32 {
        if self.phase.is_active() { self.held } else { self.procs }
    }

    /// When the next command of its workload is due.
    pub(in crate::local) fn next_command(&self) -> Option<Time> {
        self.job.elastic.as_ref()?.get(self.taken as usize).map(|command| command.at)
    }

    /// Takes out the next command of its workload.
    pub(in crate::local) fn take_command(&mut self) -> Option<Elastic> {
        let next = self.job.elastic.as_ref()?.get(self.taken as usize)?;
        self.taken += 1;
        Some(next.change)
    }

    /// Leaves only the commands of its workload that are to come.
    pub(in crate::local) fn drop_taken_commands(&mut self) {
        let taken = std::mem::take(&mut self.taken) as usize;
        if taken > 0 {
            let rest = self.job.elastic.as_ref().and_then(|commands| commands.get(taken..));
            self.job.elastic = rest.filter(|rest| !rest.is_empty()).map(Box::from);
        }
    }

    /// A copy without commands, to try a change on.
    pub(in crate::local) fn copy(&mut self) -> Self {
        let commands = self.job.elastic.take();
        let copy = self.clone();
        self.job.elastic = commands;
        copy
    }
}
