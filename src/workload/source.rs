//! The stream of jobs that a site or a portal reads.

use std::cell::OnceCell;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use xxhash_rust::xxh3::Xxh3;

use crate::model::{Job, JobId};
use crate::units::Time;

/// Where a source stands: enough to go on from there in another process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Jobs (or input records) taken so far.
    pub position: u64,
    /// A hash of what has been read so far, so that another file under the same name is told from this one.
    pub content: u128,
    /// The source's own state (a generator's, a shaper's), in postcard.
    pub state: Vec<u8>,
}

/// A source that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SourceError {
    /// Reading failed or the input ends in the middle.
    #[error("{place}: {problem}")]
    Read {
        /// File and line.
        place: String,
        /// What went wrong.
        problem: String,
        /// What to do.
        hint: String,
    },
    /// The mark belongs to something else.
    #[error("{place}: {problem}")]
    Mark {
        /// The source.
        place: String,
        /// Why it cannot be continued from the mark.
        problem: String,
    },
}

impl SourceError {
    /// A job that would be submitted when time is over.
    pub(crate) fn beyond_the_axis() -> Self {
        Self::Read {
            place: "the workload".to_owned(),
            problem: "the next job would be submitted beyond the end of the time axis".to_owned(),
            hint: "scale the submissions less, or take only the first jobs".to_owned(),
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
/// [`Source::peek_time`] and [`Source::next_job`] agree: the job that `next_job` returns is submitted at the instant that `peek_time`
/// announced. Submission times never decrease, except that a source with feedback may, when told of an end,
/// announce a job earlier than the one announced before (never earlier than that end).
pub trait Source: Send {
    /// When the next job is submitted; `None` if there is none now (a source with feedback may have one after
    /// [`Source::ended`]).
    ///
    /// # Errors
    /// [`SourceError`] if the input cannot be read.
    fn peek_time(&mut self) -> Result<Option<Time>, SourceError>;

    /// The next job.
    ///
    /// # Errors
    /// [`SourceError`] if the input cannot be read.
    fn next_job(&mut self) -> Result<Option<Job>, SourceError>;

    /// Told when a job of this source ended (or was rejected), for sources with feedback.
    fn ended(&mut self, _job: JobId, _at: Time) {}

    /// Whether it makes use of [`Source::ended`].
    fn has_feedback(&self) -> bool {
        false
    }

    /// What was skipped, capped, moved or sorted so far, one sentence each with its count ("skipped 8 jobs that have no run
    /// time"), told once after the run. Empty if nothing was.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Where the source stands; `None` if it cannot be continued (standard input).
    fn mark(&self) -> Option<Mark>;

    /// Continues from a mark that an equal source gave. Nothing has been taken from this one; its first job may have been
    /// looked at, if that of the other had been too.
    ///
    /// # Errors
    /// [`SourceError::Mark`] if the mark belongs to something else, [`SourceError::Read`] if reading fails.
    fn seek(&mut self, mark: &Mark) -> Result<(), SourceError>;
}

/// Jobs from memory, in order of submission (ties in the order given).
#[derive(Debug)]
pub struct Jobs {
    jobs: Arc<Vec<Job>>,
    next: usize,
    notes: Vec<String>,
    once: bool,
    /// A hash of all jobs, once it has been asked for.
    content: OnceCell<u128>,
}

impl Jobs {
    /// A source of `jobs`, sorted by submission.
    pub fn new(mut jobs: Vec<Job>) -> Self {
        jobs.sort_by_key(|job| job.submit);
        Self::shared(Arc::new(jobs))
    }

    /// A source of jobs that others read too. They are in order of submission already.
    pub(crate) const fn shared(jobs: Arc<Vec<Job>>) -> Self {
        Self { jobs, next: 0, notes: Vec::new(), once: false, content: OnceCell::new() }
    }

    /// The same with what those who made the jobs have to tell ([`Source::notes`]).
    #[must_use]
    pub fn with_notes(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }

    /// The same, of which nobody knows where to get them again if `once`: it gives no marks.
    #[must_use]
    pub fn had_once(self, once: bool) -> Self {
        Self { once, ..self }
    }

    fn content(&self) -> u128 {
        *self.content.get_or_init(|| {
            let mut hash = Xxh3::new();
            for job in self.jobs.iter() {
                // Nothing in a job cannot be written.
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
