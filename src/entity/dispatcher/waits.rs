//! Jobs that rest until a given instant.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{EventCause, Job};
use crate::units::Time;

/// Jobs by the instant at which their rest is over; among equals, in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Waits {
    jobs: BTreeMap<(Time, u64), (Box<Job>, EventCause)>,
    sequence: u64,
}

impl Waits {
    pub(super) fn insert(&mut self, until: Time, job: Box<Job>, why: EventCause) {
        self.jobs.insert((until, self.sequence), (job, why));
        self.sequence += 1;
    }

    /// When the next rest is over.
    pub(super) fn next(&self) -> Option<Time> {
        self.jobs.first_key_value().map(|((until, _), _)| *until)
    }

    /// Takes out the next job whose rest is over.
    pub(super) fn take(&mut self, now: Time) -> Option<(Box<Job>, EventCause)> {
        let first = self.jobs.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    pub(super) fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.jobs.values().map(|(job, _)| &**job)
    }

    pub(super) fn into_jobs(self) -> impl Iterator<Item = Box<Job>> {
        self.jobs.into_values().map(|(job, _)| job)
    }
}
