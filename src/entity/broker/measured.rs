//! What the broker measures: how long jobs waited where it has sent them, what moved data got, and how far what it believed was off.

use super::Broker;
use super::data::place_of;
use super::planning::links;
use crate::broker::{Beliefs, BelievedRun, Placed, Pool, PoolForecasts, Waited};
use crate::entity::EndedJob;
use crate::model::{BrokerSpec, Information, Job, Outcome, RunTimes};
use crate::platform::Place;
use crate::units::{Bytes, Span, Time};

/// The place of the portal.
pub(super) const PORTAL: Place = 0;

/// Whether the broker believes forecasts.
pub(super) fn wanted(spec: &BrokerSpec) -> bool {
    spec.information == Information::Forecast
}

/// Whether the broker plans by records of applications.
pub(super) fn plans_by_applications(spec: &BrokerSpec) -> bool {
    spec.run_times == RunTimes::Applications
}

impl Broker {
    /// Takes from the end of a job when it started where it was sent to.
    pub(super) fn measure(&mut self, placed: &Placed, ended: &EndedJob, now: Time) {
        let Some(arrival) = placed.arrival.map(|arrival| arrival.time) else { return };
        // An attempt that failed at the site is begun again there: the first one since the arrival counts, as far as it is known.
        let mut starts = [ended.start, ended.last_start].into_iter().flatten();
        let Some(start) = starts.find(|start| *start >= arrival) else { return };
        if placed.believed < Time::NEVER {
            self.state.tally.starts.add(placed.believed, start);
        }
        if let Some(beliefs) = &mut self.state.beliefs {
            let waited = Waited { procs: placed.procs, run: placed.run(), wait: start.since(arrival) };
            let forecasts = &mut self.state.pools[placed.pool].forecasts;
            beliefs.waited(placed.pool, waited, now + self.spec.forecast_within, forecasts);
            self.bounds.changed(placed.pool);
        }
    }

    /// Takes from the end of a job how long it ran, if it completed at its only attempt.
    pub(super) fn measure_run(&mut self, placed: &Placed, run: Option<BelievedRun>, ended: &EndedJob) {
        let Some(start) = ended.last_start.filter(|_| ended.outcome == Outcome::Completed) else { return };
        if ended.attempts != 1 {
            return;
        }
        let (planned, ran) = (placed.run(), ended.end.since(start));
        self.state.tally.runs.add_span(planned, ran);
        if let (Some(applications), Some(run)) = (&mut self.state.applications, run) {
            applications.ran(run, ran, planned);
        }
    }

    /// How long a job is believed to run, if the broker plans by records of applications.
    pub(super) fn believed_run(&self, job: &Job) -> Option<BelievedRun> {
        self.state.applications.as_ref()?.run_of(job, &self.spec.applications)
    }

    /// Takes from a transfer between two places what it got.
    pub(super) fn measure_transfer(&mut self, way: (Place, Place), data: Bytes, took: Span, now: Time) {
        let Some(beliefs) = &mut self.state.beliefs else { return };
        let latency = self.network.link(way.0 as usize, way.1 as usize).latency;
        let took = Span::from_micros(took.micros().saturating_sub(latency.micros()));
        let until = now + self.spec.forecast_within;
        let Some(bandwidth) = beliefs.moved(way, data, took, until) else { return };
        let place = way.0.max(way.1);
        if way.0.min(way.1) == PORTAL {
            let there = |pool: &&mut Pool| place_of(pool.facts.id.site) == place;
            let pools = self.state.pools.iter_mut().filter(there);
            pools.for_each(|pool| pool.forecasts.expect_bandwidth(bandwidth, until));
        }
    }

    /// Takes the links between pools as they were measured, for a policy that plans workflows.
    pub(super) fn believe_links(&mut self, now: Time) {
        if let Some(beliefs) = &self.state.beliefs
            && self.abilities.workflows
            && beliefs.knows_links()
        {
            let measured = |from: usize, to: usize| beliefs.bandwidth((from as Place, to as Place), now);
            self.links = links(&self.state.pools, &self.network, measured);
        }
    }

    /// Believes from now on what it is told to: a broker that begins to measure has measured nothing, and one that no longer does goes by what it has
    /// heard last.
    pub(super) fn adopt_information(&mut self) {
        let applications = self.state.applications.take().unwrap_or_default();
        self.state.applications = plans_by_applications(&self.spec).then_some(applications);
        if wanted(&self.spec) {
            let pools = self.state.pools.len();
            self.state.beliefs.get_or_insert_with(|| Beliefs::new(pools));
        } else if let Some(mut beliefs) = self.state.beliefs.take() {
            for (at, pool) in self.state.pools.iter_mut().enumerate() {
                pool.forecasts = PoolForecasts::default();
                if let Some(heard) = beliefs.take_heard(at) {
                    pool.report = heard;
                }
            }
        }
    }
}
