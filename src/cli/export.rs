//! `gridemu export`

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::{only_run, talk};
use crate::experiment::{RunError, export_workflow};
use crate::grid::Policies;
use crate::output::{files, hint_for};

const EXAMPLES: &str = "\
Examples:
  gridemu export results > montage.json
  gridemu export results --workflow 3 -o montage.json && gridemu inspect montage.json";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// A folder that `run --out` wrote
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// The workflow, by its number in workflows.csv, if the run had several
    #[arg(long, value_name = "N")]
    workflow: Option<u32>,

    /// Write to this file instead of standard output
    #[arg(short, long, visible_alias = "out", value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &Args, policies: &Policies) -> Result<(), RunError> {
    let folder = only_run(&args.dir)?;
    let mut text = Vec::new();
    let renamed = export_workflow(&folder, args.workflow, policies, &mut text)?;
    if renamed > 0 {
        talk(&format!(
            "note: signs that WfFormat does not have are written as `_`; so in names of tasks and files: {renamed}"
        ));
    }
    let Some(path) = &args.output else {
        let written = io::stdout().lock().write_all(&text);
        return written.map_err(|error| RunError::run(format!("cannot write to standard output: {error}")));
    };
    let written = files::create(path).and_then(|file| {
        let mut file = BufWriter::new(file);
        file.write_all(&text)?;
        file.flush()
    });
    written.map_err(|error| {
        RunError::run(format!("cannot write `{}`: {error}", path.display())).with_hint(hint_for(error.kind()))
    })
}
