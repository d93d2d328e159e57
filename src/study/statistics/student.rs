//! Means of replications, and differences between replications that share a seed.

use serde::{Deserialize, Serialize};

use super::series::cosines;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::statistics::Statistics;

/// A mean with its confidence interval at the requested level.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The number of replications.
    pub n: usize,
    /// The mean of the replications.
    pub mean: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// The difference `b - a` of two means taken in pairs, with its interval.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// Mean of `a`.
    pub mean_a: f64,
    /// Mean of `b`.
    pub mean_b: f64,
    /// Their difference, the mean of `b - a`.
    pub difference: f64,
    /// Lower end of the interval of the difference.
    pub low: f64,
    /// Upper end of the interval of the difference.
    pub high: f64,
    /// The probability of a difference at least as large if there is none in truth (two-sided); of a bootstrap, 1 minus
    /// the lowest level at which its interval contains zero.
    pub p_value: f64,
}

/// How replications follow each other.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Draws {
    /// They are independent of each other, as runs with different seeds are.
    #[default]
    Independent,
    /// They follow each other in time, as runs that begin at different dates do: neighbouring ones may be alike.
    Series,
}

impl Draws {
    /// [`mean_interval`] of independent replications. Of a series, whose values are in order of time, the interval is that of
    /// equal-weighted cosines with Student's quantile for their number (U. K. Müller, Journal of Econometrics 141, 2007; E. Lazarus,
    /// D. Lewis, J. Stock, M. Watson, Journal of Business & Economic Statistics 36, 2018).
    pub fn mean_interval(self, values: &[f64], level: f64) -> Option<Estimate> {
        let (mean, error, freedom) = self.error(values)?;
        let half = quantile(freedom + 1, level)? * error;
        Some(Estimate { n: values.len(), mean, low: mean - half, high: mean + half })
    }

    /// [`paired`] of independent pairs, and the same for pairs that are in order of time.
    pub fn paired(self, a: &[f64], b: &[f64], level: f64) -> Option<Effect> {
        if a.len() != b.len() {
            return None;
        }
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - a).collect();
        let (difference, error, freedom) = self.error(&differences)?;
        let half = quantile(freedom + 1, level)? * error;
        let p_value = match (difference == 0.0, error == 0.0) {
            (true, _) => 1.0,
            (false, true) => 0.0,
            (false, false) => 2.0 * student(freedom + 1)?.sf((difference / error).abs()),
        };
        let (mean_a, mean_b) = (Statistics::mean(a), Statistics::mean(b));
        let (low, high) = (difference - half, difference + half);
        Some(Effect { mean_a, mean_b, difference, low, high, p_value })
    }

    /// The mean, its standard error, and the degrees of freedom of that.
    fn error(self, values: &[f64]) -> Option<(f64, f64, usize)> {
        let (mean, error) = mean_and_error(values)?;
        match self {
            Self::Series if error > 0.0 => {
                let (variance, freedom) = cosines(values);
                Some((mean, (variance / values.len() as f64).sqrt(), freedom))
            }
            _ => Some((mean, error, values.len() - 1)),
        }
    }
}

/// The mean of independent replications with Student's interval; `level` is 0.95 for 95 %.
///
/// `None` for fewer than two values, if one is not finite, or if `level` is not between 0 and 1.
pub fn mean_interval(values: &[f64], level: f64) -> Option<Estimate> {
    Draws::Independent.mean_interval(values, level)
}

/// The difference `b - a`, pair by pair, with Student's interval and the p value of the paired t test.
///
/// Pairing makes a comparison sharp: the effect of a seed on both sides cancels. If all differences are the same, the
/// interval is that number, and the p value is 1 if it is zero and 0 otherwise.
///
/// `None` if the two differ in length, and where [`mean_interval`] gives none.
pub fn paired(a: &[f64], b: &[f64], level: f64) -> Option<Effect> {
    Draws::Independent.paired(a, b, level)
}

/// The mean and its standard error.
fn mean_and_error(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 2 || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    // Equal values have no error, even where the mean of the copies is rounded.
    if values.iter().all(|value| *value == values[0]) {
        return Some((values[0], 0.0));
    }
    let error = (Statistics::variance(values) / values.len() as f64).sqrt();
    Some((Statistics::mean(values), error))
}

/// Student's distribution for the mean of `n` values.
fn student(n: usize) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, n as f64 - 1.0).ok()
}

/// The half-width of an interval of the mean of `n` values, in standard errors.
pub(super) fn quantile(n: usize, level: f64) -> Option<f64> {
    (level > 0.0 && level < 1.0 && n > 1).then_some(())?;
    let share = 0.5 + level / 2.0;
    // The crate's inversion loses digits for very many degrees of freedom, where the two agree to five digits anyway.
    let normal = || Normal::standard().inverse_cdf(share);
    Some(if n > 100_000 { normal() } else { student(n)?.inverse_cdf(share) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student's own data (Biometrika 6, 1908, section IX): hours of sleep gained with two drugs, ten patients.
    const DEXTRO: [f64; 10] = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
    const LAEVO: [f64; 10] = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs().max(1e-3)
    }

    #[test]
    fn students_sleep_data_gives_the_published_numbers() {
        // R: t.test(extra ~ group, data = sleep, paired = TRUE): t = 4.0621, df = 9, p = 0.002833,
        // interval 0.7001142 to 2.4598858, mean of the differences 1.58. More digits from scipy.stats.ttest_rel.
        let result = paired(&DEXTRO, &LAEVO, 0.95).unwrap();
        assert!(close(result.difference, 1.58) && close(result.mean_a, 0.75) && close(result.mean_b, 2.33));
        assert!(
            close(result.low, 0.7001142367230176) && close(result.high, 2.4598857632769824),
            "{result:?}"
        );
        assert!(close(result.p_value, 0.002832890197384273), "{result:?}");
        // An unpaired comparison of the same data shows no difference: the interval of one mean contains the other.
        let laevo = mean_interval(&LAEVO, 0.95).unwrap();
        assert!(close(laevo.low, 0.8976775393767051) && close(laevo.high, 3.7623224606232943));
        assert!(mean_interval(&DEXTRO, 0.95).unwrap().high > laevo.low);
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // scipy.stats.t.ppf(0.975, n - 1)
        for (n, expected) in [
            (2, 12.706204736174694),
            (3, 4.302652729749462),
            (5, 2.7764451051977934),
            (30, 2.045229642132703),
            (120, 1.9800998764569397),
            (10_000, 1.960201263621357),
            (100_000, 1.9599877077718442),
            (1_000_001, 1.959963984540054),
        ] {
            let got = quantile(n, 0.95).unwrap();
            let digits = if n > 10_000 { 1e-5 } else { 1e-8 };
            assert!((got - expected).abs() < digits, "{n}: {got}");
        }
    }

    #[test]
    fn small_p_values_keep_their_digits() {
        // scipy: 2 * t.sf(10, 29) = 6.599862576433525e-11; 1 - cdf would have lost most of it.
        let t = student(30).unwrap();
        assert!(close(2.0 * t.sf(10.0) * 1e11, 6.599862576433525), "{}", 2.0 * t.sf(10.0));
    }

    #[test]
    fn what_does_not_vary_has_no_error() {
        let same = paired(&[0.1; 3], &[0.1; 3], 0.95).unwrap();
        assert_eq!((same.difference, same.low, same.high, same.p_value), (0.0, 0.0, 0.0, 1.0));
        let shifted = paired(&[1.0, 2.0, 3.0], &[2.0, 3.0, 4.0], 0.95).unwrap();
        assert_eq!((shifted.difference, shifted.low, shifted.high, shifted.p_value), (1.0, 1.0, 1.0, 0.0));
    }

    #[test]
    fn too_little_gives_nothing() {
        assert_eq!(mean_interval(&[], 0.95), None);
        assert_eq!(mean_interval(&[3.0], 0.95), None);
        assert_eq!(mean_interval(&[3.0, f64::NAN], 0.95), None);
        assert_eq!(mean_interval(&[3.0, 4.0], 1.0), None);
        assert_eq!(paired(&[3.0, 4.0], &[3.0], 0.95), None);
    }

    #[test]
    fn an_interval_of_95_percent_holds_the_truth_in_95_of_100_cases() {
        let mut stream = crate::workload::random::Stream::new(1, "test", "coverage");
        let trials = 4_000;
        let held = (0..trials)
            .filter(|_| {
                let values: Vec<f64> = (0..5).map(|_| 7.0 + stream.normal()).collect();
                let estimate = mean_interval(&values, 0.95).unwrap();
                estimate.low <= 7.0 && 7.0 <= estimate.high
            })
            .count();
        // Five standard errors of a share of 0.95 are 0.017.
        assert!((held as f64 / f64::from(trials) - 0.95).abs() < 0.017, "{held}");
    }
}
