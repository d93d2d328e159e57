//! What machines do by themselves as time goes on: transitions end, idle machines go to sleep, and a reserve is kept awake.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Sleepers, Transition, of_group};
use crate::model::{MachineState, ProcSet};
use crate::units::{Span, Time};

impl Sleepers {
    /// When the next transition ends, or a machine has been idle for long enough.
    pub(in crate::local) fn next(&self) -> Option<Time> {
        let first = |map: &BTreeMap<Time, ProcSet>| map.first_key_value().map(|(time, _)| *time);
        [first(&self.waking), first(&self.falling), self.idle.next()].into_iter().flatten().min()
    }

    /// Ends what is due. [`Sleepers::balance`] is to follow.
    pub(in crate::local) fn go_on(&mut self, now: Time) {
        self.unbalanced = true;
        while let Some(entry) = self.falling.first_entry().filter(|entry| *entry.key() <= now) {
            let machines = entry.remove();
            for at in 0..self.groups.len() {
                let own = of_group(&self.groups, at, &machines).len();
                let count = &mut self.groups[at].count;
                (count.falling, count.asleep) = (count.falling - own, count.asleep + own);
            }
            self.asleep.insert_all(&machines);
            let needed = machines.difference(&self.unused);
            self.changes.push(Transition { machines, state: MachineState::Asleep });
            self.wake(needed, now);
        }
        while let Some(entry) = self.waking.first_entry().filter(|entry| *entry.key() <= now) {
            let machines = entry.remove();
            for at in 0..self.groups.len() {
                let own = of_group(&self.groups, at, &machines).len();
                self.groups[at].count.waking -= own;
            }
            self.away.remove_all(&machines);
            self.rising.remove_all(&machines);
            if self.dormant_procs > 0 {
                self.rouse(&self.processors(&machines));
            }
            self.become_idle(&machines.intersection(&self.unused), now);
            self.changes.push(Transition { machines, state: MachineState::Idle });
        }
        while let Some(machines) = self.idle.take_due(now) {
            self.ready.insert_all(&machines);
        }
    }

    /// Puts machines to sleep that may, except those that `stay` awake, and wakes up as many as the reserve lacks: those of them that `may_wake`
    /// leaves.
    pub(in crate::local) fn balance(
        &mut self,
        now: Time,
        stay: Option<&ProcSet>,
        may_wake: impl FnOnce(&Self, ProcSet) -> ProcSet,
    ) {
        self.unbalanced = false;
        let staying = stay.map(|stay| self.ready.intersection(stay));
        if let Some(staying) = &staying {
            self.ready.remove_all(staying);
        }
        if !self.ready.is_empty() {
            self.put_to_sleep(now);
        }
        if let Some(staying) = &staying {
            self.ready.insert_all(staying);
        }
        if self.reserve > 0 && !self.asleep.is_empty() {
            let mut there = self.awake_idle() + self.unused.common(&self.rising);
            let mut asleep = Cow::Borrowed(&self.asleep);
            if !self.draining.is_empty() {
                there -= self.unused.intersection(&self.rising).common(&self.draining);
                asleep = Cow::Owned(self.asleep.difference(&self.draining));
            }
            let lacking = self.reserve.saturating_sub(there).min(asleep.len());
            let lowest = asleep.lowest(lacking).unwrap_or_default();
            let woken = may_wake(self, lowest);
            self.wake(woken, now);
        }
    }

    /// Puts machines to sleep that may.
    fn put_to_sleep(&mut self, now: Time) {
        for group in self.groups.iter().filter(|group| group.state.is_none() || group.after == Span::MAX) {
            self.ready.remove_all(&group.machines);
        }
        let fallen = match self.reserve {
            0 => std::mem::take(&mut self.ready),
            reserve if self.draining.is_empty() => {
                self.ready.take_highest(self.awake_idle().saturating_sub(reserve))
            }
            reserve => {
                let mut fallen = self.ready.intersection(&self.draining);
                self.ready.remove_all(&fallen);
                fallen.insert_all(&self.ready.take_highest(self.awake_idle().saturating_sub(reserve)));
                fallen
            }
        };
        if fallen.is_empty() {
            return;
        }
        for at in 0..self.groups.len() {
            let own = of_group(&self.groups, at, &fallen);
            let group = &mut self.groups[at];
            if let Some(state) = group.state.filter(|_| !own.is_empty()) {
                group.count.falling += own.len();
                self.falling.entry(now + state.fall).or_default().insert_all(&own);
            }
        }
        self.away.insert_all(&fallen);
        let mut procs = self.processors(&fallen);
        if !self.withheld.is_disjoint(&procs) {
            procs = Cow::Owned(procs.difference(&self.withheld));
        }
        self.dormant_procs += procs.len();
        self.dormant.insert_all(&procs);
        self.changes.push(Transition { machines: fallen, state: MachineState::Falling });
    }

    /// Whether [`Sleepers::take`] of these processors, or [`Sleepers::go_on`] without any, changes what a machine draws.
    pub(in crate::local) fn draws_otherwise(&self, procs: Option<&ProcSet>, now: Time) -> bool {
        let due = |map: &BTreeMap<Time, ProcSet>| map.first_key_value().is_some_and(|(time, _)| *time <= now);
        match procs {
            Some(procs) => self.dormant_procs > 0 && !self.dormant.is_disjoint(procs),
            None => due(&self.falling) || due(&self.waking),
        }
    }

    /// Whether [`Sleepers::balance`] has nothing to do; then it is done.
    pub(in crate::local) fn is_balanced(&mut self) -> bool {
        let balanced = self.ready.is_empty() && (self.reserve == 0 || self.asleep.is_empty());
        self.unbalanced &= !balanced;
        balanced
    }

    /// Whether something was due since the last [`Sleepers::balance`].
    pub(in crate::local) fn unbalanced(&self) -> bool {
        self.unbalanced
    }

    /// What has changed since the last call.
    pub(in crate::local) fn changes(&mut self) -> Vec<Transition> {
        std::mem::take(&mut self.changes)
    }

    /// Whether no machine sleeps or is on its way there or back.
    pub(in crate::local) fn all_awake(&self) -> bool {
        self.groups.iter().all(|group| group.count.all() == 0)
    }

    /// The number of machines that are awake and of which no processor is in use, without those that drain.
    fn awake_idle(&self) -> u32 {
        let all = self.unused.len() - self.unused.common(&self.away);
        if self.draining.is_empty() {
            return all;
        }
        let draining = self.unused.intersection(&self.draining);
        all - (draining.len() - draining.common(&self.away))
    }
}
