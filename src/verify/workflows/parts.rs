//! The parts of the time of a task.

use crate::model::Outcome;
use crate::output::TaskRow;
use crate::units::Span;

/// The parts of the time of a task from its times, in the order of the columns: run, data, dispatch, queue, lost. `None` if it has not ended,
/// or was never ready.
pub(super) fn parts(task: &TaskRow) -> Option<[Span; 5]> {
    let ready = task.ready.filter(|_| task.outcome != Outcome::Unfinished)?;
    let completed = task.outcome == Outcome::Completed;
    // The time from each mark to the next belongs to one part; of a mark that was not reached, the time until the end does.
    let begun = task.last_start.filter(|_| completed);
    let (data, queue, lost, run) = (1, 3, 4, 0);
    let marks =
        [(task.decided, data), (task.sent, 2), (task.queued, queue), (task.started, lost), (begun, run)];
    let mut parts = [Span::ZERO; 5];
    let (mut from, mut part) = (ready, 2);
    for (mark, next) in marks {
        let Some(mark) = mark else { break };
        parts[part] += mark.since(from);
        (from, part) = (mark, next);
    }
    parts[part] += task.ended.since(from);
    parts[2] += task.known.since(task.ended);
    Some(parts)
}
