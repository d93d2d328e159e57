//! What a broker policy sees: jobs that wait, and pools as they last reported.

use serde::{Deserialize, Serialize};

use crate::local::Outlook;
use crate::model::{Job, JobId, PoolId, Size};
use crate::units::{Bandwidth, Bytes, Power, Price, Rate, Span, Time};

/// What does not change about a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolFacts {
    /// Which it is.
    pub id: PoolId,
    /// The site's name.
    pub site: String,
    /// The partition's name.
    pub partition: String,
    /// Processors when all machines are there, in whole allocation blocks.
    pub processors: u32,
    /// Processors are given in blocks of this many.
    pub quantum: u32,
    /// Speed of a processor.
    pub speed: Rate,
    /// Power of an idle processor.
    pub idle: Power,
    /// Power of a busy processor.
    pub busy: Power,
    /// Facility over IT energy × 10⁶.
    pub pue_ppm: u64,
    /// How long a message from the broker takes.
    pub latency: Span,
    /// What transfers between portal and site share; `None` for as much as anybody wants.
    pub bandwidth: Option<Bandwidth>,
}

/// What a site says of one of its partitions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolReport {
    /// Processors that are there now, in whole allocation blocks.
    pub present: u32,
    /// Processors that a job could start on now.
    pub free: u32,
    /// Jobs that wait.
    pub waiting: u32,
    /// Jobs that run.
    pub running: u32,
    /// Processors × estimate of the jobs that wait, in processor-microseconds.
    pub backlog: u128,
    /// Price a core-hour now.
    pub price: Price,
    /// What the processors draw now, without PUE.
    pub power: Power,
    /// When a newcomer could start.
    pub outlook: Outlook,
}

/// Assignments that the last report does not show yet.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InFlight {
    /// Jobs.
    pub jobs: u32,
    /// Their processors.
    pub procs: u64,
    /// Their processors × estimate in processor-microseconds.
    pub area: u128,
}

/// A pool as the broker knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    /// What does not change.
    pub facts: PoolFacts,
    /// What was measured last.
    pub report: PoolReport,
    /// When.
    pub measured: Time,
    /// Whether the site takes jobs of the grid.
    pub open: bool,
    /// What the report does not show yet; nothing unless the broker counts its own dispatches.
    pub in_flight: InFlight,
    /// Processors for which the pool has asked for work and not got any yet (only under a policy that is asked).
    pub asked: u32,
}

/// A job that waits with the broker, as far as a broker may know it: not how long it will really run.
#[derive(Copy, Clone, Debug)]
pub struct WaitingJob<'a> {
    job: &'a Job,
    refused: &'a [PoolId],
}

/// An assignment.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// Which of the waiting jobs, by its place among them.
    pub job: usize,
    /// Which pool, by its place among the pools.
    pub pool: usize,
    /// When it is expected to start.
    pub start: Time,
    /// When it is expected to end.
    pub end: Time,
}

/// What a broker policy plans over, and where it puts its plan.
#[derive(Debug)]
pub struct Picture<'a> {
    now: Time,
    pools: &'a mut [Pool],
    waiting: &'a [WaitingJob<'a>],
    count_in_flight: bool,
    planned: Vec<Planned>,
    taken: Vec<bool>,
}

impl<'a> WaitingJob<'a> {
    /// A job, and the pools that would not take it.
    pub fn new(job: &'a Job, refused: &'a [PoolId]) -> Self {
        Self { job, refused }
    }

    /// Number in the workload.
    pub fn id(&self) -> JobId {
        self.job.id
    }

    /// Which assignment the next one will be, from 1.
    pub fn try_number(&self) -> u32 {
        self.job.grid.as_ref().map_or(0, |grid| grid.try_number) + 1
    }

    /// When it was submitted.
    pub fn submit(&self) -> Time {
        self.job.submit
    }

    /// What it asks for.
    pub fn size(&self) -> &'a Size {
        &self.job.size
    }

    /// How long it says it runs on its preferred size at reference speed.
    pub fn estimate(&self) -> Span {
        self.job.estimate
    }

    /// When its result is worth less, if ever.
    pub fn deadline(&self) -> Option<Time> {
        self.job.deadline
    }

    /// User number, −1 if unknown.
    pub fn user(&self) -> i32 {
        self.job.user
    }

    /// Data that must be at the site before.
    pub fn input(&self) -> Bytes {
        self.job.grid.as_ref().map_or(Bytes::ZERO, |grid| grid.input)
    }

    /// Pools that would not take it.
    pub fn refused(&self) -> &'a [PoolId] {
        self.refused
    }
}

impl Pool {
    /// Processors that the pool would give the job: its preferred size in whole blocks, or less if it has no more.
    pub fn procs_for(&self, job: &WaitingJob<'_>) -> u32 {
        let quantum = self.facts.quantum.max(1);
        let rounded = |procs: u32| procs.div_ceil(quantum).saturating_mul(quantum);
        rounded(job.size().preferred()).min(self.facts.processors).max(rounded(job.size().min()))
    }

    /// How long the job says it runs there.
    pub fn run_of(&self, job: &WaitingJob<'_>) -> Span {
        let rate = job.size().rate_on(self.procs_for(job).min(job.size().max())).times(self.facts.speed);
        crate::units::Work::of_runtime(job.estimate()).span_at(rate).unwrap_or(Span::MAX)
    }

    /// When the job's input would be there, if nobody shared the connection.
    pub fn ready(&self, job: &WaitingJob<'_>, now: Time) -> Time {
        let micros = match self.facts.bandwidth {
            Some(bandwidth) if bandwidth.bits() > 0 => {
                (u128::from(job.input().count()) * 8_000_000).div_ceil(u128::from(bandwidth.bits()))
            }
            _ => 0,
        };
        let staging = Span::from_micros(u64::try_from(micros).unwrap_or(u64::MAX));
        let staging = if job.input() == Bytes::ZERO { staging } else { staging + self.facts.latency };
        now + self.facts.latency + staging
    }
}

impl<'a> Picture<'a> {
    /// A picture with an empty plan.
    pub fn new(
        now: Time,
        pools: &'a mut [Pool],
        waiting: &'a [WaitingJob<'a>],
        count_in_flight: bool,
    ) -> Self {
        let taken = vec![false; waiting.len()];
        Self { now, pools, waiting, count_in_flight, planned: Vec::new(), taken }
    }

    /// The instant.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The pools, in the order of sites and partitions.
    pub fn pools(&self) -> &[Pool] {
        self.pools
    }

    /// Jobs that wait with the broker, in the order in which they came (back).
    pub fn waiting(&self) -> &'a [WaitingJob<'a>] {
        self.waiting
    }

    /// True if a waiting job has not been assigned by this plan.
    pub fn is_open(&self, job: usize) -> bool {
        !self.taken[job]
    }

    /// Whether the job could run in the pool: its site is open and has not refused it, and it has the processors, as far as
    /// is known. With `present`, those that are there now; else those that there are when all machines are.
    pub fn fits(&self, job: usize, pool: usize, present: bool) -> bool {
        let (job, pool) = (&self.waiting[job], &self.pools[pool]);
        let has = if present { pool.report.present } else { pool.facts.processors };
        pool.open && pool.procs_for(job) <= has && !job.refused().contains(&pool.facts.id)
    }

    /// When the job could start in the pool: what the pool said of its queue, plus what is on its way there, and not before
    /// job and input can be there. `None` if the processors are not present.
    pub fn start(&self, job: usize, pool: usize) -> Option<Time> {
        let (job, pool) = (&self.waiting[job], &self.pools[pool]);
        let procs = pool.procs_for(job);
        let said = pool.report.outlook.start(procs)?;
        let ready = pool.ready(job, self.now);
        let flight = pool.in_flight;
        let room = u64::from(pool.report.free) >= flight.procs + u64::from(procs) && said <= pool.measured;
        if room || flight.jobs == 0 {
            return Some(said.max(ready));
        }
        let behind = flight.area / u128::from(pool.report.present.max(1));
        let behind = Span::from_micros(u64::try_from(behind).unwrap_or(u64::MAX));
        Some((said.max(pool.measured) + behind).max(ready))
    }

    /// When the job would be done: [`Picture::start`] plus what it says it runs there.
    pub fn completion(&self, job: usize, pool: usize) -> Option<Time> {
        Some(self.start(job, pool)? + self.pools[pool].run_of(&self.waiting[job]))
    }

    /// Assigns a waiting job, once, to a pool.
    ///
    /// # Panics
    /// If there is no such job or pool: a mistake of the policy's author.
    pub fn assign(&mut self, job: usize, pool: usize) {
        if std::mem::replace(&mut self.taken[job], true) {
            return;
        }
        let start = self.start(job, pool).unwrap_or(Time::NEVER);
        let (waiting, into) = (&self.waiting[job], &mut self.pools[pool]);
        let (procs, run) = (into.procs_for(waiting), into.run_of(waiting));
        if self.count_in_flight {
            into.in_flight.jobs += 1;
            into.in_flight.procs += u64::from(procs);
            into.in_flight.area += u128::from(procs) * u128::from(run.micros());
        }
        into.asked = into.asked.saturating_sub(procs);
        self.planned.push(Planned { job, pool, start, end: start + run });
    }

    /// The plan, in the order in which it was made.
    pub fn into_plan(self) -> Vec<Planned> {
        self.planned
    }
}
