//! The interface of a broker policy: events and a grid view in, a plan out.

use serde::{Deserialize, Serialize};

use super::outside::ProgramFacts;
use super::{Answer, GridView};
use crate::model::{EventCause, JobId, Outcome, PoolId, TaskId};

/// An event that the broker has received, of which its policy is notified before the planning that follows it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum BrokerEvent {
    /// A new job has arrived at the broker.
    Arrived {
        /// Its number at the portal.
        task: TaskId,
        /// The job.
        job: JobId,
    },
    /// A task of a workflow waits to be assigned from now on: all tasks that it waits for have completed.
    Unblocked {
        /// Its number at the portal.
        task: TaskId,
        /// Its job.
        job: JobId,
    },
    /// A job has ended: in a pool, as the broker has been notified, or with the broker.
    Ended {
        /// Its number at the portal.
        task: TaskId,
        /// The job.
        job: JobId,
        /// The pool where it ended; `None` if it was with the broker.
        pool: Option<PoolId>,
        /// Its outcome.
        outcome: Outcome,
    },
    /// A job has returned from a pool without having ended.
    Returned {
        /// Its number at the portal.
        task: TaskId,
        /// The job.
        job: JobId,
        /// The pool that it returned from.
        pool: PoolId,
        /// Why.
        why: EventCause,
    },
    /// The grid view has been updated.
    ViewUpdated,
    /// A pool has asked for work.
    Asked(PoolId),
    /// An instant has come for which the policy wanted to be asked again, or until which a task was put off.
    Due,
    /// A plan that took time has arrived.
    Planned,
    /// A task has entered or left the table of tasks, or is in another state there; of a policy that [follows](BrokerPolicy::follows) this. It may be as
    /// before once more.
    Changed(TaskId),
}

/// A mapping algorithm.
///
/// It decides from the [`GridView`] and from the events it was notified of; it reads no clock, and draws only from streams named
/// by the seed that its constructor was given. It is asked whenever jobs wait and something has changed: a job has arrived, a
/// view has arrived, or a pool has asked for work.
///
/// A policy that decides about one task after the other is simpler as a [`Choose`](super::Choose).
///
/// The view holds all waiting jobs. Two exceptions: a [steady](super::BrokerAbilities::steady) policy does not see jobs again that it has
/// left, if only other jobs have arrived since; and where each assignment is reported before the next one is made
/// (sites report at every change and messages take no time), a policy that does not plan them together
/// ([`super::BrokerAbilities::batch`]) sees them one after the other.
pub trait BrokerPolicy: Send {
    /// Notifies the policy of an event at the broker.
    fn on(&mut self, _event: &BrokerEvent) {}

    /// Decides about tasks that wait, any number of them; the others go on waiting. What was written into the view is
    /// [`GridView::done`].
    fn plan(&mut self, view: &mut GridView<'_>) -> Answer;

    /// Whether the policy is notified of each task that [changes](BrokerEvent::Changed).
    fn follows(&self) -> bool {
        false
    }

    /// What is known of the program that decides, if the policy hands its questions on to one.
    fn program(&self) -> Option<ProgramFacts> {
        None
    }

    /// The policy's own state for a snapshot.
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Restores what [`BrokerPolicy::save`] returned.
    ///
    /// # Errors
    /// A sentence on what is wrong with the saved state.
    fn restore(&mut self, _saved: &[u8]) -> Result<(), String> {
        Ok(())
    }
}
