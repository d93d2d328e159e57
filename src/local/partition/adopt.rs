//! Continuing a run under a changed description: another policy, other prices, other checkpoints.

use serde::{Deserialize, Serialize};

use super::Partition;
use crate::local::loads::Loads;
use crate::local::prices::Prices;
use crate::local::state::State;
use crate::local::table::{Charged, Phase};
use crate::local::{Abilities, LiveJob, PartitionError, SleepRule, Step};
use crate::model::{
    Checkpointing, EventCause, EventKind, JobKey, MachineState, PerKwh, PowerPart, ProcSet, SleepSpec,
};
use crate::units::{Rate, Time};

/// The part of the description that a partition's state depends on and that may change in the middle of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Terms {
    /// The policy as it is written.
    pub(super) policy: String,
    pub(super) checkpoint: Option<Checkpointing>,
    pub(super) prices: Prices,
    /// The sleep state of the machines of each group and when they sleep, if they do.
    pub(super) sleep: Vec<Option<(SleepSpec, SleepRule)>>,
    /// The most processors in use at once, under a power cap.
    pub(super) most_in_use: Option<u32>,
    /// The part of a power cap.
    pub(super) power_part: Option<PowerPart>,
}

impl State {
    /// Changes prices and power from now on: earlier use is charged by the earlier prices.
    pub(super) fn reprice(&mut self, before: &Prices, step: &mut Step<'_>) {
        let tariff = std::mem::replace(&mut self.tariff, before.tariff(&self.spec));
        for key in self.keys(|job| job.phase.is_active()) {
            self.settle(key, step);
        }
        for job in self.table.iter_mut().filter(|job| job.proc_time > 0) {
            let charged = Charged { drawn: job.amounts(&self.tariff), cost: job.cost };
            job.past.get_or_insert_default().charged = Some(charged);
            (job.charge, job.drawn) = (0, None);
        }
        if self.usage.from < Time::NEVER {
            self.account_until(step.now);
        }
        self.meter.close(&self.tariff);
        self.tariff = tariff;
        for key in self.keys(|job| job.phase.is_active() && job.job.killed_over().is_some()) {
            self.plan_spent(key);
        }
        self.loads = Loads::of(&self.spec);
        // None has drawn anything by the new prices.
        self.table.iter_mut().for_each(|job| job.base = None);
        for key in self.keys(|job| job.phase.is_active()) {
            let Some(job) = self.table.get(key).filter(|job| job.since <= step.now) else { continue };
            if let Some(loads) = &mut self.loads {
                loads.change(&job.allocation.procs, true, step.now, &self.tariff);
            }
            self.read_loads(key, step.now);
        }
    }

    /// Takes jobs off processors that the present policy would not have put there, or could not resume: jobs on a shared
    /// processor beyond the multiprogramming level, the last to come first, and suspended jobs, also those that are still being suspended, if the policy does not resume
    /// jobs. They wait in the queue again, in the order of arrival, and keep the work they have done. Jobs that keep processors
    /// of their own run there alone.
    pub(super) fn take_off(&mut self, step: &mut Step<'_>) {
        let mut jobs = vec![0_u32; self.spec.processors() as usize];
        let mut off = Vec::new();
        let is_cut = |job: &LiveJob| job.phase == Phase::Suspending && !self.abilities.preempts;
        let (on, cut): (Vec<_>, Vec<_>) = self
            .keys(|job| job.phase.holds())
            .into_iter()
            .partition(|key| !self.table.get(*key).is_some_and(is_cut));
        for key in on {
            let Some(job) = self.table.get(key) else { continue };
            if job.allocation.procs.iter().all(|proc| jobs[proc as usize] < self.multiprogramming_level) {
                job.allocation.procs.iter().for_each(|proc| jobs[proc as usize] += 1);
            } else {
                off.push(key);
            }
        }
        if !self.abilities.preempts {
            off.extend(cut);
            off.extend(self.keys(|job| job.phase == Phase::Suspended));
        }
        let mut left = ProcSet::new();
        for key in &off {
            let key = *key;
            self.settle(key, step);
            self.forget_begin(key, step.now);
            let Some(job) = self.table.get_mut(key) else { continue };
            let placement = std::mem::take(&mut job.allocation.procs);
            job.leaving = 0;
            let (phase, held) =
                (std::mem::replace(&mut job.phase, Phase::Ineligible), std::mem::take(&mut job.held));
            match phase {
                Phase::Stalled => self.stalled -= 1,
                phase if phase.is_active() => self.running -= 1,
                _ => _ = self.suspended.remove(&key),
            }
            if phase != Phase::Suspended {
                left.insert_all(&placement);
            }
            (job.expected_end, job.end, job.rate) = (Time::NEVER, Time::NEVER, Rate::ZERO);
            self.close_attempt(key, true, step.now);
            if let Some(job) = self.table.get(key) {
                let (kind, cause) = (EventKind::Requeued, EventCause::Command);
                step.record(self.job_event(step.now, kind, cause, job, held));
            }
        }
        let (mut idle, mut free) = (left.clone(), left.intersection(&self.here));
        let mut drained = left.intersection(&self.drained());
        for (_, job) in self.table.iter() {
            match job.phase {
                phase if phase.is_active() => {
                    idle.remove_all(&job.allocation.procs);
                    free.remove_all(&job.allocation.procs);
                    drained.remove_all(&job.allocation.procs);
                }
                Phase::Stalled => {
                    free.remove_all(&job.allocation.procs);
                    drained.remove_all(&job.allocation.procs);
                }
                _ => {}
            }
        }
        idle.remove_all(&self.down);
        self.give_free(&free, free.len(), step.now);
        if let Some(sleepers) = self.sleepers.as_mut().filter(|_| !drained.is_empty()) {
            sleepers.release(&drained, step.now);
        }
        // The jobs have been taken off.
        self.count_watts(&ProcSet::new());
        self.machines(&idle, MachineState::Idle, step);
        // Stalled jobs keep processors from others, unless these are shared.
        self.recount();
        let ineligible = std::mem::take(&mut self.ineligible).in_order();
        self.ineligible_backlog = 0;
        // The support for dedicated jobs may have changed with the policy.
        let early = self.agenda.take_all();
        let dedicated = self.abilities.dedicated;
        let leaves = |job: &LiveJob| job.procs > self.capacity || job.early(dedicated, step.now).is_some();
        let queued = self.keys(|job| job.phase == Phase::Waiting && leaves(job));
        for key in &queued {
            let area = self.table.get(*key).map_or(0, LiveJob::area);
            self.leaves_queue(area);
        }
        for key in off.into_iter().chain(queued).chain(ineligible).chain(early) {
            self.rejoin_queue(key, step.now);
        }
    }

    /// Puts a job that is in no queue back into the queue, at its place in the order of arrival. False if it is ineligible.
    pub(super) fn rejoin_queue(&mut self, key: JobKey, now: Time) -> bool {
        let Some(job) = self.table.get_mut(key) else { return false };
        job.prepare(&self.spec, &self.settings, self.capacity);
        if self.agenda.known(key).is_some() {
            self.request_as_commanded(key);
        }
        let Some(job) = self.table.get_mut(key) else { return false };
        let early = job.early(self.abilities.dedicated, now);
        if early.is_some() || job.procs > self.capacity {
            self.make_ineligible(key, early);
            return false;
        }
        job.phase = Phase::Waiting;
        let area = job.area();
        self.joins_queue(area);
        true
    }

    /// Plans the checkpoints of waiting jobs anew.
    pub(super) fn foresee_anew(&mut self) {
        let (spec, settings) = (&self.spec, &self.settings);
        for job in self.table.iter_mut().filter(|job| matches!(job.phase, Phase::Waiting | Phase::Ineligible))
        {
            let before = if job.phase == Phase::Waiting { job.area() } else { 0 };
            job.foresee(spec, settings);
            let after = if job.phase == Phase::Waiting { job.area() } else { 0 };
            self.backlog = self.backlog - before + after;
        }
    }
}

impl Partition {
    pub(super) fn terms(&self) -> Terms {
        Terms {
            policy: self.policy_name.clone(),
            checkpoint: self.state.settings.checkpoint,
            prices: Prices::of(&self.state.spec, &self.state.settings),
            sleep: self.state.sleep_terms(),
            most_in_use: self.state.spec.most_in_use,
            power_part: self.state.spec.power_part,
        }
    }

    /// Adapts a state that has just been restored to the present description, and records the changes. Returns true if the policy
    /// is another one, or must begin anew because it depends on what has changed.
    ///
    /// # Errors
    /// A sentence on why the present description cannot continue the state.
    pub(super) fn adapt(&mut self, before: &Terms, step: &mut Step<'_>) -> Result<bool, String> {
        let terms = self.terms();
        let state = &mut self.state;
        if terms.policy != before.policy && !state.book.is_empty() && !state.abilities.keeps_reservations {
            return Err(format!(
                "there are reservations, and `{}` {}",
                terms.policy,
                Abilities::NO_RESERVATIONS
            ));
        }
        if terms.prices != before.prices {
            // Earlier use is charged by the earlier trace.
            let per_kwh = [&before.prices.tariff.electricity, &before.prices.tariff.carbon];
            let traces = per_kwh.into_iter().flatten().filter_map(PerKwh::trace);
            if let Some(gone) = traces.into_iter().find(|trace| trace.steps().is_none()) {
                return Err(format!("it was saved under the trace `{gone}`, whose values are not at hand"));
            }
            state.reprice(&before.prices, step);
        }
        let mut begins_anew = false;
        if terms.sleep != before.sleep {
            state.sleep_by(&terms.sleep, step);
            begins_anew = state.begin_anew(step).map_err(|error| error.to_string())?;
        }
        let in_watts = |terms: &Terms| terms.power_part.filter(|part| part.in_watts);
        let counts_watts = in_watts(&terms).is_some() || state.watts.is_some();
        let is_capped_anew = terms.most_in_use != before.most_in_use
            || in_watts(&terms) != in_watts(before)
            || counts_watts
                && (terms.sleep != before.sleep
                    || terms.prices != before.prices
                    || terms.power_part != before.power_part);
        if terms.policy != before.policy || is_capped_anew {
            // Jobs that run go on, also where they are more than a lower cap leaves.
            state.take_off(step);
        }
        if terms.policy != before.policy {
            for key in state.keys(|job| job.phase.holds()) {
                state.share_anew(key, step).map_err(|error| error.to_string())?;
            }
        }
        if terms.checkpoint != before.checkpoint {
            state.foresee_anew();
        }
        // What the policy has planned no longer holds where jobs begin at other times.
        let is_planned_anew = is_capped_anew || begins_anew;
        Ok(is_planned_anew || terms.policy != before.policy || terms.checkpoint != before.checkpoint)
    }
}

impl State {
    /// Gives a job that shared its processors their whole time if no job shares under the present policy, and its whole rate if sharing costs nothing.
    fn share_anew(&mut self, key: JobKey, step: &mut Step<'_>) -> Result<(), PartitionError> {
        let (is_alone, is_free) = (self.multiprogramming_level == 1, !self.abilities.slows);
        let Some(job) = self.table.get(key) else { return Ok(()) };
        let share = if is_alone { Rate::FULL } else { job.allocation.share };
        let efficiency = if is_free { Rate::FULL } else { job.allocation.efficiency };
        if (share, efficiency) == (job.allocation.share, job.allocation.efficiency) {
            return Ok(());
        }
        self.settle(key, step);
        let Some(job) = self.table.get_mut(key) else { return Ok(()) };
        (job.allocation.share, job.allocation.efficiency) = (share, efficiency);
        if job.phase.is_active() { self.set_rate(key, step.now) } else { Ok(()) }
    }
}
