//! Ranges that are divided evenly.

use std::ops::Range;

/// A range of whole numbers in bins of nearly equal length: bin n starts at ⌈n·length/count⌉.
#[derive(Copy, Clone, Debug)]
pub(super) struct Bins {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) count: u32,
}

impl Bins {
    pub(super) fn new((from, to): (u64, u64), count: u32) -> Self {
        Self { from, to: to.max(from + 1), count: count.max(1) }
    }

    /// The numbers in a bin.
    pub(super) fn range(&self, bin: u32) -> Range<u64> {
        let length = u128::from(self.to - self.from);
        let edge = |bin: u32| self.from + (length * u128::from(bin)).div_ceil(u128::from(self.count)) as u64;
        edge(bin)..edge(bin + 1)
    }

    /// The bin of a number; for a number outside the range, the nearest bin.
    pub(super) fn bin(&self, number: u64) -> u32 {
        let place = number.clamp(self.from, self.to - 1) - self.from;
        (u128::from(place) * u128::from(self.count) / u128::from(self.to - self.from)) as u32
    }
}
