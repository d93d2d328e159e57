//! A stretch of a wait in JSON: its facts and their description.

use serde::{Serialize, Serializer};

use super::Held;
use super::words::rule;
use crate::experiment::Stretch;
use crate::local::{Explanation, Reason};

#[derive(Serialize)]
struct Written {
    attempt: u32,
    from_s: f64,
    to_s: f64,
    /// A site with its policy, the broker, or the dispatcher.
    place: String,
    /// Why the job waits, if it waits at a site.
    reason: Option<Reason>,
    /// The rule at the beginning of the stretch.
    rule: String,
    /// The rule at its end, if its numbers differ.
    rule_at_end: Option<String>,
    /// Processors that the job needs there.
    needs: u32,
    /// Processors free for the job at the beginning.
    free: u32,
    shadow_s: Option<f64>,
    spare: Option<u32>,
    planned_s: Option<f64>,
    held_by: Vec<Held>,
    profile: Vec<(f64, i32)>,
    looks: u64,
}

impl Stretch {
    /// The rule at the beginning of the stretch, in words.
    pub(super) fn rule(&self) -> String {
        self.begin.as_ref().map_or_else(|| self.place.rule().to_owned(), rule)
    }
}

impl Serialize for Stretch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let begin = self.begin.as_ref();
        let number = |of: fn(&Explanation) -> u32| begin.map_or(0, of);
        let rule_at_begin = self.rule();
        let profile = begin.map(|begin| &begin.profile[..]).unwrap_or_default();
        let written = Written {
            attempt: self.attempt,
            from_s: self.from_s,
            to_s: self.to_s,
            place: self.place.name(),
            reason: self.reason(),
            rule_at_end: self.end.as_ref().map(rule).filter(|rule| *rule != rule_at_begin),
            rule: rule_at_begin,
            needs: number(|begin| begin.needs),
            free: number(|begin| begin.free),
            shadow_s: Self::seconds(begin.and_then(|begin| begin.shadow)),
            spare: begin.and_then(|begin| begin.spare),
            planned_s: Self::seconds(begin.and_then(|begin| begin.start)),
            held_by: self.held().collect(),
            profile: profile.iter().map(|(since, free)| (since.as_secs_f64(), *free)).collect(),
            looks: self.looks,
        };
        written.serialize(serializer)
    }
}
