//! What a run's files held at an instant, and their syncing to the disk.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::OutputError;
use super::batsim::KeptPlacement;
use crate::model::Layout;

/// So much of a file is read at once.
const CHUNK: usize = 256 << 10;

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

/// What has become of a file since it was marked.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Since {
    /// It is as it was.
    AsItWas,
    /// It is not there.
    Gone,
    /// It holds something else.
    Changed,
}

impl FileMark {
    /// The mark of the whole file `name` in `folder`; `None` if there is none.
    pub(crate) fn of_whole(folder: &Path, name: &str) -> Result<Option<Self>, OutputError> {
        let path = folder.join(name);
        let mut file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(OutputError::place("read", &path))?,
        };
        let (mut hash, mut bytes, mut chunk) = (Xxh3::new(), 0, vec![0; CHUNK]);
        loop {
            match file.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => {
                    hash.update(&chunk[..read]);
                    bytes += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(OutputError::place("read", path)(error)),
            }
        }
        Ok(Some(Self { name: name.to_owned(), bytes, rows: 0, hash: hash.digest128() }))
    }

    /// What has become of the file in `folder`, which held what the mark says and nothing more.
    ///
    /// # Errors
    /// [`OutputError::Place`] for a file that cannot be read.
    pub fn since(&self, folder: &Path) -> Result<Since, OutputError> {
        // A longer or shorter one is not read.
        let found = fs::metadata(folder.join(&self.name));
        if found.is_ok_and(|found| found.len() != self.bytes) {
            return Ok(Since::Changed);
        }
        Ok(match Self::of_whole(folder, &self.name)? {
            None => Since::Gone,
            Some(now) if now.hash == self.hash => Since::AsItWas,
            Some(_) => Since::Changed,
        })
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
