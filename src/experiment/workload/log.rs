//! Opening a log: a file or standard input, in SWF or the cloud workload format.

use std::fs::File;
use std::io;
use std::path::Path;

use super::{Base, file_name, open_file};
use crate::experiment::{Progress, RunError};
use crate::formats::swf::{SwfOptions, SwfSource};
use crate::scenario::Shaping;
use crate::workload::Source;

/// Opens the log of a file. `once` is set if it cannot be opened again.
pub(super) fn open(
    path: &Path,
    shaping: &Shaping,
    progress: &Progress,
    once: bool,
) -> Result<Base, RunError> {
    let (file, length) = open_file(path)?;
    progress.begin(length);
    let name = file_name(path);
    let options = options(&name, shaping, is_cwf(&name), once);
    let counted = Counted { inner: file, progress: progress.clone() };
    let mut log = SwfSource::open(Box::new(counted), options.clone()).map_err(RunError::from_opening)?;
    if log.is_cwf() && !once {
        let (again, _) = open_file(path)?;
        let commands =
            SwfSource::gather_commands(Box::new(again), options).map_err(RunError::from_opening)?;
        log = log.with_commands(commands);
    }
    base(log, name, once)
}

/// The log on standard input.
pub(super) fn open_stdin(shaping: &Shaping) -> Result<Base, RunError> {
    let name = "standard input".to_owned();
    let log = SwfSource::open(Box::new(io::stdin()), options(&name, shaping, false, true));
    base(log.map_err(RunError::from_opening)?, name, true)
}

fn options(name: &str, shaping: &Shaping, cwf: bool, once: bool) -> SwfOptions {
    SwfOptions {
        name: name.to_owned(),
        clean: shaping.clean,
        machine: shaping.procs,
        cap: shaping.cap,
        first: shaping.first,
        feedback: shaping.feedback,
        partitions: false,
        cwf,
        once,
    }
}

fn base(log: SwfSource, name: String, once: bool) -> Result<Base, RunError> {
    let (procs, header) = (log.machine(), Some(log.header().clone()));
    let source: Box<dyn Source> = if log.is_cwf() && once {
        Box::new(log.into_jobs().map_err(RunError::from_opening)?)
    } else {
        Box::new(log)
    };
    Ok(Base { source, name, procs, header })
}

/// True if the file name is that of a log in the cloud workload format.
fn is_cwf(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.strip_suffix(".gz").unwrap_or(&name).ends_with(".cwf")
}

/// Counts the bytes of a log as they are read.
struct Counted {
    inner: File,
    progress: Progress,
}

impl io::Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}
