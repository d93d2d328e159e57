//! Papers as runnable experiments: a folder of claims and campaigns in, verdicts and a page out.
//!
//! `claims.toml` of the folder says what was published and where; each claim names the campaign of the folder that measures it.
//! What a claim is held against, and how, is the business of [`crate::metrics::claims`].

mod figure;
mod file;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::archive;
use super::campaign::{Campaign, CampaignOptions, CampaignRan, MEASURES};
use super::{Control, RunError};
use crate::broker::BrokerRegistry;
use crate::local::Registry;
use crate::metrics::claims::{ClaimError, Judgement, Measured, check_claim, judge, measure_claim};
use crate::metrics::{StudyTable, nearest_measure, stands_for};

pub(crate) use figure::plain;
pub use figure::{Figure, Shows};
pub use file::{ClaimOnPage, Paper};

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
    /// What was measured for each claim, in the same order.
    #[serde(skip)]
    pub measured: Vec<Measured>,
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
    let mut missing = BTreeMap::new();
    let mut asked: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let named: BTreeSet<&String> = claims.iter().filter_map(|claim| claim.campaign.as_ref()).collect();
    for name in named {
        let path = folder.join(name);
        let facts = Facts::of(&path)?;
        asked.insert(name.clone(), facts.measures);
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
    // Also of what cannot be run here: somebody else has the log.
    for claim in &claims {
        let campaign = claim.campaign.as_ref();
        let Some((campaign, measures)) = campaign.and_then(|name| asked.get_key_value(name)) else {
            continue;
        };
        for id in &claim.claim.measures {
            measured_by(campaign, measures, id).map_err(|(said, hint)| {
                at_line(folder, claim.line, &format!("claim `{}`: {said}", claim.id), Some(hint))
            })?;
        }
    }
    for figure in &paper.figures {
        let Shows::Curves { campaign, measure, .. } = &figure.shows else { continue };
        if let Some(measures) = asked.get(campaign) {
            measured_by(campaign, measures, measure).map_err(|(said, hint)| {
                at_line(folder, figure.line, &format!("a figure: {said}"), Some(hint))
            })?;
        }
        let Some(campaign) = campaigns.get(campaign) else { continue };
        figure::fits(&figure.shows, campaign)
            .map_err(|(said, hint)| at_line(folder, figure.line, &said, hint))?;
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
                let campaign = claim.campaign.as_ref().and_then(|name| campaigns.get(name));
                let runs = campaign.map_or(&[][..], Campaign::runs);
                let planned = |run: u64| runs.get(usize::try_from(run).ok()?.checked_sub(1)?);
                let drawn = |run: u64| planned(run).is_none_or(|planned| planned.drawn);
                measure_claim(&claim.claim, table, &drawn).map_err(|error| refused(&error, folder, claim))?
            }
            Some((name, None)) => Measured::Missing(missing.get(name).cloned().unwrap_or_default()),
            None => Measured::Missing(String::new()),
        });
    }
    let page: Vec<_> =
        claims.iter().zip(&measured).map(|(claim, measured)| (&claim.claim, measured)).collect();
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
        measured,
        tables,
        missing,
        failed,
    })
}

/// Whether `campaign`, which asks for `measures`, has the measure `id`; if not, what to say, and what to do.
fn measured_by(campaign: &str, measures: &[String], id: &str) -> Result<(), (String, String)> {
    if measures.iter().any(|asked| stands_for(asked, id)) {
        return Ok(());
    }
    let hint = match nearest_measure(id, measures.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`? If not, add `{id}` to the `measures` of {campaign}"),
        None => format!("add `{id}` to the `measures` of {campaign}"),
    };
    Err((format!("the campaign does not measure `{id}`"), hint))
}

fn at_line(folder: &Path, line: usize, said: &str, hint: Option<String>) -> RunError {
    let refused = RunError::request(format!("{}:{line}: {said}", folder.join(file::NAME).display()));
    refused.with_maybe_hint(hint)
}

fn refused(error: &ClaimError, folder: &Path, claim: &ClaimOnPage) -> RunError {
    RunError::request(format!("{}:{}: {error}", folder.join(file::NAME).display(), claim.line))
        .with_maybe_hint(error.hint())
}

fn fits(claim: &ClaimOnPage, campaign: &Campaign) -> Result<(), ClaimError> {
    let axes: Vec<&str> = campaign.axes().collect();
    check_claim(&claim.claim, &axes, &|axis| labels(campaign, axis))
}

/// The labels on an axis of a campaign.
fn labels(campaign: &Campaign, axis: usize) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for run in campaign.runs() {
        if !labels.contains(&run.point[axis]) {
            labels.push(run.point[axis].clone());
        }
    }
    labels
}

/// What is to be known of a campaign before it is loaded.
struct Facts {
    /// A log of an archive that is not at hand.
    missing: Option<String>,
    /// The measures that it asks for.
    measures: Vec<String>,
}

impl Facts {
    fn of(campaign: &Path) -> Result<Self, RunError> {
        let table = parsed(campaign)?;
        let ids = table.get("measures").and_then(toml::Value::as_array);
        let measures = match ids {
            Some(ids) => ids.iter().filter_map(toml::Value::as_str).map(str::to_owned).collect(),
            None => MEASURES.map(str::to_owned).to_vec(),
        };
        let mut facts = Self { missing: None, measures };
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
                if let Err(why) = archive::find(text) {
                    self.missing.get_or_insert(why);
                }
            }
            toml::Value::Array(items) => items.iter().for_each(|item| self.look_at(item)),
            toml::Value::Table(entries) => entries.iter().for_each(|(_, entry)| self.look_at(entry)),
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

#[cfg(test)]
mod tests;
