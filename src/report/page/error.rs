//! Errors of making a report.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::model::did_you_mean;
use crate::output::{ReadError, hint_for};
use crate::report::charts::ChartError;

/// An error of making a report.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A folder or table could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A chart could not be drawn.
    #[error(transparent)]
    Chart(#[from] ChartError),
    /// A file or folder could not be created.
    #[error("cannot {operation} `{}`: {source}", path.display())]
    Place {
        /// The operation that failed, such as `write`.
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The report has no run.
    #[error("there is nothing to report: no run")]
    Nothing,
    /// The run kept no front of the planning that the options name.
    #[error("the run has no front of planning {number}")]
    NoPlanning {
        /// The number as given.
        number: u64,
        /// The least and the largest number that there is.
        there: (u64, u64),
    },
    /// The study lacks an axis or a measure that the options name.
    #[error("the campaign has no {what} `{name}`{}", did_you_mean(near.as_deref()))]
    Unknown {
        /// `axis` or `measure`.
        what: &'static str,
        /// The name as given.
        name: String,
        /// The most similar name that exists.
        near: Option<String>,
        /// All names that exist.
        all: Vec<String>,
    },
}

impl ReportError {
    /// The error of an operation on a file or folder.
    pub(super) fn place(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Place { operation, path: path.to_owned(), source }
    }

    /// Returns advice for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Read(error) => error.hint().map(str::to_owned),
            Self::Place { source, .. } => Some(hint_for(source.kind()).to_owned()),
            Self::Chart(error) => error.hint(),
            Self::Nothing => Some("give a folder that `run --out` or `replay --out` wrote".to_owned()),
            Self::NoPlanning { there: (1.., last), .. } => {
                Some(format!("its plannings have numbers up to {last}: see fronts.csv"))
            }
            Self::NoPlanning { .. } => {
                Some("fronts are kept in fronts.csv, of a broker that has several objectives".to_owned())
            }
            Self::Unknown { what, all, .. } if !all.is_empty() => Some(format!(
                "it has these {}: {}",
                if *what == "axis" { "axes" } else { "measures" },
                all.join(", ")
            )),
            Self::Unknown { .. } => None,
        }
    }
}
