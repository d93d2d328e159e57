//! When waiting jobs would start in their order, if each job had no more than is guaranteed.

use std::collections::BTreeSet;

use super::board::{Board, Member};
use super::{Request, ScojoOptions};
use crate::model::ProcSet;
use crate::units::Time;

/// Jobs on processors, and when they have ended at the latest by their estimates.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    board: Board,
    ends: BTreeSet<(Time, u32)>,
    time: Time,
    /// The planned starts of the first jobs in line, as far as they have been asked for.
    starts: Vec<Planned>,
    /// Who is on which processors right before the first in line starts.
    before_first: Option<Board>,
}

/// When and where a waiting job starts by plan; never and nowhere if it waits for machines.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Planned {
    time: Time,
    on: Option<(Member, ProcSet)>,
}

impl Plan {
    /// A plan from now on, of jobs on processors that end then.
    pub(super) fn new(board: Board, ends: impl Iterator<Item = Time>, now: Time) -> Self {
        Self { board, ends: ends.zip(0..).collect(), time: now, starts: Vec::new(), before_first: None }
    }

    /// The plan with another job from now on; it must be one of which no start has been asked for.
    pub(super) fn with(mut self, job: Member, procs: &ProcSet, end: Time) -> Self {
        let number = self.board.add(job, procs);
        self.ends.insert((end, number));
        self
    }

    /// When the first in line starts.
    pub(super) fn first(&mut self, terms: &ScojoOptions, line: &[Request]) -> Time {
        self.start(terms, line, 0).time
    }

    /// Whether the first in line starts later if there is another job, which does not end before that.
    ///
    /// With another job it cannot start earlier. So it starts when it was to, or not: one look, and no search.
    pub(super) fn delays_first(
        &self,
        terms: &ScojoOptions,
        first: &Request,
        (job, procs): (Member, &ProcSet),
    ) -> bool {
        self.before_first.clone().is_some_and(|mut board| {
            board.add(job, procs);
            board.settle();
            terms.place(&board, first, false).is_none()
        })
    }

    /// Whether one of these jobs in line starts later than by the other plan, from which this one differs by a job that has ended by `end`.
    pub(super) fn delays(
        mut self,
        than: &mut Self,
        terms: &ScojoOptions,
        line: &[Request],
        end: Time,
    ) -> bool {
        let mut is_same = true;
        for at in 0..line.len() {
            let (own, other) = (self.start(terms, line, at), than.start(terms, line, at));
            if own.time > other.time {
                return true;
            }
            is_same &= own == other;
            if is_same && own.time >= end {
                // From here on both plans are the same.
                return false;
            }
        }
        false
    }

    fn start(&mut self, terms: &ScojoOptions, line: &[Request], at: usize) -> &Planned {
        while self.starts.len() <= at {
            let next = self.next(terms, &line[self.starts.len()]);
            self.starts.push(next);
        }
        &self.starts[at]
    }

    /// The start of the next job in line: none overtakes another.
    fn next(&mut self, terms: &ScojoOptions, job: &Request) -> Planned {
        const NEVER: Planned = Planned { time: Time::NEVER, on: None };
        // If one waits for machines, those behind it wait for it.
        if self.starts.last() == Some(&NEVER) {
            return NEVER;
        }
        loop {
            if let Some((member, procs)) = terms.place(&self.board, job, false) {
                if self.starts.is_empty() {
                    self.before_first = Some(self.board.clone());
                }
                let number = self.board.add(member, &procs);
                self.ends.insert((self.time + terms.lasts(&member, job.estimate), number));
                return Planned { time: self.time, on: Some((member, procs)) };
            }
            let Some((end, number)) = self.ends.pop_first() else { return NEVER };
            self.time = self.time.max(end);
            self.board.settle();
            self.board.remove(number);
            while let Some((_, number)) = self.ends.first().copied().filter(|(also, _)| *also == end) {
                self.ends.pop_first();
                self.board.remove(number);
            }
        }
    }
}
