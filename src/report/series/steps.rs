//! Step functions of time, stored as their changes.

use std::ops::Range;

use crate::report::bins::Bins;
use crate::report::charts::TimePoint;

/// A function of time that changes at instants and is constant between them; zero before the first. Exact.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    changes: Vec<(u64, i64)>,
    sorted: bool,
}

impl Steps {
    /// Adds `by` to the values from `at` (microseconds) on.
    pub(crate) fn add(&mut self, at: u64, by: i64) {
        if by != 0 {
            self.changes.push((at, by));
            self.sorted = false;
        }
    }

    /// Adds `by` to the values between `from` and `to`.
    pub(crate) fn hold(&mut self, from: u64, to: u64, by: i64) {
        if from < to {
            self.add(from, by);
            self.add(to, -by);
        }
    }

    /// Adds another function, multiplied by `times`.
    pub(crate) fn add_all(&mut self, other: &Self, times: i64) {
        self.changes.extend(other.changes.iter().map(|(at, by)| (*at, by * times)));
        self.sorted = false;
    }

    /// Adds `times / parts` of another function, each of its changes rounded.
    pub(crate) fn add_scaled(&mut self, other: &Self, times: i64, parts: i64) {
        let scaled = |by: i64| (i128::from(by) * i128::from(times) / i128::from(parts.max(1))) as i64;
        self.changes.extend(other.changes.iter().map(|(at, by)| (*at, scaled(*by))));
        self.sorted = false;
    }

    /// Whether the function never changes.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Sorts the changes and merges those at the same instant.
    pub(crate) fn settle(&mut self) {
        if self.sorted {
            return;
        }
        self.changes.sort_unstable_by_key(|(at, _)| *at);
        self.changes.dedup_by(|next, kept| {
            kept.1 += if next.0 == kept.0 { next.1 } else { 0 };
            next.0 == kept.0
        });
        self.changes.retain(|(_, by)| *by != 0);
        self.sorted = true;
    }

    /// The values from each change on, in order of time.
    pub(crate) fn values(&mut self) -> impl Iterator<Item = (u64, i64)> + '_ {
        self.settle();
        self.changes.iter().scan(0, |value, (at, by)| {
            *value += by;
            Some((*at, *value))
        })
    }

    /// The largest value.
    pub(crate) fn most(&mut self) -> i64 {
        self.values().map(|(_, value)| value).fold(0, i64::max)
    }

    /// The function from `from` to `to` (microseconds), with values multiplied by `unit`: change by change if there are at most
    /// `bins`, otherwise in `bins` bins of equal length, each with its least, mean and largest value.
    pub(crate) fn points(&mut self, (from, to): (u64, u64), bins: u32, unit: f64) -> Vec<TimePoint> {
        self.settle();
        if from >= to {
            return Vec::new();
        }
        if self.changes.len() <= bins as usize {
            self.exact(from, to, unit)
        } else {
            self.binned(from, to, bins, unit)
        }
    }

    fn exact(&mut self, from: u64, to: u64, unit: f64) -> Vec<TimePoint> {
        let before = self.values().take_while(|(at, _)| *at <= from).last().map_or(0, |(_, value)| value);
        let within = self.values().filter(|(at, _)| (from + 1..to).contains(at));
        std::iter::once((from, before))
            .chain(within)
            .map(|(at, value)| exact_point(at, value as f64 * unit))
            .collect()
    }

    fn binned(&mut self, from: u64, to: u64, bins: u32, unit: f64) -> Vec<TimePoint> {
        let range = Bins::new((from, to), bins);
        let mut points = Vec::with_capacity(bins as usize);
        let mut changes = self.changes.iter().peekable();
        let mut value = 0_i64;
        while let Some((_, by)) = changes.next_if(|(at, _)| *at <= from) {
            value += by;
        }
        for bin in 0..bins {
            let Range { start: begin, end } = range.range(bin);
            let (mut low, mut high, mut area, mut since) = (value, value, 0_i128, begin);
            // A change at the very beginning of the bin replaces the value before it.
            let mut fresh = true;
            while let Some((at, by)) = changes.next_if(|(at, _)| *at < end) {
                area += i128::from(value) * i128::from(at - since);
                if fresh && *at == begin {
                    (low, high) = (value + by, value + by);
                }
                fresh = false;
                (value, since) = (value + by, *at);
                (low, high) = (low.min(value), high.max(value));
            }
            area += i128::from(value) * i128::from(end - since);
            let length = (end - begin).max(1) as f64;
            points.push(TimePoint {
                x: begin as f64 / 1e6,
                low: low as f64 * unit,
                mean: area as f64 / length * unit,
                high: high as f64 * unit,
            });
        }
        points
    }
}

/// A value from an instant on.
fn exact_point(micros: u64, value: f64) -> TimePoint {
    TimePoint { x: micros as f64 / 1e6, low: value, mean: value, high: value }
}

/// An amount that accrues evenly over periods of time, as its sum up to the end of each bin. Exact: the parts of each period add up
/// to it.
#[derive(Clone, Debug)]
pub(crate) struct Accrual {
    bins: Bins,
    amounts: Vec<i128>,
}

impl Accrual {
    pub(crate) fn new(span: (u64, u64), bins: u32) -> Self {
        let bins = Bins::new(span, bins);
        Self { bins, amounts: vec![0; bins.count as usize] }
    }

    /// Adds `amount`, accruing from `from` to `to`.
    pub(crate) fn add(&mut self, from: u64, to: u64, amount: i128) {
        if amount == 0 {
            return;
        }
        let (first, last) = (self.bins.bin(from), self.bins.bin(to.saturating_sub(1).max(from)));
        let length = i128::from(to.saturating_sub(from));
        let mut before = 0;
        for bin in first..=last {
            let upto = if bin == last || length == 0 {
                amount
            } else {
                amount * i128::from(self.bins.range(bin).end.saturating_sub(from)) / length
            };
            self.amounts[bin as usize] += upto - before;
            before = upto;
        }
    }

    /// The total amount.
    pub(crate) fn sum(&self) -> i128 {
        self.amounts.iter().sum()
    }

    /// The mean rate in each bin, per second, multiplied by `unit`.
    pub(crate) fn rates(&self, unit: f64) -> Vec<TimePoint> {
        let rate = |(bin, amount): (u32, &i128)| {
            let Range { start, end } = self.bins.range(bin);
            exact_point(start, *amount as f64 * 1e6 / (end - start).max(1) as f64 * unit)
        };
        (0..).zip(&self.amounts).map(rate).collect()
    }

    /// The amount accrued by the beginning of each bin and by the end, multiplied by `unit`.
    pub(crate) fn points(&self, unit: f64) -> Vec<TimePoint> {
        let sums = self.amounts.iter().scan(0_i128, |sum, amount| {
            *sum += amount;
            Some(*sum)
        });
        (0..).zip(sums).map(|(bin, sum)| exact_point(self.bins.range(bin).start, sum as f64 * unit)).collect()
    }
}
