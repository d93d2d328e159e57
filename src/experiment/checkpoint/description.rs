//! The description of a run in its store: enough to build it again in another process.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::experiment::{Afterwards, RunError};
use crate::output::{FileMark, Since};
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
        /// The files with jobs and workflows that it reads, by their whole paths: a resumed run must read the same.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        inputs: Vec<FileMark>,
        /// What is made of its files once it has ended.
        #[serde(default, skip_serializing_if = "Afterwards::is_nothing")]
        afterwards: Afterwards,
    },
}

impl Description {
    /// The description of a run of `scenario` whose command is typed in the present folder.
    pub(super) fn of(scenario: &Scenario, threads: usize, afterwards: &Afterwards) -> Result<Self, RunError> {
        let folder = std::env::current_dir()
            .map_err(|error| RunError::request(format!("the present folder is gone: {error}")))?;
        let (traces, inputs) = (Self::traces(scenario), Self::inputs(scenario)?);
        let (scenario, afterwards) = (scenario.text.clone(), afterwards.clone());
        Ok(Self::Run { folder, scenario, threads, traces, inputs, afterwards })
    }

    /// What the files with jobs and workflows of a scenario hold.
    fn inputs(scenario: &Scenario) -> Result<Vec<FileMark>, RunError> {
        let resolved = &scenario.resolved;
        let planned = resolved.site_workloads.iter().flatten().chain(&resolved.portal);
        let files = planned.filter_map(|planned| planned.workload.file().ok().flatten());
        // One that cannot be read is an error where it is opened.
        let whole: BTreeSet<PathBuf> = files.filter_map(|file| file.canonicalize().ok()).collect();
        let mut marks = Vec::new();
        for path in whole.iter().filter_map(|path| path.to_str()) {
            marks.extend(FileMark::of_whole(Path::new(""), path).map_err(RunError::from_files)?);
        }
        Ok(marks)
    }

    /// Checks that files which a run reads hold what they held when it began.
    ///
    /// # Errors
    /// `RunErrorKind::Request` names one that has changed. One that is gone is an error where it is opened.
    pub(in crate::experiment) fn check_inputs(store: &Path, inputs: &[FileMark]) -> Result<(), RunError> {
        for file in inputs {
            if file.since(Path::new("")).map_err(RunError::from_files)? == Since::Changed {
                let message =
                    format!("`{}` has changed since the run of `{}` began", file.name, store.display());
                return Err(RunError::request(message)
                    .with_hint("put back the file that it began with, or begin anew"));
            }
        }
        Ok(())
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
