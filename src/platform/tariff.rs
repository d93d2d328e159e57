//! Energy and cost of a partition's processors, exact and additive.
//!
//! Money depends on the hour of the day, and sums must not depend on how time is divided into stretches. So sums are
//! never in money: [`Tariff::charge`] gives the weighed time of a stretch, which is exact and additive, and
//! [`Tariff::cost`] converts a *total* into money and rounds once. Under a flat price a charge is processor time itself.
//! Electricity likewise: [`Tariff::weigh`] gives a stretch, [`Tariff::electricity`] converts an account into money.

use super::Curve;
use super::usage::{ProcTime, Usage};
use crate::model::{DayRates, PartitionSpec, SiteTariff};
use crate::units::{Energy, EnergyPrice, Money, Power, Price, Rate, Time};

/// The time of one processor over one hour.
const PROC_HOUR: ProcTime = 3_600_000_000 << Rate::BITS;
/// The nanojoules of a kilowatt-hour.
const KWH: u128 = 3_600_000_000_000_000;
const MILLION: u128 = 1_000_000;
const THOUSAND: u128 = DayRates::ONE as u128;

/// Processor time weighed by a day's rates, in thousandths: ∫ processors × share × rate.
pub type WeighedTime = u128;

/// The power and the prices of a partition's processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tariff {
    idle: u128,
    busy: u128,
    price: u128,
    by_hour: Option<Box<Curve>>,
    electricity: Option<Electricity>,
}

/// The price of electricity.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Electricity {
    price: u128,
    pue_ppm: u64,
    by_hour: Option<Box<Curve>>,
}

impl Tariff {
    /// The flat tariff of a partition, without a price of electricity.
    pub fn of(spec: &PartitionSpec) -> Self {
        Self::new(spec, &SiteTariff::default(), MILLION as u64)
    }

    /// The tariff of a partition of a site whose PUE is `pue_ppm` × 10⁻⁶.
    pub fn new(spec: &PartitionSpec, site: &SiteTariff, pue_ppm: u64) -> Self {
        let curve =
            |rates: Option<DayRates>| rates.map(|rates| Box::new(Curve::of_day(rates, site.starts_at)));
        Self {
            idle: u128::from(spec.idle.milliwatts()),
            busy: u128::from(spec.busy.milliwatts()),
            price: u128::from(spec.price.nanos()),
            // A price of zero has no curve.
            by_hour: curve(site.price_by_hour.filter(|_| spec.price > Price::ZERO)),
            electricity: site.flat_electricity().map(|price| Electricity {
                price: u128::from(price.nanos()),
                pue_ppm,
                by_hour: curve(site.electricity_by_hour.filter(|_| price > EnergyPrice::ZERO)),
            }),
        }
    }

    /// Energy charged to the user of `time` of a processor: its share of the time at busy power.
    ///
    /// It is summed over jobs before it is rounded, so that jobs and idle processors together equal the meter exactly.
    pub const fn busy_energy(&self, time: ProcTime) -> Energy {
        let (whole, part) = split(time);
        Energy::from_nanojoules(whole * self.busy + ((part * self.busy) >> Rate::BITS))
    }

    /// Energy of all processors: `busy` of the time at busy power, the rest of `powered` at idle power.
    pub const fn meter(&self, busy: ProcTime, powered: ProcTime) -> Energy {
        let (busy_whole, busy_part) = split(busy);
        let (idle_whole, idle_part) = split(powered.saturating_sub(busy));
        let parts = (busy_part * self.busy + idle_part * self.idle) >> Rate::BITS;
        Energy::from_nanojoules(busy_whole * self.busy + idle_whole * self.idle + parts)
    }

    /// The power of processors of which `busy` × 2⁻²⁰ are in use and `powered` × 2⁻²⁰ are present.
    pub const fn power(&self, busy: u64, powered: u64) -> Power {
        let idle = powered.saturating_sub(busy) as u128;
        let drawn = (busy as u128 * self.busy + idle * self.idle) >> Rate::BITS;
        // At most 2²⁶ processors of 10⁹ mW.
        Power::from_milliwatts(drawn as u64)
    }

    /// The charge for `procs` processors at `share` between two instants: their processor time, or under a price
    /// by the hour their weighed time. Sums over stretches go to [`Tariff::cost`].
    pub fn charge(&self, procs: u32, share: Rate, from: Time, to: Time) -> ProcTime {
        match &self.by_hour {
            None => Usage::proc_time(procs, share, to.since(from)),
            Some(curve) => weighed(procs, share, curve.over(from, to)),
        }
    }

    /// The cost of a charge, rounded to the nearest 10⁻⁹. Under a flat price a charge is processor time.
    pub fn cost(&self, charge: ProcTime) -> Money {
        if self.price == 0 {
            // This avoids a division of 128 bits per segment where everything is free.
            return Money::ZERO;
        }
        let hour = if self.by_hour.is_some() { PROC_HOUR * THOUSAND } else { PROC_HOUR };
        let part = ((charge % hour) * self.price + hour / 2) / hour;
        Money::from_nanos((charge / hour * self.price + part) as i128)
    }

    /// The price per core-hour at an instant, rounded to the nearest 10⁻⁹.
    pub fn price_at(&self, time: Time) -> Price {
        let rate = self.by_hour.as_ref().map_or(THOUSAND, |curve| curve.at(time).unsigned_abs().into());
        let nanos = (self.price * rate + THOUSAND / 2) / THOUSAND;
        Price::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Processor time between two instants, weighed by the price of electricity; zero if that is the same at any
    /// hour, because the result is not needed then.
    pub fn weigh(&self, procs: u32, share: Rate, from: Time, to: Time) -> WeighedTime {
        match self.electricity.as_ref().and_then(|electricity| electricity.by_hour.as_ref()) {
            None => 0,
            Some(curve) => weighed(procs, share, curve.over(from, to)),
        }
    }

    /// The cost of the facility's energy in an account, rounded to the nearest 10⁻⁹; `None` if electricity has no price.
    ///
    /// Under a price by the hour this is the price of the *equivalent* energy: each nanojoule times the rate of its hour.
    pub fn electricity(&self, usage: &Usage) -> Option<Money> {
        let electricity = self.electricity.as_ref()?;
        let meter = match &electricity.by_hour {
            None => self.meter(usage.busy(), usage.powered()),
            Some(curve) => {
                let nominal = weighed(usage.processors, Rate::FULL, curve.over(usage.from, usage.to));
                self.weighed_meter(usage.busy_weighed, nominal.saturating_sub(usage.down_weighed))
            }
        };
        let energy = facility(meter, electricity.pue_ppm).nanojoules();
        let part = ((energy % KWH) * electricity.price + KWH / 2) / KWH;
        Some(Money::from_nanos((energy / KWH * electricity.price + part) as i128))
    }

    /// [`Tariff::meter`] of weighed times.
    fn weighed_meter(&self, busy: WeighedTime, powered: WeighedTime) -> Energy {
        const UNIT: u128 = THOUSAND << Rate::BITS;
        let idle = powered.saturating_sub(busy);
        let parts = ((busy % UNIT) * self.busy + (idle % UNIT) * self.idle) / UNIT;
        Energy::from_nanojoules(busy / UNIT * self.busy + idle / UNIT * self.idle + parts)
    }
}

/// Energy of the whole facility: that of the processors times a PUE of `pue_ppm` × 10⁻⁶, rounded to the nearest nanojoule.
pub fn facility(meter: Energy, pue_ppm: u64) -> Energy {
    // In two parts, since the product of the largest meter with its PUE would overflow.
    let (meter, pue) = (meter.nanojoules(), u128::from(pue_ppm));
    let part = (meter % MILLION * pue + MILLION / 2) / MILLION;
    Energy::from_nanojoules(meter / MILLION * pue + part)
}

/// Factors are not negative.
fn weighed(procs: u32, share: Rate, integral: i128) -> WeighedTime {
    u128::from(procs) * u128::from(share.units()) * integral.unsigned_abs()
}

/// Whole processor-microseconds, and the rest in 2⁻²⁰. Each is multiplied separately: the largest machine to the end of
/// the time axis is 2¹¹⁰, and its product with the highest power or price would overflow.
const fn split(time: ProcTime) -> (u128, u128) {
    (time >> Rate::BITS, time & (Rate::FULL.units() as u128 - 1))
}

#[cfg(test)]
mod tests;
