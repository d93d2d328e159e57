//! `gridemu run`

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::check::SetArgs;
use super::report::PageOfRun;
use super::show::ShowArgs;
use super::{progress, signals, talk, trace};
use crate::broker::outside::NAME;
use crate::experiment::{Afterwards, Anew, Commands, Control, Progress, Run, RunError, in_path};
use crate::grid::Policies;
use crate::model::{Named, RegistryError};
use crate::scenario::{Override, Scenario, quoted};

const EXAMPLES: &str = "\
Examples:
  gridemu run configs/quickstart.toml
  gridemu run configs/quickstart.toml --set broker.policy=random --seed 9 --out results
  gridemu run configs/quickstart.toml --pace 3600
  gridemu run configs/churn.toml --pace 3600 --commands -
  gridemu run configs/churn.toml --out results --checkpoint results/store";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The scenario file (see docs/scenarios.md)
    #[arg(value_name = "FILE")]
    scenario: PathBuf,

    #[command(flatten)]
    sets: SetArgs,

    /// Write files to this folder; overrides `output.folder`
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Store snapshots in this folder, for `gridemu resume`; their interval is set by
    /// `--checkpoint-every`, or by the scenario's `[checkpoint]`
    #[arg(long, value_name = "STORE")]
    checkpoint: Option<PathBuf>,

    /// Interval of snapshots, in wall-clock time [default: 30 s]
    #[arg(long, value_name = "TIME")]
    checkpoint_every: Option<String>,

    /// Take a snapshot at this time of the run, such as `3 d`, and keep it; may be repeated
    #[arg(long, value_name = "TIME")]
    checkpoint_keep_at: Vec<String>,

    /// Remove an earlier run's snapshots from the folder, instead of refusing to start
    #[arg(long)]
    checkpoint_anew: bool,

    /// Also make an HTML page with tables and figures (`gridemu report`) [default: report.html in the output folder, or here without one]
    #[arg(long, value_name = "FILE.html", num_args = 0..=1, require_equals = true)]
    report: Option<Option<PathBuf>>,

    #[command(flatten)]
    shown: ShowArgs,

    /// Pace the run by the wall clock, in virtual seconds per second: 60 is a minute per second
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pace: Option<String>,

    /// Take commands while it runs, a line each, such as `leave delft/i7/0-15`: from a file, a named pipe, or `-` for standard
    /// input (see docs/commands.md)
    #[arg(long, value_name = "PATH")]
    commands: Option<PathBuf>,

    /// What drives the entities; the results are the same
    #[arg(long, value_parser = ["actors", "direct"])]
    engine: Option<String>,

    /// The broker: a policy, or a program of your own in its place, with its arguments, such as "python3 mct.py"; it runs in the current
    /// folder (see docs/outside.md)
    #[arg(long, value_name = "POLICY|COMMAND")]
    broker: Option<String>,

    /// Write the conversation with the broker's program to this file, a line of JSON a message
    #[arg(long, value_name = "FILE")]
    broker_log: Option<PathBuf>,

    /// Number of threads for the actors
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = super::threads)]
    threads: u16,

    /// Seed of all random draws
    #[arg(long, value_name = "N")]
    seed: Option<String>,

    /// Also write trace.json, which Perfetto and chrome://tracing open, to the folder of the files
    #[arg(long)]
    trace: bool,
}

impl Args {
    /// Converts the options to the keys of the scenario that they stand for, so they become part of it.
    fn overrides(&self, policies: &Policies) -> Result<Vec<Override>, RunError> {
        let mut overrides = self.sets.overrides();
        if let Some(typed) = &self.broker {
            overrides.extend(broker(typed, policies)?);
        }
        let options = [
            ("--pace", "clock.pace", &self.pace),
            ("--engine", "engine", &self.engine),
            ("--seed", "seed", &self.seed),
            ("--checkpoint-every", "checkpoint.every", &self.checkpoint_every),
        ];
        for (option, key, value) in options {
            overrides.extend(value.as_ref().map(|value| Override::option(option, key, value)));
        }
        let folders =
            [("--out", "output.folder", &self.out), ("--checkpoint", "checkpoint.store", &self.checkpoint)];
        for (option, key, folder) in folders {
            overrides.extend(folder.as_ref().map(|folder| Override::path(option, key, folder)));
        }
        if !self.checkpoint_keep_at.is_empty() {
            let times: Vec<String> = self.checkpoint_keep_at.iter().map(|time| format!("{time:?}")).collect();
            let list = format!("[{}]", times.join(", "));
            let option = "--checkpoint-keep-at";
            let typed: Vec<String> =
                self.checkpoint_keep_at.iter().map(|time| format!("{option} {time}")).collect();
            overrides.push(Override::typed(&typed.join(" "), "checkpoint.keep_at", &list));
        }
        Ok(overrides)
    }
}

/// The keys that `--broker` stands for where it is a policy or a program.
pub(super) fn broker(typed: &str, policies: &Policies) -> Result<Vec<Override>, RunError> {
    let Ok(named) = typed.parse::<Named>() else { return program(typed) };
    match policies.broker.build(&named, 0) {
        Ok(_) => Ok(vec![
            Override::option("--broker", "broker.policy", typed),
            Override::option("--broker", "broker.command", "none"),
        ]),
        // One word that is no program either is a policy with a slip of the pen.
        Err(error @ RegistryError::Unknown { .. })
            if named.params.is_empty() && !typed.contains('/') && in_path(Path::new(typed)).is_none() =>
        {
            Err(RunError::request(format!(
                "`--broker {typed}`: {error}; and there is no program of this name in the folders of PATH"
            ))
            .with_hint("one in this folder is written `./name`"))
        }
        Err(RegistryError::Unknown { .. }) => program(typed),
        Err(error @ RegistryError::Param(_)) => {
            Err(RunError::request(format!("`--broker {typed}`: {error}"))
                .with_hint(format!("`gridemu policies {}` has its parameters", named.name)))
        }
    }
}

/// The keys that `--broker` stands for where it is a program.
pub(super) fn program(typed: &str) -> Result<Vec<Override>, RunError> {
    let words = shlex::split(typed).filter(|words| !words.is_empty()).ok_or_else(|| {
        RunError::request(format!("`--broker {typed}` is no command"))
            .with_hint("write it as for a shell, such as `--broker \"python3 mct.py\"`")
    })?;
    let option = format!("--broker {typed}");
    let list: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    Ok(vec![
        Override::typed(&option, "broker.command", &format!("[{}]", list.join(", "))),
        Override::typed(&option, "broker.policy", NAME),
        Override::path("--broker", "broker.folder", Path::new(".")),
    ])
}

/// What is made of the files of a run once it has ended, also if it is resumed then.
pub(super) fn after(
    trace: bool,
    page: Option<&PageOfRun>,
    with_snapshots: bool,
) -> Result<Afterwards, RunError> {
    if with_snapshots && page.is_some_and(|page| page.of_kept_files().is_none()) {
        return Err(RunError::request(
            "a page is made of the files of the run, and without a folder they are gone when it is stopped",
        )
        .with_hint("add `--out DIR`, or leave `--checkpoint` out"));
    }
    Ok(Afterwards { trace, page: page.and_then(PageOfRun::of_kept_files).cloned() })
}

pub(super) fn run(args: &Args, policies: &Policies) -> Result<(), RunError> {
    let mut scenario = Scenario::load(&args.scenario, &args.overrides(policies)?, policies)?;
    scenario.check_effects(args.report.is_some())?;
    let output = &scenario.resolved.output;
    let folder = output.folder.clone();
    if args.trace && folder.is_none() {
        return Err(
            RunError::request("`--trace` needs the folder of the run's files").with_hint("add `--out DIR`")
        );
    }
    if args.trace && !output.segments {
        return Err(RunError::request("a trace is made of segments.csv, and `output.segments` is false")
            .with_hint("leave `--trace` out, or set `output.segments=true`"));
    }
    let page = PageOfRun::requested(args.report.as_ref(), folder.as_deref())?;
    if let Some(scratch) = page.as_ref().and_then(PageOfRun::scratch) {
        scenario.resolved.output.folder = Some(scratch.to_owned());
    }
    if !args.shown.json {
        talk(&format!("{}: {}", args.scenario.display(), scenario.line()));
    }
    if args.checkpoint_anew && scenario.resolved.checkpoint.is_none() {
        return Err(RunError::request("`--checkpoint-anew` needs a store of snapshots")
            .with_hint("add `--checkpoint STORE`"));
    }
    if args.broker_log.is_some() && scenario.resolved.program.is_none() {
        return Err(RunError::request("`--broker-log` needs a broker that is a program")
            .with_hint("add `--broker COMMAND`"));
    }
    let with_snapshots = scenario.resolved.checkpoint.is_some();
    let after = after(args.trace, page.as_ref(), with_snapshots)?;
    let run = Run::new(scenario, usize::from(args.threads), policies)
        .logging(args.broker_log.clone())
        .followed_by(after);
    let commands = args.commands.as_deref().map(Commands::open).transpose()?;
    let (progress, control) = (Progress::default(), Control::new());
    signals::stop_cleanly(&control, with_snapshots);
    if let Some(scratch) = page.as_ref().and_then(PageOfRun::scratch) {
        signals::remove_at_end(scratch);
    }
    let anew = if args.checkpoint_anew { Anew::Remove } else { Anew::Refuse };
    let summary =
        progress::shown_beside(commands.is_some(), &run.scenario().resolved.name, &progress, || {
            run.run_with_snapshots(&progress, &control, anew, commands)
        });
    let summary = summary.map_err(|error| PageOfRun::without_scratch(page.as_ref(), error))?;
    // The result comes first: whatever fails after it loses nothing.
    args.shown.show(&summary)?;
    if let Some(folder) = folder.filter(|_| args.trace) {
        trace::write(&folder)?;
    }
    match (&page, &run.scenario().resolved.output.folder) {
        (Some(page), Some(folder)) => page.write(std::slice::from_ref(folder), policies),
        _ => Ok(()),
    }
}
