//! Start-time estimates: when an arriving job could start, as a site reports it to the grid.

use serde::{Deserialize, Serialize};

use super::{Awake, Phase, View};
use crate::units::{Span, Time};

/// When a job of each size could start if it arrived now, as far as estimates go.
///
/// A step function: `steps` ascends by processors; a job of `n` processors could start at the time of the first step of at
/// least `n`. There is no step for more processors than can be given now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartEstimates {
    /// `(most processors, start)`, ascending in both.
    pub steps: Vec<(u32, Time)>,
}

impl StartEstimates {
    /// When a job of so many processors could start; `None` if fewer than that are present now.
    pub fn start(&self, procs: u32) -> Option<Time> {
        let at = self.steps.partition_point(|(most, _)| *most < procs);
        self.steps.get(at).map(|(_, start)| *start)
    }

    /// The same where a job that gets processors of machines that are not awake begins later.
    #[must_use]
    pub fn not_asleep(mut self, awake: Awake, now: Time) -> Self {
        let ready = now + awake.delay;
        let at = self.steps.partition_point(|(most, _)| *most <= awake.procs);
        if let Some((_, start)) = self.steps.get(at).copied().filter(|(_, start)| *start < ready) {
            // The step is divided where processors are no longer awake.
            if self.steps[..at].last().map_or(0, |(most, _)| *most) < awake.procs {
                self.steps.insert(at, (awake.procs, start));
            }
            let asleep = self.steps.iter_mut().filter(|(most, _)| *most > awake.procs);
            asleep.for_each(|(_, start)| *start = ready.max(*start));
        }
        self
    }

    /// The start-time estimates of a partition of `capacity` processors. `start` is called for every power of two below
    /// `capacity` and for `capacity` itself, in ascending order. Sizes with the same start form one step.
    pub fn of_sizes(capacity: u32, mut start: impl FnMut(u32) -> Time) -> Self {
        let mut steps: Vec<(u32, Time)> = Vec::new();
        let powers = (0..u32::BITS).map(|power| 1 << power).take_while(|procs| *procs < capacity);
        for procs in powers.chain((capacity > 0).then_some(capacity)) {
            // A larger job never starts before a smaller one.
            let time = steps.last().map_or(Time::ZERO, |(_, before)| *before).max(start(procs));
            match steps.last_mut() {
                Some(step) if step.1 == time => step.0 = procs,
                _ => steps.push((procs, time)),
            }
        }
        Self { steps }
    }
}

impl View<'_> {
    /// When an arriving job could start, for a policy that has no plan to derive this from.
    ///
    /// A size can start as soon as the running jobs are expected to have released enough processors (overdue ones within a
    /// second) and no reservation holds them, however short that gap is. If jobs wait, all processors together work them off
    /// first: no job starts before now + backlog / capacity, which is exact for jobs that fill the machine without gaps, too
    /// early where they leave gaps, and too late for a job that is backfilled.
    ///
    /// It is an estimate for comparing sites, not a guarantee. It costs a sort of the running jobs' ends, and a
    /// [`View::profile_ahead`] only while the book holds a reservation.
    pub fn start_estimates(&self) -> StartEstimates {
        let (now, capacity, turn) = (self.now, self.capacity(), self.turn());
        if !self.bookings().is_empty() {
            let profile = self.profile_ahead();
            let free = |procs| profile.earliest(now, Span::TICK, procs).unwrap_or(Time::NEVER);
            return StartEstimates::of_sizes(capacity, |procs| turn.max(free(procs)));
        }
        let mut free = self.free();
        if free >= capacity {
            return StartEstimates::of_sizes(capacity, |_| turn);
        }
        let mut ends = self.running_ends();
        ends.sort_unstable();
        let mut ends = ends.into_iter();
        let mut time = now;
        StartEstimates::of_sizes(capacity, |procs| {
            while free < procs {
                match ends.next() {
                    Some((end, held)) => {
                        time = end;
                        free = free.saturating_add(held);
                    }
                    None => return Time::NEVER,
                }
            }
            turn.max(time)
        })
    }

    /// When all processors together would have worked off the waiting jobs, and what is left of suspended ones: now, if there are none. A dedicated
    /// job counts from its requested start on.
    pub fn turn(&self) -> Time {
        let left = self.state.suspended_backlog();
        if self.state.waiting == 0 && left == 0 {
            return self.now;
        }
        let backlog = self.state.backlog + left - self.early();
        let micros = backlog.div_ceil(u128::from(self.capacity().max(1)));
        self.now + Span::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }

    /// The part of the backlog with a later requested start. Policies that do not support dedicated jobs only see them from then
    /// on.
    fn early(&self) -> u128 {
        if !self.state.abilities.dedicated {
            return 0;
        }
        let waiting = self.jobs_in(Phase::Waiting).into_iter().map(|key| self.job(key));
        let early = waiting.filter(|job| job.requested_start().is_some_and(|start| start > self.now));
        early.map(super::LiveJob::area).sum()
    }

    /// Expected end and processors of each running job, in no order.
    fn running_ends(&self) -> Vec<(Time, u32)> {
        let state = self.state;
        let mut ends = Vec::with_capacity(state.running as usize);
        let here = self.active().filter(|(_, job)| !state.counts_as_free(job, self.now));
        ends.extend(here.map(|(key, job)| (self.expected_end(key), job.held())));
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_that_is_large_enough_counts() {
        let start_estimates =
            StartEstimates { steps: vec![(4, Time::from_secs(1)), (8, Time::from_secs(5))] };
        assert_eq!(start_estimates.start(1), Some(Time::from_secs(1)));
        assert_eq!(start_estimates.start(5), Some(Time::from_secs(5)));
        assert_eq!(start_estimates.start(9), None);
    }

    #[test]
    fn sizes_with_one_start_are_one_step() {
        let at = |procs: u32| Time::from_secs(u64::from(procs));
        let steps = vec![(2, at(0)), (8, at(4)), (11, at(11))];
        let start_estimates = StartEstimates::of_sizes(11, |procs| match procs {
            0..=2 => at(0),
            3..=8 => at(4),
            _ => at(procs),
        });
        assert_eq!(start_estimates.steps, steps);
        assert_eq!(StartEstimates::of_sizes(0, at).steps, []);
        assert_eq!(StartEstimates::of_sizes(1, at).steps, [(1, at(1))]);
    }
}
