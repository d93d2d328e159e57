//! A waiting queue in any fixed order, indexed so that a pass does not look at every job.

use crate::model::JobKey;
use crate::units::Span;

/// Entries in a block before it is split in two.
const FULL: usize = 128;

/// A waiting job as an entry of a queue.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Rank in the queue's order; ties go by arrival.
    pub rank: u128,
    /// Its place in the order of arrival, which is unique.
    pub seq: u64,
    /// The job.
    pub job: JobKey,
    /// Processors it needs.
    pub procs: u32,
    /// Its estimated run time.
    pub estimate: Span,
}

/// A backfill window: it takes a job of at most `free` processors that ends within `window`, or that leaves enough of the `extra`
/// processors, which are not needed at the shadow time.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct BackfillWindow {
    /// Free processors.
    pub free: u32,
    /// Time until the shadow time.
    pub window: Span,
    /// Processors not needed at the shadow time.
    pub extra: u32,
    /// Of the free processors, those of machines that are awake.
    pub awake: Awake,
}

/// Free processors of machines that are awake. A job that gets more begins later.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Awake {
    /// Their number; [`u32::MAX`] if all that are free are awake.
    pub procs: u32,
    /// How long it takes at most until others are awake.
    pub delay: Span,
}

impl Awake {
    /// All that is free is awake.
    pub const ALL: Self = Self { procs: u32::MAX, delay: Span::ZERO };

    /// How long so many processors are held for so much time of a job that gets them now.
    pub fn holds(&self, procs: u32, time: Span) -> Span {
        if procs > self.procs { time + self.delay } else { time }
    }

    /// What is left when so many processors have been given; those that are awake are given first.
    pub fn without(self, procs: u32) -> Self {
        match self.procs {
            u32::MAX => self,
            awake => Self { procs: awake.saturating_sub(procs), ..self },
        }
    }
}

impl BackfillWindow {
    /// True if a job of this size and estimate can be backfilled into the window.
    pub fn takes(&self, procs: u32, estimate: Span) -> bool {
        procs <= self.free && (self.awake.holds(procs, estimate) <= self.window || procs <= self.extra)
    }
}

/// A position in a queue, from which a search continues.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    block: usize,
    entry: usize,
}

/// Waiting jobs in ascending `(rank, seq)`, in blocks that store their smallest size and shortest estimate: a block in
/// which no job can fit costs one comparison. Only the last block may be empty: the next job goes there.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
struct Block {
    entries: Vec<Entry>,
    least_procs: u32,
    least_estimate: Span,
}

impl Block {
    fn of(entries: Vec<Entry>) -> Self {
        let mut block = Self { entries, least_procs: 0, least_estimate: Span::ZERO };
        block.refresh();
        block
    }

    fn refresh(&mut self) {
        self.least_procs = self.entries.iter().map(|entry| entry.procs).min().unwrap_or(u32::MAX);
        self.least_estimate = self.entries.iter().map(|entry| entry.estimate).min().unwrap_or(Span::MAX);
    }
}

impl Queue {
    /// An empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// The first job.
    pub fn first(&self) -> Option<&Entry> {
        self.blocks.first().and_then(|block| block.entries.first())
    }

    /// All jobs in order.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.blocks.iter().flat_map(|block| &block.entries)
    }

    /// Inserts a job at its place.
    pub fn insert(&mut self, entry: Entry) {
        let place = (entry.rank, entry.seq);
        let at = self.block_of(place).min(self.blocks.len().saturating_sub(1));
        let Some(block) = self.blocks.get_mut(at) else {
            self.blocks.push(Block::of(vec![entry]));
            return;
        };
        block.least_procs = block.least_procs.min(entry.procs);
        block.least_estimate = block.least_estimate.min(entry.estimate);
        let within = block.entries.partition_point(|other| (other.rank, other.seq) < place);
        block.entries.insert(within, entry);
        if block.entries.len() > FULL {
            let upper = block.entries.split_off(FULL / 2);
            block.refresh();
            self.blocks.insert(at + 1, Block::of(upper));
        }
    }

    /// Removes the job at `(rank, seq)`, if it is there.
    pub fn remove(&mut self, rank: u128, seq: u64) -> Option<Entry> {
        let block = self.block_of((rank, seq));
        let entries = &self.blocks.get(block)?.entries;
        let entry = entries.partition_point(|other| (other.rank, other.seq) < (rank, seq));
        if entries.get(entry).is_none_or(|found| (found.rank, found.seq) != (rank, seq)) {
            return None;
        }
        Some(self.remove_at(Cursor { block, entry }))
    }

    /// The job at `(rank, seq)`, if it is there.
    pub fn get(&self, rank: u128, seq: u64) -> Option<&Entry> {
        let entries = &self.blocks.get(self.block_of((rank, seq)))?.entries;
        let at = entries.partition_point(|other| (other.rank, other.seq) < (rank, seq));
        entries.get(at).filter(|found| (found.rank, found.seq) == (rank, seq))
    }

    /// The position of the first job at or after `cursor` that fits into the window.
    #[inline]
    pub fn find(&self, cursor: Cursor, window: BackfillWindow) -> Option<Cursor> {
        let Cursor { block: mut at, entry: mut from } = cursor;
        while let Some(block) = self.blocks.get(at) {
            if window.takes(block.least_procs, block.least_estimate) {
                let mut rest = block.entries.get(from..).unwrap_or_default().iter();
                if let Some(offset) = rest.position(|entry| window.takes(entry.procs, entry.estimate)) {
                    return Some(Cursor { block: at, entry: from + offset });
                }
            }
            (at, from) = (at + 1, 0);
        }
        None
    }

    /// The job at `cursor`.
    ///
    /// # Panics
    /// As [`Queue::remove_at`].
    pub fn at(&self, cursor: Cursor) -> Entry {
        self.blocks[cursor.block].entries[cursor.entry]
    }

    /// Removes the job at `cursor`, which then points at the job after it.
    ///
    /// # Panics
    /// If the cursor does not come from a search of this queue in its present state.
    pub fn remove_at(&mut self, cursor: Cursor) -> Entry {
        let last = self.blocks.len() == 1;
        let block = &mut self.blocks[cursor.block];
        let gone = block.entries.remove(cursor.entry);
        if block.entries.is_empty() && !last {
            self.blocks.remove(cursor.block);
        } else if gone.procs == block.least_procs || gone.estimate == block.least_estimate {
            block.refresh();
        }
        gone
    }

    /// The position after one job.
    pub fn after(cursor: Cursor) -> Cursor {
        Cursor { entry: cursor.entry + 1, ..cursor }
    }

    fn block_of(&self, place: (u128, u64)) -> usize {
        // Most jobs are inserted at the end and removed at the beginning.
        let before = |block: &Block| block.entries.last().is_some_and(|last| (last.rank, last.seq) < place);
        if self.blocks.first().is_none_or(|first| !before(first)) {
            return 0;
        }
        if self.blocks.last().is_some_and(before) {
            return self.blocks.len();
        }
        self.blocks.partition_point(before)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The slow reference implementation: a sorted vector with a linear scan.
        #[test]
        fn agrees_with_a_sorted_vector(
            jobs in proptest::collection::vec((0_u128..50, 1_u32..40, 0_u64..100), 0..400),
            windows in proptest::collection::vec((0_u32..40, 0_u64..100, 0_u32..20), 0..40),
            withdrawn in proptest::collection::vec(any::<prop::sample::Index>(), 0..40),
        ) {
            let mut queue = Queue::new();
            let mut slow: Vec<Entry> = Vec::new();
            for (seq, (rank, procs, estimate)) in jobs.into_iter().enumerate() {
                let entry = Entry {
                    rank, seq: seq as u64, job: JobKey(seq as u32), procs, estimate: Span::from_micros(estimate),
                };
                queue.insert(entry);
                slow.push(entry);
            }
            slow.sort_by_key(|entry| (entry.rank, entry.seq));
            for index in withdrawn {
                if !slow.is_empty() {
                    let gone = slow.remove(index.index(slow.len()));
                    prop_assert_eq!(queue.remove(gone.rank, gone.seq), Some(gone));
                    prop_assert_eq!(queue.remove(gone.rank, gone.seq), None);
                }
            }
            for (free, time, extra) in windows {
                let window = BackfillWindow { free, window: Span::from_micros(time), extra, awake: Awake::ALL };
                let (mut cursor, mut from) = (Cursor::default(), 0);
                // One scan that takes every other job that fits.
                let mut take = false;
                loop {
                    let found = queue.find(cursor, window);
                    let expected = slow.iter().skip(from).position(|entry| window.takes(entry.procs, entry.estimate));
                    prop_assert_eq!(found.map(|at| queue.at(at)), expected.map(|at| slow[from + at]));
                    let (Some(at), Some(offset)) = (found, expected) else { break };
                    from += offset;
                    if take {
                        prop_assert_eq!(queue.remove_at(at), slow.remove(from));
                        cursor = at;
                    } else {
                        cursor = Queue::after(at);
                        from += 1;
                    }
                    take = !take;
                }
                prop_assert_eq!(queue.iter().count(), slow.len());
                prop_assert_eq!(queue.first(), slow.first());
            }
        }
    }
}
