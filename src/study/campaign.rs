//! Campaigns: one file with a base scenario and what varies, from which a table of many runs is made.
//!
//! ```text
//! CampaignFile ──axes × seeds──▶ PlannedRun { point, seed, key } ──▶ runs without a result
//!                                                                            │ one per thread at a time
//! results.csv ◀── StudyTable ◀── all results ◀── ResultStore ◀── Outcome ◀── Run (plain loop)
//! ```
//!
//! [`Campaign::load`] reads the file with the tree and the reader of scenarios, so that errors have places, and resolves
//! every run before any is started, which costs less than a tenth of a millisecond each. A value on an axis is an
//! [`Override`](crate::scenario::Override) like a `--set`. A run is resolved again when it is carried out, so that a
//! campaign of a hundred thousand runs keeps their keys in memory and not their scenarios.
//!
//! [`Campaign::run`] carries out the runs that have no result yet, on all cores, seed by seed, and keeps each result in a
//! [`ResultStore`](crate::store::ResultStore) under its key: a hash of the scenario's hash, the contents of its logs, the
//! version of gridemu and `RESULTS` (`key`). So a campaign that was killed continues where it stopped, a changed one carries
//! out only its new runs, and parts of it can be carried out elsewhere and merged. Threads take the next run from a counter;
//! one thread stores the results, with one flush for all that have arrived. The table is made from results and the plan
//! alone, in the order of the plan, so it is the same, byte for byte, whatever the number of threads, interruptions or parts.
//!
//! The measures of a run are known from its summary before the first event (`Run::outline`); a requested measure must be
//! among them. Logs are read once for all runs and handed out from memory.

mod about;
mod axis;
mod file;
mod folders;
mod key;
pub(super) mod measures;
mod merging;
mod outcome;
mod plan;
mod range;
mod running;
mod seeds;
mod shard;
mod sheet;
mod table;
mod timing;

pub(super) use about::{About, TABLE};
pub(super) use file::MEASURES;
pub use merging::Merged;
pub use plan::{Campaign, PlannedRun};
pub(super) use running::refused;
pub use running::{CampaignOptions, CampaignRan};
pub use shard::Shard;
pub use table::ListedRun;
pub use timing::Timing;
