//! The headline numbers of a grid.

use super::super::figures::{count, decimals, number, percent};
use super::super::tables::Columns;
use super::{NAME, POLICY, WIDTH, cut, slowdown};
use crate::metrics::{Account, GridSummary, Measures};

const BILL: &str = "electricity\nbill";

/// The width of the name of a policy where a line would be too long.
const SHORT: usize = 14;

/// A row: name, policy, jobs that count, and the account, which jobs at no site do not have.
type Row<'a> = (String, String, &'a Measures, Option<&'a Account>);

/// A table of jobs, wait, slowdown, utilization, wasted work, energy and cost, with a row for each site and one for the whole. A column in
/// which nothing happened is left out. If lines would be too long, policies are cut, then left out, then the bill is.
pub(super) fn headline(run: &GridSummary) -> String {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for site in &run.sites {
        rows.push((cut(&site.name, NAME), site.policy.clone(), &site.measures, Some(&site.account)));
    }
    if run.no_site.jobs > 0 {
        rows.push(("at no site".to_owned(), String::new(), &run.no_site, None));
    }
    let broker = run.facts.broker.as_ref().map(|broker| broker.policy.clone()).unwrap_or_default();
    rows.push(("the grid".to_owned(), broker, &run.measures, Some(&run.account)));

    let figures = |of: fn(&Measures) -> Option<f64>| rows.iter().map(move |row| of(row.2));
    let of_accounts = |of: fn(&Account) -> Option<f64>| rows.iter().map(move |row| row.3.and_then(of));
    let shares = |of: fn(&Account) -> Option<f64>| {
        of_accounts(of)
            .zip(&rows)
            .map(|(share, row)| if row.3.is_some() { percent(share) } else { String::new() })
    };
    let anywhere = |of: fn(&Account) -> Option<f64>| of_accounts(of).flatten().any(|value| value != 0.0);
    let energy: fn(&Account) -> _ = |account| Some(account.energy.meter_kwh);
    let bill: fn(&Account) -> _ = |account| account.energy.electricity_cost;
    let cost: fn(&Account) -> _ = |account| Some(account.cost);
    let slowdown = format!("mean\n{}", slowdown(run));
    let table = |policy: usize, bills: bool| {
        let mut table = Columns::default().text("site", rows.iter().map(|row| row.0.clone()));
        if policy > 0 {
            table = table.text("policy", rows.iter().map(|row| cut(&row.1, policy)));
        }
        table = table
            .numbers("jobs", rows.iter().map(|row| count(row.2.jobs)))
            .figures("mean\nwait (s)", figures(|of| of.mean_wait))
            .figures(&slowdown, figures(|of| of.mean_bounded_slowdown))
            .numbers("utilization\n(%)", shares(|account| account.utilization));
        if anywhere(wasted) {
            table = table.numbers("wasted\n(%)", shares(wasted));
        }
        for (head, of, places) in [
            ("energy\n(kWh)", energy, decimals(of_accounts(energy))),
            (BILL, bill, 2),
            ("cost to\nusers", cost, 2),
        ] {
            let cell = |value: Option<f64>| value.map_or(String::new(), |value| number(Some(value), places));
            if anywhere(of) && (bills || head != BILL) {
                table = table.numbers(head, of_accounts(of).map(cell));
            }
        }
        table.finish()
    };
    let fits = |table: &String| table.lines().all(|line| line.chars().count() <= WIDTH);
    let mut tables = [POLICY, SHORT, 0].into_iter().map(|policy| table(policy, true));
    tables.find(fits).unwrap_or_else(|| table(0, false))
}

/// The share of wasted work in all processor time.
fn wasted(account: &Account) -> Option<f64> {
    let usage = &account.usage;
    (usage.nominal > 0.0).then(|| usage.wasted / usage.nominal)
}
