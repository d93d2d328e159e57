//! Many runs: campaigns, their tables, comparisons, statistics, claims, the reproduction of papers, and drills.
//!
//! A campaign plans runs ([`campaign`]), one process or several carry them out, and their measures form a table
//! ([`StudyTable`]). [`statistics`] and [`comparison`] decide what may be concluded from such a table. A statement of a
//! paper about it is a claim ([`claims`]), and [`reproduce`] combines a paper's campaigns and claims. Tables, charts and
//! pages of all this are made by [`crate::report`].

pub mod campaign;
pub mod claims;
mod compare;
pub mod comparison;
mod csv;
mod drill;
mod measure;
mod open;
#[cfg(feature = "parquet")]
mod parquet;
mod points;
pub mod reproduce;
pub mod slurm;
pub mod statistics;
mod table;
#[cfg(test)]
pub(crate) mod tests;

pub use compare::{Comparison, check_question, compare, compare_campaign};
pub use comparison::CompareOptions;
pub use csv::StudyError;
pub use drill::{Contender, DrillFile, DrillRan, Failure, Value, drill};
pub use measure::{Better, JOB_MEASURES, MeasureInfo, WORKFLOW_MEASURES, nearest_measure, stands_for};
pub(crate) use measure::{OF_CLASSES, charged, word_of};
pub use open::{is_campaign_file, is_study, read_study, study_note};
#[cfg(feature = "parquet")]
pub use parquet::write_parquet;
pub use points::StudyPoint;
pub(crate) use table::one_run;
pub use table::{RunStatus, StudyRow, StudyTable, flat_measures};
