//! The deadline and the budget of a workflow, split over its tasks.

use ethnum::U256;

use super::{Estimates, Workflow, WorkflowError};
use crate::model::{Limits, WorkflowLimits, WorkflowSubmission};
use crate::units::{Money, Span, Time};
use crate::workload::LimitBasis;

/// What the limits of a workflow follow from, as its tasks are believed to be before they are put into groups.
///
/// # Errors
/// What is wrong with the workflow.
pub(super) fn basis(
    submitted: &WorkflowSubmission,
    believed: Option<Estimates>,
) -> Result<LimitBasis, WorkflowError> {
    let workflow = Workflow::from_spec(submitted.ungrouped().clone())?;
    let runtime = critical_path(&upward_ranks(&workflow, Span::ZERO));
    let workflow = believed.map_or(workflow.clone(), |of| of.of(&workflow, 0, submitted.seed));
    let estimate = critical_path(&upward_ranks(&workflow, Span::ZERO));
    let area = workflow.tasks().map(|task| u128::from(task.procs) * u128::from(task.runtime.micros())).sum();
    Ok(LimitBasis { submit: submitted.submit, estimate, runtime, area })
}

/// The limits of a workflow with those of its tasks, or groups, which follow from what is believed of them.
///
/// The deadline of a task is as far into the time of the workflow as its end is into the critical path if it ends as late as that allows: with an upward rank *r* and
/// an estimate *w*, (R − r + w) / R of it, where R is the highest rank. Its part in the budget is that of its processors × estimate in those of all.
///
/// # Errors
/// What is wrong with the workflow.
pub(super) fn split(
    submitted: &WorkflowSubmission,
    whole: Limits,
    believed: Option<Estimates>,
) -> Result<WorkflowLimits, WorkflowError> {
    let mut workflow = Workflow::from_spec(submitted.spec.clone())?;
    if let Some(believed) = believed {
        workflow = believed.of_submitted(submitted, &workflow)?;
    }
    let overhead = submitted.overheads.job_overhead;
    let deadlines = |deadline| deadlines(&workflow, overhead, submitted.submit, deadline);
    let cost = |task: &super::Task| u128::from(task.procs) * u128::from((task.runtime + overhead).micros());
    let budgets = |budget| budgets(budget, &workflow.tasks().map(cost).collect::<Vec<_>>());
    Ok(WorkflowLimits {
        whole,
        deadlines: whole.deadline.map(deadlines).unwrap_or_default(),
        budgets: whole.budget.map(budgets).unwrap_or_default(),
    })
}

/// The upward rank of each task in whole microseconds: the longest way from its start to the end of the workflow, each task after so much overhead.
fn upward_ranks(workflow: &Workflow, overhead: Span) -> Vec<Span> {
    let mut ranks = vec![Span::ZERO; workflow.len()];
    for task in workflow.order().iter().rev() {
        let below = workflow.successors(*task).map(|(next, _)| ranks[next.index()]).max();
        ranks[task.index()] = workflow.task(*task).runtime + overhead + below.unwrap_or_default();
    }
    ranks
}

fn critical_path(ranks: &[Span]) -> Span {
    ranks.iter().copied().max().unwrap_or_default()
}

fn deadlines(workflow: &Workflow, overhead: Span, submit: Time, deadline: Time) -> Vec<Time> {
    let ranks = upward_ranks(workflow, overhead);
    let (all, path) = (deadline.since(submit), critical_path(&ranks));
    let due = |(task, rank): (&super::Task, &Span)| {
        // Where nothing takes time, all may take all of it.
        let below = *rank - (task.runtime + overhead);
        let left = u128::from(all.micros()) * u128::from((path - below).micros());
        let micros = left.checked_div(u128::from(path.micros()));
        submit + micros.and_then(|micros| u64::try_from(micros).ok()).map_or(all, Span::from_micros)
    };
    workflow.tasks().zip(&ranks).map(due).collect()
}

/// The parts of a budget in proportion to these costs, or equal ones if nothing costs anything. Their sum is the budget.
fn budgets(budget: Money, costs: &[u128]) -> Vec<Money> {
    let free = costs.iter().all(|cost| *cost == 0);
    let parts: Vec<U256> = costs.iter().map(|cost| U256::from(if free { 1 } else { *cost })).collect();
    let (nanos, all) = (U256::from(budget.nanos().unsigned_abs()), parts.iter().copied().sum::<U256>());
    let (mut sum, mut before) = (U256::ZERO, 0);
    let part = |part: U256| {
        sum += part;
        let upto = (nanos * sum / all).as_i128();
        Money::from_nanos(upto - std::mem::replace(&mut before, upto))
    };
    parts.into_iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{AtLimit, JobId};
    use crate::workflow::shapes::ShapeSpec;
    use crate::workflow::tests::topcuoglu;
    use crate::workflow::{Draft, TaskDraft};

    fn submitted(workflow: &Workflow, at: u64) -> WorkflowSubmission {
        WorkflowSubmission::new(Time::from_secs(at), JobId(1), workflow.spec())
    }

    fn whole(deadline: u64, nanos: i128) -> Limits {
        Limits { budget: Some(Money::from_nanos(nanos)), ..Limits::by(Time::from_secs(deadline)) }
    }

    /// A diamond of 10, 20 (beside 5) and 10 s, submitted at 100, of which the critical path is 40 s. Within 80 s everything may take twice its time: the first until
    /// 120, the second until 160, and so may the short one beside it, the last until 180. With processors of 1, 1, 4 and 1 its areas are
    /// 10, 20, 20 and 10: sixths of the budget.
    #[test]
    fn a_diamond_by_hand() {
        let mut draft = Draft::named("diamond");
        for (name, secs, procs) in [("a", 10.0, 1.0), ("b", 20.0, 1.0), ("c", 5.0, 4.0), ("d", 10.0, 1.0)] {
            let task = TaskDraft { procs, ..TaskDraft::new(name, secs) };
            draft.task(match name {
                "b" | "c" => task.after("a"),
                "d" => task.after("b").after("c"),
                _ => task,
            });
        }
        let workflow = draft.build().unwrap();
        let of = submitted(&workflow, 100);
        let found = basis(&of, None).unwrap();
        assert_eq!((found.estimate, found.runtime), (Span::from_secs(40), Span::from_secs(40)));
        assert_eq!(found.area, 60_000_000);
        let limits = split(&of, whole(180, 601), None).unwrap();
        assert_eq!(limits.deadlines, [120, 160, 160, 180].map(Time::from_secs));
        assert_eq!(limits.budgets, [100, 200, 200, 101].map(Money::from_nanos));
        // With an overhead of 5 s each, the path is 55 s.
        let mut slow = of.clone();
        slow.overheads.job_overhead = Span::from_secs(5);
        let limits = split(&slow, whole(210, 1), None).unwrap();
        assert_eq!(limits.deadlines, [130, 180, 180, 210].map(Time::from_secs));
        assert_eq!(limits.of(1).deadline, Some(Time::from_secs(180)));
        assert_eq!((limits.of(1).at_deadline, limits.of(1).killed_at()), (AtLimit::Overrun, None));
        let kill = Limits { at_deadline: AtLimit::Kill, ..whole(180, 1) };
        assert_eq!(split(&of, kill, None).unwrap().of(0).killed_at(), Some(Time::from_secs(180)));
    }

    #[test]
    fn what_takes_no_time_may_take_all_of_it_and_has_equal_parts() {
        let mut draft = Draft::named("none");
        draft.task(TaskDraft::new("a", 0.0));
        draft.task(TaskDraft::new("b", 0.0).after("a"));
        let limits = split(&submitted(&draft.build().unwrap(), 1), whole(9, 5), None).unwrap();
        assert_eq!(limits.deadlines, [Time::from_secs(9); 2]);
        assert_eq!(limits.budgets, [2, 3].map(Money::from_nanos));
    }

    proptest! {
        /// On any workflow: parts of the budget sum to it; a task that waits for another has at least its share of the time after the other's deadline; and who has no successor has all of it.
        #[test]
        fn parts_sum_and_deadlines_leave_room(seed in 0..1000_u64, tasks in 1..60_u64, budget in 0..10_000_i128, time in 0..100_000_u64) {
            let shape: ShapeSpec = format!("layered[tasks={tasks},width=4,runtime=1 s..20 min]").parse().unwrap();
            let workflow = if seed == 0 { topcuoglu().build().unwrap() } else { shape.workflow(seed).unwrap() };
            let limits = split(&submitted(&workflow, 7), whole(7 + time, budget), None).unwrap();
            let sum = limits.budgets.iter().fold(Money::ZERO, |sum, part| sum + *part);
            prop_assert_eq!(sum, Money::from_nanos(budget));
            let path = critical_path(&upward_ranks(&workflow, Span::ZERO)).micros();
            for task in workflow.ids() {
                let own = limits.deadlines[task.index()];
                if workflow.successors(task).next().is_none() {
                    prop_assert_eq!(own, Time::from_secs(7 + time));
                }
                for (next, _) in workflow.successors(task) {
                    let room = limits.deadlines[next.index()].since(own).micros();
                    let run = u128::from(workflow.task(next).runtime.micros());
                    let share = u128::from(time) * 1_000_000 * run / u128::from(path);
                    // Both are rounded down.
                    prop_assert!(u128::from(room) + 1 >= share, "{} {}", room, share);
                }
            }
        }
    }
}
