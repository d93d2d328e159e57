//! The traces of a scenario, each read once however often the scenario is read with other values.

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::formats::FileError;
use crate::formats::failures::{self, FailureFacts, FailureOptions};
use crate::formats::series::{self, SeriesFacts, SeriesOptions};
use crate::model::{FailureTrace, Trace};
use crate::output::files;
use crate::scenario::archive;

/// A trace of values, and what was read of its file.
pub(super) type Read = (Trace, SeriesFacts);
/// A trace of failures, and what was read of its file.
pub(super) type ReadFailures = (FailureTrace, FailureFacts);

/// Traces by the names of their files and how these are read.
#[derive(Clone, Debug, Default)]
pub(super) struct Traces {
    values: Known<SeriesOptions, Read>,
    failures: Known<FailureOptions, ReadFailures>,
}

/// Files that have been read, and how.
type Known<How, What> = Arc<Mutex<Vec<(String, How, What)>>>;

impl Traces {
    /// The trace of values in a file, or the archive's of this name.
    ///
    /// # Errors
    /// Why the file is none.
    pub(super) fn read(&self, file: &str, options: &SeriesOptions) -> Result<Read, FileError> {
        known(&self.values, file, options, |name, open| {
            let series = series::read(name, open, options)?;
            Ok((Trace::new(name, series.begin, series.facts.end, series.steps), series.facts))
        })
    }

    /// The trace of failures in a file, or the archive's of this name.
    ///
    /// # Errors
    /// Why the file is none.
    pub(super) fn failures(&self, file: &str, options: &FailureOptions) -> Result<ReadFailures, FileError> {
        known(&self.failures, file, options, |name, open| {
            let read = failures::read(name, open, options)?;
            Ok((FailureTrace::new(name, read.begin, read.end, read.nodes), read.facts))
        })
    }
}

/// What is known of a file that is read like this, or what `read` makes of it.
fn known<How: Clone + PartialEq, What: Clone>(
    known: &Known<How, What>,
    file: &str,
    how: &How,
    read: impl FnOnce(&str, Box<File>) -> Result<What, FileError>,
) -> Result<What, FileError> {
    // Others wait meanwhile: they mostly want the same.
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((.., what)) = known.iter().find(|(name, other, _)| name == file && other == how) {
        return Ok(what.clone());
    }
    let name = short(file);
    let unreadable = |problem: String| FileError::about(name, problem);
    let path = if archive::names(file) { archive::find(file) } else { Ok(Path::new(file).to_owned()) };
    let open = files::open(&path.map_err(unreadable)?).map_err(|error| unreadable(error.to_string()))?;
    let what = read(name, Box::new(open))?;
    known.push((file.to_owned(), how.clone(), what.clone()));
    Ok(what)
}

/// The name of a file without its folder.
pub(super) fn short(file: &str) -> &str {
    file.rsplit(['/', '\\', ':']).next().unwrap_or(file)
}
