//! All operations of the store on files, in one place, so that tests can make each of them fail.

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use super::engine::EngineError;
use super::error::{Part, StoreError};

/// The file system as the store uses it.
pub(super) trait Disk: Debug + Send + Sync {
    /// Makes a folder in an existing one.
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    /// Opens a file for reading and writing; makes it if it does not exist.
    fn open(&self, path: &Path) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
    }

    /// Writes all of `bytes` at the file's current position.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    /// Cuts a file, or extends it with zeros, to this length.
    fn set_len(&self, file: &File, len: u64) -> io::Result<()> {
        file.set_len(len)
    }

    /// Waits until the contents of a file are on the disk.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    /// Waits until the names in a folder are on the disk.
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        // Folders can be synced only where they can be opened like files; elsewhere the system does it.
        if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }

    /// Renames a file or folder, and replaces what has the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    /// Removes a folder with its contents.
    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }
}

/// The real file system.
#[derive(Debug)]
pub(super) struct RealDisk;

impl Disk for RealDisk {}

/// Writes a file so that at any time it has either its old contents or the new ones.
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
        // The next attempt overwrites it, so a failure here is harmless.
        let _ = fs::remove_file(&part);
        at("write", path, source)
    })
}

/// The contents of a file; `None` if it is not there.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at("read", path, error)),
    }
}

/// The contents of a file that must have this length and this hash.
pub(super) fn read_checked(path: PathBuf, part: Part, len: u64, hash: &str) -> Result<Vec<u8>, StoreError> {
    let Some(bytes) = read(&path)? else {
        return Err(StoreError::Damaged { part, path, why: "is not there".to_owned() });
    };
    if (bytes.len() as u64) < len {
        let why = format!("has {} of its {len} bytes", bytes.len());
        return Err(StoreError::CutShort { part, path, why });
    }
    if hash_of(&bytes) != hash {
        return Err(StoreError::Damaged { part, path, why: "is not what was written".to_owned() });
    }
    Ok(bytes)
}

/// The hash of a file's contents, as it is written in a seal.
pub(super) fn hash_of(bytes: &[u8]) -> String {
    format!("{:032x}", xxh3_128(bytes))
}

/// Removes a file, or a folder with its contents.
pub(super) fn remove(disk: &dyn Disk, path: &Path) -> Result<(), StoreError> {
    let removed = if path.is_dir() { disk.remove_folder(path) } else { disk.remove_file(path) };
    removed.map_err(|source| at("remove", path, source))
}

/// The name of a file while it is being made.
pub(super) fn part_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

/// Converts an error of the file system.
pub(super) fn at(operation: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { operation, path: path.to_owned(), source }
}

/// Whether an operation failed since nothing may be written there.
pub(super) fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// Converts an error of the database.
pub(super) fn engine_at(operation: &'static str, path: &Path, error: EngineError) -> StoreError {
    match error {
        EngineError::Io(source) => at(operation, path, source),
        EngineError::NotBuiltIn(engine) => StoreError::NotBuiltIn { path: path.to_owned(), engine },
        other => StoreError::Engine { operation, path: path.to_owned(), why: other.to_string() },
    }
}

/// The number of bytes that a file or folder takes on the disk.
pub(super) fn size_on_disk(path: &Path) -> Result<u64, StoreError> {
    let fail = |source| at("read", path, source);
    let meta = fs::symlink_metadata(path).map_err(fail)?;
    let mut size = allocated(&meta);
    if meta.is_dir() {
        for entry in fs::read_dir(path).map_err(fail)? {
            size += size_on_disk(&entry.map_err(fail)?.path())?;
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
