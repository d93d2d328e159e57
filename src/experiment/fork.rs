//! Forks: another future of a run, from a snapshot on.

mod witness;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::checkpoint::Snapshot;
use super::resume::{Ended, Stored, StoredRun};
use super::scenario::{Clock, Override, Scenario};
use super::{Control, Notice, Progress, Run, RunError};
use crate::grid;
use crate::metrics::{Fingerprint, GridMeasures, Window};
use crate::model::{Named, Record, RecordSink};
use crate::report::{Branch, Difference, Futures, OutputDir};
use crate::units::Time;
use witness::{Compared, Remembered, Since};

/// What another future is like.
#[derive(Clone, Debug, Default)]
pub struct ForkOptions {
    /// The fork is at the last snapshot that is not after this.
    pub at: Time,
    /// Other values of keys of the scenario.
    pub sets: Vec<Override>,
    /// Another local policy, for a replay.
    pub policy: Option<Named>,
    /// Where the files of both futures go, each in a folder of its own.
    pub out: Option<PathBuf>,
}

/// The folder of the future as it was.
const AS_IT_WAS: &str = "as-it-was";
/// The folder of the changed future.
const CHANGED: &str = "changed";

/// Runs both futures of the run of a store, from its last snapshot before a given time: as it was, and changed.
///
/// # Errors
/// [`RunError::Request`] if there is no such snapshot, or what is to change cannot change in the middle of a run;
/// [`RunError::Run`] if a future breaks.
pub fn fork(stored: &Stored, options: &ForkOptions, progress: &Progress) -> Result<Futures, RunError> {
    let refused = |error| RunError::from_store(&error);
    let newest = stored.store.newest_before(|cut| cut.at <= options.at).map_err(|error| {
        let snapshots = stored.store.snapshots().unwrap_or_default();
        let first = snapshots.iter().filter_map(|info| info.cut).map(|cut| cut.at).min();
        let refused = refused(error);
        match first {
            Some(first) if first > options.at => RunError::request(format!(
                "the first snapshot that is left was taken at {first} s, after {} s",
                options.at
            ))
            .with_hint("fork later, or run anew with snapshots that stay: `--checkpoint-keep-at '1 d'`"),
            _ => refused,
        }
    })?;
    // The journal is of the run as it was: both futures are told the same.
    let (told, torn) = stored.told(newest.number)?;
    for (number, why) in &newest.skipped {
        progress.tell(Notice::Warning(format!("snapshot {number} cannot be used: {why}")));
    }
    if torn {
        let said = "a last command was not written down to its end, so nobody has used it: it is left out";
        progress.tell(Notice::Note(said.to_owned()));
    }
    let from = Snapshot { sections: &newest.sections, told: &told, store: &stored.store };
    let branch = Branch {
        title: stored.store.about().title.clone(),
        asked_s: options.at.as_secs_f64(),
        at_s: newest.cut.at.as_secs_f64(),
        snapshot: newest.number,
        jobs: newest.cut.jobs,
        changes: Vec::new(),
    };
    match &stored.run {
        StoredRun::Run(run) => {
            if options.policy.is_some() {
                return Err(RunError::request("`--policy` is for a replay").with_hint(
                    "say which site or broker: `--set site.delft.policy=...`, `--set broker.policy=...`",
                ));
            }
            of_run(stored, run, &from, options, progress, (newest.cut.at, branch))
        }
        StoredRun::Replay(_) => of_replay(stored, &from, options, progress, branch),
    }
}

fn of_run(
    stored: &Stored,
    run: &Run,
    from: &Snapshot<'_>,
    options: &ForkOptions,
    progress: &Progress,
    (at, mut branch): (Time, Branch),
) -> Result<Futures, RunError> {
    let old = run.scenario();
    let sets = at_each_site(old, &options.sets)?;
    let file = stored.typed_in.join("scenario.toml");
    let mut new = Scenario::read(&file, &stored.text, &sets, run.registry(), run.brokers())?;
    let refuse = |said: &str| {
        Err(RunError::request(format!("a run cannot go on like this: {said}"))
            .with_hint("change it back, or run the other scenario from its beginning"))
    };
    branch.changes = grid::changes(&old.meaning.grid, &new.meaning.grid, at)
        .map_err(|error| RunError::request(&error).with_hint(error.hint()))?;
    if (&new.meaning.site_workloads, &new.meaning.portal)
        != (&old.meaning.site_workloads, &old.meaning.portal)
    {
        return refuse("its workload differs, of which a part has been run");
    }
    if new.meaning.measure != old.meaning.measure {
        return refuse("other jobs would count than those that have been counted");
    }
    if new.meaning.until != old.meaning.until {
        if new.meaning.until.is_some_and(|until| until <= at) {
            return refuse("it would have ended before the fork");
        }
        let until = |until: Option<Time>| until.map_or("done".to_owned(), |until| format!("{until} s"));
        branch.changes.push(format!(
            "end of the run: {} instead of {}",
            until(new.meaning.until),
            until(old.meaning.until)
        ));
    }
    let past = old.meaning.output.folder.clone();
    let adopt = !branch.changes.is_empty();
    let mut origin = old.clone();
    for (scenario, name) in [(&mut origin, AS_IT_WAS), (&mut new, CHANGED)] {
        scenario.meaning.checkpoint = None;
        // Nobody watches: as fast as it goes.
        scenario.meaning.clock = Clock::Virtual;
        scenario.meaning.output.folder = folder(options, past.as_deref(), name)?;
    }
    let [origin, changed] = [origin, new]
        .map(|scenario| Run::new(scenario, run.threads(), run.registry().clone(), run.brokers().clone()));
    let changed = if adopt { changed.noting(note(stored, &branch)) } else { changed };
    let measures = || {
        let meaning = &run.scenario().meaning;
        Since::new(GridMeasures::new(meaning.definitions.clone(), Window::ALL, &meaning.grid.sites))
    };
    let remembered = Arc::new(Mutex::new(Remembered::default()));
    let compared = Arc::new(Mutex::new(Compared::default()));
    let since = [Arc::new(Mutex::new(measures())), Arc::new(Mutex::new(measures()))];

    let prepare = |to: &Path, mark: &_| copy(past.as_deref(), to, mark);
    let begun = origin.branched(from, progress, false, prepare)?;
    let witness = Tell(vec![share(&remembered), share(&since[0])]);
    let begun = begun.witnessed(Box::new(witness));
    let as_it_was = origin.carry_out(begun, None, progress, &Control::new())?;
    check(stored, as_it_was.fingerprint, progress)?;

    lock(&compared).against(std::mem::take(&mut *lock(&remembered)));
    let begun = changed.branched(from, progress, adopt, prepare)?;
    let witness = Tell(vec![share(&compared), share(&since[1])]);
    let begun = begun.witnessed(Box::new(witness));
    let ran = changed.carry_out(begun, None, progress, &Control::new());
    let changed = ran.map_err(|error| error.within("the changed future"))?;
    let [first, second] = &since;
    let difference = lock(&compared).difference(&changed.sites);
    let after = Some(Box::new([lock(first).summary(), lock(second).summary()]));
    Ok(Futures::Grid {
        branch,
        as_it_was: Box::new(as_it_was),
        changed: Box::new(changed),
        after,
        difference,
    })
}

fn of_replay(
    stored: &Stored,
    from: &Snapshot<'_>,
    options: &ForkOptions,
    progress: &Progress,
    mut branch: Branch,
) -> Result<Futures, RunError> {
    let StoredRun::Replay(replay) = &stored.run else {
        return Err(RunError::request("this store is not of a replay"));
    };
    if !options.sets.is_empty() {
        return Err(RunError::request("`--set` is for the keys of a scenario, and this run is a replay")
            .with_hint("say another local policy with `--policy`"));
    }
    let old = replay.policies()[0].clone();
    let new = options.policy.clone().unwrap_or_else(|| old.clone());
    let adopt = new != old;
    if adopt {
        branch.changes.push(format!("local policy: `{new}` instead of `{old}`"));
    }
    let past = replay.out().map(Path::to_owned);
    let origin = replay.under(old, folder(options, past.as_deref(), AS_IT_WAS)?)?;
    let changed = replay.under(new, folder(options, past.as_deref(), CHANGED)?)?;
    let changed = if adopt { changed.noting(note(stored, &branch)) } else { changed };
    let remembered = Arc::new(Mutex::new(Remembered::default()));
    let compared = Arc::new(Mutex::new(Compared::default()));
    let prepare = |to: &Path, mark: &_| copy(past.as_deref(), to, mark);

    let begun =
        origin.branched(from, progress, false, prepare)?.witnessed(Box::new(Tell(vec![share(&remembered)])));
    let as_it_was = origin.go_on(begun, None, progress, &Control::new())?;
    check(stored, as_it_was.fingerprint, progress)?;
    lock(&compared).against(std::mem::take(&mut *lock(&remembered)));
    let begun =
        changed.branched(from, progress, adopt, prepare)?.witnessed(Box::new(Tell(vec![share(&compared)])));
    let changed = changed.go_on(begun, None, progress, &Control::new())?;
    let difference: Option<Difference> = lock(&compared).difference(&[]);
    Ok(Futures::Site { branch, as_it_was: Box::new(as_it_was), changed: Box::new(changed), difference })
}

/// Keys of the scenario's own `[churn]` have been written out at each site: those of each site that has churn.
fn at_each_site(scenario: &Scenario, sets: &[Override]) -> Result<Vec<Override>, RunError> {
    let sites = &scenario.meaning.grid.sites;
    let mut all = Vec::new();
    for set in sets {
        if !set.key().starts_with("churn.") {
            all.push(set.clone());
            continue;
        }
        let with_churn = sites.iter().filter(|site| site.churn.random.is_some());
        let before = all.len();
        all.extend(with_churn.map(|site| set.under(&format!("site.{}", site.name))));
        if all.len() == before {
            let name = &sites[0].name;
            return Err(RunError::request("no site has churn by chance, so its keys would change nothing")
                .with_hint(format!(
                    "say whose machines fail: `site.{name}.churn={{up=\"45 h\",down=\"1 h\"}}`"
                )));
        }
    }
    Ok(all)
}

/// What the summary of the changed future has to tell: it is not that of a run under one description.
fn note(stored: &Stored, branch: &Branch) -> String {
    format!(
        "forked at {} s from snapshot {} of `{}`; from then on: {}",
        branch.at_s,
        branch.snapshot,
        stored.store.folder().display(),
        branch.changes.join("; ")
    )
}

/// Where the files of a future go.
fn folder(options: &ForkOptions, past: Option<&Path>, name: &str) -> Result<Option<PathBuf>, RunError> {
    match (&options.out, past) {
        (None, _) => Ok(None),
        (Some(_), None) => Err(RunError::request(
            "the run wrote no files, so that those of its futures would lack their past",
        )
        .with_hint("leave `--out` out, or run anew with `--out`")),
        (Some(out), Some(_)) if out.join("gridemu-store").exists() => {
            Err(RunError::request(format!("`{}` is a store, not a place for files", out.display())))
        }
        (Some(out), Some(_)) => Ok(Some(out.join(name))),
    }
}

fn copy(past: Option<&Path>, to: &Path, mark: &crate::report::OutputMark) -> Result<(), RunError> {
    let Some(past) = past else { return Ok(()) };
    OutputDir::copy_past(past, to, mark).map_err(|error| {
        RunError::from_resuming(&error)
            .with_hint("leave `--out` out: the futures can be compared without files")
    })
}

/// A future in which nothing was changed is what the run ended in, if it has ended.
fn check(stored: &Stored, found: Fingerprint, progress: &Progress) -> Result<(), RunError> {
    // A damaged summary is no reason to refuse a fork.
    let ended = match stored.ended().unwrap_or(None) {
        None => return Ok(()),
        Some(Ended::Run(summary)) => summary.fingerprint,
        Some(Ended::Replay(summary)) => summary.fingerprint,
    };
    if ended != found {
        progress.tell(Notice::Warning(format!(
            "as it was, the run ends with fingerprint {found}, not with {ended} as before; this is a bug of gridemu"
        )));
    }
    Ok(())
}

/// Tells several.
struct Tell(Vec<Box<dyn RecordSink + Send>>);

impl RecordSink for Tell {
    fn record(&mut self, record: Record) {
        self.0.iter_mut().for_each(|sink| sink.record(record.clone()));
    }
}

/// One end of a sink that somebody else reads later.
struct Shared<T>(Arc<Mutex<T>>);

impl<T: RecordSink> RecordSink for Shared<T> {
    fn record(&mut self, record: Record) {
        lock(&self.0).record(record);
    }
}

fn share<T: RecordSink + Send + 'static>(sink: &Arc<Mutex<T>>) -> Box<dyn RecordSink + Send> {
    Box::new(Shared(Arc::clone(sink)))
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
