//! The output files of a run.

use std::path::{Path, PathBuf};

use super::RunError;
use crate::metrics::Definitions;
use crate::model::SiteSpec;
use crate::output::{OutputDir, OutputMark, OutputOptions};

/// The output files of a run, to be created or continued.
pub(super) struct Files<'a> {
    pub(super) folder: PathBuf,
    pub(super) sites: &'a [SiteSpec],
    pub(super) definitions: Definitions,
    pub(super) options: OutputOptions,
}

impl Files<'_> {
    /// Creates the files. A folder that cannot be created is reported before anything runs.
    pub(super) fn create(self) -> Result<OutputDir, RunError> {
        OutputDir::create(&self.folder, self.sites, self.definitions, &self.options)
            .map_err(|error| RunError::request(&error).with_hint(error.hint()))
    }

    /// Continues the files from a mark, after `prepare` has prepared their folder.
    pub(super) fn resume(
        self,
        mark: &OutputMark,
        prepare: impl FnOnce(&Path, &OutputMark) -> Result<(), RunError>,
    ) -> Result<OutputDir, RunError> {
        prepare(&self.folder, mark)?;
        OutputDir::resume(&self.folder, self.sites, self.definitions, &self.options, mark)
            .map_err(|error| RunError::from_resuming(&error))
    }
}
