//! Tables of studies for tests.

use super::{RunStatus, StudyRow, StudyTable};
use crate::metrics::Outcomes;

/// A completed run of a study: ten jobs, all completed.
pub(crate) fn run_of_a_study(run: u64, point: &[&str], seed: u64, values: Vec<Option<f64>>) -> StudyRow {
    StudyRow {
        run,
        point: point.iter().map(|label| (*label).to_owned()).collect(),
        seed,
        status: RunStatus::Done,
        jobs: 10,
        outcomes: Outcomes { completed: 10, ..Outcomes::default() },
        unstable: false,
        scenario_hash: String::new(),
        fingerprint: String::new(),
        values,
    }
}

/// A study of `policies` x the loads 0.5 and 0.9 with the seeds 1 to `seeds`; `values` returns the measures for a policy, a load and a
/// seed.
pub(crate) fn study<const N: usize>(
    policies: &[&str],
    seeds: u64,
    measures: [&str; N],
    values: impl Fn(&str, &str, u64) -> [f64; N],
) -> StudyTable {
    let mut rows = Vec::new();
    for load in ["0.5", "0.9"] {
        for policy in policies {
            for seed in 1..=seeds {
                let values = values(policy, load, seed).map(Some).to_vec();
                rows.push(run_of_a_study(rows.len() as u64 + 1, &[policy, load], seed, values));
            }
        }
    }
    StudyTable {
        name: "study".to_owned(),
        axes: vec!["policy".to_owned(), "load".to_owned()],
        measures: measures.map(str::to_owned).to_vec(),
        baseline: None,
        dates: Vec::new(),
        rows,
    }
}
