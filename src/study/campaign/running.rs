//! Carries out the runs of a campaign that have no result yet.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};

use super::about::{About, Part, TABLE};
use super::outcome::Outcome;
use super::table::Outcomes;
use super::{Campaign, PlannedRun, Shard, folders, measures};
use crate::experiment::{Control, Progress, Run, RunError};
use crate::metrics::GridSummary;
use crate::output::write_whole;
use crate::store::{EngineKind, ResultStore, StoreError, StoreOptions};
use crate::study::{RunStatus, StudyTable};

/// Options of running a campaign.
#[derive(Clone, Debug)]
pub struct CampaignOptions {
    /// The folder of its results, which is created if it is missing.
    pub store: PathBuf,
    /// The store engine of a new store.
    pub database: EngineKind,
    /// The number of runs at a time; `None` for the number of cores.
    pub threads: Option<usize>,
    /// The part of the runs to carry out; `None` for all.
    pub shard: Option<Shard>,
    /// The folder for the files of each run, in a subfolder of its own; `None` for no files.
    pub folders: Option<PathBuf>,
    /// Stops the campaign: runs in progress are finished and their results kept.
    pub control: Control,
}

impl CampaignOptions {
    /// Carries out all runs on all cores, with results in `store`.
    pub fn new(store: PathBuf) -> Self {
        let (database, control) = (EngineKind::default(), Control::new());
        Self { store, database, threads: None, shard: None, folders: None, control }
    }
}

/// The result of running a campaign.
#[derive(Clone, Debug, PartialEq)]
pub struct CampaignRan {
    /// The runs that have a result, including those that failed.
    pub table: StudyTable,
    /// The number of runs carried out now.
    pub ran: u64,
    /// Runs that had a result already, and runs with the same scenario as one that was carried out.
    pub kept: u64,
    /// Runs of other parts that have a result in this store: they are in the table.
    pub others: u64,
    /// Runs without a result, because they belong to another part.
    pub missing: u64,
}

impl CampaignRan {
    /// The runs that failed, with the reason.
    pub fn failed(&self) -> impl Iterator<Item = (u64, &str)> {
        self.table.rows.iter().filter_map(|row| match &row.status {
            RunStatus::Failed(why) => Some((row.run, why.as_str())),
            RunStatus::Done => None,
        })
    }
}

/// A run, its outcome, and the number of its jobs. An error of the store ends the campaign; every other error is an outcome.
type Sent = (usize, Outcome, u64);

impl Campaign {
    /// Carries out the runs that have no result yet or failed before, and keeps each result as it arrives.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if the store cannot be used; `RunErrorKind::Run` if it cannot be written; `RunErrorKind::Stopped`
    /// if the campaign was stopped. A run that fails is not an error of the campaign: it is a row of the table.
    pub fn run(&self, options: &CampaignOptions, progress: &Progress) -> Result<CampaignRan, RunError> {
        let mut store = self.open_store(options)?;
        let mut outcomes = self.known(&store)?;
        let mine = self.part(options.shard);
        let todo = self.todo(&mine, &outcomes, options);
        let kept = (mine.len() - todo.len()) as u64;
        progress.begin_runs(mine.len() as u64, kept);
        if !todo.is_empty() {
            self.tabled(&store, &outcomes, None, options.shard)?;
        }
        let done = self.work(&todo, &mut store, &mut outcomes, options, progress)?;
        let table = self.finish(store, &outcomes, options.shard)?;
        if done < todo.len() {
            let problem = format!(
                "stopped with {} of {} runs done, all kept in `{}`",
                kept + done as u64,
                mine.len(),
                options.store.display()
            );
            return Err(RunError::campaign_stopped(problem));
        }
        let missing = self.runs().iter().filter(|run| !outcomes.contains_key(&run.key)).count() as u64;
        let others = self.runs().len() as u64 - mine.len() as u64 - missing;
        Ok(CampaignRan { table, ran: done as u64, kept, others, missing })
    }

    /// Opens the store of the campaign's results, which is created if it is missing.
    pub(super) fn open_store(&self, options: &CampaignOptions) -> Result<ResultStore, RunError> {
        let CampaignOptions { store, database, .. } = options;
        ResultStore::open_or_create(store, self.name(), *database, StoreOptions::PATIENCE)
            .map_err(|error| refused(&error))
    }

    /// The table of the results in `store`; no run is started.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if the store cannot be used, or belongs to another campaign.
    pub fn table(&self, store: &Path) -> Result<StudyTable, RunError> {
        let store = ResultStore::open(store, Some(self.name()), StoreOptions::PATIENCE)
            .map_err(|error| refused(&error))?;
        Ok(self.table_of(&self.known(&store)?))
    }

    /// The results of runs of this campaign in a store, with the measures that it requests.
    pub(super) fn known(&self, store: &ResultStore) -> Result<Outcomes, RunError> {
        let mut outcomes = BTreeMap::new();
        for run in self.runs() {
            let Entry::Vacant(place) = outcomes.entry(run.key) else { continue };
            let found = store.get(run.key).map_err(|error| refused(&error))?;
            if let Some(mut outcome) = found.and_then(|bytes| Outcome::decode(&bytes)) {
                measures::keep(&self.file.measures, &mut outcome);
                place.insert(outcome);
            }
        }
        Ok(outcomes)
    }

    /// Writes the table into the store and closes it.
    pub(super) fn finish(
        &self,
        store: ResultStore,
        outcomes: &Outcomes,
        shard: Option<Shard>,
    ) -> Result<StudyTable, RunError> {
        let table = self.table_of(outcomes);
        let path = store.folder().join(TABLE);
        let mut text = Vec::new();
        table.write_csv(&mut text).map_err(RunError::run)?;
        write_whole(&path, &text)?;
        self.tabled(&store, outcomes, Some(table.rows.len() as u64), shard)?;
        store.close().map_err(|error| failed(&error))?;
        Ok(table)
    }

    /// Records in the store how many runs its table has, and the part of the campaign to which the store belongs.
    fn tabled(
        &self,
        store: &ResultStore,
        outcomes: &Outcomes,
        tabled: Option<u64>,
        shard: Option<Shard>,
    ) -> Result<(), RunError> {
        let (name, command) = (self.name().to_owned(), self.command.clone());
        let part = shard.map(|shard| Part {
            shard: shard.to_string(),
            left: self.part(Some(shard)).iter().filter(|run| !outcomes.contains_key(&run.key)).count() as u64,
        });
        // A store that was used for another part before does not belong to this part alone.
        let before = About::read(store.folder());
        let shared = |part: &Part| {
            let alike = |before: &Part| before.shard == part.shard;
            before.is_some_and(|before| !before.part.as_ref().is_some_and(alike))
        };
        let part = part.filter(|part| !shared(part));
        let (runs, baseline) = (self.runs().len() as u64, self.file.baseline.clone());
        About { name, command, runs, tabled, baseline, dates: self.dates(), part }.write(store.folder())
    }

    /// The runs to be carried out, in order: seed by seed, so that the completed ones are at any time a fair sample of
    /// the rest, also in the time that they take.
    pub(super) fn todo<'a>(
        &self,
        mine: &[&'a PlannedRun],
        outcomes: &Outcomes,
        options: &CampaignOptions,
    ) -> Vec<&'a PlannedRun> {
        let mut taken = BTreeSet::new();
        let is_missing = |run: &PlannedRun| {
            let Some(outcome) = outcomes.get(&run.key).filter(|outcome| outcome.is_done()) else {
                return true;
            };
            options.folders.as_ref().is_some_and(|dir| {
                let folder = folders::folder(self, run, dir);
                !folders::is_whole(&folder, run.scenario_hash, &outcome.fingerprint)
            })
        };
        let mut todo: Vec<&PlannedRun> = mine
            .iter()
            .copied()
            .filter(|run| is_missing(run))
            // Two points may have the same scenario; without files it is run once.
            .filter(|run| options.folders.is_some() || taken.insert(run.key))
            .collect();
        let mut rounds: BTreeMap<&[String], u64> = BTreeMap::new();
        todo.sort_by_cached_key(|run| {
            let round = rounds.entry(&run.point).or_default();
            *round += 1;
            (*round, run.run)
        });
        todo
    }

    /// Carries out the runs; returns the number completed before the campaign was stopped.
    fn work(
        &self,
        todo: &[&PlannedRun],
        store: &mut ResultStore,
        outcomes: &mut Outcomes,
        options: &CampaignOptions,
        progress: &Progress,
    ) -> Result<usize, RunError> {
        if todo.is_empty() {
            return Ok(0);
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(options.threads.unwrap_or(0))
            .thread_name(|number| format!("campaign-{number}"))
            .build()
            .map_err(|error| RunError::run(format!("cannot start threads: {error}")))?;
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (sender, receiver) = mpsc::channel();
        pool.in_place_scope(|scope| {
            for _ in 0..pool.current_num_threads() {
                let (sender, next, failed) = (sender.clone(), &next, &failed);
                scope.spawn(move |_| {
                    while !failed.load(Ordering::Relaxed) && !options.control.is_stopped() {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(run) = todo.get(at) else { break };
                        let (outcome, jobs) = self.carry_out(run, options, progress);
                        if sender.send((at, outcome, jobs)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            let kept = self.keep(todo, &receiver, store, outcomes, progress);
            // Workers that still run have no receiver any more.
            failed.store(kept.is_err(), Ordering::Relaxed);
            drop(receiver);
            kept
        })
    }

    /// Keeps results as they arrive. A result counts as done only once it is on the disk.
    fn keep(
        &self,
        todo: &[&PlannedRun],
        receiver: &Receiver<Sent>,
        store: &mut ResultStore,
        outcomes: &mut Outcomes,
        progress: &Progress,
    ) -> Result<usize, RunError> {
        let mut done = 0;
        while let Ok(first) = receiver.recv() {
            let batch: Vec<Sent> = std::iter::once(first).chain(receiver.try_iter()).collect();
            for (at, outcome, _) in &batch {
                store.put(todo[*at].key, &outcome.encode()?).map_err(|error| failed(&error))?;
            }
            store.flush().map_err(|error| failed(&error))?;
            for (at, mut outcome, jobs) in batch {
                done += 1;
                measures::keep(&self.file.measures, &mut outcome);
                progress.ended(jobs);
                progress.run_ended(!outcome.is_done());
                outcomes.insert(todo[at].key, outcome);
            }
        }
        Ok(done)
    }

    /// Carries out one run, of those of which `all` is the progress, and returns its outcome, including failures, and the number of jobs that ended in it.
    pub(super) fn carry_out(
        &self,
        run: &PlannedRun,
        options: &CampaignOptions,
        all: &Progress,
    ) -> (Outcome, u64) {
        let progress = Progress::default();
        let ran = catch_unwind(AssertUnwindSafe(|| -> Result<GridSummary, RunError> {
            let mut scenario = self.scenario(run.run)?;
            scenario.resolved.output.folder =
                options.folders.as_ref().map(|dir| folders::folder(self, run, dir));
            let run = Run::new(scenario, 1, &self.policies);
            run.forewarn(all);
            run.sharing(&self.logs).run(&progress)
        }));
        let outcome = match ran {
            Ok(Ok(summary)) => {
                Outcome::done(&summary).unwrap_or_else(|error| Outcome::failed(error.to_string()))
            }
            // Where its files are is no part of the result.
            Ok(Err(error)) => Outcome::failed(error.problem),
            Err(panic) => {
                let problem = panic.downcast_ref::<String>().cloned();
                let problem = problem.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
                Outcome::failed(format!("panicked: {}", problem.unwrap_or_else(|| "no message".to_owned())))
            }
        };
        (outcome, progress.jobs())
    }
}

/// The error of a store that cannot be opened for a campaign.
pub(crate) fn refused(error: &StoreError) -> RunError {
    RunError::request(error).with_hint(hint(error))
}

/// The error of a store that failed while it was used.
pub(super) fn failed(error: &StoreError) -> RunError {
    RunError::run(error).with_hint(hint(error))
}

/// The hint for an error of a campaign's store. It differs from that for stores of runs, because these results can be computed again.
fn hint(error: &StoreError) -> &'static str {
    match error {
        StoreError::Absent { .. } => {
            "a store is made by `gridemu campaign FILE`, and that of a part with `--shard 1/2`"
        }
        StoreError::Foreign { .. } => {
            "name the folder that a campaign keeps its results in, or a new or empty one"
        }
        StoreError::Newer { .. } => "use that version of gridemu, or a later one, or another folder",
        StoreError::CutShort { .. } | StoreError::Damaged { .. } => {
            "delete the folder and run the campaign again, or restore it from a copy"
        }
        StoreError::Engine { .. } => {
            "if the disk is sound, the database is damaged: delete the folder and run the campaign again, or restore it from a copy"
        }
        StoreError::Io { .. } if error.is_full() => "free some space; the same command then continues",
        StoreError::Io { .. } if !error.is_read_only() => "check the disk; the same command then continues",
        _ => error.hint(),
    }
}
