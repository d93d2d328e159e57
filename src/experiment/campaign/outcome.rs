//! What is kept of a run of a campaign.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};

use crate::experiment::RunError;
use crate::metrics::{GridSummary, Outcomes, RunStatus, flat_measures};
use crate::model::Layout;

/// What a run ended in. All measures are kept, whichever are asked for, so that asking for others runs nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Outcome {
    /// Of everything here.
    layout: Layout<1>,
    pub(super) status: RunStatus,
    pub(super) jobs: u64,
    pub(super) outcomes: Outcomes,
    pub(super) grows: bool,
    pub(super) fingerprint: String,
    pub(super) measures: BTreeMap<String, f64>,
}

impl Outcome {
    /// Of a run that came to its end.
    ///
    /// # Errors
    /// If the summary cannot be written as JSON, which does not happen.
    pub(super) fn done(summary: &GridSummary) -> Result<Self, RunError> {
        let json = serde_json::to_value(summary).map_err(RunError::run)?;
        Ok(Self {
            layout: Layout,
            status: RunStatus::Done,
            jobs: summary.measures.jobs,
            outcomes: summary.measures.outcomes,
            grows: summary.backlog.as_ref().is_some_and(|backlog| backlog.grows),
            fingerprint: summary.fingerprint.to_string(),
            measures: flat_measures(&json),
        })
    }

    /// Of one that did not.
    pub(super) fn failed(why: String) -> Self {
        Self {
            layout: Layout,
            status: RunStatus::Failed(why),
            jobs: 0,
            outcomes: Outcomes::default(),
            grows: false,
            fingerprint: String::new(),
            measures: BTreeMap::new(),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.status == RunStatus::Done
    }

    /// As bytes: postcard, compressed, since the names of measures are most of it.
    ///
    /// # Errors
    /// Nothing that can happen with memory to write to.
    pub(super) fn encode(&self) -> Result<Vec<u8>, RunError> {
        let plain = postcard::to_stdvec(self).map_err(RunError::run)?;
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&plain).and_then(|()| encoder.finish()).map_err(RunError::run)
    }

    /// From bytes; `None` if they are of another layout, so that the run is done again.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut plain = Vec::new();
        ZlibDecoder::new(bytes).read_to_end(&mut plain).ok()?;
        postcard::from_bytes(&plain).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_comes_back() {
        let measures =
            BTreeMap::from([("mean_wait".to_owned(), 0.1 + 0.2), ("cost".to_owned(), f64::MIN_POSITIVE)]);
        let outcome = Outcome { grows: true, jobs: 7, measures, ..Outcome::failed("two\nlines".to_owned()) };
        assert_eq!(Outcome::decode(&outcome.encode().unwrap()), Some(outcome));
        assert_eq!(Outcome::decode(b"something else"), None);
    }
}
