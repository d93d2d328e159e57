//! The stored result of a run of a campaign.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};

use crate::experiment::RunError;
use crate::metrics::{GridSummary, Outcomes};
use crate::model::Layout;
use crate::study::{RunStatus, flat_measures};

/// The result of a run. All its measures are kept, not only the requested ones, so that requesting others starts no run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Outcome {
    /// The layout version of all fields here.
    layout: Layout<1>,
    pub(super) status: RunStatus,
    pub(super) jobs: u64,
    pub(super) outcomes: Outcomes,
    pub(super) unstable: bool,
    pub(super) fingerprint: String,
    pub(super) measures: BTreeMap<String, f64>,
}

impl Outcome {
    /// The result of a completed run.
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
            unstable: summary.backlog.as_ref().is_some_and(|backlog| backlog.unstable),
            fingerprint: summary.fingerprint.to_string(),
            measures: flat_measures(&json),
        })
    }

    /// The result of a failed run.
    pub(super) fn failed(why: String) -> Self {
        Self {
            layout: Layout,
            status: RunStatus::Failed(why),
            jobs: 0,
            outcomes: Outcomes::default(),
            unstable: false,
            fingerprint: String::new(),
            measures: BTreeMap::new(),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.status == RunStatus::Done
    }

    /// Encodes the result: postcard, compressed, since the names of measures are most of it.
    ///
    /// # Errors
    /// None in practice: writing to memory does not fail.
    pub(super) fn encode(&self) -> Result<Vec<u8>, RunError> {
        let plain = postcard::to_stdvec(self).map_err(RunError::run)?;
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&plain).and_then(|()| encoder.finish()).map_err(RunError::run)
    }

    /// Decodes the result; `None` if the bytes have another layout, so that the run is carried out again.
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
        let outcome =
            Outcome { unstable: true, jobs: 7, measures, ..Outcome::failed("two\nlines".to_owned()) };
        assert_eq!(Outcome::decode(&outcome.encode().unwrap()), Some(outcome));
        assert_eq!(Outcome::decode(b"something else"), None);
    }
}
