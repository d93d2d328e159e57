//! The output folder of a run.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::OutputError;
use super::batsim::{self, Batsim};
use super::lines::Lines;
use super::mark::{OutputMark, OutputSync};
use super::names::Names;
use super::rows::{self, Columns};
use super::states::States;
use crate::metrics::Definitions;
use crate::model::{Record, SiteSpec};

mod resume;

const JOBS: &str = "jobs.csv";
const SEGMENTS: &str = "segments.csv";
const MACHINES: &str = "machines.csv";
const EVENTS: &str = "events.csv";
const SCENARIO: &str = "scenario.toml";
/// The summary that a replay of an older gridemu wrote.
const REPLAY: &str = "replay.json";
const BATSIM: &str = "batsim/out_jobs.csv";
const STATES: &str = "batsim/out_machine_states.csv";
const SUMMARY: &str = "summary.json";
/// Every file that may be in the folder.
const ALL: [&str; 9] = [JOBS, SEGMENTS, MACHINES, EVENTS, SCENARIO, REPLAY, BATSIM, STATES, SUMMARY];

/// The files that a run writes beside `jobs.csv`, `segments.csv` and `summary.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputOptions {
    /// Write `machines.csv`.
    pub machines: bool,
    /// Write `events.csv`.
    pub events: bool,
    /// Write `scenario.toml` with this text: the scenario with all defaults.
    pub scenario: Option<String>,
    /// Write `batsim/out_jobs.csv` and `batsim/out_machine_states.csv`, with this name of the workload.
    pub batsim: Option<String>,
}

/// The open files of a run.
///
/// Rows are written in blocks; `summary.json` comes last and appears whole or not at all, so a folder that has one is
/// the folder of a run that finished.
#[derive(Debug)]
pub struct OutputDir {
    folder: PathBuf,
    sites: Vec<SiteSpec>,
    columns: Columns,
    jobs: Lines<File>,
    segments: Lines<File>,
    machines: Option<Lines<File>>,
    events: Option<Lines<File>>,
    batsim: Option<(Batsim, Lines<File>)>,
}

impl OutputDir {
    /// Creates the folder and its files. Files of an earlier run are replaced, and those that this run does not write
    /// are removed, so that a folder never mixes two runs.
    ///
    /// # Errors
    /// [`OutputError::Place`] names the file or folder that cannot be created.
    pub fn create(
        folder: &Path,
        sites: &[SiteSpec],
        definitions: Definitions,
        options: &OutputOptions,
    ) -> Result<Self, OutputError> {
        create_folder(folder)?;
        remove_stale(folder, &[SUMMARY, MACHINES, EVENTS, SCENARIO, REPLAY, BATSIM, STATES])?;
        let file = |name: &str, header: &str| Lines::create(folder.join(name), header);
        let jobs = file(JOBS, rows::JOBS)?;
        let segments = file(SEGMENTS, rows::SEGMENTS)?;
        let machines = options.machines.then(|| file(MACHINES, rows::MACHINES)).transpose()?;
        let events = options.events.then(|| file(EVENTS, rows::EVENTS)).transpose()?;
        if let Some(text) = &options.scenario {
            write_whole(folder, SCENARIO, text)?;
        }
        let batsim = match &options.batsim {
            None => None,
            Some(workload) => {
                create_folder(&folder.join("batsim"))?;
                Some((Batsim::new(workload), file(BATSIM, batsim::HEADER)?))
            }
        };
        let columns = Columns::new(Names::of(sites), definitions);
        let (folder, sites) = (folder.to_owned(), sites.to_vec());
        Ok(Self { folder, sites, columns, jobs, segments, machines, events, batsim })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Writes records in the order given. The segments of a job come before the job.
    ///
    /// # Errors
    /// [`OutputError::Write`] names the file that cannot be written and how many of its rows are whole.
    pub fn write(&mut self, records: &[Record]) -> Result<(), OutputError> {
        for record in records {
            match record {
                Record::Job(job) => {
                    self.jobs.row(|out| self.columns.job(out, job))?;
                    if let Some((batsim, lines)) = &mut self.batsim {
                        lines.row(|out| batsim.job(out, job, &self.columns.names))?;
                    }
                }
                Record::Segment(segment) => {
                    self.segments.row(|out| self.columns.segment(out, segment))?;
                    if let Some((batsim, _)) = &mut self.batsim {
                        batsim.hold(segment);
                    }
                }
                Record::Machine(machine) => {
                    if let Some(lines) = &mut self.machines {
                        lines.row(|out| self.columns.machine(out, machine))?;
                    }
                }
                Record::Event(event) => {
                    if let Some(lines) = &mut self.events {
                        lines.row(|out| self.columns.event(out, event))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes all buffered rows. The time this takes belongs to the run: flush, then take the time, then
    /// [`finish`](Self::finish).
    ///
    /// # Errors
    /// As [`write`](Self::write); the files after the one that failed are flushed all the same.
    pub fn flush(&mut self) -> Result<(), OutputError> {
        self.files().map(|(_, lines)| lines.flush()).fold(Ok(()), Result::and)
    }

    /// Writes all buffered rows and returns what each file holds, so that a later run can continue from here. Nothing
    /// is synced: let another thread do that with a [`syncer`](Self::syncer).
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub fn mark(&mut self) -> Result<OutputMark, OutputError> {
        self.flush()?;
        let mut mark = OutputMark::default();
        for (name, lines) in self.files() {
            mark.files.push(lines.mark(name)?);
        }
        mark.held = self.batsim.as_ref().map_or_else(Vec::new, |(batsim, _)| batsim.kept());
        Ok(mark)
    }

    /// Handles of all files that must be synced before what was [marked](Self::mark) survives a loss of power;
    /// another thread can sync them while this run continues.
    ///
    /// # Errors
    /// [`OutputError::Place`] names the file or folder for which no second handle can be opened.
    pub fn syncer(&self) -> Result<OutputSync, OutputError> {
        let batsim = self.batsim.as_ref().map(|(_, lines)| lines);
        let files =
            [Some(&self.jobs), Some(&self.segments), self.machines.as_ref(), self.events.as_ref(), batsim];
        let handles = files.into_iter().flatten().map(Lines::handle).collect::<Result<_, _>>()?;
        OutputSync::new(handles, &self.folder, &[SCENARIO], self.batsim.is_some())
    }

    fn files(&mut self) -> impl Iterator<Item = (&'static str, &mut Lines<File>)> {
        let batsim = self.batsim.as_mut().map(|(_, lines)| (BATSIM, lines));
        let chosen = [(MACHINES, self.machines.as_mut()), (EVENTS, self.events.as_mut())];
        let chosen = chosen.into_iter().filter_map(|(name, lines)| Some((name, lines?)));
        [(JOBS, &mut self.jobs), (SEGMENTS, &mut self.segments)].into_iter().chain(chosen).chain(batsim)
    }

    /// Flushes, and writes `summary.json`: a [`GridSummary`](crate::metrics::GridSummary).
    ///
    /// # Errors
    /// As [`flush`](Self::flush), or [`OutputError::Place`] for the summary.
    pub fn finish(mut self, summary: &impl Serialize) -> Result<(), OutputError> {
        self.flush()?;
        if self.batsim.is_some() {
            self.write_states()?;
        }
        let text = serde_json::to_string_pretty(summary).map_err(|error| OutputError::Place {
            operation: "write",
            path: self.folder.join(SUMMARY),
            source: error.into(),
        })?;
        write_whole(&self.folder, SUMMARY, text + "\n")
    }

    /// Writes Batsim's states of machines, which are computed from the complete tables.
    fn write_states(&self) -> Result<(), OutputError> {
        let path = self.folder.join(STATES);
        let place = |source| OutputError::Place { operation: "write", path: path.clone(), source };
        let states = States::of(&self.folder, &self.sites)
            .map_err(|error| place(io::Error::other(error.to_string())))?;
        let mut text = Vec::new();
        states.write(&mut text).map_err(place)?;
        write_whole(&self.folder, STATES, &text)
    }

    /// Finishes likewise, and waits until all files of the run are on the disk, for use before the end of the run is
    /// reported.
    ///
    /// # Errors
    /// As [`finish`](Self::finish), or [`OutputError::Place`] for a file that could not be synced.
    pub fn finish_for_good(self, summary: &impl Serialize) -> Result<(), OutputError> {
        let (others, path) = (self.syncer()?, self.folder.join(SUMMARY));
        self.finish(summary)?;
        let synced = File::open(&path).and_then(|file| file.sync_all());
        synced.map_err(|source| OutputError::Place { operation: "sync", path, source })?;
        others.sync()
    }
}

fn create_folder(folder: &Path) -> Result<(), OutputError> {
    let fail =
        |source| OutputError::Place { operation: "create the folder", path: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(fail)
}

/// The temporary path at which a file is written before it gets its name.
fn part_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.part"))
}

/// Removes `files`, and temporary files that an interrupted run left.
fn remove_stale(folder: &Path, files: &[&str]) -> Result<(), OutputError> {
    let parts = ALL.map(|name| part_of(folder, name));
    files.iter().map(|name| folder.join(name)).chain(parts).try_for_each(|path| remove(&path))
}

/// Writes a file so that it appears whole or not at all.
fn write_whole(folder: &Path, name: &str, text: impl AsRef<[u8]>) -> Result<(), OutputError> {
    let (part, path) = (part_of(folder, name), folder.join(name));
    let written = fs::write(&part, text).and_then(|()| fs::rename(&part, &path));
    written.map_err(|source| {
        // Half a file is useless, and the run has already failed to write it.
        let _ = fs::remove_file(&part);
        OutputError::Place { operation: "write", path, source }
    })
}

fn remove(path: &Path) -> Result<(), OutputError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(OutputError::Place { operation: "replace", path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}
