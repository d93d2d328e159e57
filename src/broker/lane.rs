//! The assignments to a pool that its last report does not include.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::InFlight;
use super::pool::spread;
use crate::model::TaskId;
use crate::units::{Span, Stamp, Time};

/// An assignment that has neither ended nor returned.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed {
    /// Its pool's place among the pools.
    pub pool: usize,
    /// Its processors.
    pub procs: u32,
    /// Processors × estimate in processor-microseconds.
    pub area: u128,
    /// When it reaches its site; `None` while the dispatcher holds it back, or its files are on their way there.
    pub arrival: Option<Stamp>,
    /// When it was believed to start, as it was decided; [`Time::NEVER`] if nothing was believed.
    pub(crate) believed: Time,
    /// Whether the pool counts it as on its way: its last report does not include it, and its files can come.
    pub(crate) unseen: bool,
}

impl Placed {
    /// Its expected run time there.
    pub(crate) fn run(&self) -> Span {
        spread(self.area, self.procs)
    }
}

/// What is on its way to a pool.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    /// By arrival. What the dispatcher holds back comes last.
    coming: BTreeMap<(Stamp, TaskId), Placed>,
    sum: InFlight,
}

/// The place of an assignment in its lane.
fn key(task: TaskId, placed: &Placed) -> (Stamp, TaskId) {
    (placed.arrival.unwrap_or(Stamp::END), task)
}

impl Lane {
    /// The sum of the assignments.
    pub(super) fn sum(&self) -> InFlight {
        self.sum
    }

    /// The same, with when it is expected to be done on so many processors. What is held back is there from now on.
    pub(super) fn expected(&self, now: Time, processors: u32) -> InFlight {
        let (mut until, mut held) = (Time::ZERO, self.sum.area);
        for placed in self.coming.values() {
            let Some(arrival) = placed.arrival else { break };
            until = until.max(arrival.time) + spread(placed.area, processors);
            held -= placed.area;
        }
        if held > 0 {
            until = until.max(now) + spread(held, processors);
        }
        InFlight { until, ..self.sum }
    }

    pub(super) fn add(&mut self, task: TaskId, placed: &Placed) {
        self.coming.insert(key(task, placed), *placed);
        self.sum.jobs += 1;
        self.sum.procs += u64::from(placed.procs);
        self.sum.area += placed.area;
    }

    pub(super) fn remove(&mut self, task: TaskId, placed: &Placed) {
        self.coming.remove(&key(task, placed));
        self.subtract(placed);
    }

    /// Takes an assignment out of the sum.
    pub(super) fn subtract(&mut self, placed: &Placed) {
        self.sum.jobs -= 1;
        self.sum.procs -= u64::from(placed.procs);
        self.sum.area -= placed.area;
    }

    /// Moves an assignment to its new arrival.
    pub(super) fn arrives(&mut self, task: TaskId, before: &Placed, now: &Placed) {
        self.coming.remove(&key(task, before));
        self.coming.insert(key(task, now), *now);
    }

    /// Takes out the first assignment that has arrived by this moment, and leaves it in the sum.
    pub(super) fn take_arrived(&mut self, by: Stamp) -> Option<TaskId> {
        self.coming.first_key_value().filter(|((arrival, _), _)| *arrival <= by)?;
        self.coming.pop_first().map(|((_, task), _)| task)
    }

    /// All of them, by arrival.
    pub(super) fn all(&self) -> impl Iterator<Item = Placed> + '_ {
        self.coming.values().copied()
    }

    /// Those that have arrived by a moment.
    pub(super) fn arrived(&self, by: Stamp) -> impl Iterator<Item = Placed> + '_ {
        self.coming.range(..=(by, TaskId(u64::MAX))).map(|(_, placed)| *placed)
    }
}
