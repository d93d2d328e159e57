//! Two futures of one run, side by side.

use super::figures::{decimals, duration, jobs, number, three_digits};
use super::tables::text_table;
use crate::experiment::{Branch, Difference, Futures};
use crate::metrics::{GridSummary, Measures, WorkflowSummary};
use crate::model::Outcome;

/// A table of both futures, after what they have in common.
pub fn futures_table(futures: &Futures) -> String {
    let Futures { branch, as_it_was, changed, after: [before, after], difference } = futures;
    let mut rows = measured(&as_it_was.measures, &changed.measures);
    rows.extend(accounts(as_it_was, changed));
    let mut out = heading(branch, difference.as_ref(), rows.iter().all(is_equal));
    if as_it_was.measures.outcomes != changed.measures.outcomes {
        out += "warning: the outcomes of jobs differ between the two futures, so their means are not of the same jobs\n\n";
    }
    out += &format!(
        "all jobs that ended after the fork\n\n{}\n\n{}\n\n{}\n\n\
         fingerprints  {} as it was\n              {} changed\n",
        side_by_side(&measured(before, after)),
        whole_run(as_it_was),
        side_by_side(&rows),
        as_it_was.fingerprint,
        changed.fingerprint
    );
    out
}

fn heading(branch: &Branch, difference: Option<&Difference>, same_accounts: bool) -> String {
    let Branch { title, at_s, jobs: ended, changes, .. } = branch;
    let mut out = format!("{title}: forked at {} ({at_s} s), {}\n\n", duration(*at_s), branch.from());
    out += &format!(" common past       {} had ended\n", jobs(*ended));
    let nothing = ["nothing".to_owned()];
    let changes = if changes.is_empty() { &nothing[..] } else { changes };
    for (change, name) in changes.iter().zip(["changed"].into_iter().chain(std::iter::repeat(""))) {
        out += &format!(" {name:17} {change}\n");
    }
    out += " first difference  ";
    out += &match difference {
        None if same_accounts => "none: both futures are the same, record by record\n\n".to_owned(),
        None => "none in the records of jobs and events; the accounts below differ\n\n".to_owned(),
        Some(Difference { at_s: at, record }) => {
            format!(
                "at {} ({at} s), {} after the fork, the changed future has: {record}\n\n",
                duration(*at),
                duration(at - at_s)
            )
        }
    };
    out
}

/// A row: name, both values, and decimals; `None` chooses the decimals by the values.
type Row = (&'static str, Option<f64>, Option<f64>, Option<usize>);

fn measured(before: &Measures, after: &Measures) -> Vec<Row> {
    let figure = |name, of: fn(&Measures) -> Option<f64>| -> Row { (name, of(before), of(after), None) };
    let mut outcomes = Outcome::NAMES;
    (outcomes[0], outcomes[1]) = ("jobs completed", "killed at their estimate");
    let counts = before.outcomes.counts().into_iter().zip(after.outcomes.counts());
    let counted = outcomes.into_iter().zip(counts).enumerate();
    let present = counted.filter(|(at, (_, counts))| *at == 0 || *counts != (0, 0));
    let mut rows: Vec<Row> =
        present.map(|(_, (name, (a, b)))| (name, Some(a as f64), Some(b as f64), Some(0))).collect();
    rows.extend([
        figure("mean wait (s)", |m| m.mean_wait),
        figure("p95 wait (s)", |m| m.p95_wait),
        figure("mean response (s)", |m| m.mean_response),
        figure("mean bounded slowdown", |m| m.mean_bounded_slowdown),
        figure("p95 bounded slowdown", |m| m.p95_bounded_slowdown),
    ]);
    rows
}

fn accounts(before: &GridSummary, after: &GridSummary) -> Vec<Row> {
    let figure = |name, of: fn(&GridSummary) -> Option<f64>| -> Row { (name, of(before), of(after), None) };
    let wasted = |run: &GridSummary| Some(run.sites.iter().map(|site| site.wasted_proc_s / 3_600.0).sum());
    let wasted_name = match before.measure {
        Some(_) => "wasted by churn in the window (proc-h)",
        None => "wasted by churn (proc-h)",
    };
    let mut rows = of_workflows(before, after);
    rows.extend([
        figure("last end (s)", |run| run.end_s),
        figure("utilization (%)", |run| run.account.utilization.map(|share| share * 100.0)),
        figure(wasted_name, wasted),
        figure("cost", |run| Some(run.account.cost)),
        figure("facility energy (kWh)", |run| Some(run.account.energy.facility_kwh)),
    ]);
    let small = |name, of: fn(&GridSummary) -> Option<f64>| -> Row {
        let values = [of(before), of(after)];
        (name, values[0], values[1], Some(decimals(values).max(three_digits(values))))
    };
    let known = [
        small("electricity bill", |run| run.account.energy.electricity_cost),
        small("carbon (kg)", |run| run.account.energy.carbon_kg),
        small("energy of moved data (kWh)", |run| run.account.ledger?.energy_kwh.data),
        small("price of moved data", |run| run.account.ledger?.electricity?.data),
        small("carbon of moved data (kg)", |run| run.account.ledger?.carbon_kg?.data),
    ];
    rows.extend(known.into_iter().filter(|row| [row.1, row.2].iter().flatten().any(|value| *value != 0.0)));
    rows
}

/// What the workflows of the whole run took; nothing if there were none.
fn of_workflows(before: &GridSummary, after: &GridSummary) -> Vec<Row> {
    let none = WorkflowSummary::default();
    let [before, after] = [before, after].map(|run| run.workflows.as_ref());
    if before.or(after).is_none() {
        return Vec::new();
    }
    let [before, after] = [before, after].map(|of| of.unwrap_or(&none));
    let figure =
        |name, of: fn(&WorkflowSummary) -> Option<f64>| -> Row { (name, of(before), of(after), None) };
    let count = |name, of: fn(&WorkflowSummary) -> u64| -> Row {
        (name, Some(of(before) as f64), Some(of(after) as f64), Some(0))
    };
    let mut rows = vec![
        count("workflows completed", |of| of.completed),
        count("attempts of their tasks", |of| of.attempts),
        figure("mean makespan of workflows (s)", |of| of.mean_makespan),
        figure("mean schedule length ratio", |of| of.mean_slr),
        figure("mean slowdown of workflows", |of| of.mean_slowdown),
    ];
    let shares = before.share.each().into_iter().zip(after.share.each());
    for (name, (before, after)) in SHARES.into_iter().zip(shares) {
        if [before, after].iter().flatten().any(|share| *share > 0.0) {
            let [before, after] = [before, after].map(|share| share.map(|share| share * 100.0));
            rows.push((name, before, after, None));
        }
    }
    let small = |name, of: fn(&WorkflowSummary) -> Option<f64>| -> Row {
        (name, of(before), of(after), Some(three_digits([of(before), of(after)])))
    };
    let charged = [
        figure("data moved for a workflow (MB)", |of| of.mean_moved_bytes.map(|bytes| bytes / 1e6)),
        small("energy of a workflow (kWh)", |of| of.mean_energy_kwh),
        small("cost of a workflow", |of| of.mean_cost),
    ];
    rows.extend(charged.into_iter().filter(|row| [row.1, row.2].iter().flatten().any(|value| *value != 0.0)));
    rows
}

/// What makespans go to, in the order of [`ResponseParts::NAMES`](crate::model::ResponseParts::NAMES).
const SHARES: [&str; 5] = [
    "of their makespans in runs (%)",
    "of their makespans for data (%)",
    "of their makespans in dispatch (%)",
    "of their makespans in queues (%)",
    "of their makespans lost (%)",
];

/// Which jobs the table of the whole run counts.
fn whole_run(run: &GridSummary) -> String {
    match run.measure {
        None => "the whole run".to_owned(),
        Some(window) => format!(
            "the whole run; of jobs only those submitted from {} to {}",
            duration(window.from),
            duration(window.to)
        ),
    }
}

/// Whether two figures are the same: charges are rounded by the segment, and a fork may cut one in two.
fn equal(before: f64, after: f64) -> bool {
    (after - before).abs() <= 1e-9 * before.abs()
}

fn is_equal((_, before, after, _): &Row) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => equal(*before, *after),
        (before, after) => before.is_none() && after.is_none(),
    }
}

fn side_by_side(rows: &[Row]) -> String {
    let rows = rows.iter().map(|(name, before, after, places)| {
        let places = places.unwrap_or_else(|| decimals([*before, *after]));
        let change = before.zip(*after);
        let change = change.map(|(before, after)| if equal(before, after) { 0.0 } else { after - before });
        let sign = if change.is_some_and(|change| change > 0.0) { "+" } else { "" };
        let percent = before.zip(change).filter(|(before, change)| *before != 0.0 && *change != 0.0);
        let percent = percent.map(|(before, change)| format!("{sign}{:.1} %", change / before * 100.0));
        let change = match change {
            Some(0.0) => "=".to_owned(),
            change => format!("{sign}{}", number(change, places)),
        };
        let [before, after] = [before, after].map(|value| number(*value, places));
        vec![(*name).to_owned(), before, after, change, percent.unwrap_or_default()]
    });
    text_table(1, &["", "as it was", "changed", "difference", ""], rows)
}
