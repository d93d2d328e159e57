//! File formats of workloads, one module a format.
//!
//! Readers take an open [`std::io::Read`] and a name for messages; the caller chooses and opens the file. The meaning
//! of jobs, and how they are shaped, belongs to [`crate::workload`].

pub mod batsim;
pub mod cwf;
mod input;
pub mod swf;
