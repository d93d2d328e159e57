//! `gridemu fork`

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::check::SetArgs;
use super::{progress, run, say, say_json, signals};
use crate::experiment::{ForkOptions, Progress, RunError, Stored, fork, scratch};
use crate::grid::Policies;
use crate::model::Named;
use crate::report::futures_table;
use crate::units::{Span, Time};

const EXAMPLES: &str = "\
Examples:
  gridemu run configs/quickstart.toml --out results --checkpoint store
  gridemu fork store --at '3 d' --set broker.policy=random
  gridemu fork store --at '3 d' --set site.delft.policy=fcfs --out futures
  gridemu fork store --at '3 d' --broker \"python3 mct.py\"";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The folder of the snapshots (`--checkpoint` of the run)
    #[arg(value_name = "STORE")]
    store: PathBuf,

    /// Fork at this time of the run, such as `3 d`; the run is run on to it from the last snapshot before
    #[arg(long, value_name = "TIME")]
    at: Span,

    #[command(flatten)]
    sets: SetArgs,

    /// Another local policy, for a run of one site
    #[arg(long, value_name = "POLICY")]
    policy: Option<Named>,

    /// Another broker: a policy, or a program with its arguments, as for `gridemu run --broker`
    #[arg(long, value_name = "POLICY|COMMAND")]
    broker: Option<String>,

    /// Write the files of both futures to this folder: `as-it-was` and `changed`
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Print both summaries as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Args, policies: &Policies) -> Result<(), RunError> {
    let stored = Stored::open(&args.store, policies)?;
    let mut sets = args.sets.overrides();
    if let Some(broker) = &args.broker {
        sets.extend(run::broker(broker, policies)?);
    }
    let folder = scratch("fork")?;
    signals::remove_at_end(folder.path());
    let options = ForkOptions {
        at: Time::ZERO + args.at,
        sets,
        policy: args.policy,
        out: args.out,
        scratch: Some(folder.path().to_owned()),
    };
    let progress = Progress::default();
    let futures = progress::shown("both futures", &progress, || fork(&stored, &options, &progress))?;
    if args.json {
        return say_json(&serde_json::json!({ "grid": futures }));
    }
    say(&futures_table(&futures))
}
