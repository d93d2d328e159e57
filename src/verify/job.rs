//! The checks of a job's row.

use std::sync::Arc;

use super::Checker;
use super::findings::{JobName, Row, Rule, Told};
use super::job_trace::JobTrace;
use super::platform::{PartitionFacts, stretch};
use crate::model::{JobRecord, Outcome, PartitionSpec, SiteId};
use crate::units::{Rate, Time};

impl Checker {
    /// Checks the row of a job, which has ended.
    pub fn job(&mut self, job: &JobRecord, row: Row) {
        self.verdict.jobs += 1;
        let name = JobName::new(job.id, job.origin, job.site);
        let trace = self.traces.remove(&name).unwrap_or_default();
        let mut found: Vec<(Rule, Time, String)> = Vec::new();
        let platform = Arc::clone(&self.platform);
        let told = name.told(&platform);
        if !self.ended.entry(name.site).or_default().insert(job.id.0) {
            self.verdict.look(Rule::Once);
            return self.fault(Rule::Once, job.end, vec![name], row, format!("{told} has a second row"));
        }
        if job.end < self.last_end {
            let said =
                format!("{told} ended at {} s, and its row is after one of {} s", job.end, self.last_end);
            found.push((Rule::Rows, job.end, said));
        }
        self.last_end = self.last_end.max(job.end);
        if let Some(ends) = &mut self.ends {
            ends.insert(name, job.end);
        }
        for rule in [Rule::Once, Rule::Arrival, Rule::Outcome, Rule::Rows] {
            self.verdict.look(rule);
        }
        times(job, told, &mut found);
        outcome(job, told, !trace.losses.is_empty(), &mut found);
        let facts = self.platform.get(job.site);
        let spec = facts.and_then(|facts| facts.partition(job.partition));
        match (facts, spec) {
            (Some(facts), Some(spec)) => {
                self.at_site(job, told, facts, spec, &mut found);
                if self.platform.segments {
                    let checked = self.work(job, told, &trace, facts, spec, &mut found);
                    if checked {
                        self.verdict.look(Rule::Work);
                    }
                } else {
                    self.count(name, job, row);
                }
            }
            _ if job.site == SiteId::GRID || matches!(job.outcome, Outcome::Rejected(_)) => {}
            _ => {
                let place = self.platform.place(job.site, job.partition);
                found.push((
                    Rule::Place,
                    job.end,
                    format!("{told} ended at {place}, which the grid does not have"),
                ));
            }
        }
        if self.platform.segments {
            self.agree(job, told, &trace, &mut found);
        }
        for (rule, time, said) in found {
            self.fault(rule, time, vec![name], row, said);
        }
    }

    /// Checks a job that ended at a site.
    fn at_site(
        &self,
        job: &JobRecord,
        told: Told<'_>,
        facts: &PartitionFacts,
        spec: &PartitionSpec,
        found: &mut Vec<(Rule, Time, String)>,
    ) {
        let time = job.start.unwrap_or(job.end);
        if job.procs > spec.usable() {
            let said = format!("{told} has {} processors of {}", job.procs, spec.usable());
            found.push((Rule::Capacity, time, said));
        } else if self.platform.rigid && job.procs > 0 && !self.is_served(job, spec) {
            let said = format!("{told} has {} processors and requested {}", job.procs, job.requested);
            found.push((Rule::Place, time, said));
        }
        if !self.platform.rigid || !self.platform.known {
            return;
        }
        let (run, estimate) = (job.run.micros(), job.estimate.micros());
        let slack = 1 + self.platform.slack.micros();
        match job.outcome {
            Outcome::Killed if facts.spec.overrun => {
                let said = format!("{told} was killed at its estimate, where overrun is allowed");
                found.push((Rule::Outcome, job.end, said));
            }
            Outcome::Killed if run.abs_diff(estimate) > slack => {
                let said = format!(
                    "{told} was killed at its estimate after a run of {} s, and that is {} s",
                    job.run, job.estimate
                );
                found.push((Rule::Outcome, job.end, said));
            }
            Outcome::Completed if !facts.spec.overrun && run > estimate.saturating_add(slack) => {
                let said = format!(
                    "{told} completed a run of {} s, and would have been killed at its estimate of {} s",
                    job.run, job.estimate
                );
                found.push((Rule::Outcome, job.end, said));
            }
            _ => {}
        }
    }

    /// Whether a job has as many processors as it requested, in whole allocation units.
    fn is_served(&self, job: &JobRecord, spec: &PartitionSpec) -> bool {
        if self.platform.known {
            job.procs == spec.rounded(job.requested)
        } else {
            job.procs >= job.requested
        }
    }

    /// Checks that the segments of a job agree with its row.
    fn agree(
        &self,
        job: &JobRecord,
        told: Told<'_>,
        trace: &JobTrace,
        found: &mut Vec<(Rule, Time, String)>,
    ) {
        let churned = !trace.losses.is_empty() || !trace.halts.is_empty() || job.attempts > 1;
        let loose = churned || self.platform.preempts(job.site);
        let done = matches!(job.outcome, Outcome::Completed | Outcome::Killed);
        let (Some(last), Some(first)) = (&trace.last, trace.first) else {
            if let Some(start) = job.start.filter(|start| done && !loose && *start < job.end) {
                let said = format!("{told} ran {}, and has no segment", stretch(start, job.end));
                found.push((Rule::Rows, start, said));
            }
            return;
        };
        let Some(start) = job.start else {
            let said = format!("{told} has segments from {first} s, and its row says that it never started");
            return found.push((Rule::Rows, first, said));
        };
        if first < start || first > start && !loose {
            let said =
                format!("{told} started at {start} s by its row, and at {first} s by its first segment");
            found.push((Rule::Rows, first.min(start), said));
        }
        // An attempt with no work left has no segment.
        let last_one = last.attempt == job.attempts && trace.halts.is_empty();
        if last.to > job.end || done && last_one && last.to < job.end {
            let said = format!(
                "{told} ended at {} s by its row, and ran until {} s by its last segment",
                job.end, last.to
            );
            found.push((Rule::Rows, last.to.min(job.end), said));
        }
        if last.attempt > job.attempts {
            let said = format!(
                "{told} has {} attempts by its row, and a segment of attempt {}",
                job.attempts, last.attempt
            );
            found.push((Rule::Rows, last.from, said));
        }
        if done && last.attempt == job.attempts {
            if (last.site, last.partition) != (job.site, job.partition) {
                let said = format!(
                    "{told} ended at {} by its row, and ran at {}",
                    self.platform.place(job.site, job.partition),
                    self.platform.place(last.site, last.partition)
                );
                found.push((Rule::Rows, last.from, said));
            // Processors that a command added at the instant of the end were held for no time, and have no segment.
            } else if last.procs.len() != job.procs && trace.commanded != Some(job.end) {
                let said = format!(
                    "{told} has {} processors by its row, and {} by its last segment",
                    job.procs,
                    last.procs.len()
                );
                found.push((Rule::Rows, last.from, said));
            }
        }
        if job.energy.nanojoules() != trace.energy {
            let said = format!("the energy of {told} is not the sum of its segments");
            found.push((Rule::Rows, job.end, said));
        }
        // The cost of a failed attempt may not have been charged.
        if !churned && job.cost.nanos() != trace.cost {
            found.push((Rule::Rows, job.end, format!("the cost of {told} is not the sum of its segments")));
        }
    }

    /// Checks that a job did the work requested, where that is known: for jobs that take exactly the processors they
    /// request, and completed or were killed at their estimate.
    fn work(
        &self,
        job: &JobRecord,
        told: Told<'_>,
        trace: &JobTrace,
        facts: &PartitionFacts,
        spec: &PartitionSpec,
        found: &mut Vec<(Rule, Time, String)>,
    ) -> bool {
        if !self.platform.rigid
            || !matches!(job.outcome, Outcome::Completed | Outcome::Killed)
            || job.start.is_none()
        {
            return false;
        }
        let (run, speed) = (u128::from(job.run.micros()), u128::from(spec.speed.units()));
        // A run is its work over the speed, rounded up to a microsecond.
        let slack = u128::from(self.platform.slack.micros());
        let (least, most) = (run.saturating_sub(1 + slack) * speed, (run + slack) * speed);
        let (done, rate, span) = trace.done_in(job.attempts);
        let checkpoints = |facts: &PartitionFacts| facts.spec.churn.checkpoint.is_some();
        let (enough, too_much) =
            if checkpoints(facts) || job.attempts > 1 && self.platform.sites.iter().any(checkpoints) {
                // Work kept by checkpoints need not be repeated, and writing checkpoints takes work.
                (trace.done_in_all >= least, false)
            } else {
                // In the last microsecond more work may be done than is left.
                let last = u128::from(if span.is_zero() { Rate::ZERO } else { rate }.units());
                (done >= least, done > most + last)
            };
        if !enough || too_much {
            let secs = |work: u128| Time::from_micros(u64::try_from(work / speed.max(1)).unwrap_or(u64::MAX));
            let word = if enough { "more" } else { "less" };
            let said = format!(
                "{told} {} and did {word} than that: its run is {} s, its segments do {} s",
                if job.outcome == Outcome::Killed {
                    "was killed at its estimate"
                } else {
                    "completed its work"
                },
                job.run,
                secs(done)
            );
            found.push((Rule::Work, job.end, said));
        }
        true
    }

    /// Counts its processors, where no segment says which they are.
    fn count(&mut self, name: JobName, job: &JobRecord, row: Row) {
        let plain =
            self.platform.get(job.site).is_some_and(|facts| facts.abilities.multiprogramming_level <= 1)
                && !self.platform.preempts(job.site);
        let Some(floor) = self.floors.get_mut(&(job.site, job.partition)) else { return };
        let Some(start) = job.start.filter(|_| plain && job.attempts <= 1) else { return };
        floor.counts.used(name, job.procs, (start, job.end), row);
        if let Some(bookings) = &mut floor.bookings {
            bookings.used(name, job.procs, (start, job.end), true, row);
            self.verdict.look(Rule::Reservation);
        }
        self.verdict.look(Rule::Capacity);
    }
}

/// Checks the order of submission, start and end.
fn times(job: &JobRecord, told: Told<'_>, found: &mut Vec<(Rule, Time, String)>) {
    let (submit, end) = (job.submit, job.end);
    if let Some(start) = job.start {
        if start < submit {
            let said = format!("{told} starts at {start} s, before its submission at {submit} s");
            found.push((Rule::Arrival, start, said));
        }
        if let Some(asked) = job.requested_start.filter(|asked| start < *asked && start >= submit) {
            let said = format!("{told} starts at {start} s, before its requested start at {asked} s");
            found.push((Rule::Arrival, start, said));
        }
        if end < start {
            found.push((
                Rule::Outcome,
                end,
                format!("{told} ends at {end} s, before its start at {start} s"),
            ));
        }
    } else if end < submit {
        found.push((
            Rule::Arrival,
            end,
            format!("{told} ends at {end} s, before its submission at {submit} s"),
        ));
    }
}

/// Checks that the outcome agrees with the rest of the row.
fn outcome(job: &JobRecord, told: Told<'_>, lost: bool, found: &mut Vec<(Rule, Time, String)>) {
    let word = job.outcome.name();
    let mut wrong = |said: String| found.push((Rule::Outcome, job.end, said));
    if job.start.is_some() != (job.attempts > 0) {
        let started = if job.start.is_some() { "started" } else { "never started" };
        wrong(format!("{told} {started}, and has {} attempts", job.attempts));
    }
    match job.outcome {
        Outcome::Completed | Outcome::Killed if job.start.is_none() => {
            wrong(format!("{told} is {word} and never started"))
        }
        Outcome::Completed | Outcome::Killed if job.procs == 0 => {
            wrong(format!("{told} is {word} and had no processors"))
        }
        // A job whose attempt failed may be refused when it is submitted again.
        Outcome::Rejected(_) if job.start.is_some() && !lost && job.site != SiteId::GRID => {
            wrong(format!("{told} is rejected and started at {} s", job.start.unwrap_or(job.end)));
        }
        _ => {}
    }
}
