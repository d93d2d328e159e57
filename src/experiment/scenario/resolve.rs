//! What a scenario means: descriptions of the grid and of its workloads, checked as a whole.

mod broker;
mod checkpoint;
mod events;
mod network;
mod site;
mod workload;

use super::Problem;
use super::document::Document;
use super::keys::{ClockKeys, Engine, OutputKeys, ScenarioKeys, Until, WindowKeys};
use super::meaning::{Clock, Meaning, Measure, OutputPlan};
use super::quantity::Or;
use super::tree::Path;
use crate::broker::BrokerRegistry;
use crate::local::Registry;
use crate::metrics::Definitions;
use crate::model::{GridSpec, JobClasses, RegistryError, SiteSpec, did_you_mean, nearest};
use crate::units::{Span, Time};

/// The most sites: every two of them have a connection.
pub(super) const MOST_SITES: usize = 2_000;

/// Collects what is wrong on the way.
pub(super) struct Checker<'a> {
    pub(super) document: &'a Document,
    pub(super) registry: &'a Registry,
    pub(super) brokers: &'a BrokerRegistry,
    pub(super) problems: Vec<Problem>,
}

/// What filled keys mean.
///
/// # Errors
/// Everything that is wrong.
pub(super) fn resolve(keys: &ScenarioKeys, checker: &mut Checker<'_>) -> Option<Meaning> {
    let top = Path::default();
    let written = keys.site.as_deref().unwrap_or_default();
    let seed = keys.seed.unwrap_or_default();
    let reference = keys.reference_mips.unwrap_or(super::fill::REFERENCE_MIPS);
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
    let output = keys.output.clone().unwrap_or_default();
    let mut sites: Vec<SiteSpec> = Vec::with_capacity(written.len());
    for (at, site) in written.iter().enumerate() {
        let path = top.key("site").item(at);
        let spec = checker.site(&path, site, reference, &output);
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
    let network = checker.network(keys.network.as_ref(), &sites, broker.is_some());
    let own = written.iter().zip(&sites).enumerate();
    let site_workloads = own
        .map(|(at, (site, spec))| {
            let path = top.key("site").item(at).key("workload");
            checker.own_workload(&path, site.workload.as_ref(), spec, seed)
        })
        .collect();
    let portal = checker.portal(keys.workload.as_deref().unwrap_or_default(), &sites, broker.is_some(), seed);
    let measure = checker.measure(keys.measure.as_ref().and_then(|measure| match measure {
        Or::Word(_) => None,
        Or::Table(window) => Some(window),
    }));
    let until = match keys.until.unwrap_or_default() {
        Until::Done => None,
        Until::At(Span::ZERO) => {
            checker
                .wrong(&top.key("until"), "a run that ends at 0 does not begin; say a later end, or `done`");
            None
        }
        Until::At(span) => Some(Time::ZERO + span),
    };
    let engine = keys.engine.unwrap_or_default();
    let clock = checker.clock(keys, engine);
    let name = keys.name.clone().unwrap_or_default();
    let checkpoint = keys.checkpoint.as_ref().and_then(|keys| checker.checkpoint(keys));
    let output = plan(output);
    let largest = sites.iter().flat_map(|site| &site.partitions).map(|part| part.processors()).max();
    let classes = keys.classes.as_ref().map_or_else(JobClasses::none, |classes| classes.0.clone());
    let tau = keys.tau.map_or(Definitions::TAU, |tau| tau.0);
    let definitions = Definitions::new(tau, classes, largest.unwrap_or_default());
    checker.problems.is_empty().then(|| Meaning {
        name,
        grid: GridSpec { seed, sites, network, broker },
        site_workloads,
        portal,
        measure,
        definitions,
        until,
        clock,
        engine,
        output,
        checkpoint,
    })
}

fn plan(keys: OutputKeys) -> OutputPlan {
    OutputPlan {
        folder: keys.folder.map(Into::into),
        segments: keys.segments.unwrap_or(true),
        machines: keys.machines.unwrap_or(false),
        batsim: keys.batsim.unwrap_or(false),
    }
}

impl Checker<'_> {
    /// Something is wrong with the value of `path`.
    pub(super) fn wrong(&mut self, path: &Path, said: impl Into<String>) {
        self.problems.push(self.document.problem(path, said));
    }

    /// The policy at `path` is not there, or its parameters are not its own.
    fn no_policy(&mut self, path: &Path, error: &RegistryError) {
        let problem = self.document.problem(path, error.to_string());
        self.problems.push(match error {
            RegistryError::Unknown { .. } => {
                problem.with_hint("`gridemu policies` lists them with their parameters")
            }
            RegistryError::Param(_) => problem,
        });
    }

    fn measure(&mut self, window: Option<&WindowKeys>) -> Measure {
        let Some(WindowKeys { from, to }) = window else { return Measure::All };
        if to.0 <= from.0 {
            let said = format!("the window ends at {to}, not after its beginning at {from}");
            self.wrong(&Path::default().key("measure").key("to"), said);
        }
        let (from, to) = (Time::ZERO + from.0, Time::ZERO + to.0);
        Measure::Window { from, to }
    }

    fn clock(&mut self, keys: &ScenarioKeys, engine: Engine) -> Clock {
        let Some(Or::Table(ClockKeys { pace })) = keys.clock else { return Clock::Virtual };
        let path = Path::default().key("clock").key("pace");
        if !(1e-6..=1e9).contains(&pace) {
            self.wrong(&path, format!("`{pace}` is not a pace from 0.000001 to 1000000000 seconds a second"));
        }
        if engine == Engine::Direct {
            self.wrong(
                &path,
                "the plain loop keeps no pace; say `engine = \"actors\"`, or `clock = \"virtual\"`",
            );
        }
        Clock::Paced(pace)
    }
}

/// ` (did you mean ...?)`, or nothing.
pub(in crate::experiment) fn near<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    did_you_mean(nearest(written, known))
}

/// `there is only ...`, `there are ...`.
pub(in crate::experiment) fn there<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let are = if names.len() == 1 { "there is only" } else { "there are" };
    format!("{are} {}", listed(names))
}

/// Names in backticks; of many only the first.
pub(in crate::experiment) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match names.as_slice() {
        [] => "none".to_owned(),
        _ if names.len() > 12 => format!("`{}` and {} more", names[..12].join("`, `"), names.len() - 12),
        _ => format!("`{}`", names.join("`, `")),
    }
}
