//! An availability profile with an index of its gaps.

use std::ops::{Deref, Range};

use super::Profile;
use crate::units::{Span, Time};

/// Steps of a block of the profile when it becomes one; with twice as many it is cut in two. Few in the tests, so that they have many blocks.
const BLOCK: usize = if cfg!(test) { 2 } else { 64 };

/// Below so many steps a search goes through all of them.
const FEW: usize = 4 * BLOCK;

/// A profile that is searched again and again, for places of a queue that may be long.
///
/// It is divided into blocks of time. For classes of sizes a block knows how long at most the processors are free in it, so that a search leaves out the
/// blocks, one look each, in which no job of this size and length can begin. Reservations only make gaps shorter, so what a block knows stays a bound; what
/// is released makes it unknown. It is counted when a search would go through the block.
#[derive(Clone, Debug)]
pub struct IndexedProfile {
    profile: Profile,
    /// Where each block begins; it ends where the next one does, and the last one never. Empty while the profile has few steps.
    since: Vec<Time>,
    /// By block, a bit for each class whose gap is counted, with nothing reserved in the block since.
    counted: Vec<u64>,
    classes: Vec<Class>,
}

/// The gaps of all blocks for sizes from `procs` to before the next class.
#[derive(Clone, Debug)]
struct Class {
    procs: u32,
    gaps: Vec<Gap>,
}

/// How long at most the processors of a class are free in a block.
#[derive(Copy, Clone, Debug)]
struct Gap {
    /// From the beginning of the block on.
    first: Span,
    /// Without a break.
    longest: Span,
    /// Until the end of the block.
    last: Span,
}

impl Gap {
    const UNKNOWN: Self = Self { first: Span::MAX, longest: Span::MAX, last: Span::MAX };

    /// Of a block by its steps, each with whether enough processors are free.
    fn of(steps: impl Iterator<Item = (Time, bool)>, from: Time, to: Time) -> Self {
        let mut gap = Self { first: Span::default(), longest: Span::default(), last: Span::default() };
        let mut open = None;
        for (time, enough) in steps.chain([(to, false)]) {
            if enough {
                open = open.or(Some(time));
            } else if let Some(since) = open.take() {
                let run = time.since(since);
                gap.longest = gap.longest.max(run);
                if since == from {
                    gap.first = run;
                }
                if time == to {
                    gap.last = run;
                }
            }
        }
        gap
    }
}

impl From<Profile> for IndexedProfile {
    fn from(profile: Profile) -> Self {
        Self { profile, since: Vec::new(), counted: Vec::new(), classes: Vec::new() }
    }
}

impl Deref for IndexedProfile {
    type Target = Profile;

    fn deref(&self) -> &Profile {
        &self.profile
    }
}

impl IndexedProfile {
    /// As [`Profile::advance`].
    pub fn advance(&mut self, now: Time) {
        self.profile.advance(now);
        // Blocks that are over cost nothing but their place.
        let over = self.since.partition_point(|since| *since <= now).saturating_sub(1);
        if over > 2 * BLOCK {
            self.since.drain(..over);
            self.counted.drain(..over);
            self.classes.iter_mut().for_each(|class| drop(class.gaps.drain(..over)));
        }
    }

    /// As [`Profile::reserve`].
    pub fn reserve(&mut self, from: Time, to: Time, procs: u32) {
        self.profile.reserve(from, to, procs);
        let blocks = self.blocks(from, to);
        self.counted[blocks].fill(0);
    }

    /// As [`Profile::release`].
    pub fn release(&mut self, from: Time, to: Time, procs: u32) {
        self.profile.release(from, to, procs);
        let blocks = self.blocks(from, to);
        self.counted[blocks.clone()].fill(0);
        self.classes.iter_mut().for_each(|class| class.gaps[blocks.clone()].fill(Gap::UNKNOWN));
    }

    /// The profile alone, for many changes in a row, of which each would cost more than the index spares. It is indexed anew at the next search.
    pub fn alone(&mut self) -> &mut Profile {
        self.since.clear();
        self.counted.clear();
        self.classes.clear();
        &mut self.profile
    }

    /// As [`Profile::earliest`].
    pub fn earliest(&mut self, from: Time, duration: Span, procs: u32) -> Option<Time> {
        if procs == 0 || self.profile.len() < FEW {
            return self.alone().earliest(from, duration, procs);
        }
        if self.since.is_empty() || self.since.len() > 4 * self.profile.len() / BLOCK {
            self.divide();
        }
        let class = self.class(procs);
        // No start is earlier than that.
        let mut at = from;
        loop {
            let (first, last);
            (at, first, last) = self.candidate(class, at, duration);
            if self.count(class, first, last) {
                continue;
            }
            let before = self.since.get(first + 1).copied().unwrap_or(Time::NEVER);
            match self.profile.earliest_in(at, before, duration, procs) {
                Ok(start) => return Some(start),
                Err(Time::NEVER) => return None,
                Err(next) => at = next,
            }
        }
    }

    /// Divides the profile into blocks of which nothing is known.
    fn divide(&mut self) {
        self.since = self.profile.steps().step_by(BLOCK).map(|(since, _)| since).collect();
        self.counted = vec![0; self.since.len()];
        self.classes.clear();
    }

    /// The class of a size: the largest power of two that is not larger, or one and a half times that.
    fn class(&mut self, procs: u32) -> usize {
        let power = 1 << procs.ilog2();
        let half = power + power / 2;
        let procs = if procs >= half { half } else { power };
        self.classes.iter().position(|class| class.procs == procs).unwrap_or_else(|| {
            self.classes.push(Class { procs, gaps: vec![Gap::UNKNOWN; self.since.len()] });
            self.classes.len() - 1
        })
    }

    /// The blocks of an interval.
    fn blocks(&self, from: Time, to: Time) -> Range<usize> {
        let first = self.block(from);
        // Most intervals have few blocks.
        let more = self.since[first..].iter().take_while(|since| **since < to).count();
        first..first + more
    }

    /// The block at an instant.
    fn block(&self, at: Time) -> usize {
        self.since.partition_point(|since| *since <= at).saturating_sub(1)
    }

    /// The earliest instant, not before `at`, at which a job may start by what the blocks know, and the first and last block on which that rests.
    fn candidate(&self, class: usize, at: Time, duration: Span) -> (Time, usize, usize) {
        let gaps = &self.classes[class].gaps;
        let mut block = self.block(at);
        // Since when, and since which block, the processors may be free until the end of the block before.
        let mut open: Option<(Time, usize)> = None;
        let mut since = at;
        loop {
            let Some(end) = self.since.get(block + 1) else {
                // All that is reserved ends in the last block.
                let (start, first) = open.unwrap_or((since, block));
                return (start, first, block);
            };
            let gap = gaps[block];
            if let Some((start, first)) =
                open.filter(|(start, _)| since.since(*start) + gap.first >= duration)
            {
                return (start, first, block);
            }
            let within = end.since(since);
            if gap.longest.min(within) >= duration {
                return (since, block, block);
            }
            let last = gap.last.min(within);
            open = match open {
                Some(open) if last == within => Some(open),
                _ => (!last.is_zero()).then(|| (Time::from_micros(end.micros() - last.micros()), block)),
            };
            (block, since) = (block + 1, *end);
        }
    }

    /// Counts the gaps of the first of these blocks of which they are not counted. False if all are.
    fn count(&mut self, class: usize, first: usize, last: usize) -> bool {
        let (bit, end) = (1 << class, self.since.len() - 1);
        let uncounted = |block: &usize| *block == end || self.counted[*block] & bit == 0;
        let Some(block) = (first..=last).find(uncounted) else { return false };
        let (from, to) = (self.since[block], self.since.get(block + 1).copied());
        let mut steps = self.profile.steps_from(from).map(|(time, _)| time);
        if let Some(middle) = steps.nth(BLOCK)
            && steps.nth(BLOCK - 1).is_some_and(|time| to.is_none_or(|to| time < to))
        {
            self.since.insert(block + 1, middle);
            self.counted.insert(block + 1, 0);
            self.counted[block] = 0;
            for class in &mut self.classes {
                class.gaps[block] = Gap::UNKNOWN;
                class.gaps.insert(block + 1, Gap::UNKNOWN);
            }
            return true;
        }
        let Some(to) = to else { return false };
        let procs = i32::try_from(self.classes[class].procs).unwrap_or(i32::MAX);
        let steps = self.profile.steps_from(from).take_while(|(time, _)| *time < to);
        self.classes[class].gaps[block] = Gap::of(steps.map(|(time, free)| (time, free >= procs)), from, to);
        self.counted[block] |= bit;
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PROCS: u32 = 16;

    #[derive(Clone, Debug)]
    enum Step {
        /// Reserved from so long after now on, for so long.
        Reserve(u64, u64, u32),
        /// What was reserved, all or a part of its end, is released.
        Release(prop::sample::Index, u64),
        Advance(u64),
        /// A search from so long after now on, and its job is placed where it is to be.
        Search {
            from: u64,
            duration: u64,
            procs: u32,
            within: Option<u64>,
            place: bool,
        },
    }

    fn step() -> impl Strategy<Value = Step> {
        let search = (0_u64..40, 0_u64..60, 0..=PROCS + 1, any::<bool>());
        prop_oneof![
            2 => (0_u64..300, 1_u64..40, 1..=PROCS).prop_map(|(from, long, procs)| Step::Reserve(from, long, procs)),
            3 => (any::<prop::sample::Index>(), 0_u64..20).prop_map(|(index, kept)| Step::Release(index, kept)),
            1 => (1_u64..30).prop_map(Step::Advance),
            6 => search.prop_map(|(from, duration, procs, place)| Step::Search { from, duration, procs, place }),
            1 => (0_u64..300, 1_u64..40, 1..=PROCS).prop_map(|(from, long, procs)| Step::Alone(from, long, procs)),
        ]
    }

    fn micros(ticks: u64) -> Span {
        Span::from_micros(ticks)
    }

    /// What blocks know is a bound of the gaps that there are, and exact where it is said to be.
    fn check(profile: &IndexedProfile) {
        for (block, since) in profile.since.iter().enumerate() {
            let Some(&to) = profile.since.get(block + 1).filter(|to| **to > Profile::since(profile)) else {
                continue;
            };
            for (at, class) in profile.classes.iter().enumerate() {
                let from = Profile::since(profile).max(*since);
                let steps = profile.steps_from(from).take_while(|(time, _)| *time < to);
                let gap = Gap::of(steps.map(|(time, free)| (time, free >= class.procs as i32)), from, to);
                let known = class.gaps[block];
                assert!(gap.longest <= known.longest && gap.last <= known.last);
                assert!(gap.first <= known.first || from > *since);
                if profile.counted[block] & (1 << at) != 0 && from == *since {
                    let told = |gap: Gap| (gap.first, gap.longest, gap.last);
                    assert_eq!(told(gap), told(known));
                }
            }
        }
    }

    proptest! {
        /// The index finds what a search through all steps finds.
        #[test]
        fn agrees_with_a_search_through_all_steps(steps in proptest::collection::vec(step(), 1..150)) {
            let mut profile = IndexedProfile::from(Profile::new(Time::ZERO, PROCS));
            let (mut now, mut reserved) = (Time::ZERO, Vec::new());
            for step in steps {
                match step {
                    Step::Reserve(from, long, procs) => {
                        let from = now + micros(from);
                        profile.reserve(from, from + micros(long), procs);
                        reserved.push((from, from + micros(long), procs));
                    }
                    Step::Release(index, kept) if !reserved.is_empty() => {
                        let (from, to, procs) = reserved.swap_remove(index.index(reserved.len()));
                        let from = (from + micros(kept)).max(now);
                        profile.release(from, to, procs);
                    }
                    Step::Release(..) => {}
                    Step::Alone(from, long, procs) => {
                        let from = now + micros(from);
                        profile.alone().release(from, from + micros(long), procs);
                    }
                    Step::Advance(by) => {
                        now += micros(by);
                        profile.advance(now);
                    }
                    Step::Search { from, duration, procs, place } => {
                        let (from, duration) = (now + micros(from), micros(duration));
                        let found = Profile::earliest(&profile, from, duration, procs);
                        prop_assert_eq!(profile.earliest(from, duration, procs), found);
                        if let Some(start) = found.filter(|_| place && procs > 0 && !duration.is_zero()) {
                            profile.reserve(start, start + duration, procs);
                            reserved.push((start, start + duration, procs));
                        }
                    }
                }
                check(&profile);
            }
        }
    }
}
