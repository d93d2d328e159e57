//! The grid view of a broker policy: jobs that wait, pools as they last reported, and the plan.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::decision::{Candidate, Choice, PlanTrace};
use super::pool::{Pool, spread};
use crate::model::{Job, JobId, PoolId, Size};
use crate::units::{Bytes, Span, Time, Work};

/// A job that waits with the broker, without its real run time, which a broker may not know.
#[derive(Copy, Clone, Debug)]
pub struct WaitingJob<'a> {
    job: &'a Job,
    refused: &'a [PoolId],
}

/// A plan: assignments in the order in which they were made. Short plans need no allocation.
pub type Plan = SmallVec<[Planned; 4]>;

/// An assignment of a waiting job to a pool.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// The job's place among the waiting jobs.
    pub job: usize,
    /// The pool's place among the pools.
    pub pool: usize,
    /// When the job is expected to start; [`Time::NEVER`] if its processors are not present.
    pub start: Time,
    /// When it is expected to end; [`Time::NEVER`] likewise.
    pub end: Time,
}

/// The view from which a broker policy plans, and into which it writes its plan.
#[derive(Debug)]
pub struct GridView<'a> {
    now: Time,
    pools: &'a mut [Pool],
    waiting: &'a [WaitingJob<'a>],
    count_in_flight: bool,
    planned: Plan,
    /// One bit per waiting job: whether this plan assigns it.
    taken: SmallVec<[u64; 4]>,
    trace: Option<PlanTrace>,
}

impl<'a> WaitingJob<'a> {
    /// A waiting job, with the pools that have refused it.
    pub fn new(job: &'a Job, refused: &'a [PoolId]) -> Self {
        Self { job, refused }
    }

    /// Its number in the workload.
    pub fn id(&self) -> JobId {
        self.job.id
    }

    /// The number of its next assignment, from 1.
    pub fn assignment(&self) -> u32 {
        self.job.grid.as_ref().map_or(0, |grid| grid.assignment) + 1
    }

    /// When it was submitted.
    pub fn submit(&self) -> Time {
        self.job.submit
    }

    /// Its requested size.
    pub fn size(&self) -> &'a Size {
        &self.job.size
    }

    /// Its estimated run time on its preferred size at reference speed.
    pub fn estimate(&self) -> Span {
        self.job.estimate
    }

    /// The estimated work that is left: without the part that checkpoints of earlier attempts have kept.
    pub fn work_left(&self) -> Work {
        let all = Work::of_runtime(self.job.estimate);
        self.job.grid.as_ref().map_or(all, |grid| all - grid.kept)
    }

    /// Its deadline, after which its result is worth less, if it has one.
    pub fn deadline(&self) -> Option<Time> {
        self.job.deadline
    }

    /// User number, −1 if unknown.
    pub fn user(&self) -> i32 {
        self.job.user
    }

    /// Input data that must be at the site before it starts.
    pub fn input(&self) -> Bytes {
        self.job.grid.as_ref().map_or(Bytes::ZERO, |grid| grid.input)
    }

    /// Pools that have refused it.
    pub fn refused(&self) -> &'a [PoolId] {
        self.refused
    }
}

impl<'a> GridView<'a> {
    /// A grid view with an empty plan.
    pub fn new(
        now: Time,
        pools: &'a mut [Pool],
        waiting: &'a [WaitingJob<'a>],
        count_in_flight: bool,
    ) -> Self {
        let taken = SmallVec::from_elem(0, waiting.len().div_ceil(64));
        Self { now, pools, waiting, count_in_flight, planned: Plan::new(), taken, trace: None }
    }

    /// The same view, in which the assignment of one job records what was compared for it.
    #[must_use]
    pub fn traced(self, job: JobId) -> Self {
        Self { trace: Some(PlanTrace { job, choice: None, notes: Vec::new() }), ..self }
    }

    /// Takes what the assignment of the traced job has recorded; `None` without a trace, or if the job is not assigned.
    pub fn take_choice(&mut self) -> Option<Choice> {
        self.trace.as_mut()?.choice.take()
    }

    /// Records values that the policy compares for a job: one per pool, under a name. Computes nothing unless the job is traced.
    pub fn note(&mut self, job: usize, name: &'static str, value: impl Fn(&Pool) -> f64) {
        let id = self.waiting[job].id();
        if let Some(trace) = self.trace.as_mut().filter(|trace| trace.job == id) {
            trace.notes.push((name, self.pools.iter().map(value).collect()));
        }
    }

    /// The instant.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The pools, in the order of sites and partitions.
    pub fn pools(&self) -> &[Pool] {
        self.pools
    }

    /// Jobs that wait with the broker, in the order in which they arrived or returned.
    pub fn waiting(&self) -> &'a [WaitingJob<'a>] {
        self.waiting
    }

    /// True if this plan does not assign the waiting job yet.
    pub fn is_open(&self, job: usize) -> bool {
        self.taken[job / 64] & (1 << (job % 64)) == 0
    }

    /// True if the job could run in the pool, according to the view: its site is open and has not refused it, and the pool has
    /// the processors. With `present`, these are the processors that are up now; otherwise those with all machines up.
    pub fn fits(&self, job: usize, pool: usize, present: bool) -> bool {
        let (job, pool) = (&self.waiting[job], &self.pools[pool]);
        let has = if present { pool.report.present } else { pool.facts.processors };
        pool.open && pool.procs_for(job) <= has && !job.refused().contains(&pool.facts.id)
    }

    /// The pool with the least key among those that the job fits (see [`GridView::fits`]), the first among equals; pools
    /// without a key are left out. `None` if there is none.
    pub fn least<K: Ord>(
        &self,
        job: usize,
        present: bool,
        mut key: impl FnMut(usize) -> Option<K>,
    ) -> Option<usize> {
        let mut best = None;
        for pool in (0..self.pools.len()).filter(|pool| self.fits(job, *pool, present)) {
            let Some(key) = key(pool) else { continue };
            if best.as_ref().is_none_or(|(least, _)| key < *least) {
                best = Some((key, pool));
            }
        }
        best.map(|(_, pool)| pool)
    }

    /// True if the job would find its processors free in the pool: the pool has reported so, and jobs on their way there leave
    /// enough.
    pub fn is_free(&self, job: usize, pool: usize) -> bool {
        let (job, pool) = (&self.waiting[job], &self.pools[pool]);
        let procs = pool.procs_for(job);
        pool.reported_start(procs).is_some_and(|start| pool.has_room(procs, start))
    }

    /// When the job could start in the pool: the start that the pool has estimated, plus the jobs on their way there, and not
    /// before the job and its input can be there. `None` if the processors are not present.
    pub fn start(&self, job: usize, pool: usize) -> Option<Time> {
        let (job, pool) = (&self.waiting[job], &self.pools[pool]);
        let procs = pool.procs_for(job);
        let start = pool.reported_start(procs)?;
        let ready = pool.ready(job, self.now);
        if pool.in_flight.jobs == 0 || pool.has_room(procs, start) {
            return Some(start.max(ready));
        }
        let behind = spread(pool.in_flight.area, pool.report.present);
        Some((start.max(pool.measured) + behind).max(ready))
    }

    /// When the job would complete: [`GridView::start`] plus its estimated run time there.
    pub fn completion(&self, job: usize, pool: usize) -> Option<Time> {
        Some(self.start(job, pool)? + self.pools[pool].run_of(&self.waiting[job]))
    }

    /// Assigns a waiting job to a pool. A job can be assigned once.
    ///
    /// # Panics
    /// If there is no such job or pool, which is an error of the policy.
    pub fn assign(&mut self, job: usize, pool: usize) {
        if !self.is_open(job) {
            return;
        }
        self.record_choice(job, pool);
        let start = self.start(job, pool).unwrap_or(Time::NEVER);
        self.taken[job / 64] |= 1 << (job % 64);
        let (waiting, into) = (&self.waiting[job], &mut self.pools[pool]);
        let (procs, run) = (into.procs_for(waiting), into.run_of(waiting));
        if self.count_in_flight {
            let (flight, area) = (&mut into.in_flight, u128::from(procs) * u128::from(run.micros()));
            flight.jobs = flight.jobs.saturating_add(1);
            flight.procs = flight.procs.saturating_add(u64::from(procs));
            flight.area = flight.area.saturating_add(area);
        }
        into.asked = into.asked.saturating_sub(procs);
        self.planned.push(Planned { job, pool, start, end: start + run });
    }

    /// Assigns a waiting job to the pool that was found for it, if one was.
    pub fn assign_to(&mut self, job: usize, found: Option<usize>) {
        if let Some(pool) = found {
            self.assign(job, pool);
        }
    }

    /// Records what was compared for an assignment that is about to be made, if its job is traced.
    fn record_choice(&mut self, job: usize, pool: usize) {
        let id = self.waiting[job].id();
        let Some(mut trace) = self.trace.take_if(|trace| trace.job == id) else { return };
        let candidate = |at: usize| Candidate {
            pool: self.pools[at].facts.id,
            start: self.start(job, at),
            end: self.completion(job, at),
            values: trace.notes.iter().map(|(name, values)| (*name, values[at])).collect(),
        };
        let fitting = (0..self.pools.len()).filter(|at| self.fits(job, *at, false));
        let candidates = fitting.map(candidate).collect();
        trace.choice = Some(Choice { at: self.now, job: id, pool: self.pools[pool].facts.id, candidates });
        self.trace = Some(trace);
    }

    /// The plan, in the order in which it was made.
    pub fn into_plan(self) -> Plan {
        self.planned
    }
}
