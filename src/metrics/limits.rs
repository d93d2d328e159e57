//! Deadlines and budgets: how many jobs kept theirs, and by how much the others did not.

use serde::{Deserialize, Serialize};

use super::{Ages, Penalty};
use crate::model::{Limits, Outcome};
use crate::units::{Money, Time};

/// An outcome, an end and a cost.
pub(super) type Ended = (Outcome, Time, Money);

/// Counts jobs, or workflows, with limits, one at a time, in any order.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Limited {
    deadlines: u64,
    met: u64,
    missed: u64,
    completed: u64,
    /// How late the jobs were that completed after their deadline.
    late: Ages,
    /// In 10⁻⁶.
    penalty: u128,
    budgets: u64,
    over: u64,
    overspent: Money,
}

/// Measures of jobs, or of workflows, with a deadline or a budget. Times are in seconds.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitMeasures {
    /// Number of jobs (or workflows) with a deadline, whatever their outcome.
    pub deadlines: u64,
    /// Jobs that completed by their deadline.
    pub met: u64,
    /// Jobs that did not. The others were unfinished when the run ended, before their deadline.
    pub missed: u64,
    /// Mean time from the deadline to the end of the jobs that completed, 0 for one in time; `None` if none did.
    pub mean_lateness: Option<f64>,
    /// The longest; `None` if none completed.
    pub max_lateness: Option<f64>,
    /// Mean [`Penalty`] of the jobs that met or missed their deadline; `None` if there are none.
    pub mean_penalty: Option<f64>,
    /// Number of jobs with a budget, whatever their outcome.
    pub budgets: u64,
    /// Jobs that cost more than their budget.
    pub over_budget: u64,
    /// What they cost beyond it in all: a penalty linear in cost.
    pub overspent: f64,
}

impl Limited {
    /// Adds a job, or a workflow, with these limits, its outcome, its end and its cost.
    pub(super) fn add(&mut self, limits: &Limits, (outcome, end, cost): Ended, penalty: Penalty) {
        if let Some(deadline) = limits.deadline {
            self.deadlines += 1;
            let (completed, late) = (outcome == Outcome::Completed, end.since(deadline));
            self.completed += u64::from(completed);
            if completed && late.is_zero() {
                self.met += 1;
            } else if completed {
                self.missed += 1;
                self.late.add(late);
                self.penalty += (penalty.of(late) * 1e6) as u128;
            } else if outcome != Outcome::Unfinished || end > deadline {
                self.missed += 1;
                self.penalty += u128::from(penalty.most) * 1_000_000;
            }
        }
        if let Some(budget) = limits.budget {
            self.budgets += 1;
            if cost > budget {
                self.over += 1;
                self.overspent += cost - budget;
            }
        }
    }

    /// Adds up two counts.
    pub(super) fn merge(&mut self, other: &Self) {
        self.deadlines += other.deadlines;
        self.met += other.met;
        self.missed += other.missed;
        self.completed += other.completed;
        self.late.merge(&other.late);
        self.penalty += other.penalty;
        self.budgets += other.budgets;
        self.over += other.over;
        self.overspent += other.overspent;
    }

    /// The measures; `None` if no job had limits.
    pub(super) fn measures(&self) -> Option<LimitMeasures> {
        let decided = self.met + self.missed;
        let completed = self.completed > 0;
        (self.deadlines + self.budgets > 0).then(|| LimitMeasures {
            deadlines: self.deadlines,
            met: self.met,
            missed: self.missed,
            mean_lateness: completed.then(|| self.late.sum as f64 / self.completed as f64 / 1e6),
            max_lateness: completed.then(|| self.late.max.as_secs_f64()),
            mean_penalty: (decided > 0).then(|| self.penalty as f64 / 1e6 / decided as f64),
            budgets: self.budgets,
            over_budget: self.over,
            overspent: self.overspent.as_f64(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::tests::samples::{job, rejected};
    use crate::metrics::{Definitions, Summary};
    use crate::model::JobRecord;
    use crate::units::Span;

    /// Three jobs that end at 100: due at 100 (met), at 90 (10 s late), and one that never ran. With a scale of 10 s, 10 s count e − 1, and what does not
    /// complete counts 50. Budgets of 1 and 3: a cost of 2.5 is 1.5 beyond the one.
    #[test]
    fn what_is_late_counts_and_what_does_not_complete_counts_most() {
        let penalty = Penalty { scale: Span::from_secs(10), most: 50 };
        let mut summary = Summary::new(Definitions::default().limited(penalty));
        let limits = |deadline, budget: i128| {
            let budget = Some(Money::from_nanos(budget * 1_000_000_000));
            Some(Box::new(Limits { budget, ..Limits::by(Time::from_secs(deadline)) }))
        };
        let cost = Money::from_nanos(2_500_000_000);
        let base = JobRecord { cost, ..job(1, 0, 40, 60, 1) };
        summary.add(&JobRecord { limits: limits(100, 1), ..base.clone() });
        summary.add(&JobRecord { limits: limits(90, 3), ..base.clone() });
        summary.add(&JobRecord { limits: limits(90, 3), ..rejected(3, 0, 1) });
        // Unfinished at 100, and not due yet.
        summary.add(&JobRecord { limits: limits(101, 3), outcome: Outcome::Unfinished, ..base.clone() });
        summary.add(&base);
        let found = summary.whole().limits.expect("limits");
        assert_eq!((found.deadlines, found.met, found.missed), (4, 1, 2));
        assert_eq!((found.mean_lateness, found.max_lateness), (Some(5.0), Some(10.0)));
        let mean = (std::f64::consts::E - 1.0 + 50.0) / 3.0;
        assert!((found.mean_penalty.unwrap() - mean).abs() < 1e-5, "{found:?}");
        assert_eq!((found.budgets, found.over_budget, found.overspent), (4, 1, 1.5));
        assert_eq!(penalty.of(Span::from_secs(40)), 50.0, "e⁴ is 54.6");
    }
}
