//! The distribution of a quantity.

use rustc_hash::FxHashMap;
use serde::Serialize;

/// A distribution in a few numbers; all 0 if there are no values.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Quantity {
    /// Number of values.
    pub count: u64,
    /// The smallest.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// Coefficient of variation: standard deviation (of the values as a whole population) over mean.
    pub cv: f64,
    /// The median: the smallest value that at least half of the values do not exceed.
    pub median: f64,
    /// The 90th percentile, defined likewise.
    pub p90: f64,
    /// The largest.
    pub max: f64,
}

impl Quantity {
    /// The distribution of `values` in units of `unit` of them: with 10⁶, of microseconds in seconds.
    pub fn of(values: impl IntoIterator<Item = u64>, unit: f64) -> Self {
        let mut all = Values::default();
        values.into_iter().for_each(|value| all.add(value));
        all.quantity(unit)
    }
}

/// Integer values, each different one kept once with its count.
#[derive(Debug, Default)]
pub(super) struct Values {
    counts: FxHashMap<u64, u64>,
    count: u64,
    sum: u128,
}

impl Values {
    pub(super) fn add(&mut self, value: u64) {
        *self.counts.entry(value).or_default() += 1;
        self.count += 1;
        self.sum += u128::from(value);
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The distribution of the values in units of `unit` values: with 10⁶, of microseconds in seconds.
    pub(super) fn quantity(&self, unit: f64) -> Quantity {
        // Sorting makes the sums independent of the order of a hash map.
        let mut sorted: Vec<_> = self.counts.iter().map(|(value, count)| (*value, *count)).collect();
        sorted.sort_unstable();
        let (Some((min, _)), Some((max, _))) = (sorted.first(), sorted.last()) else {
            return Quantity::default();
        };
        let count = self.count as f64;
        let mean = self.sum as f64 / count;
        let squares: f64 = sorted
            .iter()
            .map(|(value, times)| {
                let distance = *value as f64 - mean;
                distance * distance * *times as f64
            })
            .sum();
        let percentile = |percent: u64| {
            let rank = (u128::from(self.count) * u128::from(percent)).div_ceil(100).max(1);
            let mut below = 0;
            let found = sorted.iter().find(|(_, times)| {
                below += u128::from(*times);
                below >= rank
            });
            found.map_or(*max, |(value, _)| *value) as f64
        };
        let scale = |value: f64| value / unit;
        Quantity {
            count: self.count,
            min: scale(*min as f64),
            mean: scale(mean),
            cv: if mean > 0.0 { libm::sqrt(squares / count) / mean } else { 0.0 },
            median: scale(percentile(50)),
            p90: scale(percentile(90)),
            max: scale(*max as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_the_definitions(values in prop::collection::vec(0_u64..50, 1..60)) {
            let mut all = Values::default();
            values.iter().for_each(|value| all.add(*value));
            let got = all.quantity(1.0);
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let n = sorted.len();
            prop_assert_eq!(got.median, sorted[n.div_ceil(2) - 1] as f64);
            prop_assert_eq!(got.p90, sorted[(n * 9).div_ceil(10) - 1] as f64);
            prop_assert_eq!((got.min, got.max), (sorted[0] as f64, sorted[n - 1] as f64));
            prop_assert!((got.mean - sorted.iter().sum::<u64>() as f64 / n as f64).abs() < 1e-9);
        }
    }
}
