//! Turns the keys of a scenario into descriptions of the grid and of its workloads, and checks them as a whole.

mod applications;
mod booking;
mod checkpoint;
mod churn;
mod coallocation;
mod drill;
mod energy;
mod events;
mod faults;
mod machines;
mod network;
mod power;
mod preemption;
mod program;
mod site;
mod unused;
mod workflows;
mod workload;

use std::fmt::Display;

use rustc_hash::FxHashSet;

use super::document::Document;
use super::keys::{BrokerKeys, CheckpointKeys, PenaltyKeys, PlanningKeys, ScenarioKeys, WindowKeys};
use super::resolved::{OutputPlan, PlannedWorkload, ResolvedScenario};
use super::tree::{Node, Path};
use crate::grid::Policies;
use crate::metrics::{Definitions, Penalty, Window};
use crate::model::{
    BrokerSpec, GridSpec, MAX_PROCESSORS, NetworkSpec, PlanningTime, RegistryError, Replan, SiteSpec,
    WorkflowSettings,
};
use crate::scenario::document::MOST_SITES;
use crate::scenario::kind::quantity::Quantity;
use crate::scenario::kind::words::{Engine, Or};
use crate::scenario::problem::{Problem, Problems};
use crate::units::{Span, Time, grouped};
pub(crate) use booking::{OF_CLASS, wrong_name};
pub(super) use energy::Calendar;

/// The most pools of a policy that plans whole workflows.
const MOST_LINKED: usize = 2_000;
/// The most reports that may be on their way at once.
const MOST_REPORTS: u64 = 1_000_000;

/// Collects the problems of a scenario while it is resolved.
pub(super) struct Checker<'a> {
    pub(super) document: &'a Document,
    pub(super) policies: &'a Policies,
    pub(super) problems: Problems,
    /// Values without effect, because they need a folder or another key that the scenario does not have. An option or a campaign may
    /// give it, so only a run refuses them.
    pub(super) idle: Vec<Problem>,
    /// Intervals so short that their events may outnumber all others.
    pub(super) fine: Problems,
    /// What is valid and should be looked at before figures are trusted.
    pub(super) warnings: Problems,
    /// When the run begins, and what has been read of traces.
    pub(super) calendar: Calendar,
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
        let message = "the scenario has no site; add a `[[site]]` with a `name` and `machines`";
        checker.wrong(&top.key("site"), message);
    }
    if written.len() > MOST_SITES {
        let message = format!("there are {} sites; the most is {MOST_SITES}", written.len());
        return checker.refuse(&top.key("site"), message);
    }
    checker.calendar.begins = keys.calendar;
    checker.calendar.until = keys.until.as_value().copied();
    checker.calendar.at_least = keys.at_least;
    let mut sites: Vec<SiteSpec> = Vec::with_capacity(written.len());
    let mut names = FxHashSet::default();
    for (at, site) in written.iter().enumerate() {
        let path = top.key("site").item(at);
        let spec = checker.site(&path, site, reference, &keys.output);
        checker.name_of_site(&path, &spec.name, &mut names);
        sites.push(spec);
    }
    if keys.calendar.is_some() && !checker.calendar.is_used {
        let message = "it has no effect: no site has a trace, or prices by the hour of its day";
        checker.warn(&top.key("calendar"), message);
    }
    let machines = sites.iter().flat_map(|site| &site.partitions);
    let processors: u64 = machines.map(|part| u64::from(part.processors())).sum();
    if checker.problems.is_empty() && processors > u64::from(MAX_PROCESSORS) {
        let message = format!("the sites have {processors} processors in all; the most is {MAX_PROCESSORS}");
        checker.wrong(&top.key("site"), message);
    }
    let of_sites = keys.site.as_deref().unwrap_or_default();
    checker.events(keys.event.as_deref().unwrap_or_default(), of_sites, &mut sites);
    for (at, spec) in sites.iter().enumerate() {
        checker.policy(&top.key("site").item(at), spec);
    }
    let program = keys.broker.as_ref().and_then(|broker| checker.program(&top.key("broker"), broker));
    let pools = sites.iter().map(|site| site.partitions.len()).sum();
    let broker = keys.broker.as_ref().map(|broker| checker.broker(&top.key("broker"), broker, seed, pools));
    let workflow = checker.enactment(&keys.workflow, &sites);
    let applications = checker.applications(keys.application.as_deref().unwrap_or_default(), broker.as_ref());
    let broker = broker.map(|broker| BrokerSpec { workflow, applications, ..broker });
    if broker.is_some() && sites.is_empty() {
        checker.wrong(&top.key("broker"), "a broker needs at least one site to send jobs to");
    }
    let network = checker.network(&keys.network, &sites, broker.is_some());
    let network = NetworkSpec { storages: checker.storages(written), ..network };
    if let (Some(spec), true) = (&broker, checker.problems.is_empty()) {
        checker.reports_on_their_way(&top.key("broker"), spec, &sites, &network);
    }
    let faults = keys.fault.as_deref().unwrap_or_default();
    let broker = checker.faults(faults, keys.broker.as_ref(), broker, &sites, &network);
    let own = written.iter().zip(&sites).enumerate();
    let site_workloads: Vec<_> = own
        .map(|(at, (site, spec))| {
            let path = top.key("site").item(at).key("workload");
            checker.own_workload(&path, &site.workload, spec, seed)
        })
        .collect();
    let portal = checker.portal(keys.workload.as_deref().unwrap_or_default(), &sites, broker.as_ref(), seed);
    checker.unlimited(broker.as_ref(), &portal);
    checker.without_aim(broker.as_ref(), &sites, &portal);
    checker.unused_of_grid(&keys.network, &network.data, broker.as_ref(), &sites, &portal);
    checker.unused_coallocation(keys);
    if let Some(broker) = &broker {
        checker.hasty(broker, &portal, &network, sites.len());
    }
    let measure = checker.measure(keys);
    checker.without_folder(keys);
    let until = keys.until.value().map(|span| Time::ZERO + span);
    if until == Some(Time::ZERO) {
        checker.wrong(&top.key("until"), "a run cannot end at 0; give a later end, or `done`");
    }
    let at_least = keys.at_least.map(|span| Time::ZERO + span);
    if let (Some(least), Some(most)) = (at_least, until)
        && most < least
    {
        let message = format!(
            "the run ends at {} at the latest, by `until`; give an earlier end, or leave one of them out",
            most.told()
        );
        checker.wrong(&top.key("at_least"), message);
    }
    let pace = checker.pace(keys);
    let name = keys.name.clone().unwrap_or_default();
    let checkpoint = keys.checkpoint.as_ref().and_then(|keys| checker.checkpoint(keys));
    if keys.output.batsim && !keys.output.segments {
        let message = "Batsim's table needs the processors of each job, which are in its segments; leave it out, or set `segments = true`";
        checker.wrong(&top.key("output").key("batsim"), message);
    }
    let largest = sites.iter().flat_map(|site| &site.partitions).map(|part| part.processors()).max();
    let definitions = Definitions::new(keys.tau, keys.classes.clone(), largest.unwrap_or_default());
    let definitions = checker.limited(keys, definitions, &site_workloads, &portal);
    let resizable = site_workloads.iter().flatten().chain(&portal).any(PlannedWorkload::is_resizable);
    let definitions = definitions.with_kinds(resizable);
    let records_machines = sites.iter().any(|site| site.record_machines);
    checker.problems.is_empty().then(|| ResolvedScenario {
        name,
        grid: GridSpec { seed, sites, network, broker },
        program,
        site_workloads,
        portal,
        measure,
        definitions,
        until,
        at_least,
        calendar: keys.calendar,
        pace,
        engine: keys.engine,
        output: OutputPlan {
            folder: keys.output.folder.clone().map(Into::into),
            segments: keys.output.segments,
            machines: keys.output.machines || records_machines,
            fronts: keys.output.fronts.unwrap_or(true),
            batsim: keys.output.batsim,
        },
        checkpoint,
    })
}

impl<'a> Checker<'a> {
    /// Checks the scenario of `document`.
    pub(super) fn new(document: &'a Document, policies: &'a Policies) -> Self {
        Self {
            document,
            policies,
            problems: Problems::default(),
            idle: Vec::new(),
            fine: Problems::default(),
            warnings: Problems::default(),
            calendar: Calendar::default(),
        }
    }

    /// Notes that the value at `path` makes `who` do something every `interval`, if that is less than a second: the times of logs are
    /// whole seconds, so more often is rarely of use.
    pub(super) fn fine(&mut self, path: &Path, interval: Span, who: &str, instead: &str) {
        if !interval.is_zero() && interval < Span::SECOND {
            let message = format!(
                "{who} every {}, and so many events may keep the run from advancing; {instead}",
                interval.told()
            );
            self.fine.add(|| self.document.problem(path, message));
        }
    }
}

impl Checker<'_> {
    /// Notes a problem with the value at `path`.
    pub(super) fn wrong(&mut self, path: &Path, message: impl Into<String>) {
        self.problems.add(|| self.document.problem(path, message));
    }

    /// Notes a problem with the value at `path`, and what to do about it if that is known.
    pub(super) fn wrong_so(&mut self, path: &Path, error: &dyn Display, hint: Option<&str>) {
        self.problems.add(|| {
            let problem = self.document.problem(path, error.to_string());
            match hint {
                Some(hint) => problem.with_hint(hint),
                None => problem,
            }
        });
    }

    /// Notes that a valid value should be looked at.
    fn warn(&mut self, path: &Path, message: impl Into<String>) {
        self.warnings.add(|| self.document.problem(path, message));
    }

    /// Notes a problem with the value at `path`, which is then not resolved.
    pub(super) fn refuse<T>(&mut self, path: &Path, problem: impl Into<String>) -> Option<T> {
        self.wrong(path, problem);
        None
    }

    /// Notes that the policy at `path` is unknown, or that its parameters are invalid.
    pub(super) fn no_policy(&mut self, path: &Path, error: &RegistryError) {
        let hint = match error {
            RegistryError::Unknown { .. } => Some("`gridemu policies` lists them with their parameters"),
            RegistryError::Param(_) => None,
        };
        self.wrong_so(path, error, hint);
    }

    fn broker(&mut self, path: &Path, keys: &BrokerKeys, seed: u64, pools: usize) -> BrokerSpec {
        if keys.command.is_none() {
            match self.policies.broker.build(&keys.policy.0, seed) {
                Err(error) => self.no_policy(&path.key("policy"), &error),
                Ok((_, able)) if able.workflows && pools > MOST_LINKED => {
                    let message = format!(
                        "`{}` plans with the link of every two pools, and there are {pools}; the most is {MOST_LINKED}",
                        keys.policy.0
                    );
                    self.wrong(&path.key("policy"), message);
                }
                Ok(_) => {}
            }
        }
        if keys.backoff.is_zero() {
            let message = "a returned job must wait before it is planned again, or it could return forever; give a time above 0";
            self.wrong(&path.key("backoff"), message);
        }
        if keys.forecast_within == Some(Span::ZERO) {
            let message =
                "nothing that was measured would count; give a time above 0, or `information = \"reported\"`";
            self.wrong(&path.key("forecast_within"), message);
        }
        if keys.in_flight == Or::Value(0) {
            let message = "give 1 or more, or `any`: with 0 no job could run";
            self.wrong(&path.key("in_flight"), message);
        }
        if keys.replan == Replan::EveryReport && keys.recall_queued && keys.monitoring_interval.is_zero() {
            let message = "with a `monitoring_interval` of 0 s each job that comes to a site causes a report, which would recall it, for ever; give an interval above 0, or `recall_queued = false`";
            self.wrong(&path.key("replan"), message);
        }
        let instead = "1 s or more is usual, and `0 s` reports at every change and no more often";
        let interval = keys.monitoring_interval;
        self.fine(&path.key("monitoring_interval"), interval, "each site reports", instead);
        let planning = |keys: &PlanningKeys| PlanningTime { base: keys.base, per_task: keys.per_task };
        BrokerSpec {
            policy: keys.policy.0.clone(),
            monitoring_interval: keys.monitoring_interval,
            count_in_flight: keys.count_in_flight,
            information: keys.information,
            forecast_within: keys.forecast_within.unwrap_or(BrokerSpec::FORECAST_WITHIN),
            run_times: keys.run_times,
            applications: Vec::new(),
            replan: keys.replan,
            recall_queued: keys.recall_queued,
            retries: keys.retries,
            backoff: keys.backoff,
            in_flight: keys.in_flight.value(),
            overhead: keys.overhead,
            planning: keys.planning.as_ref().map(planning).unwrap_or_default(),
            failed_attempts: keys.failed_attempts,
            workflow: WorkflowSettings::default(),
            heartbeat: None,
            faults: Vec::new(),
            coallocation: self.coallocation(path, keys),
        }
    }

    /// Refuses an interval of reports that is so far below the latency that those on their way would fill the memory.
    fn reports_on_their_way(
        &mut self,
        path: &Path,
        broker: &BrokerSpec,
        sites: &[SiteSpec],
        network: &NetworkSpec,
    ) {
        let interval = broker.monitoring_interval;
        if interval.is_zero() {
            return;
        }
        let slowest = (1..=sites.len()).map(|at| network.link(0, at).latency).max().unwrap_or_default();
        if broker.replan == Replan::EveryReport && broker.recall_queued && interval <= slowest * 2 {
            let message = format!(
                "jobs that wait at sites are recalled with every report, each {}, and take {} there and back: they may never start, and the run never end; give a longer `monitoring_interval`, or `recall_queued = false`",
                interval.told(),
                (slowest * 2).told()
            );
            self.warn(&path.key("replan"), message);
        }
        let of_site = |(at, site): (usize, &SiteSpec)| {
            let sent = network.link(0, at + 1).latency.micros() / interval.micros();
            sent.saturating_mul(site.partitions.len() as u64)
        };
        let reports = sites.iter().enumerate().map(of_site).fold(0, u64::saturating_add);
        if reports > MOST_REPORTS {
            let message = format!(
                "{} reports would be on their way at once, with a latency that is so much longer; the most is {}: give a longer interval",
                grouped(reports),
                grouped(MOST_REPORTS)
            );
            self.wrong(&path.key("monitoring_interval"), message);
        }
    }

    /// The definitions, with what missed deadlines count if any job has limits.
    fn limited(
        &mut self,
        keys: &ScenarioKeys,
        definitions: Definitions,
        sites: &[Option<PlannedWorkload>],
        portal: &[PlannedWorkload],
    ) -> Definitions {
        let path = Path::default().key("penalty");
        let penalty = keys.penalty.as_ref().map_or(Penalty::DEFAULT, |keys| {
            let PenaltyKeys { scale, most } = *keys;
            if scale.is_zero() {
                self.wrong(&path.key("scale"), "the scale of the penalty must be above 0");
            }
            Penalty { scale, most }
        });
        let limits = || sites.iter().flatten().chain(portal).filter_map(|planned| planned.limits);
        if keys.penalty.is_some() && limits().all(|limits| limits.deadline.is_none()) {
            let why = "it has no effect: no workload has a `deadline`";
            self.idle.push(self.document.problem(&path, why));
        }
        if limits().next().is_some() {
            return definitions.limited(penalty);
        }
        definitions
    }

    fn measure(&mut self, keys: &ScenarioKeys) -> Window {
        let Some(WindowKeys { from, to }) = keys.measure.as_value() else { return Window::ALL };
        Window::new(Time::ZERO + *from, Time::ZERO + *to).unwrap_or_else(|| {
            let (from, to) = (from.text(), to.text());
            let message = format!("the window ends at {to}, not after its beginning at {from}");
            self.wrong(&Path::default().key("measure").key("to"), message);
            Window::ALL
        })
    }

    /// Notes values that need a folder which the scenario does not give.
    fn without_folder(&mut self, keys: &ScenarioKeys) {
        let output = Path::default().key("output");
        if keys.output.folder.is_none() {
            for (key, given) in [("machines", keys.output.machines), ("batsim", keys.output.batsim)] {
                if given {
                    let problem = self.document.problem(&output.key(key), "the run writes no files");
                    self.idle.push(problem.with_hint("give a folder, `output.folder` or `--out DIR`"));
                }
            }
        }
        if let Some(CheckpointKeys { store: None, .. }) = &keys.checkpoint
            && let Some(table) = self.document.root.get("checkpoint").and_then(Node::table)
        {
            for entry in &table.0 {
                let path = Path::default().key("checkpoint").key(&entry.key);
                let problem = self.document.problem(&path, "the run takes no snapshots");
                self.idle
                    .push(problem.with_hint("give a folder, `checkpoint.store` or `--checkpoint STORE`"));
            }
        }
    }

    fn pace(&mut self, keys: &ScenarioKeys) -> Option<f64> {
        let pace = keys.clock.as_value()?.pace;
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
        Some(pace)
    }
}
