//! Reports: what was run, tables, and pictures, as one HTML page that loads nothing, and as files.

mod error;
mod facts;
mod over_time;
mod runs;
mod study;
mod template;

use std::fs;
use std::path::{Path, PathBuf};

pub use error::ReportError;

use super::RunFolder;
use super::charts::{Chart, Paint, Theme, png};
use crate::metrics::StudyTable;
use crate::model::JobClasses;

/// What a report shows, beyond what its runs decide.
#[derive(Clone, Debug, Default)]
pub struct ReportOptions {
    /// Job classes, instead of those of the runs.
    pub classes: Option<JobClasses>,
    /// The theme of the page; `None` follows the reader's system. Files have this one, or the light one.
    pub theme: Option<Theme>,
    /// Measures of a study that are drawn, by their ids; none for a choice.
    pub measures: Vec<String>,
    /// The axis of a study that curves go along; `None` for a choice.
    pub along: Option<String>,
    /// The two measures of the Pareto front of a study; `None` for a choice.
    pub pareto: Option<(String, String)>,
    /// The axis of a study within each of whose labels a Pareto front is drawn: conditions, between which nobody can choose. `None` for
    /// `load`, if there is such an axis.
    pub within: Option<String>,
    /// The folders are not kept: the page does not name them.
    pub unkept: bool,
    /// What to know of a study before it is trusted, beyond what its table says.
    pub notes: Vec<String>,
}

/// A report, before it is written.
pub struct Report {
    title: String,
    subtitle: String,
    theme: Option<Theme>,
    sections: Vec<Section>,
}

/// A part of a report.
#[derive(Default)]
struct Section {
    title: String,
    lead: Vec<String>,
    tables: Vec<Table>,
    figures: Vec<Figure>,
}

/// A table.
#[derive(Clone, Debug, Default, serde::Serialize)]
struct Table {
    caption: String,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Whether the first column alone is text, and the others are numbers.
    numbers: bool,
}

/// A picture.
struct Figure {
    /// The stem of its file.
    name: String,
    caption: String,
    chart: Box<dyn Chart>,
    /// How many stand side by side.
    beside: u8,
}

impl Report {
    /// The report of one run, or of several side by side; the first one is what the others are compared with.
    ///
    /// # Errors
    /// [`ReportError`] if a table cannot be read, or there is no run.
    pub fn of_runs(folders: &[RunFolder], options: &ReportOptions) -> Result<Self, ReportError> {
        runs::report(folders, options)
    }

    /// The report of a study.
    ///
    /// # Errors
    /// [`ReportError`] if it has no runs, or an axis or a measure that was asked for.
    pub fn of_study(table: &StudyTable, options: &ReportOptions) -> Result<Self, ReportError> {
        study::report(table, options)
    }

    /// The page: HTML that loads nothing.
    ///
    /// # Errors
    /// [`ReportError`] if a picture cannot be drawn.
    pub fn html(&self) -> Result<String, ReportError> {
        template::page(self)
    }

    /// Writes the page.
    ///
    /// # Errors
    /// [`ReportError`] names the file that cannot be written.
    pub fn write_html(&self, path: &Path) -> Result<(), ReportError> {
        let html = self.html()?;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            create(folder)?;
        }
        write(path, html.as_bytes())
    }

    /// Writes each picture as an SVG file to a folder, and says which.
    ///
    /// # Errors
    /// [`ReportError`] names the file that cannot be written.
    pub fn write_svg(&self, folder: &Path) -> Result<Vec<PathBuf>, ReportError> {
        self.write_figures(folder, "svg", |svg| Ok(svg.into_bytes()))
    }

    /// Writes each picture as a PNG file to a folder, two pixels for one, and says which.
    ///
    /// # Errors
    /// [`ReportError`] names the file that cannot be written.
    pub fn write_png(&self, folder: &Path) -> Result<Vec<PathBuf>, ReportError> {
        self.write_figures(folder, "png", |svg| Ok(png(&svg, 2.0)?))
    }

    fn write_figures(
        &self,
        folder: &Path,
        ending: &str,
        bytes: impl Fn(String) -> Result<Vec<u8>, ReportError>,
    ) -> Result<Vec<PathBuf>, ReportError> {
        create(folder)?;
        let mut written = Vec::new();
        for figure in self.sections.iter().flat_map(|section| &section.figures) {
            let svg = figure.chart.svg(Paint::File(self.theme.unwrap_or_default()))?;
            let path = folder.join(format!("{}.{ending}", figure.name));
            write(&path, &bytes(svg)?)?;
            written.push(path);
        }
        Ok(written)
    }
}

fn create(folder: &Path) -> Result<(), ReportError> {
    let fail =
        |source| ReportError::Place { operation: "create the folder", path: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(fail)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    fs::write(path, bytes).map_err(|source| ReportError::Place {
        operation: "write",
        path: path.to_owned(),
        source,
    })
}

/// A text as a part of a file's name.
fn stem(text: &str) -> String {
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
