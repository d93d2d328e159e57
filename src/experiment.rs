//! Running: a scenario, or a workload and policies, in; files and summaries out.
//!
//! The first room that opens files and reads the clock. What it is asked for is checked before anything runs, so that a
//! bad request ([`RunError::Request`]) is told from a run that failed ([`RunError::Run`]).

pub mod archive;
pub mod campaign;
mod checkpoint;
mod clock;
mod commands;
mod compare;
mod error;
mod explain;
mod files;
mod fork;
mod progress;
mod recorder;
mod replay;
pub mod reproduce;
mod rerun;
mod resume;
mod run;
pub mod scenario;
mod snapshots;
mod study;
mod timed;
mod underway;
mod validate;
mod workload;

pub use checkpoint::{Anew, CheckpointPlan, Control};
pub use commands::Commands;
pub use compare::{CompareOptions, Comparison, compare};
pub use error::RunError;
pub use explain::{ExplainOptions, explain};
pub use fork::{ForkOptions, fork};
pub use progress::{Notice, Progress, RunsDone};
pub use replay::{Replay, ReplayOptions};
pub use rerun::rerun;
pub use resume::{Ended, ResumePoint, Stored, StoredRun};
pub use run::{Inputs, Run};
pub use snapshots::{look_into, look_up, prune};
pub use study::{is_study, read_study, study_note};
pub use validate::{GridFrom, validate};
pub use workload::{EstimateSource, Opened, Shaping, Workload};
