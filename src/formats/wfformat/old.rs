//! Versions 1.0 to 1.4.

use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::formats::workflow_file::{ReadWorkflow, Uses, WorkflowFileError, built};
use crate::units::exponential;
use crate::workflow::{Draft, Part, TaskDraft};

#[derive(Deserialize)]
pub(super) struct Task {
    name: String,
    id: Option<String>,
    category: Option<String>,
    /// Up to 1.3.
    runtime: Option<f64>,
    /// 1.4.
    #[serde(rename = "runtimeInSeconds")]
    seconds: Option<f64>,
    cores: Option<f64>,
    /// In kB.
    memory: Option<f64>,
    #[serde(rename = "memoryInBytes")]
    memory_bytes: Option<f64>,
    #[serde(default)]
    parents: Vec<String>,
    #[serde(default)]
    children: Vec<String>,
    #[serde(default)]
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    name: String,
    path: Option<String>,
    link: String,
    /// Up to 1.3; bytes, whatever the schema of 1.3 says.
    size: Option<f64>,
    /// 1.4.
    #[serde(rename = "sizeInBytes")]
    bytes: Option<f64>,
}

impl Task {
    /// The id that WfCommons gives the task when it migrates the file to 1.5.
    fn new_id(&self) -> String {
        match &self.id {
            Some(id) if !self.name.contains(id.as_str()) => format!("{}_{id}", self.name),
            _ => self.name.clone(),
        }
    }
}

/// Makes the workflow `title` of the tasks under `workflow.{key}` of the file `name`.
pub(super) fn workflow(
    name: &str,
    title: String,
    key: &str,
    tasks: Vec<Task>,
) -> Result<ReadWorkflow, WorkflowFileError> {
    let place = |at: usize, rest: &str| Some(format!("workflow.{key}[{at}]{rest}"));
    let ids: Vec<String> = tasks.iter().map(Task::new_id).collect();
    // Tasks refer to each other by name, some files by id.
    let mut by_name: FxHashMap<&str, &String> = FxHashMap::default();
    let references: [fn(&Task) -> Option<&String>; 2] = [|task| Some(&task.name), |task| task.id.as_ref()];
    for reference in references {
        for (task, id) in tasks.iter().zip(&ids) {
            if let Some(reference) = reference(task) {
                by_name.entry(reference).or_insert(id);
            }
        }
        ids.iter().for_each(|id| _ = by_name.entry(id).or_insert(id));
    }
    let named = |references: &[String]| {
        references.iter().map(|name| (*by_name.get(name.as_str()).unwrap_or(&name)).clone()).collect()
    };
    let paths: Vec<Vec<String>> = tasks
        .iter()
        .map(|task| {
            let path = |file: &File| format!("{}{}", file.path.as_deref().unwrap_or_default(), file.name);
            task.files.iter().map(path).collect()
        })
        .collect();
    let mut draft = Draft::named(title);
    let mut uses = Uses::default();
    let mut file_places = Vec::with_capacity(tasks.len());
    for (at, task) in tasks.iter().enumerate() {
        let Some(runtime) = task.seconds.or(task.runtime) else {
            let problem = format!("the task `{}` has no run time", ids[at]);
            return Err(WorkflowFileError::new(name, place(at, ""), problem, "give it `runtimeInSeconds`"));
        };
        let mut drafted = TaskDraft {
            runtime,
            procs: task.cores.unwrap_or(1.0),
            memory: task.memory_bytes.or(task.memory.map(|kilobytes| kilobytes * 1000.0)),
            parents: named(&task.parents),
            children: named(&task.children),
            ..TaskDraft::new(ids[at].clone(), 0.0)
        };
        if let Some(category) = &task.category {
            drafted.kind.clone_from(category);
        }
        let (mut read, mut written) = (Vec::new(), Vec::new());
        for (nth, file) in task.files.iter().enumerate() {
            let place = || place(at, &format!(".files[{nth}]"));
            let path = &paths[at][nth];
            let Some(bytes) = file.bytes.or(file.size) else {
                let problem = format!("the file `{path}` has no size");
                return Err(WorkflowFileError::new(name, place(), problem, "give it `sizeInBytes`"));
            };
            if bytes < 0.0 {
                let problem = format!(
                    "the size of the file `{path}` is {} bytes, which is negative",
                    exponential(bytes)
                );
                return Err(WorkflowFileError::new(name, place(), problem, ""));
            }
            let (names, places, writes) = match file.link.to_ascii_lowercase().as_str() {
                "input" => (&mut drafted.inputs, &mut read, false),
                "output" => (&mut drafted.outputs, &mut written, true),
                link => {
                    let problem = format!("`link` is `{link}`, not `input` or `output`");
                    return Err(WorkflowFileError::new(name, place(), problem, ""));
                }
            };
            uses.add(at, path, bytes, writes);
            names.push(path.clone());
            places.push(nth);
        }
        draft.task(drafted);
        file_places.push((read, written));
    }
    let notes = uses.resolve(&mut draft).map_err(|(at, nth, problem)| {
        let place = place(at, &format!(".files[{}]", file_places[at].0[nth]));
        WorkflowFileError::new(name, place, problem, "name the task that writes it among the parents")
    })?;
    let workflow = built(name, draft, |part| match part {
        Part::Task(at) => place(at, ""),
        Part::Runtime(at) if tasks[at].seconds.is_some() => place(at, ".runtimeInSeconds"),
        Part::Runtime(at) => place(at, ".runtime"),
        Part::Procs(at) => place(at, ".cores"),
        Part::Memory(at) if tasks[at].memory_bytes.is_some() => place(at, ".memoryInBytes"),
        Part::Memory(at) => place(at, ".memory"),
        Part::Parent(at, nth) => place(at, &format!(".parents[{nth}]")),
        Part::Child(at, nth) => place(at, &format!(".children[{nth}]")),
        // One of several files that are meant has no place of its own.
        Part::Input(at, nth) => file_places[at]
            .0
            .get(nth)
            .map_or_else(|| place(at, ".files"), |nth| place(at, &format!(".files[{nth}]"))),
        Part::Output(at, nth) => place(at, &format!(".files[{}]", file_places[at].1[nth])),
        Part::Name => Some("name".to_owned()),
        Part::Workflow => Some(format!("workflow.{key}")),
        _ => None,
    })?;
    Ok(ReadWorkflow { workflow, notes })
}
