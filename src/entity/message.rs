//! Messages and the order in which they are handled.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::{Job, JobId, RecordSink, SiteId};
use crate::units::Time;

/// A moment of the run: an instant and a round within it.
///
/// An entity's own events belong to round 0. A message sent without delay in round `n` arrives in round `n + 1`; a
/// job of no length started in round `n` ends in round `n + 1`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// The instant.
    pub time: Time,
    /// The round.
    pub round: u32,
}

impl Stamp {
    /// After everything that happens.
    pub const END: Self = Self { time: Time::NEVER, round: u32::MAX };

    /// Round 0 of an instant.
    pub const fn at(time: Time) -> Self {
        Self { time, round: 0 }
    }

    /// The next round of the same instant.
    #[must_use]
    pub const fn next_round(self) -> Self {
        Self { round: self.round.saturating_add(1), ..self }
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s, round {}", self.time, self.round)
    }
}

/// Who sends. The order of the variants is the order in which messages of one moment are handled.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Sender {
    /// Whoever drives the grid: a program, a script, a person.
    Outside,
    /// A site.
    Site(SiteId),
}

/// A message. Those of one moment are handled in the order of `(sender, sequence)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// When it arrives.
    pub arrival: Stamp,
    /// Who sent it.
    pub sender: Sender,
    /// Its number among the sender's messages; no two are equal.
    pub sequence: u64,
    /// What it says.
    pub body: Body,
}

/// What a message says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Body {
    /// Take this job.
    Submit(Box<Job>),
    /// Withdraw the job of that number, wherever it stands.
    Cancel(JobId),
}

/// Where an entity puts what it has to say.
pub trait Outbox: RecordSink {
    /// Sends a message.
    fn send(&mut self, to: SiteId, message: Message);
}
