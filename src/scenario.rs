//! Scenario files: a whole grid, its workloads and its events, in one TOML file.
//!
//! ```toml
//! [[site]]
//! name = "delft"
//! machines = [{ class = "i7", count = 16 }]
//! workload = { lublin = { jobs = 500, load = 0.4 } }
//! ```
//!
//! `document` assembles the values from the file, the site files that it uses and `--set` into a tree in which every
//! value has the place where it was written. The `keys` are declared once (`key`), each with its kind of values (`kind`)
//! and its default; reading the tree fills in every default. `resolve` makes the [`ResolvedScenario`] from the keys and
//! checks everything that can be checked before a run. Every mistake is reported with file, line and key ([`Problem`]).

pub mod archive;
mod base;
mod catalogue;
mod checkpoint;
mod defaults;
mod document;
mod drill;
mod expectation;
mod keys;
pub(crate) mod kind;
mod names;
pub(crate) mod place;
mod problem;
mod program;
mod resolve;
mod resolved;
mod schema;
mod set;
pub(crate) mod show;
mod traces;
pub(crate) mod tree;
mod workload;

use std::path::{Path, PathBuf};

use crate::grid::Policies;
use document::Document;
use keys::ScenarioKeys;
use kind::Kind;
use resolve::Checker;

pub(crate) use base::Base;
pub use catalogue::{CATALOGUE, CatalogueFile, from_catalogue};
pub use checkpoint::CheckpointPlan;
pub use drill::{DRILLS, Drill, Expected};
pub use expectation::{Count, Counted, Expectation, ExpectationError, Figure};
pub use kind::words::Engine;
pub use problem::{Problem, ScenarioError};
pub use program::ProgramPlan;
pub(crate) use resolve::{OF_CLASS, wrong_name};
pub use resolved::{OutputPlan, PlannedWorkload, ResolvedScenario};
pub use schema::schema_json;
pub use set::Override;
pub(crate) use set::shell_word;
pub(crate) use show::{quoted, shown};
pub use workload::{EstimateSource, Shaping, WorkflowOrigin, WorkflowPlan, Workload};

pub(crate) use names::{listed, near};

/// A scenario that has been read, resolved and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The scenario file.
    pub file: PathBuf,
    /// The resolved keys.
    pub resolved: ResolvedScenario,
    /// The scenario with every default written out, as TOML. It reads back as the same scenario.
    pub text: String,
    /// Hash of `text` without what changes no result (name, engine, clock, folders): equal for scenarios of the same run.
    pub hash: u128,
    /// Values without effect, unless the run gets a folder or another key that the scenario does not have.
    idle: Vec<Problem>,
    /// Intervals so short that their events may outnumber all others, with what is usual.
    fine: Vec<Problem>,
    /// What is valid and should be looked at.
    warnings: Vec<Problem>,
    /// A line for each trace.
    traces: Vec<String>,
    /// A line for each partition whose machines fail in groups.
    groups: Vec<String>,
    /// What a reader of figures should know of the traces.
    trace_notes: Vec<String>,
    /// What must hold in its run, if it is a drill.
    drill: Option<Drill>,
}

impl Scenario {
    /// Reads a scenario file, with values that override those in it.
    ///
    /// # Errors
    /// All problems with their places.
    pub fn load(file: &Path, sets: &[Override], policies: &Policies) -> Result<Self, ScenarioError> {
        Base::load(file)?.read(sets, policies)
    }

    /// Reads the scenario `text` of the file `file`.
    ///
    /// # Errors
    /// All problems with their places.
    pub fn read(
        file: &Path,
        text: &str,
        sets: &[Override],
        policies: &Policies,
    ) -> Result<Self, ScenarioError> {
        Base::parse(file, text)?.read(sets, policies)
    }

    /// Refuses values without effect, such as those of snapshots without a folder for them. A run `with_files` has a folder for its
    /// files that the scenario does not name.
    ///
    /// # Errors
    /// All of them with their places.
    pub fn check_effects(&self, with_files: bool) -> Result<(), ScenarioError> {
        let idle = self.idle.iter().filter(|problem| !(with_files && problem.key.starts_with("output.")));
        let idle: Vec<Problem> = idle.cloned().collect();
        if idle.is_empty() { Ok(()) } else { Err(ScenarioError::new(idle)) }
    }

    /// What [`check_effects`](Self::check_effects) refuses, each with its place.
    pub fn without_effect(&self) -> &[Problem] {
        &self.idle
    }

    /// Intervals so short that their events may outnumber all others, each with its place and with what is usual. They are valid, and a
    /// short run of few machines may need them, so they are only told of a run that takes long.
    pub fn fine_intervals(&self) -> &[Problem] {
        &self.fine
    }

    /// What is valid and should be looked at before figures are trusted, such as gaps of traces, each with its place.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// What a reader of figures should know of the traces, such as gaps, a sentence each.
    pub fn trace_notes(&self) -> &[String] {
        &self.trace_notes
    }

    /// A line for each trace that was read: rows, step, from when to when, what is particular.
    pub fn trace_lines(&self) -> &[String] {
        &self.traces
    }

    /// A line for each partition whose machines fail in groups: how often, and for which part of the time they are up.
    pub fn group_lines(&self) -> &[String] {
        &self.groups
    }

    /// What must hold in its run, if it is a drill.
    pub const fn drill(&self) -> Option<&Drill> {
        self.drill.as_ref()
    }

    /// A line with the number of sites, processors, workloads and events.
    pub fn line(&self) -> String {
        let resolved = &self.resolved;
        let sites = &resolved.grid.sites;
        let processors: u64 =
            sites.iter().flat_map(|site| &site.partitions).map(|part| u64::from(part.processors())).sum();
        let counted = |count: usize, noun: &str| match count {
            1 => format!("1 {noun}"),
            _ => format!("{count} {noun}s"),
        };
        let mut line = format!("{} with {processors} processors", counted(sites.len(), "site"));
        line += &match &resolved.grid.broker {
            Some(_) if resolved.program.is_some() => {
                let command = resolved.program.iter().flat_map(|program| &program.command);
                let words: Vec<String> = command.map(|word| shell_word(word)).collect();
                format!(", broker program `{}`", words.join(" "))
            }
            Some(broker) => format!(", broker `{}`", broker.policy),
            None => ", no broker".to_owned(),
        };
        let own = resolved.site_workloads.iter().flatten().count();
        let events: usize = sites.iter().map(|site| site.churn.script.len() + site.orders.len()).sum();
        let traced = sites.iter().filter(|site| site.churn.traced.is_some()).count();
        let churning = sites.iter().filter(|site| site.churn.draws()).count();
        for (count, text) in [
            (resolved.portal.len(), counted(resolved.portal.len(), "workload") + " through the portal"),
            (own, format!("{own} at sites")),
            (events, counted(events, "event")),
            (churning, format!("random outages at {}", counted(churning, "site"))),
            (traced, format!("outages of a trace at {}", counted(traced, "site"))),
        ] {
            if count > 0 {
                line += ", ";
                line += &text;
            }
        }
        line
    }

    /// [`Scenario::text`] under a heading with the hash.
    pub fn shown(&self) -> String {
        format!("# {}, with every default. Hash {:032x}.\n{}", self.resolved.name, self.hash, self.text)
    }
}

impl Base {
    /// Reads the scenario, with values that override those in it.
    ///
    /// # Errors
    /// All problems with their places.
    pub(crate) fn read(&self, sets: &[Override], policies: &Policies) -> Result<Scenario, ScenarioError> {
        let Self { file, root, origins, kept, traces } = self;
        let document = Document::assemble(root.clone(), origins.clone(), file, sets, *kept)?;
        let read = kind::reading::read::<ScenarioKeys>(&document.root, &document.origins);
        let mut keys = read.map_err(|error| match document.root.get("scenario") {
            // Only campaigns have a `[scenario]`.
            Some(_) => {
                let run = format!("this looks like a campaign: `gridemu campaign {}`", file.display());
                error.first_with_hint(run)
            }
            None => error,
        })?;
        defaults::fill_in(&mut keys, &document, file);
        let mut checker = Checker::new(&document, policies);
        checker.calendar.traces = traces.clone();
        let drill = keys.drill.as_ref().map(|keys| checker.drill(keys));
        let resolved = resolve::resolve(&keys, &mut checker);
        let Some(resolved) = resolved else { return Err(checker.problems.into()) };
        let table = match keys.show() {
            Some(toml::Value::Table(table)) => table,
            _ => toml::Table::new(),
        };
        let (text, hash) = (show::shown(&table), show::hash(&table));
        Ok(Scenario {
            file: file.clone(),
            resolved,
            text,
            hash,
            idle: checker.idle,
            fine: checker.fine.sorted(),
            warnings: checker.warnings.sorted(),
            traces: checker.calendar.lines,
            groups: checker.calendar.groups,
            trace_notes: checker.calendar.notes,
            drill,
        })
    }
}
