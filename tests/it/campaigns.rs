//! Campaigns: files, runs, stores and parts.

mod commands;
mod killed;
mod refused;
mod running;

use std::path::{Path, PathBuf};

use gridemu::broker::BrokerRegistry;
use gridemu::experiment::campaign::{Campaign, CampaignOptions, CampaignRan};
use gridemu::experiment::scenario::Override;
use gridemu::experiment::{Progress, RunError};
use gridemu::local::Registry;
use gridemu::metrics::StudyTable;

const FOLDER: &str = "tests/it/scenarios/campaigns";

fn file(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

fn load(file: &Path, sets: &[&str]) -> Result<Campaign, RunError> {
    let sets: Vec<Override> = sets.iter().map(|set| Override::set(set)).collect();
    Campaign::load(file, &sets, &Registry::standard(), &BrokerRegistry::standard())
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
