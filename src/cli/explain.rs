//! `gridemu explain`

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::{only_run, progress, say, say_json};
use crate::experiment::{ExplainOptions, Progress, RunError, explain, job_of_task};
use crate::grid::Policies;
use crate::model::Origin;
use crate::report::explained_text;
use crate::units::Clock;

const EXAMPLES: &str = "\
Examples:
  gridemu explain results --job 1203
  gridemu explain results --job 1203 --at '3 h'
  gridemu explain results --job 872 --all
  gridemu explain results --job 17 --origin local --site delft --json
  gridemu explain results --task mAdd_00000059 --workflow 0";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// A folder that `run --out` or `replay --out` wrote; with several policies, the folder of one
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// The job, by its number in jobs.csv
    #[arg(long, value_name = "J", value_parser = number, allow_hyphen_values = true, required_unless_present = "task")]
    job: Option<u64>,

    /// A task of a workflow, by its name in tasks.csv, instead of a job
    #[arg(long, value_name = "NAME", conflicts_with_all = ["job", "origin", "site"])]
    task: Option<String>,

    /// The workflow of the task, by its number in workflows.csv, if several have one of this name
    #[arg(long, value_name = "N", requires = "task")]
    workflow: Option<u32>,

    /// Origin of the job, if several have the number
    #[arg(long, value_enum)]
    origin: Option<OriginArg>,

    /// The site at which it ended, if several have the number
    #[arg(long, value_name = "S")]
    site: Option<String>,

    /// Only this instant of the run, such as `7200` (seconds), `2 h` or `2 d 12:04:20`: the state after what happens there
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    at: Option<Clock>,

    /// Show every attempt and every period of a wait
    #[arg(long, conflicts_with = "json")]
    all: bool,

    /// Print JSON, with every attempt and every period
    #[arg(long)]
    json: bool,
}

#[derive(Copy, Clone, Debug, ValueEnum)]
enum OriginArg {
    Local,
    Grid,
}

pub(super) fn run(args: &Args, policies: &Policies) -> Result<(), RunError> {
    let folder = only_run(&args.dir)?;
    let origin = args.origin.map(|origin| match origin {
        OriginArg::Local => Origin::Local,
        OriginArg::Grid => Origin::Grid,
    });
    let (job, origin) = match &args.task {
        Some(task) => (job_of_task(&folder, task, args.workflow)?, Some(Origin::Grid)),
        None => (args.job.unwrap_or_default(), origin),
    };
    let (task, site, at) = (args.task.clone(), args.site.clone(), args.at.map(|Clock(at)| at));
    let options = ExplainOptions { job, task, origin, site, at };
    let progress = Progress::default();
    let told =
        progress::shown("repeating the run", &progress, || explain(&folder, &options, policies, &progress))?;
    if args.json {
        return say_json(&told);
    }
    say(&explained_text(&told, args.all))
}

/// Parses the number of a job.
fn number(written: &str) -> Result<u64, String> {
    let wrong = || format!("`{written}` is not a job number; see the column `job` of jobs.csv");
    written.trim().parse().map_err(|_| wrong())
}
