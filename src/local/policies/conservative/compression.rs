//! Compression: reservations move up.

use super::Planned;
use crate::local::Profile;
use crate::units::{Span, Time};

/// A pass over waiting jobs in which each moves up to the earliest time given all others, as if each were tried by a search of its own from
/// now on ([`Profile::earliest_before`]). Searches are spared by what the jobs before have shown:
///
/// - A job that can move up at all has a place that ends in its own reservation, or one of its full length before that. The first is
///   found by a look at the steps before its own start; nearly every move is of this kind, and there is no other if its full length
///   does not fit between what is known and its own start.
/// - What is known is a time before which no job of this size and length has such a place. It holds for the next job too if that is not
///   smaller or shorter: users submit many like jobs in a row. It stays valid when a job moves: the job leaves processors behind its new
///   start, and just before that start too few are free, so that no place begins earlier and reaches them.
/// - Where a job could not move, one that is not smaller or shorter and has the same start cannot either.
/// - Jobs with the same size, length and start move up together, as many as there are processors for.
#[derive(Debug)]
pub(super) struct Pass {
    now: Time,
    /// Size and length of the last job.
    procs: u32,
    estimate: Span,
    /// No such job has a place of its full length that starts earlier.
    known: Time,
    /// Where such a job could not move up.
    stuck: Option<Time>,
    /// The step of the profile before the last start: a guess at that of the next.
    near: usize,
}

impl Pass {
    /// The pass at this instant, at which the profile is to begin.
    pub(super) fn new(now: Time) -> Self {
        let (procs, estimate) = (u32::MAX, Span::MAX);
        Self { now, procs, estimate, known: now, stuck: None, near: 0 }
    }

    /// Moves up the next jobs. True if one has moved.
    pub(super) fn over(&mut self, profile: &mut Profile, jobs: &mut [(u64, Planned)]) -> bool {
        let (mut rest, mut moved) = (jobs, false);
        while let Some((_, planned)) = rest.first() {
            let planned = *planned;
            if planned.procs < self.procs || planned.estimate < self.estimate {
                (self.known, self.stuck) = (self.now, None);
            }
            (self.procs, self.estimate) = (planned.procs, planned.estimate);
            let mut many = 1;
            if self.stuck != Some(planned.start) {
                match self.earlier(profile, &planned) {
                    None => {
                        self.known = self.known.max(planned.start);
                        self.stuck = Some(planned.start);
                    }
                    Some((start, fit)) => {
                        (self.known, self.stuck, moved) = (start, None, true);
                        many = together(rest, fit);
                        shift(profile, &planned, start, many);
                        for (_, planned) in &mut rest[..many] {
                            (planned.start, planned.span) = (start, planned.estimate);
                        }
                    }
                }
            }
            rest = &mut rest[many..];
        }
        moved
    }

    /// The earliest start before its own, and how many such jobs fit there at least.
    fn earlier(&mut self, profile: &Profile, planned: &Planned) -> Option<(Time, u32)> {
        let Planned { start: own, procs, estimate, .. } = *planned;
        let adjacent = profile.run_until(own, procs, &mut self.near);
        let before = adjacent.map_or(own, |(start, _)| start);
        if before.since(self.known) >= estimate
            && let Some(start) = profile.earliest_within(self.known, before, estimate, procs)
        {
            return Some((start, 1));
        }
        adjacent.map(|(start, least)| (start, least.checked_div(procs).unwrap_or(1)))
    }
}

/// How many of the first jobs have the same size, length and reservation, `most` at most.
fn together(jobs: &[(u64, Planned)], most: u32) -> usize {
    let Some((_, first)) = jobs.first() else { return 0 };
    let same = |other: &Planned| {
        (other.start, other.procs, other.estimate, other.span)
            == (first.start, first.procs, first.estimate, first.span)
    };
    jobs.iter().take(most as usize).take_while(|(_, other)| same(other)).count()
}

/// Moves the reservations of so many such jobs to an earlier start.
fn shift(profile: &mut Profile, planned: &Planned, start: Time, many: usize) {
    let procs = planned.procs * u32::try_from(many).unwrap_or(u32::MAX);
    let end = start + planned.estimate;
    if end < planned.start {
        profile.release(planned.start, planned.end(), procs);
        profile.reserve(start, end, procs);
    } else {
        // The two overlap: from its old start to its new end nothing changes.
        profile.reserve(start, planned.start, procs);
        profile.release(end, planned.end(), procs);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::waiting::Waiting;
    use super::*;
    use crate::model::JobKey;

    const PROCS: u32 = 12;

    #[derive(Clone, Debug)]
    enum Event {
        /// So many like jobs arrive.
        Arrive { many: usize, procs: u32, estimate: u64 },
        /// Time passes, and jobs that are due start.
        Pass(u64),
        /// A running job ends.
        End(prop::sample::Index),
        /// A waiting job is withdrawn.
        Withdraw(prop::sample::Index),
    }

    fn event() -> impl Strategy<Value = Event> {
        let estimate = prop_oneof![2 => 1_u64..30, 1 => Just(8), 1 => Just(20)];
        prop_oneof![
            4 => (1_usize..6, 1..=PROCS, estimate).prop_map(|(many, procs, estimate)| Event::Arrive { many, procs, estimate }),
            3 => (1_u64..12).prop_map(Event::Pass),
            5 => any::<prop::sample::Index>().prop_map(Event::End),
            1 => any::<prop::sample::Index>().prop_map(Event::Withdraw),
        ]
    }

    /// Each job in turn moves to the earliest place, found by a search from now on.
    fn one_by_one(profile: &mut Profile, jobs: &mut [(u64, Planned)], now: Time) {
        for (_, planned) in jobs {
            let Planned { start, procs, estimate, .. } = *planned;
            if let Some(earlier) = profile.earliest_before(now, start, estimate, procs) {
                profile.release(start, planned.end(), procs);
                (planned.start, planned.span) = (earlier, estimate);
                profile.reserve(earlier, planned.end(), procs);
            }
        }
    }

    fn jobs_of(waiting: &Waiting) -> Vec<(u64, Planned)> {
        waiting.iter().copied().collect()
    }

    proptest! {
        #[test]
        fn all_move_as_they_would_one_by_one(
            events in proptest::collection::vec(event(), 0..80),
            by_start in any::<bool>(),
        ) {
            let mut now = Time::ZERO;
            let mut profile = Profile::new(now, PROCS);
            let mut waiting = Waiting::default();
            let mut running: Vec<Planned> = Vec::new();
            let mut next = 0;
            for event in events {
                match event {
                    Event::Arrive { many, procs, estimate } => {
                        let estimate = Span::from_micros(estimate);
                        for _ in 0..many {
                            let start = profile.earliest(now, estimate, procs).unwrap();
                            let job = JobKey(next);
                            let planned = Planned { job, start, procs, estimate, span: estimate };
                            profile.reserve(start, planned.end(), procs);
                            waiting.insert(u64::from(next), planned);
                            next += 1;
                        }
                    }
                    Event::Pass(micros) => {
                        // Not beyond the next start.
                        let until = now + Span::from_micros(micros);
                        now = waiting.first().map_or(until, |(start, ..)| start.min(until));
                        profile.advance(now);
                        while let Some((_, seq, _)) = waiting.first().filter(|(start, ..)| *start <= now) {
                            running.push(waiting.remove(seq).unwrap());
                        }
                        running.retain(|job| job.end() > now);
                    }
                    Event::End(index) if !running.is_empty() => {
                        let job = running.swap_remove(index.index(running.len()));
                        profile.release(now, job.end(), job.procs);
                    }
                    Event::Withdraw(index) if waiting.len() > 0 => {
                        let (seq, job) = *waiting.iter().nth(index.index(waiting.len())).unwrap();
                        waiting.remove(seq);
                        profile.release(job.start, job.end(), job.procs);
                    }
                    Event::End(_) | Event::Withdraw(_) => {}
                }
                let (mut slow, mut jobs) = (profile.clone(), jobs_of(&waiting));
                let mut pass = Pass::new(now);
                let over = |jobs: &mut [(u64, Planned)]| pass.over(&mut profile, jobs);
                if by_start {
                    jobs.sort_by_key(|(seq, planned)| (planned.start, *seq));
                    waiting.move_up_by_start(over);
                } else {
                    waiting.move_up(over);
                }
                one_by_one(&mut slow, &mut jobs, now);
                jobs.sort_by_key(|(seq, _)| *seq);
                prop_assert_eq!(jobs_of(&waiting), jobs);
                prop_assert_eq!(&profile, &slow);
                let first = waiting.iter().map(|(seq, planned)| (planned.start, *seq, planned.job)).min();
                prop_assert_eq!(waiting.first(), first);
            }
        }
    }
}
