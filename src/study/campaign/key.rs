//! The key of a result: a hash of everything that it depends on.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::experiment::RunError;
use crate::scenario::Scenario;

/// The version of results. Raise it with every change of gridemu that changes the results of a run or what is kept of
/// them: older results are then computed anew. A test below fails when this is necessary.
const RESULTS: u32 = 17;

/// The hashes of the logs that a campaign reads, each read once.
#[derive(Debug, Default)]
pub(super) struct Contents(Mutex<BTreeMap<PathBuf, Arc<Content>>>);

/// The hash of a file, or the error of reading it.
type Content = OnceLock<Result<u128, RunError>>;

impl Contents {
    /// The key of the result of `scenario`: its own hash, that of the logs and traces that it reads, and the version of gridemu.
    ///
    /// # Errors
    /// If a log cannot be read, or can be read only once.
    pub(super) fn key(&self, scenario: &Scenario) -> Result<u128, RunError> {
        let mut all = format!("{RESULTS} {} {:032x}", env!("CARGO_PKG_VERSION"), scenario.hash);
        let resolved = &scenario.resolved;
        for planned in resolved.site_workloads.iter().flatten().chain(&resolved.portal) {
            if planned.workload.is_once() {
                let title = planned.workload.title();
                let problem = format!("`{title}` can be read only once, and a campaign has many runs");
                return Err(RunError::request(problem).with_hint("write it to a file first"));
            }
            let Some(path) = planned.workload.file().map_err(RunError::request)? else { continue };
            all += &format!(" {:032x}", self.of(&path)?);
        }
        for (trace, _) in resolved.traces() {
            all += &format!(" {:032x}", trace.digest());
        }
        for trace in resolved.failure_traces() {
            all += &format!(" {:032x}", trace.digest());
        }
        Ok(xxh3_128(all.as_bytes()))
    }

    fn of(&self, path: &Path) -> Result<u128, RunError> {
        let content = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(path.to_owned()).or_default())
        };
        content.get_or_init(|| hash(path)).clone()
    }
}

fn hash(path: &Path) -> Result<u128, RunError> {
    let fail = |error| RunError::request(format!("cannot read `{}`: {error}", path.display()));
    let mut file = File::open(path).map_err(fail)?;
    let (mut hash, mut buffer) = (Xxh3::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer).map_err(fail)? {
            0 => return Ok(hash.digest128()),
            read => hash.update(&buffer[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::outcome::Outcome;
    use super::super::{Campaign, CampaignOptions};
    use super::*;
    use crate::experiment::Progress;
    use crate::grid::Policies;
    use crate::store::{ResultStore, StoreOptions};

    /// Two sites with local users, a broker, machines that fail, prices and classes: a part of every measure.
    const GRID: &str = "[scenario]
seed = 3
classes = \"kettimuthu-4\"
[[scenario.site]]
name = \"delft\"
machines = [{ class = \"node\", count = 32, idle = \"60 W\", busy = \"150 W\", price = \"0.04/core-h\" }]
workload = { lublin = { jobs = 120, load = 0.5 } }
[[scenario.site]]
name = \"leiden\"
machines = [{ class = \"node\", count = 16 }]
churn = { up = \"exponential[mean=2 d]\", down = \"exponential[mean=1 h]\", on_failure = \"requeue\" }
[scenario.broker]
policy = \"mct\"
[[scenario.workload]]
poisson = { jobs = 80, load = 0.3, size = \"1/2/4\", runtime = \"exponential[mean=20 min]\" }
";

    /// Hashes everything that is kept of one run. If this fails, results in older stores differ from those of present runs.
    #[test]
    fn other_results_have_another_version() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("golden.toml");
        std::fs::write(&file, GRID).unwrap();
        let campaign = Campaign::load(&file, &[], &Policies::standard()).unwrap();
        let options = CampaignOptions::new(folder.path().join("store"));
        let ran = campaign.run(&options, &Progress::default()).unwrap();
        assert_eq!(ran.failed().collect::<Vec<_>>(), []);
        let store = ResultStore::open(&options.store, None, StoreOptions::PATIENCE).unwrap();
        let key = campaign.runs()[0].key;
        let outcome = &Outcome::decode(&store.get(key).unwrap().unwrap()).unwrap();
        let shown = &campaign.known(&store).unwrap()[&key].measures;
        assert_eq!(
            shown.len(),
            campaign.file.measures.len(),
            "of all that is kept only what is asked for is in memory"
        );
        let names: Vec<&str> = outcome.measures.keys().map(String::as_str).collect();
        assert!(
            names.contains(&"churn.recovery.major_outages") && names.contains(&"site.leiden.mean_wait"),
            "{names:?}"
        );
        let kept = xxh3_128(&postcard::to_stdvec(outcome).unwrap());
        let found =
            format!("RESULTS {RESULTS}: {} measures of {}, {kept:032x}", names.len(), outcome.fingerprint);
        assert_eq!(
            found,
            "RESULTS 17: 429 measures of 438:9273f77a6e9d5eb7497ef90040a79dd1, 72296c4d1b6f2d68376630e0b8678699",
            "what a run gives, or what is kept of it, has changed: raise RESULTS, so that stores of before are done anew, and write the line that was found here"
        );
    }
}
