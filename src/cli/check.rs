//! `gridemu check` and `gridemu schema`

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::{say, talk};
use crate::experiment::{RunError, check_tasks, find_program, without_effect};
use crate::grid::Policies;
use crate::scenario::{Override, Scenario, ScenarioError, schema_json};

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  gridemu check configs/quickstart.toml\n  gridemu check --show configs/quickstart.toml --set broker.policy=random --set site.delft.machines.node.count=64"
)]
pub(super) struct Args {
    /// The scenario file
    #[arg(value_name = "FILE")]
    scenario: PathBuf,

    #[command(flatten)]
    sets: SetArgs,

    /// Print the scenario with every default written out
    #[arg(long)]
    show: bool,
}

/// What is said instead of what is written.
#[derive(Debug, ClapArgs)]
pub(super) struct SetArgs {
    /// Override a key of the scenario: `seed=9`, `broker.policy=mct`, `site.delft.policy=easy[order=sjf]`,
    /// `site[0].machines[0].count=8`; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
}

impl SetArgs {
    pub(super) fn overrides(&self) -> Vec<Override> {
        self.sets.iter().map(|set| Override::set(set)).collect()
    }
}

pub(super) fn run(args: &Args, policies: &Policies) -> Result<(), RunError> {
    let scenario = Scenario::load(&args.scenario, &args.sets.overrides(), policies)?;
    if args.show {
        return say(&scenario.shown());
    }
    check_tasks(&scenario.resolved)?;
    scenario.warnings().iter().for_each(|warning| talk(&format!("warning: {warning}")));
    let idle = scenario.without_effect().iter();
    let (of_folders, wrong): (Vec<_>, Vec<_>) = idle.partition(|idle| idle.hint.is_some());
    for idle in of_folders {
        talk(&format!("warning: {idle}; {}", idle.hint.as_deref().unwrap_or_default()));
    }
    if !wrong.is_empty() {
        return Err(ScenarioError(wrong.into_iter().cloned().collect()).into());
    }
    scenario.fine_intervals().iter().for_each(|fine| talk(&format!("warning: {fine}")));
    if let Some(program) = &scenario.resolved.program {
        find_program(program)?;
    } else if let Some(broker) = &scenario.resolved.grid.broker {
        let (_, abilities) = policies.broker.build(&broker.policy, 0).map_err(RunError::request)?;
        if !broker.planning.is_none() && scenario.resolved.portal.is_empty() {
            talk("warning: `planning` of `[broker]` has no effect: no workload goes through the portal");
        }
        without_effect(broker, abilities.workflows).iter().for_each(|idle| talk(&format!("warning: {idle}")));
    }
    let resolved = &scenario.resolved;
    let files = resolved.grid.broker.as_ref().map_or(0, |broker| broker.workflow.files as usize);
    if resolved.grid.network.storage(files).capacity.is_some() {
        talk(
            "warning: the `capacity` of the storage of the site in `files` does not limit stage-in, which is there from the beginning",
        );
    }
    for line in scenario.trace_lines() {
        say(&format!("trace {line}"))?;
    }
    for line in scenario.group_lines() {
        say(&format!("machines of {line}"))?;
    }
    say(&format!("{}: valid: {}", args.scenario.display(), scenario.line()))
}

pub(super) fn schema(policies: &Policies) -> Result<(), RunError> {
    say(&schema_json(policies).map_err(RunError::run)?)
}
