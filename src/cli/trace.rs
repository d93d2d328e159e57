//! `gridemu trace`, and `--trace`: a run as a trace for Perfetto.

use std::fs;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::{runs_in, talk};
use crate::experiment::RunError;
use crate::output::{RunFolder, TRACE, TraceError, files, hint_for, write_trace};

const EXAMPLES: &str = "\
Examples:
  gridemu run configs/quickstart.toml --out results && gridemu trace results";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Folders of runs with segments.csv, or folders that hold several; each run gets a trace.json
    #[arg(value_name = "DIR", required = true)]
    paths: Vec<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<(), RunError> {
    let mut folders = Vec::new();
    for path in &args.paths {
        folders.extend(runs_in(path)?.iter().map(|run| run.dir().to_owned()));
    }
    folders.iter().try_for_each(|folder| write(folder))
}

/// Writes the trace of the finished run in `folder` to that folder.
pub(super) fn write(folder: &Path) -> Result<(), RunError> {
    let read = RunFolder::open(folder).map_err(RunError::run)?;
    let (part, path) = (folder.join(format!("{TRACE}.part")), folder.join(TRACE));
    let written = files::create(&part).map_err(TraceError::from);
    let written = written.and_then(|file| write_trace(&read, BufWriter::new(file)));
    let written =
        written.and_then(|facts| fs::rename(&part, &path).map(|()| facts).map_err(TraceError::from));
    let facts = written.map_err(|error| {
        // No viewer opens an incomplete trace.
        let _ = fs::remove_file(&part);
        let hint = match &error {
            TraceError::Write(source) => Some(hint_for(source.kind())),
            _ => None,
        };
        RunError::run(format!("cannot write `{}`: {error}", path.display())).with_maybe_hint(hint)
    })?;
    let arrows = match facts.reruns {
        0 => String::new(),
        reruns => format!(" and {reruns} arrows to restarts"),
    };
    talk(&format!(
        "`{}`: {} slices{arrows}; open it in https://ui.perfetto.dev or chrome://tracing",
        path.display(),
        facts.slices
    ));
    Ok(())
}
