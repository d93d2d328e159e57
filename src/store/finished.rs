//! The file that marks a run as over and holds its summary.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::disk::{self, Disk};
use super::error::{Part, StoreError};
use super::text::{self, Fault};

/// The file with the summary of a run that is over.
pub(super) const FINISHED: &str = "finished";

/// Writes the file.
pub(super) fn write(disk: &dyn Disk, store: &Path, summary: &[u8]) -> Result<(), StoreError> {
    let path = store.join(FINISHED);
    let text: String = summary.iter().map(|byte| format!("{byte:02x}")).collect();
    let text = text::encode(&text).map_err(|why| StoreError::Engine {
        operation: "write",
        path: path.clone(),
        why,
    })?;
    disk::write_whole(disk, &path, text.as_bytes())
}

/// The summary of the run, if it is over.
pub(super) fn read(store: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let path = store.join(FINISHED);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(disk::at("read", &path, error)),
    };
    let (part, damaged) = (Part::Summary, "is not what was written");
    let text: String = match text::decode(&bytes) {
        Ok(text) => text,
        Err(Fault::Short) => {
            let why = "has no line with its hash at the end".to_owned();
            return Err(StoreError::CutShort { part, path, why });
        }
        Err(Fault::Changed(why)) => return Err(StoreError::Damaged { part, path, why }),
    };
    let pair = |i: usize| text.get(i..i + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let summary: Option<Vec<u8>> = (0..text.len()).step_by(2).map(pair).collect();
    summary.map(Some).ok_or_else(|| StoreError::Damaged { part, path, why: damaged.to_owned() })
}
