//! Reports of runs and studies: facts, tables and charts as one self-contained HTML page, and charts as files.

mod by_class;
mod error;
mod facts;
mod files;
mod front;
mod headline;
mod html;
mod ledger;
mod over_time;
mod runs;
mod study;
mod traffic;
mod workflows;

use std::fs;
use std::path::{Path, PathBuf};

pub use error::ReportError;
pub use files::{FigureFiles, FigureFormat};

use super::charts::{Chart, Theme};
use crate::model::{JobClasses, NetworkSpec, WorkflowSubmission};
use crate::output::{RunFolder, files as outputs};
use crate::study::StudyTable;

/// Options of a report, beyond what its runs determine.
#[derive(Clone, Debug, Default)]
pub struct ReportOptions {
    /// Job classes to use instead of those of the runs.
    pub classes: Option<JobClasses>,
    /// The theme of the page; `None` follows the reader's system. Chart files use this theme, or the light one for `None`.
    pub theme: Option<Theme>,
    /// Ids of the measures of a study to draw; if empty, the report chooses some.
    pub measures: Vec<String>,
    /// The axis of a study along which curves are drawn; `None` lets the report choose.
    pub along: Option<String>,
    /// The two measures of the Pareto front of a study; `None` lets the report choose.
    pub pareto: Option<(String, String)>,
    /// An axis of a study; each of its labels gets a Pareto front of its own. Suits conditions that cannot be chosen, such as the
    /// load. `None` stands for `load`, if there is such an axis.
    pub within: Option<String>,
    /// Whether the run folders are temporary: the page then does not name them.
    pub unkept: bool,
    /// The folder that the page will be in: run folders are named as seen from there. `None` leaves their paths as they are.
    pub beside: Option<PathBuf>,
    /// The workflows that the only run submitted, of which graphs are drawn.
    pub workflows: Vec<WorkflowSubmission>,
    /// The network of the only run, of whose links the use is drawn.
    pub network: Option<NetworkSpec>,
    /// The number of the planning of the only run whose front is drawn; `None` lets the report choose.
    pub planning: Option<u64>,
    /// Why no workflows are drawn, if they could not be had.
    pub undrawn: Option<String>,
    /// Notes of a study that its table does not contain and that a reader needs before trusting it.
    pub notes: Vec<String>,
}

/// A report that has not been written yet.
pub struct Report {
    title: String,
    subtitle: String,
    theme: Option<Theme>,
    sections: Vec<Section>,
}

/// A section of a report.
#[derive(Default)]
struct Section {
    title: String,
    lead: Vec<String>,
    tables: Vec<Table>,
    /// What a reader needs before trusting the tables and figures.
    notes: Vec<String>,
    figures: Vec<Figure>,
}

/// A table.
#[derive(Clone, Debug, Default)]
struct Table {
    caption: String,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    look: Look,
}

/// How a table is shown.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
enum Look {
    /// As text.
    #[default]
    Text,
    /// All columns but the first contain numbers.
    Numbers,
    /// The same, and the last row is the whole.
    Total,
    /// The values of its only row as tiles, each with its title.
    Tiles,
}

/// A chart with its file name.
struct Figure {
    /// The stem of its file name.
    name: String,
    caption: String,
    chart: Box<dyn Chart>,
    /// How many figures of this kind are placed side by side.
    beside: u8,
}

impl Section {
    fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }
}

impl Figure {
    fn new(
        name: impl Into<String>,
        caption: impl Into<String>,
        chart: impl Chart + 'static,
        beside: u8,
    ) -> Self {
        Self { name: name.into(), caption: caption.into(), chart: Box::new(chart), beside }
    }
}

impl Report {
    /// Makes the report of one run, or of several side by side; the others are compared with the first one.
    ///
    /// # Errors
    /// Returns [`ReportError`] if a table cannot be read, or there is no run.
    pub fn of_runs(folders: &[RunFolder], options: &ReportOptions) -> Result<Self, ReportError> {
        runs::report(folders, options)
    }

    /// Makes the report of a study.
    ///
    /// # Errors
    /// Returns [`ReportError`] if the study has no runs, or lacks an axis or a measure that the options name.
    pub fn of_study(table: &StudyTable, options: &ReportOptions) -> Result<Self, ReportError> {
        study::report(table, options)
    }

    /// Returns the report as an HTML page that loads no other file.
    pub fn html(&self) -> String {
        html::page(self)
    }

    /// Writes the HTML page.
    ///
    /// # Errors
    /// [`ReportError`] names the file that cannot be written.
    pub fn write_html(&self, path: &Path) -> Result<(), ReportError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            create(folder)?;
        }
        write(path, self.html().as_bytes())
    }

    /// Writes each chart and its numbers as files to a folder, and returns the paths of the charts.
    ///
    /// # Errors
    /// [`ReportError`] names the file that cannot be written, or the feature that is missing.
    pub fn write_figures(&self, folder: &Path, how: FigureFiles) -> Result<Vec<PathBuf>, ReportError> {
        let figures = self.sections.iter().flat_map(|section| &section.figures);
        how.write(folder, figures.map(|figure| (figure.name.as_str(), &*figure.chart)))
    }
}

fn create(folder: &Path) -> Result<(), ReportError> {
    fs::create_dir_all(folder).map_err(ReportError::place("create the folder", folder))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    outputs::write(path, bytes).map_err(ReportError::place("write", path))
}

/// Converts a text to a part of a file name.
pub(super) fn stem(text: &str) -> String {
    let mut stem = String::new();
    for sign in text.chars() {
        if sign.is_ascii_alphanumeric() || sign == '=' || sign == '.' {
            stem.push(sign.to_ascii_lowercase());
        } else if !stem.ends_with('-') && !stem.is_empty() {
            stem.push('-');
        }
    }
    let stem = stem.trim_end_matches('-').chars().take(60).collect::<String>();
    if stem.is_empty() { "run".to_owned() } else { stem }
}
