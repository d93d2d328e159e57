//! The conclusions that a number of replications allows.

use serde::{Deserialize, Serialize};

/// The conclusions that replications allow.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// None: fewer replications than [`Evidence::SMOKE_TEST`].
    Nothing,
    /// That the study runs, and a tendency, but no verdict: fewer than [`Evidence::VERDICT`].
    SmokeTest,
    /// A verdict.
    Verdict,
}

impl Evidence {
    /// Replications (pairs of seeds) from which on a result shows a tendency.
    pub const SMOKE_TEST: usize = 5;
    /// Replications (pairs of seeds) that a verdict requires.
    pub const VERDICT: usize = 30;

    /// The conclusions that `seeds` replications allow.
    pub const fn of_seeds(seeds: usize) -> Self {
        match seeds {
            0..Self::SMOKE_TEST => Self::Nothing,
            Self::SMOKE_TEST..Self::VERDICT => Self::SmokeTest,
            _ => Self::Verdict,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_seeds_make_a_verdict_and_five_a_smoke_test() {
        let expected = [
            (0, Evidence::Nothing),
            (4, Evidence::Nothing),
            (5, Evidence::SmokeTest),
            (29, Evidence::SmokeTest),
            (30, Evidence::Verdict),
            (1_000, Evidence::Verdict),
        ];
        for (seeds, evidence) in expected {
            assert_eq!(Evidence::of_seeds(seeds), evidence, "{seeds}");
        }
    }
}
