//! What waits for what, from the edges and files of the submitted workflow alone.

use crate::model::{WorkflowSubmission, WorkflowTask};

/// The tasks that each task waits for, by edge or by file.
pub(super) fn before(workflow: &WorkflowSubmission) -> Vec<Vec<u32>> {
    let spec = workflow.ungrouped();
    let mut writer = vec![None; spec.files.len()];
    for (at, task) in (0_u32..).zip(&spec.tasks) {
        task.outputs.iter().for_each(|file| writer[*file as usize] = Some(at));
    }
    let by_file = |task: &WorkflowTask| -> Vec<u32> {
        task.inputs.iter().filter_map(|file| writer[*file as usize]).collect()
    };
    let mut before: Vec<Vec<u32>> = spec.tasks.iter().map(by_file).collect();
    for (from, to) in &spec.edges {
        before[*to as usize].push(*from);
    }
    for tasks in &mut before {
        tasks.sort_unstable();
        tasks.dedup();
    }
    before
}

/// For each task the group that it is in.
pub(super) fn group(workflow: &WorkflowSubmission) -> Option<Vec<u32>> {
    let groups = workflow.groups.as_ref()?;
    let mut group = vec![0; groups.workflow.tasks.len()];
    for (at, members) in (0..).zip(&groups.members) {
        members.iter().for_each(|member| group[member.task as usize] = at);
    }
    Some(group)
}

/// For each group the tasks outside it that its tasks wait for.
pub(super) fn before_group(groups: usize, group: &[u32], before: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut outside = vec![Vec::new(); groups];
    for (own, before) in group.iter().zip(before) {
        let others = before.iter().filter(|before| group[**before as usize] != *own);
        outside[*own as usize].extend(others);
    }
    outside
}
