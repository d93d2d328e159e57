//! What is forecast of one pool beside its load.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::local::StartEstimates;
use crate::units::{Bandwidth, Span, Time};

/// Jobs of which it is forecast together how long they wait: of similar sizes and lengths.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WaitClass {
    /// The power of two that is the most of its processors.
    size: u8,
    /// The number of bounds that its estimated run time exceeds; `None` for all lengths.
    length: Option<u8>,
}

impl WaitClass {
    /// The classes of lengths go up to these: 10 min, 1 h and 8 h, as in Kettimuthu 2003.
    const LENGTHS: [Span; 3] = [Span::from_secs(600), Span::from_secs(3_600), Span::from_secs(28_800)];

    /// That of a job with so many processors and this estimated run time.
    pub fn of(procs: u32, run: Span) -> Self {
        let length = Self::LENGTHS.iter().filter(|bound| run > **bound).count();
        Self { length: Some(length as u8), ..Self::of_size(procs) }
    }

    fn of_size(procs: u32) -> Self {
        Self { size: procs.max(1).next_power_of_two().trailing_zeros() as u8, length: None }
    }

    /// That of all jobs of its size.
    #[must_use]
    pub fn of_any_length(self) -> Self {
        Self { length: None, ..self }
    }
}

/// What is forecast of a pool from what was measured there: how long jobs of each class will wait, and what a transfer gets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolForecasts {
    waits: BTreeMap<WaitClass, (Span, Time)>,
    bandwidth: Option<(Bandwidth, Time)>,
}

impl PoolForecasts {
    /// Whether nothing is forecast of waits, as where the broker believes reports.
    pub fn has_no_waits(&self) -> bool {
        self.waits.is_empty()
    }

    /// How long a job of this class will wait that comes now, by jobs of its class, or else by those of its size; `None` if no such wait was measured
    /// lately.
    pub fn wait(&self, class: WaitClass, now: Time) -> Option<Span> {
        let known = |class| self.waits.get(&class).filter(|(_, until)| now <= *until);
        known(class).or_else(|| known(class.of_any_length())).map(|(wait, _)| *wait)
    }

    /// Notes how long jobs of a class are expected to wait, which counts until an instant.
    pub(super) fn expect(&mut self, class: WaitClass, wait: Span, until: Time) {
        self.waits.insert(class, (wait, until));
    }

    /// What one transfer between portal and site is expected to get; `None` if none was measured lately.
    pub fn bandwidth(&self, now: Time) -> Option<Bandwidth> {
        self.bandwidth.filter(|(_, until)| now <= *until).map(|(bandwidth, _)| bandwidth)
    }

    /// Notes what a transfer is expected to get, which counts until an instant.
    pub(crate) fn expect_bandwidth(&mut self, bandwidth: Bandwidth, until: Time) {
        self.bandwidth = Some((bandwidth, until));
    }

    /// Start-time estimates of jobs that come at an instant: of sizes whose waits were measured lately by their forecasts, and of others as
    /// reported, but a larger job never before a smaller one.
    pub fn start_estimates(&self, from: Time, reported: &StartEstimates) -> StartEstimates {
        let most = reported.steps.last().map_or(0, |(most, _)| *most);
        if self.waits.is_empty() || most == 0 {
            return reported.clone();
        }
        let powers = (0..u32::BITS).map(|power| 1 << power).take_while(|procs| *procs < most);
        let sizes: BTreeSet<u32> = powers.chain(reported.steps.iter().map(|(most, _)| *most)).collect();
        let mut steps: Vec<(u32, Time)> = Vec::new();
        for procs in sizes {
            let forecast = self.wait(WaitClass::of_size(procs), from).map(|wait| from + wait);
            let start = forecast.or_else(|| reported.start(procs)).unwrap_or(from);
            let start = start.max(steps.last().map_or(Time::ZERO, |(_, before)| *before));
            match steps.last_mut() {
                Some(step) if step.1 == start => step.0 = procs,
                _ => steps.push((procs, start)),
            }
        }
        StartEstimates { steps }
    }
}
