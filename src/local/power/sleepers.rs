//! The machines of a partition that sleep, wake up, or could sleep.

mod balance;
mod dues;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use self::dues::Dues;
use super::SleepRule;
use crate::model::{MachineState, PartitionSpec, ProcSet, SleepSpec};
use crate::units::{Span, Time};

/// Which machines of a partition sleep. A pure state machine: it is told which processors are in use ([`Sleepers::take`],
/// [`Sleepers::give`]) and which machines are up, and at the times that it asks for ([`Sleepers::next`]) it goes on.
///
/// A machine of which a processor is in use is awake, or wakes up. A machine that goes to sleep does so to the end, also if it is needed
/// meanwhile, and wakes up afterwards; so no machine is woken up twice. Of several that may sleep, those with the
/// highest numbers do, since jobs get the lowest.
///
/// What machines do is kept as sets of machines, and those of a job change at once, 64 numbers at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::local) struct Sleepers {
    groups: Vec<Group>,
    /// So many idle machines are kept awake.
    reserve: u32,
    cores: u32,
    usable: u32,
    /// How many processors of each machine are not free; empty if a machine has one.
    used: Vec<u32>,
    /// Machines of which no processor is in use.
    unused: ProcSet,
    /// Machines that are not awake: those of the four that follow.
    away: ProcSet,
    asleep: ProcSet,
    rising: ProcSet,
    /// The machines of `rising`, by when they are awake.
    waking: BTreeMap<Time, ProcSet>,
    /// Machines that go to sleep, by when they are asleep.
    falling: BTreeMap<Time, ProcSet>,
    /// Machines that are idle, by when they may sleep.
    idle: Dues,
    /// Machines that have been idle for long enough.
    ready: ProcSet,
    /// Free processors of machines that are not awake.
    dormant: ProcSet,
    /// Their number.
    dormant_procs: u32,
    /// Processors that are neither free nor in use.
    withheld: ProcSet,
    /// Machines that drain: no reserve counts on them.
    draining: ProcSet,
    /// What has changed since it was last taken.
    #[serde(skip)]
    changes: Vec<Transition>,
    /// Whether something was due since [`Sleepers::balance`]. Not for long: that follows at the same instant.
    #[serde(skip)]
    unbalanced: bool,
    /// An empty set that keeps its memory.
    #[serde(skip)]
    spare: ProcSet,
}

/// A change of state of these machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::local) struct Transition {
    pub(in crate::local) machines: ProcSet,
    pub(in crate::local) state: MachineState,
}

/// Machines of one class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Group {
    machines: ProcSet,
    /// `None` if they never sleep.
    state: Option<SleepSpec>,
    /// How long they are idle before they sleep.
    after: Span,
    count: Counts,
}

impl Group {
    fn wake(&self) -> Span {
        self.state.map_or(Span::ZERO, |state| state.wake)
    }
}

/// The numbers of machines of a group, by what they do.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::local) struct Counts {
    pub(in crate::local) asleep: u32,
    pub(in crate::local) waking: u32,
    pub(in crate::local) falling: u32,
}

impl Counts {
    /// Machines that are not awake.
    pub(in crate::local) fn all(&self) -> u32 {
        self.asleep + self.waking + self.falling
    }
}

/// What a machine does, apart from its jobs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(in crate::local) enum Standing {
    Awake,
    Asleep,
    Waking,
    Falling,
}

impl Sleepers {
    /// The machines of a partition, all awake, up and idle. `terms` has the sleep state and the rule of each group that sleeps.
    pub(in crate::local) fn of(
        partition: &PartitionSpec,
        terms: &[Option<(SleepSpec, SleepRule)>],
        now: Time,
    ) -> Self {
        let (cores, usable, machines) = (partition.cores, partition.usable(), partition.machines());
        // The rest of an incomplete allocation block is never given; its machine stays awake.
        let idle = ProcSet::full(usable.div_ceil(cores));
        let used = |at| u32::from(!idle.contains(at));
        let groups = partition.numbered().map(|(machines, _)| Group {
            machines: ProcSet::range(machines.start, machines.end),
            state: None,
            after: Span::MAX,
            count: Counts::default(),
        });
        let mut new = Self {
            groups: groups.collect(),
            reserve: 0,
            cores,
            usable,
            used: if cores == 1 { Vec::new() } else { (0..machines).map(used).collect() },
            unused: idle.clone(),
            away: ProcSet::new(),
            asleep: ProcSet::new(),
            rising: ProcSet::new(),
            waking: BTreeMap::new(),
            falling: BTreeMap::new(),
            idle: Dues::default(),
            ready: ProcSet::new(),
            dormant: ProcSet::new(),
            dormant_procs: 0,
            withheld: ProcSet::new(),
            draining: ProcSet::new(),
            changes: Vec::new(),
            unbalanced: false,
            spare: ProcSet::new(),
        };
        new.follow(terms);
        new.become_idle(&idle, now);
        new
    }

    /// Takes over these terms.
    fn follow(&mut self, terms: &[Option<(SleepSpec, SleepRule)>]) {
        self.reserve = terms.iter().flatten().map(|(_, rule)| rule.reserve).max().unwrap_or(u32::MAX);
        for (group, terms) in self.groups.iter_mut().zip(terms) {
            group.after = terms.map_or(Span::MAX, |(_, rule)| rule.after);
            // Machines that sleep must be able to wake up.
            group.state = terms.map(|(state, _)| state).or(group.state);
        }
    }

    /// Other terms from now on, for transitions to come. A machine that is idle sleeps when it would have before, if it still does.
    /// [`Sleepers::balance`] is to follow.
    pub(in crate::local) fn change(&mut self, terms: &[Option<(SleepSpec, SleepRule)>]) {
        self.follow(terms);
        self.ready = self.unused.difference(&self.away);
        self.ready.remove_all(&self.idle.all());
    }

    /// The sleep state of each group that has one, with how many of its machines are not awake.
    pub(in crate::local) fn counts(&self) -> impl Iterator<Item = (&SleepSpec, Counts, usize)> {
        let states = self.groups.iter().enumerate();
        states.filter_map(|(at, group)| Some((group.state.as_ref()?, group.count, at)))
    }

    /// What a machine does.
    pub(in crate::local) fn standing(&self, machine: u32) -> Standing {
        if !self.away.contains(machine) {
            Standing::Awake
        } else if self.asleep.contains(machine) {
            Standing::Asleep
        } else if self.rising.contains(machine) {
            Standing::Waking
        } else {
            Standing::Falling
        }
    }

    /// The sleep state of a group, and whether its machines go there from now on.
    pub(in crate::local) fn state_of(&self, group: usize) -> Option<(SleepSpec, bool)> {
        let group = self.groups.get(group)?;
        Some((group.state?, group.after < Span::MAX))
    }

    /// Free processors of machines that are not awake, and their number.
    pub(in crate::local) fn dormant(&self) -> (&ProcSet, u32) {
        (&self.dormant, self.dormant_procs)
    }

    /// Those of these processors, in use or not, whose machines are not awake.
    pub(in crate::local) fn not_awake(&self, procs: &ProcSet) -> ProcSet {
        if self.all_awake() {
            return ProcSet::new();
        }
        let machines = self.machines(procs);
        if self.away.is_disjoint(&machines) {
            return ProcSet::new();
        }
        self.processors(&self.away.intersection(&machines)).intersection(procs)
    }

    /// How long it takes at most until a machine is awake that is not: one of a class of which some are not.
    pub(in crate::local) fn delay(&self) -> Span {
        let span = |group: &Group| {
            let state = group.state.filter(|_| group.count.all() > 0)?;
            Some(if group.count.falling > 0 { state.wake + state.fall } else { state.wake })
        };
        self.groups.iter().filter_map(span).max().unwrap_or_default()
    }

    /// Free processors are in use from now on; their machines wake up if they are not awake.
    pub(in crate::local) fn take(&mut self, procs: &ProcSet, now: Time) {
        self.rouse(procs);
        if self.cores == 1 {
            return self.begin_use(procs, now);
        }
        let mut first = std::mem::take(&mut self.spare);
        let take = |used: &mut u32, count: u32| std::mem::replace(used, *used + count) == 0;
        self.count(procs, self.cores, take, &mut first);
        self.begin_use(&first, now);
        first.clear();
        self.spare = first;
    }

    /// Processors of machines that are up are free from now on.
    pub(in crate::local) fn give(&mut self, procs: &ProcSet, now: Time) {
        // A machine that sleeps is not in use.
        if !(self.waking.is_empty() && self.falling.is_empty()) {
            self.rest(procs);
        }
        self.end(procs, now);
    }

    /// Processors of machines that are up are not in use any more, and not free either: of incomplete allocation blocks.
    pub(in crate::local) fn release(&mut self, procs: &ProcSet, now: Time) {
        self.withheld.insert_all(procs);
        self.end(procs, now);
    }

    /// Free processors of machines that stay up are not free any more, and nobody uses them: their allocation blocks are incomplete.
    pub(in crate::local) fn withhold(&mut self, procs: &ProcSet) {
        self.rouse(procs);
        self.withheld.insert_all(procs);
    }

    /// The machines of these processors drain from now on: none is kept awake, or woken up, to be ready.
    pub(in crate::local) fn drain(&mut self, procs: &ProcSet) {
        let machines = self.machines(procs).into_owned();
        self.draining.insert_all(&machines);
        self.unbalanced = true;
    }

    /// They drain no longer.
    pub(in crate::local) fn stay(&mut self, procs: &ProcSet) {
        let machines = self.machines(procs).into_owned();
        self.draining.remove_all(&machines);
        self.draining.trim();
        self.unbalanced = true;
    }

    /// Processors that nobody uses are free again.
    pub(in crate::local) fn allow(&mut self, procs: &ProcSet) {
        self.withheld.remove_all(procs);
        self.withheld.trim();
        self.rest(procs);
    }

    /// Processors are free: those of machines that are not awake are dormant.
    fn rest(&mut self, procs: &ProcSet) {
        let dormant = self.not_awake(procs);
        self.dormant_procs += dormant.len();
        self.dormant.insert_all(&dormant);
    }

    /// Processors are not in use any more.
    fn end(&mut self, procs: &ProcSet, now: Time) {
        if self.cores == 1 {
            return self.end_use(procs, now);
        }
        let mut last = std::mem::take(&mut self.spare);
        let give = |used: &mut u32, count: u32| {
            *used -= count;
            *used == 0
        };
        self.count(procs, 0, give, &mut last);
        self.end_use(&last, now);
        last.clear();
        self.spare = last;
    }

    /// Changes the number of used processors of each machine by those that are in a set: to `whole` where all are. Adds the machines to `found` of which
    /// `change` says so, and those.
    fn count(
        &mut self,
        procs: &ProcSet,
        whole: u32,
        change: impl Fn(&mut u32, u32) -> bool,
        found: &mut ProcSet,
    ) {
        let cores = self.cores;
        for (from, last) in procs.intervals() {
            let to = last + 1;
            let (begin, end) = (from.div_ceil(cores), to / cores);
            if begin < end {
                self.used[begin as usize..end as usize].fill(whole);
                found.insert_range(begin, end);
            }
            let mut part = |at: u32, count: u32| {
                if change(&mut self.used[at as usize], count) {
                    found.insert(at);
                }
            };
            if begin > end {
                // All within one machine.
                part(end, to - from);
                continue;
            }
            if from < begin * cores {
                part(begin - 1, begin * cores - from);
            }
            if end * cores < to {
                part(end, to - end * cores);
            }
        }
    }

    /// Machines of which no processor was in use are used from now on.
    fn begin_use(&mut self, machines: &ProcSet, now: Time) {
        self.unused.remove_all(machines);
        self.ready.remove_all(machines);
        self.idle.forget(machines);
        if !self.asleep.is_disjoint(machines) {
            self.wake(self.asleep.intersection(machines), now);
        }
    }

    /// No processor of these machines is in use any more.
    fn end_use(&mut self, machines: &ProcSet, now: Time) {
        self.unused.insert_all(machines);
        if self.away.is_disjoint(machines) {
            self.become_idle(machines, now);
        } else {
            self.become_idle(&machines.difference(&self.away), now);
        }
    }

    /// Machines go down: all their processors count as in use.
    pub(in crate::local) fn leave(&mut self, machines: &ProcSet) {
        let procs = self.processors(machines).into_owned();
        self.rouse(&procs);
        self.withheld.remove_all(&procs);
        self.withheld.trim();
        if self.cores > 1 {
            for at in machines.iter() {
                // One that is never given is always in use.
                let own = self.usable.saturating_sub(at * self.cores).min(self.cores);
                self.used[at as usize] = own.max(1);
            }
        }
        self.unused.remove_all(machines);
        self.ready.remove_all(machines);
        self.idle.forget(machines);
        if self.away.is_disjoint(machines) {
            return;
        }
        for at in 0..self.groups.len() {
            let own = of_group(&self.groups, at, machines);
            let (asleep, waking) = (self.asleep.common(&own), self.rising.common(&own));
            let count = &mut self.groups[at].count;
            count.asleep -= asleep;
            count.waking -= waking;
            count.falling -= self.away.common(&own) - asleep - waking;
        }
        for set in [&mut self.away, &mut self.asleep, &mut self.rising] {
            set.remove_all(machines);
        }
        for map in [&mut self.waking, &mut self.falling] {
            map.retain(|_, set| {
                set.remove_all(machines);
                !set.is_empty()
            });
        }
    }

    /// When the last machine of these free processors is awake, if they are in use from now on at the latest; `None` if all are awake.
    pub(in crate::local) fn awake_at(&self, procs: &ProcSet, now: Time) -> Option<Time> {
        if self.dormant.is_disjoint(procs) {
            return None;
        }
        Some(self.all_awake_at(&self.machines(procs), now))
    }

    /// When the last machine of these processors, which are in use, is awake; `None` if all are.
    pub(in crate::local) fn roused_at(&self, procs: &ProcSet, now: Time) -> Option<Time> {
        let machines = self.machines(procs);
        (!self.away.is_disjoint(&machines)).then(|| self.all_awake_at(&machines, now))
    }

    /// When the last of these machines is awake, if they are in use from now on at the latest.
    fn all_awake_at(&self, machines: &ProcSet, now: Time) -> Time {
        let mut awake = now;
        for (at, group) in self.groups.iter().enumerate().filter(|(_, group)| group.count.all() > 0) {
            let own = of_group(&self.groups, at, machines);
            if !self.asleep.is_disjoint(&own) {
                awake = awake.max(now + group.wake());
            }
            // The last set that has one of them.
            let last = |map: &BTreeMap<Time, ProcSet>| {
                map.iter().rev().find(|(_, set)| !set.is_disjoint(&own)).map(|(time, _)| *time)
            };
            if group.count.falling > 0 {
                awake = last(&self.falling).map_or(awake, |falls| awake.max(falls + group.wake()));
            }
            if !self.rising.is_disjoint(&own) {
                let later = self.waking.iter().rev().take_while(|(time, _)| **time > awake);
                let last = later.into_iter().find(|(_, set)| !set.is_disjoint(&own));
                awake = last.map_or(awake, |(time, _)| *time);
            }
        }
        awake
    }

    /// These processors are no longer free ones of machines that are not awake.
    fn rouse(&mut self, procs: &ProcSet) {
        if self.dormant_procs > 0 && !self.dormant.is_disjoint(procs) {
            self.dormant_procs -= self.dormant.common(procs);
            self.dormant.remove_all(procs);
            self.dormant.trim();
        }
    }

    /// Wakes up machines that sleep.
    fn wake(&mut self, machines: ProcSet, now: Time) {
        if machines.is_empty() {
            return;
        }
        self.asleep.remove_all(&machines);
        self.rising.insert_all(&machines);
        for at in 0..self.groups.len() {
            let own = of_group(&self.groups, at, &machines);
            if own.is_empty() {
                continue;
            }
            let (group, count) = (&mut self.groups[at], own.len());
            (group.count.asleep, group.count.waking) =
                (group.count.asleep - count, group.count.waking + count);
            self.waking.entry(now + group.wake()).or_default().insert_all(&own);
        }
        self.changes.push(Transition { machines, state: MachineState::Waking });
    }

    /// Notes that machines have been idle since now.
    fn become_idle(&mut self, machines: &ProcSet, now: Time) {
        for at in 0..self.groups.len() {
            if let Some(due) = now.checked_add(self.groups[at].after) {
                self.idle.insert(&of_group(&self.groups, at, machines), due);
            }
        }
    }

    /// The machines that these processors belong to.
    fn machines<'a>(&self, procs: &'a ProcSet) -> Cow<'a, ProcSet> {
        if self.cores == 1 {
            return Cow::Borrowed(procs);
        }
        let mut machines = ProcSet::new();
        for (from, to) in procs.intervals() {
            machines.insert_range(from / self.cores, to / self.cores + 1);
        }
        Cow::Owned(machines)
    }

    /// The usable processors of machines.
    fn processors<'a>(&self, machines: &'a ProcSet) -> Cow<'a, ProcSet> {
        if self.cores == 1 {
            return Cow::Borrowed(machines);
        }
        let mut procs = ProcSet::new();
        for (from, to) in machines.intervals() {
            procs.insert_range(from * self.cores, ((to + 1) * self.cores).min(self.usable));
        }
        Cow::Owned(procs)
    }
}

/// Those of these machines that are of a group.
fn of_group<'a>(groups: &[Group], at: usize, machines: &'a ProcSet) -> Cow<'a, ProcSet> {
    match groups {
        [_] => Cow::Borrowed(machines),
        _ => Cow::Owned(groups[at].machines.intersection(machines)),
    }
}
