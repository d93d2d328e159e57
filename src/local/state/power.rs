//! Machines that sleep, and what machines draw beside jobs.

use super::State;
use crate::local::power::Sleepers;
use crate::local::{SleepRule, Step};
use crate::model::{JobKey, MachineState, ProcSet, SleepSpec};
use crate::platform::{Draw, Stretch, Usage};
use crate::units::{Power, Rate, Time};

impl State {
    /// Adds what machines drew beside jobs over a stretch.
    pub(super) fn settle_standing(&mut self, stretch: &Stretch) {
        let (tariff, standing) = (&self.tariff, &mut self.meter.standing);
        let up = self.spec.processors() - self.missing;
        let Some(sleepers) = &self.sleepers else {
            return standing.awake.add(tariff.idle(up, Rate::FULL), stretch);
        };
        let (count, SleepSpec { asleep, waking, falling, .. }) = (sleepers.count(), sleepers.spec());
        let draw = |machines: u32, power: &Power| {
            Draw::from(machines) * Draw::from(power.milliwatts()) << Rate::BITS
        };
        let dormant = count.all() * self.spec.cores;
        standing.awake.add(tariff.idle(up - dormant, Rate::FULL), stretch);
        standing.asleep.add(draw(count.asleep, asleep), stretch);
        standing.transitions.add(draw(count.waking, waking) + draw(count.falling, falling), stretch);
        standing.dormant += Usage::proc_time(dormant, Rate::FULL, stretch.span);
    }

    /// When a job would begin that gets these processors now: when the last of their machines is awake.
    pub(in crate::local) fn begins_at(&self, procs: &ProcSet, now: Time) -> Time {
        self.sleepers.as_ref().map_or(now, |sleepers| sleepers.awake_at(procs, now))
    }

    /// Processors that are free and awake.
    pub(in crate::local) fn awake(&self) -> u32 {
        self.unused - self.sleepers.as_ref().map_or(0, |sleepers| sleepers.dormant().1)
    }

    /// So many free processors: those of machines that are awake first, each by number.
    pub(in crate::local) fn pick(&self, count: u32) -> Option<ProcSet> {
        let Some(sleepers) = self.sleepers.as_ref().filter(|sleepers| sleepers.dormant().1 > 0) else {
            return self.free.lowest(count);
        };
        let (dormant, _) = sleepers.dormant();
        let mut awake = self.free.clone();
        awake.remove_all(dormant);
        let first = count.min(self.awake());
        let mut picked = awake.lowest(first)?;
        picked.insert_all(&dormant.lowest(count - first)?);
        Some(picked)
    }

    /// Changes which machines sleep from now on.
    pub(in crate::local) fn sleep_by(&mut self, terms: Option<(SleepSpec, SleepRule)>, step: &mut Step<'_>) {
        self.settle_missing(step.now);
        match (&mut self.sleepers, terms) {
            (Some(sleepers), Some((spec, rule))) => sleepers.change(spec, rule, step.now),
            (Some(sleepers), None) => sleepers.change(*sleepers.spec(), SleepRule::NEVER, step.now),
            (None, None) => {}
            (None, Some((spec, rule))) => {
                let mut sleepers = Sleepers::of(&self.spec, spec, rule, step.now);
                let mut used = ProcSet::full(self.spec.usable());
                used.remove_all(&self.free);
                sleepers.take(&used, step.now);
                self.sleepers = Some(Box::new(sleepers));
            }
        }
        self.note_transitions(step);
    }

    /// Wakes up the machines of processors that are in use from now on.
    pub(in crate::local) fn wake_for(&mut self, procs: &ProcSet, step: &mut Step<'_>) {
        self.settle_missing(step.now);
        if let Some(sleepers) = &mut self.sleepers {
            sleepers.take(procs, step.now);
        }
        self.note_transitions(step);
    }

    /// Machines with these processors have gone down, whatever they did.
    pub(super) fn forget_sleepers(&mut self, procs: &ProcSet, step: &Step<'_>) {
        if let Some(sleepers) = &mut self.sleepers {
            let cores = self.spec.cores;
            let machines = procs.intervals().map(|(from, to)| ProcSet::range(from / cores, to / cores + 1));
            machines.for_each(|machines| sleepers.leave(&machines, step.now));
        }
    }

    /// Ends the transitions that are due.
    pub(in crate::local) fn follow_power(&mut self, step: &mut Step<'_>) {
        if self.sleepers.as_ref().and_then(|sleepers| sleepers.next()).is_none_or(|next| next > step.now) {
            return;
        }
        self.settle_missing(step.now);
        if let Some(sleepers) = &mut self.sleepers {
            sleepers.go_on(step.now);
            sleepers.balance(step.now);
        }
        self.note_transitions(step);
    }

    /// Puts machines to sleep that may, and wakes up those that the reserve lacks.
    pub(in crate::local) fn balance_power(&mut self, step: &mut Step<'_>) {
        if self.sleepers.is_some() {
            self.settle_missing(step.now);
            if let Some(sleepers) = &mut self.sleepers {
                sleepers.balance(step.now);
            }
            self.note_transitions(step);
        }
    }

    /// Records what machines have begun to do.
    pub(in crate::local) fn note_transitions(&mut self, step: &mut Step<'_>) {
        let changes = self.sleepers.as_mut().map(|sleepers| sleepers.changes()).unwrap_or_default();
        if !self.settings.record_machines {
            return;
        }
        for change in changes {
            let procs = self.processors_of(&change.machines);
            if change.state != MachineState::Idle {
                self.record_machines(procs, change.state, step);
                continue;
            }
            // They are awake: what waited for them begins.
            let mut reserved = ProcSet::new();
            self.book.pending().iter().for_each(|booking| reserved.insert_all(&booking.taken));
            let idle = procs.intersection(&self.free);
            let mut busy = procs.intersection(&self.here);
            let reserved = busy.intersection(&reserved);
            busy.remove_all(&idle);
            busy.remove_all(&reserved);
            let mut rest = procs;
            [&busy, &reserved].into_iter().for_each(|part| rest.remove_all(part));
            self.record_machines(rest, MachineState::Idle, step);
            self.record_machines(busy, MachineState::Busy, step);
            self.record_machines(reserved, MachineState::Reserved, step);
        }
    }

    /// Forgets the start of a job that has not begun, because a machine of it is not awake. True if there was one.
    pub(in crate::local) fn forget_begin(&mut self, key: JobKey, now: Time) -> bool {
        let Some(job) = self.table.get_mut(key).filter(|job| job.since > now) else { return false };
        if job.first_start == Some(job.since) {
            job.first_start = None;
        }
        job.since = now;
        true
    }

    /// Forgets an attempt that has not begun.
    pub(in crate::local) fn forget_attempt(&mut self, key: JobKey) {
        if let Some(job) = self.table.get_mut(key) {
            job.attempts -= 1;
            if job.first_start.is_none() {
                job.given = 0;
            }
        }
    }
}
