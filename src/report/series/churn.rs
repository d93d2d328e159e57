//! Periods in which processors were down.

use std::collections::BTreeMap;

use super::places::Places;
use crate::model::{MachineState, ProcSet};
use crate::output::{ReadError, RunFolder};

/// Processors of a partition that were down for a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Absence {
    pub(crate) place: usize,
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) procs: ProcSet,
}

/// The processors of each partition that are down, each with the time at which it left.
struct Away {
    since: Vec<BTreeMap<u32, u64>>,
    found: Vec<Absence>,
}

impl Away {
    fn of(places: usize) -> Self {
        Self { since: vec![BTreeMap::new(); places], found: Vec::new() }
    }

    fn at(&mut self, place: usize) -> &mut BTreeMap<u32, u64> {
        if place >= self.since.len() {
            self.since.resize(place + 1, BTreeMap::new());
        }
        &mut self.since[place]
    }

    fn leave(&mut self, place: usize, procs: impl Iterator<Item = u32>, now: u64) {
        let since = self.at(place);
        for proc in procs {
            since.entry(proc).or_insert(now);
        }
    }

    fn join(&mut self, place: usize, procs: impl Iterator<Item = u32>, now: u64) {
        // Processors that leave together and return together are one absence.
        let mut by_time: BTreeMap<u64, ProcSet> = BTreeMap::new();
        let since = self.at(place);
        for proc in procs {
            if let Some(from) = since.remove(&proc) {
                by_time.entry(from).or_default().insert(proc);
            }
        }
        let absences = by_time.into_iter().filter(|(from, _)| *from < now);
        self.found.extend(absences.map(|(from, procs)| Absence { place, from, to: now, procs }));
    }

    fn finish(mut self, end: u64) -> Vec<Absence> {
        for place in 0..self.since.len() {
            let left: Vec<u32> = self.since[place].keys().copied().collect();
            self.join(place, left.into_iter(), end);
        }
        self.found.sort_by_key(|absence| (absence.from, absence.place, absence.procs.first()));
        self.found
    }
}

/// The absences of a run from `begin` to `end`, by its events, or by the states of its machines if it has no events.
pub(crate) fn absences(
    folder: &RunFolder,
    places: &mut Places,
    (begin, end): (u64, u64),
) -> Result<Vec<Absence>, ReadError> {
    let mut down = Away::of(places.list().len());
    for (at, place) in places.list().iter().enumerate() {
        let first = place.processors - (place.absent * place.cores).min(place.processors);
        down.leave(at, first..place.processors, begin);
    }
    if let Some(events) = folder.events()? {
        for event in events {
            let event = event?;
            let leaves = match &*event.event {
                "left" => true,
                "joined" => false,
                _ => continue,
            };
            let Some(partition) = &event.partition else { continue };
            let place = places.place(&event.site, partition);
            let cores = event.procs.checked_div(event.machines.len()).unwrap_or(1).max(1);
            places.machines(place, cores);
            let procs = event.machines.iter().flat_map(|machine| machine * cores..(machine + 1) * cores);
            if leaves {
                down.leave(place, procs, event.time.micros());
            } else {
                down.join(place, procs, event.time.micros());
            }
        }
    } else if let Some(machines) = folder.machines()? {
        for row in machines {
            let row = row?;
            let place = places.place(&row.site, &row.partition);
            if row.state == MachineState::Down {
                down.leave(place, row.processors.iter(), row.time.micros());
            } else {
                down.join(place, row.processors.iter(), row.time.micros());
            }
        }
    }
    Ok(down.finish(end))
}
