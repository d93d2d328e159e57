//! The summary of a run, from what its entities and its recorder have counted.

use std::time::Duration;

use super::Run;
use super::ledgers::{ledgers, moved};
use super::notes::{doubts, notes, of_traces, of_wake_ups, rejected, too_large, without_effect};
use super::program::{self, Conversation};
use super::recorder::Recorder;
use super::single::single;
use super::workload::Opened;
use crate::broker::BeliefErrors;
use crate::entity::{Broker, Site};
use crate::grid::Grid;
use crate::local::{Partition, SearchEffort};
use crate::metrics::{
    Ages, BrokerFacts, ErrorSummary, GridFacts, GridSummary, Ledger, PlanningSummary, Times, WorkflowSummary,
};
use crate::model::SiteId;
use crate::scenario::ResolvedScenario;

impl Run {
    pub(super) fn summary(
        &self,
        grid: &Grid,
        recorder: &Recorder,
        own: Option<&Opened>,
        program: Option<&Conversation>,
        times: Times,
        whole: Duration,
    ) -> GridSummary {
        let ResolvedScenario { name, grid: spec, engine, measure, .. } = &self.scenario().resolved;
        let (ledgers, data) = (ledgers(grid), moved(grid));
        let tally = grid.broker().map(Broker::tally).unwrap_or_default();
        let single = single(&self.scenario().resolved, grid, &recorder.measured, own);
        let limited = self.scenario().resolved.definitions.penalty.is_some();
        let facts = GridFacts {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: name.clone(),
            scenario_hash: format!("{:032x}", self.scenario().hash),
            seed: spec.seed,
            engine: engine.name().to_owned(),
            broker: spec.broker.as_ref().map(|spec| {
                let facts = grid.broker().and_then(Broker::program);
                let program = facts.zip(program).map(|(facts, program)| program.summary(facts));
                BrokerFacts { program, ..BrokerFacts::of(spec) }
            }),
            times,
            wall_s: whole.as_secs_f64(),
            notes: self
                .note()
                .into_iter()
                .cloned()
                .chain(notes(grid, *measure, single.is_some()))
                .chain(of_traces(self.scenario(), grid))
                .chain(of_wake_ups(self.policies(), grid))
                .chain(single.iter().filter_map(|_| too_large(&spec.sites[0], &recorder.measured)))
                .chain(recorder.measured.elastic().note())
                .chain(recorder.measured.churn().refused_bookings())
                .chain(
                    grid.broker()
                        .and_then(Broker::program)
                        .and_then(|facts| facts.fallback)
                        .map(program::note),
                )
                .chain(grid.broker().and_then(Broker::program).as_ref().and_then(program::repeated))
                .chain(self.scenario().resolved.has_workflows().then(|| rejected(tally, limited)).flatten())
                .chain(
                    spec.broker
                        .iter()
                        .zip(grid.broker())
                        .flat_map(|(spec, broker)| without_effect(spec, broker.abilities().workflows)),
                )
                .collect(),
        };
        let ages = Ages::of(tally.assigned, tally.age_sum, tally.age_max);
        let mut summary =
            GridSummary::new(facts, single, &recorder.measured, &ledgers, &ages, recorder.fingerprint);
        for (site, of_site) in (0..).map(SiteId).zip(&mut summary.sites) {
            of_site.stored_peak_bytes = grid.broker().map_or(0, |broker| broker.stored_peak(site).count());
        }
        if data.is_some() {
            let all = Ledger::of_all(ledgers.iter().map(|(_, ledger)| ledger), data);
            let all = all.account();
            (summary.account.ledger, summary.account.per_work) = (all.ledger, all.per_work);
        }
        let errors = |errors: &BeliefErrors| (errors.count > 0).then(|| ErrorSummary::of(errors));
        (summary.start_errors, summary.run_errors) = (errors(&tally.starts), errors(&tally.runs));
        summary.planning = (tally.awaited > 0).then(|| PlanningSummary {
            plans: tally.awaited,
            time_s: tally.planning as f64 / 1e6,
            stale: tally.stale,
        });
        summary.search = grid.sites().filter_map(Site::effort).reduce(SearchEffort::and);
        // Where no job was suspended, though it could have been, that is a result.
        if grid.sites().flat_map(Site::partitions).any(Partition::preempts) {
            summary.preemption.get_or_insert_default();
        }
        summary.workflows = summary.workflows.map(|of| counted(of, grid));
        let resolved = &self.scenario().resolved;
        let planned = resolved.site_workloads.iter().flatten().chain(&resolved.portal);
        let doubts = doubts(&summary, planned.filter_map(|planned| planned.limits.as_ref()));
        summary.facts.notes.extend(doubts);
        summary
    }
}

/// Adds what the broker counts, as far as its policy and settings can do it.
pub(super) fn counted(of: WorkflowSummary, grid: &Grid) -> WorkflowSummary {
    let planner = grid.broker().filter(|broker| broker.abilities().workflows);
    let overtakes = planner.map(Broker::overtakes);
    WorkflowSummary { overtakes, repeated: grid.broker().and_then(Broker::repeated), ..of }
}
