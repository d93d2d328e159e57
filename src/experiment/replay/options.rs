//! What a replay can be asked for.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::experiment::resume::seen_from;
use crate::experiment::workload::{Shaping, Workload};
use crate::experiment::{CheckpointPlan, archive};
use crate::metrics::Definitions;
use crate::model::{InstantOrder, JobClasses, Named, Reservation};
use crate::units::{Power, Price, Rate, Span};

/// What to replay, on what, and what to leave behind.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReplayOptions {
    /// The workload.
    pub workload: Workload,
    /// What is done to it.
    pub shaping: Shaping,
    /// The local policies, one run each.
    pub policies: Vec<Named>,
    /// What happens first at one instant.
    pub order: InstantOrder,
    /// Whether jobs may run beyond their estimate.
    pub overrun: bool,
    /// Processors are given in blocks of this many.
    pub quantum: u32,
    /// Speed of a processor.
    pub speed: Rate,
    /// Blocks of processors that are not the queue's.
    pub reservations: Vec<Reservation>,
    /// Power of an idle processor.
    pub idle: Power,
    /// Power of a busy processor.
    pub busy: Power,
    /// Power usage effectiveness × 10⁶.
    pub pue_ppm: u64,
    /// Price a processor-hour.
    pub price: Price,
    /// The bound of the bounded slowdown.
    pub tau: Span,
    /// Job classes of the summary.
    pub classes: JobClasses,
    /// Where files go; with several policies, a folder each inside.
    pub out: Option<PathBuf>,
    /// Also write changes of machine state.
    pub machines: bool,
    /// Also write Batsim's columns.
    pub batsim: bool,
    /// Its snapshots; `None` for none.
    pub checkpoint: Option<CheckpointPlan>,
}

impl ReplayOptions {
    /// A plain replay of `workload` under `policies`.
    pub fn new(workload: Workload, policies: Vec<Named>) -> Self {
        Self {
            workload,
            shaping: Shaping::default(),
            policies,
            order: InstantOrder::Instant,
            overrun: false,
            quantum: 1,
            speed: Rate::FULL,
            reservations: Vec::new(),
            idle: Power::ZERO,
            busy: Power::ZERO,
            pue_ppm: 1_000_000,
            price: Price::ZERO,
            tau: Definitions::TAU,
            classes: JobClasses::none(),
            out: None,
            machines: false,
            batsim: false,
            checkpoint: None,
        }
    }

    /// Paths as they were seen from `folder`.
    pub(in crate::experiment) fn see_from(&mut self, folder: &Path) {
        // A log of an archive is wherever the machine has it.
        if let Workload::File(path) = &mut self.workload
            && !path.to_str().is_some_and(archive::names)
        {
            seen_from(folder, path);
        }
        if let Some(out) = &mut self.out {
            seen_from(folder, out);
        }
    }

    /// What changes the result and differs from a plain replay, as it is typed. Policy, estimates and order of an instant are told
    /// apart from these.
    pub(super) fn typed(&self) -> Vec<String> {
        let plain = Self::new(self.workload.clone(), Vec::new());
        let Shaping { clean, cap, first, load, estimates: _, feedback, malleable, procs: _, seed: _ } =
            &self.shaping;
        let flags = [
            (*clean != plain.shaping.clean, "--clean strict"),
            (*cap, "--cap"),
            (*feedback, "--feedback"),
            (*malleable, "--malleable"),
            (self.overrun, "--overrun"),
        ];
        let values = [
            ("load", load.map(|load| load.to_string())),
            ("first", first.map(|first| first.to_string())),
            ("quantum", (self.quantum != plain.quantum).then(|| self.quantum.to_string())),
            ("speed", (self.speed != plain.speed).then(|| self.speed.to_string())),
            ("idle", (self.idle != plain.idle).then(|| format!("'{}'", self.idle))),
            ("busy", (self.busy != plain.busy).then(|| format!("'{}'", self.busy))),
            ("pue", (self.pue_ppm != plain.pue_ppm).then(|| (self.pue_ppm as f64 / 1e6).to_string())),
            ("price", (self.price != plain.price).then(|| self.price.to_string())),
        ];
        let flags = flags.iter().filter(|(set, _)| *set).map(|(_, flag)| (*flag).to_owned());
        let values =
            values.into_iter().filter_map(|(name, value)| value.map(|value| format!("--{name} {value}")));
        let reservations = self.reservations.iter().map(|reservation| {
            format!("--reserve {}..{}:{}", reservation.start, reservation.end, reservation.procs)
        });
        flags.chain(values).chain(reservations).collect()
    }
}
