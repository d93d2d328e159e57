//! Builds the run of an output folder anew.

use super::{Run, RunError};
use crate::grid::Policies;
use crate::output::RunFolder;
use crate::scenario::{Base, Scenario, ScenarioError};
use crate::units::{Span, Time};

/// The run that left `folder`, built anew from its `scenario.toml`. It writes no files and keeps no store.
///
/// # Errors
/// `RunErrorKind::Request` if the folder does not contain its scenario, or this version cannot read it.
pub fn rerun(folder: &RunFolder, policies: &Policies) -> Result<Run, RunError> {
    let Some(mut scenario) = kept(folder, policies)? else {
        let message = format!("`{}` has no scenario.toml, which says what was run", folder.dir().display());
        return Err(RunError::request(message).with_hint("run it again with this version of gridemu"));
    };
    let resolved = &scenario.resolved;
    let planned = resolved.site_workloads.iter().flatten().chain(&resolved.portal);
    // A log of an archive has its own words where it is opened.
    let logs = planned.filter_map(|planned| planned.workload.file().ok().flatten());
    if let Some(log) = logs.into_iter().find(|log| !log.exists()) {
        let (folder, log) = (folder.dir().display(), log.display());
        let message = format!("the log of the run in `{folder}` is not there any more: `{log}`");
        return Err(RunError::request(message)
            .with_hint("put it back: the run is repeated, and needs the jobs of its log"));
    }
    let values = resolved.traces().into_iter().filter(|(trace, _)| trace.steps().is_none());
    let failures = resolved.failure_traces().into_iter().filter(|trace| trace.nodes().is_none());
    let lost = values.map(|(trace, _)| (trace.name(), "prices"));
    if let Some((trace, what)) = lost.chain(failures.map(|trace| (trace.name(), "outages"))).next() {
        let folder = folder.dir().display();
        let message = format!("the trace of the run in `{folder}` cannot be read any more: `{trace}`");
        return Err(RunError::request(message)
            .with_hint(format!("put it back: the run is repeated, and needs its {what}")));
    }
    scenario.resolved.output.folder = None;
    scenario.resolved.checkpoint = None;
    // Segments are not written, but they show where a job ran.
    scenario.resolved.grid.sites.iter_mut().for_each(|site| site.record_segments = true);
    Ok(Run::new(scenario, 1, policies))
}

/// Whether the run of a folder is a fork that went on with another scenario: what happened before is not what this one would do.
pub(super) fn is_changed_fork(folder: &RunFolder) -> bool {
    forked_at(folder).is_some()
}

/// When the run of a folder went on with another scenario, if it is such a fork: its note says `forked at 3 d (259200 s)`. What cannot be
/// read is never.
pub(super) fn forked_at(folder: &RunFolder) -> Option<Time> {
    let notes = folder.summary().and_then(|summary| summary["notes"].as_array());
    let mut notes = notes.into_iter().flatten().filter_map(|note| note.as_str());
    let note = notes.find_map(|note| note.strip_prefix("forked at "))?;
    let at = note.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    Some(at.and_then(|(at, _)| at.parse::<Span>().ok()).map_or(Time::NEVER, |at| Time::ZERO + at))
}

/// The scenario in `folder`; `None` if there is none.
///
/// # Errors
/// `RunErrorKind::Request` if this version cannot read it, or it is from a replay of an older gridemu.
pub(super) fn kept(folder: &RunFolder, policies: &Policies) -> Result<Option<Scenario>, RunError> {
    if let Some(text) = folder.scenario()? {
        let file = folder.dir().join("scenario.toml");
        let base = Base::parse(&file, &text).map_err(ScenarioError::from)?;
        return Ok(Some(base.kept().read(&[], policies)?));
    }
    let old = folder.dir().join("replay.json");
    if !old.is_file() {
        return Ok(None);
    }
    let message = format!(
        "`{}` is of a gridemu from before replays were runs of a scenario, which say it in scenario.toml",
        old.display()
    );
    Err(RunError::request(message).with_hint("replay it again with this version of gridemu"))
}
