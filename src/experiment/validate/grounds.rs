//! Where the grid of a folder is described.

use std::collections::BTreeMap;

use crate::broker::BrokerRegistry;
use crate::experiment::scenario::Scenario;
use crate::experiment::{RunError, StoredRun, rerun};
use crate::local::{Abilities, Registry};
use crate::metrics::legal::{Ground, Rule};
use crate::model::{MAX_PROCESSORS, Named, SiteSpec};
use crate::report::{FolderKind, RunFolder};

use super::GridFrom;

/// A grid, and what is known of it.
pub(super) struct Found {
    pub(super) sites: Vec<Ground>,
    /// In words.
    pub(super) told: String,
    /// Whether sites have users of their own.
    pub(super) has_local: bool,
    /// Whether every job takes exactly what it asks for.
    pub(super) rigid: bool,
    pub(super) unchecked: BTreeMap<Rule, String>,
}

/// Finds the grid.
pub(super) fn find(
    folder: &RunFolder,
    from: &GridFrom,
    registry: &Registry,
    brokers: &BrokerRegistry,
) -> Result<Found, RunError> {
    match from {
        GridFrom::Scenario(file) => of_scenario(&Scenario::load(file, &[], registry, brokers)?, registry),
        GridFrom::Procs(0) => Err(RunError::request("`--procs` is 0; a machine has at least one processor")),
        GridFrom::Procs(procs) if *procs > MAX_PROCESSORS => {
            Err(RunError::request(format!("`--procs` is {procs}; the most is {MAX_PROCESSORS}")))
        }
        GridFrom::Procs(procs) => {
            let spec = SiteSpec::plain("the machine", *procs, Named::bare("fcfs"));
            let mut found = of_sites(vec![Ground { spec, abilities: Abilities::PLAIN }], "as `--procs` says");
            let why = "`--procs` says how many processors there are, and nothing more".to_owned();
            found.unchecked.insert(Rule::Reservation, why);
            let why = "how fast the processors are is not known, nor what the workload asked for".to_owned();
            found.unchecked.insert(Rule::Work, why);
            Ok(found)
        }
        GridFrom::Folder => in_folder(folder, registry, brokers),
    }
}

fn in_folder(folder: &RunFolder, registry: &Registry, brokers: &BrokerRegistry) -> Result<Found, RunError> {
    if let Some(text) = folder.scenario()? {
        let file = folder.dir().join("scenario.toml");
        return of_scenario(&Scenario::read(&file, &text, &[], registry, brokers)?, registry);
    }
    let said = |key: &str| folder.summary().map(|summary| &summary[key]);
    let procs = said("procs").and_then(serde_json::Value::as_u64).and_then(|procs| u32::try_from(procs).ok());
    if folder.replay()?.is_some()
        && let StoredRun::Replay(replay) = rerun(folder, registry.clone(), brokers.clone())?
    {
        let [policy, ..] = replay.policies() else { return Err(RunError::request("no policy was replayed")) };
        let Some(procs) = procs.or(replay.procs()) else {
            let file = folder.jobs_path().display();
            let said = format!(
                "`{file}`: how many processors this replay ran on stands in the summary.json of its folder, which is not at hand"
            );
            return Err(RunError::request(said).with_hint("give the folder, or say how many: `--procs N`"));
        };
        let spec = replay.site(policy, procs);
        let found = of_sites(vec![ground(spec, registry)?], "as its replay.json says");
        return Ok(if replay.resizes() { resizable(found) } else { found });
    }
    let hint = "say what it ran on: `--procs N` for one machine, or `--scenario FILE`";
    let told = match folder.kind() {
        FolderKind::Batsim => "Batsim's table of jobs does not say how many machines there are",
        _ => "nothing in this folder says what grid it ran on",
    };
    Err(RunError::request(format!("`{}`: {told}", folder.jobs_path().display())).with_hint(hint))
}

fn of_scenario(scenario: &Scenario, registry: &Registry) -> Result<Found, RunError> {
    let meaning = &scenario.meaning;
    let sites = meaning.grid.sites.iter().map(|spec| ground(spec.clone(), registry));
    let sites: Vec<Ground> = sites.collect::<Result<_, _>>()?;
    let told = format!("as `{}` says", scenario.file.display());
    let has_local = meaning.site_workloads.iter().any(Option::is_some);
    let found = Found { has_local, ..of_sites(sites, &told) };
    let mut workloads = meaning.site_workloads.iter().flatten().chain(&meaning.portal);
    Ok(if workloads.any(|workload| workload.shaping.malleable) { resizable(found) } else { found })
}

/// A grid of which some jobs may have had other processors than they asked for.
fn resizable(mut found: Found) -> Found {
    let why = "jobs of this run are malleable, so neither their sizes nor their rates are looked at, nor what they have done".to_owned();
    found.unchecked.insert(Rule::Work, why);
    Found { rigid: false, ..found }
}

fn ground(spec: SiteSpec, registry: &Registry) -> Result<Ground, RunError> {
    let (_, abilities) = registry.build(&spec.policy).map_err(RunError::request)?;
    Ok(Ground { spec, abilities })
}

fn of_sites(sites: Vec<Ground>, source: &str) -> Found {
    let processors: u64 =
        sites.iter().flat_map(|site| &site.spec.partitions).map(|part| u64::from(part.processors())).sum();
    let count = match sites.len() {
        1 => "1 site".to_owned(),
        count => format!("{count} sites"),
    };
    let told = format!("{count}, {processors} processors, {source}");
    Found { sites, told, has_local: true, rigid: true, unchecked: BTreeMap::new() }
}
