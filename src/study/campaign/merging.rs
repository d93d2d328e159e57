//! Merges the results of the parts of a campaign.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::outcome::Outcome;
use super::running::{CampaignOptions, failed, refused};
use super::{Campaign, CampaignRan, PlannedRun, measures};
use crate::experiment::RunError;
use crate::store::{ResultStore, StoreOptions};

/// The result of merging.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// The campaign with all results that are now known.
    pub campaign: CampaignRan,
    /// The number of results that came from the parts.
    pub taken: u64,
    /// Results of runs that are not in this campaign (the campaign or a log has changed since): they stay in their stores.
    pub others: u64,
    /// Results in the parts that another version of gridemu wrote and this one cannot read: their runs are missing.
    pub unreadable: u64,
}

impl Merged {
    /// A line about the merge.
    pub fn line(&self) -> String {
        let mut line = format!("took over {} results", self.taken);
        if self.others > 0 {
            line +=
                &format!("; {} are of runs that this campaign does not have, and were ignored", self.others);
        }
        if self.unreadable > 0 {
            line += &format!(
                "; {} of another version of gridemu cannot be read, and were ignored",
                self.unreadable
            );
        }
        line
    }
}

impl Campaign {
    /// Copies the results of `parts` into the store of `options`. No run is started.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if a part cannot be used or belongs to another campaign; if two parts have a result of the
    /// same run, so that they are not parts of one campaign; if the store has a different result of a run already.
    pub fn merge(&self, parts: &[PathBuf], options: &CampaignOptions) -> Result<Merged, RunError> {
        let Found { parts, others, unreadable } = self.look(parts, &options.store)?;
        let mut store = self.open_store(options)?;
        let mut outcomes = self.known(&store)?;
        let mut taken = 0;
        // One part after the other, so that at most one result is in memory at a time.
        for (part, keys) in parts {
            let from = open(self, part)?;
            for key in keys {
                let Some((bytes, mut outcome)) = read(&from, key)? else { continue };
                if outcomes.get(&key).is_some_and(Outcome::is_done) {
                    if outcome.is_done() && read(&store, key)?.is_none_or(|(_, there)| there != outcome) {
                        return Err(differ(&options.store, part));
                    }
                    continue;
                }
                store.put(key, &bytes).map_err(|error| failed(&error))?;
                measures::keep(&self.file.measures, &mut outcome);
                outcomes.insert(key, outcome);
                taken += 1;
            }
        }
        store.flush().map_err(|error| failed(&error))?;
        let count = |has: bool| {
            self.runs().iter().filter(|run| outcomes.contains_key(&run.key) == has).count() as u64
        };
        let (kept, missing) = (count(true), count(false));
        let table = self.finish(store, &outcomes, None)?;
        Ok(Merged {
            campaign: CampaignRan { table, ran: 0, kept, others: 0, missing },
            taken,
            others,
            unreadable,
        })
    }

    /// Finds the results in the parts before anything is copied.
    fn look<'a>(&self, parts: &'a [PathBuf], store: &Path) -> Result<Found<'a>, RunError> {
        let keys: BTreeSet<u128> = self.runs().iter().map(|run| run.key).collect();
        let mut owner: BTreeMap<u128, &Path> = BTreeMap::new();
        let mut found = Found { parts: Vec::new(), others: 0, unreadable: 0 };
        for part in parts {
            if same(part, store) {
                let problem = format!("`{}` cannot be merged into itself", part.display());
                return Err(
                    RunError::request(problem).with_hint("give the folder for all results: `--store DIR`")
                );
            }
            let from = open(self, part)?;
            let there: BTreeSet<u128> = from.keys().map_err(|error| refused(&error))?.into_iter().collect();
            found.others += there.iter().filter(|key| !keys.contains(key)).count() as u64;
            let mut mine = Vec::new();
            // In the order of runs, so that the error names the first run that is in two parts.
            let mut seen = BTreeSet::new();
            for run in self.runs().iter().filter(|run| there.contains(&run.key) && seen.insert(run.key)) {
                if read(&from, run.key)?.is_none() {
                    found.unreadable += 1;
                    continue;
                }
                if let Some(other) = owner.insert(run.key, part) {
                    return Err(self.overlap(run, other, part));
                }
                mine.push(run.key);
            }
            found.parts.push((part, mine));
        }
        Ok(found)
    }

    fn overlap(&self, run: &PlannedRun, one: &Path, other: &Path) -> RunError {
        let mut point = self.named(&run.point);
        if !point.is_empty() {
            point += ", ";
        }
        RunError::request(format!(
            "`{}` and `{}` overlap: both have run {} ({point}seed={})",
            one.display(),
            other.display(),
            run.run,
            run.seed
        ))
        .with_hint("parts are made with `--shard 1/2` and `--shard 2/2`, each with its own `--store`")
    }
}

/// The results in the parts.
struct Found<'a> {
    /// The keys of the results of each part, in the order of runs.
    parts: Vec<(&'a Path, Vec<u128>)>,
    others: u64,
    unreadable: u64,
}

fn open(campaign: &Campaign, part: &Path) -> Result<ResultStore, RunError> {
    ResultStore::open(part, Some(campaign.name()), StoreOptions::PATIENCE).map_err(|error| refused(&error))
}

/// A result, encoded and decoded; `None` if there is none that this version of gridemu can read.
fn read(store: &ResultStore, key: u128) -> Result<Option<(Vec<u8>, Outcome)>, RunError> {
    let bytes = store.get(key).map_err(|error| refused(&error))?;
    Ok(bytes.and_then(|bytes| Outcome::decode(&bytes).map(|outcome| (bytes, outcome))))
}

fn differ(store: &Path, part: &Path) -> RunError {
    RunError::request(format!(
        "`{}` and `{}` have different results of one run: they are from different versions of gridemu",
        store.display(),
        part.display()
    ))
    .with_hint("merge into a new folder, or run the campaign again")
}

/// True if two paths lead to the same folder.
fn same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
