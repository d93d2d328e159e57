//! What is made of the files of a run once it has ended: what `--trace` and `--report` ask for.

use std::path::Path;

use super::report::PageOfRun;
use super::trace;
use crate::experiment::{Afterwards, RunError};
use crate::grid::Policies;

/// Makes it of the files in `folder`.
pub(super) fn make(after: &Afterwards, folder: &Path, policies: &Policies) -> Result<(), RunError> {
    if after.trace {
        trace::write(folder)?;
    }
    match &after.page {
        Some(page) => PageOfRun::at(page.clone()).write(&[folder.to_owned()], policies),
        None => Ok(()),
    }
}
