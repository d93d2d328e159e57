//! Outages: changes of machine state by chance.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Law;
use super::notices::Notices;
use crate::model::{ProcSet, RandomChurn};
use crate::units::{Span, Time};
use crate::workload::random::Stream;

/// A change of a machine's state.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Turn {
    /// The machine comes.
    Up,
    /// The machine leaves.
    Down,
}

/// The machines of a partition that come and go by chance, independently of each other.
///
/// **Common random numbers.** A machine's `n`-th up time depends on the seed, the names of site and partition, the
/// machine's number, `n` and the law of up times alone, and its `n`-th down time likewise. So no other machine, partition,
/// site or policy changes an outage, and another law of down times leaves the up times unchanged.
///
/// **Equilibrium.** The run begins in the stationary state: a machine is up with the probability mean up / (mean up +
/// mean down), and its first stretch is the rest of one that began before the run ([`Law::residual`]).
#[derive(Clone, Debug)]
pub struct Outages {
    names: Names,
    /// The laws of up and down times; `None` if machines that come back stay.
    laws: Option<(Law, Law)>,
    clocks: Vec<Clock>,
    /// The end of every machine's current stretch, unless it is never.
    queue: BinaryHeap<Reverse<(Time, u32)>>,
    notices: Notices,
}

#[derive(Clone, Debug)]
struct Names {
    seed: u64,
    site: String,
    partition: String,
}

/// The state of a machine's process.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Clock {
    up: bool,
    /// The number of the current stretch, from 0. Up and down alternate, so it is the `stretch / 2`-th of its kind.
    stretch: u64,
    /// The end of the current stretch.
    until: Time,
}

/// The state of [`Outages`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutagesSave {
    clocks: Vec<Clock>,
}

/// A saved state that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the outages of partition `{partition}` were saved with {saved} machines, not {machines}")]
pub struct OutagesError {
    partition: String,
    saved: usize,
    machines: usize,
}

impl Names {
    fn stream(&self, machine: u32, what: &str, nth: u64) -> Stream {
        // The name of the partition comes last, because it may contain any character.
        let purpose = format!("outage {what} {nth} {machine} {}", self.partition);
        Stream::new(self.seed, &self.site, &purpose)
    }
}

impl Outages {
    /// The machines `0..machines` of a partition at the beginning of a run seeded with `seed`.
    pub fn new(seed: u64, site: &str, partition: &str, machines: u32, churn: &RandomChurn) -> Self {
        let names = Names { seed, site: site.to_owned(), partition: partition.to_owned() };
        let (up, down) = (Law::of(churn.up), Law::of(churn.down));
        // The means themselves may be too large for a float.
        let availability = 1.0 / (1.0 + libm::exp(down.log_mean() - up.log_mean()));
        let clock = |machine| {
            let is_up = names.stream(machine, "state", 0).uniform() < availability;
            let (law, what) = if is_up { (up, "up") } else { (down, "down") };
            let residual = law.residual(&mut names.stream(machine, what, 0));
            Clock { up: is_up, stretch: 0, until: Time::ZERO + residual }
        };
        let clocks: Vec<Clock> = (0..machines).map(clock).collect();
        let queue = queue(&clocks);
        Self { names, laws: Some((up, down)), clocks, queue, notices: Notices::default() }
    }

    /// The same with so much notice of each machine that leaves.
    #[must_use]
    pub fn with_notice(mut self, notice: Span) -> Self {
        self.notices = Notices::new(notice);
        self.announce(&ProcSet::new(), Time::ZERO);
        self
    }

    /// Determines anew when machines begin to drain that do not do so yet: at `now` at the earliest.
    fn announce(&mut self, draining: &ProcSet, now: Time) {
        let leaves = self.clocks.iter().zip(0..).filter(|(clock, _)| clock.up && clock.until < Time::NEVER);
        self.notices.announce(leaves.map(|(clock, machine)| (clock.until, machine)), draining, now);
    }

    /// The machines that begin to drain up to and including `now`. Those that come or leave until then are [due](Self::due) before.
    pub fn draining(&mut self, now: Time) -> ProcSet {
        self.notices.due(now, |machine| self.clocks[machine as usize].up)
    }

    /// Outages of machines that came and went by chance until now: those that are down come back at the end of their stretch, and no
    /// machine leaves after that.
    ///
    /// # Errors
    /// [`OutagesError`] if it was saved with another number of machines.
    pub fn ceasing(machines: u32, saved: OutagesSave) -> Result<Self, OutagesError> {
        let names = Names { seed: 0, site: String::new(), partition: String::new() };
        let clocks = vec![Clock { up: true, stretch: 0, until: Time::NEVER }; machines as usize];
        let (queue, notices) = (BinaryHeap::new(), Notices::default());
        let mut outages = Self { names, laws: None, clocks, queue, notices };
        outages.restore(saved, &ProcSet::new())?;
        for clock in outages.clocks.iter_mut().filter(|clock| clock.up) {
            clock.until = Time::NEVER;
        }
        outages.queue = self::queue(&outages.clocks);
        Ok(outages)
    }

    /// Begins the process now instead of at the beginning of the run: every machine is up, in the middle of a stretch.
    pub fn begin_at(&mut self, now: Time) {
        self.clocks.fill(Clock { up: true, stretch: 0, until: Time::NEVER });
        self.go_on_at(now, &ProcSet::new());
    }

    /// Restarts the process of machines that are up for ever, because their outages had ceased. Those that are `draining` go on to do so; others begin
    /// by the notice of this description.
    pub fn go_on_at(&mut self, now: Time, draining: &ProcSet) {
        let Some((up, _)) = self.laws else { return };
        for (clock, machine) in self.clocks.iter_mut().zip(0..) {
            if clock.up && clock.until == Time::NEVER {
                clock.until = now + up.residual(&mut self.names.stream(machine, "up", clock.stretch / 2));
            }
        }
        self.queue = queue(&self.clocks);
        self.announce(draining, now);
    }

    /// The machines that are down at the beginning; later, the machines that are down now.
    pub fn down(&self) -> ProcSet {
        let down = self.clocks.iter().zip(0..).filter(|(clock, _)| !clock.up);
        down.map(|(_, machine)| machine).collect()
    }

    /// The next instant at which a machine comes, leaves or begins to drain; `None` if there is none.
    pub fn next(&self) -> Option<Time> {
        let turn = self.queue.peek().map(|Reverse((time, _))| *time);
        turn.into_iter().chain(self.notices.next()).min()
    }

    /// The machines that come or leave up to and including `now`, in order of time; those of one instant in order of their
    /// numbers. No machine occurs twice in one instant.
    pub fn due(&mut self, now: Time) -> Vec<(u32, Turn)> {
        let mut turns = Vec::new();
        while let Some(Reverse((time, machine))) = self.queue.peek().copied().filter(|top| top.0.0 <= now) {
            self.queue.pop();
            let clock = &mut self.clocks[machine as usize];
            clock.up = !clock.up;
            clock.stretch += 1;
            let (what, turn) = if clock.up { ("up", Turn::Up) } else { ("down", Turn::Down) };
            clock.until = self.laws.map_or(Time::NEVER, |(up, down)| {
                let law = if clock.up { up } else { down };
                time + law.draw(&mut self.names.stream(machine, what, clock.stretch / 2))
            });
            if clock.until < Time::NEVER {
                self.queue.push(Reverse((clock.until, machine)));
                if clock.up {
                    self.notices.add(clock.until, machine, time);
                }
            }
            turns.push((machine, turn));
        }
        turns
    }

    /// The state.
    pub fn save(&self) -> OutagesSave {
        OutagesSave { clocks: self.clocks.clone() }
    }

    /// Restores a state in which these machines were `draining`. Stretches that have begun keep their ends; later ones follow the laws of this description.
    ///
    /// # Errors
    /// [`OutagesError`] if it was saved with another number of machines.
    pub fn restore(&mut self, saved: OutagesSave, draining: &ProcSet) -> Result<(), OutagesError> {
        let (saved, machines) = (saved.clocks, self.clocks.len());
        if saved.len() != machines {
            let partition = self.names.partition.clone();
            return Err(OutagesError { partition, saved: saved.len(), machines });
        }
        self.queue = queue(&saved);
        self.clocks = saved;
        self.announce(draining, Time::ZERO);
        Ok(())
    }
}

fn queue(clocks: &[Clock]) -> BinaryHeap<Reverse<(Time, u32)>> {
    let ends = clocks.iter().zip(0..).map(|(clock, machine)| (clock.until, machine));
    ends.filter(|(until, _)| *until < Time::NEVER).map(Reverse).collect()
}

#[cfg(test)]
mod tests;
