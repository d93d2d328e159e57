//! Scenario files: a whole grid, its workloads and what happens to it, in one TOML file.
//!
//! Two steps. What was *written* ([`keys`]) is put together from the file, the site files that it uses and `--set`, and has only its
//! form checked. What it *means* ([`Meaning`]) has every default filled in and everything checked that can be known beforehand. Whatever
//! is wrong is told with file, line and key ([`Problem`]).

mod base;
mod catalogue;
mod document;
mod fill;
pub mod keys;
mod meaning;
pub(super) mod place;
mod problem;
pub mod quantity;
pub(super) mod read;
mod resolve;
mod schema;
mod set;
pub(super) mod show;
pub(super) mod tree;

use std::io;
use std::path::{Path, PathBuf};

pub(super) use base::Base;
pub use catalogue::{CATALOGUE, CatalogueFile, from_catalogue};
pub use keys::Engine;
pub use meaning::{Clock, Meaning, Measure, OutputPlan, PlannedWorkload};
pub use problem::{Problem, ScenarioError};
pub use schema::schema_json;
pub use set::Override;
pub(super) use set::shell_word;

use crate::broker::BrokerRegistry;
use crate::local::Registry;
use document::Document;
use resolve::Checker;
pub(super) use resolve::{listed, near};

/// A scenario that has been read, understood and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Where it was read.
    pub file: PathBuf,
    /// What it means.
    pub meaning: Meaning,
    /// The scenario with every default written out, as TOML. Read again, it is the same scenario.
    pub text: String,
    /// Hash of `text`, but for what changes no result (name, engine, clock, folders): the same for scenarios that mean the same run.
    pub hash: u128,
}

impl Scenario {
    /// Reads a scenario file, with values said instead of what is written in it.
    ///
    /// # Errors
    /// Everything that is wrong, with its place.
    pub fn load(
        file: &Path,
        sets: &[Override],
        registry: &Registry,
        brokers: &BrokerRegistry,
    ) -> Result<Self, ScenarioError> {
        Base::load(file)?.read(sets, registry, brokers)
    }

    /// Reads the scenario `text` of the file `file`.
    ///
    /// # Errors
    /// Everything that is wrong, with its place.
    pub fn read(
        file: &Path,
        text: &str,
        sets: &[Override],
        registry: &Registry,
        brokers: &BrokerRegistry,
    ) -> Result<Self, ScenarioError> {
        Base::parse(file, text)?.read(sets, registry, brokers)
    }

    fn of(
        document: &Document,
        file: &Path,
        registry: &Registry,
        brokers: &BrokerRegistry,
    ) -> Result<Self, ScenarioError> {
        let written = read::read(&document.root, &document.origins).map_err(|problem| {
            // What only campaigns have.
            if document.root.get("scenario").is_some() {
                let run = format!("this looks like a campaign: `gridemu campaign {}`", file.display());
                return problem.with_hint(run);
            }
            problem
        })?;
        let (keys, problems) = fill::fill(written, document, file);
        let mut checker = Checker { document, registry, brokers, problems };
        let meaning = resolve::resolve(&keys, &mut checker);
        let problems = checker.problems;
        let Some(meaning) = meaning.filter(|_| problems.is_empty()) else {
            return Err(ScenarioError::new(problems));
        };
        let plain = |said: String| Problem::new(file.display().to_string(), "", said);
        let text = show::shown(&keys).map_err(plain)?;
        let hash = show::hash(&keys).map_err(plain)?;
        Ok(Self { file: file.to_owned(), meaning, text, hash })
    }
}

impl Scenario {
    /// The main figures in a line.
    pub fn line(&self) -> String {
        let meaning = &self.meaning;
        let sites = &meaning.grid.sites;
        let processors: u64 =
            sites.iter().flat_map(|site| &site.partitions).map(|part| u64::from(part.processors())).sum();
        let counted = |count: usize, noun: &str| match count {
            1 => format!("1 {noun}"),
            _ => format!("{count} {noun}s"),
        };
        let mut line = format!("fine; {} with {processors} processors", counted(sites.len(), "site"));
        line += &match &meaning.grid.broker {
            Some(broker) => format!(", broker `{}`", broker.policy),
            None => ", no broker".to_owned(),
        };
        let own = meaning.site_workloads.iter().flatten().count();
        let events: usize = sites.iter().map(|site| site.churn.script.len() + site.orders.len()).sum();
        let churning = sites.iter().filter(|site| site.churn.random.is_some()).count();
        for (count, text) in [
            (meaning.portal.len(), counted(meaning.portal.len(), "workload") + " through the portal"),
            (own, format!("{own} at sites")),
            (events, counted(events, "event")),
            (churning, format!("churn at {}", counted(churning, "site"))),
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
        format!("# {}, with every default. Hash {:032x}.\n{}", self.meaning.name, self.hash, self.text)
    }
}

fn unreadable(file: &Path, error: &io::Error) -> ScenarioError {
    let problem = Problem::new("", "", format!("cannot read `{}`: {error}", file.display()));
    ScenarioError::from(match error.kind() {
        io::ErrorKind::NotFound => {
            problem.with_hint("give a scenario file, such as `configs/quickstart.toml`")
        }
        io::ErrorKind::InvalidData => problem.with_hint("a scenario is a text file in UTF-8"),
        _ => problem,
    })
}
