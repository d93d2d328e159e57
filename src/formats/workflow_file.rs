//! What the readers of workflows share: errors with their place, and files that are named at each of their uses.

use std::io::Read;

use rustc_hash::FxHashMap;
use thiserror::Error;

use super::input;
use crate::units::line;
use crate::workflow::{Draft, Part, Workflow, WorkflowError};

/// A workflow that was read.
#[derive(Clone, Debug)]
pub struct ReadWorkflow {
    /// The workflow.
    pub workflow: Workflow,
    /// What was not taken as it is written, a sentence each.
    pub notes: Vec<String>,
}

/// A file that is no workflow, or cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{name}`{}: {problem}", .place.as_ref().map_or_else(String::new, |place| format!(", {place}")))]
pub struct WorkflowFileError {
    /// The file.
    pub name: String,
    /// The line, as `line 7`, or the path in JSON, as `workflow.tasks[3].parents[0]`; `None` if it is about the whole file.
    pub place: Option<String>,
    /// What is wrong.
    pub problem: String,
    hint: &'static str,
}

impl WorkflowFileError {
    pub(super) fn new(
        name: &str,
        place: Option<String>,
        problem: impl Into<String>,
        hint: &'static str,
    ) -> Self {
        let problem = line(&problem.into()).into_owned();
        Self { name: name.to_owned(), place, problem, hint }
    }

    /// What the user can do about it, if anything.
    pub fn hint(&self) -> Option<&str> {
        (!self.hint.is_empty()).then_some(self.hint)
    }
}

/// The whole of `input`, decompressed.
pub(super) fn whole(name: &str, input: Box<dyn Read + Send>) -> Result<Vec<u8>, WorkflowFileError> {
    input::whole(input)
        .map_err(|error| WorkflowFileError::new(name, None, error.to_string(), input::hint(&error)))
}

/// Builds the workflow; `place` says where a part was written.
pub(super) fn built(
    name: &str,
    draft: Draft,
    place: impl Fn(Part) -> Option<String>,
) -> Result<Workflow, WorkflowFileError> {
    draft.build().map_err(|WorkflowError { part, problem, hint }| {
        WorkflowFileError::new(name, place(part), problem, hint)
    })
}

/// The uses of files by tasks, in formats that give the size of a file at each of its uses.
///
/// Published files disagree with themselves: a size that is another one at another use, a file that two tasks write. So: a file has the
/// size that its writer gives, or without a writer the largest. If several tasks write a file, each writes its own (named after it from the
/// second on), and a task reads those of all its parents that write it.
#[derive(Default)]
pub(super) struct Uses<'a> {
    files: FxHashMap<&'a str, Used>,
    order: Vec<&'a str>,
}

#[derive(Default)]
struct Used {
    /// Tasks that write it, by ascending number, each with the size that it gives.
    writers: Vec<(usize, f64)>,
    /// The largest size that a reader gives.
    largest: f64,
    /// The first size, to see if others differ.
    first: Option<f64>,
    differs: bool,
}

impl<'a> Uses<'a> {
    /// Notes that a task reads (or writes) a file of this size.
    pub(super) fn add(&mut self, task: usize, file: &'a str, bytes: f64, writes: bool) {
        let used = self.files.entry(file).or_insert_with(|| {
            self.order.push(file);
            Used::default()
        });
        used.differs |= *used.first.get_or_insert(bytes) != bytes;
        if writes && used.writers.last().is_none_or(|(last, _)| *last != task) {
            used.writers.push((task, bytes));
        } else if !writes {
            used.largest =
                if bytes > used.largest || bytes.is_nan() || bytes < 0.0 { bytes } else { used.largest };
        }
    }

    /// Gives the draft its files, and replaces the names of files in its tasks by those of the files that they mean.
    ///
    /// # Errors
    /// The task and the position of an input that several tasks write, none of which is a parent.
    pub(super) fn resolve(&self, draft: &mut Draft) -> Result<Vec<String>, (usize, usize, String)> {
        let own = |file: &str, nth: usize, writer: &str| match nth {
            0 => file.to_owned(),
            _ => {
                let mut name = format!("{file}#{writer}");
                while self.files.contains_key(name.as_str()) {
                    name.push('+');
                }
                name
            }
        };
        let names: Vec<String> = draft.tasks.iter().map(|task| task.name.clone()).collect();
        let by_name: FxHashMap<&str, usize> =
            names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        for file in &self.order {
            let used = &self.files[file];
            if used.writers.is_empty() {
                draft.file(*file, used.largest);
            }
            for (nth, (writer, bytes)) in used.writers.iter().enumerate() {
                draft.file(own(file, nth, &names[*writer]), *bytes);
            }
        }
        let mut parents = vec![Vec::new(); draft.tasks.len()];
        for (at, task) in draft.tasks.iter().enumerate() {
            let numbers = |names: &'_ [String]| -> Vec<usize> {
                names.iter().filter_map(|name| by_name.get(name.as_str()).copied()).collect()
            };
            parents[at].extend(numbers(&task.parents));
            numbers(&task.children).into_iter().for_each(|child| parents[child].push(at));
        }
        for (at, task) in draft.tasks.iter_mut().enumerate() {
            for file in &mut task.outputs {
                let writers = self.files.get(file.as_str()).map_or(&[][..], |used| &used.writers);
                if let Ok(nth) = writers.binary_search_by_key(&at, |(writer, _)| *writer) {
                    *file = own(file, nth, &names[at]);
                }
            }
            let mut more = Vec::new();
            for (place, file) in task.inputs.iter_mut().enumerate() {
                let writers = self.files.get(file.as_str()).map_or(&[][..], |used| &used.writers);
                if writers.len() < 2 {
                    continue;
                }
                let nth = |parent: &usize| writers.binary_search_by_key(parent, |(writer, _)| *writer).ok();
                let mut read: Vec<usize> = parents[at].iter().filter_map(nth).collect();
                read.sort_unstable();
                read.dedup();
                let [first, others @ ..] = &read[..] else {
                    let (first, second) = (&names[writers[0].0], &names[writers[1].0]);
                    let problem = format!(
                        "the task `{}` reads the file `{file}`, which several tasks write (`{first}`, `{second}`), none of \
                         them its parent",
                        task.name
                    );
                    return Err((at, place, problem));
                };
                // Behind the others, so that the positions of these stay.
                more.extend(others.iter().map(|nth| own(file, *nth, &names[writers[*nth].0])));
                *file = own(file, *first, &names[writers[*first].0]);
            }
            task.inputs.append(&mut more);
        }
        let count = |test: fn(&Used) -> bool| self.files.values().filter(|used| test(used)).count();
        let mut notes = Vec::new();
        match count(|used| used.differs) {
            0 => {}
            many => notes.push(format!(
                "{} with different sizes at their uses: the size at the task that writes it holds, or the largest",
                crate::units::counted(many, "file")
            )),
        }
        match count(|used| used.writers.len() > 1) {
            0 => {}
            many => notes.push(format!(
                "{} that several tasks write: each writes its own, and a task reads those of its parents",
                crate::units::counted(many, "file")
            )),
        }
        Ok(notes)
    }
}
