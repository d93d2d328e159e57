//! Problems in a scenario, with their places.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fmt, io};

use crate::units::{grouped, line};

/// A mistake in a scenario, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// File and line, or the `--set`; empty for the scenario as a whole.
    pub place: String,
    /// The key in the syntax of `--set`; empty if there is none.
    pub key: String,
    /// What is wrong, and what is correct.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The number of the file and the place in it, by which problems are sorted.
    order: (usize, usize),
}

/// Problems as they are found: a file of megabytes may be nothing else, and each takes a look at the lines before it.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    told: Vec<Problem>,
    more: usize,
}

/// All problems of a scenario in the order of the file; at least one. Of very many the first ones found, and how many more there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError(pub Vec<Problem>);

impl Problem {
    pub(crate) fn new(place: impl Into<String>, key: &str, message: impl Into<String>) -> Self {
        let [key, message] = [key, &message.into()].map(|text| line(text).into_owned());
        Self { place: place.into(), key, message, hint: None, order: (0, 0) }
    }

    #[must_use]
    pub(crate) fn at(self, order: (usize, usize)) -> Self {
        Self { order, ..self }
    }

    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl Problems {
    /// How many are told.
    pub(crate) const MOST: usize = 100;

    /// Adds a problem, which is only put into words if it will be told.
    pub(crate) fn add(&mut self, problem: impl FnOnce() -> Problem) {
        if self.told.len() < Self::MOST {
            self.told.push(problem());
        } else {
            self.more += 1;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.told.len() + self.more
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    /// Those that are told of what was added since there were `before`.
    pub(crate) fn since(&mut self, before: usize) -> &mut [Problem] {
        self.told.get_mut(before..).unwrap_or_default()
    }

    /// In the order of the file, with a last one that says how many there are beyond those.
    pub(crate) fn sorted(self) -> Vec<Problem> {
        let mut sorted = ScenarioError::new(self.told).0;
        if self.more > 0 {
            let message = format!("there are {} more, which are not told", grouped(self.more as u64));
            sorted.push(Problem::new("", "", message));
        }
        sorted
    }
}

impl From<Problems> for ScenarioError {
    fn from(problems: Problems) -> Self {
        Self(problems.sorted())
    }
}

impl ScenarioError {
    /// Sorts `problems` by file and place.
    pub(crate) fn new(mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.order);
        let mut seen = BTreeSet::new();
        problems
            .retain(|problem| seen.insert((problem.order, problem.place.clone(), problem.message.clone())));
        Self(problems)
    }

    /// The error of a file that cannot be read.
    pub(super) fn unreadable(file: &Path, error: &io::Error) -> Self {
        let problem = Problem::new("", "", format!("cannot read `{}`: {error}", file.display()));
        Self::from(match error.kind() {
            io::ErrorKind::NotFound => {
                problem.with_hint("give a scenario file, such as `configs/quickstart.toml`")
            }
            io::ErrorKind::InvalidData => problem.with_hint("a scenario is a text file in UTF-8"),
            _ => problem,
        })
    }

    /// Only the first problem, with a hint.
    pub(crate) fn first_with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.truncate(1);
        if let Some(problem) = self.0.first_mut() {
            problem.hint = Some(hint.into());
        }
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A `--set` contains its key, and another option stands for one.
        let option = self.place.starts_with("`--") && !self.place.starts_with("`--set ");
        let named = option || self.key.is_empty() || self.place.starts_with(&format!("`--set {}=", self.key));
        if !self.place.is_empty() {
            write!(f, "{}", self.place)?;
            f.write_str(if named { ": " } else { ", " })?;
        }
        if !named {
            write!(f, "`{}`: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

impl fmt::Display for ScenarioError {
    /// Writes a line for each problem and each hint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\nerror: ")?;
            }
            problem.fmt(f)?;
            if let Some(hint) = &problem.hint {
                write!(f, "\nhint: {hint}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for ScenarioError {}

impl From<Problem> for ScenarioError {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}
