//! The units of prices and carbon intensities.

use std::fmt;

use crate::formats::decimal;

/// The unit of a series: of what, and which power of ten of the integers it is.
///
/// Prices are integers of 10⁻⁹ of a currency per kilowatt-hour, carbon intensities of micrograms (of CO₂ equivalent) per kilowatt-hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    written: String,
    currency: Option<String>,
    shift: i32,
    carbon: bool,
}

impl Unit {
    /// Reads the unit of prices: `EUR/kWh`, `EUR/MWh`, or without the currency `/kWh`.
    ///
    /// # Errors
    /// A sentence with what is right.
    pub fn price(written: &str) -> Result<Self, String> {
        let fail = || format!("`{written}` is not a unit of prices such as `EUR/MWh` or `EUR/kWh`");
        let (currency, per) = written.trim().split_once('/').ok_or_else(fail)?;
        let (currency, shift) = (currency.trim(), per_energy(per).ok_or_else(fail)?);
        if let Some(what) = measured(currency) {
            return Err(no_currency(written, currency, what));
        }
        if !currency.chars().all(char::is_alphabetic) && currency.chars().count() != 1 {
            return Err(fail());
        }
        let currency = Some(currency.to_owned()).filter(|currency| !currency.is_empty());
        Ok(Self { written: written.trim().to_owned(), currency, shift: 9 + shift, carbon: false })
    }

    /// Reads the unit of carbon intensities: `g/kWh`, `kg/MWh`, `t/MWh`, also as `gCO2e/kWh`.
    ///
    /// # Errors
    /// A sentence with what is right.
    pub fn carbon(written: &str) -> Result<Self, String> {
        let fail = || {
            let near = if Self::price(written).is_ok() { "; did you mean `electricity`?" } else { "" };
            format!("`{written}` is not a unit of carbon intensities such as `g/kWh`{near}")
        };
        let (mass, per) = written.trim().split_once('/').ok_or_else(fail)?;
        let mass = match without_gas(mass.trim()) {
            "mg" => 3,
            "g" => 6,
            "kg" => 9,
            "t" => 12,
            _ => return Err(fail()),
        };
        let shift = mass + per_energy(per).ok_or_else(fail)?;
        Ok(Self { written: written.trim().to_owned(), currency: None, shift, carbon: true })
    }

    /// The currency of prices, if the unit says it.
    pub fn currency(&self) -> Option<&str> {
        self.currency.as_deref()
    }

    /// The value of a number in this unit, to the nearest integer.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn value(&self, number: &str) -> Result<i64, String> {
        self.exactly(number).map(|(value, _)| value)
    }

    /// The value of a number in this unit, and whether it is an integer.
    pub(super) fn exactly(&self, number: &str) -> Result<(i64, bool), String> {
        let (value, exact) =
            decimal::read(number, self.shift).ok_or_else(|| format!("`{number}` is not a number"))?;
        let beyond = || format!("{number} {self}: {}", self.problem(value).unwrap_or("it is too large"));
        i64::try_from(value)
            .ok()
            .filter(|_| self.problem(value).is_none())
            .map(|value| (value, exact))
            .ok_or_else(beyond)
    }

    /// Values in this unit, with as many decimals as the largest needs for four digits.
    pub(super) fn told<const N: usize>(&self, values: [i64; N]) -> [String; N] {
        let values = values.map(|value| value as f64 / libm::pow(10.0, f64::from(self.shift)));
        let largest = values.iter().fold(0f64, |largest, value| largest.max(value.abs()));
        let before = if largest > 0.0 { libm::log10(largest).floor() as i32 } else { 3 };
        let decimals = (3 - before).clamp(0, 9) as usize;
        values.map(|value| format!("{value:.decimals$}"))
    }

    /// Why a value is beyond all reason, if it is.
    fn problem(&self, value: i128) -> Option<&'static str> {
        match self.carbon {
            true if value < 0 => Some("a carbon intensity is 0 or more"),
            true => {
                (value > MOST_CARBON).then_some("a carbon intensity is at most 100000 g/kWh; look at `unit`")
            }
            false => (value.abs() > MOST_PRICE)
                .then_some("a price of electricity is at most 100000/kWh; look at `unit`"),
        }
    }
}

/// 100,000 per kilowatt-hour.
const MOST_PRICE: i128 = 100_000_000_000_000;
/// 100 kg per kilowatt-hour.
const MOST_CARBON: i128 = 100_000_000_000;

/// The power of ten of an energy below a kilowatt-hour.
fn per_energy(written: &str) -> Option<i32> {
    match written.trim() {
        "Wh" => Some(3),
        "kWh" => Some(0),
        "MWh" => Some(-3),
        "GWh" => Some(-6),
        _ => None,
    }
}

/// A mass without the gas of which it is: `g` of `gCO2e`.
fn without_gas(mass: &str) -> &str {
    let gases = ["CO2eq", "CO₂eq", "CO2e", "CO₂e", "CO2", "CO₂"];
    gases.iter().find_map(|gas| mass.strip_suffix(gas)).map_or(mass, str::trim_end)
}

/// What a name is a unit of that is no currency.
pub fn measured(name: &str) -> Option<&'static str> {
    let name = name.trim();
    let bare = without_gas(name);
    let is = |units: &[&str]| {
        // A single letter is what it is; nobody means a currency by `KWH`.
        units.iter().any(|unit| bare == *unit || (bare.len() > 1 && bare.eq_ignore_ascii_case(unit)))
    };
    if bare.len() < name.len()
        || is(&["ug", "µg", "mg", "g", "kg", "t", "kt", "Mt", "lb", "lbs", "ton", "tonne"])
    {
        Some("mass")
    } else if is(&["J", "kJ", "MJ", "GJ", "TJ", "Wh", "kWh", "MWh", "GWh", "TWh"]) {
        Some("energy")
    } else if is(&["mW", "W", "kW", "MW", "GW", "TW"]) {
        Some("power")
    } else {
        None
    }
}

/// Says that what is written as a price is none, since its currency is a unit of something else.
pub fn no_currency(written: &str, name: &str, what: &str) -> String {
    let near = if what == "mass" { "; did you mean `carbon`?" } else { ", such as `EUR`" };
    format!("`{}` is not a price: `{name}` is a unit of {what}, not a currency{near}", written.trim())
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_ten() {
        for (written, currency, shift) in [
            ("EUR/kWh", Some("EUR"), 9),
            ("EUR/MWh", Some("EUR"), 6),
            ("/MWh", None, 6),
            ("€ / kWh", Some("€"), 9),
        ] {
            let unit = Unit::price(written).unwrap();
            assert_eq!((unit.currency(), unit.shift), (currency, shift), "{written}");
        }
        for (written, shift) in [
            ("g/kWh", 6),
            ("gCO2e/kWh", 6),
            ("gCO2eq/kWh", 6),
            ("g CO₂ / kWh", 6),
            ("kg/MWh", 6),
            ("t/MWh", 9),
        ] {
            assert_eq!(Unit::carbon(written).unwrap().shift, shift, "{written}");
        }
        for wrong in ["", "EUR", "EUR/h", "0.25 EUR/kWh", "g/kwh"] {
            assert!(Unit::price(wrong).is_err() && Unit::carbon(wrong).is_err(), "{wrong}");
        }
        assert!(Unit::carbon("lb/MWh").is_err());
    }

    #[test]
    fn masses_energies_and_powers_are_no_currencies() {
        for (written, says) in [
            (
                "g/kWh",
                "`g/kWh` is not a price: `g` is a unit of mass, not a currency; did you mean `carbon`?",
            ),
            ("kg/MWh", "`kg` is a unit of mass"),
            ("gCO2eq/kWh", "`gCO2eq` is a unit of mass"),
            ("CO2e/kWh", "`CO2e` is a unit of mass"),
            ("t / MWh", "`t` is a unit of mass"),
            ("J/kWh", "`J` is a unit of energy, not a currency, such as `EUR`"),
            ("kWh/kWh", "`kWh` is a unit of energy"),
            ("W/kWh", "`W` is a unit of power"),
        ] {
            let error = Unit::price(written).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
        for written in ["EUR/kWh", "ct/kWh", "MWK/kWh", "T/kWh", "G/kWh", "kr/kWh", "/kWh"] {
            assert!(Unit::price(written).is_ok(), "{written}");
            let error = Unit::carbon(written).unwrap_err();
            assert!(error.ends_with("such as `g/kWh`; did you mean `electricity`?"), "{error}");
        }
    }
}
