//! Where a run leaves its files.

use std::path::{Path, PathBuf};

use super::RunError;
use crate::metrics::Definitions;
use crate::model::SiteSpec;
use crate::report::{OutputDir, OutputMark, OutputOptions};

/// The files of a run, to be made or gone on with.
pub(super) struct Files<'a> {
    pub(super) folder: PathBuf,
    pub(super) sites: &'a [SiteSpec],
    pub(super) definitions: Definitions,
    pub(super) options: OutputOptions,
}

impl Files<'_> {
    /// Makes them. A folder that cannot be made is found out before anything runs.
    pub(super) fn create(self) -> Result<OutputDir, RunError> {
        OutputDir::create(&self.folder, self.sites, self.definitions, &self.options)
            .map_err(|error| RunError::request(&error).with_hint(error.hint()))
    }

    /// Goes on with them from a mark, after `prepare` has seen to their folder.
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
