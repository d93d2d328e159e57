//! The section about workflows in the report of a run.

use super::{Figure, Look, Section, Table};
use crate::model::ResponseParts;
use crate::output::WorkflowRow;
use crate::report::figures::{count, duration, number, size, three_digits};
use crate::report::series::Workflows;
use crate::units::{Energy, Money};

/// Most workflows that have a row.
const ROWS: usize = 20;

/// What a workflow took and why, a row each, and figures of those that took longest; `undrawn` says why there are none.
pub(super) fn section(workflows: Workflows, undrawn: Option<&str>) -> Section {
    let mut section = Section::new("Workflows");
    let all = workflows.rows.len();
    section.lead.push(
        "The parts of a makespan are those along the path that determined the end: from the task that ended last back to the one for which \
         it waited last, and so on. Slowdown: against the time below which no schedule could finish the workflow alone. SLR (schedule length \
         ratio): against the longest way through it, each task on the fastest processors that fit it."
            .to_owned(),
    );
    if all > ROWS {
        section
            .lead
            .push(format!("The first {ROWS} of {} workflows; all are in workflows.csv.", count(all as u64)));
    }
    section.lead.extend(undrawn.map(|why| format!("Workflows are not drawn: {why}.")));
    let rows = &workflows.rows[..all.min(ROWS)];
    section.tables.extend([taken(rows), gone(rows)]);
    for drawn in workflows.drawn {
        let number = drawn.number;
        if let Some(dag) = drawn.dag {
            let tasks: u64 = dag.nodes.iter().map(|node| node.tasks).sum();
            let what = if dag.nodes.len() as u64 == tasks { "tasks" } else { "types of task" };
            let caption = format!(
                "The {what} of workflow {number}, {}. Below one another: what waits for what. The critical path is the longest way by run times \
                 alone.",
                drawn.name
            );
            section.figures.push(Figure::new(format!("dag-{number}"), caption, dag, 1));
        }
        if let Some(gantt) = drawn.gantt {
            let mut caption = format!(
                "The processors of the grid from the submission of workflow {number}, {}, to its end, coloured by type of task.",
                drawn.name
            );
            if drawn.grouped {
                caption += " Bars are tasks, not the groups that they run in: a group holds its processors also where it has no bar. Which of them a \
                            task has is not recorded; it is drawn on the first that are free. Attempts of a group that failed are one bar each.";
            }
            section.figures.push(Figure::new(format!("gantt-workflow-{number}"), caption, gantt, 1));
        }
    }
    section
}

/// An amount of a workflow; `None` in a table of an older gridemu.
type Amount = fn(&WorkflowRow) -> Option<f64>;

/// What each workflow is and took.
fn taken(rows: &[WorkflowRow]) -> Table {
    let mut head = ["workflow", "outcome", "tasks", "attempts", "makespan", "slowdown", "SLR", "speedup"]
        .map(str::to_owned)
        .to_vec();
    let mut cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let ratio = |value: Option<f64>| number(value, 2);
            vec![
                name(row),
                row.outcome.name().to_owned(),
                count(row.tasks.into()),
                count(row.attempts),
                duration(row.makespan.as_secs_f64()),
                ratio(row.slowdown),
                ratio(row.slr),
                ratio(row.speedup),
            ]
        })
        .collect();
    let spent: [(&str, Amount); 3] = [
        ("data moved", |row| row.moved_bytes.map(|bytes| bytes as f64)),
        ("energy (kWh)", |row| row.energy.map(Energy::as_kwh_f64)),
        ("cost", |row| row.cost.map(Money::as_f64)),
    ];
    for (name, of) in spent {
        if rows.iter().filter_map(of).any(|value| value != 0.0) {
            head.push(name.to_owned());
            let places = three_digits(rows.iter().map(of));
            for (cells, row) in cells.iter_mut().zip(rows) {
                cells.push(match name {
                    "data moved" => row.moved_bytes.map_or_else(|| "–".to_owned(), size),
                    _ => number(of(row), places),
                });
            }
        }
    }
    Table { caption: "What the workflows took".to_owned(), head, rows: cells, look: Look::Numbers }
}

fn name(row: &WorkflowRow) -> String {
    format!("{} {}", row.workflow, row.name.split('[').next().unwrap_or_default())
}

/// Where the makespan of each workflow went.
fn gone(rows: &[WorkflowRow]) -> Table {
    let mut head = vec!["workflow".to_owned(), "makespan".to_owned()];
    let mut cells: Vec<Vec<String>> =
        rows.iter().map(|row| vec![name(row), duration(row.makespan.as_secs_f64())]).collect();
    let parts = |row: &WorkflowRow| [row.run, row.data, row.dispatch, row.queue, row.lost];
    for (at, name) in ResponseParts::NAMES.into_iter().enumerate() {
        let share = |row: &WorkflowRow| {
            let part = parts(row)[at]?.as_secs_f64();
            (!row.makespan.is_zero()).then(|| part / row.makespan.as_secs_f64())
        };
        if rows.iter().any(|row| share(row).is_some_and(|share| share > 0.0)) {
            head.push(name.to_owned());
            for (cells, row) in cells.iter_mut().zip(rows) {
                cells.push(
                    share(row).map_or_else(|| "–".to_owned(), |share| format!("{:.1} %", share * 100.0)),
                );
            }
        }
    }
    Table { caption: "Where their makespans went".to_owned(), head, rows: cells, look: Look::Numbers }
}
