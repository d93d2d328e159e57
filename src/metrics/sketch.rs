//! Counts of values in buckets of three significant digits.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The largest value that hdrhistogram tracks.
const TOP: u64 = (1 << 62) - 1;

/// Up to so many buckets they alone are kept: a histogram has all up to the largest value, and those of a site took some 400 kB.
const FEW: usize = 1_024;

/// Values below this have a bucket each; three digits need that many. Above, each power of two has half as many.
const SINGLE: u64 = 2_048;
const HALF: u64 = SINGLE / 2;
/// The last bucket of values below 2⁶².
const LAST: u64 = (62 - SINGLE.ilog2() as u64) * HALF + SINGLE - 1;

/// How many values there are in each bucket.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Sketch {
    /// By bucket, those that have any.
    Few(BTreeMap<u64, u64>),
    /// In all buckets.
    Many(Histogram<u64>),
}

impl Default for Sketch {
    fn default() -> Self {
        Self::Few(BTreeMap::new())
    }
}

const fn bucket(value: u64) -> u64 {
    let exponent = (value | (SINGLE - 1)).ilog2() + 1 - SINGLE.ilog2();
    exponent as u64 * HALF + (value >> exponent)
}

/// The highest value of a bucket.
fn highest(bucket: u64) -> Option<u64> {
    let exponent = (bucket / HALF).saturating_sub(1);
    (bucket <= LAST).then(|| ((bucket - exponent * HALF + 1) << exponent) - 1)
}

fn empty() -> Histogram<u64> {
    Histogram::new(3).expect("hdrhistogram takes 0 to 5 digits")
}

fn count(histogram: &mut Histogram<u64>, value: u64, count: u64) {
    // It grows by itself and the value is within its widest range, so this cannot fail.
    let recorded = histogram.record_n(value, count);
    debug_assert!(recorded.is_ok());
}

impl Sketch {
    /// Adds a value so many times.
    #[inline]
    pub(super) fn add(&mut self, value: u64, times: u64) {
        let value = value.min(TOP);
        match self {
            Self::Many(histogram) => count(histogram, value, times),
            Self::Few(buckets) => {
                *buckets.entry(bucket(value)).or_default() += times;
                if buckets.len() > FEW {
                    let mut histogram = empty();
                    for (bucket, times) in buckets {
                        count(&mut histogram, highest(*bucket).unwrap_or(TOP), *times);
                    }
                    *self = Self::Many(histogram);
                }
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        match (&mut *self, other) {
            (Self::Many(mine), Self::Many(theirs)) => {
                let added = mine.add(theirs);
                debug_assert!(added.is_ok(), "both grow by themselves");
            }
            _ => other.each(|bucket, times| self.add(highest(bucket).unwrap_or(TOP), times)),
        }
    }

    /// The highest value of the bucket that has the value of this rank, from 1 on.
    pub(super) fn ranked(&self, rank: u128) -> Option<u64> {
        // Not `value_at_quantile`, which finds the rank in floating point.
        let (mut below, mut found) = (0_u128, None);
        self.each(|bucket, times| {
            below += u128::from(times);
            if below >= rank && found.is_none() {
                found = highest(bucket);
            }
        });
        found
    }

    /// The buckets that have values, ascending, and how many.
    fn each(&self, mut each: impl FnMut(u64, u64)) {
        match self {
            Self::Few(buckets) => buckets.iter().for_each(|(bucket, times)| each(*bucket, *times)),
            Self::Many(histogram) => histogram
                .iter_recorded()
                .for_each(|step| each(bucket(step.value_iterated_to()), step.count_at_value())),
        }
    }
}

/// As pairs: the distance in buckets from the previous one, and the count.
impl Serialize for Sketch {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        // Collected first, because postcard needs the length.
        let (mut last, mut pairs) = (0, Vec::new());
        self.each(|bucket, times| pairs.push((bucket - std::mem::replace(&mut last, bucket), times)));
        pairs.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Sketch {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let pairs = Vec::<(u64, u64)>::deserialize(from)?;
        let (mut sketch, mut bucket) = (Self::default(), 0_u64);
        for (step, times) in pairs {
            bucket = bucket.saturating_add(step);
            sketch.add(highest(bucket).ok_or_else(|| D::Error::custom("a bucket beyond the last"))?, times);
        }
        Ok(sketch)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whether a sketch has few buckets or all changes no quantile, however its values came together.
        #[test]
        fn few_buckets_tell_the_same_as_all(
            values in prop::collection::vec(prop_oneof![0_u64..50, 0_u64..1 << 40, any::<u64>()], 2..2_500),
            cut in any::<prop::sample::Index>(),
        ) {
            let of = |start: Sketch, values: &[u64]| {
                let mut sketch = start;
                values.iter().for_each(|value| sketch.add(*value, 1));
                sketch
            };
            let many = || Sketch::Many(empty());
            let (first, second) = values.split_at(cut.index(values.len()));
            let straight = of(many(), &values);
            for start in [Sketch::default, many] {
                for other in [Sketch::default, many] {
                    let mut merged = of(start(), first);
                    merged.merge(&of(other(), second));
                    for rank in [1, values.len() / 2, values.len()] {
                        let rank = rank as u128;
                        prop_assert_eq!(merged.ranked(rank), straight.ranked(rank));
                    }
                    prop_assert_eq!(merged.ranked(values.len() as u128 + 1), None);
                    let saved = postcard::to_allocvec(&merged).unwrap();
                    prop_assert_eq!(&saved, &postcard::to_allocvec(&straight).unwrap());
                }
            }
            let few = of(Sketch::default(), &values);
            let saved = postcard::to_allocvec(&few).unwrap();
            prop_assert_eq!(postcard::from_bytes::<Sketch>(&saved).unwrap(), few);
        }

        /// Compares the formula with the sketch's own functions.
        #[test]
        fn a_bucket_is_one_of_the_sketch(value in any::<u64>(), shift in 2_u32..64) {
            let value = value >> shift;
            let of = empty().highest_equivalent(value);
            prop_assert_eq!(highest(bucket(value)), Some(of));
        }
    }

    #[test]
    fn the_last_bucket() {
        assert_eq!(highest(bucket(TOP)), Some(TOP));
        assert_eq!(highest(bucket(TOP) + 1), None);
    }

    /// If this fails because the form was changed on purpose, raise the layout version of the recorder's saved state.
    #[test]
    fn the_form_of_a_sketch() {
        let mut sketch = Sketch::default();
        [7, 7, 9, 5_000, 1 << 40].into_iter().for_each(|value| sketch.add(value, 1));
        let saved = postcard::to_allocvec(&sketch).unwrap();
        // A sketch of four buckets: 7 twice, then 9 two buckets further, ...
        let top = bucket(1 << 40) - bucket(5_000);
        let [low, high] = [top as u8 | 0x80, (top >> 7) as u8 | 0x80];
        let middle = bucket(5_000) - 9;
        assert_eq!(
            saved,
            [4, 7, 2, 2, 1, middle as u8 | 0x80, (middle >> 7) as u8, 1, low, high, (top >> 14) as u8, 1]
        );
    }
}
