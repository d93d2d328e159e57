//! The generator of the cloud workload format: batch and dedicated jobs whose users issue elastic commands (Kumar,
//! Shae and Jamjoom, *Scheduling batch and heterogeneous jobs with runtime elasticity in a parallel processing
//! environment*, 2012, section IV-D).
//!
//! Run times and arrivals are those of [`lublin`](super::lublin) with the paper's parameters (tables I and II). The
//! rest is specific to this model: sizes in whole allocation units of the machine from a two-stage uniform
//! distribution, jobs that request a start ([`Job::requested_start`](crate::model::Job::requested_start)), and
//! elastic commands ([`Job::elastic`](crate::model::Job::elastic)).
//!
//! [`CwfSpec`] is the resolved specification; [`Cwf`] is the [`Source`](super::Source) that generates its jobs. It
//! draws jobs one at a time in constant memory, and its mark is its whole state.
//!
//! # What the paper leaves open
//!
//! - *Sizes.* Its mean sizes (180.84, 139.35 and 89.72 processors for P_S of 0.2, 0.5 and 0.8) are those of large jobs whose
//!   draw from \[4, 10\] is rounded down, so that a job of 320 processors never comes ([`Large::Floor`], the default). To the
//!   nearest, as its text has it, the means are 192, 144 and 96 ([`Large::Round`]).
//! - *The size that run times depend on*, in p = p_a s + p_b: units of 32 ([`RuntimeSize::Units`], the default), or
//!   processors, as the formula is written ([`RuntimeSize::Procs`]): a job of more than 144 processors is then always a
//!   long one, and the mean run time three times as long.
//! - *Commands.* A job has an extension with P_E and, apart from that, a reduction with P_R. Amounts are exponential shares of
//!   the requested time; the means are not printed ([`CwfSpec::amount`], [`CwfSpec::lead`] of dedicated jobs). Commands come
//!   uniformly within so many run times of the submission ([`CwfSpec::within`]).
//!
//! # Load
//! The offered load is Σ size × run time / (processors × time from the first to the last submission), before any
//! command. The paper varies β_arr: [`Calibrate::Barr`] searches for the `barr` with which these very draws give the
//! load, and the length of the day stays. The load is not a continuous function of `barr` near the model's cap of
//! gaps, so the remaining difference is removed by scaling; [`Cwf::scale`] is then close to 1. [`Calibrate::Gaps`]
//! scales all arrival times, as `lublin` does, and keeps `barr`. Both are determined from at most
//! [`PILOT`](super::lublin::PILOT) jobs.
//!
//! # Draws
//!
//! Arrivals, sizes, run times, starts and commands have a stream each, and every job takes the same number of draws
//! from each. So `pd`, `pe` and `pr` change neither sizes nor arrivals, and with a larger `pd` the jobs that were
//! dedicated stay dedicated, with the same starts.

mod calibration;
mod generator;
mod source;
mod spec;
#[cfg(test)]
mod tests;

pub use source::Cwf;
pub use spec::{Calibrate, CwfSpec, Large, RuntimeSize};
