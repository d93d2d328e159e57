//! Periods in which processors were down.

use std::collections::BTreeMap;

use super::places::Places;
use crate::model::{MachineState, ProcSet};
use crate::output::{ReadError, RunFolder};

/// Processors of a partition that were down for a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outage {
    pub(crate) place: usize,
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) procs: ProcSet,
}

/// The processors of each partition that are down, each with the time at which it left.
struct DownProcessors {
    since: Vec<BTreeMap<u32, u64>>,
    found: Vec<Outage>,
}

impl DownProcessors {
    /// Records that processors of a partition leave, or join again.
    fn change(&mut self, place: usize, leave: bool, procs: impl Iterator<Item = u32>, now: u64) {
        if place >= self.since.len() {
            self.since.resize(place + 1, BTreeMap::new());
        }
        let since = &mut self.since[place];
        if leave {
            procs.for_each(|proc| _ = since.entry(proc).or_insert(now));
            return;
        }
        // Processors that leave together and return together are one outage.
        let mut by_time: BTreeMap<u64, ProcSet> = BTreeMap::new();
        for proc in procs {
            if let Some(from) = since.remove(&proc) {
                by_time.entry(from).or_default().insert(proc);
            }
        }
        let outages = by_time.into_iter().filter(|(from, _)| *from < now);
        self.found.extend(outages.map(|(from, procs)| Outage { place, from, to: now, procs }));
    }

    fn finish(mut self, end: u64) -> Vec<Outage> {
        for place in 0..self.since.len() {
            let left: Vec<u32> = self.since[place].keys().copied().collect();
            self.change(place, false, left.into_iter(), end);
        }
        self.found.sort_by_key(|outage| (outage.from, outage.place, outage.procs.first()));
        self.found
    }
}

/// The outages of a run from `begin` to `end`, by its events, or by the states of its machines if it has no events.
pub(crate) fn outages(
    folder: &RunFolder,
    places: &mut Places,
    (begin, end): (u64, u64),
) -> Result<Vec<Outage>, ReadError> {
    let mut down = DownProcessors { since: Vec::new(), found: Vec::new() };
    for (at, place) in places.list().iter().enumerate() {
        let first = place.processors - (place.absent * place.cores).min(place.processors);
        down.change(at, true, first..place.processors, begin);
    }
    if let Some(events) = folder.events()? {
        for event in events {
            let event = event?;
            let leave = match &*event.event {
                "left" => true,
                "joined" => false,
                _ => continue,
            };
            let Some(partition) = &event.partition else { continue };
            let place = places.place(&event.site, partition);
            let cores = event.procs.checked_div(event.machines.len()).unwrap_or(1).max(1);
            places.machines(place, cores);
            let procs = event.machines.iter().flat_map(|machine| machine * cores..(machine + 1) * cores);
            down.change(place, leave, procs, event.time.micros());
        }
    } else if let Some(machines) = folder.machines()? {
        for row in machines {
            let row = row?;
            let place = places.place(&row.site, &row.partition);
            let leave = row.state == MachineState::Down;
            down.change(place, leave, row.processors.iter(), row.time.micros());
        }
    }
    Ok(down.finish(end))
}
