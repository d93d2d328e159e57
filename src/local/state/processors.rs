//! The processors of a partition: which are in use, and which are up.

use super::State;
use crate::local::{BookingState, LiveJob, Phase, Step};
use crate::model::{JobKey, MachineRecord, MachineState, ProcSet, Record};
use crate::units::{Rate, Span, Time};

impl State {
    /// Allocates processors to a job.
    #[inline(always)]
    pub(in crate::local) fn occupy(
        &mut self,
        placement: &ProcSet,
        count: u32,
        share: Rate,
        waits: bool,
        step: &mut Step<'_>,
    ) {
        if self.multiprogramming_level == 1 {
            self.take_free(placement, count, step);
            // Otherwise it begins later.
            if !waits {
                self.machines(placement, MachineState::Busy, step);
            }
            return;
        }
        let (first, woken) = self.add_load(placement, 1, share);
        self.take_free(&first, first.len(), step);
        self.machines(&woken, MachineState::Busy, step);
    }

    /// Frees a job's processors; reservations that are owed some take theirs first. Processors that are down with their
    /// machine, or are the rest of an allocation block that is, do not become free.
    pub(in crate::local) fn vacate(
        &mut self,
        placement: &ProcSet,
        count: u32,
        share: Rate,
        step: &mut Step<'_>,
    ) {
        if self.multiprogramming_level == 1 && self.missing == 0 && self.draining.is_empty() {
            self.give_free(placement, count, step.now);
            self.machines(placement, MachineState::Idle, step);
        } else if self.multiprogramming_level == 1 {
            self.set_free(placement, step.now);
            self.idle(placement.clone(), step);
        } else {
            let (last, idle) = self.unload(placement, 1, share);
            self.set_free(&last, step.now);
            self.idle(idle, step);
        }
        self.eased |= !self.draining.is_empty() && self.spec.most_in_use.is_some();
        self.count_left(placement);
        if self.book.owes() {
            self.fill_bookings(step);
        }
    }

    /// Removes processors from the free ones.
    #[inline]
    pub(in crate::local) fn take_free(&mut self, procs: &ProcSet, count: u32, step: &mut Step<'_>) {
        self.free.remove_all(procs);
        self.unused -= count;
        if self.sleepers.is_some() {
            self.wake_for(procs, step);
        }
        self.count_taken(procs);
    }

    /// Adds processors to the free ones.
    #[inline]
    pub(in crate::local) fn give_free(&mut self, procs: &ProcSet, count: u32, now: Time) {
        self.free.insert_all(procs);
        self.unused += count;
        if let Some(sleepers) = &mut self.sleepers {
            sleepers.give(procs, now);
        }
    }

    /// Adds so many jobs with so much share to each of these shared processors. Returns the processors on which no job was, and
    /// those on which none ran.
    fn add_load(&mut self, placement: &ProcSet, jobs: u16, share: Rate) -> (ProcSet, ProcSet) {
        let (mut first, mut woken) = (ProcSet::new(), ProcSet::new());
        for proc in placement.iter() {
            let load = &mut self.load[proc as usize];
            if load.jobs == 0 {
                first.insert(proc);
            }
            if load.share == 0 {
                woken.insert(proc);
            }
            load.jobs += jobs;
            load.share += share.units() as u32;
        }
        (first, woken)
    }

    /// Removes so many jobs with so much share from each of these shared processors. Returns the processors on which no job is
    /// left, and those on which none runs any more.
    fn unload(&mut self, placement: &ProcSet, jobs: u16, share: Rate) -> (ProcSet, ProcSet) {
        let (mut last, mut idle) = (ProcSet::new(), ProcSet::new());
        for proc in placement.iter() {
            let load = &mut self.load[proc as usize];
            load.jobs -= jobs;
            load.share -= share.units() as u32;
            if load.jobs == 0 {
                last.insert(proc);
            }
            if load.share == 0 && share > Rate::ZERO {
                idle.insert(proc);
            }
        }
        (last, idle)
    }

    /// Marks those of `procs` that are up as free; others may be the rest of an incomplete block, which nobody uses from now on.
    fn set_free(&mut self, procs: &ProcSet, now: Time) {
        let back = procs.intersection(&self.here);
        self.give_free(&back, back.len(), now);
        if let Some(sleepers) = &mut self.sleepers
            && back.len() < procs.len()
        {
            let mut rest = procs.difference(&back);
            rest.remove_all(&self.down);
            sleepers.release(&rest, now);
        }
    }

    /// Records that processors have become idle, unless they are down.
    fn idle(&mut self, mut procs: ProcSet, step: &mut Step<'_>) {
        procs.remove_all(&self.down);
        self.machines(&procs, MachineState::Idle, step);
    }

    /// Records that processors are in this state from now on; those of machines that are not awake say so themselves.
    #[inline]
    pub(in crate::local) fn machines(&mut self, procs: &ProcSet, state: MachineState, step: &mut Step<'_>) {
        if self.loads.is_some() || self.settings.record_machines {
            self.note_machines(procs, state, step);
        }
    }

    fn note_machines(&mut self, procs: &ProcSet, state: MachineState, step: &mut Step<'_>) {
        if self.loads.is_some() {
            self.settle_missing(step.now);
            if let Some(loads) = &mut self.loads {
                loads.change(procs, state == MachineState::Busy, step.now, &self.tariff);
            }
        }
        if self.settings.record_machines && !procs.is_empty() {
            let mut procs = procs.clone();
            if let Some(sleepers) = self.sleepers.as_ref().filter(|_| state != MachineState::Down) {
                procs.remove_all(&sleepers.not_awake(&procs));
            }
            self.record_machines(procs, state, step);
        }
    }

    /// Records that processors are in this state from now on.
    pub(super) fn record_machines(&self, procs: ProcSet, state: MachineState, step: &mut Step<'_>) {
        if !procs.is_empty() {
            let (site, partition) = (self.settings.site, self.settings.partition);
            step.sink.record(Record::Machine(MachineRecord {
                time: step.now,
                site,
                partition,
                procs,
                state,
            }));
        }
    }

    /// The processors of these machines that belong to the partition.
    pub(in crate::local) fn processors_of(&self, machines: &ProcSet) -> ProcSet {
        let mut procs = ProcSet::new();
        let last = self.spec.machines() - 1;
        for (from, to) in machines.intervals().filter(|(from, _)| *from <= last) {
            procs.insert_all(&ProcSet::range(from * self.spec.cores, (to.min(last) + 1) * self.spec.cores));
        }
        procs
    }

    /// Those of `machines` in the partition whose processors are down (with `down`) or up (without).
    pub(in crate::local) fn machines_that(&self, machines: &ProcSet, down: bool) -> ProcSet {
        let there = |machine: &u32| {
            *machine < self.spec.machines() && self.down.contains(*machine * self.spec.cores) == down
        };
        machines.iter().filter(there).collect()
    }

    /// The usable allocation blocks that contain `procs`.
    pub(in crate::local) fn blocks(&self, procs: &ProcSet) -> ProcSet {
        let (allocation_unit, usable) = (self.spec.allocation_unit.max(1), self.spec.usable());
        let mut blocks = ProcSet::new();
        for (from, to) in procs.intervals().filter(|(from, _)| *from < usable) {
            let (from, to) =
                (from / allocation_unit * allocation_unit, (to / allocation_unit + 1) * allocation_unit);
            blocks.insert_all(&ProcSet::range(from, to.min(usable)));
        }
        blocks
    }

    /// Notes that the blocks that contain `procs` can be given from now on, as far as they are complete. Returns these.
    fn complete_blocks(&mut self, procs: &ProcSet) -> ProcSet {
        let mut whole = self.blocks(procs);
        for lacking in [&self.down, &self.draining] {
            let lacking = self.blocks(&lacking.intersection(&whole));
            whole.remove_all(&lacking);
        }
        self.present += whole.len() - whole.common(&self.here);
        self.here.insert_all(&whole);
        whole
    }

    /// Takes processors down, with the blocks that they are a part of. Processors that jobs hold stay allocated to them;
    /// reservations are owed those they held. Returns the usable processors that went down, also those that drained.
    pub(in crate::local) fn remove_processors(&mut self, procs: &ProcSet, step: &mut Step<'_>) -> ProcSet {
        self.missing += procs.len();
        self.down.insert_all(procs);
        self.machines(procs, MachineState::Down, step);
        let lost = self.blocks(procs).intersection(&self.here);
        let mut gone = lost.clone();
        if !self.draining.is_empty() {
            gone.insert_all(&self.blocks(procs).intersection(&self.drained_before(procs)));
        }
        self.here.remove_all(&lost);
        self.present -= lost.len();
        let mut free = self.free.intersection(&lost);
        self.unused -= free.len();
        self.free.remove_all(&free);
        if self.sleepers.is_some() {
            // The rest is of machines that stay, but whose blocks are incomplete. Nobody uses it, so none wakes up.
            free.remove_all(procs);
            self.forget_sleepers(procs);
            if let Some(sleepers) = &mut self.sleepers {
                sleepers.withhold(&free);
            }
        }
        self.move_bookings(&lost, step);
        self.count_machines(procs);
        self.count_machines(&lost);
        gone
    }

    /// Reservations give up these processors, and are owed as many.
    fn move_bookings(&mut self, lost: &ProcSet, step: &mut Step<'_>) {
        let (mut rest, mut owed) = (ProcSet::new(), ProcSet::new());
        for booking in self.book.active_mut() {
            let gone = booking.taken.intersection(lost);
            if booking.state == BookingState::Active && !gone.is_empty() {
                // What its job leaves of it need not be replaced.
                if booking.claim.is_none_or(|claim| !claim.started) {
                    booking.owed += gone.len();
                }
                booking.taken.remove_all(&gone);
                owed.insert_all(&gone);
                rest.insert_all(&gone);
            }
        }
        // What is of an incomplete block, or drains, is up, but cannot be given.
        if let Some(sleepers) = &mut self.sleepers {
            sleepers.release(&rest.difference(&self.down), step.now);
        }
        self.idle(rest, step);
        self.count_left(&owed);
    }

    /// Processors of machines that are up, but which get no new job because they, or others of their block, drain.
    pub(in crate::local) fn drained(&self) -> ProcSet {
        self.drained_before(&ProcSet::new())
    }

    /// The same as if these processors were not down.
    fn drained_before(&self, procs: &ProcSet) -> ProcSet {
        if self.draining.is_empty() {
            return ProcSet::new();
        }
        let mut drained = self.blocks(&self.draining);
        drained.remove_all(&self.blocks(&self.down.difference(procs)));
        drained
    }

    /// Processors of running jobs that nobody gets after them.
    pub(in crate::local) fn leaving(&self) -> u32 {
        if self.draining.is_empty() {
            return 0;
        }
        let jobs = self.table.iter().map(|(_, job)| job).filter(|job| job.phase.is_active());
        jobs.map(|job| job.leaving).sum()
    }

    /// How many processors of a running job nobody gets after it.
    pub(in crate::local) fn leaving_of(&self, placement: &ProcSet) -> u32 {
        if self.draining.is_empty() { 0 } else { placement.len() - placement.common(&self.here) }
    }

    /// No new job gets these processors any more, nor the blocks that they are a part of. Jobs keep theirs; reservations are owed those they held.
    /// Returns the usable processors that could be given before.
    pub(in crate::local) fn drain_processors(&mut self, procs: &ProcSet, step: &mut Step<'_>) -> ProcSet {
        self.draining.insert_all(procs);
        let lost = self.blocks(procs).intersection(&self.here);
        self.here.remove_all(&lost);
        self.present -= lost.len();
        let free = self.free.intersection(&lost);
        self.unused -= free.len();
        self.free.remove_all(&free);
        if let Some(sleepers) = &mut self.sleepers {
            sleepers.withhold(&free);
            sleepers.drain(procs);
        }
        self.move_bookings(&lost, step);
        self.count_machines(&lost);
        lost
    }

    /// These processors drain no longer. Those that no job has are free, if their blocks are complete.
    pub(in crate::local) fn keep_processors(&mut self, procs: &ProcSet, now: Time) {
        self.draining.remove_all(procs);
        let mut whole = self.complete_blocks(procs);
        if let Some(sleepers) = &mut self.sleepers {
            sleepers.stay(procs);
        }
        if self.multiprogramming_level == 1 {
            let jobs = self.table.iter().map(|(_, job)| job).filter(|job| job.phase.holds());
            jobs.for_each(|job| whole.remove_all(&job.allocation.procs));
        } else {
            whole = whole.iter().filter(|proc| self.load[*proc as usize].jobs == 0).collect();
        }
        self.complete(&ProcSet::new(), &whole, now);
        self.count_machines(procs);
        self.count_machines(&whole);
    }

    /// Brings processors up, with the blocks that are complete again. Those that a job keeps stay allocated to it.
    pub(in crate::local) fn add_processors(&mut self, procs: &ProcSet, step: &mut Step<'_>) {
        self.missing -= procs.len();
        self.down.remove_all(procs);
        self.machines(procs, MachineState::Idle, step);
        let mut whole = self.complete_blocks(procs);
        if self.multiprogramming_level == 1 {
            for (_, job) in self.table.iter().filter(|(_, job)| job.phase == Phase::Stalled) {
                whole.remove_all(&job.allocation.procs);
            }
        } else {
            whole = whole.iter().filter(|proc| self.load[*proc as usize].jobs == 0).collect();
        }
        if self.sleepers.is_some() {
            self.complete(procs, &whole, step.now);
        } else {
            self.set_free(&whole, step.now);
        }
        self.count_machines(procs);
    }

    /// The same where machines sleep: those of `procs` are awake and in use, as it seems, and nobody uses the `whole` blocks' other processors.
    fn complete(&mut self, procs: &ProcSet, whole: &ProcSet, now: Time) {
        let own = whole.intersection(procs);
        self.give_free(&own, own.len(), now);
        let others = whole.difference(procs);
        self.free.insert_all(&others);
        self.unused += others.len();
        let mut rest = procs.intersection(&ProcSet::full(self.spec.usable()));
        rest.remove_all(&own);
        let stalled = self.table.iter().filter(|(_, job)| job.phase == Phase::Stalled);
        stalled.for_each(|(_, job)| rest.remove_all(&job.allocation.procs));
        if let Some(sleepers) = &mut self.sleepers {
            sleepers.allow(&others);
            sleepers.release(&rest, now);
        }
    }

    /// Restores which processors are down; the free processors are not changed.
    pub(in crate::local) fn set_down(&mut self, down: ProcSet) {
        self.here = ProcSet::full(self.spec.usable());
        self.here.remove_all(&self.blocks(&down));
        self.here.remove_all(&self.blocks(&self.draining));
        self.present = self.here.len();
        self.missing = down.len();
        self.down = down;
        self.recount();
    }

    /// Computes the capacity anew, after machines or stalled jobs have changed.
    pub(in crate::local) fn recount(&mut self) {
        debug_assert_eq!(self.present, self.here.len(), "processors were not counted");
        let (mut kept, mut most) = (0, self.spec.most().saturating_sub(self.leaving()));
        if self.stalled > 0 {
            let stalled = self.table.iter_mut().filter(|job| job.phase == Phase::Stalled);
            for job in stalled {
                (job.held, job.leaving) = (job.allocation.procs.intersection(&self.here).len(), 0);
                kept += job.held;
                // When its machines are back it continues at once: its power is kept for it.
                most = most.saturating_sub(job.allocation.procs.len());
            }
        }
        // Until a policy without sharing has taken over from one with sharing, two stalled jobs may keep the same processor.
        let sharing = self.multiprogramming_level > 1;
        let there = self.present.saturating_sub(if sharing { 0 } else { kept });
        if !self.counts_watts() {
            self.watts = None;
        }
        let is_capped = self.spec.most_in_use.is_some() && !self.spec.counts_watts() && !sharing;
        self.capacity = if is_capped { there.min(most) } else { there };
        if self.watts.is_some() {
            self.capacity = self.capacity.min(there - self.choose_given());
        }
        self.kept_back = there - self.capacity;
    }

    /// Stalls a running job; it keeps its processors, or its place on shared ones. Its segment must have
    /// been settled.
    pub(in crate::local) fn stall(&mut self, key: JobKey, step: &mut Step<'_>) {
        let Some(job) = self.table.get_mut(key) else { return };
        // One that was being suspended has not left its processors, and goes on there.
        let starts = matches!(job.phase, Phase::Resuming | Phase::Reconfiguring);
        job.rest = starts.then(|| (job.phase, job.until.since(step.now))).filter(|(_, rest)| !rest.is_zero());
        let (placement, share) = (job.allocation.procs.clone(), job.allocation.share);
        let idle =
            if self.multiprogramming_level == 1 { placement } else { self.unload(&placement, 0, share).1 };
        self.idle(idle, step);
        self.stalled += 1;
    }

    /// Continues a stalled job where it was; all its processors are up.
    pub(in crate::local) fn unstall(&mut self, key: JobKey, step: &mut Step<'_>) {
        self.stalled -= 1;
        let Some(job) = self.table.get_mut(key) else { return };
        // What it had not yet read it reads now.
        let (phase, rest) = job.rest.take().unwrap_or((Phase::Running, Span::ZERO));
        (job.phase, job.until) = (phase, step.now + rest);
        job.held = job.allocation.procs.len();
        job.leaving =
            if self.draining.is_empty() { 0 } else { job.held - job.allocation.procs.common(&self.here) };
        let (placement, share) = (job.allocation.procs.clone(), job.allocation.share);
        let woken = if self.multiprogramming_level == 1 {
            placement
        } else {
            self.reshared.insert_all(&placement);
            self.add_load(&placement, 0, share).1
        };
        self.machines(&woken, MachineState::Busy, step);
        self.read_loads(key, step.now);
        self.running += 1;
    }

    /// Frees the processors, or the places on shared ones, that a stalled job kept.
    pub(in crate::local) fn abandon(&mut self, placement: &ProcSet, now: Time) {
        self.stalled -= 1;
        if self.multiprogramming_level == 1 {
            self.set_free(placement, now);
        } else {
            let (last, _) = self.unload(placement, 1, Rate::ZERO);
            self.set_free(&last, now);
        }
        self.count_left(placement);
    }

    /// The machines that a set of processors belongs to.
    pub(in crate::local) fn machines_of(&self, placement: &ProcSet) -> impl Iterator<Item = u32> {
        let cores = self.spec.cores.max(1);
        let mut last = None;
        placement
            .iter()
            .map(move |proc| proc / cores)
            .filter(move |machine| last.replace(*machine) != Some(*machine))
    }

    /// How many machines a set of processors belongs to.
    pub(in crate::local) fn machines_under(&self, placement: &ProcSet) -> u32 {
        self.machines_of(placement).count() as u32
    }

    /// The factor of the slowest machine that a set of processors belongs to.
    pub(in crate::local) fn slowest(&self, placement: &ProcSet) -> Rate {
        self.machines_of(placement).map(|machine| self.factor(machine)).min().unwrap_or(Rate::FULL)
    }

    /// The part of its own speed at which a machine runs.
    pub(in crate::local) fn factor(&self, machine: u32) -> Rate {
        self.slow.get(&machine).copied().unwrap_or(Rate::FULL)
    }

    /// Jobs that run, or are in transition, on any of these processors, in order of arrival.
    pub(in crate::local) fn running_on(&self, procs: &ProcSet) -> Vec<JobKey> {
        let current = |seq: u64, key: JobKey| {
            let job: Option<&LiveJob> = self.table.get(key);
            job.filter(|job| job.phase.is_active() && job.end_seq == seq)
        };
        let mut found: Vec<(u64, JobKey)> = Vec::new();
        for (_, seq, key) in self.ends.iter().map(|entry| entry.0) {
            if let Some(job) = current(seq, key).filter(|job| !job.allocation.procs.is_disjoint(procs)) {
                found.push((job.seq, key));
            }
        }
        found.sort_unstable();
        found.into_iter().map(|(_, key)| key).collect()
    }
}
