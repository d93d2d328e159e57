//! When waiting jobs would start in their order, if each job had no more than is guaranteed.
//!
//! A candidate for backfilling changes the plan from the first start on whose processors it would take. Until there nothing is planned anew.

use std::cmp::Reverse;

use super::Request;
use super::board::{Board, Procs};
use super::crowds::{Crowds, Kind};
use crate::units::Time;

/// Jobs on processors, and the planned starts of the first jobs in line, as far as they have been asked for.
#[derive(Debug, Default)]
pub(super) struct Plan {
    now: Time,
    /// Who is there now.
    there: Board,
    /// When these end, in order.
    ends: Vec<(Time, u32)>,
    /// How many they are: planned jobs come behind them.
    count: usize,
    jobs: Jobs,
    course: Course,
    starts: Vec<Planned>,
    /// Who is on which processors right before each of these starts.
    before: Vec<Board>,
    /// The course of things with a candidate.
    other: Course,
    others: Jobs,
    room: Vec<u64>,
}

/// The numbers of jobs of the course with a candidate are above this.
const OTHER: u32 = 1 << 31;

/// When and where a waiting job starts by plan; never and nowhere if it waits for machines.
#[derive(Copy, Clone, Debug)]
struct Planned {
    time: Time,
    /// The job among those of the plan.
    job: u32,
    /// How many of those that are there now have ended before.
    ended: usize,
    /// How many had started when it ended.
    until: usize,
}

impl Planned {
    const NEVER: Self = Self { time: Time::NEVER, job: 0, ended: 0, until: usize::MAX };
}

/// Jobs with their processors.
#[derive(Debug, Default)]
struct Jobs {
    jobs: Vec<Job>,
    words: Vec<u64>,
}

#[derive(Copy, Clone, Debug)]
struct Job {
    kind: Kind,
    end: Time,
    /// The number of its first word, and where its words are.
    first: usize,
    from: usize,
    to: usize,
}

impl Jobs {
    fn push(&mut self, kind: Kind, end: Time, procs: Procs<'_>) {
        let from = self.words.len();
        self.words.extend_from_slice(procs.words);
        self.jobs.push(Job { kind, end, first: procs.first, from, to: self.words.len() });
    }

    fn truncate(&mut self, count: usize) {
        if let Some(first) = self.jobs.get(count) {
            self.words.truncate(first.from);
            self.jobs.truncate(count);
        }
    }

    fn job(&self, number: u32) -> Job {
        self.jobs[number as usize]
    }

    fn procs(&self, job: Job) -> Procs<'_> {
        Procs { first: job.first, words: &self.words[job.from..job.to] }
    }
}

/// A state on the way from now on.
#[derive(Debug, Default)]
struct Course {
    time: Time,
    board: Board,
    /// How many of those that are there now have ended.
    ended: usize,
    /// When others end, the last first.
    ends: Vec<(Time, u32)>,
}

impl Course {
    /// When a job ends next.
    fn next(&self, ends: &[(Time, u32)]) -> Option<Time> {
        let there = ends.get(self.ended).map(|(end, _)| *end);
        let others = self.ends.last().map(|(end, _)| *end);
        there.into_iter().chain(others).min()
    }

    /// To the next end of jobs: of those that are there now (`ends`), or of planned ones. Numbers from [`OTHER`] on are of the second list of jobs. `planned` is told of planned ones.
    fn go_on(
        &mut self,
        ends: &[(Time, u32)],
        (jobs, others): (&Jobs, &Jobs),
        crowds: &mut Crowds,
        mut planned: impl FnMut(u32),
    ) {
        let Some(end) = self.next(ends) else { return };
        self.time = self.time.max(end);
        self.board.settle(crowds);
        while let Some((_, number)) = ends.get(self.ended).filter(|(also, _)| *also == end) {
            let job = jobs.job(*number);
            self.board.remove(crowds, job.kind, jobs.procs(job));
            self.ended += 1;
        }
        while let Some((_, number)) = self.ends.pop_if(|(also, _)| *also == end) {
            let jobs = if number < OTHER { jobs } else { others };
            let job = jobs.job(number % OTHER);
            self.board.remove(crowds, job.kind, jobs.procs(job));
            planned(number);
        }
    }

    fn insert(&mut self, end: Time, number: u32) {
        let at = self.ends.partition_point(|(other, _)| *other > end);
        self.ends.insert(at, (end, number));
    }
}

/// The first of its kinds for which there is room, and the processors.
fn place(board: &Board, crowds: &mut Crowds, job: &Request, room: &mut Vec<u64>) -> Option<Kind> {
    let kinds = job.blind..job.blind + crowds.choices();
    kinds.into_iter().find(|kind| board.room(crowds, *kind, job.procs, false, room))
}

impl Plan {
    /// A plan from now on: jobs are still to be added.
    pub(super) fn reset(&mut self, now: Time, board: &Board, crowds: &mut Crowds) {
        self.now = now;
        self.there.copy(board);
        self.there.blind(crowds);
        self.ends.clear();
        self.count = 0;
        self.jobs.truncate(0);
    }

    /// Says when a job ends that is on the board.
    pub(super) fn push(&mut self, crowds: &Crowds, kind: Kind, procs: Procs<'_>, end: Time) {
        self.jobs.push(crowds.blind_kind(kind), end, procs);
        self.ends.push((end, self.count as u32));
        self.count += 1;
    }

    /// All jobs have been added.
    pub(super) fn begin(&mut self) {
        self.ends.sort_unstable();
        self.restart();
    }

    /// Another job starts now.
    pub(super) fn add(&mut self, crowds: &mut Crowds, kind: Kind, procs: Procs<'_>, end: Time) {
        self.jobs.truncate(self.count);
        let kind = crowds.blind_kind(kind);
        self.there.add(crowds, kind, procs, false);
        self.jobs.push(kind, end, procs);
        let at = self.ends.partition_point(|(other, _)| *other <= end);
        self.ends.insert(at, (end, self.count as u32));
        self.count += 1;
        self.restart();
    }

    fn restart(&mut self) {
        self.jobs.truncate(self.count);
        self.starts.clear();
        self.course.board.copy(&self.there);
        self.course.ends.clear();
        (self.course.time, self.course.ended) = (self.now, 0);
    }

    /// When the first in line starts.
    pub(super) fn first(&mut self, crowds: &mut Crowds, line: &[Request]) -> Time {
        self.start(crowds, line, 0).time
    }

    /// Whether one of these jobs in line starts later if there is a candidate until `end`, which is after the first of them starts; and whether it is the
    /// first one.
    ///
    /// Where nobody starts on its processors, all starts are as before: it only makes processors worse that are not chosen anyway.
    pub(super) fn delay(
        &mut self,
        crowds: &mut Crowds,
        line: &[Request],
        (kind, procs, end): (Kind, Procs<'_>, Time),
    ) -> Option<Delay> {
        let kind = crowds.blind_kind(kind);
        for at in 0..line.len() {
            let planned = self.start(crowds, line, at);
            if planned.time >= end || planned.time == Time::NEVER {
                // From here on both plans are the same.
                return None;
            }
            let job = self.jobs.job(planned.job);
            if self.jobs.procs(job).is_disjoint(procs) {
                continue;
            }
            let board = &mut self.other.board;
            board.copy(&self.before[at]);
            board.add(crowds, kind, procs, true);
            let found = place(board, crowds, &line[at], &mut self.room);
            if at == 0 && found.is_none() {
                // With another job it cannot start earlier. So it starts when it was to, or not: one look, and no search.
                return Some(Delay::First);
            }
            let is_same = found == Some(job.kind) && Procs::trimmed(&self.room) == self.jobs.procs(job);
            if !is_same {
                return self.delays_from(crowds, line, at, (kind, procs, end)).then_some(Delay::Other);
            }
        }
        None
    }

    /// The same from the first job on that starts elsewhere than planned, or later. The board with the candidate before that start is there already.
    fn delays_from(
        &mut self,
        crowds: &mut Crowds,
        line: &[Request],
        from: usize,
        (kind, procs, end): (Kind, Procs<'_>, Time),
    ) -> bool {
        let fork = self.starts[from];
        let still = self.starts[..from].iter().filter(|planned| planned.until > from);
        self.other.ends.clear();
        self.other.ends.extend(still.map(|planned| (self.jobs.job(planned.job).end, planned.job)));
        self.other.ends.push((end, OTHER));
        self.other.ends.sort_unstable_by_key(|(end, _)| Reverse(*end));
        (self.other.time, self.other.ended) = (fork.time, fork.ended);
        self.others.truncate(0);
        self.others.push(kind, end, procs);
        // When all have ended that are not in both plans in the same way.
        let mut same_after = end;
        for at in from..line.len() {
            let planned = self.start(crowds, line, at);
            if planned.time == Time::NEVER {
                // If one waits for machines, those behind it wait for it.
                return false;
            }
            let found = loop {
                if let Some(kind) = place(&self.other.board, crowds, &line[at], &mut self.room) {
                    break kind;
                }
                match self.other.next(&self.ends) {
                    Some(next) if next <= planned.time => self.go_on_with_candidate(crowds),
                    _ => return true,
                }
            };
            let (job, time) = (self.jobs.job(planned.job), self.other.time);
            if time > planned.time {
                return true;
            }
            let procs = Procs::trimmed(&self.room);
            let is_same = time == planned.time && found == job.kind && procs == self.jobs.procs(job);
            if is_same && same_after < time {
                return false;
            }
            let end = time + crowds.lasts(found, line[at].estimate);
            if !is_same {
                same_after = same_after.max(end).max(job.end);
            }
            self.other.board.add(crowds, found, procs, false);
            self.other.insert(end, OTHER + self.others.jobs.len() as u32);
            self.others.push(found, end, procs);
        }
        false
    }

    fn start(&mut self, crowds: &mut Crowds, line: &[Request], at: usize) -> Planned {
        while self.starts.len() <= at {
            let next = self.next(crowds, &line[self.starts.len()]);
            self.starts.push(next);
        }
        self.starts[at]
    }

    /// The start of the next job in line: none overtakes another.
    fn next(&mut self, crowds: &mut Crowds, job: &Request) -> Planned {
        if self.starts.last().is_some_and(|last| last.time == Time::NEVER) {
            return Planned::NEVER;
        }
        let kind = loop {
            if let Some(kind) = place(&self.course.board, crowds, job, &mut self.room) {
                break kind;
            }
            if self.course.next(&self.ends).is_none() {
                return Planned::NEVER;
            }
            self.go_on(crowds);
        };
        let at = self.starts.len();
        if self.before.len() == at {
            self.before.push(Board::default());
        }
        self.before[at].copy(&self.course.board);
        let (procs, time) = (Procs::trimmed(&self.room), self.course.time);
        let (end, number) = (time + crowds.lasts(kind, job.estimate), self.jobs.jobs.len() as u32);
        self.course.board.add(crowds, kind, procs, false);
        self.course.insert(end, number);
        self.jobs.push(kind, end, procs);
        Planned { time, job: number, ended: self.course.ended, until: usize::MAX }
    }

    /// To the next end of jobs.
    fn go_on(&mut self, crowds: &mut Crowds) {
        let Self { course, ends, jobs, others, starts, count, .. } = self;
        course.go_on(ends, (jobs, others), crowds, |number| {
            starts[number as usize - *count].until = starts.len();
        });
    }

    /// The same in the course with a candidate.
    fn go_on_with_candidate(&mut self, crowds: &mut Crowds) {
        let Self { other, ends, jobs, others, .. } = self;
        other.go_on(ends, (jobs, others), crowds, |_| {});
    }
}

/// Whom a candidate delays.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Delay {
    /// The first in line. So do all that take these processors and others, and are not over before.
    First,
    /// Another one.
    Other,
}
