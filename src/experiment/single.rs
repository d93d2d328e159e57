//! What a summary contains beside the measures for one site without a broker: its workload, its policy, and its differences
//! from a plain replay.

use super::workload::Opened;
use crate::entity::Site;
use crate::formats::swf::Clean;
use crate::grid::Grid;
use crate::metrics::{GridMeasures, OfferedLoad, SingleSite, WaitComparison};
use crate::model::{Named, PartitionSpec, SiteSpec};
use crate::scenario::{EstimateSource, Workload};
use crate::scenario::{PlannedWorkload, ResolvedScenario};
use crate::workload::Estimates;

/// The description of a run of one site without a broker, with its workload `opened`; `None` for any other grid.
pub(super) fn single(
    resolved: &ResolvedScenario,
    grid: &Grid,
    measures: &GridMeasures,
    opened: Option<&Opened>,
) -> Option<SingleSite> {
    let planned =
        resolved.site_workloads.first().and_then(Option::as_ref).filter(|_| resolved.is_single())?;
    let site = &resolved.grid.sites[0];
    let procs = site.partitions.iter().map(PartitionSpec::processors).sum();
    let shaping = &planned.shaping;
    // Recorded waits belong to the recorded submissions and run times.
    let has_recorded = matches!(shaping.estimates, EstimateSource::Plain(_))
        && shaping.load.is_none()
        && shaping.load_factor.is_none()
        && opened.is_some_and(|opened| opened.header.is_some());
    let offered = opened.and_then(|opened| opened.read().offered_load(procs));
    Some(SingleSite {
        workload: name(&resolved.name, planned, opened),
        policy: site.policy.to_string(),
        procs,
        estimates: match (&planned.workload, &shaping.estimates) {
            // The models generate run times only.
            (Workload::Lublin(_) | Workload::Cwf(_), EstimateSource::Plain(Estimates::Log)) => {
                Estimates::Exact.to_string()
            }
            (_, estimates) => estimates.to_string(),
        },
        order: site.order,
        options: typed(site, planned),
        random: planned.workload.generator().is_some()
            || matches!(shaping.estimates, EstimateSource::Tsafrir(_))
            || site.churn.draws(),
        offered_load: offered
            .map(|value| OfferedLoad { value, over: "processors × the span of submissions".to_owned() }),
        longest_queue: grid.sites().next().map(Site::tally).unwrap_or_default().longest_queue,
        recorded_waits: measures
            .waits()
            .filter(|_| has_recorded)
            .map(WaitComparison::rows)
            .unwrap_or_default(),
    })
}

/// The name of the workload: that of the scenario, unless it is more specific.
fn name(scenario: &str, planned: &PlannedWorkload, opened: Option<&Opened>) -> String {
    let Some(generator) = planned.workload.generator() else {
        return opened.map_or_else(|| planned.workload.title(), |opened| opened.name.clone());
    };
    let says = |named: &Named| {
        named.name == generator.name
            && named.params.iter().all(|(key, value)| generator.params.get(key) == Some(value))
    };
    match scenario.parse::<Named>() {
        Ok(named) if says(&named) => scenario.to_owned(),
        _ => generator.to_string(),
    }
}

/// Options that change the result and differ from a plain replay, as they are typed. Policy, estimates and order of an
/// instant are reported separately.
fn typed(site: &SiteSpec, planned: &PlannedWorkload) -> Vec<String> {
    let shaping = &planned.shaping;
    let flags = [
        (shaping.clean != Clean::None, "--clean strict"),
        (shaping.cap, "--cap"),
        (shaping.feedback, "--feedback"),
        (shaping.malleable.is_some(), "--malleable"),
        (site.overrun, "--overrun"),
    ];
    let mut typed: Vec<String> =
        flags.iter().filter(|(set, _)| *set).map(|(_, flag)| (*flag).to_owned()).collect();
    let mut value = |name: &str, value: Option<String>| {
        typed.extend(value.map(|value| format!("--{name} {value}")));
    };
    value("load", shaping.load.map(|load| load.to_string()));
    value("load-factor", shaping.load_factor.map(|factor| factor.to_string()));
    value("skip", (shaping.skip > 0).then(|| shaping.skip.to_string()));
    value("first", shaping.first.map(|first| first.to_string()));
    // Differences between classes of machines are in the scenario.
    if let [machines] = &site.partitions[..]
        && machines.groups.len() == 1
    {
        let plain = PartitionSpec::plain(1);
        let (idle, busy, price, speed) =
            (machines.idle(), machines.busy(), machines.price(), machines.speed());
        value(
            "allocation-unit",
            (machines.allocation_unit != plain.allocation_unit).then(|| machines.allocation_unit.to_string()),
        );
        value("speed", (speed != plain.speed()).then(|| speed.to_string()));
        // A power by load is in the scenario.
        let linear = machines.groups[0].by_load.is_none();
        value("idle", (linear && idle != plain.idle()).then(|| format!("'{idle}/core'")));
        value("busy", (linear && busy != plain.busy()).then(|| format!("'{busy}/core'")));
        value("pue", (site.pue_ppm != 1_000_000).then(|| (site.pue_ppm as f64 / 1e6).to_string()));
        value("price", (price != plain.price()).then(|| price.to_string()));
    }
    for (_, reserved) in &site.reservations {
        let job = reserved.job.map(|job| format!(":{job}")).unwrap_or_default();
        value("reserve", Some(format!("{}..{}:{}{job}", reserved.start, reserved.end, reserved.procs)));
    }
    typed
}
