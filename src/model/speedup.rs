//! Speedup: how the rate of a moldable or malleable job grows with its processors.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::units::Rate;

/// A speedup curve: rate on `n` processors over rate on one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Speedup {
    /// `n`.
    Linear,
    /// Amdahl's law with this serial share, in millionths.
    Amdahl {
        /// Serial share of the work × 10⁶.
        serial_ppm: u32,
    },
    /// Downey's model (1997): average parallelism and variance, both × 10⁶.
    Downey {
        /// Average parallelism `A` × 10⁶, at least 10⁶.
        parallelism_ppm: u64,
        /// Variance of parallelism `σ` × 10⁶.
        sigma_ppm: u64,
    },
    /// Given points `(processors, rate)`, linear between, constant beyond the last, proportional below the first.
    Points(Vec<(u32, Rate)>),
}

/// An invalid speedup curve.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpeedupError {
    /// A share above one.
    #[error("the serial share is {0} millionths; it must not exceed 1000000")]
    SerialShare(u32),
    /// Average parallelism below one.
    #[error("the average parallelism is {0} millionths; it must be at least 1000000")]
    Parallelism(u64),
    /// Points missing, not ascending in processors, or with a rate of zero.
    #[error("speedup points must be ascending in processors, with rates above zero")]
    Points,
}

impl Speedup {
    /// The speedup of a job by its processor working set [Huang 2004, section 6.6]: 0.8 of the processors up to `least`, 0.65 of them on `best`, half of
    /// them on `most`, and no more beyond. Where sizes are equal that of `best` counts. They must ascend from 1.
    pub fn of_working_set(least: u32, best: u32, most: u32) -> Self {
        let point = |size: u32, percent: u64| (size, Rate::ratio(percent * u64::from(size), 100));
        let before = (least < best).then(|| point(least, 80));
        let after = (most > best).then(|| point(most, 50));
        Self::Points(before.into_iter().chain([point(best, 65)]).chain(after).collect())
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`SpeedupError`] names the invalid parameter.
    pub fn check(&self) -> Result<(), SpeedupError> {
        match self {
            Self::Linear => Ok(()),
            Self::Amdahl { serial_ppm } if *serial_ppm > 1_000_000 => {
                Err(SpeedupError::SerialShare(*serial_ppm))
            }
            Self::Amdahl { .. } => Ok(()),
            Self::Downey { parallelism_ppm, .. } if *parallelism_ppm < 1_000_000 => {
                Err(SpeedupError::Parallelism(*parallelism_ppm))
            }
            Self::Downey { .. } => Ok(()),
            Self::Points(points) => {
                let ascending = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
                let positive = points.iter().all(|(n, rate)| *n > 0 && *rate > Rate::ZERO);
                if points.is_empty() || !ascending || !positive { Err(SpeedupError::Points) } else { Ok(()) }
            }
        }
    }

    /// The rate on `procs` processors relative to one; zero on none.
    pub fn on(&self, procs: u32) -> Rate {
        let n = u64::from(procs);
        match self {
            _ if procs == 0 => Rate::ZERO,
            Self::Linear => Rate::ratio(n, 1),
            Self::Amdahl { serial_ppm } => {
                let serial = u64::from(*serial_ppm);
                // n / (s·n + 1 − s), everything × 10⁶
                Rate::ratio(n * 1_000_000, serial * n + (1_000_000 - serial.min(1_000_000)))
            }
            Self::Downey { parallelism_ppm, sigma_ppm } => {
                let (a, sigma) = (*parallelism_ppm as f64 / 1e6, *sigma_ppm as f64 / 1e6);
                Rate::from_f64(downey(a, sigma, f64::from(procs))).unwrap_or(Rate::FULL)
            }
            Self::Points(points) => between(points, procs),
        }
    }
}

/// Downey 1997; the two branches agree at σ = 1.
fn downey(a: f64, sigma: f64, n: f64) -> f64 {
    if sigma <= 1.0 {
        if n <= a {
            a * n / (a + sigma * (n - 1.0) / 2.0)
        } else if n <= 2.0 * a - 1.0 {
            a * n / (sigma * (a - 0.5) + n * (1.0 - sigma / 2.0))
        } else {
            a
        }
    } else if n <= a + a * sigma - sigma {
        n * a * (sigma + 1.0) / (sigma * (n + a - 1.0) + a)
    } else {
        a
    }
}

fn between(points: &[(u32, Rate)], procs: u32) -> Rate {
    let after = points.partition_point(|(n, _)| *n < procs);
    match (after.checked_sub(1).map(|i| points[i]), points.get(after)) {
        (None, None) => Rate::ZERO,
        (Some((_, last)), None) => last,
        (None, Some((n, rate))) => {
            let units = u128::from(rate.units()) * u128::from(procs) / u128::from((*n).max(1));
            Rate::from_units(u64::try_from(units).unwrap_or(u64::MAX))
        }
        (Some((n0, r0)), Some((n1, r1))) => {
            let (run, total) = (u64::from(procs - n0), u64::from(n1 - n0));
            let rise =
                (i128::from(r1.units()) - i128::from(r0.units())) * i128::from(run) / i128::from(total);
            Rate::from_units(u64::try_from(i128::from(r0.units()) + rise).unwrap_or(0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(curve: &Speedup, procs: u32, expected: f64) {
        let got = curve.on(procs).as_f64();
        assert!((got - expected).abs() < 1e-5, "{curve:?} on {procs}: {got}, expected {expected}");
    }

    #[test]
    fn downey_has_its_known_values() {
        let curve =
            |a: u64, s: u64| Speedup::Downey { parallelism_ppm: a * 1_000_000, sigma_ppm: s * 1_000_000 };
        for (a, s) in [(8, 0), (8, 1), (8, 2), (1, 0)] {
            close(&curve(a, s), 1, 1.0);
        }
        // Without variance the speedup is min(n, A).
        close(&curve(8, 0), 5, 5.0);
        close(&curve(8, 0), 20, 8.0);
        // At σ = 1 both branches give 2An / (2A + n − 1) up to n = A.
        close(&curve(8, 1), 8, 128.0 / 23.0);
        close(&curve(8, 1), 15, 8.0);
    }

    #[test]
    fn amdahl_and_points() {
        close(&Speedup::Amdahl { serial_ppm: 100_000 }, 10, 10.0 / 1.9);
        let points = Speedup::Points(vec![(2, Rate::FULL), (4, Rate::ratio(3, 1))]);
        points.check().unwrap();
        close(&points, 1, 0.5);
        close(&points, 3, 2.0);
        close(&points, 9, 3.0);
        let steep = Speedup::Points(vec![(1_000, Rate::from_units(u64::MAX))]);
        assert_eq!(steep.on(500), Rate::from_units(u64::MAX / 2), "no product overflows");
        assert_eq!(Speedup::Points(vec![]).check(), Err(SpeedupError::Points));
    }
}
