//! The front from which the broker's policy chose a schedule, as text.

use super::text::{clock, wrapped};
use crate::experiment::{ComparedFront, ComparedSchedule};
use crate::report::figures::{count, noun, number, three_digits};
use crate::report::lists::best_of_each;
use crate::report::tables::Columns;

/// Most schedules that are printed, unless all are asked for.
const MOST: usize = 8;

/// How many schedules were compared and what chose, and a table: the chosen one, the best in each objective, and the next ones by what chose.
pub(super) fn front(of: &ComparedFront, all: bool) -> String {
    let schedules = &of.schedules;
    let objectives: Vec<&[f64]> = schedules.iter().map(|schedule| &schedule.objectives[..]).collect();
    let best = best_of_each(&objectives);
    let mut shown: Vec<usize> = [0].into_iter().chain(best.iter().copied().flatten()).collect();
    shown.sort_unstable();
    shown.dedup();
    let most = if all { schedules.len() } else { MOST.max(shown.len()) };
    let others: Vec<usize> = (0..schedules.len()).filter(|at| !shown.contains(at)).collect();
    shown.extend(others.iter().take(most.saturating_sub(shown.len())));
    shown.sort_unstable();
    let compared = format!(
        "planning {} compared {} of {}, the front of {} that were evaluated; chosen by {}",
        of.planning,
        noun(schedules.len() as u64, "schedule"),
        noun(of.tasks, "task"),
        count(of.evaluations),
        of.chosen_by
    );
    let rows = || shown.iter().map(|at| &schedules[*at]);
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let name = |at: &usize| if *at == 0 { "1, chosen".to_owned() } else { (at + 1).to_string() };
    let mut table = Columns::default()
        .text("schedule", shown.iter().map(name))
        .text("at", rows().map(|row| or_dash(row.pool.clone())))
        .text("start", rows().map(|row| or_dash(row.start_s.map(clock))))
        .text("completion", rows().map(|row| or_dash(row.end_s.map(clock))));
    for (at, objective) in of.objectives.iter().enumerate() {
        let value = |row: &ComparedSchedule| row.objectives.get(at).copied();
        let least = best.get(at).copied().flatten().and_then(|best| value(&schedules[best]));
        let places = three_digits(rows().map(value));
        let cell = |row: &ComparedSchedule| {
            // The others keep their digits in line.
            let mark = if least.is_none() {
                ""
            } else if value(row) == least {
                "*"
            } else {
                " "
            };
            number(value(row), places) + mark
        };
        let title = match objective.unit {
            "" => objective.name.to_owned(),
            unit => format!("{}\n({unit})", objective.name),
        };
        table = table.numbers(&title, rows().map(cell));
    }
    let places = three_digits(rows().map(|row| Some(row.value))).max(3);
    let title = of.value.replace(' ', "\n");
    let table = table.numbers(&title, rows().map(|row| number(Some(row.value), places)));
    let mut out = format!("\n{}{}\n", wrapped("", &compared), table.finish());
    if best.iter().any(Option::is_some) {
        out += "* the least of all compared schedules\n";
    }
    if let Some(more) = schedules.len().checked_sub(shown.len()).filter(|more| *more > 0) {
        out += &format!("and {} (`--all`)\n", noun(more as u64, "more schedule"));
    }
    out
}
