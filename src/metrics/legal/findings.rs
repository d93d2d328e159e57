//! What a check has found: rules, violations, and the verdict.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::Grounds;
use crate::model::{JobId, Origin, SiteId};
use crate::units::Time;

/// What a legal schedule keeps to. Of violations at one instant the rule that stands first is told first.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A job has one row.
    Once,
    /// Sites, partitions and processors are those of the grid.
    Place,
    /// Nothing starts before it is submitted.
    Arrival,
    /// A job that follows another is submitted after that one's end and the think time.
    Precedence,
    /// No processor has more jobs, or gives more of its time, than it can.
    Capacity,
    /// Machines that are away run nothing.
    Away,
    /// Reserved processors run nothing.
    Reservation,
    /// An attempt stays on its processors.
    SameProcessors,
    /// Attempts of a job follow one another, each after the one before was lost.
    Attempts,
    /// The work done is the work asked for.
    Work,
    /// Outcomes go with what happened.
    Outcome,
    /// Rows of a job in different files agree, and stand in order.
    Rows,
    /// Columns of a row agree with one another, and rows with the summary.
    Columns,
}

impl Rule {
    /// All of them, in order.
    pub const ALL: [Self; 13] = [
        Self::Once,
        Self::Place,
        Self::Arrival,
        Self::Precedence,
        Self::Capacity,
        Self::Away,
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
            Self::Away => "away",
            Self::Reservation => "reservation",
            Self::SameProcessors => "same-processors",
            Self::Attempts => "attempts",
            Self::Work => "work",
            Self::Outcome => "outcome",
            Self::Rows => "rows",
            Self::Columns => "columns",
        }
    }

    /// What it demands, in a few words.
    pub const fn says(self) -> &'static str {
        match self {
            Self::Once => "a job has one row",
            Self::Place => "sites, partitions and processors are those of the grid",
            Self::Arrival => "nothing starts before it is submitted",
            Self::Precedence => "a job that follows another comes after its end and the think time",
            Self::Capacity => "no processor runs more than it can",
            Self::Away => "machines that are away run nothing",
            Self::Reservation => "reserved processors are kept free",
            Self::SameProcessors => "an attempt stays on its processors",
            Self::Attempts => "attempts of a job follow one another, each after the one before was lost",
            Self::Work => "the work done is the work asked for",
            Self::Outcome => "outcomes go with what happened",
            Self::Rows => "rows of a job in different files agree and stand in order",
            Self::Columns => "columns of a row agree with one another",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Which job: a number is unique among the grid's own jobs, and among those of one site.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct JobName {
    /// Number in the workload.
    pub id: JobId,
    /// The site whose users submitted it; `None` if it came through the portal.
    pub site: Option<SiteId>,
}

impl JobName {
    /// The job of a row.
    pub const fn new(id: JobId, origin: Origin, site: SiteId) -> Self {
        let site = match origin {
            Origin::Own => Some(site),
            Origin::Sent => None,
        };
        Self { id, site }
    }

    /// In words. A single site needs no name.
    pub(super) const fn told(self, grounds: &Grounds) -> Told<'_> {
        Told { name: self, grounds }
    }
}

/// A job in words, which cost nothing until they are needed.
#[derive(Copy, Clone)]
pub(super) struct Told<'a> {
    name: JobName,
    grounds: &'a Grounds,
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name: JobName { id, site }, grounds } = self;
        match site {
            Some(site) if grounds.sites.len() > 1 => write!(f, "local job {id} of {}", grounds.site(*site)),
            None if grounds.has_local && !grounds.sites.is_empty() => write!(f, "grid job {id}"),
            _ => write!(f, "job {id}"),
        }
    }
}

/// Where a row stands.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Row {
    /// Which file.
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

/// Something that no legal schedule does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// When it happens.
    pub time: Time,
    /// What it is against.
    pub rule: Rule,
    /// The jobs that it is about.
    pub jobs: Vec<JobName>,
    /// What happens, in a sentence without an end.
    pub said: String,
    /// The row in which it shows.
    pub row: Row,
}

/// The violations of one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Broken {
    /// How often.
    pub count: u64,
    /// The earliest.
    pub first: Violation,
}

/// What a check ends in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Rules that were broken.
    pub broken: BTreeMap<Rule, Broken>,
    /// Rules that were looked at, and how often.
    pub checked: BTreeMap<Rule, u64>,
    /// Jobs whose rows were read.
    pub jobs: u64,
    /// Segments that were read.
    pub segments: u64,
}

impl Verdict {
    /// True if nothing is wrong.
    pub fn is_legal(&self) -> bool {
        self.broken.is_empty()
    }

    /// The first violation in order of time.
    pub fn first(&self) -> Option<&Violation> {
        self.broken
            .values()
            .map(|broken| &broken.first)
            .min_by_key(|first| (first.time, first.rule, first.row))
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.broken.values().map(|broken| broken.count).sum()
    }

    /// Takes one down.
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

    /// Counts that a rule was looked at.
    pub fn look(&mut self, rule: Rule) {
        *self.checked.entry(rule).or_default() += 1;
    }
}
