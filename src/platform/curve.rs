//! A value that changes in steps over the time of a run, and its integral.

use std::sync::Arc;

use crate::model::DayRates;
use crate::units::{Span, Time};

const HOUR: u64 = 3_600_000_000;

/// A price, a factor or an intensity as a function of the run's time, constant between its steps: periodic, or along a trace.
///
/// The integral over a stretch is the difference of two values of one function, so adjacent stretches sum exactly, wherever they are divided.
/// Values may be negative. A look-up does not grow with the number of steps if these are equally long, and else with its logarithm.
/// It is cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// Where the run begins on the curve, in microseconds.
    origin: u64,
    shape: Arc<Shape>,
}

/// The steps of a curve, whenever the run begins on it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// The steps from 0 on: when each begins, its value, and the integral up to it, in values × microseconds.
    steps: Vec<Step>,
    /// When the steps begin again; without it, the last value goes on.
    period: Option<(u64, i128)>,
    /// How long each step is, if all (but the last of a trace) are equally long.
    even: Option<u64>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Step {
    start: u64,
    value: i64,
    before: i128,
}

impl Curve {
    /// Steps that begin at these times of a period, the first at its beginning, over and over. The run begins at `origin` of a period.
    ///
    /// # Panics
    /// If there is no step, or steps are not in order within the period.
    pub fn periodic(steps: &[(Span, i64)], period: Span, origin: Span) -> Self {
        let shape = Shape::new(steps, Some(period));
        assert!(shape.steps.iter().all(|step| step.start < period.micros()), "steps are within the period");
        Self { origin: origin.micros() % period.micros(), shape: Arc::new(shape) }
    }

    /// Steps that begin at these times after the beginning of a trace, in which the run begins at `origin`. The last value goes on.
    ///
    /// # Panics
    /// If there is no step, or steps are not in order.
    pub fn trace(steps: &[(Span, i64)], origin: Span) -> Self {
        Self::on(&Arc::new(Shape::new(steps, None)), origin)
    }

    /// A run that begins at `origin` on a trace of this shape.
    pub(super) fn on(shape: &Arc<Shape>, origin: Span) -> Self {
        Self { origin: origin.micros(), shape: Arc::clone(shape) }
    }

    /// Factors by the hour of the day, in thousandths, for a run that begins at this time of day.
    pub fn of_day(rates: DayRates, starts_at: Span) -> Self {
        let hour = |(hour, rate): (usize, u64)| (Span::from_micros(hour as u64 * HOUR), rate as i64);
        let steps: Vec<(Span, i64)> = rates.thousandths().enumerate().map(hour).collect();
        Self::periodic(&steps, Span::from_micros(24 * HOUR), starts_at)
    }

    /// The value at an instant.
    pub fn at(&self, time: Time) -> i64 {
        let (_, of_period) = self.place(time);
        self.shape.steps[self.step(of_period)].value
    }

    /// Its value, if that is the same at any time.
    pub fn flat(&self) -> Option<i64> {
        let steps = &self.shape.steps;
        steps.iter().all(|step| step.value == steps[0].value).then_some(steps[0].value)
    }

    /// The integral over `from..to`, in values × microseconds; zero if `to` is not later.
    pub fn over(&self, from: Time, to: Time) -> i128 {
        if from < to { self.until(to) - self.until(from) } else { 0 }
    }

    /// When the next step begins after an instant; [`Time::NEVER`] if none does.
    pub fn next_step(&self, time: Time) -> Time {
        let (_, of_period) = self.place(time);
        let next = self.shape.steps.get(self.step(of_period) + 1).map(|step| step.start);
        let next = next.or(self.shape.period.map(|(period, _)| period));
        next.map_or(Time::NEVER, |next| time + Span::from_micros(next - of_period))
    }

    /// The integral from the beginning of the curve to an instant.
    fn until(&self, time: Time) -> i128 {
        let (periods, of_period) = self.place(time);
        let step = self.shape.steps[self.step(of_period)];
        let sum = self.shape.period.map_or(0, |(_, sum)| sum);
        i128::from(periods) * sum + step.before + i128::from(step.value) * i128::from(of_period - step.start)
    }

    /// The step at a time of the curve.
    fn step(&self, of_period: u64) -> usize {
        match self.shape.even {
            Some(length) => ((of_period / length) as usize).min(self.shape.steps.len() - 1),
            None => self.shape.steps.partition_point(|step| step.start <= of_period) - 1,
        }
    }

    /// The number of whole periods before an instant, and the time within its period.
    fn place(&self, time: Time) -> (u64, u64) {
        let Some((period, _)) = self.shape.period else {
            return (0, self.origin.saturating_add(time.micros()));
        };
        let (periods, of_period) = (time.micros() / period, time.micros() % period + self.origin);
        if of_period < period { (periods, of_period) } else { (periods + 1, of_period - period) }
    }
}

impl Shape {
    /// Steps that begin at these times, in order, the first at 0, once or in every period.
    pub(super) fn new(steps: &[(Span, i64)], period: Option<Span>) -> Self {
        let first = steps.first().expect("a curve has a step");
        assert!(first.0.is_zero() && steps.is_sorted_by(|a, b| a.0 < b.0), "steps are in order, from 0 on");
        let mut sum = 0;
        let mut before = |from: u64, value: i64, to: u64| {
            let own = sum;
            sum += i128::from(value) * i128::from(to - from);
            own
        };
        let end = period.map_or(u64::MAX, Span::micros);
        let ends = steps[1..].iter().map(|(start, _)| start.micros()).chain([end]);
        let own = |((start, value), end): (&(Span, i64), u64)| Step {
            start: start.micros(),
            value: *value,
            before: before(start.micros(), *value, end),
        };
        let steps: Vec<Step> = steps.iter().zip(ends).map(own).collect();
        let length = steps.get(1).map_or(end, |second| second.start);
        let mut even = steps.iter().enumerate().all(|(at, step)| step.start == at as u64 * length);
        even &= period.is_none() || steps.len() as u64 * length == end;
        Self { steps, period: period.map(|period| (period.micros(), sum)), even: even.then_some(length) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: u64 = 24 * HOUR;

    /// The slow twin: from step to step, with what is found by looking at all of them.
    fn walked(steps: &[(Span, i64)], period: Option<u64>, from: u64, to: u64) -> i128 {
        let (mut now, mut sum) = (from, 0);
        while now < to {
            let of_period = period.map_or(now, |period| now % period);
            let value = steps.iter().rfind(|(start, _)| start.micros() <= of_period).unwrap().1;
            let later = steps.iter().map(|(start, _)| start.micros()).chain(period);
            let next =
                later.filter(|start| *start > of_period).min().map_or(to, |next| now + next - of_period);
            sum += i128::from(value) * i128::from(next.min(to) - now);
            now = next.min(to);
        }
        sum
    }

    proptest! {
        #[test]
        fn the_integral_is_the_sum_over_the_steps(
            drawn in proptest::collection::btree_map(1..5_000_u64, -1_000..1_000_i64, 0..20),
            first in -1_000..1_000_i64, length in 1..500_u64, even: bool, periodic: bool,
            origin in 0..20_000_u64, from in 0..20_000_u64, span in 0..20_000_u64,
        ) {
            let place = |(at, (start, value)): (usize, (&u64, &i64))| {
                (Span::from_micros(if even { (at as u64 + 1) * length } else { *start }), *value)
            };
            let mut steps = vec![(Span::ZERO, first)];
            steps.extend(drawn.iter().enumerate().map(place));
            let period = if even { steps.len() as u64 * length } else { 5_000 };
            let micros = Span::from_micros;
            let curve = if periodic {
                Curve::periodic(&steps, micros(period), micros(origin))
            } else {
                Curve::trace(&steps, micros(origin))
            };
            prop_assert!(!even || curve.shape.even.is_some());
            let period = periodic.then_some(period);
            let (at, to) = (Time::from_micros(from), Time::from_micros(from + span));
            prop_assert_eq!(curve.over(at, to), walked(&steps, period, origin + from, origin + from + span));
            prop_assert_eq!(curve.over(to, at), 0);
            prop_assert_eq!(i128::from(curve.at(at)), walked(&steps, period, origin + from, origin + from + 1));
            let next = curve.next_step(at);
            if next < Time::NEVER {
                let before = Time::from_micros(next.micros() - 1);
                prop_assert_eq!(curve.over(at, next), i128::from(curve.at(at)) * i128::from(next.micros() - from));
                prop_assert_eq!(curve.at(before), curve.at(at));
            } else {
                prop_assert!(period.is_none() && origin + from >= steps.last().unwrap().0.micros());
            }
        }
    }

    #[test]
    fn the_far_end_of_the_axis_fits() {
        let day = Curve::of_day("0-24=10".parse().unwrap(), Span::from_micros(DAY - 1));
        assert_eq!(day.over(Time::ZERO, Time::NEVER), i128::from(u64::MAX) * 10_000);
        let trace = Curve::trace(&[(Span::ZERO, i64::MIN)], Span::ZERO);
        assert_eq!(trace.over(Time::ZERO, Time::NEVER), i128::from(u64::MAX) * i128::from(i64::MIN));
    }
}
