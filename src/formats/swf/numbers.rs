//! Job numbers, each assigned once.

use std::collections::BTreeMap;

use super::row::MAX_NUMBER;

/// The numbers assigned so far, as runs of consecutive ones: a log that numbers its jobs consecutively takes one run.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// The run with the largest number, first and last.
    top: Option<(u64, u64)>,
    /// The runs below it, last by first.
    below: BTreeMap<u64, u64>,
}

impl Numbers {
    /// Assigns a number to the job with number `wanted` in line `line`: `wanted`, unless it is taken; then 10¹² +
    /// `line`, which no log can have. The flag is false if it was taken.
    pub(super) fn give(&mut self, wanted: u64, line: u64) -> (u64, bool) {
        if self.take(wanted) { (wanted, true) } else { (MAX_NUMBER.saturating_add(line), false) }
    }

    /// Whether `number` has been assigned.
    pub(super) fn has(&self, number: u64) -> bool {
        let within = |(first, last): (u64, u64)| (first..=last).contains(&number);
        let below = self.below.range(..=number).next_back().map(|(first, last)| (*first, *last));
        self.top.is_some_and(within) || below.is_some_and(within)
    }

    /// Takes `number`; false if it is already taken.
    fn take(&mut self, number: u64) -> bool {
        match self.top {
            None => self.top = Some((number, number)),
            Some((first, last)) if number > last => {
                if number == last + 1 {
                    self.top = Some((first, number));
                } else {
                    self.below.insert(first, last);
                    self.top = Some((number, number));
                }
            }
            Some((first, _)) if number >= first => return false,
            Some((first, last)) => return self.take_below(number, first, last),
        }
        true
    }

    fn take_below(&mut self, number: u64, top_first: u64, top_last: u64) -> bool {
        let mut first = number;
        let mut last = number;
        if let Some((&before_first, &before_last)) = self.below.range(..=number).next_back() {
            if number <= before_last {
                return false;
            }
            if before_last + 1 == number {
                first = before_first;
            }
        }
        if let Some(after_last) = self.below.remove(&(number + 1)) {
            last = after_last;
        }
        if top_first == last + 1 {
            self.below.remove(&first);
            self.top = Some((first, top_last));
        } else {
            self.below.insert(first, last);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_set(wanted in prop::collection::vec(0_u64..60, 0..120)) {
            let mut numbers = Numbers::default();
            let mut set = std::collections::BTreeSet::new();
            for number in wanted {
                prop_assert_eq!(numbers.take(number), set.insert(number));
                prop_assert!((0..61).all(|number| numbers.has(number) == set.contains(&number)));
                let runs = set.iter().filter(|n| !set.contains(&(*n + 1))).count();
                prop_assert_eq!(numbers.below.len() + usize::from(numbers.top.is_some()), runs);
            }
        }
    }
}
