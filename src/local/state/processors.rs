//! The processors of a partition: which are in use, and which are up.

use super::State;
use crate::local::{BookingState, LiveJob, Phase};
use crate::model::{JobKey, MachineRecord, MachineState, ProcSet, Record, RecordSink};
use crate::units::{Rate, Time};

impl State {
    /// Allocates processors to a job.
    #[inline(always)]
    pub(in crate::local) fn occupy(
        &mut self,
        place: &ProcSet,
        count: u32,
        share: Rate,
        sink: &mut dyn RecordSink,
        now: Time,
    ) {
        if self.multiprogramming_level == 1 {
            self.free.remove_all(place);
            self.unused -= count;
            self.machines(place, MachineState::Busy, sink, now);
            return;
        }
        let (mut first, mut woken) = (ProcSet::new(), ProcSet::new());
        for proc in place.iter() {
            let load = &mut self.load[proc as usize];
            if load.jobs == 0 {
                first.insert(proc);
            }
            if load.share == 0 {
                woken.insert(proc);
            }
            load.jobs += 1;
            load.share += share.units() as u32;
        }
        self.unused -= first.len();
        self.free.remove_all(&first);
        self.machines(&woken, MachineState::Busy, sink, now);
    }

    /// Frees a job's processors; reservations that are owed some take theirs first. Processors that are down with their
    /// machine, or are the rest of an allocation block that is, do not become free.
    pub(in crate::local) fn vacate(
        &mut self,
        place: &ProcSet,
        count: u32,
        share: Rate,
        sink: &mut dyn RecordSink,
        now: Time,
    ) {
        if self.multiprogramming_level == 1 && self.missing == 0 {
            self.free.insert_all(place);
            self.unused += count;
            self.machines(place, MachineState::Idle, sink, now);
        } else if self.multiprogramming_level == 1 {
            self.set_free(place);
            self.idle(place.clone(), sink, now);
        } else {
            let (last, idle) = self.unload(place, 1, share);
            self.set_free(&last);
            self.idle(idle, sink, now);
        }
        if self.book.pending().iter().any(|booking| booking.owed > 0) {
            self.fill_bookings(sink, now);
        }
    }

    /// Removes so many jobs with so much share from each of these shared processors. Returns the processors on which no job is
    /// left, and those on which none runs any more.
    fn unload(&mut self, place: &ProcSet, jobs: u16, share: Rate) -> (ProcSet, ProcSet) {
        let (mut last, mut idle) = (ProcSet::new(), ProcSet::new());
        for proc in place.iter() {
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

    /// Marks those of `procs` that are up as free.
    fn set_free(&mut self, procs: &ProcSet) {
        let back = procs.intersection(&self.here);
        self.unused += back.len();
        self.free.insert_all(&back);
    }

    /// Records that processors have become idle, unless they are down.
    fn idle(&self, mut procs: ProcSet, sink: &mut dyn RecordSink, now: Time) {
        procs.remove_all(&self.down);
        self.machines(&procs, MachineState::Idle, sink, now);
    }

    pub(in crate::local) fn machines(
        &self,
        procs: &ProcSet,
        state: MachineState,
        sink: &mut dyn RecordSink,
        time: Time,
    ) {
        if self.settings.record_machines && !procs.is_empty() {
            let (site, partition) = (self.settings.site, self.settings.partition);
            let procs = procs.clone();
            sink.record(Record::Machine(MachineRecord { time, site, partition, procs, state }));
        }
    }

    /// Processors of machines that are up: those that draw power.
    pub(in crate::local) fn powered(&self) -> u32 {
        self.spec.processors() - self.missing
    }

    /// The processors of these machines that belong to the partition.
    pub(in crate::local) fn processors_of(&self, machines: &ProcSet) -> ProcSet {
        let mut procs = ProcSet::new();
        let last = self.spec.machines - 1;
        for (from, to) in machines.intervals().filter(|(from, _)| *from <= last) {
            procs.insert_all(&ProcSet::range(from * self.spec.cores, (to.min(last) + 1) * self.spec.cores));
        }
        procs
    }

    /// Those of `machines` in the partition whose processors are down (with `away`) or up (without).
    pub(in crate::local) fn machines_that(&self, machines: &ProcSet, away: bool) -> ProcSet {
        let there = |machine: &u32| {
            *machine < self.spec.machines && self.down.contains(*machine * self.spec.cores) == away
        };
        machines.iter().filter(there).collect()
    }

    /// The usable allocation blocks that contain `procs`.
    fn blocks(&self, procs: &ProcSet) -> ProcSet {
        let (allocation_unit, usable) = (self.spec.allocation_unit.max(1), self.spec.usable());
        let mut blocks = ProcSet::new();
        for (from, to) in procs.intervals().filter(|(from, _)| *from < usable) {
            let (from, to) =
                (from / allocation_unit * allocation_unit, (to / allocation_unit + 1) * allocation_unit);
            blocks.insert_all(&ProcSet::range(from, to.min(usable)));
        }
        blocks
    }

    /// Takes processors down, with the blocks that they are a part of. Processors that jobs hold stay allocated to them;
    /// reservations are owed those they held. Returns the usable processors that went down.
    pub(in crate::local) fn remove_processors(
        &mut self,
        procs: &ProcSet,
        sink: &mut dyn RecordSink,
        now: Time,
    ) -> ProcSet {
        self.missing += procs.len();
        self.down.insert_all(procs);
        self.machines(procs, MachineState::Down, sink, now);
        let lost = self.blocks(procs).intersection(&self.here);
        self.here.remove_all(&lost);
        self.unused -= self.free.intersection(&lost).len();
        self.free.remove_all(&lost);
        let mut rest = ProcSet::new();
        for booking in self.book.begun(now) {
            let gone = booking.taken.intersection(&lost);
            if booking.state == BookingState::Active && !gone.is_empty() {
                booking.owed += gone.len();
                booking.taken.remove_all(&gone);
                rest.insert_all(&gone);
            }
        }
        // The rest of an incomplete block is up, but cannot be given.
        self.idle(rest, sink, now);
        lost
    }

    /// Brings processors up, with the blocks that are complete again. Those that a job keeps stay allocated to it.
    pub(in crate::local) fn add_processors(&mut self, procs: &ProcSet, sink: &mut dyn RecordSink, now: Time) {
        self.missing -= procs.len();
        self.down.remove_all(procs);
        self.machines(procs, MachineState::Idle, sink, now);
        let mut whole = self.blocks(procs);
        whole.remove_all(&self.blocks(&self.down));
        self.here.insert_all(&whole);
        if self.multiprogramming_level == 1 {
            for (_, job) in self.table.iter().filter(|(_, job)| job.phase == Phase::Stalled) {
                whole.remove_all(&job.place);
            }
        } else {
            whole = whole.iter().filter(|proc| self.load[*proc as usize].jobs == 0).collect();
        }
        self.set_free(&whole);
    }

    /// Restores which processors are down; the free processors are not changed.
    pub(in crate::local) fn set_away(&mut self, away: ProcSet) {
        self.here = ProcSet::full(self.spec.usable());
        self.here.remove_all(&self.blocks(&away));
        self.missing = away.len();
        self.down = away;
        self.recount();
    }

    /// Computes the capacity anew, after machines or stalled jobs have changed.
    pub(in crate::local) fn recount(&mut self) {
        let mut kept = 0;
        if self.halted > 0 {
            let halted = self.table.iter_mut().filter(|job| job.phase == Phase::Stalled);
            for job in halted {
                job.held = job.place.intersection(&self.here).len();
                kept += job.held;
            }
        }
        // Until a policy without sharing has taken over from one with sharing, two stalled jobs may keep the same processor.
        self.capacity =
            self.here.len().saturating_sub(if self.multiprogramming_level == 1 { kept } else { 0 });
    }

    /// Stalls a running job; it keeps its processors, or its place on shared ones. Its segment must have
    /// been settled.
    pub(in crate::local) fn halt(&mut self, key: JobKey, sink: &mut dyn RecordSink, now: Time) {
        let Some(job) = self.table.get(key) else { return };
        let (place, share) = (job.place.clone(), job.share);
        let idle = if self.multiprogramming_level == 1 { place } else { self.unload(&place, 0, share).1 };
        self.idle(idle, sink, now);
        self.halted += 1;
    }

    /// Continues a stalled job where it was; all its processors are up.
    pub(in crate::local) fn unhalt(&mut self, key: JobKey, sink: &mut dyn RecordSink, now: Time) {
        self.halted -= 1;
        let Some(job) = self.table.get_mut(key) else { return };
        job.phase = Phase::Running;
        job.held = job.place.len();
        let (place, share) = (job.place.clone(), job.share);
        let mut woken = place.clone();
        if self.multiprogramming_level > 1 {
            woken = ProcSet::new();
            for proc in place.iter() {
                let load = &mut self.load[proc as usize];
                if load.share == 0 {
                    woken.insert(proc);
                }
                load.share += share.units() as u32;
            }
            self.resumed.insert_all(&place);
        }
        self.machines(&woken, MachineState::Busy, sink, now);
        self.running += 1;
    }

    /// Frees the processors, or the places on shared ones, that a stalled job kept.
    pub(in crate::local) fn abandon(&mut self, place: &ProcSet) {
        self.halted -= 1;
        if self.multiprogramming_level == 1 {
            self.set_free(place);
        } else {
            let (last, _) = self.unload(place, 1, Rate::ZERO);
            self.set_free(&last);
        }
    }

    /// The machines that a set of processors belongs to.
    fn machines_of(&self, place: &ProcSet) -> impl Iterator<Item = u32> {
        let cores = self.spec.cores.max(1);
        let mut last = None;
        place
            .iter()
            .map(move |proc| proc / cores)
            .filter(move |machine| last.replace(*machine) != Some(*machine))
    }

    /// How many machines a set of processors belongs to.
    pub(in crate::local) fn machines_under(&self, place: &ProcSet) -> u32 {
        self.machines_of(place).count() as u32
    }

    /// The factor of the slowest machine that a set of processors belongs to.
    pub(in crate::local) fn slowest(&self, place: &ProcSet) -> Rate {
        let factor = |machine| self.slow.get(&machine).copied().unwrap_or(Rate::FULL);
        self.machines_of(place).map(factor).min().unwrap_or(Rate::FULL)
    }

    /// Running jobs on any of these processors, in order of arrival.
    pub(in crate::local) fn running_on(&self, procs: &ProcSet) -> Vec<JobKey> {
        let current = |seq: u64, key: JobKey| {
            let job: Option<&LiveJob> = self.table.get(key);
            job.filter(|job| job.phase == Phase::Running && job.end_seq == seq)
        };
        let mut found: Vec<(u64, JobKey)> = Vec::new();
        for (_, seq, key) in self.ends.iter().map(|entry| entry.0) {
            if let Some(job) = current(seq, key).filter(|job| !job.place.is_disjoint(procs)) {
                found.push((job.seq, key));
            }
        }
        found.sort_unstable();
        found.into_iter().map(|(_, key)| key).collect()
    }
}
