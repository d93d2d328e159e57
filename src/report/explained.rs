//! Explanations of the life of a job: what it waited for, where it ran, how each attempt ended.

mod attempts;
mod blockers;
mod front;
mod json;
mod task;
mod text;
mod words;

pub use blockers::BlockerFacts;
pub use text::explained_text;
pub use words::rule as explained_rule;
