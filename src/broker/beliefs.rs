//! What a broker believes of pools that believes forecasts: series of what their sites report and of what the broker has measured, and what they lead to.
//!
//! - **Loads.** Each report is a value of the series of free processors, waiting jobs, running jobs and backlog of its pool. What the broker believes is
//!   the report with the forecasts of the next values in their place.
//! - **Waits.** Each job that has started and ended is a value of two series of its pool: of the jobs of its [class](WaitClass) of size and length, and of
//!   those of its size. The forecasts are with the pool as its [`PoolForecasts`].
//! - **Bandwidths.** Each transfer of data is a value of the series of its two places.
//!
//! A forecast is by the least mean square error so far (see [`crate::forecast`]).

mod errors;
mod pool_forecasts;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::errors::BeliefErrors;
pub use self::pool_forecasts::{PoolForecasts, WaitClass};
use super::PoolReport;
use super::series::Series;
use crate::platform::Place;
use crate::units::{Bandwidth, Bytes, Span, Time};

/// Series of measurements of the pools of a grid.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beliefs {
    pools: Vec<PoolSeries>,
    /// Of two places, the lesser one first: with until when what was measured counts.
    links: BTreeMap<(Place, Place), (Series, Time)>,
}

/// Series of one pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct PoolSeries {
    /// The last report, as it came.
    heard: Option<PoolReport>,
    waiting: Series,
    running: Series,
    backlog: Series,
    /// Of each group of machines, or of all if there is one.
    free: Vec<Series>,
    waits: BTreeMap<WaitClass, Series>,
}

/// A job that has waited in a pool and started there.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Waited {
    /// Its processors.
    pub procs: u32,
    /// Its estimated run time there.
    pub run: Span,
    /// From its arrival at the site to its start.
    pub wait: Span,
}

impl Beliefs {
    /// Nothing was measured yet of so many pools.
    pub fn new(pools: usize) -> Self {
        Self { pools: vec![PoolSeries::default(); pools], links: BTreeMap::new() }
    }

    /// What is believed of the pool at a place once this report has come.
    pub fn reported(&mut self, at: usize, report: PoolReport) -> PoolReport {
        let series = &mut self.pools[at];
        let mut believed = report.clone();
        // Of a pool that has no machines nothing is to be measured.
        if report.present > 0 {
            series.observe(&report);
            series.believe(&mut believed);
        }
        series.heard = Some(report);
        believed
    }

    /// The last report of the pool at a place, as it came.
    pub(crate) fn take_heard(&mut self, at: usize) -> Option<PoolReport> {
        self.pools[at].heard.take()
    }

    /// Enters the wait of a job in the pool at a place. The forecasts that follow from it count until an instant.
    pub fn waited(&mut self, at: usize, waited: Waited, until: Time, forecasts: &mut PoolForecasts) {
        let class = WaitClass::of(waited.procs, waited.run);
        for class in [class, class.of_any_length()] {
            let series = self.pools[at].waits.entry(class).or_default();
            series.observe(waited.wait.micros() as f64);
            if let Some(wait) = series.next_whole() {
                forecasts.expect(class, Span::from_micros(wait), until);
            }
        }
    }

    /// Enters a transfer of data between two places, in either direction, that took a time beside the latency; it counts until an instant. Returns the bandwidth
    /// that is forecast; `None` if nothing follows from the transfer, because it took no time.
    pub fn moved(&mut self, way: (Place, Place), data: Bytes, took: Span, until: Time) -> Option<Bandwidth> {
        if took.is_zero() || data == Bytes::ZERO {
            return None;
        }
        let (series, counts) = self.links.entry(ordered(way)).or_default();
        series.observe(data.count() as f64 * 8e6 / took.micros() as f64);
        *counts = until;
        next_bandwidth(series)
    }

    /// Whether any transfer was measured.
    pub fn knows_links(&self) -> bool {
        !self.links.is_empty()
    }

    /// What a transfer between two places is expected to get; `None` if none was measured lately.
    pub fn bandwidth(&self, way: (Place, Place), now: Time) -> Option<Bandwidth> {
        let (series, until) = self.links.get(&ordered(way))?;
        if now <= *until { next_bandwidth(series) } else { None }
    }
}

impl PoolSeries {
    /// Enters a report into the series.
    fn observe(&mut self, report: &PoolReport) {
        self.waiting.observe(f64::from(report.waiting));
        self.running.observe(f64::from(report.running));
        self.backlog.observe(report.backlog as f64);
        let all = std::slice::from_ref(&report.free);
        let free = if report.free_by_group.is_empty() { all } else { &report.free_by_group };
        if self.free.len() != free.len() {
            self.free = vec![Series::default(); free.len()];
        }
        self.free.iter_mut().zip(free).for_each(|(series, free)| series.observe(f64::from(*free)));
    }

    /// Writes the forecasts of the next values over what was reported, as far as there can be so much.
    fn believe(&self, report: &mut PoolReport) {
        let next = |series: &Series, most: f64| series.next(most).unwrap_or(0.0);
        let count = |series: &Series| next(series, f64::from(u32::MAX)) as u32;
        (report.waiting, report.running) = (count(&self.waiting), count(&self.running));
        report.backlog = next(&self.backlog, f64::MAX) as u128;
        let mut left = report.present;
        let mut free = self.free.iter().map(|series| {
            let free = next(series, f64::from(left)) as u32;
            left -= free;
            free
        });
        if report.free_by_group.is_empty() {
            report.free = free.next().unwrap_or(0);
        } else {
            report.free_by_group = free.collect();
            report.free = report.free_by_group.iter().sum();
        }
        report.asleep = report.asleep.min(report.free);
    }
}

fn ordered((from, to): (Place, Place)) -> (Place, Place) {
    (from.min(to), from.max(to))
}

/// At least a bit a second.
fn next_bandwidth(series: &Series) -> Option<Bandwidth> {
    Some(Bandwidth::from_bits(series.next_whole()?.max(1)))
}
