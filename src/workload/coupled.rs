//! Jobs that are run in parts at several sites.

use crate::model::{Coallocated, Coupling, Job, JobId, Size, Submission, TaskId};
use crate::units::Time;
use crate::workload::random::Stream;
use crate::workload::{Mark, Source, SourceError};

/// The most parts of a job.
pub const MOST_PARTS: u32 = 8;

/// Which jobs of a workload are run in parts, and how: `coallocate = { parts = 2, share = 0.25, notice = "1 h" }`.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct CoupledSpec {
    /// The number of parts.
    pub parts: u32,
    /// The share of jobs that are run in parts, of those that have a processor for each.
    pub share: f64,
    /// When they may start, and how their parts communicate.
    pub coupling: Coupling,
}

/// A source some of whose jobs are run in parts: processors are divided evenly, the first parts have one more. What is drawn for a job depends on the seed, the
/// entity and its number alone.
///
/// The first part keeps the number of the job; the k-th one, from 0, has it raised by k × [`Coupled::APART`].
pub struct Coupled {
    inner: Box<dyn Source>,
    spec: CoupledSpec,
    seed: u64,
    entity: String,
}

impl Coupled {
    /// The offset between the numbers of two consecutive parts of a job.
    pub const APART: u64 = 100_000_000;

    /// Has jobs of `inner` run in parts.
    pub fn new(inner: Box<dyn Source>, spec: CoupledSpec, seed: u64, entity: &str) -> Self {
        Self { inner, spec, seed, entity: entity.to_owned() }
    }

    /// The job as it is submitted.
    fn submission(&self, job: Job) -> Result<Submission, SourceError> {
        if job.id.0 >= Self::APART {
            return Err(SourceError::Read {
                place: "the workload".to_owned(),
                problem: format!("the job number {} is too large where jobs are run in parts", job.id),
                hint: format!("renumber the jobs: the largest is {}", Self::APART - 1),
            });
        }
        let (procs, parts) = (job.size.preferred(), self.spec.parts);
        let drawn = || Stream::new(self.seed, &self.entity, &format!("coallocate {}", job.id)).uniform();
        let alone = procs < parts || (self.spec.share < 1.0 && drawn() >= self.spec.share);
        if alone {
            return Ok(Submission::Job(job));
        }
        let part = |at: u32| {
            let size = procs / parts + u32::from(at < procs % parts);
            Job {
                id: JobId(job.id.0 + u64::from(at) * Self::APART),
                size: Size::Rigid(size),
                elastic: None,
                requested_start: None,
                after: None,
                ..job.clone()
            }
        };
        Ok(Submission::Coallocated(Coallocated {
            first_task: TaskId::default(),
            parts: (0..parts).map(part).collect(),
            coupling: self.spec.coupling,
        }))
    }
}

impl Source for Coupled {
    fn peek_time(&mut self) -> Result<Option<Time>, SourceError> {
        self.inner.peek_time()
    }

    fn next_job(&mut self) -> Result<Option<Job>, SourceError> {
        match self.next_submission()? {
            Some(Submission::Job(job)) => Ok(Some(job)),
            Some(_) => Err(SourceError::no_job("a workload whose jobs are run in parts")),
            None => Ok(None),
        }
    }

    fn next_submission(&mut self) -> Result<Option<Submission>, SourceError> {
        match self.inner.next_submission()? {
            Some(Submission::Job(job)) => self.submission(job).map(Some),
            other => Ok(other),
        }
    }

    fn notes(&self) -> Vec<String> {
        let numbers = format!(
            "jobs are run in parts: the numbers of the second, third, ... part are raised by {}, {}, ...",
            Self::APART,
            2 * Self::APART
        );
        self.inner.notes().into_iter().chain([numbers]).collect()
    }

    fn mark(&self) -> Option<Mark> {
        self.inner.mark()
    }

    fn seek(&mut self, mark: &Mark) -> Result<(), SourceError> {
        self.inner.seek(mark)
    }
}
