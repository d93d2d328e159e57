//! The workloads of a run, read once more to be compared with its tables.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::experiment::{Progress, Run, RunError};
use crate::model::{JobId, SiteId};
use crate::scenario::{Clock, PlannedWorkload};
use crate::units::Time;
use crate::verify::{Asked, JobName};
use crate::workload::{Merged, Source};

/// The jobs that a run's workloads submit, read as far as the tables have been read.
pub(super) struct Workloads {
    /// By site; `None` is the portal.
    streams: BTreeMap<Option<SiteId>, Stream>,
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
    read: FxHashMap<u64, Asked>,
    /// Numbers that have been read, under feedback.
    numbers: FxHashSet<u64>,
}

impl Workloads {
    /// Opens the workloads without feedback: dependencies are checked, not replayed.
    ///
    /// # Errors
    /// The reason why they cannot be read once more.
    pub(super) fn open(run: &Run) -> Result<Self, String> {
        let progress = Progress::default();
        let told = |error: RunError| format!("the workload cannot be read once more: {error}");
        let stream = |source: Box<dyn Source>, feedback: bool| Stream {
            source,
            feedback,
            read: FxHashMap::default(),
            numbers: FxHashSet::default(),
        };
        let mut streams = BTreeMap::new();
        let resolved = &run.scenario().resolved;
        let planned = || resolved.site_workloads.iter().flatten().chain(&resolved.portal);
        if planned().any(|planned| planned.workload.is_once()) {
            return Err("the workload came from standard input or a pipe and cannot be read again".to_owned());
        }
        let open = |planned: &PlannedWorkload| {
            let PlannedWorkload { workload, entity, shaping, .. } = planned;
            let opened = workload.open_unfollowed(entity, shaping, &progress, None);
            opened.map(|mut opened| opened.take_source()).map_err(told)
        };
        for (site, planned) in (0..).map(SiteId).zip(&resolved.site_workloads) {
            if let Some(planned) = planned {
                streams.insert(Some(site), stream(open(planned)?, planned.shaping.feedback));
            }
        }
        let portal: Vec<Box<dyn Source>> = resolved.portal.iter().map(open).collect::<Result<_, _>>()?;
        if !portal.is_empty() {
            let feedback = resolved.portal.iter().any(|planned| planned.shaping.feedback);
            streams.insert(None, stream(Box::new(Merged::new(portal)), feedback));
        }
        Ok(Self { streams, open: resolved.clock != Clock::Virtual, until: resolved.until })
    }

    /// True if jobs wait for the ends of others.
    pub(super) fn has_feedback(&self) -> bool {
        self.streams.values().any(|stream| stream.feedback)
    }

    /// Takes the request of a job; `None` if no workload has it.
    ///
    /// # Errors
    /// The reason why the workload cannot be read further.
    pub(super) fn take(&mut self, job: JobName) -> Result<Option<Asked>, String> {
        let Some(stream) = self.streams.get_mut(&job.site) else { return Ok(None) };
        loop {
            if let Some(asked) = stream.read.remove(&job.id.0) {
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
    pub(super) fn left(mut self) -> Result<(Option<JobName>, u64), String> {
        let (mut first, mut count) = (None, 0);
        for (site, stream) in &mut self.streams {
            while stream.next()? {}
            let until = self.until.filter(|_| !stream.feedback);
            let late = |asked: &Asked| until.is_some_and(|until| asked.submit >= until);
            // Under feedback the submission times of the last jobs are unknown.
            let excused = stream.feedback && self.until.is_some();
            let left = stream.read.iter().filter(|(_, asked)| !late(asked) && !excused);
            for (number, _) in left {
                let name = JobName { id: JobId(*number), site: *site };
                first = Some(first.map_or(name, |earlier: JobName| earlier.min(name)));
                count += 1;
            }
        }
        Ok((first, count))
    }
}

impl Stream {
    /// Reads a job. Returns false if there is none.
    fn next(&mut self) -> Result<bool, String> {
        let job = self
            .source
            .next_job()
            .map_err(|error| format!("the workload cannot be read once more: {error}"))?;
        let Some(job) = job else { return Ok(false) };
        let follows = self.feedback && job.after.is_some_and(|after| self.numbers.contains(&after.job.0));
        if self.feedback {
            self.numbers.insert(job.id.0);
        }
        self.read.insert(job.id.0, Asked::of(&job, follows));
        Ok(true)
    }
}
