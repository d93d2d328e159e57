//! A source with estimates by the model.

use super::assign::TsafrirError;
use super::spec::TsafrirSpec;
use crate::model::Job;
use crate::units::Time;
use crate::workload::random::Stream;
use crate::workload::{Jobs, Mark, Source, SourceError};

/// The jobs of another source with estimates by the model, all held in memory.
#[derive(Debug)]
pub struct Estimated {
    jobs: Jobs,
}

impl Estimated {
    /// Reads all jobs of `source` and assigns estimates to them. A source with feedback cannot be read ahead, because
    /// it must be notified of ends: only the jobs that it has at first are taken.
    ///
    /// # Errors
    /// [`TsafrirError`] if the source fails, or if so many jobs are so long that no assignment exists.
    pub fn new(
        spec: &TsafrirSpec,
        mut source: impl Source,
        mut stream: Stream,
    ) -> Result<Self, TsafrirError> {
        let once = source.mark().is_none();
        let mut jobs = Vec::new();
        while let Some(job) = source.next_job()? {
            jobs.push(job);
        }
        let assigned = spec.assign(&mut jobs, &mut stream)?;
        let mut notes = source.notes();
        if assigned.cut > 0 {
            notes.push(format!(
                "tsafrir: {} run times longer than the longest estimate were cut to {} s",
                assigned.cut, spec.max
            ));
        }
        Ok(Self { jobs: Jobs::new(jobs).with_notes(notes).had_once(once) })
    }
}

impl Source for Estimated {
    fn peek_time(&mut self) -> Result<Option<Time>, SourceError> {
        self.jobs.peek_time()
    }

    fn next_job(&mut self) -> Result<Option<Job>, SourceError> {
        self.jobs.next_job()
    }

    fn notes(&self) -> Vec<String> {
        self.jobs.notes()
    }

    fn mark(&self) -> Option<Mark> {
        self.jobs.mark()
    }

    fn seek(&mut self, mark: &Mark) -> Result<(), SourceError> {
        self.jobs.seek(mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    fn source(limit_hours: u64) -> Estimated {
        let jobs = (0..500).map(|at| {
            Job::rigid(at, Time::from_secs(at), 1, Span::from_secs(if at == 7 { 50_000 } else { 60 }))
        });
        let spec = TsafrirSpec::new(Span::from_secs(limit_hours * 3_600));
        Estimated::new(&spec, Jobs::new(jobs.collect()), Stream::new(1, "test", "estimates")).unwrap()
    }

    #[test]
    fn a_mark_continues_where_it_was_made_and_nowhere_else() {
        let mut straight = source(12);
        for _ in 0..100 {
            straight.next_job().unwrap();
        }
        let mark = straight.mark().unwrap();
        let mut resumed = source(12);
        resumed.seek(&mark).unwrap();
        assert_eq!(resumed.peek_time(), Ok(Some(Time::from_secs(100))));
        while let Some(job) = straight.next_job().unwrap() {
            assert_eq!(resumed.next_job(), Ok(Some(job)));
        }
        assert!(source(18).seek(&mark).is_err());
    }

    #[test]
    fn cut_run_times_are_told() {
        assert_eq!(
            source(12).notes(),
            ["tsafrir: 1 run times longer than the longest estimate were cut to 43200 s"]
        );
        assert!(source(18).notes().is_empty());
    }
}
