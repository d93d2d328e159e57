//! A power cap that is kept by counting watts: what machines draw at most until their state changes, and which free processors may be given.
//!
//! Each machine is counted with what it would draw if all were in use that may be given. So a start adds nothing, and neither does an end: what a job
//! had may be given again. What a machine draws less when it sleeps lets others be given.

use std::collections::BTreeMap;

use super::power::{Sleepers, Standing};
use crate::model::power_cap::MachineDraws;
use crate::model::{PartitionSpec, ProcSet};

/// What a partition under a cap in watts keeps of its machines.
#[derive(Clone, Debug)]
pub(super) struct Watts {
    /// What they may draw at once, in milliwatts.
    most: u128,
    cores: u32,
    unit: u32,
    /// For each group the number after that of its last machine, and what one draws.
    groups: Vec<(u32, MachineDraws)>,
    /// The groups, those first that draw least more in use.
    frugal: Vec<usize>,
    machines: Vec<Machine>,
    /// Processors of jobs and reservations, also while their machines are down.
    taken: ProcSet,
    /// Free processors that may be given.
    pub(super) given: ProcSet,
    /// What all machines are counted with.
    total: u128,
    /// The same without processors that may be given and are not.
    own: u128,
    /// Whether more or fewer processors may be given than [`Watts::given`] has.
    pub(super) changed: bool,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Machine {
    /// Its processors of [`Watts::taken`].
    taken: u32,
    /// Its processors of [`Watts::given`].
    given: u32,
    /// What it is counted with.
    draws: u64,
    /// The same without [`Machine::given`].
    own: u64,
}

/// Where machines stand.
#[derive(Copy, Clone)]
pub(super) struct Stand<'a> {
    pub(super) sleepers: Option<&'a Sleepers>,
    pub(super) down: &'a ProcSet,
}

impl Watts {
    /// Those of a partition with such a cap, of which processors are taken.
    pub(super) fn of(
        spec: &PartitionSpec,
        stand: Stand<'_>,
        taken: ProcSet,
        given: ProcSet,
    ) -> Option<Box<Self>> {
        let most = u128::from(spec.power_part?.power.milliwatts());
        let draws: Vec<MachineDraws> = spec
            .groups
            .iter()
            .enumerate()
            .map(|(at, group)| {
                let sleep = stand.sleepers.and_then(|sleepers| sleepers.state_of(at));
                MachineDraws::of(group, spec.cores, sleep)
            })
            .collect();
        let frugal = spec.by_watts(&draws);
        let groups = spec.numbered().map(|(machines, _)| machines.end).zip(draws).collect();
        let mut new = Self {
            most,
            cores: spec.cores.max(1),
            unit: spec.allocation_unit.max(1),
            groups,
            frugal,
            machines: vec![Machine::default(); spec.machines() as usize],
            taken: ProcSet::new(),
            given: ProcSet::new(),
            total: 0,
            own: 0,
            changed: true,
        };
        for (at, count) in taken.blocks(new.cores) {
            new.machines[at as usize].taken = count;
        }
        for (at, count) in given.blocks(new.cores) {
            new.machines[at as usize].given = count;
        }
        (new.taken, new.given) = (taken, given);
        for at in 0..new.machines.len() as u32 {
            new.follow(at, stand);
        }
        Some(Box::new(new))
    }

    /// Free processors are in use from now on.
    pub(super) fn take(&mut self, procs: &ProcSet, stand: Stand<'_>) {
        let given =
            if self.given.contains_all(procs) { procs.clone() } else { self.given.intersection(procs) };
        self.given.remove_all(&given);
        for (at, count) in given.blocks(self.cores) {
            self.machines[at as usize].given -= count;
        }
        self.taken.insert_all(procs);
        for (at, count) in procs.blocks(self.cores) {
            self.machines[at as usize].taken += count;
            self.follow(at, stand);
        }
    }

    /// Processors are not in use any more; those that are `free` may be given again, unless a fork has left less power than is drawn: then it is to be
    /// chosen anew.
    pub(super) fn leave(&mut self, procs: &ProcSet, free: &ProcSet, stand: Stand<'_>) {
        let left = self.taken.intersection(procs);
        self.taken.remove_all(&left);
        for (at, count) in left.blocks(self.cores) {
            self.machines[at as usize].taken -= count;
        }
        let exceeds = self.exceeds();
        self.changed |= exceeds;
        let given = if exceeds { ProcSet::new() } else { left.intersection(free) };
        self.given.insert_all(&given);
        for (at, count) in given.blocks(self.cores) {
            self.machines[at as usize].given += count;
        }
        for (at, _) in left.blocks(self.cores) {
            self.follow(at, stand);
        }
    }

    /// Machines of these processors have changed their state; those that are not `free` any more are not given.
    pub(super) fn follow_all(&mut self, procs: &ProcSet, free: &ProcSet, stand: Stand<'_>) {
        let mut gone = self.given.intersection(procs);
        gone.remove_all(free);
        self.take_back(&gone);
        for (at, _) in procs.blocks(self.cores) {
            self.follow(at, stand);
        }
        self.changed = true;
    }

    /// Machines have changed their state.
    pub(super) fn follow_machines(&mut self, machines: &ProcSet, stand: Stand<'_>) {
        machines.iter().for_each(|at| self.follow(at, stand));
    }

    fn take_back(&mut self, procs: &ProcSet) {
        self.given.remove_all(procs);
        for (at, count) in procs.blocks(self.cores) {
            self.machines[at as usize].given -= count;
        }
    }

    fn follow(&mut self, at: u32, stand: Stand<'_>) {
        let Machine { taken, given, draws, own } = self.machines[at as usize];
        let now = self.draws(at, taken + given, stand);
        let alone = if given == 0 { now } else { self.draws(at, taken, stand) };
        if alone != own {
            self.machines[at as usize].own = alone;
            self.own = self.own + u128::from(alone) - u128::from(own);
        }
        if now != draws {
            self.machines[at as usize].draws = now;
            self.total = self.total + u128::from(now) - u128::from(draws);
            self.changed = true;
        }
    }

    /// What a machine draws at most with so many processors in use, until its state changes.
    fn draws(&self, at: u32, used: u32, stand: Stand<'_>) -> u64 {
        let draws = self.kind(at);
        match stand.sleepers.map_or(Standing::Awake, |sleepers| sleepers.standing(at)) {
            // A job that is stalled goes on at once when it is back.
            _ if stand.down.contains(at * self.cores) && used == 0 => 0,
            _ if stand.down.contains(at * self.cores) => draws.awake(used),
            Standing::Awake => draws.awake(used),
            Standing::Asleep if used == 0 => draws.asleep(),
            Standing::Falling if used == 0 => draws.falling(),
            Standing::Asleep | Standing::Falling | Standing::Waking => draws.woken(used),
        }
    }

    /// Those of these machines, which are down, that may come up: from the lowest number on, without exceeding the cap.
    pub(super) fn may_return(&self, machines: &ProcSet) -> ProcSet {
        let mut own = self.own;
        let comes = |at: &u32| {
            let machine = &self.machines[*at as usize];
            let more = self.kind(*at).awake(machine.taken).saturating_sub(machine.own);
            let comes = own + u128::from(more) <= self.most || more == 0;
            own += if comes { more.into() } else { 0 };
            comes
        };
        machines.iter().filter(comes).collect()
    }

    /// Those of these machines, which sleep, that may wake up although nobody needs them: the first ones, without exceeding the cap.
    /// Those that wake up `for_good` come before processors that may be given.
    pub(super) fn may_wake(&self, machines: &ProcSet, for_good: bool, stand: Stand<'_>) -> ProcSet {
        let mut left = self.most.saturating_sub(if for_good { self.own } else { self.total });
        let wakes = |at: &u32| {
            let Machine { taken, given, draws, own } = self.machines[*at as usize];
            debug_assert!(draws == self.draws(*at, taken + given, stand), "it is followed");
            let (used, now) = if for_good { (taken, own) } else { (taken + given, draws) };
            let more = u128::from(self.kind(*at).woken(used).saturating_sub(now));
            let wakes = more <= left;
            left -= if wakes { more } else { 0 };
            wakes
        };
        machines.iter().take_while(wakes).collect()
    }

    /// While machines are counted with more than the cap, those that draw more on their way to sleep than idle.
    pub(super) fn stay_awake(&self) -> Option<ProcSet> {
        if self.own <= self.most {
            return None;
        }
        let mut stay = ProcSet::new();
        let mut first = 0;
        for (end, draws) in &self.groups {
            if draws.falling() > draws.idle() {
                stay.insert_all(&ProcSet::range(first, *end));
            }
            first = *end;
        }
        Some(stay)
    }

    /// Whether they are counted with more than the cap.
    pub(super) fn exceeds(&self) -> bool {
        self.total > self.most
    }

    fn kind(&self, at: u32) -> &MachineDraws {
        &self.groups[self.groups.partition_point(|(end, _)| *end <= at)].1
    }

    /// Chooses anew what may be given of the `free` processors: never fewer than before, unless more would be drawn than the cap. Those of machines
    /// that are awake come first; `by_rank` has the groups' processors in the order in which they are given. With `anew` all are chosen again.
    pub(super) fn choose(&mut self, free: &ProcSet, by_rank: &[ProcSet], anew: bool, stand: Stand<'_>) {
        self.changed = false;
        let exceeds = self.total > self.most;
        if exceeds {
            self.take_back_all(stand);
        }
        if self.given.len() == free.len() || self.total > self.most {
            self.changed = false;
            return;
        }
        let dormant = stand.sleepers.map(|sleepers| self.blocks_of(sleepers.dormant().0, free));
        let before = (anew && !exceeds).then(|| self.given.clone());
        if before.is_some() {
            self.take_back_all(stand);
        }
        let rest = free.difference(&self.given);
        for awake in [true, false] {
            let part = match &dormant {
                Some(dormant) if awake => rest.difference(dormant),
                Some(dormant) => rest.intersection(dormant),
                None if awake => rest.clone(),
                None => break,
            };
            if by_rank.is_empty() {
                self.give(&part, stand);
            }
            for group in by_rank {
                self.give(&part.intersection(group), stand);
            }
        }
        if (exceeds || anew) && self.given.len() < free.len() {
            let by_placement = self.given.clone();
            self.take_back_all(stand);
            let mut first = 0;
            let ranges: Vec<(u32, u32)> =
                self.groups.iter().map(|(end, _)| (std::mem::replace(&mut first, *end), *end)).collect();
            for at in self.frugal.clone() {
                let (from, to) = ranges[at];
                // A block on several groups belongs to the first of them.
                let edge = |machine: u32| machine.saturating_mul(self.cores).next_multiple_of(self.unit);
                if edge(from) < edge(to) {
                    self.give(&free.intersection(&ProcSet::range(edge(from), edge(to))), stand);
                }
            }
            let most = [Some(by_placement), before].into_iter().flatten().rev().max_by_key(ProcSet::len);
            if let Some(most) = most.filter(|most| most.len() >= self.given.len()) {
                self.take_back_all(stand);
                self.give_all(&most, stand);
            }
        }
        self.changed = false;
    }

    fn take_back_all(&mut self, stand: Stand<'_>) {
        let given = std::mem::take(&mut self.given);
        for (at, _) in given.blocks(self.cores) {
            self.machines[at as usize].given = 0;
            self.follow(at, stand);
        }
    }

    fn give_all(&mut self, procs: &ProcSet, stand: Stand<'_>) {
        for (at, count) in procs.blocks(self.cores) {
            self.machines[at as usize].given += count;
            self.follow(at, stand);
        }
        self.given.insert_all(procs);
    }

    /// The free processors in whole allocation blocks, some of which are `dormant`.
    fn blocks_of(&self, dormant: &ProcSet, free: &ProcSet) -> ProcSet {
        if self.unit <= 1 {
            return dormant.clone();
        }
        let mut blocks = ProcSet::new();
        for (from, to) in dormant.intervals() {
            blocks
                .insert_all(&ProcSet::range(from / self.unit * self.unit, (to / self.unit + 1) * self.unit));
        }
        free.intersection(&blocks)
    }

    /// Lets these free processors be given, in whole allocation blocks, the lowest numbers first, until one would exceed the cap.
    fn give(&mut self, procs: &ProcSet, stand: Stand<'_>) {
        if self.unit > 1 {
            for (first, _) in procs.blocks(self.unit) {
                let block = ProcSet::range(first * self.unit, (first + 1) * self.unit);
                if !self.try_give(&block, stand) {
                    return;
                }
            }
            return;
        }
        let mut given = Vec::new();
        for (at, count) in procs.blocks(self.cores) {
            let Machine { taken, given: had, draws, .. } = self.machines[at as usize];
            let fits = |more: u32| {
                let more = u128::from(self.draws(at, taken + had + more, stand));
                self.total + more <= self.most + u128::from(draws)
            };
            let mut fit = count;
            if !fits(count) {
                let (mut low, mut high) = (0, count);
                while low + 1 < high {
                    let middle = u32::midpoint(low, high);
                    if fits(middle) { low = middle } else { high = middle }
                }
                fit = low;
            }
            if fit > 0 {
                self.machines[at as usize].given += fit;
                self.follow(at, stand);
                given.push((at, fit));
            }
            if fit < count {
                break;
            }
        }
        let Some((last, fit)) = given.last().copied() else { return };
        let whole = ProcSet::range(0, last * self.cores);
        let mut all = procs.intersection(&whole);
        let own = procs.intersection(&ProcSet::range(last * self.cores, (last + 1) * self.cores));
        all.insert_all(&own.lowest(fit).unwrap_or_default());
        self.given.insert_all(&all);
    }

    fn try_give(&mut self, block: &ProcSet, stand: Stand<'_>) -> bool {
        let mut more: BTreeMap<u32, u32> = BTreeMap::new();
        block.blocks(self.cores).for_each(|(at, count)| *more.entry(at).or_default() += count);
        let drawn = |(at, count): (&u32, &u32)| {
            let Machine { taken, given, draws, .. } = self.machines[*at as usize];
            u128::from(self.draws(*at, taken + given + count, stand)).saturating_sub(draws.into())
        };
        let fits = self.total + more.iter().map(drawn).sum::<u128>() <= self.most;
        if fits {
            self.give_all(block, stand);
        }
        fits
    }

    /// Whether it is what it would be if it were made from these.
    pub(super) fn is_sound(&self, other: &Self) -> bool {
        (&self.taken, &self.machines) == (&other.taken, &other.machines)
            && (self.total, self.own) == (other.total, other.own)
    }
}
