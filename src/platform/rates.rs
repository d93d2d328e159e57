//! The curves of what a kilowatt-hour costs at a site, and of the carbon that it causes there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::Curve;
use super::curve::Shape;
use crate::model::{DayRates, PerKwh, SiteTariff, Trace};
use crate::units::Span;

const DAY: Span = Span::from_secs(86_400);
/// Values in the unit of curves for each in that of descriptions: factors have three decimals.
const THOUSAND: i64 = DayRates::ONE as i64;

/// The price of electricity at a site as (unit, curve): at any instant it is unit × value of the curve, in 10⁻¹² of the currency per
/// kilowatt-hour. `None` if it has no price, or the values of its trace are not at hand.
///
/// The unit is the greatest one with which all values are integers, so that integrals stay small.
pub fn electricity_curve(tariff: &SiteTariff) -> Option<(i64, Curve)> {
    curve(tariff.electricity.as_ref()?, tariff.electricity_by_hour, tariff.starts_at)
}

/// The carbon intensity of electricity at a site as (unit, curve), like [`electricity_curve`], in nanograms of CO₂ equivalent per
/// kilowatt-hour.
pub fn carbon_curve(tariff: &SiteTariff) -> Option<(i64, Curve)> {
    curve(tariff.carbon.as_ref()?, tariff.carbon_by_hour, tariff.starts_at)
}

fn curve(of: &PerKwh, by_hour: Option<DayRates>, starts_at: Span) -> Option<(i64, Curve)> {
    let day = |values: &[i64]| {
        let (unit, values) = divided(values.iter().copied());
        let length = DAY.micros() / values.len().max(1) as u64;
        let begin = |(at, value): (u64, &i64)| (Span::from_micros(at * length), *value);
        let steps: Vec<(Span, i64)> = (0..).zip(&values).map(begin).collect();
        (unit, Curve::periodic(&steps, DAY, starts_at))
    };
    match of {
        PerKwh::Flat(value) => {
            let rates = by_hour.unwrap_or(DayRates::FLAT);
            let values: Vec<i64> = rates.thousandths().map(|rate| value * rate as i64).collect();
            Some(if by_hour.is_some() { day(&values) } else { day(&values[..1]) })
        }
        PerKwh::Day(values) => Some(day(&values.iter().map(|value| value * THOUSAND).collect::<Vec<i64>>())),
        PerKwh::Trace { trace, origin } => {
            let (unit, shape) = shared(trace)?;
            Some((unit, Curve::on(&shape, *origin)))
        }
    }
}

/// The greatest common divisor of all values, 1 if they are all 0, and the values divided by it.
fn divided(values: impl Iterator<Item = i64> + Clone) -> (i64, Vec<i64>) {
    let unit = values.clone().fold(0, |unit, value| gcd(unit, value.unsigned_abs())).max(1);
    // A single value of -2⁶³ would have a divisor that is no value; there is none of that size.
    let unit = i64::try_from(unit).unwrap_or(1);
    (unit, values.map(|value| value / unit).collect())
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The shapes of all traces in use with their units, by the hash of the trace: all partitions that follow a trace share one. Shapes
/// are functions of traces, so nothing depends on which are there.
static SHAPES: Mutex<BTreeMap<u128, (i64, Weak<Shape>)>> = Mutex::new(BTreeMap::new());

fn shared(trace: &Trace) -> Option<(i64, Arc<Shape>)> {
    let steps = trace.steps()?;
    let mut shapes = SHAPES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((unit, shape)) = shapes.get(&trace.digest())
        && let Some(shape) = shape.upgrade()
    {
        return Some((*unit, shape));
    }
    let (unit, values) = divided(steps.iter().map(|(_, value)| value * THOUSAND));
    let steps: Vec<(Span, i64)> = steps.iter().zip(values).map(|((at, _), value)| (*at, value)).collect();
    let shape = Arc::new(Shape::new(&even(steps), None));
    shapes.retain(|_, (_, shape)| shape.strong_count() > 0);
    shapes.insert(trace.digest(), (unit, Arc::downgrade(&shape)));
    Some((unit, shape))
}

/// The same values in steps of equal length, unless these would be more than four times as many: a look-up then takes as long
/// however long the trace is.
fn even(steps: Vec<(Span, i64)>) -> Vec<(Span, i64)> {
    let length = steps.iter().fold(0, |length, (at, _)| gcd(length, at.micros()));
    let Some((last, _)) = steps.last().filter(|_| length > 0) else { return steps };
    let count = last.micros() / length + 1;
    if count > 4 * steps.len() as u64 {
        return steps;
    }
    let mut at = 0;
    let value = |place: u64| {
        let begin = Span::from_micros(place * length);
        if steps.get(at + 1).is_some_and(|(next, _)| *next <= begin) {
            at += 1;
        }
        (begin, steps[at].1)
    };
    (0..count).map(value).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;
    use crate::formats::series::{self, SeriesOptions, Unit};
    use crate::units::{Time, Timestamp};

    const HOUR: i128 = 3_600_000_000;

    fn hour(hour: u64) -> Time {
        Time::from_secs(hour * 3_600)
    }

    fn price(electricity: PerKwh) -> SiteTariff {
        SiteTariff { electricity: Some(electricity), ..SiteTariff::default() }
    }

    /// In Brussels on the day on which summer time ends, with a price missing. In UTC, prices per MWh:
    ///
    /// | 23:00 | 00:00 | 01:00 | 02:00 | 03:00 | 04:00 | from 05:00 |
    /// |---|---|---|---|---|---|---|
    /// | 80 | 100 | −40 | 60 | 60 (missing) | 60 (missing) | 20 |
    #[test]
    fn integrals_of_a_published_trace_are_exact() {
        let text = "time,price\n30oct2022 01:00:00,80\n30oct2022 02:00:00,100\n30oct2022 02:00:00,-40\n30oct2022 03:00:00,60\n30oct2022 06:00:00,20\n30oct2022 07:00:00,\n";
        let zone = "Europe/Brussels".parse().unwrap();
        let options = SeriesOptions { time: None, column: None, unit: Unit::price("EUR/MWh").unwrap(), zone };
        let read = series::read("be.csv", Box::new(Cursor::new(text)), &options).unwrap();
        let trace = Trace::new("be.csv", read.begin, read.facts.end, read.steps);
        // The run begins at 00:30 in UTC, an hour and a half after the trace.
        let begins: Timestamp = "2022-10-30T00:30Z".parse().unwrap();
        let origin = begins.since(trace.begin().unwrap()).unwrap();
        let (unit, curve) = electricity_curve(&price(PerKwh::Trace { trace, origin })).unwrap();
        // 20 per MWh are 0.02 per kWh.
        assert_eq!(unit, 20_000_000_000);
        let per_mwh = |from: u64, to: u64| curve.over(hour(from), hour(to)) * 20 * 2 / HOUR;
        // Half hours: 100, −40 −40, 60 × 6, 20 for ever.
        assert_eq!(per_mwh(0, 1), 100 - 40);
        assert_eq!(per_mwh(0, 2), 100 - 80 + 60);
        assert_eq!(per_mwh(1, 4), -40 + 5 * 60);
        assert_eq!(per_mwh(0, 5), 100 - 80 + 6 * 60 + 20);
        assert_eq!(per_mwh(5, 105), 200 * 20);
        assert_eq!((curve.at(hour(0)), curve.at(hour(1)), curve.at(hour(2))), (5, -2, 3));
        assert_eq!(curve.next_step(hour(1)), Time::from_secs(5_400));
    }

    #[test]
    fn days_and_factors_begin_at_the_time_of_day_of_the_site() {
        let tariff = SiteTariff {
            electricity: Some(PerKwh::Flat(250_000_000)),
            electricity_by_hour: Some("22-6=0.5".parse().unwrap()),
            carbon: Some(PerKwh::Day(vec![300_000_000, 0, 0, 450_000_000])),
            starts_at: Span::from_secs(5 * 3_600),
            ..SiteTariff::default()
        };
        let (unit, curve) = electricity_curve(&tariff).unwrap();
        assert_eq!((unit, curve.at(hour(0)), curve.at(hour(1))), (125_000_000_000, 1, 2));
        assert_eq!(curve.over(hour(0), hour(24)), (8 + 2 * 16) * HOUR);
        // Four steps of six hours: 05:00 is in the first, an hour before the second.
        let (unit, curve) = carbon_curve(&tariff).unwrap();
        assert_eq!(unit, 150_000_000_000);
        assert_eq!(curve.over(hour(0), hour(2)), 2 * HOUR);
        assert_eq!(curve.over(hour(13), hour(24)), (6 * 3 + 5 * 2) * HOUR);

        let (unit, curve) = electricity_curve(&price(PerKwh::Flat(-7))).unwrap();
        assert_eq!((unit, curve.over(hour(3), hour(50))), (7_000, -47 * HOUR));
        let (unit, curve) = electricity_curve(&price(PerKwh::Flat(0))).unwrap();
        assert_eq!((unit, curve.over(Time::ZERO, Time::NEVER)), (1, 0));
        assert!(electricity_curve(&SiteTariff::default()).is_none());
        let absent = PerKwh::Trace { trace: Trace::absent("gone.csv"), origin: Span::ZERO };
        assert!(electricity_curve(&price(absent)).is_none());
    }

    /// Half hours and then quarters, as some publishers have them, and a trace with gaps: steps of equal length, so that a look-up is a
    /// division. Steps without a common length stay.
    #[test]
    fn steps_are_made_even_where_they_can_be() {
        let spans = |of: &[(u64, i64)]| -> Vec<(Span, i64)> {
            of.iter().map(|(at, value)| (Span::from_secs(at * 60), *value)).collect()
        };
        let mixed = spans(&[(0, 1), (30, 2), (60, 3), (75, 4), (90, 5)]);
        let equal = [(0, 1), (15, 1), (30, 2), (45, 2), (60, 3), (75, 4), (90, 5)];
        assert_eq!(even(mixed), spans(&equal));
        assert_eq!(
            even(spans(&[(0, 1), (60, 2), (240, 3)])),
            spans(&[(0, 1), (60, 2), (120, 2), (180, 2), (240, 3)])
        );
        let uneven = spans(&[(0, 1), (7, 2), (1_000, 3)]);
        assert_eq!(even(uneven.clone()), uneven);
        assert_eq!(even(spans(&[(0, 1)])), spans(&[(0, 1)]));
    }

    #[test]
    fn partitions_share_the_steps_of_a_trace() {
        let steps = (0..1_000).map(|at| (Span::from_secs(at * 900), at as i64 % 7)).collect();
        let trace = Trace::new("a.csv", Timestamp::from_micros(0), Timestamp::from_micros(1), steps);
        let (_, one) = shared(&trace).unwrap();
        let (_, two) = shared(&trace.clone()).unwrap();
        assert!(Arc::ptr_eq(&one, &two));
    }

    proptest! {
        /// The integral over any stretch is the sum over the values, one by one, also where steps are filled to be even.
        #[test]
        fn integrals_are_sums_of_values(
            lengths in proptest::collection::vec(1_u64..5, 1..40),
            values in proptest::collection::vec(-900_i64..900, 41),
            scale in 1_i64..50, origin in 0_u64..150, from in 0_u64..150, span in 0_u64..150,
        ) {
            let mut steps = vec![(0, values[0] * scale)];
            for (length, value) in lengths.iter().zip(&values[1..]) {
                steps.push((steps[steps.len() - 1].0 + length, value * scale));
            }
            let spans = steps.iter().map(|(at, value)| (Span::from_micros(*at), *value)).collect();
            let trace = Trace::new("a.csv", Timestamp::from_micros(0), Timestamp::from_micros(1), spans);
            let at = |micros: u64| Time::from_micros(micros);
            let of = PerKwh::Trace { trace, origin: Span::from_micros(origin) };
            let (unit, curve) = electricity_curve(&price(of)).unwrap();
            let value = |micros: u64| steps.iter().rfind(|(at, _)| *at <= micros + origin).unwrap().1;
            let sum: i128 = (from..from + span).map(|micros| i128::from(value(micros))).sum();
            prop_assert_eq!(curve.over(at(from), at(from + span)) * i128::from(unit), sum * 1_000);
            prop_assert_eq!(curve.at(at(from)) * unit, value(from) * 1_000);
            prop_assert_eq!(unit % (scale * 1_000), if steps.iter().all(|(_, value)| *value == 0) { 1 } else { 0 });
        }
    }
}
