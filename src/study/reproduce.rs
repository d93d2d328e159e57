//! Papers as runnable experiments: from a folder with claims and campaigns to verdicts and a page.
//!
//! `claims.toml` in the folder contains published statements with their sources; each claim names the campaign of the
//! folder that measures it. [`crate::study::claims`] defines how a claim is compared with the measurements.

mod figure;
mod file;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::campaign::{Campaign, CampaignOptions, CampaignRan, MEASURES};
use crate::experiment::{Control, RunError};
use crate::grid::Policies;
use crate::scenario::archive;
use crate::study::claims::{ClaimError, Judgement, Measured, check_claim, judge, measure_claim};
use crate::study::{StudyTable, nearest_measure, stands_for};

pub(crate) use figure::plain;
pub use figure::{Figure, Shows};
pub use file::{ClaimOnPage, Paper};

/// Options of reproducing a paper.
#[derive(Clone, Debug)]
pub struct ReproduceOptions {
    /// The folder of the results of its campaigns, with one store each.
    pub store: PathBuf,
    /// The number of runs at a time; `None` for the number of cores.
    pub threads: Option<usize>,
    /// Stops the campaigns.
    pub control: Control,
}

/// The verdicts on the claims of a paper.
#[derive(Clone, Debug, Serialize)]
pub struct Reproduction {
    /// The name of the folder.
    pub name: String,
    /// Title, text and papers.
    pub paper: Paper,
    /// Each claim with its verdict, in the order of the file.
    pub claims: Vec<(ClaimOnPage, Judgement)>,
    /// The measurements for each claim, in the same order.
    #[serde(skip)]
    pub measured: Vec<Measured>,
    /// The campaigns that were run, by the names of their files.
    #[serde(skip)]
    pub tables: BTreeMap<String, StudyTable>,
    /// Campaigns that were not run, with the reason.
    pub missing: BTreeMap<String, String>,
    /// Runs that failed.
    pub failed: usize,
}

/// Reads the claims of `folder`, runs its campaigns, and gives the verdicts.
///
/// `run` runs one campaign; it gets its name, for a progress display. A campaign whose log is missing is not run; its
/// claims are reported as not comparable.
///
/// # Errors
/// [`RunError::Request`] before anything is run, if a claim has no source or does not fit its campaign; [`RunError::Run`]
/// or [`RunError::Stopped`] if a campaign cannot continue.
pub fn reproduce(
    folder: &Path,
    options: &ReproduceOptions,
    policies: &Policies,
    mut run: impl FnMut(&Campaign, &CampaignOptions) -> Result<CampaignRan, RunError>,
) -> Result<Reproduction, RunError> {
    let (paper, claims) = file::read(folder)?;
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
                campaigns.insert(name.clone(), Campaign::load(&path, &[], policies)?);
            }
        }
    }
    for claim in &claims {
        if let Some(campaign) = claim.campaign.as_ref().and_then(|name| campaigns.get(name)) {
            fits(claim, campaign).map_err(|error| refused(&error, folder, claim))?;
        }
    }
    // Claims that cannot be run here are checked too: others may have the log.
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
        .filter(|row| row.status != crate::study::RunStatus::Done);
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

/// Checks that `campaign`, which requests `measures`, has the measure `id`; otherwise returns a message and a hint.
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

/// Facts about a campaign before it is loaded.
struct Facts {
    /// A log of an archive that is missing.
    missing: Option<String>,
    /// The measures that it requests.
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
