//! The headline numbers of a run.

use std::collections::BTreeMap;

use serde_json::Value;

use super::facts::{Column, figure, percent, shown, table, text};
use super::{Look, Table};
use crate::output::RunFolder;

/// With more sites the first screen has the whole grid only.
const SITES: usize = 8;

/// The headline numbers of a run: a row for each site and one for the whole, or tiles of the whole for one site and for many.
pub(super) fn headline(folder: &RunFolder, measures: &BTreeMap<String, f64>) -> Table {
    if (2..=SITES).contains(&sites(folder).len()) {
        return by_site(folder);
    }
    let whole = folder.summary().cloned().unwrap_or_else(|| {
        let known = ["jobs", "mean_wait", "mean_bounded_slowdown"].map(|id| (id, measures.get(id).copied()));
        known.into_iter().collect()
    });
    Table { look: Look::Tiles, ..of_accounts(&[whole], &[]) }
}

/// The same by site, if there are too many sites for the first screen.
pub(super) fn of_many_sites(folder: &RunFolder) -> Option<Table> {
    (sites(folder).len() > SITES).then(|| Table { caption: "By site".to_owned(), ..by_site(folder) })
}

fn sites(folder: &RunFolder) -> &[Value] {
    let sites = folder.summary().and_then(|summary| summary["sites"].as_array());
    sites.map_or(&[], Vec::as_slice)
}

fn by_site(folder: &RunFolder) -> Table {
    let mut rows = sites(folder).to_vec();
    let mut whole = folder.summary().cloned().unwrap_or_default();
    whole["name"] = "the grid".into();
    whole["policy"] = whole["broker"]["policy"].clone();
    whole["processors"] = rows.iter().filter_map(|site| site["processors"].as_u64()).sum::<u64>().into();
    rows.push(whole);
    let names: [Column<'_, Value>; 2] =
        [("site (policy)", &site_and_policy), ("processors", &|site| figure(&site["processors"], 0))];
    Table { look: Look::Total, ..of_accounts(&rows, &names) }
}

/// A row for each account of a site or of a grid. What is unknown is left out, and so are columns of zeros if these say that the run
/// has no such thing.
fn of_accounts(rows: &[Value], names: &[Column<'_, Value>]) -> Table {
    let jobs: [Column<'_, Value>; 4] = [
        ("jobs", &|of| figure(&of["jobs"], 0)),
        ("mean wait (s)", &|of| figure(&of["mean_wait"], 1)),
        ("mean bounded slowdown", &|of| figure(&of["mean_bounded_slowdown"], 2)),
        ("utilization", &|of| percent(&of["utilization"], 1)),
    ];
    let others: [Column<'_, Value>; 4] = [
        ("down", &|of| percent(&of["down"], 1)),
        ("wasted processor time", &wasted),
        ("IT energy (kWh)", &|of| amount("energy.meter_kwh", &of["energy"]["meter_kwh"])),
        ("cost to users", &|of| amount("cost", &of["cost"])),
    ];
    let any = |column: &Column<'_, Value>, sign: fn(char) -> bool| {
        rows.iter().any(|row| column.1(row).contains(sign))
    };
    let known = jobs.into_iter().filter(|column| any(column, char::is_alphanumeric));
    let some = others.into_iter().filter(|column| any(column, |sign| matches!(sign, '1'..='9')));
    let columns: Vec<Column<'_, Value>> = names.iter().copied().chain(known).chain(some).collect();
    table("", rows, &columns)
}

/// The name of a site with its local policy, or of the grid with its broker policy.
fn site_and_policy(site: &Value) -> String {
    let policy = site["policy"].as_str().map(|policy| format!(" ({policy})"));
    text(&site["name"]) + &policy.unwrap_or_default()
}

/// A measure, with as many decimals as suit it.
fn amount(id: &str, value: &Value) -> String {
    value.as_f64().map_or_else(|| "–".to_owned(), |value| shown(id, value))
}

/// Wasted processor time, in percent of all.
fn wasted(account: &Value) -> String {
    let usage = &account["usage"];
    let share = usage["wasted"].as_f64().zip(usage["nominal"].as_f64().filter(|nominal| *nominal > 0.0));
    percent(&share.map(|(wasted, nominal)| wasted / nominal).into(), 2)
}
