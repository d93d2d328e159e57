//! Measures over records: what a run did, in numbers that do not depend on the order of its records.
//!
//! Everything here is a collector that is handed records (or ledgers) and can be merged with another of its kind,
//! so that sites, threads and resumed runs add up to the same digits: sums are integers or fixed point and
//! become floating point once, at the end. Nothing is read or written here; tables and files are the
//! business of [`crate::report`].

mod definitions;
mod distribution;
mod fingerprint;
mod ledger;
mod ratio;
mod run;
#[cfg(test)]
pub(crate) mod samples;
mod summary;
#[cfg(test)]
mod tests;
mod waits;

pub use definitions::{Definition, Definitions};
pub use distribution::{EXACT_QUANTILES, Quantiles};
pub use fingerprint::{Fingerprint, FingerprintError};
pub use ledger::{EnergySummary, Ledger, UsageSummary};
pub use ratio::Ratio;
pub use run::{OfferedLoad, RunFacts, RunSummary, Times};
pub use summary::{ClassMeasures, DifferentDefinitions, Measures, Outcomes, Summary};
pub use waits::{RecordedWaits, WaitComparison};
