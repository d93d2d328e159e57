//! Named random streams: one for each run seed, entity and purpose.
//!
//! A stream is seeded by a hash of its names, never by a draw from a shared generator, so that adding a site or a
//! purpose shifts no other stream. Its draws are the same on every machine and in every build: they come from a fixed
//! generator (PCG XSL RR 128/64), a pinned `rand_distr`, and a number type whose functions are libm's ([`Portable`]).
//!
//! A [`Stream`] is a generator of `rand`:
//!
//! ```
//! use gridemu::workload::random::{LogNormal, Portable, Stream};
//! use rand::RngExt;
//!
//! let mut stream = Stream::new(7, "windsor", "size");
//! assert_eq!(stream.random::<u64>(), 5_269_635_544_367_855_619);
//! let law = LogNormal::new(Portable(1.0), Portable(0.5)).unwrap();
//! assert_eq!(stream.draw(law), 1.2799424751598498);
//! ```
//!
//! Two parts of `rand` and `rand_distr` depend on the build and are not used: the distributions over `f64`, which may
//! call the system's functions (a test finds such uses), and `random_range` with all that builds on it (`shuffle`,
//! `choose`), which the feature `rand/unbiased` changes (`clippy.toml` forbids them).

mod gamma;
mod portable;
mod samplers;

use std::convert::Infallible;

use rand::distr::{Distribution, Uniform};
use rand::{RngExt, TryRng};
use rand_distr::{Exp1, StandardNormal};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use xxhash_rust::xxh3::xxh3_128_with_seed;

pub use gamma::Gamma;
pub use portable::Portable;

/// The lognormal distribution over [`Portable`].
pub type LogNormal = rand_distr::LogNormal<Portable>;

/// The Weibull distribution over [`Portable`].
pub type Weibull = rand_distr::Weibull<Portable>;

/// A random stream; serde saves and restores it exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stream(Pcg64);

impl Stream {
    /// Creates the stream of `entity` for `purpose` in the run seeded with `run_seed`.
    pub fn new(run_seed: u64, entity: &str, purpose: &str) -> Self {
        // Streams are made for single jobs and machines, so short names are not allocated.
        let mut name = SmallVec::<[u8; 64]>::new();
        name.extend_from_slice(&run_seed.to_le_bytes());
        // The length distinguishes ("ab", "c") from ("a", "bc").
        name.extend_from_slice(&(entity.len() as u64).to_le_bytes());
        name.extend_from_slice(entity.as_bytes());
        name.extend_from_slice(purpose.as_bytes());
        Self(Pcg64::new(xxh3_128_with_seed(&name, 0), xxh3_128_with_seed(&name, 1)))
    }

    /// Draws from a distribution.
    pub fn draw(&mut self, distribution: impl Distribution<Portable>) -> f64 {
        self.sample(distribution).0
    }

    /// Draws uniformly from [0, 1), in steps of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        self.random()
    }

    /// Draws uniformly from `0..bound` without bias; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        Uniform::new(0, bound).map_or(0, |uniform| self.sample(uniform))
    }

    /// Puts `items` into a random order, each order equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at as u64 + 1) as usize);
        }
    }

    /// Draws from the exponential distribution with mean 1.
    pub fn exponential(&mut self) -> f64 {
        self.draw(Exp1)
    }

    /// Draws from the normal distribution with mean 0 and variance 1.
    pub fn normal(&mut self) -> f64 {
        self.draw(StandardNormal)
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

#[cfg(test)]
mod tests;
