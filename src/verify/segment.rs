//! The checks of a segment.

use super::Checker;
use super::findings::{Row, Rule, Subject, Violation};
use super::job_trace::JobTrace;
use super::platform::stretch;
use super::sizes::Ran;
use super::transitions::is_transition;
use crate::model::{Cause, JobRef, PartitionSpec, ProcSet, SegmentRecord};
use crate::units::Rate;

impl Checker {
    /// Checks a segment, a stretch of an attempt, at its end.
    pub fn segment(&mut self, segment: &SegmentRecord, row: Row) {
        self.verdict.segments += 1;
        let name = segment.job_ref();
        if segment.cause == Cause::Staging {
            return self.staging(name, segment);
        }
        let SegmentRecord { from, to, site, partition, .. } = *segment;
        let subject = Subject { name, row };
        let job = self.platform.job(name);
        if from >= to {
            let message = format!("a segment of {job} ends at {to} s, not after its begin at {from} s");
            return self.verdict.fault(subject, Rule::Rows, from, message);
        }
        let Some(spec) = self.platform.partition(site, partition) else {
            let place = self.platform.place(site, partition);
            let message = format!("{job} runs at {place}, which the grid does not have");
            return self.verdict.fault(subject, Rule::Place, from, message);
        };
        self.verdict.count_check(Rule::Place);
        if let Some(wrong) = misplaced(spec, &segment.procs) {
            let place = self.platform.place(site, partition);
            self.verdict.fault(subject, Rule::Place, from, format!("{job} has {wrong} of {place}"));
        }
        if self.has_ended(name) {
            let message = format!("{job} runs {}, after its end", stretch(from, to));
            return self.verdict.fault(subject, Rule::Rows, from, message);
        }
        let last = self.traces.get(&name).and_then(|trace| trace.last.clone());
        let goes_on = self.follows(subject, last.as_ref(), segment);
        self.rate(subject, segment, row);
        self.transition(subject, last.as_ref(), segment);
        self.place(subject, last.as_ref(), goes_on, segment);
        self.traces.entry(name).or_default().add_segment(segment, row);
    }

    /// Staging holds no processors; input must have arrived before the job starts.
    fn staging(&mut self, name: JobRef, segment: &SegmentRecord) {
        if self.has_ended(name) {
            return;
        }
        let trace = self.traces.entry(name).or_default();
        trace.energy += segment.energy.nanojoules();
        trace.dynamic += segment.dynamic.nanojoules();
        trace.cost += segment.cost.nanos();
        if trace.last.as_ref().is_none_or(|last| last.attempt < segment.attempt) {
            trace.staged = Some(segment.to);
        }
    }

    /// Checks how a segment follows the previous one of its job. True if it belongs to the same attempt.
    fn follows(&mut self, subject: Subject, last: Option<&SegmentRecord>, segment: &SegmentRecord) -> bool {
        let Self { platform, verdict, .. } = self;
        verdict.count_check(Rule::Attempts);
        let trace = self.traces.get(&subject.name);
        let job = platform.job(subject.name);
        let SegmentRecord { from, attempt, site, partition, ref procs, .. } = *segment;
        let before = last.map_or(0, |last| last.attempt);
        if let Some(last) = last.filter(|last| from < last.to) {
            let message = format!(
                "{job} runs twice: {} on {}, and {} on {procs} of {}",
                stretch(last.from, last.to),
                platform.processors(last.site, last.partition, &last.procs),
                stretch(from, segment.to),
                platform.place(site, partition),
            );
            verdict.fault(subject, Rule::Attempts, from.max(last.from), message);
        }
        if attempt < before {
            let message = format!("attempt {attempt} of {job} runs after attempt {before}");
            verdict.fault(subject, Rule::Attempts, from, message);
        } else if attempt > before && attempt > 1 {
            let needed = attempt - 1;
            let lost =
                |trace: &JobTrace| trace.losses.iter().any(|(at, time)| *at == needed && *time <= from);
            if !trace.is_some_and(lost) {
                let message =
                    format!("attempt {attempt} of {job} begins, and attempt {needed} has not failed before");
                verdict.fault(subject, Rule::Attempts, from, message);
            }
        }
        let Some(last) = last.filter(|last| last.attempt == attempt) else {
            let staged = trace.and_then(|trace| trace.staged);
            if staged.is_some() {
                verdict.count_check(Rule::Precedence);
            }
            if let Some(staged) = staged.filter(|staged| *staged > from) {
                let message = format!("{job} starts at {from} s, and its input arrives at {staged} s");
                verdict.fault(subject, Rule::Precedence, from, message);
            }
            return false;
        };
        let abilities = platform.get(site).map(|facts| facts.abilities);
        let stood_still = trace.is_some_and(|trace| trace.stood_still(last.to, from));
        // Before a fork the policy may have been another one.
        let is_known = from > platform.since;
        if last.to < from && is_known && !platform.preempts(site) && !stood_still {
            let message = format!("{job} pauses {}, in the middle of an attempt", stretch(last.to, from));
            verdict.fault(subject, Rule::Attempts, last.to, message);
        }
        let is_resized = |trace: &JobTrace| {
            trace.sized.iter().any(|(at, _, resized)| *resized && (last.to..=from).contains(at))
        };
        let may_move = trace.is_some_and(is_resized)
            || abilities.is_some_and(|able| {
                able.resizes && !platform.events || able.elastic > 0 || able.preempts && !able.same_processors
            });
        verdict.count_check(Rule::SameProcessors);
        let moved = last.procs != *procs || last.partition != partition;
        if last.site != site || moved && is_known && !may_move {
            let message = format!(
                "{job} continues on {}, and had {}",
                platform.processors(site, partition, procs),
                platform.processors(last.site, last.partition, &last.procs),
            );
            verdict.fault(subject, Rule::SameProcessors, from, message);
        }
        true
    }

    /// Checks that a job progresses at the rate of its processors.
    fn rate(&mut self, subject: Subject, segment: &SegmentRecord, row: Row) {
        let SegmentRecord { site, partition, rate, share, cause, from, ref procs, .. } = *segment;
        let Self { platform, verdict, .. } = self;
        let state = self.partitions.get(&(site, partition));
        let Some((spec, state)) = platform.partition(site, partition).zip(state) else { return };
        if !platform.known {
            return;
        }
        // Machines that changed their speed may be slower or faster, and so may jobs beside others; the records do not say by how much.
        let speed = spec.speed_on(procs);
        let expected = if is_transition(cause) { Rate::ZERO } else { speed.times(share) };
        // In transition no machine is slow. Before a fork the policy may have been another one.
        let is_slowed = (state.machines.slowed || platform.slows(site)) && expected != Rate::ZERO;
        if !platform.rigid {
            // How fast it is on so many processors, its workload says.
            if from >= platform.since {
                let speed = if is_transition(cause) { Rate::ZERO } else { speed };
                let (place, procs, is_exact) = ((site, partition), procs.len(), !is_slowed);
                let ran = Ran { place, procs, speed, share, rate, is_exact, from, row };
                self.traces.entry(subject.name).or_default().add_ran(ran);
            }
            return;
        }
        let wrong = !is_slowed && rate != expected && from >= platform.since;
        verdict.count_check(Rule::Work);
        if wrong || share > Rate::FULL {
            let job = platform.job(subject.name);
            let message =
                format!("{job} runs at a rate of {rate} where the speed is {speed} and its share {share}");
            verdict.fault(subject, Rule::Work, from, message);
        }
    }

    /// Checks that its processors are free.
    fn place(
        &mut self,
        subject: Subject,
        last: Option<&SegmentRecord>,
        goes_on: bool,
        segment: &SegmentRecord,
    ) {
        let Subject { name, row } = subject;
        let SegmentRecord { site, partition, from, to, ref procs, .. } = *segment;
        let Self { platform, verdict, .. } = self;
        let Some(state) = self.partitions.get_mut(&(site, partition)) else { return };
        // A job that stood still because of a machine has kept its other processors.
        let preempts = platform.preempts(site);
        let kept_from = match last {
            Some(last) if goes_on && platform.is_exclusive(site) && !preempts => last.to.min(from),
            _ => from,
        };
        // How many jobs a processor could hold before a fork is not known.
        let kept_from = kept_from.max(platform.since);
        let clash = (kept_from < to).then(|| state.holders.hold(name, procs, (kept_from, to), segment.share));
        let clash = clash.flatten();
        let down = state.machines.run(name, procs, (from, to));
        let is_attempt = last.is_none_or(|last| last.attempt != segment.attempt) && from >= platform.since;
        let is_checked = is_attempt && state.machines.drains();
        let wakes = || platform.wakes(site, partition);
        let drains = is_checked.then(|| state.machines.drained_at(procs, from, wakes())).flatten();
        // Nor is it a start when the job continues after that.
        let continues = |trace: &JobTrace| trace.halts.iter().any(|(_, until)| *until == from);
        let resumes = preempts && last.is_some_and(|last| last.to < from);
        let is_start = (!goes_on || resumes) && !self.traces.get(&name).is_some_and(continues);
        if let Some(bookings) = &mut state.bookings {
            let (begin, is_start) = (from.max(platform.since), is_start && from >= platform.since);
            if begin < to {
                bookings.used(name, procs.len(), (begin, to), is_start, row);
            }
            if bookings.is_checked() {
                verdict.count_check(Rule::Reservation);
            }
        }
        verdict.count_check(Rule::Capacity);
        if platform.events {
            verdict.count_check(Rule::Down);
        }
        let (job, stretch) = (platform.job(name), stretch(from, to));
        if let Some(clash) = clash {
            let others: Vec<String> =
                clash.others.iter().map(|other| platform.job(*other).to_string()).collect();
            let (others, what) = (others.join(", "), platform.processors(site, partition, &clash.procs));
            let message = if clash.too_much {
                format!("{what} have shares above 1 for {job} and {others}")
            } else {
                format!("{job} has {what} {stretch}, and so has {others}")
            };
            let jobs = std::iter::once(name).chain(clash.others).collect();
            verdict.report(Violation { time: clash.time, rule: Rule::Capacity, jobs, message, row });
        }
        if is_checked {
            verdict.count_check(Rule::Draining);
        }
        if let Some(machine) = drains {
            let on = platform.processors(site, partition, procs);
            let message =
                format!("an attempt of {job} begins on {on} at {from} s, and machine {machine} drains then");
            verdict.fault(subject, Rule::Draining, from, message);
        }
        if let Some((time, machine)) = down {
            let on = platform.processors(site, partition, procs);
            let message = format!("{job} runs on {on}, {stretch}, and machine {machine} is down then");
            verdict.fault(subject, Rule::Down, time, message);
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
    let unit = spec.allocation_unit.max(1);
    let whole =
        unit == 1 || procs.intervals().all(|(first, last)| first % unit == 0 && (last + 1) % unit == 0);
    (!whole).then(|| format!("processors {procs}, which are not whole allocation units of {unit},"))
}
