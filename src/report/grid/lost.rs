//! Wasted work and the effects of churn.

use super::super::figures::{count, decimals, duration, jobs, number, percent};
use super::super::tables::table;
use super::facts::lines;
use crate::metrics::{ChurnSummary, RecoverySummary};

/// A table of wasted work by cause, then the effects on machines and jobs.
pub(super) fn lost(churn: &ChurnSummary) -> String {
    // The first two causes are churn and always listed; others only if they have failed attempts.
    let rows = churn.wasted.iter().enumerate().filter(|(at, lost)| *at < 2 || lost.attempts > 0);
    let rows: Vec<_> = rows.map(|(_, lost)| lost).collect();
    let places = decimals(rows.iter().map(|lost| Some(lost.proc_s / 3_600.0)));
    let cells = rows.iter().map(|lost| {
        let hours = number(Some(lost.proc_s / 3_600.0), places);
        vec![lost.cause.clone(), count(lost.attempts), hours, percent(lost.share)]
    });
    let head = ["wasted work", "attempts", "processor-\nhours", "share of\nall use (%)"];
    table(head, cells) + "\n\n" + &lines(&churn_facts(churn))
}

fn churn_facts(churn: &ChurnSummary) -> Vec<(&'static str, String)> {
    let (machines, changes) = (&churn.machines, &churn.jobs);
    let mut came = format!(
        "left {} ({} processors), joined {} ({} processors)",
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
        ("returned to the broker", changes.returned),
        ("stalled", changes.stalled),
        ("continued", changes.continued),
        ("failed", changes.failed),
    ];
    let present = counted.iter().filter(|(_, jobs)| *jobs > 0);
    let listed: Vec<_> = present.map(|(what, jobs)| format!("{} {what}", count(*jobs))).collect();
    if !listed.is_empty() {
        facts.push(("jobs", listed.join(", ")));
    }
    let again = &churn.restarts;
    if let (Some(mean), Some(median), Some(max)) = (again.mean_s, again.median_s, again.max_s) {
        let [mean, median, max] = [mean, median, max].map(duration);
        let after =
            format!("after {mean} on average (median {median}, at most {max}), {}", times(again.count));
        facts.push(("restarted", after));
    }
    let attempts = churn.attempts.iter().filter(|of| of.attempts > 0);
    let listed: Vec<_> = attempts.map(|of| format!("{} for {}", of.attempts, jobs(of.jobs))).collect();
    if !listed.is_empty() {
        facts.push(("attempts", listed.join(", ")));
    }
    if let Some(recovery) = churn.recovery.as_ref().filter(|recovery| recovery.major_outages > 0) {
        facts.push(("major outages", recovered(recovery)));
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
    let mut out = format!(
        "{} (at least {} % of the available processors left at once)",
        count(of.major_outages),
        of.outage_percent
    );
    if let (Some(mean), Some(max)) = (of.recovery_time.mean_s, of.recovery_time.max_s) {
        let [hour, mean, max] = [of.trailing_s, mean, max].map(duration);
        out += &format!(
            "; throughput (jobs completed in {hour}) was back at {} % after {mean}",
            of.recovered_percent
        );
        if of.recovery_time.count > 1 {
            out += &format!(" on average, at most {max}");
        }
    }
    if of.unaffected > 0 {
        out += &format!(", unaffected {}", times(of.unaffected));
    }
    if of.unrecovered > 0 {
        out += &format!("; not recovered by the end: {}", times(of.unrecovered));
    }
    out
}
