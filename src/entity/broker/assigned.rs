//! Current assignments, and which of them a site's last report includes.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize, Serializer};

use crate::broker::InFlight;
use crate::entity::Stamp;
use crate::model::PoolId;

/// A job that has been assigned and has neither ended nor returned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Assigned {
    /// Its pool's place among the pools.
    pub(super) pool: usize,
    pub(super) procs: u32,
    /// Processors × estimate in processor-microseconds.
    pub(super) area: u128,
    /// When it reaches its site; `None` while the dispatcher holds it back.
    pub(super) arrival: Option<Stamp>,
    /// Pools that have refused it.
    pub(super) refused: Vec<PoolId>,
}

/// All current assignments, by number, and for each pool those that its last report does not include.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Saved")]
pub(super) struct Flights {
    assigned: BTreeMap<u64, Assigned>,
    /// The assignments that the dispatcher holds back.
    held: BTreeSet<u64>,
    lanes: Vec<Lane>,
    /// The place of the next assignment in the order in which they were made.
    next: u64,
}

/// The assignments to a pool that its last report does not include.
#[derive(Clone, Debug, Default)]
struct Lane {
    /// Their places in the order in which they were made. What is held back comes last.
    coming: BTreeMap<(Stamp, u64), u64>,
    sum: InFlight,
    measured: Stamp,
}

/// What a snapshot has: for each pool the numbers in the order in which they were assigned.
#[derive(PartialEq, Serialize, Deserialize)]
#[serde(rename = "Flights")]
struct Saved<A = BTreeMap<u64, Assigned>> {
    assigned: A,
    unseen: Vec<Vec<u64>>,
    sums: Vec<InFlight>,
    measured: Vec<Stamp>,
}

impl Flights {
    pub(super) fn new(pools: usize) -> Self {
        Self { lanes: vec![Lane::default(); pools], ..Self::default() }
    }

    pub(super) fn insert(&mut self, number: u64, assigned: Assigned) {
        let lane = &mut self.lanes[assigned.pool];
        add(&mut lane.sum, &assigned);
        lane.coming.insert(key(number, &assigned), self.next);
        self.next += 1;
        if assigned.arrival.is_none() {
            self.held.insert(number);
        }
        self.assigned.insert(number, assigned);
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<Assigned> {
        let gone = self.assigned.remove(&number)?;
        let lane = &mut self.lanes[gone.pool];
        if lane.coming.remove(&key(number, &gone)).is_some() {
            subtract(&mut lane.sum, &gone);
        }
        if gone.arrival.is_none() {
            self.held.remove(&number);
        }
        Some(gone)
    }

    /// Notes what the dispatcher reported of an assignment: held back, or when it arrives after all.
    pub(super) fn sent(&mut self, number: u64, arrival: Option<Stamp>) {
        let Some(assigned) = self.assigned.get_mut(&number) else { return };
        let coming = &mut self.lanes[assigned.pool].coming;
        let place = coming.remove(&key(number, assigned));
        assigned.arrival = arrival;
        if let Some(place) = place {
            coming.insert(key(number, assigned), place);
        }
        if arrival.is_none() {
            self.held.insert(number);
        } else {
            self.held.remove(&number);
        }
    }

    /// Applies a report of a pool, which includes every job that had arrived when it was measured.
    pub(super) fn measured(&mut self, pool: usize, measured: Stamp) {
        let lane = &mut self.lanes[pool];
        lane.measured = measured;
        while let Some(first) = lane.coming.first_entry().filter(|first| first.key().0 <= measured) {
            let ((_, number), _) = first.remove_entry();
            subtract(&mut lane.sum, &self.assigned[&number]);
        }
    }

    /// The sum of the assignments that the pool's last report does not include.
    pub(super) fn unseen_sum(&self, pool: usize) -> InFlight {
        self.lanes[pool].sum
    }

    /// Processors of the jobs that had not arrived at the pool at a moment.
    pub(super) fn unseen(&self, pool: usize, measured: Stamp) -> u32 {
        let Lane { coming, sum, .. } = &self.lanes[pool];
        let arrived =
            coming.range(..=(measured, u64::MAX)).map(|((_, number), _)| self.assigned[number].procs);
        let left = arrived.fold(sum.procs, |left, procs| left - u64::from(procs));
        u32::try_from(left).unwrap_or(u32::MAX)
    }

    /// Assignments that can be recalled: those that the dispatcher holds, or with `queued` all.
    pub(super) fn recallable(&self, queued: bool) -> impl Iterator<Item = u64> + '_ {
        let (all, held) =
            if queued { (Some(self.assigned.keys()), None) } else { (None, Some(self.held.iter())) };
        all.into_iter().flatten().chain(held.into_iter().flatten()).copied()
    }

    fn saved(&self) -> Saved<&BTreeMap<u64, Assigned>> {
        let in_order = |lane: &Lane| {
            let mut numbers: Vec<_> =
                lane.coming.iter().map(|((_, number), place)| (place, *number)).collect();
            numbers.sort_unstable();
            numbers.into_iter().map(|(_, number)| number).collect()
        };
        Saved {
            assigned: &self.assigned,
            unseen: self.lanes.iter().map(in_order).collect(),
            sums: self.lanes.iter().map(|lane| lane.sum).collect(),
            measured: self.lanes.iter().map(|lane| lane.measured).collect(),
        }
    }
}

impl Serialize for Flights {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.saved().serialize(serializer)
    }
}

impl From<Saved> for Flights {
    fn from(saved: Saved) -> Self {
        let Saved { assigned, unseen, sums, measured } = saved;
        let mut places = 0..;
        let lanes = unseen.into_iter().zip(sums).zip(measured).map(|((numbers, sum), measured)| {
            let known = numbers.into_iter().filter_map(|number| Some(key(number, assigned.get(&number)?)));
            Lane { coming: known.zip(&mut places).collect(), sum, measured }
        });
        let lanes = lanes.collect();
        let held = assigned.iter().filter(|(_, flight)| flight.arrival.is_none()).map(|(number, _)| *number);
        Self { held: held.collect(), assigned, lanes, next: places.start }
    }
}

/// Two are equal if their snapshots are.
impl PartialEq for Flights {
    fn eq(&self, other: &Self) -> bool {
        self.saved() == other.saved()
    }
}

impl Eq for Flights {}

/// The place of an assignment in its lane.
fn key(number: u64, flight: &Assigned) -> (Stamp, u64) {
    (flight.arrival.unwrap_or(Stamp::END), number)
}

fn add(sum: &mut InFlight, flight: &Assigned) {
    sum.jobs += 1;
    sum.procs += u64::from(flight.procs);
    sum.area += flight.area;
}

fn subtract(sum: &mut InFlight, flight: &Assigned) {
    sum.jobs -= 1;
    sum.procs -= u64::from(flight.procs);
    sum.area -= flight.area;
}
