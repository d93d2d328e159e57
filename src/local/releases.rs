//! When running jobs are expected to release their processors: what EASY needs to find the shadow time.

use super::{Change, Phase, View};
use crate::model::JobKey;
use crate::units::{Span, Time};

/// Entries in a block before it is split in two.
const FULL: usize = 128;

/// Running jobs by expected end, in blocks with sums, so that the shadow time of a wide job is found without a
/// walk over thousands of narrow ones.
#[derive(Clone, Debug, Default)]
pub struct Releases {
    blocks: Vec<Block>,
}

#[derive(Clone, Debug, Default)]
struct Block {
    /// Ascending by `(end, job)`.
    entries: Vec<Release>,
    procs: u64,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Release {
    end: Time,
    job: JobKey,
    procs: u32,
}

/// The shadow: when the first job in the queue can start, and how many processors are left over then.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Shadow {
    /// The shadow time: the earliest instant at which enough processors are expected to be free.
    pub time: Time,
    /// Processors free at that instant beyond what the first job needs.
    pub extra: u32,
}

impl Releases {
    /// An empty list: no job runs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a job that has started and is expected to end at `end`.
    pub fn insert(&mut self, end: Time, job: JobKey, procs: u32) {
        let release = Release { end, job, procs };
        if self.blocks.is_empty() {
            self.blocks.push(Block::default());
        }
        let at = self.block_of(end, job).min(self.blocks.len() - 1);
        let block = &mut self.blocks[at];
        let place = block.entries.partition_point(|entry| *entry < release);
        block.entries.insert(place, release);
        block.procs += u64::from(procs);
        if block.entries.len() > FULL {
            let entries = block.entries.split_off(FULL / 2);
            let procs = entries.iter().map(|entry| u64::from(entry.procs)).sum();
            block.procs -= procs;
            self.blocks.insert(at + 1, Block { entries, procs });
        }
    }

    /// Removes a job that was expected to end at `end` and has ended. Unknown jobs are ignored.
    #[inline]
    pub fn remove(&mut self, end: Time, job: JobKey) {
        let at = self.block_of(end, job);
        let Some(block) = self.blocks.get_mut(at) else { return };
        let place = block.entries.partition_point(|entry| (entry.end, entry.job) < (end, job));
        if block.entries.get(place).is_some_and(|entry| (entry.end, entry.job) == (end, job)) {
            block.procs -= u64::from(block.entries.remove(place).procs);
            if block.entries.is_empty() {
                self.blocks.remove(at);
            }
        }
    }

    /// Applies a change, if it concerns running jobs.
    pub fn follow(&mut self, change: Change, view: &View<'_>) {
        match change {
            Change::Ended(job) | Change::Moved { job, .. } => {
                let live = view.job(job);
                let end = match change {
                    Change::Moved { from, .. } => from,
                    _ if live.phase() == Phase::Starting => view.now() + live.estimate(),
                    _ => live.expected_end(),
                };
                self.remove(end, job);
                if change != Change::Ended(job) {
                    self.insert(live.expected_end(), job, live.held());
                }
            }
            Change::Suspended(job) => self.remove(view.job(job).expected_end(), job),
            Change::Continued(job) => {
                let live = view.job(job);
                self.insert(live.expected_end(), job, live.held());
            }
            _ => {}
        }
    }

    /// The releases of all running jobs of a partition.
    pub fn of(view: &View<'_>) -> Self {
        let mut releases = Self::new();
        for job in view.holders() {
            let live = view.job(job);
            releases.insert(live.expected_end(), job, live.held());
        }
        releases
    }

    /// Processors of jobs that are expected to end earlier than `time`, overdue ones one second from now. Jobs for which
    /// `counted` is true are free already and are left out.
    pub fn freed_before(&self, now: Time, time: Time, counted: impl Fn(JobKey) -> bool) -> u64 {
        let overdue_end = now + Span::SECOND;
        let end = |entry: &Release| if entry.end <= now { overdue_end } else { entry.end };
        self.entries()
            .take_while(|entry| entry.end < time)
            .filter(|entry| end(entry) < time && !(entry.end <= now && counted(entry.job)))
            .map(|entry| u64::from(entry.procs))
            .sum()
    }

    /// The shadow of a job that needs `needed` processors, more than the `free` ones. Jobs that end exactly at the shadow
    /// time all count. Overdue jobs are expected to end one second from now, except those for which `counted` is true, which are
    /// among the `free` already. `None` if all running jobs together do not release enough.
    pub fn shadow(
        &self,
        now: Time,
        free: u32,
        needed: u32,
        counted: impl Fn(JobKey) -> bool,
    ) -> Option<Shadow> {
        let overdue_end = now + Span::SECOND;
        let mut overdue: u64 = self
            .entries()
            .take_while(|entry| entry.end <= now)
            .filter(|entry| !counted(entry.job))
            .map(|entry| u64::from(entry.procs))
            .sum();
        let needed = u64::from(needed);
        let mut available = u64::from(free);
        let reached = |time, available: u64| Shadow {
            time,
            extra: (available - needed).min(u64::from(u32::MAX)) as u32,
        };
        let mut found: Option<Time> = None;
        for block in &self.blocks {
            let last = block.entries.last().map_or(Time::ZERO, |entry| entry.end);
            // The whole block can be counted at once if it neither contains the shadow time nor straddles an edge.
            let first = block.entries.first().map_or(Time::ZERO, |entry| entry.end);
            let plain = first > now && (overdue == 0 || last < overdue_end);
            if found.is_none() && plain && available + block.procs < needed {
                available += block.procs;
                continue;
            }
            for entry in block.entries.iter().skip_while(|entry| entry.end <= now) {
                if overdue > 0 && entry.end >= overdue_end && found.is_none_or(|time| time >= overdue_end) {
                    available += overdue;
                    overdue = 0;
                    if found.is_none() && available >= needed {
                        found = Some(overdue_end);
                    }
                }
                if found.is_some_and(|time| entry.end > time) {
                    return found.map(|time| reached(time, available));
                }
                available += u64::from(entry.procs);
                if found.is_none() && available >= needed {
                    found = Some(entry.end);
                }
            }
        }
        if overdue > 0 && found.is_none_or(|time| time >= overdue_end) {
            available += overdue;
            found = found.or((available >= needed).then_some(overdue_end));
        }
        found.map(|time| reached(time, available))
    }

    /// Index of the block that contains, or would contain, `(end, job)`.
    fn block_of(&self, end: Time, job: JobKey) -> usize {
        self.blocks.partition_point(|block| {
            block.entries.last().is_some_and(|entry| (entry.end, entry.job) < (end, job))
        })
    }

    fn entries(&self) -> impl Iterator<Item = &Release> {
        self.blocks.iter().flat_map(|block| &block.entries)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The slow reference implementation, by the definition.
    fn slow(running: &[(u64, u32)], now: u64, free: u32, needed: u32, counted: bool) -> Option<Shadow> {
        let ends: Vec<(u64, u32)> = running
            .iter()
            .filter(|(end, _)| *end > now || !counted)
            .map(|(end, procs)| (if *end <= now { now + 1_000_000 } else { *end }, *procs))
            .collect();
        let mut times: Vec<u64> = ends.iter().map(|(end, _)| *end).collect();
        times.sort_unstable();
        times.into_iter().find_map(|time| {
            let available: u32 =
                free + ends.iter().filter(|(end, _)| *end <= time).map(|(_, procs)| procs).sum::<u32>();
            (available >= needed).then(|| Shadow { time: Time::from_micros(time), extra: available - needed })
        })
    }

    proptest! {
        #[test]
        fn shadow_is_what_the_definition_says(
            running in proptest::collection::vec((0_u64..4_000_000, 1_u32..5), 0..400),
            coarse in any::<bool>(), counted in any::<bool>(),
            removed in proptest::collection::vec(any::<prop::sample::Index>(), 0..50),
            now in 0_u64..3_000_000, free in 0_u32..10, needed in 1_u32..900,
        ) {
            let mut running: Vec<(u64, u32)> = running
                .into_iter().map(|(end, procs)| (if coarse { end / 500_000 * 500_000 } else { end }, procs)).collect();
            let mut releases = Releases::new();
            for (at, (end, procs)) in running.iter().enumerate() {
                releases.insert(Time::from_micros(*end), JobKey(at as u32), *procs);
            }
            let mut gone = std::collections::BTreeSet::new();
            for index in removed {
                if !running.is_empty() {
                    gone.insert(index.index(running.len()));
                }
            }
            for at in gone.iter().rev() {
                releases.remove(Time::from_micros(running[*at].0), JobKey(*at as u32));
                running.remove(*at);
            }
            let needed = needed.max(free + 1);
            prop_assert_eq!(
                releases.shadow(Time::from_micros(now), free, needed, |_| counted),
                slow(&running, now, free, needed, counted)
            );
        }
    }
}
