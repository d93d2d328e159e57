//! The jobs in the system over time, and whether the backlog grows.

use serde::{Deserialize, Serialize};

use super::Window;
use crate::model::JobRecord;
use crate::units::Time;

/// The largest number of instants at which jobs are counted; beyond it, the distance between instants doubles.
const INSTANTS: u64 = 4_096;
/// The least number of instants in a window for a verdict.
const LEAST_INSTANTS: usize = 30;
/// The least number of jobs for a verdict: of three jobs one after the other, the last third of the time always has
/// the most.
const ENOUGH: u64 = 100;

/// Counts jobs by submission and by end, in equal time steps whose length is a power of two of microseconds and grows
/// with the run. So memory is bounded and the counts do not depend on an order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backlog {
    /// A step is 2^`shift` microseconds.
    shift: u32,
    came: Vec<u64>,
    went: Vec<u64>,
    /// First and last submission.
    submitted: Option<(Time, Time)>,
}

/// Jobs in the system (submitted and not ended) in a window: at the end, and their means over its thirds.
///
/// The backlog is *unstable* if it grows from each third to the next, in the last is at least half as large again as
/// in the first, and the growth is at least 2 % of the jobs submitted in the window, of which there must be 100 or
/// more. A machine that is offered more than it can do keeps a constant share of the submitted jobs waiting, so that
/// growth follows the number of jobs; the fluctuations of a stable queue do not.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BacklogSummary {
    /// Mean over the first third.
    pub first_third: f64,
    /// Mean over the second third.
    pub second_third: f64,
    /// Mean over the last third.
    pub last_third: f64,
    /// At the end of the window.
    pub at_end: u64,
    /// Whether the backlog is unstable: then the figures of the run depend on its length, and it is *not stationary*.
    pub unstable: bool,
}

impl Backlog {
    /// Adds a job.
    #[inline]
    pub fn add(&mut self, job: &JobRecord) {
        self.add_stay(job.submit, job.end);
    }

    /// Adds a job of which only the submission and the end are known.
    #[inline]
    pub fn add_stay(&mut self, submitted: Time, ended: Time) {
        let (submit, end) = (submitted.micros(), ended.max(submitted).micros());
        while end >> self.shift >= INSTANTS {
            self.coarsen();
        }
        *place(&mut self.came, submit >> self.shift) += 1;
        *place(&mut self.went, end >> self.shift) += 1;
        let (first, last) = self.submitted.unwrap_or((submitted, submitted));
        self.submitted = Some((first.min(submitted), last.max(submitted)));
    }

    /// Doubles the length of the steps.
    #[cold]
    fn coarsen(&mut self) {
        self.shift += 1;
        for counts in [&mut self.came, &mut self.went] {
            *counts = counts.chunks(2).map(|pair| pair.iter().sum()).collect();
        }
    }

    /// The backlog in the window (in [`Window::ALL`]: from the first to the last submission), in which `jobs` jobs
    /// were submitted; `None` if the window is too short for a verdict.
    pub fn summary(&self, window: Window, jobs: u64) -> Option<BacklogSummary> {
        let (first, last) = self.submitted?;
        let (from, to) = (window.from().max(first), window.to().min(last));
        // Shares of the window are compared as products, which are exact.
        let length = u128::from(to.since(from).micros());
        let (mut thirds, mut at_end) = ([(0_u64, 0_usize); 3], 0);
        let mut inside = 0_u64;
        for at in 0..self.came.len().max(self.went.len()) {
            let count = |counts: &[u64]| counts.get(at).copied().unwrap_or(0);
            inside = inside + count(&self.came) - count(&self.went);
            let instant = u128::from(at as u64 + 1) << self.shift;
            let Some(since) = instant.checked_sub(u128::from(from.micros())) else { continue };
            if since == 0 || since > length {
                continue;
            }
            let (sum, instants) = &mut thirds[((3 * since).div_ceil(length) - 1) as usize];
            (*sum, *instants) = (*sum + inside, *instants + 1);
            at_end = inside;
        }
        if thirds.iter().map(|(_, instants)| instants).sum::<usize>() < LEAST_INSTANTS {
            return None;
        }
        let [first, second, third] = thirds.map(|(sum, instants)| sum as f64 / instants as f64);
        let unstable = first < second
            && second < third
            && third >= 1.5 * first
            && (third - first) * 50.0 >= jobs as f64
            && jobs >= ENOUGH;
        Some(BacklogSummary { first_third: first, second_third: second, last_third: third, at_end, unstable })
    }
}

#[inline]
fn place(counts: &mut Vec<u64>, at: u64) -> &mut u64 {
    let at = at as usize;
    if counts.len() <= at {
        lengthen(counts, at);
    }
    &mut counts[at]
}

#[cold]
fn lengthen(counts: &mut Vec<u64>, last: usize) {
    counts.resize(last + 1, 0);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::samples::{any_job, job};
    use super::*;
    use crate::units::Span;

    /// A job every 10 s, with the given response.
    fn every_ten_seconds(jobs: u64, response: impl Fn(u64) -> u64) -> Backlog {
        let mut backlog = Backlog::default();
        for at in 0..jobs {
            backlog.add(&job(at, 10 * at, 0, response(at), 1));
        }
        backlog
    }

    #[test]
    fn a_constant_backlog_is_stationary() {
        // 6 jobs at a time: response 60 s, one every 10 s.
        let summary = every_ten_seconds(1_000, |_| 60).summary(Window::ALL, 1_000).unwrap();
        assert!(!summary.unstable);
        assert_eq!(summary.at_end, 6);
        assert!((summary.second_third - 6.0).abs() < 0.2, "{summary:?}");
    }

    #[test]
    fn an_overloaded_machine_is_not() {
        // One job at a time that takes 11 s: job n ends at 11 (n + 1), so of n jobs n / 11 wait.
        let backlog = every_ten_seconds(1_000, |at| 11 * (at + 1) - 10 * at);
        let summary = backlog.summary(Window::ALL, 1_000).unwrap();
        assert!(summary.unstable, "{summary:?}");
        assert!(summary.at_end.abs_diff(91) <= 1, "{summary:?}");
        assert!((summary.last_third - 5.0 * summary.first_third).abs() < 5.0, "{summary:?}");
        // In its last tenth the backlog hardly changes, and a window sees only itself.
        let late = Window::new(Time::from_secs(9_000), Time::from_secs(10_000)).unwrap();
        assert!(!backlog.summary(late, 100).unwrap().unstable);
    }

    #[test]
    fn few_jobs_cannot_tell() {
        // The backlog grows from each third to the next, as it does at the beginning of any run.
        let unstable = |jobs| {
            let backlog = every_ten_seconds(jobs, |_| 20 * jobs);
            backlog.summary(Window::ALL, jobs).unwrap().unstable
        };
        assert!(!unstable(60) && !unstable(99));
        assert!(unstable(100));
    }

    #[test]
    fn a_burst_that_is_worked_off_is_stationary() {
        // The hundred jobs in the middle wait up to 1000 s.
        let backlog = every_ten_seconds(1_000, |at| if (450..550).contains(&at) { 1_000 } else { 60 });
        assert!(!backlog.summary(Window::ALL, 1_000).unwrap().unstable);
    }

    #[test]
    fn what_is_too_short_is_not_judged() {
        assert_eq!(Backlog::default().summary(Window::ALL, 0), None);
        let far = Window::new(Time::from_secs(1), Time::from_secs(2)).unwrap();
        assert_eq!(every_ten_seconds(1_000, |_| 60).summary(far, 0), None);
    }

    proptest! {
        /// The slow twin counts the jobs in the system at each instant.
        #[test]
        fn means_are_those_of_counting(
            jobs in prop::collection::vec(any_job(), 1..40), cut in any::<prop::sample::Index>(),
            window in (0_u64..1 << 44, 1_u64..1 << 44),
        ) {
            let backlog_of = |jobs: &[JobRecord]| {
                let mut backlog = Backlog::default();
                jobs.iter().for_each(|job| backlog.add(job));
                backlog
            };
            let whole = backlog_of(&jobs);
            let (first, second) = jobs.split_at(cut.index(jobs.len()));
            prop_assert_eq!(&backlog_of(&[second, first].concat()), &whole, "in another order");

            let first = jobs.iter().map(|job| job.submit).min().unwrap();
            let last = jobs.iter().map(|job| job.submit).max().unwrap();
            let from = Time::from_micros(window.0);
            let window = Window::new(from, from + Span::from_micros(window.1)).unwrap();
            let (from, to) = (window.from().max(first).micros(), window.to().min(last).micros());
            let mut thirds = [(0, 0); 3];
            for instant in (1..=INSTANTS).map(|at| at << whole.shift) {
                if instant > from && instant <= to {
                    let inside =
                        jobs.iter().filter(|job| job.submit.micros() < instant && job.end.micros() >= instant);
                    let third = (1..=3).find(|part| 3 * (instant - from) <= part * (to - from)).unwrap() as usize - 1;
                    thirds[third] = (thirds[third].0 + inside.count(), thirds[third].1 + 1);
                }
            }
            match whole.summary(window, 10) {
                None => prop_assert!(thirds.iter().map(|(_, instants)| instants).sum::<usize>() < LEAST_INSTANTS),
                Some(summary) => {
                    let found = [summary.first_third, summary.second_third, summary.last_third];
                    for ((sum, instants), found) in thirds.into_iter().zip(found) {
                        prop_assert_eq!(sum as f64 / instants as f64, found);
                    }
                }
            }
        }
    }
}
