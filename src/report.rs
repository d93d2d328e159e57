//! Output for people: tables, charts and HTML pages.
//!
//! `series` derives what a chart shows from the rows of a run, [`charts`] draws it as SVG and PNG without knowledge of runs, and
//! [`page`] puts charts and tables on a page. [`crate::metrics`] and [`crate::study`] define the measures.

mod bins;
pub mod charts;
mod claims;
mod comparison;
mod contents;
mod contrasts;
mod date_figures;
mod drill;
mod explained;
mod figures;
mod futures;
mod gains_figure;
mod grid;
mod heat_figures;
mod lists;
pub mod page;
mod series;
mod snapshots;
mod study;
mod study_figures;
mod tables;
#[cfg(test)]
mod tests;
mod validation;
mod workflow;
mod workflow_figure;

pub use claims::{PageFigure, claims_page, claims_table};
pub use comparison::comparison_table;
pub use contents::contents_table;
pub use contrasts::{runs_contrasts, study_contrasts};
pub use date_figures::date_figures;
pub use drill::{drill_list, drill_markdown, drill_table, failure_words};
pub use explained::{BlockerFacts, explained_rule, explained_text};
pub use futures::futures_table;
pub use gains_figure::{ShownGains, gains_figure};
pub use grid::{Detail, grid_tables};
pub use heat_figures::heat_figures;
pub use snapshots::{snapshot_table, store_table};
pub use study::{measure_list, measure_overview, study_list, study_table};
pub use study_figures::{Against, StudyFigure, Titles, comparison_figures, pareto_figures, study_figures};
pub use tables::json;
pub use validation::{validation_complaint, validation_json, validation_table};
pub use workflow::{grouping_table, workflow_table, workflows_table};
pub use workflow_figure::{EndPath, workflow_figure};
