//! Two futures of one run, side by side.

use serde::Serialize;

use super::comparison::comparison_table;
use super::figures::{decimals, duration, jobs, number};
use super::tables::text_table;
use crate::metrics::{GridSummary, Measures, RunSummary};

/// Where two futures part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Branch {
    /// The run.
    pub title: String,
    /// When the fork was asked for, in seconds.
    pub asked_s: f64,
    /// When it is: at a snapshot.
    pub at_s: f64,
    /// The number of the snapshot.
    pub snapshot: u64,
    /// Jobs that had ended by then.
    pub jobs: u64,
    /// What is different from then on, a sentence each.
    pub changes: Vec<String>,
}

/// The first record that is not the same in both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// When it was written, in the future in which it comes first; in seconds.
    pub at_s: f64,
    /// What it says in the changed future.
    pub record: String,
}

/// Two futures of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Futures {
    /// Of a grid.
    Grid {
        /// Where they part.
        branch: Branch,
        /// The one that would have been.
        as_it_was: Box<GridSummary>,
        /// The other.
        changed: Box<GridSummary>,
        /// The measures of the jobs that ended after the fork, in both.
        after: Option<Box<[Measures; 2]>>,
        /// Where they first differ; `None` if they do not.
        difference: Option<Difference>,
    },
    /// Of a replay.
    Site {
        /// Where they part.
        branch: Branch,
        /// The one that would have been.
        as_it_was: Box<RunSummary>,
        /// The other.
        changed: Box<RunSummary>,
        /// Where they first differ; `None` if they do not.
        difference: Option<Difference>,
    },
}

/// Both futures in a table, after what they have in common.
pub fn futures_table(futures: &Futures) -> String {
    match futures {
        Futures::Grid { branch, as_it_was, changed, after, difference } => {
            let mut out = heading(branch, difference.as_ref());
            out.push_str(&warning(&as_it_was.measures, &changed.measures));
            if let Some([before, after]) = after.as_deref() {
                out.push_str("all jobs that ended after the fork\n\n");
                out.push_str(&side_by_side(&measured(before, after)));
                out.push_str(&format!("\n\n{}\n\n", whole_run(as_it_was)));
            }
            let mut rows = measured(&as_it_was.measures, &changed.measures);
            rows.extend(accounts(as_it_was, changed));
            out.push_str(&side_by_side(&rows));
            out.push_str(&format!(
                "\n\nfingerprints  {} as it was\n              {} changed\n",
                as_it_was.fingerprint, changed.fingerprint
            ));
            out
        }
        Futures::Site { branch, as_it_was, changed, difference } => {
            let mut out = heading(branch, difference.as_ref());
            if branch.changes.is_empty() {
                out.push_str(&format!("fingerprint {} in both\n", as_it_was.fingerprint));
            } else {
                out.push_str(&comparison_table(&[(**as_it_was).clone(), (**changed).clone()]));
            }
            out
        }
    }
}

fn heading(branch: &Branch, difference: Option<&Difference>) -> String {
    let mut out = format!(
        "{}: forked at {} s ({}), from snapshot {}\n\n",
        branch.title,
        branch.at_s,
        duration(branch.at_s),
        branch.snapshot
    );
    out.push_str(&format!(" the same past     {} had ended\n", jobs(branch.jobs)));
    let changes = if branch.changes.is_empty() { vec!["nothing".to_owned()] } else { branch.changes.clone() };
    for (at, change) in changes.iter().enumerate() {
        let name = if at == 0 { "changed from then" } else { "" };
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

/// Means say little if jobs ended in other ways.
fn warning(before: &Measures, after: &Measures) -> String {
    if before.outcomes == after.outcomes {
        return String::new();
    }
    "warning: jobs ended in other ways in the two futures, so their means are not of the same jobs\n\n"
        .to_owned()
}

/// A row: name, both values, decimals; `None` for as many as read well.
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
    let lost = |run: &GridSummary| Some(run.sites.iter().map(|site| site.lost_proc_s / 3_600.0).sum());
    vec![
        figure("last end (s)", |run| run.end_s),
        figure("utilization (%)", |run| run.account.utilization.map(|share| share * 100.0)),
        figure("lost to churn (proc-h)", lost),
        figure("cost", |run| Some(run.account.cost)),
        figure("energy with facility (kWh)", |run| Some(run.account.energy.facility_kwh)),
    ]
}

/// Which jobs count in the table of the whole run.
fn whole_run(run: &GridSummary) -> String {
    match run.measure {
        None => "the whole run".to_owned(),
        Some(window) => format!(
            "the whole run: of jobs those submitted from {} to {}, of machines all",
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
