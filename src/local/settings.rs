//! The settings that a partition has from its site, and its counts.

use serde::{Deserialize, Serialize};

use super::power::SleepRule;
use crate::model::{
    Checkpointing, CommandRefusal, FailureAction, InstantOrder, PartitionId, Payer, PlacementRule,
    Preemption, SiteId, SiteTariff,
};
use crate::units::Span;

/// The settings that a partition has from its site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The site, for records.
    pub site: SiteId,
    /// The site's name, for messages.
    pub site_name: String,
    /// The partition, for records.
    pub partition: PartitionId,
    /// The order of the events of one instant.
    pub order: InstantOrder,
    /// Whether jobs may run beyond their estimate.
    pub overrun: bool,
    /// Which free processors jobs get.
    pub placement: PlacementRule,
    /// Prices by the hour of the day, and of electricity.
    pub tariff: SiteTariff,
    /// Power usage effectiveness × 10⁶.
    pub pue_ppm: u64,
    /// Whether segments are recorded.
    pub record_segments: bool,
    /// Whether changes of machine state are recorded.
    pub record_machines: bool,
    /// What happens to a job when a machine of it goes down.
    pub on_failure: FailureAction,
    /// Whether waiting grid jobs return to the broker when the whole site goes down.
    pub return_queued: bool,
    /// A job whose attempt of this number fails is not requeued any more: it fails.
    pub attempts: Option<u32>,
    /// The checkpoints that running jobs write, if any.
    pub checkpoint: Option<Checkpointing>,
    /// The mean up time of a machine, if it is known: the spacing of checkpoints depends on it.
    pub mean_up: Option<Span>,
    /// When the machines of each group sleep; empty if none ever does.
    pub sleep: Vec<SleepRule>,
    /// The seed of the run, for the memory of jobs that is drawn.
    pub seed: u64,
    /// What suspending, resuming and resizing jobs costs.
    pub preemption: Preemption,
    /// Who pays for an attempt that failed because of churn.
    pub failed_attempts: Payer,
}

/// Counts of a partition.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Jobs that arrived.
    pub arrived: u64,
    /// Jobs by outcome, in the order of [`crate::model::Outcome::NAMES`].
    pub outcomes: [u64; 6],
    /// Grid jobs that returned to the broker without having ended. Each job that arrives has ended, returned, or is still here.
    pub returned: u64,
    /// Most jobs waiting at once after a pass.
    pub longest_queue: u64,
    /// Scheduling passes.
    pub passes: u64,
    /// Reservations that had fewer processors than booked, from the beginning or after machines went down.
    pub short_reservations: u64,
    /// Elastic commands that were carried out.
    pub commands: u64,
    /// Elastic commands that were refused, by reason, in the order of [`CommandRefusal::ALL`].
    pub refused_commands: [u64; CommandRefusal::ALL.len()],
}

impl Tally {
    /// Jobs that have ended here, with any outcome.
    pub fn ended(&self) -> u64 {
        self.outcomes.iter().sum()
    }
}
