//! Wasted work and the effects of churn.

use super::super::figures::{count, duration, jobs, percent};
use super::super::tables::Columns;
use super::facts::lines;
use crate::metrics::{ChurnSummary, GridSummary, RecoverySummary};

/// A table of wasted work by cause, then the effects on machines and jobs.
pub(super) fn wasted(run: &GridSummary) -> String {
    let churn = &run.churn;
    // The first two causes are churn and always listed; others only if they have failed attempts.
    let rows = churn.wasted.iter().enumerate().filter(|(at, of)| *at < 2 || of.attempts > 0);
    let rows: Vec<_> = rows.map(|(_, of)| of).collect();
    let mut table = Columns::default()
        .text("wasted work", rows.iter().map(|of| of.cause.clone()))
        .numbers("attempts", rows.iter().map(|of| count(of.attempts)))
        .figures("processor-\nhours", rows.iter().map(|of| Some(of.proc_s / 3_600.0)));
    // Over a window there is no share: use is only known for the whole run.
    if rows.iter().any(|of| of.share.is_some()) {
        table = table.numbers("share of\nall use (%)", rows.iter().map(|of| percent(of.share)));
    }
    table.finish() + "\n\n" + &lines(&churn_facts(churn, run.measure.is_some()))
}

fn churn_facts(churn: &ChurnSummary, window: bool) -> Vec<(&'static str, String)> {
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
        facts.push(("after failures", listed.join(", ")));
    }
    let again = &churn.restarts;
    if let (Some(mean), Some(median), Some(max)) = (again.mean_s, again.median_s, again.max_s) {
        let [mean, median, max] = [mean, median, max].map(duration);
        let after = format!(
            "{}, {mean} after the failure on average (median {median}, at most {max})",
            times(again.count)
        );
        facts.push(("restarted", after));
    }
    let attempts = churn.attempts.iter().filter(|of| of.attempts > 0);
    let listed: Vec<_> =
        attempts.map(|of| format!("{} {}", jobs(of.jobs), times(u64::from(of.attempts)))).collect();
    if !listed.is_empty() {
        let of = if window { " (measured jobs only)" } else { "" };
        facts.push(("started", listed.join(", ") + of));
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
    let (outages, percent) = (count(of.major_outages), of.outage_percent);
    let mut out = format!("{outages} (at least {percent} % of the available processors left at once)");
    if let (Some(mean), Some(max)) = (of.recovery_time.mean_s, of.recovery_time.max_s) {
        let ([hour, mean, max], share) = ([of.trailing_s, mean, max].map(duration), of.recovered_percent);
        out += &format!("; throughput (jobs completed in {hour}) was back at {share} % after {mean}");
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
