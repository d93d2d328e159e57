//! The machines of a partition that sleep, wake up, or could sleep.

use std::collections::{BTreeMap, VecDeque};
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
    spec: SleepSpec,
    rule: SleepRule,
    cores: u32,
    usable: u32,
    machines: Vec<Machine>,
    /// Machines that have become idle, by when they did.
    idle: VecDeque<Idle>,
    /// The number of the first of `idle`.
    first: u64,
    /// Machines that were idle for long enough; some may be in use again.
    ready: ProcSet,
    asleep: ProcSet,
    /// Machines that wake up, by when they are awake.
    waking: BTreeMap<Time, ProcSet>,
    /// Machines that go to sleep, by when they are asleep.
    falling: BTreeMap<Time, ProcSet>,
    count: Counts,
    /// Free processors of machines that are not awake.
    dormant: ProcSet,
    /// Their number.
    dormant_procs: u32,
    /// What has changed since it was last taken.
    #[serde(skip)]
    changes: Vec<Transition>,
}

/// A change of state of these machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::local) struct Transition {
    pub(in crate::local) machines: ProcSet,
    pub(in crate::local) state: MachineState,
}

/// The numbers of machines that are up, by what they do.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::local) struct Counts {
    /// Awake, and no processor is in use.
    idle: u32,
    pub(in crate::local) asleep: u32,
    pub(in crate::local) waking: u32,
    pub(in crate::local) falling: u32,
    /// Waking up, and no processor is in use.
    waking_unused: u32,
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
    entry: Option<u64>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Mode {
    Awake,
    Asleep,
    Waking(Time),
    Falling(Time),
}

/// Machines that became idle at the same time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Idle {
    since: Time,
    machines: ProcSet,
    /// How many of them have been idle ever since.
    still: u32,
}

impl Sleepers {
    /// The machines of a partition, all awake, up and idle.
    pub(in crate::local) fn of(
        partition: &PartitionSpec,
        spec: SleepSpec,
        rule: SleepRule,
        now: Time,
    ) -> Self {
        let (cores, usable, machines) = (partition.cores, partition.usable(), partition.machines);
        // The rest of an incomplete allocation block is never given; its machine stays awake.
        let whole = |at: u32| at * cores < usable;
        let machine = |at| Machine { used: u32::from(!whole(at)), mode: Mode::Awake, entry: None };
        let mut new = Self {
            spec,
            rule,
            cores,
            usable,
            machines: (0..machines).map(machine).collect(),
            idle: VecDeque::new(),
            first: 0,
            ready: ProcSet::new(),
            asleep: ProcSet::new(),
            waking: BTreeMap::new(),
            falling: BTreeMap::new(),
            count: Counts { idle: (0..machines).filter(|at| whole(*at)).count() as u32, ..Counts::default() },
            dormant: ProcSet::new(),
            dormant_procs: 0,
            changes: Vec::new(),
        };
        new.become_idle((0..machines).filter(|at| whole(*at)).collect(), now);
        new
    }

    /// Another rule from now on, and other powers and durations of transitions to come.
    pub(in crate::local) fn change(&mut self, spec: SleepSpec, rule: SleepRule, now: Time) {
        (self.spec, self.rule) = (spec, rule);
        self.ready = ProcSet::new();
        for (at, machine) in self.machines.iter_mut().enumerate() {
            if machine.used == 0 && machine.mode == Mode::Awake && machine.entry.is_none() {
                self.ready.insert(at as u32);
            }
        }
        self.go_on(now);
        self.balance(now);
    }

    pub(in crate::local) fn spec(&self) -> &SleepSpec {
        &self.spec
    }

    pub(in crate::local) fn count(&self) -> Counts {
        self.count
    }

    /// Free processors of machines that are not awake, and their number.
    pub(in crate::local) fn dormant(&self) -> (&ProcSet, u32) {
        (&self.dormant, self.dormant_procs)
    }

    /// The processors of machines that are not awake, in use or not.
    pub(in crate::local) fn not_awake(&self, procs: &ProcSet) -> ProcSet {
        let awake = |at: u32| self.machines[at as usize].mode == Mode::Awake;
        let asleep = by_machine(procs, self.cores).filter(|(at, ..)| !awake(*at));
        let mut found = ProcSet::new();
        asleep.for_each(|(.., range)| found.insert_all(&ProcSet::range(range.start, range.end)));
        found
    }

    /// How long it takes at most until a machine is awake that is not.
    pub(in crate::local) fn delay(&self) -> Span {
        if self.falling.is_empty() { self.spec.wake } else { self.spec.wake + self.spec.fall }
    }

    /// Free processors are in use from now on; their machines wake up if they are not awake.
    pub(in crate::local) fn take(&mut self, procs: &ProcSet, now: Time) {
        self.rouse(procs);
        let mut woken = ProcSet::new();
        for (at, count, _) in by_machine(procs, self.cores) {
            let machine = &mut self.machines[at as usize];
            if machine.used == 0 {
                match machine.mode {
                    Mode::Awake => {
                        self.count.idle -= 1;
                        let entry = machine.entry.take();
                        let entry = entry.and_then(|entry| self.idle.get_mut((entry - self.first) as usize));
                        if let Some(entry) = entry {
                            entry.still -= 1;
                        }
                    }
                    Mode::Waking(_) => self.count.waking_unused -= 1,
                    Mode::Asleep => woken.insert(at),
                    Mode::Falling(_) => {}
                }
            }
            machine.used += count;
        }
        while self.idle.front().is_some_and(|entry| entry.still == 0) {
            self.idle.pop_front();
            self.first += 1;
        }
        self.wake(woken, now);
    }

    /// Processors are free from now on; of machines that are up.
    pub(in crate::local) fn give(&mut self, procs: &ProcSet, now: Time) {
        let mut idle = ProcSet::new();
        for (at, count, range) in by_machine(procs, self.cores) {
            let machine = &mut self.machines[at as usize];
            machine.used -= count;
            if machine.mode != Mode::Awake {
                self.dormant.insert_all(&ProcSet::range(range.start, range.end));
                self.dormant_procs += count;
            }
            match machine.mode {
                Mode::Awake if machine.used == 0 => {
                    self.count.idle += 1;
                    idle.insert(at);
                }
                Mode::Waking(_) if machine.used == 0 => self.count.waking_unused += 1,
                _ => {}
            }
        }
        self.become_idle(idle, now);
    }

    /// Machines go down: all their processors count as in use.
    pub(in crate::local) fn leave(&mut self, machines: &ProcSet, now: Time) {
        for at in machines.iter() {
            let procs = self.processors(at);
            // To be awake and in use, whatever it was, and then nothing.
            let free = procs.len() - self.machines[at as usize].used;
            let machine = &mut self.machines[at as usize];
            let (used, mode) = (machine.used, std::mem::replace(&mut machine.mode, Mode::Awake));
            let gone = |map: &mut BTreeMap<Time, ProcSet>, until: Time| {
                if let Some(set) = map.get_mut(&until) {
                    set.remove_all(&ProcSet::range(at, at + 1));
                    if set.is_empty() {
                        map.remove(&until);
                    }
                }
            };
            match mode {
                Mode::Awake if used == 0 => {
                    // Those that are idle are in use first, as far as the list of idle machines goes.
                    self.take(&procs, now);
                    continue;
                }
                Mode::Awake => {}
                Mode::Asleep => {
                    self.count.asleep -= 1;
                    self.asleep.remove_all(&ProcSet::range(at, at + 1));
                }
                Mode::Waking(until) => {
                    self.count.waking -= 1;
                    self.count.waking_unused -= u32::from(used == 0);
                    gone(&mut self.waking, until);
                }
                Mode::Falling(until) => {
                    self.count.falling -= 1;
                    gone(&mut self.falling, until);
                }
            }
            self.machines[at as usize].used += free;
            self.rouse(&procs);
        }
    }

    /// When the last machine of these processors is awake, if they are in use from now on at the latest.
    pub(in crate::local) fn awake_at(&self, procs: &ProcSet, now: Time) -> Time {
        if self.count.all() == 0 {
            return now;
        }
        let awake = |(at, ..): (u32, u32, Range<u32>)| match self.machines[at as usize].mode {
            Mode::Waking(until) => until,
            Mode::Falling(until) => until + self.spec.wake,
            Mode::Asleep => now + self.spec.wake,
            Mode::Awake => now,
        };
        by_machine(procs, self.cores).map(awake).max().map_or(now, |last| last.max(now))
    }

    /// When the next transition ends, or a machine has been idle for long enough.
    pub(in crate::local) fn next(&self) -> Option<Time> {
        let turned = |map: &BTreeMap<Time, ProcSet>| map.first_key_value().map(|(time, _)| *time);
        let idle = self.idle.front().and_then(|entry| entry.since.checked_add(self.rule.after));
        [turned(&self.waking), turned(&self.falling), idle].into_iter().flatten().min()
    }

    /// Ends what is due.
    pub(in crate::local) fn go_on(&mut self, now: Time) {
        while let Some(entry) = self.falling.first_entry().filter(|entry| *entry.key() <= now) {
            let machines = entry.remove();
            self.count.falling -= machines.len();
            let needed = machines.iter().filter(|at| self.machines[*at as usize].used > 0).collect();
            self.count.asleep += machines.len();
            machines.iter().for_each(|at| self.machines[at as usize].mode = Mode::Asleep);
            self.asleep.insert_all(&machines);
            self.changes.push(Transition { machines, state: MachineState::Asleep });
            self.wake(needed, now);
        }
        while let Some(entry) = self.waking.first_entry().filter(|entry| *entry.key() <= now) {
            let machines = entry.remove();
            self.count.waking -= machines.len();
            let mut idle = ProcSet::new();
            for at in machines.iter() {
                let machine = &mut self.machines[at as usize];
                machine.mode = Mode::Awake;
                if machine.used == 0 {
                    idle.insert(at);
                }
                self.rouse(&self.processors(at));
            }
            self.count.waking_unused -= idle.len();
            self.count.idle += idle.len();
            self.become_idle(idle, now);
            self.changes.push(Transition { machines, state: MachineState::Idle });
        }
        let over = |entry: &Idle| entry.since.checked_add(self.rule.after).is_some_and(|over| over <= now);
        while self.idle.front().is_some_and(over) {
            let Some(entry) = self.idle.pop_front() else { break };
            for at in entry.machines.iter() {
                let machine = &mut self.machines[at as usize];
                if machine.entry == Some(self.first) {
                    machine.entry = None;
                    self.ready.insert(at);
                }
            }
            self.first += 1;
        }
    }

    /// Puts machines to sleep that may, and wakes up as many as the reserve lacks.
    pub(in crate::local) fn balance(&mut self, now: Time) {
        let mut fallen = ProcSet::new();
        while self.count.idle > self.rule.reserve {
            let Some(at) = self.ready.last() else { break };
            self.ready.remove_all(&ProcSet::range(at, at + 1));
            let machine = &mut self.machines[at as usize];
            // It may have been in use since, and then be in the list of idle machines again.
            if (machine.used, machine.mode, machine.entry) == (0, Mode::Awake, None) {
                machine.mode = Mode::Falling(now + self.spec.fall);
                self.count.idle -= 1;
                self.count.falling += 1;
                let procs = self.processors(at);
                self.dormant_procs += procs.len();
                self.dormant.insert_all(&procs);
                fallen.insert(at);
            }
        }
        if !fallen.is_empty() {
            self.falling.entry(now + self.spec.fall).or_default().insert_all(&fallen);
            self.changes.push(Transition { machines: fallen, state: MachineState::Falling });
        }
        let awake = self.count.idle + self.count.waking_unused;
        let lacking = self.rule.reserve.saturating_sub(awake).min(self.asleep.len());
        if lacking > 0 {
            self.count.waking_unused += lacking;
            self.wake(self.asleep.lowest(lacking).unwrap_or_default(), now);
        }
    }

    /// What has changed since the last call.
    pub(in crate::local) fn changes(&mut self) -> Vec<Transition> {
        std::mem::take(&mut self.changes)
    }

    /// These processors are no longer free ones of machines that are not awake.
    fn rouse(&mut self, procs: &ProcSet) {
        if self.dormant_procs > 0 {
            self.dormant_procs -= self.dormant.intersection(procs).len();
            self.dormant.remove_all(procs);
        }
    }

    /// Wakes up machines that sleep.
    fn wake(&mut self, machines: ProcSet, now: Time) {
        if machines.is_empty() {
            return;
        }
        let until = now + self.spec.wake;
        machines.iter().for_each(|at| self.machines[at as usize].mode = Mode::Waking(until));
        self.asleep.remove_all(&machines);
        self.count.asleep -= machines.len();
        self.count.waking += machines.len();
        self.waking.entry(until).or_default().insert_all(&machines);
        self.changes.push(Transition { machines, state: MachineState::Waking });
    }

    /// Notes that machines have been idle since now; they are counted already.
    fn become_idle(&mut self, machines: ProcSet, now: Time) {
        if machines.is_empty() {
            return;
        }
        if self.idle.back().is_none_or(|last| last.since < now) {
            self.idle.push_back(Idle { since: now, machines: ProcSet::new(), still: 0 });
        }
        let number = self.first + self.idle.len() as u64 - 1;
        machines.iter().for_each(|at| self.machines[at as usize].entry = Some(number));
        if let Some(last) = self.idle.back_mut() {
            last.still += machines.len();
            last.machines.insert_all(&machines);
        }
    }

    /// The usable processors of a machine.
    fn processors(&self, machine: u32) -> ProcSet {
        let first = (machine * self.cores).min(self.usable);
        ProcSet::range(first, (first + self.cores).min(self.usable))
    }
}

/// The machines of processors: each with how many of them are in an interval, and which.
fn by_machine(procs: &ProcSet, cores: u32) -> impl Iterator<Item = (u32, u32, Range<u32>)> {
    procs.intervals().flat_map(move |(from, to)| {
        (from / cores..=to / cores).map(move |machine| {
            let range = from.max(machine * cores)..(to + 1).min((machine + 1) * cores);
            (machine, range.end - range.start, range)
        })
    })
}
