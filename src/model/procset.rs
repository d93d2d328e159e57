//! Sets of processors of a partition, as bitsets.

use std::fmt;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

const BITS: u32 = u64::BITS;

/// A set of processor numbers. Only the words between the lowest and the highest member are kept, so the
/// set of a narrow job on a wide machine is small; two words need no allocation.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct ProcSet {
    /// The index of the first kept word.
    base: u32,
    words: SmallVec<[u64; 2]>,
}

impl ProcSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Processors `0..count`.
    pub fn full(count: u32) -> Self {
        Self::range(0, count)
    }

    /// Processors `from..to`.
    pub fn range(from: u32, to: u32) -> Self {
        if from >= to {
            return Self::new();
        }
        let (first, last) = (from / BITS, (to - 1) / BITS);
        let mut words = SmallVec::from_elem(u64::MAX, (last - first + 1) as usize);
        words[0] &= u64::MAX << (from % BITS);
        *words.last_mut().expect("at least one word") &= u64::MAX >> (BITS - 1 - (to - 1) % BITS);
        Self { base: first, words }
    }

    /// The number of processors in the set.
    pub fn len(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// The number of members in `from..to`.
    pub fn count(&self, from: u32, to: u32) -> u32 {
        let within = |(index, word): (u32, u64)| {
            let (first, last) = (index * BITS, index * BITS + BITS - 1);
            if first >= to || last < from {
                return 0;
            }
            let low = if from > first { u64::MAX << (from - first) } else { u64::MAX };
            let high = if to <= last { !(u64::MAX << (to - first)) } else { u64::MAX };
            (word & low & high).count_ones()
        };
        self.indexed().map(within).sum()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Whether `proc` is a member.
    pub fn contains(&self, proc: u32) -> bool {
        self.word(proc / BITS) >> (proc % BITS) & 1 == 1
    }

    /// Whether every member of `other` is a member.
    pub fn contains_all(&self, other: &Self) -> bool {
        other.indexed().all(|(index, word)| word & !self.word(index) == 0)
    }

    /// Whether no processor is in both.
    pub fn is_disjoint(&self, other: &Self) -> bool {
        other.indexed().all(|(index, word)| word & self.word(index) == 0)
    }

    /// Adds one processor.
    pub fn insert(&mut self, proc: u32) {
        self.reach(proc / BITS, proc / BITS);
        self.words[(proc / BITS - self.base) as usize] |= 1 << (proc % BITS);
    }

    /// Adds every member of `other`.
    pub fn insert_all(&mut self, other: &Self) {
        let Some(last) = other.words.len().checked_sub(1) else { return };
        self.reach(other.base, other.base + last as u32);
        let shift = (other.base - self.base) as usize;
        for (mine, theirs) in self.words[shift..].iter_mut().zip(&other.words) {
            *mine |= theirs;
        }
    }

    /// Removes every member of `other`.
    pub fn remove_all(&mut self, other: &Self) {
        for (index, word) in other.indexed() {
            if let Some(mine) = index.checked_sub(self.base).and_then(|at| self.words.get_mut(at as usize)) {
                *mine &= !word;
            }
        }
    }

    /// The members of both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        // A few processors and many are as fast in either order.
        let (few, many) = if self.words.len() <= other.words.len() { (self, other) } else { (other, self) };
        let mut out = few.clone();
        for (at, word) in out.words.iter_mut().enumerate() {
            *word &= many.word(few.base + at as u32);
        }
        out.trim();
        out
    }

    /// The `count` lowest members that are not, or with `inside` are, members of `other`; fewer if there are no more.
    pub fn lowest_beside(&self, other: &Self, inside: bool, count: u32) -> Self {
        let (mut left, mut found) = (count, Self::new());
        for (index, word) in self.indexed() {
            if left == 0 {
                break;
            }
            let there = other.word(index);
            let word = word & if inside { there } else { !there };
            let here = word.count_ones();
            if here > 0 {
                if found.words.is_empty() {
                    found.base = index;
                }
                found.words.resize((index - found.base) as usize, 0);
                found.words.push(if here <= left { word } else { lowest_bits(word, left) });
                left -= here.min(left);
            }
        }
        found
    }

    /// Removes and returns the `count` lowest members; `None`, with nothing removed, if there are fewer.
    pub fn take_lowest(&mut self, count: u32) -> Option<Self> {
        let taken = self.lowest(count)?;
        self.remove_all(&taken);
        Some(taken)
    }

    /// The `count` lowest members; `None` if there are fewer.
    pub fn lowest(&self, count: u32) -> Option<Self> {
        if count == 0 {
            return Some(Self::new());
        }
        let first = self.words.iter().position(|word| *word != 0)?;
        let mut left = count;
        let mut words: SmallVec<[u64; 2]> = SmallVec::new();
        for word in &self.words[first..] {
            let here = word.count_ones();
            if here < left {
                words.push(*word);
                left -= here;
            } else {
                words.push(lowest_bits(*word, left));
                return Some(Self { base: self.base + first as u32, words });
            }
        }
        None
    }

    /// The blocks of so many numbers that have members, ascending, and how many each has.
    pub fn blocks(&self, size: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let (mut words, mut left) = (self.indexed(), (0, 0_u64));
        let mut begun: Option<(u32, u32)> = None;
        std::iter::from_fn(move || {
            loop {
                let (index, word) = left;
                if word == 0 {
                    match words.next() {
                        Some(next) => left = next,
                        None => return begun.take(),
                    }
                    continue;
                }
                let block = (index * BITS + word.trailing_zeros()) / size;
                // The members of the block in this word are its lowest ones.
                let width = (u64::from(block + 1) * u64::from(size)).saturating_sub(u64::from(index * BITS));
                let mask = if width >= u64::from(BITS) { u64::MAX } else { (1 << width) - 1 };
                let here = (word & mask).count_ones();
                left = (index, word & !mask);
                match &mut begun {
                    Some((last, count)) if *last == block => *count += here,
                    _ => {
                        if let Some(whole) = begun.replace((block, here)) {
                            return Some(whole);
                        }
                    }
                }
            }
        })
    }

    /// The lowest member.
    pub fn first(&self) -> Option<u32> {
        self.indexed().find(|(_, word)| *word != 0).map(|(index, word)| index * BITS + word.trailing_zeros())
    }

    /// The highest member.
    pub fn last(&self) -> Option<u32> {
        let at = self.words.iter().rposition(|word| *word != 0)?;
        Some((self.base + at as u32) * BITS + BITS - 1 - self.words[at].leading_zeros())
    }

    /// The members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.indexed().flat_map(|(index, mut word)| {
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros())?;
                word &= word - 1;
                Some(index * BITS + bit)
            })
        })
    }

    /// The maximal runs of members as `(first, last)`, ascending and not adjacent.
    pub fn intervals(&self) -> Intervals<'_> {
        let (word, words) = self.words.split_first().map_or((0, &[][..]), |(first, rest)| (*first, rest));
        Intervals { first: self.base * BITS, word, words }
    }

    /// Appends the set as intervals: `0-3 7 9-12` (the form that Batsim's tools read).
    pub fn write_intervals(&self, out: &mut Vec<u8>) {
        let mut digits = itoa::Buffer::new();
        for (at, (first, last)) in self.intervals().enumerate() {
            if at > 0 {
                out.push(b' ');
            }
            out.extend_from_slice(digits.format(first).as_bytes());
            if last > first {
                out.push(b'-');
                out.extend_from_slice(digits.format(last).as_bytes());
            }
        }
    }

    fn word(&self, index: u32) -> u64 {
        index.checked_sub(self.base).and_then(|at| self.words.get(at as usize)).copied().unwrap_or(0)
    }

    fn indexed(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.words.iter().enumerate().map(|(at, word)| (self.base + at as u32, *word))
    }

    /// Extends the kept words to `first..=last`.
    #[inline]
    fn reach(&mut self, first: u32, last: u32) {
        if self.words.is_empty() {
            self.base = first;
        }
        if first < self.base {
            self.words.insert_many(0, std::iter::repeat_n(0, (self.base - first) as usize));
            self.base = first;
        }
        let needed = (last - self.base + 1) as usize;
        if self.words.len() < needed {
            self.words.resize(needed, 0);
        }
    }

    /// Drops empty words at both ends.
    fn trim(&mut self) {
        let Some(first) = self.words.iter().position(|word| *word != 0) else {
            *self = Self::new();
            return;
        };
        let last = self.words.iter().rposition(|word| *word != 0).unwrap_or(first);
        self.words.truncate(last + 1);
        self.words.drain(..first);
        self.base += first as u32;
    }
}

impl PartialEq for ProcSet {
    /// Compares members: the number of empty words does not matter.
    fn eq(&self, other: &Self) -> bool {
        self.contains_all(other) && other.contains_all(self)
    }
}

impl Eq for ProcSet {}

/// The `count` lowest set bits of `word`, which has at least that many.
fn lowest_bits(word: u64, count: u32) -> u64 {
    let (mut below, mut width) = (0_u32, BITS);
    // Binary search for the shortest prefix that holds `count` set bits.
    while width > 1 {
        let half = width / 2;
        if (word & prefix(below + half)).count_ones() < count {
            below += half;
            width -= half;
        } else {
            width = half;
        }
    }
    word & prefix(below + 1)
}

fn prefix(bits: u32) -> u64 {
    if bits >= BITS { u64::MAX } else { (1 << bits) - 1 }
}

/// See [`ProcSet::intervals`].
#[derive(Debug)]
pub struct Intervals<'a> {
    /// The processor of the lowest bit of `word`.
    first: u32,
    /// The members of the current word that have not been returned.
    word: u64,
    /// The words after it.
    words: &'a [u64],
}

impl Intervals<'_> {
    /// Goes to the next word; false if there is none.
    fn step(&mut self) -> bool {
        let Some((word, words)) = self.words.split_first() else {
            self.word = 0;
            return false;
        };
        (self.first, self.word, self.words) = (self.first + BITS, *word, words);
        true
    }
}

impl Iterator for Intervals<'_> {
    type Item = (u32, u32);

    #[inline]
    fn next(&mut self) -> Option<(u32, u32)> {
        while self.word == 0 {
            if !self.step() {
                return None;
            }
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

impl FromIterator<u32> for ProcSet {
    fn from_iter<I: IntoIterator<Item = u32>>(procs: I) -> Self {
        let mut set = Self::new();
        for proc in procs {
            set.insert(proc);
        }
        set
    }
}

impl fmt::Display for ProcSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        self.write_intervals(&mut text);
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

impl fmt::Debug for ProcSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    fn model(set: &ProcSet) -> BTreeSet<u32> {
        set.iter().collect()
    }

    proptest! {
        #[test]
        fn agrees_with_an_ordered_set(
            a in proptest::collection::btree_set(0_u32..300, 0..80),
            b in proptest::collection::btree_set(0_u32..300, 0..80),
            count in 0_u32..100,
        ) {
            let (sa, sb): (ProcSet, ProcSet) = (a.iter().copied().collect(), b.iter().copied().collect());
            prop_assert_eq!(sa.len() as usize, a.len());
            prop_assert_eq!(sa.is_disjoint(&sb), a.is_disjoint(&b));
            prop_assert_eq!(sa.contains_all(&sb), a.is_superset(&b));
            prop_assert_eq!(model(&sa.intersection(&sb)), &a & &b);
            prop_assert_eq!(sa.first(), a.first().copied());
            let mut union = sa.clone();
            union.insert_all(&sb);
            prop_assert_eq!(model(&union), &a | &b);
            let mut rest = sa.clone();
            rest.remove_all(&sb);
            prop_assert_eq!(model(&rest), &a - &b);
            prop_assert_eq!(&rest, &(&a - &b).into_iter().collect::<ProcSet>());
            let mut left = sa.clone();
            match left.take_lowest(count) {
                None => prop_assert!(a.len() < count as usize),
                Some(taken) => {
                    prop_assert_eq!(model(&taken), a.iter().copied().take(count as usize).collect());
                    prop_assert_eq!(model(&left), a.iter().copied().skip(count as usize).collect());
                }
            }
            for size in [1, 3, 16, 64, 100] {
                let mut blocks: BTreeMap<u32, u32> = BTreeMap::new();
                a.iter().for_each(|proc| *blocks.entry(proc / size).or_default() += 1);
                prop_assert_eq!(sa.blocks(size).collect::<Vec<_>>(), blocks.into_iter().collect::<Vec<_>>());
            }
            for inside in [false, true] {
                let wanted = a.iter().copied().filter(|proc| b.contains(proc) == inside).take(count as usize);
                prop_assert_eq!(model(&sa.lowest_beside(&sb, inside, count)), wanted.collect());
            }
            let spread: BTreeSet<u32> = sa.intervals().flat_map(|(first, last)| first..=last).collect();
            prop_assert_eq!(spread, a);
        }

        #[test]
        fn ranges(from in 0_u32..300, len in 0_u32..300) {
            prop_assert_eq!(model(&ProcSet::range(from, from + len)), (from..from + len).collect());
        }
    }

    #[test]
    fn intervals_are_written_as_batsim_does() {
        let set: ProcSet = [0, 1, 2, 3, 7, 9, 10, 11, 12, 63, 64, 65].into_iter().collect();
        assert_eq!(set.to_string(), "0-3 7 9-12 63-65");
        assert_eq!(ProcSet::new().to_string(), "");
    }
}
