//! Continuing the files of an interrupted run.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::lock::FolderLock;
use super::{
    BATSIM, EVENTS, FRONTS, GROUPS, LEDGER, MACHINES, OutputDir, OutputOptions, REPLAY, SCENARIO, SEGMENTS,
    SLICES, STATES, SUMMARY, TABLES, TASKS, TRACE, WORKFLOWS,
};
use super::{create_folder, part_of, remove, remove_stale, write_whole};
use crate::metrics::Definitions;
use crate::model::SiteSpec;
use crate::output::batsim::Batsim;
use crate::output::lines::{Lines, MarkedFile};
use crate::output::mark::{FileMark, OutputMark};
use crate::output::names::Names;
use crate::output::rows::Columns;
use crate::output::{OutputError, files};

impl OutputDir {
    /// Continues the files in `folder` from the mark. Each file is read up to there and compared; what was written
    /// after the mark is truncated, and a summary is removed, for the run is not over. If any file does not match the
    /// mark, nothing is changed.
    ///
    /// The sites, definitions and options are those of the run. Files that the options leave out are removed.
    ///
    /// # Errors
    /// [`OutputError::InUse`] if another run writes the folder; [`OutputError::Gone`], [`Short`](OutputError::Short) or [`Edited`](OutputError::Edited) for a file that does
    /// not match the mark; [`OutputError::Unmarked`] for one that the options ask for and the marked run did not
    /// write; [`OutputError::Columns`] if another version wrote it; [`OutputError::OtherScenario`] if `scenario.toml`
    /// differs; [`OutputError::Place`] for errors of the operating system.
    pub fn resume(
        folder: &Path,
        sites: &[SiteSpec],
        definitions: Definitions,
        options: &OutputOptions,
        mark: &OutputMark,
    ) -> Result<Self, OutputError> {
        // Of a folder that is gone, its first file is reported.
        let lock = folder.is_dir().then(|| FolderLock::take(folder)).transpose()?;
        let past = options.tables(&definitions, |name, header| past(folder, name, header, mark))?;
        let new_scenario = match &options.scenario {
            Some(text) if !is_there(folder.join(SCENARIO), text)? => Some(text),
            _ => None,
        };

        let mut stale = vec![SUMMARY, LEDGER, REPLAY, STATES, TRACE];
        stale.extend(TABLES.iter().zip(&past).filter(|(_, past)| past.is_none()).map(|((name, _), _)| *name));
        stale.extend(options.scenario.is_none().then_some(SCENARIO));
        remove_stale(folder, &stale)?;
        if let Some(text) = new_scenario {
            write_whole(&folder.join(SCENARIO), text)?;
        }
        let mut tables = [const { None }; TABLES.len()];
        for (table, past) in tables.iter_mut().zip(past) {
            *table = past.map(|past| past.resume(folder)).transpose()?;
        }
        Ok(Self {
            folder: folder.to_owned(),
            sites: sites.to_vec(),
            columns: Columns::new(Names::of(sites), definitions),
            tables,
            batsim: options.batsim.as_ref().map(|workload| Batsim::new(workload, &mark.held)),
            _lock: lock,
        })
    }

    /// Copies what the files of a run held at the mark to another folder, in which a fork of the run can then
    /// [continue](Self::resume). Files of an earlier run there are replaced, but nothing is changed if any file does
    /// not match the mark.
    ///
    /// # Errors
    /// As [`resume`](Self::resume), of the files in `from`; [`OutputError::Same`] if the two folders are one.
    pub fn copy_past(from: &Path, to: &Path, mark: &OutputMark) -> Result<(), OutputError> {
        create_folder(to)?;
        if let (Ok(from), Ok(there)) = (fs::canonicalize(from), fs::canonicalize(to))
            && from == there
        {
            return Err(OutputError::Same { path: to.to_owned() });
        }
        let _lock = FolderLock::take(to)?;
        if mark.file(BATSIM).is_some() {
            create_folder(&to.join("batsim"))?;
        }
        let part = |file: &FileMark| part_of(to, &file.name);
        if let Err(error) =
            mark.files.iter().try_for_each(|file| copy(from.join(&file.name), part(file), file))
        {
            // Remaining temporary files do no harm, and the error to report is the first one.
            mark.files.iter().for_each(|file| drop(fs::remove_file(part(file))));
            return Err(error);
        }
        // Without a summary the folder is not that of a finished run, whatever happens next.
        let tables = [SEGMENTS, MACHINES, EVENTS, TASKS, WORKFLOWS, FRONTS, SLICES, GROUPS];
        let others = [SUMMARY, LEDGER, SCENARIO, REPLAY, BATSIM, STATES];
        for stale in tables.into_iter().chain(others) {
            remove(&to.join(stale))?;
        }
        mark.files.iter().try_for_each(|file| {
            let path = to.join(&file.name);
            fs::rename(part(file), &path).map_err(OutputError::place("replace", path))
        })
    }
}

fn copy(from: PathBuf, to: PathBuf, file: &FileMark) -> Result<(), OutputError> {
    let mut copied = files::create(&to).map_err(OutputError::place("create the file", &to))?;
    let write = |bytes: &[u8]| copied.write_all(bytes).map_err(OutputError::place("write", &to));
    MarkedFile::read(from, file, File::options().read(true), write).map(|_| ())
}

/// What a table was at the mark.
enum Past {
    /// A file that matches it.
    Marked(MarkedFile),
    /// Nothing: a fork goes on with a policy that keeps fronts, or has slices or groups, and the one before had none. It begins with this header.
    New { name: String, header: String },
}

impl Past {
    fn resume(self, folder: &Path) -> Result<Lines<File>, OutputError> {
        match self {
            Self::Marked(file) => file.resume(),
            Self::New { name, header } => Lines::create(folder.join(name), &header),
        }
    }
}

/// Opens the file `name` and reads it up to the mark.
fn past(folder: &Path, name: &str, header: &str, mark: &OutputMark) -> Result<Past, OutputError> {
    let path = folder.join(name);
    let Some(file) = mark.file(name) else {
        let (name, header) = (name.to_owned(), header.to_owned());
        return if [FRONTS, SLICES, GROUPS].contains(&name.as_str()) {
            Ok(Past::New { name, header })
        } else {
            Err(OutputError::Unmarked { path })
        };
    };
    let mut beginning = Vec::new();
    let past = MarkedFile::read(path.clone(), file, File::options().read(true).write(true), |bytes| {
        let missing = (header.len() + 1).saturating_sub(beginning.len());
        beginning.extend_from_slice(&bytes[..missing.min(bytes.len())]);
        Ok(())
    })?;
    let is_ours = beginning.strip_prefix(header.as_bytes()) == Some(b"\n");
    if is_ours { Ok(Past::Marked(past)) } else { Err(OutputError::Columns { path }) }
}

/// Whether the file at `path` exists with this text; an error if it exists with another.
fn is_there(path: PathBuf, text: &str) -> Result<bool, OutputError> {
    match fs::read(&path) {
        Ok(found) if found == text.as_bytes() => Ok(true),
        Ok(_) => Err(OutputError::OtherScenario { path }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(OutputError::place("read", path)(error)),
    }
}
