//! Campaigns: many scenarios side by side. A base scenario and what varies, in one file; the table of all runs out.
//!
//! [`Campaign::load`] reads the file and resolves every run of the product of its axes and seeds, so that whatever is wrong is told
//! before anything runs. [`Campaign::run`] does those that have no result yet, on all cores, and keeps each in a
//! [`ResultStore`](crate::store::ResultStore) under a hash of all that it depends on: so a campaign that is killed goes on where it
//! was, one that was changed does only what is new, and parts of it can be done elsewhere and merged. The table is the same, byte for byte,
//! whatever the number of threads, interruptions or parts.

mod about;
mod axis;
mod file;
mod folders;
mod key;
mod measures;
mod merging;
mod outcome;
mod plan;
mod range;
mod running;
mod seeds;
mod shard;
mod sheet;
mod table;

pub(super) use about::About;
pub(super) use file::MEASURES;
pub use merging::Merged;
pub use plan::{Campaign, PlannedRun};
pub(super) use running::refused;
pub use running::{CampaignOptions, CampaignRan};
pub use shard::Shard;
