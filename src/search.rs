//! Search without a grid: multi-objective search with the measures of what it finds, which this page is about, and [`discrepancy`] search for the best
//! order of some items.
//!
//! A [`Problem`] says how its genomes are drawn, crossed, changed and evaluated. A [`Search`] looks for genomes whose objectives, all
//! minimised, no other found genome betters: by NSGA-II, or by one of two controls with the same budget of evaluations, random search and a
//! genetic algorithm with weighted sums ([`Method`]). The controls say whether NSGA-II is worth its name on a problem.
//!
//! A problem with few genomes is searched as a whole by [`exhaustive`]. What a search uses can be used alone: [`fronts`] and [`crowding`] of a set of [`Points`], an [`Archive`] of the points that no other
//! dominates, and the measures [`hypervolume`], [`igd`] and [`igd_plus`]. Everything is determined by its arguments: equal points are
//! ordered by index, and what is random is a function of the seed, the generation and the number of the child, on any number of threads.
//!
//! ```
//! use gridemu::search::{ArchiveSize, Method, Problem, Search, Settings, hypervolume};
//! use gridemu::workload::random::Stream;
//!
//! /// Schaffer's problem: x² and (x − 2)² have their minima at different x.
//! struct Schaffer;
//!
//! impl Problem for Schaffer {
//!     type Genome = f64;
//!     type Scratch = ();
//!
//!     fn objectives(&self) -> usize {
//!         2
//!     }
//!
//!     fn scratch(&self) {}
//!
//!     fn random(&self, stream: &mut Stream) -> f64 {
//!         20.0 * stream.uniform() - 10.0
//!     }
//!
//!     fn cross(&self, one: &mut f64, other: &mut f64, stream: &mut Stream) {
//!         let step = stream.uniform() * (*other - *one);
//!         (*one, *other) = (*one + step, *other - step);
//!     }
//!
//!     fn mutate(&self, genome: &mut f64, stream: &mut Stream) {
//!         *genome += 0.1 * stream.normal();
//!     }
//!
//!     fn evaluate(&self, genome: &f64, (): &mut (), objectives: &mut [f64]) -> f64 {
//!         let (x, y) = (*genome, *genome - 2.0);
//!         objectives.copy_from_slice(&[x * x, y * y]);
//!         0.0 // No constraint is violated.
//!     }
//! }
//!
//! let settings = Settings { population: 40, generations: 50, archive: ArchiveSize::Unbounded, ..Settings::default() };
//! let found = Search::new(&Schaffer, Method::Nsga2, settings, &[])?.run()?;
//! assert_eq!(found.evaluations, 2_000);
//! // The whole front has the hypervolume 40/3.
//! let share = hypervolume(found.population.points(), &[4.0, 4.0])? / (40.0 / 3.0);
//! assert!(0.98 < share && share < 1.0);
//! # Ok::<(), gridemu::search::SearchError>(())
//! ```

mod archive;
pub mod discrepancy;
mod distance;
mod dominance;
mod error;
mod exhaustive;
mod hypervolume;
mod method;
mod points;
mod population;
mod problem;
mod run;
mod settings;
#[cfg(test)]
pub(crate) mod tests;

pub use archive::{Archive, ArchiveSize};
pub use distance::{igd, igd_plus};
pub use dominance::{constrained_dominates, crowding, dominates, fronts};
pub use error::SearchError;
pub use exhaustive::exhaustive;
pub use hypervolume::hypervolume;
pub use method::{Method, WeightedSum};
pub use points::Points;
pub use population::Population;
pub use problem::Problem;
pub use run::{Found, Search};
pub use settings::Settings;
