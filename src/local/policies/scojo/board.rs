//! Which processors have jobs of which kinds.

use super::crowds::{Crowd, Crowds, Kind};
use crate::model::{ProcSet, lowest_bits};

const BITS: u32 = u64::BITS;

/// Some processors: words of a bitset from a number on.
#[derive(Copy, Clone, Debug)]
pub(super) struct Procs<'a> {
    pub(super) first: usize,
    pub(super) words: &'a [u64],
}

impl<'a> Procs<'a> {
    pub(super) fn of(procs: &'a ProcSet) -> Self {
        let (first, words) = procs.kept();
        let trimmed = Self::trimmed(words);
        Self { first: first as usize + trimmed.first, ..trimmed }
    }

    /// Those of a bitset from its beginning, without empty words at both ends.
    pub(super) fn trimmed(words: &'a [u64]) -> Self {
        let first = words.iter().position(|word| *word != 0).unwrap_or(words.len());
        let end = words.iter().rposition(|word| *word != 0).map_or(first, |last| last + 1);
        Self { first, words: &words[first..end] }
    }

    /// The words from this one on, which is not before the first.
    fn from(self, word: usize) -> &'a [u64] {
        self.words.get(word - self.first..).unwrap_or_default()
    }

    pub(super) fn len(self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    pub(super) fn is_disjoint(self, other: Procs<'_>) -> bool {
        let from = self.first.max(other.first);
        self.from(from).iter().zip(other.from(from)).all(|(one, other)| one & other == 0)
    }

    pub(super) fn to_set(self) -> ProcSet {
        let mut set = ProcSet::new();
        for (at, word) in self.words.iter().enumerate() {
            set.insert_word((self.first + at) as u32, *word);
        }
        set
    }
}

impl PartialEq for Procs<'_> {
    /// Of trimmed ones.
    fn eq(&self, other: &Self) -> bool {
        self.first == other.first && self.words == other.words
    }
}

/// The processors of a partition by crowd. The crowds with the fewest jobs come first.
#[derive(Debug, Default)]
pub(super) struct Board {
    /// Words of the set of a crowd.
    width: usize,
    places: Vec<Place>,
    /// The sets of the crowds, one after the other.
    sets: Vec<u64>,
}

/// A crowd that is somewhere.
#[derive(Copy, Clone, Debug)]
struct Place {
    crowd: Crowd,
    /// The number of jobs on each of its processors.
    load: u32,
    procs: u32,
}

impl Board {
    /// So many processors, each with its crowd.
    pub(super) fn new(processors: u32, crowds: &Crowds, of: impl Iterator<Item = Crowd>) -> Self {
        let width = processors.div_ceil(BITS) as usize;
        let mut board = Self { width, ..Self::default() };
        for (proc, crowd) in (0_u32..).zip(of) {
            let at = board.place(crowd, crowds.load(crowd));
            board.places[at].procs += 1;
            board.sets[at * width + (proc / BITS) as usize] |= 1 << (proc % BITS);
        }
        board
    }

    /// Becomes the same as another board; the memory is kept.
    pub(super) fn copy(&mut self, other: &Self) {
        self.width = other.width;
        self.places.clone_from(&other.places);
        self.sets.clone_from(&other.sets);
    }

    /// The crowds that there are.
    pub(super) fn crowds(&self) -> impl Iterator<Item = Crowd> {
        self.places.iter().map(|place| place.crowd)
    }

    fn set(&self, at: usize) -> &[u64] {
        &self.sets[at * self.width..(at + 1) * self.width]
    }

    /// Where a crowd is; it gets a place if it has none.
    fn place(&mut self, crowd: Crowd, load: u32) -> usize {
        let mut at = self.places.partition_point(|place| place.load < load);
        while let Some(place) = self.places.get(at).filter(|place| place.load == load) {
            if place.crowd == crowd {
                return at;
            }
            at += 1;
        }
        self.places.insert(at, Place { crowd, load, procs: 0 });
        let (from, end) = (at * self.width, self.sets.len());
        self.sets.resize(end + self.width, 0);
        self.sets.copy_within(from..end, from + self.width);
        self.sets[from..from + self.width].fill(0);
        at
    }

    fn drop_place(&mut self, at: usize) {
        self.places.remove(at);
        self.sets.copy_within((at + 1) * self.width.., at * self.width);
        self.sets.truncate(self.places.len() * self.width);
    }

    /// How many of these processors a crowd has.
    fn common(&self, at: usize, procs: Procs<'_>) -> u32 {
        let set = &self.sets[at * self.width + procs.first..];
        procs.words.iter().zip(set).map(|(word, set)| (word & set).count_ones()).sum()
    }

    /// Moves those of these processors that are in one place to another one.
    fn shift(&mut self, from: usize, to: usize, procs: Procs<'_>, count: u32) {
        let (start, end) = (from * self.width + procs.first, to * self.width + procs.first);
        for (at, word) in procs.words.iter().enumerate() {
            let moved = self.sets[start + at] & word;
            self.sets[start + at] &= !moved;
            self.sets[end + at] |= moved;
        }
        self.places[from].procs -= count;
        self.places[to].procs += count;
    }

    /// Adds a job on these processors, which starts now or has started before.
    pub(super) fn add(&mut self, crowds: &mut Crowds, kind: Kind, procs: Procs<'_>, is_old: bool) {
        let mut left = procs.len();
        // Each crowd moves up: the fullest first, so that none moves twice.
        for at in (0..self.places.len()).rev() {
            if left == 0 {
                return;
            }
            let count = self.common(at, procs);
            if count == 0 {
                continue;
            }
            left -= count;
            let Place { crowd, load, .. } = self.places[at];
            let to = self.place(crowds.more(crowd, kind, is_old), load + 1);
            self.shift(at, to, procs, count);
            if self.places[at].procs == 0 {
                self.drop_place(at);
            }
        }
    }

    /// Removes a job from these processors.
    pub(super) fn remove(&mut self, crowds: &mut Crowds, kind: Kind, procs: Procs<'_>) {
        let (mut at, mut left) = (0, procs.len());
        while at < self.places.len() && left > 0 {
            let count = self.common(at, procs);
            if count == 0 {
                at += 1;
                continue;
            }
            left -= count;
            let (places, Place { crowd, load, .. }) = (self.places.len(), self.places[at]);
            let to = self.place(crowds.less(crowd, kind), load.saturating_sub(1));
            at += self.places.len() - places;
            self.shift(at, to, procs, count);
            if self.places[at].procs == 0 {
                self.drop_place(at);
            } else {
                at += 1;
            }
        }
    }

    /// Time goes on: all that are there have started before.
    pub(super) fn settle(&mut self, crowds: &mut Crowds) {
        if crowds.terms.together {
            self.rename(|crowd| crowds.settled(crowd));
        }
    }

    /// Forgets priorities.
    pub(super) fn blind(&mut self, crowds: &mut Crowds) {
        self.rename(|crowd| crowds.blind(crowd));
    }

    /// Crowds become others with as many jobs.
    fn rename(&mut self, mut into: impl FnMut(Crowd) -> Crowd) {
        let mut at = 0;
        while at < self.places.len() {
            let Place { crowd, load, procs } = self.places[at];
            let crowd = into(crowd);
            let before = self.places[..at].iter().rposition(|place| place.crowd == crowd);
            match before {
                Some(other) => {
                    for word in 0..self.width {
                        self.sets[other * self.width + word] |= self.sets[at * self.width + word];
                    }
                    self.places[other].procs += procs;
                    self.drop_place(at);
                }
                None => {
                    self.places[at] = Place { crowd, load, procs };
                    at += 1;
                }
            }
        }
    }

    /// So many processors whose jobs this one may join: those with the fewest jobs, of equal ones the lowest numbers. False if there are too few.
    pub(super) fn room(
        &self,
        crowds: &mut Crowds,
        kind: Kind,
        procs: u32,
        backfilled: bool,
        room: &mut Vec<u64>,
    ) -> bool {
        let (mut takes, mut open) = (0_u64, 0);
        for (at, place) in self.places.iter().enumerate() {
            if crowds.takes(place.crowd, kind, backfilled) {
                open += place.procs;
                takes |= 1_u64.checked_shl(at as u32).unwrap_or(0);
            }
        }
        if open < procs {
            return false;
        }
        room.clear();
        room.resize(self.width, 0);
        let (mut from, mut lacks) = (0, procs);
        while lacks > 0 && from < self.places.len() {
            let load = self.places[from].load;
            let same = self.places[from..].iter().take_while(|place| place.load == load).count();
            let all = from..from + same;
            from += same;
            let mut takes = |at: &usize| match takes.checked_shr(*at as u32) {
                Some(takes) => takes & 1 == 1,
                None => crowds.takes(self.places[*at].crowd, kind, backfilled),
            };
            let open: u32 = all.clone().filter(&mut takes).map(|at| self.places[at].procs).sum();
            if open <= lacks {
                lacks -= open;
                for at in all.filter(&mut takes) {
                    room.iter_mut().zip(self.set(at)).for_each(|(word, set)| *word |= set);
                }
                continue;
            }
            for (number, word) in room.iter_mut().enumerate() {
                let here = all.clone().filter(&mut takes).fold(0, |here, at| here | self.set(at)[number]);
                let count = here.count_ones();
                if count >= lacks {
                    *word |= lowest_bits(here, lacks);
                    return true;
                }
                *word |= here;
                lacks -= count;
            }
        }
        true
    }

    /// How many processors there are whose jobs this one may join.
    pub(super) fn open(&self, crowds: &mut Crowds, kind: Kind, backfilled: bool) -> u32 {
        let takes = |place: &&Place| crowds.takes(place.crowd, kind, backfilled);
        self.places.iter().filter(takes).map(|place| place.procs).sum()
    }

    /// These processors.
    pub(super) fn open_set(&self, crowds: &mut Crowds, kind: Kind) -> ProcSet {
        let mut open = ProcSet::new();
        for at in 0..self.places.len() {
            if crowds.takes(self.places[at].crowd, kind, false) {
                open.insert_all(&Procs::trimmed(self.set(at)).to_set());
            }
        }
        open
    }

    /// How many processors somebody might get.
    pub(super) fn not_full(&self, crowds: &Crowds) -> u32 {
        self.places.iter().filter(|place| crowds.is_open(place.crowd)).map(|place| place.procs).sum()
    }

    /// The crowds of a job's processors.
    pub(super) fn crowds_of<'a>(&'a self, procs: Procs<'a>) -> impl Iterator<Item = Crowd> + 'a {
        let has = move |at: &usize| !procs.is_disjoint(Procs { first: 0, words: self.set(*at) });
        (0..self.places.len()).filter(has).map(|at| self.places[at].crowd)
    }
}
