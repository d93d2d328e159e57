//! A folder for the files of each run, on request.

use std::fs;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::{Campaign, PlannedRun};

/// The longest name of a folder.
const LONGEST: usize = 120;

/// The folder for the files of a run: `DIR/policy=easy,load=0.7,seed=3`.
pub(super) fn folder(campaign: &Campaign, run: &PlannedRun, dir: &Path) -> PathBuf {
    let axes = campaign.axes().zip(&run.point).map(|(axis, label)| format!("{axis}={label}"));
    let full = axes.chain([format!("seed={}", run.seed)]).collect::<Vec<_>>().join(",");
    let plain = |c: char| if c.is_ascii_alphanumeric() || ".,=+-_".contains(c) { c } else { '_' };
    let mut name: String = full.chars().map(plain).take(LONGEST).collect();
    if name != full {
        // Two labels may differ only in characters that are replaced in the name of the folder.
        name += &format!("-{:08x}", xxh3_64(full.as_bytes()) >> 32);
    }
    dir.join(name)
}

impl Campaign {
    /// The folder in `dir` for the files of a run.
    pub fn folder_of(&self, run: &PlannedRun, dir: &Path) -> PathBuf {
        folder(self, run, dir)
    }
}

/// True if the folder has the files of a finished run of this scenario with these records. Its logs or gridemu may have changed since.
pub(super) fn is_whole(folder: &Path, scenario_hash: u128, fingerprint: &str) -> bool {
    let Ok(summary) = fs::read(folder.join("summary.json")) else { return false };
    let Ok(summary) = serde_json::from_slice::<serde_json::Value>(&summary) else { return false };
    summary["scenario_hash"].as_str() == Some(&format!("{scenario_hash:032x}"))
        && summary["fingerprint"].as_str() == Some(fingerprint)
}
