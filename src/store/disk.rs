//! Everything that the store does to files, in one place, so that tests can make each of it fail.

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::engine::EngineError;
use super::error::StoreError;

/// The file system as the store uses it.
pub(super) trait Disk: Debug + Send + Sync {
    /// Makes a folder in one that is there.
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    /// Opens a file to read and write it; it is made if it is not there.
    fn open(&self, path: &Path) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
    }

    /// Writes all of `bytes` at the file's present place.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    /// Cuts a file, or fills it with zeros, to this length.
    fn set_len(&self, file: &File, len: u64) -> io::Result<()> {
        file.set_len(len)
    }

    /// Waits until the disk has the contents of a file.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    /// Waits until the disk has the names in a folder.
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        // Only where folders can be opened like files can they be synced; elsewhere the system does it.
        if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }

    /// Gives a file or folder another name, in the place of what has it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    /// Removes a folder with all that is in it.
    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }
}

/// The file system itself.
#[derive(Debug)]
pub(super) struct RealDisk;

impl Disk for RealDisk {}

/// Writes a file so that at any time it has its old contents or the new ones, whole.
pub(super) fn write_whole(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let part = part_of(path);
    let written = (|| {
        let mut file = disk.open(&part)?;
        disk.set_len(&file, 0)?;
        disk.write(&mut file, bytes)?;
        disk.sync(&file)?;
        drop(file);
        disk.rename(&part, path)?;
        path.parent().map_or(Ok(()), |folder| disk.sync_folder(folder))
    })();
    written.map_err(|source| {
        // The next attempt writes over it; it is only in the way of an orderly folder.
        let _ = fs::remove_file(&part);
        at("write", path, source)
    })
}

/// The name of a file while it is being made.
pub(super) fn part_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

/// What a refusal of the file system means to the store.
pub(super) fn at(operation: &'static str, path: &Path, source: io::Error) -> StoreError {
    use io::ErrorKind::{FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    let path = path.to_owned();
    match source.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => StoreError::Full { operation, path, source },
        PermissionDenied | ReadOnlyFilesystem => StoreError::ReadOnly { operation, path, source },
        _ => StoreError::Io { operation, path, source },
    }
}

/// What a refusal of the database means to the store.
pub(super) fn engine_at(operation: &'static str, path: &Path, error: EngineError) -> StoreError {
    match error {
        EngineError::Io(source) => at(operation, path, source),
        other => StoreError::Engine { operation, path: path.to_owned(), why: other.to_string() },
    }
}

/// How many bytes a file or folder takes on the disk.
pub(super) fn size_on_disk(path: &Path) -> io::Result<u64> {
    let meta = fs::symlink_metadata(path)?;
    let mut size = allocated(&meta);
    if meta.is_dir() {
        for entry in fs::read_dir(path)? {
            size += size_on_disk(&entry?.path())?;
        }
    }
    Ok(size)
}

#[cfg(unix)]
fn allocated(meta: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    meta.blocks() * 512
}

#[cfg(not(unix))]
fn allocated(meta: &fs::Metadata) -> u64 {
    meta.len()
}
