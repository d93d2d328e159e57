//! The headline numbers of a run.

use std::collections::BTreeMap;

use serde_json::Value;

use super::facts::{Column, figure, percent, table, text};
use super::{Look, Table};
use crate::output::RunFolder;

/// The headline numbers of a run: a row for each site and one for the whole, or tiles for a single site. A column in which nothing
/// happened is left out.
pub(super) fn table_of(folder: &RunFolder, measures: &BTreeMap<String, f64>) -> Table {
    let sites = folder.summary().and_then(|summary| summary["sites"].as_array());
    let mut rows = sites.filter(|sites| sites.len() > 1).cloned().unwrap_or_default();
    let tiles = rows.is_empty();
    let mut whole = folder.summary().cloned().unwrap_or_else(|| {
        let known = ["jobs", "mean_wait", "mean_bounded_slowdown"].map(|id| (id, measures.get(id).copied()));
        known.into_iter().collect()
    });
    if !tiles {
        whole["name"] = "the grid".into();
        whole["policy"] = whole["broker"]["policy"].clone();
        whole["processors"] = rows.iter().filter_map(|site| site["processors"].as_u64()).sum::<u64>().into();
    }
    rows.push(whole);
    // Whether a column is left out if it has only zeros, and if there is only one site.
    let columns: [(Column<'_, Value>, bool, bool); 10] = [
        (("site (policy)", &site_and_policy), false, true),
        (("processors", &|site| figure(&site["processors"], 0)), false, true),
        (("jobs", &|site| figure(&site["jobs"], 0)), false, false),
        (("mean wait (s)", &|site| figure(&site["mean_wait"], 1)), false, false),
        (("mean bounded slowdown", &|site| figure(&site["mean_bounded_slowdown"], 2)), false, false),
        (("utilization", &|site| percent(&site["utilization"], 1)), false, false),
        (("down", &|site| percent(&site["down"], 1)), true, false),
        (("wasted processor time", &wasted_share), true, false),
        (("IT energy (kWh)", &|site| figure(&site["energy"]["meter_kwh"], 1)), true, false),
        (("cost to users", &|site| figure(&site["cost"], 2)), true, false),
    ];
    let empty = |cell: &str, zeros: bool| {
        let digits = cell.chars().any(|sign| sign.is_alphanumeric());
        !digits || zeros && !cell.chars().any(|sign| matches!(sign, '1'..='9'))
    };
    let columns: Vec<Column<'_, Value>> = columns
        .into_iter()
        .filter_map(|(column, zeros, grids)| {
            let shown = rows.iter().any(|row| !empty(&column.1(row), zeros)) && !(tiles && grids);
            shown.then_some(column)
        })
        .collect();
    Table { look: if tiles { Look::Tiles } else { Look::Total }, ..table("", &rows, &columns) }
}

/// The name of a site with its local policy, or of the grid with its broker policy.
fn site_and_policy(site: &Value) -> String {
    let policy = site["policy"].as_str().map(|policy| format!(" ({policy})"));
    text(&site["name"]) + &policy.unwrap_or_default()
}

/// Wasted processor time, in percent of all.
fn wasted_share(account: &Value) -> String {
    let usage = &account["usage"];
    let share = usage["wasted"].as_f64().zip(usage["nominal"].as_f64().filter(|nominal| *nominal > 0.0));
    percent(&share.map(|(wasted, nominal)| wasted / nominal).into(), 2)
}
