//! Elastic commands: a user changes what a job asks for after it was submitted.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::units::{Span, Time};

/// An elastic control command (ECC; Kumar, Shae and Jamjoom 2012, section III-C and figure 4).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Elastic {
    /// ET: it runs so much longer, and may.
    ExtendTime(Span),
    /// RT: it runs so much less, and may.
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
