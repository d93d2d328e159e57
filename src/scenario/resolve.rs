//! Turns the keys of a scenario into descriptions of the grid and of its workloads, and checks them as a whole.

mod broker;
mod checkpoint;
mod events;
mod network;
mod site;
mod workload;

use super::document::Document;
use super::keys::{OutputKeys, ScenarioKeys};
use super::resolved::{Clock, Measure, OutputPlan, ResolvedScenario};
use super::tree::Path;
use crate::grid::Policies;
use crate::metrics::Definitions;
use crate::model::{GridSpec, RegistryError, SiteSpec};
use crate::scenario::document::MOST_SITES;
use crate::scenario::kind::quantity::Quantity;
use crate::scenario::kind::words::Engine;
use crate::scenario::problem::Problem;
use crate::units::Time;

/// Collects the problems of a scenario while it is resolved.
pub(super) struct Checker<'a> {
    pub(super) document: &'a Document,
    pub(super) policies: &'a Policies,
    pub(super) problems: Vec<Problem>,
}

/// Resolves keys whose defaults are filled in. Problems go to `checker`; `None` if no description can be made.
pub(super) fn resolve(keys: &ScenarioKeys, checker: &mut Checker<'_>) -> Option<ResolvedScenario> {
    let top = Path::default();
    let written = keys.site.as_deref().unwrap_or_default();
    let (seed, reference) = (keys.seed, keys.reference_mips);
    if !(1e-3..=1e12).contains(&reference) {
        checker.wrong(&top.key("reference_mips"), format!("`{reference}` is not a number of MIPS above 0"));
    }
    if written.is_empty() {
        let said = "the scenario has no site; add a `[[site]]` with a `name` and `machines`";
        checker.problems.push(checker.document.problem(&top.key("site"), said));
    }
    if written.len() > MOST_SITES {
        checker
            .wrong(&top.key("site"), format!("there are {} sites; the most is {MOST_SITES}", written.len()));
        return None;
    }
    let mut sites: Vec<SiteSpec> = Vec::with_capacity(written.len());
    for (at, site) in written.iter().enumerate() {
        let path = top.key("site").item(at);
        let spec = checker.site(&path, site, reference, &keys.output);
        checker.name_of_site(&path, &spec.name, &sites);
        sites.push(spec);
    }
    checker.events(keys.event.as_deref().unwrap_or_default(), &mut sites);
    for (at, spec) in sites.iter().enumerate() {
        checker.policy(&top.key("site").item(at), spec);
    }
    let broker = keys.broker.as_ref().map(|broker| checker.broker(&top.key("broker"), broker, seed));
    if broker.is_some() && sites.is_empty() {
        checker.wrong(&top.key("broker"), "a broker needs at least one site to send jobs to");
    }
    let network = checker.network(&keys.network, &sites, broker.is_some());
    let own = written.iter().zip(&sites).enumerate();
    let site_workloads = own
        .map(|(at, (site, spec))| {
            let path = top.key("site").item(at).key("workload");
            checker.own_workload(&path, &site.workload, spec, seed)
        })
        .collect();
    let portal = checker.portal(keys.workload.as_deref().unwrap_or_default(), &sites, broker.is_some(), seed);
    let measure = checker.measure(keys);
    let until = keys.until.value().map(|span| Time::ZERO + span);
    if until == Some(Time::ZERO) {
        checker.wrong(&top.key("until"), "a run cannot end at 0; give a later end, or `done`");
    }
    let clock = checker.clock(keys);
    let name = keys.name.clone().unwrap_or_default();
    let checkpoint = keys.checkpoint.as_ref().and_then(|keys| checker.checkpoint(keys));
    let largest = sites.iter().flat_map(|site| &site.partitions).map(|part| part.processors()).max();
    let definitions = Definitions::new(keys.tau, keys.classes.clone(), largest.unwrap_or_default());
    checker.problems.is_empty().then(|| ResolvedScenario {
        name,
        grid: GridSpec { seed, sites, network, broker },
        site_workloads,
        portal,
        measure,
        definitions,
        until,
        clock,
        engine: keys.engine,
        output: plan(&keys.output),
        checkpoint,
    })
}

fn plan(keys: &OutputKeys) -> OutputPlan {
    let OutputKeys { folder, segments, machines, batsim } = keys.clone();
    OutputPlan { folder: folder.map(Into::into), segments, machines, batsim }
}

impl Checker<'_> {
    /// Notes a problem with the value at `path`.
    pub(super) fn wrong(&mut self, path: &Path, said: impl Into<String>) {
        self.problems.push(self.document.problem(path, said));
    }

    /// Notes that the policy at `path` is unknown, or that its parameters are invalid.
    fn no_policy(&mut self, path: &Path, error: &RegistryError) {
        let problem = self.document.problem(path, error.to_string());
        self.problems.push(match error {
            RegistryError::Unknown { .. } => {
                problem.with_hint("`gridemu policies` lists them with their parameters")
            }
            RegistryError::Param(_) => problem,
        });
    }

    fn measure(&mut self, keys: &ScenarioKeys) -> Measure {
        let Some(window) = keys.measure.as_value() else { return Measure::All };
        let (from, to) = (window.from, window.to);
        if to <= from {
            let said =
                format!("the window ends at {}, not after its beginning at {}", to.text(), from.text());
            self.wrong(&Path::default().key("measure").key("to"), said);
        }
        Measure::Window { from: Time::ZERO + from, to: Time::ZERO + to }
    }

    fn clock(&mut self, keys: &ScenarioKeys) -> Clock {
        let Some(pace) = keys.clock.as_value().map(|clock| clock.pace) else { return Clock::Virtual };
        let path = Path::default().key("clock").key("pace");
        if !(1e-6..=1e9).contains(&pace) {
            self.wrong(
                &path,
                format!("`{pace}` is not a pace from 0.000001 to 1000000000 seconds per second"),
            );
        }
        if keys.engine == Engine::Direct {
            self.wrong(
                &path,
                "the plain loop cannot be paced; use `engine = \"actors\"`, or `clock = \"virtual\"`",
            );
        }
        Clock::Paced(pace)
    }
}
