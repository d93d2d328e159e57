//! Several runs side by side.

use std::collections::BTreeSet;

use super::figures::{count, decimals, duration, jobs, number};
use super::tables::table;
use crate::metrics::RunSummary;
use crate::model::Outcome;

/// Which end of a column is the better one.
#[derive(Copy, Clone)]
enum Better {
    Less,
    More,
}

/// A row a run, the best of each column marked with `*`. What makes the rows hard to compare is said first:
/// other conditions, or jobs that ended in other ways.
pub fn comparison_table(runs: &[RunSummary]) -> String {
    let mut out = String::new();
    for warning in warnings(runs) {
        out.push_str(&format!("warning: {warning}\n"));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    if let Some(first) = runs.first() {
        let procs = count(u64::from(first.facts.procs));
        out.push_str(&format!(
            "{} of {} on {procs} processors, estimates {}\n\n",
            jobs(first.measures.jobs),
            first.facts.workload,
            first.facts.estimates
        ));
    }
    let slowdown = runs.iter().flat_map(|run| &run.definitions).find(|d| d.id.starts_with("bsld"));
    let slowdown = slowdown.map_or("bsld", |definition| &definition.id);
    let column = |of: &dyn Fn(&RunSummary) -> Option<f64>, better| marked(runs, of, better);
    let columns = [
        column(&|run| run.measures.mean_wait, Better::Less),
        column(&|run| run.measures.mean_response, Better::Less),
        column(&|run| run.measures.mean_bounded_slowdown, Better::Less),
        column(&|run| run.measures.p95_bounded_slowdown, Better::Less),
        column(&|run| run.utilization.map(|share| share * 100.0), Better::More),
        column(&|run| run.makespan, Better::Less),
    ];
    let rows = runs.iter().enumerate().map(|(at, run)| {
        let mut row = vec![run.facts.policy.clone(), count(run.measures.measured)];
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
    if let Some(longest) = runs.iter().filter_map(|run| run.makespan).reduce(f64::max) {
        out.push_str(&format!("\n* best of its column; the longest run spans {}\n", duration(longest)));
    }
    out
}

/// The column's cells. A best that every run shares is none.
fn marked(runs: &[RunSummary], of: &dyn Fn(&RunSummary) -> Option<f64>, better: Better) -> Vec<String> {
    let values: Vec<_> = runs.iter().map(of).collect();
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

fn warnings(runs: &[RunSummary]) -> Vec<String> {
    let mut warnings = Vec::new();
    type Condition = fn(&RunSummary) -> String;
    let conditions: [(&str, Condition); 7] = [
        ("workload", |run| run.facts.workload.clone()),
        ("number of processors", |run| run.facts.procs.to_string()),
        ("estimates", |run| run.facts.estimates.clone()),
        ("order of an instant", |run| format!("{:?}", run.facts.order).to_lowercase()),
        ("options", |run| run.facts.options.join(" ")),
        ("bound of the slowdown", |run| format!("{} s", run.tau)),
        ("number of jobs", |run| count(run.measures.jobs)),
    ];
    for (name, of) in conditions {
        let found: BTreeSet<_> = runs.iter().map(of).collect();
        if found.len() > 1 {
            let listed: Vec<_> = found.into_iter().collect();
            warnings.push(format!("the runs differ in their {name}: {}", listed.join(", ")));
        }
    }
    let ends: BTreeSet<_> = runs.iter().map(|run| run.measures.outcomes.counts()).collect();
    if ends.len() > 1 {
        let differing: Vec<_> = (0..Outcome::NAMES.len())
            .filter(|at| ends.iter().map(|counts| counts[*at]).collect::<BTreeSet<_>>().len() > 1)
            .map(|at| {
                let each: Vec<_> = runs
                    .iter()
                    .map(|run| format!("{} {}", run.facts.policy, count(run.measures.outcomes.counts()[at])))
                    .collect();
                format!("{}: {}", Outcome::NAMES[at], each.join(", "))
            })
            .collect();
        warnings.push(format!(
            "jobs did not end alike, so the means compare unlike work ({})",
            differing.join("; ")
        ));
    }
    warnings
}
