//! The Standard Workload Format, version 2.2, of the Parallel Workloads Archive.
//!
//! A log is text, often compressed with gzip: header comments `; Label: value`, then a row a job in 18 columns, −1
//! for what is unknown (Chapin et al., *Benchmarks and standards for the evaluation of parallel job schedulers*,
//! JSSPP 1999; <https://www.cs.huji.ac.il/labs/parallel/workload/swf.html>). [`SwfSource`] streams the jobs of a log,
//! [`write_header`] and [`write_job`] write one.
//!
//! Conventions, those of most simulators: a job requests its requested processors (column 8), or its allocated ones
//! (column 5) if those are unknown; its estimate is the requested time (column 9), or its run time if that is
//! unknown.

mod clean;
mod columns;
mod header;
mod numbers;
mod order;
mod row;
mod source;
mod tally;
#[cfg(test)]
mod tests;
mod write;

pub use clean::Clean;
pub(super) use columns::Columns;
pub use header::Header;
pub use row::{Row, RowError};
pub use source::{SwfOptions, SwfSource};
pub(super) use write::write_columns;
pub use write::{Heading, write_header, write_job};
