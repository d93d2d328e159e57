//! Batsim's `machine_states.csv`: the number of processors in each state, from each change on.
//!
//! It is computed from the complete tables of a run, since segments are written in the order of their ends and not of
//! their beginnings.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use super::pstates::Turn;
use super::reader::{ReadError, RunFolder, SegmentRow};
use crate::model::{Cause, MachineState, ProcSet, SiteSpec};
use crate::units::Rate;

/// The columns, as Batsim's code writes them.
const HEADER: &str = "time,nb_sleeping,nb_switching_on,nb_switching_off,nb_idle,nb_computing";

/// Numbers of processors that are not awake, or in use, by time.
pub(super) struct States {
    changes: Vec<Change>,
    total: i64,
}

/// Changes of numbers of processors at a time.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Change {
    at: u64,
    counts: Counts,
}

/// Processors that sleep or are down, that wake up, that fall asleep, that jobs hold.
type Counts = [i64; 4];

const SLEEPING: usize = 0;
const COMPUTING: usize = 3;

impl Change {
    fn new(at: u64, which: usize, procs: i64) -> Self {
        let mut change = Self { at, ..Self::default() };
        change.counts[which] = procs;
        change
    }
}

/// Machines that go down or come back.
pub(super) struct Outage {
    pub(super) at: u64,
    pub(super) site: Arc<str>,
    pub(super) part: Arc<str>,
    pub(super) machines: ProcSet,
    /// Their processors.
    procs: u32,
    pub(super) down: bool,
}

impl States {
    /// Computes the states from the folder of a finished run of these sites. Processors count as computing while a
    /// job holds them, whatever its share; a processor that jobs share counts once. Processors that are down count as
    /// sleeping.
    pub(super) fn of(
        folder: &RunFolder,
        sites: &[SiteSpec],
        turns: &[Turn],
        outages: &[Outage],
    ) -> Result<Self, ReadError> {
        let parts = sites.iter().flat_map(|site| &site.partitions);
        let total = parts.map(|part| i64::from(part.processors())).sum();
        let mut changes: Vec<Change> = Vec::new();
        let mut shared = Shared::default();
        for segment in folder.segments()?.into_iter().flatten() {
            let segment = segment?;
            if segment.cause == Cause::Staging || segment.from == segment.to {
                continue;
            }
            if segment.share == Rate::FULL {
                let procs = i64::from(segment.procs);
                changes.push(Change::new(segment.from.micros(), COMPUTING, procs));
                changes.push(Change::new(segment.to.micros(), COMPUTING, -procs));
            } else {
                shared.add(&segment);
            }
        }
        changes.extend(shared.changes().map(|(at, procs)| Change::new(at, COMPUTING, procs)));
        for Turn { at, from, to, procs, .. } in turns {
            let procs = i64::from(procs.len());
            changes.extend(place(*from).map(|of| Change::new(*at, of, -procs)));
            changes.extend(place(*to).map(|of| Change::new(*at, of, procs)));
        }
        for outage in outages {
            let procs = i64::from(outage.procs);
            changes.push(Change::new(outage.at, SLEEPING, if outage.down { procs } else { -procs }));
        }
        changes.sort_unstable();
        Ok(Self { changes, total })
    }

    /// Writes a row for each time at which a number changes.
    pub(super) fn write(&self, to: &mut impl io::Write) -> io::Result<()> {
        writeln!(to, "{HEADER}")?;
        let (mut counts, mut written) = (Counts::default(), None);
        for moment in self.changes.chunk_by(|one, next| one.at == next.at) {
            let at = moment[0].at;
            for change in moment {
                counts.iter_mut().zip(change.counts).for_each(|(count, by)| *count += by);
            }
            if written.replace(counts) != Some(counts) {
                let [sleeping, on, off, computing] = counts;
                let idle = self.total - counts.iter().sum::<i64>();
                let (secs, micros) = (at / 1_000_000, at % 1_000_000);
                writeln!(to, "{secs}.{micros:06},{sleeping},{on},{off},{idle},{computing}")?;
            }
        }
        Ok(())
    }
}

/// Which count processors in a state belong to, if that is not told otherwise.
fn place(state: MachineState) -> Option<usize> {
    match state {
        MachineState::Asleep => Some(SLEEPING),
        MachineState::Waking => Some(1),
        MachineState::Falling => Some(2),
        _ => None,
    }
}

impl Outage {
    /// The outages of a run of these sites, those from the beginning last.
    pub(super) fn all(folder: &RunFolder, sites: &[SiteSpec]) -> Result<Vec<Self>, ReadError> {
        let mut outages = Vec::new();
        // For each partition, the machines that have joined or left so far, and those that were down at the beginning:
        // at random, and without an event, if their first event is that they join.
        let mut known: BTreeMap<(Arc<str>, Arc<str>), (ProcSet, ProcSet)> = BTreeMap::new();
        for event in folder.events()?.into_iter().flatten() {
            let event = event?;
            let joined = match &*event.event {
                "left" => false,
                "joined" => true,
                _ => continue,
            };
            let Some(partition) = event.partition else { continue };
            outages.push(Self {
                at: event.time.micros(),
                site: event.site.clone(),
                part: partition.clone(),
                machines: event.machines.clone(),
                procs: event.procs,
                down: !joined,
            });
            let (seen, down) = known.entry((event.site, partition)).or_default();
            if joined {
                let mut new = event.machines.clone();
                new.remove_all(seen);
                down.insert_all(&new);
            }
            seen.insert_all(&event.machines);
        }
        for (site, part) in sites.iter().flat_map(|site| site.partitions.iter().map(move |part| (site, part)))
        {
            let (site, partition): (Arc<str>, Arc<str>) =
                (site.name.as_str().into(), part.name.as_str().into());
            let (seen, mut down) = known.remove(&(site.clone(), partition.clone())).unwrap_or_default();
            let mut absent =
                ProcSet::range(part.machines() - part.absent.min(part.machines()), part.machines());
            absent.remove_all(&seen);
            down.insert_all(&absent);
            let procs = down.len() * part.cores;
            outages.push(Self { at: 0, site, part: partition, machines: down, procs, down: true });
        }
        Ok(outages)
    }
}

/// Segments on shared processors: the times at which jobs come (+1) and go (−1), by site, partition and processor.
#[derive(Default)]
struct Shared(BTreeMap<Processor, BTreeMap<u64, i32>>);

/// Site, partition and number of a processor.
type Processor = (Arc<str>, Arc<str>, u32);

impl Shared {
    fn add(&mut self, segment: &SegmentRow) {
        for processor in segment.processors.iter() {
            let key = (segment.site.clone(), segment.partition.clone(), processor);
            let changes = self.0.entry(key).or_default();
            *changes.entry(segment.from.micros()).or_default() += 1;
            *changes.entry(segment.to.micros()).or_default() -= 1;
        }
    }

    /// The times at which a processor gets its first job or loses its last.
    fn changes(&self) -> impl Iterator<Item = (u64, i64)> + '_ {
        self.0.values().flat_map(|changes| {
            let mut jobs = 0;
            changes.iter().filter_map(move |(at, change)| {
                let before = jobs > 0;
                jobs += change;
                match (before, jobs > 0) {
                    (false, true) => Some((*at, 1)),
                    (true, false) => Some((*at, -1)),
                    _ => None,
                }
            })
        })
    }
}
