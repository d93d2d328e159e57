//! The daily cycle of arrivals and the clock that follows it.

use serde::{Deserialize, Serialize};

use super::params::ArrivalParams;
use crate::workload::random::Gamma;

/// Half-hours in a day.
pub const BUCKETS: usize = 48;
/// Seconds in a half-hour.
const BUCKET: u64 = 1_800;
/// The half-hour with which the cyclic day of the model begins: 05:30.
const FIRST: usize = 11;

/// Probabilities of the half-hours of a day from midnight, before they are scaled to average one.
fn shares(arrival: &ArrivalParams) -> [f64; BUCKETS] {
    let number = Gamma::new(arrival.anum, arrival.bnum);
    let mut shares = [0.0; BUCKETS];
    for offset in FIRST..FIRST + BUCKETS {
        let middle = offset as f64;
        shares[(offset - 1) % BUCKETS] = number.cdf(middle + 0.5) - number.cdf(middle - 0.5);
    }
    shares
}

/// The part of the distribution of jobs over a day that falls within the day.
pub(super) fn mass(arrival: &ArrivalParams) -> f64 {
    shares(arrival).iter().sum()
}

/// The number of arrivals in each half-hour of the day, from midnight, relative to the average.
pub fn weights(arrival: &ArrivalParams) -> [f64; BUCKETS] {
    let shares = shares(arrival);
    let scale = BUCKETS as f64 / shares.iter().sum::<f64>();
    shares.map(|share| share * scale)
}

/// The clock of the arrivals of one kind of jobs.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::workload) struct Clock {
    /// Half-hours that have ended since the start of the workload.
    ended: u64,
    /// Weight used up in the current half-hour.
    points: f64,
    /// The same position as a share of the half-hour.
    rest: f64,
    /// The arrival, in seconds since the start.
    pub(in crate::workload) arrival: f64,
}

impl Clock {
    /// Advances by a gap of `seconds` of average time: fewer seconds in busy half-hours, more in quiet ones. `start`
    /// is the half-hour of the day at which the workload starts.
    pub(super) fn advance(&mut self, weights: &[f64; BUCKETS], start: u64, seconds: f64, truncate: bool) {
        let before = *self;
        self.points += seconds / BUCKET as f64;
        loop {
            let weight = weights[((start + self.ended) % BUCKETS as u64) as usize];
            if self.points <= weight {
                self.rest = self.points / weight;
                break;
            }
            self.points -= weight;
            self.ended += 1;
        }
        let scaled = |halves: u64, rest: f64| (halves * BUCKET) as f64 + BUCKET as f64 * rest;
        if truncate {
            self.arrival += libm::floor(scaled(self.ended - before.ended, self.rest - before.rest));
        } else {
            self.arrival = scaled(self.ended, self.rest);
        }
    }

    /// True if a workload can have this clock; false reveals a damaged mark.
    pub(in crate::workload) fn is_sound(&self) -> bool {
        (0.0..=BUCKETS as f64).contains(&self.points)
            && (0.0..=1.0).contains(&self.rest)
            && (0.0..1e18).contains(&self.arrival)
            && self.ended < 1 << 50
    }
}
