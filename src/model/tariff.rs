//! Prices and carbon intensity of a site over time.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::PerKwh;
use super::text::saved_as_text;
use crate::units::{EnergyPrice, Span};

/// Prices of a site that depend on the hour of the day, and price and carbon intensity of its electricity. By default there is none.
///
/// These are factors rather than prices by the hour, so that one day fits all partitions, whose prices differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteTariff {
    /// Factors on the partitions' prices per core-hour; flat if there are none.
    pub price_by_hour: Option<DayRates>,
    /// The price of electricity in 10⁻⁹ per kilowatt-hour; `None` if the scenario gives none.
    pub electricity: Option<PerKwh>,
    /// Factors on a flat price of electricity; flat if there are none.
    pub electricity_by_hour: Option<DayRates>,
    /// The carbon intensity of electricity in micrograms per kilowatt-hour; `None` if the scenario gives none.
    pub carbon: Option<PerKwh>,
    /// Factors on a flat carbon intensity; flat if there are none.
    pub carbon_by_hour: Option<DayRates>,
    /// The time of day at the site when the run begins, less than 24 h: for logs that do not begin at midnight, and for
    /// sites in other time zones.
    pub starts_at: Span,
}

/// The highest price of electricity, 10⁵ units per kilowatt-hour in 10⁻⁹, so that the largest site's bill does not overflow.
const MOST_ELECTRICITY: i64 = 100_000_000_000_000;
/// The highest carbon intensity: 100 kg per kilowatt-hour in micrograms.
const MOST_CARBON: i64 = 100_000_000_000;
const DAY: Span = Span::from_secs(86_400);

impl SiteTariff {
    /// The price of electricity, if it is the same at any time but for its factors.
    pub fn flat_electricity(&self) -> Option<EnergyPrice> {
        match self.electricity {
            Some(PerKwh::Flat(nanos)) => u64::try_from(nanos).ok().map(EnergyPrice::from_nanos),
            _ => None,
        }
    }

    /// Checks it.
    ///
    /// # Errors
    /// A sentence about the site.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        let Self { electricity, electricity_by_hour, carbon, carbon_by_hour, starts_at, .. } = self;
        let range = |of: &Option<PerKwh>| of.as_ref().and_then(PerKwh::range).unwrap_or((0, 0));
        let is_flat = |of: &Option<PerKwh>| matches!(of, Some(PerKwh::Flat(_)));
        let is_day = |of: &Option<PerKwh>| match of {
            Some(PerKwh::Day(values)) => PerKwh::fill_a_day(values.len()),
            _ => true,
        };
        let (price, intensity) = (range(electricity), range(carbon));
        if price.0 < -MOST_ELECTRICITY || price.1 > MOST_ELECTRICITY {
            return Err("its electricity costs too much: at most 100000 per kWh");
        }
        if intensity.0 < 0 || intensity.1 > MOST_CARBON {
            return Err("the carbon intensity of its electricity must be from 0 to 100000 g/kWh");
        }
        if electricity_by_hour.is_some() && !is_flat(electricity) {
            return Err("factors on the price of its electricity are given, but no flat price");
        }
        if carbon_by_hour.is_some() && !is_flat(carbon) {
            return Err("factors on its carbon intensity are given, but no flat one");
        }
        if !is_day(electricity) || !is_day(carbon) {
            return Err("a day needs values for steps of equal length, such as 24 or 48");
        }
        if *starts_at >= DAY {
            return Err("the time of day at which it starts must be less than 24 h");
        }
        Ok(())
    }
}

/// A factor for each hour of the day, from 0 to 10 with at most three decimals.
///
/// Written like `22-6=0.5,17-20=1.8`: from the first hour until the second, which may be on the next day. Hours that are
/// not named have the factor 1; `flat` names none.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DayRates([u16; 24]);

/// Invalid factors.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DayRatesError {
    /// A syntax error.
    #[error("`{0}` is not of the form `22-6=0.5,17-20=1.8`: hours of the day, each with a factor")]
    Syntax(String),
    /// Invalid hours of a day.
    #[error("`{0}` are not hours of a day: they must be 0 to 24, and differ")]
    Hours(String),
    /// Two factors for one hour.
    #[error("the hour from {hour} to {} has two factors in `{written}`", hour + 1)]
    Twice {
        /// The hour.
        hour: u8,
        /// The whole text.
        written: String,
    },
    /// A factor that is out of range, or too precise.
    #[error("`{0}` is not a factor from 0 to 10 with at most three decimals")]
    Factor(String),
}

impl DayRates {
    /// The factor 1 in the unit of factors: thousandths.
    pub const ONE: u64 = 1_000;

    /// The factor 1 at any hour.
    pub const FLAT: Self = Self([1_000; 24]);

    /// The factors in thousandths, by hour from midnight on.
    pub fn thousandths(&self) -> impl ExactSizeIterator<Item = u64> {
        self.0.into_iter().map(u64::from)
    }
}

fn thousandths(factor: f64) -> Option<u16> {
    let scaled = factor * DayRates::ONE as f64;
    let whole = libm::round(scaled);
    let exact = libm::fabs(scaled - whole) < 1e-6;
    (exact && (0.0..=10_000.0).contains(&whole)).then_some(whole as u16)
}

impl FromStr for DayRates {
    type Err = DayRatesError;

    fn from_str(written: &str) -> Result<Self, DayRatesError> {
        let syntax = || DayRatesError::Syntax(written.to_owned());
        let mut rates: [Option<u16>; 24] = [None; 24];
        let stretches = if written.trim() == "flat" { "" } else { written };
        if stretches.is_empty() && written.trim() != "flat" {
            return Err(syntax());
        }
        for stretch in stretches.split(',').filter(|_| !stretches.is_empty()) {
            let (hours, factor) = stretch.split_once('=').ok_or_else(syntax)?;
            let (from, to) = hours.split_once('-').ok_or_else(syntax)?;
            let hour = |text: &str| text.trim().parse::<usize>().map_err(|_| syntax());
            let (from, to) = (hour(from)?, hour(to)?);
            if from > 24 || to > 24 || from % 24 == to % 24 && (from, to) != (0, 24) {
                return Err(DayRatesError::Hours(hours.trim().to_owned()));
            }
            let value = factor.trim().parse().ok().and_then(thousandths);
            let value = value.ok_or_else(|| DayRatesError::Factor(factor.trim().to_owned()))?;
            let to = if to <= from { to + 24 } else { to };
            for hour in from..to {
                if rates[hour % 24].replace(value).is_some() {
                    return Err(DayRatesError::Twice {
                        hour: (hour % 24) as u8,
                        written: written.to_owned(),
                    });
                }
            }
        }
        Ok(Self(rates.map(|rate| rate.unwrap_or(1_000))))
    }
}

impl fmt::Display for DayRates {
    /// Writes stretches of equal factors from midnight on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        let mut from = 0;
        for stretch in self.0.chunk_by(|a, b| a == b) {
            let to = from + stretch.len();
            if stretch[0] != 1_000 {
                let comma = if first { "" } else { "," };
                write!(f, "{comma}{from}-{to}={}", f64::from(stretch[0]) / 1e3)?;
                first = false;
            }
            from = to;
        }
        if first { f.write_str("flat") } else { Ok(()) }
    }
}

impl fmt::Debug for DayRates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DayRates({self})")
    }
}

saved_as_text!(DayRates);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Named, SiteSpec};

    #[test]
    fn hours_may_go_on_to_the_next_day() {
        let night: DayRates = "22-6=0.5, 17-20=1.8".parse().unwrap();
        let factors: Vec<u64> = night.thousandths().collect();
        assert_eq!(factors[..8], [500, 500, 500, 500, 500, 500, 1_000, 1_000]);
        assert_eq!(factors[16..], [1_000, 1_800, 1_800, 1_800, 1_000, 1_000, 500, 500]);
        assert_eq!(night.to_string(), "0-6=0.5,17-20=1.8,22-24=0.5");
        assert_eq!(night.to_string().parse(), Ok(night));
        assert_eq!("0-24=0.125".parse::<DayRates>().unwrap().to_string(), "0-24=0.125");
        assert_eq!("flat".parse(), Ok(DayRates::FLAT));
        assert_eq!(DayRates::FLAT.to_string(), "flat");
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_would_be_right() {
        for (written, says) in [
            ("", "not of the form"),
            ("night=0.5", "not of the form"),
            ("22-6", "not of the form"),
            ("1-2=0.5,", "not of the form"),
            ("22-25=0.5", "`22-25` are not hours of a day"),
            ("7-7=0.5", "they must be 0 to 24, and differ"),
            ("24-0=0.5", "they must be 0 to 24, and differ"),
            ("22-6=0.5,5-8=2", "the hour from 5 to 6 has two factors"),
            ("1-2=-1", "`-1` is not a factor from 0 to 10 with at most three decimals"),
            ("1-2=0.0005", "at most three decimals"),
            ("1-2=10.001", "from 0 to 10"),
            ("1-2=nan", "from 0 to 10"),
        ] {
            let error = written.parse::<DayRates>().unwrap_err().to_string();
            assert!(error.contains(says), "{written}: {error}");
        }
    }

    #[test]
    fn tariffs_that_make_no_sense_are_refused() {
        let check = |tariff: SiteTariff| {
            let site = SiteSpec { tariff, ..SiteSpec::plain("windsor", 1, Named::bare("fcfs")) };
            site.check().map_err(|error| error.to_string())
        };
        let sound = || SiteTariff {
            electricity: Some(PerKwh::Flat(MOST_ELECTRICITY)),
            electricity_by_hour: Some("22-6=0.5".parse().unwrap()),
            carbon: Some(PerKwh::Day(vec![0; 96])),
            starts_at: Span::from_secs(86_399),
            ..SiteTariff::default()
        };
        assert_eq!(check(sound()), Ok(()));
        let by_hour = sound().electricity_by_hour;
        for (tariff, says) in [
            (SiteTariff { electricity: None, ..sound() }, "are given, but no flat price"),
            (SiteTariff { electricity: Some(PerKwh::Day(vec![1; 24])), ..sound() }, "but no flat price"),
            (
                SiteTariff { electricity: Some(PerKwh::Flat(MOST_ELECTRICITY + 1)), ..sound() },
                "at most 100000 per kWh",
            ),
            (SiteTariff { carbon: Some(PerKwh::Flat(-1)), ..sound() }, "must be from 0 to 100000 g/kWh"),
            (SiteTariff { carbon: Some(PerKwh::Day(vec![1; 7])), ..sound() }, "such as 24"),
            (SiteTariff { carbon_by_hour: by_hour, ..sound() }, "but no flat one"),
            (SiteTariff { starts_at: DAY, ..sound() }, "must be less than 24 h"),
        ] {
            let error = check(tariff).unwrap_err();
            assert!(error.contains("site `windsor`") && error.contains(says), "{error}");
        }
    }
}
