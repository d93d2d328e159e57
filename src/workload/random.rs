//! Named streams of randomness: one for each run seed, entity and purpose.
//!
//! A stream is seeded by hashing its names, never by drawing from a shared generator, so that adding a site or a
//! purpose shifts no other stream. What it draws is the same on every machine and in every build: a fixed
//! generator (PCG XSL RR 128/64), and distributions of our own over the `libm` crate. `rand_distr` is not used
//! for them: it computes through `num-traits`, which falls back to the system's `ln` and `exp` as soon as *any*
//! crate of the build asks for `num-traits/std` (hdrhistogram and proptest do), and a last digit that differs
//! can flip a rejection and with it the rest of the stream.

mod gamma;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use xxhash_rust::xxh3::xxh3_128_with_seed;

pub use gamma::Gamma;

/// A stream of random numbers; saved and restored exactly through serde.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stream(Pcg64);

impl Stream {
    /// The stream of `entity` for `purpose` in the run seeded with `run_seed`.
    pub fn new(run_seed: u64, entity: &str, purpose: &str) -> Self {
        // Streams are made for single jobs and machines: short names are not allocated.
        let mut name = SmallVec::<[u8; 64]>::new();
        name.extend_from_slice(&run_seed.to_le_bytes());
        // The length keeps ("ab", "c") apart from ("a", "bc").
        name.extend_from_slice(&(entity.len() as u64).to_le_bytes());
        name.extend_from_slice(entity.as_bytes());
        name.extend_from_slice(purpose.as_bytes());
        Self(Pcg64::new(xxh3_128_with_seed(&name, 0), xxh3_128_with_seed(&name, 1)))
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in [0, 1), in steps of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.next_u64() >> 11) as f64 * STEP
    }

    /// Uniform in `0..bound` without bias (Lemire, ACM TOMACS 29(1) 2019); 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        let mut product = u128::from(self.next_u64()) * u128::from(bound);
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u64) < threshold {
                product = u128::from(self.next_u64()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// Puts `items` into a random order, each equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at as u64 + 1) as usize);
        }
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.uniform())
    }

    /// Normal with mean 0 and variance 1 (Marsaglia's polar method; the second value of the pair is dropped, so
    /// that the generator is the whole state).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * libm::sqrt(-2.0 * libm::log(square) / square);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changing any of these numbers changes every generated workload: say so in the changelog.
    #[test]
    fn draws_are_golden() {
        let mut stream = Stream::new(7, "windsor", "size");
        let bits = [stream.next_u64(), stream.next_u64()];
        let simple = [stream.uniform(), stream.normal(), stream.exponential()];
        let gammas = [Gamma::new(4.2, 0.94), Gamma::new(312.0, 0.03), Gamma::new(0.5, 2.0)];
        let gammas = gammas.map(|gamma| gamma.sample(&mut stream));
        let below = [stream.below(6), stream.below(1_000_000_007)];
        assert_eq!(bits, [5_269_635_544_367_855_619, 7_019_473_074_460_228_513]);
        assert_eq!(simple, [0.38419360234558075, -0.17375154616040686, 0.1965703723413359]);
        assert_eq!(gammas, [4.160002264312873, 9.297641257112792, 0.9401664800076626]);
        assert_eq!(below, [1, 909_593_946]);
    }

    #[test]
    fn every_name_counts() {
        let first = |seed, entity, purpose| Stream::new(seed, entity, purpose).next_u64();
        let base = first(1, "ab", "c");
        for other in [first(2, "ab", "c"), first(1, "a", "bc"), first(1, "ab", "d"), first(1, "", "abc")] {
            assert_ne!(base, other);
        }
        assert_eq!(base, first(1, "ab", "c"));
    }

    #[test]
    fn saves_and_restores_exactly() {
        let mut stream = Stream::new(3, "site", "churn");
        stream.next_u64();
        let saved = postcard::to_stdvec(&stream).unwrap();
        let mut restored: Stream = postcard::from_bytes(&saved).unwrap();
        assert_eq!(restored, stream);
        assert_eq!(restored.next_u64(), stream.next_u64());
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut stream = Stream::new(1, "test", "moments");
        let n = 200_000;
        // Mean and variance of each, five standard errors wide (the variance of a sample variance is (κ − 1) σ⁴ / n).
        let mut check =
            |name: &str, mean: f64, variance: f64, kurtosis: f64, draw: &dyn Fn(&mut Stream) -> f64| {
                let draws: Vec<f64> = (0..n).map(|_| draw(&mut stream)).collect();
                let m = draws.iter().sum::<f64>() / n as f64;
                let v = draws.iter().map(|x| (x - m) * (x - m)).sum::<f64>() / n as f64;
                let (tm, tv) = (
                    5.0 * (variance / n as f64).sqrt(),
                    5.0 * variance * ((kurtosis - 1.0) / n as f64).sqrt(),
                );
                assert!((m - mean).abs() < tm && (v - variance).abs() < tv, "{name}: mean {m}, variance {v}");
            };
        check("uniform", 0.5, 1.0 / 12.0, 1.8, &Stream::uniform);
        check("exponential", 1.0, 1.0, 9.0, &Stream::exponential);
        check("normal", 0.0, 1.0, 3.0, &Stream::normal);
        check("die", 2.5, 35.0 / 12.0, 1.73, &|stream| stream.below(6) as f64);
        for (shape, scale) in [(0.3, 2.0), (1.0, 1.0), (4.2, 0.94), (312.0, 0.03)] {
            let gamma = Gamma::new(shape, scale);
            check("gamma", shape * scale, shape * scale * scale, 3.0 + 6.0 / shape, &|s| gamma.sample(s));
        }
    }

    #[test]
    fn nothing_is_below_nothing() {
        assert_eq!(Stream::new(1, "", "").below(0), 0);
    }
}
