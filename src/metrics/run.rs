//! Facts of a run beside its measures: its own wall time, and what is known only of a site without a broker.

use serde::{Deserialize, Serialize};

use super::RecordedWaits;
use crate::model::InstantOrder;

/// Additional facts of a run of one site without a broker: a replay, or an equivalent scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SingleSite {
    /// The workload: a file's name or a generator with its parameters.
    pub workload: String,
    /// The local policy with its parameters.
    pub policy: String,
    /// Processors of the site.
    pub procs: u32,
    /// Where estimates came from (`log`, `exact`, `factor:2`, …).
    pub estimates: String,
    /// The order of events at one instant.
    pub order: InstantOrder,
    /// Other options that change the result, as they are typed: `--overrun`, `--speed 1.5`.
    pub options: Vec<String>,
    /// Whether anything was drawn from a seed.
    pub random: bool,
    /// The load that the workload offered.
    pub offered_load: Option<OfferedLoad>,
    /// The largest number of jobs that waited at once.
    pub longest_queue: u64,
    /// Emulated waits beside recorded waits, if the workload has them.
    pub recorded_waits: Vec<RecordedWaits>,
}

/// The work offered, relative to what the machine could do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OfferedLoad {
    /// The load; 1 is the capacity of the machine.
    pub value: f64,
    /// The capacity it is relative to, in words.
    pub over: String,
}

/// The wall time of the parts of a run, in seconds.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Reading or generating the workload.
    pub read_s: f64,
    /// Scheduling.
    pub schedule_s: f64,
    /// Writing and summarizing records.
    pub write_s: f64,
}
