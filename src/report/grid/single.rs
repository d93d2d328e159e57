//! The tables of one run of one site without a broker: a replay, or such a scenario.

use super::super::figures::{count, decimals, duration, jobs, number, percent};
use super::super::tables::{
    class_table, kind_table, measures_table, outcomes, processor_time, recorded_waits_table,
};
use super::facts::{backlog, definitions, lines, noted, of_some_jobs, run_time};
use super::{measured, wasted};
use crate::metrics::{GridSummary, SingleSite, SiteSummary};
use crate::model::InstantOrder;

/// The measures of all jobs, then their outcomes, the use of processors and the time of the run itself, then the measures by class and by kind.
pub(super) fn tables(run: &GridSummary, of: &SingleSite) -> String {
    let mut parts = vec![heading(run, of), measures_table(&run.measures, run.quantiles)];
    if run.has_churn() {
        parts.push(wasted::wasted(run));
    }
    parts.push(lines(&facts(run, of)));
    parts.extend(class_table(&run.class_preset, &run.classes, run.quantiles));
    parts.extend(kind_table(&run.kinds, run.quantiles));
    parts.extend(recorded_waits_table(&of.recorded_waits));
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
    let account = &run.account;
    let mut facts = vec![("outcomes", outcomes(&run.measures))];
    facts.extend(of_some_jobs(run));
    facts.push(("utilization", utilization(run)));
    facts.push(("processor time", processor_time(&account.usage)));
    let makespan = run.makespan.map_or("-".to_owned(), |secs| {
        let exact = number(Some(secs), if secs == libm::trunc(secs) { 0 } else { 6 });
        format!("{} ({exact} s)", duration(secs))
    });
    facts.push(("makespan", makespan));
    facts.push(("longest queue", jobs(of.longest_queue)));
    facts.extend(backlog(run));
    if let [SiteSummary { power_cap_w: Some(cap), most_in_use: Some(most), .. }] = &run.sites[..] {
        facts.push(("power cap", format!("{cap} W: at most {} processors in use at once", count(*most))));
    }
    let energy = &account.energy;
    if energy.meter_kwh > 0.0 {
        let places = decimals([Some(energy.facility_kwh)]);
        let kwh = |kwh: f64| number(Some(kwh), places);
        let mut parts = format!("jobs {}, idle {}", kwh(energy.jobs_kwh), kwh(energy.idle_kwh));
        if let (Some(asleep), Some(transitions)) = (energy.asleep_kwh, energy.transitions_kwh) {
            parts += &format!(", asleep {}, transitions {}", kwh(asleep), kwh(transitions));
        }
        let (meter, facility) = (kwh(energy.meter_kwh), kwh(energy.facility_kwh));
        facts.push(("energy", format!("{meter} kWh IT energy ({parts}), {facility} kWh facility energy")));
    }
    if let Some(cost) = energy.electricity_cost {
        facts.push(("electricity", number(Some(cost), 2)));
    }
    if let Some(carbon) = energy.carbon_kg {
        facts.push(("carbon", format!("{} kg CO₂e", number(Some(carbon), decimals([Some(carbon)])))));
    }
    if account.cost != 0.0 {
        facts.push(("cost", number(Some(account.cost), 2)));
    }
    facts.push(("wall-clock time", run_time(run, "schedule")));
    facts.push(("fingerprint", run.fingerprint.to_string()));
    facts.push((
        "definitions",
        definitions(run, &["wait", "response", "utilization", "submission", "wasted"], &[]),
    ));
    facts
}

fn utilization(run: &GridSummary) -> String {
    let account = &run.account;
    let nominal = percent(account.utilization);
    match account.utilization {
        None => nominal,
        share if share == account.utilization_available => format!("{nominal} %"),
        _ => format!("{nominal} % of nominal, {} % of available", percent(account.utilization_available)),
    }
}
