//! The tables of one run of a grid: what ran where, wasted work, energy and cost.

mod facts;
mod headline;
mod single;
mod wasted;
mod workflows;

use facts::{facts, few_facts, lines, notes};

use super::figures::{count, decimals, duration, jobs, number, percent, wrapped};
use super::tables::{Columns, class_table, kind_table};
use crate::metrics::{Account, EnergySummary, GridSummary, Measures, PerWork, Quantiles, SiteSummary};
use crate::model::Payer;

/// Maximum width of a line, in characters.
const WIDTH: usize = 100;
/// Maximum width of the name of a site, in characters.
const NAME: usize = 20;
/// Maximum width of the name of a policy, in characters.
const POLICY: usize = 26;

/// How much is printed of a run of a grid.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// One table, with a row for each site and one for the whole.
    #[default]
    Headline,
    /// All tables.
    All,
}

/// The tables of one run. For one site without a broker: the measures of its jobs, their outcomes, and how its processors were
/// used. For any other grid: the headline numbers of the sites and of the whole, and on request what ran where, how the sites were used,
/// wasted work (if there was churn), energy and cost (if anything draws power or has a price), then the outcomes of the jobs and where
/// the wall-clock time of the run went.
pub fn grid_tables(run: &GridSummary, detail: Detail) -> String {
    if let Some(of) = &run.single {
        return single::tables(run, of);
    }
    let mut parts = vec![heading(run), headline::headline(run)];
    if detail == Detail::Headline {
        parts.push(lines(&few_facts(run)));
        parts.extend(notes(run));
        return parts.join("\n\n") + "\n";
    }
    parts.extend([ran(run), used(run)]);
    if run.has_churn() {
        parts.push(wasted::wasted(run));
    }
    if run.account.energy.meter_kwh > 0.0 || run.account.cost != 0.0 {
        parts.push(cost(run));
    }
    parts.push(lines(&facts(run)));
    parts.extend(class_table(&run.class_preset, &run.classes, run.quantiles));
    parts.extend(kind_table(&run.kinds, run.quantiles));
    parts.extend(notes(run));
    parts.join("\n\n") + "\n"
}

fn heading(run: &GridSummary) -> String {
    let sites = run.sites.len();
    let processors: u64 = run.sites.iter().map(|site| site.processors).sum();
    let mut out = format!(
        "{}: {sites} {}, {} processors, {}",
        run.facts.scenario,
        if sites == 1 { "site" } else { "sites" },
        count(processors),
        jobs(run.submitted),
    );
    if let (Some(begin), Some(end)) = (run.begin_s, run.end_s) {
        out += &format!(" in {} of virtual time", duration(end - begin));
        // By `at_least` or `until`, well after the last job ended.
        let accounted = run.account.usage.nominal / processors.max(1) as f64;
        if accounted > 1.1 * end + 60.0 {
            out += &format!(", energy and use of {}", duration(accounted));
        }
    }
    out += &format!("\nseed {}, engine {}", run.facts.seed, run.facts.engine);
    if let Some(measured) = measured(run) {
        out += &format!("\n{measured}");
    }
    out.lines().flat_map(|line| wrapped(line, WIDTH)).collect::<Vec<_>>().join("\n")
}

/// The measured window, if the run has one.
fn measured(run: &GridSummary) -> Option<String> {
    let window = run.measure.as_ref()?;
    Some(format!(
        "measured: the {} submitted from {} to {}; the other {} are left out of figures of jobs",
        jobs(run.measures.jobs),
        duration(window.from),
        duration(window.to),
        count(run.outside.total()),
    ))
}

/// Shortens a text to at most `most` characters.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// A row of the jobs by site: name, number of local jobs and of grid jobs, and the measures of all.
type Group<'a> = (String, Option<u64>, Option<u64>, &'a Measures);

fn ran(run: &GridSummary) -> String {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for site in &run.sites {
        groups.push((cut(&site.name, NAME), Some(site.local.jobs), Some(site.grid.jobs), &site.measures));
    }
    let (local, grid) = (&run.local.measures, &run.grid.measures);
    if run.no_site.jobs > 0 {
        let rest = |jobs: u64, of: fn(&SiteSummary) -> u64| {
            Some(jobs.saturating_sub(run.sites.iter().map(of).sum()))
        };
        let (local, grid) =
            (rest(local.jobs, |site| site.local.jobs), rest(grid.jobs, |site| site.grid.jobs));
        groups.push(("at no site".to_owned(), local, grid, &run.no_site));
    }
    groups.push(("local jobs".to_owned(), Some(local.jobs), None, local));
    groups.push(("grid jobs".to_owned(), None, Some(grid.jobs), grid));
    groups.push(("all jobs".to_owned(), Some(local.jobs), Some(grid.jobs), &run.measures));

    let counts = |of: fn(&Group<'_>) -> Option<u64>| {
        groups.iter().map(move |group| of(group).map_or(String::new(), count))
    };
    let figures = |of: fn(&Measures) -> Option<f64>| groups.iter().map(move |(.., measures)| of(measures));
    let slowdown = slowdown(run);
    let p95 = if run.quantiles == Quantiles::Sketch { "~p95" } else { "p95" };
    Columns::default()
        .text("jobs by site", groups.iter().map(|(name, ..)| name.clone()))
        .numbers("local\njobs", counts(|(_, local, ..)| *local))
        .numbers("grid\njobs", counts(|(_, _, grid, _)| *grid))
        .figures("mean\nwait (s)", figures(|of| of.mean_wait))
        .figures(&format!("{p95}\nwait (s)"), figures(|of| of.p95_wait))
        .figures("mean\nresponse (s)", figures(|of| of.mean_response))
        .figures(&format!("mean\n{slowdown}"), figures(|of| of.mean_bounded_slowdown))
        .figures(&format!("{p95}\n{slowdown}"), figures(|of| of.p95_bounded_slowdown))
        .finish()
}

/// The name of the bounded slowdown with its bound: `bsld10`.
fn slowdown(run: &GridSummary) -> &str {
    let slowdown = run.definitions.iter().find(|definition| definition.id.starts_with("bsld"));
    slowdown.map_or("bsld", |definition| &definition.id)
}

/// The accounts of the sites and of the whole grid: name, policy, number of processors, and account.
fn accounts(run: &GridSummary) -> Vec<(String, String, u64, &Account)> {
    let mut rows = Vec::new();
    for site in &run.sites {
        rows.push((cut(&site.name, NAME), cut(&site.policy, POLICY), site.processors, &site.account));
    }
    let processors = run.sites.iter().map(|site| site.processors).sum();
    rows.push(("the grid".to_owned(), String::new(), processors, &run.account));
    rows
}

fn used(run: &GridSummary) -> String {
    let rows = accounts(run);
    let shares = |of: fn(&Account) -> Option<f64>| rows.iter().map(move |(.., account)| percent(of(account)));
    Columns::default()
        .text("usage by site", rows.iter().map(|(name, ..)| name.clone()))
        .text("policy", rows.iter().map(|(_, policy, ..)| policy.clone()))
        .numbers("processors", rows.iter().map(|(_, _, processors, _)| count(*processors)))
        .numbers("utilization\n(%)", shares(|account| account.utilization))
        .numbers("of available\n(%)", shares(|account| account.utilization_available))
        .numbers("down\n(%)", shares(|account| account.down))
        .finish()
}

/// What was taken for each unit of useful work.
fn per_work(per: &PerWork) -> String {
    let of = |value: f64, places: usize| number(Some(value), decimals_of(value, places));
    let mut told = Vec::new();
    if per.energy_kwh > 0.0 {
        told.push(format!("{} kWh", of(per.energy_kwh, 3)));
    }
    told.extend(per.electricity.map(|paid| format!("electricity {}", of(paid, 3))));
    told.extend(per.carbon_kg.map(|kg| format!("{} g CO₂e", of(kg * 1e3, 1))));
    if per.cost > 0.0 {
        told.push(format!("{} paid by users", of(per.cost, 3)));
    }
    format!("{}; {} core-hours at speed 1", told.join(", "), number(Some(per.core_h), 0))
}

/// At least three digits of a small value.
fn decimals_of(value: f64, least: usize) -> usize {
    let small = if value == 0.0 { 0.0 } else { -libm::floor(libm::log10(libm::fabs(value))) + 2.0 };
    least.max(small.clamp(0.0, 9.0) as usize)
}

fn cost(run: &GridSummary) -> String {
    let rows = accounts(run);
    let places = decimals(rows.iter().map(|(.., account)| Some(account.energy.facility_kwh)));
    let kwh = |value: f64| number(Some(value), places);
    let energy =
        |of: fn(&EnergySummary) -> f64| rows.iter().map(move |(.., account)| kwh(of(&account.energy)));
    let mut table = Columns::default()
        .text("energy and cost", rows.iter().map(|(name, ..)| name.clone()))
        .numbers("jobs\n(kWh)", energy(|energy| energy.jobs_kwh))
        .numbers("idle\n(kWh)", energy(|energy| energy.idle_kwh));
    if run.account.energy.asleep_kwh.is_some() {
        table = table
            .numbers("asleep\n(kWh)", energy(|energy| energy.asleep_kwh.unwrap_or(0.0)))
            .numbers("transitions\n(kWh)", energy(|energy| energy.transitions_kwh.unwrap_or(0.0)));
    }
    table = table
        .numbers("IT energy\n(kWh)", energy(|energy| energy.meter_kwh))
        .numbers("facility\nenergy (kWh)", energy(|energy| energy.facility_kwh));
    if run.account.energy.electricity_cost.is_some() {
        let bills = rows.iter().map(|(.., account)| number(account.energy.electricity_cost, 2));
        table = table.numbers("electricity\nbill", bills);
    }
    if run.account.energy.carbon_kg.is_some() {
        let places = decimals(rows.iter().map(|(.., account)| account.energy.carbon_kg));
        let carbon = rows.iter().map(|(.., account)| number(account.energy.carbon_kg, places));
        table = table.numbers("carbon\n(kg CO₂e)", carbon);
    }
    table = table.numbers("cost to\nusers", rows.iter().map(|(.., account)| number(Some(account.cost), 2)));
    let measured = if run.measure.is_some() { "measured " } else { "" };
    let charged = format!(
        "{measured}local jobs {} ({} kWh), {measured}grid jobs {} ({} kWh)",
        number(Some(run.local.charged), 2),
        kwh(run.local.charged_kwh),
        number(Some(run.grid.charged), 2),
        kwh(run.grid.charged_kwh),
    );
    let mut facts = vec![("charged", charged)];
    facts.extend(run.account.per_work.map(|per| ("per useful core-hour", per_work(&per))));
    if let Some(broker) = run.facts.broker.as_ref().filter(|_| run.has_churn()) {
        let who = match broker.failed_attempts {
            Payer::User => "charged to the user",
            Payer::Site => "not charged",
        };
        facts.push(("failed attempts", who.to_owned()));
    }
    table.finish() + "\n\n" + &lines(&facts)
}
