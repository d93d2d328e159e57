//! Each predictor against a slow twin that looks at the whole history anew for each forecast.

use proptest::prelude::*;

use super::*;
use crate::model::Named;
use crate::search::tests::cases;

/// The mean, as a sum.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn median(values: &[f64]) -> f64 {
    let (sorted, middle) = (sorted(values), values.len() / 2);
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

/// The last so many values.
fn tail(values: &[f64], window: usize) -> &[f64] {
    &values[values.len().saturating_sub(window)..]
}

/// The forecast over a window that has adapted to each value of the history.
fn adaptive(history: &[f64], over: impl Fn(&[f64]) -> f64) -> f64 {
    let mut window = 5_usize;
    for known in 1..history.len() {
        let error = |window| (history[known] - over(tail(&history[..known], window))).abs();
        let candidates =
            [window, window - 1, window + 1].into_iter().filter(|window| (5..=50).contains(window));
        // The first of equals.
        window = candidates.min_by(|one, other| error(*one).total_cmp(&error(*other))).unwrap();
    }
    over(tail(history, window))
}

/// The smoothed level as a weighted sum of all values.
fn smooth(history: &[f64], gain: f64) -> f64 {
    let (mut sum, mut weight) = (0.0, 1.0);
    for value in history[1..].iter().rev() {
        sum += weight * gain * value;
        weight *= 1.0 - gain;
    }
    sum + weight * history[0]
}

/// Holt's equations, each level and trend kept.
fn smooth_trend(history: &[f64], gain: f64, trend_gain: f64) -> f64 {
    let (mut level, mut trend) = (vec![history[0]], vec![0.0]);
    for value in &history[1..] {
        let (l, t) = (level[level.len() - 1], trend[trend.len() - 1]);
        level.push(gain * value + (1.0 - gain) * (l + t));
        trend.push(trend_gain * (level[level.len() - 1] - l) + (1.0 - trend_gain) * t);
    }
    level[level.len() - 1] + trend[trend.len() - 1]
}

fn trimmed(values: &[f64], trim: f64) -> f64 {
    let cut = (trim * values.len() as f64 + 1e-9).floor() as usize;
    mean(&sorted(values)[cut..values.len() - cut])
}

/// The level, each gain and level kept.
fn gradient(history: &[f64]) -> f64 {
    let (mut twentieths, mut level) = (10, vec![history[0]]);
    for at in 1..history.len() {
        if at >= 2 {
            let (before, last) = (level[at - 2], history[at - 1]);
            let error = |gain: i32| (history[at] - (f64::from(gain) / 20.0 * (last - before) + before)).abs();
            let candidates = [twentieths, twentieths - 1, twentieths + 1].into_iter();
            let candidates = candidates.filter(|gain| (1..=19).contains(gain));
            twentieths = candidates.min_by(|one, other| error(*one).total_cmp(&error(*other))).unwrap();
        }
        level.push(level[at - 1] + f64::from(twentieths) / 20.0 * (history[at] - level[at - 1]));
    }
    level[level.len() - 1]
}

/// What the predictor of this name expects after a history, by what its name says.
fn twin(name: &str, history: &[f64]) -> f64 {
    let mut named: Named = name.parse().unwrap();
    let mut param = |key: &str| named.params.remove(key).map(|value| value.parse::<f64>().unwrap());
    let (window, gain, trend, trim) = (param("window"), param("gain"), param("trend"), param("trim"));
    let tail = |window: f64| tail(history, window as usize);
    match (named.name.as_str(), window, gain, trend, trim) {
        ("last", None, None, None, None) => history[history.len() - 1],
        ("mean", None, None, None, None) => mean(history),
        ("mean", Some(window), None, None, None) => mean(tail(window)),
        ("adaptive-mean", None, None, None, None) => adaptive(history, mean),
        ("smooth", None, Some(gain), None, None) => smooth(history, gain),
        ("smooth", None, Some(gain), Some(trend), None) => smooth_trend(history, gain, trend),
        ("median", Some(window), None, None, None) => median(tail(window)),
        ("adaptive-median", None, None, None, None) => adaptive(history, median),
        ("trimmed", Some(window), None, None, Some(trim)) => trimmed(tail(window), trim),
        ("gradient", None, None, None, None) => gradient(history),
        other => panic!("a predictor without a twin: {other:?}"),
    }
}

/// Values of a continuous range, so that no two windows are equally good by chance: a twin that rounds otherwise would choose another one.
fn series(most: usize) -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        prop::collection::vec(-100.0..100.0, 1..=most),
        // A walk.
        prop::collection::vec(-1.0..1.0, 1..=most).prop_map(|steps| {
            let mut at = 1_000.0;
            steps
                .into_iter()
                .map(|step: f64| {
                    at += step;
                    at
                })
                .collect()
        }),
        // Scales far apart.
        prop::collection::vec((-1.0..1.0, -3..=3), 1..=most).prop_map(|values| {
            values.into_iter().map(|(value, scale)| value * libm::pow(10.0, f64::from(scale))).collect()
        }),
    ]
}

/// Few different values: equal ones side by side in windows. Nothing that adapts is compared on these.
fn coarse(most: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((0..4_u8).prop_map(f64::from), 1..=most)
}

fn agree(values: &[f64], compared: impl Fn(Predictor) -> bool) {
    let largest = values.iter().fold(1.0, |largest: f64, value| largest.max(value.abs()));
    let mut forecaster = Forecaster::default();
    for known in 1..=values.len() {
        forecaster.observe(values[known - 1]).unwrap();
        // All forecasts of the first values, then some, because twins are slow.
        if known > 8 && known % 13 != 0 && known < values.len() {
            continue;
        }
        for standing in forecaster.standings().filter(|standing| compared(standing.predictor)) {
            let twin = twin(standing.predictor.name(), &values[..known]);
            let near = (standing.value - twin).abs() <= 1e-11 * largest;
            assert!(near, "{} after {known}: {}, not {twin}", standing.predictor, standing.value);
        }
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn every_predictor_does_as_its_twin(values in series(160)) {
        agree(&values, |_| true);
    }

    #[test]
    fn equal_values_do_not_confuse_windows(values in coarse(160)) {
        agree(&values, |predictor| !predictor.name().starts_with("adaptive") && predictor.name() != "gradient");
    }

    /// Errors are those of the forecasts that were given, and the answer is the best predictor's.
    #[test]
    fn the_answer_is_that_of_the_least_error(values in prop_oneof![series(120), coarse(120)]) {
        for criterion in criteria() {
            let mut forecaster = Forecaster::new(criterion);
            // Of each predictor, its errors.
            let mut errors: Vec<Vec<f64>> = vec![Vec::new(); Predictor::all().len()];
            for (known, value) in values.iter().enumerate() {
                for (standing, errors) in forecaster.standings().zip(&mut errors) {
                    errors.push(value - standing.value);
                }
                forecaster.observe(*value).unwrap();
                let forecast = forecaster.forecast().unwrap();
                prop_assert_eq!(forecast.observations, known as u64 + 1);
                if known == 0 {
                    continue;
                }
                // The sums of squares and of absolute errors, and the number of forecasts.
                let sums = |errors: &[f64]| {
                    let counted = tail(errors, criterion.last().unwrap_or(errors.len()));
                    let squares = counted.iter().map(|error| error * error).sum::<f64>();
                    (squares, counted.iter().map(|error| error.abs()).sum::<f64>(), counted.len() as u64)
                };
                let compared = |errors: &[f64]| match criterion {
                    Criterion::Squared | Criterion::RecentSquared(_) => sums(errors).0,
                    Criterion::Absolute | Criterion::RecentAbsolute(_) => sums(errors).1,
                };
                let told = forecast.errors.unwrap();
                let own = errors.iter().zip(Predictor::all()).find(|(_, one)| *one == forecast.by).unwrap().0;
                let (squares, absolute, forecasts) = sums(own);
                let of = forecasts as f64;
                prop_assert_eq!(
                    (told.root_mean_square, told.mean_absolute, told.forecasts),
                    ((squares / of).sqrt(), absolute / of, forecasts)
                );
                let standing = forecaster.standings().find(|standing| standing.predictor == forecast.by);
                prop_assert_eq!(standing.unwrap().value, forecast.value);
                for (errors, predictor) in errors.iter().zip(Predictor::all()) {
                    // Nobody is better, and who comes earlier is worse.
                    let (other, own) = (compared(errors), compared(own));
                    prop_assert!(other >= own, "{} is better than {}", predictor, forecast.by);
                    prop_assert!(predictor >= forecast.by || other > own, "{} is as good", predictor);
                }
            }
        }
    }
}

/// The history keeps as much as any predictor looks back, and no more.
#[test]
fn the_history_is_as_long_as_the_longest_window() {
    let windows = Predictor::all().filter_map(|predictor| {
        let named: Named = predictor.name().parse().unwrap();
        named.params.get("window").map(|window| window.parse::<usize>().unwrap())
    });
    // Those that adapt look back 50 at most.
    assert_eq!(windows.max(), Some(crate::forecast::history::History::LONGEST));
}
