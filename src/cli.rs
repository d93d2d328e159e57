//! The command line: arguments, progress, exit codes.
//!
//! Data goes to standard output, talk to standard error. Exit code 0 is success, 2 a request that cannot be carried out (nothing
//! was done), 1 a run that failed.

mod campaign;
mod check;
mod compare;
mod explain;
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
mod signals;
mod snapshots;
mod trace;
mod validate;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::experiment::RunError;
use crate::report::hint_for;

/// A grid broker emulator: sites with local schedulers, and a broker above them, in exact virtual time.
#[derive(Debug, Parser)]
#[command(name = "gridemu", version, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a scenario: sites under a broker, machines that come and go
    Run(run::Args),
    /// Replay a workload at one site under one or several local policies
    Replay(Box<replay::Args>),
    /// Go on with a run from its snapshots
    Resume(resume::Args),
    /// Branch off another future of a run from a snapshot, and compare the two
    Fork(Box<fork::Args>),
    /// Compare runs job by job, or the variants of a study seed by seed
    Compare(compare::Args),
    /// Run a paper's experiments, and hold what was published against what is measured
    Reproduce(reproduce::Args),
    /// List the snapshots of a run, look into one, or remove some
    Snapshots(snapshots::Args),
    /// Run many scenarios: a base and what varies, on all cores, into one table
    Campaign(Box<campaign::Args>),
    /// Say whether what a run has left is a legal schedule on its grid
    Validate(validate::Args),
    /// Say why a job of a run did not start before it did: the rule, and who held it back
    Explain(explain::Args),
    /// Write a workload made by a model, as SWF or CWF, to standard output or a file
    Generate(generate::Args),
    /// Say what is in a workload: jobs, load, users, sizes, run times, arrivals
    Inspect(inspect::Args),
    /// Make a page of tables and pictures of runs, or of a campaign
    Report(report::Args),
    /// List the policies, or describe one
    Policies(policies::Args),
    /// Check a scenario file, or print it with every default written out
    Check(check::Args),
    /// Print the JSON schema of scenario files, for editors
    Schema(check::SchemaArgs),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Replay(args) => replay::run(*args),
        Command::Resume(args) => resume::run(&args),
        Command::Fork(args) => fork::run(*args),
        Command::Compare(args) => compare::run(args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Snapshots(args) => snapshots::run(&args),
        Command::Campaign(args) => campaign::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Policies(args) => policies::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Schema(args) => check::schema(&args),
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
    // Nobody is left to tell if standard error is closed.
    let _ = writeln!(talk, "error: {error}");
    if let Some(hint) = error.hint() {
        let _ = writeln!(talk, "hint: {hint}");
    }
}

/// Writes data to standard output. A reader that has had enough (`| head`) is no failure.
fn say(text: &str) -> Result<(), RunError> {
    let mut out = io::stdout().lock();
    let written = out
        .write_all(text.as_bytes())
        .and_then(|()| if text.ends_with('\n') { Ok(()) } else { out.write_all(b"\n") });
    told(written.and_then(|()| out.flush()))
}

fn told(written: io::Result<()>) -> Result<(), RunError> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(RunError::run(format!("cannot write to standard output: {error}"))
                .with_hint(hint_for(error.kind())))
        }
        _ => Ok(()),
    }
}

/// Talk on standard error.
fn talk(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

fn is_watched() -> bool {
    io::stderr().is_terminal()
}
