//! What the machines of a site with a power cap draw, by the states of their processors.

use super::findings::{Row, Rule, Verdict, Violation};
use super::platform::SiteFacts;
use crate::model::{MachineGroup, MachineRecord, MachineState, PartitionSpec};
use crate::units::{Power, Time};

/// What the machines of a site draw over time, in milliwatts.
#[derive(Debug)]
pub(super) struct Drawn {
    name: String,
    cap: Power,
    parts: Vec<Part>,
    total: u128,
    /// The last row, whose instant may have more.
    last: Option<(Time, Row)>,
}

#[derive(Debug)]
struct Part {
    spec: PartitionSpec,
    /// The state of each processor.
    states: Vec<MachineState>,
    /// What each machine draws.
    draws: Vec<u128>,
}

impl Drawn {
    /// The machines of a site, idle; `None` if it has no cap or does not record their states.
    pub(super) fn of(facts: &SiteFacts) -> Option<Self> {
        let spec = &facts.spec;
        let cap = spec.power_cap.filter(|_| spec.record_machines)?;
        let parts: Vec<Part> = spec.partitions.iter().map(Part::of).collect();
        let total = parts.iter().flat_map(|part| &part.draws).sum();
        Some(Self { name: spec.name.clone(), cap, parts, total, last: None })
    }

    /// Takes over a change of state; checks what was drawn before it.
    pub(super) fn change(&mut self, record: &MachineRecord, row: Row, verdict: &mut Verdict) {
        if self.last.is_some_and(|(time, _)| time < record.time) {
            self.settle(verdict);
        }
        self.last = Some((record.time, row));
        let Some(part) = self.parts.get_mut(record.partition.index()) else { return };
        let cores = part.spec.cores.max(1) as usize;
        let mut last = None;
        for proc in record.procs.iter().map(|proc| proc as usize) {
            let Some(state) = part.states.get_mut(proc) else { break };
            *state = record.state;
            if last.is_some_and(|last| last != proc / cores) {
                self.total = part.draw(last.unwrap_or_default(), self.total);
            }
            last = Some(proc / cores);
        }
        if let Some(machine) = last {
            self.total = part.draw(machine, self.total);
        }
    }

    /// Checks what is drawn from the last instant on.
    pub(super) fn settle(&mut self, verdict: &mut Verdict) {
        let Some((time, row)) = self.last.take() else { return };
        verdict.count_check(Rule::PowerCap);
        if self.total > u128::from(self.cap.milliwatts()) {
            let drawn = Power::from_milliwatts(u64::try_from(self.total).unwrap_or(u64::MAX));
            let message =
                format!("the machines of {} draw {drawn}, and its power cap is {}", self.name, self.cap);
            verdict.report(Violation { time, rule: Rule::PowerCap, jobs: Vec::new(), message, row });
        }
    }
}

impl Part {
    fn of(spec: &PartitionSpec) -> Self {
        let states = vec![MachineState::Idle; spec.processors() as usize];
        let mut part = Self { spec: spec.clone(), states, draws: vec![0; spec.machines() as usize] };
        (0..part.draws.len()).for_each(|machine| {
            part.draw(machine, 0);
        });
        part
    }

    /// Determines anew what a machine draws; returns what all draw, given what they drew.
    fn draw(&mut self, machine: usize, total: u128) -> u128 {
        let cores = self.spec.cores.max(1) as usize;
        let states = &self.states[machine * cores..(machine + 1) * cores];
        let drawn = self.spec.group_of(machine as u32).map_or(0, |group| drawn(group, states));
        let before = std::mem::replace(&mut self.draws[machine], drawn);
        total + drawn - before.min(total + drawn)
    }
}

/// What a machine draws whose processors are in these states.
fn drawn(group: &MachineGroup, states: &[MachineState]) -> u128 {
    let milliwatts = |power: Power| u128::from(power.milliwatts());
    if states.contains(&MachineState::Down) {
        return 0;
    }
    let transition = states.iter().find_map(|state| {
        let of = group.sleep?;
        match state {
            MachineState::Asleep => Some(of.asleep),
            MachineState::Waking => Some(of.waking),
            MachineState::Falling => Some(of.falling),
            _ => None,
        }
    });
    if let Some(power) = transition {
        return milliwatts(power);
    }
    let (cores, busy) = (states.len(), states.iter().filter(|state| **state == MachineState::Busy).count());
    let Some(points) = &group.by_load else {
        return milliwatts(group.idle) * (cores - busy) as u128 + milliwatts(group.busy) * busy as u128;
    };
    let steps = points.len().saturating_sub(1);
    let (step, part) = (busy * steps / cores, (busy * steps % cores) as u128);
    let point = |step: usize| points.get(step).copied().map_or(0, milliwatts);
    (point(step) * (cores as u128 - part) + point(step + 1) * part) / cores as u128
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::Abilities;
    use crate::model::{Named, PartitionId, ProcSet, SiteId, SiteSpec, SleepSpec};
    use crate::units::Span;

    /// Three machines of two cores, 100 W and 200 W, that sleep at 10 W and wake up with 150 W, under 450 W: with a core busy they draw 350 W, with
    /// four 500 W; with one of them asleep 410 W, on its way back 550 W.
    #[test]
    fn what_is_drawn_above_the_cap_is_found() {
        let watts = |watts: u64| Power::from_milliwatts(1_000 * watts);
        let sleep = SleepSpec {
            asleep: watts(10),
            wake: Span::from_secs(60),
            waking: watts(150),
            fall: Span::from_secs(6),
            falling: watts(90),
        };
        let group = MachineGroup {
            idle: watts(50),
            busy: watts(100),
            sleep: Some(sleep),
            ..MachineGroup::plain("any", 3)
        };
        let partitions = vec![PartitionSpec { cores: 2, ..PartitionSpec::of(group) }];
        let spec = SiteSpec {
            partitions,
            power_cap: Some(watts(450)),
            record_machines: true,
            ..SiteSpec::plain("delft", 6, Named::bare("easy"))
        };
        let mut drawn = Drawn::of(&SiteFacts { spec, abilities: Abilities::PLAIN }).expect("it has a cap");
        let mut verdict = Verdict::default();
        let rows = [
            (0, MachineState::Busy, 0..1),
            (10, MachineState::Falling, 4..6),
            (16, MachineState::Asleep, 4..6),
            (20, MachineState::Busy, 0..4),
            // Of one instant only the end counts.
            (30, MachineState::Waking, 4..6),
            (30, MachineState::Idle, 0..4),
            (40, MachineState::Busy, 0..4),
            (50, MachineState::Down, 4..6),
        ];
        for (line, (secs, state, procs)) in (2..).zip(rows) {
            let (site, partition) = (SiteId(0), PartitionId(0));
            let procs = ProcSet::range(procs.start, procs.end);
            let record = MachineRecord { time: Time::from_secs(secs), site, partition, procs, state };
            drawn.change(&record, Row { file: "machines.csv", line }, &mut verdict);
        }
        drawn.settle(&mut verdict);
        assert_eq!((verdict.count(), verdict.checked[&Rule::PowerCap]), (1, 7));
        let first = verdict.first().expect("a violation");
        assert_eq!((first.time, first.row.line), (Time::from_secs(40), 8));
        assert_eq!(first.message, "the machines of delft draw 550 W, and its power cap is 450 W");
    }
}
