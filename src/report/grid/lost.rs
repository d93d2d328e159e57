//! What was lost to churn, and what became of it.

use super::super::figures::{count, decimals, duration, jobs, number, percent};
use super::super::tables::table;
use super::facts::lines;
use crate::metrics::{ChurnSummary, RecoverySummary};

/// What was lost by cause, and what became of machines and jobs.
pub(super) fn lost(churn: &ChurnSummary) -> String {
    // What churn costs is always told, what else is lost if there is any.
    let rows = churn.lost.iter().enumerate().filter(|(at, lost)| *at < 2 || lost.attempts > 0);
    let rows: Vec<_> = rows.map(|(_, lost)| lost).collect();
    let places = decimals(rows.iter().map(|lost| Some(lost.proc_s / 3_600.0)));
    let cells = rows.iter().map(|lost| {
        let hours = number(Some(lost.proc_s / 3_600.0), places);
        vec![lost.cause.clone(), count(lost.attempts), hours, percent(lost.share)]
    });
    let head = ["what was lost", "attempts", "processor-\nhours", "of all use\n(%)"];
    table(head, cells) + "\n\n" + &lines(&churn_facts(churn))
}

fn churn_facts(churn: &ChurnSummary) -> Vec<(&'static str, String)> {
    let (machines, changes) = (&churn.machines, &churn.jobs);
    let mut came = format!(
        "left {} ({} processors), came {} ({} processors)",
        times(machines.left),
        count(machines.processors_left),
        times(machines.joined),
        count(machines.processors_joined),
    );
    if machines.slowed > 0 {
        came += &format!(", changed speed {}", times(machines.slowed));
    }
    let mut facts = vec![("machines", came)];
    let counted = [
        ("requeued at their site", changes.requeued),
        ("given back to the broker", changes.given_back),
        ("halted", changes.halted),
        ("continued", changes.continued),
        ("failed", changes.failed),
    ];
    let present = counted.iter().filter(|(_, jobs)| *jobs > 0);
    let listed: Vec<_> = present.map(|(what, jobs)| format!("{} {what}", count(*jobs))).collect();
    if !listed.is_empty() {
        facts.push(("jobs", listed.join(", ")));
    }
    let again = &churn.runs_again;
    if let (Some(mean), Some(median), Some(max)) = (again.mean_s, again.median_s, again.max_s) {
        let [mean, median, max] = [mean, median, max].map(duration);
        let after =
            format!("after {mean} in the mean (median {median}, at most {max}), {}", times(again.count));
        facts.push(("ran again", after));
    }
    let attempts = churn.attempts.iter().filter(|of| of.attempts > 0);
    let listed: Vec<_> = attempts.map(|of| format!("{} for {}", of.attempts, jobs(of.jobs))).collect();
    if !listed.is_empty() {
        facts.push(("attempts", listed.join(", ")));
    }
    if let Some(recovery) = churn.recovery.as_ref().filter(|recovery| recovery.losses > 0) {
        facts.push(("big losses", recovered(recovery)));
    }
    facts
}

fn times(number: u64) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{} times", count(number)),
    }
}

fn recovered(of: &RecoverySummary) -> String {
    let mut out = format!("{}, of {} % or more of the processors at once", count(of.losses), of.loss_percent);
    if let (Some(mean), Some(max)) = (of.time.mean_s, of.time.max_s) {
        let [hour, mean, max] = [of.trailing_s, mean, max].map(duration);
        out += &format!("; the jobs completed in {hour} were back at {} % after {mean}", of.back_percent);
        if of.time.count > 1 {
            out += &format!(" in the mean, at most {max}");
        }
    }
    if of.unfelt > 0 {
        out += &format!(", never below it {}", times(of.unfelt));
    }
    if of.unrecovered > 0 {
        out += &format!("; not back by the end: {}", times(of.unrecovered));
    }
    out
}
