//! The account of a partition: segments, failed attempts, and processor time that is reserved or down.

use super::State;
use crate::local::{BookingState, Phase};
use crate::model::{Cause, JobKey, MachineState, Payer, ProcSet, Record, RecordSink, SegmentRecord};
use crate::platform::{ProcTime, Usage};
use crate::units::{Energy, Money, Rate, Time, Work};

impl State {
    /// Records the running job's segment up to `now` and adds its work and use to the account.
    pub(in crate::local) fn settle(&mut self, key: JobKey, now: Time, sink: &mut dyn RecordSink) {
        let place = match self.table.get(key) {
            Some(job) if self.settings.record_segments => job.place.clone(),
            _ => ProcSet::new(),
        };
        self.settle_on(key, place, now, sink);
    }

    /// The same for a job that is leaving `place`.
    pub(in crate::local) fn settle_on(
        &mut self,
        key: JobKey,
        place: ProcSet,
        now: Time,
        sink: &mut dyn RecordSink,
    ) {
        let Some(job) = self.table.get_mut(key) else { return };
        let span = now.since(job.since);
        if job.phase != Phase::Running || span.is_zero() {
            return;
        }
        let mut charged = None;
        if let Some(past) = &job.past {
            charged = past.charged;
            job.settle_checkpoints(span);
        }
        job.done += Work::done(job.rate, span);
        let (energy, cost) = (job.energy, job.cost);
        job.proc_time += Usage::proc_time(job.held, job.share, span);
        job.charge += self.tariff.charge(job.held, job.share, job.since, now);
        self.usage.busy_weighed += self.tariff.weigh(job.held, job.share, job.since, now);
        // Differences of totals, so that segments sum to the attempt's figure exactly.
        job.energy = self.tariff.busy_energy(job.proc_time - charged.map_or(0, |charged| charged.time));
        job.cost = self.tariff.cost(job.charge);
        if let Some(charged) = charged {
            job.energy += charged.energy;
            job.cost += charged.cost;
        }
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

    /// Closes the account of an attempt that churn has ended; its last segment must have been settled. The progress that a
    /// checkpoint has kept was useful and is left to the next attempt. Returns the wasted processor time.
    pub(in crate::local) fn lose_attempt(&mut self, key: JobKey, now: Time) -> ProcTime {
        let charged = self.settings.failed_attempts == Payer::User;
        let Some(job) = self.table.get_mut(key) else { return 0 };
        if !charged {
            job.cost = Money::ZERO;
        }
        let (energy, cost, time) = (job.energy, job.cost, job.proc_time);
        (job.energy, job.cost, job.proc_time, job.charge) = (Energy::ZERO, Money::ZERO, 0, 0);
        let done = std::mem::take(&mut job.done).min(job.target);
        let past = job.past.get_or_insert_default();
        past.charged = None;
        let (secured, overhead) = (std::mem::take(&mut past.secured), std::mem::take(&mut past.overhead));
        past.kept += past.checkpoints.map_or(Work::ZERO, |checkpoints| checkpoints.kept(done));
        past.energy += energy;
        past.cost += cost;
        past.lost_at = Some(now);
        let lost = time - secured - overhead;
        self.usage.useful += secured;
        self.usage.overhead += overhead;
        self.usage.wasted += lost;
        self.usage.job_energy += energy;
        self.usage.cost += cost;
        self.account_until(now);
        lost
    }

    /// Gives free processors to reservations that have begun and lack some.
    pub(in crate::local) fn fill_bookings(&mut self, sink: &mut dyn RecordSink, now: Time) {
        self.settle_missing(now);
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

    /// Counts reservations that lack processors, each once.
    pub(in crate::local) fn count_short(&mut self, now: Time) {
        for booking in self.book.begun(now).filter(|booking| booking.owed > 0 && !booking.short) {
            booking.short = true;
            self.tally.short_reservations += 1;
        }
    }

    /// Settles the time of processors that are reserved or down up to `now`.
    pub(in crate::local) fn settle_missing(&mut self, now: Time) {
        let span = now.since(self.settled);
        if !self.book.pending().is_empty() {
            let held: u32 = self.book.pending().iter().map(|booking| booking.taken.len()).sum();
            self.reserved += Usage::proc_time(held, Rate::FULL, span);
        }
        if self.missing > 0 {
            self.away_time += Usage::proc_time(self.missing, Rate::FULL, span);
            self.down_weighed += self.tariff.weigh(self.missing, Rate::FULL, self.settled, now);
        }
        self.settled = now;
    }

    /// Begins the account, unless it has begun.
    pub(in crate::local) fn account_from(&mut self, now: Time) {
        if self.usage.from == Time::NEVER {
            self.settle_missing(now);
            (self.reserved, self.away_time, self.down_weighed) = (0, 0, 0);
            self.usage.from = now;
        }
    }

    /// Extends the account to `now`.
    pub(in crate::local) fn account_until(&mut self, now: Time) {
        self.settle_missing(now);
        self.usage.to = now;
        (self.usage.reserved, self.usage.down) = (self.reserved, self.away_time);
        self.usage.down_weighed = self.down_weighed;
    }

    /// Ends reservations that are over. True if there were any.
    pub(in crate::local) fn end_bookings(&mut self, now: Time, sink: &mut dyn RecordSink) -> bool {
        self.settle_missing(now);
        let over = self.book.expire(now);
        for gone in &over {
            self.give_back(&gone.taken, sink, now);
        }
        !over.is_empty()
    }

    /// Frees the processors of a reservation; others that are owed some take theirs first.
    pub(in crate::local) fn give_back(&mut self, taken: &ProcSet, sink: &mut dyn RecordSink, now: Time) {
        self.unused += taken.len();
        self.free.insert_all(taken);
        self.machines(taken, MachineState::Idle, sink, now);
        self.fill_bookings(sink, now);
    }

    /// Begins reservations that are due. True if there were any.
    pub(in crate::local) fn begin_bookings(&mut self, now: Time, sink: &mut dyn RecordSink) -> bool {
        let mut changed = false;
        for booking in self.book.begun(now) {
            if booking.state == BookingState::Committed {
                booking.state = BookingState::Active;
                booking.owed = booking.procs;
                changed = true;
            }
        }
        if changed {
            self.fill_bookings(sink, now);
            self.count_short(now);
        }
        changed
    }
}
