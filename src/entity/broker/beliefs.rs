//! What the broker computes of a workflow when it arrives: what it takes at least, who reads what, and what is believed of its run times.

use super::course::bounds;
use crate::broker::Pool;
use crate::model::{Job, WorkflowBounds, WorkflowSettings, WorkflowSubmission};
use crate::workflow::{Costs, Estimates, Workflow, WorkflowError};

/// The critical path at reference speed, in seconds, and what the tasks would take on an empty grid.
pub(super) fn least(workflow: &Workflow, jobs: &[Box<Job>], pools: &[Pool]) -> (f64, WorkflowBounds) {
    (workflow.critical_path(&Costs::at_reference(workflow, None)).0, bounds(workflow, jobs, pools))
}

/// The tasks that read each file.
pub(super) fn readers(workflow: &Workflow) -> Vec<Vec<u32>> {
    workflow.files().iter().map(|file| file.consumers.iter().map(|task| task.0).collect()).collect()
}

/// The task that writes each file.
pub(super) fn writers(workflow: &Workflow) -> Vec<Option<u32>> {
    workflow.files().iter().map(|file| file.producer.map(|task| task.0)).collect()
}

/// The workflow as its run times are believed to be; `None` if they are known.
pub(super) fn believed(
    workflow: &Workflow,
    submitted: &WorkflowSubmission,
    settings: &WorkflowSettings,
) -> Result<Option<Workflow>, WorkflowError> {
    Estimates::wanted(settings).map(|wanted| wanted.of_submitted(submitted, workflow)).transpose()
}

/// The upward ranks of the tasks of a workflow as it is believed to be, in microseconds.
pub(super) fn ranks(believed: &Workflow) -> Vec<u64> {
    let ranks = believed.upward_ranks(&Costs::mean_over_classes(believed, None));
    ranks.into_iter().map(|secs| libm::round(secs * 1e6) as u64).collect()
}
