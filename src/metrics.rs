//! Measures over records: what a run did, in numbers that do not depend on the order of its records.
//!
//! Each collector takes records (or ledgers) in any order and can be saved, so that sites, engines and resumed runs
//! add up to the same digits: sums are integers or fixed point and become floating point once, at the end. Nothing is read or written here: [`crate::output`] has the files, [`crate::report`] the tables, and
//! [`crate::study`] the measures over many runs.

mod backlog;
mod belief_errors;
mod blocks;
mod churn;
mod coallocations;
mod dedicated;
mod definitions;
mod distribution;
mod elasticity;
mod fingerprint;
mod finishes;
mod fronts;
mod grid;
mod grid_run;
mod groups;
mod ledger;
mod limits;
mod preemption;
mod purposes;
mod ratio;
mod recovery;
mod replanning;
mod run;
mod sketch;
mod spans;
mod summary;
#[cfg(test)]
pub(crate) mod tests;
mod unended;
mod waits;
mod window;
mod workflows;

pub use backlog::{Backlog, BacklogSummary};
pub use belief_errors::ErrorSummary;
pub(crate) use blocks::{Block, BlockError, BlockId, Blocks, Exact, Skeleton};
pub use churn::{
    Attempts, Churn, ChurnSummary, Count, FaultCounts, JobChanges, MachineChanges, Refusals, WastedWork,
};
pub use coallocations::CoallocationSummary;
pub use dedicated::DedicatedMeasures;
pub use definitions::{Definition, Definitions, Penalty};
pub use distribution::{EXACT_QUANTILES, Quantiles};
pub use elasticity::{ElasticSummary, Elasticity};
pub use fingerprint::{Fingerprint, FingerprintError};
pub use finishes::{FinishSummary, SiteFinish};
pub use fronts::FrontSummary;
pub use grid::GridMeasures;
pub use grid_run::{
    BrokerFacts, GridFacts, GridSummary, MeasuredWindow, OriginSummary, ProgramSummary, SiteSummary,
};
pub use groups::Groups;
pub use ledger::{Account, EnergySummary, Ledger, PerWork, UsageSummary};
pub use limits::LimitMeasures;
pub use preemption::PreemptionSummary;
pub use purposes::{Purpose, Purposes};
pub use ratio::Ratio;
pub use recovery::{Loss, Recovery, RecoveryRule, RecoverySummary};
pub use replanning::{ReplanSummary, Replanning};
pub use run::{OfferedLoad, SingleSite, Times};
pub use spans::{AgeSummary, Ages, PlanningSummary, SpanSummary};
pub use summary::{ClassMeasures, DifferentDefinitions, KindMeasures, Measures, Outcomes, Summary};
pub use unended::ToTheEnd;
pub use waits::{RecordedWaits, WaitComparison};
pub use window::Window;
pub use workflows::{ShareSummary, WorkflowMeasures, WorkflowRatios, WorkflowSummary};
