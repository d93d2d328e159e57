//! The order in which EASY tries jobs for backfilling.

use std::cmp::Reverse;

use super::by_estimate;
use crate::local::{Entry, Line, LiveJob, View};
use crate::units::Span;

/// The order in which waiting jobs are tried for backfilling, or planned at first by a search; ties go by arrival.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum BackfillOrder {
    /// Order of arrival.
    #[default]
    Fcfs,
    /// Shortest estimate first.
    Sjf,
    /// Longest estimate first.
    Ljf,
    /// Smallest area (processors × estimate) first.
    Saf,
    /// Largest expansion factor (wait + estimate) / estimate first.
    Lxf,
}

impl BackfillOrder {
    pub(in crate::local::policies) const NAMES: [(&'static str, Self); 5] = [
        ("fcfs", Self::Fcfs),
        ("sjf", Self::Sjf),
        ("ljf", Self::Ljf),
        ("saf", Self::Saf),
        ("lxf", Self::Lxf),
    ];

    /// True if the order of two jobs never changes while they wait.
    pub(in crate::local::policies) fn is_fixed(self) -> bool {
        self != Self::Lxf
    }

    /// The rank of a job in the queue; if the order is not fixed, its place in the order of arrival.
    pub(in crate::local::policies) fn rank(self, job: &LiveJob) -> u128 {
        self.rank_of(job.procs(), job.estimate())
    }

    /// The rank of a job that requests these processors and this estimate.
    pub(super) fn rank_of(self, procs: u32, estimate: Span) -> u128 {
        match self {
            Self::Fcfs | Self::Lxf => 0,
            Self::Sjf => by_estimate(estimate),
            Self::Ljf => u128::MAX - by_estimate(estimate),
            Self::Saf => by_estimate(estimate) * u128::from(procs),
        }
    }

    /// Sorts jobs into this order as it is now.
    pub(in crate::local::policies) fn sort(self, view: &View<'_>, entries: &mut [Entry]) {
        if self.is_fixed() {
            entries.sort_unstable_by_key(|entry| (entry.rank, entry.seq));
            return;
        }
        let factor = |entry: &Entry| Line::new(view.job(entry.job).ready(), entry.estimate).at(view.now());
        entries.sort_unstable_by_key(|entry| (Reverse(factor(entry)), entry.seq));
    }
}
