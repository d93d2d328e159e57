//! A set of numbers with one bit a number.

use std::collections::BTreeMap;

/// A set of numbers that are mostly close together.
#[derive(Debug, Default)]
pub(super) struct Seen {
    words: BTreeMap<u64, u64>,
}

impl Seen {
    /// Adds a number; false if it was present.
    pub(super) fn insert(&mut self, number: u64) -> bool {
        let word = self.words.entry(number / 64).or_default();
        let bit = 1 << (number % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    pub(super) fn remove(&mut self, number: u64) {
        if let Some(word) = self.words.get_mut(&(number / 64)) {
            *word &= !(1 << (number % 64));
        }
    }

    pub(super) fn contains(&self, number: u64) -> bool {
        self.words.get(&(number / 64)).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_new_once() {
        let mut seen = Seen::default();
        assert!([0, 63, 64, u64::MAX].into_iter().all(|number| seen.insert(number)));
        seen.remove(62);
        assert!(!seen.insert(64) && seen.contains(63) && !seen.contains(62));
        seen.remove(64);
        assert!(!seen.contains(64) && seen.contains(63) && seen.insert(64));
    }
}
