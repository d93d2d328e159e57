//! Current assignments, and which of them a site's last report includes.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Flights {
    assigned: BTreeMap<u64, Assigned>,
    /// In the order of assignment: a job that leaves is nearly always one of the first.
    unseen: Vec<VecDeque<u64>>,
    sums: Vec<InFlight>,
    measured: Vec<Stamp>,
}

impl Flights {
    pub(super) fn new(pools: usize) -> Self {
        Self {
            assigned: BTreeMap::new(),
            unseen: vec![VecDeque::new(); pools],
            sums: vec![InFlight::default(); pools],
            measured: vec![Stamp::default(); pools],
        }
    }

    pub(super) fn insert(&mut self, number: u64, assigned: Assigned) {
        add(&mut self.sums[assigned.pool], &assigned);
        self.unseen[assigned.pool].push_back(number);
        self.assigned.insert(number, assigned);
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<Assigned> {
        let gone = self.assigned.remove(&number)?;
        let unseen = &mut self.unseen[gone.pool];
        if let Some(at) = unseen.iter().position(|other| *other == number) {
            unseen.remove(at);
            subtract(&mut self.sums[gone.pool], &gone);
        }
        Some(gone)
    }

    /// Notes what the dispatcher reported of an assignment: held back, or when it arrives after all.
    pub(super) fn sent(&mut self, number: u64, arrival: Option<Stamp>) {
        if let Some(assigned) = self.assigned.get_mut(&number) {
            assigned.arrival = arrival;
        }
    }

    /// Applies a report of a pool, which includes every job that had arrived when it was measured.
    pub(super) fn measured(&mut self, pool: usize, measured: Stamp) {
        let (assigned, sums) = (&self.assigned, &mut self.sums[pool]);
        self.measured[pool] = measured;
        self.unseen[pool].retain(|number| {
            let Some(flight) = assigned.get(number) else { return false };
            let shown = flight.arrival.is_some_and(|arrival| arrival <= measured);
            if shown {
                subtract(sums, flight);
            }
            !shown
        });
    }

    /// The sum of the assignments that the pool's last report does not include.
    pub(super) fn unseen_sum(&self, pool: usize) -> InFlight {
        self.sums[pool]
    }

    /// Processors of the jobs that had not arrived at the pool at a moment.
    pub(super) fn unseen(&self, pool: usize, measured: Stamp) -> u32 {
        let coming = self.unseen[pool].iter().filter_map(|number| self.assigned.get(number));
        coming
            .filter(|flight| flight.arrival.is_none_or(|arrival| arrival > measured))
            .map(|flight| flight.procs)
            .sum()
    }

    /// Assignments that can be recalled: those that the dispatcher holds, or with `queued` all.
    pub(super) fn recallable(&self, queued: bool) -> impl Iterator<Item = u64> + '_ {
        self.assigned
            .iter()
            .filter(move |(_, flight)| queued || flight.arrival.is_none())
            .map(|(number, _)| *number)
    }
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
