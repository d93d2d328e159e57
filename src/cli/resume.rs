//! `gridemu resume`

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::{progress, say, signals, talk};
use crate::broker::BrokerRegistry;
use crate::experiment::{Commands, Control, Ended, Progress, ResumePoint, RunError, Stored};
use crate::local::Registry;
use crate::report::{self, grid_json, grid_tables};

const EXAMPLES: &str = "\
Examples:
  gridemu run configs/churn.toml --out results --checkpoint results/store
  gridemu resume results/store";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The folder of the snapshots (`--checkpoint` of the run)
    #[arg(value_name = "STORE")]
    store: PathBuf,

    /// Take commands while it runs, a line each: from a file, a named pipe, or `-` for standard input. What it was told
    /// before is done again by itself
    #[arg(long, value_name = "PATH")]
    commands: Option<PathBuf>,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), RunError> {
    let stored = Stored::open(&args.store, Registry::standard(), BrokerRegistry::standard())?;
    if let Some(ended) = stored.ended()? {
        talk(&format!("the run of `{}` is over; this is what it ended in", args.store.display()));
        return show(&ended, args.json);
    }
    let commands = args.commands.as_deref().map(Commands::open).transpose()?;
    let title = stored.store().about().title.clone();
    let progress = Progress::default();
    let control = Control::new();
    signals::stop_cleanly(&control);
    let ended = progress::shown_beside(commands.is_some(), &title, &progress, || {
        stored.resume(&progress, &control, commands, |from| tell(&title, &args.store, from))
    })?;
    show(&ended, args.json)
}

fn tell(title: &str, store: &Path, from: &ResumePoint) {
    for (number, why) in &from.skipped {
        talk(&format!("note: snapshot {number} of `{}` cannot be used: {why}", store.display()));
    }
    let ResumePoint { number, cut, .. } = from;
    let fallen_back = if from.skipped.is_empty() { "" } else { " before it" };
    talk(&format!(
        "{title}: goes on from snapshot {number}{fallen_back}, at {} s of the run, after {} jobs",
        cut.at, cut.jobs
    ));
    match from.commands_again {
        0 => {}
        1 => talk("note: the command that came after it is carried out again, at its time"),
        count => talk(&format!(
            "note: the {count} commands that came after it are carried out again, at their times"
        )),
    }
    if from.torn {
        talk("note: a last command was not written down to its end, so nobody has used it: it is left out");
    }
}

pub(super) fn show(ended: &Ended, json: bool) -> Result<(), RunError> {
    match (ended, json) {
        (Ended::Run(summary), true) => {
            let text = grid_json(summary)
                .map_err(|error| RunError::run(format!("cannot write the summary: {error}")))?;
            say(&text)
        }
        (Ended::Run(summary), false) => say(&grid_tables(summary)),
        (Ended::Replay(summary), true) => {
            say(&report::json(std::slice::from_ref(summary)).map_err(RunError::run)?)
        }
        (Ended::Replay(summary), false) => say(&report::summary_table(summary)),
    }
}
