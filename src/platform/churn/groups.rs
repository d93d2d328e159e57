//! Failures of several machines at once.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use serde::{Deserialize, Serialize};

use super::{Law, Turn, announced};
use crate::model::{GroupFailures, GroupSize, ProcSet};
use crate::units::{Span, Time};
use crate::workload::random::Stream;

/// The machines of a partition that fail in groups: those of a rack, or some at random.
///
/// **What fails.** A rack is a block of machines by number; each has a process of its own. Without racks the partition has one process, and each
/// of its failures draws how many machines it takes, and which. The members of a group go down within a window, each at a time of its own,
/// and each stays down for a time of its own. A machine that is in several groups at once is down until the last of them has let it go.
///
/// **Common random numbers.** The `n`-th failure of a rack, and what it does to each member, depends on the seed, the names of site and partition,
/// the number of the rack and `n` alone; which machines fail on their own does not come into it.
///
/// **The beginning.** Failures have been going on before the run, so the first one comes after the rest of a stretch; but nothing is down
/// from before.
#[derive(Clone, Debug)]
pub struct GroupOutages {
    names: Names,
    machines: u32,
    /// The rules; `None` if no group fails any more.
    rules: Option<Rules>,
    /// The next failure of each process.
    clocks: Vec<Clock>,
    /// Members that go down later: when, which, when it is back, and when its group begins to fail.
    coming: BinaryHeap<Reverse<(Time, u32, Time, Time)>>,
    /// When each machine is back; 0 if it is not down.
    until: Vec<Time>,
    /// The same as a queue; entries that are no longer true are skipped.
    ends: BinaryHeap<Reverse<(Time, u32)>>,
    /// The next failures, by when they are to be known.
    queue: BinaryHeap<Reverse<(Time, u32)>>,
    /// When members begin to drain: when, which, and when it goes down.
    drains: BinaryHeap<Reverse<(Time, u32, Time)>>,
}

#[derive(Clone, Debug)]
struct Names {
    seed: u64,
    site: String,
    partition: String,
}

#[derive(Clone, Debug)]
struct Rules {
    every: Law,
    down: Law,
    window: Span,
    size: GroupSize,
    notice: Span,
}

/// A process of failures.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Clock {
    /// The number of the next failure, from 0.
    nth: u64,
    /// When it is.
    at: Time,
}

/// The state of [`GroupOutages`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupOutagesSave {
    clocks: Vec<Clock>,
    coming: Vec<(Time, u32, Time, Time)>,
    until: Vec<Time>,
    drains: Vec<(Time, u32, Time)>,
    notice: Span,
}

impl Names {
    fn stream(&self, what: &str, process: u32, nth: u64) -> Stream {
        // The name of the partition comes last, because it may contain any character.
        Stream::new(self.seed, &self.site, &format!("group {what} {nth} {process} {}", self.partition))
    }

    fn member(&self, process: u32, nth: u64, machine: u32) -> Stream {
        Stream::new(
            self.seed,
            &self.site,
            &format!("group member {machine} {nth} {process} {}", self.partition),
        )
    }
}

impl GroupOutages {
    /// The machines `0..machines` of a partition at the beginning of a run seeded with `seed`.
    pub fn new(seed: u64, site: &str, partition: &str, machines: u32, groups: &GroupFailures) -> Self {
        let names = Names { seed, site: site.to_owned(), partition: partition.to_owned() };
        let rules = Rules {
            every: Law::of(groups.every),
            down: Law::of(groups.down),
            window: groups.window,
            size: groups.size,
            notice: groups.notice,
        };
        let mut outages = Self {
            names,
            machines,
            rules: Some(rules),
            clocks: Vec::new(),
            coming: BinaryHeap::new(),
            until: vec![Time::ZERO; machines as usize],
            ends: BinaryHeap::new(),
            queue: BinaryHeap::new(),
            drains: BinaryHeap::new(),
        };
        outages.begin_at(Time::ZERO);
        outages
    }

    /// Machines that have failed in groups until `now`: what is under way comes to its end, and nothing fails after that. What was announced and has not
    /// begun is called off. `now` is 0 if that has been done before.
    pub fn ceasing(machines: u32, saved: GroupOutagesSave, now: Time) -> Self {
        let names = Names { seed: 0, site: String::new(), partition: String::new() };
        let mut outages = Self {
            names,
            machines,
            rules: None,
            clocks: Vec::new(),
            coming: BinaryHeap::new(),
            until: Vec::new(),
            ends: BinaryHeap::new(),
            queue: BinaryHeap::new(),
            drains: BinaryHeap::new(),
        };
        outages.restore(saved, now);
        outages
    }

    /// The machines that will fail, as far as that is known.
    pub fn coming(&self) -> ProcSet {
        self.coming.iter().map(|Reverse((_, machine, ..))| *machine).collect()
    }

    /// Begins the processes at `now`, in the middle of a stretch each.
    pub fn begin_at(&mut self, now: Time) {
        let Some(rules) = &self.rules else { return };
        let clock = |process: u32| {
            let at = now + rules.every.residual(&mut self.names.stream("every", process, 0));
            Clock { nth: 0, at }
        };
        self.clocks = (0..rules.processes(self.machines)).map(clock).collect();
        self.queue = clocks(&self.clocks, rules.notice, now);
    }

    /// The next instant at which anything happens; `None` if there is none.
    pub fn next(&self) -> Option<Time> {
        let drain = self.drains.peek().map(|Reverse((at, ..))| *at);
        self.next_turn().into_iter().chain(drain).min()
    }

    /// The next instant at which machines come or leave, or it is determined which ones will.
    fn next_turn(&self) -> Option<Time> {
        let failure = self.queue.peek().map(|Reverse((at, _))| *at);
        let coming = self.coming.peek().map(|Reverse((at, ..))| *at);
        let end = self.ends.peek().map(|Reverse((at, _))| *at);
        failure.into_iter().chain(coming).chain(end).min()
    }

    /// The machines that come or leave up to and including `now`, in order of time; those of one instant in order of their numbers. No machine
    /// occurs twice in one instant.
    pub fn due(&mut self, now: Time) -> Vec<(u32, Turn)> {
        let mut turns = Vec::new();
        while let Some(at) = self.next_turn().filter(|at| *at <= now) {
            while let Some(process) = pop(&mut self.queue, at) {
                self.fail(process, at);
            }
            let mut changed: BTreeSet<u32> = BTreeSet::new();
            let mut fallen = ProcSet::new();
            while let Some(Reverse((_, machine, until, _))) =
                self.coming.peek().copied().filter(|top| top.0.0 <= at)
            {
                self.coming.pop();
                let known = &mut self.until[machine as usize];
                if *known == Time::ZERO {
                    fallen.insert(machine);
                    changed.insert(machine);
                }
                if until > *known {
                    *known = until;
                    if until < Time::NEVER {
                        self.ends.push(Reverse((until, machine)));
                    }
                }
            }
            while let Some(machine) = pop(&mut self.ends, at) {
                let until = &mut self.until[machine as usize];
                // Another group may keep it longer.
                if *until == at {
                    *until = Time::ZERO;
                    changed.insert(machine);
                    self.announce_again(machine, at);
                }
            }
            turns.extend(
                changed
                    .into_iter()
                    .map(|machine| (machine, if fallen.contains(machine) { Turn::Down } else { Turn::Up })),
            );
            // Nothing happens when a machine would have come back that another group keeps longer.
            let stale = |(at, machine): (Time, u32)| self.until[machine as usize] != at;
            while self.ends.peek().is_some_and(|top| stale(top.0)) {
                self.ends.pop();
            }
        }
        turns
    }

    /// Announces what else is to come of a machine that is back: what was announced before was over when it left.
    fn announce_again(&mut self, machine: u32, now: Time) {
        let notice = self.rules.as_ref().map_or(Span::ZERO, |rules| rules.notice);
        if !notice.is_zero() {
            let later = self.coming.iter().map(|entry| entry.0).filter(|(_, other, ..)| *other == machine);
            self.drains
                .extend(later.map(|(from, ..)| Reverse((announced(from, notice, now), machine, from))));
        }
    }

    /// The machines that begin to drain up to and including `now`. Those that come or leave until then are [due](Self::due) before.
    pub fn draining(&mut self, now: Time) -> ProcSet {
        let mut draining = ProcSet::new();
        while let Some(Reverse((_, machine, from))) = self.drains.peek().copied().filter(|top| top.0.0 <= now)
        {
            self.drains.pop();
            // Of one that another group keeps down it is announced when that lets it go, unless it then stays down.
            let back = self.until[machine as usize];
            if back == Time::ZERO {
                draining.insert(machine);
            } else if back < from {
                self.drains.push(Reverse((back, machine, from)));
            }
        }
        draining
    }

    /// A failure of a process, which becomes known at `now`.
    fn fail(&mut self, process: u32, now: Time) {
        let (Some(rules), Some(clock)) = (&self.rules, self.clocks.get_mut(process as usize)) else { return };
        let (nth, at) = (clock.nth, clock.at);
        for machine in rules.members(&self.names, self.machines, process, nth) {
            let mut stream = self.names.member(process, nth, machine);
            let delay = rules.window.micros();
            let delay = if delay == 0 { 0 } else { stream.below(delay.saturating_add(1)) };
            let from = at + Span::from_micros(delay);
            if from < Time::NEVER {
                self.coming.push(Reverse((from, machine, from + rules.down.draw(&mut stream), at)));
                if !rules.notice.is_zero() {
                    self.drains.push(Reverse((announced(from, rules.notice, now), machine, from)));
                }
            }
        }
        clock.nth += 1;
        clock.at = at + rules.every.draw(&mut self.names.stream("every", process, clock.nth));
        if clock.at < Time::NEVER {
            self.queue.push(Reverse((announced(clock.at, rules.notice, now), process)));
        }
    }

    /// The state.
    pub fn save(&self) -> GroupOutagesSave {
        let mut coming: Vec<_> = self.coming.iter().map(|Reverse(one)| *one).collect();
        coming.sort_unstable();
        let mut drains: Vec<_> = self.drains.iter().map(|Reverse(one)| *one).collect();
        drains.sort_unstable();
        let notice = self.rules.as_ref().map_or(Span::ZERO, |rules| rules.notice);
        GroupOutagesSave { clocks: self.clocks.clone(), coming, until: self.until.clone(), drains, notice }
    }

    /// Restores a state of so many machines at `now`, 0 if the description is the same. What is under way keeps its ends; later failures follow the rules of this
    /// description. If it has other processes, they begin anew, and what the old ones have announced is called off.
    pub fn restore(&mut self, saved: GroupOutagesSave, now: Time) {
        self.coming = saved.coming.into_iter().map(Reverse).collect();
        self.until = saved.until;
        self.until.resize(self.machines as usize, Time::ZERO);
        let ends = self.until.iter().zip(0..).map(|(until, machine)| (*until, machine));
        self.ends =
            ends.filter(|(until, _)| *until > Time::ZERO && *until < Time::NEVER).map(Reverse).collect();
        let goes_on = |rules: &Rules| rules.processes(self.machines) as usize == saved.clocks.len();
        if now > Time::ZERO && !self.rules.as_ref().is_some_and(goes_on) {
            self.coming.retain(|Reverse((.., begins))| *begins <= now);
        }
        match &self.rules {
            None => {}
            Some(rules) if rules.processes(self.machines) as usize == saved.clocks.len() => {
                self.clocks = saved.clocks;
                self.queue = clocks(&self.clocks, rules.notice, now);
            }
            Some(_) => self.begin_at(now),
        }
        self.drains = saved.drains.into_iter().map(Reverse).collect();
        let notice = self.rules.as_ref().map_or(Span::ZERO, |rules| rules.notice);
        if notice != saved.notice {
            // What is announced stays; the rest goes by the notice of this description.
            let later = self.coming.iter().map(|entry| entry.0).filter(|_| !notice.is_zero());
            let drain = |(from, machine, ..): (Time, u32, Time, Time)| {
                Reverse((announced(from, notice, now), machine, from))
            };
            self.drains = later.map(drain).collect();
        }
    }
}

impl Rules {
    /// How many processes a partition of so many machines has.
    fn processes(&self, machines: u32) -> u32 {
        match self.size {
            GroupSize::Rack(size) => machines.div_ceil(size.max(1)),
            _ => 1,
        }
    }

    /// The machines of the `nth` failure of a process, in order.
    fn members(&self, names: &Names, machines: u32, process: u32, nth: u64) -> BTreeSet<u32> {
        if let GroupSize::Rack(size) = self.size {
            let first = process.saturating_mul(size);
            return (first..first.saturating_add(size).min(machines)).collect();
        }
        let mut stream = names.stream("size", process, nth);
        let size = self.size.draw(&mut stream).min(machines);
        // Each set of so many machines is as likely as any other (Floyd 1987).
        let mut members = BTreeSet::new();
        for last in machines - size..machines {
            let some = stream.below(u64::from(last) + 1) as u32;
            if !members.insert(some) {
                members.insert(last);
            }
        }
        members
    }
}

impl GroupSize {
    /// The number of machines of a group.
    fn draw(self, stream: &mut Stream) -> u32 {
        match self {
            Self::Rack(size) | Self::Fixed(size) => size,
            Self::Geometric { mean } => {
                // The number of trials up to the first success, with the probability 1 / mean.
                let failure = 1.0 - 1e6 / mean.max(1_000_000) as f64;
                if failure <= 0.0 {
                    return 1;
                }
                let trials = libm::floor(libm::log(1.0 - stream.uniform()) / libm::log(failure)) + 1.0;
                // The cast saturates.
                trials.max(1.0) as u32
            }
            Self::Lognormal { median, sigma } => {
                let size = median as f64 / 1e6 * libm::exp(sigma as f64 / 1e6 * stream.normal());
                libm::round(size).max(1.0) as u32
            }
        }
    }
}

/// The failures to come, by when they are to be known.
fn clocks(clocks: &[Clock], notice: Span, now: Time) -> BinaryHeap<Reverse<(Time, u32)>> {
    let next = clocks.iter().zip(0..).filter(|(clock, _)| clock.at < Time::NEVER);
    next.map(|(clock, process)| Reverse((announced(clock.at, notice, now), process))).collect()
}

/// Takes the next one that is due at `at`.
fn pop(queue: &mut BinaryHeap<Reverse<(Time, u32)>>, at: Time) -> Option<u32> {
    let Reverse((_, one)) = queue.peek().copied().filter(|top| top.0.0 <= at)?;
    queue.pop();
    Some(one)
}

#[cfg(test)]
mod tests;
