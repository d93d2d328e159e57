//! Rules, violations, and the verdict of a check.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::model::JobRef;
use crate::units::Time;

/// The rules of valid schedules. Of violations at one instant, that of the first rule in this order is reported
/// first.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rule {
    /// A job has exactly one row.
    Once,
    /// Sites, partitions and processors are those of the grid.
    Place,
    /// No job starts before its submission.
    Arrival,
    /// A job that follows another is submitted after that one's end and the think time; a task starts after the end of those before it.
    Precedence,
    /// Each file is where a task reads it, and each copy of it leaves from where it is, and not faster than the network allows.
    Data,
    /// The tasks of a group run inside its job, on its processors, and in its order.
    Members,
    /// A task runs on machines that have the memory and the tag that it needs.
    Needs,
    /// No processor has more jobs than it may, nor shares that sum to more than one.
    Capacity,
    /// No job runs on machines that are down.
    Down,
    /// No attempt begins on machines that drain.
    Draining,
    /// No job runs on reserved processors.
    Reservation,
    /// The machines of a site draw no more than its power cap.
    PowerCap,
    /// An attempt stays on its processors.
    SameProcessors,
    /// Attempts of a job follow one another, each after the failure of the one before.
    Attempts,
    /// The work done is the work requested.
    Work,
    /// The outcome of a job agrees with its times and attempts.
    Outcome,
    /// Deadlines and budgets are those of the workload, and no job goes beyond one that is enforced.
    Limits,
    /// Of the schedules that the broker compared, one is chosen by the least value, and none is worse than another in all.
    Fronts,
    /// The parts of a co-allocated job start together as agreed.
    Together,
    /// Rows of a job in different files agree and are in order.
    Rows,
    /// Columns of a row agree with one another, and rows with the summary.
    Columns,
}

impl Rule {
    /// The rules in order, each with its name in tables and its meaning in a few words.
    const TABLE: [(Self, &'static str, &'static str); 21] = [
        (Self::Once, "once", "a job has one row"),
        (Self::Place, "place", "sites, partitions and processors are those of the grid"),
        (Self::Arrival, "arrival", "nothing starts before it is submitted"),
        (
            Self::Precedence,
            "precedence",
            "a job comes after the ones that it follows or waits for, and after its input",
        ),
        (Self::Data, "data", "files are where they are read, and copied from where they are"),
        (Self::Members, "members", "tasks of a group run inside its job, in its order"),
        (Self::Needs, "needs", "tasks run on machines with the memory and the tag that they need"),
        (Self::Capacity, "capacity", "no processor runs more than it can"),
        (Self::Down, "down", "machines that are down run nothing"),
        (Self::Draining, "draining", "no attempt begins on machines that drain"),
        (Self::Reservation, "reservation", "reserved processors are kept free"),
        (Self::PowerCap, "power-cap", "machines draw no more than the power cap"),
        (Self::SameProcessors, "same-processors", "an attempt stays on its processors"),
        (Self::Attempts, "attempts", "each attempt of a job begins after the previous one failed"),
        (Self::Work, "work", "the work done is the work requested"),
        (Self::Outcome, "outcome", "outcomes agree with what happened"),
        (Self::Limits, "limits", "deadlines and budgets are those requested, and kept where they must be"),
        (Self::Fronts, "fronts", "one schedule of a front is chosen, and none there is dominated"),
        (Self::Together, "together", "parts of a job start together, when and where it was agreed"),
        (Self::Rows, "rows", "rows of a job in different files agree and are in order"),
        (Self::Columns, "columns", "columns of a row are consistent"),
    ];

    /// All rules, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::TABLE.into_iter().map(|(rule, ..)| rule)
    }

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        Self::TABLE[self as usize].1
    }

    /// The rule in a few words.
    pub const fn meaning(self) -> &'static str {
        Self::TABLE[self as usize].2
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The position of a row.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Row {
    /// The file.
    pub file: &'static str,
    /// Its line, from 1; 0 if it is not in a file.
    pub line: u64,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}

/// A violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The time of the violation.
    pub time: Time,
    /// The violated rule.
    pub rule: Rule,
    /// The jobs involved.
    pub jobs: Vec<JobRef>,
    /// A sentence without a full stop that describes it.
    pub message: String,
    /// The row that shows it.
    pub row: Row,
}

/// The row that is checked, and its job.
#[derive(Copy, Clone)]
pub(super) struct Subject {
    pub(super) name: JobRef,
    pub(super) row: Row,
}

/// The violations of one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Broken {
    /// Number of violations.
    pub count: u64,
    /// The earliest violation.
    pub first: Violation,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The violated rules.
    pub broken: BTreeMap<Rule, Broken>,
    /// The checked rules, with the number of checks.
    pub checked: BTreeMap<Rule, u64>,
    /// Number of jobs whose rows were read.
    pub jobs: u64,
    /// Number of segments that were read.
    pub segments: u64,
}

impl Verdict {
    /// True if there is no violation.
    pub fn is_valid(&self) -> bool {
        self.broken.is_empty()
    }

    /// The first violation in order of time.
    pub fn first(&self) -> Option<&Violation> {
        self.broken
            .values()
            .map(|broken| &broken.first)
            .min_by_key(|first| (first.time, first.rule, first.row))
    }

    /// Number of violations.
    pub fn count(&self) -> u64 {
        self.broken.values().map(|broken| broken.count).sum()
    }

    /// Records a violation.
    pub fn report(&mut self, violation: Violation) {
        let rule = violation.rule;
        let broken = self.broken.entry(rule).or_insert_with(|| Broken { count: 0, first: violation.clone() });
        broken.count += 1;
        if (violation.time, violation.row) < (broken.first.time, broken.first.row) {
            broken.first = violation;
        }
    }

    /// Records a violation that the row of a job shows.
    pub(super) fn fault(&mut self, of: Subject, rule: Rule, time: Time, message: String) {
        self.report(Violation { time, rule, jobs: vec![of.name], message, row: of.row });
    }

    /// Counts a check of a rule.
    pub fn count_check(&mut self, rule: Rule) {
        *self.checked.entry(rule).or_default() += 1;
    }
}

/// The result of checking a schedule against its grid.
#[derive(Clone, Debug)]
pub struct Validation {
    /// The title of the run.
    pub title: String,
    /// The grid in a few words, and where it is described.
    pub grid: String,
    /// The names of its sites.
    pub sites: Vec<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// Rules that could not be checked, or not completely, and why.
    pub unchecked: BTreeMap<Rule, String>,
}

impl Validation {
    /// True if there is no violation.
    pub fn is_valid(&self) -> bool {
        self.verdict.is_valid()
    }
}
