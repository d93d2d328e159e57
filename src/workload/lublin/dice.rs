//! The random numbers of the model: named streams, or the authors' generator.

use serde::{Deserialize, Serialize};

use super::laws::Draws;
use crate::workload::random::{Gamma, Stream};

/// The purpose of a draw.
#[derive(Copy, Clone, Debug)]
pub(super) enum Purpose {
    /// The arrival of a job of the kind with this index.
    Arrival(usize),
    /// A size.
    Size,
    /// A run time.
    Runtime,
}

/// A source of random numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Dice {
    /// A stream for each purpose.
    Streams {
        /// For the arrivals of each kind.
        arrivals: [Stream; 2],
        /// For the sizes of all kinds.
        sizes: Stream,
        /// For the run times of all kinds.
        runtimes: Stream,
    },
    /// The authors' generator, for all purposes.
    Reference(Drand48),
}

impl Dice {
    /// The streams of `entity` in the run seeded with `seed`.
    pub(super) fn streams(seed: u64, entity: &str) -> Self {
        let stream = |purpose| Stream::new(seed, entity, purpose);
        Self::Streams {
            arrivals: [stream("lublin arrivals"), stream("lublin batch arrivals")],
            sizes: stream("lublin sizes"),
            runtimes: stream("lublin run times"),
        }
    }

    /// The authors' generator after `srand48(seed)`, which takes the low 32 bits of the seed.
    pub(super) fn reference(seed: u64) -> Self {
        Self::Reference(Drand48::new(seed as u32))
    }

    /// The generator for `purpose`.
    pub(super) fn of(&mut self, purpose: Purpose) -> &mut dyn Draws {
        match self {
            Self::Streams { arrivals: [first, second], sizes, runtimes } => match purpose {
                Purpose::Arrival(0) => first,
                Purpose::Arrival(_) => second,
                Purpose::Size => sizes,
                Purpose::Runtime => runtimes,
            },
            Self::Reference(reference) => reference,
        }
    }
}

/// `drand48` as POSIX specifies it: a linear congruential generator of 48 bits.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Drand48(u64);

impl Drand48 {
    fn new(seed: u32) -> Self {
        Self(u64::from(seed) << 16 | 0x330e)
    }

    fn exponential(&mut self) -> f64 {
        -libm::log(self.uniform())
    }

    fn beta(&mut self, a: f64, b: f64) -> f64 {
        loop {
            let x = libm::pow(self.uniform(), 1.0 / a);
            let y = libm::pow(self.uniform(), 1.0 / b);
            if x + y <= 1.0 {
                return x / (x + y);
            }
        }
    }
}

impl Draws for Drand48 {
    fn uniform(&mut self) -> f64 {
        const BITS: u64 = 1 << 48;
        self.0 = self.0.wrapping_mul(0x5_deec_e66d).wrapping_add(11) % BITS;
        self.0 as f64 / BITS as f64
    }

    /// The authors' method: an exponential for each whole unit of the shape, and for the fraction a beta draw (Jöhnk
    /// 1964) times an exponential.
    fn gamma(&mut self, gamma: &Gamma) -> f64 {
        let whole = libm::floor(gamma.shape());
        let fraction = gamma.shape() - whole;
        let mut sum = 0.0;
        for _ in 0..whole as u32 {
            sum += self.exponential();
        }
        if fraction > 0.0 {
            let beta = self.beta(fraction, 1.0 - fraction);
            sum += beta * self.exponential();
        }
        sum * gamma.scale()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drand48_is_that_of_posix() {
        // The first draws of the C library after srand48(1).
        let mut reference = Drand48::new(1);
        let draws = [reference.uniform(), reference.uniform(), reference.uniform()];
        assert_eq!(draws.map(|x| format!("{x:.6}")), ["0.041630", "0.454492", "0.834817"]);
    }
}
