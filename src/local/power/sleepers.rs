//! The machines of a partition that sleep, wake up, or could sleep.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::SleepRule;
use crate::model::{MachineState, PartitionSpec, ProcSet, SleepSpec};
use crate::units::{Span, Time};

/// Which machines of a partition sleep. A pure state machine: it is told which processors are in use ([`Sleepers::take`],
/// [`Sleepers::give`]) and which machines are up, and at the times that it asks for ([`Sleepers::next`]) it goes on.
///
/// A machine of which a processor is in use is awake, or wakes up. A machine that goes to sleep does so to the end, also if it is needed
/// meanwhile, and wakes up afterwards; so no machine is woken up twice. Of several that may sleep, those with the
/// highest numbers do, since jobs get the lowest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::local) struct Sleepers {
    groups: Vec<Group>,
    /// So many idle machines are kept awake.
    reserve: u32,
    cores: u32,
    usable: u32,
    machines: Vec<Machine>,
    /// Machines that are idle, by when they may sleep.
    idle: BTreeMap<Time, Idle>,
    /// Machines that were idle for long enough; some may be in use again.
    ready: ProcSet,
    asleep: ProcSet,
    /// Machines that wake up, by when they are awake.
    waking: BTreeMap<Time, ProcSet>,
    /// Machines that go to sleep, by when they are asleep.
    falling: BTreeMap<Time, ProcSet>,
    /// Awake, and no processor is in use.
    awake_idle: u32,
    /// Waking up, and no processor is in use.
    waking_unused: u32,
    /// Free processors of machines that are not awake.
    dormant: ProcSet,
    /// Their number.
    dormant_procs: u32,
    /// What has changed since it was last taken.
    #[serde(skip)]
    changes: Vec<Transition>,
    /// Whether something was due since [`Sleepers::balance`]. Not for long: that follows at the same instant.
    #[serde(skip)]
    unbalanced: bool,
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
    /// The number after that of its last machine.
    end: u32,
    /// `None` if they never sleep.
    state: Option<SleepSpec>,
    /// How long they are idle before they sleep.
    after: Span,
    count: Counts,
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

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Machine {
    /// Its processors that are not free.
    used: u32,
    mode: Mode,
    /// The entry of `idle` that it is in.
    entry: Option<Time>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Mode {
    Awake,
    Asleep,
    Waking(Time),
    Falling(Time),
}

/// What a machine does, apart from its jobs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(in crate::local) enum Standing {
    Awake,
    Asleep,
    Waking,
    Falling,
}

/// Machines that may sleep from the same time on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Idle {
    machines: ProcSet,
    /// How many of them have been idle ever since.
    still: u32,
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
        let whole = |at: u32| at * cores < usable;
        let machine = |at| Machine { used: u32::from(!whole(at)), mode: Mode::Awake, entry: None };
        let idle: ProcSet = (0..machines).filter(|at| whole(*at)).collect();
        let group = |(machines, _): (Range<u32>, _)| Group {
            end: machines.end,
            state: None,
            after: Span::MAX,
            count: Counts::default(),
        };
        let mut new = Self {
            groups: partition.numbered().map(group).collect(),
            reserve: 0,
            cores,
            usable,
            machines: (0..machines).map(machine).collect(),
            idle: BTreeMap::new(),
            ready: ProcSet::new(),
            asleep: ProcSet::new(),
            waking: BTreeMap::new(),
            falling: BTreeMap::new(),
            awake_idle: idle.len(),
            waking_unused: 0,
            dormant: ProcSet::new(),
            dormant_procs: 0,
            changes: Vec::new(),
            unbalanced: false,
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
    pub(in crate::local) fn change(
        &mut self,
        terms: &[Option<(SleepSpec, SleepRule)>],
        now: Time,
        may_wake: impl FnMut(&Self, u32) -> bool,
    ) {
        self.follow(terms);
        for at in 0..self.machines.len() as u32 {
            let machine = self.machines[at as usize];
            if (machine.used, machine.mode, machine.entry) == (0, Mode::Awake, None) {
                self.ready.insert(at);
            }
        }
        self.balance(now, may_wake);
    }

    /// The sleep state of each group that has one, with how many of its machines are not awake.
    pub(in crate::local) fn counts(&self) -> impl Iterator<Item = (&SleepSpec, Counts, usize)> {
        let states = self.groups.iter().enumerate();
        states.filter_map(|(at, group)| Some((group.state.as_ref()?, group.count, at)))
    }

    /// What a machine does.
    pub(in crate::local) fn standing(&self, machine: u32) -> Standing {
        match self.machines[machine as usize].mode {
            Mode::Awake => Standing::Awake,
            Mode::Asleep => Standing::Asleep,
            Mode::Waking(_) => Standing::Waking,
            Mode::Falling(_) => Standing::Falling,
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
        let mut found = ProcSet::new();
        if self.all_awake() {
            return found;
        }
        for (at, _) in procs.blocks(self.cores) {
            if self.machines[at as usize].mode != Mode::Awake {
                found.insert_all(&self.processors(at).intersection(procs));
            }
        }
        found
    }

    /// How long it takes at most until a machine is awake that is not.
    pub(in crate::local) fn delay(&self) -> Span {
        let all = !self.falling.is_empty();
        let span = |state: &SleepSpec| if all { state.wake + state.fall } else { state.wake };
        self.groups.iter().filter_map(|group| group.state.as_ref()).map(span).max().unwrap_or_default()
    }

    /// Free processors are in use from now on; their machines wake up if they are not awake.
    pub(in crate::local) fn take(&mut self, procs: &ProcSet, now: Time) {
        self.rouse(procs);
        let mut woken = ProcSet::new();
        for (at, count) in procs.blocks(self.cores) {
            let machine = &mut self.machines[at as usize];
            if machine.used == 0 {
                match machine.mode {
                    Mode::Awake => {
                        self.awake_idle -= 1;
                        if let Some(entry) = machine.entry.take() {
                            self.less_idle(entry);
                        }
                    }
                    Mode::Waking(_) => self.waking_unused -= 1,
                    Mode::Asleep => woken.insert(at),
                    Mode::Falling(_) => {}
                }
            }
            self.machines[at as usize].used += count;
        }
        self.wake(woken, now);
    }

    /// Processors of machines that are up are free from now on.
    pub(in crate::local) fn give(&mut self, procs: &ProcSet, now: Time) {
        let mut idle = ProcSet::new();
        for (at, count) in procs.blocks(self.cores) {
            if self.machines[at as usize].mode != Mode::Awake {
                self.dormant.insert_all(&self.processors(at).intersection(procs));
                self.dormant_procs += count;
            }
            let machine = &mut self.machines[at as usize];
            machine.used -= count;
            match machine.mode {
                Mode::Awake if machine.used == 0 => {
                    self.awake_idle += 1;
                    idle.insert(at);
                }
                Mode::Waking(_) if machine.used == 0 => self.waking_unused += 1,
                _ => {}
            }
        }
        self.become_idle(&idle, now);
    }

    /// Machines go down: all their processors count as in use.
    pub(in crate::local) fn leave(&mut self, machines: &ProcSet, now: Time) {
        for at in machines.iter() {
            let (procs, alone) = (self.processors(at), ProcSet::range(at, at + 1));
            let Machine { used, mode, .. } = self.machines[at as usize];
            if (used, mode) == (0, Mode::Awake) {
                self.take(&procs, now);
                continue;
            }
            let gone = |map: &mut BTreeMap<Time, ProcSet>, until: Time| {
                if let Some(set) = map.get_mut(&until) {
                    set.remove_all(&alone);
                    if set.is_empty() {
                        map.remove(&until);
                    }
                }
            };
            let count = &mut group_of_mut(&mut self.groups, at).count;
            match mode {
                Mode::Awake => {}
                Mode::Asleep => {
                    count.asleep -= 1;
                    self.asleep.remove_all(&alone);
                }
                Mode::Waking(until) => {
                    count.waking -= 1;
                    self.waking_unused -= u32::from(used == 0);
                    gone(&mut self.waking, until);
                }
                Mode::Falling(until) => {
                    count.falling -= 1;
                    gone(&mut self.falling, until);
                }
            }
            self.machines[at as usize] = Machine { used: procs.len(), mode: Mode::Awake, entry: None };
            self.rouse(&procs);
        }
    }

    /// When the last machine of these free processors is awake, if they are in use from now on at the latest; `None` if all are awake.
    pub(in crate::local) fn awake_at(&self, procs: &ProcSet, now: Time) -> Option<Time> {
        if self.dormant.is_disjoint(procs) {
            return None;
        }
        let wake = |at| self.state(at).map_or(Span::ZERO, |state| state.wake);
        let awake = |(at, _): (u32, u32)| match self.machines[at as usize].mode {
            Mode::Waking(until) => Some(until),
            Mode::Falling(until) => Some(until + wake(at)),
            Mode::Asleep => Some(now + wake(at)),
            Mode::Awake => None,
        };
        procs.blocks(self.cores).filter_map(awake).max().map(|last| last.max(now))
    }

    /// When the next transition ends, or a machine has been idle for long enough.
    pub(in crate::local) fn next(&self) -> Option<Time> {
        let first = |map: &BTreeMap<Time, ProcSet>| map.first_key_value().map(|(time, _)| *time);
        let idle = self.idle.first_key_value().map(|(time, _)| *time);
        [first(&self.waking), first(&self.falling), idle].into_iter().flatten().min()
    }

    /// Ends what is due. [`Sleepers::balance`] is to follow.
    pub(in crate::local) fn go_on(&mut self, now: Time) {
        self.unbalanced = true;
        while let Some(entry) = self.falling.first_entry().filter(|entry| *entry.key() <= now) {
            let machines = entry.remove();
            for at in machines.iter() {
                self.machines[at as usize].mode = Mode::Asleep;
                let count = &mut group_of_mut(&mut self.groups, at).count;
                (count.falling, count.asleep) = (count.falling - 1, count.asleep + 1);
            }
            self.asleep.insert_all(&machines);
            let needed = machines.iter().filter(|at| self.machines[*at as usize].used > 0).collect();
            self.changes.push(Transition { machines, state: MachineState::Asleep });
            self.wake(needed, now);
        }
        while let Some(entry) = self.waking.first_entry().filter(|entry| *entry.key() <= now) {
            let machines = entry.remove();
            let mut idle = ProcSet::new();
            for at in machines.iter() {
                let machine = &mut self.machines[at as usize];
                machine.mode = Mode::Awake;
                if machine.used == 0 {
                    idle.insert(at);
                }
                group_of_mut(&mut self.groups, at).count.waking -= 1;
                self.rouse(&self.processors(at));
            }
            self.waking_unused -= idle.len();
            self.awake_idle += idle.len();
            self.become_idle(&idle, now);
            self.changes.push(Transition { machines, state: MachineState::Idle });
        }
        while let Some(entry) = self.idle.first_entry().filter(|entry| *entry.key() <= now) {
            let (due, idle) = entry.remove_entry();
            for at in idle.machines.iter() {
                let machine = &mut self.machines[at as usize];
                if machine.entry == Some(due) {
                    machine.entry = None;
                    self.ready.insert(at);
                }
            }
        }
    }

    /// Puts machines to sleep that may, and wakes up as many as the reserve lacks, as far as they may wake up: this is asked one by one.
    pub(in crate::local) fn balance(&mut self, now: Time, mut may_wake: impl FnMut(&Self, u32) -> bool) {
        self.unbalanced = false;
        let mut fallen = ProcSet::new();
        while self.awake_idle > self.reserve {
            let Some(at) = self.ready.take_last() else { break };
            let group = group_of(&self.groups, at);
            let Group { state: Some(state), after, .. } = self.groups[group] else { continue };
            let machine = &mut self.machines[at as usize];
            // It may have been in use since, and then be in the list of idle machines again.
            if after == Span::MAX || (machine.used, machine.mode, machine.entry) != (0, Mode::Awake, None) {
                continue;
            }
            let until = now + state.fall;
            machine.mode = Mode::Falling(until);
            self.awake_idle -= 1;
            self.groups[group].count.falling += 1;
            let procs = self.processors(at);
            self.dormant_procs += procs.len();
            self.dormant.insert_all(&procs);
            self.falling.entry(until).or_default().insert(at);
            fallen.insert(at);
        }
        if !fallen.is_empty() {
            self.changes.push(Transition { machines: fallen, state: MachineState::Falling });
        }
        let lacking = self.reserve.saturating_sub(self.awake_idle + self.waking_unused);
        if lacking > 0 && !self.asleep.is_empty() {
            let lowest = self.asleep.lowest(lacking.min(self.asleep.len())).unwrap_or_default();
            let woken: ProcSet = lowest.iter().take_while(|at| may_wake(self, *at)).collect();
            self.waking_unused += woken.len();
            self.wake(woken, now);
        }
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
    fn all_awake(&self) -> bool {
        self.groups.iter().all(|group| group.count.all() == 0)
    }

    fn state(&self, machine: u32) -> Option<&SleepSpec> {
        self.groups[group_of(&self.groups, machine)].state.as_ref()
    }

    /// These processors are no longer free ones of machines that are not awake.
    fn rouse(&mut self, procs: &ProcSet) {
        if !self.dormant.is_disjoint(procs) {
            self.dormant_procs -= self.dormant.intersection(procs).len();
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
        for at in machines.iter() {
            let group = group_of_mut(&mut self.groups, at);
            (group.count.asleep, group.count.waking) = (group.count.asleep - 1, group.count.waking + 1);
            let until = now + group.state.map_or(Span::ZERO, |state| state.wake);
            self.machines[at as usize].mode = Mode::Waking(until);
            self.waking.entry(until).or_default().insert(at);
        }
        self.changes.push(Transition { machines, state: MachineState::Waking });
    }

    /// Notes that machines have been idle since now; they are counted already.
    fn become_idle(&mut self, machines: &ProcSet, now: Time) {
        for at in machines.iter() {
            let after = self.groups[group_of(&self.groups, at)].after;
            let due = now.checked_add(after);
            if let Some(due) = due {
                let entry = self.idle.entry(due).or_default();
                entry.still += 1;
                entry.machines.insert(at);
            }
            self.machines[at as usize].entry = due;
        }
    }

    /// One machine fewer has been idle so as to sleep at this time.
    fn less_idle(&mut self, due: Time) {
        if let Some(entry) = self.idle.get_mut(&due) {
            entry.still -= 1;
            if entry.still == 0 {
                self.idle.remove(&due);
            }
        }
    }

    /// The usable processors of a machine.
    fn processors(&self, machine: u32) -> ProcSet {
        let first = (machine * self.cores).min(self.usable);
        ProcSet::range(first, (first + self.cores).min(self.usable))
    }
}

/// The group of a machine.
fn group_of(groups: &[Group], machine: u32) -> usize {
    if groups.len() == 1 { 0 } else { groups.partition_point(|group| group.end <= machine) }
}

fn group_of_mut(groups: &mut [Group], machine: u32) -> &mut Group {
    let at = group_of(groups, machine);
    &mut groups[at]
}
