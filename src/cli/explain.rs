//! `gridemu explain`

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::{progress, say};
use crate::broker::BrokerRegistry;
use crate::experiment::{ExplainOptions, Progress, RunError, explain};
use crate::local::Registry;
use crate::model::Origin;
use crate::report::{RunFolder, explained_text};
use crate::units::Clock;

const EXAMPLES: &str = "\
Examples:
  gridemu explain results --job 1203
  gridemu explain results --job 1203 --at '3 h'
  gridemu explain results --job 872 --all
  gridemu explain results --job 17 --origin local --site delft --json";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// A folder that `run --out` or `replay --out` has left; of several policies, the folder of one
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// The job, by its number in jobs.csv
    #[arg(long, value_name = "J", value_parser = number, allow_hyphen_values = true)]
    job: u64,

    /// Whose job it is, where several have the number
    #[arg(long, value_enum)]
    origin: Option<OriginArg>,

    /// The site at which it ended, where several have the number
    #[arg(long, value_name = "S")]
    site: Option<String>,

    /// Only this instant of the run, such as `7200` (seconds), `2 h` or `2 d 12:04:20`: the state after what happens there
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    at: Option<Clock>,

    /// Tell every attempt and every stretch of a wait, however many there are
    #[arg(long, conflicts_with = "json")]
    all: bool,

    /// Print JSON, with every attempt and every stretch
    #[arg(long)]
    json: bool,
}

#[derive(Copy, Clone, Debug, ValueEnum)]
enum OriginArg {
    Local,
    Grid,
}

pub(super) fn run(args: &Args) -> Result<(), RunError> {
    let mut folders = RunFolder::all_in(&args.dir)?;
    if let [one, other, ..] = &folders[..] {
        let (one, other) = (one.dir().display(), other.dir().display());
        return Err(RunError::request(format!("`{}` holds several runs", args.dir.display()))
            .with_hint(format!("say which: `{one}`, `{other}`, ...")));
    }
    let Some(folder) = folders.pop() else { return Err(RunError::request("there is no run")) };
    let options = ExplainOptions {
        job: args.job,
        origin: args.origin.map(|origin| match origin {
            OriginArg::Local => Origin::Own,
            OriginArg::Grid => Origin::Sent,
        }),
        site: args.site.clone(),
        at: args.at.map(|Clock(at)| at),
    };
    let (registry, brokers, progress) =
        (Registry::standard(), BrokerRegistry::standard(), Progress::default());
    let told = progress::shown("running it again", &progress, || {
        explain(&folder, &options, &registry, &brokers, &progress)
    })?;
    if args.json {
        let text = serde_json::to_string_pretty(&told).map_err(RunError::run)?;
        return say(&text);
    }
    say(&explained_text(&told, args.all))
}

/// The number of a job.
fn number(written: &str) -> Result<u64, String> {
    let wrong = || {
        format!("`{written}` is no number of a job; jobs.csv has them in its column `job`, such as `1203`")
    };
    written.trim().parse().map_err(|_| wrong())
}
