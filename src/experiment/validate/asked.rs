//! The workloads of a run, read once more beside its tables.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::experiment::scenario::{Clock, PlannedWorkload};
use crate::experiment::{Progress, RunError, StoredRun};
use crate::metrics::legal::{Asked, JobName};
use crate::model::{JobId, SiteId};
use crate::units::Time;
use crate::workload::{Merged, Source};

/// What a run's workloads asked for, read as far as the tables have got.
pub(super) struct Workloads {
    /// By site; `None` is the portal.
    streams: BTreeMap<Option<SiteId>, Stream>,
    /// Whether jobs may come from elsewhere: by command.
    open: bool,
    /// What is submitted later does not exist.
    until: Option<Time>,
}

struct Stream {
    source: Box<dyn Source>,
    /// Whether jobs wait for the ends of others.
    feedback: bool,
    /// Read, and not asked for yet.
    read: FxHashMap<u64, Asked>,
    /// Numbers that have been read, under feedback.
    numbers: FxHashSet<u64>,
}

impl Workloads {
    /// Opens them, without feedback: whom a job follows is checked, not replayed.
    ///
    /// # Errors
    /// Why they cannot be read once more, in words.
    pub(super) fn open(stored: StoredRun) -> Result<Self, String> {
        let progress = Progress::default();
        let told = |error: RunError| format!("the workload cannot be read once more: {error}");
        let stream = |source: Box<dyn Source>, feedback: bool| Stream {
            source,
            feedback,
            read: FxHashMap::default(),
            numbers: FxHashSet::default(),
        };
        let once = || "the workload was read from where it can be read only once".to_owned();
        let mut streams = BTreeMap::new();
        match stored {
            StoredRun::Replay(replay) => {
                let feedback = replay.options().shaping.feedback;
                if replay.options().workload.is_once() {
                    return Err(once());
                }
                let options = replay.options();
                let opened = options.workload.open_unfollowed("", &options.shaping, &progress, None);
                streams.insert(Some(SiteId(0)), stream(opened.map_err(told)?.take_source(), feedback));
                Ok(Self { streams, open: false, until: None })
            }
            StoredRun::Run(run) => {
                let meaning = &run.scenario().meaning;
                let planned = || meaning.site_workloads.iter().flatten().chain(&meaning.portal);
                if planned().any(|planned| planned.workload.is_once()) {
                    return Err(once());
                }
                let open = |planned: &PlannedWorkload| {
                    let PlannedWorkload { workload, entity, shaping, .. } = planned;
                    let opened = workload.open_unfollowed(entity, shaping, &progress, None);
                    opened.map(|mut opened| opened.take_source()).map_err(told)
                };
                for (site, planned) in (0..).map(SiteId).zip(&meaning.site_workloads) {
                    if let Some(planned) = planned {
                        streams.insert(Some(site), stream(open(planned)?, planned.shaping.feedback));
                    }
                }
                let portal: Vec<Box<dyn Source>> =
                    meaning.portal.iter().map(open).collect::<Result<_, _>>()?;
                if !portal.is_empty() {
                    let feedback = meaning.portal.iter().any(|planned| planned.shaping.feedback);
                    streams.insert(None, stream(Box::new(Merged::new(portal)), feedback));
                }
                Ok(Self { streams, open: meaning.clock != Clock::Virtual, until: meaning.until })
            }
        }
    }

    /// Whether jobs wait for the ends of others.
    pub(super) fn has_feedback(&self) -> bool {
        self.streams.values().any(|stream| stream.feedback)
    }

    /// What was asked for a job; `None` if no workload has it.
    ///
    /// # Errors
    /// Why the workload cannot be read further.
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

    /// Whether every job of the tables must be in a workload.
    pub(super) const fn is_complete(&self) -> bool {
        !self.open
    }

    /// Jobs that have not been asked for though they were submitted: the first of them by name, and how many.
    ///
    /// # Errors
    /// Why the workload cannot be read to its end.
    pub(super) fn left(mut self) -> Result<(Option<JobName>, u64), String> {
        let (mut first, mut count) = (None, 0);
        for (site, stream) in &mut self.streams {
            while stream.next()? {}
            let until = self.until.filter(|_| !stream.feedback);
            let late = |asked: &Asked| until.is_some_and(|until| asked.submit >= until);
            // Under feedback it is not known when the last ones would have come.
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
    /// Reads a job. False if there is none.
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
