//! Small text files that carry their own check: JSON, and a last line with the hash of everything before it.

use std::io::ErrorKind;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::disk::{self, Disk};
use super::error::{Part, StoreError};

const CHECK: &str = "xxh3-128 of the above: ";

/// The text of a file, without the line of its hash.
pub(super) struct Text {
    path: PathBuf,
    part: Part,
    body: String,
}

/// The fields that a marker of every layout has.
#[derive(Deserialize)]
struct Layout {
    layout: u32,
    #[serde(default)]
    program: String,
}

/// Writes a file with the text of `value`.
pub(super) fn write(disk: &dyn Disk, path: &Path, value: &impl Serialize) -> Result<(), StoreError> {
    let body = serde_json::to_string_pretty(value).map_err(|error| StoreError::Engine {
        operation: "write",
        path: path.to_owned(),
        why: error.to_string(),
    })?;
    let hash = xxh3_128(body.as_bytes());
    disk::write_whole(disk, path, format!("{body}\n{CHECK}{hash:032x}\n").as_bytes())
}

/// Reads the marker of the store in `folder`, if it has one of these layouts.
pub(super) fn read_marker<T: DeserializeOwned>(
    folder: &Path,
    name: &str,
    layouts: RangeInclusive<u32>,
) -> Result<(T, Text), StoreError> {
    let marker = folder.join(name);
    let text = Text::read(marker.clone(), Part::Marker)?;
    let text = text.ok_or_else(|| disk::at("read", &marker, ErrorKind::NotFound.into()))?;
    let Layout { layout, program } = text.value()?;
    let path = folder.to_owned();
    if layout > *layouts.end() {
        return Err(StoreError::Newer { path, layout, known: *layouts.end(), program });
    }
    if layout < *layouts.start() {
        return Err(StoreError::Older { path, layout, known: *layouts.start(), program });
    }
    Ok((text.value()?, text))
}

impl Text {
    /// Reads a file and checks its hash; `None` if there is no file.
    pub(super) fn read(path: PathBuf, part: Part) -> Result<Option<Self>, StoreError> {
        let Some(bytes) = disk::read(&path)? else { return Ok(None) };
        let mut text = Self { path, part, body: String::new() };
        let written = str::from_utf8(&bytes).map_err(|_| text.damaged("is not text"))?;
        let (body, check) = written.rsplit_once(&format!("\n{CHECK}")).unwrap_or((written, ""));
        let hash = format!("{:032x}\n", xxh3_128(body.as_bytes()));
        if check == hash {
            text.body = body.to_owned();
            Ok(Some(text))
        } else if hash.starts_with(check) {
            let why = "has no line with its hash at the end".to_owned();
            Err(StoreError::CutShort { part: text.part, path: text.path, why })
        } else {
            Err(text.damaged("does not have the hash that its last line says"))
        }
    }

    /// The value in the text.
    pub(super) fn value<T: DeserializeOwned>(&self) -> Result<T, StoreError> {
        serde_json::from_str(&self.body).map_err(|error| self.damaged(format!("cannot be read: {error}")))
    }

    /// The error that the file is not what was written.
    pub(super) fn damaged(&self, why: impl Into<String>) -> StoreError {
        StoreError::Damaged { part: self.part.clone(), path: self.path.clone(), why: why.into() }
    }
}
