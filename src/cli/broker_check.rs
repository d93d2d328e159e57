//! `gridemu broker-check`

use clap::Args as ClapArgs;

use super::{run, say};
use crate::experiment::{RunError, check_program, scratch};
use crate::grid::Policies;
use crate::scenario::Override;

const EXAMPLES: &str = "\
Examples:
  gridemu broker-check \"python3 examples/brokers/mct.py\"
  gridemu broker-check \"node broker.js\" --timeout \"2 s\"";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The program with its arguments, as for `gridemu run --broker`; it runs in the current folder
    #[arg(value_name = "COMMAND")]
    command: String,

    /// How long it may take for an answer, by the wall clock
    #[arg(long, value_name = "TIME", default_value = "10 s")]
    timeout: String,
}

pub(super) fn run(args: &Args, policies: &Policies) -> Result<(), RunError> {
    let mut sets: Vec<Override> = run::program(&args.command)?;
    sets.push(Override::option("--timeout", "broker.timeout", &args.timeout));
    let folder = scratch("broker-check")?;
    let mut lines = Ok(());
    let checked = check_program(&sets, folder.path(), policies, |check| {
        let (word, found) = match &check.found {
            Ok(found) => ("ok", found.clone()),
            Err(problem) => ("FAILED", format!("expected: {}\n{:31}found: {problem}", check.expected, "")),
        };
        let line = say(&format!("{word:8} {:20}  {found}", check.name));
        lines = std::mem::replace(&mut lines, Ok(())).and(line);
    });
    lines?;
    if checked? {
        return Ok(());
    }
    Err(RunError::run("the program does not keep the protocol in all points").with_hint(
        "docs/outside.md has the protocol; `gridemu run SCENARIO --broker-log FILE` writes a conversation",
    ))
}
