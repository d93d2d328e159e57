//! The elementary draws over [`Portable`], which the distributions of `rand_distr` are built from.
//!
//! The library makes its own elementary draws of an exponential and of a normal in `f64`, so these two are
//! implemented here.

use rand::distr::{Distribution, Open01, OpenClosed01, StandardUniform};
use rand::{Rng, RngExt};
use rand_distr::num_traits::Float;
use rand_distr::{Exp1, StandardNormal};

use super::Portable;

/// The uniform distribution over [0, 1), in steps of 2⁻⁵³.
impl Distribution<Portable> for StandardUniform {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Portable {
        Portable(rng.random())
    }
}

/// The uniform distribution over (0, 1], in steps of 2⁻⁵³.
impl Distribution<Portable> for OpenClosed01 {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Portable {
        Portable(1.0 - rng.random::<f64>())
    }
}

/// The uniform distribution over (0, 1), in steps of 2⁻⁵³.
impl Distribution<Portable> for Open01 {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Portable {
        loop {
            let drawn: Portable = rng.sample(OpenClosed01);
            if drawn < Portable(1.0) {
                return drawn;
            }
        }
    }
}

/// The exponential distribution with mean 1, by inversion.
impl Distribution<Portable> for Exp1 {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Portable {
        -rng.sample::<Portable, _>(OpenClosed01).ln()
    }
}

/// The normal distribution with mean 0 and variance 1, by Marsaglia's polar method. The second value of the pair is
/// dropped, so that the generator is the whole state.
impl Distribution<Portable> for StandardNormal {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Portable {
        loop {
            let [x, y] = [(); 2].map(|()| Portable(2.0 * rng.random::<f64>() - 1.0));
            let square = x * x + y * y;
            if square > Portable(0.0) && square < Portable(1.0) {
                return x * (Portable(-2.0) * square.ln() / square).sqrt();
            }
        }
    }
}
