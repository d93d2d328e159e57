//! What data takes between pools.

use crate::units::{Bandwidth, Bytes, Span};

/// The links between pools, which nothing else uses: data takes the latency, and its size over the bandwidth. Within a pool it takes no
/// time, and where nothing is sent, nothing takes time.
#[derive(Clone, Debug, PartialEq)]
pub struct Links {
    pools: usize,
    /// From each pool to each; no bandwidth is an unlimited one.
    links: Vec<(Span, Option<Bandwidth>)>,
    /// The mean over all links between two pools: latency in microseconds, and microseconds a byte.
    mean: (f64, f64),
}

impl Links {
    /// The link from each pool to each other as `link` gives it: its latency, and its bandwidth if that is limited.
    pub fn of(pools: usize, link: impl Fn(usize, usize) -> (Span, Option<Bandwidth>)) -> Self {
        let pairs = || (0..pools).flat_map(move |from| (0..pools).map(move |to| (from, to)));
        let links: Vec<_> = pairs().map(|(from, to)| link(from, to)).collect();
        let between = pairs().zip(&links).filter(|((from, to), _)| from != to).map(|(_, link)| link);
        let sum = between.fold((0.0, 0.0), |sum, (latency, bandwidth)| {
            let per_byte = bandwidth.map_or(0.0, |bandwidth| 8e6 / bandwidth.bits() as f64);
            (sum.0 + latency.micros() as f64, sum.1 + per_byte)
        });
        let number = (pools * pools.saturating_sub(1)).max(1) as f64;
        Self { pools, links, mean: (sum.0 / number, sum.1 / number) }
    }

    /// The same link between any two pools.
    pub fn uniform(pools: usize, latency: Span, bandwidth: Option<Bandwidth>) -> Self {
        Self::of(pools, |_, _| (latency, bandwidth))
    }

    /// The link from one pool to another: its latency in microseconds, and microseconds a byte; nothing within a pool.
    pub(in crate::broker) fn pair(&self, from: usize, to: usize) -> (u64, f64) {
        if from == to {
            return (0, 0.0);
        }
        let (latency, bandwidth) = self.links[from * self.pools + to];
        (latency.micros(), bandwidth.map_or(0.0, |bandwidth| 8e6 / bandwidth.bits() as f64))
    }

    /// How long the data is on its way, rounded up to the microsecond; [`Span::MAX`] over a link of no bandwidth.
    pub fn time(&self, data: Bytes, from: usize, to: usize) -> Span {
        if from == to || data == Bytes::ZERO {
            return Span::ZERO;
        }
        let (latency, bandwidth) = self.links[from * self.pools + to];
        let Some(bandwidth) = bandwidth else { return latency };
        let micros = (u128::from(data.count()) * 8_000_000).checked_div(u128::from(bandwidth.bits()));
        let exact = micros.is_some_and(|micros| {
            micros * u128::from(bandwidth.bits()) == u128::from(data.count()) * 8_000_000
        });
        let micros = micros.and_then(|micros| u64::try_from(micros + u128::from(!exact)).ok());
        latency + Span::from_micros(micros.unwrap_or(u64::MAX))
    }

    /// How long the data is on its way on average over all links between two pools, in microseconds, rounded to the next one.
    pub fn mean(&self, data: Bytes) -> u64 {
        if data == Bytes::ZERO {
            0
        } else {
            libm::round(self.mean.0 + self.mean.1 * data.count() as f64) as u64
        }
    }
}
