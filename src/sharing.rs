//! Time sharing without a grid: who shares processors with whom, in which time slots, and what that costs.
//!
//! - A [`Matrix`] is the Ousterhout matrix of gang scheduling: time slots by processors. It packs jobs without migration, lets them run in
//!   further slots where their processors are idle, and unifies slots when jobs leave. [`TimeSlices`] says how long a slot is and what switching
//!   between slots costs.
//! - [`Coscheduling`] says how much slower jobs become beside others, by a table of [`Pairs`], and whether they may be put together.
//! - [`Priorities`] are those of classes of run times, with aging.
//! - [`Sizes`] are the least, best and largest size of a job, and how it grows and shrinks with the [`Load`].
//!
//! The models are those of X. Huang, *Adaptive space-time sharing with SCOJO*, MSc thesis, University of Windsor, 2004, after J. K. Ousterhout
//! (1982) and D. G. Feitelson and M. A. Jette (1997).
//!
//! ```
//! use gridemu::sharing::{Matrix, Packing};
//! use gridemu::units::Rate;
//!
//! // Ten processors, at most two jobs on each: the second job does not fit beside the first, and gets a slot of its own.
//! let mut matrix = Matrix::new(10, 2, Packing::default())?;
//! matrix.place(0, 8)?;
//! matrix.place(1, 4)?;
//! assert_eq!(matrix.to_string(), "T0  0  0  0  0  0  0  0  0  .  .\nT1  1  1  1  1  .  .  .  .  .  .\n");
//! assert_eq!(matrix.share(1), Some(Rate::ratio(1, 2)));
//! # Ok::<(), gridemu::sharing::MatrixError>(())
//! ```

mod coscheduling;
mod matrix;
mod parts;
mod priorities;
mod sizes;
mod slices;

pub use coscheduling::{Coscheduling, Pairs, PairsError};
pub use matrix::{Fit, Matrix, MatrixError, Packing};
pub use parts::{Share, Slowdown};
pub use priorities::{Aging, Priorities, PrioritiesError};
pub use sizes::{Demand, Load, Sizes, SizesError};
pub use slices::{SliceError, Switch, TimeSlices};
