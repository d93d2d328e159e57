//! `gridemu snapshots`

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::{say, say_json, talk};
use crate::experiment::{RunError, describe_snapshot, describe_store, prune};
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
    #[arg(long, value_name = "N", value_parser = above_0)]
    prune: Option<u32>,

    /// Remove the snapshot with this number, even if it is permanent; may be repeated
    #[arg(long, value_name = "N", conflicts_with = "inspect")]
    remove: Vec<u64>,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

fn above_0(written: &str) -> Result<u32, String> {
    let number = written.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "it must be a whole number from 1 on".to_owned())
}

pub(super) fn run(args: &Args, policies: &Policies) -> Result<(), RunError> {
    if args.prune.is_some() || !args.remove.is_empty() {
        let removed = prune(&args.store, args.prune.map(|last| last as usize), &args.remove)?;
        talk(&match removed.len() {
            0 => "nothing to remove".to_owned(),
            1 => format!("removed snapshot {}", removed[0]),
            count => format!("removed {count} snapshots"),
        });
    }
    if let Some(number) = args.inspect {
        let facts = describe_snapshot(&args.store, number, policies)?;
        return if args.json { say_json(&facts) } else { say(&report::snapshot_table(&facts)) };
    }
    let facts = describe_store(&args.store)?;
    if args.json { say_json(&facts) } else { say(&report::store_table(&facts)) }
}
