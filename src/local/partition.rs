//! A partition at work: its jobs, its processors, its reservations and its policy.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use super::error::PartitionError;
use super::policy::{Actions, Change, LocalPolicy};
use super::registry::Abilities;
use super::table::{Departed, LiveJob, Phase, Table};
use super::{Book, BookError, View};
use crate::model::{
    Cause, InstantOrder, Job, JobKey, JobRecord, MachineRecord, MachineState, Origin, Outcome, PartitionId,
    PartitionSpec, ProcSet, Record, RecordSink, RejectReason, Reservation, SegmentRecord, SiteId,
};
use crate::platform::{ProcTime, Tariff, Usage};
use crate::units::{Energy, Money, Rate, Span, Time, Work};

/// What a partition needs to know of its site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The site, for records.
    pub site: SiteId,
    /// Its name, for messages.
    pub site_name: String,
    /// The partition, for records.
    pub partition: PartitionId,
    /// What happens first at one instant.
    pub order: InstantOrder,
    /// Whether jobs may run beyond their estimate.
    pub overrun: bool,
    /// Whether segments are recorded.
    pub record_segments: bool,
    /// Whether changes of machine state are recorded.
    pub record_machines: bool,
}

/// Use of one processor where processors are shared.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Load {
    pub(super) jobs: u16,
    /// Sum of shares in units of 2⁻²⁰.
    pub(super) share: u32,
}

/// Everything but the policy: what the policy's [`View`] shows.
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
    /// Reserved processor time since the account began, settled up to `reserved_since`.
    pub(super) reserved: ProcTime,
    pub(super) reserved_since: Time,
    pub(super) waiting: u64,
    /// Processors × estimate of the jobs that wait, in processor-microseconds.
    pub(super) backlog: u128,
    pub(super) running: u32,
    /// Usable processors that are there, in whole allocation blocks.
    pub(super) here: ProcSet,
}

/// Counts of what a partition saw.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Jobs that arrived.
    pub arrived: u64,
    /// Jobs by outcome, in the order of [`Outcome::NAMES`].
    pub outcomes: [u64; 6],
    /// Most jobs waiting at once after a pass.
    pub longest_queue: u64,
    /// Scheduling passes.
    pub passes: u64,
    /// Reservations that began with fewer processors than booked.
    pub short_reservations: u64,
}

impl Tally {
    /// Jobs that have ended, however they did.
    pub fn ended(&self) -> u64 {
        self.outcomes.iter().sum()
    }
}

/// A partition with its policy.
pub struct Partition {
    pub(super) state: State,
    pub(super) policy: Box<dyn LocalPolicy>,
    pub(super) policy_name: String,
    pub(super) actions: Actions,
    pub(super) late: Vec<super::Action>,
    pub(super) wake: Option<Time>,
}

impl std::fmt::Debug for Partition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Partition")
            .field("policy", &self.policy_name)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl State {
    pub(super) fn free_count(&self) -> u32 {
        (self.unused + self.ending).saturating_sub(self.deferred)
    }

    /// Processors of machines that are there: those that draw power.
    pub(super) fn powered(&self) -> u32 {
        self.spec.machines.saturating_sub(self.spec.absent) * self.spec.cores
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

    /// Under one pass an event, a running job whose expected end has come and that ends at this instant is free already.
    pub(super) fn counts_as_free(&self, job: &LiveJob, now: Time) -> bool {
        self.settings.order == InstantOrder::Event
            && job.phase == Phase::Running
            && job.expected_end <= now
            && job.end == now
    }

    /// Takes processors for a job.
    pub(super) fn occupy(
        &mut self,
        place: &ProcSet,
        count: u32,
        share: Rate,
        sink: &mut dyn RecordSink,
        now: Time,
    ) {
        if self.slots == 1 {
            self.free.remove_all(place);
            self.unused -= count;
            self.machines(place, MachineState::Busy, sink, now);
            return;
        }
        let mut first = ProcSet::new();
        for proc in place.iter() {
            let load = &mut self.load[proc as usize];
            if load.jobs == 0 {
                first.insert(proc);
            }
            load.jobs += 1;
            load.share += share.units() as u32;
        }
        self.unused -= first.len();
        self.free.remove_all(&first);
        self.machines(&first, MachineState::Busy, sink, now);
    }

    /// Gives a job's processors back; reservations that are owed some take theirs first.
    pub(super) fn vacate(
        &mut self,
        place: &ProcSet,
        count: u32,
        share: Rate,
        sink: &mut dyn RecordSink,
        now: Time,
    ) {
        if self.slots == 1 {
            self.free.insert_all(place);
            self.unused += count;
            self.machines(place, MachineState::Idle, sink, now);
        } else {
            let mut last = ProcSet::new();
            for proc in place.iter() {
                let load = &mut self.load[proc as usize];
                load.jobs -= 1;
                load.share -= share.units() as u32;
                if load.jobs == 0 {
                    last.insert(proc);
                }
            }
            self.unused += last.len();
            self.free.insert_all(&last);
            self.machines(&last, MachineState::Idle, sink, now);
        }
        if self.book.pending().iter().any(|booking| booking.owed > 0) {
            self.fill_bookings(sink, now);
        }
    }

    fn machines(&self, procs: &ProcSet, state: MachineState, sink: &mut dyn RecordSink, time: Time) {
        if self.settings.record_machines && !procs.is_empty() {
            let (site, partition) = (self.settings.site, self.settings.partition);
            sink.record(Record::Machine(MachineRecord {
                time,
                site,
                partition,
                procs: procs.clone(),
                state,
            }));
        }
    }

    /// Hands free processors to reservations that have begun and lack some.
    fn fill_bookings(&mut self, sink: &mut dyn RecordSink, now: Time) {
        self.settle_reserved(now);
        let mut taken = Vec::new();
        for booking in self.book.begun(now) {
            let give = booking.owed.min(self.unused);
            if let Some(procs) = self.free.take_lowest(give).filter(|procs| !procs.is_empty()) {
                self.unused -= give;
                booking.owed -= give;
                booking.taken.insert_all(&procs);
                taken.push(procs);
            }
        }
        for procs in taken {
            self.machines(&procs, MachineState::Reserved, sink, now);
        }
    }

    /// Settles the reserved time up to `now`.
    fn settle_reserved(&mut self, now: Time) {
        if !self.book.pending().is_empty() {
            let held: u32 = self.book.pending().iter().map(|booking| booking.taken.len()).sum();
            self.reserved += Usage::proc_time(held, Rate::FULL, now.since(self.reserved_since));
        }
        self.reserved_since = now;
    }

    /// Extends the account to `now`.
    fn account_until(&mut self, now: Time) {
        self.settle_reserved(now);
        self.usage.to = now;
        self.usage.reserved = self.reserved;
    }

    /// Ends reservations that are over. True if there were any.
    fn end_bookings(&mut self, now: Time, sink: &mut dyn RecordSink) -> bool {
        self.settle_reserved(now);
        let over = self.book.expire(now);
        for gone in &over {
            self.give_back(&gone.taken, sink, now);
        }
        !over.is_empty()
    }

    /// Frees what a reservation had; others that are owed some take theirs first.
    fn give_back(&mut self, taken: &ProcSet, sink: &mut dyn RecordSink, now: Time) {
        self.unused += taken.len();
        self.free.insert_all(taken);
        self.machines(taken, MachineState::Idle, sink, now);
        self.fill_bookings(sink, now);
    }

    /// Begins reservations that are due. True if there were any.
    fn begin_bookings(&mut self, now: Time, sink: &mut dyn RecordSink) -> bool {
        let mut changed = false;
        for booking in self.book.begun(now) {
            if booking.state == super::BookingState::Committed {
                booking.state = super::BookingState::Active;
                booking.owed = booking.procs;
                changed = true;
            }
        }
        if changed {
            self.fill_bookings(sink, now);
            let short = self.book.pending().iter().filter(|b| b.start == now && b.owed > 0).count();
            self.tally.short_reservations += short as u64;
        }
        changed
    }

    /// Writes the running job's segment up to `now` and takes its work and use into account.
    pub(super) fn settle(&mut self, key: JobKey, now: Time, sink: &mut dyn RecordSink) {
        let place = match self.table.get(key) {
            Some(job) if self.settings.record_segments => job.place.clone(),
            _ => ProcSet::new(),
        };
        self.settle_on(key, place, now, sink);
    }

    /// The same for a job that is leaving `place`.
    fn settle_on(&mut self, key: JobKey, place: ProcSet, now: Time, sink: &mut dyn RecordSink) {
        let Some(job) = self.table.get_mut(key) else { return };
        let span = now.since(job.since);
        if job.phase != Phase::Running || span.is_zero() {
            return;
        }
        job.done += Work::done(job.rate, span);
        let (energy, cost) = (job.energy, job.cost);
        job.proc_time += Usage::proc_time(job.held, job.share, span);
        // Differences of totals, so that segments sum to the job's figure exactly.
        job.energy = self.tariff.busy_energy(job.proc_time);
        job.cost = self.tariff.cost(job.proc_time);
        if self.settings.record_segments {
            sink.record(Record::Segment(SegmentRecord {
                job: job.job.id,
                origin: job.origin,
                attempt: job.attempts,
                site: self.settings.site,
                partition: self.settings.partition,
                procs: place,
                from: job.since,
                to: now,
                rate: job.rate,
                share: job.share,
                cause: Cause::Run,
                energy: job.energy - energy,
                cost: job.cost - cost,
            }));
        }
        job.since = now;
    }

    /// Sets a running job's rate and works out when it ends; its segment must have been settled.
    pub(super) fn set_rate(&mut self, key: JobKey, now: Time) -> Result<(), PartitionError> {
        let (speed, site) = (self.spec.speed, &self.settings.site_name);
        let Some(job) = self.table.get_mut(key) else { return Ok(()) };
        job.rate = job.job.size.rate_on(job.held.min(job.job.size.max())).times(speed).times(job.share);
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
    fn next_end_time(&mut self) -> Option<Time> {
        while let Some(Reverse((time, seq, key))) = self.ends.peek().copied() {
            if self.is_current(seq, key) {
                return Some(time);
            }
            self.ends.pop();
        }
        None
    }

    fn is_current(&self, seq: u64, key: JobKey) -> bool {
        self.table.get(key).is_some_and(|job| job.phase == Phase::Running && job.end_seq == seq)
    }

    /// Takes a job out and writes its record.
    pub(super) fn finish(&mut self, key: JobKey, outcome: Outcome, now: Time, sink: &mut dyn RecordSink) {
        let Some(job) = self.table.get(key) else { return };
        let started = job.first_start.is_some();
        let queued = (job.phase == Phase::Waiting).then(|| job.area());
        self.usage.end(outcome, job.proc_time);
        self.usage.job_energy += job.energy;
        self.usage.cost += job.cost;
        self.tally.outcomes[outcome.index()] += 1;
        let procs = if job.given > 0 { job.given } else { job.procs };
        let dedicated = job.job.size.rate_on(procs.min(job.job.size.max())).times(self.spec.speed);
        let run = job.target.span_at(dedicated).unwrap_or(Span::MAX);
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
            estimate: job.estimated.span_at(self.spec.speed).unwrap_or(Span::MAX),
            attempts: job.attempts,
            energy: job.energy,
            cost: job.cost,
            recorded_wait: job.job.recorded_wait,
        }));
        self.table.remove(key);
        if let Some(area) = queued {
            self.leaves_queue(area);
        }
        if started {
            self.account_until(now);
        }
    }
}

impl Partition {
    /// A partition with nothing in it. The reservations are committed from the beginning.
    pub fn new(
        settings: Settings,
        spec: PartitionSpec,
        policy: Box<dyn LocalPolicy>,
        policy_name: String,
        abilities: Abilities,
        reservations: &[Reservation],
    ) -> Self {
        let slots = abilities.slots.clamp(1, Abilities::MOST_SLOTS);
        let mut book = Book::default();
        for wanted in reservations {
            let held = book.hold(wanted, spec.rounded(wanted.procs), Time::NEVER, Time::ZERO);
            let committed = held.and_then(|()| book.commit(&wanted.name, Time::ZERO));
            debug_assert_eq!(
                committed,
                Ok(()),
                "the scenario has been checked: names are unique, times in order"
            );
        }
        let processors = spec.processors();
        // The last machines are away; a block that holds a part of them is not there.
        let first_away = spec.machines.saturating_sub(spec.absent) * spec.cores;
        let here = ProcSet::full(first_away / spec.quantum.max(1) * spec.quantum.max(1));
        let load = if slots > 1 { vec![Load::default(); processors as usize] } else { Vec::new() };
        let usage = Usage { from: Time::NEVER, processors, ..Usage::default() };
        Self {
            state: State {
                tariff: Tariff::of(&spec),
                free: here.clone(),
                unused: here.len(),
                here,
                settings,
                spec,
                abilities,
                slots,
                table: Table::default(),
                deferred: 0,
                ending: 0,
                load,
                book,
                ends: BinaryHeap::new(),
                next_seq: 0,
                next_end: 0,
                usage,
                tally: Tally::default(),
                reserved: 0,
                reserved_since: Time::ZERO,
                waiting: 0,
                backlog: 0,
                running: 0,
            },
            policy,
            policy_name,
            actions: Actions::default(),
            late: Vec::new(),
            wake: None,
        }
    }

    /// The description.
    pub fn spec(&self) -> &PartitionSpec {
        &self.state.spec
    }

    /// What a policy would see now.
    pub fn view(&self, now: Time) -> View<'_> {
        View { state: &self.state, now }
    }

    /// Jobs that wait, run or are suspended.
    pub fn live(&self) -> usize {
        self.state.table.len()
    }

    /// Counts so far.
    pub fn tally(&self) -> Tally {
        self.state.tally
    }

    /// The ledger from the first submission to the last end, with the meter read. Complete once every job that
    /// started has ended.
    pub fn usage(&self) -> Usage {
        let mut usage = self.state.usage;
        if usage.from == Time::NEVER {
            usage.from = Time::ZERO;
        }
        usage.to = usage.to.max(usage.from);
        let powered = usage.nominal().saturating_sub(usage.away);
        usage.meter = self.state.tariff.meter(usage.busy(), powered);
        usage
    }

    /// The next instant at which something happens here by itself.
    pub fn next_event(&mut self) -> Option<Time> {
        let sooner = |a: Option<Time>, b: Option<Time>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        sooner(sooner(self.state.next_end_time(), self.wake), self.state.book.next_change())
    }

    /// A job joins the queue, or is rejected on the spot (then false).
    pub fn arrive(&mut self, job: Job, origin: Origin, now: Time, sink: &mut dyn RecordSink) -> bool {
        let state = &mut self.state;
        let least = state.spec.rounded(job.size.min());
        let procs = state.spec.rounded(job.size.preferred()).min(state.spec.usable()).max(least);
        let rate = job.size.rate_on(procs.min(job.size.max())).times(state.spec.speed);
        let (work, estimated) = (Work::of_runtime(job.runtime), Work::of_runtime(job.estimate));
        let malformed = job.check().is_err();
        let live = LiveJob {
            origin,
            seq: state.next_seq,
            phase: Phase::Waiting,
            procs,
            // Of whatever says that it takes no time at all: one tick, so that plans are never empty.
            estimate: estimated.span_at(rate).unwrap_or(Span::MAX).max(Span::TICK),
            place: ProcSet::new(),
            held: 0,
            given: 0,
            share: Rate::FULL,
            rate: Rate::ZERO,
            since: now,
            first_start: None,
            done: Work::ZERO,
            target: if state.settings.overrun { work } else { work.min(estimated) },
            estimated,
            expected_end: Time::NEVER,
            end: Time::NEVER,
            end_seq: 0,
            attempts: 0,
            proc_time: 0,
            energy: Energy::ZERO,
            cost: Money::ZERO,
            job,
        };
        state.next_seq += 1;
        state.joins_queue(live.area());
        state.tally.arrived += 1;
        if state.usage.from == Time::NEVER {
            state.settle_reserved(now);
            state.reserved = 0;
            state.usage.from = now;
        }
        let key = state.table.insert(live);
        let refused = if malformed {
            Some(RejectReason::Malformed)
        } else {
            (least > state.spec.usable()).then_some(RejectReason::TooLarge)
        };
        if let Some(reason) = refused {
            state.finish(key, Outcome::Rejected(reason), now, sink);
            return false;
        }
        self.tell(Change::Arrived(key), now);
        true
    }

    /// Under one pass an event: works out whose processors count as free at this instant.
    pub fn begin_instant(&mut self, now: Time) {
        let state = &mut self.state;
        state.ending = 0;
        if state.settings.order == InstantOrder::Event && state.next_end_time() == Some(now) {
            let due = state
                .ends
                .iter()
                .filter(|Reverse((time, seq, key))| *time == now && state.is_current(*seq, *key));
            let freed = due.filter_map(|Reverse((_, _, key))| state.table.get(*key));
            state.ending = freed.filter(|job| state.counts_as_free(job, now)).map(|job| job.held).sum();
        }
    }

    /// Ends the next job whose end has come; `None` if there is none left at `now`.
    pub fn end_next(&mut self, now: Time, sink: &mut dyn RecordSink) -> Option<Departed> {
        if self.state.next_end_time()? > now {
            return None;
        }
        let Reverse((_, _, key)) = self.state.ends.pop()?;
        let job = self.state.table.get(key)?;
        let departed = job.departed();
        let killed = job.target < Work::of_runtime(job.job.runtime);
        self.end_job(key, if killed { Outcome::Killed } else { Outcome::Completed }, now, sink);
        Some(departed)
    }

    /// Ends a job now, wherever it stands.
    pub(super) fn end_job(&mut self, key: JobKey, outcome: Outcome, now: Time, sink: &mut dyn RecordSink) {
        if let Some(job) = self.state.table.get(key).filter(|job| self.state.counts_as_free(job, now)) {
            self.state.ending -= job.held.min(self.state.ending);
        }
        let Some(job) = self.state.table.get_mut(key) else { return };
        let change = if job.phase == Phase::Waiting { Change::Withdrawn(key) } else { Change::Ended(key) };
        match job.phase {
            Phase::Running => {
                let place = std::mem::take(&mut job.place);
                let (held, share) = (job.held, job.share);
                self.state.running -= 1;
                self.state.vacate(&place, held, share, sink, now);
                self.state.settle_on(key, place, now, sink);
            }
            Phase::Starting => {
                self.state.deferred -= job.held;
                // Its key may be another's before the instant is over.
                self.late.retain(|start| !matches!(start, super::Action::Start { job, .. } if *job == key));
            }
            Phase::Waiting | Phase::Suspended => {}
        }
        self.tell(change, now);
        self.state.finish(key, outcome, now, sink);
    }

    /// Withdraws a job by its number: from the queue, or from its processors. If several have the number, the one that
    /// came first. `None` if there is none.
    pub fn cancel(
        &mut self,
        id: crate::model::JobId,
        now: Time,
        sink: &mut dyn RecordSink,
    ) -> Option<Departed> {
        let named = self.state.table.iter().filter(|(_, job)| job.job.id == id);
        let (key, departed) = named.min_by_key(|(_, job)| job.seq).map(|(key, job)| (key, job.departed()))?;
        self.end_job(key, Outcome::Cancelled, now, sink);
        Some(departed)
    }

    /// Ends what the book says is over at `now`. True if anything was.
    pub fn end_bookings(&mut self, now: Time, sink: &mut dyn RecordSink) -> bool {
        let due = self.state.book.next_change().is_some_and(|due| due <= now);
        let changed = due && self.state.end_bookings(now, sink);
        if changed {
            self.tell(Change::Reserved, now);
        }
        changed
    }

    /// Begins what the book says is due at `now`; what is over must have been ended. True if anything was.
    pub fn begin_bookings(&mut self, now: Time, sink: &mut dyn RecordSink) -> bool {
        let due = self.state.book.next_change().is_some_and(|due| due <= now);
        let changed = due && self.state.begin_bookings(now, sink);
        if changed {
            self.tell(Change::Reserved, now);
        }
        changed
    }

    /// Clears the wake if it is due. True if it was.
    pub fn wake(&mut self, now: Time) -> bool {
        let due = self.wake.is_some_and(|wake| wake <= now);
        if due {
            self.wake = None;
        }
        due
    }

    /// Ends everything that is still here, because the run is over.
    pub fn close(&mut self, now: Time, sink: &mut dyn RecordSink) {
        let mut left: Vec<_> = self.state.table.iter().map(|(key, job)| (job.seq, key)).collect();
        left.sort_unstable();
        for (_, key) in left {
            self.end_job(key, Outcome::Unfinished, now, sink);
        }
    }

    /// What the jobs that wait are and wait for, for the error that says that nothing moves any more.
    pub fn stuck(&self) -> impl Iterator<Item = &LiveJob> {
        self.state.table.iter().map(|(_, job)| job)
    }

    /// Promises processors from the book, planned around from now on; see [`Book::hold`].
    ///
    /// # Errors
    /// [`BookError`] if the name is another's or the time is past.
    pub fn hold(&mut self, wanted: &Reservation, lease: Time, now: Time) -> Result<(), BookError> {
        let procs = self.state.spec.rounded(wanted.procs);
        if procs == 0 || procs > self.state.spec.usable() {
            return Err(BookError::NoRoom(wanted.name.clone()));
        }
        self.state.book.hold(wanted, procs, lease, now)?;
        self.tell(Change::Reserved, now);
        Ok(())
    }

    /// Fixes what is held; see [`Book::commit`].
    ///
    /// # Errors
    /// [`BookError`] if nothing is held under the name.
    pub fn commit(&mut self, name: &str, now: Time) -> Result<(), BookError> {
        self.state.book.commit(name, now)
    }

    /// Gives a reservation up, whether or not it has begun. False if there is none under the name.
    pub fn release(&mut self, name: &str, now: Time, sink: &mut dyn RecordSink) -> bool {
        self.state.settle_reserved(now);
        let Some(gone) = self.state.book.release(name) else { return false };
        self.state.give_back(&gone.taken, sink, now);
        self.tell(Change::Reserved, now);
        true
    }

    fn tell(&mut self, change: Change, now: Time) {
        self.policy.on(change, &View { state: &self.state, now });
    }
}
