//! Which measures the table has: those that are asked for, of those that there are.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Campaign;
use super::file::Wanted;
use super::outcome::Outcome;
use crate::experiment::{Run, RunError};
use crate::metrics::{BacklogSummary, RecoverySummary, flat_measures};
use crate::model::nearest;

/// Stands for any name between the dots of an id.
const ANY: &str = "*";

/// Lists that only a run fills, with names that only it knows: anything may be below.
const OPEN: [&str; 3] = ["churn.lost", "churn.attempts", "churn.refusals"];

/// Measures that a run can have, as far as that is known before it.
struct Known {
    ids: BTreeSet<String>,
}

impl Known {
    /// Of a run of the campaign.
    fn of(campaign: &Campaign, run: u64) -> Result<Self, RunError> {
        let scenario = campaign.scenario(run)?;
        let run = Run::new(scenario, 1, campaign.registry.clone(), campaign.brokers.clone());
        let mut summary = serde_json::to_value(run.outline()?).map_err(RunError::run)?;
        Self::of_summary(&mut summary)
    }

    /// Of a run with such a summary, before anything happened in it.
    fn of_summary(summary: &mut Value) -> Result<Self, RunError> {
        let of_a_run = |value: Result<Value, serde_json::Error>| value.map_err(RunError::run);
        // These two come about as a whole, so that what is in them cannot be seen before.
        let later = [
            ("/backlog", of_a_run(serde_json::to_value(BacklogSummary::default()))?),
            ("/churn/recovery", of_a_run(serde_json::to_value(RecoverySummary::default()))?),
        ];
        for (at, empty) in later {
            if let Some(value) = summary.pointer_mut(at).filter(|value| value.is_null()) {
                *value = empty;
            }
        }
        fill(summary);
        Ok(Self { ids: flat_measures(summary).into_keys().collect() })
    }

    fn has(&self, wanted: &str) -> bool {
        self.ids.iter().any(|id| matches(wanted, id))
            || OPEN.iter().any(|open| wanted.strip_prefix(open).is_some_and(|rest| rest.starts_with('.')))
    }
}

/// Puts a figure where there is none yet.
fn fill(value: &mut Value) {
    match value {
        Value::Null => *value = Value::from(0),
        Value::Array(items) => items.iter_mut().for_each(fill),
        Value::Object(entries) => entries.values_mut().for_each(fill),
        _ => {}
    }
}

/// Whether an id is one that is asked for. `*` stands for a name, which may have dots in it.
fn matches(wanted: &str, id: &str) -> bool {
    match wanted.split_once(ANY) {
        None => wanted == id,
        Some((head, tail)) => id.strip_prefix(head).is_some_and(|rest| {
            let ends = rest.char_indices().map(|(at, _)| at).skip(1).chain([rest.len()]);
            ends.into_iter().any(|end| end > 0 && matches(tail, &rest[end..]))
        }),
    }
}

/// Refuses measures that no run of the campaign has.
///
/// # Errors
/// Names the measure, where it is asked for, and the nearest that there is.
pub(super) fn check(campaign: &Campaign) -> Result<(), RunError> {
    // What is a measure may depend on the axes (sites, classes), but hardly on the seed.
    let mut missing: Vec<&Wanted> = campaign.wanted.iter().collect();
    let mut first = None;
    let mut seen = BTreeSet::new();
    for run in campaign.runs() {
        if missing.is_empty() {
            return Ok(());
        }
        if seen.insert(&run.point) {
            let known = Known::of(campaign, run.run)?;
            missing.retain(|wanted| !known.has(&wanted.id));
            first.get_or_insert(known);
        }
    }
    let (Some(wanted), Some(known)) = (missing.first(), first) else { return Ok(()) };
    let near = nearest(&wanted.id, known.ids.iter().map(String::as_str));
    let near = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
    let said = format!("{}, `measures`: there is no measure `{}`{near}", wanted.place, wanted.id);
    let hint = format!(
        "there are {} for this scenario, such as `mean_wait`, `utilization`, `energy.meter_kwh` and `site.*.mean_wait`; docs/output.md tells them all",
        known.ids.len()
    );
    Err(RunError::request(said).with_hint(hint))
}

/// Drops the measures that are not asked for: of hundreds of them a table shows a few.
pub(super) fn keep(wanted: &[Wanted], outcome: &mut Outcome) {
    outcome.measures.retain(|id, _| wanted.iter().any(|wanted| matches(&wanted.id, id)));
}

/// The columns of the table: what is asked for, in that order, each `*` by the names that there are.
pub(super) fn columns<'a>(wanted: &[Wanted], outcomes: impl Iterator<Item = &'a Outcome>) -> Vec<String> {
    let mut found: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for outcome in outcomes {
        for (at, wanted) in wanted.iter().enumerate().filter(|(_, wanted)| wanted.id.contains(ANY)) {
            let ids = outcome.measures.keys().map(String::as_str).filter(|id| matches(&wanted.id, id));
            found.entry(at).or_default().extend(ids);
        }
    }
    let mut columns: Vec<String> = Vec::new();
    for (at, wanted) in wanted.iter().enumerate() {
        let ids: Vec<&str> = match found.get(&at) {
            Some(ids) => ids.iter().copied().collect(),
            None if wanted.id.contains(ANY) => Vec::new(),
            None => vec![&wanted.id],
        };
        for id in ids {
            if !columns.iter().any(|column| column == id) {
                columns.push(id.to_owned());
            }
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_asked_for_is_kept() {
        let wanted =
            ["mean_wait", "site.*.cost"].map(|id| Wanted { id: id.to_owned(), place: String::new() });
        let measures =
            ["mean_wait", "p95_wait", "site.a.cost", "site.a.jobs", "cost"].map(|id| (id.to_owned(), 1.0));
        let mut outcome = Outcome::failed(String::new());
        outcome.measures = measures.into();
        keep(&wanted, &mut outcome);
        assert_eq!(outcome.measures.keys().collect::<Vec<_>>(), ["mean_wait", "site.a.cost"]);
    }

    #[test]
    fn a_star_is_a_name() {
        assert!(matches("site.*.mean_wait", "site.delft.mean_wait"));
        assert!(matches("site.*.mean_wait", "site.a.b.mean_wait"), "a name may have dots");
        assert!(matches("*.mean_wait", "local.mean_wait") && matches("class.*", "class.VS N.jobs"));
        assert!(!matches("site.*.mean_wait", "site..mean_wait") && !matches("*.mean_wait", "mean_wait"));
        assert!(!matches("mean_wait", "mean_waits"));
    }

    #[test]
    fn what_is_not_there_yet_counts_as_there() {
        let mut summary = serde_json::json!({
            "mean_wait": null, "backlog": null, "sites": [{ "name": "a", "cost": null }], "classes": [],
            "churn": { "lost": [], "changes_per_event": null, "recovery": null },
        });
        let known = Known::of_summary(&mut summary).unwrap();
        assert!(known.has("mean_wait") && known.has("site.a.cost") && known.has("site.*.cost"));
        assert!(known.has("backlog.at_end") && known.has("churn.recovery.losses"));
        assert!(known.has("churn.lost.machine left.attempts"));
        assert!(!known.has("mean_waits") && !known.has("site.b.cost"));
        // Nothing is below a number, nor below an object what it has not.
        for wrong in [
            "mean_wait.x",
            "backlog.at_ends",
            "churn.recovery.loses",
            "churn.changes_per_event.x",
            "classes.x",
        ] {
            assert!(!known.has(wrong), "{wrong}");
        }
    }
}
