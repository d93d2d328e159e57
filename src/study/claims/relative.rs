//! Gains of runs over others, in place of their values.

use std::collections::BTreeMap;

use super::Side;
use super::measured::alike;
use crate::study::{Better, MeasureInfo, RunStatus, StudyRow, StudyTable};

/// A table whose values are gains.
pub(super) struct Gains {
    /// The same runs, each with its gains over another run of the same seed, as shares of the values there.
    pub(super) table: StudyTable,
    /// For each run the number of the one that its gains are over.
    pub(super) over: BTreeMap<u64, u64>,
}

/// The gains of all runs of `table` over those with the labels `side` in place of their own, in the measures at `measures`: positive where a run is better. A
/// gain over nothing is none.
///
/// A run is as random, and its gain as spoilt, as the two together.
pub(super) fn gains(table: &StudyTable, side: &Side, measures: &[usize]) -> Gains {
    let known: BTreeMap<(&[String], u64), &StudyRow> =
        table.rows.iter().map(|row| ((row.point.as_slice(), row.seed), row)).collect();
    let axes: Vec<(usize, &String)> =
        side.iter().filter_map(|(axis, labels)| Some((table.axis(axis)?, labels.first()?))).collect();
    let (mut rows, mut over) = (Vec::new(), BTreeMap::new());
    for row in &table.rows {
        let mut point = row.point.clone();
        axes.iter().for_each(|(at, label)| point[*at].clone_from(label));
        let mut gained = StudyRow { values: vec![None; row.values.len()], ..row.clone() };
        if let Some(base) = known.get(&(point.as_slice(), row.seed)) {
            over.insert(row.run, base.run);
            gained.unstable |= base.unstable;
            if let (RunStatus::Done, RunStatus::Failed(_)) = (&row.status, &base.status) {
                gained.status = base.status.clone();
            }
            if !gained.fingerprint.is_empty() {
                gained.fingerprint += &format!(" over {}", base.fingerprint);
            }
            if !alike(&row.outcomes, &base.outcomes) {
                let run = base.run;
                gained.status = RunStatus::Failed(format!(
                    "outcomes of jobs differ from those of run {run}, which its gain is over"
                ));
            }
            for at in measures {
                let better = MeasureInfo::of(&table.measures[*at]).better;
                gained.values[*at] = gain(row.values[*at], base.values[*at], better);
            }
        }
        rows.push(gained);
    }
    Gains { table: StudyTable { rows, ..table.clone() }, over }
}

/// The gain of a value over another, as a share of that.
fn gain(value: Option<f64>, base: Option<f64>, better: Better) -> Option<f64> {
    let change = value? / base? - 1.0;
    let gain = if better == Better::Higher { change } else { -change };
    gain.is_finite().then_some(gain)
}
