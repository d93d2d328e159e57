//! `gridemu inspect`

use std::path::Path;

use clap::Args as ClapArgs;
use serde::Serialize;

use super::replay::ShapingArgs;
use super::{progress, say, say_json, talk};
use crate::experiment::{Progress, RunError, is_workflow, open_workflows};
use crate::model::JobClasses;
use crate::report;
use crate::scenario::{Shaping, Workload};
use crate::units::Bandwidth;
use crate::workflow::WorkflowContents;
use crate::workload::{Census, Contents};

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// A log in SWF or CWF (plain or gzipped), a Batsim workload (.json), `-` for a log on standard input, or a generator:
    /// `lublin[jobs=N,...]`, `poisson[...]`, `cwf[...]`. Or workflows: a file in WfFormat (.json), DAX (.xml) or GWF (.gwf), plain or
    /// gzipped, or a generator: `montage[tasks=N]`, `epigenomics[...]`, `fork-join[...]`, `pipeline[...]`, `layered[...]`
    #[arg(value_name = "FILE|MODEL[...]")]
    workload: Workload,

    #[command(flatten)]
    shaping: ShapingArgs,

    /// Job classes: none, kettimuthu-16, kettimuthu-4, kanavallil, huang-1 or huang-2
    #[arg(long, value_name = "CLASSES", default_value = "kettimuthu-4")]
    classes: JobClasses,

    /// The bandwidth at which a workflow's data moves between tasks, such as `100 Mbit/s`
    #[arg(long, value_name = "RATE", default_value = "1 Gbit/s")]
    bandwidth: Bandwidth,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), RunError> {
    if let Workload::File(path) = &args.workload
        && is_workflow(path)
    {
        return workflows(args, path);
    }
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

/// A workflow of a file of several.
#[derive(Serialize)]
struct Submitted<'a> {
    submit_s: f64,
    #[serde(flatten)]
    contents: &'a WorkflowContents,
}

fn workflows(args: &Args, path: &Path) -> Result<(), RunError> {
    let shaping = args.shaping.shaping();
    let seed = shaping.seed;
    if (Shaping { seed: Shaping::default().seed, ..shaping }) != Shaping::default() {
        let problem =
            "`--procs`, `--estimates`, `--clean`, `--cap`, `--load` and `--first` change jobs, not workflows";
        return Err(RunError::request(problem).with_hint("leave them out"));
    }
    if args.bandwidth == Bandwidth::ZERO {
        return Err(
            RunError::request("at a `--bandwidth` of 0 no data arrives").with_hint("give one above 0")
        );
    }
    let opened = open_workflows(path, seed)?;
    opened.notes.iter().for_each(|note| talk(&format!("note: {note}")));
    let all: Vec<(f64, WorkflowContents)> = opened
        .workflows
        .iter()
        .map(|(submit, workflow)| (submit.as_secs_f64(), WorkflowContents::of(workflow, args.bandwidth)))
        .collect();
    match &all[..] {
        [(_, contents)] if args.json => say_json(contents),
        [(_, contents)] => say(&report::workflow_table(&opened.name, contents)),
        all if args.json => {
            let rows = all.iter().map(|(submit_s, contents)| Submitted { submit_s: *submit_s, contents });
            say_json(&rows.collect::<Vec<_>>())
        }
        all => say(&report::workflows_table(&opened.name, all)),
    }
}
