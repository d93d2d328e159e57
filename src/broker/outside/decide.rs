//! Carries the decisions of a program into a plan, and refuses those that cannot be.

use super::answer::{Item, Wish};
use super::books::{Books, Known};
use crate::broker::{GridView, Pick, Planned, Task};
use crate::model::TaskId;
use crate::units::Time;

/// How a pool is named in messages.
fn named(view: &GridView<'_>, pool: usize) -> String {
    let facts = &view.pools()[pool].facts;
    format!("pool {pool} (`{}/{}`)", facts.site, facts.partition)
}

/// Checks that there is such a pool, and that its site is there.
fn check_pool(view: &GridView<'_>, item: &Item, pool: usize) -> Result<(), String> {
    let Item { id, task, .. } = item;
    let pools = view.pools().len();
    if pool >= pools {
        let last = pools.saturating_sub(1);
        return Err(format!(
            "decision {id} about task {task} names pool {pool}, which is not there; pools are numbered from 0 to {last}"
        ));
    }
    if !view.pools()[pool].open {
        return Err(format!(
            "decision {id} sends task {task} to {}, whose site has left or drains; it can be used again when it is told as open",
            named(view, pool)
        ));
    }
    Ok(())
}

/// The time until which a task is put off.
fn until(view: &GridView<'_>, item: &Item) -> Result<Time, String> {
    let Item { id, task, .. } = item;
    let Some(until) = item.until.map(Time::from_micros) else {
        return Err(format!("decision {id} puts task {task} off and does not say `until` when"));
    };
    if until <= view.now() {
        return Err(format!(
            "decision {id} puts task {task} off until {}, which is not after now, {}",
            until.micros(),
            view.now().micros()
        ));
    }
    Ok(until)
}

/// What a program of immediate mode decides about the task that it was asked about.
pub(super) fn pick(view: &GridView<'_>, asked: Task<'_>, item: &Item) -> Result<Pick, String> {
    let (wish, pool) = item.wish()?;
    if item.task != asked.id().0 {
        return Err(format!(
            "decision {} is about task {}; this question is about task {} alone",
            item.id,
            item.task,
            asked.id()
        ));
    }
    check_pool(view, item, pool)?;
    let reason = item.reason();
    match wish {
        Wish::Assign => Ok(Pick::Pool(pool, reason)),
        Wish::PutOff => {
            let until = until(view, item)?;
            let start = item.start.map_or(until, Time::from_micros);
            Ok(Pick::PutOff { pool, start, until, reason })
        }
        Wish::Plan => Err(format!(
            "decision {} plans task {}; a broker of immediate mode can `assign` it or `put_off`",
            item.id, item.task
        )),
    }
}

/// Writes a decision of a program of batch mode into the plan.
pub(super) fn decide(view: &mut GridView<'_>, item: &Item, books: &mut Books) -> Result<(), String> {
    let (wish, pool) = item.wish()?;
    let (id, task) = (item.id, TaskId(item.task));
    check_pool(view, item, pool)?;
    // What this answer has decided before counts.
    let state = books.known(task).or_else(|| Known::of(task, view.tasks()));
    let seen = view.task(task);
    let refuse = |why: String| Err(format!("decision {id} about task {task}: {why}"));
    let (Some(state), Some(seen)) = (state, seen) else {
        return refuse(match state {
            Some(Known::Placed(at)) => format!("it does not wait, it is at {}", named(view, at)),
            _ => "it does not wait: it has ended, or never was".to_owned(),
        });
    };
    if let Known::Placed(at) = state {
        return refuse(format!(
            "it does not wait, this answer has assigned it to {} before",
            named(view, at)
        ));
    }
    let ready = view.tasks().ready(task).is_some();
    if !ready && !matches!(wish, Wish::Plan) {
        return refuse(
            "it waits for other tasks; it can be planned (`plan`), and is sent when they are over".to_owned(),
        );
    }
    let reason = item.reason();
    let run = view.pools()[pool].run_of(&seen);
    let planned = |start: Time| {
        let end = item.end.map_or(start + run, Time::from_micros);
        Planned { pool, start, end: end.max(start), reason }
    };
    match wish {
        Wish::Assign => {
            match item.start {
                Some(start) => view.assign_at(seen, planned(Time::from_micros(start))),
                None => view.assign(seen, pool, reason),
            }
            books.decided(task, Known::Placed(pool));
        }
        Wish::Plan => {
            view.plan(seen, planned(item.start.map_or(view.now(), Time::from_micros)));
            books.decided(task, Known::Planned(pool));
        }
        Wish::PutOff => {
            if matches!(state, Known::Planned(_)) {
                return refuse(
                    "it is planned; it can be planned anew or assigned, and not be put off".to_owned(),
                );
            }
            let until = until(view, item)?;
            view.put_off(seen, pool, item.start.map_or(until, Time::from_micros), until, reason);
            books.decided(task, Known::PutOff);
        }
    }
    Ok(())
}
