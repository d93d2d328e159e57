//! The description of a run in its store: enough to build it again in another process.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::experiment::{Afterwards, RunError};
use crate::scenario::Scenario;
use crate::store::{About, RunKind};

/// The description of a run, kept as readable JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::experiment) enum Description {
    /// A run of a scenario.
    Run {
        /// The folder in which the command was typed; paths are relative to it.
        folder: PathBuf,
        /// The text of the scenario with every default.
        scenario: String,
        /// The number of actor threads.
        threads: usize,
        /// The hash and the name of each trace that the run follows: a resumed run must follow the same.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        traces: BTreeSet<(String, String)>,
        /// What is made of its files once it has ended.
        #[serde(default, skip_serializing_if = "Afterwards::is_nothing")]
        afterwards: Afterwards,
    },
}

impl Description {
    /// The description of a run of `scenario` whose command is typed in the present folder.
    pub(super) fn of(
        scenario: &Scenario,
        threads: usize,
        afterwards: &Afterwards,
    ) -> Result<Self, RunError> {
        let folder = std::env::current_dir()
            .map_err(|error| RunError::request(format!("the present folder is gone: {error}")))?;
        let (scenario, traces) = (scenario.text.clone(), Self::traces(scenario));
        Ok(Self::Run { folder, scenario, threads, traces, afterwards: afterwards.clone() })
    }

    /// The hash and the name of each trace of a scenario.
    pub(in crate::experiment) fn traces(scenario: &Scenario) -> BTreeSet<(String, String)> {
        let traces = scenario.resolved.traces().into_iter();
        let values = traces.map(|(trace, _)| (trace.digest(), trace.name()));
        let failures = scenario.resolved.failure_traces().into_iter();
        let failures = failures.map(|trace| (trace.digest(), trace.name()));
        let named = |(digest, name): (u128, &str)| (format!("{digest:032x}"), name.to_owned());
        values.chain(failures).map(named).collect()
    }

    /// The description in the store of a run with this `title`.
    pub(super) fn about(&self, title: &str, hash: u128) -> Result<About, RunError> {
        let description = serde_json::to_vec_pretty(self)
            .map_err(|error| RunError::run(format!("the run cannot be described in its store: {error}")))?;
        Ok(About {
            kind: RunKind::Run,
            description,
            title: title.to_owned(),
            hash,
            program: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }

    /// Reads the description of the run in the store folder `store`.
    pub(in crate::experiment) fn read(store: &Path, about: &About) -> Result<Self, RunError> {
        let store = store.display();
        if about.kind == RunKind::Replay {
            let message = format!(
                "`{store}` is the store of a replay by gridemu {}, from before replays were runs of a scenario",
                about.program
            );
            return Err(RunError::request(message).with_hint(format!(
                "resume it with gridemu {}, or replay anew with `--checkpoint-anew`",
                about.program
            )));
        }
        serde_json::from_slice(&about.description).map_err(|error| {
            RunError::request(format!(
                "`{store}` describes its run in a way that this gridemu does not know: {error}"
            ))
            .with_hint(format!("it was written by gridemu {}; resume it with that version", about.program))
        })
    }
}
