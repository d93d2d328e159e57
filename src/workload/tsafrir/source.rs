//! A source with estimates by the model.

use super::assign::TsafrirError;
use super::spec::TsafrirSpec;
use crate::model::Job;
use crate::workload::Jobs;
use crate::workload::random::Stream;

impl TsafrirSpec {
    /// The source of `jobs` with estimates by the model, and with the `notes` of the source that the jobs come from.
    ///
    /// # Errors
    /// [`TsafrirError`] if so many jobs are so long that no assignment exists.
    pub fn estimated(
        &self,
        mut jobs: Vec<Job>,
        mut notes: Vec<String>,
        mut stream: Stream,
    ) -> Result<Jobs, TsafrirError> {
        let reduced = self.assign(&mut jobs, &mut stream)?;
        if reduced > 0 {
            let max = self.max;
            notes.push(format!(
                "tsafrir: {reduced} run times longer than the longest estimate were cut to {max} s"
            ));
        }
        Ok(Jobs::new(jobs).with_notes(notes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Span, Time};
    use crate::workload::Source;

    fn source(limit_hours: u64) -> Jobs {
        let jobs = (0..500).map(|at| {
            Job::rigid(at, Time::from_secs(at), 1, Span::from_secs(if at == 7 { 50_000 } else { 60 }))
        });
        let spec = TsafrirSpec::new(Span::from_secs(limit_hours * 3_600));
        spec.estimated(jobs.collect(), Vec::new(), Stream::new(1, "test", "estimates")).unwrap()
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
