//! The assignment of estimates to jobs.

use thiserror::Error;

use super::spec::TsafrirSpec;
use crate::model::Job;
use crate::units::Span;
use crate::workload::SourceError;
use crate::workload::random::Stream;

/// The result of an assignment.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Assigned {
    /// Number of jobs whose run time was reduced to the limit.
    pub cut: u64,
    /// Number of distinct estimates.
    pub values: usize,
}

/// Why jobs cannot have estimates by the model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TsafrirError {
    /// There are more long jobs than long estimates.
    #[error(
        "tsafrir: {rank} of {jobs} jobs run for {runtime} s or longer, but fewer estimates are as long (number {rank} is {estimate} s)"
    )]
    TooManyLong {
        /// The number of jobs that run at least as long.
        rank: usize,
        /// The number of all jobs.
        jobs: usize,
        /// The run time of the shortest of them.
        runtime: Span,
        /// The longest estimate that is left for it.
        estimate: Span,
    },
    /// The jobs could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
}

impl TsafrirError {
    /// What the user can do about it, if anything.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::TooManyLong { .. } => {
                Some("raise `max`, or set the share of jobs with the longest estimate by `max-share`")
            }
            Self::Source(error) => error.hint(),
        }
    }
}

impl TsafrirSpec {
    /// Assigns an estimate to every job, none shorter than its run time; run times beyond the limit are reduced to it
    /// first. The estimates are exactly those of [`TsafrirSpec::histogram`].
    ///
    /// # Errors
    /// [`TsafrirError::TooManyLong`] if no assignment exists; the jobs are then unchanged.
    pub fn assign(&self, jobs: &mut [Job], stream: &mut Stream) -> Result<Assigned, TsafrirError> {
        let bins = self.histogram(jobs.len() as u64, stream);
        let falling = bins.iter().rev();
        let mut estimates: Vec<Span> =
            falling.flat_map(|bin| std::iter::repeat_n(bin.estimate, bin.jobs as usize)).collect();
        let runtime = |job: &Job| job.runtime.min(self.max);
        let mut longest: Vec<usize> = (0..jobs.len()).collect();
        longest.sort_by_key(|at| (std::cmp::Reverse(runtime(&jobs[*at])), *at));
        for (rank, (at, estimate)) in longest.iter().zip(&estimates).enumerate() {
            let runtime = runtime(&jobs[*at]);
            if runtime > *estimate {
                let (rank, jobs) = (rank + 1, jobs.len());
                return Err(TsafrirError::TooManyLong { rank, jobs, runtime, estimate: *estimate });
            }
        }
        let mut assigned = Assigned { cut: 0, values: bins.len() };
        // Estimates before `enough` are at least as long as the current run time: those behind have not been moved
        // yet, and those moved from the front are longer still.
        let mut enough = 0;
        for (rank, at) in longest.into_iter().enumerate() {
            let Some(job) = jobs.get_mut(at) else { continue };
            assigned.cut += u64::from(job.runtime > self.max);
            job.runtime = runtime(job);
            while estimates.get(enough).is_some_and(|estimate| *estimate >= job.runtime) {
                enough += 1;
            }
            let choices = enough.saturating_sub(rank) as u64;
            estimates.swap(rank, rank + stream.below(choices) as usize);
            job.estimate = estimates[rank];
        }
        Ok(assigned)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::units::Time;
    use crate::workload::lublin::{Lublin, LublinSpec};

    fn jobs(runtimes: impl IntoIterator<Item = u64>) -> Vec<Job> {
        let job = |(at, runtime)| Job::rigid(at as u64, Time::ZERO, 1, Span::from_secs(runtime));
        runtimes.into_iter().enumerate().map(job).collect()
    }

    fn sorted(estimates: impl Iterator<Item = Span>) -> Vec<Span> {
        let mut all: Vec<Span> = estimates.collect();
        all.sort_unstable();
        all
    }

    fn check(spec: &TsafrirSpec, mut jobs: Vec<Job>, seed: u64) -> Result<(), TsafrirError> {
        let stream = Stream::new(seed, "test", "estimates");
        let before = jobs.clone();
        let assigned = match spec.assign(&mut jobs, &mut stream.clone()) {
            Ok(assigned) => assigned,
            Err(error) => {
                assert_eq!(jobs, before);
                return Err(error);
            }
        };
        let bins = spec.histogram(jobs.len() as u64, &mut stream.clone());
        let expected = bins.iter().flat_map(|bin| std::iter::repeat_n(bin.estimate, bin.jobs as usize));
        assert_eq!(sorted(jobs.iter().map(|job| job.estimate)), sorted(expected));
        for (job, before) in jobs.iter().zip(&before) {
            assert!(job.estimate >= job.runtime && job.runtime == before.runtime.min(spec.max), "{job:?}");
        }
        assert_eq!(assigned.cut, before.iter().filter(|job| job.runtime > spec.max).count() as u64);
        assert_eq!(assigned.values, bins.len());
        Ok(())
    }

    proptest! {
        #[test]
        fn estimates_are_those_of_the_histogram_and_long_enough(
            runtimes in proptest::collection::vec(prop_oneof![4 => 0_u64..3_000, 1 => 0_u64..200_000], 0..400),
            seed: u64,
        ) {
            // `check` tests the result, whether the assignment succeeds or not.
            let _ = check(&TsafrirSpec::new(Span::from_secs(129_600)), jobs(runtimes), seed);
        }
    }

    #[test]
    fn the_jobs_of_a_model_get_estimates() {
        let spec: LublinSpec = "lublin[seed=1]".parse().unwrap();
        let jobs: Vec<Job> = Lublin::new(spec, 0, "").unwrap().map(Job::from).collect();
        check(&TsafrirSpec::new(Span::from_secs(36 * 3_600)), jobs, 1).unwrap();
    }

    /// Changing this changes every workload with estimates: say so in the changelog.
    #[test]
    fn a_small_case_is_golden() {
        let mut jobs = jobs([30, 7_000, 400, 20_000, 61, 3_500, 1, 90_000, 250, 14_000]);
        let spec = TsafrirSpec::new(Span::from_secs(36 * 3_600));
        let assigned = spec.assign(&mut jobs, &mut Stream::new(1, "test", "estimates")).unwrap();
        assert_eq!(assigned, Assigned { cut: 0, values: 5 });
        let estimates: Vec<u64> = jobs.iter().map(|job| job.estimate.micros() / 1_000_000).collect();
        assert_eq!(estimates, [300, 10800, 900, 129600, 600, 129600, 300, 129600, 10800, 129600]);
    }

    #[test]
    fn too_many_long_jobs_are_refused_with_a_way_out() {
        let spec = TsafrirSpec::new(Span::from_secs(36 * 3_600));
        let error = check(&spec, jobs([129_600; 100]), 1).unwrap_err();
        assert!(error.to_string().contains("of 100 jobs run for 129600 s or longer"), "{error}");
        assert!(error.hint().unwrap().contains("max-share"));
    }
}
