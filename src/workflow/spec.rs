//! A workflow to and from plain data.

use super::build::{checked_procs, wrong};
use super::{DataFile, FileId, Part, Task, TaskId, Workflow, WorkflowError};
use crate::model::{WorkflowFile, WorkflowSpec, WorkflowTask};

impl Workflow {
    /// The workflow as plain data, with all edges.
    pub fn spec(&self) -> WorkflowSpec {
        let places = |files: &[FileId]| files.iter().map(|file| file.0).collect();
        let tasks = self.tasks().map(|task| WorkflowTask {
            name: task.name.clone(),
            kind: task.kind.clone(),
            runtime: task.runtime,
            by_class: task.by_class.clone(),
            procs: task.procs,
            memory: task.memory,
            inputs: places(&task.inputs),
            outputs: places(&task.outputs),
        });
        let files = self.files().iter().map(|file| WorkflowFile { name: file.name.clone(), size: file.size });
        WorkflowSpec {
            name: self.name().to_owned(),
            tasks: tasks.collect(),
            files: files.collect(),
            edges: self.edges().map(|(from, to, _)| (from.0, to.0)).collect(),
        }
    }

    /// The workflow of plain data.
    ///
    /// # Errors
    /// [`WorkflowError`] if it has no tasks or a cycle, or if a task or an edge is impossible. Names, run times and sizes are taken as they
    /// are.
    pub fn from_spec(spec: WorkflowSpec) -> Result<Self, WorkflowError> {
        if spec.tasks.is_empty() {
            return wrong(Part::Workflow, "the workflow has no tasks", "a workflow needs at least one task");
        }
        let file = |file: WorkflowFile| DataFile {
            name: file.name,
            size: file.size,
            producer: None,
            consumers: Vec::new(),
        };
        let mut files: Vec<DataFile> = spec.files.into_iter().map(file).collect();
        let number = spec.tasks.len();
        let mut tasks = Vec::with_capacity(number);
        for (at, task) in spec.tasks.into_iter().enumerate() {
            checked_procs(&task.name, at, f64::from(task.procs))?;
            for (nth, file) in task.outputs.iter().enumerate() {
                match files.get_mut(*file as usize) {
                    Some(file) if file.producer.is_none() => file.producer = Some(TaskId(at as u32)),
                    _ => return wrong(Part::Output(at, nth), unfit(&task.name, "writes", *file), ""),
                }
            }
            for (nth, file) in task.inputs.iter().enumerate() {
                match files.get_mut(*file as usize) {
                    Some(file) if file.consumers.last() != Some(&TaskId(at as u32)) => {
                        file.consumers.push(TaskId(at as u32));
                    }
                    _ => return wrong(Part::Input(at, nth), unfit(&task.name, "reads", *file), ""),
                }
            }
            let ids = |files: Vec<u32>| files.into_iter().map(FileId).collect();
            tasks.push(Task {
                name: task.name,
                kind: task.kind,
                runtime: task.runtime,
                by_class: task.by_class,
                procs: task.procs,
                memory: task.memory,
                inputs: ids(task.inputs),
                outputs: ids(task.outputs),
            });
        }
        if let Some((from, to)) = spec.edges.iter().find(|(from, to)| (*from.max(to)) as usize >= number) {
            let problem = format!("there is an edge from task {from} to task {to}, but only {number} tasks");
            return wrong(Part::Workflow, problem, "");
        }
        Self::assemble(spec.name, tasks, files, spec.edges).or_else(|cycle| {
            let at = cycle[0].index();
            wrong(Part::Task(at), format!("task {at} waits for itself, through {} tasks", cycle.len()), "")
        })
    }
}

fn unfit(task: &str, does: &str, file: u32) -> String {
    format!("the task `{task}` {does} file {file}, which does not exist or is named twice")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::workflow::tests::{drafts, topcuoglu};

    proptest! {
        #[test]
        fn a_workflow_is_the_same_when_it_was_saved(draft in drafts()) {
            let workflow = draft.build().unwrap();
            let saved = postcard::to_allocvec(&workflow.spec()).unwrap();
            let again = Workflow::from_spec(postcard::from_bytes(&saved).unwrap()).unwrap();
            prop_assert_eq!(again.spec(), workflow.spec());
            prop_assert_eq!(again.draft(), workflow.draft());
            prop_assert_eq!(again.order(), workflow.order());
            prop_assert_eq!(again.files(), workflow.files());
        }
    }

    #[test]
    fn impossible_data_is_refused() {
        let spec = || topcuoglu().build().unwrap().spec();
        type Break = fn(&mut WorkflowSpec);
        let cases: [(Break, &str); 8] = [
            (|spec| spec.tasks.clear(), "no tasks"),
            (|spec| spec.tasks[3].procs = 0, "`T4` has 0 processors"),
            (|spec| spec.tasks[3].inputs.push(15), "`T4` reads file 15"),
            (|spec| spec.tasks[3].inputs = vec![2, 2], "`T4` reads file 2"),
            (|spec| spec.tasks[3].outputs.push(0), "`T4` writes file 0"),
            (|spec| spec.edges.push((0, 10)), "from task 0 to task 10"),
            (|spec| spec.edges.push((9, 0)), "waits for itself, through"),
            (|spec| spec.edges.push((4, 4)), "task 4 waits for itself"),
        ];
        for (change, told) in cases {
            let mut broken = spec();
            change(&mut broken);
            let error = Workflow::from_spec(broken).unwrap_err();
            assert!(error.problem.contains(told), "{}", error.problem);
        }
    }
}
