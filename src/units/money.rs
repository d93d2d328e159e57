//! Money in 10⁻⁹ of the scenario's currency, and prices per core-hour and per kilowatt-hour.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::text::{self, UnitError};

/// An amount of money in 10⁻⁹ units of currency.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(i128);

/// A price per core-hour, in 10⁻⁹ units of currency.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Price(u64);

/// A price per kilowatt-hour, in 10⁻⁹ units of currency.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EnergyPrice(u64);

impl Money {
    /// No money.
    pub const ZERO: Self = Self(0);

    /// `nanos` × 10⁻⁹.
    pub const fn from_nanos(nanos: i128) -> Self {
        Self(nanos)
    }

    /// The amount in 10⁻⁹ units.
    pub const fn nanos(self) -> i128 {
        self.0
    }

    /// The amount in whole units, for display only.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Price {
    /// Free of charge.
    pub const ZERO: Self = Self(0);

    /// `nanos` × 10⁻⁹ per core-hour.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The price in 10⁻⁹ units per core-hour.
    pub const fn nanos(self) -> u64 {
        self.0
    }
}

impl FromStr for Price {
    type Err = UnitError;

    /// Reads `"0.18/core-h"` or a bare number, both per core-hour.
    fn from_str(written: &str) -> Result<Self, UnitError> {
        const UNITS: &[(&str, u64)] = &[("/core-h", 1_000_000_000), ("", 1_000_000_000)];
        text::parse(written, "a price such as `0.18/core-h`", UNITS).map(Self)
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/core-h", self.0 as f64 / 1e9)
    }
}

impl EnergyPrice {
    /// Free of charge.
    pub const ZERO: Self = Self(0);

    /// `nanos` × 10⁻⁹ per kilowatt-hour.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The price in 10⁻⁹ units per kilowatt-hour.
    pub const fn nanos(self) -> u64 {
        self.0
    }
}

impl FromStr for EnergyPrice {
    type Err = UnitError;

    /// Reads `"0.25/kWh"`, `"60/MWh"`, or a bare number per kilowatt-hour.
    fn from_str(written: &str) -> Result<Self, UnitError> {
        const UNITS: &[(&str, u64)] = &[("/kWh", 1_000_000_000), ("/MWh", 1_000_000), ("", 1_000_000_000)];
        text::parse(written, "a price of electricity such as `0.25/kWh`", UNITS).map(Self)
    }
}

impl fmt::Display for EnergyPrice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/kWh", self.0 as f64 / 1e9)
    }
}

impl Add for Money {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Money {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_of_electricity_are_read_and_written() {
        assert_eq!("0.25/kWh".parse(), Ok(EnergyPrice::from_nanos(250_000_000)));
        assert_eq!("60 /MWh".parse(), Ok(EnergyPrice::from_nanos(60_000_000)));
        assert_eq!(EnergyPrice::from_nanos(62_500_000).to_string(), "0.0625/kWh");
        assert!("0.25/core-h".parse::<EnergyPrice>().is_err());
        assert!("0.0000000001".parse::<EnergyPrice>().is_err(), "finer than 10⁻⁹");
    }
}
