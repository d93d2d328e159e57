//! Notes of a run: what a reader needs before trusting its figures.

use crate::entity::{Broker, BrokerTally, Portal, Site};
use crate::grid::{Grid, Policies};
use crate::metrics::{GridMeasures, GridSummary, Window};
use crate::model::{
    AtLimit, BrokerSpec, Outcome, PartitionSpec, PlanRepair, RejectReason, Replan, SiteSpec, TaskOrder,
    TransferMode,
};
use crate::scenario::{Scenario, listed};
use crate::units::{Span, Time, counted};
use crate::workload::LimitRules;

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

/// Wake-ups that take longer than the run, of machines that may sleep.
pub(super) fn of_wake_ups(policies: &Policies, grid: &Grid) -> Vec<String> {
    let sites = || grid.sites().map(Site::spec);
    let Some(ended) =
        grid.sites().flat_map(|site| site.partitions().iter().map(|part| part.usage().to)).max()
    else {
        return Vec::new();
    };
    let length = ended.since(Time::ZERO);
    let mut notes = Vec::new();
    for site in sites() {
        // A policy that does not exist has been refused.
        let Ok(power) = policies.power.build(&site.power) else { continue };
        for part in &site.partitions {
            for group in &part.groups {
                let Some(state) = group.sleep.filter(|state| state.wake >= length) else { continue };
                if power.sleep(&state, group.idle_machine(part.cores)).after < length {
                    notes.push(format!(
                        "a machine of `{}/{}` that sleeps takes {} to wake up, and the run took {}: no job can have got one",
                        site.name,
                        group.class,
                        state.wake.told(),
                        length.told()
                    ));
                }
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

/// How many jobs or workflows did not complete where limits refuse or end them, if those are many; `limits` are those of all workloads.
fn of_limits<'a>(run: &GridSummary, limits: impl Iterator<Item = &'a LimitRules>) -> Option<String> {
    let ends = |limits: &LimitRules| {
        let ends = |at: AtLimit| at != AtLimit::Overrun;
        (
            limits.deadline.is_some() && ends(limits.at_deadline),
            limits.budget.is_some() && ends(limits.at_budget),
        )
    };
    let (deadlines, budgets) = limits.map(ends).fold((false, false), |a, b| (a.0 | b.0, a.1 | b.1));
    let which = match (deadlines, budgets) {
        (false, false) => return None,
        (true, false) => "deadlines (`at_deadline`) refuse or end jobs",
        (false, true) => "budgets (`at_budget`) refuse or end jobs",
        (true, true) => "deadlines and budgets (`at_deadline`, `at_budget`) refuse or end jobs",
    };
    let (jobs, of) = (run.measures.jobs, &run.measures.outcomes);
    let lost = of.rejected + of.cancelled;
    (lost > 0 && lost * 2 >= jobs).then(|| {
        let all = if lost == jobs { "all " } else { "" };
        format!(
            "{all}{lost} of {jobs} jobs were rejected ({}) or cancelled ({}), and {which} here: see `reason` in `jobs.csv`",
            of.rejected, of.cancelled
        )
    })
}

/// What makes the figures of a run doubtful.
pub(super) fn doubts<'a>(run: &GridSummary, limits: impl Iterator<Item = &'a LimitRules>) -> Vec<String> {
    let mut doubts: Vec<String> = of_limits(run, limits).into_iter().collect();
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
