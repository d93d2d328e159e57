//! The file that marks a run as over and holds its summary.

use std::path::Path;

use super::disk::Disk;
use super::error::{Part, StoreError};
use super::text::{self, Text};

/// The file with the summary of a run that is over.
pub(super) const FINISHED: &str = "finished";

/// Writes the file.
pub(super) fn write(disk: &dyn Disk, store: &Path, summary: &[u8]) -> Result<(), StoreError> {
    let digits: String = summary.iter().map(|byte| format!("{byte:02x}")).collect();
    text::write(disk, &store.join(FINISHED), &digits)
}

/// The summary of the run, if it is over.
pub(super) fn read(store: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let Some(text) = Text::read(store.join(FINISHED), Part::Summary)? else { return Ok(None) };
    let digits: String = text.value()?;
    let pair = |i: usize| digits.get(i..i + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let summary: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(pair).collect();
    summary.map(Some).ok_or_else(|| text.damaged("is not what was written"))
}
