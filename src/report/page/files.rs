//! Charts as files, each with its numbers.

use std::fs;
use std::path::{Path, PathBuf};

use super::ReportError;
use crate::output::files;
use crate::report::charts::{Chart, ChartError, Column, Paint, Theme, pdf, png};

/// A format of figures.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FigureFormat {
    /// SVG, for pages.
    Svg,
    /// PNG: at two pixels for each pixel of the chart, or at 600 to the inch if the width is that of a journal. With the feature
    /// `png`.
    Png,
    /// PDF, for papers. With the feature `pdf`.
    Pdf,
}

/// How figures are written.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FigureFiles {
    /// The format.
    pub format: FigureFormat,
    /// The theme of the colours.
    pub theme: Theme,
    /// The width in a journal; `None` for that of a page on a screen.
    pub column: Option<Column>,
}

impl FigureFormat {
    /// Whether this build can write the format.
    ///
    /// # Errors
    /// [`ReportError`] names the feature that is missing.
    pub const fn check(self) -> Result<(), ReportError> {
        match self {
            Self::Png if !cfg!(feature = "png") => Err(ReportError::Chart(ChartError::NotBuiltIn("png"))),
            Self::Pdf if !cfg!(feature = "pdf") => Err(ReportError::Chart(ChartError::NotBuiltIn("pdf"))),
            _ => Ok(()),
        }
    }

    const fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }
}

impl FigureFiles {
    /// Writes each chart to a folder, as a file with the given name, and beside it the numbers that it shows, as CSV. Returns the paths
    /// of the figures.
    ///
    /// # Errors
    /// [`ReportError`] names the file that cannot be written, or the feature that is missing.
    pub fn write<'a>(
        self,
        folder: &Path,
        figures: impl IntoIterator<Item = (&'a str, &'a dyn Chart)>,
    ) -> Result<Vec<PathBuf>, ReportError> {
        self.format.check()?;
        fs::create_dir_all(folder).map_err(ReportError::place("create the folder", folder))?;
        let write =
            |path: &Path, bytes: &[u8]| files::write(path, bytes).map_err(ReportError::place("write", path));
        let mut written = Vec::new();
        for (name, chart) in figures {
            let path = folder.join(format!("{name}.{}", self.format.ending()));
            write(&path, &self.bytes(chart)?)?;
            written.push(path);
            let numbers = chart.numbers();
            if !numbers.rows.is_empty() {
                write(&folder.join(format!("{name}.csv")), numbers.csv().as_bytes())?;
            }
        }
        Ok(written)
    }

    fn bytes(self, chart: &dyn Chart) -> Result<Vec<u8>, ChartError> {
        let svg = chart.svg(match self.column {
            Some(column) => Paint::Print(self.theme, column),
            None => Paint::File(self.theme),
        });
        match self.format {
            FigureFormat::Svg => Ok(svg.into_bytes()),
            // A document in mm has 96 pixels to the inch.
            FigureFormat::Png => png(&svg, if self.column.is_some() { 600.0 / 96.0 } else { 2.0 }),
            FigureFormat::Pdf => pdf(&svg),
        }
    }
}
