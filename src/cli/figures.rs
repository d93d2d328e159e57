//! The options of the commands that draw figures as files.

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, ValueEnum};

use super::talk;
use crate::experiment::RunError;
use crate::report::charts::{Column, Theme};
use crate::report::page::{FigureFiles, FigureFormat, ReportError};
use crate::units::counted;

#[derive(Debug, ClapArgs)]
pub(super) struct FigureArgs {
    /// Write each figure as SVG to this folder, and its numbers as CSV
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,

    /// Write each figure as PNG to this folder, and its numbers as CSV (a build with the feature `png`)
    #[arg(long, value_name = "DIR")]
    png: Option<PathBuf>,

    /// Write each figure as PDF to this folder, and its numbers as CSV (a build with the feature `pdf`)
    #[arg(long, value_name = "DIR")]
    pdf: Option<PathBuf>,

    /// The width of the files: one column of a journal (85 mm) or two (175 mm), with text of 8 pt in both [default: for a screen]
    #[arg(long, value_enum, value_name = "COLUMNS")]
    width: Option<Width>,

    /// Light or dark [default: a page follows the reader's system, files are light]
    #[arg(long, value_enum)]
    pub(super) theme: Option<ThemeArg>,
}

#[derive(Copy, Clone, Debug, ValueEnum)]
enum Width {
    Single,
    Double,
}

#[derive(Copy, Clone, Debug, ValueEnum)]
pub(super) enum ThemeArg {
    Light,
    Dark,
}

impl From<ThemeArg> for Theme {
    fn from(theme: ThemeArg) -> Self {
        match theme {
            ThemeArg::Light => Self::Light,
            ThemeArg::Dark => Self::Dark,
        }
    }
}

impl FigureArgs {
    fn folders(&self) -> impl Iterator<Item = (&Path, FigureFormat)> {
        let formats =
            [(&self.svg, FigureFormat::Svg), (&self.png, FigureFormat::Png), (&self.pdf, FigureFormat::Pdf)];
        formats.into_iter().filter_map(|(folder, format)| Some((folder.as_deref()?, format)))
    }

    /// Whether files are asked for.
    pub(super) fn any(&self) -> bool {
        self.folders().next().is_some()
    }

    /// Refuses what cannot be written, before anything is computed.
    pub(super) fn check(&self) -> Result<(), RunError> {
        if let (Some(width), false) = (self.width, self.any()) {
            let width = format!("{width:?}").to_lowercase();
            return Err(RunError::request(format!(
                "`--width {width}` is the width of files, and none are asked for"
            ))
            .with_hint("add `--svg DIR`, `--png DIR` or `--pdf DIR`"));
        }
        self.folders().try_for_each(|(_, format)| format.check()).map_err(refused)
    }

    /// Calls `write` for each folder, and reports what it wrote.
    pub(super) fn write(
        &self,
        write: impl Fn(&Path, FigureFiles) -> Result<Vec<PathBuf>, ReportError>,
    ) -> Result<(), RunError> {
        for (folder, format) in self.folders() {
            let column = self.width.map(|width| match width {
                Width::Single => Column::Single,
                Width::Double => Column::Double,
            });
            let theme = self.theme.map(Theme::from).unwrap_or_default();
            let written = write(folder, FigureFiles { format, theme, column }).map_err(failed)?;
            talk(&format!("{} in {}", counted(written.len(), "figure"), folder.display()));
        }
        Ok(())
    }
}

pub(super) fn refused(error: ReportError) -> RunError {
    RunError::request(&error).with_maybe_hint(error.hint())
}

pub(super) fn failed(error: ReportError) -> RunError {
    RunError::run(&error).with_maybe_hint(error.hint())
}
