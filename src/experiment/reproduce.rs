//! Papers as runnable experiments: a folder of claims and campaigns in, verdicts and a page out.
//!
//! `claims.toml` of the folder says what was published and where; each claim names the campaign of the folder that measures it.
//! What a claim is held against, and how, is the business of [`crate::metrics::claims`].

mod file;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::archive;
use super::campaign::{Campaign, CampaignOptions, CampaignRan};
use super::{Control, RunError};
use crate::broker::BrokerRegistry;
use crate::local::Registry;
use crate::metrics::StudyTable;
use crate::metrics::claims::{ClaimError, Judgement, Measured, check_claim, judge, measure_claim};

pub use file::{ClaimOnPage, Figure, Paper};

/// How a paper is reproduced.
#[derive(Clone, Debug)]
pub struct ReproduceOptions {
    /// The folder of the results of its campaigns, a store for each.
    pub store: PathBuf,
    /// Runs at a time; `None` for as many as there are cores.
    pub threads: Option<usize>,
    /// By which it can be stopped.
    pub control: Control,
}

/// What became of the claims of a paper.
#[derive(Clone, Debug, Serialize)]
pub struct Reproduction {
    /// What the folder is called.
    pub name: String,
    /// Title, text and papers.
    pub paper: Paper,
    /// Each claim with its verdict, in the order of the file.
    pub claims: Vec<(ClaimOnPage, Judgement)>,
    /// The campaigns that were run, by the names of their files.
    #[serde(skip)]
    pub tables: BTreeMap<String, StudyTable>,
    /// Campaigns that were not run, and why.
    pub missing: BTreeMap<String, String>,
    /// Runs that failed.
    pub failed: usize,
}

/// Reads the claims of `folder`, runs its campaigns, and gives the verdicts.
///
/// `run` runs one campaign, with its name for who watches. A campaign whose log is not at hand is not run; its claims
/// cannot be compared, and say so.
///
/// # Errors
/// [`RunError::Request`] before anything is run, if a claim has no source or does not fit its campaign;
/// [`RunError::Run`] or [`RunError::Stopped`] if a campaign cannot go on.
pub fn reproduce(
    folder: &Path,
    options: &ReproduceOptions,
    mut run: impl FnMut(&Campaign, &CampaignOptions) -> Result<CampaignRan, RunError>,
) -> Result<Reproduction, RunError> {
    let (paper, claims) = file::read(folder)?;
    let (registry, brokers) = (Registry::standard(), BrokerRegistry::standard());
    let mut campaigns: BTreeMap<String, Campaign> = BTreeMap::new();
    let (mut missing, mut logs) = (BTreeMap::new(), BTreeSet::new());
    let named: BTreeSet<&String> = claims.iter().filter_map(|claim| claim.campaign.as_ref()).collect();
    for name in named {
        let path = folder.join(name);
        let facts = Facts::of(&path)?;
        if facts.log {
            logs.insert(name.clone());
        }
        match facts.missing {
            Some(why) => {
                missing.insert(name.clone(), why);
            }
            None => {
                campaigns.insert(name.clone(), Campaign::load(&path, &[], &registry, &brokers)?);
            }
        }
    }
    for claim in &claims {
        if let Some(campaign) = claim.campaign.as_ref().and_then(|name| campaigns.get(name)) {
            fits(claim, campaign).map_err(|error| refused(&error, folder, claim))?;
        }
    }
    let mut tables = BTreeMap::new();
    for (name, campaign) in &campaigns {
        let options = CampaignOptions {
            threads: options.threads,
            control: options.control.clone(),
            ..CampaignOptions::new(options.store.join(campaign.name()))
        };
        tables.insert(name.clone(), run(campaign, &options)?.table);
    }
    let mut measured = Vec::new();
    for claim in &claims {
        measured.push(match claim.campaign.as_ref().map(|name| (name, tables.get(name))) {
            Some((_, Some(table))) => {
                measure_claim(&claim.claim, table).map_err(|error| refused(&error, folder, claim))?
            }
            Some((name, None)) => Measured::Missing(missing.get(name).cloned().unwrap_or_default()),
            None => Measured::Missing(String::new()),
        });
    }
    let single = |claim: &ClaimOnPage| claim.campaign.as_ref().is_some_and(|name| logs.contains(name));
    let page: Vec<_> = claims
        .iter()
        .zip(&measured)
        .map(|(claim, measured)| (&claim.claim, measured, single(claim)))
        .collect();
    let mut judgements = judge(&page);
    for (claim, judgement) in claims.iter().zip(&mut judgements) {
        if let Some(why) = &claim.not_comparable {
            judgement.reason = [why.as_str(), judgement.reason.as_str()]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join("; ");
        }
    }
    let failed = tables
        .values()
        .flat_map(|table| &table.rows)
        .filter(|row| row.status != crate::metrics::RunStatus::Done);
    let failed = failed.count();
    let name =
        folder.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    Ok(Reproduction {
        name: name.unwrap_or_else(|| "paper".to_owned()),
        paper,
        claims: claims.into_iter().zip(judgements).collect(),
        tables,
        missing,
        failed,
    })
}

fn refused(error: &ClaimError, folder: &Path, claim: &ClaimOnPage) -> RunError {
    let refused = RunError::request(format!("{}:{}: {error}", folder.join(file::NAME).display(), claim.line));
    match error.hint() {
        Some(hint) => refused.with_hint(hint),
        None => refused,
    }
}

fn fits(claim: &ClaimOnPage, campaign: &Campaign) -> Result<(), ClaimError> {
    let axes: Vec<&str> = campaign.axes().collect();
    let labels = |axis: usize| {
        let mut labels: Vec<String> = Vec::new();
        for run in campaign.runs() {
            if !labels.contains(&run.point[axis]) {
                labels.push(run.point[axis].clone());
            }
        }
        labels
    };
    check_claim(&claim.claim, &axes, &labels)
}

/// What is to be known of a campaign before it is loaded.
struct Facts {
    /// Whether its jobs are those of a log.
    log: bool,
    /// A log of an archive that is not at hand.
    missing: Option<String>,
}

impl Facts {
    fn of(campaign: &Path) -> Result<Self, RunError> {
        let mut facts = Self { log: false, missing: None };
        let table = parsed(campaign)?;
        let base = table.get("scenario").and_then(toml::Value::as_str);
        if let Some(base) = base.map(|base| campaign.with_file_name(base)).filter(|base| base.is_file()) {
            facts.look_at(&parsed(&base)?);
        }
        facts.look_at(&table);
        Ok(facts)
    }

    fn look_at(&mut self, value: &toml::Value) {
        match value {
            toml::Value::String(text) if archive::names(text) => {
                self.log = true;
                if let Err(why) = archive::find(text) {
                    self.missing.get_or_insert(why);
                }
            }
            toml::Value::Array(items) => items.iter().for_each(|item| self.look_at(item)),
            toml::Value::Table(entries) => {
                self.log |= entries.contains_key("log");
                entries.iter().for_each(|(_, entry)| self.look_at(entry));
            }
            _ => {}
        }
    }
}

fn parsed(path: &Path) -> Result<toml::Value, RunError> {
    let text = fs::read_to_string(path).map_err(|error| {
        RunError::request(format!("`{}` cannot be read: {error}", path.display()))
            .with_hint("the `campaign` of a claim is a file in the folder of the claims")
    })?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        RunError::request(format!("{}: {}", path.display(), error.message()))
    })?;
    Ok(toml::Value::Table(table))
}
