//! `gridemu inspect`

use clap::Args as ClapArgs;

use super::replay::ShapingArgs;
use super::{progress, say, say_json, talk};
use crate::experiment::{Progress, RunError};
use crate::model::JobClasses;
use crate::report;
use crate::scenario::Workload;
use crate::workload::{Census, Contents};

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// A log in SWF or CWF (plain or gzipped), a Batsim workload (.json), `-` for a log on standard input, or a generator:
    /// `lublin[jobs=N,...]`, `poisson[...]`, `cwf[...]`
    #[arg(value_name = "LOG|MODEL[...]")]
    workload: Workload,

    #[command(flatten)]
    shaping: ShapingArgs,

    /// Job classes: none, kettimuthu-16, kettimuthu-4, kanavallil, huang-1 or huang-2
    #[arg(long, value_name = "CLASSES", default_value = "kettimuthu-4")]
    classes: JobClasses,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), RunError> {
    let progress = Progress::default();
    let (contents, name, notes) = progress::shown("reading", &progress, || count(args, &progress))?;
    notes.iter().for_each(|note| talk(&format!("note: {note}")));
    if args.json {
        return say_json(&contents);
    }
    say(&report::contents_table(&name, &contents))
}

fn count(args: &Args, progress: &Progress) -> Result<(Contents, String, Vec<String>), RunError> {
    let mut opened = args.workload.open(&args.shaping.shaping(), progress)?;
    let start = opened.header.as_ref().and_then(|header| header.unix_start());
    let mut census = Census::new(opened.procs, args.classes.clone(), start);
    // An invalid log is an error that names the place; jobs before it are not printed, since they are not the whole file.
    while let Some(job) = opened.source.next_job().map_err(RunError::from_reading)? {
        census.add(&job);
    }
    let contents =
        census.contents().ok_or_else(|| RunError::request(format!("`{}` has no jobs", opened.name)))?;
    Ok((contents, opened.name, opened.source.notes()))
}
