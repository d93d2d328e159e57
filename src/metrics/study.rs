//! Many runs side by side: the measures of a run under flat names, and the table of a study, a row a run.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Outcomes, nearest_measure};

/// What tells nothing of the emulated grid, but of the run itself and how it was asked for.
const NOT_MEASURES: [&str; 10] = [
    "read_s",
    "schedule_s",
    "write_s",
    "wall_s",
    "seed",
    "tau",
    "picture_s",
    "retries",
    "in_flight",
    "overhead_s",
];

/// All measures of a `summary.json`, of a run or a replay, by their ids: the keys on the way to a figure, joined by dots, with
/// the name of a class or a site where one stands in a list. So `mean_wait`, `energy.meter_kwh`, `local.mean_wait`,
/// `site.delft.mean_wait`, `class.VS Seq.mean_wait`. Left out are figures that no job gave, and what the run itself took.
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
                    flatten(value, &below(key), flat);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                // `sites` and `classes` are lists of named things; who asks wants one of them.
                let (singular, key) = match at {
                    "sites" => ("site", "name"),
                    "classes" => ("class", "class"),
                    "churn.lost" => ("churn.lost", "cause"),
                    "churn.attempts" => ("churn.attempts", "attempts"),
                    "churn.refusals" => ("churn.refusals", "reason"),
                    _ => continue,
                };
                let name = match &item[key] {
                    Value::String(name) => name.clone(),
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
    /// It did not, and this is why.
    Failed(String),
}

/// A run of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyRow {
    /// Its number in the study, from 1.
    pub run: u64,
    /// Its place on each axis of the table, as it is shown.
    pub point: Vec<String>,
    /// The seed of all that it drew.
    pub seed: u64,
    /// How it ended.
    pub status: RunStatus,
    /// Jobs that count.
    pub jobs: u64,
    /// How they ended.
    pub outcomes: Outcomes,
    /// Whether more and more jobs were in the system: means of such a run say how long it was, not how good.
    pub grows: bool,
    /// The hash of its resolved scenario.
    pub scenario_hash: String,
    /// The fingerprint of its records.
    pub fingerprint: String,
    /// A value for each measure of the table; `None` where no job gave one.
    pub values: Vec<Option<f64>>,
}

/// The runs of a study.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StudyTable {
    /// What the study is called.
    pub name: String,
    /// What varies, but for the seed.
    pub axes: Vec<String>,
    /// Ids of measures.
    pub measures: Vec<String>,
    /// The runs, by number.
    pub rows: Vec<StudyRow>,
}

impl StudyTable {
    /// The place of an axis.
    pub fn axis(&self, name: &str) -> Option<usize> {
        self.axes.iter().position(|axis| axis == name)
    }

    /// The place of a measure.
    pub fn measure(&self, id: &str) -> Option<usize> {
        self.measures.iter().position(|measure| measure == id)
    }

    /// The measure whose id is nearest to `id`, for a hint.
    pub fn nearest_measure(&self, id: &str) -> Option<&str> {
        nearest_measure(id, self.measures.iter().map(String::as_str))
    }

    /// The labels on an axis, in the order in which runs have them first.
    pub fn labels(&self, axis: usize) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        self.rows.iter().map(|row| row.point[axis].as_str()).filter(|label| seen.insert(*label)).collect()
    }
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
                ("class.VS Seq.mean_wait", 7.0),
                ("local.mean_wait", 1.0),
                ("mean_wait", 3.5),
                ("outcomes.completed", 4.0),
                ("site.delft.local.jobs", 3.0),
                ("site.delft.mean_wait", 2.0),
            ]
        );
    }
}
