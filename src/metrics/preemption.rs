//! Suspensions of jobs: how many there were, and how long they took.

use serde::{Deserialize, Serialize};

use super::Window;
use crate::model::{EventKind, EventRecord};
use crate::units::Span;

/// Sums up suspensions, one event at a time, in any order.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Suspensions {
    suspensions: u64,
    jobs: u64,
    preempted: u64,
    resumed: u64,
    /// In microseconds.
    total: u128,
    longest: Span,
}

/// The suspensions of jobs in the measured window.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PreemptionSummary {
    /// How often a job was suspended.
    pub suspensions: u64,
    /// Jobs that were suspended, each once.
    pub jobs: u64,
    /// Suspensions of which the policy has said for which job.
    pub preempted: u64,
    /// How often a suspended job was resumed.
    pub resumed: u64,
    /// Mean time from a suspension until the job got processors again, in seconds; `None` if none did.
    pub mean_s: Option<f64>,
    /// The longest such time, in seconds; `None` if none did.
    pub longest_s: Option<f64>,
}

impl Suspensions {
    /// Adds an event, if it is in the window.
    pub(super) fn add(&mut self, event: &EventRecord, window: Window) {
        let Some(suspension) = event.suspension.as_deref().filter(|_| window.contains(event.time)) else {
            return;
        };
        match event.kind {
            EventKind::Suspended => {
                self.suspensions += 1;
                self.jobs += u64::from(suspension.number == 1);
                self.preempted += u64::from(suspension.by.is_some());
            }
            EventKind::Resumed => {
                let lasted = suspension.lasted.unwrap_or_default();
                self.resumed += 1;
                self.total += u128::from(lasted.micros());
                self.longest = self.longest.max(lasted);
            }
            _ => {}
        }
    }

    /// The summary; `None` if no job was suspended or resumed.
    pub(super) fn summary(&self) -> Option<PreemptionSummary> {
        let Self { suspensions, jobs, preempted, resumed, total, longest } = *self;
        let mean = (resumed > 0).then(|| total as f64 / 1e6 / resumed as f64);
        (suspensions + resumed > 0).then(|| PreemptionSummary {
            suspensions,
            jobs,
            preempted,
            resumed,
            mean_s: mean,
            longest_s: mean.map(|_| longest.as_secs_f64()),
        })
    }
}
