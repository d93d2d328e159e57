//! Compares the workflows of two runs, paired by their numbers.

use super::{Contrast, JobOutcome, JobQuestion, compare_jobs};
use crate::model::Origin;
use crate::output::WorkflowRow;
use crate::study::stands_for;
use crate::units::Span;

/// The measures of workflows that are compared, and those of jobs that they are: a workflow is like a job that starts when it is submitted.
const MEASURES: [(&str, &str); 2] =
    [("mean_response", "workflows.mean_makespan"), ("mean_bounded_slowdown", "workflows.mean_slowdown")];

/// A workflow as a job whose run is the time below which no schedule can finish it alone.
pub fn workflow_outcome(row: &WorkflowRow) -> JobOutcome {
    JobOutcome {
        job: row.workflow.into(),
        origin: Origin::Grid,
        site: "".into(),
        class: "workflows".into(),
        submit: row.submitted,
        ready: row.submitted,
        start: Some(row.submitted),
        end: row.ended,
        procs: row.tasks,
        run: row.alone,
        outcome: row.outcome,
    }
}

/// Makespan and slowdown of the workflows of `variant` beside those of the same workflows of `baseline`, which have as many tasks and were
/// submitted at the same instant. None if the runs do not have the same workflows.
pub fn compare_workflows(
    baseline: (&str, &[JobOutcome]),
    variant: (&str, &[JobOutcome]),
    question: &JobQuestion,
) -> Vec<Contrast> {
    let mut options = question.options.clone();
    let wanted = std::mem::take(&mut options.measures);
    let question = JobQuestion { options, tau: Span::ZERO, feedback: false, ..*question };
    let cells = compare_jobs(baseline, variant, &question).cells.into_iter();
    let renamed = |cell: Contrast| {
        let (_, measure) = MEASURES.iter().find(|(of_jobs, _)| *of_jobs == cell.measure)?;
        let note = cell.note.map(|note| note.replace("job", "workflow"));
        Some(Contrast { of: vec!["workflows".to_owned()], measure: (*measure).to_owned(), note, ..cell })
    };
    let asked =
        |cell: &Contrast| wanted.is_empty() || wanted.iter().any(|wanted| stands_for(wanted, &cell.measure));
    cells.filter_map(renamed).filter(asked).collect()
}
