//! Going on with the files of a run that was interrupted.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::{BATSIM, EVENTS, JOBS, MACHINES, OutputDir, OutputOptions, SCENARIO, SEGMENTS, STALE};
use super::{remove, write_whole};
use crate::metrics::Definitions;
use crate::model::SiteSpec;
use crate::report::OutputError;
use crate::report::batsim::{self, Batsim};
use crate::report::lines::Past;
use crate::report::mark::OutputMark;
use crate::report::names::Names;
use crate::report::rows::{self, Columns};

impl OutputDir {
    /// Goes on with the files in `folder` as they were at the mark. Each is read up to there and compared; what was written
    /// after the mark is cut off, and a summary is removed, for the run is not over. If any file is not what
    /// it was, nothing is changed.
    ///
    /// The sites, definitions and options are those of the run. Files that the options leave out are removed.
    ///
    /// # Errors
    /// [`OutputError::Gone`], [`Short`](OutputError::Short) or [`Edited`](OutputError::Edited) for a file that is not what it
    /// was; [`OutputError::Unmarked`] for one that the options ask for and the marked run did not write;
    /// [`OutputError::Columns`] if another version wrote it; [`OutputError::Place`] for what the system refuses.
    pub fn resume(
        folder: &Path,
        sites: &[SiteSpec],
        definitions: Definitions,
        options: &OutputOptions,
        mark: &OutputMark,
    ) -> Result<Self, OutputError> {
        let past = |name: &str, header: &str| past(folder, name, header, mark);
        let jobs = past(JOBS, rows::JOBS)?;
        let segments = past(SEGMENTS, rows::SEGMENTS)?;
        let machines = options.machines.then(|| past(MACHINES, rows::MACHINES)).transpose()?;
        let events = options.events.then(|| past(EVENTS, rows::EVENTS)).transpose()?;
        let batsim = options.batsim.as_ref().map(|_| past(BATSIM, batsim::HEADER)).transpose()?;
        let new_scenario = match &options.scenario {
            Some(text) if !is_there(folder.join(SCENARIO), text)? => Some(text),
            _ => None,
        };

        for stale in STALE {
            remove(&folder.join(stale))?;
        }
        let left_out = [
            (MACHINES, machines.is_none()),
            (EVENTS, events.is_none()),
            (SCENARIO, options.scenario.is_none()),
            (BATSIM, batsim.is_none()),
        ];
        for (name, _) in left_out.into_iter().filter(|(_, left_out)| *left_out) {
            remove(&folder.join(name))?;
        }
        if let Some(text) = new_scenario {
            write_whole(folder, SCENARIO, text)?;
        }
        let batsim = match (batsim, &options.batsim) {
            (Some(past), Some(workload)) => Some((Batsim::resume(workload, &mark.held), past.go_on()?)),
            _ => None,
        };
        Ok(Self {
            folder: folder.to_owned(),
            columns: Columns::new(Names::of(sites), definitions),
            jobs: jobs.go_on()?,
            segments: segments.go_on()?,
            machines: machines.map(Past::go_on).transpose()?,
            events: events.map(Past::go_on).transpose()?,
            batsim,
        })
    }
}

/// The file `name` up to the mark.
fn past(folder: &Path, name: &str, header: &str, mark: &OutputMark) -> Result<Past, OutputError> {
    let path = folder.join(name);
    let Some(file) = mark.file(name) else { return Err(OutputError::Unmarked { path }) };
    let mut beginning = Vec::new();
    let past = Past::read(path.clone(), file, File::options().read(true).write(true), |bytes| {
        let missing = (header.len() + 1).saturating_sub(beginning.len());
        beginning.extend_from_slice(&bytes[..missing.min(bytes.len())]);
        Ok(())
    })?;
    let is_ours = beginning.strip_prefix(header.as_bytes()) == Some(b"\n");
    if is_ours { Ok(past) } else { Err(OutputError::Columns { path }) }
}

/// Whether the file at `path` is there with this text; an error if it is there with another.
fn is_there(path: PathBuf, text: &str) -> Result<bool, OutputError> {
    match fs::read(&path) {
        Ok(found) if found == text.as_bytes() => Ok(true),
        Ok(_) => Err(OutputError::Edited { path, bytes: text.len() as u64 }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(OutputError::Place { operation: "read", path, source }),
    }
}
