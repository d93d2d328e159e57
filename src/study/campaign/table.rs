//! The table of a campaign, made from its results.

use std::collections::BTreeMap;

use super::axis::AxisPlace;
use super::measures;
use super::outcome::Outcome;
use super::{Campaign, PlannedRun};
use crate::study::{RunStatus, StudyRow, StudyTable};
use serde::Serialize;

/// The key of a scenario that says at which date a run begins.
const CALENDAR: &str = "calendar";

/// Results by their keys.
pub(super) type Outcomes = BTreeMap<u128, Outcome>;

/// A run of a campaign and its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedRun {
    /// The number of the run.
    pub run: u64,
    /// Its value on each axis: name and label.
    pub point: Vec<(String, String)>,
    /// Its seed.
    pub seed: u64,
    /// `done`, `failed`, or `to do`.
    pub state: &'static str,
    /// The hash of its resolved scenario.
    pub scenario_hash: String,
}

impl Campaign {
    /// Lists `runs`; those whose keys are in `there` have a result.
    pub fn listed<'a>(
        &self,
        runs: impl Iterator<Item = &'a PlannedRun>,
        there: Option<&StudyTable>,
    ) -> Vec<ListedRun> {
        let rows = there.map(|table| table.rows.as_slice()).unwrap_or_default();
        let states: BTreeMap<u64, bool> =
            rows.iter().map(|row| (row.run, row.status == RunStatus::Done)).collect();
        let listed = runs.map(|run| ListedRun {
            run: run.run,
            point: self.axes().map(str::to_owned).zip(run.point.iter().cloned()).collect(),
            seed: run.seed,
            state: match states.get(&run.run) {
                Some(true) => "done",
                Some(false) => "failed",
                None => "to do",
            },
            scenario_hash: format!("{:032x}", run.scenario_hash),
        });
        listed.collect()
    }

    /// The table of its planned runs, none of which has a result: axes, labels and baseline.
    pub(crate) fn planned(&self) -> StudyTable {
        let to_do = |run: &PlannedRun| (run.key, Outcome::failed("to do".to_owned()));
        self.table_of(&self.runs().iter().map(to_do).collect())
    }

    /// The table of the runs that have a result, in order.
    pub(super) fn table_of(&self, outcomes: &Outcomes) -> StudyTable {
        let there: Vec<(&PlannedRun, &Outcome)> =
            self.runs().iter().filter_map(|run| Some((run, outcomes.get(&run.key)?))).collect();
        let columns = measures::columns(&self.file.measures, there.iter().map(|(_, outcome)| *outcome));
        let rows = there.into_iter().map(|(run, outcome)| StudyRow {
            run: run.run,
            point: run.point.clone(),
            seed: run.seed,
            status: outcome.status.clone(),
            jobs: outcome.jobs,
            outcomes: outcome.outcomes,
            unstable: outcome.unstable && !self.file.finite,
            scenario_hash: format!("{:032x}", run.scenario_hash),
            fingerprint: outcome.fingerprint.clone(),
            values: columns.iter().map(|id| outcome.measures.get(id).copied()).collect(),
        });
        let rows = rows.collect();
        StudyTable {
            name: self.name().to_owned(),
            axes: self.axes().map(str::to_owned).collect(),
            measures: columns,
            baseline: self.file.baseline.clone(),
            dates: self.dates(),
            rows,
        }
    }

    /// Where each seed begins at a date of its own: the seeds in order of time, each with its date. Seeds of one date are in their order.
    pub(crate) fn dates(&self) -> Vec<(u64, String)> {
        let dated = self.file.by_seed.iter().find(|axis| axis.keys().any(|key| key == CALENDAR));
        let Some((axis, (seeds, _))) = dated.zip(self.file.seeds.as_ref()) else { return Vec::new() };
        let places = axis.places.iter().enumerate();
        let of_place = |(at, place): (usize, &AxisPlace)| {
            let there = seeds.iter().skip(at).step_by(axis.places.len());
            there.map(|seed| (*seed, place.label.clone())).collect::<Vec<_>>()
        };
        places.flat_map(of_place).collect()
    }
}
