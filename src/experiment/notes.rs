//! Notes of a run: what a reader needs before trusting its figures.

use crate::entity::{Broker, BrokerTally, Portal};
use crate::grid::Grid;
use crate::metrics::{GridMeasures, GridSummary, Window};
use crate::model::{
    BrokerSpec, Outcome, PartitionSpec, PlacementRule, PlanRepair, RejectReason, Replan, SiteSpec,
    SiteTariff, TaskOrder, TransferMode,
};
use crate::scenario::{PlannedWorkload, ResolvedScenario, Scenario, listed};
use crate::units::{Bytes, Span, Time, counted};

/// Notes of the grid's entities. A `single` site is not named.
pub(super) fn notes(grid: &Grid, measure: Window, single: bool) -> Vec<String> {
    let mut notes = grid.portal().map(Portal::notes).unwrap_or_default();
    for site in grid.sites() {
        let mut of_site = site.notes();
        let short = site.tally().short_reservations;
        if short > 0 {
            let began = counted(short as usize, "reservation");
            of_site.push(format!("{began} began with fewer processors than booked"));
        }
        let rejected = site.tally().outcomes[Outcome::Rejected(RejectReason::TooLarge).index()];
        // Of a single site it is told with the jobs that were rejected.
        let left = capped(site.spec()).filter(|_| rejected > 0 && !single);
        of_site.extend(left.map(|left| format!("{left}: jobs of its own that need more were rejected")));
        let name = if single { String::new() } else { format!("site `{}`: ", site.spec().name) };
        notes.extend(of_site.into_iter().map(|note| format!("{name}{note}")));
    }
    let stranded = grid.broker().map_or(0, Broker::stranded);
    if stranded > 0 {
        let (results, have) = (counted(stranded, "result"), if stranded == 1 { "has" } else { "have" });
        notes.push(format!("{results} of workflows {have} not come home: the sites that have them have left, or where they go has"));
    }
    if measure != Window::ALL {
        notes.extend([
            "figures of jobs cover the jobs submitted in the measurement window".to_owned(),
            "wasted work by cause, machine events, outages and replanning cover what happened in the window"
                .to_owned(),
            "usage, wasted processor time, energy, cost, assignments and information age cover the whole run"
                .to_owned(),
        ]);
    }
    notes
}

/// What the power cap of a site leaves, if it keeps processors back.
fn capped(site: &SiteSpec) -> Option<String> {
    let all =
        |of: fn(&PartitionSpec) -> u32| site.partitions.iter().map(|part| u64::from(of(part))).sum::<u64>();
    let (most, usable) = (all(PartitionSpec::most), all(PartitionSpec::usable));
    let cap = site.power_cap.filter(|_| most < usable)?;
    Some(format!("its power cap of {cap} leaves {most} of {usable} processors"))
}

/// What a reader should know of the traces of prices, carbon intensities and failures.
pub(super) fn of_traces(scenario: &Scenario, grid: &Grid) -> Vec<String> {
    let mut notes = scenario.trace_notes().to_vec();
    let ends = grid.sites().flat_map(|site| site.partitions().iter().map(|part| part.usage().to)).max();
    let ended = scenario.resolved.calendar.and_then(|begins| begins.plus(ends?.since(Time::ZERO)));
    for (trace, _) in scenario.resolved.traces() {
        if let (Some(ended), Some(end)) = (ended, trace.end())
            && ended > end
        {
            notes.push(format!(
                "the trace `{trace}` ends at {end}, and the run at {ended}: its last value went on"
            ));
        }
    }
    for site in &scenario.resolved.grid.sites {
        let Some(traced) = &site.churn.traced else { continue };
        let of = &traced.trace;
        if let (Some(ends), Some(begin), Some(end)) = (ends, of.begin(), of.end())
            && let Some(lasts) = end.since(begin)
            // A run ends at a full minute.
            && ends.since(Time::ZERO) + traced.origin > lasts + Span::from_secs(60)
        {
            let note = format!(
                "the trace `{of}` ended after {} of the run, which lasted {}: its machines then stayed as they were",
                (lasts - traced.origin).told(),
                ends.told()
            );
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}

/// Why jobs were rejected at the only site, and how to avoid it.
pub(super) fn too_large(site: &SiteSpec, measures: &GridMeasures) -> Option<String> {
    let jobs = match measures.too_large() {
        0 => return None,
        1 => "1 job that requests".to_owned(),
        jobs => format!("{jobs} jobs that request"),
    };
    let largest = site.partitions.iter().max_by_key(|part| part.most())?;
    Some(if largest.most() < largest.usable() {
        format!(
            "rejected {jobs} more than the {} of {} processors that the power cap of {} leaves",
            largest.most(),
            largest.usable(),
            site.power_cap.unwrap_or_default()
        )
    } else if largest.allocation_unit > 1 {
        format!(
            "rejected {jobs} more than the {} processors that the machine gives in blocks of {}",
            largest.usable(),
            largest.allocation_unit
        )
    } else {
        let procs = largest.processors();
        format!(
            "rejected {jobs} more than {procs} processors; `--cap` reduces such jobs of a log to the machine"
        )
    })
}

/// How many jobs, tasks of workflows among them, no pool could run; `limited` if any have limits.
pub(super) fn rejected(tally: BrokerTally, limited: bool) -> Option<String> {
    let jobs = match tally.given_up {
        0 => return None,
        1 => "1 job was rejected, because no pool could run it".to_owned(),
        jobs => format!("{jobs} jobs were rejected, because no pool could run them"),
    };
    let limits = if limited { ", or none within their limits" } else { "" };
    Some(format!("{jobs}{limits}; tasks that wait for such a job are cancelled"))
}

/// Keys of the broker and of workflows that have no effect; `plans` says whether its policy plans tasks before they are ready.
pub fn without_effect(broker: &BrokerSpec, plans: bool) -> Vec<String> {
    let BrokerSpec { policy, replan, recall_queued, in_flight, workflow, .. } = broker;
    let mut told = Vec::new();
    if *replan != Replan::Never && !recall_queued && in_flight.is_none() {
        told.push(
            "`replan` has no effect: with `recall_queued = false` only jobs that the dispatcher holds back are recalled, and without `in_flight` it holds none back"
                .to_owned(),
        );
    }
    let of_plans = [
        ("transfer", workflow.transfer != TransferMode::default()),
        ("replan", workflow.replan != PlanRepair::default()),
        ("together", workflow.together),
    ];
    let idle: Vec<&str> = of_plans.iter().filter(|(_, given)| *given).map(|(key, _)| *key).collect();
    if !plans && !idle.is_empty() {
        let (keys, have) = (listed(idle.iter().copied()), if idle.len() == 1 { "has" } else { "have" });
        told.push(format!(
            "{keys} of `[workflow]` {have} no effect: `{policy}` assigns tasks when they are ready, and plans none before (`heft` does)"
        ));
    }
    if plans && workflow.order != TaskOrder::default() {
        told.push(format!("`order` of `[workflow]` has no effect: `{policy}` has an order of its own"));
    }
    told
}

/// What has no effect of what a broker policy looks at, and of what moved data takes: nothing has it, or moves.
pub fn unused_of_grid(resolved: &ResolvedScenario) -> Vec<String> {
    let ResolvedScenario { grid, portal, .. } = resolved;
    let mut told = Vec::new();
    if let Some(BrokerSpec { policy, .. }) = &grid.broker {
        let is = |key: &str, value: &str| policy.params.get(key).is_some_and(|written| written == value);
        let weighs = |key: &str| policy.params.get(key).is_some_and(|written| written.parse() != Ok(0.0));
        let knows = |of: fn(&SiteTariff) -> bool| grid.sites.iter().any(|site| of(&site.tariff));
        let (wanted, known) = match policy.name.as_str() {
            "cheapest" if is("of", "electricity") => {
                ("price of electricity", knows(|tariff| tariff.electricity.is_some()))
            }
            "lowest-carbon" => ("carbon intensity", knows(|tariff| tariff.carbon.is_some())),
            "weighted" if weighs("carbon") => ("carbon intensity", knows(|tariff| tariff.carbon.is_some())),
            _ => ("", true),
        };
        if !known {
            told.push(format!("`{policy}` has nothing to compare: no site has a {wanted}"));
        }
    }
    let moves = |planned: &PlannedWorkload| planned.input > Bytes::ZERO || planned.output > Bytes::ZERO;
    if !grid.network.data.is_none() && !resolved.has_workflows() && !portal.iter().any(moves) {
        told.push(
            "`energy` and `price` of `[network]` have no effect: no workload has data (`input`, `output`) or files"
                .to_owned(),
        );
    }
    told
}

/// What has no effect among the machines of a site.
pub fn unused_of_machines(site: &SiteSpec) -> Vec<String> {
    let mut told = Vec::new();
    let several = || site.partitions.iter().filter(|part| part.groups.len() > 1);
    if site.placement != PlacementRule::default() && several().next().is_none() {
        told.push(format!(
            "`placement` of site `{}` has no effect: none of its partitions has machines of several classes",
            site.name
        ));
    }
    let greatest = site.greatest_power();
    if let Some(cap) = site.power_cap.filter(|cap| *cap >= greatest) {
        told.push(format!(
            "`power_cap` of site `{}` has no effect: its machines draw {greatest} at most, and it is {cap}",
            site.name
        ));
    }
    let groups = || site.partitions.iter().flat_map(|part| &part.groups);
    let with_state: Vec<&str> =
        groups().filter(|group| group.sleep.is_some()).map(|group| group.class.as_str()).collect();
    match (site.power.name.as_str(), with_state.is_empty()) {
        ("always-on", false) => told.push(format!(
            "the `sleep` state of {} at site `{}` has no effect: under `power_policy = \"always-on\"` no machine sleeps",
            listed(with_state.iter().copied()),
            site.name
        )),
        // Classes with levels that it does not choose among are told by themselves.
        (policy, true) if !["always-on", "lowest-level"].contains(&policy) => told.push(format!(
            "`power_policy` of site `{}` has no effect: no class of its machines has a `sleep` state",
            site.name
        )),
        _ => {}
    }
    for part in several() {
        let least = part.equipment();
        let more = part.groups.iter().filter(|group| group.equipment != least);
        let more: Vec<&str> = more.map(|group| group.class.as_str()).collect();
        if !more.is_empty() {
            told.push(format!(
                "what {} of `{}/{}` {} of memory and tags more than the other classes has no effect: a task must fit all of them",
                listed(more.iter().copied()),
                site.name,
                part.name,
                if more.len() == 1 { "has" } else { "have" },
            ));
        }
    }
    told
}

/// What makes the figures of a run doubtful.
pub(super) fn doubts(run: &GridSummary) -> Vec<String> {
    let mut doubts = Vec::new();
    let (jobs, killed) = (run.measures.jobs, run.measures.outcomes.killed);
    if run.backlog.as_ref().is_some_and(|backlog| backlog.unstable) {
        doubts.push(
            "unstable: the backlog grew until the end, so the means depend on the length of the run"
                .to_owned(),
        );
    }
    // The load of the workload includes jobs that the machine rejects.
    let all_accepted = run.measures.outcomes.rejected == 0;
    let load = run.single.as_ref().and_then(|of| of.offered_load.as_ref());
    if let Some(load) = load.filter(|load| load.value > 1.0 && all_accepted) {
        doubts.push(format!(
            "offered load {:.2}: while jobs are submitted they are more work than the processors can do",
            load.value
        ));
    }
    if jobs == 0 && run.submitted > 0 {
        doubts.push(format!(
            "no job was submitted in the measurement window: there are no figures of jobs, although {} submitted outside it",
            if run.submitted == 1 { "1 job was".to_owned() } else { format!("{} jobs were", run.submitted) }
        ));
    }
    if killed > 0 && killed * 2 >= jobs {
        doubts.push(format!(
            "{killed} of {jobs} jobs were killed at their estimates: the figures are of work that was not completed; `--overrun` (`overrun = true` of a site) lets jobs exceed their estimates"
        ));
    }
    doubts
}
