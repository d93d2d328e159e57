//! Sets of processors of a partition, as bitsets.

use std::fmt;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

pub use self::walks::{Blocks, Intervals};

mod walks;

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
        first_set(&self.words).is_none()
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
        let (mine, theirs) = self.both(other);
        mine.iter().zip(theirs).fold(0, |common, (mine, theirs)| common | mine & theirs) == 0
    }

    /// Removes all members; the memory is kept.
    pub(crate) fn clear(&mut self) {
        self.words.clear();
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

    /// Adds `from..to`.
    pub(crate) fn insert_range(&mut self, from: u32, to: u32) {
        let Some(last) = to.checked_sub(1).filter(|last| from <= *last) else { return };
        let (first, last) = (from / BITS, last / BITS);
        self.reach(first, last);
        let words = &mut self.words[(first - self.base) as usize..=(last - self.base) as usize];
        let (low, high) = (u64::MAX << (from % BITS), u64::MAX >> (BITS - 1 - (to - 1) % BITS));
        match words {
            [word] => *word |= low & high,
            [first, within @ .., last] => {
                *first |= low;
                within.fill(u64::MAX);
                *last |= high;
            }
            [] => {}
        }
    }

    /// Adds the members that a word has: those of a set from its number × 64 on.
    #[inline]
    pub(crate) fn insert_word(&mut self, index: u32, word: u64) {
        self.reach(index, index);
        self.words[(index - self.base) as usize] |= word;
    }

    /// Removes every member of `other`.
    #[inline]
    pub fn remove_all(&mut self, other: &Self) {
        let from = self.base.max(other.base);
        let mine = self.words.get_mut((from - self.base) as usize..).unwrap_or_default();
        for (mine, theirs) in mine.iter_mut().zip(other.words_from(from)) {
            *mine &= !theirs;
        }
    }

    /// The members that are not in `other`.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let Some(first) = first_set(&self.words) else { return Self::new() };
        let mut out =
            Self { base: self.base + first as u32, words: SmallVec::from_slice(&self.words[first..]) };
        out.remove_all(other);
        out
    }

    /// The members of both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let (mine, theirs) = self.both(other);
        let mut out = Self { base: self.base.max(other.base), words: SmallVec::from_slice(mine) };
        for (word, theirs) in out.words.iter_mut().zip(theirs) {
            *word &= theirs;
        }
        out.trim();
        out
    }

    /// How many members both sets have.
    pub(crate) fn common(&self, other: &Self) -> u32 {
        let (mine, theirs) = self.both(other);
        mine.iter().zip(theirs).map(|(mine, theirs)| (mine & theirs).count_ones()).sum()
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
        let first = first_set(&self.words)?;
        let (mut last, mut left) = (first, count);
        loop {
            let here = self.words[last].count_ones();
            if here >= left {
                break;
            }
            left -= here;
            last += 1 + first_set(&self.words[last + 1..])?;
        }
        let mut words = SmallVec::from_slice(&self.words[first..=last]);
        words[last - first] = lowest_bits(words[last - first], left);
        Some(Self { base: self.base + first as u32, words })
    }

    /// The blocks of so many numbers that have members, ascending, and how many each has.
    pub fn blocks(&self, size: u32) -> Blocks<'_> {
        Blocks { rest: self.intervals(), size }
    }

    /// The lowest member.
    pub fn first(&self) -> Option<u32> {
        let at = first_set(&self.words)?;
        Some((self.base + at as u32) * BITS + self.words[at].trailing_zeros())
    }

    /// The highest member.
    pub fn last(&self) -> Option<u32> {
        let at = self.words.iter().rposition(|word| *word != 0)?;
        Some((self.base + at as u32) * BITS + BITS - 1 - self.words[at].leading_zeros())
    }

    /// Removes and returns the `count` highest members, or all if there are fewer.
    pub fn take_highest(&mut self, count: u32) -> Self {
        let mut left = count;
        for at in (0..self.words.len()).rev() {
            let here = self.words[at].count_ones();
            if here >= left {
                // Those of this word that stay are its lowest.
                let stay = if here == left { 0 } else { lowest_bits(self.words[at], here - left) };
                let mut taken =
                    Self { base: self.base + at as u32, words: SmallVec::from_slice(&self.words[at..]) };
                taken.words[0] &= !stay;
                self.words.truncate(at + 1);
                self.words[at] = stay;
                self.trim();
                taken.trim();
                return taken;
            }
            left -= here;
        }
        std::mem::take(self)
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

    /// The kept words from this one on, which is not before the first.
    #[inline]
    fn words_from(&self, index: u32) -> &[u64] {
        self.words.get((index - self.base) as usize..).unwrap_or_default()
    }

    /// The words that both keep.
    #[inline]
    fn both<'a>(&'a self, other: &'a Self) -> (&'a [u64], &'a [u64]) {
        let from = self.base.max(other.base);
        let (mine, theirs) = (self.words_from(from), other.words_from(from));
        let count = mine.len().min(theirs.len());
        (&mine[..count], &theirs[..count])
    }

    /// The kept words, and the number of the first: it has the members from its number × 64 on.
    #[inline]
    pub(crate) fn kept(&self) -> (u32, &[u64]) {
        (self.base, &self.words)
    }

    /// The members, 64 numbers at a time: words that have some, with their numbers, ascending.
    #[inline]
    pub(crate) fn filled(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.indexed().filter(|(_, word)| *word != 0)
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

    /// Drops empty words at both ends, which then cost nothing.
    pub fn trim(&mut self) {
        let Some(first) = first_set(&self.words) else {
            *self = Self::new();
            return;
        };
        let last = self.words.iter().rposition(|word| *word != 0).unwrap_or(first);
        self.words.truncate(last + 1);
        if first > 0 {
            self.words.drain(..first);
            self.base += first as u32;
        }
    }
}

impl PartialEq for ProcSet {
    /// Compares members: the number of empty words does not matter.
    fn eq(&self, other: &Self) -> bool {
        self.contains_all(other) && other.contains_all(self)
    }
}

impl Eq for ProcSet {}

/// The first word that is not empty.
#[inline]
fn first_set(words: &[u64]) -> Option<usize> {
    if *words.first()? != 0 {
        return Some(0);
    }
    // The set of a job on a few machines far from each other has many empty words between: eight at a time.
    let empty = |words: &&[u64; 8]| words.iter().fold(0, |any, word| any | word) == 0;
    let skipped = words.as_chunks().0.iter().take_while(empty).count() * 8;
    words[skipped..].iter().position(|word| *word != 0).map(|at| skipped + at)
}

/// The `count` lowest set bits of `word`, which has at least that many.
pub(crate) fn lowest_bits(word: u64, count: u32) -> u64 {
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

    /// Many members close to each other, or a few far apart.
    fn members() -> impl Strategy<Value = BTreeSet<u32>> {
        let of = proptest::collection::btree_set;
        prop_oneof![of(0_u32..300, 0..80), of(0_u32..5_000, 0..20), of(2_000_u32..2_100, 0..20)]
    }

    proptest! {
        #[test]
        fn agrees_with_an_ordered_set(
            a in members(),
            b in members(),
            count in 0_u32..100,
        ) {
            let (sa, sb): (ProcSet, ProcSet) = (a.iter().copied().collect(), b.iter().copied().collect());
            prop_assert_eq!(sa.len() as usize, a.len());
            prop_assert_eq!(sa.is_disjoint(&sb), a.is_disjoint(&b));
            prop_assert_eq!(sa.contains_all(&sb), a.is_superset(&b));
            prop_assert_eq!(model(&sa.intersection(&sb)), &a & &b);
            prop_assert_eq!(sa.is_empty(), a.is_empty());
            prop_assert_eq!(sa.first(), a.first().copied());
            let mut union = sa.clone();
            union.insert_all(&sb);
            prop_assert_eq!(model(&union), &a | &b);
            prop_assert_eq!(model(&sa.difference(&sb)), &a - &b);
            let mut rest = sa.clone();
            rest.remove_all(&sb);
            prop_assert_eq!(model(&rest), &a - &b);
            prop_assert_eq!(&rest, &(&a - &b).into_iter().collect::<ProcSet>());
            let mut lower = sa.clone();
            let highest = lower.take_highest(count);
            let split = a.len().saturating_sub(count as usize);
            prop_assert_eq!(model(&lower), a.iter().copied().take(split).collect());
            prop_assert_eq!(model(&highest), a.iter().copied().skip(split).collect());
            prop_assert_eq!(sa.common(&sb) as usize, (&a & &b).len());
            let mut words = sb.clone();
            sa.filled().for_each(|(index, word)| words.insert_word(index, word));
            prop_assert_eq!(&words, &union);
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
            let spread: BTreeSet<u32> = sa.intervals().flat_map(|(first, last)| first..=last).collect();
            prop_assert_eq!(spread, a);
        }

        #[test]
        fn ranges(from in 0_u32..300, len in 0_u32..300, set in members()) {
            prop_assert_eq!(model(&ProcSet::range(from, from + len)), (from..from + len).collect());
            let mut filled = set.iter().copied().collect::<ProcSet>();
            filled.insert_range(from, from + len);
            prop_assert_eq!(model(&filled), set.into_iter().chain(from..from + len).collect());
        }
    }

    #[test]
    fn intervals_are_written_as_batsim_does() {
        let set: ProcSet = [0, 1, 2, 3, 7, 9, 10, 11, 12, 63, 64, 65].into_iter().collect();
        assert_eq!(set.to_string(), "0-3 7 9-12 63-65");
        assert_eq!(ProcSet::new().to_string(), "");
    }
}
