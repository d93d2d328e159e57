//! Jobs as their workload requests them.

use std::collections::BTreeMap;

use super::Checker;
use super::findings::{Row, Rule, Subject};
use super::job_trace::JobTrace;
use super::platform::Platform;
use crate::model::{
    AtLimit, Job, JobId, JobKind, JobRecord, JobRef, Limits, Outcome, PartitionId, SiteId, Size, TaskTimes,
};
use crate::units::{Rate, Span, Time, Work};

/// A job as requested by its workload.
#[derive(Clone, Debug)]
pub struct JobRequest {
    /// Its submission, exact without feedback; of a task, that of its workflow.
    pub submit: Time,
    /// Whether it is a task of a workflow, which is submitted when it is ready.
    pub task: bool,
    /// The requested start of a dedicated job.
    pub start: Option<Time>,
    /// The processors that it can use.
    pub size: Size,
    /// Run time at speed 1.
    pub runtime: Span,
    /// Estimate at speed 1.
    pub estimate: Span,
    /// The job whose end it follows, and the think time after that end.
    pub after: Option<(JobId, Span)>,
    /// Whether it has elastic commands, which change run time and estimate.
    pub elastic: bool,
    /// Run time and estimate on machines of a class, where they do not follow from the speed.
    pub by_class: BTreeMap<String, (Span, Span)>,
    /// The part of its run time and its estimate that takes as long at any speed.
    pub overhead: Span,
    /// Whether it may run longer than its estimate everywhere.
    pub overrun: bool,
    /// Whether it is a group of tasks.
    pub group: bool,
    /// Whether it is a part of a co-allocated job, which takes as long as the longest part and as the links between them have it.
    pub part: bool,
    /// Its deadline and its budget, if it has any.
    pub limits: Option<Box<Limits>>,
}

impl JobRequest {
    /// A job of a workload. The job that it follows counts only if `follows`, under feedback, and if it comes before.
    pub fn of(job: &Job, follows: bool) -> Self {
        let task = job.grid.as_ref().and_then(|grid| grid.task.as_deref());
        let times = |(class, times): (&String, &TaskTimes)| (class.clone(), (times.runtime, times.estimate));
        Self {
            submit: job.submit,
            task: false,
            start: job.requested_start,
            size: job.size.clone(),
            runtime: job.runtime,
            estimate: job.estimate,
            after: job.after.filter(|_| follows).map(|after| (after.job, after.think)),
            elastic: job.elastic.is_some(),
            by_class: task.map_or_else(BTreeMap::new, |task| task.by_class.iter().map(times).collect()),
            overhead: task.map_or(Span::ZERO, |task| task.overhead),
            overrun: task.is_some_and(|task| task.overrun),
            group: task.is_some_and(|task| task.marks.is_some()),
            part: false,
            limits: job.limits.clone(),
        }
    }
}

impl JobRequest {
    /// Its work at a place, where it may not follow from the speed.
    fn work_at(&self, (site, partition): (SiteId, PartitionId), platform: &Platform) -> Option<u128> {
        let place = platform.get(site)?.partition(partition)?;
        let at_speed = |span: Span| u128::from(span.micros()) * u128::from(place.speed().units());
        let own = self.by_class.get(&place.name).map(|(runtime, _)| at_speed(*runtime));
        let rest = || Work::of_runtime(self.runtime - self.overhead).units() + at_speed(self.overhead);
        Some(own.unwrap_or_else(rest))
    }

    /// What it did counts where it ended, if its work is another there: of a task the same share. Of a group that depends on what its tasks have done.
    fn worth(&self, trace: &JobTrace, end: (SiteId, PartitionId), platform: &Platform) -> Option<u128> {
        let fixed = self.by_class.is_empty() && self.overhead.is_zero();
        if fixed || trace.done_at.iter().all(|(place, _)| *place == end) {
            return None;
        }
        // In microseconds at the reference speed, so that products fit; what is kept is rounded to these.
        let micros = |work: u128| work >> Rate::BITS;
        let here = micros(self.work_at(end, platform)?);
        let worth = |(place, done): &((SiteId, PartitionId), u128)| {
            let there = micros(self.work_at(*place, platform)?);
            let share = |done: u128| done * here / there.max(1);
            match self.group && there != here {
                true => None,
                false => Some(if *place == end { *done } else { share(micros(*done) + 2) << Rate::BITS }),
            }
        };
        let worth: Option<u128> = trace.done_at.iter().map(worth).sum();
        Some(worth.unwrap_or(u128::MAX))
    }
}

impl Checker {
    /// Stores the ends of jobs from now on, a few bytes a job, for the jobs that follow them.
    pub fn remember_ends(&mut self) {
        self.ends.get_or_insert_default();
    }

    /// Checks that a job is what its workload requested; called before the job's row is checked.
    pub fn request(&mut self, job: &JobRecord, requested: &JobRequest, row: Row) {
        let name = job.job_ref();
        if requested.overrun {
            self.traces.entry(name).or_default().overrun = true;
        }
        let place = (job.site, job.partition);
        if let Some(trace) = self.traces.get_mut(&name) {
            trace.worth = requested.worth(trace, place, &self.platform);
        }
        let owed = self.owed(job, requested);
        let Self { platform, verdict, .. } = self;
        if requested.limits.is_some() {
            verdict.count_check(Rule::Limits);
        }
        let JobRecord { submit, end, run, estimate, outcome, .. } = *job;
        let text = platform.job(name);
        let mut fault = |rule, time, message| verdict.fault(Subject { name, row }, rule, time, message);
        if let Some((before, think)) = requested.after {
            let first = JobRef { number: before, ..name };
            let ended = self.ends.as_ref().and_then(|ends| ends.get(&first).copied());
            let follows = format!("{text} is submitted at {submit} s, and follows {}", platform.job(first));
            match ended.map(|ended| (ended, ended.checked_add(think))) {
                None => fault(Rule::Precedence, submit, format!("{follows}, which has not ended")),
                Some((ended, Some(due))) if submit < due => {
                    let message = format!("{follows}, which ends at {ended} s, after {think} s");
                    fault(Rule::Precedence, submit, message);
                }
                Some(_) => {}
            }
        } else if submit != requested.submit && !(requested.task && submit > requested.submit) {
            let written = requested.submit;
            let message =
                format!("{text} is submitted at {submit} s, and its workload has it at {written} s");
            fault(Rule::Arrival, submit.min(written), message);
        }
        // Batsim's columns have no requested start.
        if let Some(start) = job.requested_start.filter(|start| Some(*start) != requested.start) {
            let written = requested.start.map_or("nothing of it".to_owned(), |start| format!("{start} s"));
            let message =
                format!("{text} has a requested start of {start} s, and its workload says {written}");
            fault(Rule::Arrival, submit, message);
        }
        let limits = requested.limits.as_deref().copied().unwrap_or_default();
        // The deadline of a job that is submitted later than its workload says, since it follows another, moves with it; that of a task does not.
        let moved = |deadline: Time| submit + deadline.since(requested.submit);
        let due = limits.deadline.map(|due| if requested.task { due } else { moved(due) });
        // Batsim's columns have neither.
        let told = job.limits.is_some() || platform.slack.is_zero();
        if told && (job.deadline() != due || job.budget() != limits.budget) {
            let message = format!("{text} has another deadline or another budget than its workload gives it");
            fault(Rule::Limits, submit, message);
        }
        let killed = due.filter(|_| limits.at_deadline == AtLimit::Kill);
        if let Some(deadline) = killed.map(|due| limits.ends.unwrap_or(due)) {
            let late = outcome == Outcome::Completed && end > deadline;
            if late || job.start.is_some_and(|start| start > deadline) {
                let message = format!("{text} is to be ended at its deadline at {deadline} s");
                fault(Rule::Limits, deadline, message + ", and runs after it");
            }
        }
        if job.requested != requested.size.preferred() {
            let (procs, written) = (job.requested, requested.size.preferred());
            let message = format!("{text} requests {procs} processors, and {written} in its workload");
            fault(Rule::Work, submit, message);
        }
        // Batsim's columns have no kind.
        if job.kind != requested.size.kind() && (job.kind != JobKind::Rigid || platform.slack.is_zero()) {
            let (kind, written) = (job.kind.name(), requested.size.kind().name());
            let message = format!("{text} is {kind}, and {written} in its workload");
            fault(Rule::Work, submit, message);
        }
        let commanded = self.traces.get(&name).is_some_and(|trace| trace.commanded.is_some());
        let fixed = !requested.elastic && !commanded;
        if let Some((owed_run, owed_estimate, killed)) = owed.filter(|_| fixed) {
            if requested.part {
                // It is rounded twice.
                if outcome == Outcome::Completed && run + Span::from_micros(2) < owed_run {
                    let message = format!("the run of {text} is {run} s, shorter than by its workload");
                    fault(Rule::Work, end, message);
                }
                return verdict.count_check(Rule::Work);
            }
            if run != owed_run {
                let message = format!("the run of {text} is {run} s, and {owed_run} s by its workload");
                fault(Rule::Work, end, message);
            }
            if estimate != owed_estimate {
                let message =
                    format!("the estimate of {text} is {estimate} s, and {owed_estimate} s by its workload");
                fault(Rule::Work, submit, message);
            }
            let word = if killed { Outcome::Killed } else { Outcome::Completed };
            if matches!(outcome, Outcome::Completed | Outcome::Killed) && outcome != word {
                let message = format!("{text} is {outcome}, and by run time and estimate it would be {word}");
                fault(Rule::Outcome, end, message);
            }
        }
        if requested.after.is_some() {
            verdict.count_check(Rule::Precedence);
        }
        verdict.count_check(Rule::Work);
        if !self.platform.rigid && self.platform.known {
            self.sizes(job, requested, row);
            if requested.size.kind() != JobKind::Rigid {
                self.work_of(job, requested, row);
            }
        }
    }

    /// Run time, estimate and whether the job must be killed, at the site where it ended. `None` of one that never had processors, and may have had
    /// these or those.
    fn owed(&self, job: &JobRecord, requested: &JobRequest) -> Option<(Span, Span, bool)> {
        let (class, speed, overrun) = match self.platform.get(job.site) {
            // Without a partition the speed is unknown.
            Some(facts) => {
                let partition = facts.partition(job.partition)?;
                (partition.name.as_str(), partition.speed(), facts.spec.overrun)
            }
            None => ("", Rate::FULL, false),
        };
        let (size, own) = (&requested.size, requested.by_class.get(class));
        // A run is on the processors that the job had, an estimate on those that it prefers.
        let on = match size.kind() {
            JobKind::Rigid => speed,
            _ if job.procs == 0 => return None,
            _ => size.rate_on(job.procs.min(size.max())).times(speed),
        };
        let (runtime, estimate) = own.copied().unwrap_or((requested.runtime, requested.estimate));
        let over = |span: Span, rate: Rate| match own {
            Some(_) => span,
            None => {
                let rest = Work::of_runtime(span - requested.overhead).span_at(rate);
                rest.unwrap_or(Span::MAX) + requested.overhead
            }
        };
        let overrun = overrun || requested.overrun;
        let run = if overrun { runtime } else { runtime.min(estimate) };
        Some((over(run, on), over(estimate, speed), !overrun && runtime > estimate))
    }
}
