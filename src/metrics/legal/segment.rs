//! What a segment may do.

use std::sync::Arc;

use super::Checker;
use super::findings::{JobName, Row, Rule};
use super::grounds::stretch;
use super::story::{Story, Tail};
use crate::model::{Cause, PartitionSpec, ProcSet, SegmentRecord};
use crate::units::Rate;

impl Checker {
    /// A stretch of an attempt, told when it is over.
    pub fn segment(&mut self, segment: &SegmentRecord, row: Row) {
        self.verdict.segments += 1;
        let name = JobName::new(segment.job, segment.origin, segment.site);
        if segment.cause == Cause::Staging {
            return self.staging(name, segment);
        }
        let grounds = Arc::clone(&self.grounds);
        let told = name.told(&grounds);
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
        let spec = self.grounds.get(site).and_then(|ground| ground.partition(partition));
        let Some(spec) = spec else {
            let place = self.grounds.place(site, partition);
            fault(Rule::Place, from, format!("{told} runs at {place}, which the grid does not have"));
            return;
        };
        self.verdict.look(Rule::Place);
        if let Some(said) = misplaced(spec, &segment.procs) {
            let place = self.grounds.place(site, partition);
            self.fault(Rule::Place, from, vec![name], row, format!("{told} has {said} of {place}"));
        }
        if self.has_ended(name) {
            let said = format!("{told} runs {}, after its end", stretch(from, to));
            return self.fault(Rule::Rows, from, vec![name], row, said);
        }
        let last = self.stories.get(&name).and_then(|story| story.last.clone());
        let goes_on = self.follows(name, last.as_ref(), segment, row);
        self.rate(name, segment, row);
        self.place(name, last.as_ref(), goes_on, segment, row);
        self.stories.entry(name).or_default().take(segment, row);
    }

    /// Data that goes to or from a job keeps no processors; what it needs must be there before it starts.
    fn staging(&mut self, name: JobName, segment: &SegmentRecord) {
        if self.has_ended(name) {
            return;
        }
        let story = self.stories.entry(name).or_default();
        story.energy += segment.energy.nanojoules();
        story.cost += segment.cost.nanos();
        if story.last.as_ref().is_none_or(|last| last.attempt < segment.attempt) {
            story.staged = Some(segment.to);
        }
    }

    /// How a segment follows the one before. True if it is the same attempt.
    fn follows(&mut self, name: JobName, last: Option<&Tail>, segment: &SegmentRecord, row: Row) -> bool {
        self.verdict.look(Rule::Attempts);
        let grounds = Arc::clone(&self.grounds);
        let (told, from) = (name.told(&grounds), segment.from);
        let before = last.map_or(0, |last| last.attempt);
        if let Some(last) = last.filter(|last| from < last.to) {
            let time = from.max(last.from);
            let here = self.grounds.place(segment.site, segment.partition);
            let said = format!(
                "{told} runs twice: {} on {}, and {} on {} of {here}",
                stretch(last.from, last.to),
                self.grounds.processors(last.site, last.partition, &last.procs),
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
            let lost = |story: &Story| story.losses.iter().any(|(at, time)| *at == needed && *time <= from);
            if !self.stories.get(&name).is_some_and(lost) {
                let said = format!(
                    "attempt {} of {told} begins, and attempt {needed} was not lost before",
                    segment.attempt
                );
                self.fault(Rule::Attempts, from, vec![name], row, said);
            }
        }
        let goes_on = last.filter(|last| last.attempt == segment.attempt);
        let Some(last) = goes_on else {
            let staged = self.stories.get(&name).and_then(|story| story.staged);
            if let Some(staged) = staged.filter(|staged| *staged > from) {
                let said = format!("{told} starts at {from} s, and its input is there only at {staged} s");
                self.fault(Rule::Precedence, from, vec![name], row, said);
            }
            return false;
        };
        let ground = self.grounds.get(segment.site);
        let abilities = ground.map(|ground| ground.abilities);
        let preempts = abilities.is_some_and(|abilities| abilities.preempts);
        let stood_still = self.stories.get(&name).is_some_and(|story| story.stood_still(last.to, from));
        if last.to < from && !preempts && !stood_still {
            let said = format!("{told} stands still {}, in the middle of an attempt", stretch(last.to, from));
            self.fault(Rule::Attempts, last.to, vec![name], row, said);
        }
        let may_move = abilities
            .is_some_and(|able| able.resizes || able.elastic > 0 || able.preempts && !able.same_processors);
        self.verdict.look(Rule::SameProcessors);
        let moved = last.procs != segment.procs || last.partition != segment.partition;
        if last.site != segment.site || moved && !may_move {
            let said = format!(
                "{told} goes on on {}, and had {}",
                self.grounds.processors(segment.site, segment.partition, &segment.procs),
                self.grounds.processors(last.site, last.partition, &last.procs),
            );
            self.fault(Rule::SameProcessors, from, vec![name], row, said);
        }
        true
    }

    /// Whether a job goes as fast as it can there.
    fn rate(&mut self, name: JobName, segment: &SegmentRecord, row: Row) {
        let at = (segment.site, segment.partition);
        let spec = self.grounds.get(segment.site).and_then(|ground| ground.partition(segment.partition));
        let (Some(spec), Some(floor)) = (spec, self.floors.get(&at)) else { return };
        if !self.grounds.rigid || !self.grounds.known {
            return;
        }
        // Machines that go on at another speed may be slower or faster; how much is not in the records.
        let wrong = !floor.machines.slowed && segment.rate != spec.speed.times(segment.share);
        self.verdict.look(Rule::Work);
        if wrong || segment.share > Rate::FULL {
            let grounds = Arc::clone(&self.grounds);
            let told = name.told(&grounds);
            let said = format!(
                "{told} runs at a rate of {} where the speed is {} and its share {}",
                segment.rate, spec.speed, segment.share
            );
            self.fault(Rule::Work, segment.from, vec![name], row, said);
        }
    }

    /// Whether its processors are free for it.
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
        // A job that stood still for a machine has kept the others.
        let preempts = self.grounds.preempts(site);
        let alone = self.grounds.get(site).is_some_and(|ground| ground.abilities.slots <= 1);
        let kept_from = match last {
            Some(last) if goes_on && alone && !preempts => last.to.min(segment.from),
            _ => segment.from,
        };
        let clash = floor.holders.hold(name, procs, (kept_from, segment.to), segment.share);
        let away = floor.machines.run(name, procs, span);
        // Nor does it start when it goes on.
        let goes_on_after_halt = self
            .stories
            .get(&name)
            .is_some_and(|story| story.halts.iter().any(|(_, until)| *until == segment.from));
        let resumes = preempts && last.is_some_and(|last| last.to < segment.from);
        let is_start = !goes_on_after_halt && (!goes_on || resumes);
        if let Some(bookings) = &mut floor.bookings {
            bookings.used(name, procs.len(), span, is_start, row);
            self.verdict.look(Rule::Reservation);
        }
        self.verdict.look(Rule::Capacity);
        if self.grounds.events {
            self.verdict.look(Rule::Away);
        }
        let grounds = Arc::clone(&self.grounds);
        let told = name.told(&grounds);
        if let Some(clash) = clash {
            let others: Vec<String> =
                clash.others.iter().map(|other| other.told(&grounds).to_string()).collect();
            let what = self.grounds.processors(site, partition, &clash.procs);
            let said = if clash.too_much {
                format!("{what} give more than their whole time to {told} and {}", others.join(", "))
            } else {
                format!("{told} has {what} {}, and so has {}", stretch(span.0, span.1), others.join(", "))
            };
            let jobs = std::iter::once(name).chain(clash.others).collect();
            self.fault(Rule::Capacity, clash.time, jobs, row, said);
        }
        if let Some((time, machine)) = away {
            let said = format!(
                "{told} runs on {}, {}, and machine {machine} is away then",
                self.grounds.processors(site, partition, procs),
                stretch(span.0, span.1)
            );
            self.fault(Rule::Away, time, vec![name], row, said);
        }
    }
}

/// What is wrong with a set of processors of a partition.
fn misplaced(spec: &PartitionSpec, procs: &ProcSet) -> Option<String> {
    if procs.is_empty() {
        return Some("no processors".to_owned());
    }
    let beyond = procs.iter().find(|proc| *proc >= spec.usable());
    if let Some(proc) = beyond {
        return Some(format!("processor {proc} of the {} (from 0)", spec.usable()));
    }
    let quantum = spec.quantum.max(1);
    let whole = quantum == 1
        || procs.intervals().all(|(first, last)| first % quantum == 0 && (last + 1) % quantum == 0);
    (!whole).then(|| format!("processors {procs}, which are no whole blocks of {quantum},"))
}
