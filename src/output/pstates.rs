//! Batsim's `pstate_changes.csv` and `consumed_energy.csv`: when machines sleep, and what all of them have drawn so far.
//!
//! Like the states of machines they are computed from the complete tables of a run.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use super::cells;
use super::reader::{ReadError, RunFolder, SegmentRow};
use super::states::Outage;
use crate::model::{Cause, MachineState, PartitionSpec, ProcSet, SiteSpec};
use crate::units::{Energy, Power, Rate};

/// The columns, as Batsim's code writes them.
const PSTATES: &str = "time,machine_id,new_pstate";
const ENERGY: &str = "time,energy,event_type,wattmin,epower";

/// From a time on, processors of a partition are in a state: asleep, on the way there or back, down, or else awake.
pub(super) struct Turn {
    pub(super) at: u64,
    pub(super) part: usize,
    /// The state that they were in.
    pub(super) from: MachineState,
    pub(super) to: MachineState,
    pub(super) procs: ProcSet,
}

/// The number of a power state, as Batsim's tools call them by default.
fn pstate(state: MachineState) -> i8 {
    match state {
        MachineState::Asleep | MachineState::Down => 1,
        MachineState::Waking => -1,
        MachineState::Falling => -2,
        _ => 0,
    }
}

/// When machines fall asleep and wake up, in order of time; nothing if the run wrote no states of machines.
pub(super) fn turns(folder: &RunFolder, sites: &[SiteSpec]) -> Result<Vec<Turn>, ReadError> {
    let numbers = numbered(sites);
    let mut now: BTreeMap<usize, Vec<(MachineState, ProcSet)>> = BTreeMap::new();
    let mut turns = Vec::new();
    for row in folder.machines()?.into_iter().flatten() {
        let row = row?;
        let Some(part) = numbers.get(&(row.site, row.partition)).copied() else { continue };
        let is_sleep = pstate(row.state) != 0 && row.state != MachineState::Down;
        let to = if is_sleep || row.state == MachineState::Down { row.state } else { MachineState::Idle };
        let (at, mut awake) = (row.time.micros(), row.processors);
        let known = now.entry(part).or_default();
        let turn = |from: MachineState, procs: ProcSet| Turn { at, part, from, to, procs };
        let entered = awake.clone();
        for (from, all) in known.iter_mut() {
            let gone = all.intersection(&awake);
            if !gone.is_empty() {
                all.remove_all(&gone);
                awake.remove_all(&gone);
                turns.push(turn(*from, gone));
            }
        }
        if is_sleep {
            if !awake.is_empty() {
                turns.push(turn(MachineState::Idle, awake));
            }
            match known.iter_mut().find(|(state, _)| *state == to) {
                Some((_, all)) => all.insert_all(&entered),
                None => known.push((to, entered)),
            }
        }
    }
    Ok(turns)
}

/// The partitions of all sites by name, numbered through.
fn numbered(sites: &[SiteSpec]) -> BTreeMap<(Arc<str>, Arc<str>), usize> {
    let names = sites.iter().flat_map(|site| site.partitions.iter().map(|part| (&*site.name, &*part.name)));
    names.enumerate().map(|(at, (site, part))| ((Arc::from(site), Arc::from(part)), at)).collect()
}

/// Site, job with its origin, and number of an attempt.
type Attempt = (Arc<str>, u64, &'static str, u32);

/// What happens to energy at a time.
#[derive(Clone, Debug, Default)]
struct Moment {
    /// Jobs that start and end.
    starts: u32,
    ends: u32,
    /// The processors that change to a power state, numbered through.
    pstates: BTreeMap<i8, ProcSet>,
    /// How the power of machines changes that run nothing, in milliwatts.
    standing: i128,
    /// How the power of jobs beyond that changes, in milliwatts × 2²⁰.
    dynamic: i128,
}

/// Power states and energy by time.
pub(super) struct Draws {
    moments: BTreeMap<u64, Moment>,
    /// The processors of all partitions.
    processors: u32,
}

impl Draws {
    /// Those of a run of these sites, from its tables.
    pub(super) fn of(
        folder: &RunFolder,
        sites: &[SiteSpec],
        turns: &[Turn],
        outages: &[Outage],
    ) -> Result<Self, ReadError> {
        let numbers = numbered(sites);
        let mut first = 0;
        let parts = sites.iter().flat_map(|site| &site.partitions);
        let numbered_through = |part| {
            let here = first;
            first += PartitionSpec::processors(part);
            (here, part)
        };
        let parts: Vec<(u32, &PartitionSpec)> = parts.map(numbered_through).collect();
        let mut draws = Self { moments: BTreeMap::new(), processors: first };
        for (_, part) in &parts {
            draws.at(0).standing += standing(part, &ProcSet::full(part.processors()), MachineState::Idle);
        }
        for Turn { at, part, from, to, procs } in turns {
            let (offset, part) = parts[*part];
            // Outages tell of machines that go down and come back.
            let to_power = if *to == MachineState::Down { MachineState::Idle } else { *to };
            let moment = draws.at(*at);
            moment.standing += standing(part, procs, to_power) - standing(part, procs, *from);
            if *to != MachineState::Down {
                moment.turn(*to, procs, offset);
            }
        }
        for Outage { at, site, part, machines, down, .. } in outages {
            let Some(number) = numbers.get(&(site.clone(), part.clone())) else { continue };
            let (offset, part) = parts[*number];
            let mut procs = ProcSet::new();
            for (from, to) in machines.intervals() {
                procs.insert_all(&ProcSet::range(from * part.cores, (to + 1) * part.cores));
            }
            let power = standing(part, &procs, MachineState::Idle);
            let moment = draws.at(*at);
            moment.standing += if *down { -power } else { power };
            moment.turn(if *down { MachineState::Down } else { MachineState::Idle }, &procs, offset);
        }
        let mut attempts: BTreeMap<Attempt, (u64, u64)> = BTreeMap::new();
        for segment in folder.segments()?.into_iter().flatten() {
            let segment = segment?;
            if segment.cause == Cause::Staging {
                continue;
            }
            let Some(number) = numbers.get(&(segment.site.clone(), segment.partition.clone())) else {
                continue;
            };
            let (from, to) = (segment.from.micros(), segment.to.micros());
            let beyond = beyond_idle(parts[*number].1, &segment);
            draws.at(from).dynamic += beyond;
            draws.at(to).dynamic -= beyond;
            let key = (segment.site, segment.job, segment.origin.name(), segment.attempt);
            let spell = attempts.entry(key).or_insert((from, to));
            *spell = (spell.0.min(from), spell.1.max(to));
        }
        for (from, to) in attempts.into_values() {
            draws.at(from).starts += 1;
            draws.at(to).ends += 1;
        }
        Ok(draws)
    }

    fn at(&mut self, at: u64) -> &mut Moment {
        self.moments.entry(at).or_default()
    }

    /// Writes a row for each time and power state that processors change to; at the beginning all are awake but those that are down.
    pub(super) fn write_pstates(&self, to: &mut impl io::Write) -> io::Result<()> {
        writeln!(to, "{PSTATES}")?;
        let mut changes: Vec<(u64, BTreeMap<i8, ProcSet>)> =
            self.moments.iter().map(|(at, moment)| (*at, moment.pstates.clone())).collect();
        if let Some((0, first)) = changes.first_mut() {
            let mut awake = ProcSet::full(self.processors);
            first.iter().filter(|(state, _)| **state != 0).for_each(|(_, procs)| awake.remove_all(procs));
            first.insert(0, awake);
        }
        let mut row = Vec::new();
        for (at, states) in &changes {
            for (state, procs) in states.iter().filter(|(_, procs)| !procs.is_empty()) {
                row.clear();
                cells::six_decimals(&mut row, *at);
                cells::processors(&mut row, procs, 0);
                to.write_all(&row)?;
                writeln!(to, "{state}")?;
            }
        }
        Ok(())
    }

    /// Writes what all machines have drawn since the beginning, at each change of a power state, and at the start and the end of each job.
    pub(super) fn write_energy(&self, to: &mut impl io::Write) -> io::Result<()> {
        writeln!(to, "{ENERGY}")?;
        let (mut standing, mut dynamic) = (0_i128, 0_i128);
        // Milliwatts × 2²⁰ × microseconds, and what had been drawn at the row before.
        let (mut drawn, mut now, mut told) = (0_i128, 0_u64, (0_u64, 0_i128));
        for (at, moment) in &self.moments {
            drawn += ((standing << Rate::BITS) + dynamic) * i128::from(at - now);
            now = *at;
            (standing, dynamic) = (standing + moment.standing, dynamic + moment.dynamic);
            let changes =
                if *at == 0 { 0 } else { moment.pstates.values().filter(|procs| !procs.is_empty()).count() };
            let rows = [('e', moment.ends as usize), ('p', changes), ('s', moment.starts as usize)];
            for (event, count) in rows {
                for _ in 0..count {
                    let mut row = Vec::new();
                    cells::six_decimals(&mut row, *at);
                    cells::joules_six_decimals(
                        &mut row,
                        Energy::from_nanojoules((drawn >> Rate::BITS) as u128),
                    );
                    to.write_all(&row)?;
                    write!(to, "{event},{},", watts(standing))?;
                    let span = i128::from(at - told.0);
                    if span == 0 {
                        writeln!(to, "NA")?;
                    } else {
                        writeln!(to, "{}", watts(((drawn - told.1) / span) >> Rate::BITS))?;
                    }
                    told = (*at, drawn);
                }
            }
        }
        Ok(())
    }
}

impl Moment {
    /// Processors of a partition, whose first one has this number, change to a state.
    fn turn(&mut self, to: MachineState, procs: &ProcSet, first: u32) {
        let mut shifted = ProcSet::new();
        procs
            .intervals()
            .for_each(|(from, to)| shifted.insert_all(&ProcSet::range(first + from, first + to + 1)));
        // What happens last at an instant counts.
        self.pstates.values_mut().for_each(|others| others.remove_all(&shifted));
        self.pstates.entry(pstate(to)).or_default().insert_all(&shifted);
    }
}

/// What the machines of these processors draw in a state without jobs, in milliwatts.
fn standing(part: &PartitionSpec, procs: &ProcSet, state: MachineState) -> i128 {
    let cores = part.cores.max(1);
    let of_group = |(machines, group): (std::ops::Range<u32>, &crate::model::MachineGroup)| {
        let count = procs.count(machines.start * cores, machines.end * cores) / cores;
        let power = match (state, &group.sleep) {
            (MachineState::Asleep, Some(sleep)) => sleep.asleep,
            (MachineState::Waking, Some(sleep)) => sleep.waking,
            (MachineState::Falling, Some(sleep)) => sleep.falling,
            _ => group.idle_machine(cores),
        };
        i128::from(count) * i128::from(power.milliwatts())
    };
    part.numbered().map(of_group).sum()
}

/// What a job draws on its processors beyond what they draw idle, in milliwatts × 2²⁰.
fn beyond_idle(part: &PartitionSpec, segment: &SegmentRow) -> i128 {
    let milliwatts = |power: Power| i128::from(power.milliwatts());
    let of_group = |(machines, group): (std::ops::Range<u32>, &crate::model::MachineGroup)| {
        let count = segment.processors.count(machines.start * part.cores, machines.end * part.cores);
        i128::from(count) * (milliwatts(group.busy) - milliwatts(group.idle))
    };
    let all: i128 = part.numbered().map(of_group).sum();
    all * i128::from(segment.share.units())
}

/// Milliwatts as watts.
fn watts(milliwatts: i128) -> String {
    format!("{}.{:03}", milliwatts / 1_000, milliwatts % 1_000)
}
