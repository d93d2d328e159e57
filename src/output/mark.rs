//! What a run's files held at an instant, and their syncing to the disk.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::OutputError;
use super::batsim::KeptPlacement;
use crate::model::Layout;

/// What the files of a run held when it was marked. With it, a later run [continues](super::OutputDir::resume) from
/// there, whatever was written afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputMark {
    layout: Layout<1>,
    pub(super) files: Vec<FileMark>,
    /// The last place of each job that had not ended, for Batsim's columns.
    pub(super) held: Vec<KeptPlacement>,
}

/// The content of one file at a mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileMark {
    /// The file's path inside the folder.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its number of rows, without the header.
    pub rows: u64,
    /// The xxh3-128 hash of its bytes.
    pub hash: u128,
}

impl OutputMark {
    pub(super) fn file(&self, name: &str) -> Option<&FileMark> {
        self.files.iter().find(|file| file.name == name)
    }
}

/// Handles of a run's files and folders, which another thread can sync.
#[derive(Debug)]
pub struct OutputSync {
    handles: Vec<(PathBuf, File)>,
}

impl OutputSync {
    /// Adds the files that are written whole, those that exist, and the folders that hold the names of the files.
    pub(super) fn new(
        mut handles: Vec<(PathBuf, File)>,
        folder: &Path,
        whole: &[&str],
        batsim: bool,
    ) -> Result<Self, OutputError> {
        for name in whole {
            handles.extend(open_if_there(folder.join(name))?);
        }
        // On other systems folders cannot be opened, and need not be.
        if cfg!(unix) {
            let inner = batsim.then(|| folder.join("batsim"));
            for path in inner.into_iter().chain([folder.to_owned()]) {
                handles.extend(open_if_there(path)?);
            }
            // The folder itself may be new, so its parent is synced too, if the process may open it.
            let above =
                folder.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
            handles.extend(File::open(above).ok().map(|file| (above.to_owned(), file)));
        }
        Ok(Self { handles })
    }

    /// Waits until everything that was written is on the disk. All files are tried, even if one fails.
    ///
    /// # Errors
    /// [`OutputError::Place`] names the first file that failed.
    pub fn sync(self) -> Result<(), OutputError> {
        let one = |(path, file): (PathBuf, File)| file.sync_all().map_err(OutputError::place("sync", path));
        self.handles.into_iter().map(one).fold(Ok(()), Result::and)
    }
}

fn open_if_there(path: PathBuf) -> Result<Option<(PathBuf, File)>, OutputError> {
    match File::open(&path) {
        Ok(file) => Ok(Some((path, file))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(OutputError::place("sync", path)(error)),
    }
}
