//! When a run is over, and when it can go no further.
//!
//! Sites go on reporting, and machines on coming and leaving, for ever; a run ends when no job is left. All sites' accounts are
//! closed at one instant that depends on what happened and on nothing else: not on the windows in which it was worked out.

use super::Callers;
use crate::entity::Pending;
use crate::units::{Span, Time};

/// Accounts are closed at a full minute.
const MINUTE: Span = Span::from_secs(60);

/// How long a grid in which no job moves may wait for machines to come back.
const PATIENCE: Span = Span::from_secs(365 * 86_400);

/// What all entities together have left to do.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Left {
    let_in: u64,
    done: u64,
    more: bool,
    moves: bool,
    may: bool,
    last: Time,
}

/// What to do about it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Go on.
    GoOn,
    /// No job is left: handle everything before this instant and close.
    Done(Time),
    /// Jobs are left and nothing has moved one: handle everything before this instant, and if still nothing has, close.
    Stuck(Time),
}

impl Verdict {
    /// Whether the run ends once everything before `minute` has happened.
    pub(super) fn is_over_at(self, minute: Time) -> bool {
        match self {
            Self::GoOn => false,
            Self::Done(end) | Self::Stuck(end) => end <= minute,
        }
    }
}

impl Left {
    pub(super) fn of(pending: &[Pending]) -> Self {
        let mut left = Self::default();
        pending.iter().for_each(|pending| left.add(*pending));
        left
    }

    pub(super) fn add(&mut self, pending: Pending) {
        self.let_in += pending.let_in;
        self.done += pending.done;
        self.more |= pending.more;
        self.moves |= pending.moves;
        self.may |= pending.may;
        self.last = self.last.max(pending.last);
    }

    /// The same of a run that `callers` may still tell to let machines come.
    pub(super) fn told_by(self, callers: Option<&Callers>) -> Self {
        Self { may: self.may || callers.is_some_and(Callers::are_there), ..self }
    }

    /// The full minute after a job last moved.
    pub(super) fn minute(&self) -> Time {
        next_minute(self.last)
    }

    /// The jobs in the system.
    pub(super) fn jobs(&self) -> u64 {
        self.let_in.saturating_sub(self.done)
    }

    /// Jobs let in and jobs done.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.let_in, self.done)
    }

    /// `quiet` is how long news may take to get around.
    pub(super) fn verdict(&self, quiet: Span) -> Verdict {
        if self.jobs() == 0 && !self.more {
            Verdict::Done(next_minute(self.last))
        } else if self.more || self.moves {
            Verdict::GoOn
        } else {
            Verdict::Stuck(next_minute(self.last + if self.may { PATIENCE } else { quiet }))
        }
    }
}

/// The last full minute that is not after `time`.
pub(super) fn last_minute(time: Time) -> Time {
    Time::from_micros(time.micros() / MINUTE.micros() * MINUTE.micros())
}

/// Whether a minute is full.
pub(super) fn is_minute(time: Time) -> bool {
    time.micros().is_multiple_of(MINUTE.micros())
}

/// The first full minute after `time`.
pub(super) fn next_minute(time: Time) -> Time {
    let minutes = time.micros() / MINUTE.micros() + 1;
    Time::from_micros(minutes.saturating_mul(MINUTE.micros()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_close_at_the_minute_after_the_last_job() {
        let mut left = Left::default();
        left.add(Pending { let_in: 3, last: Time::from_secs(100), ..Pending::default() });
        left.add(Pending { done: 2, last: Time::from_secs(130), ..Pending::default() });
        assert_eq!(left.verdict(MINUTE), Verdict::Stuck(Time::from_secs(240)));
        left.add(Pending { done: 1, last: Time::from_secs(180), ..Pending::default() });
        assert_eq!(left.verdict(MINUTE), Verdict::Done(Time::from_secs(240)));
        left.add(Pending { more: true, ..Pending::default() });
        assert_eq!(left.verdict(MINUTE), Verdict::GoOn);
    }
}
