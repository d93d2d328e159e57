//! The account of a partition: segments, failed attempts, and processor time that is reserved or down.

use super::State;
use crate::local::Step;
use crate::local::prices::Standing;
use crate::model::{Cause, JobKey, MachineState, ProcSet, Record, SegmentRecord};
use crate::platform::{ProcTime, Usage};
use crate::units::{Energy, Money, Rate, Time, Work};

impl State {
    /// Records the running job's segment up to `now` and adds its work and use to the account.
    pub(in crate::local) fn settle(&mut self, key: JobKey, step: &mut Step<'_>) {
        let placement = match self.table.get(key) {
            Some(job) if self.settings.record_segments || self.tariff.is_mixed() || self.loads.is_some() => {
                job.allocation.procs.clone()
            }
            _ => ProcSet::new(),
        };
        self.settle_on(key, placement, step);
    }

    /// The same for a job that is leaving the processors of `placement`.
    pub(in crate::local) fn settle_on(&mut self, key: JobKey, placement: ProcSet, step: &mut Step<'_>) {
        let Some(job) = self.table.get_mut(key) else { return };
        let span = step.now.since(job.since);
        if !job.phase.is_active() || span.is_zero() {
            return;
        }
        let (overhead, cause) = (job.phase.is_transition(), Cause::of(job.phase));
        let mut charged = None;
        if overhead {
            // It does no work, and its overhead is no use of it.
            let past = job.past.get_or_insert_default();
            past.overhead += Usage::proc_time(job.held, job.allocation.share, span);
            charged = past.charged;
        } else if let Some(past) = &job.past {
            charged = past.charged;
            let has_marks = past.has_marks;
            job.settle_checkpoints(span);
            if has_marks {
                job.settle_marks(span);
            }
        }
        job.done += Work::done(job.rate, span);
        if !overhead {
            job.ran += span;
        }
        let (energy, dynamic, cost) = (job.energy, job.dynamic_energy(), job.cost);
        job.proc_time += Usage::proc_time(job.held, job.allocation.share, span);
        let held = self.tariff.held(&placement, job.held);
        job.charge += self.tariff.charge(&held, job.allocation.share, job.since, step.now);
        // Differences of totals, so that segments sum to the attempt's figure exactly.
        job.energy = Energy::ZERO;
        if self.tariff.is_powered() {
            let stretch = self.tariff.stretch(job.since, step.now);
            let drawn = job.drawn.get_or_insert_default();
            if let Some(loads) = &mut self.loads {
                drawn.add(held.idle(job.allocation.share), &stretch);
                let now = loads.drawn(&placement, step.now, &self.tariff);
                debug_assert!(job.base.is_some(), "a job that runs has read the loads of its machines");
                let base = job.base.as_deref().unwrap_or(&now);
                job.dynamic += now.since(base);
                drawn.merge(&now);
                drawn.remove(base);
                job.base = Some(Box::new(now));
            } else {
                let (busy, idle) = (held.busy(job.allocation.share), held.idle(job.allocation.share));
                drawn.add(busy, &stretch);
                self.meter.dynamic.add(busy - idle, &stretch);
                job.dynamic += (busy - idle) * u128::from(span.micros());
            }
            job.energy = drawn.energy();
        }
        job.cost = self.tariff.cost(job.charge);
        if let Some(charged) = charged {
            job.energy += charged.drawn.energy;
            job.cost += charged.cost;
        }
        if self.settings.record_segments {
            step.sink.record(Record::Segment(SegmentRecord {
                job: job.job.id,
                origin: job.origin,
                attempt: job.attempts,
                site: self.settings.site,
                partition: self.settings.partition,
                procs: placement,
                from: job.since,
                to: step.now,
                rate: job.rate,
                share: job.allocation.share,
                cause,
                energy: job.energy - energy,
                dynamic: job.dynamic_energy() - dynamic,
                cost: job.cost - cost,
            }));
        }
        job.since = step.now;
    }

    /// Closes the account of an attempt that does not go on; its last segment must have been settled. Where the job does not keep
    /// its work, only the progress that a checkpoint holds was useful and is left to the next attempt. Returns the wasted
    /// processor time.
    pub(in crate::local) fn close_attempt(&mut self, key: JobKey, keeps_work: bool, now: Time) -> ProcTime {
        let Some(job) = self.table.get_mut(key) else { return 0 };
        let (energy, dynamic, cost, time) = (job.energy, job.dynamic_energy(), job.cost, job.proc_time);
        let drawn = job.amounts(&self.tariff);
        (job.energy, job.cost, job.proc_time, job.charge) = (Energy::ZERO, Money::ZERO, 0, 0);
        (job.drawn, job.dynamic) = (None, 0);
        let done = std::mem::take(&mut job.done).min(job.target);
        let past = job.past.get_or_insert_default();
        let (secured, overhead) = (std::mem::take(&mut past.secured), std::mem::take(&mut past.overhead));
        let (kept, useful) = if keeps_work {
            let writing = past.checkpoints.map_or(Work::ZERO, |checkpoints| checkpoints.overhead(done));
            (done - writing, time - overhead)
        } else {
            (past.checkpoints.map_or(Work::ZERO, |checkpoints| checkpoints.kept(done)), secured)
        };
        past.kept += kept;
        past.energy += energy;
        past.dynamic += dynamic;
        past.cost += cost;
        (past.charged, past.fails_at, past.failed_at) = (None, None, Some(now));
        job.leave_time(if keeps_work { done } else { kept }, done);
        job.drop_marks();
        self.usage.work += job.job.on_all(kept);
        let wasted = time - useful - overhead;
        self.usage.useful += useful;
        self.usage.overhead += overhead;
        self.usage.wasted += wasted;
        self.usage.bill.add_job(drawn, time, useful, overhead);
        self.usage.cost += cost;
        wasted
    }

    /// Gives free processors to reservations that have begun and lack some: those that a job would get.
    pub(in crate::local) fn fill_bookings(&mut self, step: &mut Step<'_>) {
        self.settle_missing(step.now);
        // The earlier ones first, each as much as there is.
        let mut left = if self.exceeds_cap() { 0 } else { self.givable() };
        let lacking = self.book.active_mut().map(|booking| {
            let give = booking.owed.min(left);
            left -= give;
            give
        });
        for (at, give) in lacking.collect::<Vec<u32>>().into_iter().enumerate().filter(|(_, give)| *give > 0)
        {
            let Some(procs) = self.pick(give) else { continue };
            self.take_free(&procs, give, step);
            if let Some(booking) = self.book.active_mut().nth(at) {
                booking.owed -= give;
                booking.taken.insert_all(&procs);
            }
            self.machines(&procs, MachineState::Reserved, step);
        }
    }

    /// Counts reservations that lack processors, each once.
    pub(in crate::local) fn count_short(&mut self) {
        for booking in self.book.active_mut().filter(|booking| booking.owed > 0 && !booking.short) {
            booking.short = true;
            self.tally.short_reservations += 1;
        }
    }

    /// Settles the time of processors that are reserved or down, and what those draw that are up, up to `now`.
    pub(in crate::local) fn settle_missing(&mut self, now: Time) {
        let span = now.since(self.settled);
        if !self.book.is_empty() {
            let held: u32 = self.book.active().map(|booking| booking.taken.len()).sum();
            self.reserved += Usage::proc_time(held, Rate::FULL, span);
        }
        if self.missing > 0 {
            self.down_time += Usage::proc_time(self.missing, Rate::FULL, span);
        }
        if self.is_metered() && !span.is_zero() {
            self.settle_standing(&self.tariff.stretch(self.settled, now));
        }
        self.settled = now;
    }

    /// Begins the account, unless it has begun.
    pub(in crate::local) fn account_from(&mut self, now: Time) {
        if self.usage.from == Time::NEVER {
            self.settle_missing(now);
            (self.reserved, self.down_time, self.meter.standing) = (0, 0, Standing::default());
            self.usage.from = now;
        }
    }

    /// Extends the account to `now`.
    pub(in crate::local) fn account_until(&mut self, now: Time) {
        self.settle_missing(now);
        self.usage.to = now;
        (self.usage.reserved, self.usage.down) = (self.reserved, self.down_time);
        if self.is_metered() {
            self.meter.counted = self.meter.standing;
        }
    }

    /// Whether machines draw power or ever sleep; the meter stands still otherwise.
    fn is_metered(&self) -> bool {
        self.tariff.is_powered() || self.sleepers.is_some()
    }

    /// Ends reservations that are over. True if there were any.
    pub(in crate::local) fn end_bookings(&mut self, step: &mut Step<'_>) -> bool {
        self.settle_missing(step.now);
        let over = self.book.expire(step.now);
        for gone in &over {
            self.give_back(&gone.taken, step);
        }
        !over.is_empty()
    }

    /// Frees the processors of a reservation; others that are owed some take theirs first.
    pub(in crate::local) fn give_back(&mut self, taken: &ProcSet, step: &mut Step<'_>) {
        self.give_free(taken, taken.len(), step.now);
        self.count_left(taken);
        self.machines(taken, MachineState::Idle, step);
        self.fill_bookings(step);
    }

    /// Begins reservations that are due. True if there were any.
    pub(in crate::local) fn begin_bookings(&mut self, step: &mut Step<'_>) -> bool {
        let changed = self.book.begin(step.now);
        if changed {
            self.fill_bookings(step);
            self.count_short();
        }
        changed
    }
}
