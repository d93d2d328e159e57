//! A broker policy that is a program of the user's own: it is asked over a protocol of JSON lines, which [docs/outside.md] defines.
//!
//! This side is pure: it keeps what the program was told, writes questions, and reads answers. Who carries the lines to the program and back
//! is an [`Oracle`], which the shell implements (`experiment/outside`). Virtual time stands still until the answer is there.
//!
//! # Example
//!
//! ```text
//! {"ask":17,"now":3600000000,"why":["arrived"],"task":16,"job":{"number":16,"user":3,"submit":3600000000,"estimate":600000000,"processors":4},
//!  "choices":[{"pool":0,"processors":4,"run":600000000,"start":3720000000,"end":4320000000},{"pool":1,"processors":4,"run":300000000}]}
//! {"answer":17,"plan":[{"id":17,"task":16,"assign":0,"reason":"earliest completion"}]}
//! ```
//!
//! [docs/outside.md]: https://github.com/gridemu/gridemu/blob/main/docs/outside.md

mod answer;
mod asker;
mod books;
mod decide;
mod hello;
mod policy;
mod question;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use answer::ANSWER_KEYS;
pub use hello::{Greeting, Hello, Mode, PROTOCOL, Resumed, VERSION};
pub(crate) use policy::absent;
pub use policy::{Fallback, outside};

use crate::model::Named;
use crate::units::Time;

/// The name of the policy that hands its questions on to a program.
pub const NAME: &str = "outside";

/// Carries questions to a program, and its answers back.
pub trait Oracle: Send {
    /// Asks the question of this number, a line of JSON with its end. The answer, a line without its end, is written into `answer`.
    ///
    /// # Errors
    /// A sentence on why there is no answer, such as that the program has ended.
    fn ask(&mut self, number: u64, question: &[u8], answer: &mut Vec<u8>) -> Result<(), String>;

    /// Notes that another policy decides from the question of this number on, and why.
    fn fell_back(&mut self, _number: u64, _policy: &Named, _why: &str) {}

    /// Notes that the run goes on from a snapshot, before which so many questions were asked; the program gave this to be saved last.
    fn resume(&mut self, _questions: u64, _save: Option<&str>) {}
}

/// An oracle that all policies ask which are built from the same entry of the registry. Of these one runs.
#[derive(Clone)]
pub struct SharedOracle(Arc<Mutex<dyn Oracle>>);

impl SharedOracle {
    /// Shares an oracle.
    pub fn new(oracle: impl Oracle + 'static) -> Self {
        Self(Arc::new(Mutex::new(oracle)))
    }

    fn with<T>(&self, act: impl FnOnce(&mut dyn Oracle) -> T) -> T {
        act(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for SharedOracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedOracle")
    }
}

/// Why a program's answer ends the run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("broker program `{name}`, question {question} at {}: {problem}", .at.told())]
pub struct ProgramError {
    /// The name of the program.
    pub name: String,
    /// The number of the question.
    pub question: u64,
    /// When it was asked.
    pub at: Time,
    /// What is wrong, and what would be right.
    pub problem: String,
}

/// What is known of a program that decides, and of its conversation so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramFacts {
    /// Its name, as it says.
    pub name: String,
    /// The number of questions that it was asked.
    pub questions: u64,
    /// Decisions that it sent again, which changed nothing.
    pub repeated: u64,
    /// The policy that has taken its place, if one has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<FellBack>,
}

/// When another policy took the place of a program, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FellBack {
    /// The policy.
    pub policy: String,
    /// The instant.
    pub at: Time,
    /// The question that was not answered as it must be.
    pub question: u64,
    /// What was wrong.
    pub why: String,
}
