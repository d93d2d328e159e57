//! Snapshots of a run: when they are taken, what is in them, and how they get into the store while the run goes on.

mod begin;
mod control;
mod description;
mod plan;
mod state;
mod taker;
mod writer;

pub use begin::Anew;
pub use control::Control;
pub use plan::CheckpointPlan;

pub(super) use begin::{create_store, here, options};
pub(super) use description::Description;
pub(super) use state::{Saved, Snapshot};
pub(super) use taker::Taker;
