//! Lines about the workflows of a run.

use super::super::figures::{count, duration, noun, number, percent, size, three_digits};
use super::super::tables::limits;
use crate::metrics::{GridSummary, WorkflowSummary};
use crate::model::ResponseParts;

/// How many workflows there were and how long they took, and what their time went to; nothing if there were none.
pub(super) fn workflows(run: &GridSummary) -> impl Iterator<Item = (&'static str, String)> {
    run.workflows.iter().flat_map(|of| {
        let spent = spent(of).map(|spent| ("for a workflow", spent));
        let parts = of.share.run.map(|_| ("their makespans", parts(of)));
        let turns = of.overtakes.map(|overtakes| ("the plan's order", turns(overtakes, of.tasks)));
        let again = of.repeated.filter(|times| *times > 0).map(|times| ("run again", repeated(times)));
        let kept = of.limits.as_ref().map(|kept| ("their limits", limits(kept)));
        let whole = std::iter::once(("workflows", whole(of)));
        whole.chain(kept).chain(parts).chain(spent).chain(turns).chain(again)
    })
}

fn whole(of: &WorkflowSummary) -> String {
    let mut out = format!("{} completed", count(of.completed));
    for (number, word) in [(of.failed, "failed"), (of.unfinished, "unfinished")] {
        if number > 0 {
            out += &format!(", {} {word}", count(number));
        }
    }
    out += &format!("; {} in {}", noun(of.tasks, "task"), noun(of.attempts, "attempt"));
    let (Some(mean), Some(max)) = (of.mean_makespan, of.max_makespan) else { return out };
    let ratio = |value: Option<f64>| number(value, 2);
    let makespan = match of.completed {
        1 => duration(mean),
        _ => format!("{} on average, {} at most", duration(mean), duration(max)),
    };
    out + &format!(
        "; makespan {makespan}; slowdown {}, schedule length ratio {}, speedup {}",
        ratio(of.mean_slowdown),
        ratio(of.mean_slr),
        ratio(of.mean_speedup),
    )
}

/// What was moved for a workflow and charged to it on average; nothing if that is nothing.
fn spent(of: &WorkflowSummary) -> Option<String> {
    let some = |value: Option<f64>| value.filter(|value| *value != 0.0);
    let spent = [
        some(of.mean_moved_bytes).map(|bytes| format!("{} moved", size(bytes as u64))),
        some(of.mean_energy_kwh)
            .map(|energy| format!("{} kWh", number(Some(energy), three_digits([Some(energy)])))),
        some(of.mean_cost).map(|cost| format!("cost {}", number(Some(cost), three_digits([Some(cost)])))),
    ];
    let spent: Vec<String> = spent.into_iter().flatten().collect();
    (!spent.is_empty()).then(|| spent.join(", ") + if of.completed > 1 { " on average" } else { "" })
}

fn repeated(times: u64) -> String {
    format!("{} that had completed, for what they had written and was lost", noun(times, "task"))
}

fn turns(overtakes: u64, tasks: u64) -> String {
    match overtakes {
        0 => "kept by all tasks".to_owned(),
        _ => format!(
            "{} of {} tasks started before one that was sent before them to the same pool",
            count(overtakes),
            count(tasks)
        ),
    }
}

fn parts(of: &WorkflowSummary) -> String {
    let parts = ResponseParts::NAMES.iter().zip(of.share.each());
    let parts = parts.filter(|(_, share)| share.is_some_and(|share| share > 0.0));
    let parts: Vec<String> = parts.map(|(name, share)| format!("{} % {name}", percent(share))).collect();
    parts.join(", ") + " (along the path to the task that ended last)"
}
