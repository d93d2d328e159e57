//! `gridemu validate`

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::{runs_in, say, say_json, talk};
use crate::experiment::{GridFrom, RunError, validate};
use crate::grid::Policies;
use crate::report::{validation_complaint, validation_json, validation_table};

const EXAMPLES: &str = "\
Examples:
  gridemu validate results
  gridemu validate out_jobs.csv --procs 32
  gridemu validate results --scenario configs/quickstart.toml --json";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// A folder that `run --out` or `replay --out` wrote, one with Batsim's out_jobs.csv, or such a table itself
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// Check against the grid of this scenario, instead of the one in the folder
    #[arg(long, value_name = "FILE", conflicts_with = "procs")]
    scenario: Option<PathBuf>,

    /// Check against one machine with this number of processors
    #[arg(long, value_name = "N")]
    procs: Option<u32>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, policies: &Policies) -> Result<(), RunError> {
    let from = match (&args.scenario, args.procs) {
        (Some(file), _) => GridFrom::Scenario(file.clone()),
        (None, Some(procs)) => GridFrom::Procs(procs),
        (None, None) => GridFrom::Folder,
    };
    let mut complaints = Vec::new();
    let mut found = Vec::new();
    for folder in runs_in(&args.dir)? {
        let validation = validate(&folder, &from, policies)?;
        complaints.extend(
            validation_complaint(&validation)
                .map(|message| format!("`{}`: {message}", folder.dir().display())),
        );
        found.push(validation);
    }
    if args.json {
        let all: Vec<_> = found.iter().map(validation_json).collect();
        match &all[..] {
            [one] => say_json(one)?,
            all => say_json(&all)?,
        }
    } else {
        let all: Vec<_> = found.iter().map(validation_table).collect();
        say(&all.join("\n"))?;
    }
    match complaints.pop() {
        None => Ok(()),
        Some(last) => {
            complaints.iter().for_each(|message| talk(&format!("error: {message}")));
            Err(RunError::run(last))
        }
    }
}
