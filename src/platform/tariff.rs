//! Energy and cost of a partition's processors, exact and additive.
//!
//! Money depends on the hour of the day, and sums must not depend on how time is divided into stretches. So sums are
//! never in money: [`Tariff::charge`] gives the weighed time of a stretch, which is exact and additive, and
//! [`Tariff::cost`] converts a *total* into money and rounds once. Under a flat price a charge is processor time itself.
//! Electricity likewise: a [`Drawn`] sums up power over stretches, [`Tariff::electricity`] converts it into money.

use std::ops::Range;

use ethnum::I256;

use super::Curve;
use super::bill::Amounts;
use super::drawn::{Draw, Drawn, Stretch};
use super::rates::{carbon_curve, electricity_curve};
use super::usage::ProcTime;
use crate::model::{DayRates, PartitionSpec, ProcSet, SiteTariff};
use crate::units::{Carbon, Energy, Money, Power, Price, Rate, Time};

/// The time of one processor over one hour.
const PROC_HOUR: ProcTime = 3_600_000_000 << Rate::BITS;
/// The nanojoules of a kilowatt-hour.
const KWH: u128 = 3_600_000_000_000_000;
const MILLION: u128 = 1_000_000;
const THOUSAND: u128 = DayRates::ONE as u128;

/// The power and the prices of a partition's processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tariff {
    groups: Vec<Group>,
    /// Whether any machine draws power.
    powered: bool,
    /// The greatest common divisor of the prices per core-hour of all groups.
    price: u128,
    /// The mean price per core-hour.
    mean: u128,
    by_hour: Option<Box<Curve>>,
    electricity: Option<Electricity>,
    /// The carbon intensity: nanograms per kilowatt-hour for each value of the curve.
    carbon: Option<(i64, Curve)>,
    pue_ppm: u64,
}

/// The power and the price of a processor of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    /// Its processors, by number.
    procs: Range<u32>,
    /// In milliwatts.
    idle: u64,
    /// In milliwatts.
    busy: u64,
    /// The price, in units of the common divisor.
    price: u64,
}

/// What a set of processors draws and costs in full use.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// In milliwatts, what the processors draw when idle.
    idle: u128,
    /// In milliwatts, what the processors draw when busy.
    busy: u128,
    /// The processors, each weighed by its price in units of the tariff.
    priced: u128,
}

impl Held {
    /// The power while the processors are in use at `share`: of this share of their time.
    pub fn busy(&self, share: Rate) -> Draw {
        self.busy * u128::from(share.units())
    }

    /// The part of it that the processors draw when idle.
    pub fn idle(&self, share: Rate) -> Draw {
        self.idle * u128::from(share.units())
    }
}

/// The price of electricity.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Electricity {
    /// The same at any time, in 10⁻⁹ per kilowatt-hour.
    Flat(u128),
    /// This times the factor of the hour, in thousandths.
    ByHour(u128, Curve),
    /// 10⁻¹² per kilowatt-hour for each value of the curve.
    Along(i64, Curve),
}

impl Electricity {
    fn of(site: &SiteTariff) -> Option<Self> {
        let Some(price) = site.flat_electricity() else {
            return electricity_curve(site).map(|(unit, curve)| Self::Along(unit, curve));
        };
        let nanos = u128::from(price.nanos());
        let rates = site.electricity_by_hour.filter(|_| nanos > 0);
        let curve = rates.map(|rates| Curve::of_day(rates, site.starts_at));
        Some(curve.map_or(Self::Flat(nanos), |curve| Self::ByHour(nanos, curve)))
    }
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
        let prices = spec.groups.iter().map(|group| group.price.nanos());
        let price = prices.fold(0, divisor);
        let groups = spec.numbered().map(|(machines, group)| Group {
            procs: machines.start * spec.cores..machines.end * spec.cores,
            idle: group.idle.milliwatts(),
            busy: group.busy.milliwatts(),
            price: group.price.nanos().checked_div(price).unwrap_or(1),
        });
        Self {
            groups: groups.collect(),
            powered: spec.groups.iter().any(|group| group.busy > Power::ZERO),
            price: u128::from(price),
            mean: u128::from(spec.price().nanos()),
            // A price of zero has no curve.
            by_hour: curve(site.price_by_hour.filter(|_| price > 0)),
            electricity: Electricity::of(site),
            carbon: carbon_curve(site),
            pue_ppm,
        }
    }

    /// Whether any machine draws power.
    pub const fn is_powered(&self) -> bool {
        self.powered
    }

    /// What so many processors of a group draw when idle.
    pub fn idle_of(&self, group: usize, procs: u32) -> Draw {
        let idle = self.groups.get(group).map_or(0, |group| group.idle);
        (u128::from(idle) * u128::from(procs)) << Rate::BITS
    }

    /// Whether there are processors of several groups.
    pub fn is_mixed(&self) -> bool {
        self.groups.len() > 1
    }

    /// What these processors draw and cost in full use. If all are of one group, their number `count` is enough.
    #[inline]
    pub fn held(&self, procs: &ProcSet, count: u32) -> Held {
        let mut held = Held::default();
        for group in &self.groups {
            let count = if self.is_mixed() { procs.count(group.procs.start, group.procs.end) } else { count };
            // Products of 64 bits cannot exceed 128.
            let times = |value: u64| u128::from(count) * u128::from(value);
            held.idle += times(group.idle);
            held.busy += times(group.busy);
            held.priced += times(group.price);
        }
        held
    }

    /// A stretch of time, with the integrals of the curves over it.
    pub fn stretch(&self, from: Time, to: Time) -> Stretch {
        let priced = match &self.electricity {
            Some(Electricity::ByHour(_, curve) | Electricity::Along(_, curve)) => curve.over(from, to),
            Some(Electricity::Flat(_)) | None => 0,
        };
        let emitted = self.carbon.as_ref().map_or(0, |(_, curve)| curve.over(from, to));
        Stretch { span: to.since(from), priced, emitted }
    }

    /// The charge for processors at `share` between two instants: their time, each weighed by its price in units of the tariff, and
    /// under a price by the hour by the factor of the hour. Sums over stretches go to [`Tariff::cost`].
    #[inline]
    pub fn charge(&self, held: &Held, share: Rate, from: Time, to: Time) -> ProcTime {
        let time = held.priced * u128::from(share.units());
        match &self.by_hour {
            None => time * u128::from(to.since(from).micros()),
            // Factors are not negative.
            Some(curve) => time * curve.over(from, to).unsigned_abs(),
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

    /// The mean price per core-hour at an instant, rounded to the nearest 10⁻⁹.
    pub fn price_at(&self, time: Time) -> Price {
        let rate = self.by_hour.as_ref().map_or(THOUSAND, |curve| curve.at(time).unsigned_abs().into());
        let nanos = (self.mean * rate + THOUSAND / 2) / THOUSAND;
        Price::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// The cost of the facility's energy, given what its processors drew, rounded to the nearest 10⁻⁹; `None` if electricity has no
    /// price.
    ///
    /// Under a price by the hour this is the price of the *equivalent* energy: each nanojoule times the rate of its hour.
    pub fn electricity(&self, drawn: &Drawn) -> Option<Money> {
        self.cost_of(drawn, self.pue_ppm)
    }

    fn cost_of(&self, drawn: &Drawn, pue_ppm: u64) -> Option<Money> {
        let nanos = match self.electricity.as_ref()? {
            Electricity::Flat(price) => facility_cost(drawn.energy(), *price, pue_ppm),
            Electricity::ByHour(price, _) => {
                // Factors are not negative, and at most 10.
                let equivalent = drawn.priced(DayRates::ONE).unsigned_abs().as_u128();
                facility_cost(Energy::from_nanojoules(equivalent), *price, pue_ppm)
            }
            Electricity::Along(unit, _) => along(drawn.priced(1), *unit, 1_000, pue_ppm),
        };
        Some(Money::from_nanos(nanos))
    }

    /// What the machines drew (without PUE), what that cost and the carbon that it caused, each rounded to the nearest; zero where it is
    /// not known.
    pub fn amounts(&self, drawn: &Drawn) -> Amounts {
        let without_pue = MILLION as u64;
        Amounts {
            energy: drawn.energy(),
            electricity: self.cost_of(drawn, without_pue).unwrap_or_default(),
            carbon: self.carbon_of(drawn, without_pue).unwrap_or_default(),
        }
    }

    /// The carbon that the facility's energy caused, rounded to the nearest nanogram; `None` if the intensity is not known.
    pub fn carbon(&self, drawn: &Drawn) -> Option<Carbon> {
        self.carbon_of(drawn, self.pue_ppm)
    }

    fn carbon_of(&self, drawn: &Drawn, pue_ppm: u64) -> Option<Carbon> {
        let (unit, _) = self.carbon.as_ref()?;
        Some(Carbon::from_nanograms(along(drawn.emitted(), *unit, 1, pue_ppm)))
    }
}

/// Energy of the whole facility: that of the processors times a PUE of `pue_ppm` × 10⁻⁶, rounded to the nearest nanojoule.
pub fn facility(meter: Energy, pue_ppm: u64) -> Energy {
    // In two parts, since the product of the largest meter with its PUE would overflow.
    let (meter, pue) = (meter.nanojoules(), u128::from(pue_ppm));
    let part = (meter % MILLION * pue + MILLION / 2) / MILLION;
    Energy::from_nanojoules(meter / MILLION * pue + part)
}

/// The cost of what a facility draws for this energy of its machines, at a price in 10⁻⁹ per kilowatt-hour.
fn facility_cost(meter: Energy, price: u128, pue_ppm: u64) -> i128 {
    let energy = facility(meter, pue_ppm).nanojoules();
    let part = ((energy % KWH) * price + KWH / 2) / KWH;
    (energy / KWH * price + part) as i128
}

/// What a facility draws for an integral in nanojoules × values, each value `unit` parts per kilowatt-hour, in units of `parts`.
fn along(integral: I256, unit: i64, parts: i128, pue_ppm: u64) -> i128 {
    let short = i128::try_from(integral).ok();
    short.and_then(|integral| along_short(integral, unit, parts, pue_ppm)).unwrap_or_else(|| {
        let million = I256::from(MILLION);
        let facility = (integral * I256::from(pue_ppm) + million / 2).div_euclid(million);
        let per = I256::from(KWH) * I256::from(parts);
        // Energy is below 2¹⁰⁸ nanojoules, values are bounded: what this is in money or carbon has less than 128 bits.
        (facility * I256::from(unit) + per / 2).div_euclid(per).as_i128()
    })
}

/// The same in integers of 128 bits, which are faster; `None` if they are too short for it.
fn along_short(integral: i128, unit: i64, parts: i128, pue_ppm: u64) -> Option<i128> {
    const MILLION: i128 = super::tariff::MILLION as i128;
    let (pue, unit) = (i128::from(pue_ppm), i128::from(unit));
    let (whole, part) = (integral.div_euclid(MILLION), integral.rem_euclid(MILLION));
    let facility = whole.checked_mul(pue)?.checked_add((part * pue + MILLION / 2) / MILLION)?;
    let per = KWH as i128 * parts;
    let (whole, part) = (facility.div_euclid(per), facility.rem_euclid(per));
    let part = part.checked_mul(unit)?.checked_add(per / 2)?.div_euclid(per);
    whole.checked_mul(unit)?.checked_add(part)
}

/// The greatest common divisor.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests;
