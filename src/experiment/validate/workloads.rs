//! The workloads of a run, read once more to be compared with its tables.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::experiment::{Progress, Run, RunError};
use crate::model::{
    Job, JobId, JobRef, SiteId, Submission, WorkflowId, WorkflowSpec, WorkflowSubmission, WorkloadId,
};
use crate::scenario::PlannedWorkload;
use crate::units::Time;
use crate::verify::JobRequest;
use crate::workflow::{Estimates, Workflow};
use crate::workload::{Merged, Source};

/// The jobs that a run's workloads submit, read as far as the tables have been read.
pub(super) struct Workloads {
    streams: BTreeMap<WorkloadId, Stream>,
    /// True if jobs may also be submitted by command.
    open: bool,
    /// Jobs submitted later are not part of the run.
    until: Option<Time>,
}

struct Stream {
    source: Box<dyn Source>,
    /// True if jobs wait for the ends of others.
    feedback: bool,
    /// Jobs that have been read and not yet taken.
    read: FxHashMap<u64, JobRequest>,
    /// Numbers that have been read, under feedback.
    numbers: FxHashSet<u64>,
    /// How run times of tasks are estimated, unless exactly.
    estimates: Option<Estimates>,
    /// Workflows that have been read, with their numbers.
    workflows: Vec<WorkflowSubmission>,
    /// Their places by the numbers of their first jobs.
    by_job: BTreeMap<u64, usize>,
}

impl Workloads {
    /// Opens the workloads without feedback: dependencies are checked, not replayed.
    ///
    /// # Errors
    /// The reason why they cannot be read once more.
    pub(super) fn open(run: &Run) -> Result<Self, String> {
        let progress = Progress::default();
        let failed = |error: RunError| format!("the workload cannot be read once more: {error}");
        let resolved = &run.scenario().resolved;
        let estimates = resolved.grid.broker.as_ref().and_then(|broker| Estimates::wanted(&broker.workflow));
        let stream = |source: Box<dyn Source>, feedback: bool| Stream {
            source,
            feedback,
            read: FxHashMap::default(),
            numbers: FxHashSet::default(),
            estimates,
            workflows: Vec::new(),
            by_job: BTreeMap::new(),
        };
        let mut streams = BTreeMap::new();
        let planned = || resolved.site_workloads.iter().flatten().chain(&resolved.portal);
        if planned().any(|planned| planned.workload.is_once()) {
            return Err("the workload came from standard input or a pipe and cannot be read again".to_owned());
        }
        let open = |planned: &PlannedWorkload| {
            let opened = planned.open(&progress, None);
            opened.map(|mut opened| planned.in_parts(opened.take_source())).map_err(failed)
        };
        for (site, planned) in (0..).map(SiteId).zip(&resolved.site_workloads) {
            if let Some(planned) = planned {
                streams.insert(WorkloadId::of_site(site), stream(open(planned)?, planned.shaping.feedback));
            }
        }
        let portal: Vec<Box<dyn Source>> = resolved.portal.iter().map(open).collect::<Result<_, _>>()?;
        if !portal.is_empty() {
            let feedback = resolved.portal.iter().any(|planned| planned.shaping.feedback);
            streams.insert(WorkloadId::GRID, stream(Box::new(Merged::new(portal)), feedback));
        }
        Ok(Self { streams, open: resolved.pace.is_some(), until: resolved.until })
    }

    /// True if jobs wait for the ends of others.
    pub(super) fn has_feedback(&self) -> bool {
        self.streams.values().any(|stream| stream.feedback)
    }

    /// Takes the request of a job; `None` if no workload has it. A task may run again, and has the same one then.
    ///
    /// # Errors
    /// The reason why the workload cannot be read further.
    pub(super) fn take(&mut self, job: JobRef) -> Result<Option<JobRequest>, String> {
        let Some(stream) = self.streams.get_mut(&job.workload) else { return Ok(None) };
        loop {
            if let Some(asked) = stream.read.remove(&job.number.0) {
                return Ok(Some(asked));
            }
            if let Some(asked) = stream.task(job.number.0)? {
                return Ok(Some(asked));
            }
            if !stream.next()? {
                return Ok(None);
            }
        }
    }

    /// True if every job of the tables must be in a workload.
    pub(super) const fn is_complete(&self) -> bool {
        !self.open
    }

    /// Jobs that were submitted but not taken: the first of them by name, and their number.
    ///
    /// # Errors
    /// The reason why the workload cannot be read to its end.
    pub(super) fn left(&mut self) -> Result<(Option<JobRef>, u64), String> {
        let (mut first, mut count) = (None, 0);
        for (&workload, stream) in &mut self.streams {
            while stream.next()? {}
            let until = self.until.filter(|_| !stream.feedback);
            let late = |asked: &JobRequest| until.is_some_and(|until| asked.submit >= until);
            // Under feedback the submission times of the last jobs are unknown.
            let excused = stream.feedback && self.until.is_some();
            let left = stream.read.iter().filter(|(_, asked)| !late(asked) && !excused);
            for (number, _) in left {
                let name = JobRef { workload, number: JobId(*number) };
                first = Some(first.map_or(name, |earlier: JobRef| earlier.min(name)));
                count += 1;
            }
        }
        Ok((first, count))
    }

    /// The workflows of the run, once the workloads have been read to their end.
    pub(super) fn into_workflows(self) -> impl Iterator<Item = WorkflowSubmission> {
        let until = self.until;
        let all = self.streams.into_values().flat_map(|stream| stream.workflows);
        all.filter(move |workflow| until.is_none_or(|until| workflow.submit < until))
    }
}

impl Stream {
    /// The request of a task of a workflow that has been read.
    fn task(&self, number: u64) -> Result<Option<JobRequest>, String> {
        let Some((first, workflow)) = self.by_job.range(..=number).next_back() else { return Ok(None) };
        let (workflow, at) = (&self.workflows[*workflow], (number - first) as usize);
        if at >= workflow.spec.tasks.len() {
            return Ok(None);
        }
        let believed = self.believed(workflow)?;
        let job = workflow.jobs(believed.as_ref()).nth(at);
        Ok(job.map(|job| JobRequest { task: true, ..JobRequest::of(&job, false) }))
    }

    /// A workflow as it is believed to be, unless its run times are known.
    fn believed(&self, workflow: &WorkflowSubmission) -> Result<Option<WorkflowSpec>, String> {
        let Some(wanted) = self.estimates else { return Ok(None) };
        let graph = Workflow::from_spec(workflow.spec.clone()).map_err(|error| error.problem)?;
        Ok(Some(wanted.of_submitted(workflow, &graph).map_err(|error| error.problem)?.spec()))
    }

    /// Reads a job, or the tasks of a workflow. Returns false if there is none.
    fn next(&mut self) -> Result<bool, String> {
        let next = self.source.next_submission();
        let job = match next.map_err(|error| format!("the workload cannot be read once more: {error}"))? {
            None => return Ok(false),
            Some(Submission::Job(job)) => job,
            Some(Submission::Coallocated(together)) => {
                let request = |part: &Job| JobRequest { part: true, ..JobRequest::of(part, false) };
                self.read.extend(together.parts.iter().map(|part| (part.id.0, request(part))));
                return Ok(true);
            }
            Some(Submission::Workflow(mut workflow)) => {
                let believed = self.believed(&workflow)?;
                let request = |job| JobRequest { task: true, ..JobRequest::of(&job, false) };
                let jobs = workflow.jobs(believed.as_ref());
                self.read.extend(jobs.map(|job| (job.id.0, request(job))));
                workflow.number = WorkflowId(self.workflows.len() as u32);
                self.by_job.insert(workflow.first_job.0, self.workflows.len());
                self.workflows.push(workflow);
                return Ok(true);
            }
        };
        let follows = self.feedback && job.after.is_some_and(|after| self.numbers.contains(&after.job.0));
        if self.feedback {
            self.numbers.insert(job.id.0);
        }
        self.read.insert(job.id.0, JobRequest::of(&job, follows));
        Ok(true)
    }
}
