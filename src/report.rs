//! What a run leaves behind and shows: files of records, the summary, tables for people.
//!
//! Rows are formatted by hand into blocks and written in whole lines, so that what reached the disk stays
//! readable whatever happens next. What the figures are is the business of [`crate::metrics`]; every column
//! is described in `docs/output.md`.

mod batsim;
mod cells;
pub mod charts;
mod claims;
mod comparison;
mod contents;
mod contrasts;
mod error;
mod explained;
mod figures;
mod folder;
mod futures;
mod gains_figure;
mod grid;
mod lines;
mod mark;
mod names;
pub mod page;
#[cfg(feature = "parquet")]
mod parquet;
mod reader;
mod rows;
mod series;
mod snapshots;
mod states;
mod study;
mod study_csv;
mod study_figures;
mod tables;
#[cfg(test)]
mod tests;
mod trace;
mod validation;

pub use claims::{Page, PageFigure, ShownClaim, claims_page, claims_table};
pub use comparison::comparison_table;
pub use contents::contents_table;
pub use contrasts::{runs_contrasts, study_contrasts};
pub use error::{OutputError, hint_for};
pub use explained::{
    At, AtState, Attempt, Explained, ExplainedJob, Held, Stretch, explained_text, rule_without_numbers,
};
pub use folder::{OutputDir, OutputOptions};
pub use futures::{Branch, Difference, Futures, futures_table};
pub use gains_figure::{ShownGains, gains_figure};
pub use grid::grid_tables;
pub use mark::{FileMark, OutputMark, OutputSync};
#[cfg(feature = "parquet")]
pub use parquet::write_parquet;
pub use reader::{EventRow, FolderKind, JobRow, MachineRow, ReadError, Rows, RunFolder, SegmentRow};
pub use snapshots::{PlaceFacts, SnapshotFacts, SnapshotRow, StoreFacts, snapshot_table, store_table};
pub use study::{ListedRun, measure_list, study_list, study_table};
pub use study_csv::StudyError;
pub use study_figures::study_figures;
pub use tables::{grid_json, json, recorded_waits_table, summary_table};
pub use trace::{TraceError, TraceFacts, write_trace};
pub use validation::{Validation, validation_json, validation_table};
