//! A pool in the broker's view: its description, its last report, and the jobs on their way there.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Placed, PoolForecasts, Rates, Task, WaitClass};
use crate::local::StartEstimates;
use crate::model::{Equipment, Job, PoolId, Size};
use crate::units::{Bandwidth, Bytes, Power, Price, Rate, Span, Time, Work};

/// The constant properties of a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolFacts {
    /// The pool's id.
    pub id: PoolId,
    /// The site's name.
    pub site: String,
    /// The partition's name: the class of its machines.
    pub partition: String,
    /// Processors with all machines up, in whole allocation blocks.
    pub processors: u32,
    /// Processors are given in blocks of this many: the allocation unit.
    pub allocation_unit: u32,
    /// Processors of a machine.
    pub cores: u32,
    /// What a machine has beyond processors.
    pub equipment: Equipment,
    /// Speed of a processor of the slowest group: what estimates count on.
    pub speed: Rate,
    /// The groups of machines, in the order in which their free processors are given; none if there is one.
    pub groups: Vec<PoolGroup>,
    /// Power of an idle processor.
    pub idle: Power,
    /// Power of a busy processor.
    pub busy: Power,
    /// Facility energy / IT energy (PUE) × 10⁶.
    pub pue_ppm: u64,
    /// What its processors and its electricity cost, and the carbon that it causes, over time.
    pub rates: Rates,
    /// How long a message from the broker to the site takes.
    pub latency: Span,
    /// The bandwidth that one transfer between portal and site has alone: the narrowest of the link and the uplinks of both; `None` if it is unlimited.
    pub bandwidth: Option<Bandwidth>,
}

impl PoolFacts {
    /// The speed of a processor of the fastest group.
    pub fn fastest(&self) -> Rate {
        self.groups.iter().map(|group| group.speed).max().unwrap_or(self.speed)
    }

    /// How long on the fastest machines what takes this time on the slowest.
    pub fn at_best(&self, time: Span) -> Span {
        time_at(time, self.speed, self.fastest())
    }

    /// The speeds of all processors, in sum, in units of 2⁻²⁰.
    pub fn total_speed(&self) -> u128 {
        let of = |processors: u32, speed: Rate| u128::from(processors) * u128::from(speed.units());
        match self.groups.as_slice() {
            [] => of(self.processors, self.speed),
            groups => groups.iter().map(|group| of(group.processors, group.speed)).sum(),
        }
    }
}

/// How long at one speed what takes a time at another.
fn time_at(time: Span, speed: Rate, other: Rate) -> Span {
    if speed == other {
        return time;
    }
    let work = u128::from(time.micros()) * u128::from(speed.units());
    Work::from_units(work).span_at(other).unwrap_or(Span::MAX)
}

/// Machines of one class in a pool.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolGroup {
    /// Processors with all machines up, in whole allocation blocks.
    pub processors: u32,
    /// Speed of a processor.
    pub speed: Rate,
}

/// A site's report of one of its partitions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolReport {
    /// Processors that are up now, in whole allocation blocks.
    pub present: u32,
    /// Processors that a job could start on now, or once machines that sleep are awake.
    pub free: u32,
    /// Those of them whose machines are not awake.
    pub asleep: u32,
    /// The same by group, in the order in which they are given; none if there is one group.
    pub free_by_group: Vec<u32>,
    /// Jobs that wait.
    pub waiting: u32,
    /// Jobs that run.
    pub running: u32,
    /// Processors × estimate of the jobs that wait, in processor-microseconds at the speed of the pool.
    pub backlog: u128,
    /// Price of a core-hour now.
    pub price: Price,
    /// Power that the processors draw now, without PUE.
    pub power: Power,
    /// When an arriving job could start.
    pub start_estimates: StartEstimates,
}

impl PoolReport {
    /// Processors that a job could start on now.
    pub fn awake(&self) -> u32 {
        self.free.saturating_sub(self.asleep)
    }
}

/// Assignments that the last report does not include yet.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InFlight {
    /// The number of jobs.
    pub jobs: u32,
    /// Their processors.
    pub procs: u64,
    /// Their processors × estimate in processor-microseconds at the speed of the pool.
    pub area: u128,
    /// When they are expected to be done on all processors of the pool, if each begins no earlier than it is there. What had to end before them counts as far
    /// as the broker knows of it.
    pub until: Time,
}

/// A pool in the broker's view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    /// Its constant properties.
    pub facts: PoolFacts,
    /// Its last report, as the broker believes it: as it came, or with forecasts of the next values in the place of these.
    pub report: PoolReport,
    /// When the last report was measured.
    pub measured: Time,
    /// What is forecast of it beside that; nothing where the broker believes reports.
    pub forecasts: PoolForecasts,
    /// Whether the site takes grid jobs.
    pub open: bool,
    /// Jobs that the report does not include yet; none unless the broker counts its own dispatches.
    pub in_flight: InFlight,
    /// Processors for which the pool has asked for work and not received any yet (only under a policy with pull).
    pub asked: u32,
}

impl Pool {
    /// A pool that has not reported yet: all processors are up and free.
    pub fn unreported(facts: PoolFacts) -> Self {
        let (present, free) = (facts.processors, facts.processors);
        let free_by_group = facts.groups.iter().map(|group| group.processors).collect();
        let start_estimates = StartEstimates { steps: vec![(present, Time::ZERO)] };
        Self {
            facts,
            report: PoolReport { present, free, free_by_group, start_estimates, ..PoolReport::default() },
            measured: Time::ZERO,
            forecasts: PoolForecasts::default(),
            open: true,
            in_flight: InFlight::default(),
            asked: 0,
        }
    }

    /// Processors that the pool would give the job: its preferred size in whole blocks, or all that it has if that is less.
    pub fn procs_for(&self, job: &Task<'_>) -> u32 {
        self.procs_of((job.size().min(), job.size().preferred()))
    }

    /// The same for a job with these least and preferred processors.
    pub(super) fn procs_of(&self, (least, preferred): (u32, u32)) -> u32 {
        let allocation_unit = self.facts.allocation_unit;
        if allocation_unit <= 1 {
            return preferred.min(self.facts.processors).max(least);
        }
        let rounded = |procs: u32| procs.div_ceil(allocation_unit).saturating_mul(allocation_unit);
        rounded(preferred).min(self.facts.processors).max(rounded(least))
    }

    /// Whether its machines have what the job needs beyond processors.
    pub fn suits(&self, job: &Task<'_>) -> bool {
        let machines = || self.procs_for(job).div_ceil(self.facts.cores.max(1));
        job.needs().is_none_or(|needs| needs.met_by(&self.facts.equipment, machines()))
    }

    /// Whether it could run the job with all its machines up.
    pub fn could_run(&self, job: &Task<'_>) -> bool {
        self.procs_for(job) <= self.facts.processors && self.suits(job)
    }

    /// The pools whose machines lack what a job needs, in their order.
    pub(crate) fn unfit(pools: &[Self], job: &Job) -> Vec<PoolId> {
        if job.needs().is_none() {
            return Vec::new();
        }
        let job = Task::new(job, &[]);
        pools.iter().filter(|pool| !pool.suits(&job)).map(|pool| pool.facts.id).collect()
    }

    /// The speed of the slowest machine that an arriving job of so many processors would get: of those that are free by the report and that
    /// jobs on their way leave, if it would start at once; else of all.
    fn speed_now(&self, procs: u32) -> Rate {
        let Self { facts, report, in_flight, .. } = self;
        let mut ahead = in_flight.procs;
        if facts.groups.is_empty() || report.waiting > 0 || ahead + u64::from(procs) > u64::from(report.free)
        {
            return facts.speed;
        }
        let (mut left, mut slowest) = (u64::from(procs), facts.fastest());
        for (group, free) in facts.groups.iter().zip(&report.free_by_group) {
            let passed = ahead.min(u64::from(*free));
            ahead -= passed;
            let taken = left.min(u64::from(*free) - passed);
            left -= taken;
            if taken > 0 {
                slowest = slowest.min(group.speed);
            }
        }
        if left > 0 { facts.speed } else { slowest }
    }

    /// How long the job is expected to run there if it is assigned now. That is [`Pool::run_of`] where the machines are alike.
    pub fn run_now(&self, job: &Task<'_>) -> Span {
        if self.facts.groups.is_empty() {
            return self.run_of(job);
        }
        let speed = self.speed_now(self.procs_for(job));
        match job.time_on(&self.facts.partition, self.facts.speed) {
            // A time by class is that on the slowest machines.
            Some(time) => time_at(time, self.facts.speed, speed).max(Span::TICK),
            None => self.run_at(job, speed),
        }
    }

    /// How long the job is estimated to run there, at least a microsecond, as sites plan it: by its table of machine classes, else by the speed of
    /// the slowest machines, after its overhead.
    pub fn run_of(&self, job: &Task<'_>) -> Span {
        if let Some(time) = job.time_on(&self.facts.partition, self.facts.speed) {
            return time.max(Span::TICK);
        }
        self.run_at(job, self.facts.speed)
    }

    fn run_at(&self, job: &Task<'_>, speed: Rate) -> Span {
        let rate = match job.size() {
            Size::Rigid(_) => speed,
            size => size.rate_on(self.procs_for(job).min(size.max())).times(speed),
        };
        span_at(job.work_left(), rate)
    }

    /// When the job's input would be there, if no other transfer shared the connection.
    pub fn ready(&self, job: &Task<'_>, now: Time) -> Time {
        let input = job.input();
        if input == Bytes::ZERO {
            return now + self.facts.latency;
        }
        let micros = match self.forecasts.bandwidth(now).or(self.facts.bandwidth) {
            Some(bandwidth) if bandwidth.bits() > 0 => {
                (u128::from(input.count()) * 8_000_000).div_ceil(u128::from(bandwidth.bits()))
            }
            _ => 0,
        };
        let staging = Span::from_micros(u64::try_from(micros).unwrap_or(u64::MAX));
        now + self.facts.latency + staging + self.facts.latency
    }

    /// When, by its report, the pool could give an arriving job so many processors: at once if no job waits and as many are free and awake,
    /// otherwise by its start-time estimates, which cover some sizes only. `None` if they are not present.
    pub fn reported_start(&self, procs: u32) -> Option<Time> {
        if self.report.waiting == 0 && procs <= self.report.awake() {
            return Some(self.measured);
        }
        self.report.start_estimates.start(procs)
    }

    /// When a job of each size could start that comes when the last report was measured: as it was reported, or as it is forecast.
    pub(super) fn expected_starts(&self) -> Cow<'_, [(u32, Time)]> {
        let reported = &self.report.start_estimates;
        if self.forecasts.has_no_waits() {
            return Cow::Borrowed(&reported.steps);
        }
        Cow::Owned(self.forecasts.start_estimates(self.measured, reported).steps)
    }

    /// How long the job, with so many processors, will wait if it comes now, by what was measured. `None` if no such wait was measured
    /// lately, and where it finds free processors: of these the report knows, and a pool that is never tried again would never be known to be free.
    pub(super) fn forecast_wait(&self, job: &Task<'_>, procs: u32, now: Time) -> Option<Span> {
        if self.forecasts.has_no_waits() || (self.report.waiting == 0 && self.leaves(procs)) {
            return None;
        }
        self.forecasts.wait(WaitClass::of(procs, self.run_of(job)), now)
    }

    /// Counts an assignment that is there from this time on.
    pub(super) fn expect(&mut self, procs: u32, area: u128, there: Time) {
        let flight = &mut self.in_flight;
        flight.jobs = flight.jobs.saturating_add(1);
        flight.procs = flight.procs.saturating_add(u64::from(procs));
        flight.area = flight.area.saturating_add(area);
        flight.until = flight.until.max(there) + spread(area, self.report.present);
    }

    /// When all that is in flight is expected to be done, if it begins no earlier than this.
    pub(super) fn behind(&self, start: Time) -> Time {
        let flight = &self.in_flight;
        (start.max(self.measured) + spread(flight.area, self.report.present)).max(flight.until)
    }

    /// Takes an assignment out that is over, and ran from one time to another: if it waited for what the report shows, the others are still behind that,
    /// and what it has left of its estimate is theirs.
    pub(crate) fn over(&mut self, placed: &Placed, ran: Option<(Time, Time)>) {
        let took = ran.map_or(0, |(from, to)| u128::from(to.since(from).micros()) * u128::from(placed.procs));
        if let (Some((_, end)), Some(start)) = (ran, self.reported_start(placed.procs))
            && start <= end
        {
            self.in_flight.until =
                self.behind(start) + spread(took.saturating_sub(placed.area), self.report.present);
        }
        self.spare(placed.area.saturating_sub(took));
        self.in_flight.area = self.in_flight.area.saturating_sub(placed.area);
    }

    /// Notes what is in flight at an instant. What has gone since would have taken its time, and what is new is there from now on.
    pub(crate) fn settle(&mut self, all: InFlight, now: Time) {
        let before = self.in_flight.area;
        if all.area > before {
            self.in_flight.until =
                self.in_flight.until.max(now) + spread(all.area - before, self.report.present);
        }
        self.spare(before.saturating_sub(all.area));
        let until = if all.jobs > 0 { self.in_flight.until } else { Time::ZERO };
        self.in_flight = InFlight { until, ..all };
    }

    fn spare(&mut self, area: u128) {
        let less = spread(area, self.report.present);
        self.in_flight.until = Time::ZERO + self.in_flight.until.since(Time::ZERO + less);
    }

    /// Processors that are in use according to the view: by running jobs, and by jobs on their way.
    pub fn taken(&self) -> u64 {
        let busy = self.report.present.saturating_sub(self.report.free);
        self.in_flight.procs.saturating_add(u64::from(busy))
    }

    /// Processors × estimate of the queue according to the view, in processor-microseconds at the speed of the pool:
    /// of the jobs that wait, and of those on their way unless all of them will find free processors and an empty queue.
    pub fn queued(&self) -> u128 {
        let at_once = self.report.waiting == 0 && self.in_flight.procs <= u64::from(self.report.free);
        if at_once { self.report.backlog } else { self.report.backlog.saturating_add(self.in_flight.area) }
    }

    /// True if so many processors are free, by its report and with the jobs on their way there. `start` is when the report expects
    /// them to be free.
    pub(super) fn has_room(&self, procs: u32, start: Time) -> bool {
        start <= self.measured && self.leaves(procs)
    }

    /// True if a job would find so many processors free, of machines that are awake or asleep.
    pub(super) fn is_free(&self, procs: u32) -> bool {
        let at_once = self.report.waiting == 0 && procs <= self.report.free;
        self.leaves(procs)
            && (at_once || self.reported_start(procs).is_some_and(|start| start <= self.measured))
    }

    /// Whether jobs on their way leave so many of the free processors.
    fn leaves(&self, procs: u32) -> bool {
        u64::from(self.report.free).saturating_sub(self.in_flight.procs) >= u64::from(procs)
    }

    /// When a job could begin on free processors behind those on their way, if some of them have to wake up first: machines that are awake are
    /// given first. `None` if all are awake, or too few are free.
    pub(super) fn woken(&self, procs: u32) -> Option<Time> {
        if self.report.waiting > 0 || self.report.asleep == 0 || !self.leaves(procs) {
            return None;
        }
        // No more than are free.
        self.reported_start(procs + self.in_flight.procs as u32)
    }
}

/// How long work takes at a rate, at least a microsecond.
pub(super) fn span_at(work: Work, rate: Rate) -> Span {
    // Within a few months of reference time a 64-bit division is enough.
    let span = match u64::try_from(work.units()) {
        Ok(units) if rate > Rate::ZERO => Some(Span::from_micros(units.div_ceil(rate.units()))),
        _ => work.span_at(rate),
    };
    span.unwrap_or(Span::MAX).max(Span::TICK)
}

/// How long so many processors take for an area of processors × microseconds, rounded down.
pub(super) fn spread(area: u128, procs: u32) -> Span {
    let procs = procs.max(1);
    // Areas beyond 64 bits are above half a million processor-years.
    Span::from_micros(match u64::try_from(area) {
        Ok(area) => area / u64::from(procs),
        Err(_) => u64::try_from(area / u128::from(procs)).unwrap_or(u64::MAX),
    })
}
