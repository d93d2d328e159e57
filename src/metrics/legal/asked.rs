//! What the workload asked for.

use std::sync::Arc;

use super::Checker;
use super::findings::{JobName, Row, Rule};
use crate::model::{Job, JobId, JobRecord, Outcome, Size};
use crate::units::{Rate, Span, Time, Work};

/// A job as its workload has it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// When it is submitted; without feedback, exactly then.
    pub submit: Time,
    /// The start that it asks for, if it is a dedicated job.
    pub start: Option<Time>,
    /// Processors.
    pub procs: u32,
    /// Run time at speed 1.
    pub runtime: Span,
    /// Estimate at speed 1.
    pub estimate: Span,
    /// The job whose end it waits for before it is submitted, and how long it waits after it.
    pub after: Option<(JobId, Span)>,
    /// Whether it takes exactly so many processors.
    pub rigid: bool,
    /// Whether its user gives elastic commands: then run time and estimate are what they have made of them.
    pub elastic: bool,
}

impl Asked {
    /// A job of a workload. Whom it follows counts only under feedback, and if that one comes before it.
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
    /// Ends are remembered from now on, for jobs that wait for them: a few bytes a job.
    pub fn remember_ends(&mut self) {
        self.ends.get_or_insert_default();
    }

    /// Whether a job is what its workload asked for; told before its row.
    pub fn asked(&mut self, job: &JobRecord, asked: &Asked, row: Row) {
        let name = JobName::new(job.id, job.origin, job.site);
        let grounds = Arc::clone(&self.grounds);
        let told = name.told(&grounds);
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
                let word = first.told(&grounds);
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
        // Batsim's columns do not say.
        if let Some(start) = job.requested_start.filter(|start| Some(*start) != asked.start) {
            let workload = asked.start.map_or("nothing of it".to_owned(), |asked| format!("{asked} s"));
            let said = format!("{told} asks to start at {start} s, and its workload says {workload}");
            found.push((Rule::Arrival, job.submit, said));
        }
        if job.requested != asked.procs {
            let said = format!(
                "{told} asks for {} processors, and for {} in its workload",
                job.requested, asked.procs
            );
            found.push((Rule::Work, job.submit, said));
        }
        let commanded = self.stories.get(&name).is_some_and(|story| story.commanded.is_some());
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

    /// Run, estimate and whether the job is killed, where it ended.
    fn owed(&self, job: &JobRecord, asked: &Asked) -> Option<(Span, Span, bool)> {
        let ground = self.grounds.get(job.site);
        let (speed, overrun) = match ground {
            // Without a partition there is no speed.
            Some(ground) => (ground.partition(job.partition)?.speed, ground.spec.overrun),
            None => (Rate::FULL, false),
        };
        let over = |span: Span| Work::of_runtime(span).span_at(speed).unwrap_or(Span::MAX);
        let run = if overrun { asked.runtime } else { asked.runtime.min(asked.estimate) };
        Some((over(run), over(asked.estimate), !overrun && asked.runtime > asked.estimate))
    }
}
