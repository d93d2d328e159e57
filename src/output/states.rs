//! Batsim's `machine_states.csv`: the number of processors in each state, from each change on.
//!
//! It is computed from the complete tables of a run, since segments are written in the order of their ends and not of
//! their beginnings.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::reader::{ReadError, RunFolder, SegmentRow};
use crate::model::{Cause, ProcSet, SiteSpec};
use crate::units::Rate;

/// The columns, as Batsim's code writes them.
const HEADER: &str = "time,nb_sleeping,nb_switching_on,nb_switching_off,nb_idle,nb_computing";

/// Numbers of processors that are down or in use, by time.
pub(super) struct States {
    /// Times, and the changes of the numbers of processors that are down and that are in use.
    changes: Vec<(u64, i64, i64)>,
    total: i64,
}

impl States {
    /// Computes the states from the folder of a finished run of these sites. Processors count as computing while a
    /// job holds them, whatever its share; a processor that jobs share counts once. Processors that are down count as
    /// sleeping.
    pub(super) fn of(folder: &Path, sites: &[SiteSpec]) -> Result<Self, ReadError> {
        let parts = sites.iter().flat_map(|site| &site.partitions);
        let total = parts.map(|part| i64::from(part.processors())).sum();
        let mut changes: Vec<(u64, i64, i64)> = Vec::new();
        let folder = RunFolder::tables_in(folder);
        let mut shared = Shared::default();
        for segment in folder.segments()?.into_iter().flatten() {
            let segment = segment?;
            if segment.cause == Cause::Staging || segment.from == segment.to {
                continue;
            }
            if segment.share == Rate::FULL {
                let procs = i64::from(segment.procs);
                changes.extend([(segment.from.micros(), 0, procs), (segment.to.micros(), 0, -procs)]);
            } else {
                shared.add(&segment);
            }
        }
        changes.extend(shared.changes().map(|(at, procs)| (at, 0, procs)));
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
            let procs = i64::from(event.procs);
            changes.push((event.time.micros(), if joined { -procs } else { procs }, 0));
            let Some(partition) = event.partition else { continue };
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
            let key = (Arc::from(site.name.as_str()), Arc::from(part.name.as_str()));
            let (seen, mut down) = known.remove(&key).unwrap_or_default();
            let mut absent =
                ProcSet::range(part.machines() - part.absent.min(part.machines()), part.machines());
            absent.remove_all(&seen);
            down.insert_all(&absent);
            changes.push((0, i64::from(down.len()) * i64::from(part.cores), 0));
        }
        changes.sort_unstable();
        Ok(Self { changes, total })
    }

    /// Writes a row for each time at which a number changes.
    pub(super) fn write(&self, to: &mut impl io::Write) -> io::Result<()> {
        writeln!(to, "{HEADER}")?;
        let (mut down, mut computing) = (0, 0);
        let mut written = None;
        for moment in self.changes.chunk_by(|one, next| one.0 == next.0) {
            let at = moment[0].0;
            down += moment.iter().map(|(_, down, _)| down).sum::<i64>();
            computing += moment.iter().map(|(.., computing)| computing).sum::<i64>();
            if written.replace((down, computing)) != Some((down, computing)) {
                let idle = self.total - down - computing;
                writeln!(to, "{}.{:06},{down},0,0,{idle},{computing}", at / 1_000_000, at % 1_000_000)?;
            }
        }
        Ok(())
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
