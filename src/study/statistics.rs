//! Inference from random measures: intervals, paired differences, many comparisons at once.
//!
//! A comparison of schedulers must avoid three mistakes:
//!
//! - *Jobs of one run treated as independent samples.* They wait in one queue, so they are not. Independent samples are
//!   runs with different seeds ([`mean_interval`], [`paired`]); of a single log, at most its weeks, and those only in
//!   blocks ([`block_bootstrap`]). Runs that begin at different dates are a series, in which neighbours are alike ([`Draws`]).
//! - *Runs that share a seed treated as unrelated.* Two policies under one seed schedule the same jobs: the difference is taken
//!   seed by seed ([`paired`]).
//! - *Many cells, one threshold.* Of twenty cells without any difference one falls below 0.05 by chance: [`holm`]
//!   corrects for all cells of a table.
//!
//! [`Evidence`] is what a number of replications allows to conclude. Distributions come from the `statrs` crate; draws
//! from a [`Stream`](crate::workload::random::Stream).

mod evidence;
mod holm;
mod series;
mod student;
mod weeks;

pub use evidence::Evidence;
pub use holm::holm;
pub use student::{Draws, Effect, Estimate, mean_interval, paired};
pub use weeks::{DRAWS, Week, WeekBootstrap, block_bootstrap, block_length};
