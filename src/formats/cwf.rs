//! The cloud workload format (CWF): the Standard Workload Format with dedicated jobs and elastic commands (Kumar, Shae and
//! Jamjoom, *Scheduling batch and heterogeneous jobs with runtime elasticity in a parallel processing environment*, 2012,
//! section IV-C and figure 4).
//!
//! A row has the 18 columns of [`swf`](super::swf) and three more:
//!
//! | column | holds |
//! |---|---|
//! | 19 | the requested start of a dedicated job, in the time of submissions; −1 for a batch job |
//! | 20 | `S`: a job is submitted; `ET`, `RT`, `EP`, `RP`: its user extends (E) or reduces (R) its requested time (T) or processors (P) |
//! | 21 | by how many seconds or processors; −1 for `S` |
//!
//! The row of a command has the number of its job in column 1 and its own time in column 2, and follows the row of
//! its job. A row of 18 columns is a batch job.
//!
//! A log is in this format if the options say so ([`SwfOptions::cwf`](super::swf::SwfOptions::cwf)), or if its first
//! row has a code in column 20. It is read by [`SwfSource`](super::swf::SwfSource) like any log, as a stream. But
//! commands follow their jobs at any distance, while a job carries its own from its submission on. So a log of this
//! format is read twice: once for its commands
//! ([`SwfSource::gather_commands`](super::swf::SwfSource::gather_commands)), of which memory holds those of jobs that
//! are still to come, and once for its jobs. An input that can be read only once is held in memory as a whole
//! ([`SwfSource::into_jobs`](super::swf::SwfSource::into_jobs)).

mod commands;
mod row;
#[cfg(test)]
mod tests;
mod write;

pub use commands::Commands;
pub(super) use row::Extension;
pub use write::{Writer, write_header};
