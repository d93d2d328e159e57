//! Finds the description of the grid of a folder.

use std::collections::BTreeMap;

use super::GridFrom;
use crate::experiment::RunError;
use crate::experiment::rerun::{forked_at, is_changed_fork, kept};
use crate::grid::Policies;
use crate::local::Abilities;
use crate::model::{MAX_PROCESSORS, Named, NetworkSpec, SiteSpec};
use crate::output::{FolderKind, RunFolder};
use crate::scenario::{PlannedWorkload, Scenario};
use crate::units::Time;
use crate::verify::workflows::Paths;
use crate::verify::{Platform, Rule, SiteFacts};

/// A grid and its properties.
pub(super) struct Found {
    pub(super) sites: Vec<SiteFacts>,
    /// The source of the description, in words.
    pub(super) described: String,
    /// True if sites have local users.
    pub(super) has_local: bool,
    /// True if every job gets exactly the processors that it requests.
    pub(super) rigid: bool,
    pub(super) unchecked: BTreeMap<Rule, String>,
    /// The network, and the place where the files of workflows begin and end.
    network: (NetworkSpec, u32),
    /// Whether nobody gives commands while it runs.
    scripted: bool,
    /// From when on the grid is as described.
    pub(super) since: Time,
}

impl Found {
    /// How files move on the grid of a folder.
    pub(super) fn paths(&self, platform: &Platform, folder: &RunFolder) -> Paths {
        let mut paths = Paths::new(platform, self.network.0.clone(), self.network.1, self.scripted);
        paths.steady = !is_changed_fork(folder);
        paths
    }
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
                of_sites(vec![SiteFacts { spec, abilities: Abilities::PLAIN }], "as `--procs` says");
            let why = "`--procs` gives only the number of processors".to_owned();
            found.unchecked.insert(Rule::Reservation, why);
            let why = "the speed of the processors and the workload are not known".to_owned();
            found.unchecked.insert(Rule::Work, why);
            Ok(found)
        }
        GridFrom::Folder => {
            if let Some(scenario) = kept(folder, policies)? {
                let found = of_scenario(&scenario, policies)?;
                return Ok(Found { since: forked_at(folder).unwrap_or(Time::ZERO), ..found });
            }
            let problem = match folder.kind() {
                FolderKind::Batsim => "Batsim's table of jobs does not contain the number of machines",
                _ => "this folder has no scenario.toml",
            };
            Err(RunError::request(format!("`{}`: {problem}", folder.jobs_path().display()))
                .with_hint("add `--procs N` for one machine, or `--scenario FILE`"))
        }
    }
}

fn of_scenario(scenario: &Scenario, policies: &Policies) -> Result<Found, RunError> {
    let resolved = &scenario.resolved;
    let facts = |spec: &SiteSpec| {
        let (_, abilities) = policies.local.build(&spec.policy).map_err(RunError::request)?;
        Ok(SiteFacts { spec: spec.clone(), abilities })
    };
    let sites: Result<_, RunError> = resolved.grid.sites.iter().map(facts).collect();
    let mut found = of_sites(sites?, &format!("as `{}` says", scenario.file.display()));
    let files = resolved.grid.broker.as_ref().map_or(0, |broker| broker.workflow.files);
    found.network = (resolved.grid.network.clone(), files);
    found.scripted = resolved.pace.is_none();
    found.has_local = resolved.site_workloads.iter().any(Option::is_some);
    if found.sites.iter().any(|site| site.abilities.slows) {
        let why = "a policy of this run says what sharing costs, so the rates of its jobs are not checked, but for the work that they do";
        found.unchecked.insert(Rule::Work, why.to_owned());
    }
    let mut workloads = resolved.site_workloads.iter().flatten().chain(&resolved.portal);
    if workloads.any(PlannedWorkload::is_resizable) {
        found.rigid = false;
        if found.sites.iter().any(|site| site.abilities.elastic > 0) {
            let why = "commands may change the jobs of this run, and of one that they change sizes, rates and work are not checked";
            found.unchecked.insert(Rule::Work, why.to_owned());
        }
    }
    Ok(found)
}

fn of_sites(sites: Vec<SiteFacts>, source: &str) -> Found {
    let processors: u64 =
        sites.iter().flat_map(|site| &site.spec.partitions).map(|part| u64::from(part.processors())).sum();
    let count = match sites.len() {
        1 => "1 site".to_owned(),
        count => format!("{count} sites"),
    };
    let described = format!("{count}, {processors} processors, {source}");
    Found {
        sites,
        described,
        has_local: true,
        rigid: true,
        unchecked: BTreeMap::new(),
        network: Default::default(),
        scripted: false,
        since: Time::ZERO,
    }
}
