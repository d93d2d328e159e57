//! Carbon intensity of electricity in micrograms of CO₂ equivalent per kilowatt-hour.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::str::FromStr;

use super::quantity::{additive, quantity, read_with_units};
use super::text::{self, UnitError};

quantity! {
    /// An amount of carbon, in nanograms of CO₂ equivalent.
    Carbon(i128)
    /// None.
    ZERO
    /// `nanograms` ng.
    from_nanograms
    /// Nanograms.
    nanograms
}
additive!(Carbon: add, sub);

impl Carbon {
    /// Kilograms, for display only.
    pub fn as_kg_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }
}

quantity! {
    /// The carbon intensity of electricity, in micrograms of CO₂ equivalent per kilowatt-hour.
    CarbonIntensity(u64)
    /// Free of carbon.
    ZERO
    /// `micrograms` per kilowatt-hour.
    from_micrograms
    /// Micrograms per kilowatt-hour.
    micrograms
}

read_with_units! {
    /// Reads `"300 g/kWh"` or `"0.3 kg/kWh"`.
    CarbonIntensity: "a carbon intensity such as `300 g/kWh`",
        &[("g/kWh", 1_000_000), ("gCO2e/kWh", 1_000_000), ("gCO2eq/kWh", 1_000_000), ("kg/MWh", 1_000_000), ("kg/kWh", 1_000_000_000)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intensities_are_read_in_grams_and_kilograms() {
        for written in ["300 g/kWh", "300gCO2e/kWh", "300 kg/MWh", "0.3 kg/kWh"] {
            assert_eq!(written.parse(), Ok(CarbonIntensity::from_micrograms(300_000_000)), "{written}");
        }
        assert!("300".parse::<CarbonIntensity>().is_err());
        assert!("0.0000001 g/kWh".parse::<CarbonIntensity>().is_err(), "finer than a microgram");
    }
}
