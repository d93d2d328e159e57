//! What is in a workflow, for people.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Costs, Task, Workflow};
use crate::units::{Bandwidth, Span};
use crate::workload::Quantity;

/// What is in a workflow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkflowContents {
    /// Its name.
    pub name: String,
    /// Number of tasks.
    pub tasks: u64,
    /// Number of edges, those that follow from others included.
    pub edges: u64,
    /// Number of levels.
    pub levels: u64,
    /// The most tasks at one level.
    pub width: u64,
    /// Σ run time of the tasks at reference speed, in seconds.
    pub runtime_s: f64,
    /// Σ run time × processors, in processor-seconds.
    pub work_proc_s: f64,
    /// The length of the critical path at reference speed when data takes no time, in seconds.
    pub critical_path_s: f64,
    /// The tasks on it, in order.
    pub critical_path: Vec<String>,
    /// The same when data takes its time at the bandwidth, in seconds.
    pub critical_path_with_data_s: f64,
    /// The bandwidth, in bits per second.
    pub bandwidth_bits_per_s: u64,
    /// The communication-to-computation ratio at the bandwidth; none if no task takes time.
    pub ccr: Option<f64>,
    /// Its files.
    pub data: DataContents,
    /// Its types of task, in the order in which they occur.
    pub types: Vec<TypeContents>,
}

/// What files a workflow has. A file counts once, however many tasks read it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DataContents {
    /// Number of files.
    pub files: u64,
    /// Bytes of files that no task writes: stage-in.
    pub stage_in_bytes: u64,
    /// Bytes of files that one task writes and another reads.
    pub between_bytes: u64,
    /// Bytes of files that a task writes and none reads: results.
    pub out_bytes: u64,
}

/// The tasks of one type.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TypeContents {
    /// The type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Number of tasks.
    pub tasks: u64,
    /// The lowest and the highest level of such a task, from 0.
    pub levels: (u32, u32),
    /// Their run times at reference speed, in seconds.
    pub runtime_s: Quantity,
    /// Their processors.
    pub procs: Quantity,
    /// The bytes that each reads.
    pub read_bytes: Quantity,
    /// The bytes that each writes.
    pub written_bytes: Quantity,
}

impl WorkflowContents {
    /// What is in `workflow`; data moves at `bandwidth`, without latency.
    pub fn of(workflow: &Workflow, bandwidth: Bandwidth) -> Self {
        let (alone, with_data) =
            (Costs::at_reference(workflow, None), Costs::at_reference(workflow, Some(bandwidth)));
        let (critical_path_s, path) = workflow.critical_path(&alone);
        let proc_s = |task: &Task| task.runtime.as_secs_f64() * f64::from(task.procs);
        Self {
            name: workflow.name().to_owned(),
            tasks: workflow.len() as u64,
            edges: workflow.edges().len() as u64,
            levels: workflow.level_sizes().len() as u64,
            width: workflow.width(),
            runtime_s: workflow.tasks().map(|task| task.runtime).sum::<Span>().as_secs_f64(),
            work_proc_s: workflow.tasks().map(proc_s).sum(),
            critical_path_s,
            critical_path: path.iter().map(|task| workflow.task(*task).name.clone()).collect(),
            critical_path_with_data_s: workflow.critical_path(&with_data).0,
            bandwidth_bits_per_s: bandwidth.bits(),
            ccr: workflow.ccr(&with_data),
            data: data(workflow),
            types: types(workflow),
        }
    }

    /// The speedup that no number of machines can exceed, at reference speed and if data takes no time: Σ run time over the critical
    /// path. `None` if no task takes time.
    pub fn parallelism(&self) -> Option<f64> {
        (self.critical_path_s > 0.0).then(|| self.runtime_s / self.critical_path_s)
    }
}

fn data(workflow: &Workflow) -> DataContents {
    let mut data = DataContents {
        files: workflow.files().len() as u64,
        stage_in_bytes: 0,
        between_bytes: 0,
        out_bytes: 0,
    };
    for file in workflow.files() {
        let sum = match (file.producer, file.consumers.is_empty()) {
            (None, _) => &mut data.stage_in_bytes,
            (Some(_), false) => &mut data.between_bytes,
            (Some(_), true) => &mut data.out_bytes,
        };
        *sum = sum.saturating_add(file.size.count());
    }
    data
}

fn types(workflow: &Workflow) -> Vec<TypeContents> {
    let levels = workflow.levels();
    let mut by_kind: BTreeMap<&str, Vec<(u32, &Task)>> = BTreeMap::new();
    let mut order = Vec::new();
    for (task, level) in workflow.tasks().zip(levels) {
        let of_kind = by_kind.entry(&task.kind).or_default();
        if of_kind.is_empty() {
            order.push(task.kind.as_str());
        }
        of_kind.push((level, task));
    }
    let size = |files: &[super::FileId]| {
        files.iter().fold(0_u64, |sum, file| sum.saturating_add(workflow.file(*file).size.count()))
    };
    let contents = order.into_iter().map(|kind| {
        let tasks = &by_kind[kind];
        let levels = tasks.iter().map(|(level, _)| *level);
        let of = |value: &dyn Fn(&Task) -> u64, unit| {
            Quantity::of(tasks.iter().map(|(_, task)| value(task)), unit)
        };
        TypeContents {
            kind: kind.to_owned(),
            tasks: tasks.len() as u64,
            levels: (levels.clone().min().unwrap_or(0), levels.max().unwrap_or(0)),
            runtime_s: of(&|task| task.runtime.micros(), 1e6),
            procs: of(&|task| u64::from(task.procs), 1.0),
            read_bytes: of(&|task| size(&task.inputs), 1.0),
            written_bytes: of(&|task| size(&task.outputs), 1.0),
        }
    });
    contents.collect()
}
