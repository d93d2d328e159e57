//! The definitions of a run's measures: the bound of the slowdown, the classes, and which jobs count.

use serde::{Deserialize, Serialize};

use super::Ratio;
use crate::model::{ClassifiedBy, JobClasses, JobRecord, Outcome};
use crate::units::Span;

/// The definitions that a run's measures follow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definitions {
    /// The bound of the bounded slowdown.
    pub tau: Span,
    /// The classes of jobs.
    pub classes: JobClasses,
    /// Processors of the machine that relative classes refer to.
    pub machine: u32,
    /// What a missed deadline counts; `None` if no job has limits.
    pub penalty: Option<Penalty>,
    /// Whether jobs may be moldable or malleable, so that there are measures by kind.
    pub kinds: bool,
}

/// The penalty of a job that is late by `x`: exp(x / scale) − 1, but never more than `most` (Paul 2013, where the bound is not stated). A job that does not
/// complete counts the most.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Penalty {
    /// The lateness that counts e − 1.
    pub scale: Span,
    /// The bound.
    pub most: u64,
}

impl Penalty {
    /// The usual one: an hour counts e − 1, and nothing more than 1000.
    pub const DEFAULT: Self = Self { scale: Span::from_secs(3600), most: 1000 };

    /// What so much lateness counts.
    pub fn of(self, late: Span) -> f64 {
        let exponent = late.micros() as f64 / self.scale.max(Span::TICK).micros() as f64;
        libm::expm1(exponent).min(self.most as f64)
    }
}

/// The id of a measure and its meaning, as printed beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// Short name, such as `bsld10`.
    pub id: String,
    /// Meaning in one line.
    pub meaning: String,
}

impl Definition {
    pub(super) fn new(id: &str, meaning: impl Into<String>) -> Self {
        Self { id: id.to_owned(), meaning: meaning.into() }
    }
}

impl Definitions {
    /// The default bound of the bounded slowdown.
    pub const TAU: Span = Span::from_secs(10);

    /// Definitions with the bound `tau` of the bounded slowdown, and `classes` of jobs relative to a machine of
    /// `machine` processors.
    pub const fn new(tau: Span, classes: JobClasses, machine: u32) -> Self {
        Self { tau, classes, machine, penalty: None, kinds: false }
    }

    /// The same where jobs have limits.
    #[must_use]
    pub fn limited(self, penalty: Penalty) -> Self {
        Self { penalty: Some(penalty), ..self }
    }

    /// The same where jobs may be moldable or malleable.
    #[must_use]
    pub fn with_kinds(self, kinds: bool) -> Self {
        Self { kinds, ..self }
    }

    /// True if the job counts in means and quantiles: it started, and it completed or was killed at its estimate.
    /// Rejected, cancelled, failed and unfinished jobs are counted beside the means instead.
    pub const fn is_measured(record: &JobRecord) -> bool {
        record.start.is_some() && matches!(record.outcome, Outcome::Completed | Outcome::Killed)
    }

    /// The bounded slowdown, `max(1, response / max(run, tau))`. If run and bound are both zero, they count as a
    /// microsecond.
    pub fn bounded_slowdown(&self, record: &JobRecord) -> Ratio {
        let (response, run) = (record.response().micros(), record.run.max(self.tau).micros());
        if response <= run { Ratio::ONE } else { Ratio::of(response, run) }
    }

    /// The class of a job by its run time, its estimate and the processors it requested, as an index into the classes.
    #[inline]
    pub fn class_of(&self, record: &JobRecord) -> usize {
        if self.classes.count() == 1 {
            return 0;
        }
        let by = ClassifiedBy { runtime: record.run, estimate: record.estimate, procs: record.requested };
        self.classes.index(self.classes.of(by, self.machine))
    }

    /// The id of the bounded slowdown with this bound, such as `bsld10`.
    pub fn slowdown_id(&self) -> String {
        format!("bsld{}", self.tau)
    }

    /// Every measure of jobs with its meaning.
    pub fn all(&self) -> Vec<Definition> {
        let tau = self.tau;
        vec![
            Definition::new("wait", "first start - submission"),
            Definition::new("response", "end - submission"),
            Definition::new(&self.slowdown_id(), format!("max(1, response / max(run, {tau} s))")),
            Definition::new("measured", "jobs that started and completed or were killed at their estimate"),
            Definition::new("pNN", "nearest rank: the ceil(NN n / 100)-th smallest of n values"),
            Definition::new("makespan", "last end - first submission, of the jobs that started"),
            Definition::new(
                "utilization",
                "processor time in use / (processors * (last end - first submission))",
            ),
        ]
    }
}

impl Default for Definitions {
    /// `bsld10`, all jobs in one class.
    fn default() -> Self {
        Self::new(Self::TAU, JobClasses::none(), 0)
    }
}
