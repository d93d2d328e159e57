//! The gamma distribution: sampling and distribution function.

use rand_distr::num_traits::One;

use super::{Portable, Stream};

/// A gamma distribution with mean `shape × scale` and variance `shape × scale²`.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Gamma {
    shape: f64,
    scale: f64,
    /// The distribution with scale 1.
    unit: rand_distr::Gamma<Portable>,
}

impl Gamma {
    /// Creates the distribution with these parameters; both must be above zero.
    pub fn new(shape: f64, scale: f64) -> Self {
        let above_zero = Portable(shape.max(f64::MIN_POSITIVE));
        let unit =
            rand_distr::Gamma::new(above_zero, Portable::one()).expect("shape and scale are above zero");
        Self { shape, scale, unit }
    }

    /// The shape.
    pub const fn shape(&self) -> f64 {
        self.shape
    }

    /// The scale.
    pub const fn scale(&self) -> f64 {
        self.scale
    }

    /// Draws a value: the scale times a draw with scale 1, so that distributions of one shape differ by a factor
    /// alone.
    pub fn sample(&self, stream: &mut Stream) -> f64 {
        stream.draw(self.unit) * self.scale
    }

    /// The probability of a draw of at most `x`: the regularised lower incomplete gamma function, by its series
    /// below the mean and its continued fraction above.
    pub fn cdf(&self, x: f64) -> f64 {
        let (a, x) = (self.shape, x / self.scale);
        if x <= 0.0 {
            return 0.0;
        }
        if x == f64::INFINITY {
            return 1.0;
        }
        // Enough for shapes up to 10⁶; a few dozen terms do for those of the models.
        const TERMS: u32 = 20_000;
        let front = libm::exp(a * libm::log(x) - x - libm::lgamma(a));
        if x < a + 1.0 {
            let (mut term, mut sum) = (1.0 / a, 1.0 / a);
            for n in 1..TERMS {
                term *= x / (a + f64::from(n));
                sum += term;
                if term < sum * 1e-17 {
                    break;
                }
            }
            front * sum
        } else {
            // Lentz's method.
            const TINY: f64 = 1e-300;
            let mut b = x + 1.0 - a;
            let (mut c, mut d) = (1.0 / TINY, 1.0 / b);
            let mut fraction = d;
            for n in 1..TERMS {
                let n = f64::from(n);
                let an = -n * (n - a);
                b += 2.0;
                let next = an * d + b;
                d = 1.0 / if next.abs() < TINY { TINY } else { next };
                let next = b + an / c;
                c = if next.abs() < TINY { TINY } else { next };
                fraction *= c * d;
                if (c * d - 1.0).abs() < 1e-16 {
                    break;
                }
            }
            1.0 - front * fraction
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_function_has_its_closed_forms() {
        // Shape 1 is exponential, shape 2 is 1 − (1 + x) e⁻ˣ, shape ½ is the square of a normal: P(½, ½) = erf(√½).
        for x in [0.01_f64, 0.5, 1.0, 2.0, 5.0, 30.0] {
            let e = libm::exp(-x);
            for (shape, expected) in
                [(1.0, 1.0 - e), (2.0, 1.0 - (1.0 + x) * e), (0.5, libm::erf(libm::sqrt(x)))]
            {
                let got = Gamma::new(shape, 3.0).cdf(3.0 * x);
                assert!((got - expected).abs() < 1e-13, "P({shape}, {x}) = {got}, expected {expected}");
            }
        }
        assert_eq!(Gamma::new(2.0, 1.0).cdf(-1.0), 0.0);
    }

    #[test]
    fn draws_follow_the_distribution_function() {
        // Kolmogorov–Smirnov at 1 in a thousand: 1.95 / √n.
        let n = 50_000;
        for (at, (shape, scale)) in
            [(0.4, 1.0), (1.0, 2.0), (4.2, 0.94), (312.0, 0.03)].into_iter().enumerate()
        {
            let gamma = Gamma::new(shape, scale);
            let mut stream = Stream::new(at as u64, "test", "ks");
            let mut draws: Vec<f64> = (0..n).map(|_| gamma.sample(&mut stream)).collect();
            draws.sort_by(f64::total_cmp);
            let distance = draws
                .iter()
                .enumerate()
                .map(|(rank, x)| (gamma.cdf(*x) - (rank as f64 + 0.5) / n as f64).abs())
                .fold(0.0, f64::max);
            assert!(distance < 1.95 / (n as f64).sqrt(), "Γ({shape}, {scale}): {distance}");
        }
    }
}
