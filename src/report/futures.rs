//! Two futures of one run, side by side.

use super::figures::{decimals, duration, jobs, number};
use super::tables::text_table;
use crate::experiment::{Branch, Difference, Futures};
use crate::metrics::{GridSummary, Measures};

/// A table of both futures, after what they have in common.
pub fn futures_table(futures: &Futures) -> String {
    let Futures { branch, as_it_was, changed, after: [before, after], difference } = futures;
    let mut out = heading(branch, difference.as_ref());
    out.push_str(&warning(&as_it_was.measures, &changed.measures));
    out.push_str("all jobs that ended after the fork\n\n");
    out.push_str(&side_by_side(&measured(before, after)));
    out.push_str(&format!("\n\n{}\n\n", whole_run(as_it_was)));
    let mut rows = measured(&as_it_was.measures, &changed.measures);
    rows.extend(accounts(as_it_was, changed));
    out.push_str(&side_by_side(&rows));
    out.push_str(&format!(
        "\n\nfingerprints  {} as it was\n              {} changed\n",
        as_it_was.fingerprint, changed.fingerprint
    ));
    out
}

fn heading(branch: &Branch, difference: Option<&Difference>) -> String {
    let mut out = format!(
        "{}: forked at {} s ({}), from snapshot {}\n\n",
        branch.title,
        branch.at_s,
        duration(branch.at_s),
        branch.snapshot
    );
    out.push_str(&format!(" common past       {} had ended\n", jobs(branch.jobs)));
    let changes = if branch.changes.is_empty() { vec!["nothing".to_owned()] } else { branch.changes.clone() };
    for (at, change) in changes.iter().enumerate() {
        let name = if at == 0 { "changed" } else { "" };
        out.push_str(&format!(" {name:17} {change}\n"));
    }
    out.push_str(&match difference {
        None => " first difference  none: both futures are the same, record by record\n\n".to_owned(),
        Some(Difference { at_s, record }) => format!(
            " first difference  at {at_s} s ({}), {} after the fork: {record}\n\n",
            duration(*at_s),
            duration(at_s - branch.at_s)
        ),
    });
    out
}

/// Warns that means are hard to compare if jobs ended differently in the two futures.
fn warning(before: &Measures, after: &Measures) -> String {
    if before.outcomes == after.outcomes {
        return String::new();
    }
    "warning: the outcomes of jobs differ between the two futures, so their means are not of the same jobs\n\n"
        .to_owned()
}

/// A row: name, both values, and decimals; `None` chooses the decimals by the values.
type Row = (&'static str, Option<f64>, Option<f64>, Option<usize>);

fn measured(before: &Measures, after: &Measures) -> Vec<Row> {
    let count = |name, of: fn(&Measures) -> u64| -> Row {
        (name, Some(of(before) as f64), Some(of(after) as f64), Some(0))
    };
    let figure = |name, of: fn(&Measures) -> Option<f64>| -> Row { (name, of(before), of(after), None) };
    let mut rows = vec![
        count("jobs completed", |m| m.outcomes.completed),
        count("killed at their estimate", |m| m.outcomes.killed),
        count("failed", |m| m.outcomes.failed),
        count("rejected", |m| m.outcomes.rejected),
        count("cancelled", |m| m.outcomes.cancelled),
        count("unfinished", |m| m.outcomes.unfinished),
    ];
    rows.retain(|row| row.0 == "jobs completed" || row.1 != Some(0.0) || row.2 != Some(0.0));
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
    let lost = |run: &GridSummary| Some(run.sites.iter().map(|site| site.wasted_proc_s / 3_600.0).sum());
    vec![
        figure("last end (s)", |run| run.end_s),
        figure("utilization (%)", |run| run.account.utilization.map(|share| share * 100.0)),
        figure("wasted by churn (proc-h)", lost),
        figure("cost", |run| Some(run.account.cost)),
        figure("facility energy (kWh)", |run| Some(run.account.energy.facility_kwh)),
    ]
}

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

fn side_by_side(rows: &[Row]) -> String {
    let rows = rows.iter().map(|(name, before, after, places)| {
        let places = places.unwrap_or_else(|| decimals([*before, *after]));
        let change = before.zip(*after).map(|(before, after)| after - before);
        let sign = if change.is_some_and(|change| change > 0.0) { "+" } else { "" };
        let percent = before.zip(change).filter(|(before, change)| *before != 0.0 && *change != 0.0);
        let percent = percent.map(|(before, change)| format!("{sign}{:.1} %", change / before * 100.0));
        vec![
            (*name).to_owned(),
            number(*before, places),
            number(*after, places),
            match change {
                Some(0.0) => "=".to_owned(),
                change => format!("{sign}{}", number(change, places)),
            },
            percent.unwrap_or_default(),
        ]
    });
    text_table(1, &["", "as it was", "changed", "difference", ""], rows)
}
