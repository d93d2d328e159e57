//! How workloads are spelled in files: one module a format.
//!
//! Readers are handed an open [`std::io::Read`] and a name for messages; which file to open, and whether to, is the
//! business of the shell. What the jobs mean, and how they are shaped, belongs to [`crate::workload`].

pub mod batsim;
pub mod cwf;
mod input;
pub mod swf;
