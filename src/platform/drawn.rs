//! What is drawn, integrated over time: energy, and beside it what that energy costs and emits where this varies.

use ethnum::I256;
use serde::{Deserialize, Serialize};

use crate::units::{Energy, Rate, Span};

/// A power in 2⁻²⁰ milliwatts, so that shares of processors are exact.
pub type Draw = u128;

/// An integral of power over time.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drawn {
    /// Energy in 2⁻²⁰ nanojoules.
    energy: u128,
    /// Energy × the price of electricity, in 2⁻²⁰ nanojoules × the values of its curve.
    priced: Wide,
    /// Energy × the carbon intensity, likewise.
    emitted: Wide,
}

/// A stretch of time, with the integrals of the curves over it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// Its length.
    pub span: Span,
    /// The integral of the price of electricity, in values of its curve × microseconds; zero if that is flat.
    pub priced: i128,
    /// The integral of the carbon intensity, likewise.
    pub emitted: i128,
}

/// An integer of 256 bits: a site's power times the price of years does not fit in 128.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(i128, i128)", into = "(i128, i128)")]
pub struct Wide(I256);

impl Drawn {
    /// Adds this much power over a stretch.
    pub fn add(&mut self, draw: Draw, stretch: &Stretch) {
        self.energy += draw * u128::from(stretch.span.micros());
        if stretch.priced != 0 {
            self.priced.add(draw, stretch.priced);
        }
        if stretch.emitted != 0 {
            self.emitted.add(draw, stretch.emitted);
        }
    }

    /// Adds another account.
    pub fn merge(&mut self, other: &Self) {
        self.energy += other.energy;
        self.priced.0 += other.priced.0;
        self.emitted.0 += other.emitted.0;
    }

    /// Adds another account so many times.
    pub fn merge_times(&mut self, other: &Self, times: u32) {
        self.energy += other.energy * u128::from(times);
        for (sum, other) in [(&mut self.priced.0, other.priced.0), (&mut self.emitted.0, other.emitted.0)] {
            // Without a curve it stays zero.
            if other != I256::ZERO {
                *sum += other.wrapping_mul(I256::from(times));
            }
        }
    }

    /// Takes an earlier state of this account off it.
    pub fn remove(&mut self, earlier: &Self) {
        debug_assert!(earlier.energy <= self.energy, "an account does not shrink");
        self.energy = self.energy.saturating_sub(earlier.energy);
        self.priced.0 -= earlier.priced.0;
        self.emitted.0 -= earlier.emitted.0;
    }

    /// The energy since an earlier state of this account, in 2⁻²⁰ nanojoules.
    pub const fn since(&self, earlier: &Self) -> u128 {
        debug_assert!(earlier.energy <= self.energy, "an account does not shrink");
        self.energy.saturating_sub(earlier.energy)
    }

    /// The energy, rounded down.
    pub const fn energy(&self) -> Energy {
        Energy::from_nanojoules(self.energy >> Rate::BITS)
    }

    /// The integral along the price of electricity in nanojoules × its values over `unit`, rounded down.
    pub fn priced(&self, unit: u64) -> I256 {
        self.priced.over(unit)
    }

    /// The integral along the carbon intensity in nanojoules × its values, rounded down.
    pub fn emitted(&self) -> I256 {
        self.emitted.over(1)
    }
}

impl Wide {
    /// Adds a product. The largest partition to the end of the time axis, at the highest price, needs 180 bits.
    fn add(&mut self, draw: Draw, integral: i128) {
        self.0 += I256::from(draw).wrapping_mul(I256::from(integral));
    }

    /// Over a unit and 2²⁰, rounded down.
    fn over(self, unit: u64) -> I256 {
        self.0.div_euclid(I256::from(unit) << Rate::BITS)
    }
}

impl From<(i128, i128)> for Wide {
    fn from((high, low): (i128, i128)) -> Self {
        Self(I256::from_words(high, low))
    }
}

impl From<Wide> for (i128, i128) {
    fn from(wide: Wide) -> Self {
        wide.0.into_words()
    }
}
