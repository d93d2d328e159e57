//! The check of what tasks need of machines beyond processors: from the workflow as it was submitted and the description of the grid.

use super::{Submitted, violation};
use crate::model::{PartitionSpec, WorkflowTask};
use crate::units::Bytes;
use crate::verify::findings::{Row, Rule, Verdict};
use crate::verify::platform::Platform;

impl Submitted {
    /// Checks that each task, or its group, ran last where machines have the memory and the tag that it needs.
    pub(super) fn check_needs(&self, platform: &Platform, verdict: &mut Verdict) {
        for (at, job) in self.workflow.spec.tasks.iter().enumerate() {
            for row in self.rows_of(at).into_iter().flatten() {
                let Some(start) = row.started else { continue };
                let Some(place) = platform.named(&row.site, row.partition.as_deref()) else { continue };
                if let Some(lacking) = lacking(place, job.procs, job.memory, self.workflow.tag(&row.kind)) {
                    let text = format!(
                        "task `{}` of workflow {} runs in `{}` of `{}`, {lacking}",
                        row.task, row.workflow, place.name, row.site
                    );
                    let line = Row { file: "tasks.csv", line: row.line };
                    verdict.report(violation(Rule::Needs, start, row.job, text, line));
                }
                verdict.count_check(Rule::Needs);
            }
        }
    }

    /// The partitions that can run a task that is in no group.
    pub(super) fn places<'p>(
        &self,
        task: &WorkflowTask,
        platform: &'p Platform,
    ) -> impl Iterator<Item = &'p PartitionSpec> {
        let partitions = platform.sites.iter().flat_map(|site| &site.spec.partitions);
        partitions.filter(|part| {
            part.rounded(task.procs) <= part.usable()
                && lacking(part, task.procs, task.memory, self.workflow.tag(&task.kind)).is_none()
        })
    }
}

/// What the machines of a partition lack for a task on so many processors.
fn lacking(part: &PartitionSpec, procs: u32, memory: Option<Bytes>, tag: Option<&String>) -> Option<String> {
    let equipment = part.equipment();
    if let Some(tag) = tag.filter(|tag| !equipment.tags.contains(*tag)) {
        return Some(format!("which lacks its tag `{tag}`"));
    }
    let machines = part.machines_for(procs);
    let (needed, each) = memory.zip(equipment.memory)?;
    let short = u128::from(each.count()) * u128::from(machines) < u128::from(needed.count());
    short.then(|| format!("where {machines} x {each} of memory are less than the {needed} that it needs"))
}
