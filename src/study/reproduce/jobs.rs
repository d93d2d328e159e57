//! The jobs of runs of a log, which are kept where a claim needs its weeks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::experiment::RunError;
use crate::output::RunFolder;
use crate::study::campaign::{Campaign, PlannedRun};
use crate::study::claims::{Claim, Expects};
use crate::study::compare::{jobs_of, tau_of, window_of};
use crate::study::comparison::RunJobs;
use crate::study::measure::JOB_MEASURES;

/// True if a claim on an order or a range is about a mean over the jobs of runs of a log.
pub(super) fn needed(campaign: &Campaign, name: &str, claims: &[Claim]) -> bool {
    let of_jobs = |id: &String| JOB_MEASURES.contains(&id.rsplit('.').next().unwrap_or(id));
    let of_weeks = |claim: &Claim| {
        let range = matches!(claim.expects, Expects::Change { .. });
        let of_values = !claim.on_this_log && claim.gain_over.is_empty();
        of_values && (claim.expects.is_order() || range) && claim.measures.iter().all(of_jobs)
    };
    let named = |claim: &&Claim| claim.campaign.as_deref() == Some(name);
    campaign.runs().iter().all(|run| !run.drawn) && claims.iter().filter(named).any(of_weeks)
}

/// The folder for the jobs of the runs of a campaign.
pub(super) fn folder(store: &Path, campaign: &Campaign) -> PathBuf {
    store.join(format!("{}.runs", campaign.name()))
}

/// A run by its number in the table.
pub(super) fn planned(campaign: &Campaign, run: u64) -> Option<&PlannedRun> {
    campaign.runs().get(usize::try_from(run).ok()?.checked_sub(1)?)
}

/// The jobs of the runs in a store, each read once.
pub(super) struct LoggedJobs {
    store: PathBuf,
    read: RefCell<BTreeMap<PathBuf, Option<Rc<RunJobs>>>>,
}

impl LoggedJobs {
    pub(super) fn of_store(store: &Path) -> Self {
        Self { store: store.to_owned(), read: RefCell::default() }
    }

    /// The jobs of a run, if they were kept and can be read.
    pub(super) fn of(&self, campaign: &Campaign, run: u64) -> Option<Rc<RunJobs>> {
        let planned = planned(campaign, run).filter(|planned| !planned.drawn)?;
        let folder = campaign.folder_of(planned, &folder(&self.store, campaign));
        let read = || read(&folder).ok().map(Rc::new);
        self.read.borrow_mut().entry(folder.clone()).or_insert_with(read).clone()
    }
}

fn read(folder: &Path) -> Result<RunJobs, RunError> {
    let folder = RunFolder::open(folder)?;
    let (tau, window) = (tau_of(&[&folder])?, window_of(&[&folder])?);
    Ok(RunJobs { jobs: jobs_of(&folder)?, tau, window })
}
