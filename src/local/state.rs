//! Everything in a partition but its policy: what the policy's [`super::View`] shows, and how it changes.

mod account;
mod processors;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

pub(super) use self::processors::Load;
use super::Book;
use super::adopt::Closed;
use super::agenda::Agenda;
use super::error::PartitionError;
use super::partition::{Settings, Tally};
use super::registry::Abilities;
use super::table::{Departed, Gone, LiveJob, Phase, Table};
use crate::model::{
    EventCause, EventKind, EventRecord, InstantOrder, JobKey, JobRecord, Origin, Outcome, PartitionSpec,
    ProcSet, Record, RecordSink,
};
use crate::platform::{ProcTime, Tariff, Usage, WeighedTime};
use crate::units::{Bytes, Rate, Span, Time, Work};

/// Everything but the policy: what the policy's [`super::View`] shows.
#[derive(Debug)]
pub(super) struct State {
    pub(super) settings: Settings,
    pub(super) spec: PartitionSpec,
    pub(super) tariff: Tariff,
    pub(super) abilities: Abilities,
    pub(super) slots: u32,
    pub(super) table: Table,
    pub(super) free: ProcSet,
    /// Members of `free`.
    pub(super) unused: u32,
    /// Decided starts that take effect at the end of the instant.
    pub(super) deferred: u32,
    /// Processors of jobs that end at this instant and are expected to.
    pub(super) ending: u32,
    /// Empty unless processors are shared.
    pub(super) load: Vec<Load>,
    pub(super) book: Book,
    pub(super) ends: BinaryHeap<Reverse<(Time, u64, JobKey)>>,
    pub(super) next_seq: u64,
    pub(super) next_end: u64,
    pub(super) usage: Usage,
    pub(super) tally: Tally,
    /// Reserved processor time since the account began, settled up to `settled`.
    pub(super) reserved: ProcTime,
    /// The same of processors that are away.
    pub(super) away_time: ProcTime,
    /// `away_time` weighed; see [`Tariff::weigh`].
    pub(super) away_weighed: WeighedTime,
    pub(super) settled: Time,
    /// The account when prices last changed, if they ever did.
    pub(super) closed: Option<Closed>,
    pub(super) waiting: u64,
    /// Processors × estimate of the jobs that wait, in processor-microseconds.
    pub(super) backlog: u128,
    pub(super) running: u32,
    /// Processors of machines that are away.
    pub(super) away: ProcSet,
    /// Members of `away`.
    pub(super) missing: u32,
    /// Usable processors that are there, in whole allocation blocks.
    pub(super) here: ProcSet,
    /// Members of `here` that are not kept by a job that stands still (unless processors are shared).
    pub(super) capacity: u32,
    /// Machines that go on at another speed.
    pub(super) slow: BTreeMap<u32, Rate>,
    /// Jobs that wait for machines, in the order in which they stepped aside.
    pub(super) aside: Vec<JobKey>,
    /// Jobs that wait for their requested starts.
    pub(super) agenda: Agenda,
    /// Jobs that stand still.
    pub(super) halted: u32,
    /// Processors on which a job goes on: the next pass must leave their shares in order. Empty unless processors are shared.
    pub(super) resumed: ProcSet,
    /// Whether it has been recorded which machines are away from the beginning.
    pub(super) told_away: bool,
}

impl State {
    pub(super) fn free_count(&self) -> u32 {
        (self.unused + self.ending).saturating_sub(self.deferred)
    }

    /// A job of this area stands in the queue from now on.
    pub(super) fn joins_queue(&mut self, area: u128) {
        self.waiting += 1;
        self.backlog += area;
    }

    /// A job of this area does not stand in the queue any more.
    pub(super) fn leaves_queue(&mut self, area: u128) {
        self.waiting -= 1;
        self.backlog -= area;
    }

    /// A job that had stepped aside waits for nothing any more.
    pub(super) fn stand_by(&mut self, key: JobKey) {
        self.aside.retain(|aside| *aside != key);
        if let Some(job) = self.table.get(key) {
            self.agenda.let_go(key, job);
        }
    }

    /// Under one pass an event, a running job whose expected end has come and that ends at this instant is free already.
    pub(super) fn counts_as_free(&self, job: &LiveJob, now: Time) -> bool {
        self.settings.order == InstantOrder::Event
            && job.phase == Phase::Running
            && job.expected_end <= now
            && job.end == now
    }

    /// The rate of a running job: that of its size, at the speed of its slowest machine, for its share of the time.
    pub(super) fn rate_of(&self, job: &LiveJob) -> Rate {
        let rate = job.unhindered(self.spec.speed);
        if self.slow.is_empty() { rate } else { rate.times(self.slowest(&job.place)) }
    }

    /// Sets a running job's rate and works out when it ends; its segment must have been settled.
    pub(super) fn set_rate(&mut self, key: JobKey, now: Time) -> Result<(), PartitionError> {
        let hindered =
            if self.slow.is_empty() { None } else { self.table.get(key).map(|job| self.slowest(&job.place)) };
        let (speed, site) = (self.spec.speed, &self.settings.site_name);
        let Some(job) = self.table.get_mut(key) else { return Ok(()) };
        job.rate = job.unhindered(speed);
        if let Some(factor) = hindered {
            job.rate = job.rate.times(factor);
        }
        job.since = now;
        let end_after =
            |work: Work| (work - job.done).span_at(job.rate).and_then(|span| now.checked_add(span));
        job.expected_end = end_after(job.estimated).unwrap_or(Time::NEVER).max(now + Span::TICK);
        job.end = end_after(job.target).ok_or_else(|| PartitionError::EndOfTime {
            job: job.job.id,
            site: site.clone(),
            time: now,
        })?;
        job.end_seq = self.next_end;
        self.next_end += 1;
        self.ends.push(Reverse((job.end, job.end_seq, key)));
        Ok(())
    }

    /// The next valid end, dropping outdated ones.
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
        self.table.get(key).is_some_and(|job| job.phase == Phase::Running && job.end_seq == seq)
    }

    /// Takes a job out and writes its record.
    pub(super) fn finish(
        &mut self,
        key: JobKey,
        outcome: Outcome,
        now: Time,
        sink: &mut dyn RecordSink,
    ) -> Option<Departed> {
        if self.agenda.knows_any() {
            self.drop_commands(key, outcome, now, sink);
        }
        let job = self.table.get(key)?;
        let ran = job.given > 0;
        let queued = (job.phase == Phase::Waiting).then(|| job.area());
        let (mut energy, mut cost) = (job.energy, job.cost);
        let (mut spent, mut allowed, mut estimated) = (job.proc_time, job.target, job.estimated);
        if let Some(past) = &job.past {
            spent -= past.overhead;
            self.usage.overhead += past.overhead;
            energy += past.energy;
            cost += past.cost;
            (allowed, estimated) = job.limits(self.settings.overrun);
        }
        self.usage.end(outcome, spent);
        self.usage.job_energy += job.energy;
        self.usage.cost += job.cost;
        self.tally.outcomes[outcome.index()] += 1;
        let procs = if job.given > 0 { job.given } else { job.procs };
        let dedicated = job.job.size.rate_on(procs.min(job.job.size.max())).times(self.spec.speed);
        let run = allowed.span_at(dedicated).unwrap_or(Span::MAX);
        sink.record(Record::Job(JobRecord {
            id: job.job.id,
            origin: job.origin,
            site: self.settings.site,
            partition: self.settings.partition,
            user: job.job.user,
            submit: job.job.submit,
            start: job.first_start,
            end: now,
            requested: job.job.size.preferred(),
            procs: job.given,
            outcome,
            run,
            estimate: estimated.span_at(self.spec.speed).unwrap_or(Span::MAX),
            attempts: job.attempts,
            energy,
            cost,
            recorded_wait: job.job.recorded_wait,
            requested_start: job.job.requested_start,
        }));
        let mut departed = Departed {
            job: job.job.id,
            origin: job.origin,
            number: None,
            output: Bytes::ZERO,
            how: Gone::Ended(outcome),
        };
        if let Some(grid) = &job.job.grid {
            departed.number = Some(grid.number);
            if outcome == Outcome::Completed {
                departed.output = grid.output;
            }
        }
        self.table.remove(key);
        if let Some(area) = queued {
            self.leaves_queue(area);
        }
        if ran {
            self.account_until(now);
        }
        Some(departed)
    }

    /// Takes out a job of the grid that does not run; it goes back without a record.
    pub(super) fn give_up(&mut self, key: JobKey, why: EventCause) -> Option<Departed> {
        let mut live = self.table.take(key)?;
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

    /// Something that happened here, to be filled in.
    pub(super) fn event(&self, time: Time, kind: EventKind, cause: EventCause) -> EventRecord {
        EventRecord {
            time,
            kind,
            cause,
            site: self.settings.site,
            partition: Some(self.settings.partition),
            machines: ProcSet::new(),
            procs: 0,
            job: None,
            origin: Origin::default(),
            attempt: 0,
            lost: 0,
            since_lost: None,
            command: None,
        }
    }

    /// The same, to a job on its `procs` processors.
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
