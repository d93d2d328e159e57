//! Reading the folders of runs: `summary.json`, and the tables row by row.
//!
//! Columns are found by their names, so that a table may have been sorted, reduced to some of its columns or written
//! by a program of the user's own. A table that breaks off is reported as such, with its line.

mod cells;
mod error;
mod rows;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

pub use error::ReadError;
pub use rows::{
    CoallocationRow, EventRow, FrontRow, GroupRow, JobRow, MachineRow, Ordered, SegmentRow, SliceRow,
    TaskRow, TransferRow, WorkflowRow,
};
pub use table::Rows;

use rows::{BatsimJob, OurJob};
use table::{Row, Table};

/// The program that wrote a folder.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FolderKind {
    /// gridemu.
    Run,
    /// Batsim, or another simulator that writes its columns.
    Batsim,
}

/// The folder of a run, or the path of its table of jobs alone.
#[derive(Clone, Debug)]
pub struct RunFolder {
    dir: PathBuf,
    kind: FolderKind,
    title: String,
    jobs: PathBuf,
    summary: Option<serde_json::Value>,
}

/// Paths at which Batsim's table of jobs may be in a folder.
const BATSIM: [&str; 5] =
    ["out_jobs.csv", "batsim/out_jobs.csv", "out/jobs.csv", "out_schedule_jobs.csv", "jobs.csv"];

impl RunFolder {
    /// Opens the folder `path`, or the table of jobs at `path`.
    ///
    /// # Errors
    /// [`ReadError`] if there is no run, or its summary cannot be read.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let found = fs::metadata(path).map_err(|error| ReadError::unreadable(path, &error))?;
        if found.is_file() {
            // A table inside a whole folder: the rest of the run is read too.
            if let Some(dir) = path.parent().filter(|_| path.ends_with("jobs.csv"))
                && dir.join("summary.json").is_file()
                && !Table::has_column(path, "job_id")?
            {
                return Self::open(if dir.as_os_str().is_empty() { Path::new(".") } else { dir });
            }
            let dir = path.parent().unwrap_or(Path::new("")).to_owned();
            let kind = if Table::has_column(path, "job_id")? { FolderKind::Batsim } else { FolderKind::Run };
            return Ok(Self { title: title_of(path), dir, kind, jobs: path.to_owned(), summary: None });
        }
        let summary = path.join("summary.json");
        if summary.is_file() {
            let value: serde_json::Value = serde_json::from_str(&text(&summary)?)
                .map_err(|error| ReadError::broken_summary(&summary, &error))?;
            let string = |key: &str| value[key].as_str().map(str::to_owned);
            // A replay is named after its workload; its policy distinguishes it from others.
            let replayed = string("policy").zip(string("workload"));
            let named = string("scenario")
                .filter(|name| replayed.as_ref().is_none_or(|(_, workload)| workload != name));
            let title =
                named.or_else(|| replayed.map(|(policy, workload)| format!("{policy} on {workload}")));
            return Ok(Self {
                title: title.unwrap_or_else(|| title_of(path)),
                dir: path.to_owned(),
                kind: FolderKind::Run,
                jobs: path.join("jobs.csv"),
                summary: Some(value),
            });
        }
        // A run that writes Batsim's table too is not a schedule of Batsim.
        if is_unfinished(path) {
            return Err(ReadError::no_run(path));
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

    /// Opens the run in `path`, or the runs in its subfolders, in the order of their names: a replay of several
    /// policies writes one each. An error for each subfolder with a run that has not finished is returned beside them.
    ///
    /// # Errors
    /// [`ReadError`] if there is none, or one cannot be read.
    pub fn all_in(path: &Path) -> Result<(Vec<Self>, Vec<ReadError>), ReadError> {
        let error = match Self::open(path) {
            Ok(folder) => return Ok((vec![folder], Vec::new())),
            Err(error) => error,
        };
        let Ok(entries) = fs::read_dir(path) else { return Err(error) };
        let mut inside: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        inside.sort_unstable();
        let (mut runs, mut unfinished) = (Vec::new(), Vec::new());
        for entry in inside {
            if entry.join("summary.json").is_file() {
                runs.push(Self::open(&entry)?);
            } else if is_unfinished(&entry) {
                unfinished.push(ReadError::no_run(&entry));
            }
        }
        if runs.is_empty() {
            Err(unfinished.into_iter().next().unwrap_or(error))
        } else {
            Ok((runs, unfinished))
        }
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

    /// The program that wrote it.
    pub const fn kind(&self) -> FolderKind {
        self.kind
    }

    /// The title of the run: its scenario, or its policy and its workload.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The content of `summary.json`; `None` where there are only tables.
    pub const fn summary(&self) -> Option<&serde_json::Value> {
        self.summary.as_ref()
    }

    /// The text of `scenario.toml`, if there is one.
    ///
    /// # Errors
    /// [`ReadError`] if it cannot be read.
    pub fn scenario(&self) -> Result<Option<String>, ReadError> {
        let path = self.dir.join("scenario.toml");
        path.is_file().then(|| text(&path)).transpose()
    }

    /// The path of the table of jobs.
    pub fn jobs_path(&self) -> &Path {
        &self.jobs
    }

    /// The jobs, in the order of the table: gridemu's is in the order of their ends.
    ///
    /// # Errors
    /// [`ReadError`] if there is no such table, or it lacks a column.
    pub fn jobs(&self) -> Result<Rows<JobRow>, ReadError> {
        let table = Table::open(&self.jobs)?;
        match self.kind {
            FolderKind::Batsim => Rows::of::<BatsimJob>(table),
            FolderKind::Run => Rows::of::<OurJob>(table),
        }
    }

    /// The segments; `None` if the run wrote none.
    ///
    /// # Errors
    /// [`ReadError`] if the table lacks a column.
    pub fn segments(&self) -> Result<Option<Rows<SegmentRow>>, ReadError> {
        self.table::<SegmentRow>("segments.csv")
    }

    /// Changes of machines' states; `None` if the run wrote none.
    ///
    /// # Errors
    /// [`ReadError`] if the table lacks a column.
    pub fn machines(&self) -> Result<Option<Rows<MachineRow>>, ReadError> {
        self.table::<MachineRow>("machines.csv")
    }

    /// Events; `None` if the run wrote none.
    ///
    /// # Errors
    /// [`ReadError`] if the table lacks a column.
    pub fn events(&self) -> Result<Option<Rows<EventRow>>, ReadError> {
        self.table::<EventRow>("events.csv")
    }

    /// Tasks of workflows; `None` if the run had no workflows.
    ///
    /// # Errors
    /// [`ReadError`] if the table lacks a column.
    pub fn tasks(&self) -> Result<Option<Rows<TaskRow>>, ReadError> {
        self.table::<TaskRow>("tasks.csv")
    }

    /// Workflows; `None` if the run had none.
    ///
    /// # Errors
    /// [`ReadError`] if the table lacks a column.
    pub fn workflows(&self) -> Result<Option<Rows<WorkflowRow>>, ReadError> {
        self.table::<WorkflowRow>("workflows.csv")
    }

    /// Copies of the files of workflows; `None` if the run had no workflows.
    ///
    /// # Errors
    /// [`ReadError`] if the table lacks a column.
    pub fn transfers(&self) -> Result<Option<Rows<TransferRow>>, ReadError> {
        self.table::<TransferRow>("transfers.csv")
    }

    /// Co-allocated jobs; `None` if the run had none.
    ///
    /// # Errors
    /// [`ReadError`] if the table lacks a column.
    pub fn coallocations(&self) -> Result<Option<Rows<CoallocationRow>>, ReadError> {
        self.table::<CoallocationRow>("coallocations.csv")
    }

    /// The fronts of plannings; `None` if the broker kept none. The columns of the objectives are the [others](Rows::others).
    ///
    /// # Errors
    /// [`ReadError`] if the table lacks a column.
    pub fn fronts(&self) -> Result<Option<Rows<FrontRow>>, ReadError> {
        self.table::<FrontRow>("fronts.csv")
    }

    /// Slices of classes of jobs; `None` if no policy of the run has any.
    ///
    /// # Errors
    /// [`ReadError`] if the table lacks a column.
    pub fn slices(&self) -> Result<Option<Rows<SliceRow>>, ReadError> {
        self.table::<SliceRow>("slices.csv")
    }

    /// Jobs in the plans of groups; `None` if no policy of the run forms any.
    ///
    /// # Errors
    /// [`ReadError`] if the table lacks a column.
    pub fn groups(&self) -> Result<Option<Rows<GroupRow>>, ReadError> {
        self.table::<GroupRow>("groups.csv")
    }

    /// A table that only gridemu writes, if a whole folder was given.
    fn table<R: Row<Out = R>>(&self, name: &str) -> Result<Option<Rows<R>>, ReadError> {
        let path = self.dir.join(name);
        let ours =
            self.kind != FolderKind::Batsim && (self.summary.is_some() || self.jobs.ends_with("jobs.csv"));
        (ours && path.is_file()).then(|| Table::open(&path).and_then(Rows::of::<R>)).transpose()
    }
}

/// True for the folder of a run of gridemu without a summary: it goes on, was stopped, or failed.
fn is_unfinished(dir: &Path) -> bool {
    let jobs = dir.join("jobs.csv");
    let begun = || dir.join("scenario.toml").is_file() || Table::has_column(&jobs, "job").unwrap_or(false);
    jobs.is_file() && !dir.join("summary.json").exists() && begun()
}

fn text(path: &Path) -> Result<String, ReadError> {
    fs::read_to_string(path).map_err(|error| ReadError::unreadable(path, &error))
}

/// The name of a folder or a file.
fn title_of(path: &Path) -> String {
    let whole = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    whole.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
