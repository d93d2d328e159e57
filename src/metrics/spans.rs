//! Counts and summaries of durations.

use serde::{Deserialize, Serialize};

use super::distribution::Distribution;
use crate::units::Span;

/// A summary of durations, in seconds; `None` (in JSON `null`) if there are none.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpanSummary {
    /// Number of durations.
    pub count: u64,
    /// Their mean.
    pub mean_s: Option<f64>,
    /// Their median.
    pub median_s: Option<f64>,
    /// The longest.
    pub max_s: Option<f64>,
}

impl SpanSummary {
    /// Summarizes a distribution of microseconds.
    pub(super) fn of(mut spans: Distribution) -> Self {
        let secs = |micros: u64| micros as f64 / 1e6;
        Self {
            count: spans.count(),
            mean_s: spans.mean(1e6),
            median_s: spans.quantile(50).map(secs),
            max_s: spans.max().map(secs),
        }
    }
}

/// The ages of the information by which assignments were made, as count, sum and maximum.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ages {
    pub(super) count: u64,
    /// In microseconds.
    pub(super) sum: u128,
    pub(super) max: Span,
}

/// The age of the information by which assignments were made, in seconds.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgeSummary {
    /// Number of assignments; the age of each is that of the information about its pool.
    pub assignments: u64,
    /// Mean age; `None` without an assignment.
    pub mean_s: Option<f64>,
    /// Greatest age.
    pub max_s: Option<f64>,
}

/// What planning took, where it takes time.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanningSummary {
    /// Number of plans that took time.
    pub plans: u64,
    /// The time that they took, in seconds.
    pub time_s: f64,
    /// Number of decisions that were dropped because they no longer held when their plan was made: the task did not wait any more, or
    /// its pool could not take it.
    pub stale: u64,
}

impl Ages {
    /// Creates the summary of `count` ages that sum to `sum` microseconds, the greatest of them `max`.
    pub const fn of(count: u64, sum: u128, max: Span) -> Self {
        Self { count, sum, max }
    }

    /// Adds an age.
    pub fn add(&mut self, age: Span) {
        self.merge(&Self::of(1, u128::from(age.micros()), age));
    }

    /// Adds everything that `other` has collected.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
    }

    /// The ages in seconds.
    pub fn summary(&self) -> AgeSummary {
        let any = self.count > 0;
        AgeSummary {
            assignments: self.count,
            mean_s: any.then(|| self.sum as f64 / (self.count as f64 * 1e6)),
            max_s: any.then(|| self.max.as_secs_f64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_add_up_however_they_are_counted() {
        let mut one_by_one = Ages::default();
        [1, 2, 6].into_iter().for_each(|secs| one_by_one.add(Span::from_secs(secs)));
        assert_eq!(one_by_one, Ages::of(3, 9_000_000, Span::from_secs(6)));
        let mut parts = Ages::of(1, 6_000_000, Span::from_secs(6));
        parts.merge(&Ages::of(2, 3_000_000, Span::from_secs(2)));
        assert_eq!(parts, one_by_one);
        assert_eq!(parts.summary(), AgeSummary { assignments: 3, mean_s: Some(3.0), max_s: Some(6.0) });
        assert_eq!(Ages::default().summary(), AgeSummary::default());
    }
}
