//! The command line: arguments, progress, exit codes.
//!
//! Results go to standard output, messages to standard error. Exit code 0 means success, 2 a request that cannot be carried out
//! (nothing was done), 1 a run that failed, 130 one that was stopped by Ctrl-C or SIGTERM.

mod afterwards;
mod broker_check;
mod campaign;
mod check;
mod compare;
mod drill;
mod explain;
mod export;
mod figures;
mod fork;
mod generate;
mod inspect;
mod policies;
mod progress;
mod replay;
mod report;
mod reproduce;
mod resume;
mod run;
mod show;
mod signals;
mod sites;
mod snapshots;
mod trace;
mod validate;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use serde::Serialize;

use crate::experiment::RunError;
use crate::grid::Policies;
use crate::output::{ReadError, RunFolder, hint_for};
use crate::units::{lines, visible};

/// A grid broker emulator: sites with local schedulers, and a broker above them, in exact virtual time.
#[derive(Debug, Parser)]
#[command(name = "gridemu", version, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a scenario: sites under a broker, with churn
    Run(run::Args),
    /// Replay a workload on one site under one or several local policies
    Replay(Box<replay::Args>),
    /// Resume a run from its snapshots
    Resume(resume::Args),
    /// Run another future of a run from a snapshot, and compare the two
    Fork(Box<fork::Args>),
    /// Compare runs job by job, or the variants of a campaign seed by seed
    Compare(compare::Args),
    /// Run a paper's experiments, and compare the published results with the measured ones
    Reproduce(reproduce::Args),
    /// List, inspect or remove the snapshots of a run
    Snapshots(snapshots::Args),
    /// Run many variations of a scenario on all cores, into one table
    Campaign(Box<campaign::Args>),
    /// Check that the output of a run is a valid schedule on its grid
    Validate(validate::Args),
    /// Explain why a job of a run did not start earlier: the rule, and the jobs in its way
    Explain(explain::Args),
    /// Generate a workload from a model, as SWF or CWF, or a workflow, as WfFormat
    Generate(generate::Args),
    /// Print what is in a workload (jobs, load, users, sizes, run times, arrivals) or in workflows (tasks by type, levels, critical path, data)
    Inspect(inspect::Args),
    /// Write a workflow of a run as WfFormat, with what was executed where and when
    Export(export::Args),
    /// Make an HTML page with tables and figures of runs or of a campaign
    Report(report::Args),
    /// Make a trace of a run, which Perfetto and chrome://tracing open
    Trace(trace::Args),
    /// List the policies, or describe one
    Policies(policies::Args),
    /// List the built-in sites, or print the file of one
    Sites(sites::Args),
    /// Check a scenario file, or print it with every default written out
    Check(check::Args),
    /// Try a broker program of your own: whether it keeps the protocol of docs/outside.md
    BrokerCheck(broker_check::Args),
    /// Drill a broker: whether it survives what real brokers have died of
    Drill(drill::Args),
    /// Print the JSON schema of scenario files, for editors
    Schema,
}

/// Runs the command line of this process; all commands accept these policies.
///
/// A program with policies of its own is a crate that depends on this library and calls this function:
///
/// ```no_run
/// use gridemu::grid::Policies;
/// use gridemu::local::policies::{BackfillOrder, Easy};
/// use gridemu::local::{Abilities, PolicyInfo};
///
/// fn main() -> std::process::ExitCode {
///     let mine = PolicyInfo::new("mine", |_| Ok((Box::new(Easy::new(BackfillOrder::Saf)), Abilities::PLAIN)));
///     gridemu::cli::main_with(Policies::standard().with_local(mine))
/// }
/// ```
pub fn main_with(policies: Policies) -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Run(args) => run::run(&args, &policies),
        Command::Replay(args) => replay::run(*args, &policies),
        Command::Resume(args) => resume::run(&args, &policies),
        Command::Fork(args) => fork::run(*args, &policies),
        Command::Compare(args) => compare::run(args, &policies),
        Command::Reproduce(args) => reproduce::run(&args, &policies),
        Command::Snapshots(args) => snapshots::run(&args, &policies),
        Command::Campaign(args) => campaign::run(&args, &policies),
        Command::Validate(args) => validate::run(&args, &policies),
        Command::Explain(args) => explain::run(&args, &policies),
        Command::Generate(args) => generate::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Export(args) => export::run(&args, &policies),
        Command::Report(args) => report::run(&args, &policies),
        Command::Trace(args) => trace::run(&args),
        Command::Policies(args) => policies::run(&args, &policies),
        Command::Sites(args) => sites::run(&args, &policies),
        Command::Check(args) => check::run(&args, &policies),
        Command::BrokerCheck(args) => broker_check::run(&args, &policies),
        Command::Drill(args) => drill::run(&args, &policies),
        Command::Schema => check::schema(&policies),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

fn complain(error: &RunError) {
    let mut talk = io::stderr().lock();
    // A closed standard error leaves no way to report anything.
    let _ = writeln!(talk, "error: {}", lines(&error.to_string()));
    if let Some(hint) = error.hint() {
        let _ = writeln!(talk, "hint: {}", lines(hint));
    }
}

/// Writes results to standard output. A reader that closes the pipe early (`| head`) is not an error.
fn say(text: &str) -> Result<(), RunError> {
    let (mut out, text) = (io::stdout().lock(), visible(text));
    let written = out
        .write_all(text.as_bytes())
        .and_then(|()| if text.ends_with('\n') { Ok(()) } else { out.write_all(b"\n") });
    unless_closed(written.and_then(|()| out.flush()))
}

/// Writes a value as JSON to standard output.
fn say_json(value: &impl Serialize) -> Result<(), RunError> {
    say(&serde_json::to_string_pretty(value).map_err(RunError::run)?)
}

/// The error of writing to standard output, unless its reader has closed it.
fn unless_closed(written: io::Result<()>) -> Result<(), RunError> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(RunError::run(format!("cannot write to standard output: {error}"))
                .with_hint(hint_for(error.kind())))
        }
        _ => Ok(()),
    }
}

/// Parses a number of threads.
fn threads(written: &str) -> Result<u16, String> {
    let number = written.parse().ok().filter(|number| (1..=1024).contains(number));
    number.ok_or_else(|| "it must be a whole number from 1 to 1024".to_owned())
}

/// The runs in a folder. What has not finished there is left out, with a warning.
fn runs_in(folder: &Path) -> Result<Vec<RunFolder>, ReadError> {
    let (runs, unfinished) = RunFolder::all_in(folder)?;
    unfinished.iter().for_each(|error| talk(&format!("warning: left out: {error}")));
    Ok(runs)
}

/// The only run in a folder.
fn only_run(folder: &Path) -> Result<RunFolder, RunError> {
    let mut runs = runs_in(folder)?;
    if let [one, other, ..] = &runs[..] {
        let (one, other) = (one.dir().display(), other.dir().display());
        return Err(RunError::request(format!("`{}` holds several runs", folder.display()))
            .with_hint(format!("give one: `{one}`, `{other}`, ...")));
    }
    runs.pop().ok_or_else(|| RunError::request("there is no run"))
}

/// Writes a message to standard error. What it quotes cannot act on the terminal.
fn talk(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", lines(text));
}
