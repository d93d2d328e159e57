//! Finds the description of the grid of a folder.

use std::collections::BTreeMap;

use super::GridFrom;
use crate::experiment::RunError;
use crate::experiment::rerun::kept;
use crate::grid::Policies;
use crate::local::Abilities;
use crate::model::{MAX_PROCESSORS, Named, SiteSpec};
use crate::output::{FolderKind, RunFolder};
use crate::scenario::Scenario;
use crate::verify::{PartitionFacts, Rule};

/// A grid and its properties.
pub(super) struct Found {
    pub(super) sites: Vec<PartitionFacts>,
    /// The source of the description, in words.
    pub(super) told: String,
    /// True if sites have local users.
    pub(super) has_local: bool,
    /// True if every job gets exactly the processors that it requests.
    pub(super) rigid: bool,
    pub(super) unchecked: BTreeMap<Rule, String>,
}

/// Finds the description of the grid.
pub(super) fn find(folder: &RunFolder, from: &GridFrom, policies: &Policies) -> Result<Found, RunError> {
    match from {
        GridFrom::Scenario(file) => of_scenario(&Scenario::load(file, &[], policies)?, policies),
        GridFrom::Procs(0) => Err(RunError::request("`--procs` is 0; a machine has at least one processor")),
        GridFrom::Procs(procs) if *procs > MAX_PROCESSORS => {
            Err(RunError::request(format!("`--procs` is {procs}; the most is {MAX_PROCESSORS}")))
        }
        GridFrom::Procs(procs) => {
            let spec = SiteSpec::plain("the machine", *procs, Named::bare("fcfs"));
            let mut found =
                of_sites(vec![PartitionFacts { spec, abilities: Abilities::PLAIN }], "as `--procs` says");
            let why = "`--procs` gives only the number of processors".to_owned();
            found.unchecked.insert(Rule::Reservation, why);
            let why = "the speed of the processors and the workload are not known".to_owned();
            found.unchecked.insert(Rule::Work, why);
            Ok(found)
        }
        GridFrom::Folder => in_folder(folder, policies),
    }
}

fn in_folder(folder: &RunFolder, policies: &Policies) -> Result<Found, RunError> {
    if let Some(scenario) = kept(folder, policies)? {
        return of_scenario(&scenario, policies);
    }
    let hint = "add `--procs N` for one machine, or `--scenario FILE`";
    let told = match folder.kind() {
        FolderKind::Batsim => "Batsim's table of jobs does not contain the number of machines",
        _ => "this folder has no scenario.toml and no replay.json",
    };
    Err(RunError::request(format!("`{}`: {told}", folder.jobs_path().display())).with_hint(hint))
}

fn of_scenario(scenario: &Scenario, policies: &Policies) -> Result<Found, RunError> {
    let resolved = &scenario.resolved;
    let sites = resolved.grid.sites.iter().map(|spec| facts(spec.clone(), policies));
    let sites: Vec<PartitionFacts> = sites.collect::<Result<_, _>>()?;
    let told = format!("as `{}` says", scenario.file.display());
    let has_local = resolved.site_workloads.iter().any(Option::is_some);
    let found = Found { has_local, ..of_sites(sites, &told) };
    let mut workloads = resolved.site_workloads.iter().flatten().chain(&resolved.portal);
    Ok(if workloads.any(|workload| workload.shaping.malleable) { resizable(found) } else { found })
}

/// Marks a grid on which jobs may have had other processors than they requested.
fn resizable(mut found: Found) -> Found {
    let why = "jobs of this run are malleable, so their sizes, rates and work are not checked".to_owned();
    found.unchecked.insert(Rule::Work, why);
    Found { rigid: false, ..found }
}

fn facts(spec: SiteSpec, policies: &Policies) -> Result<PartitionFacts, RunError> {
    let (_, abilities) = policies.local.build(&spec.policy).map_err(RunError::request)?;
    Ok(PartitionFacts { spec, abilities })
}

fn of_sites(sites: Vec<PartitionFacts>, source: &str) -> Found {
    let processors: u64 =
        sites.iter().flat_map(|site| &site.spec.partitions).map(|part| u64::from(part.processors())).sum();
    let count = match sites.len() {
        1 => "1 site".to_owned(),
        count => format!("{count} sites"),
    };
    let told = format!("{count}, {processors} processors, {source}");
    Found { sites, told, has_local: true, rigid: true, unchecked: BTreeMap::new() }
}
