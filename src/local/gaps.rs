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
/// It is divided into blocks of time. For classes of sizes a block knows how long at most the processors are free in it, so that a search leaves out
/// blocks, one look each, in which no job of this size and length can begin. Reservations only make gaps shorter, so what a block knows stays a bound;
/// what is released makes it unknown. It is counted when a job may begin there by what is known.
#[derive(Clone, Debug)]
pub struct IndexedProfile {
    profile: Profile,
    /// Where each block begins; it ends where the next one does, and the last one never. Empty while there is no index.
    since: Vec<Time>,
    /// By block, a bit for each class whose gap is a bound: nothing was released in the block since it was counted.
    known: Vec<u64>,
    /// The same for each class whose gap is exact: nothing was reserved either.
    exact: Vec<u64>,
    classes: Vec<Class>,
}

/// The gaps of all blocks for sizes from `procs` to before the next class.
#[derive(Clone, Debug)]
struct Class {
    procs: u32,
    gaps: Vec<Gap>,
}

/// How long the processors of a class are free in a block.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Gap {
    /// From the beginning of the block on.
    first: Span,
    /// Without a break.
    longest: Span,
    /// Until the end of the block.
    last: Span,
}

impl Gap {
    /// Of a block by its steps, each with whether enough processors are free.
    fn of(steps: impl Iterator<Item = (Time, bool)>, from: Time, to: Time) -> Self {
        let mut gap = Self::default();
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
        let (since, known, exact, classes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { profile, since, known, exact, classes }
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
            self.known.drain(..over);
            self.exact.drain(..over);
            self.classes.iter_mut().for_each(|class| drop(class.gaps.drain(..over)));
        }
    }

    /// As [`Profile::reserve`].
    pub fn reserve(&mut self, from: Time, to: Time, procs: u32) {
        self.profile.reserve(from, to, procs);
        let blocks = self.blocks(from, to);
        self.exact[blocks].fill(0);
    }

    /// As [`Profile::release`].
    pub fn release(&mut self, from: Time, to: Time, procs: u32) {
        self.profile.release(from, to, procs);
        let blocks = self.blocks(from, to);
        self.known[blocks.clone()].fill(0);
        self.exact[blocks].fill(0);
    }

    /// The profile alone, for many changes in a row, of which each would cost more than the index spares. It is indexed anew at the next search.
    pub fn alone(&mut self) -> &mut Profile {
        self.since.clear();
        self.known.clear();
        self.exact.clear();
        self.classes.clear();
        &mut self.profile
    }

    /// As [`Profile::earliest`].
    pub fn earliest(&mut self, from: Time, duration: Span, procs: u32) -> Option<Time> {
        if procs == 0 || self.profile.len() < FEW || from < self.profile.since() {
            return self.alone().earliest(from, duration, procs);
        }
        if self.since.is_empty() || self.since.len() > 4 * self.profile.len() / BLOCK {
            self.divide();
        }
        self.search(from, duration, procs)
    }

    /// Looks at one block after the other, and goes through the steps of the profile where a job may begin.
    fn search(&mut self, from: Time, duration: Span, procs: u32) -> Option<Time> {
        let class = self.class(procs);
        let (mut block, mut at) = (self.block(from), from);
        // The class may be free from then on until `at`, and the job may begin there, but not before.
        let mut open: Option<Time> = None;
        loop {
            let so_far = open.map_or(Span::default(), |start| at.since(start));
            let Some(end) = self.look(class, block, duration, so_far) else {
                // All that is reserved ends in the last block.
                return self.profile.earliest_in(open.unwrap_or(at), Time::NEVER, duration, procs).ok();
            };
            if end <= at {
                // The first block was cut before it.
                block += 1;
                continue;
            }
            let gap = self.classes[class].gaps[block];
            let is_whole = gap.last >= end.since(self.since[block]);
            // No start in this block is earlier than that.
            let mut least = at;
            if let Some(start) = open {
                match self.begins(start, at + gap.first, duration, procs) {
                    Ok(start) => return Some(start),
                    Err(next) => (open, least) = (Some(next), at.max(next)),
                }
            }
            if open.is_none() || !is_whole {
                if gap.longest >= duration {
                    match self.begins(least, end, duration, procs) {
                        Ok(start) => return Some(start),
                        Err(next) => least = least.max(next),
                    }
                }
                let last = Time::from_micros(end.micros().saturating_sub(gap.last.micros()));
                open = (!gap.last.is_zero()).then(|| last.max(least));
            }
            (block, at) = (block + 1, end);
        }
    }

    /// The earliest start of a job that has so many processors for so long between `start` and `until`, where its class may be free. Otherwise an instant
    /// before which there is none.
    fn begins(&self, start: Time, until: Time, duration: Span, procs: u32) -> Result<Time, Time> {
        if until.since(start) < duration {
            return Err(start);
        }
        let last = Time::from_micros(until.micros() - duration.micros());
        self.profile.earliest_in(start, last + Span::TICK, duration, procs)
    }

    /// Where a block ends; `None` for the last one. Its gap is counted before, unless what is known of it rules out that a job begins there, or ends that may
    /// have begun `so_far` before it.
    fn look(&mut self, class: usize, block: usize, duration: Span, so_far: Span) -> Option<Time> {
        let (bit, from) = (1 << class, self.since[block]);
        let mut end = self.since.get(block + 1).copied();
        let none =
            self.known[block] & bit != 0 && so_far + self.classes[class].gaps[block].longest < duration;
        if end.is_some() && (none || self.exact[block] & bit != 0) {
            return end;
        }
        let mut steps = self.profile.steps_from(from).map(|(time, _)| time);
        if let Some(middle) = steps.nth(BLOCK)
            && steps.nth(BLOCK - 1).is_some_and(|time| end.is_none_or(|end| time < end))
        {
            end = Some(middle);
            self.since.insert(block + 1, middle);
            for bits in [&mut self.known, &mut self.exact] {
                bits[block] = 0;
                bits.insert(block + 1, 0);
            }
            self.classes.iter_mut().for_each(|class| class.gaps.insert(block + 1, Gap::default()));
        }
        let end = end?;
        let Class { procs, gaps } = &mut self.classes[class];
        let steps = self.profile.steps_from(from).take_while(|(time, _)| *time < end);
        gaps[block] =
            Gap::of(steps.map(|(time, free)| (time, i64::from(free) >= i64::from(*procs))), from, end);
        self.known[block] |= bit;
        self.exact[block] |= bit;
        Some(end)
    }

    /// Divides the profile into blocks of which nothing is known.
    fn divide(&mut self) {
        self.since = self.profile.steps().step_by(BLOCK).map(|(since, _)| since).collect();
        self.known = vec![0; self.since.len()];
        self.exact = vec![0; self.since.len()];
        self.classes.clear();
    }

    /// The class of a size: the largest power of two that is not larger, or one and a half times that.
    fn class(&mut self, procs: u32) -> usize {
        let power = 1 << procs.ilog2();
        let half = power + power / 2;
        let procs = if procs >= half { half } else { power };
        self.classes.iter().position(|class| class.procs == procs).unwrap_or_else(|| {
            self.classes.push(Class { procs, gaps: vec![Gap::default(); self.since.len()] });
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
        /// What was reserved, but for a part of its beginning, is released.
        Release(prop::sample::Index, u64),
        /// Released beside the index.
        Alone(u64, u64, u32),
        Advance(u64),
        /// A search from so long after now on, and its job may be placed where it can begin.
        Search {
            from: u64,
            duration: u64,
            procs: u32,
            place: bool,
        },
    }

    fn step() -> impl Strategy<Value = Step> {
        let part = || (0_u64..300, 1_u64..40, 1..=PROCS);
        let search = (0_u64..40, 0_u64..60, 0..=PROCS + 1, any::<bool>());
        prop_oneof![
            4 => part().prop_map(|(from, long, procs)| Step::Reserve(from, long, procs)),
            6 => (any::<prop::sample::Index>(), 0_u64..20).prop_map(|(index, kept)| Step::Release(index, kept)),
            1 => part().prop_map(|(from, long, procs)| Step::Alone(from, long, procs)),
            2 => (1_u64..30).prop_map(Step::Advance),
            14 => search.prop_map(|(from, duration, procs, place)| Step::Search { from, duration, procs, place }),
        ]
    }

    fn micros(ticks: u64) -> Span {
        Span::from_micros(ticks)
    }

    /// What blocks know is a bound of the gaps that there are, and exact where it is said to be.
    fn check(profile: &IndexedProfile) {
        for (block, ends) in profile.since.windows(2).enumerate() {
            let (from, to) = (Profile::since(profile).max(ends[0]), ends[1]);
            if from >= to {
                continue;
            }
            for (at, class) in profile.classes.iter().enumerate() {
                let steps = profile.steps_from(from).take_while(|(time, _)| *time < to);
                let gap = Gap::of(steps.map(|(time, free)| (time, free >= class.procs as i32)), from, to);
                let (known, bit) = (class.gaps[block], 1 << at);
                if profile.known[block] & bit != 0 {
                    assert!(gap.longest <= known.longest && gap.last <= known.last);
                    assert!(gap.first <= known.first || from > ends[0]);
                }
                if profile.exact[block] & bit != 0 && from == ends[0] {
                    assert_eq!(gap, known);
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
