//! Checks the fronts from which a broker chose its plans: one schedule is chosen, that of the least value, and none is dominated.

use super::{Row, Rule, Verdict, Violation};
use crate::output::FrontRow;
use crate::units::Time;

/// The fronts of a run, row by row.
#[derive(Debug, Default)]
pub(crate) struct Fronts {
    /// The rows of a planning.
    rows: Vec<FrontRow>,
    /// The planning before it.
    before: Option<(u64, Time)>,
}

impl Fronts {
    /// Takes the next row.
    pub(crate) fn row(&mut self, row: FrontRow, verdict: &mut Verdict) {
        let is_next = |last: &FrontRow| (last.planning, last.at) != (row.planning, row.at);
        if self.rows.last().is_some_and(is_next) {
            self.finish(verdict);
        }
        self.rows.push(row);
    }

    /// Checks the planning whose rows came last.
    pub(crate) fn finish(&mut self, verdict: &mut Verdict) {
        let rows = std::mem::take(&mut self.rows);
        let Some(first) = rows.first() else { return };
        let (planning, at) = (first.planning, first.at);
        verdict.count_check(Rule::Fronts);
        let mut fault = |row: &FrontRow, what: String| {
            let (message, row) =
                (format!("planning {planning}: {what}"), Row { file: "fronts.csv", line: row.line });
            verdict.report(Violation { time: at, rule: Rule::Fronts, jobs: Vec::new(), message, row });
        };
        // A policy that takes over in a fork counts from 1.
        if let Some((number, time)) = self
            .before
            .filter(|(number, time)| *time > at || (*time == at || planning != 1) && *number >= planning)
        {
            fault(first, format!("it comes after planning {number} at {time} s"));
        }
        self.before = Some((planning, at));
        for (number, row) in (1..).zip(&rows) {
            if row.point != number {
                fault(row, format!("schedule {} is in the place of schedule {number}", row.point));
            }
            if (row.tasks, row.evaluations) != (first.tasks, first.evaluations) {
                fault(row, "its rows differ in the number of tasks or of evaluations".to_owned());
            }
            if !row.objectives.iter().chain([&row.value]).all(|value| value.is_finite()) {
                fault(row, format!("schedule {} has a value that is no number", row.point));
            }
        }
        if first.tasks == 0 || first.evaluations < rows.len() as u64 {
            let (tasks, evaluations) = (first.tasks, first.evaluations);
            let what = format!(
                "{} schedules of {tasks} tasks cannot come from {evaluations} evaluations",
                rows.len()
            );
            fault(first, what);
        }
        let mut chosen = rows.iter().filter(|row| row.chosen);
        match (chosen.next(), chosen.next()) {
            (None, _) => fault(first, "no schedule is chosen".to_owned()),
            (Some(one), Some(other)) => {
                fault(other, format!("schedules {} and {} are chosen", one.point, other.point));
            }
            (Some(one), None) => {
                if let Some(other) = rows.iter().find(|row| row.value < one.value) {
                    let what = format!(
                        "schedule {} is chosen with {}, and schedule {} has {}",
                        one.point, one.value, other.point, other.value
                    );
                    fault(one, what);
                }
            }
        }
        for (at, row) in rows.iter().enumerate() {
            let mut others =
                rows.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other);
            if let Some(other) = others.find(|other| is_no_worse(other, row)) {
                fault(
                    row,
                    format!(
                        "schedule {} is no better than schedule {} in any objective",
                        row.point, other.point
                    ),
                );
            }
        }
    }
}

/// Whether one is no worse than the other in any objective: it dominates it, or is the same.
fn is_no_worse(one: &FrontRow, other: &FrontRow) -> bool {
    one.objectives.iter().zip(&other.objectives).all(|(one, other)| one <= other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said, and what breaks the rows.
    type Case = (&'static str, fn(&mut Vec<FrontRow>));

    fn row(planning: u64, at: u64, point: u64, value: f64, objectives: [f64; 2]) -> FrontRow {
        let (line, at) = (planning * 10 + point, Time::from_secs(at));
        FrontRow {
            line,
            planning,
            at,
            tasks: 2,
            evaluations: 9,
            point,
            chosen: point == 1,
            value,
            objectives: objectives.to_vec(),
        }
    }

    fn front() -> Vec<FrontRow> {
        vec![
            row(1, 0, 1, 0.5, [1.0, 2.0]),
            row(1, 0, 2, 0.75, [2.0, 1.0]),
            row(2, 60, 1, 0.5, [1.0, 2.0]),
            // A fork begins anew.
            row(1, 120, 1, 0.5, [1.0, 2.0]),
        ]
    }

    fn found(rows: Vec<FrontRow>) -> Vec<String> {
        let (mut fronts, mut verdict) = (Fronts::default(), Verdict::default());
        rows.into_iter().for_each(|row| fronts.row(row, &mut verdict));
        fronts.finish(&mut verdict);
        verdict.broken.values().map(|broken| broken.first.message.clone()).collect()
    }

    #[test]
    fn a_front_that_is_one_is_valid() {
        assert_eq!(found(front()), [] as [String; 0]);
    }

    #[test]
    fn what_a_front_cannot_be_is_found() {
        let cases: [Case; 10] = [
            ("planning 1: no schedule is chosen", |rows| rows[0].chosen = false),
            ("planning 1: schedules 1 and 2 are chosen", |rows| rows[1].chosen = true),
            ("planning 1: schedule 1 is chosen with 0.5, and schedule 2 has 0.25", |rows| {
                rows[1].value = 0.25
            }),
            ("planning 1: schedule 2 is no better than schedule 1 in any objective", |rows| {
                rows[1].objectives[1] = 3.0;
            }),
            ("planning 1: schedule 3 is in the place of schedule 2", |rows| rows[1].point = 3),
            ("planning 1: its rows differ in the number of tasks or of evaluations", |rows| {
                rows[1].tasks = 3
            }),
            ("planning 1: schedule 2 has a value that is no number", |rows| rows[1].value = f64::NAN),
            ("planning 1: 2 schedules of 2 tasks cannot come from 1 evaluations", |rows| {
                rows[..2].iter_mut().for_each(|row| row.evaluations = 1);
            }),
            ("planning 4: it comes after planning 5 at 60 s", |rows| {
                (rows[2].planning, rows[3].planning) = (5, 4);
            }),
            ("planning 2: it comes after planning 1 at 90 s", |rows| {
                rows[..2].iter_mut().for_each(|row| row.at = Time::from_secs(90));
            }),
        ];
        for (says, breaks) in cases {
            let mut rows = front();
            breaks(&mut rows);
            assert_eq!(found(rows).first().map(String::as_str), Some(says));
        }
        // The same point twice.
        let mut rows = front();
        rows[1].objectives = rows[0].objectives.clone();
        assert_eq!(found(rows), ["planning 1: schedule 1 is no better than schedule 2 in any objective"]);
    }
}
