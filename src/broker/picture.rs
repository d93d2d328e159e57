//! What a broker policy sees: jobs that wait, and pools as they last reported.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::local::Outlook;
use crate::model::{Job, JobId, PoolId, Size};
use crate::units::{Bandwidth, Bytes, Power, Price, Rate, Span, Time, Work};

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
    /// Processors × estimate of the jobs that wait, in processor-microseconds at the speed of the pool.
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
    /// Their processors × estimate in processor-microseconds at the speed of the pool.
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

/// A plan: assignments in the order in which they were made. Short ones are not allocated.
pub type Plan = SmallVec<[Planned; 4]>;

/// An assignment.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// Which of the waiting jobs, by its place among them.
    pub job: usize,
    /// Which pool, by its place among the pools.
    pub pool: usize,
    /// When it is expected to start; [`Time::NEVER`] if its processors are not present.
    pub start: Time,
    /// When it is expected to end; [`Time::NEVER`] likewise.
    pub end: Time,
}

/// What a broker policy plans over, and where it puts its plan.
#[derive(Debug)]
pub struct Picture<'a> {
    now: Time,
    pools: &'a mut [Pool],
    waiting: &'a [WaitingJob<'a>],
    count_in_flight: bool,
    planned: Plan,
    /// A bit a waiting job: assigned by this plan.
    taken: SmallVec<[u64; 4]>,
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

    /// What it says is left of that: without what checkpoints of earlier attempts have kept.
    pub fn work_left(&self) -> Work {
        let all = Work::of_runtime(self.job.estimate);
        self.job.grid.as_ref().map_or(all, |grid| all - grid.kept)
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
    /// A pool of which nothing has been heard: all processors are there and free.
    pub fn unheard_of(facts: PoolFacts) -> Self {
        let (present, free) = (facts.processors, facts.processors);
        let outlook = Outlook { steps: vec![(present, Time::ZERO)] };
        Self {
            facts,
            report: PoolReport { present, free, outlook, ..PoolReport::default() },
            measured: Time::ZERO,
            open: true,
            in_flight: InFlight::default(),
            asked: 0,
        }
    }

    /// Processors that the pool would give the job: its preferred size in whole blocks, or less if it has no more.
    pub fn procs_for(&self, job: &WaitingJob<'_>) -> u32 {
        let quantum = self.facts.quantum;
        let (least, preferred) = (job.size().min(), job.size().preferred());
        if quantum <= 1 {
            return preferred.min(self.facts.processors).max(least);
        }
        let rounded = |procs: u32| procs.div_ceil(quantum).saturating_mul(quantum);
        rounded(preferred).min(self.facts.processors).max(rounded(least))
    }

    /// How long the job says it still runs there, at least a microsecond, as sites plan it.
    pub fn run_of(&self, job: &WaitingJob<'_>) -> Span {
        let rate = match job.size() {
            Size::Rigid(_) => self.facts.speed,
            size => size.rate_on(self.procs_for(job).min(size.max())).times(self.facts.speed),
        };
        let work = job.work_left();
        // Within a few months of reference time the division is one of 64 bits.
        let span = match u64::try_from(work.units()) {
            Ok(units) if rate > Rate::ZERO => Some(Span::from_micros(units.div_ceil(rate.units()))),
            _ => work.span_at(rate),
        };
        span.unwrap_or(Span::MAX).max(Span::TICK)
    }

    /// When the job's input would be there, if nobody shared the connection.
    pub fn ready(&self, job: &WaitingJob<'_>, now: Time) -> Time {
        let input = job.input();
        if input == Bytes::ZERO {
            return now + self.facts.latency;
        }
        let micros = match self.facts.bandwidth {
            Some(bandwidth) if bandwidth.bits() > 0 => {
                (u128::from(input.count()) * 8_000_000).div_ceil(u128::from(bandwidth.bits()))
            }
            _ => 0,
        };
        let staging = Span::from_micros(u64::try_from(micros).unwrap_or(u64::MAX));
        now + self.facts.latency + staging + self.facts.latency
    }

    /// When, by its report, the pool could give a newcomer so many processors: at once if nobody waits and as many are free,
    /// else by its outlook, which tells it for some sizes only. `None` if they are not present.
    pub fn said(&self, procs: u32) -> Option<Time> {
        if self.report.waiting == 0 && procs <= self.report.free {
            return Some(self.measured);
        }
        self.report.outlook.start(procs)
    }

    /// Processors that are taken as far as is known: by what runs there, and by what is on its way.
    pub fn taken(&self) -> u64 {
        let busy = self.report.present.saturating_sub(self.report.free);
        self.in_flight.procs.saturating_add(u64::from(busy))
    }

    /// Processors × estimate of what waits there as far as is known, in processor-microseconds at the speed of the pool:
    /// of the jobs that wait, and of those on their way unless all of them will find free processors and an empty queue.
    pub fn queued(&self) -> u128 {
        let at_once = self.report.waiting == 0 && self.in_flight.procs <= u64::from(self.report.free);
        if at_once { self.report.backlog } else { self.report.backlog.saturating_add(self.in_flight.area) }
    }
}

/// How long so many processors take for an area of processors × microseconds, rounded down.
pub(super) fn spread(area: u128, procs: u32) -> Span {
    let procs = procs.max(1);
    // Areas beyond 64 bits are half a million processor-years.
    Span::from_micros(match u64::try_from(area) {
        Ok(area) => area / u64::from(procs),
        Err(_) => u64::try_from(area / u128::from(procs)).unwrap_or(u64::MAX),
    })
}

impl<'a> Picture<'a> {
    /// A picture with an empty plan.
    pub fn new(
        now: Time,
        pools: &'a mut [Pool],
        waiting: &'a [WaitingJob<'a>],
        count_in_flight: bool,
    ) -> Self {
        let taken = SmallVec::from_elem(0, waiting.len().div_ceil(64));
        Self { now, pools, waiting, count_in_flight, planned: Plan::new(), taken }
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
        self.taken[job / 64] & (1 << (job % 64)) == 0
    }

    /// Whether the job could run in the pool: its site is open and has not refused it, and it has the processors, as far as
    /// is known. With `present`, those that are there now; else those that there are when all machines are.
    pub fn fits(&self, job: usize, pool: usize, present: bool) -> bool {
        let (job, pool) = (&self.waiting[job], &self.pools[pool]);
        let has = if present { pool.report.present } else { pool.facts.processors };
        pool.open && pool.procs_for(job) <= has && !job.refused().contains(&pool.facts.id)
    }

    /// The pool of the least key among those that the job fits (see [`Picture::fits`]), the first among equals; pools
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

    /// Whether the job would find its processors free in the pool: the pool said so, and what is on its way there leaves
    /// enough.
    pub fn is_free(&self, job: usize, pool: usize) -> bool {
        let (job, pool) = (&self.waiting[job], &self.pools[pool]);
        let procs = pool.procs_for(job);
        pool.said(procs).is_some_and(|said| has_room(pool, procs, said))
    }

    /// When the job could start in the pool: what the pool said of its queue, plus what is on its way there, and not before
    /// job and input can be there. `None` if the processors are not present.
    pub fn start(&self, job: usize, pool: usize) -> Option<Time> {
        let (job, pool) = (&self.waiting[job], &self.pools[pool]);
        let procs = pool.procs_for(job);
        let said = pool.said(procs)?;
        let ready = pool.ready(job, self.now);
        if pool.in_flight.jobs == 0 || has_room(pool, procs, said) {
            return Some(said.max(ready));
        }
        let behind = spread(pool.in_flight.area, pool.report.present);
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
        if !self.is_open(job) {
            return;
        }
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

    /// The plan, in the order in which it was made.
    pub fn into_plan(self) -> Plan {
        self.planned
    }
}

/// Whether a pool that said when so many processors could be had meant at once, and what is on its way leaves them.
fn has_room(pool: &Pool, procs: u32, said: Time) -> bool {
    let left = u64::from(pool.report.free).saturating_sub(pool.in_flight.procs);
    said <= pool.measured && left >= u64::from(procs)
}
