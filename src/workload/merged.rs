//! Several workloads merged into one.

use super::{Mark, Source, SourceError};
use crate::model::{Job, JobId, Predecessor, Submission};
use crate::units::Time;

/// The jobs of several sources in order of submission; of jobs submitted together, those of the earlier source come
/// first.
///
/// Job numbers stay unique: those of the k-th source, from 0, are raised by k × [`Merged::APART`].
pub struct Merged {
    sources: Vec<Box<dyn Source>>,
}

impl Merged {
    /// The offset between the job numbers of two consecutive sources.
    pub const APART: u64 = 1_000_000_000;

    /// Merges `sources`.
    pub fn new(sources: Vec<Box<dyn Source>>) -> Self {
        Self { sources }
    }

    /// The index of the source whose job is next, and the submission time of that job.
    fn next_source(&mut self) -> Result<Option<(Time, usize)>, SourceError> {
        let mut next: Option<(Time, usize)> = None;
        for (at, source) in self.sources.iter_mut().enumerate() {
            if let Some(time) = source.peek_time()?
                && next.is_none_or(|(earliest, _)| time < earliest)
            {
                next = Some((time, at));
            }
        }
        Ok(next)
    }
}

impl Source for Merged {
    fn peek_time(&mut self) -> Result<Option<Time>, SourceError> {
        Ok(self.next_source()?.map(|(time, _)| time))
    }

    fn next_job(&mut self) -> Result<Option<Job>, SourceError> {
        match self.next_submission()? {
            Some(Submission::Job(job)) => Ok(Some(job)),
            Some(Submission::Workflow(_) | Submission::Coallocated(_)) => {
                Err(SourceError::no_job("several workloads"))
            }
            None => Ok(None),
        }
    }

    fn next_submission(&mut self) -> Result<Option<Submission>, SourceError> {
        let Some((_, at)) = self.next_source()? else { return Ok(None) };
        let Some(mut submission) = self.sources[at].next_submission()? else { return Ok(None) };
        if self.sources.len() == 1 {
            return Ok(Some(submission));
        }
        let raised = |id: JobId| match id.0 {
            number if number < Self::APART => Ok(JobId(at as u64 * Self::APART + number)),
            number => Err(SourceError::Read {
                place: format!("workload {}", at + 1),
                problem: format!(
                    "the job number {number} is too large beside other workloads; the largest is {}",
                    Self::APART - 1
                ),
                hint: "renumber the jobs of the log, or submit it alone".to_owned(),
            }),
        };
        match &mut submission {
            Submission::Job(job) => {
                job.id = raised(job.id)?;
                if let Some(Predecessor { job: after, .. }) = &mut job.after {
                    *after = raised(*after)?;
                }
            }
            Submission::Workflow(workflow) => {
                raised(JobId(workflow.first_job.0 + workflow.spec.tasks.len() as u64))?;
                workflow.first_job = raised(workflow.first_job)?;
            }
            Submission::Coallocated(together) => {
                for part in &mut together.parts {
                    part.id = raised(part.id)?;
                }
            }
        }
        Ok(Some(submission))
    }

    fn ended(&mut self, job: JobId, at: Time) {
        let (source, number) =
            if self.sources.len() == 1 { (0, job.0) } else { (job.0 / Self::APART, job.0 % Self::APART) };
        let source = usize::try_from(source).ok().and_then(|source| self.sources.get_mut(source));
        if let Some(source) = source {
            source.ended(JobId(number), at);
        }
    }

    fn has_feedback(&self) -> bool {
        self.sources.iter().any(|source| source.has_feedback())
    }

    fn notes(&self) -> Vec<String> {
        if let [only] = &self.sources[..] {
            return only.notes();
        }
        let each = (1..).zip(&self.sources).flat_map(|(number, source)| {
            source.notes().into_iter().map(move |note| format!("workload {number}: {note}"))
        });
        let raised = format!(
            "the numbers of the jobs of workload 2, 3, ... are raised by {}, {}, ... to be unique",
            Self::APART,
            2 * Self::APART
        );
        each.chain([raised]).collect()
    }

    fn mark(&self) -> Option<Mark> {
        let marks: Vec<Mark> = self.sources.iter().map(|source| source.mark()).collect::<Option<_>>()?;
        let state = postcard::to_stdvec(&marks).ok()?;
        Some(Mark {
            position: marks.iter().map(|mark| mark.position).sum(),
            content: marks.iter().fold(0, |content, mark| content.rotate_left(1) ^ mark.content),
            state,
        })
    }

    fn seek(&mut self, mark: &Mark) -> Result<(), SourceError> {
        let fail = |problem: String| SourceError::Mark { place: "several workloads".to_owned(), problem };
        let marks: Vec<Mark> =
            postcard::from_bytes(&mark.state).map_err(|_| fail("the mark is damaged".to_owned()))?;
        if marks.len() != self.sources.len() {
            return Err(fail(format!(
                "the mark is of {} workloads, there are {}",
                marks.len(),
                self.sources.len()
            )));
        }
        self.sources.iter_mut().zip(&marks).try_for_each(|(source, mark)| source.seek(mark))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;
    use crate::workload::{Feedback, Jobs};

    fn jobs(rows: &[(u64, u64)]) -> Box<dyn Source> {
        let job = |(id, at): &(u64, u64)| Job::rigid(*id, Time::from_secs(*at), 1, Span::SECOND);
        Box::new(Jobs::new(rows.iter().map(job).collect()))
    }

    fn drained(source: &mut dyn Source) -> Vec<(u64, u64)> {
        let mut seen = Vec::new();
        while let Some(time) = source.peek_time().unwrap() {
            let job = source.next_job().unwrap().unwrap();
            assert_eq!(job.submit, time);
            seen.push((job.id.0, time.micros() / 1_000_000));
        }
        seen
    }

    #[test]
    fn jobs_come_in_order_under_numbers_of_their_own() {
        let both = || Merged::new(vec![jobs(&[(1, 5), (2, 9)]), jobs(&[(1, 5), (7, 6)])]);
        let whole = [(1, 5), (1_000_000_001, 5), (1_000_000_007, 6), (2, 9)];
        assert_eq!(drained(&mut both()), whole);
        assert_eq!(drained(&mut Merged::new(vec![jobs(&[(3_000_000_000, 1)])])), [(3_000_000_000, 1)]);
        let mut first = both();
        first.next_job().unwrap();
        first.next_job().unwrap();
        let mut second = both();
        second.seek(&first.mark().unwrap()).unwrap();
        assert_eq!(drained(&mut second), whole[2..]);
        assert!(Merged::new(vec![jobs(&[])]).seek(&first.mark().unwrap()).is_err());
        assert!(Merged::new(vec![jobs(&[]), jobs(&[(1_000_000_000, 1)])]).next_job().is_err());
    }

    /// The source of a job is notified of its end, under that source's own number.
    #[test]
    fn ends_find_their_source() {
        let mut second = Job::rigid(2, Time::from_secs(1), 1, Span::SECOND);
        second.after = Some(Predecessor { job: JobId(1), think: Span::from_secs(10) });
        let first = Job::rigid(1, Time::ZERO, 1, Span::SECOND);
        let log = || -> Box<dyn Source> {
            Box::new(Feedback::new(Box::new(Jobs::new(vec![first.clone(), second.clone()]))))
        };
        let mut merged = Merged::new(vec![log(), log()]);
        assert_eq!(merged.next_job().unwrap().unwrap().id, JobId(1));
        assert_eq!(merged.next_job().unwrap().unwrap().id, JobId(1_000_000_001));
        assert_eq!(merged.peek_time(), Ok(None), "both wait for an end");
        merged.ended(JobId(1_000_000_001), Time::from_secs(100));
        assert_eq!(merged.peek_time(), Ok(Some(Time::from_secs(110))));
        let job = merged.next_job().unwrap().unwrap();
        assert_eq!(
            (job.id, job.after.map(|after| after.job)),
            (JobId(1_000_000_002), Some(JobId(1_000_000_001)))
        );
        let notes = merged.notes();
        assert_eq!(notes[1], "workload 2: submitted 1 job a think time after the end of another job");
    }
}
