//! The machines of a partition that are down, over time.

use std::collections::BTreeMap;

use crate::model::{JobRef, PartitionSpec, ProcSet};
use crate::units::Time;

/// The machines of a partition over time, according to events.
#[derive(Debug)]
pub(super) struct Machines {
    cores: u32,
    allocation_unit: u32,
    usable: u32,
    /// Machines that are down now, and since when.
    down: BTreeMap<u32, Time>,
    /// Past stretches of being down, by machine; those that no later segment can overlap are forgotten.
    past: BTreeMap<u32, Vec<(Time, Time)>>,
    /// Machines that drain now, and since when; also while they are down for another reason.
    draining: BTreeMap<u32, Time>,
    /// Past stretches of draining, by machine.
    drained: BTreeMap<u32, Vec<(Time, Time)>>,
    /// The first job on each machine, and when it used it: a later event may show that the machine was down from the
    /// beginning.
    used: BTreeMap<u32, (Time, JobRef)>,
    /// Whether any machine was ever slowed down.
    pub(super) slowed: bool,
    /// Whether any machine left or joined.
    pub(super) changed: bool,
}

impl Machines {
    pub(super) fn new(spec: &PartitionSpec) -> Self {
        let absent = spec.machines().saturating_sub(spec.absent)..spec.machines();
        Self {
            cores: spec.cores.max(1),
            allocation_unit: spec.allocation_unit.max(1),
            usable: spec.usable(),
            down: absent.map(|machine| (machine, Time::ZERO)).collect(),
            past: BTreeMap::new(),
            draining: BTreeMap::new(),
            drained: BTreeMap::new(),
            used: BTreeMap::new(),
            slowed: false,
            changed: spec.absent > 0,
        }
    }

    /// Records that machines leave.
    pub(super) fn leave(&mut self, machines: &ProcSet, now: Time) {
        self.changed = true;
        for machine in machines.iter() {
            self.down.entry(machine).or_insert(now);
        }
        // One that is to leave for another reason says so again when it is back.
        self.stay(machines, now);
    }

    /// Records that machines drain.
    pub(super) fn drain(&mut self, machines: &ProcSet, now: Time) {
        for machine in machines.iter() {
            self.draining.entry(machine).or_insert(now);
        }
    }

    /// Records that machines drain no longer.
    pub(super) fn stay(&mut self, machines: &ProcSet, now: Time) {
        if self.draining.is_empty() {
            return;
        }
        for machine in machines.iter() {
            if let Some(since) = self.draining.remove(&machine).filter(|since| *since < now) {
                self.drained.entry(machine).or_default().push((since, now));
            }
        }
    }

    /// Whether any machine drains, or has done so.
    pub(super) fn drains(&self) -> bool {
        !self.draining.is_empty() || !self.drained.is_empty()
    }

    /// A machine of `procs` that drained when an attempt began there. Where machines wake up an attempt may begin at the very instant at which they begin
    /// to drain, since it had been given them before.
    pub(super) fn drained_at(&self, procs: &ProcSet, from: Time, wakes: bool) -> Option<u32> {
        let drains = |machine: &u32| {
            let past = self.drained.get(machine).into_iter().flatten();
            let now = self.draining.get(machine).map(|since| (*since, Time::NEVER));
            past.copied().chain(now).any(|(since, until)| {
                let has_begun = since < from || since == from && !wakes;
                has_begun && from < until
            })
        };
        procs.iter().map(|proc| proc / self.cores).find(drains)
    }

    /// Records that machines join. Those that never left were down from the beginning: returns what ran on them
    /// before, if anything.
    pub(super) fn join(&mut self, machines: &ProcSet, now: Time) -> Option<(u32, Time, JobRef)> {
        self.changed = true;
        let mut wrong = None;
        for machine in machines.iter() {
            let Some(since) = self.down.remove(&machine) else {
                if let Some((from, job)) = self.used.get(&machine).filter(|(from, _)| *from < now) {
                    wrong = wrong.or(Some((machine, *from, *job)));
                }
                continue;
            };
            if since < now {
                self.past.entry(machine).or_default().push((since, now));
            }
        }
        wrong
    }

    /// Records that a job ran on `procs`. Returns the earliest instant at which one of their machines was down, and
    /// that machine.
    pub(super) fn run(
        &mut self,
        job: JobRef,
        procs: &ProcSet,
        (from, to): (Time, Time),
    ) -> Option<(Time, u32)> {
        let mut wrong: Option<(Time, u32)> = None;
        let mut last = None;
        for proc in procs.iter() {
            let machine = proc / self.cores;
            if last.replace(machine) == Some(machine) {
                continue;
            }
            let first = self.used.entry(machine).or_insert((from, job));
            if from < first.0 {
                *first = (from, job);
            }
            let past = self.past.get(&machine).into_iter().flatten().copied();
            let now = self.down.get(&machine).map(|since| (*since, Time::NEVER));
            for (gone, back) in past.chain(now) {
                if gone < to && from < back {
                    let time = from.max(gone);
                    wrong = Some(wrong.map_or((time, machine), |earlier| earlier.min((time, machine))));
                }
            }
        }
        wrong
    }

    /// Processors that cannot be allocated now because they, or others of their allocation unit, are down.
    pub(super) fn missing(&self) -> u32 {
        let mut procs = ProcSet::new();
        for machine in self.down.keys() {
            let (first, end) = (machine * self.cores, (machine + 1) * self.cores);
            let (block, after) = (
                first / self.allocation_unit * self.allocation_unit,
                end.div_ceil(self.allocation_unit) * self.allocation_unit,
            );
            procs.insert_all(&ProcSet::range(block, after.min(self.usable)));
        }
        procs.len()
    }

    /// States that no later segment begins before `time`.
    pub(super) fn forget_before(&mut self, time: Time) {
        for past in [&mut self.past, &mut self.drained] {
            past.retain(|_, stretches| {
                stretches.retain(|(_, back)| *back > time);
                !stretches.is_empty()
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{JobId, WorkloadId};

    #[test]
    fn machines_that_are_away_are_found() {
        let spec = PartitionSpec { cores: 2, absent: 1, ..PartitionSpec::plain(4) };
        let mut machines = Machines::new(&spec);
        let (secs, job) = (Time::from_secs, JobRef { workload: WorkloadId::GRID, number: JobId(1) });
        machines.leave(&ProcSet::range(1, 2), secs(10));
        assert!(machines.join(&ProcSet::range(1, 2), secs(20)).is_none());
        let mut run =
            |first, from, to| machines.run(job, &ProcSet::range(first, first + 2), (secs(from), secs(to)));
        assert_eq!(run(2, 0, 10), None);
        assert_eq!(run(2, 20, 30), None);
        assert_eq!(run(2, 0, 11), Some((secs(10), 1)));
        assert_eq!(run(3, 19, 30), Some((secs(19), 1)));
        assert_eq!(run(6, 5, 30), Some((secs(5), 3)), "absent from the beginning");
        machines.forget_before(secs(20));
        assert!(machines.past.is_empty());
        assert_eq!(machines.missing(), 2);
        // Machine 1 joins without having left: it was used from 0 s.
        assert_eq!(
            machines.join(&ProcSet::range(1, 2), secs(40)).map(|(machine, from, _)| (machine, from)),
            Some((1, secs(0)))
        );
    }
}
