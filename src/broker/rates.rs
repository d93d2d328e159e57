//! What the processors and the electricity of a pool cost over the time of a run, and the carbon that it causes, as a broker knows it.

use std::fmt;

use ethnum::I256;
use serde::{Deserialize, Serialize};

use crate::model::{DayRates, SiteTariff};
use crate::platform::{Curve, carbon_curve, electricity_curve};
use crate::units::{Money, Price, Span, Time};

/// The prices of a pool and the carbon intensity of its electricity, over time. They are saved as they are described.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "Described", into = "Described")]
pub struct Rates {
    described: Described,
    price: OverTime,
    electricity: Option<OverTime>,
    carbon: Option<OverTime>,
}

/// What rates follow from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "Rates")]
struct Described {
    price: Price,
    tariff: SiteTariff,
}

/// A price or an intensity over time: at any instant it is `unit` × the value of `values`.
#[derive(Clone, Debug)]
pub struct OverTime {
    /// What a value stands for.
    pub unit: i64,
    /// The values.
    pub values: Values,
}

/// Values over time.
#[derive(Clone, Debug)]
pub enum Values {
    /// The same at any time.
    Flat(i64),
    /// Along a curve.
    Along(Curve),
}

impl Rates {
    /// Those of a pool with this price of a core-hour, at a site with this tariff.
    pub fn new(price: Price, tariff: SiteTariff) -> Self {
        Described { price, tariff }.into()
    }

    /// The mean price of a core-hour without factors, and the tariff of the site.
    pub const fn described(&self) -> (Price, &SiteTariff) {
        (self.described.price, &self.described.tariff)
    }

    /// The price of a core-hour, in 10⁻¹² of the currency.
    pub const fn price(&self) -> &OverTime {
        &self.price
    }

    /// What so many processors cost over a stretch, rounded up to 10⁻⁹ of the currency.
    pub fn cost(&self, procs: u32, from: Time, length: Span) -> Money {
        // 10⁻¹² × microseconds over an hour.
        let of_nano = I256::from(3_600_000_000_000_i64);
        let units = self.price.values.over(from, length).saturating_mul(I256::from(self.price.unit));
        let units = units.saturating_mul(I256::from(procs)).saturating_add(of_nano - I256::ONE);
        Money::from_nanos(i128::try_from(units / of_nano).unwrap_or(i128::MAX))
    }

    /// The price of electricity, in 10⁻¹² of the currency per kilowatt-hour, if it has one.
    pub const fn electricity(&self) -> Option<&OverTime> {
        self.electricity.as_ref()
    }

    /// The carbon intensity of electricity, in nanograms per kilowatt-hour, if it is known.
    pub const fn carbon(&self) -> Option<&OverTime> {
        self.carbon.as_ref()
    }
}

impl Default for Rates {
    fn default() -> Self {
        Described::default().into()
    }
}

impl fmt::Debug for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.described.fmt(f)
    }
}

impl PartialEq for Rates {
    fn eq(&self, other: &Self) -> bool {
        self.described == other.described
    }
}

impl Eq for Rates {}

impl From<Described> for Rates {
    fn from(described: Described) -> Self {
        let Described { price, tariff } = &described;
        let unit = i64::try_from(price.nanos()).unwrap_or(i64::MAX);
        let one = Values::Flat(DayRates::ONE as i64);
        let along = |rates| Values::of(Curve::of_day(rates, tariff.starts_at));
        let values = tariff.price_by_hour.filter(|_| unit > 0).map_or(one, along);
        let rate = |(unit, curve)| OverTime { unit, values: Values::of(curve) };
        let (electricity, carbon) = (electricity_curve(tariff).map(rate), carbon_curve(tariff).map(rate));
        Self { price: OverTime { unit, values }, electricity, carbon, described }
    }
}

impl From<Rates> for Described {
    fn from(rates: Rates) -> Self {
        rates.described
    }
}

impl Values {
    /// Those of a curve.
    fn of(curve: Curve) -> Self {
        curve.flat().map_or(Self::Along(curve), Self::Flat)
    }

    /// The integral over a stretch that is so long, in values × microseconds.
    pub fn over(&self, from: Time, length: Span) -> I256 {
        match self {
            Self::Flat(value) => I256::from(*value) * I256::from(length.micros()),
            Self::Along(curve) => I256::from(curve.over(from, from + length)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::PerKwh;

    /// Nights at half the price from 22 to 6, in a run that begins at 21:00: an hour at 1, eight at 0.5, one at 1.
    #[test]
    fn prices_follow_the_hour_of_the_day() {
        let (hour, hours) =
            (|hour: u64| Time::from_secs(hour * 3_600), |hours: u64| Span::from_secs(hours * 3_600));
        let tariff = SiteTariff {
            price_by_hour: Some("22-6=0.5".parse().unwrap()),
            electricity: Some(PerKwh::Flat(-7)),
            starts_at: Span::from_secs(21 * 3_600),
            ..SiteTariff::default()
        };
        let rates = Rates::new(Price::from_nanos(40), tariff);
        assert_eq!(rates.price().unit, 40);
        assert_eq!(rates.price().values.over(hour(0), hours(10)), I256::from(6_000_u64 * 3_600_000_000));
        assert_eq!(rates.cost(2, hour(0), hours(10)), Money::from_nanos(480));
        assert_eq!(rates.cost(3, hour(1), hours(1)), Money::from_nanos(60));
        assert_eq!(rates.cost(1, hour(1), Span::TICK), Money::from_nanos(1), "rounded up");
        let electricity = rates.electricity().unwrap();
        assert!(matches!(electricity.values, Values::Flat(-1)) && electricity.unit == 7_000);
        assert_eq!(electricity.values.over(hour(2), hours(1)), I256::from(-3_600_000_000_i64));
        assert_eq!(electricity.values.over(hour(3), hours(0)), I256::ZERO);
        assert!(rates.carbon().is_none());
        let again: Rates = postcard::from_bytes(&postcard::to_stdvec(&rates).unwrap()).unwrap();
        assert_eq!(again, rates);
        assert_eq!(again.price().values.over(hour(0), hours(1)), I256::from(3_600_000_000_000_u64));
        let free = Rates::new(Price::from_nanos(0), SiteTariff::default());
        assert!(matches!(free.price().values, Values::Flat(1_000)) && free != rates);
    }
}
