//! Random draws of the time that a machine stays up or down.

use crate::model::Distribution;
use crate::units::Span;
use crate::workload::random::{Gamma, LogNormal, Portable, Stream, Weibull};

/// A [`Distribution`] with precomputed constants for drawing. All lengths are in microseconds.
///
/// A draw is at least a microsecond, and one beyond the time axis is [`Span::MAX`].
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Law(Kind);

#[derive(Copy, Clone, Debug, PartialEq)]
enum Kind {
    Exponential {
        mean: f64,
    },
    Weibull {
        scale: f64,
        /// The reciprocal of the shape.
        power: f64,
        /// The distribution of `X/scale`.
        unit: Weibull,
        /// The distribution of `(X*/scale)^shape` for the length-biased `X*`.
        biased: Gamma,
    },
    Lognormal {
        /// The logarithm of the median.
        mu: f64,
        sigma: f64,
        law: LogNormal,
    },
}

impl Law {
    /// The law of a distribution.
    pub fn of(distribution: Distribution) -> Self {
        let micros = |span: Span| span.micros().max(1) as f64;
        let decimal = |millionths: u64| millionths.max(1) as f64 / 1e6;
        Self(match distribution {
            Distribution::Exponential { mean } => Kind::Exponential { mean: micros(mean) },
            Distribution::Weibull { shape, mean } => {
                let power = 1.0 / decimal(shape);
                let scale = micros(mean) / libm::tgamma(1.0 + power);
                let unit = Weibull::new(Portable(1.0), Portable(decimal(shape))).expect("a shape above zero");
                Kind::Weibull { scale, power, unit, biased: Gamma::new(1.0 + power, 1.0) }
            }
            Distribution::Lognormal { median, sigma } => {
                let (mu, sigma) = (libm::log(micros(median)), decimal(sigma));
                let law = LogNormal::new(Portable(mu), Portable(sigma)).expect("a finite sigma");
                Kind::Lognormal { mu, sigma, law }
            }
        })
    }

    /// A draw.
    pub fn draw(&self, stream: &mut Stream) -> Span {
        span(match self.0 {
            Kind::Exponential { mean } => mean * stream.exponential(),
            Kind::Weibull { scale, unit, .. } => scale * stream.draw(unit),
            Kind::Lognormal { law, .. } => stream.draw(law),
        })
    }

    /// Draws the rest of a stretch that is met at an instant far from the beginning of its process: a uniform part of a
    /// length-biased draw (the forward recurrence time; Cox, Renewal Theory, 1962, section 5.4).
    ///
    /// Length-biased, a Weibull `X` of shape `k` has `(X/scale)^k` gamma-distributed with shape `1 + 1/k`, and a lognormal
    /// is lognormal with `mu + sigma²`. An exponential is memoryless.
    pub fn residual(&self, stream: &mut Stream) -> Span {
        let whole = match self.0 {
            Kind::Exponential { mean } => return span(mean * stream.exponential()),
            Kind::Weibull { scale, power, biased, .. } => scale * libm::pow(biased.sample(stream), power),
            Kind::Lognormal { sigma, law, .. } => law.from_zscore(Portable(sigma + stream.normal())).0,
        };
        span((1.0 - stream.uniform()) * whole)
    }

    /// The logarithm of the mean in microseconds, which is finite even where the mean is not.
    pub(super) fn log_mean(&self) -> f64 {
        match self.0 {
            Kind::Exponential { mean } => libm::log(mean),
            Kind::Weibull { scale, power, .. } => libm::log(scale) + libm::lgamma(1.0 + power),
            Kind::Lognormal { mu, sigma, .. } => mu + sigma * sigma / 2.0,
        }
    }
}

fn span(micros: f64) -> Span {
    // The cast saturates.
    Span::from_micros(libm::round(micros).max(1.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(written: &str) -> Law {
        Law::of(written.parse().unwrap())
    }

    /// The Kolmogorov-Smirnov distance at a level of 1 in 1,000 is 1.95 / √n; seeds are fixed.
    fn follows(written: &str, draw: impl Fn(&Law, &mut Stream) -> Span, cdf: impl Fn(f64) -> f64) {
        let n = 20_000;
        let (law, mut stream) = (law(written), Stream::new(11, "test", written));
        let mut draws: Vec<Span> = (0..n).map(|_| draw(&law, &mut stream)).collect();
        draws.sort_unstable();
        let off = |(rank, x): (usize, &Span)| (cdf(x.as_secs_f64()) - (rank as f64 + 0.5) / n as f64).abs();
        let distance = draws.iter().enumerate().map(off).fold(0.0, f64::max);
        assert!(distance < 1.95 / libm::sqrt(n as f64), "{written}: {distance}");
    }

    /// The normal distribution function.
    fn phi(z: f64) -> f64 {
        libm::erfc(-z / libm::sqrt(2.0)) / 2.0
    }

    #[test]
    fn draws_and_residuals_follow_their_closed_forms() {
        // The residual of a stretch with distribution F and mean m has the density (1 − F(x)) / m.
        let hour = 3_600.0;
        let exponential = |x: f64| 1.0 - libm::exp(-x / (45.0 * hour));
        follows("exponential[mean=45 h]", Law::draw, exponential);
        follows("exponential[mean=45 h]", Law::residual, exponential);
        for (shape, mean) in [(0.4, 45.0 * hour), (0.7, 45.0 * hour), (1.0, 3.0), (3.5, 10.0 * hour)] {
            let scale = mean / libm::tgamma(1.0 + 1.0 / shape);
            let power = |x: f64| libm::pow(x / scale, shape);
            let written = format!("weibull[shape={shape},mean={mean} s]");
            follows(&written, Law::draw, |x| 1.0 - libm::exp(-power(x)));
            follows(&written, Law::residual, |x| Gamma::new(1.0 / shape, 1.0).cdf(power(x)));
        }
        for (median, sigma) in [(hour, 1.6), (60.0, 0.3)] {
            let written = format!("lognormal[median={median} s,sigma={sigma}]");
            let z = |x: f64| libm::log(x / median) / sigma;
            let mean = median * libm::exp(sigma * sigma / 2.0);
            follows(&written, Law::draw, |x| phi(z(x)));
            follows(&written, Law::residual, |x| x / mean * (1.0 - phi(z(x))) + phi(z(x) - sigma));
        }
    }

    #[test]
    fn means_are_those_that_are_written() {
        for written in
            ["exponential[mean=3 h]", "weibull[shape=0.7,mean=3 h]", "lognormal[median=1 h,sigma=0.9]"]
        {
            let distribution: Distribution = written.parse().unwrap();
            let (law, mut stream) = (Law::of(distribution), Stream::new(5, "test", written));
            let n = 200_000;
            let sum: f64 = (0..n).map(|_| law.draw(&mut stream).as_secs_f64()).sum();
            let (got, mean) = (sum / f64::from(n), distribution.mean().as_secs_f64());
            assert!((got / mean - 1.0).abs() < 0.02, "{written}: {got} s, not {mean} s");
            assert!((libm::exp(law.log_mean()) / 1e6 / mean - 1.0).abs() < 1e-9, "{written}");
        }
    }

    /// Changing any of these numbers changes every outage: say so in the changelog.
    #[test]
    fn draws_are_golden() {
        let mut stream = Stream::new(7, "windsor", "golden");
        let mut drawn = Vec::new();
        for written in
            ["exponential[mean=45 h]", "weibull[shape=0.7,mean=45 h]", "lognormal[median=1 h,sigma=1.6]"]
        {
            let law = law(written);
            drawn.push([law.draw(&mut stream), law.residual(&mut stream)].map(Span::micros));
        }
        assert_eq!(
            drawn,
            [
                [187_982_490_935, 259_743_061_677],
                [363_677_368_273, 62_770_869_009],
                [8_882_563_132, 9_921_215_149]
            ]
        );
    }

    #[test]
    fn no_draw_is_nothing_and_huge_draws_are_the_longest() {
        let mut stream = Stream::new(1, "test", "edges");
        let short = law("exponential[mean=0.000001 s]");
        assert!((0..100).all(|_| short.draw(&mut stream) >= Span::TICK));
        // This is beyond what a scenario may contain: the mean is e^5000 medians.
        let long =
            Law::of(Distribution::Lognormal { median: Span::from_secs(86_400_000), sigma: 100_000_000 });
        assert!((0..100).any(|_| long.draw(&mut stream) == Span::MAX));
        assert!((0..100).all(|_| long.residual(&mut stream) == Span::MAX));
    }
}
