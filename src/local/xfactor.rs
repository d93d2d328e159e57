//! The expansion factor of a job, exactly.

use std::cmp::Ordering;
use std::fmt;

use crate::units::Span;

/// The expansion factor of a job: (time waited + estimated run time) / estimated run time [R. Kettimuthu, *Selective preemption strategies for
/// parallel job scheduling*, MS thesis, 2003, section 2.2]. It grows while the job does not run, faster for a short job than for a long one, and stands
/// still while it runs.
///
/// It is a quotient of integers, and compares exactly: products have as many digits as they need, so that nothing overflows. The sum of both times
/// saturates at the end of the time axis.
///
/// ```
/// use gridemu::local::XFactor;
/// use gridemu::units::Span;
///
/// let short = XFactor::new(Span::from_secs(30), Span::from_secs(10));
/// let long = XFactor::new(Span::from_secs(100), Span::from_secs(100));
/// assert_eq!((short.to_string(), long.to_string()), ("4.00".to_owned(), "2.00".to_owned()));
/// assert!(short > long);
/// // Four is twice two, but not more than that.
/// assert!(short.reaches(2_000_000, long) && !short.exceeds(2_000_000, long));
/// ```
#[derive(Copy, Clone, Debug)]
pub struct XFactor {
    /// Waited and estimated time, in microseconds.
    total: u64,
    /// Estimated time, in microseconds, at least one.
    estimate: u64,
}

impl XFactor {
    /// One: what a job has that has not waited.
    pub const ONE: Self = Self { total: 1, estimate: 1 };

    /// That of a job with this estimate that has waited so long. No estimate counts as one microsecond.
    pub fn new(waited: Span, estimate: Span) -> Self {
        let estimate = estimate.micros().max(1);
        Self { total: waited.micros().saturating_add(estimate), estimate }
    }

    /// In hundredths, rounded down.
    pub fn hundredths(self) -> u64 {
        u64::try_from(u128::from(self.total) * 100 / u128::from(self.estimate)).unwrap_or(u64::MAX)
    }

    /// Whether it is larger than `factor` millionths of the other.
    pub fn exceeds(self, factor: u64, other: Self) -> bool {
        self.against(factor, other) == Ordering::Greater
    }

    /// Whether it is at least `factor` millionths of the other.
    pub fn reaches(self, factor: u64, other: Self) -> bool {
        self.against(factor, other) != Ordering::Less
    }

    /// It compared with `factor` millionths of the other.
    fn against(self, factor: u64, other: Self) -> Ordering {
        let both = |total: u64, estimate: u64| u128::from(total) * u128::from(estimate);
        times(both(self.total, other.estimate), 1_000_000)
            .cmp(&times(both(other.total, self.estimate), factor))
    }
}

/// The product as its upper digits and its lower 64 bits, to be compared: exactly, whatever the numbers.
pub(in crate::local) fn times(a: u128, b: u64) -> (u128, u64) {
    let (high, low) = (a >> 64, u128::from(a as u64) * u128::from(b));
    (high * u128::from(b) + (low >> 64), low as u64)
}

impl PartialEq for XFactor {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for XFactor {}

impl PartialOrd for XFactor {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for XFactor {
    fn cmp(&self, other: &Self) -> Ordering {
        let (own, others) = (u128::from(self.total), u128::from(other.total));
        (own * u128::from(other.estimate)).cmp(&(others * u128::from(self.estimate)))
    }
}

impl fmt::Display for XFactor {
    /// Writes it with two decimals, rounded down.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hundredths = self.hundredths();
        f.pad(&format!("{}.{:02}", hundredths / 100, hundredths % 100))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MOST: u64 = u64::MAX;

    fn xfactor(waited: u64, estimate: u64) -> XFactor {
        XFactor::new(Span::from_micros(waited), Span::from_micros(estimate))
    }

    #[test]
    fn a_product_of_large_numbers_is_exact() {
        // (2¹²⁸ − 1) · 3 = 2 · 2¹²⁸ + (2¹²⁸ − 3).
        assert_eq!(times(u128::MAX, 3), ((3 << 64) - 1, MOST - 2));
        assert!(times(u128::MAX, 3) > times(u128::MAX - 1, 3));
        assert!(times(u128::MAX - 1, 3) > times(u128::MAX, 2));
    }

    #[test]
    fn it_is_what_the_definition_says() {
        assert_eq!(xfactor(0, 7), XFactor::ONE);
        assert_eq!(xfactor(0, 0), XFactor::ONE);
        assert_eq!(xfactor(50, 100).to_string(), "1.50");
        assert_eq!(xfactor(2, 3).to_string(), "1.66");
        assert_eq!(xfactor(2, 3), xfactor(4, 6));
        assert!(xfactor(2, 3) < xfactor(3, 4));
        assert!(xfactor(2, 1).exceeds(2_000_000, xfactor(1, 3)));
        assert!(!xfactor(1, 1).exceeds(2_000_000, XFactor::ONE));
        assert!(xfactor(1, 1).reaches(2_000_000, XFactor::ONE));
    }

    #[test]
    fn nothing_overflows() {
        let (large, small) = (xfactor(MOST, 1), xfactor(0, MOST));
        assert!(large.exceeds(MOST, small) && !small.reaches(1_000_001, large));
        assert!(large.reaches(1_000_000, large) && !large.exceeds(1_000_000, large));
        // Waited and estimated time beyond the time axis count as its end.
        assert_eq!(xfactor(MOST, MOST), XFactor::ONE);
    }

    proptest! {
        #![proptest_config(crate::search::tests::cases(256))]

        /// Wherever 128 bits suffice, it compares as fractions do.
        #[test]
        fn it_compares_as_fractions_do(
            a in 0_u64..1 << 40, b in 1_u64..1 << 40, c in 0_u64..1 << 40, d in 1_u64..1 << 40, factor in 0_u64..1 << 30,
        ) {
            let (own, others) = (u128::from(a + b) * u128::from(d), u128::from(c + d) * u128::from(b));
            let (x, y) = (xfactor(a, b), xfactor(c, d));
            prop_assert_eq!(x.cmp(&y), own.cmp(&others));
            prop_assert_eq!(x == y, own == others);
            let scaled = others * u128::from(factor);
            prop_assert_eq!(x.exceeds(factor, y), own * 1_000_000 > scaled);
            prop_assert_eq!(x.reaches(factor, y), own * 1_000_000 >= scaled);
        }

        #[test]
        fn three_factors_make_their_product(a in any::<u64>(), b in any::<u64>(), c in any::<u64>()) {
            let (high, low) = times(u128::from(a) * u128::from(b), c);
            // By halves of 32 bits, as by hand.
            let digits = |x: u64| [x & 0xffff_ffff, x >> 32].map(u128::from);
            let mut sum = [0_u128; 7];
            for (i, x) in digits(a).into_iter().enumerate() {
                for (j, y) in digits(b).into_iter().enumerate() {
                    for (k, z) in digits(c).into_iter().enumerate() {
                        let xy = x * y;
                        sum[i + j + k] += (xy & 0xffff_ffff) * z;
                        sum[i + j + k + 1] += (xy >> 32) * z;
                    }
                }
            }
            for at in 0..6 {
                sum[at + 1] += sum[at] >> 32;
                sum[at] &= 0xffff_ffff;
            }
            prop_assert_eq!(u128::from(low), sum[0] | sum[1] << 32);
            prop_assert_eq!(high, sum[2] | sum[3] << 32 | sum[4] << 64 | sum[5] << 96);
        }
    }
}
