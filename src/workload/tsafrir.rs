//! User estimates of run times, by the model of Tsafrir, Etsion and Feitelson (JSSPP 2005).
//!
//! Users choose from few values: twenty round ones, above all the machine's limit, account for 89 % of the jobs. A
//! backfilling policy therefore sees many jobs that look alike. Estimates made by multiplying run times do not show
//! this and overstate how well the policy does.
//!
//! The model makes a histogram of estimates ([`TsafrirSpec::histogram`]) and assigns them to jobs at random so that
//! no estimate is shorter than its job's run time ([`TsafrirSpec::assign`]). It needs all jobs at once, in
//! memory (some 200 bytes a job): [`TsafrirSpec::estimated`] is the source of the same jobs with estimates.
//!
//! # What differs from the authors' program
//!
//! - Percentages become numbers of jobs by largest remainder, with at least one job a value.
//!   When there are so few jobs that they have at most as many values as the head, only the most popular values of the
//!   head are used; their program keeps them all.
//! - Of their hints for a known machine, the share of jobs at the limit and the popular values can be given.

mod assign;
mod histogram;
mod source;
mod spec;

pub use assign::TsafrirError;
pub use histogram::{Bin, HEAD, distinct_values};
pub use spec::TsafrirSpec;
