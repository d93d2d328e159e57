//! The indexed assignments against plain lists that are searched.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::units::Time;

/// The slow definition: for each pool a list, filtered at every report. Its derived form is that of snapshots.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Twin {
    assigned: BTreeMap<u64, Assigned>,
    unseen: Vec<VecDeque<u64>>,
    sums: Vec<InFlight>,
    measured: Vec<Stamp>,
}

impl Twin {
    fn new(pools: usize) -> Self {
        Self {
            assigned: BTreeMap::new(),
            unseen: vec![VecDeque::new(); pools],
            sums: vec![InFlight::default(); pools],
            measured: vec![Stamp::default(); pools],
        }
    }

    fn insert(&mut self, number: u64, assigned: Assigned) {
        add(&mut self.sums[assigned.pool], &assigned);
        self.unseen[assigned.pool].push_back(number);
        self.assigned.insert(number, assigned);
    }

    fn remove(&mut self, number: u64) -> Option<Assigned> {
        let gone = self.assigned.remove(&number)?;
        let unseen = &mut self.unseen[gone.pool];
        if let Some(at) = unseen.iter().position(|other| *other == number) {
            unseen.remove(at);
            subtract(&mut self.sums[gone.pool], &gone);
        }
        Some(gone)
    }

    fn sent(&mut self, number: u64, arrival: Option<Stamp>) {
        if let Some(assigned) = self.assigned.get_mut(&number) {
            assigned.arrival = arrival;
        }
    }

    fn measured(&mut self, pool: usize, measured: Stamp) {
        let (assigned, sums) = (&self.assigned, &mut self.sums[pool]);
        self.measured[pool] = measured;
        self.unseen[pool].retain(|number| {
            let flight = &assigned[number];
            let shown = flight.arrival.is_some_and(|arrival| arrival <= measured);
            if shown {
                subtract(sums, flight);
            }
            !shown
        });
    }

    fn unseen(&self, pool: usize, measured: Stamp) -> u32 {
        let coming = self.unseen[pool].iter().map(|number| &self.assigned[number]);
        coming
            .filter(|flight| flight.arrival.is_none_or(|arrival| arrival > measured))
            .map(|flight| flight.procs)
            .sum()
    }

    fn recallable(&self, queued: bool) -> Vec<u64> {
        let all = self.assigned.iter().filter(|(_, flight)| queued || flight.arrival.is_none());
        all.map(|(number, _)| *number).collect()
    }
}

#[derive(Clone, Debug)]
enum Act {
    Insert(u64, Assigned),
    Remove(u64),
    Sent(u64, Option<Stamp>),
    Measured(usize, Stamp),
    /// A save and a restore.
    Saved,
}

fn acts() -> impl Strategy<Value = Act> {
    let number = || 0..24_u64;
    let stamp = || (0..12_u64, 0..3_u32).prop_map(|(at, round)| Stamp { time: Time::from_micros(at), round });
    let arrival = || proptest::option::weighted(0.7, stamp());
    let assigned = (0..3_usize, 1..9_u32, 0..99_u128, arrival()).prop_map(|(pool, procs, area, arrival)| {
        Assigned { pool, procs, area, arrival, refused: Vec::new() }
    });
    prop_oneof![
        6 => (number(), assigned).prop_map(|(number, assigned)| Act::Insert(number, assigned)),
        3 => number().prop_map(Act::Remove),
        3 => (number(), arrival()).prop_map(|(number, arrival)| Act::Sent(number, arrival)),
        3 => (0..3_usize, stamp()).prop_map(|(pool, measured)| Act::Measured(pool, measured)),
        1 => Just(Act::Saved),
    ]
}

proptest! {
    #[test]
    fn agrees_with_lists_that_are_searched(acts in proptest::collection::vec(acts(), 1..120)) {
        let (mut flights, mut twin) = (Flights::new(3), Twin::new(3));
        for act in acts {
            match act {
                // A number is assigned again only after it has come back.
                Act::Insert(number, assigned) if !twin.assigned.contains_key(&number) => {
                    flights.insert(number, assigned.clone());
                    twin.insert(number, assigned);
                }
                Act::Insert(number, _) | Act::Remove(number) => {
                    prop_assert_eq!(flights.remove(number), twin.remove(number));
                }
                Act::Sent(number, arrival) => {
                    flights.sent(number, arrival);
                    twin.sent(number, arrival);
                }
                Act::Measured(pool, measured) => {
                    flights.measured(pool, measured);
                    twin.measured(pool, measured);
                }
                Act::Saved => {
                    let bytes = postcard::to_allocvec(&flights).unwrap();
                    let again: Flights = postcard::from_bytes(&bytes).unwrap();
                    prop_assert_eq!(&again, &flights);
                    flights = again;
                }
            }
            for pool in 0..3 {
                prop_assert_eq!(flights.unseen_sum(pool), twin.sums[pool]);
                for at in 0..12 {
                    let at = Stamp { time: Time::from_micros(at), round: 1 };
                    prop_assert_eq!(flights.unseen(pool, at), twin.unseen(pool, at));
                }
            }
            for queued in [false, true] {
                prop_assert_eq!(flights.recallable(queued).collect::<Vec<_>>(), twin.recallable(queued));
            }
            prop_assert_eq!(postcard::to_allocvec(&flights).unwrap(), postcard::to_allocvec(&twin).unwrap());
        }
    }
}
