//! A scenario with every key resolved.

use std::path::PathBuf;

use crate::grid::Policies;
use crate::metrics::{Definitions, Window};
use crate::model::{FailureTrace, GridSpec, PerKwh, SiteSpec, Trace};
use crate::scenario::checkpoint::CheckpointPlan;
use crate::scenario::kind::words::Engine;
use crate::scenario::program::ProgramPlan;
use crate::scenario::workload::{EstimateSource, Shaping, Workload};
use crate::units::{Bytes, Time, Timestamp};
use crate::workload::{Coupled, CoupledSpec, LimitRules, Source};

/// The meaning of a scenario, without its file and its text.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedScenario {
    /// The name of the run.
    pub name: String,
    /// Sites, network and broker.
    pub grid: GridSpec,
    /// The program that decides for the broker, if it is one.
    pub program: Option<ProgramPlan>,
    /// The workload of each site's local users.
    pub site_workloads: Vec<Option<PlannedWorkload>>,
    /// The workloads of the portal.
    pub portal: Vec<PlannedWorkload>,
    /// The jobs that count: all, or those submitted in a window. Utilization, energy and cost refer to the whole run.
    pub measure: Window,
    /// The parameters of its measures: bound of the slowdown, job classes.
    pub definitions: Definitions,
    /// The latest end of the run.
    pub until: Option<Time>,
    /// The earliest end of the run.
    pub at_least: Option<Time>,
    /// The date and time at which it begins, if that matters.
    pub calendar: Option<Timestamp>,
    /// Virtual seconds per second of the wall clock; `None` for a run that is as fast as possible.
    pub pace: Option<f64>,
    /// What drives the entities: actors or a plain loop.
    pub engine: Engine,
    /// The files to be written.
    pub output: OutputPlan,
    /// The plan of snapshots; `None` for none.
    pub checkpoint: Option<CheckpointPlan>,
}

impl ResolvedScenario {
    /// True for one site without a broker and with local users.
    pub fn is_single(&self) -> bool {
        self.grid.broker.is_none() && matches!(self.site_workloads[..], [Some(_)])
    }

    /// The traces that its sites follow, each once, with the sites.
    pub fn traces(&self) -> Vec<(&Trace, Vec<&SiteSpec>)> {
        let mut traces: Vec<(&Trace, Vec<&SiteSpec>)> = Vec::new();
        for site in &self.grid.sites {
            let per_kwh = [&site.tariff.electricity, &site.tariff.carbon];
            for trace in per_kwh.into_iter().flatten().filter_map(PerKwh::trace) {
                match traces.iter_mut().find(|(known, _)| *known == trace && known.name() == trace.name()) {
                    Some((_, sites)) => sites.push(site),
                    None => traces.push((trace, vec![site])),
                }
            }
        }
        traces
    }

    /// The traces of failures that machines of its sites follow, each once.
    pub fn failure_traces(&self) -> Vec<&FailureTrace> {
        let mut traces: Vec<&FailureTrace> = Vec::new();
        for traced in self.grid.sites.iter().filter_map(|site| site.churn.traced.as_ref()) {
            let trace = &traced.trace;
            if !traces.iter().any(|known| *known == trace && known.name() == trace.name()) {
                traces.push(trace);
            }
        }
        traces
    }

    /// True if the portal submits workflows.
    pub fn has_workflows(&self) -> bool {
        self.portal.iter().any(|planned| matches!(planned.workload, Workload::Workflows(_)))
    }

    /// True if some machines have a state in which they can sleep.
    pub(crate) fn may_sleep(&self) -> bool {
        let mut groups =
            self.grid.sites.iter().flat_map(|site| &site.partitions).flat_map(|part| &part.groups);
        groups.any(|group| group.sleep.is_some())
    }

    /// True if the loop of a single site gives the same result as the other engines: no events but those of its jobs.
    pub(crate) fn runs_alone(&self) -> bool {
        let [site] = &self.grid.sites[..] else { return false };
        let stands = !site.churn.has_outages() && site.churn.script.is_empty();
        let jobs_only = stands && site.orders.is_empty() && site.reservations.is_empty();
        self.grid.broker.is_none() && self.until.is_none() && self.at_least.is_none() && jobs_only
    }

    /// True if the run draws from the streams of its seed: jobs of a generator without a seed of its own, estimates,
    /// random churn, choices of a random broker, the memory of jobs. Otherwise every seed gives the same run.
    pub fn draws(&self, policies: &Policies) -> bool {
        let mut workloads = self.site_workloads.iter().flatten().chain(&self.portal);
        let churns = self.grid.sites.iter().any(|site| site.churn.draws());
        let maps = self.grid.broker.as_ref().is_some_and(|broker| {
            // An unknown policy is refused before anything is run.
            policies.broker.build(&broker.policy, 0).map_or(true, |(_, able)| able.random)
        });
        let broker = self.grid.broker.as_ref();
        let faults =
            broker.is_some_and(|broker| broker.faults.iter().any(|fault| fault.kind.law().is_some()));
        let memories = self.grid.sites.iter().any(|site| site.preemption.memory.draws());
        churns || maps || faults || memories || workloads.any(PlannedWorkload::draws)
    }
}

/// The files that a run writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputPlan {
    /// The folder; without one nothing is written.
    pub folder: Option<PathBuf>,
    /// Write segments.csv.
    pub segments: bool,
    /// Write machines.csv.
    pub machines: bool,
    /// Write fronts.csv, if the broker's policy keeps fronts.
    pub fronts: bool,
    /// Write batsim/out_jobs.csv.
    pub batsim: bool,
}

/// A workload that is ready to be opened.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedWorkload {
    /// The owner: a site's name, `portal`, or `portal/2` for the second workload of the portal. Its random streams are named by it.
    pub entity: String,
    /// The log or the generator.
    pub workload: Workload,
    /// Its shaping.
    pub shaping: Shaping,
    /// Data that each job needs at its site.
    pub input: Bytes,
    /// Data that each job sends back.
    pub output: Bytes,
    /// The deadlines and budgets of its jobs, if they have any.
    pub limits: Option<LimitRules>,
    /// Which of its jobs are run in parts at several sites, if any are.
    pub coupled: Option<CoupledSpec>,
}

impl PlannedWorkload {
    /// True if its jobs or their estimates are drawn from the seed of the run.
    fn draws(&self) -> bool {
        let limits = self.limits.is_some_and(|limits| limits.draws());
        if let Workload::Workflows(plan) = &self.workload {
            return plan.draws() || limits;
        }
        let model = self.workload.generator();
        model.is_some_and(|model| !model.params.contains_key("seed"))
            || matches!(self.shaping.estimates, EstimateSource::Tsafrir(_))
            || self.shaping.malleable.is_some_and(|malleable| malleable.share < 1.0)
            || limits
            || self.coupled.is_some_and(|coupled| coupled.share < 1.0)
    }

    /// True if its jobs may be moldable or malleable.
    pub(crate) fn is_resizable(&self) -> bool {
        self.shaping.malleable.is_some() || matches!(self.workload, Workload::Huang(_))
    }

    /// The source of its jobs, of which some are run in parts if it says so.
    pub(crate) fn in_parts(&self, source: Box<dyn Source>) -> Box<dyn Source> {
        match self.coupled {
            Some(coupled) => Box::new(Coupled::new(source, coupled, self.shaping.seed, &self.entity)),
            None => source,
        }
    }

    /// True if it gives the same jobs as another one: only the seed of the run may differ, if nothing is drawn from it.
    pub(crate) fn has_jobs_of(&self, other: &Self) -> bool {
        let seed = if self.draws() { self.shaping.seed } else { other.shaping.seed };
        Self { shaping: Shaping { seed, ..self.shaping.clone() }, ..self.clone() } == *other
    }
}
