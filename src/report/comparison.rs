//! Several runs side by side.

use std::collections::BTreeSet;

use super::figures::{count, decimals, duration, jobs, number};
use super::tables::Columns;
use crate::metrics::{GridSummary, SingleSite};
use crate::model::Outcome;

/// A run with the summary of its only site.
type One<'a> = (&'a SingleSite, &'a GridSummary);

/// A table with a row for each run; `*` marks the best value of each column. Above the table it lists what makes the rows hard to
/// compare: different conditions, or jobs that ended differently.
///
/// Only runs of one site without a broker are in the table.
pub fn comparison_table(runs: &[GridSummary]) -> String {
    let runs: Vec<One<'_>> = runs.iter().filter_map(|run| Some((run.single.as_ref()?, run))).collect();
    let runs = runs.as_slice();
    let mut out: String = warnings(runs).iter().map(|warning| format!("warning: {warning}\n")).collect();
    if !out.is_empty() {
        out.push('\n');
    }
    if let Some((SingleSite { workload, procs, estimates, .. }, first)) = runs.first() {
        let (jobs, procs) = (jobs(first.measures.jobs), count(u64::from(*procs)));
        out += &format!("{jobs} of {workload} on {procs} processors, estimates {estimates}\n\n");
    }
    let slowdown = runs.iter().flat_map(|(_, run)| &run.definitions).find(|d| d.id.starts_with("bsld"));
    let slowdown = slowdown.map_or("bsld", |definition| &definition.id);
    let column = |of: fn(&GridSummary) -> Option<f64>, better| marked(runs, of, better);
    let policy =
        |(of, run): &One<'_>| format!("{}{}", of.policy, if is_unstable(run) { " (unstable)" } else { "" });
    let table = Columns::default()
        .text("policy", runs.iter().map(policy))
        .numbers("jobs\nmeasured", runs.iter().map(|(_, run)| count(run.measures.measured)))
        .numbers("mean\nwait (s)", column(|run| run.measures.mean_wait, f64::min))
        .numbers("mean\nresponse (s)", column(|run| run.measures.mean_response, f64::min))
        .numbers(&format!("mean\n{slowdown}"), column(|run| run.measures.mean_bounded_slowdown, f64::min))
        .numbers(&format!("p95\n{slowdown}"), column(|run| run.measures.p95_bounded_slowdown, f64::min))
        .numbers("utilization\n(%)", column(|run| Some(run.account.utilization? * 100.0), f64::max))
        .numbers("makespan\n(s)", column(|run| run.makespan, f64::min))
        .numbers("schedule\n(s)", runs.iter().map(|(_, run)| format!("{:.3}", run.facts.times.schedule_s)));
    out += &table.finish();
    out.push('\n');
    if runs.iter().any(|(_, run)| is_unstable(run)) {
        out.push_str(
            "\nunstable: the backlog grew until the end, so the means depend on the length of the run\n",
        );
    }
    if let Some(longest) = runs.iter().filter_map(|(_, run)| run.makespan).reduce(f64::max) {
        out.push_str(&format!("\n* best of its column; the longest run spans {}\n", duration(longest)));
    }
    out
}

fn is_unstable(run: &GridSummary) -> bool {
    run.backlog.as_ref().is_some_and(|backlog| backlog.unstable)
}

/// The cells of a column; `best` picks the better of two values. A best value that all runs share is not marked, nor one of an
/// unstable run.
fn marked(
    runs: &[One<'_>],
    of: fn(&GridSummary) -> Option<f64>,
    best: fn(f64, f64) -> f64,
) -> impl Iterator<Item = String> {
    let values: Vec<_> = runs.iter().map(|(_, run)| of(run)).collect();
    let places = decimals(values.iter().copied());
    let stable: Vec<bool> = runs.iter().map(|(_, run)| !is_unstable(run)).collect();
    let judged = values.iter().zip(&stable).filter(|(_, stable)| **stable);
    // With one stable run there is nothing to be better than.
    let best =
        if judged.clone().count() > 1 { judged.filter_map(|(value, _)| *value).reduce(best) } else { None };
    let all_alike = values.iter().all(|value| *value == best);
    values.into_iter().zip(stable).map(move |(value, stable)| {
        let mark = if stable && value.is_some() && value == best && !all_alike { "*" } else { "" };
        format!("{mark}{}", number(value, places))
    })
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
            let found = Vec::from_iter(found).join(", ");
            warnings.push(format!("the runs differ in their {name}: {found}"));
        }
    }
    let ends: BTreeSet<_> = runs.iter().map(|(_, run)| run.measures.outcomes.counts()).collect();
    if ends.len() > 1 {
        let of = |at: usize| ends.iter().map(move |counts| counts[at]);
        let differing = (0..Outcome::NAMES.len()).filter(|at| of(*at).min() != of(*at).max()).map(|at| {
            let each = runs
                .iter()
                .map(|(of, run)| format!("{} {}", of.policy, count(run.measures.outcomes.counts()[at])));
            format!("{}: {}", Outcome::NAMES[at], each.collect::<Vec<_>>().join(", "))
        });
        let differing: Vec<_> = differing.collect();
        warnings.push(format!(
            "the outcomes of jobs differ between the policies, so the means are of different work ({})",
            differing.join("; ")
        ));
    }
    warnings
}
