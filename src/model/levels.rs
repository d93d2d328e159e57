//! Levels of machines: frequencies at which they are slower and draw less.

use serde::{Deserialize, Serialize};

use crate::units::{Carbon, Power, Span};

/// A level of a machine below full speed.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Level {
    /// The frequency over that of full speed, above 0 and below 1.
    pub frequency: f64,
    /// Power of a busy core.
    pub busy: Power,
}

impl Level {
    /// A level where the power of a busy core beyond that of an idle one is as the cube of the frequency: voltage is proportional to it.
    pub fn cubic(frequency: f64, idle: Power, busy: Power) -> Self {
        let cube = frequency * frequency * frequency;
        let dynamic = busy.milliwatts().saturating_sub(idle.milliwatts()) as f64 * cube;
        Self { frequency, busy: Power::from_milliwatts(idle.milliwatts() + dynamic.round() as u64) }
    }

    /// The time that work takes at this frequency over that at full speed, where this share of it scales with the frequency:
    /// β·(1/f − 1) + 1.
    pub fn slowdown(&self, scaling: f64) -> f64 {
        scaling * (1.0 / self.frequency - 1.0) + 1.0
    }
}

/// The carbon that the making of a machine has caused, and the time over which it is written off.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Embodied {
    /// That of one machine.
    pub carbon: Carbon,
    /// Its lifetime.
    pub lifetime: Span,
}

impl Embodied {
    /// The part of so many machines that falls to this time, rounded down.
    pub fn over(&self, machines: u32, time: Span) -> Carbon {
        let carbon = self.carbon.nanograms().unsigned_abs() * u128::from(machines);
        let lifetime = u128::from(self.lifetime.micros().max(1));
        let (whole, part) = (carbon / lifetime, carbon % lifetime);
        let micros = u128::from(time.micros());
        let nanograms = whole * micros + part * micros / lifetime;
        Carbon::from_nanograms(i128::try_from(nanograms).unwrap_or(i128::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watts(watts: u64) -> Power {
        Power::from_milliwatts(watts * 1_000)
    }

    #[test]
    fn half_the_frequency_draws_an_eighth_beyond_idle() {
        // 100 W idle, 180 W busy: 80 W at full speed, 10 W at half of it.
        let half = Level::cubic(0.5, watts(100), watts(180));
        assert_eq!(half.busy, watts(110));
        // All of the work scales: twice the time. Half of it: half as long again.
        assert_eq!((half.slowdown(1.0), half.slowdown(0.5), half.slowdown(0.0)), (2.0, 1.5, 1.0));
    }

    #[test]
    fn the_best_frequency_is_the_cube_root_of_half_the_ratio() {
        // Energy per work is (P₀ + α f³) / f; with P₀ = α its minimum is at (1/2)^(1/3) = 0.794.
        let energy = |percent: u32| {
            let level = Level::cubic(f64::from(percent) / 100.0, watts(100), watts(200));
            level.busy.milliwatts() as f64 * level.slowdown(1.0)
        };
        let best = (30..100).min_by(|a, b| energy(*a).total_cmp(&energy(*b))).unwrap();
        assert_eq!(best, 79);
        assert!(energy(79) < energy(78) && energy(79) < energy(80));
    }

    #[test]
    fn embodied_carbon_is_written_off_over_the_lifetime() {
        let four_years = Span::from_secs(4 * 365 * 86_400);
        let embodied =
            Embodied { carbon: Carbon::from_nanograms(1_314_000_000_000_000), lifetime: four_years };
        // 1314 kg over 35,040 hours: 37.5 g an hour; ten machines for a day 9 kg.
        assert_eq!(embodied.over(10, Span::from_secs(86_400)).as_kg_f64(), 9.0);
    }
}
