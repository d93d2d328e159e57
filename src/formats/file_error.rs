//! A file that is not what it should be.

use thiserror::Error;

/// A file that is not what it should be, or cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{name}`{}: {problem}", if *.line > 0 { format!(", line {line}") } else { String::new() })]
pub struct FileError {
    /// The file.
    pub name: String,
    /// The line; 0 if it is about the whole file.
    pub line: u64,
    /// What is wrong.
    pub problem: String,
    hint: String,
}

impl FileError {
    pub(in crate::formats) fn new(
        name: &str,
        line: u64,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        let problem = crate::units::line(&problem.into()).into_owned();
        Self { name: name.to_owned(), line, problem, hint: hint.into() }
    }

    /// An error about a whole file.
    pub(crate) fn about(name: &str, problem: impl Into<String>) -> Self {
        Self::new(name, 0, problem, "")
    }

    /// What the user can do about it, if anything.
    pub fn hint(&self) -> Option<&str> {
        (!self.hint.is_empty()).then_some(&self.hint)
    }
}
