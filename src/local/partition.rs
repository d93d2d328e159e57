//! A partition at work: its jobs, its processors, its reservations and its policy.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use serde::{Deserialize, Serialize};

use super::adopt::metered;
use super::agenda::Agenda;
use super::policy::{Actions, Change, LocalPolicy};
use super::registry::Abilities;
use super::state::{Load, State};
use super::table::{Departed, Gone, LiveJob, Phase, Table};
use super::{Book, BookError, View};
use crate::model::{
    Checkpointing, CommandRefusal, EventCause, EventKind, Fate, InstantOrder, Job, JobId, JobKey, Origin,
    Outcome, PartitionId, PartitionSpec, Payer, ProcSet, Record, RecordSink, RejectReason, Reservation,
    SiteId, SiteTariff,
};
use crate::platform::{Tariff, Usage};
use crate::units::{Span, Time};

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
    /// Prices by the hour of the day, and of electricity.
    pub tariff: SiteTariff,
    /// Power usage effectiveness × 10⁶.
    pub pue_ppm: u64,
    /// Whether segments are recorded.
    pub record_segments: bool,
    /// Whether changes of machine state are recorded.
    pub record_machines: bool,
    /// What becomes of a job whose machine leaves.
    pub fate: Fate,
    /// Whether jobs of the grid that wait go back when the whole site leaves.
    pub return_queued: bool,
    /// A job that loses its attempt of this number fails instead of being requeued.
    pub attempts: Option<u32>,
    /// Whether running jobs write checkpoints.
    pub checkpoint: Option<Checkpointing>,
    /// How long a machine is up in the mean, if that is known: what checkpoints are spaced by.
    pub mean_up: Option<Span>,
    /// Who pays for an attempt that was lost to churn.
    pub lost_attempts: Payer,
}

/// What became of a job that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It waits.
    Taken,
    /// It was refused: it ended as rejected, or goes back.
    Gone(Departed),
}

/// Counts of what a partition saw.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Jobs that arrived.
    pub arrived: u64,
    /// Jobs by outcome, in the order of [`Outcome::NAMES`].
    pub outcomes: [u64; 6],
    /// Jobs of the grid that went back without having ended. Each that arrives has ended, gone back, or is still here.
    pub returned: u64,
    /// Most jobs waiting at once after a pass.
    pub longest_queue: u64,
    /// Scheduling passes.
    pub passes: u64,
    /// Reservations that had fewer processors than booked, from the beginning or when machines left.
    pub short_reservations: u64,
    /// Elastic commands that were carried out.
    pub commands: u64,
    /// Those that were not, by reason, in the order of [`CommandRefusal::ALL`].
    pub refused_commands: [u64; CommandRefusal::ALL.len()],
}

impl Tally {
    /// Jobs that have ended here, however they did.
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
        let (processors, usable) = (spec.processors(), spec.usable());
        let absent = ProcSet::range(spec.machines.saturating_sub(spec.absent), spec.machines);
        let load = if slots > 1 { vec![Load::default(); processors as usize] } else { Vec::new() };
        let usage = Usage { from: Time::NEVER, processors, ..Usage::default() };
        let mut partition = Self {
            state: State {
                tariff: Tariff::new(&spec, &settings.tariff, settings.pue_ppm),
                free: ProcSet::full(usable),
                unused: usable,
                here: ProcSet::full(usable),
                capacity: usable,
                away: ProcSet::new(),
                missing: 0,
                slow: BTreeMap::new(),
                aside: Vec::new(),
                agenda: Agenda::default(),
                halted: 0,
                resumed: ProcSet::new(),
                told_away: false,
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
                away_time: 0,
                away_weighed: 0,
                settled: Time::ZERO,
                closed: None,
                waiting: 0,
                backlog: 0,
                running: 0,
            },
            policy,
            policy_name,
            actions: Actions::default(),
            late: Vec::new(),
            wake: None,
        };
        partition.absent(&absent);
        partition
    }

    /// The description.
    pub fn spec(&self) -> &PartitionSpec {
        &self.state.spec
    }

    /// What a policy would see now.
    pub fn view(&self, now: Time) -> View<'_> {
        View { state: &self.state, now }
    }

    /// Jobs that wait, run, are suspended or stand still.
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
        let closed = self.state.closed.as_ref();
        (usage.meter, usage.electricity) = metered(&usage, closed, &self.state.tariff);
        usage
    }

    /// The next instant at which something happens here by itself.
    pub fn next_event(&mut self) -> Option<Time> {
        let sooner = |a: Option<Time>, b: Option<Time>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let own = sooner(self.state.next_end_time(), self.wake);
        let own = if self.state.agenda.is_empty() { own } else { sooner(own, self.state.agenda.next()) };
        sooner(own, self.state.book.next_change())
    }

    /// A job joins the queue, or steps aside until there are machines enough or the start that it asks for has come (if the policy
    /// knows no dedicated jobs), or is refused on the spot: then one of the site's own users ends as rejected, and one of the grid
    /// goes back.
    pub fn arrive(&mut self, job: Job, origin: Origin, now: Time, sink: &mut dyn RecordSink) -> Admission {
        let state = &mut self.state;
        let malformed = job.check().is_err();
        let mut live = LiveJob::new(job, origin, state.next_seq, now);
        let least = live.prepare(&state.spec, &state.settings, state.capacity);
        let refused = if malformed {
            Some(RejectReason::Malformed)
        } else {
            (least > state.spec.usable()).then_some(RejectReason::TooLarge)
        };
        state.next_seq += 1;
        state.tally.arrived += 1;
        state.account_from(now);
        let early = live.early(state.abilities.dedicated, now).filter(|_| refused.is_none());
        let aside = live.procs > state.capacity || refused.is_some() || early.is_some();
        if aside {
            live.phase = Phase::Aside;
        } else {
            state.joins_queue(live.area());
        }
        let seq = live.seq;
        let elastic =
            live.job.elastic.is_some() || live.job.grid.as_ref().is_some_and(|grid| grid.commands > 0);
        let key = state.table.insert(live);
        if elastic {
            state.meet_commands(key);
        }
        if !aside {
            self.tell(Change::Arrived(key), now);
            return Admission::Taken;
        }
        if let Some(start) = early {
            state.agenda.keep_back(start, seq, key);
            return Admission::Taken;
        }
        if let Some(reason) = refused {
            return match self.reject(key, reason, now, sink) {
                Some(gone) => Admission::Gone(gone),
                None => Admission::Taken,
            };
        }
        self.tell_away(now, sink);
        self.state.aside.push(key);
        Admission::Taken
    }

    /// Refuses a job that does not run; the policy need not be told.
    pub(super) fn reject(
        &mut self,
        key: JobKey,
        reason: RejectReason,
        now: Time,
        sink: &mut dyn RecordSink,
    ) -> Option<Departed> {
        let job = self.state.table.get(key)?;
        if job.job.grid.is_none() {
            return self.state.finish(key, Outcome::Rejected(reason), now, sink);
        }
        let why = EventCause::Refused(reason);
        let event = self.state.job_event(now, EventKind::Refused, why, job, job.procs);
        sink.record(Record::Event(event));
        self.state.give_up(key, why)
    }

    /// Sends a job of the grid back to the broker, by its number at the portal, if it waits. `None` if there is none that does.
    pub fn withdraw(&mut self, number: u64, now: Time) -> Option<Box<Job>> {
        let waits = |phase| matches!(phase, Phase::Waiting | Phase::Aside);
        let wanted = |job: &LiveJob| waits(job.phase) && job.number() == Some(number);
        let key = self.state.table.iter().find(|(_, job)| wanted(job))?.0;
        match self.take_out(key, EventCause::Replanned, now)?.how {
            Gone::Returned { job, .. } => Some(job),
            Gone::Ended(_) => None,
        }
    }

    /// Takes a job of the grid out that does not run.
    pub(super) fn take_out(&mut self, key: JobKey, why: EventCause, now: Time) -> Option<Departed> {
        match self.state.table.get(key)?.phase {
            Phase::Waiting => self.tell(Change::Withdrawn(key), now),
            Phase::Starting => {
                self.forget_start(key);
                self.tell(Change::Ended(key), now);
            }
            _ => self.state.stand_by(key),
        }
        self.state.give_up(key, why)
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
        let outcome = self.own_end(key);
        self.end_job(key, outcome, now, sink)
    }

    /// How a job ends that has done all it may.
    pub(super) fn own_end(&self, key: JobKey) -> Outcome {
        let killed = |job: &LiveJob| !self.state.settings.overrun && job.job.estimate < job.job.runtime;
        if self.state.table.get(key).is_some_and(killed) { Outcome::Killed } else { Outcome::Completed }
    }

    /// Ends a job now, wherever it stands.
    pub(super) fn end_job(
        &mut self,
        key: JobKey,
        outcome: Outcome,
        now: Time,
        sink: &mut dyn RecordSink,
    ) -> Option<Departed> {
        if let Some(job) = self.state.table.get(key).filter(|job| self.state.counts_as_free(job, now)) {
            self.state.ending -= job.held.min(self.state.ending);
        }
        let job = self.state.table.get_mut(key)?;
        let change = match job.phase {
            Phase::Waiting => Some(Change::Withdrawn(key)),
            Phase::Starting | Phase::Running | Phase::Suspended => Some(Change::Ended(key)),
            // The policy was told before, or does not know of it.
            Phase::Halted | Phase::Aside => None,
        };
        match job.phase {
            Phase::Running => {
                let place = std::mem::take(&mut job.place);
                let (held, share) = (job.held, job.share);
                self.state.running -= 1;
                self.state.vacate(&place, held, share, sink, now);
                self.state.settle_on(key, place, now, sink);
            }
            Phase::Starting => self.forget_start(key),
            Phase::Aside => self.state.stand_by(key),
            Phase::Halted => return self.end_halted(key, outcome, now, sink),
            Phase::Waiting | Phase::Suspended => {}
        }
        if let Some(change) = change {
            self.tell(change, now);
        }
        self.state.finish(key, outcome, now, sink)
    }

    /// A decided start will not take effect.
    fn forget_start(&mut self, key: JobKey) {
        self.state.deferred -= self.state.table.get(key).map_or(0, |job| job.held);
        // Its key may be another's before the instant is over.
        self.late.retain(|start| !matches!(start, super::Action::Start { job, .. } if *job == key));
    }

    /// Ends a job that stands still; what it kept is there for others.
    fn end_halted(
        &mut self,
        key: JobKey,
        outcome: Outcome,
        now: Time,
        sink: &mut dyn RecordSink,
    ) -> Option<Departed> {
        let place = std::mem::take(&mut self.state.table.get_mut(key)?.place);
        self.state.abandon(&place);
        let before = self.state.capacity;
        let gone = self.state.finish(key, outcome, now, sink);
        self.state.recount();
        self.state.fill_bookings(sink, now);
        // On shared processors it gives up a place.
        if self.state.capacity != before || self.state.slots > 1 {
            self.tell(Change::Joined, now);
        }
        self.step_back(now);
        gone
    }

    /// Withdraws a job by its number: from the queue, or from its processors. If several have the number, the one that
    /// came first. `None` if there is none.
    pub fn cancel(&mut self, id: JobId, now: Time, sink: &mut dyn RecordSink) -> Option<Departed> {
        let key = self.named(id)?;
        self.end_job(key, Outcome::Cancelled, now, sink)
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

    /// Ends what the book says is over at `now`, then begins what is due. True if anything was.
    #[inline]
    pub fn follow_book(&mut self, now: Time, sink: &mut dyn RecordSink) -> bool {
        let due = self.state.book.next_change().is_some_and(|due| due <= now);
        due && (self.end_bookings(now, sink) | self.begin_bookings(now, sink))
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
        self.state.settle_missing(now);
        let Some(gone) = self.state.book.release(name) else { return false };
        self.state.give_back(&gone.taken, sink, now);
        self.tell(Change::Reserved, now);
        true
    }

    pub(super) fn tell(&mut self, change: Change, now: Time) {
        self.policy.on(change, &View { state: &self.state, now });
    }
}
