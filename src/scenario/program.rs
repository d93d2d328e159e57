//! The program that decides for the broker: how it is started, and what happens if it fails.

use std::path::PathBuf;
use std::time::Duration;

use super::problem::Problem;
use super::set::shell_word;
use crate::model::Named;

/// The program that decides for the broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramPlan {
    /// The program and its arguments; at least the program.
    pub command: Vec<String>,
    /// The folder in which it runs.
    pub folder: PathBuf,
    /// How long it may take for an answer, by the wall clock.
    pub timeout: Duration,
    /// The policy that takes its place if it does not answer as it must; without one the run ends.
    pub fallback: Option<Named>,
    /// Where the command is written.
    pub(crate) place: Problem,
}

impl ProgramPlan {
    /// How long an answer may take if nothing else is said.
    pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

    /// The command as for a shell.
    pub(crate) fn line(&self) -> String {
        let words: Vec<String> = self.command.iter().map(|word| shell_word(word)).collect();
        words.join(" ")
    }

    /// The words of the command; those that name files, from the folder in which it runs, as these are called on the disk.
    pub(crate) fn words(&self) -> Vec<PathBuf> {
        let found = |word: &String| self.folder.join(word).canonicalize().ok().filter(|path| path.is_file());
        self.command.iter().map(|word| found(word).unwrap_or_else(|| word.into())).collect()
    }

    /// A problem with the program, at the place where it is written.
    pub(crate) fn problem(&self, message: String) -> Problem {
        let mut problem = self.place.clone();
        problem.message = message;
        problem
    }
}
