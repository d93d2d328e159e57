//! The end of a run: when no job is left, or when no job can move any more.
//!
//! Reports and churn never end, so the end is a [`Verdict`] over the [`Quiescence`] of all entities. `admitted - done` jobs are in the
//! system, wherever they are, also in messages.
//!
//! - No job is left and none is to come: [`Verdict::Done`] at the first full minute after a job last moved. Results of workflows at a site that comes back
//!   by its script within 365 days are waited for.
//! - Jobs are left, none is to come, and no entity reports an event of its own that will move one: [`Verdict::Stuck`] after the time in
//!   which news can reach every entity (twice the monitoring interval and ten times the largest latency), or after 365 days while machines
//!   may still come or leave, or while a caller may still give commands. If a job moves before, the verdict no longer holds. A job that the
//!   broker recalls and assigns again has not moved, but its last dispatch is waited for until it has reached its site, for 365 days at
//!   most.
//! - The verdict is asked for at full minutes only, when all entities have passed the minute. So the accounts of all sites are
//!   closed at one instant, which depends on what happened and not on the windows in which it was computed.
//!
//! - A run with a horizon is not over before it.
//!
//! Jobs that are left at `until`, or when the run is stuck, are recorded as unfinished by the entity that holds them, messages in its
//! inbox included (`Grid::close`).

use super::halt::Callers;
use crate::entity::Quiescence;
use crate::units::{Span, Time};

/// Accounts are closed at multiples of this.
const MINUTE: Span = Span::from_secs(60);

/// How long a grid in which no job moves waits for machines to come back.
const PATIENCE: Span = Span::from_secs(365 * 86_400);

/// What is known beforehand of the end of a run.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ending {
    /// The longest time that news takes to reach every entity.
    pub(super) quiet: Span,
    /// The full minute before which the run is not over.
    pub(super) horizon: Time,
}

/// Whether the run goes on.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The run goes on.
    GoOn,
    /// No job is left: handle everything before this instant and close the accounts.
    Done(Time),
    /// Jobs are left and no event will move one: handle everything before this instant, and if still no job has moved, close the accounts.
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

impl Quiescence {
    /// The quiescence of several entities together.
    pub(super) fn of_all(pending: impl IntoIterator<Item = Self>) -> Self {
        pending.into_iter().fold(Self::default(), |sum, one| Self {
            admitted: sum.admitted + one.admitted,
            done: sum.done + one.done,
            more: sum.more | one.more,
            last: sum.last.max(one.last),
            landing: sum.landing.max(one.landing),
            self_active: sum.self_active | one.self_active,
            churn_pending: sum.churn_pending | one.churn_pending,
            stranded: sum.stranded + one.stranded,
            back: sum.back.max(one.back),
        })
    }

    /// The same for a run whose `callers` may still give commands, which may let machines come.
    pub(super) fn with_callers(self, callers: Option<&Callers>) -> Self {
        Self { churn_pending: self.churn_pending || callers.is_some_and(Callers::are_there), ..self }
    }

    /// The first full minute after a job last moved.
    pub(super) fn minute(&self) -> Time {
        next_minute(self.last)
    }

    /// The number of jobs in the system.
    pub(super) fn jobs(&self) -> u64 {
        self.admitted.saturating_sub(self.done)
    }

    /// When it is known that a site is back for which results wait, if that is so by 365 days after a job last moved.
    fn known_back(&self, quiet: Span) -> Time {
        let back = self.back.filter(|back| self.stranded > 0 && *back <= self.last + PATIENCE);
        back.map_or(Time::ZERO, |back| back + quiet)
    }

    /// The verdict.
    pub(super) fn verdict(&self, Ending { quiet, horizon }: Ending) -> Verdict {
        if self.jobs() == 0 && !self.more {
            Verdict::Done(next_minute(self.last.max(self.known_back(quiet))).max(horizon))
        } else if self.more || self.self_active {
            Verdict::GoOn
        } else {
            // A job that is taken back and sent out for ever is not waited for for ever.
            let landing = self.landing.min(self.last + PATIENCE);
            let quiet = self.last + if self.churn_pending { PATIENCE } else { quiet };
            Verdict::Stuck(next_minute(quiet.max(landing)))
        }
    }
}

/// The last full minute that is not after `time`.
pub(super) fn last_minute(time: Time) -> Time {
    Time::from_micros(time.micros() / MINUTE.micros() * MINUTE.micros())
}

/// Whether an instant is a full minute.
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
    fn a_run_is_not_over_before_its_horizon() {
        let over = |left: Quiescence, horizon| {
            left.verdict(Ending { quiet: MINUTE, horizon: Time::from_secs(horizon) })
        };
        let done = Quiescence { admitted: 1, done: 1, last: Time::from_secs(100), ..Quiescence::default() };
        assert_eq!(over(done, 60), Verdict::Done(Time::from_secs(120)));
        assert_eq!(over(done, 600), Verdict::Done(Time::from_secs(600)));
        // A run that is stuck has failed, and nothing is to be compared.
        assert_eq!(over(Quiescence { done: 0, ..done }, 600), Verdict::Stuck(Time::from_secs(180)));
    }

    #[test]
    fn accounts_close_at_the_minute_after_the_last_job() {
        let last = |secs| Quiescence { last: Time::from_secs(secs), ..Quiescence::default() };
        let mut left = vec![Quiescence { admitted: 3, ..last(100) }, Quiescence { done: 2, ..last(130) }];
        let ending = Ending { quiet: MINUTE, ..Ending::default() };
        let verdict = |left: &[Quiescence]| Quiescence::of_all(left.iter().copied()).verdict(ending);
        assert_eq!(verdict(&left), Verdict::Stuck(Time::from_secs(240)));
        left.push(Quiescence { done: 1, ..last(180) });
        assert_eq!(verdict(&left), Verdict::Done(Time::from_secs(240)));
        let back = Some(Time::from_secs(500));
        left.push(Quiescence { back, ..Quiescence::default() });
        assert_eq!(verdict(&left), Verdict::Done(Time::from_secs(240)), "nothing waits for it");
        left.push(Quiescence { stranded: 1, ..Quiescence::default() });
        assert_eq!(verdict(&left), Verdict::Done(Time::from_secs(600)));
        left.push(Quiescence { more: true, ..Quiescence::default() });
        assert_eq!(verdict(&left), Verdict::GoOn);
    }
}
