//! Power in milliwatts, energy in nanojoules.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::text::{self, UnitError};

/// Electrical power in milliwatts.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Power(u64);

/// Electrical energy in nanojoules (a milliwatt over a microsecond).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Energy(u128);

impl Power {
    /// No power.
    pub const ZERO: Self = Self(0);

    /// `milliwatts` mW.
    pub const fn from_milliwatts(milliwatts: u64) -> Self {
        Self(milliwatts)
    }

    /// Milliwatts.
    pub const fn milliwatts(self) -> u64 {
        self.0
    }
}

impl FromStr for Power {
    type Err = UnitError;

    /// Reads `"95 W"`, `"1.2 kW"`, `"350 mW"`, or a bare number of watts.
    fn from_str(written: &str) -> Result<Self, UnitError> {
        const UNITS: &[(&str, u64)] = &[("mW", 1), ("W", 1_000), ("", 1_000), ("kW", 1_000_000)];
        text::parse(written, "a power such as `95 W` or `1.2 kW`", UNITS).map(Self)
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} W", self.0 as f64 / 1e3)
    }
}

impl Energy {
    /// No energy.
    pub const ZERO: Self = Self(0);

    /// `nanojoules` nJ.
    pub const fn from_nanojoules(nanojoules: u128) -> Self {
        Self(nanojoules)
    }

    /// Nanojoules.
    pub const fn nanojoules(self) -> u128 {
        self.0
    }

    /// Joules, for display only.
    pub fn as_joules_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Kilowatt-hours, for display only.
    pub fn as_kwh_f64(self) -> f64 {
        self.0 as f64 / 3.6e15
    }
}

impl Add for Energy {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Energy {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Energy {
    type Output = Self;
    /// Saturates at zero.
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sum for Energy {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}
