//! Other versions of a workflow: with longer run times, more data, or another ratio of the two.

use super::{Costs, Draft, Part, Workflow, WorkflowError};
use crate::units::Bandwidth;

impl Workflow {
    /// The workflow with all run times, also those by machine class, times `factor`, rounded to the microsecond.
    ///
    /// # Errors
    /// [`WorkflowError`] if a run time becomes negative or absurd.
    pub fn scale_runtime(&self, factor: f64) -> Result<Self, WorkflowError> {
        let mut draft = self.draft();
        for task in &mut draft.tasks {
            task.runtime *= factor;
            task.by_class.values_mut().for_each(|secs| *secs *= factor);
        }
        draft.build()
    }

    /// The workflow with the sizes of all files, stage-in among them, times `factor`, rounded to the byte.
    ///
    /// # Errors
    /// [`WorkflowError`] if a size becomes negative or absurd.
    pub fn scale_data(&self, factor: f64) -> Result<Self, WorkflowError> {
        let mut draft: Draft = self.draft();
        draft.files.iter_mut().for_each(|(_, size)| *size *= factor);
        draft.build()
    }

    /// The workflow with the sizes of all files scaled such that its communication-to-computation ratio ([`Workflow::ccr`]) at reference
    /// speed and this bandwidth is `ccr`, up to the rounding of sizes to bytes.
    ///
    /// # Errors
    /// [`WorkflowError`] if no edge carries data or no task takes time, or if a size becomes negative or absurd.
    pub fn with_ccr(&self, ccr: f64, bandwidth: Bandwidth) -> Result<Self, WorkflowError> {
        let now = self.ccr(&Costs::at_reference(self, Some(bandwidth)));
        match now.filter(|now| *now > 0.0 && now.is_finite()) {
            Some(now) => self.scale_data(ccr / now),
            None => Err(WorkflowError {
                part: Part::Workflow,
                problem: "no factor gives the workflow a communication-to-computation ratio: its tasks take no time, \
                          they send each other no data, or the bandwidth is zero"
                    .to_owned(),
                hint: "",
            }),
        }
    }
}
