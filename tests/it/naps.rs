//! What machines that sleep draw, and whether they do what their sleep state says: from records of machines alone.

use std::collections::BTreeMap;

use gridemu::model::{
    ChurnAct, MachineRecord, MachineState, PartitionSpec, PlannedChurn, SegmentRecord, SleepSpec,
};
use gridemu::units::{Power, Span, Time};

/// A stretch in which a machine was not awake.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nap {
    pub(crate) machine: u32,
    pub(crate) state: MachineState,
    pub(crate) from: Time,
    pub(crate) to: Time,
}

/// The stretches in which machines of a partition of so many cores a machine were not awake, until `end`. The records are those of the partition.
pub(crate) fn naps<'a>(records: impl Iterator<Item = &'a MachineRecord>, cores: u32, end: Time) -> Vec<Nap> {
    let not_awake =
        |state| matches!(state, MachineState::Asleep | MachineState::Waking | MachineState::Falling);
    let mut since: BTreeMap<u32, (MachineState, Time)> = BTreeMap::new();
    let mut naps = Vec::new();
    for record in records {
        let mut machines: Vec<u32> = record.procs.iter().map(|proc| proc / cores).collect();
        machines.dedup();
        for machine in machines {
            let before = since.insert(machine, (record.state, record.time));
            if let Some((state, from)) =
                before.filter(|(state, from)| not_awake(*state) && *from < record.time)
            {
                naps.push(Nap { machine, state, from, to: record.time });
            }
        }
    }
    for (machine, (state, from)) in since {
        if not_awake(state) && from < end {
            naps.push(Nap { machine, state, from, to: end });
        }
    }
    naps
}

/// What is drawn between two instants beyond what the machines would draw idle, in milliwatts × microseconds.
pub(crate) fn beyond_idle(naps: &[Nap], part: &PartitionSpec, from: Time, to: Time) -> i128 {
    beyond_idle_weighed(naps, part, from, to, |from, to| to.since(from).micros().into())
}

/// The same with each stretch weighed.
pub(crate) fn beyond_idle_weighed(
    naps: &[Nap],
    part: &PartitionSpec,
    from: Time,
    to: Time,
    weigh: impl Fn(Time, Time) -> u128,
) -> i128 {
    let milliwatts = |power: Power| i128::from(power.milliwatts());
    let beyond = |nap: &Nap| {
        let group = part.group_of(nap.machine).expect("a machine");
        let state = group.sleep.expect("a machine that sleeps");
        let drawn = match nap.state {
            MachineState::Asleep => state.asleep,
            MachineState::Waking => state.waking,
            _ => state.falling,
        };
        let (from, to) = (nap.from.max(from), nap.to.min(to));
        let weight = if from < to { weigh(from, to) as i128 } else { 0 };
        (milliwatts(drawn) - milliwatts(group.idle) * i128::from(part.cores)) * weight
    };
    naps.iter().map(beyond).sum()
}

/// Transitions take as long as the sleep state says, unless the machine goes down, and nothing runs on machines that are not awake.
pub(crate) fn check(
    naps: &[Nap],
    part: &PartitionSpec,
    segments: &[&SegmentRecord],
    script: &[PlannedChurn],
    end: Time,
) {
    // A machine that goes down may be back in the same instant.
    let joins = |act: &ChurnAct| matches!(act, ChurnAct::Join(_) | ChurnAct::JoinSite);
    let is_back = |at: Time| script.iter().any(|planned| planned.at == at && joins(&planned.act));
    for nap in naps {
        let state: SleepSpec = part.group_of(nap.machine).and_then(|group| group.sleep).expect("it sleeps");
        let takes = match nap.state {
            MachineState::Waking => state.wake,
            MachineState::Falling => state.fall,
            _ => Span::ZERO,
        };
        let over = nap.state == MachineState::Asleep || nap.to == end;
        assert!(over || nap.to.since(nap.from) <= takes, "{nap:?} takes too long");
        let next = naps.iter().find(|next| next.machine == nap.machine && next.from == nap.to);
        // What was begun is carried through, and nobody wakes up a machine that wakes up.
        let cut = nap.to < nap.from + takes && next.is_some() && !is_back(nap.to);
        assert!(nap.state == MachineState::Asleep || !cut, "{nap:?} was cut short by {next:?}");
        // It may have slept for no time in between.
        let again = nap.state == MachineState::Waking && !state.fall.is_zero();
        let twice = again && next.is_some_and(|next| next.state == nap.state) && !is_back(nap.to);
        assert!(!twice, "{nap:?}, then {next:?}");
        let procs = nap.machine * part.cores..(nap.machine + 1) * part.cores;
        let clash = segments.iter().find(|segment| {
            segment.from < nap.to
                && nap.from < segment.to
                && procs.clone().any(|proc| segment.procs.contains(proc))
        });
        assert!(clash.is_none(), "{clash:?} runs on a machine that is not awake: {nap:?}");
    }
}
