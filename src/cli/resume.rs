//! `gridemu resume`

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::show::ShowArgs;
use super::{afterwards, progress, signals, talk};
use crate::experiment::{Commands, Control, Progress, ResumePoint, RunError, Stored};
use crate::grid::Policies;
use crate::units::grouped;

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

    /// Take commands while it runs, a line each: from a file, a named pipe, or `-` for standard input. Earlier commands
    /// are repeated automatically
    #[arg(long, value_name = "PATH")]
    commands: Option<PathBuf>,

    #[command(flatten)]
    shown: ShowArgs,
}

pub(super) fn run(args: &Args, policies: &Policies) -> Result<(), RunError> {
    let stored = Stored::open(&args.store, policies)?;
    if let Some(ended) = stored.ended()? {
        talk(&format!("the run of `{}` is finished; its result was", args.store.display()));
        args.shown.show(&ended.summary)?;
        let Some(folder) = stored.files() else { return Ok(()) };
        ended.check_files(folder)?;
        return afterwards::make(stored.afterwards(), folder, policies);
    }
    let commands = args.commands.as_deref().map(Commands::open).transpose()?;
    let (after, files) = (stored.afterwards().clone(), stored.files().map(Path::to_owned));
    let title = stored.store().about().title.clone();
    let progress = Progress::default();
    let control = Control::new();
    signals::stop_cleanly(&control, true);
    let ended = progress::shown_beside(commands.is_some(), &title, &progress, || {
        stored.resume(&progress, &control, commands, |from| announce(&title, &args.store, from))
    })?;
    args.shown.show(&ended)?;
    files.map_or(Ok(()), |files| afterwards::make(&after, &files, policies))
}

fn announce(title: &str, store: &Path, from: &ResumePoint) {
    for (number, why) in &from.skipped {
        talk(&format!("note: snapshot {number} of `{}` cannot be used: {why}", store.display()));
    }
    let ResumePoint { number, barrier, .. } = from;
    let fallen_back = if from.skipped.is_empty() { "" } else { " before it" };
    talk(&format!(
        "{title}: resumes from snapshot {number}{fallen_back}, at {} of the run, after {} jobs",
        barrier.at.told(),
        grouped(barrier.jobs)
    ));
    match from.commands_again {
        0 => {}
        1 => talk("note: the command after it will be repeated at its time"),
        count => talk(&format!("note: the {count} commands after it will be repeated at their times")),
    }
    if from.torn {
        talk("note: the last command in the journal is incomplete and was never used; it is ignored");
    }
}
