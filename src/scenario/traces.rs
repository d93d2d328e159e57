//! The traces of a scenario, each read once however often the scenario is read with other values.

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::formats::series::{self, SeriesError, SeriesFacts, SeriesOptions};
use crate::model::Trace;
use crate::scenario::archive;

/// A trace, and what was read of its file.
pub(super) type Read = (Trace, SeriesFacts);

/// Traces by the names of their files and how these are read.
#[derive(Clone, Debug, Default)]
pub(super) struct Traces(Arc<Mutex<Vec<(String, SeriesOptions, Read)>>>);

impl Traces {
    /// The trace in a file, or the archive's of this name.
    ///
    /// # Errors
    /// Why the file is none.
    pub(super) fn read(&self, file: &str, options: &SeriesOptions) -> Result<Read, SeriesError> {
        // Others wait meanwhile: they mostly want the same.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., read)) = known.iter().find(|(name, how, _)| name == file && how == options) {
            return Ok(read.clone());
        }
        let name = short(file);
        let unreadable = |problem: String| SeriesError::about(name, problem);
        let path = if archive::names(file) { archive::find(file) } else { Ok(Path::new(file).to_owned()) };
        let open = File::open(path.map_err(unreadable)?).map_err(|error| unreadable(error.to_string()))?;
        let series = series::read(name, Box::new(open), options)?;
        let read = (Trace::new(name, series.begin, series.facts.end, series.steps), series.facts);
        known.push((file.to_owned(), options.clone(), read.clone()));
        Ok(read)
    }
}

/// The name of a file without its folder.
pub(super) fn short(file: &str) -> &str {
    file.rsplit(['/', '\\', ':']).next().unwrap_or(file)
}
