//! Papers as runnable experiments: from a folder with claims and campaigns to verdicts and a page.
//!
//! `claims.toml` in the folder contains published statements with their sources; each claim names the campaign of the
//! folder that measures it. [`crate::study::claims`] defines how a claim is compared with the measurements.

mod figure;
mod figure_name;
mod file;
mod jobs;
mod statement;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::campaign::{Campaign, CampaignOptions, CampaignRan, MEASURES};
use crate::experiment::{Control, RunError};
use crate::grid::Policies;
use crate::model::JobClasses;
use crate::output::files;
use crate::scenario::archive;
use crate::study::claims::{
    Claim, ClaimError, Judgement, Measured, Runs, check_claim, concerns, judge, measure_claim, refuse,
};
use crate::study::{RunStatus, StudyTable, nearest_measure, stands_for};

pub use figure::{Figure, Shows};
pub(crate) use figure_name::plain;
pub use file::Paper;
use file::at_line;
use jobs::LoggedJobs;

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
    pub claims: Vec<(Claim, Judgement)>,
    /// The measurements for each claim, in the same order.
    #[serde(skip)]
    pub measured: Vec<Measured>,
    /// The campaigns that were run, by the names of their files.
    #[serde(skip)]
    pub tables: BTreeMap<String, StudyTable>,
    /// The job classes of the campaigns of which a figure shows classes.
    #[serde(skip)]
    pub classes: BTreeMap<String, JobClasses>,
    /// Campaigns that were not run, with the reason.
    pub missing: BTreeMap<String, String>,
    /// Runs that failed.
    pub failed: usize,
    /// Whether a campaign reads files of an archive.
    pub archive: bool,
}

/// Reads the claims of `folder`, runs its campaigns, and gives the verdicts.
///
/// `run` runs one campaign; it gets its name, for a progress display. A campaign whose log is missing is not run; its
/// claims are reported as not comparable.
///
/// # Errors
/// `RunErrorKind::Request` before anything is run, if a claim has no source or does not fit its campaign; `RunErrorKind::Run`
/// or `RunErrorKind::Stopped` if a campaign cannot continue.
pub fn reproduce(
    folder: &Path,
    options: &ReproduceOptions,
    policies: &Policies,
    mut run: impl FnMut(&Campaign, &CampaignOptions) -> Result<CampaignRan, RunError>,
) -> Result<Reproduction, RunError> {
    let (paper, claims) = file::read(folder)?;
    let mut campaigns: BTreeMap<&String, Campaign> = BTreeMap::new();
    let mut missing = BTreeMap::new();
    let mut requested: BTreeMap<&String, Vec<String>> = BTreeMap::new();
    let named: BTreeSet<&String> = claims.iter().filter_map(|claim| claim.campaign.as_ref()).collect();
    let mut archive = false;
    for name in named {
        let path = folder.join(name);
        let (measures, missing_log, of_archive) = facts(&path)?;
        archive |= of_archive;
        requested.insert(name, measures);
        if let Some(why) = missing_log {
            missing.insert(name.clone(), why);
        } else {
            campaigns.insert(name, Campaign::load(&path, &[], policies)?);
        }
    }
    for claim in &claims {
        if let Some(campaign) = claim.campaign.as_ref().and_then(|name| campaigns.get(name)) {
            let axes: Vec<&str> = campaign.axes().collect();
            check_claim(claim, &axes, &|axis| campaign.labels(axis))
                .and_then(|()| check_log(claim, &axes, campaign))
                .map_err(|error| at_line(folder, claim.line, &error))?;
        }
    }
    // Claims that cannot be run here are checked too: others may have the log.
    for claim in &claims {
        let Some(campaign) = &claim.campaign else { continue };
        for id in claim.measures.iter().chain(&claim.than_measures) {
            check_requested(campaign, &requested[campaign], id)
                .map_err(|error| at_line(folder, claim.line, &error.of(&format!("claim `{}`", claim.id))))?;
        }
    }
    let mut classes = BTreeMap::new();
    for figure in &paper.figures {
        let (Some(campaign), measures) = (figure.shows.campaign(), figure.shows.measures()) else { continue };
        let check = |ids: &Vec<String>| measures.iter().try_for_each(|id| check_requested(campaign, ids, id));
        let measured = requested.get(campaign).map_or(Ok(()), check);
        let fits = measured.and_then(|()| match campaigns.get(campaign) {
            Some(campaign) => figure::check_figure(&figure.shows, campaign),
            None => Ok(()),
        });
        fits.map_err(|error| at_line(folder, figure.line, &error.of("a figure")))?;
        if let (Shows::HeatMap { .. }, Some(of)) = (&figure.shows, campaigns.get(campaign)) {
            let found = same_classes(campaign, of.classes()?);
            let found = found.map_err(|error| at_line(folder, figure.line, &error.of("a figure")))?;
            classes.insert(campaign.clone(), found);
        }
    }
    let mut tables = BTreeMap::new();
    for (name, campaign) in &campaigns {
        let options = CampaignOptions {
            threads: options.threads,
            folders: jobs::needed(campaign, name, &claims).then(|| jobs::folder(&options.store, campaign)),
            control: options.control.clone(),
            ..CampaignOptions::new(options.store.join(campaign.name()))
        };
        tables.insert((*name).clone(), run(campaign, &options)?.table);
    }
    let logged = LoggedJobs::of_store(&options.store);
    let mut measured = Vec::new();
    for claim in &claims {
        let missing = claim.campaign.as_ref().and_then(|name| missing.get(name)).cloned();
        let campaign = claim.campaign.as_ref();
        measured.push(match campaign.and_then(|name| campaigns.get(name).zip(tables.get(name))) {
            Some((campaign, table)) => {
                let drawn = |run: u64| jobs::planned(campaign, run).is_none_or(|planned| planned.drawn);
                let of = |run: u64| logged.of(campaign, run);
                let runs = Runs { drawn: &drawn, jobs: &of };
                measure_claim(claim, table, runs).map_err(|error| at_line(folder, claim.line, &error))?
            }
            None => Measured::Missing(missing.unwrap_or_default()),
        });
    }
    let judgements: Vec<Judgement> =
        claims.iter().zip(&measured).map(|(claim, measured)| judge(claim, measured)).collect();
    let rows = tables.values().flat_map(|table| &table.rows);
    let failed = rows.filter(|row| row.status != RunStatus::Done).count();
    let name =
        folder.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    Ok(Reproduction {
        name: name.unwrap_or_else(|| "paper".to_owned()),
        paper,
        claims: claims.into_iter().zip(judgements).collect(),
        measured,
        tables,
        classes,
        missing,
        failed,
        archive,
    })
}

/// Checks that nothing is drawn in the runs of a claim on one very log.
fn check_log(claim: &Claim, axes: &[&str], campaign: &Campaign) -> Result<(), ClaimError> {
    let drawn = campaign.runs().iter().find(|run| run.drawn && concerns(claim, axes, &run.point));
    let Some(run) = drawn.filter(|_| claim.on_this_log) else { return Ok(()) };
    refuse(
        format!(
            "claim `{}`: `on_this_log`, and something is drawn at random in its runs ({})",
            claim.id,
            run.point.join(", ")
        ),
        "leave `on_this_log` out: seeds give an interval",
    )
}

/// The job classes that all runs of the campaign have.
fn same_classes(campaign: &str, found: Option<JobClasses>) -> Result<JobClasses, ClaimError> {
    match found {
        Some(classes) if classes.count() > 1 => Ok(classes),
        Some(_) => {
            let hint = "set `classes` in its scenario, such as `classes = \"kettimuthu-16\"`";
            refuse(format!("the jobs of {campaign} are not divided into classes"), hint)
        }
        None => refuse(
            format!("the runs of {campaign} have different job classes"),
            "a table shows the same classes of all runs: leave the axis of `classes` out",
        ),
    }
}

/// Checks that `campaign`, which requests `measures`, has the measure `id`.
fn check_requested(campaign: &str, measures: &[String], id: &str) -> Result<(), ClaimError> {
    if measures.iter().any(|requested| stands_for(requested, id)) {
        return Ok(());
    }
    let hint = match nearest_measure(id, measures.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`? If not, add `{id}` to the `measures` of {campaign}"),
        None => format!("add `{id}` to the `measures` of {campaign}"),
    };
    refuse(format!("the campaign does not measure `{id}`"), hint)
}

/// The measures that a campaign requests, a log of an archive that is missing, if any, and whether it names one: known before it is loaded.
fn facts(campaign: &Path) -> Result<(Vec<String>, Option<String>, bool), RunError> {
    let table = parsed(campaign)?;
    let measures = match table.get("measures").and_then(toml::Value::as_array) {
        Some(ids) => ids.iter().filter_map(toml::Value::as_str).map(str::to_owned).collect(),
        None => MEASURES.map(str::to_owned).to_vec(),
    };
    let base = table.get("scenario").and_then(toml::Value::as_str);
    let base = base.map(|base| campaign.with_file_name(base)).filter(|base| base.is_file());
    let base = base.map(|base| parsed(&base)).transpose()?;
    let archive = base.iter().chain([&table]).any(names_archive);
    let in_base = base.as_ref().and_then(missing_log);
    Ok((measures, in_base.or_else(|| missing_log(&table)), archive))
}

/// Whether a file names a log of an archive.
fn names_archive(value: &toml::Value) -> bool {
    match value {
        toml::Value::String(text) => archive::names(text),
        toml::Value::Array(items) => items.iter().any(names_archive),
        toml::Value::Table(entries) => entries.iter().any(|(_, entry)| names_archive(entry)),
        _ => false,
    }
}

/// The first log of an archive that a file names and that is missing, in words.
fn missing_log(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) if archive::names(text) => archive::find(text).err(),
        toml::Value::Array(items) => items.iter().find_map(missing_log),
        toml::Value::Table(entries) => entries.iter().find_map(|(_, entry)| missing_log(entry)),
        _ => None,
    }
}

fn parsed(path: &Path) -> Result<toml::Value, RunError> {
    let text = files::text(path).map_err(|error| {
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
