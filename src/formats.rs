//! File formats of workloads and workflows, one module a format, of prices and carbon intensities over time, and of failures.
//!
//! Readers take an open [`std::io::Read`] and a name for messages; the caller chooses and opens the file. The meaning
//! of jobs, and how they are shaped, belongs to [`crate::workload`], that of tasks to [`crate::workflow`].

mod any_workflow;
pub mod batsim;
pub mod cwf;
pub mod dax;
mod decimal;
pub mod failures;
mod file_error;
pub mod gwf;
mod input;
pub mod series;
pub mod swf;
pub mod wfformat;
mod workflow_file;

pub use any_workflow::{is_wfformat, read_workflows};
pub use file_error::FileError;
pub use workflow_file::{ReadWorkflow, WorkflowFileError};
