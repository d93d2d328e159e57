//! The measures of a campaign's table: the requested ones among those that its runs have.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use super::Campaign;
use super::file::Wanted;
use super::outcome::Outcome;
use crate::experiment::{Run, RunError};
use crate::grid::Policies;
use crate::metrics::{
    BacklogSummary, DedicatedMeasures, ElasticSummary, FaultCounts, LimitMeasures, OfferedLoad, PerWork,
    Purpose, Purposes, RecoverySummary, ReplanSummary, ToTheEnd,
};
use crate::model::{JobClasses, did_you_mean};
use crate::scenario::Scenario;
use crate::study::{WORKFLOW_MEASURES, charged, flat_measures, nearest_measure, stands_for};
use crate::units::Power;

/// Matches any name between the dots of an id.
const ANY: &str = "*";

/// Lists with names that only a run determines: any name below them is accepted.
const OPEN: [&str; 4] = ["churn.wasted", "churn.attempts", "churn.refusals", "elastic.refused"];

/// The measures that a run of the campaign can have, as far as they are known beforehand.
fn known(campaign: &Campaign, run: u64) -> Result<BTreeSet<String>, RunError> {
    of_scenario(campaign.scenario(run)?, &campaign.policies)
}

/// The measures that a run of a scenario can have, as far as they are known beforehand.
///
/// # Errors
/// All problems of the run.
pub(in crate::study) fn of_scenario(
    scenario: Scenario,
    policies: &Policies,
) -> Result<BTreeSet<String>, RunError> {
    let may_sleep = scenario.resolved.may_sleep();
    let has_limits = scenario.resolved.definitions.penalty.is_some();
    let data = scenario.resolved.grid.network.data;
    let may_draw = scenario.resolved.grid.sites.iter().any(|site| site.greatest_power() > Power::ZERO);
    let run = Run::new(scenario, 1, policies);
    let mut summary = serde_json::to_value(run.outline()?).map_err(RunError::run)?;
    if may_sleep {
        // Only a run shows whether machines slept.
        let energy = json!({ "asleep_kwh": 0, "transitions_kwh": 0 });
        for (beside, part) in [("meter_kwh", energy), ("nominal", json!({ "dormant": 0 }))] {
            let parts = part.as_object().into_iter().flatten();
            parts.for_each(|(key, measure)| with_group(&mut summary, beside, key, measure));
        }
    }
    if may_draw {
        with_ledgers(&mut summary);
    }
    if has_limits {
        // Beside a mean that all jobs have, and one that all workflows have.
        let limits = empty::<LimitMeasures>();
        ["mean_wait", "mean_slr"]
            .iter()
            .for_each(|beside| with_group(&mut summary, beside, "limits", &limits));
    }
    if let Some(all) = summary.as_object_mut().filter(|_| !data.is_none()) {
        let ledger = all.entry("ledger").or_insert_with(|| json!(Purposes::default()));
        let known = [
            ("energy_kwh", true),
            ("electricity", data.price.is_some()),
            ("carbon_kg", data.carbon.is_some()),
        ];
        for (amount, known) in known {
            if known && ledger.get(amount).is_none() {
                ledger[amount] = json!(Purpose::default());
            }
            if let Some(purposes) = ledger.get_mut(amount) {
                purposes["data"] = json!(0);
            }
        }
    }
    Ok(known_by(summary))
}

/// Adds a ledger, and what a core-hour of useful work took, beside each account of energy: before a run nothing is drawn, and there is none.
fn with_ledgers(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(with_ledgers),
        Value::Object(entries) => {
            entries.values_mut().for_each(with_ledgers);
            if let Some(energy) = entries.get("energy") {
                let has = |key: &str| energy.get(key).map(|_| Purpose::default());
                let (electricity, carbon_kg) = (has("electricity_cost"), has("carbon_kg"));
                let per_work = PerWork {
                    electricity: electricity.map(|_| 0.0),
                    carbon_kg: carbon_kg.map(|_| 0.0),
                    ..PerWork::default()
                };
                let ledger = Purposes { electricity, carbon_kg, ..Purposes::default() };
                entries.entry("per_work").or_insert_with(|| json!(per_work));
                entries.entry("ledger").or_insert_with(|| json!(ledger));
            }
        }
        _ => {}
    }
}

/// The measures of a run with this summary, made before its first event.
fn known_by(mut summary: Value) -> BTreeSet<String> {
    // These are created as a whole, so that their parts cannot be seen beforehand.
    let later = [
        ("/backlog", empty::<BacklogSummary>()),
        ("/churn/recovery", empty::<RecoverySummary>()),
        ("/offered_load", empty::<OfferedLoad>()),
    ];
    for (at, empty) in later {
        if let Some(value) = summary.pointer_mut(at).filter(|value| value.is_null()) {
            *value = empty;
        }
    }
    // Only a run shows whether its jobs request a start, change, or do not run to their end.
    let later = [("dedicated", empty::<DedicatedMeasures>()), ("to_the_end", empty::<ToTheEnd>())];
    later.iter().for_each(|(key, measures)| with_group(&mut summary, "mean_wait", key, measures));
    if let Some(entries) = summary.as_object_mut() {
        if let Some(churn) = entries.get_mut("churn").and_then(Value::as_object_mut) {
            churn.entry("replanning").or_insert(empty::<ReplanSummary>());
            churn.entry("faults").or_insert(empty::<FaultCounts>());
        }
        entries.entry("elastic").or_insert(empty::<ElasticSummary>());
        // A part that the scenario does not have gets no figures later.
        entries.retain(|key, value| !(value.is_null() && ["broker", "measure"].contains(&key.as_str())));
    }
    fill(&mut summary);
    flat_measures(&summary).into_keys().collect()
}

/// A part of a summary without figures.
fn empty<T: Default + Serialize>() -> Value {
    serde_json::to_value(T::default()).unwrap_or_default()
}

/// Whether `wanted` selects any of the measures `ids`, or may select one that only a run shows.
fn has(ids: &BTreeSet<String>, wanted: &str) -> bool {
    ids.iter().any(|id| stands_for(wanted, id)) || is_open(wanted)
}

/// Whether only a run shows if there is such a measure; if not, there was nothing to count.
pub(in crate::study) fn is_open(id: &str) -> bool {
    OPEN.iter().any(|open| id.strip_prefix(open).is_some_and(|rest| rest.starts_with('.')))
}

/// Adds measures where there is one called `beside`, and they are missing: those of some jobs of a group to those of all of its jobs.
fn with_group(value: &mut Value, beside: &str, key: &str, measures: &Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| with_group(item, beside, key, measures)),
        Value::Object(entries) => {
            entries.values_mut().for_each(|entry| with_group(entry, beside, key, measures));
            if entries.contains_key(beside) {
                entries.entry(key).or_insert_with(|| measures.clone());
            }
        }
        _ => {}
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

/// Refuses measures that no run of the campaign has.
///
/// # Errors
/// Names each such measure, its place, and the nearest valid measure, or what it is called today.
pub(super) fn check(campaign: &Campaign) -> Result<(), RunError> {
    let mut missing: Vec<&Wanted> = campaign.file.measures.iter().collect();
    let mut all = BTreeSet::new();
    for run in looked_at(campaign) {
        if missing.is_empty() {
            return Ok(());
        }
        let known = known(campaign, run)?;
        missing.retain(|wanted| !has(&known, &wanted.id));
        all.extend(known);
    }
    if missing.is_empty() {
        return Ok(());
    }
    let said = missing.iter().map(|wanted| {
        let near = did_you_mean(nearest_measure(&wanted.id, all.iter().map(String::as_str)));
        format!("{}, `measures`: there is no measure `{}`{near}", wanted.place, wanted.id)
    });
    let problem = said.collect::<Vec<_>>().join("\n");
    let hint = format!(
        "there are {} for this scenario, such as `mean_wait`, `utilization`, `energy.meter_kwh` and `site.*.mean_wait`; \
         `gridemu campaign FILE --list-measures [PATTERN]` lists them",
        all.len()
    );
    Err(RunError::request(problem).with_hint(hint))
}

/// The runs whose measures are examined: the first one with each label. A single label decides which sites and classes,
/// and so which measures, there are; combinations of labels and seeds hardly ever do. So for a campaign of a thousand
/// points only a few runs are examined.
fn looked_at(campaign: &Campaign) -> Vec<u64> {
    let mut seen: BTreeSet<(usize, &str)> = BTreeSet::new();
    let mut runs = Vec::new();
    for run in campaign.runs() {
        let labels = run.point.iter().map(String::as_str).enumerate();
        // Counted, because `any` would stop before all labels are noted.
        let new = labels.filter(|label| seen.insert(*label)).count();
        if new > 0 || runs.is_empty() {
            runs.push(run.run);
        }
    }
    runs
}

impl Campaign {
    /// The job classes of its runs; `None` if those of some runs are others.
    ///
    /// # Errors
    /// All problems of a run.
    pub(in crate::study) fn classes(&self) -> Result<Option<JobClasses>, RunError> {
        let mut found: Option<JobClasses> = None;
        for run in looked_at(self) {
            let classes = self.scenario(run)?.resolved.definitions.classes;
            if found.as_ref().is_some_and(|found| *found != classes) {
                return Ok(None);
            }
            found = Some(classes);
        }
        Ok(found)
    }
}

/// Checks that runs of the campaign have each of the `wanted` measures; returns all that they have.
///
/// # Errors
/// Names a wanted measure that no run has, with the nearest valid one.
pub(super) fn check_wanted(campaign: &Campaign, wanted: &[String]) -> Result<BTreeSet<String>, RunError> {
    let known = all(campaign)?;
    let Some(wrong) = wanted.iter().find(|id| !has(&known, id)) else { return Ok(known) };
    let near = did_you_mean(nearest_measure(wrong, known.iter().map(String::as_str)));
    Err(RunError::request(format!("the runs have no measure `{wrong}`{near}"))
        .with_hint("`gridemu campaign FILE --list-measures [PATTERN]` lists them"))
}

/// Adds measures to those of the campaign: `wanted` ones, and those of `more` that its runs have.
///
/// # Errors
/// Names a wanted measure that no run has, with the nearest valid one.
pub(super) fn add(campaign: &mut Campaign, more: &[&str], wanted: &[String]) -> Result<(), RunError> {
    let known = check_wanted(campaign, wanted)?;
    let more = more.iter().copied().filter(|id| known.contains(*id));
    for id in more.chain(wanted.iter().map(String::as_str)) {
        if campaign.file.measures.iter().all(|wanted| wanted.id != id) {
            campaign.file.measures.push(Wanted { id: id.to_owned(), place: String::new() });
        }
    }
    Ok(())
}

/// Puts measures of workflows first if the campaign names no measures, and runs of it have workflows.
///
/// # Errors
/// All problems of a run.
pub(super) fn begin_with_workflows(campaign: &mut Campaign) -> Result<(), RunError> {
    if campaign.file.measures.iter().any(|wanted| !wanted.place.is_empty()) {
        return Ok(());
    }
    for run in looked_at(campaign) {
        if campaign.scenario(run)?.resolved.has_workflows() {
            let first = WORKFLOW_MEASURES.map(|id| Wanted { id: id.to_owned(), place: String::new() });
            campaign.file.measures.splice(..0, first);
            return Ok(());
        }
    }
    Ok(())
}

/// All measures that runs of the campaign have, as far as they are known beforehand.
///
/// # Errors
/// All problems of a run.
pub(super) fn all(campaign: &Campaign) -> Result<BTreeSet<String>, RunError> {
    let mut all = BTreeSet::new();
    for run in looked_at(campaign) {
        all.extend(known(campaign, run)?);
    }
    Ok(all)
}

/// Drops the measures that are not requested, and in which no requested one is [charged]: a table shows a few of hundreds.
pub(super) fn keep(wanted: &[Wanted], outcome: &mut Outcome) {
    let is_wanted = |id: &str| wanted.iter().any(|wanted| stands_for(&wanted.id, id));
    let twins: BTreeSet<String> =
        outcome.measures.keys().filter(|id| is_wanted(id)).filter_map(|id| charged(id)).collect();
    outcome.measures.retain(|id, _| is_wanted(id) || twins.contains(id));
}

/// The columns of the table: the requested measures in order, each `*` replaced by the names found; then, where jobs of any run did not
/// run to their end, the measures in which the requested ones are charged.
pub(super) fn columns<'a>(wanted: &[Wanted], outcomes: impl Iterator<Item = &'a Outcome>) -> Vec<String> {
    let mut found: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    let mut kept: BTreeSet<&str> = BTreeSet::new();
    for outcome in outcomes {
        kept.extend(outcome.measures.keys().map(String::as_str));
        for (at, wanted) in wanted.iter().enumerate().filter(|(_, wanted)| wanted.id.contains(ANY)) {
            let ids = outcome.measures.keys().map(String::as_str).filter(|id| stands_for(&wanted.id, id));
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
    let twins: Vec<String> = columns.iter().filter_map(|id| charged(id)).collect();
    let twins = twins.into_iter().filter(|id| kept.contains(id.as_str()) && !columns.contains(id));
    let twins: Vec<String> = twins.collect();
    columns.extend(twins);
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
    fn what_is_not_there_yet_counts_as_there() {
        let summary = serde_json::json!({
            "mean_wait": null, "backlog": null, "sites": [{ "name": "a", "cost": null }], "classes": [],
            "churn": { "wasted": [], "changes_per_event": null, "recovery": null }, "broker": null, "measure": null,
        });
        let ids = known_by(summary);
        let known = |wanted: &str| has(&ids, wanted);
        assert!(known("mean_wait") && known("site.a.cost") && known("site.*.cost"));
        assert!(known("backlog.at_end") && known("churn.recovery.major_outages"));
        assert!(known("churn.wasted.machine_left.attempts"));
        assert!(known("dedicated.mean_delay") && known("elastic.accepted"));
        assert!(known("elastic.refused.not_now") && !known("elastic.delayed"));
        assert!(!known("mean_waits") && !known("site.b.cost"));
        // A number has nothing below it, and an object only its own fields.
        for wrong in [
            "mean_wait.x",
            "backlog.at_ends",
            "churn.recovery.loses",
            "churn.changes_per_event.x",
            "classes.x",
            "broker",
            "measure",
        ] {
            assert!(!known(wrong), "{wrong}");
        }
    }
}
