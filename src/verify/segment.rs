//! The checks of a segment.

use std::sync::Arc;

use super::Checker;
use super::findings::{JobName, Row, Rule};
use super::job_trace::{JobTrace, Tail};
use super::platform::stretch;
use crate::model::{Cause, PartitionSpec, ProcSet, SegmentRecord};
use crate::units::Rate;

impl Checker {
    /// Checks a segment, a stretch of an attempt, at its end.
    pub fn segment(&mut self, segment: &SegmentRecord, row: Row) {
        self.verdict.segments += 1;
        let name = JobName::new(segment.job, segment.origin, segment.site);
        if segment.cause == Cause::Staging {
            return self.staging(name, segment);
        }
        let platform = Arc::clone(&self.platform);
        let told = name.told(&platform);
        let (from, to, site, partition) = (segment.from, segment.to, segment.site, segment.partition);
        let mut fault = |rule, time, said| {
            self.verdict.break_rule(super::Violation { time, rule, jobs: vec![name], said, row })
        };
        if from >= to {
            fault(
                Rule::Rows,
                from,
                format!("a segment of {told} ends at {to} s, not after its begin at {from} s"),
            );
            return;
        }
        let spec = self.platform.get(site).and_then(|facts| facts.partition(partition));
        let Some(spec) = spec else {
            let place = self.platform.place(site, partition);
            fault(Rule::Place, from, format!("{told} runs at {place}, which the grid does not have"));
            return;
        };
        self.verdict.look(Rule::Place);
        if let Some(said) = misplaced(spec, &segment.procs) {
            let place = self.platform.place(site, partition);
            self.fault(Rule::Place, from, vec![name], row, format!("{told} has {said} of {place}"));
        }
        if self.has_ended(name) {
            let said = format!("{told} runs {}, after its end", stretch(from, to));
            return self.fault(Rule::Rows, from, vec![name], row, said);
        }
        let last = self.traces.get(&name).and_then(|trace| trace.last.clone());
        let goes_on = self.follows(name, last.as_ref(), segment, row);
        self.rate(name, segment, row);
        self.place(name, last.as_ref(), goes_on, segment, row);
        self.traces.entry(name).or_default().take(segment, row);
    }

    /// Staging holds no processors; input must have arrived before the job starts.
    fn staging(&mut self, name: JobName, segment: &SegmentRecord) {
        if self.has_ended(name) {
            return;
        }
        let trace = self.traces.entry(name).or_default();
        trace.energy += segment.energy.nanojoules();
        trace.cost += segment.cost.nanos();
        if trace.last.as_ref().is_none_or(|last| last.attempt < segment.attempt) {
            trace.staged = Some(segment.to);
        }
    }

    /// Checks how a segment follows the previous one of its job. True if it belongs to the same attempt.
    fn follows(&mut self, name: JobName, last: Option<&Tail>, segment: &SegmentRecord, row: Row) -> bool {
        self.verdict.look(Rule::Attempts);
        let platform = Arc::clone(&self.platform);
        let (told, from) = (name.told(&platform), segment.from);
        let before = last.map_or(0, |last| last.attempt);
        if let Some(last) = last.filter(|last| from < last.to) {
            let time = from.max(last.from);
            let here = self.platform.place(segment.site, segment.partition);
            let said = format!(
                "{told} runs twice: {} on {}, and {} on {} of {here}",
                stretch(last.from, last.to),
                self.platform.processors(last.site, last.partition, &last.procs),
                stretch(from, segment.to),
                segment.procs,
            );
            self.fault(Rule::Attempts, time, vec![name], row, said);
        }
        if segment.attempt < before {
            let said = format!("attempt {} of {told} runs after attempt {before}", segment.attempt);
            self.fault(Rule::Attempts, from, vec![name], row, said);
        } else if segment.attempt > before && segment.attempt > 1 {
            let needed = segment.attempt - 1;
            let lost =
                |trace: &JobTrace| trace.losses.iter().any(|(at, time)| *at == needed && *time <= from);
            if !self.traces.get(&name).is_some_and(lost) {
                let said = format!(
                    "attempt {} of {told} begins, and attempt {needed} has not failed before",
                    segment.attempt
                );
                self.fault(Rule::Attempts, from, vec![name], row, said);
            }
        }
        let goes_on = last.filter(|last| last.attempt == segment.attempt);
        let Some(last) = goes_on else {
            let staged = self.traces.get(&name).and_then(|trace| trace.staged);
            if let Some(staged) = staged.filter(|staged| *staged > from) {
                let said = format!("{told} starts at {from} s, and its input arrives at {staged} s");
                self.fault(Rule::Precedence, from, vec![name], row, said);
            }
            return false;
        };
        let facts = self.platform.get(segment.site);
        let abilities = facts.map(|facts| facts.abilities);
        let preempts = abilities.is_some_and(|abilities| abilities.preempts);
        let stood_still = self.traces.get(&name).is_some_and(|trace| trace.stood_still(last.to, from));
        if last.to < from && !preempts && !stood_still {
            let said = format!("{told} pauses {}, in the middle of an attempt", stretch(last.to, from));
            self.fault(Rule::Attempts, last.to, vec![name], row, said);
        }
        let may_move = abilities
            .is_some_and(|able| able.resizes || able.elastic > 0 || able.preempts && !able.same_processors);
        self.verdict.look(Rule::SameProcessors);
        let moved = last.procs != segment.procs || last.partition != segment.partition;
        if last.site != segment.site || moved && !may_move {
            let said = format!(
                "{told} continues on {}, and had {}",
                self.platform.processors(segment.site, segment.partition, &segment.procs),
                self.platform.processors(last.site, last.partition, &last.procs),
            );
            self.fault(Rule::SameProcessors, from, vec![name], row, said);
        }
        true
    }

    /// Checks that a job progresses at the rate of its processors.
    fn rate(&mut self, name: JobName, segment: &SegmentRecord, row: Row) {
        let at = (segment.site, segment.partition);
        let spec = self.platform.get(segment.site).and_then(|facts| facts.partition(segment.partition));
        let (Some(spec), Some(floor)) = (spec, self.floors.get(&at)) else { return };
        if !self.platform.rigid || !self.platform.known {
            return;
        }
        // Machines that changed their speed may be slower or faster; the records do not say by how much.
        let wrong = !floor.machines.slowed && segment.rate != spec.speed.times(segment.share);
        self.verdict.look(Rule::Work);
        if wrong || segment.share > Rate::FULL {
            let platform = Arc::clone(&self.platform);
            let told = name.told(&platform);
            let said = format!(
                "{told} runs at a rate of {} where the speed is {} and its share {}",
                segment.rate, spec.speed, segment.share
            );
            self.fault(Rule::Work, segment.from, vec![name], row, said);
        }
    }

    /// Checks that its processors are free.
    fn place(
        &mut self,
        name: JobName,
        last: Option<&Tail>,
        goes_on: bool,
        segment: &SegmentRecord,
        row: Row,
    ) {
        let (site, partition, procs) = (segment.site, segment.partition, &segment.procs);
        let Some(floor) = self.floors.get_mut(&(site, partition)) else { return };
        let span = (segment.from, segment.to);
        // A job that stood still because of a machine has kept its other processors.
        let preempts = self.platform.preempts(site);
        let alone = self.platform.get(site).is_some_and(|facts| facts.abilities.multiprogramming_level <= 1);
        let kept_from = match last {
            Some(last) if goes_on && alone && !preempts => last.to.min(segment.from),
            _ => segment.from,
        };
        let clash = floor.holders.hold(name, procs, (kept_from, segment.to), segment.share);
        let down = floor.machines.run(name, procs, span);
        // Nor is it a start when the job continues after that.
        let goes_on_after_halt = self
            .traces
            .get(&name)
            .is_some_and(|trace| trace.halts.iter().any(|(_, until)| *until == segment.from));
        let resumes = preempts && last.is_some_and(|last| last.to < segment.from);
        let is_start = !goes_on_after_halt && (!goes_on || resumes);
        if let Some(bookings) = &mut floor.bookings {
            bookings.used(name, procs.len(), span, is_start, row);
            self.verdict.look(Rule::Reservation);
        }
        self.verdict.look(Rule::Capacity);
        if self.platform.events {
            self.verdict.look(Rule::Down);
        }
        let platform = Arc::clone(&self.platform);
        let told = name.told(&platform);
        if let Some(clash) = clash {
            let others: Vec<String> =
                clash.others.iter().map(|other| other.told(&platform).to_string()).collect();
            let what = self.platform.processors(site, partition, &clash.procs);
            let said = if clash.too_much {
                format!("{what} have shares above 1 for {told} and {}", others.join(", "))
            } else {
                format!("{told} has {what} {}, and so has {}", stretch(span.0, span.1), others.join(", "))
            };
            let jobs = std::iter::once(name).chain(clash.others).collect();
            self.fault(Rule::Capacity, clash.time, jobs, row, said);
        }
        if let Some((time, machine)) = down {
            let said = format!(
                "{told} runs on {}, {}, and machine {machine} is down then",
                self.platform.processors(site, partition, procs),
                stretch(span.0, span.1)
            );
            self.fault(Rule::Down, time, vec![name], row, said);
        }
    }
}

/// An error in a set of processors of a partition, in words.
fn misplaced(spec: &PartitionSpec, procs: &ProcSet) -> Option<String> {
    if procs.is_empty() {
        return Some("no processors".to_owned());
    }
    let beyond = procs.iter().find(|proc| *proc >= spec.usable());
    if let Some(proc) = beyond {
        return Some(format!("processor {proc} of the {} (from 0)", spec.usable()));
    }
    let allocation_unit = spec.allocation_unit.max(1);
    let whole = allocation_unit == 1
        || procs
            .intervals()
            .all(|(first, last)| first % allocation_unit == 0 && (last + 1) % allocation_unit == 0);
    (!whole)
        .then(|| format!("processors {procs}, which are not whole allocation units of {allocation_unit},"))
}
