//! What may be said of measures that were drawn by chance: intervals, paired differences, many comparisons at once.
//!
//! Three mistakes are easy in a comparison of schedulers, and each has its answer here:
//!
//! - *Jobs of one run taken for independent samples.* They wait in one queue, so they are not. What is independent is a
//!   run with another seed ([`mean_interval`], [`paired`]); of a single log, at most its weeks, and those only in
//!   blocks ([`block_bootstrap`]).
//! - *Runs that share a seed taken for unrelated.* Two policies under one seed meet the same jobs: the difference is taken
//!   seed by seed ([`paired`]).
//! - *Many cells, one threshold.* Of twenty cells without any difference one falls below 0.05 by luck: [`holm`]
//!   corrects for all that are printed together.
//!
//! [`Evidence`] says how much a number of replications carries. Distributions come from the `statrs` crate; draws from a
//! [`Stream`](crate::workload::random::Stream).

mod evidence;
mod holm;
mod student;
mod weeks;

pub use evidence::Evidence;
pub use holm::holm;
pub use student::{Estimate, Paired, mean_interval, paired};
pub use weeks::{DRAWS, Week, WeekBootstrap, block_bootstrap, block_length};
