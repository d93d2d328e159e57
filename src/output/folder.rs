//! The output folder of a run.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use self::lock::FolderLock;
use super::OutputError;
use super::batsim::{self, Batsim};
use super::files;
use super::ledger;
use super::lines::Lines;
use super::mark::{FileMark, OutputMark, OutputSync};
use super::names::Names;
use super::pstates::{Draws, turns};
use super::reader::{ReadError, RunFolder};
use super::rows::{self, Columns};
use super::states::{Outage, States};
use crate::metrics::{Definitions, Ledger};
use crate::model::{Objective, Record, SiteSpec};
use crate::platform::DataBill;

mod lock;
mod resume;

const LEDGER: &str = "ledger.csv";
const JOBS: &str = "jobs.csv";
const SEGMENTS: &str = "segments.csv";
const MACHINES: &str = "machines.csv";
const EVENTS: &str = "events.csv";
const TASKS: &str = "tasks.csv";
const WORKFLOWS: &str = "workflows.csv";
const TRANSFERS: &str = "transfers.csv";
const FRONTS: &str = "fronts.csv";
const COALLOCATIONS: &str = "coallocations.csv";
const SLICES: &str = "slices.csv";
const GROUPS: &str = "groups.csv";
const SCENARIO: &str = "scenario.toml";
/// The summary that a replay of an older gridemu wrote.
const REPLAY: &str = "replay.json";
const BATSIM: &str = "batsim/out_jobs.csv";
const STATES: &str = "batsim/out_machine_states.csv";
const PSTATES: &str = "batsim/out_pstate_changes.csv";
const ENERGY: &str = "batsim/out_consumed_energy.csv";
const SUMMARY: &str = "summary.json";
/// A trace of the run, which is made of its tables.
pub(crate) const TRACE: &str = "trace.json";
/// Every file that may be in the folder.
const ALL: [&str; 20] = [
    LEDGER,
    JOBS,
    SEGMENTS,
    MACHINES,
    EVENTS,
    TASKS,
    WORKFLOWS,
    TRANSFERS,
    FRONTS,
    COALLOCATIONS,
    SLICES,
    GROUPS,
    SCENARIO,
    REPLAY,
    BATSIM,
    STATES,
    PSTATES,
    ENERGY,
    SUMMARY,
    TRACE,
];

/// The tables that a run may write, each with its header.
const TABLES: [(&str, &str); 12] = [
    (JOBS, rows::JOBS),
    (SEGMENTS, rows::SEGMENTS),
    (MACHINES, rows::MACHINES),
    (EVENTS, rows::EVENTS),
    (BATSIM, batsim::HEADER),
    (TASKS, rows::TASKS),
    (WORKFLOWS, rows::WORKFLOWS),
    (TRANSFERS, rows::TRANSFERS),
    (FRONTS, rows::FRONTS),
    (COALLOCATIONS, rows::COALLOCATIONS),
    (SLICES, rows::SLICES),
    (GROUPS, rows::GROUPS),
];

/// The files that a run writes beside `jobs.csv` and `summary.json`; by default `segments.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputOptions {
    /// Write `segments.csv`.
    pub segments: bool,
    /// Write `machines.csv`.
    pub machines: bool,
    /// Write `events.csv`.
    pub events: bool,
    /// Write `tasks.csv`, `workflows.csv` and `transfers.csv`.
    pub workflows: bool,
    /// Write `fronts.csv`, with these objectives; none for no such file.
    pub fronts: &'static [Objective],
    /// Write `coallocations.csv`.
    pub coallocations: bool,
    /// Write `slices.csv`.
    pub slices: bool,
    /// Write `groups.csv`.
    pub groups: bool,
    /// Write `scenario.toml` with this text: the scenario with all defaults.
    pub scenario: Option<String>,
    /// Write `batsim/out_jobs.csv` and the other files of Batsim, with this name of the workload.
    pub batsim: Option<String>,
}

impl Default for OutputOptions {
    fn default() -> Self {
        Self {
            segments: true,
            machines: false,
            events: false,
            workflows: false,
            fronts: &[],
            coallocations: false,
            slices: false,
            groups: false,
            scenario: None,
            batsim: None,
        }
    }
}

impl OutputOptions {
    /// What `open` makes of each of the [`TABLES`] that the run writes.
    fn tables<T>(
        &self,
        definitions: &Definitions,
        mut open: impl FnMut(&str, &str) -> Result<T, OutputError>,
    ) -> Result<[Option<T>; TABLES.len()], OutputError> {
        let batsim = self.batsim.is_some();
        let (enacted, fronts) = (self.workflows, !self.fronts.is_empty());
        let written = [
            true,
            self.segments,
            self.machines,
            self.events,
            batsim,
            enacted,
            enacted,
            enacted,
            fronts,
            self.coallocations,
            self.slices,
            self.groups,
        ];
        let mut tables = [const { None }; TABLES.len()];
        for ((table, (name, header)), _) in tables.iter_mut().zip(TABLES).zip(written).filter(|(_, yes)| *yes)
        {
            let limited = matches!(name, JOBS | WORKFLOWS) && definitions.penalty.is_some();
            let objectives = self.fronts.iter().filter(|_| name == FRONTS);
            let kinds = name == JOBS && definitions.kinds;
            let mut header = header.to_owned() + if kinds { rows::KIND } else { "" };
            header += if limited { rows::LIMITS } else { "" };
            objectives.for_each(|objective| header += &format!(",{}", objective.column));
            *table = Some(open(name, &header)?);
        }
        Ok(tables)
    }
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
    /// The [`TABLES`], without those that the run does not write.
    tables: [Option<Lines<File>>; TABLES.len()],
    batsim: Option<Batsim>,
    /// Released last: no other run may write the folder before the files are closed.
    _lock: Option<FolderLock>,
}

impl OutputDir {
    /// Creates the folder and its files. Files of an earlier run are replaced, and those that this run does not write
    /// are removed, so that a folder never mixes two runs.
    ///
    /// # Errors
    /// [`OutputError::InUse`] if another run writes the folder; [`OutputError::Place`] names the file or folder that cannot be created.
    pub fn create(
        folder: &Path,
        sites: &[SiteSpec],
        definitions: Definitions,
        options: &OutputOptions,
    ) -> Result<Self, OutputError> {
        create_folder(folder)?;
        let lock = FolderLock::take(folder)?;
        // The summary first: while it is there the folder is that of a finished run.
        let kept = |name: &&str| *name == JOBS || (*name == SEGMENTS && options.segments);
        let stale: Vec<&str> =
            std::iter::once(SUMMARY).chain(ALL.into_iter().filter(|name| !kept(name))).collect();
        remove_stale(folder, &stale)?;
        if options.batsim.is_some() {
            create_folder(&folder.join("batsim"))?;
        }
        let tables = options.tables(&definitions, |name, header| Lines::create(folder.join(name), header))?;
        if let Some(text) = &options.scenario {
            write_whole(&folder.join(SCENARIO), text)?;
        }
        let batsim = options.batsim.as_ref().map(|workload| Batsim::new(workload, &[]));
        let columns = Columns::new(Names::of(sites), definitions);
        Ok(Self {
            folder: folder.to_owned(),
            sites: sites.to_vec(),
            columns,
            tables,
            batsim,
            _lock: Some(lock),
        })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The names of the tables that the run writes.
    pub fn tables(&self) -> Vec<&'static str> {
        self.tables.iter().zip(TABLES).filter_map(|(table, (name, _))| table.as_ref().map(|_| name)).collect()
    }

    /// Writes records in the order given. The segments of a job come before the job.
    ///
    /// # Errors
    /// [`OutputError::Write`] names the file that cannot be written and how many of its rows are whole.
    pub fn write(&mut self, records: &[Record]) -> Result<(), OutputError> {
        let Self { columns, tables, batsim, .. } = self;
        let [
            jobs,
            segments,
            machines,
            events,
            batsim_jobs,
            tasks,
            workflows,
            transfers,
            fronts,
            coallocations,
            slices,
            groups,
        ] = tables;
        for record in records {
            match record {
                Record::Job(job) => {
                    row(jobs, |out| columns.job(out, job))?;
                    if let Some(batsim) = batsim {
                        row(batsim_jobs, |out| batsim.job(out, job, &columns.names))?;
                    }
                }
                Record::Segment(segment) => {
                    row(segments, |out| columns.segment(out, segment))?;
                    if let Some(batsim) = batsim {
                        batsim.hold(segment);
                    }
                }
                Record::Machine(machine) => row(machines, |out| columns.machine(out, machine))?,
                Record::Event(event) => row(events, |out| columns.event(out, event))?,
                Record::Task(task) => row(tasks, |out| columns.task(out, task))?,
                Record::Workflow(workflow) => row(workflows, |out| columns.workflow(out, workflow))?,
                Record::Transfer(transfer) => row(transfers, |out| columns.transfer(out, transfer))?,
                Record::Coallocation(job) => row(coallocations, |out| columns.coallocation(out, job))?,
                Record::Slice(slice) => row(slices, |out| columns.slice(out, slice))?,
                Record::Group(group) => {
                    for job in &group.jobs {
                        row(groups, |out| columns.grouped(out, group, job))?;
                    }
                }
                Record::Front(front) => {
                    for (at, point) in front.points.iter().enumerate() {
                        row(fronts, |out| columns.front(out, front, at, point))?;
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
        self.tables.iter_mut().flatten().map(Lines::flush).fold(Ok(()), Result::and)
    }

    /// Writes all buffered rows and returns what each file holds, so that a later run can continue from here. Nothing
    /// is synced: let another thread do that with a [`syncer`](Self::syncer).
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub fn mark(&mut self) -> Result<OutputMark, OutputError> {
        self.flush()?;
        let mut mark = OutputMark::default();
        for (lines, (name, _)) in self.tables.iter_mut().zip(TABLES) {
            mark.files.extend(lines.as_mut().map(|lines| lines.mark(name)).transpose()?);
        }
        mark.held = self.batsim.as_ref().map_or_else(Vec::new, Batsim::kept);
        Ok(mark)
    }

    /// Handles of all files that must be synced before what was [marked](Self::mark) survives a loss of power;
    /// another thread can sync them while this run continues.
    ///
    /// # Errors
    /// [`OutputError::Place`] names the file or folder for which no second handle can be opened.
    pub fn syncer(&self) -> Result<OutputSync, OutputError> {
        let handles = self.tables.iter().flatten().map(Lines::handle).collect::<Result<_, _>>()?;
        OutputSync::new(handles, &self.folder, &[SCENARIO], self.batsim.is_some())
    }

    /// Writes `ledger.csv`: what each site, moving data and the whole grid spent energy, money and carbon on. Nothing if nothing was drawn.
    ///
    /// # Errors
    /// [`OutputError::Place`] if it cannot be written.
    pub fn write_ledger(
        &self,
        sites: &[(SiteSpec, Ledger)],
        data: Option<DataBill>,
    ) -> Result<(), OutputError> {
        let text = ledger::text(sites, data);
        if text.is_empty() { Ok(()) } else { write_whole(&self.folder.join(LEDGER), text) }
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
        let text = serde_json::to_string_pretty(summary).map_err(io::Error::from);
        let text = text.map_err(OutputError::place("write", self.folder.join(SUMMARY)))?;
        write_whole(&self.folder.join(SUMMARY), text + "\n")
    }

    /// Writes Batsim's states of machines, and where these draw power their power states and energy. They are computed from the complete tables.
    fn write_states(&self) -> Result<(), OutputError> {
        let (folder, sites) = (RunFolder::tables_in(&self.folder), &self.sites[..]);
        let (mut states, mut pstates, mut energy) = (Vec::new(), Vec::new(), Vec::new());
        let mut write = || {
            let failed = |error: ReadError| io::Error::other(error.to_string());
            let turns = turns(&folder, sites).map_err(failed)?;
            let outages = Outage::all(&folder, sites).map_err(failed)?;
            States::of(&folder, sites, &turns, &outages).map_err(failed)?.write(&mut states)?;
            if self.columns.names.powered {
                let draws = Draws::of(&folder, sites, &turns, &outages).map_err(failed)?;
                draws.write_pstates(&mut pstates)?;
                // Their power is linear in busy cores there.
                let mut groups = sites.iter().flat_map(|site| &site.partitions).flat_map(|part| &part.groups);
                if groups.all(|group| group.by_load.is_none()) {
                    draws.write_energy(&mut energy)?;
                }
            }
            Ok(())
        };
        write().map_err(OutputError::place("write", self.folder.join(STATES)))?;
        for (name, text) in [(STATES, states), (PSTATES, pstates), (ENERGY, energy)] {
            if !text.is_empty() {
                write_whole(&self.folder.join(name), &text)?;
            }
        }
        Ok(())
    }

    /// Finishes likewise, and waits until all files of the run are on the disk, for use before the end of the run is
    /// reported. Returns what each file holds.
    ///
    /// # Errors
    /// As [`finish`](Self::finish), or [`OutputError::Place`] for a file that could not be synced.
    pub fn finish_for_good(mut self, summary: &impl Serialize) -> Result<Vec<FileMark>, OutputError> {
        let (others, folder) = (self.syncer()?, self.folder.clone());
        let mut files = self.mark()?.files;
        self.finish(summary)?;
        let path = folder.join(SUMMARY);
        let synced = File::open(&path).and_then(|file| file.sync_all());
        synced.map_err(OutputError::place("sync", path))?;
        others.sync()?;
        let whole = ALL.iter().filter(|name| TABLES.iter().all(|(table, _)| table != *name));
        for name in whole {
            files.extend(FileMark::of_whole(&folder, name)?);
        }
        Ok(files)
    }
}

/// Writes a row, if the run writes the table.
fn row(table: &mut Option<Lines<File>>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), OutputError> {
    table.as_mut().map_or(Ok(()), |lines| lines.row(write))
}

fn create_folder(folder: &Path) -> Result<(), OutputError> {
    fs::create_dir_all(folder).map_err(OutputError::place("create the folder", folder))
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
pub(crate) fn write_whole(path: &Path, text: impl AsRef<[u8]>) -> Result<(), OutputError> {
    let part = path.with_added_extension("part");
    let written = files::write(&part, text).and_then(|()| fs::rename(&part, path));
    written.map_err(|error| {
        // Half a file is useless, and the run has already failed to write it.
        let _ = fs::remove_file(&part);
        OutputError::place("write", path)(error)
    })
}

fn remove(path: &Path) -> Result<(), OutputError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(OutputError::place("replace", path)(error))
        }
        _ => Ok(()),
    }
}
