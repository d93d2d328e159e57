//! Heuristics that compare all tasks that are ready (Maheswaran et al. 1999, Braun et al. 2001).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem;

use super::alike::{Alike, Ending};
use super::holes::makespan;
use super::{Costs, Holes, Placement};
use crate::units::{Span, Time};

/// Of each task the end in the pool where it ends first; the task where that is earliest goes there; and again.
///
/// A task that fits nowhere is left out; so it is in all heuristics.
pub fn min_min(costs: &impl Costs, holes: &mut impl Holes) -> Vec<Placement> {
    let mut table = Alike::new(costs, holes);
    let entry = |table: &Alike<'_, _, _>, row: usize| Reverse((table.best(row).0.0, table.task(row), row));
    let mut heap: BinaryHeap<_> = table.rows().into_iter().map(|row| entry(&table, row)).collect();
    let mut plan = Vec::with_capacity(costs.tasks());
    // An end in the heap is never too late. So the top, if it is still true, is the earliest.
    while let Some(Reverse((_, _, row))) = heap.pop() {
        if table.is_fresh(row) {
            plan.extend(table.commit(row));
        }
        table.refresh(row, false);
        if table.is_open(row) {
            heap.push(entry(&table, row));
        }
    }
    plan
}

/// Of each task the end in the pool where it ends first; the task where that is latest goes there; and again.
pub fn max_min(costs: &impl Costs, holes: &mut impl Holes) -> Vec<Placement> {
    greatest_first(costs, holes, false, |(end, _), _| end.micros())
}

/// The shorter of [`min_min`]'s and [`max_min`]'s plan; the first if they end at once.
pub fn duplex<H: Holes + Clone>(costs: &impl Costs, holes: &mut H) -> Vec<Placement> {
    let mut other = holes.clone();
    let (min, max) = (min_min(costs, holes), max_min(costs, &mut other));
    if makespan(&max) < makespan(&min) {
        *holes = other;
        return max;
    }
    min
}

/// When [`sufferage`] makes the claims of tasks on pools true.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Claims {
    /// After each pass over all tasks: in each pool that was claimed, the task that would suffer most without it (Maheswaran et al. 1999).
    Pass,
    /// One at a time: the task that would suffer most of all.
    One,
}

/// What a task suffers if it does not get its best pool, but its second best: how much later it would end. It is nothing for a task that
/// has only one.
///
/// Where pools are clusters, as here, and ends include the way of the data, this is what Casanova et al. (2000) call XSufferage.
pub fn sufferage(costs: &impl Costs, holes: &mut impl Holes, claims: Claims) -> Vec<Placement> {
    match claims {
        Claims::One => greatest_first(costs, holes, true, |(end, _), second| suffers(end, second.0).micros()),
        Claims::Pass => by_passes(costs, holes),
    }
}

fn suffers(end: Time, second: Time) -> Span {
    if second == Time::NEVER { Span::ZERO } else { second.since(end) }
}

/// Again and again the task whose `key` of its best and its second best pool is greatest: without the `second` one its end.
fn greatest_first(
    costs: &impl Costs,
    holes: &mut impl Holes,
    second: bool,
    key: impl Fn(Ending, Ending) -> u64,
) -> Vec<Placement> {
    let mut table = Alike::new(costs, holes);
    let mut plan = Vec::with_capacity(costs.tasks());
    let rows = if second { table.rows() } else { table.latest_rows() };
    // What a task that is planned changes is the ends in its pool: for the rows whose best or second best that is, and no others.
    let mut by_best: Vec<Vec<usize>> = vec![Vec::new(); costs.pools()];
    let mut by_second = by_best.clone();
    let mut second_of = vec![None; costs.tasks()];
    // In each pool the greatest of the rows whose best it is. Where only the second best of a row has changed, its key has become greater.
    let mut greatest: Vec<Option<(u64, Reverse<u32>, usize)>> = vec![None; costs.pools()];
    let (mut touched, mut others) = (rows, Vec::new());
    loop {
        for row in touched.drain(..) {
            if let Some(row) = table.open_row(row, second) {
                by_best[table.best(row).0.1 as usize].push(row);
                others.push(row);
            }
        }
        for row in others.drain(..).filter(|row| table.is_open(*row)) {
            let (best, other) = table.best(row);
            let greatest = &mut greatest[best.1 as usize];
            *greatest = (*greatest).max(Some((key(best, other), Reverse(table.task(row)), row)));
            if second && other.0 < Time::NEVER && second_of[row] != Some(other.1) {
                second_of[row] = Some(other.1);
                by_second[other.1 as usize].push(row);
            }
        }
        let Some((_, _, row)) = greatest.iter().flatten().max().copied() else { return plan };
        let pool = table.best(row).0.1 as usize;
        plan.extend(table.commit(row));
        greatest[pool] = None;
        touched = mem::take(&mut by_best[pool]);
        for row in &touched {
            table.refresh_after(*row, pool, second);
        }
        for row in mem::take(&mut by_second[pool]) {
            if second_of[row] == Some(pool as u32) {
                second_of[row] = None;
                table.refresh_after(row, pool, second);
                others.push(row);
            }
        }
    }
}

fn by_passes(costs: &impl Costs, holes: &mut impl Holes) -> Vec<Placement> {
    let mut table = Alike::new(costs, holes);
    let mut plan = Vec::with_capacity(costs.tasks());
    let mut rows = table.rows();
    while !rows.is_empty() {
        // What each pool's claimant suffers, its task and its row. Of tasks that are alike only the first can have the claim.
        let mut claims: Vec<Option<(Span, Reverse<u32>, usize)>> = vec![None; costs.pools()];
        for row in &rows {
            let ((end, pool), (second, _)) = table.best(*row);
            let claim = Some((suffers(end, second), Reverse(table.task(*row)), *row));
            let held = &mut claims[pool as usize];
            *held = claim.max(*held);
        }
        for (_, _, row) in claims.into_iter().flatten() {
            plan.extend(table.commit(row));
        }
        rows.retain(|row| {
            table.refresh(*row, true);
            table.is_open(*row)
        });
    }
    plan
}
