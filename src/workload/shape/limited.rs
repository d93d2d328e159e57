//! Deadlines and budgets that follow from the jobs or the workflows themselves.

use std::fmt;
use std::str::FromStr;

use super::{Shape, ShapeError, Shaped, decimal};
use crate::model::{AtLimit, Job, Limits};
use crate::units::{Money, Price, Span, Time};
use crate::workload::poisson::Lengths;
use crate::workload::random::Stream;
use crate::workload::{Source, SourceError};

const MILLION: u64 = 1_000_000;

/// A number in 10⁻⁶, or a range in which every value is equally likely.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LimitFactor {
    least: u64,
    most: u64,
}

/// How long after its submission the deadline of a job is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DeadlineRule {
    /// So many times its estimate.
    Estimates(LimitFactor),
    /// So many times its run time.
    Runtimes(LimitFactor),
    /// This long.
    After(Lengths),
}

/// The budget of a job.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum BudgetRule {
    /// So many times processors × estimate × the reference price.
    Costs(LimitFactor),
    /// So much.
    Amount(LimitFactor),
}

/// The deadlines and budgets of a workload. What is drawn for a job depends on the seed, the entity and its number alone.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LimitRules {
    /// The deadline.
    pub deadline: Option<DeadlineRule>,
    /// The budget.
    pub budget: Option<BudgetRule>,
    /// The price that a budget of so many times the cost refers to.
    pub reference_price: Price,
    /// What happens at the deadline.
    pub at_deadline: AtLimit,
    /// What happens at the budget.
    pub at_budget: AtLimit,
}

impl LimitFactor {
    fn draw(self, stream: &mut Stream) -> u64 {
        if self.least == self.most {
            self.least
        } else {
            self.least + stream.below(self.most - self.least + 1)
        }
    }

    /// Whether it is a range.
    const fn draws(self) -> bool {
        self.least < self.most
    }
}

impl DeadlineRule {
    /// How many times the estimate or the run time it is at most, if it follows from these.
    pub fn times(self) -> Option<f64> {
        match self {
            Self::Estimates(factor) | Self::Runtimes(factor) => Some(factor.most as f64 / MILLION as f64),
            Self::After(_) => None,
        }
    }
}

impl BudgetRule {
    /// How many times the cost it is at most, if it follows from that.
    pub fn times(self) -> Option<f64> {
        match self {
            Self::Costs(factor) => Some(factor.most as f64 / MILLION as f64),
            Self::Amount(_) => None,
        }
    }
}

impl LimitRules {
    /// Whether anything is drawn.
    pub fn draws(&self) -> bool {
        let deadline = self.deadline.is_some_and(|rule| match rule {
            DeadlineRule::Estimates(factor) | DeadlineRule::Runtimes(factor) => factor.draws(),
            DeadlineRule::After(lengths) => !matches!(lengths, Lengths::Fixed(_)),
        });
        let drawn =
            |rule| matches!(rule, BudgetRule::Costs(factor) | BudgetRule::Amount(factor) if factor.draws());
        deadline || self.budget.is_some_and(drawn)
    }
}

/// What limits follow from: those of a job, or of a workflow.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LimitBasis {
    /// The submission.
    pub submit: Time,
    /// The estimate; of a workflow that of its critical path.
    pub estimate: Span,
    /// The run time, likewise.
    pub runtime: Span,
    /// Processors × estimate in processor-microseconds; of a workflow the sum over its tasks.
    pub area: u128,
}

impl LimitRules {
    /// The limits that follow. `stream` gives the stream of what is drawn for the deadline, or for the budget.
    pub fn limits(&self, of: &LimitBasis, stream: impl Fn(&str) -> Stream) -> Limits {
        Limits {
            deadline: self.deadline.map(|rule| rule.of(of, &mut stream("deadline"))),
            budget: self.budget.map(|rule| rule.of(of, self.reference_price, &mut stream("budget"))),
            at_deadline: self.at_deadline,
            at_budget: self.at_budget,
            ends: None,
        }
    }
}

impl DeadlineRule {
    fn of(self, of: &LimitBasis, stream: &mut Stream) -> Time {
        let span = match self {
            Self::Estimates(factor) => of.estimate.scale_up(factor.draw(stream), MILLION),
            Self::Runtimes(factor) => of.runtime.scale_up(factor.draw(stream), MILLION),
            Self::After(lengths) => lengths.draw(stream),
        };
        of.submit + span
    }
}

impl BudgetRule {
    fn of(self, of: &LimitBasis, price: Price, stream: &mut Stream) -> Money {
        let nanos = match self {
            Self::Costs(factor) => {
                let factor = u128::from(factor.draw(stream));
                // In 10⁻⁹ × 10⁻⁶ of a currency-hour, then rounded up.
                let cost = of.area.saturating_mul(u128::from(price.nanos())).div_ceil(3_600_000_000);
                cost.saturating_mul(factor).div_ceil(u128::from(MILLION))
            }
            Self::Amount(factor) => u128::from(factor.draw(stream)) * 1000,
        };
        Money::from_nanos(i128::try_from(nanos).unwrap_or(i128::MAX))
    }
}

/// A source whose jobs have deadlines and budgets.
pub type Limited = Shaped<Limiting>;

/// [`LimitRules`] for the jobs of an entity.
pub struct Limiting {
    rules: LimitRules,
    seed: u64,
    entity: String,
}

impl Limited {
    /// Gives the jobs of `inner` limits.
    pub fn new(inner: Box<dyn Source>, rules: LimitRules, seed: u64, entity: &str) -> Self {
        Self { inner, shape: Limiting { rules, seed, entity: entity.to_owned() } }
    }
}

impl Shape for Limiting {
    fn apply(&mut self, job: &mut Job) -> Result<(), SourceError> {
        let stream = |purpose: &str| Stream::new(self.seed, &self.entity, &format!("{purpose} {}", job.id));
        let area = u128::from(job.size.preferred()) * u128::from(job.estimate.micros());
        let Job { submit, estimate, runtime, .. } = *job;
        let limits = self.rules.limits(&LimitBasis { submit, estimate, runtime, area }, stream);
        job.limits = Some(Box::new(limits));
        Ok(())
    }
}

impl FromStr for LimitFactor {
    type Err = ();

    /// `4`, or `1.5..8`, with up to six decimals, above 0 and up to a million.
    fn from_str(written: &str) -> Result<Self, ()> {
        let number = |text: &str| {
            let (digits, unit) = decimal(text.trim()).ok_or(())?;
            let millionths = u128::from(digits) * u128::from(MILLION);
            let whole = millionths.is_multiple_of(u128::from(unit));
            u64::try_from(millionths / u128::from(unit))
                .ok()
                .filter(|number| whole && (1..=MILLION * MILLION).contains(number))
                .ok_or(())
        };
        let (least, most) = written.split_once("..").unwrap_or((written, written));
        let (least, most) = (number(least)?, number(most)?);
        if least <= most { Ok(Self { least, most }) } else { Err(()) }
    }
}

impl fmt::Display for LimitFactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |number: u64| {
            let text = format!("{}.{:06}", number / MILLION, number % MILLION);
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        };
        f.write_str(&text(self.least))?;
        if self.draws() { write!(f, "..{}", text(self.most)) } else { Ok(()) }
    }
}

impl FromStr for DeadlineRule {
    type Err = ShapeError;

    fn from_str(written: &str) -> Result<Self, ShapeError> {
        let fail = || {
            ShapeError::new(
                written,
                "a deadline: `submit + 4 x estimate`, `submit + 4 x runtime`, `submit + 1 h`, or drawn, such as `submit + 1.5..8 x estimate`; a job cannot be due before its submission",
            )
        };
        let after = written.trim().strip_prefix("submit").map(str::trim_start);
        let after = after.and_then(|rest| rest.strip_prefix('+')).ok_or_else(fail)?.trim();
        match after.split_once(" x ") {
            Some((factor, of)) => {
                let factor = factor.parse().map_err(|()| fail())?;
                match of.trim() {
                    "estimate" => Ok(Self::Estimates(factor)),
                    "runtime" => Ok(Self::Runtimes(factor)),
                    _ => Err(fail()),
                }
            }
            None => after.parse().map(Self::After).map_err(|()| fail()),
        }
    }
}

impl fmt::Display for DeadlineRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Estimates(factor) => write!(f, "submit + {factor} x estimate"),
            Self::Runtimes(factor) => write!(f, "submit + {factor} x runtime"),
            Self::After(lengths) => write!(f, "submit + {lengths}"),
        }
    }
}

impl FromStr for BudgetRule {
    type Err = ShapeError;

    fn from_str(written: &str) -> Result<Self, ShapeError> {
        let (factor, cost) = match written.split_once(" x ") {
            Some((factor, of)) => (factor, of.trim() == "cost"),
            None => (written, false),
        };
        match factor.parse() {
            Ok(factor) if cost => Ok(Self::Costs(factor)),
            Ok(factor) if !written.contains('x') => Ok(Self::Amount(factor)),
            _ => Err(ShapeError::new(
                written,
                "a budget: `1.2 x cost` (of processors x estimate at the `reference_price`), an amount such as `5`, or drawn, such as `0.8..2 x cost`",
            )),
        }
    }
}

impl fmt::Display for BudgetRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Costs(factor) => write!(f, "{factor} x cost"),
            Self::Amount(factor) => factor.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Jobs;

    fn limits(deadline: &str, budget: &str, id: u64) -> Limits {
        let rules = LimitRules {
            deadline: Some(deadline.parse().unwrap()),
            budget: Some(budget.parse().unwrap()),
            reference_price: Price::from_nanos(360_000_000),
            at_deadline: AtLimit::Overrun,
            at_budget: AtLimit::Overrun,
        };
        let mut job = Job::rigid(id, Time::from_secs(100), 4, Span::from_secs(10));
        job.estimate = Span::from_secs(30);
        let mut source = Limited::new(Box::new(Jobs::new(vec![job])), rules, 1, "portal");
        *source.next_job().unwrap().unwrap().limits.unwrap()
    }

    #[test]
    fn limits_follow_from_the_job() {
        let deadline = |rule| limits(rule, "1", 1).deadline.unwrap();
        assert_eq!(deadline("submit + 4 x estimate"), Time::from_secs(220));
        assert_eq!(deadline("submit + 1.5 x runtime"), Time::from_secs(115));
        assert_eq!(deadline("submit+1 h"), Time::from_secs(3700));
        let budget = |rule| limits("submit + 1 h", rule, 1).budget.unwrap();
        // 4 processors for 30 s at 0.36 an hour: 4 × 30 × 0.0001.
        assert_eq!(budget("1 x cost"), Money::from_nanos(12_000_000));
        assert_eq!(budget("1.25 x cost"), Money::from_nanos(15_000_000));
        assert_eq!(budget("2.5"), Money::from_nanos(2_500_000_000));
    }

    #[test]
    fn what_is_drawn_depends_on_the_job_alone() {
        let one = limits("submit + 1.5..8 x estimate", "2..10", 1);
        assert_eq!(limits("submit + 1.5..8 x estimate", "3", 1).deadline, one.deadline);
        assert_ne!(limits("submit + 1.5..8 x estimate", "2..10", 2), one);
        for id in 0..200 {
            let limits = limits("submit + 1.5..8 x estimate", "2..10", id);
            let (deadline, budget) = (limits.deadline.unwrap(), limits.budget.unwrap().nanos());
            assert!((Time::from_secs(145)..=Time::from_secs(340)).contains(&deadline), "{deadline}");
            assert!((2_000_000_000..=10_000_000_000).contains(&budget), "{budget}");
        }
    }

    #[test]
    fn round_trips_or_is_refused() {
        for written in [
            "submit + 4 x estimate",
            "submit + 1.5..8 x runtime",
            "submit + 3600 s",
            "submit + exponential[mean=60 s]",
        ] {
            let rule: DeadlineRule = written.parse().unwrap();
            assert_eq!(rule.to_string().parse::<DeadlineRule>().unwrap(), rule, "{written}");
        }
        for written in ["1.2 x cost", "0.8..2 x cost", "5", "2..10"] {
            assert_eq!(written.parse::<BudgetRule>().unwrap().to_string(), written);
        }
        for written in ["", "submit", "submit - 1 h", "4 x estimate", "submit + 0 x estimate", "submit + 0 s"]
        {
            assert!(written.parse::<DeadlineRule>().is_err(), "{written}");
        }
        for written in ["", "x cost", "1 x estimate", "-1", "5..2", "0"] {
            assert!(written.parse::<BudgetRule>().is_err(), "{written}");
        }
    }
}
