//! The workloads of adaptive SCOJO: rigid, moldable and malleable jobs of three classes of run times [X. Huang, *Adaptive space-time sharing with
//! SCOJO*, MSc thesis, University of Windsor, 2004, sections 6.6, 6.8 and 7.2].
//!
//! A job is short, medium or long, and has a best size N_opt. A moldable or malleable one takes from N_opt / 2 to 2 N_opt processors, on which its
//! speedup is 80, 65 and 50 % of the processors ([`Speedup::of_working_set`]). Its run time is that on N_opt processors, and its estimate is exact.
//!
//! The thesis gives the shares of the classes and of the kinds of jobs, and says in which classes there are which: long jobs are not moldable, short
//! ones not malleable, and rigid ones are medium in workload 1, and medium and long in workload 2. Hence the table of kinds here.

mod spec;

use serde::{Deserialize, Serialize};

pub use spec::{Class, HuangSpec, Which};

use super::random::Stream;
use super::{Drawn, Generated, Generator, SourceError, Spec};
use crate::model::{Job, JobKind, NamedError, Size, Speedup};
use crate::units::{Span, Time};

/// Generates the jobs of a [`HuangSpec`], one at a time.
pub type Huang = Generated<HuangSpec>;

/// What a mark holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    made: u64,
    /// Submission time of the next job.
    next: Time,
    gaps: Stream,
    classes: Stream,
    sizes: Stream,
    runtimes: Stream,
}

impl State {
    /// A gap of whole seconds, from one to `longest`, each equally likely.
    fn step(&mut self, longest: u64) {
        self.next += Span::from_secs(1 + self.gaps.below(longest));
    }
}

impl Generator for HuangSpec {
    /// The longest gap, in seconds: twice the mean.
    type Model = u64;
    type State = State;

    fn drawn(&self) -> Drawn {
        Drawn { jobs: self.jobs, procs: self.procs, seed: self.seed }
    }

    fn begin(&self, seed: u64, entity: &str) -> Result<(u64, State), NamedError> {
        let stream = |purpose: &str| Stream::new(seed, entity, purpose);
        let mut state = State {
            made: 0,
            next: Time::ZERO,
            gaps: stream("huang gaps"),
            classes: stream("huang classes"),
            sizes: stream("huang sizes"),
            runtimes: stream("huang run times"),
        };
        // It is checked to be 1 at least, and the cast saturates.
        let longest = libm::floor(2.0 * self.mean_gap()) as u64;
        state.step(longest);
        Ok((longest, state))
    }

    fn pending(&self, _: &u64, state: &State) -> Result<Time, SourceError> {
        if state.next == Time::NEVER {
            return Err(SourceError::Read {
                place: Self::NAME.to_owned(),
                problem: format!("job {} comes after the end of the time axis", state.made + 1),
                hint: "use shorter gaps, or fewer jobs".to_owned(),
            });
        }
        Ok(state.next)
    }

    fn draw(&self, longest: &u64, state: &mut State, submit: Time) -> Job {
        let percent = state.classes.below(100);
        let (class, kind) = self.workload.of(percent as u32);
        let from = |range: (u64, u64), stream: &mut Stream| range.0 + stream.below(range.1 - range.0 + 1);
        let best = from(class.size, &mut state.sizes) as u32;
        let runtime = Span::from_secs(from(class.runtime, &mut state.runtimes));
        state.made += 1;
        state.step(*longest);
        let mut job = Job::rigid(state.made, submit, best, runtime);
        // The machine has the largest best size, at least.
        let (min, preferred, max) = ((best / 2).max(1), best, (2 * best).min(self.procs));
        let speedup = Speedup::of_working_set(min, preferred, max);
        job.size = match kind {
            JobKind::Rigid => Size::Rigid(best),
            JobKind::Moldable => Size::Moldable { min, preferred, max, speedup },
            JobKind::Malleable => Size::Malleable { min, preferred, max, speedup },
        };
        job
    }

    fn made(state: &State) -> u64 {
        state.made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Source;

    fn jobs(written: &str) -> Vec<Job> {
        let mut source = Huang::new(written.parse().unwrap(), 1, "").unwrap();
        let mut jobs = Vec::new();
        while let Some(job) = source.next_job().unwrap() {
            job.check().unwrap();
            jobs.push(job);
        }
        jobs
    }

    /// The shares of classes and kinds of Table 7-2, and the offered load that follows from its formula for gaps.
    #[test]
    fn table_7_2() {
        for (written, shares, load) in [
            ("huang", [0.4, 0.4, 0.2, 0.1, 0.6, 0.3], 3.769),
            ("huang[workload=2]", [0.3, 0.35, 0.35, 0.1, 0.6, 0.3], 2.857),
        ] {
            let written = match written {
                "huang" => "huang[jobs=200000]".to_owned(),
                other => other.replace(']', ",jobs=200000]"),
            };
            let (jobs, is_2) = (jobs(&written), shares[0] < 0.4);
            let bounds = if is_2 { [180, 3_600] } else { [60, 1_800] };
            let class =
                |job: &Job| bounds.iter().filter(|bound| job.runtime > Span::from_secs(**bound)).count();
            let kind = |job: &Job| match job.size {
                Size::Rigid(_) => 3,
                Size::Moldable { .. } => 4,
                Size::Malleable { .. } => 5,
            };
            let mut counts = [0; 6];
            for job in &jobs {
                counts[class(job)] += 1;
                counts[kind(job)] += 1;
                let best = job.size.preferred();
                let range = [(1, 4), (4, 24), (8, 32)][class(job)];
                assert!((range.0..=range.1).contains(&best));
                if kind(job) > 3 {
                    assert_eq!((job.size.min(), job.size.max()), ((best / 2).max(1), 2 * best));
                }
                // Long jobs are never moldable, short ones never malleable, and rigid ones not short.
                assert!(!matches!((class(job), kind(job)), (2, 4) | (0, 5) | (0, 3)));
                assert!(is_2 || (class(job), kind(job)) != (2, 3));
            }
            for (count, share) in counts.iter().zip(shares) {
                let got = f64::from(*count) / 200_000.0;
                assert!((got - share).abs() < 0.006, "{written}: {counts:?}");
            }
            let area: f64 =
                jobs.iter().map(|job| f64::from(job.size.preferred()) * job.runtime.as_secs_f64()).sum();
            let offered = area / (64.0 * jobs.last().unwrap().submit.as_secs_f64());
            assert!((offered - load).abs() < 0.04, "{written}: {offered}");
        }
        assert_eq!((jobs("huang").len(), jobs("huang[workload=2]").len()), (8_000, 3_000));
        let half = jobs("huang[load=0.5,jobs=100000]");
        let area: f64 =
            half.iter().map(|job| f64::from(job.size.preferred()) * job.runtime.as_secs_f64()).sum();
        let offered = area / (64.0 * half.last().unwrap().submit.as_secs_f64());
        assert!((offered - 0.5).abs() < 0.01, "{offered}");
    }

    #[test]
    fn a_mark_goes_on_where_it_was_made() {
        let whole = jobs("huang[jobs=40]");
        let of = || Huang::new("huang[jobs=40]".parse().unwrap(), 1, "").unwrap();
        let (mut first, mut second) = (of(), of());
        for _ in 0..17 {
            first.next_job().unwrap();
        }
        second.seek(&first.mark().unwrap()).unwrap();
        for job in &whole[17..] {
            assert_eq!(second.next_job().unwrap().as_ref(), Some(job));
        }
        assert_eq!(second.next_job(), Ok(None));
    }
}
