//! What a kilowatt-hour costs, or causes, over time.

use serde_json::{Value as Json, json};
use toml::Value;

use crate::scenario::kind::key::keys;
use crate::scenario::kind::quantity::{Quantity, exact};
use crate::scenario::kind::reading::Reading;
use crate::scenario::kind::{Kind, title};
use crate::scenario::tree::Node;
use crate::units::{CarbonIntensity, EnergyPrice};

keys! {
    /// Values over time: one of `trace` and `day`, and how they are read.
    SeriesKeys, "a table such as `{ trace = \"prices.csv\", unit = \"EUR/MWh\" }`" {
        /// A CSV file [as it is published](energy.md#traces), with a column of times and one of values, plain or gzipped: a path relative to the file that names it,
        /// or `archive:NAME`, searched in the folder `$GRIDEMU_DATA` and its subfolder `energy`. Needs a `calendar`.
        trace: Option<String>;
        /// The values of a day instead, from midnight at the site on, in steps of equal length: 24 for an hour each, 96 for a quarter of one.
        day: Option<Vec<f64>>;
        /// Unit of the values: `"EUR/MWh"`, `"EUR/kWh"` or of any other currency; of carbon `"g/kWh"`, `"kg/MWh"`, `"gCO2e/kWh"`.
        unit: Option<String> => "`g/kWh` of carbon; needed of prices";
        /// Name of the column of values; of a file without names its number.
        column: Option<String> => "the first with numbers";
        /// Name of the column of times.
        time: Option<String> => "the first with times";
        /// Zone of times that do not name theirs: `"UTC"`, `"+01:00"`, or a place, `"Europe/Brussels"`, with its summer time.
        zone: Option<String> => "UTC";
    }
}

/// A price of electricity or a carbon intensity: the same at any time, or values over time.
#[derive(Clone, Debug)]
pub(in crate::scenario) enum PerKwhKey<T> {
    /// The same at any time, with the currency of a price if it is written.
    Flat(T, Option<String>),
    /// Values over time.
    Series(SeriesKeys),
}

impl<T> PerKwhKey<T> {
    /// The values over time, if that is what it is.
    pub(in crate::scenario) const fn series_mut(&mut self) -> Option<&mut SeriesKeys> {
        match self {
            Self::Flat(..) => None,
            Self::Series(keys) => Some(keys),
        }
    }
}

/// What is given per kilowatt-hour.
pub(in crate::scenario) trait Flat: Quantity {
    /// Whether it is money, which may have a currency.
    const MONEY: bool;
}

impl Flat for EnergyPrice {
    const MONEY: bool = true;
}

impl Flat for CarbonIntensity {
    const MONEY: bool = false;
}

/// A price without its currency, and the currency: of `0.25 EUR/kWh` `0.25/kWh` and `EUR`.
fn without_currency(text: &str) -> Option<(String, String)> {
    let (price, per) = text.split_once('/')?;
    let digits = price.trim().trim_end_matches(|c: char| !c.is_ascii_digit() && c != '.' && c != '_');
    let currency = price.trim()[digits.len()..].trim();
    let is_name = currency.chars().all(char::is_alphabetic) || currency.chars().count() == 1;
    (is_name && !currency.is_empty() && !digits.is_empty())
        .then(|| (format!("{digits}/{per}"), currency.to_owned()))
}

impl<T: Flat> Kind for PerKwhKey<T> {
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
        if node.table().is_some() {
            return SeriesKeys::read(node, reading).map(Self::Series);
        }
        reading.text(node, &Self::expected(), |text| match without_currency(text).filter(|_| T::MONEY) {
            Some((price, currency)) => exact(&price).map(|price| Self::Flat(price, Some(currency))),
            None => exact(text).map(|value| Self::Flat(value, None)),
        })
    }

    fn show(&self) -> Option<Value> {
        match self {
            Self::Flat(value, None) => Some(Value::String(value.text())),
            Self::Flat(value, Some(currency)) => {
                Some(Value::String(value.text().replacen('/', &format!(" {currency}/"), 1)))
            }
            Self::Series(keys) => keys.show(),
        }
    }

    fn expected() -> String {
        format!("{} in quotes, such as `\"{}\"`, or {}", T::TITLE, T::EXAMPLE, SeriesKeys::expected())
    }

    fn schema() -> Json {
        let flat = json!({ "title": T::TITLE.split_once(' ').map_or(T::TITLE, |(_, noun)| noun), "type": "string", "examples": [T::EXAMPLE] });
        json!({ "title": format!("{} or table", title(&flat)), "anyOf": [flat, SeriesKeys::schema()] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn currencies_stand_between_number_and_unit() {
        let split = |text: &str| without_currency(text);
        let parts = |price: &str, currency: &str| Some((price.to_owned(), currency.to_owned()));
        assert_eq!(split("0.25 EUR/kWh"), parts("0.25/kWh", "EUR"));
        assert_eq!(split("60€/MWh"), parts("60/MWh", "€"));
        for plain in ["0.25/kWh", "0.25", "EUR/kWh", "0.25 EUR", "-1 EUR5/kWh"] {
            assert_eq!(split(plain), None, "{plain}");
        }
    }
}
