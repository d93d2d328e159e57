//! Quotients in fixed point, so that their sum is exact and has no order.

use serde::{Deserialize, Serialize};

/// A quotient of two durations in units of 2⁻⁴⁰, rounded to the nearest.
///
/// A bounded slowdown is at least 1, so a mean of them is exact to better than 10⁻¹²: more digits than are ever
/// published.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ratio(u128);

impl Ratio {
    /// Number of binary places.
    pub const BITS: u32 = 40;
    /// One.
    pub const ONE: Self = Self(1 << Self::BITS);

    /// `num / den`; a denominator of zero counts as one.
    pub const fn of(num: u64, den: u64) -> Self {
        let den = if den == 0 { 1 } else { den } as u128;
        Self((((num as u128) << Self::BITS) + den / 2) / den)
    }

    /// The quotient in units of 2⁻⁴⁰.
    pub const fn units(self) -> u128 {
        self.0
    }

    /// As a floating-point number, for display, for quantiles and for the last step of a mean only.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / Self::ONE.0 as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_to_the_nearest() {
        assert_eq!(Ratio::of(10, 10), Ratio::ONE);
        assert_eq!(Ratio::of(5, 2).as_f64(), 2.5);
        assert_eq!(Ratio::of(2, 3).units(), (2_u128 << 40) / 3 + 1, "2/3 is nearer to the unit above");
        assert_eq!(Ratio::of(7, 0), Ratio::of(7, 1));
    }
}
