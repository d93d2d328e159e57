//! The integral of rates by the hour of the day.

use crate::model::DayRates;
use crate::units::{Span, Time};

const HOUR: u64 = 3_600_000_000;
const DAY: u64 = 24 * HOUR;

/// Rates by the hour of the day as a curve over the run's time, and its integral.
///
/// The integral over a stretch is the difference of two values of one function, so adjacent stretches sum exactly,
/// wherever they are divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DayCurve {
    /// The time of day at the run's origin, in microseconds.
    origin: u64,
    /// The rate of each hour, in thousandths.
    rates: [u64; 24],
    /// The integral from midnight to the beginning of each hour, in thousandths × microseconds; last, of the whole day.
    before: [u64; 25],
}

impl DayCurve {
    pub(super) fn new(rates: DayRates, starts_at: Span) -> Self {
        let mut curve = Self { origin: starts_at.micros() % DAY, rates: [0; 24], before: [0; 25] };
        for (hour, rate) in rates.thousandths().enumerate() {
            curve.rates[hour] = rate;
            curve.before[hour + 1] = curve.before[hour] + rate * HOUR;
        }
        curve
    }

    /// The rate at an instant, in thousandths.
    pub(super) fn at(&self, time: Time) -> u64 {
        let (_, of_day) = self.place(time);
        self.rates[(of_day / HOUR) as usize]
    }

    /// The integral over `from..to`, in thousandths × microseconds; zero if `to` is not later.
    pub(super) fn over(&self, from: Time, to: Time) -> u128 {
        self.until(to).saturating_sub(self.until(from))
    }

    /// The integral from the midnight before the run to an instant.
    fn until(&self, time: Time) -> u128 {
        let (days, of_day) = self.place(time);
        let hour = (of_day / HOUR) as usize;
        let today = self.before[hour] + self.rates[hour] * (of_day % HOUR);
        u128::from(days) * u128::from(self.before[24]) + u128::from(today)
    }

    /// The number of whole days since that midnight, and the time of day.
    fn place(&self, time: Time) -> (u64, u64) {
        let (days, of_day) = (time.micros() / DAY, time.micros() % DAY + self.origin);
        if of_day < DAY { (days, of_day) } else { (days + 1, of_day - DAY) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The slow twin walks from hour to hour.
        #[test]
        fn the_integral_is_the_sum_over_hours(
            rates in proptest::collection::vec(0_u32..=10_000, 24),
            origin in 0..DAY, from in 0..10 * DAY, length in 0..5 * DAY,
        ) {
            let hour = |(hour, rate): (usize, &u32)| format!("{hour}-{}={}", hour + 1, f64::from(*rate) / 1e3);
            let day = rates.iter().enumerate().map(hour).collect::<Vec<_>>().join(",");
            let curve = DayCurve::new(day.parse().unwrap(), Span::from_micros(origin));
            let (mut now, end, mut sum) = (from + origin, from + origin + length, 0_u128);
            while now < end {
                let next = end.min((now / HOUR + 1) * HOUR);
                let rate = rates[(now / HOUR % 24) as usize];
                prop_assert_eq!(curve.at(Time::from_micros(now - origin)), u64::from(rate));
                sum += u128::from(rate) * u128::from(next - now);
                now = next;
            }
            let (from, to) = (Time::from_micros(from), Time::from_micros(from + length));
            prop_assert_eq!(curve.over(from, to), sum);
            prop_assert_eq!(curve.over(to, from), 0);
        }
    }

    #[test]
    fn the_far_end_of_the_axis_fits() {
        let curve = DayCurve::new("0-24=10".parse().unwrap(), Span::from_micros(DAY - 1));
        assert_eq!(curve.over(Time::ZERO, Time::NEVER), u128::from(u64::MAX) * 10_000);
    }
}
