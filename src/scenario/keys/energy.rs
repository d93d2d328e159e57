//! What a kilowatt-hour costs, or causes, over time.

use serde_json::{Value as Json, json};
use toml::Value;

use crate::scenario::kind::key::keys;
use crate::scenario::kind::priced::{Priced, price, with_currency};
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
    /// The same at any time.
    Flat {
        /// How much, without its sign.
        value: T,
        /// Whether it is below 0, as prices may be.
        below_zero: bool,
        /// The currency of a price, if it is written.
        currency: Option<String>,
    },
    /// Values over time.
    Series(SeriesKeys),
}

impl<T> PerKwhKey<T> {
    /// The values over time, if that is what it is.
    pub(in crate::scenario) const fn series_mut(&mut self) -> Option<&mut SeriesKeys> {
        match self {
            Self::Flat { .. } => None,
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

impl<T: Flat> Kind for PerKwhKey<T> {
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
        if node.table().is_some() {
            return SeriesKeys::read(node, reading).map(Self::Series);
        }
        reading.text(node, &Self::expected(), |text| {
            if !T::MONEY {
                let read = exact(text).map(|value| Self::Flat { value, below_zero: false, currency: None });
                let is_price = || price::<EnergyPrice>(text.trim().trim_start_matches('-')).is_ok();
                return read.map_err(|error| {
                    let near =
                        if is_price() && text.contains('/') { "; did you mean `electricity`?" } else { "" };
                    format!("{error}{near}")
                });
            }
            let text = text.trim();
            let negative = text
                .strip_prefix('-')
                .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'));
            let Priced { value, currency } = price(negative.unwrap_or(text))?;
            let below_zero = negative.is_some() && value != T::default();
            Ok(Self::Flat { value, below_zero, currency })
        })
    }

    fn show(&self) -> Option<Value> {
        match self {
            Self::Flat { value, below_zero, currency } => {
                let sign = if *below_zero { "-" } else { "" };
                Some(Value::String(format!("{sign}{}", with_currency(value, currency.as_deref()))))
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
