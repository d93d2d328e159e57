//! Rules, violations, and the verdict of a check.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::Platform;
use crate::model::{JobId, Origin, SiteId};
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
    /// A job that follows another is submitted after that one's end and the think time.
    Precedence,
    /// No processor has more jobs than it may, nor shares that sum to more than one.
    Capacity,
    /// No job runs on machines that are down.
    Down,
    /// No job runs on reserved processors.
    Reservation,
    /// An attempt stays on its processors.
    SameProcessors,
    /// Attempts of a job follow one another, each after the failure of the one before.
    Attempts,
    /// The work done is the work requested.
    Work,
    /// The outcome of a job agrees with its times and attempts.
    Outcome,
    /// Rows of a job in different files agree and are in order.
    Rows,
    /// Columns of a row agree with one another, and rows with the summary.
    Columns,
}

impl Rule {
    /// All rules, in order.
    pub const ALL: [Self; 13] = [
        Self::Once,
        Self::Place,
        Self::Arrival,
        Self::Precedence,
        Self::Capacity,
        Self::Down,
        Self::Reservation,
        Self::SameProcessors,
        Self::Attempts,
        Self::Work,
        Self::Outcome,
        Self::Rows,
        Self::Columns,
    ];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Place => "place",
            Self::Arrival => "arrival",
            Self::Precedence => "precedence",
            Self::Capacity => "capacity",
            Self::Down => "down",
            Self::Reservation => "reservation",
            Self::SameProcessors => "same-processors",
            Self::Attempts => "attempts",
            Self::Work => "work",
            Self::Outcome => "outcome",
            Self::Rows => "rows",
            Self::Columns => "columns",
        }
    }

    /// The rule in a few words.
    pub const fn says(self) -> &'static str {
        match self {
            Self::Once => "a job has one row",
            Self::Place => "sites, partitions and processors are those of the grid",
            Self::Arrival => "nothing starts before it is submitted",
            Self::Precedence => "a job that follows another comes after its end and the think time",
            Self::Capacity => "no processor runs more than it can",
            Self::Down => "machines that are down run nothing",
            Self::Reservation => "reserved processors are kept free",
            Self::SameProcessors => "an attempt stays on its processors",
            Self::Attempts => "each attempt of a job begins after the previous one failed",
            Self::Work => "the work done is the work requested",
            Self::Outcome => "outcomes agree with what happened",
            Self::Rows => "rows of a job in different files agree and are in order",
            Self::Columns => "columns of a row are consistent",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The identity of a job: a number is unique among the grid's own jobs, and among those of one site.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct JobName {
    /// Job number in the workload.
    pub id: JobId,
    /// The site whose users submitted it; `None` if it was submitted through the portal.
    pub site: Option<SiteId>,
}

impl JobName {
    /// The identity of the job of a row.
    pub const fn new(id: JobId, origin: Origin, site: SiteId) -> Self {
        let site = match origin {
            Origin::Local => Some(site),
            Origin::Grid => None,
        };
        Self { id, site }
    }

    /// The job in words; a single site is not named.
    pub(super) const fn told(self, platform: &Platform) -> Told<'_> {
        Told { name: self, platform }
    }
}

/// A job in words, formatted only when needed.
#[derive(Copy, Clone)]
pub(super) struct Told<'a> {
    name: JobName,
    platform: &'a Platform,
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name: JobName { id, site }, platform } = self;
        match site {
            Some(site) if platform.sites.len() > 1 => write!(f, "local job {id} of {}", platform.site(*site)),
            None if platform.has_local && !platform.sites.is_empty() => write!(f, "grid job {id}"),
            _ => write!(f, "job {id}"),
        }
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
    pub jobs: Vec<JobName>,
    /// A sentence without a full stop that describes it.
    pub said: String,
    /// The row that shows it.
    pub row: Row,
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
    pub fn break_rule(&mut self, violation: Violation) {
        let rule = violation.rule;
        match self.broken.get_mut(&rule) {
            None => {
                self.broken.insert(rule, Broken { count: 1, first: violation });
            }
            Some(broken) => {
                broken.count += 1;
                if (violation.time, violation.row) < (broken.first.time, broken.first.row) {
                    broken.first = violation;
                }
            }
        }
    }

    /// Counts a check of a rule.
    pub fn look(&mut self, rule: Rule) {
        *self.checked.entry(rule).or_default() += 1;
    }
}
