//! The result of checking a whole folder.

use std::collections::BTreeMap;

use super::{Rule, Verdict};

/// The result of checking a schedule against its grid.
#[derive(Clone, Debug)]
pub struct Validation {
    /// The title of the run.
    pub title: String,
    /// The grid in a few words, and where it is described.
    pub grid: String,
    /// The names of its sites.
    pub sites: Vec<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// Rules that could not be checked, or not completely, and why.
    pub unchecked: BTreeMap<Rule, String>,
}

impl Validation {
    /// True if there is no violation.
    pub fn is_valid(&self) -> bool {
        self.verdict.is_valid()
    }
}
