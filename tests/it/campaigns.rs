//! Campaigns: files, runs, stores and shards.

mod commands;
mod killed;
mod refused;
mod running;
#[cfg(target_os = "linux")]
mod slurm;

use std::path::{Path, PathBuf};

use gridemu::experiment::{Progress, RunError};
use gridemu::grid::Policies;
use gridemu::scenario::Override;
use gridemu::study::StudyTable;
use gridemu::study::campaign::{Campaign, CampaignOptions, CampaignRan};

const FOLDER: &str = "tests/it/scenarios/campaigns";

fn file(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

fn load(file: &Path, sets: &[&str]) -> Result<Campaign, RunError> {
    let sets: Vec<Override> = sets.iter().map(|set| Override::set(set)).collect();
    Campaign::load(file, &sets, &Policies::standard())
}

/// The campaign of a text that names `base.toml` as its scenario.
fn of(text: &str) -> Result<Campaign, RunError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(file("base.toml"), folder.path().join("base.toml")).unwrap();
    let path = folder.path().join("text.toml");
    std::fs::write(&path, text).unwrap();
    load(&path, &[])
}

fn run(campaign: &Campaign, options: &CampaignOptions) -> CampaignRan {
    campaign.run(options, &Progress::default()).unwrap()
}

fn csv(table: &StudyTable) -> String {
    let mut text = Vec::new();
    table.write_csv(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}
