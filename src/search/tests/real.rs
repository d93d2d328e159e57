//! Problems over real numbers, with the operators of Deb and Agrawal 1995: simulated binary crossover and polynomial mutation, both within
//! bounds.

use crate::search::Problem;
use crate::workload::random::Stream;

const ETA_CROSSOVER: f64 = 15.0;
const ETA_MUTATION: f64 = 20.0;

/// A function over a box.
pub(super) struct Real {
    pub(super) bounds: Vec<(f64, f64)>,
    pub(super) objectives: usize,
    /// From the variables to the objectives.
    pub(super) function: fn(&[f64], &mut [f64]),
}

impl Problem for Real {
    type Genome = Vec<f64>;
    type Scratch = ();

    fn objectives(&self) -> usize {
        self.objectives
    }

    fn scratch(&self) {}

    fn random(&self, stream: &mut Stream) -> Vec<f64> {
        self.bounds.iter().map(|(low, high)| low + (high - low) * stream.uniform()).collect()
    }

    fn cross(&self, one: &mut Vec<f64>, other: &mut Vec<f64>, stream: &mut Stream) {
        for ((a, b), bounds) in one.iter_mut().zip(other).zip(&self.bounds) {
            if stream.uniform() < 0.5 && (*a - *b).abs() > 1e-14 {
                let (low, high) = simulated_binary(a.min(*b), a.max(*b), *bounds, stream.uniform());
                (*a, *b) = if stream.uniform() < 0.5 { (low, high) } else { (high, low) };
            }
        }
    }

    fn mutate(&self, genome: &mut Vec<f64>, stream: &mut Stream) {
        let probability = 1.0 / genome.len() as f64;
        for (value, bounds) in genome.iter_mut().zip(&self.bounds) {
            if stream.uniform() < probability {
                *value = polynomial(*value, *bounds, stream.uniform());
            }
        }
    }

    fn evaluate(&self, genome: &Vec<f64>, (): &mut (), objectives: &mut [f64]) -> f64 {
        (self.function)(genome, objectives);
        0.0
    }
}

/// Two values around those of the parents, the smaller one first.
fn simulated_binary(smaller: f64, larger: f64, (low, high): (f64, f64), draw: f64) -> (f64, f64) {
    let distance = larger - smaller;
    let spread = |room: f64| {
        let beta = 1.0 + 2.0 * room / distance;
        let alpha = 2.0 - libm::pow(beta, -(ETA_CROSSOVER + 1.0));
        let base = if draw <= 1.0 / alpha { draw * alpha } else { 1.0 / (2.0 - draw * alpha) };
        libm::pow(base, 1.0 / (ETA_CROSSOVER + 1.0))
    };
    let middle = smaller + larger;
    let below = 0.5 * (middle - spread(smaller - low) * distance);
    let above = 0.5 * (middle + spread(high - larger) * distance);
    (below.clamp(low, high), above.clamp(low, high))
}

fn polynomial(value: f64, (low, high): (f64, f64), draw: f64) -> f64 {
    let range = high - low;
    let power = ETA_MUTATION + 1.0;
    let step = if draw <= 0.5 {
        let room = 1.0 - (value - low) / range;
        libm::pow(2.0 * draw + (1.0 - 2.0 * draw) * libm::pow(room, power), 1.0 / power) - 1.0
    } else {
        let room = 1.0 - (high - value) / range;
        1.0 - libm::pow(2.0 * (1.0 - draw) + 2.0 * (draw - 0.5) * libm::pow(room, power), 1.0 / power)
    };
    (value + step * range).clamp(low, high)
}
