//! Prices, with the currency if it is written.

use serde_json::Value as Json;
use toml::Value;

use super::Kind;
use super::quantity::{Quantity, exact};
use super::reading::Reading;
use crate::formats::series::{measured, no_currency};
use crate::scenario::tree::Node;

/// A price, and its currency if it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Priced<T> {
    pub(crate) value: T,
    pub(crate) currency: Option<String>,
}

/// Reads a price: `0.25/kWh`, or `0.25 EUR/kWh`.
///
/// # Errors
/// The mistake in the text, and the correct form.
pub(crate) fn price<T: Quantity>(text: &str) -> Result<Priced<T>, String> {
    let parts = parts(text);
    if let Some((_, name, _)) = parts
        && let Some(what) = measured(name)
    {
        return Err(no_currency(text, name, what));
    }
    let is_name = |name: &str| name.chars().all(char::is_alphabetic) || name.chars().count() == 1;
    match parts.filter(|(_, name, _)| is_name(name)) {
        Some((digits, currency, per)) => {
            let value = exact(&format!("{digits}/{per}"))?;
            Ok(Priced { value, currency: Some(currency.to_owned()) })
        }
        None => exact(text).map(|value| Priced { value, currency: None }),
    }
}

/// The number, what stands between it and the slash, and what is behind that: of `0.25 EUR/kWh` `0.25`, `EUR` and `kWh`.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let (price, per) = text.trim().split_once('/')?;
    let behind = price.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_')?;
    let (digits, currency) = (&price[..behind], price[behind..].trim());
    (!currency.is_empty() && !digits.is_empty()).then_some((digits, currency, per))
}

/// A price as it is written.
pub(crate) fn with_currency<T: Quantity>(value: &T, currency: Option<&str>) -> String {
    match currency {
        None => value.text(),
        Some(currency) => value.text().replacen('/', &format!(" {currency}/"), 1),
    }
}

impl<T: Quantity + Kind> Kind for Priced<T> {
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
        reading.text(node, &T::expected(), price)
    }

    fn show(&self) -> Option<Value> {
        Some(Value::String(with_currency(&self.value, self.currency.as_deref())))
    }

    fn expected() -> String {
        T::expected()
    }

    fn schema() -> Json {
        T::schema()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{DataPrice, EnergyPrice, Price};

    #[test]
    fn currencies_stand_between_number_and_unit() {
        for (text, number, currency, per) in [
            ("0.25 EUR/kWh", "0.25", "EUR", "kWh"),
            ("60€/MWh", "60", "€", "MWh"),
            ("300 gCO2e/kWh", "300", "gCO2e", "kWh"),
        ] {
            assert_eq!(parts(text), Some((number, currency, per)));
        }
        for plain in ["0.25/kWh", "0.25", "EUR/kWh", "0.25 EUR", "-1 EUR5/kWh"] {
            assert_eq!(parts(plain), None, "{plain}");
        }
        for (text, says) in [
            (
                "300 g/kWh",
                "`300 g/kWh` is not a price: `g` is a unit of mass, not a currency; did you mean `carbon`?",
            ),
            ("1 gCO2e/kWh", "`gCO2e` is a unit of mass"),
            ("2 J/kWh", "`J` is a unit of energy, not a currency, such as `EUR`"),
            ("2 kWh/kWh", "`kWh` is a unit of energy"),
            ("2 E5/kWh", "is not a price of electricity"),
        ] {
            let error = price::<EnergyPrice>(text).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
        for (text, currency) in [("0.05 EUR/core-h", Some("EUR")), ("0.05/core-h", None), ("0", None)] {
            let read = price::<Price>(text).unwrap();
            assert_eq!(read.currency.as_deref(), currency);
            assert_eq!(price(&with_currency(&read.value, currency)), Ok(read));
        }
        assert_eq!(price::<DataPrice>("0.09 USD/GB").unwrap().currency.as_deref(), Some("USD"));
        assert!(price::<DataPrice>("0.09 g/GB").is_err());
    }
}
