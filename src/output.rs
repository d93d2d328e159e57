//! The files of a run: records as tables, written and read back.
//!
//! Rows are formatted by hand into blocks and written in whole lines, so that what has reached the disk stays
//! readable whatever happens next. Every column is described in `docs/output.md`; the figures are computed in
//! [`crate::metrics`].
//!
//! # Marks
//!
//! A snapshot of a run does not save its files, which grow with the jobs that have ended, but marks them
//! ([`OutputDir::mark`]): buffered rows go to the operating system, and the mark has the length, the number of rows
//! and the xxh3-128 hash of each file, which is computed as the file is written. Another thread syncs
//! ([`OutputSync`]), so a mark does not wait for the disk.
//!
//! [`OutputDir::resume`] reads each file up to the mark and compares it with the mark before it changes anything,
//! then truncates the rest. [`OutputDir::copy_past`] copies the same past to another folder, for a fork of the run.
//! Only Batsim's columns have a state of their own (where a job ran last); it is part of the mark.

mod batsim;
pub(crate) mod cells;
mod error;
pub(crate) mod files;
mod folder;
mod job_refs;
mod ledger;
mod lines;
mod mark;
pub(crate) mod names;
mod pstates;
mod reader;
mod rows;
pub(crate) mod states;
#[cfg(test)]
mod tests;
mod trace;

pub use error::{OutputError, hint_for};
pub use folder::{OutputDir, OutputOptions};
pub(crate) use folder::{TRACE, write_whole};
pub use job_refs::JobRefs;
pub use mark::{FileMark, OutputMark, OutputSync, Since};
pub use reader::{
    CoallocationRow, EventRow, FolderKind, FrontRow, GroupRow, JobRow, MachineRow, Ordered, ReadError, Rows,
    RunFolder, SegmentRow, SliceRow, TaskRow, TransferRow, WorkflowRow,
};
pub use trace::{TraceError, TraceFacts, write_trace};
