//! Workflows: tasks that wait for each other's data, and what is known of them before anything runs.
//!
//! A [`Workflow`] is a directed acyclic graph of [`Task`]s with the files that they read and write. It is made of a [`Draft`], what a file
//! or a generator says, by [`Draft::build`], which checks all of it; a `Workflow` is therefore always valid.
//!
//! ```
//! use gridemu::workflow::{Costs, Draft, TaskDraft};
//!
//! let mut draft = Draft::named("two");
//! draft.file("picture", 1e6);
//! draft.task(TaskDraft::new("take", 10.0).writes("picture"));
//! draft.task(TaskDraft::new("show", 5.0).reads("picture"));
//! let two = draft.build().unwrap();
//! assert_eq!(two.levels(), [0, 1]);
//! let costs = Costs::at_reference(&two, Some("8 Mbit/s".parse().unwrap()));
//! assert_eq!(two.critical_path(&costs).0, 16.0);
//! ```
//!
//! File formats are read and written in [`crate::formats`]; what happens to a workflow on a grid is not known here.

mod build;
mod contents;
mod draft;
mod error;
mod estimates;
mod facts;
pub(crate) mod faults;
mod graph;
pub mod grouping;
mod limits;
mod scale;
pub mod shapes;
mod source;
mod spec;
#[cfg(test)]
pub(crate) mod tests;

pub use contents::{DataContents, TypeContents, WorkflowContents};
pub use draft::{Draft, TaskDraft};
pub use error::{Part, WorkflowError};
pub use estimates::{EstimateBase, Estimates};
pub use facts::Costs;
pub use graph::{DataFile, FileId, Task, TaskId, Workflow};
pub use source::{Rescaled, WorkflowSource};
