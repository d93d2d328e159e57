//! Elastic commands: how many were carried out, and why the others were refused.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{CommandRefusal, EventCause, EventKind, EventRecord};

/// Counts elastic commands, one event at a time, in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elasticity {
    accepted: u64,
    refused: BTreeMap<CommandRefusal, u64>,
}

/// The elastic commands of a run (Kumar, Shae and Jamjoom 2012, section III-C).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElasticSummary {
    /// Number of commands that were carried out.
    pub accepted: u64,
    /// Number of refused commands by reason.
    pub refused: BTreeMap<String, u64>,
}

impl Elasticity {
    /// Adds an event; one that does not concern a command changes nothing.
    #[inline]
    pub fn add(&mut self, event: &EventRecord) {
        match (event.kind, event.cause) {
            (EventKind::Extended | EventKind::Reduced, _) => self.accepted += 1,
            (EventKind::CommandRefused, EventCause::Unheeded(why)) => {
                *self.refused.entry(why).or_default() += 1;
            }
            _ => {}
        }
    }

    /// The summary; `None` if there was no command.
    pub fn summary(&self) -> Option<ElasticSummary> {
        let refused = self.refused.iter().map(|(why, count)| (why.name().to_owned(), *count));
        let summary = ElasticSummary { accepted: self.accepted, refused: refused.collect() };
        (summary != ElasticSummary::default()).then_some(summary)
    }

    /// A note on how many commands were refused and why.
    pub fn note(&self) -> Option<String> {
        let refused: u64 = self.refused.values().sum();
        let reasons: Vec<String> =
            self.refused.iter().map(|(why, count)| format!("{count}: {}", why.because())).collect();
        (refused > 0).then(|| {
            let all = refused + self.accepted;
            let reasons = reasons.join("; ");
            match (refused, all) {
                (1, 1) => format!("the only command to a job was refused ({reasons})"),
                (1, _) => format!("1 of {all} commands to jobs was refused ({reasons})"),
                _ => format!("{refused} of {all} commands to jobs were refused ({reasons})"),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_command_is_told_in_the_singular() {
        let refused = |accepted, no_job| {
            let refused = BTreeMap::from([(CommandRefusal::NoJob, no_job)]);
            Elasticity { accepted, refused }.note().expect("some were refused")
        };
        assert_eq!(
            refused(0, 1),
            "the only command to a job was refused (1: there is no such job, or it has ended)"
        );
        assert_eq!(
            refused(1, 1),
            "1 of 2 commands to jobs was refused (1: there is no such job, or it has ended)"
        );
        assert!(refused(1, 2).starts_with("2 of 3 commands to jobs were refused (2: "));
        assert_eq!(Elasticity { accepted: 1, ..Elasticity::default() }.note(), None);
    }
}
