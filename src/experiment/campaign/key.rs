//! What a result depends on, as one number.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::experiment::RunError;
use crate::experiment::scenario::Scenario;

/// Goes up with every change of gridemu that changes what a run gives, or what is kept of it: results of before are then done anew.
const RESULTS: u32 = 1;

/// The contents of the logs that a campaign reads, each read once.
#[derive(Debug, Default)]
pub(super) struct Contents(Mutex<BTreeMap<PathBuf, Arc<Content>>>);

/// The hash of a file, or why it cannot be read.
type Content = OnceLock<Result<u128, RunError>>;

impl Contents {
    /// The key of the result of `scenario`: its own hash, that of the logs that it reads, and the version of gridemu.
    ///
    /// # Errors
    /// If a log cannot be read, or can be read only once.
    pub(super) fn key(&self, scenario: &Scenario) -> Result<u128, RunError> {
        let mut all = format!("{RESULTS} {} {:032x}", env!("CARGO_PKG_VERSION"), scenario.hash);
        let meaning = &scenario.meaning;
        for planned in meaning.site_workloads.iter().flatten().chain(&meaning.portal) {
            let Some(path) = planned.workload.file().map_err(RunError::request)? else { continue };
            if planned.workload.is_once() {
                let said =
                    format!("`{}` can be read only once, and a campaign has many runs", path.display());
                return Err(RunError::request(said).with_hint("write it to a file first"));
            }
            all += &format!(" {:032x}", self.of(&path)?);
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
