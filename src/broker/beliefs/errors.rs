//! How far starts and run times were from what was believed of them.

use serde::{Deserialize, Serialize};

use crate::units::{Span, Time};

/// The errors of what was believed, in microseconds. A job that starts later than was believed, or runs for longer, counts as positive.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BeliefErrors {
    /// The number of errors.
    pub count: u64,
    /// The sum of the errors.
    pub sum: i128,
    /// The sum of the errors without their signs.
    pub absolute: u128,
    /// The sum of their squares.
    pub squares: u128,
    /// The largest error without its sign.
    pub largest: Span,
}

impl BeliefErrors {
    /// Adds a job that started, and when it was believed to.
    pub fn add(&mut self, believed: Time, start: Time) {
        self.add_span(believed.since(Time::ZERO), start.since(Time::ZERO));
    }

    /// Adds a job that took a time, and what it was believed to take.
    pub fn add_span(&mut self, believed: Span, took: Span) {
        let over = |one: Span, other: Span| Span::from_micros(one.micros().saturating_sub(other.micros()));
        let (late, early) = (over(took, believed), over(believed, took));
        let error = late.max(early);
        let micros = u128::from(error.micros());
        self.count += 1;
        self.sum += i128::from(late.micros()) - i128::from(early.micros());
        self.absolute += micros;
        // A sum of squares is full at an error of 584,000 years.
        self.squares = self.squares.saturating_add(micros * micros);
        self.largest = self.largest.max(error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_signs_and_are_measured_without_them() {
        let mut errors = BeliefErrors::default();
        for (believed, start) in [(100, 130), (200, 160), (7, 7)] {
            errors.add(Time::from_secs(believed), Time::from_secs(start));
        }
        // +30 s, −40 s and 0.
        let expected = BeliefErrors {
            count: 3,
            sum: -10_000_000,
            absolute: 70_000_000,
            squares: 2_500_000_000_000_000,
            largest: Span::from_secs(40),
        };
        assert_eq!(errors, expected);
    }
}
