//! The section about the fronts from which a broker chose its plans.

use super::{Figure, Look, ReportError, Section, Table};
use crate::output::FrontRow;
use crate::report::charts::{ParallelAxis, ParallelChart, ParallelLine, WIDTH};
use crate::report::figures::{count, duration, noun, number, three_digits};
use crate::report::lists::best_of_each;
use crate::report::series::Plannings;

/// Height of the axes of the figure, in pixels.
const HEIGHT: u32 = 240;
/// Most schedules that are drawn beside the best in each objective.
const LINES: usize = 400;

/// The front of one planning, drawn, and a table of its best schedules.
pub(super) fn section(all: &Plannings, wanted: Option<u64>) -> Result<Section, ReportError> {
    let Some(chosen) = all.shown.first() else {
        return Err(ReportError::NoPlanning { number: wanted.unwrap_or_default(), there: all.numbers });
    };
    let mut section = Section::new("Front of a decision");
    let sizes = match all.sizes {
        (least, most) if least == most => noun(most, "schedule"),
        (least, most) => format!("{} to {} schedules", count(least), count(most)),
    };
    let planning = chosen.planning;
    let which = match wanted {
        None if all.count > 1 => ", the one with most schedules (`--planning K` draws another)",
        _ => "",
    };
    section.lead.push(format!(
        "The broker chose {} from a front: of its schedules none is better than another in one objective without being worse in another one. {} of {sizes}; shown \
         is that of planning {planning}{which}, at {}: {} of {}, of {} that were evaluated. The least value was chosen. All are in fronts.csv.",
        if all.count == 1 { "its plan" } else { "each plan" },
        noun(all.count, "front"),
        duration(chosen.at.as_secs_f64()),
        noun(all.shown.len() as u64, "schedule"),
        noun(chosen.tasks, "task"),
        count(chosen.evaluations),
    ));
    let titles: Vec<String> = all.columns.iter().map(|column| title(column)).collect();
    section.tables.push(best(&all.shown, &titles));
    let caption = format!(
        "The front of planning {planning}: a line is a schedule, each objective has an axis from its least value in the front, below, to its largest. Less is \
         better."
    );
    let axis = |(at, column): (usize, &String)| {
        let values = || all.shown.iter().filter_map(move |row| row.objectives.get(at).copied());
        let (least, largest) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        // Enough digits to tell the ends apart.
        let range = if largest > least { largest - least } else { largest };
        let end = |value: f64| match value {
            0.0 => "0".to_owned(),
            value => number(Some(value), three_digits([Some(range)])),
        };
        let ends = (end(least), end(largest));
        ParallelAxis { title: titles[at].clone(), data: column.clone(), least, largest, ends }
    };
    let drawn = drawn(&all.shown);
    let others = match all.shown.len() - drawn.len() {
        0 => format!("{} of the front", noun(drawn.len() as u64 - 1, "other schedule")),
        left => format!(
            "{} of the front with least values or best in an objective, without {}",
            noun(drawn.len() as u64 - 1, "other schedule"),
            count(left as u64)
        ),
    };
    let line = |at: &usize| {
        let row = &all.shown[*at];
        ParallelLine { name: row.point.to_string(), values: row.objectives.clone() }
    };
    let chart = ParallelChart {
        title: caption.clone(),
        axes: all.columns.iter().enumerate().map(axis).collect(),
        lines: drawn.iter().map(line).collect(),
        kinds: ("chosen".to_owned(), others),
        size: (WIDTH, HEIGHT),
    };
    section.figures.push(Figure::new("front", caption, chart, 1));
    Ok(section)
}

/// For each objective the place of the first schedule that is best in it.
fn best_in_each(rows: &[FrontRow]) -> Vec<Option<usize>> {
    best_of_each(&rows.iter().map(|row| &row.objectives[..]).collect::<Vec<_>>())
}

/// The places of the schedules that are drawn: the first of the front, and the best in each objective.
fn drawn(rows: &[FrontRow]) -> Vec<usize> {
    let best = best_in_each(rows).into_iter().flatten().filter(|at| *at >= LINES);
    let mut drawn: Vec<usize> = (0..rows.len().min(LINES)).chain(best).collect();
    drawn.sort_unstable();
    drawn.dedup();
    drawn
}

/// The chosen schedule and the best in each objective.
fn best(rows: &[FrontRow], titles: &[String]) -> Table {
    let best = best_in_each(rows);
    let mut shown: Vec<usize> = [0].into_iter().chain(best.iter().copied().flatten()).collect();
    shown.sort_unstable();
    shown.dedup();
    let mut cells: Vec<Vec<String>> = shown
        .iter()
        .map(|at| {
            let least = best.iter().zip(titles).filter(|(best, _)| **best == Some(*at));
            let least: Vec<&str> =
                least.map(|(_, title)| title.split(" (").next().unwrap_or_default()).collect();
            let chosen = (*at == 0).then(|| "chosen".to_owned());
            let least = (!least.is_empty()).then(|| format!("least {}", least.join(", ")));
            let why: Vec<String> = chosen.into_iter().chain(least).collect();
            vec![format!("{}: {}", rows[*at].point, why.join("; "))]
        })
        .collect();
    let mut column = |of: &dyn Fn(&FrontRow) -> Option<f64>, least: usize| {
        let places = three_digits(shown.iter().map(|at| of(&rows[*at]))).max(least);
        for (cells, at) in cells.iter_mut().zip(&shown) {
            cells.push(number(of(&rows[*at]), places));
        }
    };
    column(&|row| Some(row.value), 3);
    (0..titles.len()).for_each(|at| column(&|row| row.objectives.get(at).copied(), 0));
    let head = ["schedule", "value"].map(str::to_owned).into_iter().chain(titles.iter().cloned()).collect();
    let caption = "The chosen schedule, and the best in each objective".to_owned();
    Table { caption, head, rows: cells, look: Look::Numbers }
}

/// The title of an objective: `makespan (s)` of the column `makespan_s`.
fn title(column: &str) -> String {
    let units = [("_proc_s", "proc s"), ("_s", "s")];
    let found = units.iter().find_map(|(end, unit)| Some((column.strip_suffix(end)?, *unit)));
    match found {
        Some((name, unit)) => format!("{} ({unit})", name.replace('_', " ")),
        None => column.replace('_', " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    fn row(point: u64, objectives: [f64; 2]) -> FrontRow {
        FrontRow {
            line: point + 1,
            planning: 4,
            at: Time::ZERO,
            tasks: 20,
            evaluations: 2_000,
            point,
            chosen: point == 1,
            value: point as f64,
            objectives: objectives.to_vec(),
        }
    }

    #[test]
    fn of_very_many_schedules_the_first_are_drawn_and_the_best_in_each_objective() {
        let rows: Vec<FrontRow> = (0..1_000).map(|at| row(at + 1, [at as f64, -(at as f64)])).collect();
        let expected: Vec<usize> = (0..LINES).chain([999]).collect();
        assert_eq!(drawn(&rows), expected);
        assert_eq!(drawn(&rows[..3]), [0, 1, 2]);
    }

    #[test]
    fn columns_are_titles_with_units() {
        let titles = ["makespan_s", "energy_proc_s", "lateness"].map(title);
        assert_eq!(titles, ["makespan (s)", "energy (proc s)", "lateness"]);
    }
}
