//! Series whose winners and errors are known beforehand.

use super::series::{cycle, noise, noisy_cycle};
use super::*;
use crate::forecast::BadMeasurement;

#[test]
fn before_the_first_value_there_is_no_forecast_and_after_it_no_error() {
    for criterion in criteria() {
        let mut forecaster = Forecaster::new(criterion);
        assert_eq!((forecaster.forecast(), forecaster.standings().count()), (None, 0));
        forecaster.observe(3.5).unwrap();
        let forecast = forecaster.forecast().unwrap();
        assert_eq!((forecast.value, forecast.by.name()), (3.5, "last"));
        assert_eq!((forecast.errors, forecast.observations), (None, 1));
        // All expect the only value there is.
        assert!(forecaster.standings().all(|standing| standing.value == 3.5 && standing.errors.is_none()));
    }
}

#[test]
fn of_a_constant_series_all_errors_are_zero_and_the_first_predictor_answers() {
    // 0.1 is not exact in binary: a sum of thirty divided by thirty is another number.
    for constant in [0.1, 0.0, -1e9 / 3.0, Forecaster::LARGEST] {
        let values = vec![constant; 500];
        for criterion in criteria() {
            let forecaster = after(criterion, &values);
            let forecast = forecaster.forecast().unwrap();
            let errors = forecast.errors.unwrap();
            assert_eq!((forecast.by.name(), forecast.value), ("last", constant));
            assert_eq!((errors.root_mean_square, errors.mean_absolute), (0.0, 0.0));
            for standing in forecaster.standings() {
                let errors = standing.errors.unwrap();
                assert_eq!(errors.root_mean_square, 0.0, "{}", standing.predictor);
                assert_eq!((errors.mean_absolute, errors.forecasts), (0.0, 499), "{}", standing.predictor);
            }
        }
    }
}

#[test]
fn of_a_step_the_last_value_wins() {
    let values = [vec![10.0; 60], vec![30.0; 60]].concat();
    for criterion in criteria() {
        // The recent criteria look at less than what has passed since the step; their errors are 0, and ties go to the first.
        assert_eq!(winner(criterion, &values), "last");
    }
    // One error of 20 among 119 forecasts.
    let last = errors_of("last", &values);
    assert_eq!((last.mean_absolute, last.root_mean_square), (20.0 / 119.0, (400.0_f64 / 119.0).sqrt()));
    for other in Predictor::all().skip(1) {
        let errors = errors_of(other.name(), &values);
        assert!(errors.root_mean_square > last.root_mean_square, "{other}");
        assert!(errors.mean_absolute > last.mean_absolute, "{other}");
    }
}

#[test]
fn of_white_noise_the_mean_wins() {
    let values = noise(5_000, 20.0);
    for known in [1_000, 2_000, 5_000] {
        assert_eq!(winner(Criterion::Squared, &values[..known]), "mean");
    }
    // The deviation of the noise, and that of a difference of two.
    let (mean, last) = (errors_of("mean", &values), errors_of("last", &values));
    assert!((mean.root_mean_square - 1.0).abs() < 0.02, "{mean:?}");
    assert!((last.root_mean_square - 2.0_f64.sqrt()).abs() < 0.03, "{last:?}");
    // A mean of k values has the variance 1/k.
    let ten = errors_of("mean[window=10]", &values);
    assert!((ten.root_mean_square - 1.1_f64.sqrt()).abs() < 0.02, "{ten:?}");
}

#[test]
fn of_a_daily_cycle_the_last_value_wins_as_none_knows_the_time_of_day() {
    for (a_day, pinned) in [(24, 0.1845), (96, 0.04628)] {
        let values = cycle(a_day, 60);
        assert_eq!(winner(Criterion::Squared, &values), "last");
        // sin(x + d) - sin x is a wave of the amplitude 2 sin(d / 2); the root mean square of a wave is √½ of that.
        let step = 2.0 * libm::sin(std::f64::consts::PI / a_day as f64) * 0.5_f64.sqrt();
        let error = errors_of("last", &values).root_mean_square;
        assert!((error - step).abs() < 1e-3 * step && (error - pinned).abs() < 5e-5, "{error} {step}");
        // The mean over whole days is 0: its error is the wave itself.
        assert!((errors_of("mean", &values).root_mean_square - 0.5_f64.sqrt()).abs() < 0.02);
    }
    // Under noise something between the last value and a long mean is best.
    assert_eq!(winner(Criterion::Squared, &noisy_cycle()), "smooth[gain=0.75]");
}

#[test]
fn a_recent_criterion_forgets_and_tells_the_errors_of_what_it_remembers() {
    // Noise, then a stair, of which the last value is behind by a step.
    let noise = noise(400, 0.0);
    let stair: Vec<f64> = (0..60).map(|step| 5.0 * f64::from(step)).collect();
    let values = [noise, stair].concat();
    let recent = after(Criterion::RecentSquared(Criterion::RECENT), &values).forecast().unwrap();
    let errors = recent.errors.unwrap();
    assert_eq!((recent.by.name(), recent.value, recent.observations), ("last", 295.0, 460));
    assert_eq!((errors.root_mean_square, errors.mean_absolute, errors.forecasts), (5.0, 5.0, 50));
    // Its errors of all forecasts are others.
    assert!(errors_of("last", &values).root_mean_square < 3.0);
}

#[test]
fn squares_punish_a_great_error_and_absolute_errors_a_frequent_one() {
    // Every tenth value is a peak: a median does not see it, a mean is always off by a little.
    let values: Vec<f64> = (0..600).map(|at| if at % 10 == 9 { 10.0 } else { 0.0 }).collect();
    assert_eq!(winner(Criterion::Squared, &values), "mean[window=10]");
    assert_eq!(winner(Criterion::Absolute, &values), "median[window=5]");
    let median = errors_of("median[window=5]", &values);
    // 60 errors of 10 in 599 forecasts.
    assert_eq!(
        (median.mean_absolute, median.root_mean_square),
        (600.0 / 599.0, (6_000.0_f64 / 599.0).sqrt())
    );
}

#[test]
fn what_is_no_measurement_is_refused_and_changes_nothing() {
    let mut forecaster = after(Criterion::Squared, &[1.0, 2.0]);
    let before = forecaster.clone();
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 2.0 * Forecaster::LARGEST, f64::MIN] {
        let BadMeasurement(told) = forecaster.observe(bad).unwrap_err();
        assert!(told.to_bits() == bad.to_bits() && forecaster == before);
    }
    assert_eq!(
        forecaster.observe(f64::INFINITY).unwrap_err().to_string(),
        "the measurement inf cannot be forecast: it must be a number of at most 1e140, up or down"
    );
    // The largest and the least that are taken make no error infinite.
    for _ in 0..100 {
        forecaster.observe(Forecaster::LARGEST).unwrap();
        forecaster.observe(-Forecaster::LARGEST).unwrap();
    }
    assert!(forecaster.standings().all(|standing| {
        standing.value.is_finite() && standing.errors.unwrap().root_mean_square.is_finite()
    }));
}

#[test]
fn means_stay_sound_in_long_series_of_large_values() {
    // Of values near 10⁹ whose last digits matter.
    let value = |at: u64| 1e9 + (at * 7_919 % 1_000) as f64 / 1_000.0;
    let values: Vec<f64> = (0..50_000).map(value).collect();
    let forecaster = after(Criterion::Squared, &values);
    for standing in forecaster.standings().filter(|standing| standing.predictor.name().starts_with("mean")) {
        let window = standing.predictor.name().strip_prefix("mean[window=").and_then(|k| k.strip_suffix(']'));
        let window = window.map_or(values.len(), |window| window.parse().unwrap());
        // Thousandths, as integers.
        let parts: u64 =
            (values.len() as u64 - window as u64..values.len() as u64).map(|at| at * 7_919 % 1_000).sum();
        let exact = parts as f64 / window as f64 / 1_000.0;
        assert!(
            (standing.value - 1e9 - exact).abs() < 1e-6,
            "{}: {} {exact}",
            standing.predictor,
            standing.value
        );
    }
}
