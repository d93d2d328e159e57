//! One axis of job classes: upper bounds, each with the name of its class.

use serde::{Deserialize, Serialize};

/// Classes along one quantity. Without a bound all jobs are in the last class, which then has no name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Axis<B> {
    /// The classes that have an upper bound, in rising order, with their names.
    pub(super) bounds: Vec<(String, B)>,
    /// The name of the class beyond all bounds.
    pub(super) last: String,
}

impl<B> Default for Axis<B> {
    /// A single class without a name.
    fn default() -> Self {
        Self { bounds: Vec::new(), last: String::new() }
    }
}

impl<B> Axis<B> {
    /// The number of classes.
    pub(super) fn count(&self) -> usize {
        self.bounds.len() + 1
    }

    /// The first class whose bound is such that `within`.
    pub(super) fn place(&self, within: impl Fn(&B) -> bool) -> u8 {
        let place = self.bounds.iter().position(|(_, bound)| within(bound));
        // There are 256 classes at most.
        place.unwrap_or(self.bounds.len()) as u8
    }

    /// The name of the class at `index`.
    pub(super) fn label(&self, index: usize) -> &str {
        self.bounds.get(index).map_or(self.last.as_str(), |(label, _)| label)
    }

    /// What the names mean, with `beyond` for that of the last class; `None` if they are the bounds themselves.
    pub(super) fn meaning(&self, beyond: &str, told: impl Fn(&str, &B) -> String) -> Option<String> {
        if self.bounds.is_empty() || self.last.is_empty() || self.last.starts_with('>') {
            return None;
        }
        let bounds: Vec<String> = self.bounds.iter().map(|(name, bound)| told(name, bound)).collect();
        Some(format!("{}, {} {beyond}", bounds.join(", "), self.last))
    }
}
