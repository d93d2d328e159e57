//! The portal: where jobs are submitted to the grid.

use serde::{Deserialize, Serialize};

use super::mailbox::{Mailbox, Moments};
use super::{Address, EndedJob, EntityError, Outbox, Quiescence, Stamp, ToBroker, ToPortal};
use crate::model::{GridContext, Submission, TaskId, WorkflowId};
use crate::units::{Span, Time};
use crate::workload::{Mark, Source, SourceError};

/// Sends the jobs of the grid's workload to the broker when they are submitted.
///
/// Users submit in round 1 of an instant, when the ends of that instant have been handled: so a broker whose view is never stale
/// sees the grid as it is when the job arrives.
pub struct Portal {
    source: Box<dyn Source>,
    /// Whether the source must be notified of ends.
    feedback: bool,
    next: Option<Time>,
    state: State,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    mail: Mailbox<ToPortal>,
    admitted: u64,
    /// Workflows among what was submitted.
    workflows: u32,
    last: Time,
}

/// The state of a portal in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortalSave {
    state: State,
    mark: Mark,
}

impl std::fmt::Debug for Portal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Portal").field("next", &self.next).field("state", &self.state).finish_non_exhaustive()
    }
}

impl Portal {
    /// A portal for this workload.
    ///
    /// # Errors
    /// [`EntityError::Source`] if its first job cannot be read.
    pub fn new(source: Box<dyn Source>) -> Result<Self, EntityError> {
        let feedback = source.has_feedback();
        let mut portal = Self { source, feedback, next: None, state: State::default() };
        portal.refresh()?;
        Ok(portal)
    }

    /// Notes of the workload for the end of the run.
    pub fn notes(&self) -> Vec<String> {
        self.source.notes()
    }

    /// Whether the workload must be notified of ends.
    pub fn has_feedback(&self) -> bool {
        self.feedback
    }

    /// The number of jobs submitted so far; each task of a workflow is one.
    pub fn admitted(&self) -> u64 {
        self.state.admitted
    }

    fn refresh(&mut self) -> Result<(), EntityError> {
        self.next = self.source.peek_time()?;
        match self.next {
            // The job would never be submitted, and the run would not show that it is missing.
            Some(Time::NEVER) => Err(SourceError::beyond_the_axis().into()),
            _ => Ok(()),
        }
    }

    /// Numbers what is submitted: a job, or the tasks of a workflow, one after the other.
    fn admit(&mut self, submission: Submission) -> ToBroker {
        let number = self.state.admitted;
        match submission {
            Submission::Job(mut job) => {
                self.state.admitted += 1;
                // The broker chooses the partition.
                job.partition = None;
                let part = job.grid.take().map_or_else(GridContext::default, |part| *part);
                job.grid = Some(Box::new(GridContext { number, ..part }));
                ToBroker::Submit(Box::new(job))
            }
            Submission::Workflow(mut workflow) => {
                self.state.admitted += workflow.spec.tasks.len() as u64;
                (workflow.number, workflow.first_task) = (WorkflowId(self.state.workflows), TaskId(number));
                self.state.workflows += 1;
                ToBroker::Workflow(Box::new(workflow))
            }
            Submission::Coallocated(mut together) => {
                self.state.admitted += together.parts.len() as u64;
                together.first_task = TaskId(number);
                for (part, number) in together.parts.iter_mut().zip(number..) {
                    part.partition = None;
                    let context = part.grid.take().map_or_else(GridContext::default, |context| *context);
                    part.grid = Some(Box::new(GridContext { number, ..context }));
                }
                ToBroker::Coallocated(Box::new(together))
            }
        }
    }

    /// The state, between two moments.
    ///
    /// # Errors
    /// [`EntityError::BadSave`] if the workload cannot be continued (standard input).
    pub fn save(&self) -> Result<PortalSave, EntityError> {
        let bad = || self.bad_save("its workload cannot be continued from the middle");
        let mark = self.source.mark().ok_or_else(bad)?;
        Ok(PortalSave { state: self.state.clone(), mark })
    }

    /// Restores a state, with a freshly opened source.
    ///
    /// # Errors
    /// [`EntityError`] if the state does not fit.
    pub fn restore(&mut self, saved: PortalSave) -> Result<(), EntityError> {
        self.source.seek(&saved.mark)?;
        self.state = saved.state;
        self.refresh()
    }
}

impl Moments for Portal {
    type Letter = ToPortal;

    fn address(&self) -> Address {
        Address::Portal
    }

    fn mail(&mut self) -> &mut Mailbox<ToPortal> {
        &mut self.state.mail
    }

    fn next(&self) -> Option<Stamp> {
        let own = self.next.map(|time| Stamp::at(time).next_round().max(self.state.mail.passed()));
        own.into_iter().chain(self.state.mail.due()).min()
    }

    fn handle(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        while let Some(message) = self.state.mail.take(now) {
            let ToPortal::Ended(EndedJob { job, .. }) = message.body;
            self.source.ended(job, now.time);
            self.refresh()?;
        }
        self.state.last = now.time;
        let due = |next: Time| Stamp::at(next).next_round() <= now;
        while self.next.is_some_and(due) {
            let submission = self.source.next_submission()?;
            self.refresh()?;
            let Some(submission) = submission else { break };
            let letter = self.admit(submission);
            self.send(Address::Broker, now, Span::ZERO, letter, outbox);
        }
        Ok(())
    }

    fn quiescence(&self) -> Quiescence {
        let State { admitted, last, .. } = self.state;
        let more = self.next.is_some();
        Quiescence { admitted, more, last, self_active: more, ..Quiescence::default() }
    }
}
