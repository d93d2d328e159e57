//! Several runs side by side.

use std::collections::BTreeSet;

use super::figures::{count, decimals, duration, jobs, number};
use super::tables::table;
use crate::metrics::{GridSummary, SingleSite};
use crate::model::Outcome;

/// Whether lower or higher values of a column are better.
#[derive(Copy, Clone)]
enum Better {
    Less,
    More,
}

/// A run with the summary of its only site.
type One<'a> = (&'a SingleSite, &'a GridSummary);

/// A table with a row for each run; `*` marks the best value of each column. Above the table it lists what makes the rows hard to
/// compare: different conditions, or jobs that ended differently.
///
/// Only runs of one site without a broker are in the table.
pub fn comparison_table(runs: &[GridSummary]) -> String {
    let runs: Vec<One<'_>> = runs.iter().filter_map(|run| Some((run.single.as_ref()?, run))).collect();
    let runs = runs.as_slice();
    let mut out = String::new();
    for warning in warnings(runs) {
        out.push_str(&format!("warning: {warning}\n"));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    if let Some((of, first)) = runs.first() {
        let procs = count(u64::from(of.procs));
        out.push_str(&format!(
            "{} of {} on {procs} processors, estimates {}\n\n",
            jobs(first.measures.jobs),
            of.workload,
            of.estimates
        ));
    }
    let slowdown = runs.iter().flat_map(|(_, run)| &run.definitions).find(|d| d.id.starts_with("bsld"));
    let slowdown = slowdown.map_or("bsld", |definition| &definition.id);
    let column = |of: &dyn Fn(&GridSummary) -> Option<f64>, better| marked(runs, of, better);
    let columns = [
        column(&|run| run.measures.mean_wait, Better::Less),
        column(&|run| run.measures.mean_response, Better::Less),
        column(&|run| run.measures.mean_bounded_slowdown, Better::Less),
        column(&|run| run.measures.p95_bounded_slowdown, Better::Less),
        column(&|run| run.account.utilization.map(|share| share * 100.0), Better::More),
        column(&|run| run.makespan, Better::Less),
    ];
    let rows = runs.iter().enumerate().map(|(at, (of, run))| {
        let mut row = vec![of.policy.clone(), count(run.measures.measured)];
        row.extend(columns.iter().map(|column| column[at].clone()));
        row.push(format!("{:.3}", run.facts.times.schedule_s));
        row
    });
    let (mean, p95) = (format!("mean\n{slowdown}"), format!("p95\n{slowdown}"));
    out.push_str(&table(
        [
            "policy",
            "jobs\nmeasured",
            "mean\nwait (s)",
            "mean\nresponse (s)",
            &mean,
            &p95,
            "utilization\n(%)",
            "makespan\n(s)",
            "schedule\n(s)",
        ],
        rows,
    ));
    out.push('\n');
    if let Some(longest) = runs.iter().filter_map(|(_, run)| run.makespan).reduce(f64::max) {
        out.push_str(&format!("\n* best of its column; the longest run spans {}\n", duration(longest)));
    }
    out
}

/// The cells of the column. A best value that all runs share is not marked.
fn marked(runs: &[One<'_>], of: &dyn Fn(&GridSummary) -> Option<f64>, better: Better) -> Vec<String> {
    let values: Vec<_> = runs.iter().map(|(_, run)| of(run)).collect();
    let places = decimals(values.iter().copied());
    let pick = match better {
        Better::Less => f64::min,
        Better::More => f64::max,
    };
    let best = values.iter().copied().flatten().reduce(pick);
    let all_alike = values.iter().all(|value| *value == best);
    let cell = |value: &Option<f64>| {
        let mark = if value.is_some() && *value == best && !all_alike { "*" } else { "" };
        format!("{mark}{}", number(*value, places))
    };
    values.iter().map(cell).collect()
}

fn warnings(runs: &[One<'_>]) -> Vec<String> {
    let mut warnings = Vec::new();
    type Condition = fn(&One<'_>) -> String;
    let conditions: [(&str, Condition); 7] = [
        ("workload", |(of, _)| of.workload.clone()),
        ("number of processors", |(of, _)| of.procs.to_string()),
        ("estimates", |(of, _)| of.estimates.clone()),
        ("order within an instant", |(of, _)| format!("{:?}", of.order).to_lowercase()),
        ("options", |(of, _)| of.options.join(" ")),
        ("bound of the slowdown", |(_, run)| format!("{} s", run.tau)),
        ("number of jobs", |(_, run)| count(run.measures.jobs)),
    ];
    for (name, of) in conditions {
        let found: BTreeSet<_> = runs.iter().map(of).collect();
        if found.len() > 1 {
            let listed: Vec<_> = found.into_iter().collect();
            warnings.push(format!("the runs differ in their {name}: {}", listed.join(", ")));
        }
    }
    let ends: BTreeSet<_> = runs.iter().map(|(_, run)| run.measures.outcomes.counts()).collect();
    if ends.len() > 1 {
        let differing: Vec<_> = (0..Outcome::NAMES.len())
            .filter(|at| ends.iter().map(|counts| counts[*at]).collect::<BTreeSet<_>>().len() > 1)
            .map(|at| {
                let each: Vec<_> = runs
                    .iter()
                    .map(|(of, run)| format!("{} {}", of.policy, count(run.measures.outcomes.counts()[at])))
                    .collect();
                format!("{}: {}", Outcome::NAMES[at], each.join(", "))
            })
            .collect();
        warnings.push(format!(
            "the outcomes of jobs differ between the policies, so the means are of different work ({})",
            differing.join("; ")
        ));
    }
    warnings
}
