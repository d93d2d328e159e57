//! How making a report can fail.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::model::did_you_mean;
use crate::report::charts::ChartError;
use crate::report::{ReadError, hint_for};

/// A report that cannot be made.
#[derive(Debug, Error)]
pub enum ReportError {
    /// A folder or table that cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A picture that cannot be drawn.
    #[error(transparent)]
    Chart(#[from] ChartError),
    /// A file or folder that cannot be made.
    #[error("cannot {operation} `{}`: {source}", path.display())]
    Place {
        /// What was attempted, such as `write`.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A report of nothing.
    #[error("there is nothing to report: no run")]
    Nothing,
    /// A study that has not what was asked for.
    #[error("the study has no {what} `{name}`{}", did_you_mean(near.as_deref()))]
    Unknown {
        /// `axis` or `measure`.
        what: &'static str,
        /// Its name, as it was given.
        name: String,
        /// The nearest one that there is.
        near: Option<String>,
        /// All there are.
        all: Vec<String>,
    },
    /// The page itself.
    #[error("cannot lay out the page: {0}")]
    Page(#[from] minijinja::Error),
}

impl ReportError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Read(error) => error.hint().map(str::to_owned),
            Self::Place { source, .. } => Some(hint_for(source.kind()).to_owned()),
            Self::Nothing => Some("give a folder that `run --out` or `replay --out` has left".to_owned()),
            Self::Unknown { what, all, .. } if !all.is_empty() => Some(format!(
                "it has these {}: {}",
                if *what == "axis" { "axes" } else { "measures" },
                all.join(", ")
            )),
            Self::Unknown { .. } | Self::Chart(_) | Self::Page(_) => None,
        }
    }
}
