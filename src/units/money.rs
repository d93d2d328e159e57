//! Money in 10⁻⁹ of the scenario's currency, and prices per core-hour and per kilowatt-hour.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::str::FromStr;

use super::quantity::{additive, quantity, read_with_units};
use super::text::{self, UnitError};

quantity! {
    /// An amount of money in 10⁻⁹ units of currency.
    Money(i128)
    /// No money.
    ZERO
    /// `nanos` × 10⁻⁹.
    from_nanos
    /// The amount in 10⁻⁹ units.
    nanos
}
additive!(Money: add, sub);

quantity! {
    /// A price per core-hour, in 10⁻⁹ units of currency.
    Price(u64)
    /// Free of charge.
    ZERO
    /// `nanos` × 10⁻⁹ per core-hour.
    from_nanos
    /// The price in 10⁻⁹ units per core-hour.
    nanos
}

quantity! {
    /// A price per kilowatt-hour, in 10⁻⁹ units of currency.
    EnergyPrice(u64)
    /// Free of charge.
    ZERO
    /// `nanos` × 10⁻⁹ per kilowatt-hour.
    from_nanos
    /// The price in 10⁻⁹ units per kilowatt-hour.
    nanos
}

impl Money {
    /// The amount in whole units, for display only.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

read_with_units! {
    /// Reads `"0.18/core-h"` or a bare number, both per core-hour.
    Price: "a price such as `0.18/core-h`", &[("/core-h", 1_000_000_000), ("", 1_000_000_000)]
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/core-h", self.0 as f64 / 1e9)
    }
}

read_with_units! {
    /// Reads `"0.25/kWh"`, `"60/MWh"`, or a bare number per kilowatt-hour.
    EnergyPrice: "a price of electricity such as `0.25/kWh`",
        &[("/kWh", 1_000_000_000), ("/MWh", 1_000_000), ("", 1_000_000_000)]
}

impl fmt::Display for EnergyPrice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/kWh", self.0 as f64 / 1e9)
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
