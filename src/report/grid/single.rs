//! The tables of one run of one site without a broker: a replay, or such a scenario.

use super::super::figures::{count, decimals, duration, jobs, number, percent};
use super::super::tables::{
    class_table, commands, dedicated, measures_table, outcomes, processor_time, recorded_waits_table,
};
use super::facts::{backlog, lines, noted};
use super::{lost, measured};
use crate::metrics::{GridSummary, Quantiles, SingleSite};
use crate::model::InstantOrder;

/// The measures of all jobs, then their outcomes, the use of processors and the time of the run itself, then the measures by class.
pub(super) fn tables(run: &GridSummary, of: &SingleSite) -> String {
    let mut parts = vec![heading(run, of), measures_table(&run.measures, run.quantiles)];
    if run.has_churn() {
        parts.push(lost::lost(&run.churn));
    }
    parts.push(lines(&facts(run, of)));
    parts.extend(class_table(&run.class_preset, &run.classes, run.quantiles));
    parts.extend(Some(recorded_waits_table(&of.recorded_waits)).filter(|waits| !waits.is_empty()));
    parts.extend(Some(noted(run).collect::<Vec<_>>().join("\n")).filter(|notes| !notes.is_empty()));
    parts.join("\n\n") + "\n"
}

fn heading(run: &GridSummary, of: &SingleSite) -> String {
    let order = match of.order {
        InstantOrder::Instant => "instant",
        InstantOrder::Event => "event",
    };
    // The scenario of a replay has the name of its workload.
    let name = Some(&run.facts.scenario).filter(|name| **name != of.workload);
    let mut out = name.map_or_else(String::new, |name| format!("{name}: "));
    out += &format!(
        "{} on {}: {}, {} processors\nestimates {}, one pass an {order}",
        of.policy,
        of.workload,
        jobs(run.submitted),
        count(u64::from(of.procs)),
        of.estimates,
    );
    if let Some(load) = &of.offered_load {
        out += &format!(", offered load {} of {}", number(Some(load.value), 3), load.over);
    }
    if of.random {
        out += &format!(", seed {}", run.facts.seed);
    }
    if !of.options.is_empty() {
        out += &format!("\nwith {}", of.options.join(" "));
    }
    if let Some(measured) = measured(run) {
        out += &format!("\n{measured}");
    }
    out
}

fn facts(run: &GridSummary, of: &SingleSite) -> Vec<(&'static str, String)> {
    let (times, account) = (&run.facts.times, &run.account);
    let mut facts = vec![("outcomes", outcomes(&run.measures))];
    facts.extend(dedicated(&run.measures).map(|told| ("dedicated jobs", told)));
    facts.extend(run.elastic.as_ref().map(|told| ("elastic commands", commands(told))));
    facts.push(("utilization", utilization(run)));
    facts.push(("processor time", processor_time(&account.usage)));
    let makespan = run.makespan.map_or("-".to_owned(), |secs| {
        let exact = number(Some(secs), if secs == libm::trunc(secs) { 0 } else { 6 });
        format!("{} ({exact} s)", duration(secs))
    });
    facts.push(("makespan", makespan));
    facts.push(("longest queue", jobs(of.longest_queue)));
    facts.extend(backlog(run));
    if let Some(drain) = run.drain_s {
        facts.push(("drain", format!("{} after the window", duration(drain))));
    }
    let energy = &account.energy;
    if energy.meter_kwh > 0.0 {
        let kwh = |value: f64| number(Some(value), decimals([Some(energy.facility_kwh)]));
        facts.push((
            "energy",
            format!(
                "{} kWh IT energy (jobs {}, idle {}), {} kWh facility energy",
                kwh(energy.meter_kwh),
                kwh(energy.jobs_kwh),
                kwh(energy.idle_kwh),
                kwh(energy.facility_kwh)
            ),
        ));
    }
    if let Some(cost) = energy.electricity_cost {
        facts.push(("electricity", number(Some(cost), 2)));
    }
    if account.cost != 0.0 {
        facts.push(("cost", number(Some(account.cost), 2)));
    }
    facts.push((
        "run time",
        format!(
            "read {:.3} s, schedule {:.3} s, write {:.3} s",
            times.read_s, times.schedule_s, times.write_s
        ),
    ));
    facts.push(("fingerprint", run.fingerprint.to_string()));
    facts.push(("definitions", definitions(run)));
    facts
}

fn utilization(run: &GridSummary) -> String {
    let account = &run.account;
    if account.utilization.is_none() {
        return "-".to_owned();
    }
    let nominal = percent(account.utilization);
    if account.utilization == account.utilization_available {
        format!("{nominal} %")
    } else {
        format!("{nominal} % of nominal, {} % of available", percent(account.utilization_available))
    }
}

/// The definitions of the three measures in the table and of the utilization, a line each.
fn definitions(run: &GridSummary) -> String {
    let shown = |id: &str| {
        matches!(id, "wait" | "response" | "utilization" | "submission")
            || id.starts_with("bsld")
            || (id == "lost" && run.has_churn())
    };
    let listed = run.definitions.iter().filter(|definition| shown(&definition.id));
    let mut out: Vec<_> =
        listed.map(|definition| format!("{} = {}", definition.id, definition.meaning)).collect();
    if run.quantiles == Quantiles::Sketch {
        out.push("~: approximation, at most 0.1 % too high".to_owned());
    }
    out.join("\n")
}
