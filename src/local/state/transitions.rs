//! Transitions of jobs: how long they take, and what is left of suspended jobs.

use std::cmp::Reverse;

use super::State;
use crate::local::error::PartitionError;
use crate::local::{LiveJob, Phase, Step};
use crate::model::{Cause, JobKey, JobMemory, JobRef, MemoryLaw, MemoryOf, OnLeave, ProcSet};
use crate::units::{Bytes, Rate, Span, Time};
use crate::workload::random::Stream;

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
    /// The memory of a job, as far as it has to be written and read, and of what it is the memory: none if it has not begun to run.
    fn memory_of(&self, job: &LiveJob, now: Time) -> (Bytes, MemoryOf) {
        let costs = &self.settings.preemption;
        if !job.has_run_by(now) {
            return (Bytes::ZERO, costs.memory_of);
        }
        let drawn = |law: &MemoryLaw| match *law {
            MemoryLaw::Fixed(memory) => memory,
            MemoryLaw::Uniform { least, most } => {
                // By the job alone, so that no policy changes a draw.
                let of = match job.number() {
                    Some(number) => format!("job {number}"),
                    None => format!("job {} of {}", job.id(), self.settings.site_name),
                };
                let more =
                    Stream::new(self.settings.seed, &of, "memory").below(most.count() - least.count() + 1);
                Bytes::new(least.count() + more)
            }
        };
        match &costs.memory {
            JobMemory::Law(law) => (drawn(law), costs.memory_of),
            JobMemory::Logged { otherwise } => {
                let of_task = || job.job.needs()?.memory;
                match (job.job.memory, of_task()) {
                    (Some(memory), _) => (memory, MemoryOf::Processor),
                    (None, Some(memory)) => (memory, MemoryOf::Job),
                    (None, None) => (otherwise.as_ref().map_or(Bytes::ZERO, drawn), costs.memory_of),
                }
            }
        }
    }

    /// The most of these processors that are on one machine.
    fn most_on_one(&self, procs: &ProcSet) -> u32 {
        let cores = self.spec.cores.max(1);
        let on = |machine: u32| procs.common(&ProcSet::range(machine * cores, (machine + 1) * cores));
        self.machines_of(procs).map(on).max().unwrap_or(0)
    }

    /// How long it takes to suspend a job that runs.
    pub(in crate::local) fn suspends_in(&self, job: &LiveJob, now: Time) -> Span {
        let costs = &self.settings.preemption;
        if costs.write.is_none() {
            return Span::ZERO;
        }
        let procs = &job.allocation.procs;
        costs.writes(self.memory_of(job, now), procs.len(), self.most_on_one(procs))
    }

    /// How long it takes to resume a suspended job on these processors.
    pub(in crate::local) fn resumes_in(&self, job: &LiveJob, procs: &ProcSet, now: Time) -> Span {
        let costs = &self.settings.preemption;
        if costs.read.is_none() {
            return Span::ZERO;
        }
        costs.reads(self.memory_of(job, now), procs.len(), self.most_on_one(procs))
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

    /// Suspended jobs that lose what they have written, because machines of these processors go down, in order of arrival.
    pub(in crate::local) fn losing_memory(&self, lost: &ProcSet) -> Vec<JobKey> {
        if self.suspended.is_empty() || self.settings.preemption.on_leave == OnLeave::Wait {
            return Vec::new();
        }
        let loses = |job: &LiveJob| {
            job.phase == Phase::Suspended && job.has_run() && !job.allocation.procs.is_disjoint(lost)
        };
        self.keys(loses)
    }

    /// What is left of jobs that are suspended, or are being suspended, as far as they are estimated: processors × time, in processor-microseconds.
    pub(in crate::local) fn suspended_backlog(&self) -> u128 {
        let suspended = self.suspended.iter().filter_map(|key| self.table.get(*key));
        // No job is being suspended for a while where that takes no time.
        let writes = self.settings.preemption.write.is_some().then_some(&self.ends);
        let of = |seq: u64, key| self.table.get(key).filter(|job: &&LiveJob| job.end_seq == seq);
        let leaving = writes.into_iter().flatten().filter_map(|Reverse((_, seq, key))| of(*seq, *key));
        let jobs = suspended.chain(leaving.filter(|job| job.phase == Phase::Suspending));
        jobs.map(|job| {
            let rate = job.job.size.rate_on(job.given.min(job.job.size.max())).times(self.spec.speed());
            let left = (job.estimated - job.done).span_at(rate).unwrap_or(Span::MAX);
            u128::from(job.given) * u128::from(left.micros())
        })
        .sum()
    }
}
