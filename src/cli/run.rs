//! `gridemu run`

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::check::SetArgs;
use super::report::Asked;
use super::{progress, say, signals, talk, trace};
use crate::broker::BrokerRegistry;
use crate::experiment::scenario::{Override, Scenario};
use crate::experiment::{Anew, Commands, Control, Progress, Run, RunError};
use crate::local::Registry;
use crate::report::{grid_json, grid_tables};

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
    /// The scenario file (docs/scenarios.md says what is in one)
    #[arg(value_name = "FILE")]
    scenario: PathBuf,

    #[command(flatten)]
    sets: SetArgs,

    /// Write files to this folder, whatever the scenario's `output.folder` says
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Take snapshots into this folder, from which an interrupted run goes on (`gridemu resume`); how often is said by
    /// `--checkpoint-every`, or by the scenario's `[checkpoint]`
    #[arg(long, value_name = "STORE")]
    checkpoint: Option<PathBuf>,

    /// How often, by the wall clock [default: 30 s]
    #[arg(long, value_name = "TIME")]
    checkpoint_every: Option<String>,

    /// Take a snapshot at this time of the run, such as `3 d`, and keep it; may be repeated
    #[arg(long, value_name = "TIME")]
    checkpoint_keep_at: Vec<String>,

    /// Remove an earlier run's snapshots from the folder, instead of refusing to begin
    #[arg(long)]
    checkpoint_anew: bool,

    /// Also make a page of tables and pictures (`gridemu report`) [default: report.html in the output folder, or here without one]
    #[arg(long, value_name = "FILE.html", num_args = 0..=1, require_equals = true)]
    report: Option<Option<PathBuf>>,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,

    /// Follow the wall clock, so many seconds a second: 60 is a minute a second
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pace: Option<String>,

    /// Take commands while it runs, a line each, such as `leave delft/i7/0-15`: from a file, a named pipe, or `-` for standard
    /// input (docs/grid.md says what can be said)
    #[arg(long, value_name = "PATH")]
    commands: Option<PathBuf>,

    /// What drives the entities; the results are the same
    #[arg(long, value_enum)]
    engine: Option<EngineArg>,

    /// Threads that the actors are spread over
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,

    /// Seed of all that is drawn
    #[arg(long, value_name = "N")]
    seed: Option<String>,

    /// Also write trace.json, which Perfetto and chrome://tracing open, to the folder of the files
    #[arg(long)]
    trace: bool,
}

#[derive(Copy, Clone, Debug, ValueEnum)]
enum EngineArg {
    Actors,
    Direct,
}

impl Args {
    /// Options are keys in short: what they say is part of the scenario.
    fn overrides(&self) -> Vec<Override> {
        let mut overrides = self.sets.overrides();
        let engine = self.engine.map(|engine| match engine {
            EngineArg::Actors => "actors".to_owned(),
            EngineArg::Direct => "direct".to_owned(),
        });
        let out = self.out.as_ref().map(|out| out.display().to_string());
        let store = self.checkpoint.as_ref().map(|store| store.display().to_string());
        let options = [
            ("--pace", "clock.pace", &self.pace),
            ("--engine", "engine", &engine),
            ("--seed", "seed", &self.seed),
            ("--out", "output.folder", &out),
            ("--checkpoint", "checkpoint.store", &store),
            ("--checkpoint-every", "checkpoint.every", &self.checkpoint_every),
        ];
        for (option, key, value) in options {
            overrides.extend(value.as_ref().map(|value| Override::option(option, key, value)));
        }
        if !self.checkpoint_keep_at.is_empty() {
            let times: Vec<String> = self.checkpoint_keep_at.iter().map(|time| format!("{time:?}")).collect();
            let list = format!("[{}]", times.join(", "));
            overrides.push(Override::option("--checkpoint-keep-at", "checkpoint.keep_at", &list));
        }
        overrides
    }
}

pub(super) fn run(args: &Args) -> Result<(), RunError> {
    let (registry, brokers) = (Registry::standard(), BrokerRegistry::standard());
    let mut scenario = Scenario::load(&args.scenario, &args.overrides(), &registry, &brokers)?;
    let folder = scenario.meaning.output.folder.clone();
    if args.trace && folder.is_none() {
        return Err(RunError::request(
            "`--trace` writes to the folder of the run's files, and there is none",
        )
        .with_hint("say where they go: `--out DIR`"));
    }
    let asked = args
        .report
        .as_ref()
        .map(|page| Asked::of(page.as_deref(), scenario.meaning.output.folder.as_deref()));
    let asked = asked.transpose()?;
    if let Some(scratch) = asked.as_ref().and_then(Asked::scratch) {
        scenario.meaning.output.folder = Some(scratch.to_owned());
    }
    if !args.json {
        talk(&format!("{}: {}", args.scenario.display(), scenario.line()));
    }
    let of_a_store = [
        ("--checkpoint-every", args.checkpoint_every.is_some()),
        ("--checkpoint-keep-at", !args.checkpoint_keep_at.is_empty()),
        ("--checkpoint-anew", args.checkpoint_anew),
    ];
    if let (None, Some((option, _))) =
        (&scenario.meaning.checkpoint, of_a_store.iter().find(|(_, given)| *given))
    {
        return Err(RunError::request(format!("`{option}` is about snapshots, and there is no store"))
            .with_hint("say where they go: `--checkpoint STORE`"));
    }
    let run = Run::new(scenario, usize::from(args.threads), registry, brokers);
    let commands = args.commands.as_deref().map(Commands::open).transpose()?;
    let (progress, control) = (Progress::default(), Control::new());
    if run.scenario().meaning.checkpoint.is_some() {
        signals::stop_cleanly(&control);
    }
    let anew = if args.checkpoint_anew { Anew::Remove } else { Anew::Refuse };
    let summary =
        progress::shown_beside(commands.is_some(), &run.scenario().meaning.name, &progress, || {
            run.run_with_snapshots(&progress, &control, anew, commands)
        })?;
    if let (Some(asked), Some(folder)) = (&asked, &run.scenario().meaning.output.folder) {
        asked.write(std::slice::from_ref(folder))?;
    }
    if args.json {
        let text = grid_json(&summary)
            .map_err(|error| RunError::run(format!("cannot write the summary: {error}")))?;
        say(&text)?;
    } else {
        say(&grid_tables(&summary))?;
    }
    folder.filter(|_| args.trace).map_or(Ok(()), |folder| trace::write(&folder))
}
