//! The availability profile: free processors from now on.

use serde::{Deserialize, Serialize};

use crate::units::{Span, Time};

/// A request for a slot: `procs` processors for `duration`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotRequest {
    /// Processors needed.
    pub procs: u32,
    /// How long they are needed.
    pub duration: Span,
    /// The slot must not start before this.
    pub earliest: Time,
    /// The slot must not start after this.
    pub latest: Time,
    /// The number of alternative slots at most.
    pub alternatives: u32,
}

/// An interval of starts: `procs` processors are free for the requested duration from any instant of it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// The first start.
    pub start: Time,
    /// The last start.
    pub until: Time,
    /// Processors of the slot.
    pub procs: u32,
}

/// Up to the requested number of slots, earliest first, of free processors by time: what is free at an instant, and each change after it.
pub(super) fn slots(steps: impl Iterator<Item = (Time, i64)>, request: &SlotRequest) -> Vec<Slot> {
    let SlotRequest { procs, duration, latest, alternatives, .. } = *request;
    let (mut slots, mut since) = (Vec::new(), None);
    let mut add = |since: Option<Time>, end: Option<Time>| {
        let Some(start) = since.filter(|start| *start <= latest) else { return false };
        // It must be over when the processors are taken.
        if end.is_none_or(|end| start + duration <= end) {
            let last = end.map_or(latest, |end| Time::from_micros(end.micros() - duration.micros()));
            slots.push(Slot { start, until: last.min(latest), procs });
        }
        slots.len() >= alternatives as usize
    };
    for (time, free) in steps {
        if free >= i64::from(procs) {
            since = since.or(Some(time));
        } else if add(since.take(), Some(time)) {
            return slots;
        }
        if since.is_none() && time > latest {
            return slots;
        }
    }
    add(since, None);
    slots
}

/// Free processors as a step function of time, from some instant to the end of time.
///
/// Breakpoints are kept in two parallel arrays, times strictly ascending: `free[i]` holds during
/// `[times[i], times[i + 1])`, the last one for ever. Every interval is half-open. The number may be negative
/// where more is reserved than there is (a job overran into a reservation).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    times: Vec<Time>,
    free: Vec<i32>,
}

impl Profile {
    /// A profile with `capacity` free processors from `start` on.
    pub fn new(start: Time, capacity: u32) -> Self {
        Self { times: vec![start], free: vec![signed(capacity)] }
    }

    /// A profile with `capacity` free processors from `start` on, less those that are taken: from, to, how many. Many at once cost a sort.
    pub fn without(start: Time, capacity: u32, taken: impl Iterator<Item = (Time, Time, u32)>) -> Self {
        let mut changes: Vec<(Time, i64)> = Vec::new();
        for (from, to, procs) in taken.map(|(from, to, procs)| (from.max(start), to, i64::from(procs))) {
            if from < to && procs > 0 {
                changes.push((from, -procs));
                if to < Time::NEVER {
                    changes.push((to, procs));
                }
            }
        }
        changes.sort_unstable_by_key(|(time, _)| *time);
        let mut profile = Self { times: Vec::with_capacity(changes.len() + 1), free: Vec::new() };
        let mut free = i64::from(signed(capacity));
        let mut push = |time: Time, free: i64| {
            let free = i32::try_from(free).expect("less than 2³¹ processors are taken");
            if profile.times.is_empty() || profile.free.last() != Some(&free) {
                profile.times.push(time);
                profile.free.push(free);
            }
        };
        let mut at = start;
        for (time, change) in changes {
            if time > at {
                push(at, free);
                at = time;
            }
            free += change;
        }
        push(at, free);
        profile
    }

    /// Drops all steps before `now`.
    pub fn advance(&mut self, now: Time) {
        let at = self.step_at(now);
        self.times.drain(..at);
        self.free.drain(..at);
        self.times[0] = self.times[0].max(now);
    }

    /// Takes `procs` processors during `[from, to)`.
    pub fn reserve(&mut self, from: Time, to: Time, procs: u32) {
        self.add(from, to, -signed(procs));
    }

    /// Releases `procs` processors during `[from, to)`.
    pub fn release(&mut self, from: Time, to: Time, procs: u32) {
        self.add(from, to, signed(procs));
    }

    /// Free processors at `time`.
    pub fn free_at(&self, time: Time) -> i32 {
        self.free[self.step_at(time)]
    }

    /// True if `procs` processors are free from `from` for `duration` (at `from` itself, however short).
    pub fn fits(&self, from: Time, duration: Span, procs: u32) -> bool {
        let (procs, end) = (signed(procs), from + duration);
        let first = self.step_at(from);
        let last = first + self.times[first + 1..].partition_point(|time| *time < end);
        self.free[first..=last].iter().all(|free| *free >= procs)
    }

    /// The earliest start, not before `from`, of `procs` processors for `duration`; `None` if there is none.
    pub fn earliest(&self, from: Time, duration: Span, procs: u32) -> Option<Time> {
        self.earliest_before(from, Time::NEVER, duration, procs)
    }

    /// As [`Profile::earliest`], but the start must be before `own`, where a reservation of the same `procs` and `duration`
    /// begins that is already in the profile and may be replaced by the new one. From `own` on the processors are available
    /// through that very reservation, so only the time before it is searched.
    pub fn earliest_before(&self, from: Time, own: Time, duration: Span, procs: u32) -> Option<Time> {
        let procs = signed(procs);
        let mut at = self.step_at(from);
        let mut start = from;
        loop {
            // Skip to the first step with enough processors.
            if self.free[at] < procs {
                at += 1 + self.free[at + 1..].iter().position(|free| *free >= procs)?;
                start = self.times[at];
            }
            if start >= own {
                return None;
            }
            // From there, find the first step with too few.
            let end = (start + duration).min(own);
            loop {
                at += 1;
                match self.times.get(at) {
                    Some(time) if *time < end => {
                        if self.free[at] < procs {
                            break;
                        }
                    }
                    _ => return Some(start),
                }
            }
        }
    }

    /// The earliest start from `from` to before `before` of `procs` processors for `duration`. Otherwise an instant before which there is
    /// none, which is not before `before`: [`Time::NEVER`] if there is none at all.
    pub(super) fn earliest_in(
        &self,
        from: Time,
        before: Time,
        duration: Span,
        procs: u32,
    ) -> Result<Time, Time> {
        let procs = signed(procs);
        let (mut start, mut at) = (from, self.step_at(from));
        let rest = |at: usize, end: Time| {
            let steps = self.times[at + 1..].iter().zip(&self.free[at + 1..]);
            steps.take_while(move |(time, _)| **time < end).map(|(_, free)| *free)
        };
        while start < before {
            if self.free[at] < procs {
                let enough = rest(at, before).position(|free| free >= procs);
                at += 1 + enough.ok_or(before)?;
                start = self.times[at];
            }
            let few = rest(at, start + duration).position(|free| free < procs);
            let Some(few) = few else { return Ok(start) };
            at += 1 + few;
            start = self.times[at];
        }
        Err(start)
    }

    /// The number of steps.
    pub(super) fn len(&self) -> usize {
        self.times.len()
    }

    /// The earliest start, not before `from`, of `procs` processors for `duration` that end by `to`; `None` if there is none.
    ///
    /// From the end of each place it looks back for the last step with too few, and the next place begins behind that step. Where few
    /// processors are free that is found at once: the search for a long job goes through the profile in leaps of about `duration`.
    pub(crate) fn earliest_within(&self, from: Time, to: Time, duration: Span, procs: u32) -> Option<Time> {
        /// A place of so many steps is walked through, which costs less than a search for its end.
        const SHORT: usize = 8;
        let (procs, duration) = (signed(procs), duration.max(Span::TICK));
        let (mut start, mut at) = (from, self.step_at(from));
        loop {
            if self.free[at] < procs {
                at += 1 + self.free[at + 1..].iter().position(|free| *free >= procs)?;
                start = self.times[at];
            }
            let end = start + duration;
            if end > to {
                return None;
            }
            let rest = &self.times[at + 1..];
            let few = if rest.get(SHORT).is_some_and(|since| *since < end) {
                let last = self.before(end, at)?.max(at);
                self.free[at..=last].iter().rposition(|free| *free < procs)
            } else {
                let steps = self.free[at + 1..].iter().zip(rest).take_while(|(_, since)| **since < end);
                steps.map(|(free, _)| *free < procs).position(|few| few).map(|few| few + 1)
            };
            let Some(few) = few else { return Some(start) };
            at += few + 1;
            start = *self.times.get(at)?;
        }
    }

    /// The time just before `end` in which `procs` processors are free without a break: since when, and how many at least. `None` if too few
    /// are free. `near` is a guess at the step, and the step after the search.
    pub(crate) fn run_until(&self, end: Time, procs: u32, near: &mut usize) -> Option<(Time, u32)> {
        let procs = signed(procs);
        *near = self.before(end, *near)?;
        let run = self.free[..=*near].iter().rev().take_while(|free| **free >= procs);
        let (steps, least) = run.fold((0, i32::MAX), |(steps, least), free| (steps + 1, least.min(*free)));
        (steps > 0).then(|| (self.times[*near + 1 - steps], u32::try_from(least).unwrap_or(0)))
    }

    /// The fewest free processors from `from` to `to`, that instant included.
    pub fn least(&self, from: Time, to: Time) -> i32 {
        let (first, last) = (self.step_at(from), self.step_at(to.max(from)));
        self.free[first..=last].iter().copied().min().unwrap_or_default()
    }

    /// Its first instant.
    pub fn since(&self) -> Time {
        self.times[0]
    }

    /// The number of free processors at `from`, as of that instant, and each change after it.
    pub(super) fn steps_from(&self, from: Time) -> impl Iterator<Item = (Time, i32)> + '_ {
        let at = self.step_at(from);
        let later = self.times[at + 1..].iter().copied().zip(self.free[at + 1..].iter().copied());
        std::iter::once((from, self.free[at])).chain(later)
    }

    /// From when on the number of free processors never falls.
    pub fn rises_from(&self) -> Time {
        let falls = self.free.windows(2).rposition(|pair| pair[1] < pair[0]);
        self.times[falls.map_or(0, |at| at + 1)]
    }

    /// True if nothing is free from `time` on, and it stays so: of a count of reserved processors, that the last reservation is over.
    pub(super) fn is_over(&self, time: Time) -> bool {
        self.times.last().is_none_or(|last| *last <= time) && self.free.last().is_none_or(|free| *free == 0)
    }

    /// Up to the requested number of intervals of starts, earliest first.
    pub fn offers(&self, request: &SlotRequest) -> Vec<Slot> {
        let from = request.earliest.max(self.since());
        slots(self.steps_from(from).map(|(time, free)| (time, i64::from(free))), request)
    }

    /// The steps, as `(start, free processors)`.
    pub fn steps(&self) -> impl Iterator<Item = (Time, i32)> + '_ {
        self.times.iter().copied().zip(self.free.iter().copied())
    }

    /// Index of the step that holds at `time`; the first if `time` is before it.
    fn step_at(&self, time: Time) -> usize {
        // Most queries are about now, the first step.
        if self.times.get(1).is_none_or(|second| time < *second) {
            return 0;
        }
        self.times.partition_point(|since| *since <= time).saturating_sub(1)
    }

    /// The last step that begins before `time`, searched from the step `near` on.
    fn before(&self, time: Time, near: usize) -> Option<usize> {
        let times = &self.times[..];
        let mut near = near.min(times.len() - 1);
        let mut leap = 1;
        if times[near] < time {
            while times.get(near + leap).is_some_and(|since| *since < time) {
                near += leap;
                leap *= 2;
            }
            let end = times.len().min(near + leap);
            return Some(near + times[near..end].partition_point(|since| *since < time) - 1);
        }
        loop {
            let from = near.saturating_sub(leap);
            if from == 0 || times[from] < time {
                return (from + times[from..near].partition_point(|since| *since < time)).checked_sub(1);
            }
            near = from;
            leap *= 2;
        }
    }

    fn add(&mut self, from: Time, to: Time, procs: i32) {
        let from = from.max(self.times[0]);
        if from >= to || procs == 0 {
            return;
        }
        let first = self.step_at(from);
        let mut end = self.times.len();
        if to != Time::NEVER {
            let last = first + self.times[first..].partition_point(|since| *since <= to) - 1;
            if self.slide((first, from), (last, to), procs) {
                return;
            }
            end = self.cut_step(last, to);
        }
        let cut = self.cut_step(first, from);
        end += cut - first;
        self.change(cut, end, procs);
        // Only at the two ends of the interval can neighbours have become equal.
        self.join(end);
        self.join(cut);
    }

    /// As [`Profile::add`] where one end of the interval becomes a breakpoint and the other ceases to be one: only the steps between are touched.
    /// That is the rule when a job moves to an earlier time. False if it is not so, and nothing is changed.
    fn slide(&mut self, (first, from): (usize, Time), (last, to): (usize, Time), procs: i32) -> bool {
        let (starts, ends) = (self.times[first] == from, self.times[last] == to);
        let sum = |free: i32| free.checked_add(procs);
        if !starts && ends && sum(self.free[last - 1]) == Some(self.free[last]) {
            self.times.copy_within(first + 1..last, first + 2);
            self.free.copy_within(first..last, first + 1);
            self.times[first + 1] = from;
            self.change(first + 1, last + 1, procs);
            true
        } else if starts && !ends && first > 0 && sum(self.free[first]) == Some(self.free[first - 1]) {
            let rest = self.free[last];
            self.times.copy_within(first + 1..=last, first);
            self.free.copy_within(first + 1..=last, first);
            self.change(first, last, procs);
            (self.times[last], self.free[last]) = (to, rest);
            true
        } else {
            false
        }
    }

    /// Adds to the steps from `first` to before `end`.
    fn change(&mut self, first: usize, end: usize, procs: i32) {
        // The sums are checked together, so that many are made at once.
        let mut too_many = false;
        for free in &mut self.free[first..end] {
            let (sum, overflowed) = free.overflowing_add(procs);
            *free = sum;
            too_many |= overflowed;
        }
        assert!(!too_many, "more than 2³¹ free processors");
    }

    /// Makes `time`, which is in the step `at`, a breakpoint and returns its index.
    fn cut_step(&mut self, at: usize, time: Time) -> usize {
        if self.times[at] == time {
            return at;
        }
        self.times.insert(at + 1, time);
        self.free.insert(at + 1, self.free[at]);
        at + 1
    }

    fn join(&mut self, at: usize) {
        if at > 0 && at < self.times.len() && self.free[at] == self.free[at - 1] {
            self.times.remove(at);
            self.free.remove(at);
        }
    }
}

/// Processor counts are far below 2³¹ ([`crate::model::MAX_PROCESSORS`]).
fn signed(procs: u32) -> i32 {
    i32::try_from(procs).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const END: u64 = 60;

    /// The slow reference implementation: an array with one entry per tick.
    #[derive(Clone)]
    struct Ticks(Vec<i32>);

    impl Ticks {
        fn add(&mut self, from: u64, to: u64, procs: i32) {
            for tick in from..to.min(END) {
                self.0[tick as usize] += procs;
            }
        }

        fn fits(&self, from: u64, duration: u64, procs: i32) -> bool {
            (from..(from + duration.max(1)).min(END)).all(|tick| self.0[tick as usize] >= procs)
        }
    }

    fn expected_within(ticks: &Ticks, (from, to): (u64, u64), duration: u64, procs: i32) -> Option<u64> {
        (from..to).find(|start| start + duration.max(1) <= to && ticks.fits(*start, duration, procs))
    }

    fn time(tick: u64) -> Time {
        Time::from_micros(tick)
    }

    proptest! {
        #[test]
        fn agrees_with_an_array_of_ticks(
            capacity in 1_u32..20,
            changes in proptest::collection::vec((0_u64..END, 0_u64..30, 0_u32..12, any::<bool>()), 0..25),
            taken in proptest::collection::vec((0_u64..END, 0_u64..END, 0_u32..12), 0..25),
            from in 0_u64..END, duration in 0_u64..20, procs in 0_u32..20, own in 0_u64..END,
        ) {
            let mut profile = Profile::new(Time::ZERO, capacity);
            let mut ticks = Ticks(vec![capacity as i32; END as usize]);
            for (at, length, procs, take) in changes {
                if take {
                    profile.reserve(time(at), time((at + length).min(END)), procs);
                    ticks.add(at, at + length, -(procs as i32));
                } else {
                    profile.release(time(at), time((at + length).min(END)), procs);
                    ticks.add(at, at + length, procs as i32);
                }
            }
            for tick in 0..END {
                prop_assert_eq!(profile.free_at(time(tick)), ticks.0[tick as usize]);
            }
            let least = (from..=(from + duration).min(END - 1)).map(|tick| ticks.0[tick as usize]).min();
            prop_assert_eq!(Some(profile.least(time(from), time((from + duration).min(END - 1)))), least);
            prop_assert!(profile.free.windows(2).all(|pair| pair[0] != pair[1]), "no empty steps");
            prop_assert!(profile.times.windows(2).all(|pair| pair[0] < pair[1]));
            // One after the other, or all at once.
            let from_to = |to: u64| if to == 0 { Time::NEVER } else { time(to) };
            let taken = taken.iter().map(|(since, to, procs)| (time(*since), from_to(*to), *procs));
            let mut each = Profile::new(time(from), capacity);
            taken.clone().for_each(|(since, to, procs)| each.reserve(since, to, procs));
            prop_assert_eq!(Profile::without(time(from), capacity, taken), each);
            // All tick times beyond END have the full capacity again.
            let span = Span::from_micros(duration);
            prop_assert_eq!(profile.fits(time(from), span, procs), ticks.fits(from, duration, procs as i32)
                && (from + duration <= END || procs <= capacity));
            let slow = (from..=END).find(|start| {
                if *start == END { procs <= capacity } else {
                    ticks.fits(*start, duration, procs as i32) && (start + duration <= END || procs <= capacity)
                }
            });
            prop_assert_eq!(profile.earliest(time(from), span, procs), slow.map(time));
            let falls = |tick: &u64| profile.free_at(time(*tick)) < profile.free_at(time(tick - 1));
            prop_assert_eq!(profile.rises_from(), time((1..=END).rev().find(falls).unwrap_or(0)));
            // A reservation of its own at `own` makes its processors available.
            let mut with_own = profile.clone();
            with_own.reserve(time(own), time(own + duration), procs);
            let mut without = with_own.clone();
            without.release(time(own), time(own + duration), procs);
            let expected = without.earliest(time(from), span, procs).filter(|start| *start < time(own));
            if profile.fits(time(own), span, procs) && duration > 0 {
                prop_assert_eq!(with_own.earliest_before(time(from), time(own), span, procs), expected);
            }
            let within = expected_within(&ticks, (from, own), duration, procs as i32);
            prop_assert_eq!(profile.earliest_within(time(from), time(own), span, procs), within.map(time));
            let run = (1..=own).rev().take_while(|tick| ticks.0[*tick as usize - 1] >= procs as i32).count() as u64;
            let least = ticks.0[(own - run) as usize..own as usize].iter().min();
            let mut near = duration as usize;
            prop_assert_eq!(
                profile.run_until(time(own), procs, &mut near),
                least.map(|least| (time(own - run), *least as u32)),
            );
            if run > 0 {
                prop_assert_eq!(profile.step_at(time(own - 1)), near);
            }
            let mut later = profile.clone();
            later.advance(time(from));
            for tick in from..END {
                prop_assert_eq!(later.free_at(time(tick)), ticks.0[tick as usize]);
            }
        }
    }
}
