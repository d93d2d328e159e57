//! The regular shapes.

use super::{ShapeSpec, numbered};
use crate::workflow::{Draft, TaskDraft};
use crate::workload::random::Stream;

/// What tasks are drawn from.
pub(super) struct Draws {
    pub(super) runtimes: Stream,
    pub(super) types: Stream,
}

/// Adds a task that reads what the tasks of these numbers write, and writes a file; returns its number.
fn task(draft: &mut Draft, spec: &ShapeSpec, kind: &str, after: &[usize], draws: &mut Draws) -> usize {
    let name = numbered(draft, kind);
    let file = format!("{name}.out");
    draft.file(&*file, spec.data.count() as f64);
    let mut task = TaskDraft::new(name, spec.runtime.draw(&mut draws.runtimes).as_secs_f64()).writes(file);
    kind.clone_into(&mut task.kind);
    task.inputs = after.iter().map(|before| draft.tasks[*before].outputs[0].clone()).collect();
    draft.task(task);
    draft.tasks.len() - 1
}

/// A task of one of the types of the shape.
fn typed(draft: &mut Draft, spec: &ShapeSpec, after: &[usize], draws: &mut Draws) -> usize {
    let kind = spec.types.draw(&mut draws.types);
    task(draft, spec, kind, after, draws)
}

pub(super) fn bag(spec: &ShapeSpec, draws: &mut Draws) -> Draft {
    let mut draft = Draft::default();
    for _ in 0..spec.tasks {
        typed(&mut draft, spec, &[], draws);
    }
    draft
}

/// The last fork is as wide as the number of tasks leaves it.
pub(super) fn fork_join(spec: &ShapeSpec, draws: &mut Draws) -> Draft {
    let mut draft = Draft::default();
    let tasks = spec.tasks as usize;
    let mut last = task(&mut draft, spec, "fork", &[], draws);
    while draft.tasks.len() < tasks {
        // A fork needs room for its join; a single task that is left becomes another branch.
        let left = tasks - draft.tasks.len() - 1;
        let width = match spec.width as usize {
            width if left <= width + 1 => left,
            width => width,
        };
        let branches: Vec<usize> =
            (0..width).map(|_| task(&mut draft, spec, "work", &[last], draws)).collect();
        last = task(&mut draft, spec, "join", &branches, draws);
    }
    draft
}

pub(super) fn pipeline(spec: &ShapeSpec, draws: &mut Draws) -> Draft {
    let mut draft = Draft::default();
    let mut last = typed(&mut draft, spec, &[], draws);
    while draft.tasks.len() < spec.tasks as usize {
        last = typed(&mut draft, spec, &[last], draws);
    }
    draft
}

pub(super) fn layered(spec: &ShapeSpec, edges: &mut Stream, draws: &mut Draws) -> Draft {
    let mut draft = Draft::default();
    let mut above = 0..0;
    while draft.tasks.len() < spec.tasks as usize {
        let begin = draft.tasks.len();
        let width = 1 + edges.below(2 * u64::from(spec.width) - 1) as usize;
        for _ in 0..width.min(spec.tasks as usize - begin) {
            let mut after = Vec::new();
            if !above.is_empty() {
                let most = above.len().min(spec.degree as usize) as u64;
                for _ in 0..=edges.below(most) {
                    after.push(above.start + edges.below(above.len() as u64) as usize);
                }
                after.sort_unstable();
                after.dedup();
            }
            typed(&mut draft, spec, &after, draws);
        }
        above = begin..draft.tasks.len();
    }
    draft
}
