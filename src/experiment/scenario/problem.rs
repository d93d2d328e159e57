//! What can be wrong with a scenario.

use std::fmt;

/// Something that is wrong with a scenario, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// File and line, or the `--set`; empty if it is the scenario as a whole.
    pub place: String,
    /// The key, as it would be written behind `--set`; empty if there is none.
    pub key: String,
    /// What is wrong and what would be right.
    pub said: String,
    /// What to do.
    pub hint: Option<String>,
    /// Which file and where in it, to tell problems in order.
    order: (usize, usize),
}

/// All that is wrong with a scenario, in the order in which it is written; at least one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError(pub Vec<Problem>);

impl Problem {
    pub(in crate::experiment) fn new(place: impl Into<String>, key: &str, said: impl Into<String>) -> Self {
        Self { place: place.into(), key: key.to_owned(), said: said.into(), hint: None, order: (0, 0) }
    }

    #[must_use]
    pub(in crate::experiment) fn at(self, order: (usize, usize)) -> Self {
        Self { order, ..self }
    }

    #[must_use]
    pub(in crate::experiment) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl ScenarioError {
    /// All of `problems`, those of one file from its top to its end.
    pub(in crate::experiment) fn new(mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.order);
        Self(problems)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A `--set` names its key itself.
        let named = self.key.is_empty() || self.place.starts_with(&format!("`--set {}=", self.key));
        if !self.place.is_empty() {
            write!(f, "{}", self.place)?;
            f.write_str(if named { ": " } else { ", " })?;
        }
        if !named {
            write!(f, "`{}`: ", self.key)?;
        }
        f.write_str(&self.said)
    }
}

impl fmt::Display for ScenarioError {
    /// A line a problem, and one a hint.
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
