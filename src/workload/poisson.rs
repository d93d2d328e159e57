//! A workload with exponential gaps (Poisson arrivals): the plain workload of benchmarks and of queueing theory.
//!
//! Gaps, sizes and run times are drawn from separate streams, so that changing one of the three distributions leaves
//! the draws of the others unchanged.

mod lengths;
mod sizes;
mod spec;

use serde::{Deserialize, Serialize};

pub use lengths::Lengths;
pub use sizes::Sizes;
pub use spec::{Pace, PoissonSpec};

use super::random::Stream;
use super::{Drawn, Generated, Generator, SourceError, Spec};
use crate::model::{Job, NamedError};
use crate::units::{Span, Time};

/// Generates the jobs of a [`PoissonSpec`], one at a time. Estimates are exact.
pub type Poisson = Generated<PoissonSpec>;

/// What a mark holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    made: u64,
    /// Submission time of the next job.
    next: Time,
    gaps: Stream,
    sizes: Stream,
    runtimes: Stream,
}

impl State {
    fn step(&mut self, mean_gap: f64) {
        let gap = libm::round(mean_gap * self.gaps.exponential());
        // The cast saturates, and so does the sum.
        self.next += Span::from_micros(gap as u64);
    }
}

impl Generator for PoissonSpec {
    /// Mean gap in microseconds.
    type Model = f64;
    type State = State;

    fn drawn(&self) -> Drawn {
        Drawn { jobs: self.jobs, procs: self.procs, seed: self.seed }
    }

    fn begin(&self, seed: u64, entity: &str) -> Result<(f64, State), NamedError> {
        let stream = |purpose: &str| Stream::new(seed, entity, purpose);
        let mut state = State {
            made: 0,
            next: Time::ZERO,
            gaps: stream("poisson gaps"),
            sizes: stream("poisson sizes"),
            runtimes: stream("poisson run times"),
        };
        let mean_gap = self.mean_gap() * 1e6;
        state.step(mean_gap);
        Ok((mean_gap, state))
    }

    fn pending(&self, _: &f64, state: &State) -> Result<Time, SourceError> {
        if state.next == Time::NEVER {
            return Err(SourceError::Read {
                place: Self::NAME.to_owned(),
                problem: format!("job {} comes after the end of the time axis", state.made + 1),
                hint: "use shorter gaps, or fewer jobs".to_owned(),
            });
        }
        Ok(state.next)
    }

    fn draw(&self, mean_gap: &f64, state: &mut State, submit: Time) -> Job {
        let procs = self.size.draw(&mut state.sizes);
        let runtime = self.runtime.draw(&mut state.runtimes);
        state.made += 1;
        state.step(*mean_gap);
        Job::rigid(state.made, submit, procs, runtime)
    }

    fn made(state: &State) -> u64 {
        state.made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Mark, Source};

    fn source(written: &str, seed: u64, entity: &str) -> Poisson {
        Poisson::new(written.parse().unwrap(), seed, entity).unwrap()
    }

    fn jobs(mut source: Poisson) -> Vec<Job> {
        let mut jobs = Vec::new();
        while let Some(time) = source.peek_time().unwrap() {
            let job = source.next_job().unwrap().unwrap();
            assert_eq!(job.submit, time);
            jobs.push(job);
        }
        assert_eq!(source.next_job(), Ok(None));
        jobs
    }

    #[test]
    fn the_means_are_those_that_were_asked_for() {
        let written = "poisson[jobs=20000,every=2 s,size=1..32,runtime=exponential[mean=10 min]]";
        let jobs = jobs(source(written, 1, "portal"));
        assert_eq!(jobs.len(), 20_000);
        let mean = |of: &dyn Fn(&Job) -> f64| jobs.iter().map(of).sum::<f64>() / 20_000.0;
        // Five standard errors: of an exponential σ = mean, of a die with 32 faces σ = 9.23.
        let gap = jobs.last().unwrap().submit.as_secs_f64() / 20_000.0;
        assert!((gap - 2.0).abs() < 5.0 * 2.0 / 141.0, "{gap}");
        let size = mean(&|job| f64::from(job.size.preferred()));
        assert!((size - 16.5).abs() < 5.0 * 9.23 / 141.0, "{size}");
        let runtime = mean(&|job| job.runtime.as_secs_f64());
        assert!((runtime - 600.0).abs() < 5.0 * 600.0 / 141.0, "{runtime}");
        assert!(jobs.iter().all(|job| job.estimate == job.runtime && (1..=32).contains(&job.size.max())));
    }

    #[test]
    fn a_load_sets_the_gaps() {
        for written in [
            "poisson[jobs=20000,procs=64,load=0.5,size=2/4/8,runtime=lognormal[median=1 min,sigma=1]]",
            "poisson[jobs=20000,procs=64,load=0.5,size=8,runtime=weibull[mean=1 h,shape=0.7]]",
            "poisson[jobs=20000,procs=64,load=0.5,size=1..9,runtime=1 min..3 min]",
        ] {
            let jobs = jobs(source(written, 1, ""));
            let work: f64 =
                jobs.iter().map(|job| f64::from(job.size.max()) * job.runtime.as_secs_f64()).sum();
            let load = work / (64.0 * jobs.last().unwrap().submit.as_secs_f64());
            assert!((load - 0.5).abs() < 0.05, "{written}: {load}");
        }
    }

    #[test]
    fn one_law_does_not_move_the_draws_of_another() {
        let plain = jobs(source("poisson[jobs=50,size=1..32]", 3, "a"));
        let longer = jobs(source("poisson[jobs=50,size=1..32,runtime=2 h]", 3, "a"));
        let other = jobs(source("poisson[jobs=50,size=1..32]", 3, "b"));
        assert!(plain.iter().zip(&longer).all(|(a, b)| (a.submit, &a.size) == (b.submit, &b.size)));
        assert!(longer.iter().all(|job| job.runtime == Span::from_secs(7_200)));
        assert_ne!(plain, other, "another entity has other jobs");
        assert_eq!(
            jobs(source("poisson[jobs=50,size=1..32,seed=3]", 9, "a")),
            jobs(source("poisson[jobs=50,size=1..32,seed=3]", 8, "b"))
        );
    }

    #[test]
    fn a_mark_goes_on_where_it_was_made() {
        let written = "poisson[jobs=40,size=1..32]";
        let whole = jobs(source(written, 5, "x"));
        let mut first = source(written, 5, "x");
        for _ in 0..17 {
            first.next_job().unwrap();
        }
        let mark = first.mark().unwrap();
        let mut second = source(written, 5, "x");
        second.seek(&mark).unwrap();
        assert_eq!(jobs(second), whole[17..]);
        assert!(source(written, 6, "x").seek(&mark).is_err());
        let damaged = Mark { state: mark.state[..3].to_vec(), ..mark };
        assert!(source(written, 5, "x").seek(&damaged).is_err());
    }

    #[test]
    fn a_gap_beyond_the_axis_is_an_error() {
        let mut source = source("poisson[jobs=100,every=99999999 d]", 1, "");
        let refused = (0..100).find_map(|_| source.next_job().err()).unwrap();
        assert!(refused.to_string().contains("time axis"), "{refused}");
    }
}
