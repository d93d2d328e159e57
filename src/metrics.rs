//! Measures over records: what a run did, in numbers that do not depend on the order of its records.
//!
//! Everything here is a collector that is handed records (or ledgers) and can be merged with another of its kind,
//! so that sites, threads and resumed runs add up to the same digits: sums are integers or fixed point and
//! become floating point once, at the end. Nothing is read or written here; tables and files are the
//! business of [`crate::report`].

mod backlog;
mod blocks;
mod churn;
pub mod claims;
pub mod comparison;
mod dedicated;
mod definitions;
mod distribution;
mod elasticity;
mod fingerprint;
mod grid;
mod grid_run;
mod groups;
mod ledger;
pub mod legal;
mod measure;
mod points;
mod ratio;
mod recovery;
mod run;
#[cfg(test)]
pub(crate) mod samples;
mod spans;
pub mod statistics;
mod study;
mod summary;
#[cfg(test)]
mod tests;
mod waits;
mod window;

pub use backlog::{Backlog, BacklogSummary};
pub(crate) use blocks::{Block, BlockError, BlockId, Blocks, Exact, Skeleton};
pub use churn::{Attempts, Churn, ChurnSummary, Count, JobChanges, LostWork, MachineChanges, Refusals};
pub use dedicated::DedicatedMeasures;
pub use definitions::{Definition, Definitions};
pub use distribution::{EXACT_QUANTILES, Quantiles};
pub use elasticity::{ElasticSummary, Elasticity};
pub use fingerprint::{Fingerprint, FingerprintError};
pub use grid::GridMeasures;
pub use grid_run::{
    Account, BrokerFacts, GridFacts, GridSummary, MeasuredWindow, OriginSummary, SiteSummary,
};
pub use groups::{Charged, Groups};
pub use ledger::{EnergySummary, Ledger, UsageSummary};
pub use measure::{Better, MeasureInfo, nearest_measure, stands_for};
pub use points::StudyPoint;
pub use ratio::Ratio;
pub use recovery::{Loss, Recovery, RecoveryRule, RecoverySummary};
pub use run::{OfferedLoad, RunFacts, RunSummary, Times};
pub use spans::{AgeSummary, Ages, SpanSummary};
pub(crate) use study::one_run;
pub use study::{RunStatus, StudyRow, StudyTable, flat_measures};
pub use summary::{ClassMeasures, DifferentDefinitions, Measures, Outcomes, Summary};
pub use waits::{RecordedWaits, WaitComparison};
pub use window::Window;
