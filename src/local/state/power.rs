//! Machines that sleep, and what machines draw beside jobs.

use std::borrow::Cow;

use super::State;
use crate::local::error::PartitionError;
use crate::local::power::Sleepers;
use crate::local::watts::{Stand, Watts};
use crate::local::{LiveJob, Phase, SleepRule, Step};
use crate::model::{EventCause, EventKind, EventRecord, JobKey, MachineState, ProcSet, SleepSpec};
use crate::platform::{Draw, Stretch, Usage};
use crate::units::{Power, Rate, Time};

/// What machines draw at an instant beside jobs.
#[derive(Copy, Clone, Debug, Default)]
pub(in crate::local) struct StandingDraw {
    /// Machines that are awake, as if they were idle.
    pub(in crate::local) awake: Draw,
    /// What jobs draw beyond idle where that goes by the load of machines.
    pub(in crate::local) loaded: Draw,
    /// Machines that sleep.
    pub(in crate::local) asleep: Draw,
    /// Machines on their way to sleep and back.
    pub(in crate::local) transitions: Draw,
    /// The processors of machines that are not awake, without those of reservations.
    pub(in crate::local) dormant: u32,
}

impl State {
    /// The sleep state and the rule of each group of machines, for those that ever sleep.
    pub(in crate::local) fn sleep_terms(&self) -> Vec<Option<(SleepSpec, SleepRule)>> {
        let states = self.spec.groups.iter().map(|group| group.sleep);
        let rules = self.settings.sleep.iter().copied();
        let terms = states.zip(rules).map(|(state, rule)| Some((state?, rule)));
        terms.map(|terms| terms.filter(|(_, rule)| *rule != SleepRule::NEVER)).collect()
    }

    /// What machines draw now beside jobs.
    pub(in crate::local) fn standing(&self) -> StandingDraw {
        let mut all = StandingDraw::default();
        if self.tariff.is_mixed() {
            let mut up = ProcSet::full(self.spec.processors());
            up.remove_all(&self.down);
            all.awake = self.tariff.held(&up, up.len()).idle(Rate::FULL);
        } else {
            let up = self.spec.processors() - self.missing;
            all.awake = self.tariff.held(&ProcSet::new(), up).idle(Rate::FULL);
        }
        all.loaded = self.loads.as_ref().map_or(0, |loads| loads.total());
        let Some(sleepers) = &self.sleepers else { return all };
        for (SleepSpec { asleep, waking, falling, .. }, count, group) in sleepers.counts() {
            let draw = |machines: u32, power: Power| {
                (Draw::from(machines) * Draw::from(power.milliwatts())) << Rate::BITS
            };
            all.awake -= self.tariff.idle_of(group, count.all() * self.spec.cores);
            all.asleep += draw(count.asleep, *asleep);
            all.transitions += draw(count.waking, *waking) + draw(count.falling, *falling);
            all.dormant += count.all() * self.spec.cores;
        }
        if all.dormant > 0 {
            // What a reservation holds is reserved, also while its machines wake up.
            let held = self.book.active().map(|booking| sleepers.not_awake(&booking.taken).len());
            all.dormant -= held.sum::<u32>();
        }
        all
    }

    /// What running jobs draw now beyond idle, where processors are not shared: of all that are in use, without a look at each job.
    pub(in crate::local) fn busy_draw(&self, now: Time) -> Draw {
        let beyond = |procs: &ProcSet, count: u32| {
            let held = self.tariff.held(procs, count);
            held.busy(Rate::FULL) - held.idle(Rate::FULL)
        };
        let early = self.not_begun(now);
        let drawn = if self.tariff.is_mixed() {
            let mut busy = self.here.difference(&self.free);
            if !self.draining.is_empty() {
                let jobs = self.table.iter().map(|(_, job)| job);
                let leaving = jobs.filter(|job| job.phase.is_active() && job.leaving > 0);
                leaving.for_each(|job| busy.insert_all(&job.allocation.procs));
            }
            self.book.active().for_each(|booking| busy.remove_all(&booking.taken));
            early.iter().for_each(|job| busy.remove_all(&job.allocation.procs));
            if self.stalled > 0 {
                let stalled = self.table.iter().filter(|(_, job)| job.phase == Phase::Stalled);
                stalled.for_each(|(_, job)| busy.remove_all(&job.allocation.procs));
            }
            beyond(&busy, 0)
        } else {
            let reserved: u32 = self.book.active().map(|booking| booking.taken.len()).sum();
            let waits: u32 = early.iter().map(|job| job.held).sum();
            beyond(
                &ProcSet::new(),
                self.capacity + self.kept_back + self.leaving() - self.unused - reserved - waits,
            )
        };
        debug_assert_eq!(drawn, self.summed_draw(now), "what is busy is what running jobs hold");
        drawn
    }

    /// What running jobs draw now beyond idle, job by job.
    pub(in crate::local) fn summed_draw(&self, now: Time) -> Draw {
        let jobs = self.table.iter().map(|(_, job)| job);
        let begun = jobs.filter(|job| job.phase.is_active() && job.since <= now);
        let drawn = begun.map(|job| {
            let held = self.tariff.held(&job.allocation.procs, job.held);
            held.busy(job.allocation.share) - held.idle(job.allocation.share)
        });
        drawn.sum()
    }

    /// Jobs that have processors and wait for machines to wake up.
    fn not_begun(&self, now: Time) -> Vec<&LiveJob> {
        let mut keys: Vec<JobKey> = self.begins.values().flatten().copied().collect();
        keys.sort_unstable();
        keys.dedup();
        let jobs = keys.into_iter().filter_map(|key| self.table.get(key));
        jobs.filter(|job| job.phase.is_active() && job.since > now).collect()
    }

    /// Adds what machines drew beside jobs over a stretch.
    pub(super) fn settle_standing(&mut self, stretch: &Stretch) {
        let draw = self.standing();
        let standing = &mut self.meter.standing;
        standing.awake.add(draw.awake, stretch);
        standing.loaded.add(draw.loaded, stretch);
        standing.asleep.add(draw.asleep, stretch);
        standing.transitions.add(draw.transitions, stretch);
        standing.dormant += Usage::proc_time(draw.dormant, Rate::FULL, stretch.span);
    }

    /// When a job would begin that gets these processors now: when the last of their machines is awake; `None` if all are.
    #[inline]
    pub(in crate::local) fn begins_at(&self, procs: &ProcSet, now: Time) -> Option<Time> {
        self.sleepers.as_ref().and_then(|sleepers| sleepers.awake_at(procs, now))
    }

    /// Whether all machines of these processors are awake.
    pub(in crate::local) fn is_awake(&self, procs: &ProcSet) -> bool {
        self.sleepers.as_ref().is_none_or(|sleepers| sleepers.not_awake(procs).is_empty())
    }

    /// The free processors, as far as a power cap in watts lets them be given.
    #[inline(always)]
    pub(in crate::local) fn pool(&self) -> &ProcSet {
        self.watts.as_ref().map_or(&self.free, |watts| &watts.given)
    }

    /// Processors that may be given and are awake, in whole allocation blocks: one that is awake in part waits like one that sleeps.
    pub(in crate::local) fn awake(&self) -> u32 {
        let all = if self.watts.is_some() { self.pool().len() } else { self.unused };
        let Some(sleepers) = &self.sleepers else { return all };
        let (dormant, count) = sleepers.dormant();
        if self.spec.allocation_unit > 1 {
            return all - self.pool().intersection(&self.blocks(dormant)).len();
        }
        all - if self.watts.is_some() { self.pool().intersection(dormant).len() } else { count }
    }

    /// So many free processors: those of machines that are awake first, each by the placement rule.
    #[inline(always)]
    pub(in crate::local) fn pick(&self, count: u32) -> Option<ProcSet> {
        match &self.sleepers {
            Some(sleepers) if sleepers.dormant().1 > 0 => self.pick_awake(count, sleepers.dormant().0),
            _ => self.groups.pick(self.pool(), count),
        }
    }

    /// The same, if free processors of machines that are not awake are `dormant`.
    fn pick_awake(&self, count: u32, dormant: &ProcSet) -> Option<ProcSet> {
        let picked = self.groups.pick(self.pool(), count)?;
        let waits = match self.spec.allocation_unit {
            0 | 1 if self.watts.is_none() => Cow::Borrowed(dormant),
            0 | 1 => Cow::Owned(self.pool().intersection(dormant)),
            _ => Cow::Owned(self.pool().intersection(&self.blocks(dormant))),
        };
        // Jobs keep those machines awake that come first: often there is nothing to choose.
        if picked.is_disjoint(&waits) {
            return Some(picked);
        }
        let first = count.min(self.awake());
        let mut picked = self.groups.pick(&self.pool().difference(&waits), first)?;
        picked.insert_all(&self.groups.pick(&waits, count - first)?);
        Some(picked)
    }

    /// So many of these processors, chosen as [`State::pick`] does.
    pub(in crate::local) fn pick_among(&self, among: &ProcSet, count: u32) -> Option<ProcSet> {
        let dormant =
            self.sleepers.as_ref().map(|sleepers| sleepers.dormant()).filter(|(_, count)| *count > 0);
        let Some((dormant, _)) = dormant else { return self.groups.pick(among, count) };
        let waits = match self.spec.allocation_unit {
            0 | 1 => among.intersection(dormant),
            _ => among.intersection(&self.blocks(dormant)),
        };
        let awake = among.difference(&waits);
        let first = count.min(awake.len());
        let mut picked = self.groups.pick(&awake, first)?;
        picked.insert_all(&self.groups.pick(&waits, count - first)?);
        Some(picked)
    }

    /// Changes which machines sleep from now on.
    pub(in crate::local) fn sleep_by(
        &mut self,
        terms: &[Option<(SleepSpec, SleepRule)>],
        step: &mut Step<'_>,
    ) {
        self.settle_missing(step.now);
        let is_new = self.sleepers.is_none();
        if let Some(sleepers) = &mut self.sleepers {
            sleepers.change(terms);
        } else {
            let mut sleepers = Sleepers::of(&self.spec, terms, step.now);
            let mut used = ProcSet::full(self.spec.usable());
            used.remove_all(&self.free);
            // The rest of an incomplete block that no stalled job keeps is used by nobody.
            let mut rest = used.difference(&self.here);
            rest.remove_all(&self.down);
            let stalled = self.table.iter().filter(|(_, job)| job.phase == Phase::Stalled);
            stalled.for_each(|(_, job)| rest.remove_all(&job.allocation.procs));
            if !self.draining.is_empty() {
                let running = self.table.iter().filter(|(_, job)| job.phase.is_active());
                running.for_each(|(_, job)| rest.remove_all(&job.allocation.procs));
                sleepers.drain(&self.draining);
            }
            used.remove_all(&rest);
            sleepers.withhold(&rest);
            sleepers.take(&used, step.now);
            self.sleepers = Some(Box::new(sleepers));
        }
        if let Some(watts) = self.watts.take() {
            // What machines draw goes by the new terms.
            self.count_watts(&watts.given);
        }
        if !is_new {
            self.balance_machines(step.now);
        }
        self.note_transitions(step);
    }

    /// Wakes up the machines of processors that are in use from now on.
    pub(in crate::local) fn wake_for(&mut self, procs: &ProcSet, step: &mut Step<'_>) {
        if self.sleepers.as_ref().is_some_and(|sleepers| sleepers.draws_otherwise(Some(procs), step.now)) {
            self.settle_missing(step.now);
        }
        if let Some(sleepers) = &mut self.sleepers {
            sleepers.take(procs, step.now);
        }
        self.note_transitions(step);
    }

    /// Machines with these processors have gone down, whatever they did.
    pub(super) fn forget_sleepers(&mut self, procs: &ProcSet) {
        if let Some(sleepers) = &mut self.sleepers {
            let cores = self.spec.cores;
            let machines = procs.intervals().map(|(from, to)| ProcSet::range(from / cores, to / cores + 1));
            machines.for_each(|machines| sleepers.leave(&machines));
        }
    }

    /// Ends the transitions that are due. A machine that has been idle for long enough sleeps once the jobs of this instant have
    /// been given theirs ([`State::settle_power`]): it may be needed.
    pub(in crate::local) fn follow_power(&mut self, step: &mut Step<'_>) {
        if self.sleepers.as_ref().and_then(|sleepers| sleepers.next()).is_none_or(|next| next > step.now) {
            return;
        }
        if self.sleepers.as_ref().is_some_and(|sleepers| sleepers.draws_otherwise(None, step.now)) {
            self.settle_missing(step.now);
        }
        if let Some(sleepers) = &mut self.sleepers {
            sleepers.go_on(step.now);
        }
        self.note_transitions(step);
    }

    /// After the passes of an instant: balances what no pass has.
    pub(in crate::local) fn settle_power(&mut self, step: &mut Step<'_>) {
        if self.sleepers.as_ref().is_some_and(|sleepers| sleepers.unbalanced()) {
            self.balance_power(step);
        }
    }

    /// Puts machines to sleep that may, and wakes up those that the reserve lacks.
    pub(in crate::local) fn balance_power(&mut self, step: &mut Step<'_>) {
        // Not between a decision and the start that waits for the end of a job: it counts on machines that are awake.
        if self.sleepers.is_some() && self.deferred == 0 {
            if self.sleepers.as_mut().is_some_and(|sleepers| !sleepers.is_balanced()) {
                self.settle_missing(step.now);
                self.balance_machines(step.now);
            }
            self.note_transitions(step);
        }
    }

    /// Puts machines to sleep, and wakes up those that may although nobody needs them: all, unless a power cap in watts leaves room only for the
    /// first ones.
    fn balance_machines(&mut self, now: Time) {
        let (watts, down, spec) = (self.watts.as_deref(), &self.down, &self.spec);
        if let Some(sleepers) = &mut self.sleepers {
            // Going to sleep may draw more than idling, where a fork has left no room for that.
            let stay = watts.and_then(Watts::stay_awake);
            sleepers.balance(now, stay.as_ref(), |sleepers, machines| match watts {
                None => machines,
                Some(watts) => {
                    let stand = Stand { sleepers: Some(sleepers), down };
                    watts.may_wake(&machines, !spec.counts_watts(), stand)
                }
            });
        }
    }

    /// Records what machines have begun to do.
    pub(in crate::local) fn note_transitions(&mut self, step: &mut Step<'_>) {
        let changes = self.sleepers.as_mut().map(|sleepers| sleepers.changes()).unwrap_or_default();
        if let Some(watts) = &mut self.watts {
            let stand = Stand { sleepers: self.sleepers.as_deref(), down: &self.down };
            changes.iter().for_each(|change| watts.follow_machines(&change.machines, stand));
        }
        for change in changes.into_iter().filter(|_| self.settings.record_machines) {
            let procs = self.processors_of(&change.machines);
            let mut reserved = ProcSet::new();
            if change.state == MachineState::Idle {
                self.book.active().for_each(|booking| reserved.insert_all(&booking.taken));
                reserved = reserved.intersection(&procs);
            }
            self.record_machines(procs, change.state, step);
            self.record_machines(reserved, MachineState::Reserved, step);
        }
        // The last machine that a job waited for is awake: it begins. Not all times that have come were waited for to the end: a job whose machines left
        // waits for others.
        let mut still = Vec::new();
        while let Some(due) = self.begins.first_entry().filter(|entry| *entry.key() <= step.now) {
            let (begin, mut waiting) = (*due.key(), due.remove());
            waiting.retain(|key| {
                let Some(job) = self.table.get(*key) else { return false };
                let (begins, awake) =
                    (job.phase.is_active() && job.since == begin, self.is_awake(&job.allocation.procs));
                if begins && awake {
                    let placement = job.allocation.procs.clone();
                    self.machines(&placement, MachineState::Busy, step);
                    self.read_loads(*key, step.now);
                    self.note_continued(*key, step);
                }
                begins && !awake
            });
            still.push((begin, waiting));
        }
        self.begins.extend(still.into_iter().filter(|(_, waiting)| !waiting.is_empty()));
    }

    /// Where a running job is from now on, on so many processors; what it did before must have been settled. This is the one place in which a running job gets
    /// other processors, since what it draws by the load of its machines counts from here on.
    #[inline]
    pub(in crate::local) fn set_placement(&mut self, key: JobKey, placement: ProcSet, held: u32, now: Time) {
        let leaving = self.leaving_of(&placement);
        let Some(job) = self.table.get_mut(key) else { return };
        (job.held, job.given, job.leaving) = (held, held, leaving);
        job.allocation.procs = placement;
        self.read_loads(key, now);
    }

    /// A running job draws what its machines draw from now on, where that goes by their load. One that waits for machines to wake up
    /// draws nothing before it begins.
    #[inline]
    pub(in crate::local) fn read_loads(&mut self, key: JobKey, now: Time) {
        if let (Some(loads), Some(job)) = (&mut self.loads, self.table.get_mut(key)) {
            let begun = job.phase.is_active() && job.since <= now;
            job.base = begun.then(|| Box::new(loads.drawn(&job.allocation.procs, now, &self.tariff)));
        }
    }

    /// Records how long a job that begins anew has not run since its last attempt failed, if one has.
    #[inline]
    pub(in crate::local) fn note_continued(&mut self, key: JobKey, step: &mut Step<'_>) {
        let past = self.table.get_mut(key).and_then(|job| job.past.as_mut());
        let Some(failed_at) = past.and_then(|past| past.failed_at.take()) else { return };
        if let Some(job) = self.table.get(key) {
            let since_failure = Some(step.now.since(failed_at));
            let event = self.job_event(
                step.now,
                EventKind::Continued,
                EventCause::None,
                job,
                job.allocation.procs.len(),
            );
            step.record(EventRecord { since_failure, ..event });
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

    /// Jobs that wait for machines to wake up begin when these are awake by the present terms of sleep, which may have changed. True if
    /// any begins at another time than before.
    ///
    /// # Errors
    /// [`PartitionError::EndOfTime`] if a job would end beyond the time axis.
    pub(in crate::local) fn begin_anew(&mut self, step: &mut Step<'_>) -> Result<bool, PartitionError> {
        let mut moved = false;
        for key in self.keys(|job| job.phase.is_active() && job.since > step.now) {
            let Some(job) = self.table.get_mut(key) else { continue };
            let (before, span) = (job.since, job.until.since(job.since));
            let roused = self
                .sleepers
                .as_ref()
                .and_then(|sleepers| sleepers.roused_at(&job.allocation.procs, step.now));
            let begin = roused.map_or(step.now, |roused| roused.max(step.now));
            if begin == before {
                continue;
            }
            moved = true;
            job.since = begin;
            job.until = begin + span;
            let restart = job.past.as_mut().and_then(|past| past.restart.as_mut());
            restart
                .into_iter()
                .chain(&mut job.first_start)
                .filter(|start| **start == before)
                .for_each(|start| *start = begin);
            if let Some(waiting) = self.begins.get_mut(&before) {
                waiting.retain(|waits| *waits != key);
            }
            self.begins.entry(begin).or_default().push(key);
            self.set_rate(key, step.now)?;
        }
        self.begins.retain(|_, waiting| !waiting.is_empty());
        self.note_transitions(step);
        Ok(moved)
    }

    /// Forgets an attempt that has not begun. One that was suspended and has not begun again has begun before.
    pub(in crate::local) fn forget_attempt(&mut self, key: JobKey) {
        if let Some(job) = self.table.get_mut(key).filter(|job| !job.has_run()) {
            job.attempts -= 1;
            if job.first_start.is_none() {
                job.given = 0;
            }
        }
    }
}
