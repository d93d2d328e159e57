//! The cloud workload format (CWF): the Standard Workload Format with dedicated jobs and elastic commands (Kumar, Shae and
//! Jamjoom, *Scheduling batch and heterogeneous jobs with runtime elasticity in a parallel processing environment*, 2012,
//! section IV-C and figure 4).
//!
//! A row has the 18 columns of [`swf`](super::swf) and three more:
//!
//! | column | holds |
//! |---|---|
//! | 19 | the start that a dedicated job asks for, in the time of submissions; −1 for a batch job |
//! | 20 | `S`: a job is submitted; `ET`, `RT`, `EP`, `RP`: its user extends (E) or reduces (R) its requested time (T) or processors (P) |
//! | 21 | by how many seconds or processors; −1 for `S` |
//!
//! The row of a command has the number of its job in column 1 and its own time in column 2.

mod row;
mod write;

pub use write::{Writer, write_header};
