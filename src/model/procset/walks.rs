//! Walks over the members of a set, a run or a block of them at a time.

use super::{BITS, first_set};

/// See [`ProcSet::intervals`](super::ProcSet::intervals).
#[derive(Debug)]
pub struct Intervals<'a> {
    /// The processor of the lowest bit of `word`.
    pub(super) first: u32,
    /// The members of the current word that have not been returned.
    pub(super) word: u64,
    /// The words after it.
    pub(super) words: &'a [u64],
}

impl Intervals<'_> {
    /// Goes to the next word; false if there is none.
    #[inline]
    fn step(&mut self) -> bool {
        let Some((word, words)) = self.words.split_first() else {
            self.word = 0;
            return false;
        };
        (self.first, self.word, self.words) = (self.first + BITS, *word, words);
        true
    }

    /// After the last member of a word: goes to the next member's word; false if there is none.
    #[inline]
    fn find(&mut self) -> bool {
        let Some(empty) = first_set(self.words) else { return false };
        self.first += empty as u32 * BITS;
        self.words = &self.words[empty..];
        self.step()
    }
}

impl Iterator for Intervals<'_> {
    type Item = (u32, u32);

    #[inline]
    fn next(&mut self) -> Option<(u32, u32)> {
        if self.word == 0 && !self.find() {
            return None;
        }
        let low = self.word.trailing_zeros();
        let from = self.first + low;
        // The first processor that is no member; with all bits below filled in, it is where the ones end.
        let mut high = (self.word | ((1 << low) - 1)).trailing_ones();
        while high == BITS && self.step() {
            high = self.word.trailing_ones();
        }
        let last = self.first + high - 1;
        self.word &= u64::MAX.unbounded_shl(high);
        Some((from, last))
    }
}

/// See [`ProcSet::blocks`](super::ProcSet::blocks).
#[derive(Debug)]
pub struct Blocks<'a> {
    pub(super) rest: Intervals<'a>,
    pub(super) size: u32,
}

impl Iterator for Blocks<'_> {
    type Item = (u32, u32);

    #[inline]
    fn next(&mut self) -> Option<(u32, u32)> {
        let (rest, size) = (&mut self.rest, self.size);
        if rest.word == 0 && !rest.find() {
            return None;
        }
        let block = (rest.first + rest.word.trailing_zeros()) / size;
        let end = (u64::from(block) + 1) * u64::from(size);
        let mut count = 0;
        loop {
            // The members of the block in this word are its lowest ones.
            let width = end - u64::from(rest.first);
            let others = u64::MAX.unbounded_shl(width.min(u64::from(BITS)) as u32);
            count += (rest.word & !others).count_ones();
            rest.word &= others;
            if width <= u64::from(BITS) || !rest.step() {
                return Some((block, count));
            }
        }
    }
}
