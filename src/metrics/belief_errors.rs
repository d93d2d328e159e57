//! How far starts and run times of jobs of the grid were from what the broker believed.

use serde::{Deserialize, Serialize};

use crate::broker::BeliefErrors;

/// The errors of what was believed, in seconds: of starts, the start of a job where it was sent to less the start that was believed when it was assigned, which is also
/// the error of the wait; of run times, the time from start to end less that which was believed.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorSummary {
    /// Number of errors.
    pub count: u64,
    /// Mean error; above 0 if jobs start later, or run for longer, than is believed. `None` without an error.
    pub bias_s: Option<f64>,
    /// Mean error without its sign.
    pub mae_s: Option<f64>,
    /// Root of the mean of the squared errors.
    pub rmse_s: Option<f64>,
    /// Largest error without its sign.
    pub max_s: Option<f64>,
}

impl ErrorSummary {
    /// The summary of errors.
    pub fn of(errors: &BeliefErrors) -> Self {
        let number = errors.count as f64;
        let mean = |sum: f64| (errors.count > 0).then(|| sum / number);
        Self {
            count: errors.count,
            bias_s: mean(errors.sum as f64).map(|micros| micros / 1e6),
            mae_s: mean(errors.absolute as f64).map(|micros| micros / 1e6),
            rmse_s: mean(errors.squares as f64).map(|squares| squares.sqrt() / 1e6),
            max_s: (errors.count > 0).then(|| errors.largest.as_secs_f64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    /// By hand: 30 s late, 40 s early, and in time: the mean is −10/3 s, without signs 70/3 s, and the root of (900 + 1600)/3.
    #[test]
    fn errors_are_summarised_in_seconds() {
        let mut errors = BeliefErrors::default();
        assert_eq!(ErrorSummary::of(&errors), ErrorSummary::default());
        for (believed, start) in [(100, 130), (200, 160), (7, 7)] {
            errors.add(Time::from_secs(believed), Time::from_secs(start));
        }
        let ErrorSummary { count, bias_s, mae_s, rmse_s, max_s } = ErrorSummary::of(&errors);
        let near = |found: Option<f64>, wanted: f64| (found.expect("there are three") - wanted).abs() < 1e-9;
        assert!(count == 3 && near(bias_s, -10.0 / 3.0) && near(mae_s, 70.0 / 3.0) && near(max_s, 40.0));
        assert!(near(rmse_s, (2_500.0_f64 / 3.0).sqrt()));
    }
}
