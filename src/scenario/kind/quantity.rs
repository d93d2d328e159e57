//! Quantities: texts with a unit.

use std::fmt;
use std::str::FromStr;

use super::forms::form;
use crate::units::{
    Bandwidth, Bytes, CarbonIntensity, DataEnergy, DataPrice, EnergyPrice, Power, Price, Span,
};

/// A quantity that is written with its unit. Only zero may be written without one.
pub(crate) trait Quantity: FromStr<Err: fmt::Display> + Default + PartialEq {
    /// The name of the quantity, for the pages.
    const TITLE: &'static str;
    /// An example of a valid value.
    const EXAMPLE: &'static str;
    /// The value as a text that reads back exactly.
    fn text(&self) -> String;
}

/// Reads a quantity.
///
/// # Errors
/// The mistake in the text, and the correct form.
pub(crate) fn exact<T: Quantity>(written: &str) -> Result<T, String> {
    let text = written.trim();
    if text.starts_with('-') && text[1..].starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Err(format!(
            "`{text}` is negative; {} must be 0 or more, such as `{}`",
            T::TITLE,
            T::EXAMPLE
        ));
    }
    let value: T = text.parse().map_err(|error: T::Err| error.to_string())?;
    let unitless = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_'));
    if unitless && value != T::default() {
        return Err(format!("`{text}` has no unit; {} is written like `{}`", T::TITLE, T::EXAMPLE));
    }
    Ok(value)
}

/// Declares kinds of quantities.
macro_rules! quantities {
    ($($type:ty, $title:literal, $expected:literal, $example:literal, $text:expr;)+) => {
        $(
            impl Quantity for $type {
                const TITLE: &'static str = $expected;
                const EXAMPLE: &'static str = $example;

                fn text(&self) -> String {
                    let text: fn(&Self) -> String = $text;
                    text(self)
                }
            }

            form!(
                $type,
                $title,
                concat!($expected, " in quotes, such as `\"", $example, "\"`"),
                $example,
                exact,
                Self::text
            );
        )+
    };
}

quantities! {
    Span, "duration", "a duration", "10 min", |span| span.written();
    Power, "power", "a power", "95 W", |power| format!("{} W", decimal(power.milliwatts(), 3));
    Price, "price", "a price a core-hour, in whatever currency", "0.18/core-h",
        |price| format!("{}/core-h", decimal(price.nanos(), 9));
    EnergyPrice, "price of electricity", "a price of electricity", "0.25/kWh",
        |price| format!("{}/kWh", decimal(price.nanos(), 9));
    CarbonIntensity, "carbon intensity", "a carbon intensity", "300 g/kWh",
        |intensity| format!("{} g/kWh", decimal(intensity.micrograms(), 6));
    DataEnergy, "energy of moved data", "an energy of moved data", "5 J/GB",
        |energy| format!("{} J/GB", decimal(energy.nanojoules(), 9));
    DataPrice, "price of moved data", "a price of moved data", "0.09/GB",
        |price| format!("{}/GB", decimal(price.nanos(), 9));
    Bytes, "data", "an amount of data", "200 MB", Self::to_string;
    Bandwidth, "bandwidth", "a bandwidth", "1 Gbit/s", Self::to_string;
}

/// `value` × 10^−`places`, exactly.
fn decimal(value: u64, places: usize) -> String {
    let digits = format!("{value:0width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_reads_back() {
        fn same<T: Quantity + fmt::Debug>(value: T) {
            let text = value.text();
            assert_eq!(exact::<T>(&text).unwrap(), value, "{text}");
        }
        for micros in [0, 1, 999, 1_000, 1_500_000, 60_000_000, 5_400_000_000, 86_400_000_000, u64::MAX] {
            same(Span::from_micros(micros));
            same(Power::from_milliwatts(micros));
            same(Price::from_nanos(micros));
            same(EnergyPrice::from_nanos(micros));
            same(CarbonIntensity::from_micrograms(micros));
            same(DataEnergy::from_nanojoules(micros));
            same(DataPrice::from_nanos(micros));
            same(Bytes::new(micros));
            same(Bandwidth::from_bits(micros));
        }
        assert_eq!(Span::from_secs(5_400).text(), "1.5 h");
        assert_eq!(Span::from_secs(84 * 3_600).text(), "3.5 d");
        assert_eq!(Span::from_micros(61_000_001).text(), "61000001 us");
        assert_eq!(Power::from_milliwatts(92_100).text(), "92.1 W");
        assert_eq!(Price::from_nanos(180_000_000).text(), "0.18/core-h");
    }

    #[test]
    fn units_are_written_out() {
        let refused = |text: &str| exact::<Span>(text).unwrap_err();
        assert_eq!(refused("60"), "`60` has no unit; a duration is written like `10 min`");
        assert_eq!(refused("-5 ms"), "`-5 ms` is negative; a duration must be 0 or more, such as `10 min`");
        assert!(refused("5 parsecs").starts_with("`5 parsecs` is not a duration"));
        assert_eq!(exact("0"), Ok(Span::ZERO));
    }
}
