//! Folders for files that nobody keeps.

use tempfile::TempDir;

use super::RunError;

/// A folder of its own for the files of `what`, removed when this is dropped.
///
/// # Errors
/// `RunErrorKind::Request` if it cannot be created.
pub(crate) fn scratch(what: &str) -> Result<TempDir, RunError> {
    TempDir::with_prefix(format!("gridemu-{what}-")).map_err(|error| {
        RunError::request(format!("no folder can be created for temporary files: {error}"))
            .with_hint("TMPDIR says where they go")
    })
}
