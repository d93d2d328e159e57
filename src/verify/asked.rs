//! Jobs as their workload requests them.

use std::sync::Arc;

use super::Checker;
use super::findings::{JobName, Row, Rule};
use crate::model::{Job, JobId, JobRecord, Outcome, Size};
use crate::units::{Rate, Span, Time, Work};

/// A job as requested by its workload.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its submission; exact without feedback.
    pub submit: Time,
    /// The requested start of a dedicated job.
    pub start: Option<Time>,
    /// The number of processors.
    pub procs: u32,
    /// Run time at speed 1.
    pub runtime: Span,
    /// Estimate at speed 1.
    pub estimate: Span,
    /// The job whose end it follows, and the think time after that end.
    pub after: Option<(JobId, Span)>,
    /// Whether it takes exactly this number of processors.
    pub rigid: bool,
    /// Whether it has elastic commands, which change run time and estimate.
    pub elastic: bool,
}

impl Asked {
    /// A job of a workload. The job that it follows counts only if `follows`, under feedback, and if it comes before.
    pub fn of(job: &Job, follows: bool) -> Self {
        Self {
            submit: job.submit,
            start: job.requested_start,
            procs: job.size.preferred(),
            runtime: job.runtime,
            estimate: job.estimate,
            after: job.after.filter(|_| follows).map(|after| (after.job, after.think)),
            rigid: matches!(job.size, Size::Rigid(_)),
            elastic: job.elastic.is_some(),
        }
    }
}

impl Checker {
    /// Stores the ends of jobs from now on, a few bytes a job, for the jobs that follow them.
    pub fn remember_ends(&mut self) {
        self.ends.get_or_insert_default();
    }

    /// Checks that a job is what its workload requested; called before the job's row is checked.
    pub fn asked(&mut self, job: &JobRecord, asked: &Asked, row: Row) {
        let name = JobName::new(job.id, job.origin, job.site);
        let platform = Arc::clone(&self.platform);
        let told = name.told(&platform);
        let mut found = Vec::new();
        match asked.after {
            None if job.submit != asked.submit => {
                let said = format!(
                    "{told} is submitted at {} s, and its workload has it at {} s",
                    job.submit, asked.submit
                );
                found.push((Rule::Arrival, job.submit.min(asked.submit), said));
            }
            None => {}
            Some((before, think)) => {
                self.verdict.look(Rule::Precedence);
                let first = JobName { id: before, ..name };
                let word = first.told(&platform);
                let end = self.ends.as_ref().and_then(|ends| ends.get(&first).copied());
                let due = end.and_then(|end| end.checked_add(think));
                match (end, due) {
                    (Some(end), Some(due)) if job.submit < due => {
                        let said = format!(
                            "{told} is submitted at {} s, and follows {word}, which ends at {end} s, after {think} s",
                            job.submit
                        );
                        found.push((Rule::Precedence, job.submit, said));
                    }
                    (None, _) => {
                        let said = format!(
                            "{told} is submitted at {} s, and follows {word}, which has not ended",
                            job.submit
                        );
                        found.push((Rule::Precedence, job.submit, said));
                    }
                    _ => {}
                }
            }
        }
        // Batsim's columns have no requested start.
        if let Some(start) = job.requested_start.filter(|start| Some(*start) != asked.start) {
            let workload = asked.start.map_or("nothing of it".to_owned(), |asked| format!("{asked} s"));
            let said = format!("{told} has a requested start of {start} s, and its workload says {workload}");
            found.push((Rule::Arrival, job.submit, said));
        }
        if job.requested != asked.procs {
            let said =
                format!("{told} requests {} processors, and {} in its workload", job.requested, asked.procs);
            found.push((Rule::Work, job.submit, said));
        }
        let commanded = self.traces.get(&name).is_some_and(|trace| trace.commanded.is_some());
        if asked.rigid
            && !asked.elastic
            && !commanded
            && let Some((run, estimate, killed)) = self.owed(job, asked)
        {
            if job.run != run {
                let said = format!("the run of {told} is {} s, and {run} s by its workload", job.run);
                found.push((Rule::Work, job.end, said));
            }
            if job.estimate != estimate {
                let said =
                    format!("the estimate of {told} is {} s, and {estimate} s by its workload", job.estimate);
                found.push((Rule::Work, job.submit, said));
            }
            let word = if killed { Outcome::Killed } else { Outcome::Completed };
            if matches!(job.outcome, Outcome::Completed | Outcome::Killed) && job.outcome != word {
                let said =
                    format!("{told} is {}, and by run time and estimate it would be {word}", job.outcome);
                found.push((Rule::Outcome, job.end, said));
            }
        }
        self.verdict.look(Rule::Work);
        for (rule, time, said) in found {
            self.fault(rule, time, vec![name], row, said);
        }
    }

    /// Run time, estimate and whether the job must be killed, at the site where it ended.
    fn owed(&self, job: &JobRecord, asked: &Asked) -> Option<(Span, Span, bool)> {
        let facts = self.platform.get(job.site);
        let (speed, overrun) = match facts {
            // Without a partition the speed is unknown.
            Some(facts) => (facts.partition(job.partition)?.speed, facts.spec.overrun),
            None => (Rate::FULL, false),
        };
        let over = |span: Span| Work::of_runtime(span).span_at(speed).unwrap_or(Span::MAX);
        let run = if overrun { asked.runtime } else { asked.runtime.min(asked.estimate) };
        Some((over(run), over(asked.estimate), !overrun && asked.runtime > asked.estimate))
    }
}
