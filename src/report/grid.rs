//! The tables of one run of a grid: what ran where, wasted work, energy and cost.

mod facts;
mod lost;
mod single;

use facts::{facts, lines, notes, wrapped};

use super::figures::{count, decimals, duration, jobs, number, percent};
use super::tables::{class_table, table, text_table};
use crate::metrics::{Account, GridSummary, Measures, Quantiles, SiteSummary};
use crate::model::Payer;

/// Maximum width of a line, in characters.
const WIDTH: usize = 100;
/// Maximum width of the name of a site, in characters.
const NAME: usize = 20;
/// Maximum width of the name of a policy, in characters.
const POLICY: usize = 26;

/// The tables of one run. For one site without a broker: the measures of its jobs, their outcomes, and how its processors were
/// used. For any other grid: what ran where, how the sites were used, wasted work (if there was churn), energy and cost (if
/// anything draws power or has a price), then the outcomes of the jobs and where the wall-clock time of the run went.
pub fn grid_tables(run: &GridSummary) -> String {
    if let Some(of) = &run.single {
        return single::tables(run, of);
    }
    let mut parts = vec![heading(run), ran(run), used(run)];
    if run.has_churn() {
        parts.push(lost::lost(&run.churn));
    }
    if run.account.energy.meter_kwh > 0.0 || run.account.cost != 0.0 {
        parts.push(cost(run));
    }
    parts.push(lines(&facts(run)));
    parts.extend(class_table(&run.class_preset, &run.classes, run.quantiles));
    parts.extend(notes(run));
    parts.join("\n\n") + "\n"
}

fn heading(run: &GridSummary) -> String {
    let sites = run.sites.len();
    let processors = run.sites.iter().map(|site| site.processors).sum();
    let mut out = format!(
        "{}: {sites} {}, {} processors, {}",
        run.facts.scenario,
        if sites == 1 { "site" } else { "sites" },
        count(processors),
        jobs(run.submitted),
    );
    if let (Some(begin), Some(end)) = (run.begin_s, run.end_s) {
        out += &format!(" in {} of virtual time", duration(end - begin));
    }
    out += &format!("\nseed {}, engine {}", run.facts.seed, run.facts.engine);
    if let Some(measured) = measured(run) {
        out += &format!("\n{measured}");
    }
    let wrapped: Vec<_> = out.lines().flat_map(|line| wrapped(line, WIDTH)).collect();
    wrapped.join("\n")
}

/// The measured window, if the run has one.
fn measured(run: &GridSummary) -> Option<String> {
    let window = run.measure.as_ref()?;
    Some(format!(
        "measured: the {} submitted from {} to {}; the other {} count in no figure of jobs",
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

fn ran(run: &GridSummary) -> String {
    let mut groups: Vec<(String, Option<u64>, Option<u64>, &Measures)> = Vec::new();
    for site in &run.sites {
        groups.push((cut(&site.name, NAME), Some(site.local.jobs), Some(site.grid.jobs), &site.measures));
    }
    let ended_somewhere = |of: fn(&SiteSummary) -> u64| run.sites.iter().map(of).sum::<u64>();
    if run.no_site.jobs > 0 {
        let local = run.local.measures.jobs.saturating_sub(ended_somewhere(|site| site.local.jobs));
        let grid = run.grid.measures.jobs.saturating_sub(ended_somewhere(|site| site.grid.jobs));
        groups.push(("at no site".to_owned(), Some(local), Some(grid), &run.no_site));
    }
    let (local, grid) = (&run.local.measures, &run.grid.measures);
    groups.push(("local jobs".to_owned(), Some(local.jobs), None, local));
    groups.push(("grid jobs".to_owned(), None, Some(grid.jobs), grid));
    groups.push(("all jobs".to_owned(), Some(local.jobs), Some(grid.jobs), &run.measures));

    let figures = |of: fn(&Measures) -> Option<f64>| {
        let figures: Vec<_> = groups.iter().map(|(.., measures)| of(measures)).collect();
        let places = decimals(figures.iter().copied());
        figures.into_iter().map(|figure| number(figure, places)).collect::<Vec<_>>()
    };
    let columns = [
        figures(|of| of.mean_wait),
        figures(|of| of.p95_wait),
        figures(|of| of.mean_response),
        figures(|of| of.mean_bounded_slowdown),
        figures(|of| of.p95_bounded_slowdown),
    ];
    let rows = groups.iter().enumerate().map(|(at, (name, local, grid, _))| {
        let counts = [*local, *grid].map(|jobs| jobs.map_or(String::new(), count));
        [name.clone()]
            .into_iter()
            .chain(counts)
            .chain(columns.iter().map(|column| column[at].clone()))
            .collect()
    });
    let slowdown = run.definitions.iter().find(|definition| definition.id.starts_with("bsld"));
    let slowdown = slowdown.map_or("bsld", |definition| &definition.id);
    let p95 = if run.quantiles == Quantiles::Sketch { "~p95" } else { "p95" };
    let [p95_wait, mean_bsld, p95_bsld] =
        [format!("{p95}\nwait (s)"), format!("mean\n{slowdown}"), format!("{p95}\n{slowdown}")];
    let header = [
        "jobs by site",
        "local\njobs",
        "grid\njobs",
        "mean\nwait (s)",
        &p95_wait,
        "mean\nresponse (s)",
        &mean_bsld,
        &p95_bsld,
    ];
    table(header, rows)
}

fn used(run: &GridSummary) -> String {
    let row = |name: &str, policy: &str, processors: u64, account: &Account| {
        vec![
            cut(name, NAME),
            cut(policy, POLICY),
            count(processors),
            percent(account.utilization),
            percent(account.utilization_available),
            percent(account.down),
        ]
    };
    let sites = run.sites.iter().map(|site| row(&site.name, &site.policy, site.processors, &site.account));
    let whole = row("the grid", "", run.sites.iter().map(|site| site.processors).sum(), &run.account);
    text_table(
        2,
        &["usage by site", "policy", "processors", "utilization\n(%)", "of available\n(%)", "down\n(%)"],
        sites.chain([whole]),
    )
}

fn cost(run: &GridSummary) -> String {
    let accounts = || run.sites.iter().map(|site| &site.account).chain([&run.account]);
    let energy = decimals(accounts().map(|account| Some(account.energy.facility_kwh)));
    let kwh = |value: f64| number(Some(value), energy);
    let billed = run.account.energy.electricity_cost.is_some();
    let row = |name: &str, account: &Account| {
        let spent = &account.energy;
        let [jobs, idle, meter, facility] =
            [spent.jobs_kwh, spent.idle_kwh, spent.meter_kwh, spent.facility_kwh].map(kwh);
        let mut row = vec![cut(name, NAME), jobs, idle, meter, facility];
        if billed {
            row.push(number(spent.electricity_cost, 2));
        }
        row.push(number(Some(account.cost), 2));
        row
    };
    let sites = run.sites.iter().map(|site| row(&site.name, &site.account));
    let mut head =
        vec!["energy and cost", "jobs\n(kWh)", "idle\n(kWh)", "IT energy\n(kWh)", "facility\nenergy (kWh)"];
    if billed {
        head.push("electricity\nbill");
    }
    head.push("cost to\nusers");
    let mut out = text_table(1, &head, sites.chain([row("the grid", &run.account)]));
    let charged = format!(
        "local jobs {} for {} kWh, grid jobs {} for {} kWh",
        number(Some(run.local.charged), 2),
        kwh(run.local.charged_kwh),
        number(Some(run.grid.charged), 2),
        kwh(run.grid.charged_kwh),
    );
    let mut facts = vec![("charged", charged)];
    if let Some(broker) = run.facts.broker.as_ref().filter(|_| run.has_churn()) {
        let who = match broker.failed_attempts {
            Payer::User => "charged to the user",
            Payer::Site => "not charged",
        };
        facts.push(("failed attempts", who.to_owned()));
    }
    out += "\n\n";
    out + &lines(&facts)
}
