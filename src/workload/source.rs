//! The stream of jobs that a site or a portal reads.

use std::cell::OnceCell;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use xxhash_rust::xxh3::Xxh3;

use crate::model::{Job, JobId, Submission};
use crate::units::Time;

/// The position of a source: enough to continue from there in another process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Number of jobs (or input records) taken so far.
    pub position: u64,
    /// A hash of what has been read so far, which distinguishes another file under the same name from this one.
    pub content: u128,
    /// The source's own state (a generator's, a shaper's), encoded as postcard.
    pub state: Vec<u8>,
}

/// Why a source cannot continue.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SourceError {
    /// Reading failed or the input ends in the middle.
    #[error("{place}: {problem}")]
    Read {
        /// The file and line.
        place: String,
        /// What is wrong.
        problem: String,
        /// What the user can do.
        hint: String,
    },
    /// The mark belongs to another source.
    #[error("{place}: {problem}")]
    Mark {
        /// The source.
        place: String,
        /// Why it cannot be continued from the mark.
        problem: String,
    },
}

impl SourceError {
    /// The error of a job whose submission time is beyond the end of the time axis.
    pub(crate) fn beyond_the_axis() -> Self {
        Self::Read {
            place: "the workload".to_owned(),
            problem: "the next job would be submitted beyond the end of the time axis".to_owned(),
            hint: "scale the submissions less, or take only the first jobs".to_owned(),
        }
    }

    /// The error of a workflow where only jobs are taken.
    pub(crate) fn no_job(place: &str) -> Self {
        Self::Read {
            place: place.to_owned(),
            problem: "a workflow is submitted, where only jobs are taken".to_owned(),
            hint: "submit it at the portal of a grid with a broker".to_owned(),
        }
    }

    /// What the user can do about it, if anything.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Read { hint, .. } if !hint.is_empty() => Some(hint),
            _ => None,
        }
    }
}

/// A stream of jobs in order of submission.
///
/// [`Source::peek_time`] and [`Source::next_job`] agree: the job that `next_job` returns is submitted at the instant
/// that `peek_time` announced. Submission times never decrease, except that a source with feedback, notified of an
/// end, may announce a job earlier than the one announced before (never earlier than that end).
pub trait Source: Send {
    /// The submission time of the next job; `None` if there is none now (a source with feedback may have one after
    /// [`Source::ended`]).
    ///
    /// # Errors
    /// [`SourceError`] if the input cannot be read.
    fn peek_time(&mut self) -> Result<Option<Time>, SourceError>;

    /// Takes the next job.
    ///
    /// # Errors
    /// [`SourceError`] if the input cannot be read, or a workflow comes next.
    fn next_job(&mut self) -> Result<Option<Job>, SourceError>;

    /// Takes what is submitted next: a job, or a workflow.
    ///
    /// # Errors
    /// [`SourceError`] if the input cannot be read.
    fn next_submission(&mut self) -> Result<Option<Submission>, SourceError> {
        Ok(self.next_job()?.map(Submission::Job))
    }

    /// Notifies a source with feedback that one of its jobs ended (or was rejected).
    fn ended(&mut self, _job: JobId, _at: Time) {}

    /// Whether the source uses [`Source::ended`].
    fn has_feedback(&self) -> bool {
        false
    }

    /// What was skipped, capped, moved or sorted so far, one sentence each with its count ("skipped 8 jobs that have
    /// no run time"), reported once after the run. Empty if nothing was.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The position of the source; `None` if it cannot be continued (standard input).
    fn mark(&self) -> Option<Mark>;

    /// Continues from a mark that an equal source returned. No job may have been taken from this one; its first job
    /// may have been peeked at if that of the other had been too.
    ///
    /// # Errors
    /// [`SourceError::Mark`] if the mark belongs to another source, [`SourceError::Read`] if reading fails.
    fn seek(&mut self, mark: &Mark) -> Result<(), SourceError>;
}

/// Jobs held in memory, in order of submission (ties in the order given).
#[derive(Debug)]
pub struct Jobs {
    jobs: Arc<Vec<Job>>,
    next: usize,
    notes: Vec<String>,
    once: bool,
    /// A hash of all jobs, computed when it is first needed.
    content: OnceCell<u128>,
}

impl Jobs {
    /// Creates a source of `jobs`, which it sorts by submission.
    pub fn new(mut jobs: Vec<Job>) -> Self {
        jobs.sort_by_key(|job| job.submit);
        Self::shared(Arc::new(jobs))
    }

    /// Creates a source of jobs that are shared with other readers and already in order of submission.
    pub(crate) const fn shared(jobs: Arc<Vec<Job>>) -> Self {
        Self { jobs, next: 0, notes: Vec::new(), once: false, content: OnceCell::new() }
    }

    /// Adds notes about the making of the jobs to [`Source::notes`].
    #[must_use]
    pub fn with_notes(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }

    /// If `once`, declares that the jobs cannot be read a second time, so that the source returns no marks.
    #[must_use]
    pub fn had_once(self, once: bool) -> Self {
        Self { once, ..self }
    }

    fn content(&self) -> u128 {
        *self.content.get_or_init(|| {
            let mut hash = Xxh3::new();
            for job in self.jobs.iter() {
                // Serializing a job cannot fail.
                hash.update(&postcard::to_stdvec(job).unwrap_or_default());
            }
            hash.digest128()
        })
    }
}

impl Source for Jobs {
    fn peek_time(&mut self) -> Result<Option<Time>, SourceError> {
        Ok(self.jobs.get(self.next).map(|job| job.submit))
    }

    fn next_job(&mut self) -> Result<Option<Job>, SourceError> {
        let job = self.jobs.get(self.next).cloned();
        self.next += usize::from(job.is_some());
        Ok(job)
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn mark(&self) -> Option<Mark> {
        let mark = || Mark { position: self.next as u64, content: self.content(), state: Vec::new() };
        (!self.once).then(mark)
    }

    fn seek(&mut self, mark: &Mark) -> Result<(), SourceError> {
        let fail = |problem| SourceError::Mark { place: "jobs from memory".to_owned(), problem };
        if mark.content != self.content() {
            return Err(fail("the mark was made with other jobs".to_owned()));
        }
        match usize::try_from(mark.position).ok().filter(|next| *next <= self.jobs.len()) {
            Some(next) => {
                self.next = next;
                Ok(())
            }
            None => {
                Err(fail(format!("the mark is at job {}, but there are {}", mark.position, self.jobs.len())))
            }
        }
    }
}
