//! The variance of the mean of a series: values that follow each other in time, so that neighbouring ones are alike.

use std::f64::consts::PI;

/// The long-run variance of a series of two values or more, which over their number is that of their mean, and its degrees of freedom.
///
/// It is the mean of the squared weights of the first `ν` cosines in the series, `√(2/n) Σ y cos(π j (t - 1/2) / n)`: only slow changes count,
/// and they do whatever the correlation of neighbours is. `ν` is `0.4 n^(2/3)` cut to a whole number, at least 1: more would let in
/// changes that are too fast, fewer have wide intervals. Of independent values, each weight has the variance of a value, so that
/// Student's quantile with `ν` degrees of freedom is exact if they are normal.
pub(super) fn cosines(values: &[f64]) -> (f64, usize) {
    let n = values.len() as f64;
    let number = (libm::floor(0.4 * libm::cbrt(n * n) + 1e-9) as usize).max(1);
    let weight = |j: usize| {
        let at = |t: usize| libm::cos(PI * j as f64 * (t as f64 + 0.5) / n);
        let sum: f64 = values.iter().enumerate().map(|(t, value)| value * at(t)).sum();
        (2.0 / n).sqrt() * sum
    };
    let squares: f64 = (1..=number).map(weight).map(|weight| weight * weight).sum();
    (squares / number as f64, number)
}

#[cfg(test)]
mod tests {
    use super::super::{Draws, mean_interval, paired};
    use super::*;
    use crate::workload::random::Stream;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-5 * b.abs()
    }

    #[test]
    fn four_values_worked_by_hand() {
        // ν = 0.4 x 4^(2/3) = 1.008: one cosine, at 22.5, 67.5, 112.5 and 157.5 degrees: ±0.92388 and ±0.38268.
        // 1 x 0.92388 + 2 x 0.38268 - 3 x 0.38268 - 6 x 0.92388 = -5.00208; its square times 2/4 is 12.5104.
        let values = [1.0, 2.0, 3.0, 6.0];
        let (variance, freedom) = cosines(&values);
        assert!(close(variance, 12.5104) && freedom == 1, "{variance} {freedom}");
        // The error is the root of 12.5104 / 4, and t is 12.7062 with one degree of freedom.
        let found = Draws::Series.mean_interval(&values, 0.95).unwrap();
        assert!(found.mean == 3.0 && close(found.high - 3.0, 12.7062 * 1.76850), "{found:?}");
        // Independent values with these numbers: 3.1824 x 2.1602 / 2.
        let found = mean_interval(&values, 0.95).unwrap();
        assert!(close(found.high - 3.0, 3.18245 * 2.160247 / 2.0), "{found:?}");
    }

    #[test]
    fn a_difference_has_the_interval_of_its_series() {
        let (a, b) = ([5.0, 5.0, 5.0, 5.0], [6.0, 7.0, 8.0, 11.0]);
        let (mean, found) = (
            Draws::Series.mean_interval(&[1.0, 2.0, 3.0, 6.0], 0.99).unwrap(),
            Draws::Series.paired(&a, &b, 0.99).unwrap(),
        );
        assert_eq!((found.difference, found.low, found.high), (mean.mean, mean.low, mean.high));
        // t = 3 / 1.7685 = 1.6964 with one degree of freedom, Cauchy's distribution: p = 1 - 2/π arctan(1.6964).
        assert!(close(found.p_value, 1.0 - 2.0 / PI * libm::atan(3.0 / 1.768499)), "{found:?}");
        assert_eq!(Draws::Independent.paired(&a, &b, 0.99), paired(&a, &b, 0.99));
        let same = Draws::Series.paired(&a, &a, 0.95).unwrap();
        assert_eq!((same.low, same.high, same.p_value), (0.0, 0.0, 1.0));
    }

    #[test]
    fn the_number_of_cosines_grows_with_the_series() {
        let of = |n: usize| cosines(&(0..n).map(|t| t as f64).collect::<Vec<_>>()).1;
        assert_eq!([2, 4, 8, 12, 26, 52, 104].map(of), [1, 1, 1, 2, 3, 5, 8]);
    }

    /// 52 values of which each is like the one before it by 0.7: intervals of independent values contain the truth in 59 of 100 cases,
    /// those of series in nine of ten; without correlation both do in 95.
    #[test]
    fn series_are_covered_where_independent_values_are_not() {
        let mut stream = Stream::new(6, "test", "series");
        let trials = 600;
        let mut covered = |rho: f64| {
            let (mut as_series, mut as_independent) = (0, 0);
            for _ in 0..trials {
                let mut state = stream.normal() / (1.0 - rho * rho).sqrt();
                let mut next = || {
                    state = rho * state + stream.normal();
                    state
                };
                let values: Vec<f64> = (0..52).map(|_| next()).collect();
                let holds = |draws: Draws| {
                    let found = draws.mean_interval(&values, 0.95).unwrap();
                    i32::from(found.low <= 0.0 && 0.0 <= found.high)
                };
                as_series += holds(Draws::Series);
                as_independent += holds(Draws::Independent);
            }
            [as_series, as_independent].map(|held| f64::from(held) / f64::from(trials))
        };
        let [series, independent] = covered(0.7);
        assert!(series > 0.86 && independent < 0.68, "{series} {independent}");
        let [series, independent] = covered(0.0);
        assert!((series - 0.95).abs() < 0.04 && (independent - 0.95).abs() < 0.04, "{series} {independent}");
    }
}
