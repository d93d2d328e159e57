//! Folders that runs have left, read back: `summary.json`, and the tables row by row.
//!
//! Columns are found by their names, so that a table may have been sorted, cut down to some of its columns or written by a
//! program of the user's own. A table that breaks off is told as such, with its line.

mod error;
mod rows;
mod table;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

pub use error::ReadError;
pub use rows::{EventRow, JobRow, MachineRow, SegmentRow};
pub use table::Rows;

use rows::{BatsimJob, OurJob};
use table::Table;

/// What left a folder.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FolderKind {
    /// `gridemu run`.
    Run,
    /// `gridemu replay`.
    Replay,
    /// Batsim, or another simulator that writes its columns.
    Batsim,
}

/// A folder that a run has left, or the path of its table of jobs alone.
#[derive(Clone, Debug)]
pub struct RunFolder {
    dir: PathBuf,
    kind: FolderKind,
    title: String,
    jobs: PathBuf,
    summary: Option<serde_json::Value>,
}

/// Where Batsim's table of jobs may lie in a folder.
const BATSIM: [&str; 5] =
    ["out_jobs.csv", "batsim/out_jobs.csv", "out/jobs.csv", "out_schedule_jobs.csv", "jobs.csv"];

impl RunFolder {
    /// Opens the folder `path`, or the table of jobs at `path`.
    ///
    /// # Errors
    /// [`ReadError`] if there is no run in it, or its summary cannot be read.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let found = fs::metadata(path).map_err(|error| ReadError::unreadable(path, &error))?;
        if found.is_file() {
            // The table of a whole folder: what else is known of the run is beside it.
            if let Some(dir) = path.parent().filter(|_| path.ends_with("jobs.csv"))
                && dir.join("summary.json").is_file()
                && !Table::has_column(path, "job_id")?
            {
                return Self::open(if dir.as_os_str().is_empty() { Path::new(".") } else { dir });
            }
            let dir = path.parent().unwrap_or(Path::new("")).to_owned();
            let kind =
                if Table::has_column(path, "job_id")? { FolderKind::Batsim } else { FolderKind::Replay };
            return Ok(Self { title: title_of(path), dir, kind, jobs: path.to_owned(), summary: None });
        }
        let summary = path.join("summary.json");
        if summary.is_file() {
            let text =
                fs::read_to_string(&summary).map_err(|error| ReadError::unreadable(&summary, &error))?;
            let value: serde_json::Value =
                serde_json::from_str(&text).map_err(|error| ReadError::broken_summary(&summary, &error))?;
            let said = |key: &str| value[key].as_str().map(str::to_owned);
            let kind =
                if value.get("scenario_hash").is_some() { FolderKind::Run } else { FolderKind::Replay };
            let title = match kind {
                FolderKind::Run => said("scenario"),
                _ => said("policy")
                    .zip(said("workload"))
                    .map(|(policy, workload)| format!("{policy} on {workload}")),
            };
            return Ok(Self {
                title: title.unwrap_or_else(|| title_of(path)),
                dir: path.to_owned(),
                kind,
                jobs: path.join("jobs.csv"),
                summary: Some(value),
            });
        }
        for name in BATSIM {
            let jobs = path.join(name);
            if jobs.is_file() && Table::has_column(&jobs, "job_id")? {
                let (dir, title) = (path.to_owned(), title_of(path));
                return Ok(Self { dir, kind: FolderKind::Batsim, title, jobs, summary: None });
            }
        }
        Err(ReadError::no_run(path))
    }

    /// The run in `path`, or those of its folders, in the order of their names: a replay of several policies leaves one each.
    ///
    /// # Errors
    /// [`ReadError`] if there is none, or one cannot be read.
    pub fn all_in(path: &Path) -> Result<Vec<Self>, ReadError> {
        let here = Self::open(path);
        let Err(error) = here else { return here.map(|folder| vec![folder]) };
        let Ok(entries) = fs::read_dir(path) else { return Err(error) };
        let mut inside: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        inside.retain(|entry| entry.join("summary.json").is_file());
        inside.sort_unstable();
        if inside.is_empty() {
            return Err(error);
        }
        inside.iter().map(|entry| Self::open(entry)).collect()
    }

    /// The tables of a run in `dir` that has no summary yet.
    pub(super) fn tables_in(dir: &Path) -> Self {
        let jobs = dir.join("jobs.csv");
        Self { dir: dir.to_owned(), kind: FolderKind::Run, title: title_of(dir), jobs, summary: None }
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What left it.
    pub const fn kind(&self) -> FolderKind {
        self.kind
    }

    /// What the run is called: its scenario; its policy and its workload.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// `summary.json`; `None` where only tables are known.
    pub const fn summary(&self) -> Option<&serde_json::Value> {
        self.summary.as_ref()
    }

    /// The text of `scenario.toml`, if there is one.
    ///
    /// # Errors
    /// [`ReadError`] if it cannot be read.
    pub fn scenario(&self) -> Result<Option<String>, ReadError> {
        self.text("scenario.toml")
    }

    /// The text of `replay.json`, if there is one.
    ///
    /// # Errors
    /// [`ReadError`] if it cannot be read.
    pub fn replay(&self) -> Result<Option<String>, ReadError> {
        self.text("replay.json")
    }

    fn text(&self, name: &str) -> Result<Option<String>, ReadError> {
        let path = self.dir.join(name);
        if !path.is_file() {
            return Ok(None);
        }
        fs::read_to_string(&path).map(Some).map_err(|error| ReadError::unreadable(&path, &error))
    }

    /// The path of the table of jobs.
    pub fn jobs_path(&self) -> &Path {
        &self.jobs
    }

    /// The jobs, in the order of the table: ours is in the order in which they ended.
    ///
    /// # Errors
    /// [`ReadError`] if there is no such table, or it lacks a column.
    pub fn jobs(&self) -> Result<Rows<JobRow>, ReadError> {
        let table = Table::open(&self.jobs)?;
        match self.kind {
            FolderKind::Batsim => Rows::of::<BatsimJob>(table),
            FolderKind::Run | FolderKind::Replay => Rows::of::<OurJob>(table),
        }
    }

    /// The segments; `None` if the run has left none.
    ///
    /// # Errors
    /// [`ReadError`] if the table lacks a column.
    pub fn segments(&self) -> Result<Option<Rows<SegmentRow>>, ReadError> {
        self.table("segments.csv")?.map(Rows::of::<SegmentRow>).transpose()
    }

    /// Changes of machines' states; `None` if the run has left none.
    ///
    /// # Errors
    /// [`ReadError`] if the table lacks a column.
    pub fn machines(&self) -> Result<Option<Rows<MachineRow>>, ReadError> {
        self.table("machines.csv")?.map(Rows::of::<MachineRow>).transpose()
    }

    /// Events; `None` if the run has left none.
    ///
    /// # Errors
    /// [`ReadError`] if the table lacks a column.
    pub fn events(&self) -> Result<Option<Rows<EventRow>>, ReadError> {
        self.table("events.csv")?.map(Rows::of::<EventRow>).transpose()
    }

    /// A table that only runs of ours leave, and only where a whole folder was given.
    fn table(&self, name: &str) -> Result<Option<Table<File>>, ReadError> {
        let path = self.dir.join(name);
        let ours =
            self.kind != FolderKind::Batsim && (self.summary.is_some() || self.jobs.ends_with("jobs.csv"));
        if ours && path.is_file() { Table::open(&path).map(Some) } else { Ok(None) }
    }
}

/// The name of a folder or a file.
fn title_of(path: &Path) -> String {
    let whole = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    whole.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
