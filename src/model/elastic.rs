//! Elastic commands: a user changes what a job asks for after it was submitted.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::JobId;
use crate::units::{Span, Time};

/// An elastic control command (ECC; Kumar, Shae and Jamjoom 2012, section III-C and figure 4).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Elastic {
    /// ET: its run time and its estimate grow by so much: it runs longer, and may.
    ExtendTime(Span),
    /// RT: its estimate shrinks by so much, and its run time to no more than what is left of that: a job that would have been over before
    /// runs as long as it would have.
    ReduceTime(Span),
    /// EP: it wants so many processors more.
    ExtendProcs(u32),
    /// RP: it wants so many processors less.
    ReduceProcs(u32),
}

/// A command, and when its user gives it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElasticCommand {
    /// When.
    pub at: Time,
    /// What.
    pub change: Elastic,
}

/// What somebody who is not its workload does to a job.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobAct {
    /// It ends, cancelled, wherever it stands.
    Cancel,
    /// It is changed.
    Change(Elastic),
}

/// Something that is done to a job of a site at a given time.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedJobAct {
    /// When.
    pub at: Time,
    /// The number of the job in its workload. If several jobs of the site have it, the one that came first is meant.
    pub job: JobId,
    /// What.
    pub act: JobAct,
}

impl Elastic {
    /// The code of the cloud workload format.
    pub const fn code(self) -> &'static str {
        match self {
            Self::ExtendTime(_) => "ET",
            Self::ReduceTime(_) => "RT",
            Self::ExtendProcs(_) => "EP",
            Self::ReduceProcs(_) => "RP",
        }
    }
}

impl Elastic {
    /// As in `events.csv`: the code and the amount, `ET 60` for a minute more.
    pub fn written(self) -> String {
        match self {
            Self::ExtendTime(by) | Self::ReduceTime(by) => format!("{} {by}", self.code()),
            Self::ExtendProcs(by) | Self::ReduceProcs(by) => format!("{} {by}", self.code()),
        }
    }

    /// Reads what [`Elastic::written`] gives.
    pub fn read(written: &str) -> Option<Self> {
        let (code, amount) = written.split_once(' ')?;
        let (time, procs) = (amount.parse::<Span>(), amount.parse::<u32>());
        match code {
            "ET" => time.ok().map(Self::ExtendTime),
            "RT" => time.ok().map(Self::ReduceTime),
            "EP" => procs.ok().map(Self::ExtendProcs),
            "RP" => procs.ok().map(Self::ReduceProcs),
            _ => None,
        }
    }
}

impl fmt::Display for Elastic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ExtendTime(by) => write!(f, "{by} s more"),
            Self::ReduceTime(by) => write!(f, "{by} s less"),
            Self::ExtendProcs(by) => write!(f, "{by} processors more"),
            Self::ReduceProcs(by) => write!(f, "{by} processors less"),
        }
    }
}

/// Why a command is not carried out.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CommandRefusal {
    /// The local policy processes no commands.
    NoProcessor,
    /// There is no such job at the site, or it has ended.
    NoJob,
    /// The job has had as many commands as the policy allows.
    TooMany,
    /// It would leave no time, or no processors.
    BelowZero,
    /// The job would last for more than some 570 years, or not end in the first half of the axis of time.
    TooLong,
    /// Only malleable jobs change their processors.
    NotMalleable,
    /// More or fewer processors than the job can use, or than there are; or less than a block, which changes nothing.
    OutOfRange,
    /// Not so many processors are free, or they are reserved.
    NoRoom,
    /// The job is neither waiting nor running, so its processors cannot change now.
    NotNow,
}

impl CommandRefusal {
    /// All of them, in the order of declaration.
    pub const ALL: [Self; 9] = [
        Self::NoProcessor,
        Self::NoJob,
        Self::TooMany,
        Self::BelowZero,
        Self::TooLong,
        Self::NotMalleable,
        Self::OutOfRange,
        Self::NoRoom,
        Self::NotNow,
    ];

    /// The word used in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoProcessor => "no-processor",
            Self::NoJob => "no-job",
            Self::TooMany => "too-many",
            Self::BelowZero => "below-zero",
            Self::TooLong => "too-long",
            Self::NotMalleable => "not-malleable",
            Self::OutOfRange => "out-of-range",
            Self::NoRoom => "no-room",
            Self::NotNow => "not-now",
        }
    }

    /// What is wrong, as a sentence without its end.
    pub const fn because(self) -> &'static str {
        match self {
            Self::NoProcessor => {
                "the local policy processes no elastic commands (those whose names end in `-e` or `-de` do)"
            }
            Self::NoJob => "there is no such job, or it has ended",
            Self::TooMany => "the job has had as many as the policy allows",
            Self::BelowZero => "nothing would be left of its time or processors",
            Self::TooLong => "the job would run for centuries",
            Self::NotMalleable => "only malleable jobs change their processors",
            Self::OutOfRange => {
                "the job cannot use so many or so few processors, there are not so many, or they are less than a block"
            }
            Self::NoRoom => "not so many processors are free, or they are reserved",
            Self::NotNow => "the job neither waits nor runs",
        }
    }
}
