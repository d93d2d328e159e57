//! The measures of a run under flat names, and the table of a study, with one row for each run.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{charged, nearest_measure, word_of};
use crate::metrics::Outcomes;
use crate::study::statistics::Draws;

/// Parts of a summary that describe the run itself and its request rather than the emulated grid.
const NOT_MEASURES: [&str; 15] = [
    "read_s",
    "schedule_s",
    "write_s",
    "wall_s",
    "seed",
    "tau",
    "monitoring_interval_s",
    "retries",
    "in_flight",
    "overhead_s",
    "base_s",
    "per_task_s",
    "outage_percent",
    "recovered_percent",
    "trailing_s",
];

/// All measures of a `summary.json`, of a run or a replay, by their ids: the keys that lead to a figure, joined by dots, with the
/// name of a class or a site for a position in a list. Examples are `mean_wait`, `energy.meter_kwh`, `local.mean_wait`,
/// `site.delft.mean_wait`, `class.vs_seq.mean_wait`. Names are in lower case, with `_` for every sign but letters and digits. Figures
/// without a value, and the resources of the run itself, are left out.
pub fn flat_measures(summary: &Value) -> BTreeMap<String, f64> {
    let mut flat = BTreeMap::new();
    flatten(summary, "", &mut flat);
    flat
}

fn flatten(value: &Value, at: &str, flat: &mut BTreeMap<String, f64>) {
    let below = |key: &str| if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") };
    match value {
        Value::Number(number) => {
            flat.extend(number.as_f64().map(|number| (at.to_owned(), number)));
        }
        Value::Object(entries) => {
            for (key, value) in entries {
                if !NOT_MEASURES.contains(&key.as_str()) && key != "recorded_waits" {
                    let key = if at == "elastic.refused" { key.replace('-', "_") } else { key.clone() };
                    flatten(value, &below(&key), flat);
                }
            }
        }
        Value::Array(items) => {
            let mut taken = BTreeSet::new();
            for item in items {
                // `sites`, `classes` and `kinds` are lists of named things, of which an id names one.
                let (singular, key) = match at {
                    "sites" => ("site", "name"),
                    "classes" => ("class", "class"),
                    "kinds" => ("kind", "kind"),
                    "churn.wasted" => ("churn.wasted", "cause"),
                    "churn.attempts" => ("churn.attempts", "attempts"),
                    "churn.refusals" => ("churn.refusals", "reason"),
                    _ => continue,
                };
                let name = match &item[key] {
                    Value::String(name) => word_of(name, &mut taken),
                    Value::Number(number) => number.to_string(),
                    _ => continue,
                };
                if let Value::Object(entries) = item {
                    for (inner, value) in entries.iter().filter(|(inner, _)| *inner != key) {
                        flatten(value, &format!("{singular}.{name}.{inner}"), flat);
                    }
                }
            }
        }
        _ => {}
    }
}

/// How a run of a study ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    /// It ran to its end.
    Done,
    /// It failed, for this reason.
    Failed(String),
}

/// A run of a study, a row of its table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyRow {
    /// The number of the run in the study, from 1.
    pub run: u64,
    /// Its label on each axis of the table.
    pub point: Vec<String>,
    /// The seed of its random draws.
    pub seed: u64,
    /// How the run ended.
    pub status: RunStatus,
    /// Jobs that count.
    pub jobs: u64,
    /// Their outcomes.
    pub outcomes: Outcomes,
    /// True if its backlog grew: the means of such a run depend on its length.
    pub unstable: bool,
    /// The hash of its resolved scenario.
    pub scenario_hash: String,
    /// The fingerprint of its records.
    pub fingerprint: String,
    /// A value for each measure of the table; `None` where the run has none.
    pub values: Vec<Option<f64>>,
}

/// The table of the runs of a study.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StudyTable {
    /// The name of the study.
    pub name: String,
    /// The names of the axes, without the seed.
    pub axes: Vec<String>,
    /// The ids of the measures.
    pub measures: Vec<String>,
    /// The label with which others are compared unless another is named; `None` for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Where each seed begins at a date of its own: the seeds in order of time, each with its date. Then they are a series, in which neighbours
    /// may be alike. Empty if seeds are independent of each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dates: Vec<(u64, String)>,
    /// The runs, by number.
    pub rows: Vec<StudyRow>,
}

impl StudyTable {
    /// The index of an axis.
    pub fn axis(&self, name: &str) -> Option<usize> {
        self.axes.iter().position(|axis| axis == name)
    }

    /// The index of a measure.
    pub fn measure(&self, id: &str) -> Option<usize> {
        self.measures.iter().position(|measure| measure == id)
    }

    /// How its seeds follow each other.
    pub fn draws(&self) -> Draws {
        if self.dates.is_empty() { Draws::Independent } else { Draws::Series }
    }

    /// The place of a seed in time, where seeds begin at dates.
    pub(crate) fn place(&self, seed: u64) -> usize {
        self.dates.iter().position(|(other, _)| *other == seed).unwrap_or(self.dates.len())
    }

    /// The measures to show: all but those in which another one of the table is charged to the end, which are there for comparisons.
    pub fn shown(&self) -> Vec<usize> {
        let twins: BTreeSet<String> = self.measures.iter().filter_map(|id| charged(id)).collect();
        (0..self.measures.len()).filter(|at| !twins.contains(&self.measures[*at])).collect()
    }

    /// The measure whose id is nearest to `id`, for a hint.
    pub fn nearest_measure(&self, id: &str) -> Option<&str> {
        nearest_measure(id, self.measures.iter().map(String::as_str))
    }

    /// The labels on an axis, in the order of their first runs.
    pub fn labels(&self, axis: usize) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        self.rows.iter().map(|row| row.point[axis].as_str()).filter(|label| seen.insert(*label)).collect()
    }
}

/// True if these are several copies of one run: nothing in them is drawn, so that each seed gave the same run. Runs with unknown
/// fingerprints are not taken for copies, nor are those of a user's own table that has different values with one fingerprint.
pub(crate) fn one_run<'a>(rows: impl IntoIterator<Item = &'a StudyRow>) -> bool {
    let mut rows = rows.into_iter().peekable();
    let Some(first) = rows.next().filter(|first| !first.fingerprint.is_empty()) else { return false };
    let same = |other: &StudyRow| other.fingerprint == first.fingerprint && other.values == first.values;
    rows.peek().is_some() && rows.all(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_have_flat_names() {
        let summary = serde_json::json!({
            "mean_wait": 3.5, "p95_wait": null, "wall_s": 9.0, "policy": "easy",
            "outcomes": { "completed": 4 }, "local": { "mean_wait": 1 },
            "sites": [{ "name": "delft", "mean_wait": 2.0, "local": { "jobs": 3 } }],
            "classes": [{ "class": "VS Seq", "mean_wait": 7.0 }],
            "churn": { "attempts": [{ "attempts": 2, "jobs": 5 }] },
        });
        let flat: Vec<(String, f64)> = flat_measures(&summary).into_iter().collect();
        let named: Vec<(&str, f64)> = flat.iter().map(|(id, value)| (id.as_str(), *value)).collect();
        assert_eq!(
            named,
            [
                ("churn.attempts.2.jobs", 5.0),
                ("class.vs_seq.mean_wait", 7.0),
                ("local.mean_wait", 1.0),
                ("mean_wait", 3.5),
                ("outcomes.completed", 4.0),
                ("site.delft.local.jobs", 3.0),
                ("site.delft.mean_wait", 2.0),
            ]
        );
    }
}
