//! The state of a partition without its policy: what the policy's [`super::View`] shows, and how it changes.

mod account;
mod commands;
mod limits;
mod power;
mod processors;
mod transitions;
mod watts;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::abilities::Abilities;
use super::agenda::Agenda;
use super::book::Book;
use super::error::PartitionError;
use super::groups::Groups;
use super::ineligible::Ineligible;
use super::loads::Loads;
use super::numbers::Numbers;
use super::power::Sleepers;
use super::prices::Meter;
use super::settings::{Settings, Tally};
use super::step::Step;
use super::table::{Exit, ExitKind, LiveJob, Phase, Table};
use super::watts::Watts;
use crate::model::{
    EventCause, EventKind, EventRecord, InstantOrder, JobKey, JobRecord, JobRef, Outcome, PartitionSpec,
    Payer, ProcSet, Record,
};
use crate::platform::{ProcTime, SiteFaults, Tariff, Usage};
use crate::units::{Bytes, Money, Rate, Span, Time, Work};

/// The state of a partition without its policy, which the policy's [`super::View`] shows.
#[derive(Debug)]
pub(super) struct State {
    pub(super) settings: Settings,
    pub(super) spec: PartitionSpec,
    pub(super) tariff: Tariff,
    pub(super) groups: Groups,
    pub(super) abilities: Abilities,
    pub(super) multiprogramming_level: u32,
    pub(super) table: Table,
    pub(super) numbers: Numbers,
    pub(super) free: ProcSet,
    /// The number of processors in `free`.
    pub(super) unused: u32,
    /// Processors of decided starts that take effect at the end of the instant.
    pub(super) deferred: u32,
    /// Processors of jobs that end at this instant and are expected to.
    pub(super) ending: u32,
    /// The use of each processor; empty unless processors are shared.
    pub(super) load: Vec<Load>,
    pub(super) book: Book,
    pub(super) ends: BinaryHeap<Reverse<(Time, u64, JobKey)>>,
    pub(super) next_seq: u64,
    pub(super) next_end: u64,
    pub(super) usage: Usage,
    pub(super) tally: Tally,
    /// Reserved processor time since the account began, settled up to `settled`.
    pub(super) reserved: ProcTime,
    /// Processor time that was down since the account began, settled up to `settled`.
    pub(super) down_time: ProcTime,
    pub(super) settled: Time,
    pub(super) meter: Meter,
    /// What machines draw by their load, where that is not linear.
    pub(super) loads: Option<Box<Loads>>,
    /// What machines are counted with under a power cap that is kept by counting watts.
    pub(super) watts: Option<Box<Watts>>,
    /// Machines that could be up, but stay off because they would exceed a power cap.
    pub(super) kept_off: ProcSet,
    /// Which machines sleep, if they ever do.
    pub(super) sleepers: Option<Box<Sleepers>>,
    /// Jobs that wait for machines to wake up, by when they begin.
    pub(super) begins: BTreeMap<Time, Vec<JobKey>>,
    pub(super) waiting: u64,
    /// Processors × estimate of the jobs in the queue, in processor-microseconds.
    pub(super) backlog: u128,
    /// The same of the jobs that wait for machines or for their requested start.
    pub(super) ineligible_backlog: u128,
    pub(super) running: u32,
    /// Processors of machines that are down.
    pub(super) down: ProcSet,
    /// The number of processors in `down`.
    pub(super) missing: u32,
    /// Processors of machines that drain, up or down: nobody gets them from now on.
    pub(super) draining: ProcSet,
    /// Whether jobs have left processors of machines that drain under a power cap, which may leave more to others since.
    pub(super) eased: bool,
    /// Usable processors that are up and do not drain, in whole allocation blocks.
    pub(super) here: ProcSet,
    /// The number of processors in `here`.
    pub(super) present: u32,
    /// The number of processors in `here` that no stalled job keeps (all of them where processors are shared), less those that the power
    /// cap keeps back.
    pub(super) capacity: u32,
    /// So many processors that could be given are not, because of the power cap: whichever they are.
    pub(super) kept_back: u32,
    /// Machines that run at another speed than usual, with their factors.
    pub(super) slow: BTreeMap<u32, Rate>,
    /// Jobs that wait for machines.
    pub(super) ineligible: Ineligible,
    /// Jobs that wait for their requested starts, and elastic commands to come.
    pub(super) agenda: Agenda,
    /// The number of stalled jobs.
    pub(super) stalled: u32,
    /// The suspended jobs.
    pub(super) suspended: BTreeSet<JobKey>,
    /// Processors on which a job has continued, or on which the present pass has changed shares: that pass, or the next one, must
    /// leave valid shares there. Empty unless processors are shared.
    pub(super) reshared: ProcSet,
    /// The faults between the site and the grid, if there are any.
    pub(super) faults: Option<Arc<SiteFaults>>,
    /// Whether the assignments of all jobs that end now are lost.
    pub(super) losing: bool,
}

/// The use of one processor where processors are shared.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Load {
    /// Jobs on it, including stalled ones.
    pub(super) jobs: u16,
    /// Sum of shares in units of 2⁻²⁰; a stalled job has none.
    pub(super) share: u32,
}

impl State {
    /// The name of a job.
    pub(super) fn job_ref(&self, job: &LiveJob) -> JobRef {
        JobRef::new(job.origin, self.settings.site, job.job.id)
    }

    pub(super) fn free_count(&self) -> u32 {
        (self.unused + self.ending).saturating_sub(self.deferred + self.kept_back)
    }

    /// The unused processors that may be given now: the power cap keeps others back.
    pub(super) fn givable(&self) -> u32 {
        self.unused.saturating_sub(self.kept_back)
    }

    /// Counts a job of this area that joins the queue.
    pub(super) fn joins_queue(&mut self, area: u128) {
        self.waiting += 1;
        self.backlog += area;
    }

    /// Counts a job of this area that leaves the queue.
    pub(super) fn leaves_queue(&mut self, area: u128) {
        self.waiting -= 1;
        self.backlog -= area;
    }

    /// Makes a job ineligible: until its requested start, if it has to wait for that, or until enough machines are up.
    pub(super) fn make_ineligible(&mut self, key: JobKey, start: Option<Time>) {
        let Some(job) = self.table.get_mut(key) else { return };
        job.phase = Phase::Ineligible;
        self.ineligible_backlog += job.area();
        match start {
            Some(start) => self.agenda.keep_back(start, job.seq, key),
            None => self.wait_for_machines(key),
        }
    }

    /// Adds an ineligible job to those that wait for machines.
    pub(super) fn wait_for_machines(&mut self, key: JobKey) {
        let Some(job) = self.table.get(key) else { return };
        self.ineligible.push(self.spec.rounded(job.job.size.min()), key);
    }

    /// Removes an ineligible job from those that wait for machines or for their requested start.
    pub(super) fn forget_ineligible(&mut self, key: JobKey) {
        let Some(job) = self.table.get(key) else { return };
        if self.ineligible.remove(key) || self.agenda.let_go(key, job) {
            self.ineligible_backlog -= job.area();
        }
    }

    /// Takes out the jobs that wait for machines and for which enough are up now, in the order in which they became ineligible.
    pub(super) fn take_fitting(&mut self) -> Vec<JobKey> {
        let fitting = self.ineligible.take_fitting(self.capacity);
        let areas = fitting.iter().filter_map(|key| self.table.get(*key)).map(LiveJob::area);
        self.ineligible_backlog -= areas.sum::<u128>();
        fitting
    }

    /// Takes out the next job whose requested start has come.
    pub(super) fn take_due(&mut self, now: Time) -> Option<JobKey> {
        let key = self.agenda.take_due(now)?;
        self.ineligible_backlog -= self.table.get(key).map_or(0, LiveJob::area);
        Some(key)
    }

    /// Under one pass per event, a running job whose expected end has come and that ends at this instant counts as free already.
    pub(super) fn counts_as_free(&self, job: &LiveJob, now: Time) -> bool {
        self.settings.order == InstantOrder::Event
            && job.phase == Phase::Running
            && job.expected_end <= now
            && job.end == now
    }

    /// The rate of a running job: that of its size, at the speed of its slowest machine, times its share.
    #[inline(always)]
    pub(super) fn rate_of(&self, job: &LiveJob) -> Rate {
        if self.groups.several() || !self.slow.is_empty() {
            return self.rate_of_slowest(job);
        }
        job.unhindered(self.spec.speed())
    }

    /// The same where machines are not equally fast.
    fn rate_of_slowest(&self, job: &LiveJob) -> Rate {
        if !self.groups.several() {
            return job.unhindered(self.spec.speed()).times(self.slowest(&job.allocation.procs));
        }
        if self.slow.is_empty() {
            return job.unhindered(self.groups.speed_on(&job.allocation.procs).unwrap_or(self.spec.speed()));
        }
        let on = |machine: u32| {
            let speed = self.spec.group_of(machine).map_or(Rate::FULL, |group| group.speed);
            job.unhindered(speed).times(self.factor(machine))
        };
        self.machines_of(&job.allocation.procs)
            .map(on)
            .min()
            .unwrap_or_else(|| job.unhindered(self.spec.speed()))
    }

    /// Sets a running job's rate and computes when it ends; its segment must have been settled. Of a job in transition, computes when it will end.
    pub(super) fn set_rate(&mut self, key: JobKey, now: Time) -> Result<(), PartitionError> {
        let settings = &self.settings;
        let Some(rate) = self.table.get(key).map(|job| self.rate_of(job)) else { return Ok(()) };
        let Some(job) = self.table.get_mut(key) else { return Ok(()) };
        // It begins later if a machine of it is not awake yet.
        job.since = job.since.max(now);
        let begin = job.works_from();
        if job.phase == Phase::Suspending {
            (job.rate, job.expected_end, job.end) = (Rate::ZERO, job.until, job.until);
        } else {
            let end_after =
                |work: Work| (work - job.done).span_at(rate).and_then(|span| begin.checked_add(span));
            job.expected_end = end_after(job.estimated).unwrap_or(Time::NEVER).max(begin + Span::TICK);
            let end = end_after(job.stops_at()).ok_or_else(|| PartitionError::EndOfTime {
                job: JobRef::new(job.origin, settings.site, job.job.id),
                site: settings.site_name.clone(),
                time: now,
            })?;
            let is_in_transition = job.phase.is_transition();
            (job.rate, job.end) = if is_in_transition { (Rate::ZERO, job.until) } else { (rate, end) };
        }
        job.end_seq = self.next_end;
        self.next_end += 1;
        self.ends.push(Reverse((job.end, job.end_seq, key)));
        if job.job.limits.is_some() {
            self.plan_spent(key);
        }
        Ok(())
    }

    /// The next valid end in the queue; drops outdated entries.
    pub(super) fn next_end_time(&mut self) -> Option<Time> {
        while let Some(Reverse((time, seq, key))) = self.ends.peek().copied() {
            if self.is_current(seq, key) {
                return Some(time);
            }
            self.ends.pop();
        }
        None
    }

    pub(super) fn is_current(&self, seq: u64, key: JobKey) -> bool {
        self.table.get(key).is_some_and(|job| job.phase.is_active() && job.end_seq == seq)
    }

    /// Jobs that are `wanted`, in order of arrival. Walks the whole table.
    pub(super) fn keys(&self, wanted: impl Fn(&LiveJob) -> bool) -> Vec<JobKey> {
        let jobs = self.table.iter().filter(|(_, job)| wanted(job));
        let mut found: Vec<_> = jobs.map(|(key, job)| (job.seq, key)).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, key)| key).collect()
    }

    /// Adds a job to the table.
    pub(super) fn add(&mut self, job: LiveJob) -> JobKey {
        let key = self.table.insert(job);
        if let Some(job) = self.table.get(key) {
            self.numbers.insert(key, job);
        }
        key
    }

    /// Takes a job out of the table and writes its record. If the grid will not hear of its end, its assignment is lost instead.
    pub(super) fn finish(&mut self, key: JobKey, outcome: Outcome, step: &mut Step<'_>) {
        if self.faults.is_some() && self.is_lost(key, outcome, step.now) {
            return self.lose(key, step);
        }
        if self.agenda.knows_any() {
            self.drop_commands(key, outcome, step);
        }
        let Some(job) = self.table.get(key) else { return };
        self.agenda.forget_limits(&job.job, key);
        let ran = job.given > 0;
        let queued = (job.phase == Phase::Waiting).then(|| job.area());
        let (mut energy, mut dynamic, mut cost) = (job.energy, job.dynamic_energy(), job.cost);
        let (mut spent, mut allowed, mut estimated) = (job.proc_time, job.target, job.estimated);
        if let Some(past) = &job.past {
            spent -= past.overhead;
            self.usage.overhead += past.overhead;
            energy += past.energy;
            dynamic += past.dynamic;
            cost += past.cost;
            (allowed, estimated) = job.limits(self.settings.overrun);
        }
        self.usage.end(outcome, spent);
        let useful = if outcome == Outcome::Completed {
            let kept = job.past.as_ref().map_or(Work::ZERO, |past| past.kept);
            self.usage.work += job.job.on_all(allowed - kept);
            spent
        } else {
            0
        };
        if job.drawn.is_some() || job.past.is_some() {
            let (drawn, time) = (job.amounts(&self.tariff), job.proc_time);
            self.usage.bill.add_job(drawn, time, useful, time - spent);
        }
        self.usage.cost += job.cost;
        self.tally.outcomes[outcome.index()] += 1;
        let procs = if job.given > 0 { job.given } else { job.procs };
        let speed = self.spec.speed();
        let dedicated = job.job.size.rate_on(procs.min(job.job.size.max())).times(speed);
        let run = allowed.span_at(dedicated).unwrap_or(Span::MAX);
        step.sink.record(Record::Job(JobRecord {
            id: job.job.id,
            origin: job.origin,
            site: self.settings.site,
            partition: self.settings.partition,
            user: job.job.user,
            submit: job.job.submit,
            start: job.first_start,
            end: step.now,
            requested: job.job.size.preferred(),
            kind: job.job.size.kind(),
            procs: job.given,
            outcome,
            run,
            estimate: estimated.span_at(speed).unwrap_or(Span::MAX),
            attempts: job.attempts,
            energy,
            dynamic,
            cost,
            recorded_wait: job.job.recorded_wait,
            requested_start: job.job.requested_start,
            limits: job.job.limits.clone(),
        }));
        let output = job.job.grid.as_ref().filter(|_| outcome == Outcome::Completed);
        step.exits.push(Exit {
            job: self.job_ref(job),
            number: job.number(),
            assignment: job.assignment(),
            output: output.map_or(Bytes::ZERO, |grid| grid.output),
            start: job.first_start,
            last_start: job.last_start(),
            attempts: job.attempts,
            energy,
            cost,
            passed: job.passed(outcome, step.now),
            how: ExitKind::Ended(outcome),
        });
        self.numbers.remove(key, job);
        self.table.remove(key);
        self.suspended.remove(&key);
        if let Some(area) = queued {
            self.leaves_queue(area);
        }
        if ran {
            self.account_until(step.now);
        }
    }

    /// Whether the assignment of a job that ends now is lost.
    fn is_lost(&self, key: JobKey, outcome: Outcome, now: Time) -> bool {
        let Some(grid) = self.table.get(key).and_then(|job| job.job.grid.as_ref()) else { return false };
        let faults = self.faults.as_ref().filter(|_| outcome != Outcome::Unfinished);
        self.losing || faults.is_some_and(|faults| faults.is_unheard(grid.number, grid.assignment, now))
    }

    /// Takes a job out of the table whose assignment is lost, and which holds no processors any more: what it has done is wasted, as far as no checkpoint
    /// keeps it.
    fn lose(&mut self, key: JobKey, step: &mut Step<'_>) {
        let Some(job) = self.table.get_mut(key) else { return };
        let ran = !matches!(job.phase, Phase::Waiting | Phase::Ineligible | Phase::Starting);
        if ran && self.settings.failed_attempts == Payer::Site {
            job.cost = Money::ZERO;
        }
        let held = job.given;
        let wasted = if ran { self.close_attempt(key, false, step.now) } else { 0 };
        if let Some(job) = self.table.get(key) {
            let (kind, cause) = (EventKind::Returned, EventCause::Silence);
            let event = self.job_event(step.now, kind, cause, job, held);
            step.record(EventRecord { wasted, ..event });
        }
        step.exits.extend(self.give_up(key, EventCause::Silence));
        if ran {
            self.account_until(step.now);
        }
    }

    /// Takes a grid job that does not run out of the table; it returns to the broker without a record.
    pub(super) fn give_up(&mut self, key: JobKey, why: EventCause) -> Option<Exit> {
        let mut live = self.table.take(key)?;
        self.numbers.remove(key, &live);
        self.suspended.remove(&key);
        self.agenda.forget_limits(&live.job, key);
        if live.phase == Phase::Waiting {
            self.leaves_queue(live.area());
        }
        if let (Some(known), Some(grid)) = (self.agenda.forget(key, live.next_command()), &mut live.job.grid)
        {
            grid.commands = known.carried;
        }
        self.tally.returned += 1;
        Some(live.returned(why))
    }

    /// An event record of this partition, to be completed by the caller.
    pub(super) fn event(&self, time: Time, kind: EventKind, cause: EventCause) -> EventRecord {
        let partition = Some(self.settings.partition);
        EventRecord { partition, ..EventRecord::new(time, kind, cause, self.settings.site) }
    }

    /// An event record of a job on its `procs` processors.
    pub(super) fn job_event(
        &self,
        time: Time,
        kind: EventKind,
        cause: EventCause,
        job: &LiveJob,
        procs: u32,
    ) -> EventRecord {
        EventRecord {
            procs,
            job: Some(job.job.id),
            origin: job.origin,
            attempt: job.attempts,
            ..self.event(time, kind, cause)
        }
    }
}
