//! File formats of workloads and workflows, one module a format, and of prices and carbon intensities over time.
//!
//! Readers take an open [`std::io::Read`] and a name for messages; the caller chooses and opens the file. The meaning
//! of jobs, and how they are shaped, belongs to [`crate::workload`], that of tasks to [`crate::workflow`].

mod any_workflow;
pub mod batsim;
pub mod cwf;
pub mod dax;
pub mod gwf;
mod input;
pub mod series;
pub mod swf;
pub mod wfformat;
mod workflow_file;

pub use any_workflow::{is_wfformat, read_workflows};
pub use workflow_file::{ReadWorkflow, WorkflowFileError};
