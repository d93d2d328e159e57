//! `gridemu snapshots`

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::{say, talk};
use crate::experiment::{RunError, SnapshotFacts, StoreFacts, look_into, look_up, prune};
use crate::grid::Policies;
use crate::report;

const EXAMPLES: &str = "\
Examples:
  gridemu snapshots results/store
  gridemu snapshots results/store --inspect 12
  gridemu snapshots results/store --prune 1";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The folder of the snapshots (`--checkpoint` of the run)
    #[arg(value_name = "STORE")]
    store: PathBuf,

    /// Inspect the snapshot with this number
    #[arg(long, value_name = "N", conflicts_with = "prune")]
    inspect: Option<u64>,

    /// Remove all snapshots but the newest N and the permanent ones
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    prune: Option<u32>,

    /// Remove the snapshot with this number, even if it is permanent; may be repeated
    #[arg(long, value_name = "N", conflicts_with = "inspect")]
    remove: Vec<u64>,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, policies: &Policies) -> Result<(), RunError> {
    if args.prune.is_some() || !args.remove.is_empty() {
        let gone = prune(&args.store, args.prune.map(|last| last as usize), &args.remove)?;
        talk(&match gone.len() {
            0 => "nothing to remove".to_owned(),
            1 => format!("removed snapshot {}", gone[0]),
            count => format!("removed {count} snapshots"),
        });
    }
    if let Some(number) = args.inspect {
        let facts: SnapshotFacts = look_into(&args.store, number, policies)?;
        return say(&if args.json { json(&facts)? } else { report::snapshot_table(&facts) });
    }
    let facts: StoreFacts = look_up(&args.store)?;
    say(&if args.json { json(&facts)? } else { report::store_table(&facts) })
}

fn json(facts: &impl serde::Serialize) -> Result<String, RunError> {
    serde_json::to_string_pretty(facts).map_err(RunError::run)
}
