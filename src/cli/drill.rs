//! `gridemu drill`

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::{progress, run, say, say_json, signals};
use crate::experiment::{Progress, RunError, scratch};
use crate::grid::Policies;
use crate::report::{drill_list, drill_markdown, drill_table};
use crate::scenario::Override;
use crate::study::{Contender, DrillFile, drill};

const EXAMPLES: &str = "\
Examples:
  gridemu drill
  gridemu drill --broker \"python3 mine.py\" --out drilled
  gridemu drill lost-site my-drill.toml --broker mct --broker pull --broker \"python3 mine.py\"

Exit code 0: all held. 1: something failed. 2: nothing was run, because of an error in the request.";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Drills: built-in ones by name, or files of your own (see docs/drills.md) [default: all that are built in]
    #[arg(value_name = "NAME|FILE")]
    drills: Vec<String>,

    /// The broker: a policy, or a program with its arguments, as for `gridemu run --broker`; may be repeated [default: that of each drill]
    #[arg(long, value_name = "POLICY|COMMAND")]
    broker: Vec<String>,

    /// List the drills and what they are about, and run nothing
    #[arg(long)]
    list: bool,

    /// Keep the files of the runs in this folder, for `gridemu explain` and `gridemu report`
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Seed of all random draws, instead of that of each drill
    #[arg(long, value_name = "N")]
    seed: Option<String>,

    /// Parallel runs [default: number of cores]
    #[arg(long, value_name = "N", value_parser = super::threads)]
    threads: Option<u16>,

    /// Print a table for a page, in Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, policies: &Policies) -> Result<(), RunError> {
    let drills = match &args.drills[..] {
        [] => DrillFile::built_in(),
        names => names.iter().map(|name| DrillFile::find(name)).collect::<Result<_, _>>()?,
    };
    if args.list {
        return list(&drills, args.json, policies);
    }
    let contenders = contenders(args, policies)?;
    let unkept;
    let folder = match &args.out {
        Some(out) => out,
        None => {
            unkept = scratch("drill")?;
            signals::remove_at_end(unkept.path());
            unkept.path()
        }
    };
    let progress = Progress::default();
    let threads = args.threads.map(usize::from);
    let ran = progress::shown("drills", &progress, || {
        drill(&drills, &contenders, folder, threads, policies, &progress)
    });
    let ran = ran?;
    match (args.json, args.markdown) {
        (true, _) => say_json(&ran)?,
        (false, true) => say(&drill_markdown(&ran))?,
        (false, false) => say(&drill_table(&ran))?,
    }
    let failed = ran.iter().filter(|ran| !ran.held()).count();
    if failed == 0 {
        return Ok(());
    }
    let error = RunError::run(format!("{failed} of {} drills failed", ran.len()));
    Err(match &args.out {
        Some(_) => error.with_hint(
            "`gridemu explain DIR --job N` says why a job waited, `gridemu report DIR` shows a run",
        ),
        None => error.with_hint("`--out DIR` keeps the files of the runs"),
    })
}

fn list(drills: &[DrillFile], json: bool, policies: &Policies) -> Result<(), RunError> {
    let listed = drills.iter().map(|drill| Ok((drill.name.clone(), drill.about(policies)?)));
    let listed: Vec<(String, String)> = listed.collect::<Result<_, RunError>>()?;
    match json {
        true => {
            let objects =
                listed.iter().map(|(name, about)| serde_json::json!({ "drill": name, "about": about }));
            say_json(&objects.collect::<Vec<_>>())
        }
        false => say(&drill_list(&listed)),
    }
}

/// The brokers that were asked for, with the keys that put them into a scenario.
fn contenders(args: &Args, policies: &Policies) -> Result<Vec<Contender>, RunError> {
    let seed = args.seed.iter().map(|seed| Override::option("--seed", "seed", seed));
    let seed: Vec<Override> = seed.collect();
    let mut contenders = Vec::new();
    for written in &args.broker {
        let mut sets = run::broker(written, policies)?;
        sets.extend(seed.iter().cloned());
        contenders.push(Contender { name: written.clone(), sets });
    }
    if contenders.is_empty() {
        contenders.push(Contender { name: "the drill's broker".to_owned(), sets: seed });
    }
    Ok(contenders)
}
