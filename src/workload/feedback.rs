//! User feedback: a job is submitted a think time after the end of the job it follows.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::shape::{own_state, with_state};
use super::{Mark, Source, SourceError};
use crate::model::{Job, JobId, Predecessor};
use crate::units::Time;

/// Number of jobs read ahead. On a faster machine a job's predecessor ends earlier than in the log, so that the job
/// may arrive before jobs that precede it in the log; it must have been read by then.
const AHEAD: usize = 4_096;

/// Replays [`Job::after`]: a job that follows another is submitted at the end of that job plus the think time,
/// instead of at its logged submission (Shmueli and Feitelson, *Using site-level modeling to evaluate the performance
/// of parallel system schedulers*, MASCOTS 2006).
///
/// This is the outermost of the shapers: it is notified of ends in the time of the run, so loads and estimates must
/// be shaped before. A job whose predecessor is not among the jobs before it keeps its logged submission, and is
/// counted.
///
/// Memory follows the jobs read ahead and outstanding, plus 16 bytes a job that has ended, since any later job may
/// follow it.
pub struct Feedback {
    inner: Box<dyn Source>,
    state: State,
    /// A failure of `inner`, reported when no job read before it is left.
    failed: Option<SourceError>,
}

/// Jobs that wait for the end of another, by the number of that job, each with its position in the input.
type Waiting = FxHashMap<u64, Vec<(u64, Job)>>;

#[derive(Debug, Default, Serialize, Deserialize)]
struct State {
    /// Jobs whose submission is known, in order of submission, then in the order read.
    ready: BTreeMap<(Time, u64), Job>,
    #[serde(serialize_with = "as_read", deserialize_with = "by_predecessor")]
    waiting: Waiting,
    /// Number of jobs in `waiting`.
    #[serde(skip)]
    waiting_count: usize,
    /// Jobs that have been read and whose end has not been notified yet.
    #[serde(serialize_with = "in_order")]
    outstanding: FxHashSet<u64>,
    /// The ends notified so far.
    #[serde(serialize_with = "in_order")]
    ends: FxHashMap<u64, Time>,
    /// Number of jobs read.
    read: u64,
    exhausted: bool,
    /// The latest instant known to have been reached: no job is announced before it.
    now: Time,
    followed: u64,
    unknown: u64,
    late: u64,
}

impl Feedback {
    /// Replays the feedback of `inner`, whose jobs come in order of logged submission.
    pub fn new(inner: Box<dyn Source>) -> Self {
        Self { inner, state: State::default(), failed: None }
    }

    /// Reads ahead until a job is ready and enough of the jobs behind it are known.
    fn fill(&mut self) {
        let state = &mut self.state;
        while !state.exhausted
            && self.failed.is_none()
            && (state.ready.is_empty() || state.ready.len() + state.waiting_count < AHEAD)
        {
            match self.inner.next_job() {
                Ok(Some(job)) => state.take_in(job),
                Ok(None) => state.exhausted = true,
                Err(error) => self.failed = Some(error),
            }
        }
    }
}

impl State {
    fn take_in(&mut self, mut job: Job) {
        let place = self.read;
        self.read += 1;
        if let Some(Predecessor { job: before, think }) = job.after {
            if let Some(end) = self.ends.get(&before.0) {
                let due = *end + think;
                self.late += u64::from(due < self.now);
                self.followed += 1;
                job.resubmit(due);
            } else if self.outstanding.contains(&before.0) {
                self.outstanding.insert(job.id.0);
                self.waiting.entry(before.0).or_default().push((place, job));
                self.waiting_count += 1;
                return;
            } else {
                self.unknown += 1;
                job.after = None;
            }
        }
        self.outstanding.insert(job.id.0);
        self.announce(place, job);
    }

    fn announce(&mut self, place: u64, mut job: Job) {
        job.resubmit(job.submit.max(self.now));
        self.ready.insert((job.submit, place), job);
    }

    fn ended(&mut self, id: JobId, at: Time) {
        self.now = self.now.max(at);
        if !self.outstanding.remove(&id.0) {
            return;
        }
        self.ends.insert(id.0, at);
        for (place, mut job) in self.waiting.remove(&id.0).unwrap_or_default() {
            self.waiting_count -= 1;
            self.followed += 1;
            if let Some(after) = job.after {
                job.resubmit(at + after.think);
            }
            self.announce(place, job);
        }
    }
}

impl Source for Feedback {
    fn peek_time(&mut self) -> Result<Option<Time>, SourceError> {
        self.fill();
        match (self.state.ready.first_key_value(), &self.failed) {
            (Some(((time, _), _)), _) => Ok(Some((*time).max(self.state.now))),
            (None, Some(error)) => Err(error.clone()),
            (None, None) => Ok(None),
        }
    }

    fn next_job(&mut self) -> Result<Option<Job>, SourceError> {
        self.fill();
        let Some((_, mut job)) = self.state.ready.pop_first() else {
            return self.failed.clone().map_or(Ok(None), Err);
        };
        job.resubmit(job.submit.max(self.state.now));
        self.state.now = job.submit;
        Ok(Some(job))
    }

    fn ended(&mut self, job: JobId, at: Time) {
        self.state.ended(job, at);
        self.inner.ended(job, at);
    }

    fn has_feedback(&self) -> bool {
        true
    }

    fn notes(&self) -> Vec<String> {
        let jobs = |n: u64| if n == 1 { "1 job".to_owned() } else { format!("{n} jobs") };
        let State { followed, unknown, late, .. } = self.state;
        let mut notes = self.inner.notes();
        if (followed, unknown) == (0, 0) && self.state.exhausted {
            notes.push("no job follows another: the workload names no preceding jobs".to_owned());
        }
        if followed > 0 {
            notes.push(format!("submitted {} a think time after the end of another job", jobs(followed)));
        }
        if unknown > 0 {
            notes.push(format!(
                "left {} at the logged submission: the preceding job is unknown",
                jobs(unknown)
            ));
        }
        if late > 0 {
            notes
                .push(format!("submitted {} later than its think time: it was not read in time", jobs(late)));
        }
        notes
    }

    fn mark(&self) -> Option<Mark> {
        with_state(self.inner.mark()?, &self.state)
    }

    fn seek(&mut self, mark: &Mark) -> Result<(), SourceError> {
        let (mut state, inner): (State, Mark) = own_state("feedback", mark)?;
        self.inner.seek(&inner)?;
        state.waiting_count = state.waiting.values().map(Vec::len).sum();
        self.state = state;
        self.failed = None;
        Ok(())
    }
}

/// Writes a set or a map in order, so that equal states make equal marks.
fn in_order<'a, C, T, S>(items: &'a C, to: S) -> Result<S::Ok, S::Error>
where
    &'a C: IntoIterator<Item = T>,
    T: Ord + Serialize,
    S: Serializer,
{
    let mut items: Vec<T> = items.into_iter().collect();
    items.sort_unstable();
    to.collect_seq(items)
}

/// Writes the waiting jobs in the order in which they were read.
fn as_read<S: Serializer>(waiting: &Waiting, to: S) -> Result<S::Ok, S::Error> {
    let mut waiting: Vec<_> = waiting.values().flatten().collect();
    waiting.sort_unstable_by_key(|(place, _)| *place);
    to.collect_seq(waiting)
}

/// Reads the waiting jobs, each to the job that it follows.
fn by_predecessor<'de, D: Deserializer<'de>>(from: D) -> Result<Waiting, D::Error> {
    let mut waiting = Waiting::default();
    for (place, job) in Vec::<(u64, Job)>::deserialize(from)? {
        if let Some(after) = job.after {
            waiting.entry(after.job.0).or_default().push((place, job));
        }
    }
    Ok(waiting)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;
    use crate::workload::Jobs;

    fn job(id: u64, at: u64, after: Option<(u64, u64)>) -> Job {
        let mut job = Job::rigid(id, Time::from_secs(at), 1, Span::SECOND);
        job.after = after.map(|(id, think)| Predecessor { job: JobId(id), think: Span::from_secs(think) });
        job
    }

    fn feedback(jobs: Vec<Job>) -> Feedback {
        Feedback::new(Box::new(Jobs::new(jobs)))
    }

    /// The next job, as its number and its submission in seconds.
    fn next(source: &mut Feedback) -> Option<(u64, u64)> {
        let announced = source.peek_time().unwrap();
        let job = source.next_job().unwrap();
        assert_eq!(job.as_ref().map(|job| job.submit), announced);
        job.map(|job| (job.id.0, job.submit.micros() / 1_000_000))
    }

    #[test]
    fn a_job_comes_its_think_time_after_the_end() {
        let mut source = feedback(vec![
            job(1, 0, None),
            job(3, 20, None),
            job(2, 100, Some((1, 5))),
            job(4, 200, Some((2, 0))),
        ]);
        assert_eq!(next(&mut source), Some((1, 0)));
        assert_eq!(source.peek_time(), Ok(Some(Time::from_secs(20))));
        // The end at 10 makes job 2 earlier than the one announced.
        source.ended(JobId(1), Time::from_secs(10));
        assert_eq!(next(&mut source), Some((2, 15)));
        assert_eq!(next(&mut source), Some((3, 20)));
        // More jobs follow later, but none now.
        assert_eq!(next(&mut source), None);
        source.ended(JobId(2), Time::from_secs(300));
        assert_eq!(next(&mut source), Some((4, 300)));
        assert_eq!(next(&mut source), None);
        assert_eq!(source.notes(), ["submitted 2 jobs a think time after the end of another job"]);
    }

    #[test]
    fn a_job_whose_predecessor_is_not_known_keeps_its_time() {
        let mut source = feedback(vec![job(1, 0, Some((7, 5))), job(2, 3, Some((2, 5)))]);
        assert_eq!((next(&mut source), next(&mut source)), (Some((1, 0)), Some((2, 3))));
        assert_eq!(source.notes(), ["left 2 jobs at the logged submission: the preceding job is unknown"]);
    }

    #[test]
    fn a_job_too_far_ahead_comes_late_and_is_counted() {
        let far = AHEAD as u64 + 100;
        let mut jobs: Vec<_> = (1..=far).map(|id| job(id, id, None)).collect();
        jobs.push(job(far + 1, far + 1, Some((1, 0))));
        let mut source = feedback(jobs);
        assert_eq!(next(&mut source), Some((1, 1)));
        source.ended(JobId(1), Time::from_secs(2));
        // It is read when 100 more jobs have been taken; by then its time has passed.
        let place = (2..=far).position(|_| next(&mut source).is_some_and(|(id, _)| id == far + 1));
        assert!(place.is_some_and(|place| (90..110).contains(&place)), "{place:?}");
        assert_eq!(source.notes()[1], "submitted 1 job later than its think time: it was not read in time");
    }
}
