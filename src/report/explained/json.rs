//! A stretch of a wait in JSON: its facts and their description.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::BlockerFacts;
use super::words::rule;
use crate::experiment::Stretch;

impl Stretch {
    /// The rule at the beginning of the stretch, in words.
    pub(super) fn rule(&self) -> String {
        self.begin.as_ref().map_or_else(|| self.place.rule(), rule)
    }
}

impl Serialize for Stretch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let begin = self.begin.as_ref();
        let (at_begin, at_end) = (self.rule(), self.end.as_ref().map(rule));
        let profile = begin.map(|begin| &begin.profile[..]).unwrap_or_default();
        let profile: Vec<_> = profile.iter().map(|(since, free)| (since.as_secs_f64(), *free)).collect();
        let mut out = serializer.serialize_struct("Stretch", 15)?;
        out.serialize_field("attempt", &self.attempt)?;
        out.serialize_field("from_s", &self.from_s)?;
        out.serialize_field("to_s", &self.to_s)?;
        out.serialize_field("place", &self.place.name())?;
        out.serialize_field("reason", &self.reason())?;
        out.serialize_field("rule", &at_begin)?;
        out.serialize_field("rule_at_end", &at_end.filter(|rule| *rule != at_begin))?;
        out.serialize_field("needs", &begin.map_or(0, |begin| begin.needs))?;
        out.serialize_field("free", &begin.map_or(0, |begin| begin.free))?;
        out.serialize_field("shadow_s", &Self::seconds(begin.and_then(|begin| begin.shadow)))?;
        out.serialize_field("spare", &begin.and_then(|begin| begin.spare))?;
        out.serialize_field("planned_s", &Self::seconds(begin.and_then(|begin| begin.start)))?;
        out.serialize_field("held_by", &self.held().collect::<Vec<BlockerFacts>>())?;
        out.serialize_field("profile", &profile)?;
        out.serialize_field("looks", &self.looks)?;
        out.end()
    }
}
