//! The measures that a comparison shows unless others are requested.

use crate::study::WORKFLOW_MEASURES;

/// Measures of whole runs, by the last word of their id.
const WHOLE: [&str; 10] = [
    "utilization",
    "makespan",
    "cost",
    "charged",
    "meter_kwh",
    "facility_kwh",
    "wasted_proc_s",
    "mean_moved_bytes",
    "mean_energy_kwh",
    "mean_cost",
];

/// True for measures of whole runs.
fn of_the_run(id: &str) -> bool {
    !id.starts_with("class.")
        && !id.starts_with("kind.")
        && WHOLE.contains(&id.rsplit('.').next().unwrap_or(id))
}

/// True for what single runs have side by side. Makespans and slowdowns of workflows are compared one by one instead.
pub(super) fn of_runs(id: &str) -> bool {
    of_the_run(id) || id.starts_with("workflows.share.") || id == "workflows.mean_slr"
}

/// True for means over all jobs, of classes and of sites, for measures of whole runs, and for those of workflows.
pub(super) fn of_a_study(id: &str) -> bool {
    let last = id.rsplit('.').next().unwrap_or(id);
    let mean = ["mean_wait", "mean_response", "mean_bounded_slowdown"].contains(&last);
    (mean && !id.starts_with("no_site")) || of_the_run(id) || WORKFLOW_MEASURES.contains(&id)
}

/// The place of a measure among those of workflows; all others are behind.
pub(super) fn of_workflows(id: &str) -> usize {
    WORKFLOW_MEASURES.iter().position(|measure| *measure == id).unwrap_or(WORKFLOW_MEASURES.len())
}
