//! Applications: what jobs of a user and an executable have in common.

use serde::{Deserialize, Serialize};

use super::Job;
use crate::units::Span;

/// The jobs of one user that run one executable.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Application {
    /// User number.
    pub user: i32,
    /// Executable number.
    pub executable: i32,
}

impl Application {
    /// That of a job; `None` if its user or its executable is unknown.
    pub fn of(job: &Job) -> Option<Self> {
        let Job { user, executable, .. } = *job;
        (user >= 0 && executable >= 0).then_some(Self { user, executable })
    }
}

/// A record of an application that its owner has registered in the directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApplicationSpec {
    /// The owner and the executable.
    pub application: Application,
    /// The run time at reference speed, on the preferred size; `None` if it is not known.
    pub run_time: Option<Span>,
    /// The users who have the key: to whom the record is disclosed beside its owner.
    pub key_holders: Vec<i32>,
}

impl ApplicationSpec {
    /// Whether a user who has the key may read it of the same executable.
    pub fn may_be_read_by(&self, by: Application) -> bool {
        self.application.executable == by.executable && self.key_holders.contains(&by.user)
    }
}
