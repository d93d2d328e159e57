//! Quantities and words as values of keys: a text with a unit.

mod either;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

pub use either::{Or, Words};

use crate::units::{Bandwidth, Bytes, EnergyPrice, Power, Price, Span};

/// A quantity that is written with its unit. Only zero may stand without one.
pub trait Quantity: FromStr<Err: fmt::Display> + Default + PartialEq {
    /// What it is, for the schema.
    const TITLE: &'static str;
    /// One that would be right.
    const EXAMPLE: &'static str;
    /// As text that reads back exactly.
    fn text(&self) -> String;
}

/// A [`Quantity`] in a scenario.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Written<T>(pub T);

impl Quantity for Span {
    const TITLE: &'static str = "a duration";
    const EXAMPLE: &'static str = "10 min";

    fn text(&self) -> String {
        // At most one decimal.
        const UNITS: [(&str, u64); 5] = [
            ("d", 86_400_000_000),
            ("h", 3_600_000_000),
            ("min", 60_000_000),
            ("s", 1_000_000),
            ("ms", 1_000),
        ];
        let micros = self.micros();
        let short = |unit: u64| micros >= unit && (u128::from(micros) * 10).is_multiple_of(u128::from(unit));
        match UNITS.iter().find(|(_, unit)| short(*unit)) {
            Some((name, unit)) => {
                let tenths = u128::from(micros) * 10 / u128::from(*unit);
                let fraction = if tenths % 10 == 0 { String::new() } else { format!(".{}", tenths % 10) };
                format!("{}{fraction} {name}", tenths / 10)
            }
            None if micros == 0 => "0 s".to_owned(),
            None => format!("{micros} us"),
        }
    }
}

impl Quantity for Power {
    const TITLE: &'static str = "a power";
    const EXAMPLE: &'static str = "95 W";

    fn text(&self) -> String {
        format!("{} W", decimal(self.milliwatts(), 3))
    }
}

impl Quantity for Price {
    const TITLE: &'static str = "a price a core-hour, in whatever currency";
    const EXAMPLE: &'static str = "0.18/core-h";

    fn text(&self) -> String {
        format!("{}/core-h", decimal(self.nanos(), 9))
    }
}

impl Quantity for EnergyPrice {
    const TITLE: &'static str = "a price of electricity";
    const EXAMPLE: &'static str = "0.25/kWh";

    fn text(&self) -> String {
        format!("{}/kWh", decimal(self.nanos(), 9))
    }
}

impl Quantity for Bytes {
    const TITLE: &'static str = "an amount of data";
    const EXAMPLE: &'static str = "200 MB";

    fn text(&self) -> String {
        self.to_string()
    }
}

impl Quantity for Bandwidth {
    const TITLE: &'static str = "a bandwidth";
    const EXAMPLE: &'static str = "1 Gbit/s";

    fn text(&self) -> String {
        self.to_string()
    }
}

/// `value` × 10^−`places`, exactly.
fn decimal(value: u64, places: usize) -> String {
    let digits = format!("{value:0width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

impl<T: Quantity> Written<T> {
    fn read(written: &str) -> Result<Self, String> {
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
        Ok(Self(value))
    }
}

impl<T: Quantity> FromStr for Written<T> {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        Self::read(written)
    }
}

impl<T: Quantity> fmt::Display for Written<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text())
    }
}

impl<'de, T: Quantity> Deserialize<'de> for Written<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = format!("{} in quotes, such as `\"{}\"`", T::TITLE, T::EXAMPLE);
        text_or_number(deserializer, expected)
    }
}

impl<T: Quantity> Serialize for Written<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<T: Quantity> JsonSchema for Written<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::TITLE.replace(' ', "-").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number"], "examples": [T::EXAMPLE] })
    }
}

/// Reads a text, or a number as the text that it is written with.
pub(in crate::experiment) fn text_or_number<'de, D, T>(
    deserializer: D,
    expected: String,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: fmt::Display>,
{
    struct Reader<T>(String, PhantomData<T>);

    impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for Reader<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(&self.0)
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
            self.visit_str(&number.to_string())
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
            self.visit_str(&number.to_string())
        }

        fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
            self.visit_str(&number.to_string())
        }
    }

    deserializer.deserialize_any(Reader(expected, PhantomData))
}

/// Makes a type whose values are a word or a text of a form, read and shown through `FromStr` and `Display`.
macro_rules! textual {
    ($type:ty, $title:literal, $example:literal) => {
        textual!($type, $title, $example, |value, serializer| serializer.collect_str(value));
    };
    ($type:ty, $title:literal, $example:literal, |$value:ident, $serializer:ident| $written:expr) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                crate::experiment::scenario::quantity::text_or_number(deserializer, $title.to_owned())
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, $serializer: S) -> Result<S::Ok, S::Error> {
                let $value = self;
                $written
            }
        }

        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": ["string", "number"], "examples": [$example] })
            }
        }
    };
}

pub(super) use textual;

/// Makes an enum of words: how each is written.
macro_rules! words {
    ($type:ty, $expected:literal, $example:literal, $($word:literal => $value:expr),+ $(,)?) => {
        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(written: &str) -> Result<Self, String> {
                match written {
                    $($word => Ok($value),)+
                    _ => Err(format!("`{written}` is not {}", $expected)),
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $(if *self == $value { return f.write_str($word); })+
                Ok(())
            }
        }

        impl crate::experiment::scenario::quantity::Words for $type {
            const EXPECTED: &'static str = $expected;
            const EXAMPLE: &'static str = $example;
        }
    };
}

pub(super) use words;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_reads_back() {
        fn same<T: Quantity + fmt::Debug>(value: T) {
            let text = value.text();
            assert_eq!(text.parse::<Written<T>>().unwrap().0, value, "{text}");
        }
        for micros in [0, 1, 999, 1_000, 1_500_000, 60_000_000, 5_400_000_000, 86_400_000_000, u64::MAX] {
            same(Span::from_micros(micros));
            same(Power::from_milliwatts(micros));
            same(Price::from_nanos(micros));
            same(EnergyPrice::from_nanos(micros));
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
        let refused = |text: &str| text.parse::<Written<Span>>().unwrap_err();
        assert_eq!(refused("60"), "`60` has no unit; a duration is written like `10 min`");
        assert_eq!(refused("-5 ms"), "`-5 ms` is negative; a duration must be 0 or more, such as `10 min`");
        assert!(refused("5 parsecs").starts_with("`5 parsecs` is not a duration"));
        assert_eq!("0".parse(), Ok(Written(Span::ZERO)));
    }
}
