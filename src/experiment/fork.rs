//! Forks: an alternative future of a run, from a snapshot on.

mod conversations;
mod futures;
mod past;
mod witness;

use std::path::{Path, PathBuf};

use super::active_run::ActiveRun;
use super::resume::Stored;
use super::{Control, Progress, Run, RunError, find_program};
use crate::broker::outside::NAME;
use crate::grid;
use crate::metrics::{Fingerprint, GridMeasures, GridSummary, Window};
use crate::model::Named;
use crate::output::{OutputDir, OutputMark};
use crate::scenario::{Override, PlannedWorkload, Scenario};
use crate::units::Time;
use conversations::Conversations;
pub use futures::{Branch, Difference, Futures};
use past::Past;
pub(super) use witness::Witness;

/// The alternative future.
#[derive(Clone, Debug, Default)]
pub struct ForkOptions {
    /// The instant of the fork. If no snapshot was taken then, the run runs on to it from the last one before.
    pub at: Time,
    /// Other values of keys of the scenario.
    pub sets: Vec<Override>,
    /// Another local policy, for a run with one site.
    pub policy: Option<Named>,
    /// The folder for the files of both futures, each in a folder of its own.
    pub out: Option<PathBuf>,
    /// An empty folder for files that nobody keeps; without one they have a folder of their own.
    pub scratch: Option<PathBuf>,
}

/// The folder of the unchanged future.
const AS_IT_WAS: &str = "as-it-was";
/// The folder of the changed future.
const CHANGED: &str = "changed";

/// Runs both futures of a stored run, unchanged and changed, from an instant of it on. The run, which is deterministic, runs on to
/// that instant from its last snapshot that is not later. Neither the store nor the files of the run change.
///
/// # Errors
/// `RunErrorKind::Request` if all snapshots are later, the run is over before, or a change is not possible in the middle of a
/// run; `RunErrorKind::Run` if a future fails.
pub fn fork(stored: &Stored, options: &ForkOptions, progress: &Progress) -> Result<Futures, RunError> {
    let (past, snapshot) = Past::before(stored, options.at, progress)?;
    let branch = Branch {
        title: stored.store.about().title.clone(),
        at_s: options.at.as_secs_f64(),
        snapshot,
        snapshot_at_s: past.at.as_secs_f64(),
        jobs: 0,
        changes: Vec::new(),
    };
    let mut sets = options.sets.clone();
    if let Some(policy) = &options.policy {
        let [site] = &stored.run.scenario().resolved.grid.sites[..] else {
            return Err(RunError::request("`--policy` is for a run of one site")
                .with_hint("use `--set site.delft.policy=...`, `--set broker.policy=...`"));
        };
        let key = format!("site.{}.policy", site.name);
        sets.push(Override::option("--policy", &key, &policy.to_string()));
    }
    of_run(stored, &sets, past, options, progress, branch)
}

fn of_run(
    stored: &Stored,
    sets: &[Override],
    past: Past<'_>,
    options: &ForkOptions,
    progress: &Progress,
    mut branch: Branch,
) -> Result<Futures, RunError> {
    let (run, at) = (&stored.run, options.at);
    let old = run.scenario();
    let sets = at_each_site(old, sets)?;
    let file = stored.typed_in.join("scenario.toml");
    let mut new = Scenario::read(&file, &stored.text, &sets, run.policies())?;
    if let (Some(before), Some(after)) = (&old.resolved.program, &new.resolved.program) {
        let hint = "fork to a policy (`--broker mct`), or run the other scenario from its beginning";
        let refused = |what| Err(RunError::request(what).with_hint(hint));
        if before.words() != after.words() {
            return refused("another program cannot go on with the conversation of the broker's");
        }
        if before.fallback != after.fallback {
            return refused("another `fallback` cannot go on where that of the run may have begun");
        }
    }
    let refuse = |message: &str| {
        Err(RunError::request(format!("the run cannot continue with these changes: {message}"))
            .with_hint("undo the change, or run the other scenario from its beginning"))
    };
    branch.changes = grid::changes(&old.resolved.grid, &new.resolved.grid, at)
        .map_err(|error| RunError::request(&error).with_hint(error.hint()))?;
    let programs = [&old.resolved.program, &new.resolved.program];
    for plan in programs.into_iter().flatten() {
        // The registry knows programs by one name.
        let command = format!("program `{}`", plan.line());
        let of_policy = branch.changes.iter_mut().filter(|change| change.starts_with("broker: policy: "));
        of_policy.for_each(|change| *change = change.replace(&format!("`{NAME}`"), &command));
    }
    if let [Some(before), Some(after)] = programs
        && before.timeout != after.timeout
    {
        let [before, after] = [before, after].map(|plan| plan.timeout.as_secs_f64());
        branch.changes.push(format!("broker: timeout: {after} s instead of {before} s"));
    }
    let workloads = |run: &Scenario| -> Vec<Option<PlannedWorkload>> {
        run.resolved
            .site_workloads
            .iter()
            .cloned()
            .chain(run.resolved.portal.iter().cloned().map(Some))
            .collect()
    };
    let (before, after) = (workloads(old), workloads(&new));
    let same = |(old, new): (&Option<PlannedWorkload>, &Option<PlannedWorkload>)| match (old, new) {
        (Some(old), Some(new)) => old.has_jobs_of(new),
        (old, new) => old.is_none() && new.is_none(),
    };
    if before.len() != after.len() || !before.iter().zip(&after).all(same) {
        let seed = "its workload differs, and a part of it has already been run (with another `seed` of the run, random workloads need one of their own)";
        let plain = "its workload differs, and a part of it has already been run";
        return refuse(if old.resolved.grid.seed == new.resolved.grid.seed { plain } else { seed });
    }
    if new.resolved.measure != old.resolved.measure {
        return refuse("the measurement window differs, and jobs have already been counted");
    }
    if new.resolved.until != old.resolved.until {
        if new.resolved.until.is_some_and(|until| until <= at) {
            return refuse("it would have ended before the fork");
        }
        let end = |run: &Scenario| run.resolved.until.map_or("done".to_owned(), Time::told);
        branch.changes.push(format!("end of the run: {} instead of {}", end(&new), end(old)));
    }
    if new.resolved.at_least != old.resolved.at_least {
        let least = |run: &Scenario| run.resolved.at_least.map_or("none".to_owned(), Time::told);
        branch.changes.push(format!("earliest end of the run: {} instead of {}", least(&new), least(old)));
    }
    let adopt = !branch.changes.is_empty();
    let mut origin = old.clone();
    for (scenario, name) in [(&mut origin, AS_IT_WAS), (&mut new, CHANGED)] {
        scenario.resolved.checkpoint = None;
        // A fork need not follow the wall clock: it runs as fast as possible.
        scenario.resolved.pace = None;
        scenario.resolved.output.folder = folder(options, old.resolved.output.folder.as_deref(), name)?;
    }
    let [origin, changed] = [origin, new].map(|scenario| Run::new(scenario, run.threads(), run.policies()));
    // The conversation of the run stays as it is: each future goes on with one of its own.
    let apart = || Conversations::of(stored, options.scratch.as_deref());
    let conversations = old.resolved.program.is_some().then(apart).transpose()?;
    let origin = match &conversations {
        Some(conversations) => origin.going_on(conversations.as_it_was()),
        None => origin,
    };
    let past = if past.at < at { past.run_on(&origin, at, progress)? } else { past };
    let changed = match conversations.as_ref().filter(|_| changed.scenario().resolved.program.is_some()) {
        Some(conversations) => changed.going_on_otherwise(conversations.changed()?),
        None => changed,
    };
    branch.jobs = past.jobs;
    // The changed future is not a run under one description.
    let note = format!(
        "forked at {} ({at} s), {} of `{}`; from then on: {}",
        at.told(),
        branch.from(),
        stored.store.folder().display(),
        branch.changes.join("; ")
    );
    let changed = if adopt { changed.noting(note) } else { changed };
    let measures = || {
        let resolved = &run.scenario().resolved;
        GridMeasures::new(resolved.definitions.clone(), Window::ALL, &resolved.grid.sites)
    };
    [&origin, &changed].into_iter().for_each(|run| run.forewarn(progress));
    // What cannot be started is told before anything runs.
    changed.scenario().resolved.program.as_ref().map_or(Ok(()), |plan| find_program(plan).map(|_| ()))?;
    let begun = past.restored(&origin, progress, false)?;
    let ran = carry_out(&origin, begun, Witness::new(measures()), progress);
    let (as_it_was, first) = ran.map_err(|error| error.within("the unchanged future"))?;
    check(stored, as_it_was.fingerprint, progress);
    let after_first = first.measures();
    let begun = past.restored(&changed, progress, adopt)?;
    let ran = carry_out(&changed, begun, Witness::against(measures(), first), progress);
    let (changed, second) = ran.map_err(|error| error.within("the changed future"))?;
    let (difference, after) = (second.difference(&changed.sites), [after_first, second.measures()]);
    Ok(Futures { branch, as_it_was, changed, after, difference })
}

/// Runs a future to its end beside a witness.
fn carry_out(
    run: &Run,
    mut begun: ActiveRun,
    witness: Witness,
    progress: &Progress,
) -> Result<(GridSummary, Witness), RunError> {
    begun.recorder.witness = Some(witness);
    let summary = run.carry_out(&mut begun, None, progress, &Control::new())?;
    let witness = begun.recorder.witness.ok_or_else(|| {
        RunError::run("the records of a future were not compared with the other's; this is a bug of gridemu")
    })?;
    Ok((summary, witness))
}

/// Applies keys of the scenario's own `[churn]` to each site that has churn, where the resolved scenario has them.
fn at_each_site(scenario: &Scenario, sets: &[Override]) -> Result<Vec<Override>, RunError> {
    let sites = &scenario.resolved.grid.sites;
    let mut all = Vec::new();
    for set in sets {
        if !set.key().starts_with("churn.") {
            all.push(set.clone());
            continue;
        }
        let with_churn = sites.iter().filter(|site| site.churn.has_outages());
        let before = all.len();
        all.extend(with_churn.map(|site| set.under(&format!("site.{}", site.name))));
        if all.len() == before {
            let name = &sites[0].name;
            return Err(RunError::request("no site has random outages, so this key would have no effect")
                .with_hint(format!(
                    "give one site churn: `site.{name}.churn={{up=\"exponential[mean=45 h]\",down=\"exponential[mean=1 h]\"}}`"
                )));
        }
    }
    Ok(all)
}

/// The folder for the files of a future.
fn folder(options: &ForkOptions, past: Option<&Path>, name: &str) -> Result<Option<PathBuf>, RunError> {
    match (&options.out, past) {
        (None, _) => Ok(None),
        (Some(_), None) => {
            Err(RunError::request("the run wrote no files, so the files of its futures would lack the past")
                .with_hint("omit `--out`, or run again with `--out`"))
        }
        (Some(out), Some(_)) if out.join("gridemu-store").exists() => {
            Err(RunError::request(format!("`{}` is a store, not a place for files", out.display())))
        }
        (Some(out), Some(_)) => Ok(Some(out.join(name))),
    }
}

fn copy(past: Option<&Path>, to: &Path, mark: &OutputMark) -> Result<(), RunError> {
    let Some(past) = past else { return Ok(()) };
    OutputDir::copy_past(past, to, mark).map_err(|error| {
        RunError::from_files(error).with_hint("leave `--out` out: the futures can be compared without files")
    })
}

/// Checks that the unchanged future ends as the run ended, if it has ended.
fn check(stored: &Stored, found: Fingerprint, progress: &Progress) {
    // A damaged summary is no reason to refuse a fork.
    let ended = stored.ended().unwrap_or(None).map(|ended| ended.summary.fingerprint);
    if let Some(ended) = ended.filter(|ended| *ended != found) {
        progress.warn(format!(
            "as it was, the run ends with fingerprint {found}, not with {ended} as before; this is a bug of gridemu"
        ));
    }
}
