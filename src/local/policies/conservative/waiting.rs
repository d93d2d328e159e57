//! Waiting jobs with their reservations.

use super::Planned;
use crate::model::JobKey;
use crate::units::Time;

/// Jobs in a block at most; a full one is split in two.
const FULL: usize = 128;

/// Waiting jobs in order of arrival, in blocks that store their earliest start. An order by start is made where it is needed: to keep one
/// while thousands of reservations move up would cost more than the moves.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
struct Block {
    jobs: Vec<(u64, Planned)>,
    earliest: Time,
}

impl Block {
    fn of(jobs: Vec<(u64, Planned)>) -> Self {
        let mut block = Self { jobs, earliest: Time::NEVER };
        block.refresh();
        block
    }

    fn refresh(&mut self) {
        self.earliest = self.jobs.iter().map(|(_, planned)| planned.start).min().unwrap_or(Time::NEVER);
    }
}

impl Waiting {
    pub(super) fn len(&self) -> usize {
        self.blocks.iter().map(|block| block.jobs.len()).sum()
    }

    /// The jobs in order of arrival.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(u64, Planned)> {
        self.blocks.iter().flat_map(|block| &block.jobs)
    }

    /// The jobs in order of arrival, some at a time, for `over` to move up; it says whether one has moved.
    pub(super) fn move_up(&mut self, mut over: impl FnMut(&mut [(u64, Planned)]) -> bool) {
        for block in &mut self.blocks {
            if over(&mut block.jobs) {
                block.refresh();
            }
        }
    }

    /// The same in order of start.
    pub(super) fn move_up_by_start(&mut self, mut over: impl FnMut(&mut [(u64, Planned)]) -> bool) {
        for (_, seq, _) in self.by_start() {
            let Some((block, at)) = self.find(seq) else { continue };
            let block = &mut self.blocks[block];
            if over(&mut block.jobs[at..=at]) {
                block.earliest = block.earliest.min(block.jobs[at].1.start);
            }
        }
    }

    /// The jobs in order of start, those with the same start in order of arrival.
    pub(super) fn by_start(&self) -> Vec<(Time, u64, JobKey)> {
        let mut jobs: Vec<_> = self.iter().map(|(seq, planned)| (planned.start, *seq, planned.job)).collect();
        jobs.sort_unstable();
        jobs
    }

    /// The first job in that order.
    pub(super) fn first(&self) -> Option<(Time, u64, JobKey)> {
        // Of blocks with the same earliest start, the first.
        let block = self.blocks.iter().min_by_key(|block| block.earliest)?;
        let (seq, planned) = block.jobs.iter().find(|(_, planned)| planned.start == block.earliest)?;
        Some((planned.start, *seq, planned.job))
    }

    /// The jobs that start by then.
    pub(super) fn due(&self, now: Time) -> impl Iterator<Item = &Planned> {
        let blocks = self.blocks.iter().filter(move |block| block.earliest <= now);
        let jobs = blocks.flat_map(|block| &block.jobs).map(|(_, planned)| planned);
        jobs.filter(move |planned| planned.start <= now)
    }

    pub(super) fn get(&self, seq: u64) -> Option<&Planned> {
        let (block, at) = self.find(seq)?;
        Some(&self.blocks[block].jobs[at].1)
    }

    pub(super) fn insert(&mut self, seq: u64, planned: Planned) {
        let block = self.block_of(seq);
        let last = self.blocks.len().saturating_sub(1);
        if block > last || self.blocks.is_empty() {
            // Behind all others, as most jobs.
            match self.blocks.last_mut().filter(|block| block.jobs.len() < FULL) {
                Some(block) => {
                    block.jobs.push((seq, planned));
                    block.earliest = block.earliest.min(planned.start);
                }
                None => self.blocks.push(Block::of(vec![(seq, planned)])),
            }
            return;
        }
        let at = self.blocks[block].jobs.partition_point(|(other, _)| *other < seq);
        self.blocks[block].jobs.insert(at, (seq, planned));
        if self.blocks[block].jobs.len() > FULL {
            let upper = self.blocks[block].jobs.split_off(FULL / 2);
            self.blocks.insert(block + 1, Block::of(upper));
        }
        self.blocks[block].refresh();
    }

    pub(super) fn remove(&mut self, seq: u64) -> Option<Planned> {
        let (at, within) = self.find(seq)?;
        let block = &mut self.blocks[at];
        let (_, gone) = block.jobs.remove(within);
        if block.jobs.is_empty() {
            self.blocks.remove(at);
        } else if gone.start == block.earliest {
            block.refresh();
        }
        Some(gone)
    }

    /// Gives a job another reservation.
    pub(super) fn replace(&mut self, seq: u64, planned: Planned) {
        if let Some((block, at)) = self.find(seq) {
            self.blocks[block].jobs[at].1 = planned;
            self.blocks[block].refresh();
        }
    }

    /// The first block whose last job arrived at or after this one.
    fn block_of(&self, seq: u64) -> usize {
        self.blocks.partition_point(|block| block.jobs.last().is_some_and(|(last, _)| *last < seq))
    }

    fn find(&self, seq: u64) -> Option<(usize, usize)> {
        let block = self.block_of(seq);
        let at = self.blocks.get(block)?.jobs.binary_search_by_key(&seq, |(seq, _)| *seq).ok()?;
        Some((block, at))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::units::Span;

    fn planned(seq: u64, start: u64) -> Planned {
        let (job, start, span) = (JobKey(seq as u32), Time::from_micros(start), Span::SECOND);
        Planned { job, start, procs: 1, estimate: span, span }
    }

    proptest! {
        #[test]
        fn agrees_with_a_map(
            changes in proptest::collection::vec((any::<prop::sample::Index>(), 0_u64..50, 0..6), 0..900),
        ) {
            let mut waiting = Waiting::default();
            let mut map = BTreeMap::new();
            for (index, start, kind) in changes {
                // Most arrive behind the others.
                let seq = if kind < 3 { 2 * map.len() as u64 + 500 } else { index.index(1_000) as u64 };
                match (map.contains_key(&seq), kind) {
                    (true, 4) => prop_assert_eq!(waiting.remove(seq), map.remove(&seq)),
                    (true, _) => {
                        map.insert(seq, planned(seq, start));
                        waiting.replace(seq, planned(seq, start));
                    }
                    (false, 4) => prop_assert_eq!(waiting.remove(seq), None),
                    (false, _) => {
                        map.insert(seq, planned(seq, start));
                        waiting.insert(seq, planned(seq, start));
                    }
                }
                prop_assert_eq!(waiting.get(seq), map.get(&seq));
                prop_assert_eq!(waiting.len(), map.len());
                let mut by_start: Vec<_> = map.iter().map(|(seq, job)| (job.start, *seq, job.job)).collect();
                by_start.sort_unstable();
                prop_assert_eq!(waiting.first(), by_start.first().copied());
                let now = Time::from_micros(start);
                prop_assert_eq!(waiting.due(now).count(), by_start.iter().filter(|job| job.0 <= now).count());
                prop_assert_eq!(waiting.by_start(), by_start);
            }
            prop_assert!(waiting.iter().map(|(seq, job)| (seq, job)).eq(&map));
        }
    }
}
