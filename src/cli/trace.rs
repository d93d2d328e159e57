//! `--trace`: a run as a trace for Perfetto.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use super::talk;
use crate::experiment::RunError;
use crate::output::{RunFolder, TraceError, hint_for, write_trace};

/// File name of a trace in the folder of its run.
const NAME: &str = "trace.json";

/// Writes the trace of the finished run in `folder` to that folder.
pub(super) fn write(folder: &Path) -> Result<(), RunError> {
    let read = RunFolder::open(folder).map_err(RunError::run)?;
    let (part, path) = (folder.join(format!("{NAME}.part")), folder.join(NAME));
    let written = File::create(&part).map_err(TraceError::from);
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
