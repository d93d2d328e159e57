//! Files by their names: what is read is no device, and what is written is a file of its own.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

/// The longest text that is read as a whole, in bytes: a scenario, a campaign, the claims of a paper.
const MOST: u64 = 8 << 20;

/// Opens what is read: a file or a pipe. A device is refused, for it may have no end.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        // Before it is opened: that may do something.
        let kind = fs::metadata(path)?.file_type();
        if kind.is_char_device() || kind.is_block_device() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is a device, not a file"));
        }
    }
    File::open(path)
}

/// The text of a file.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    let mut text = Vec::new();
    open(path)?.take(MOST + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MOST {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("it has more than {MOST} bytes")));
    }
    String::from_utf8(text).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not text in UTF-8"))
}

/// Creates or empties the file that is written. A link, a pipe or a device that stands there is refused, but for what the system has under
/// `/dev`, such as `/dev/stdout`.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    own(path)?;
    File::create(path)
}

/// Writes a file, as [`create`] opens it.
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    create(path)?.write_all(bytes.as_ref())
}

/// Refuses what stands in the place of a file. A link to a device that keeps nothing does no harm.
pub(super) fn own(path: &Path) -> io::Result<()> {
    let is_in = |folder: &&str| path.parent() == Some(Path::new(folder));
    let keeps_nothing = |to: &Path| [Path::new("/dev/null"), Path::new("/dev/full")].contains(&to);
    if ["/dev", "/dev/fd", "/proc/self/fd"].iter().any(is_in)
        || fs::read_link(path).is_ok_and(|to| keeps_nothing(&to))
    {
        return Ok(());
    }
    let Ok(there) = fs::symlink_metadata(path) else { return Ok(()) };
    let what = match there.file_type() {
        kind if kind.is_file() || kind.is_dir() => return Ok(()),
        kind if kind.is_symlink() => "a symbolic link, which is not followed, is in its place",
        _ => "a pipe or a device is in its place",
    };
    Err(io::Error::new(ErrorKind::AlreadyExists, what))
}
