//! Elastic commands: a user changes the request of a job after its submission.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::text::words;
use crate::units::{Span, Time};

/// An elastic control command (ECC; Kumar, Shae and Jamjoom 2012, section III-C and figure 4).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Elastic {
    /// ET: its run time and its estimate grow by this much.
    ExtendTime(Span),
    /// RT: its estimate shrinks by this much, and its run time to at most the new estimate: a job that would have ended earlier
    /// runs as long as it would have.
    ReduceTime(Span),
    /// EP: its request grows by this many processors.
    ExtendProcs(u32),
    /// RP: its request shrinks by this many processors.
    ReduceProcs(u32),
}

/// An elastic command with its time.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElasticCommand {
    /// The time at which the user gives it.
    pub at: Time,
    /// The change.
    pub change: Elastic,
}

/// A change of a job that does not come from its workload.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum JobAct {
    /// The job ends as cancelled, whatever its state.
    Cancel,
    /// The job's request changes.
    Change(Elastic),
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

    /// The form of `events.csv`: the code and the amount, `ET 60` for a minute more.
    pub fn written(self) -> String {
        match self {
            Self::ExtendTime(by) | Self::ReduceTime(by) => format!("{} {by}", self.code()),
            Self::ExtendProcs(by) | Self::ReduceProcs(by) => format!("{} {by}", self.code()),
        }
    }

    /// Reads the form that [`Elastic::written`] returns.
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

words! {
    /// The reason why an elastic command is not carried out.
    #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum CommandRefusal {
        /// The local policy processes no commands.
        NoProcessor = "no-processor",
        /// The site has no such job, or it has ended.
        NoJob = "no-job",
        /// The job has had the most commands that the policy allows.
        TooMany = "too-many",
        /// The command would leave no time, or no processors.
        BelowZero = "below-zero",
        /// The job would last for more than some 570 years, or end beyond the first half of the time axis.
        TooLong = "too-long",
        /// Only malleable jobs can change their processors.
        NotMalleable = "not-malleable",
        /// More or fewer processors than the job can use, or than exist; or less than an allocation unit, which changes nothing.
        OutOfRange = "out-of-range",
        /// Too few processors are free, or they are reserved.
        NoRoom = "no-room",
        /// The job is neither waiting nor running, so its processors cannot change now.
        NotNow = "not-now",
        /// A reservation is kept for the job, and stays as it is.
        Reserved = "reserved",
    }
}

impl CommandRefusal {
    /// The reason as a sentence without its end.
    pub const fn because(self) -> &'static str {
        match self {
            Self::NoProcessor => {
                "the local policy processes no elastic commands (those whose names end in `-e` or `-de` do)"
            }
            Self::NoJob => "there is no such job, or it has ended",
            Self::TooMany => "the job has had the maximum number of commands",
            Self::BelowZero => "no time or no processors would be left",
            Self::TooLong => "the job would run for centuries",
            Self::NotMalleable => "only malleable jobs change their processors",
            Self::OutOfRange => {
                "the job cannot use that number of processors, the machine does not have them, or the change is less than an allocation unit"
            }
            Self::NoRoom => "too few processors are free, or they are reserved",
            Self::NotNow => "the job neither waits nor runs",
            Self::Reserved => "a reservation is kept for the job, and stays as it is",
        }
    }
}
