//! Sets of small numbers as bits: the sums that can be formed from given sizes.

/// Numbers per machine word.
const WORD: usize = u64::BITS as usize;

/// Words for the numbers `0..=most`.
pub(super) const fn words(most: u32) -> usize {
    most as usize / WORD + 1
}

pub(super) fn insert(set: &mut [u64], number: u32) {
    set[number as usize / WORD] |= 1 << (number as usize % WORD);
}

/// Adds, for every number of the set, the number greater by `by`, if there are words for it.
pub(super) fn add_shifted_up(set: &mut [u64], by: u32) {
    let (whole, rest) = (by as usize / WORD, by as usize % WORD);
    for at in (whole..set.len()).rev() {
        let mut moved = set[at - whole] << rest;
        if rest > 0 && at > whole {
            moved |= set[at - whole - 1] >> (WORD - rest);
        }
        set[at] |= moved;
    }
}

/// Adds, for every number of the set, the number less by `by`, if that is not below zero.
pub(super) fn add_shifted_down(set: &mut [u64], by: u32) {
    for at in 0..set.len() {
        set[at] |= word_from(set, at, by);
    }
}

/// The word at `at` of the set with all numbers less by `by`.
fn word_from(set: &[u64], at: usize, by: u32) -> u64 {
    let (whole, rest) = (by as usize / WORD, by as usize % WORD);
    let word = |at: usize| set.get(at).copied().unwrap_or(0);
    let low = word(at + whole) >> rest;
    if rest > 0 { low | word(at + whole + 1) << (WORD - rest) } else { low }
}

/// True if a number of `a` up to `most`, plus `by`, is in `b`.
pub(super) fn meets(a: &[u64], b: &[u64], by: u32, most: u32) -> bool {
    let last = most as usize / WORD;
    (0..=last.min(a.len() - 1)).any(|at| {
        // In the last word, without the numbers beyond `most`.
        let mask = if at == last { u64::MAX >> (WORD - 1 - most as usize % WORD) } else { u64::MAX };
        a[at] & mask & word_from(b, at, by) != 0
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn of(numbers: &BTreeSet<u32>, most: u32) -> Vec<u64> {
        let mut set = vec![0; words(most)];
        numbers.iter().for_each(|number| insert(&mut set, *number));
        set
    }

    fn numbers(set: &[u64]) -> BTreeSet<u32> {
        (0..(set.len() * WORD) as u32).filter(|at| set[*at as usize / WORD] >> (at % 64) & 1 == 1).collect()
    }

    proptest! {
        #[test]
        fn agrees_with_sets_of_numbers(
            a in proptest::collection::btree_set(0_u32..300, 0..40),
            b in proptest::collection::btree_set(0_u32..300, 0..40),
            by in 0_u32..320,
            most in 0_u32..320,
        ) {
            let end = (words(300) * WORD) as u32;
            let mut up = of(&a, 300);
            add_shifted_up(&mut up, by);
            let moved = a.iter().map(|number| number + by).filter(|number| *number < end);
            prop_assert_eq!(numbers(&up), a.iter().copied().chain(moved).collect());
            let mut down = of(&a, 300);
            add_shifted_down(&mut down, by);
            let moved = a.iter().filter_map(|number| number.checked_sub(by));
            prop_assert_eq!(numbers(&down), a.iter().copied().chain(moved).collect());
            let meet = a.iter().any(|number| *number <= most && b.contains(&(number + by)));
            prop_assert_eq!(meets(&of(&a, 300), &of(&b, 300), by, most), meet);
        }
    }
}
