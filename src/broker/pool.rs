//! A pool as the broker knows it: what it is, what it reported last, and what is on its way there.

use serde::{Deserialize, Serialize};

use super::WaitingJob;
use crate::local::Outlook;
use crate::model::{PoolId, Size};
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

    /// Whether so many processors are free, by its report and with what is on its way there. `said` is when it said they
    /// could be had.
    pub(super) fn has_room(&self, procs: u32, said: Time) -> bool {
        let left = u64::from(self.report.free).saturating_sub(self.in_flight.procs);
        said <= self.measured && left >= u64::from(procs)
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
