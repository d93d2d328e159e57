//! The assignment of estimates to jobs.

use thiserror::Error;

use super::spec::TsafrirSpec;
use crate::model::Job;
use crate::units::Span;
use crate::workload::random::Stream;

/// Jobs cannot have estimates by the model: there are more long jobs than long estimates.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "tsafrir: {rank} of {jobs} jobs run for {runtime} s or longer, but fewer estimates are as long (number {rank} is {estimate} s)"
)]
pub struct TsafrirError {
    /// The number of jobs that run at least as long.
    rank: usize,
    /// The number of all jobs.
    jobs: usize,
    /// The run time of the shortest of them.
    runtime: Span,
    /// The longest estimate that is left for it.
    estimate: Span,
}

impl TsafrirError {
    /// What the user can do about it.
    pub const HINT: &'static str =
        "raise `max`, or set the share of jobs with the longest estimate by `max-share`";
}

impl TsafrirSpec {
    /// Assigns an estimate to every job, none shorter than its run time; run times beyond the limit are reduced to it
    /// first. The estimates are exactly those of [`TsafrirSpec::histogram`]. Returns the number of run times that were reduced.
    ///
    /// # Errors
    /// [`TsafrirError`] if no assignment exists; the jobs are then unchanged.
    pub fn assign(&self, jobs: &mut [Job], stream: &mut Stream) -> Result<u64, TsafrirError> {
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
                return Err(TsafrirError { rank, jobs, runtime, estimate: *estimate });
            }
        }
        let mut reduced = 0;
        // Estimates before `enough` are at least as long as the current run time: those behind have not been moved
        // yet, and those moved from the front are longer still.
        let mut enough = 0;
        for (rank, at) in longest.into_iter().enumerate() {
            let Some(job) = jobs.get_mut(at) else { continue };
            reduced += u64::from(job.runtime > self.max);
            job.runtime = runtime(job);
            while estimates.get(enough).is_some_and(|estimate| *estimate >= job.runtime) {
                enough += 1;
            }
            let choices = enough.saturating_sub(rank) as u64;
            estimates.swap(rank, rank + stream.below(choices) as usize);
            job.estimate = estimates[rank];
        }
        Ok(reduced)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::units::Time;
    use crate::workload::Source;
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
        let reduced = match spec.assign(&mut jobs, &mut stream.clone()) {
            Ok(reduced) => reduced,
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
        assert_eq!(reduced, before.iter().filter(|job| job.runtime > spec.max).count() as u64);
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
        let mut source = Lublin::new(spec, 0, "").unwrap();
        let jobs: Vec<Job> = std::iter::from_fn(|| source.next_job().unwrap()).collect();
        check(&TsafrirSpec::new(Span::from_secs(36 * 3_600)), jobs, 1).unwrap();
    }

    /// Changing this changes every workload with estimates: say so in the changelog.
    #[test]
    fn a_small_case_is_golden() {
        let mut jobs = jobs([30, 7_000, 400, 20_000, 61, 3_500, 1, 90_000, 250, 14_000]);
        let spec = TsafrirSpec::new(Span::from_secs(36 * 3_600));
        let reduced = spec.assign(&mut jobs, &mut Stream::new(1, "test", "estimates")).unwrap();
        assert_eq!(reduced, 0);
        let estimates: Vec<u64> = jobs.iter().map(|job| job.estimate.micros() / 1_000_000).collect();
        assert_eq!(estimates, [300, 10800, 900, 129600, 600, 129600, 300, 129600, 10800, 129600]);
    }

    #[test]
    fn too_many_long_jobs_are_refused_with_a_way_out() {
        let spec = TsafrirSpec::new(Span::from_secs(36 * 3_600));
        let error = check(&spec, jobs([129_600; 100]), 1).unwrap_err();
        assert!(error.to_string().contains("of 100 jobs run for 129600 s or longer"), "{error}");
        assert!(TsafrirError::HINT.contains("max-share"));
    }
}
