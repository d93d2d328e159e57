//! Waits, response times and slowdowns of jobs, overall and by class.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::dedicated::{Dedicated, DedicatedMeasures};
use super::distribution::{ClassTable, Distribution, EXACT_QUANTILES, Scale};
use super::limits::{LimitMeasures, Limited};
use super::unended::{ToTheEnd, Unended};
use super::{Definitions, Exact, Penalty, Quantiles, Ratio};
use crate::model::{JobKind, JobRecord, Outcome};
use crate::units::{Span, Time};

const WAIT: usize = 0;
const RESPONSE: usize = 1;
const SLOWDOWN: usize = 2;
const COLUMNS: [Scale; 3] = [Scale::Whole, Scale::Whole, Scale::Quotient];

/// Collects job records, one at a time, in any order.
///
/// Means come from integer sums and do not depend on the order; quantiles are exact up to
/// [`EXACT_QUANTILES`] measured jobs and approximate, in constant memory, beyond.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    definitions: Definitions,
    outcomes: Vec<Outcomes>,
    /// Dedicated jobs by class; empty until the first one.
    dedicated: Vec<Dedicated>,
    /// Jobs with limits by class; empty until the first one.
    limited: Vec<Limited>,
    /// Jobs that did not run to their end, by class; empty until the first one.
    unended: Vec<Unended>,
    table: ClassTable,
    first_submit: Time,
    last_end: Time,
}

/// Two collectors have different definitions and cannot be merged.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[error("the two summaries use different bounds of the slowdown, job classes or machine sizes")]
pub struct DifferentDefinitions;

/// Number of jobs by outcome.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcomes {
    /// Jobs that did all their work.
    pub completed: u64,
    /// Jobs that ended at their estimate with work left.
    pub killed: u64,
    /// Jobs that the site or a machine ended.
    pub failed: u64,
    /// Jobs that were never accepted.
    pub rejected: u64,
    /// Jobs that were withdrawn.
    pub cancelled: u64,
    /// Jobs that waited or ran when the run ended.
    pub unfinished: u64,
}

/// The measures of a group of jobs. Times in seconds; `None` (in JSON `null`) where no job was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measures {
    /// Number of jobs in the group, whatever their outcome.
    pub jobs: u64,
    /// Number of jobs in the means and quantiles; see [`Definitions::is_measured`].
    pub measured: u64,
    /// Number of jobs by outcome.
    pub outcomes: Outcomes,
    /// Mean wait.
    pub mean_wait: Option<f64>,
    /// Median wait.
    pub median_wait: Option<f64>,
    /// 95th percentile of the wait.
    pub p95_wait: Option<f64>,
    /// Longest wait.
    pub max_wait: Option<f64>,
    /// Mean response time.
    pub mean_response: Option<f64>,
    /// Median response time.
    pub median_response: Option<f64>,
    /// 95th percentile of the response time.
    pub p95_response: Option<f64>,
    /// Longest response time.
    pub max_response: Option<f64>,
    /// Mean bounded slowdown.
    pub mean_bounded_slowdown: Option<f64>,
    /// Median bounded slowdown.
    pub median_bounded_slowdown: Option<f64>,
    /// 95th percentile of the bounded slowdown.
    pub p95_bounded_slowdown: Option<f64>,
    /// Largest bounded slowdown.
    pub max_bounded_slowdown: Option<f64>,
    /// Mean response time over mean time from start to end: a ratio of means, which Kumar and others (2012), section
    /// V, call slowdown. Unlike the mean of the ratios it is not dominated by short jobs.
    #[serde(default)]
    pub slowdown_of_means: Option<f64>,
    /// Measures of the jobs that requested a start, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedicated: Option<DedicatedMeasures>,
    /// Measures of the jobs with a deadline or a budget, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<LimitMeasures>,
    /// The means with the jobs that did not run to their end, if there are any and the end of the run is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_the_end: Option<ToTheEnd>,
}

/// The measures of one class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassMeasures {
    /// The class, such as `VS Seq`.
    pub class: String,
    /// Its measures.
    #[serde(flatten)]
    pub measures: Measures,
}

/// The measures of the jobs of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KindMeasures {
    /// The kind.
    pub kind: JobKind,
    /// Their measures.
    #[serde(flatten)]
    pub measures: Measures,
}

impl Outcomes {
    /// The counts in the order of [`Outcome::NAMES`].
    pub const fn counts(&self) -> [u64; 6] {
        [self.completed, self.killed, self.failed, self.rejected, self.cancelled, self.unfinished]
    }

    const fn counts_mut(&mut self) -> [&mut u64; 6] {
        let Self { completed, killed, failed, rejected, cancelled, unfinished } = self;
        [completed, killed, failed, rejected, cancelled, unfinished]
    }

    /// Jobs in all.
    pub fn total(&self) -> u64 {
        self.counts().iter().sum()
    }

    /// Adds a job with this outcome.
    #[inline]
    pub const fn add(&mut self, outcome: Outcome) {
        *self.counts_mut()[outcome.index()] += 1;
    }

    /// Adds up two counts.
    pub fn merge(&mut self, other: &Self) {
        self.counts_mut().into_iter().zip(other.counts()).for_each(|(mine, theirs)| *mine += theirs);
    }
}

impl Summary {
    /// Creates an empty summary.
    pub fn new(definitions: Definitions) -> Self {
        Self::with_budget(definitions, EXACT_QUANTILES)
    }

    /// Quantiles are exact up to `budget` jobs.
    pub(super) fn with_budget(definitions: Definitions, budget: u64) -> Self {
        let classes = definitions.classes.count();
        Self {
            outcomes: vec![Outcomes::default(); classes],
            dedicated: Vec::new(),
            limited: Vec::new(),
            unended: Vec::new(),
            table: ClassTable::new(classes, &COLUMNS, budget),
            definitions,
            first_submit: Time::NEVER,
            last_end: Time::ZERO,
        }
    }

    /// Whether no job has been added.
    pub(super) fn is_empty(&self) -> bool {
        self.outcomes.iter().all(|class| class.total() == 0)
    }

    /// Adds a job.
    pub fn add(&mut self, record: &JobRecord) {
        let class = self.definitions.class_of(record);
        self.outcomes[class].add(record.outcome);
        if record.requested_start.is_some() {
            self.add_dedicated(class, record);
        }
        if record.limits.is_some() {
            self.add_limited(class, record);
        }
        if record.start.is_some() {
            self.first_submit = self.first_submit.min(record.submit);
            self.last_end = self.last_end.max(record.end);
        }
        if Definitions::is_measured(record) {
            let (wait, response) = (record.wait().micros(), record.response().micros());
            let slowdown = self.definitions.bounded_slowdown(record);
            self.table.add(
                class,
                [
                    (wait, u128::from(wait)),
                    (response, u128::from(response)),
                    (slowdown.as_f64().to_bits(), slowdown.units()),
                ],
            );
        } else {
            self.add_unended(class, record);
        }
    }

    #[cold]
    fn add_unended(&mut self, class: usize, record: &JobRecord) {
        self.unended.resize(self.outcomes.len(), Unended::default());
        self.unended[class].add(record, self.definitions.tau);
    }

    #[cold]
    fn add_dedicated(&mut self, class: usize, record: &JobRecord) {
        self.dedicated.resize(self.outcomes.len(), Dedicated::default());
        self.dedicated[class].add(record);
    }

    #[cold]
    fn add_limited(&mut self, class: usize, record: &JobRecord) {
        self.limited.resize(self.outcomes.len(), Limited::default());
        let penalty = self.definitions.penalty.unwrap_or(Penalty::DEFAULT);
        let limits = record.limits.as_deref().copied().unwrap_or_default();
        self.limited[class].add(&limits, (record.outcome, record.end, record.cost), penalty);
    }

    /// Whether any job requested a start.
    pub(super) fn has_dedicated(&self) -> bool {
        !self.dedicated.is_empty()
    }

    /// Replaces the single values by sketches, from which quantiles are computed from then on.
    pub(super) fn sketch(&mut self) {
        self.table.sketch();
    }

    /// Adds everything that `other` has collected.
    ///
    /// # Errors
    /// [`DifferentDefinitions`], with nothing added, if the definitions of the two differ.
    pub fn merge(&mut self, other: &Self) -> Result<(), DifferentDefinitions> {
        if self.definitions != other.definitions {
            return Err(DifferentDefinitions);
        }
        for (mine, theirs) in self.outcomes.iter_mut().zip(&other.outcomes) {
            mine.merge(theirs);
        }
        if !other.dedicated.is_empty() {
            self.dedicated.resize(self.outcomes.len(), Dedicated::default());
            self.dedicated.iter_mut().zip(&other.dedicated).for_each(|(mine, theirs)| mine.merge(theirs));
        }
        if !other.limited.is_empty() {
            self.limited.resize(self.outcomes.len(), Limited::default());
            self.limited.iter_mut().zip(&other.limited).for_each(|(mine, theirs)| mine.merge(theirs));
        }
        if !other.unended.is_empty() {
            self.unended.resize(self.outcomes.len(), Unended::default());
            self.unended.iter_mut().zip(&other.unended).for_each(|(mine, theirs)| mine.merge(theirs));
        }
        self.table.merge(&other.table);
        self.first_submit = self.first_submit.min(other.first_submit);
        self.last_end = self.last_end.max(other.last_end);
        Ok(())
    }

    /// The definitions of the measures.
    pub const fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// How quantiles are computed so far.
    pub fn quantiles(&self) -> Quantiles {
        self.table.kind()
    }

    /// Last end less first submission of the jobs that started; `None` if none did.
    pub fn makespan(&self) -> Option<Span> {
        (self.first_submit < Time::NEVER).then(|| self.last_end.since(self.first_submit))
    }

    /// The last end of the jobs that started; `None` if none did.
    pub(super) fn last_end(&self) -> Option<Time> {
        (self.first_submit < Time::NEVER).then_some(self.last_end)
    }

    /// The measures of all jobs, without [`Measures::to_the_end`].
    pub fn whole(&self) -> Measures {
        self.whole_of(None)
    }

    /// The measures of all jobs of a run that ended at `end`.
    pub(super) fn whole_of(&self, end: Option<Time>) -> Measures {
        let mut outcomes = Outcomes::default();
        self.outcomes.iter().for_each(|class| outcomes.merge(class));
        let mut dedicated = Dedicated::default();
        self.dedicated.iter().for_each(|class| dedicated.merge(class));
        let mut limited = Limited::default();
        self.limited.iter().for_each(|class| limited.merge(class));
        let mut unended = Unended::default();
        self.unended.iter().for_each(|class| unended.merge(class));
        measures(outcomes, (dedicated, limited), end.map(|end| (unended, end)), |column| {
            self.table.whole(column)
        })
    }

    /// The measures by class of a run that ended at `end`, empty classes included; empty if all jobs are in one class.
    pub fn by_class(&self, end: Option<Time>) -> Vec<ClassMeasures> {
        if self.outcomes.len() == 1 {
            return Vec::new();
        }
        let class = |(at, outcomes): (usize, &Outcomes)| ClassMeasures {
            class: self.definitions.classes.label(at),
            measures: {
                let dedicated = self.dedicated.get(at).copied().unwrap_or_default();
                let limited = self.limited.get(at).copied().unwrap_or_default();
                let unended = self.unended.get(at).copied().unwrap_or_default();
                measures(*outcomes, (dedicated, limited), end.map(|end| (unended, end)), |column| {
                    self.table.cell(at, column)
                })
            },
        };
        self.outcomes.iter().enumerate().map(class).collect()
    }
}

impl Exact for Summary {
    fn exact(&mut self, each: &mut dyn FnMut(&mut Vec<u64>)) {
        self.table.exact(each);
    }
}

/// Handles one column at a time, so that only one copy of the values exists at a time.
fn measures(
    outcomes: Outcomes,
    (dedicated, limited): (Dedicated, Limited),
    unended: Option<(Unended, Time)>,
    column: impl Fn(usize) -> Distribution,
) -> Measures {
    const MICROS: f64 = 1e6;
    let figures = |of: usize, unit: f64, value: fn(u64) -> f64| {
        let mut values = column(of);
        let [median, p95] = [50, 95].map(|percent| values.quantile(percent).map(value));
        (values.count(), [values.mean(unit), median, p95, values.max().map(value)])
    };
    let secs = |micros: u64| micros as f64 / MICROS;
    let (measured, [mean_wait, median_wait, p95_wait, max_wait]) = figures(WAIT, MICROS, secs);
    let (_, [mean_response, median_response, p95_response, max_response]) = figures(RESPONSE, MICROS, secs);
    let (_, [mean_bounded_slowdown, median_bounded_slowdown, p95_bounded_slowdown, max_bounded_slowdown]) =
        figures(SLOWDOWN, Ratio::ONE.units() as f64, f64::from_bits);
    Measures {
        jobs: outcomes.total(),
        measured,
        outcomes,
        mean_wait,
        median_wait,
        p95_wait,
        max_wait,
        mean_response,
        median_response,
        p95_response,
        max_response,
        mean_bounded_slowdown,
        median_bounded_slowdown,
        p95_bounded_slowdown,
        max_bounded_slowdown,
        slowdown_of_means: mean_response
            .zip(mean_wait)
            .filter(|(response, wait)| response > wait)
            .map(|(response, wait)| response / (response - wait)),
        dedicated: dedicated.measures(),
        limits: limited.measures(),
        to_the_end: unended.and_then(|(jobs, end)| {
            jobs.means(end, measured, [mean_wait, mean_response, mean_bounded_slowdown])
        }),
    }
}
