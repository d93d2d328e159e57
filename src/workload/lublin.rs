//! The workload model of Lublin and Feitelson (JPDC 63(11) 2003), fitted to logs of parallel supercomputers.
//!
//! Jobs arrive in a daily cycle, with gaps whose logarithm is gamma distributed; sizes favour powers of two and
//! serial jobs; the logarithm of the run time is a mixture of two gamma distributions, in which the long one is
//! likelier the larger the job. There is one population ([`Types::Typeless`]) or two ([`Types::Typed`]: batch and
//! interactive jobs, which the model calls active).
//!
//! [`LublinSpec`] is the resolved specification; [`Lublin`] is the [`Source`](super::Source) that generates its jobs.
//! It draws jobs one at a time in constant memory, and its mark is its whole state: it continues without a replay.
//!
//! # What differs from the authors' program
//!
//! - Their clock is a whole number of seconds and every gap is truncated into it, which loses half a second a
//!   job: the daily cycle drifts by 1.4 h in 10 000 jobs. Ours counts half-hours and the place within one, so
//!   nothing accumulates; only the submission time that comes out is rounded down to a whole second.
//!   `truncate=true` brings their clock back.
//! - Their draws come from `drand48` and sums of exponentials. Ours come from named streams ([`super::random`]),
//!   one for the arrivals of each type, one for sizes and one for run times, so that changing the sizes leaves
//!   the arrivals as they were. `reference=true` reproduces their output to the second.
//! - Sizes are limited to the range from 1 to the machine; theirs can exceed it when `uhi` does not fit.
//!
//! # Load
//!
//! The offered load is Σ size × run time / (processors × time from the first to the last submission).
//! `load=L` multiplies all arrival times by one constant, as most studies do; the daily cycle is stretched along
//! with them. The constant comes from a dry run over the same draws, so that the load is met exactly (up to the
//! rounding of times to seconds) for as many as [`PILOT`] jobs; longer workloads take it from their first
//! [`PILOT`] jobs. Kumar et al. vary `barr` instead, which keeps the day and changes the burstiness.

mod check;
mod cycle;
mod dice;
mod generator;
mod laws;
mod params;
mod source;
mod spec;
#[cfg(test)]
mod tests;

pub(super) use cycle::Clock;
pub use cycle::{BUCKETS, weights};
pub(super) use generator::Made;
pub(super) use laws::{ArrivalLaw, RuntimeLaw};
pub(super) use params::of_times;
pub use params::{
    Allowed, ArrivalParams, JobParams, Kind, LublinParams, PARAMETERS, Parameter, RuntimeParams, SizeParams,
    Types,
};
pub use source::{Lublin, PILOT};
pub(super) use spec::{FACTOR, HOUR};
pub use spec::{LublinSpec, Pace};
