//! Putting the results of parts together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::outcome::Outcome;
use super::running::{CampaignOptions, PATIENCE, refused};
use super::{Campaign, CampaignRan};
use crate::experiment::RunError;
use crate::store::ResultStore;

/// What was put together.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// The campaign with all results that there are now.
    pub campaign: CampaignRan,
    /// Results that came from the parts.
    pub taken: u64,
    /// Results of runs that this campaign does not have (it was changed since, or a log was): they stay where they are.
    pub others: u64,
}

impl Merged {
    /// What was done, in a line.
    pub fn line(&self) -> String {
        let mut line = format!("took over {} results", self.taken);
        if self.others > 0 {
            line += &format!("; {} are of runs that this campaign does not have, and were left", self.others);
        }
        line
    }
}

impl Campaign {
    /// Takes the results of `parts` over into the store of `options`. Nothing is run.
    ///
    /// # Errors
    /// [`RunError::Request`] if one of them cannot be used or is of another campaign; if two have a result of the same run, so that they
    /// are no parts of one campaign; if the store has another result of a run already.
    pub fn merge(&self, parts: &[PathBuf], options: &CampaignOptions) -> Result<Merged, RunError> {
        let mut from: BTreeMap<u128, (&Path, Outcome, Vec<u8>)> = BTreeMap::new();
        let mut others = 0;
        for part in parts {
            if part
                .canonicalize()
                .is_ok_and(|part| options.store.canonicalize().is_ok_and(|store| store == part))
            {
                let said = format!("`{}` cannot be merged into itself", part.display());
                return Err(
                    RunError::request(said).with_hint("say where all results are to be: `--store DIR`")
                );
            }
            let store =
                ResultStore::open(part, Some(self.name()), PATIENCE).map_err(|error| refused(&error))?;
            let runs: BTreeMap<u128, u64> = self.runs().iter().rev().map(|run| (run.key, run.run)).collect();
            for key in store.keys().map_err(|error| refused(&error))? {
                let Some(run) = runs.get(&key) else {
                    others += 1;
                    continue;
                };
                let Some(bytes) = store.get(key).map_err(|error| refused(&error))? else { continue };
                let Some(outcome) = Outcome::decode(&bytes) else { continue };
                if let Some((other, ..)) = from.get(&key) {
                    return Err(self.overlap(*run, other, part));
                }
                from.insert(key, (part, outcome, bytes));
            }
        }
        let mut store = ResultStore::open_or_create(&options.store, self.name(), options.database, PATIENCE)
            .map_err(|error| refused(&error))?;
        let mut outcomes = self.known(&store)?;
        let mut taken = 0;
        for (key, (part, outcome, bytes)) in from {
            match outcomes.get(&key).filter(|there| there.is_done()) {
                Some(there) if *there == outcome || !outcome.is_done() => {}
                Some(_) => {
                    let said = format!(
                        "`{}` and `{}` have different results of one run: they were not made by one gridemu",
                        options.store.display(),
                        part.display()
                    );
                    return Err(RunError::request(said)
                        .with_hint("merge into a new folder, or run the campaign anew"));
                }
                None => {
                    store.put(key, &bytes)?;
                    outcomes.insert(key, outcome);
                    taken += 1;
                }
            }
        }
        store.flush()?;
        let count = |has: bool| {
            self.runs().iter().filter(|run| outcomes.contains_key(&run.key) == has).count() as u64
        };
        let (kept, missing) = (count(true), count(false));
        let table = self.finish(store, &outcomes)?;
        Ok(Merged { campaign: CampaignRan { table, ran: 0, kept, missing }, taken, others })
    }

    fn overlap(&self, run: u64, one: &Path, other: &Path) -> RunError {
        let planned = &self.runs()[run as usize - 1];
        let mut point = self.named(&planned.point);
        if !point.is_empty() {
            point += ", ";
        }
        RunError::request(format!(
            "`{}` and `{}` overlap: both have run {run} ({point}seed={})",
            one.display(),
            other.display(),
            planned.seed
        ))
        .with_hint("parts are made with `--shard 1/2` and `--shard 2/2`, each with a `--store` of its own")
    }
}
