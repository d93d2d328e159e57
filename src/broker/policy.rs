//! The contract of a broker policy.

use serde::{Deserialize, Serialize};

use super::Picture;
use crate::model::{JobId, Outcome, PoolId};

/// Something that the broker has learnt, told to its policy before the planning that follows it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BrokerEvent {
    /// A job has come to wait with the broker: new, or back from a site.
    Arrived(JobId),
    /// A job has ended, as far as the broker is told.
    Ended {
        /// The job.
        job: JobId,
        /// Where.
        pool: PoolId,
        /// How.
        outcome: Outcome,
    },
    /// A job has come back from a pool without having ended.
    Returned {
        /// The job.
        job: JobId,
        /// From where.
        pool: PoolId,
    },
    /// A new picture is there.
    Pictured,
}

/// A mapping algorithm.
///
/// It decides from the [`Picture`] and from what it was told; it reads no clock, and draws only from streams named by the
/// seed that its constructor was given. It is asked whenever jobs wait and something has changed: a job came, a picture
/// came, a pool asked for work.
///
/// The picture holds all waiting jobs; but where reports are so prompt that each assignment is seen before the next one
/// (sites report at every change and messages take no time), a policy that does not plan them together
/// ([`super::BrokerAbilities::batch`]) is shown one after the other.
pub trait BrokerPolicy: Send {
    /// Told of what the broker has learnt.
    fn on(&mut self, _event: &BrokerEvent) {}

    /// Assigns waiting jobs to pools, as many as it likes; the others go on waiting.
    fn plan(&mut self, picture: &mut Picture<'_>);

    /// Its own state for a snapshot.
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes back what [`BrokerPolicy::save`] gave.
    ///
    /// # Errors
    /// A sentence on what is wrong with the saved state.
    fn restore(&mut self, _saved: &[u8]) -> Result<(), String> {
        Ok(())
    }
}
