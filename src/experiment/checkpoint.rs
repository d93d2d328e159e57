//! Snapshots of a run: when they are taken, what is in them, and how they get into the store while the run goes on.

mod control;
mod description;
mod plan;
mod state;
mod taker;
mod writer;

pub use control::{Control, Interrupt};
pub use plan::CheckpointPlan;

pub(super) use description::Description;
pub(super) use state::RunState;
pub(super) use taker::Taker;
