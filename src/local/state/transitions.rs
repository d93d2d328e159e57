//! Transitions of jobs: how long they take, and what is left of suspended jobs.

use super::State;
use crate::local::error::PartitionError;
use crate::local::{LiveJob, Phase, Step};
use crate::model::{Cause, JobKey, JobMemory, JobRef, ProcSet};
use crate::units::{Bytes, Rate, Span, Time};

impl Cause {
    /// Why a job in this phase holds its processors.
    pub(in crate::local) const fn of(phase: Phase) -> Self {
        match phase {
            Phase::Suspending => Self::Suspend,
            Phase::Resuming => Self::Resume,
            Phase::Reconfiguring => Self::Resize,
            _ => Self::Run,
        }
    }
}

impl State {
    /// The memory of a job, as far as it has to be written and read: none if it has not begun to run.
    fn memory_of(&self, job: &LiveJob) -> Bytes {
        match self.settings.preemption.memory {
            JobMemory::Fixed(memory) if job.has_run() => memory,
            _ => Bytes::ZERO,
        }
    }

    /// The most of these processors that are on one machine.
    fn most_on_one(&self, procs: &ProcSet) -> u32 {
        let cores = self.spec.cores.max(1);
        let on = |machine: u32| procs.common(&ProcSet::range(machine * cores, (machine + 1) * cores));
        self.machines_of(procs).map(on).max().unwrap_or(0)
    }

    /// How long it takes to suspend a job that runs.
    pub(in crate::local) fn suspends_in(&self, job: &LiveJob) -> Span {
        let costs = &self.settings.preemption;
        if costs.write.is_none() {
            return Span::ZERO;
        }
        let procs = &job.allocation.procs;
        costs.writes(self.memory_of(job), procs.len(), self.most_on_one(procs))
    }

    /// How long it takes to resume a suspended job on these processors.
    pub(in crate::local) fn resumes_in(&self, job: &LiveJob, procs: &ProcSet) -> Span {
        let costs = &self.settings.preemption;
        if costs.read.is_none() {
            return Span::ZERO;
        }
        costs.reads(self.memory_of(job), procs.len(), self.most_on_one(procs))
    }

    /// Begins a transition of a job where it is; its segment must have been settled.
    pub(in crate::local) fn begin_transition(
        &mut self,
        key: JobKey,
        phase: Phase,
        takes: Span,
        now: Time,
    ) -> Result<(), PartitionError> {
        let settings = &self.settings;
        let Some(job) = self.table.get_mut(key) else { return Ok(()) };
        let until = job.since.max(now).checked_add(takes);
        job.phase = phase;
        job.until = until.ok_or_else(|| PartitionError::EndOfTime {
            job: JobRef::new(job.origin, settings.site, job.job.id),
            site: settings.site_name.clone(),
            time: now,
        })?;
        self.set_rate(key, now)
    }

    /// Takes a job off its processors, which keeps the work it has done; its segment must have been settled. When it was expected to end can still be
    /// looked up until it is [forgotten](Self::forget_expected).
    pub(in crate::local) fn take_suspended(&mut self, key: JobKey, step: &mut Step<'_>) {
        let Some(job) = self.table.get_mut(key) else { return };
        job.phase = Phase::Suspended;
        (job.end, job.rate) = (Time::NEVER, Rate::ZERO);
        let (placement, held, share) = (job.allocation.procs.clone(), job.held, job.allocation.share);
        (job.held, job.leaving) = (0, 0);
        self.running -= 1;
        self.suspended.insert(key);
        self.vacate(&placement, held, share, step);
    }

    /// A suspended job is not expected to end.
    pub(in crate::local) fn forget_expected(&mut self, key: JobKey) {
        if let Some(job) = self.table.get_mut(key) {
            job.expected_end = Time::NEVER;
        }
    }

    /// What is left of suspended jobs, as far as they are estimated: processors × time, in processor-microseconds.
    pub(in crate::local) fn suspended_backlog(&self) -> u128 {
        let jobs = self.suspended.iter().filter_map(|key| self.table.get(*key));
        jobs.map(|job| {
            let rate = job.job.size.rate_on(job.given.min(job.job.size.max())).times(self.spec.speed());
            let left = (job.estimated - job.done).span_at(rate).unwrap_or(Span::MAX);
            u128::from(job.given) * u128::from(left.micros())
        })
        .sum()
    }
}
