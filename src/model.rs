//! The nouns of the grid: jobs, machines, sites, processor sets, outcomes and records.
//!
//! Plain data with its own arithmetic and validation. Nothing here decides anything: scheduling lives in
//! [`crate::local`], what happens over time in [`crate::entity`].

mod class;
mod ids;
mod job;
mod named;
mod outcome;
mod procset;
mod record;
mod site;
mod speedup;

pub use class::{ClassError, JobClass, JobClasses, SizeBound};
pub use ids::{JobId, JobKey, PartitionId, SiteId};
pub use job::{Job, JobError, Predecessor, Size};
pub use named::{Named, NamedError, nearest};
pub use outcome::{Outcome, RejectReason};
pub use procset::{Intervals, ProcSet};
pub use record::{Cause, JobRecord, MachineRecord, MachineState, Record, RecordSink, SegmentRecord};
pub use site::{InstantOrder, MAX_PROCESSORS, PartitionSpec, Reservation, SiteError, SiteSpec};
pub use speedup::{Speedup, SpeedupError};
