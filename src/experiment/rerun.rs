//! Building the run of a folder anew.

use std::path::{Path, PathBuf};

use super::checkpoint::Description;
use super::scenario::Scenario;
use super::{Replay, Run, RunError, StoredRun};
use crate::broker::BrokerRegistry;
use crate::local::Registry;
use crate::report::RunFolder;

/// The run that left `folder`, built anew from its `scenario.toml` or `replay.json`. It writes no files and keeps no store; a replay has one
/// policy.
///
/// # Errors
/// [`RunError::Request`] if the folder does not say what was run, or it can no longer be built: a log is gone, say.
pub fn rerun(folder: &RunFolder, registry: Registry, brokers: BrokerRegistry) -> Result<StoredRun, RunError> {
    if let Some(text) = folder.scenario()? {
        let file = folder.dir().join("scenario.toml");
        let mut scenario = Scenario::read(&file, &text, &[], &registry, &brokers)?;
        scenario.meaning.output.folder = None;
        scenario.meaning.checkpoint = None;
        // They are not written, but tell where a job was.
        scenario.meaning.grid.sites.iter_mut().for_each(|site| site.record_segments = true);
        return Ok(StoredRun::Run(Box::new(Run::new(scenario, 1, registry, brokers))));
    }
    let Some(text) = folder.replay()? else {
        let said = format!(
            "`{}` has no scenario.toml and no replay.json, which say what was run",
            folder.dir().display()
        );
        return Err(RunError::request(said).with_hint("run it again with this version of gridemu"));
    };
    let file: PathBuf = folder.dir().join("replay.json");
    match serde_json::from_str(&text) {
        Ok(Description::Replay { folder: from, mut options }) => {
            options.see_from(&from);
            Ok(StoredRun::Replay(Box::new(Replay::new(*options, registry)?)))
        }
        Ok(Description::Run { .. }) => Err(broken(&file, "it describes no replay")),
        Err(error) => Err(broken(&file, &error.to_string())),
    }
}

fn broken(file: &Path, said: &str) -> RunError {
    RunError::request(format!("`{}` does not say what was replayed: {said}", file.display()))
        .with_hint("run it again with this version of gridemu")
}
