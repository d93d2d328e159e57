//! The runs of a study by their points: a label on each axis, with one run for each seed.

use std::collections::BTreeMap;

use super::statistics::Draws;
use super::{RunStatus, StudyRow, StudyTable};

/// The runs at one point of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyPoint<'a> {
    /// Its label on each axis.
    pub labels: &'a [String],
    /// Its runs, including those that failed: in the order of the table, or of the dates of their seeds.
    pub runs: Vec<&'a StudyRow>,
    /// How they follow each other.
    pub draws: Draws,
}

impl StudyTable {
    /// The points in the order of their first runs in the table.
    pub fn points(&self) -> Vec<StudyPoint<'_>> {
        let mut points: Vec<StudyPoint<'_>> = Vec::new();
        let mut places: BTreeMap<&[String], usize> = BTreeMap::new();
        for row in &self.rows {
            let place = *places.entry(&row.point).or_insert(points.len());
            if place == points.len() {
                points.push(StudyPoint { labels: &row.point, runs: Vec::new(), draws: self.draws() });
            }
            points[place].runs.push(row);
        }
        if !self.dates.is_empty() {
            points.iter_mut().for_each(|point| point.runs.sort_by_key(|row| self.place(row.seed)));
        }
        points
    }
}

impl<'a> StudyPoint<'a> {
    /// The runs that completed.
    pub fn done(&self) -> impl Iterator<Item = &'a StudyRow> {
        self.runs.iter().copied().filter(|row| row.status == RunStatus::Done)
    }

    /// The number of runs that failed.
    pub fn failed(&self) -> usize {
        self.runs.len() - self.done().count()
    }

    /// The completed runs that are unstable (their backlog grows).
    pub fn growing(&self) -> usize {
        self.done().filter(|row| row.unstable).count()
    }

    /// The values of a measure in the completed runs that have one.
    pub fn values(&self, measure: usize) -> Vec<f64> {
        let values = self.done().filter_map(|row| row.values.get(measure).copied().flatten());
        values.filter(|value| value.is_finite()).collect()
    }

    /// The interval of the mean of these values of its runs, which are in their order.
    pub fn interval(&self, values: &[f64], level: f64) -> Option<(f64, f64)> {
        self.draws.mean_interval(values, level).map(|found| (found.low, found.high))
    }

    /// The mean of a measure over the runs, which every table and chart of a study shows. `None` if no run has the
    /// measure, if any run failed, or if any is unstable (its own value depends on its length): a mean of the others would
    /// be biased.
    pub fn mean(&self, measure: usize) -> Option<f64> {
        let values = self.values(measure);
        let all = self.failed() + self.growing() == 0 && !values.is_empty();
        all.then(|| values.iter().sum::<f64>() / values.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::tests::run_of_a_study;

    fn row(run: u64, label: &str, value: Option<f64>, unstable: bool) -> StudyRow {
        StudyRow { unstable, ..run_of_a_study(run, &[label], run, vec![value]) }
    }

    #[test]
    fn a_mean_is_of_all_runs_or_there_is_none() {
        let mut table = StudyTable {
            name: "tiny".to_owned(),
            axes: vec!["policy".to_owned()],
            measures: vec!["mean_wait".to_owned()],
            baseline: None,
            dates: Vec::new(),
            rows: vec![
                row(1, "b", Some(2.0), false),
                row(2, "a", Some(1.0), false),
                row(3, "b", Some(6.0), false),
                row(4, "a", Some(1.0), false),
                row(5, "a", Some(9.0), true),
                row(6, "c", None, false),
            ],
        };
        let means = |table: &StudyTable| -> Vec<(String, usize, Option<f64>)> {
            let points = table.points();
            points.iter().map(|p| (p.labels[0].clone(), p.runs.len(), p.mean(0))).collect()
        };
        let named = |label: &str, runs, mean| (label.to_owned(), runs, mean);
        let (a, b, c) = (named("a", 3, None), named("b", 2, Some(4.0)), named("c", 1, None));
        assert_eq!(means(&table), [b, a, c], "one of three of `a` unstable");
        table.rows[4].status = RunStatus::Failed("why".to_owned());
        assert_eq!(means(&table)[1], named("a", 3, None), "one of three of `a` failed");
        assert_eq!((table.points()[1].growing(), table.points()[1].failed()), (0, 1));
    }
}
