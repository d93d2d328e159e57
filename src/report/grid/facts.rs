//! Lines under the tables: outcomes of jobs, decisions of the broker, and the time of the run itself.

use super::super::figures::{count, duration, number, wrapped};
use super::super::tables::{commands, dedicated, limits, outcomes, processor_time, searches, suspensions};
use super::WIDTH;
use super::workflows::workflows;
use crate::metrics::{CoallocationSummary, ErrorSummary, GridSummary, PlanningSummary, Quantiles};
use crate::model::{Information, Replan, RunTimes};

pub(super) fn facts(run: &GridSummary) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    for (name, of) in [("local jobs", &run.local.measures), ("grid jobs", &run.grid.measures)] {
        if of.jobs > 0 {
            facts.push((name, outcomes(of)));
        }
    }
    facts.extend(workflows(run));
    facts.extend(of_some_jobs(run));
    facts.extend(broker(run).map(|broker| ("broker", broker)));
    facts.extend(replanning(run).map(|replanning| ("replanning", replanning)));
    facts.push(("processor time", processor_time(&run.account.usage)));
    facts.extend(backlog(run));
    facts.push(("wall-clock time", format!("{:.3} s ({})", run.facts.wall_s, run_time(run, "emulate"))));
    facts.push(("fingerprint", run.fingerprint.to_string()));
    let more = ["local = of a site's own users; grid = sent by the broker"];
    facts.push((
        "definitions",
        definitions(run, &["wait", "response", "submission", "wasted", "slr", "slowdown", "parts"], &more),
    ));
    facts
}

/// The lines below the headline numbers.
pub(super) fn few_facts(run: &GridSummary) -> Vec<(&'static str, String)> {
    let mut facts = vec![("jobs", outcomes(&run.measures))];
    facts.extend(workflows(run));
    facts.extend(of_some_jobs(run));
    facts.extend(broker(run).map(|broker| ("broker", broker)));
    facts.extend(replanning(run).map(|replanning| ("replanning", replanning)));
    facts.push(("wall-clock time", format!("{:.3} s", run.facts.wall_s)));
    facts.push(("fingerprint", run.fingerprint.to_string()));
    let more = "`--verbose` prints all tables and definitions; `--out DIR` keeps every figure";
    facts.push(("more", more.to_owned()));
    facts
}

/// Dedicated jobs, suspensions, elastic commands and limits, if there are any.
pub(super) fn of_some_jobs(run: &GridSummary) -> impl Iterator<Item = (&'static str, String)> {
    let dedicated = dedicated(&run.measures).map(|starts| ("dedicated jobs", starts));
    let elastic = run.elastic.as_ref().map(|of| ("elastic commands", commands(of)));
    let limits = run.measures.limits.as_ref().map(|kept| ("limits", limits(kept)));
    let together = run.coallocation.as_ref().map(|of| ("co-allocated jobs", together(of)));
    let suspended = run.preemption.as_ref().map(|of| ("suspensions", suspensions(of)));
    let search = run.search.as_ref().map(|of| ("search", searches(of)));
    dedicated.into_iter().chain(together).chain(suspended).chain(search).chain(elastic).chain(limits)
}

/// What became of jobs that were run in parts at several sites.
fn together(of: &CoallocationSummary) -> String {
    let CoallocationSummary { jobs, completed, refused, missed, failed, unfinished, .. } = *of;
    let mut out = format!("{} of {} completed", count(completed), count(jobs));
    for (number, what) in [
        (refused, "got no common start"),
        (missed, "missed it"),
        (failed, "failed"),
        (unfinished, "had not ended"),
    ] {
        if number > 0 {
            out += &format!(", {} {what}", count(number));
        }
    }
    if let (Some(delay), Some(slowdown)) = (of.delay_s, of.slowdown) {
        out += &format!(
            "; they started {} after their earliest start on average, took {slowdown:.3} times as long because of the links between their parts, and took {} proc-h from jobs that waited",
            duration(delay),
            number_of_hours(of.harm_proc_s)
        );
    }
    out
}

fn number_of_hours(proc_s: f64) -> String {
    format!("{:.1}", proc_s / 3_600.0)
}

/// The parts of the wall-clock time of the run; `verb` names the middle one.
pub(super) fn run_time(run: &GridSummary, verb: &str) -> String {
    let times = &run.facts.times;
    format!("read {:.3} s, {verb} {:.3} s, write {:.3} s", times.read_s, times.schedule_s, times.write_s)
}

/// The number of jobs in the system over time, and how long the last ones ran after the window.
pub(super) fn backlog(run: &GridSummary) -> impl Iterator<Item = (&'static str, String)> {
    let backlog = run.backlog.as_ref().map(|backlog| {
        let [first, second, last] =
            [backlog.first_third, backlog.second_third, backlog.last_third].map(|mean| number(Some(mean), 1));
        let over = if run.measure.is_some() { "window" } else { "submissions" };
        let means = format!(
            "mean jobs in the system: {first} in the first third of the {over}, {second} in the second, {last} in the last; {} at the end of the {over}",
            count(backlog.at_end)
        );
        ("backlog", means)
    });
    let drain = run
        .drain_s
        .filter(|drain| *drain > 0.0)
        .map(|drain| ("last end", format!("{} after the window", duration(drain))));
    backlog.into_iter().chain(drain)
}

fn broker(run: &GridSummary) -> Option<String> {
    let broker = run.facts.broker.as_ref()?;
    let reports = match broker.monitoring_interval_s {
        interval if interval > 0.0 => format!("every {}", duration(interval)),
        _ => "at every change".to_owned(),
    };
    let mut out = format!("{}; sites report {reports}", broker.policy);
    let age = &run.information_age;
    if let (Some(mean), Some(max)) = (age.mean_s, age.max_s) {
        let ([mean, max], assignments) = ([mean, max].map(duration), count(age.assignments));
        out += &format!("; {assignments} assignments, information age {mean} on average, {max} at most");
    }
    if broker.information == Information::Forecast {
        out += "; believes forecasts";
    }
    if broker.run_times == RunTimes::Applications {
        out += "; plans with run times of applications";
    }
    if let Some(ErrorSummary { bias_s: Some(bias), mae_s: Some(mae), .. }) = run.start_errors {
        let side = if bias < 0.0 { "early" } else { "late" };
        let [mae, bias] = [mae, bias.abs()].map(duration);
        out += &format!("; mean absolute error of believed starts {mae}, bias {bias} {side}");
    }
    if let Some(PlanningSummary { plans, time_s, stale }) = run.planning {
        out += &format!(
            "; {} plans took {}, {} decisions came too late",
            count(plans),
            duration(time_s),
            count(stale)
        );
    }
    out += match broker.replan {
        Replan::Never => "; never replans",
        Replan::OnChurn => "; replans when machines leave or join",
        Replan::EveryReport => "; replans with every report",
    };
    if broker.replan != Replan::Never && !broker.recall_queued {
        out += ", without the jobs that wait at sites";
    }
    let changes = &run.churn.jobs;
    let refusals: Vec<_> =
        run.churn.refusals.iter().map(|of| format!("{}: {}", of.reason, count(of.count))).collect();
    let reasons = if refusals.is_empty() { String::new() } else { format!(" ({})", refusals.join(", ")) };
    out += &format!(
        "; {} refused{reasons}, {} recalled, {} reassigned, {} given up",
        count(changes.refused),
        count(changes.recalled),
        count(changes.reassigned),
        count(changes.given_up)
    );
    if let Some(changes) = run.churn.changes_per_event {
        out += &format!("; {changes:.2} assignments changed per machine event");
    }
    Some(out)
}

/// How the broker planned anew what churn had undone.
fn replanning(run: &GridSummary) -> Option<String> {
    let of = run.churn.replanning.as_ref()?;
    let mut out = format!("{} changes of grid jobs by churn", count(of.changed));
    if let Some(per_event) = of.changed_per_event {
        out += &format!(", {per_event:.2} per machine event");
    }
    if let (Some(mean), Some(max)) = (of.time.mean_s, of.time.max_s) {
        let [mean, max] = [mean, max].map(duration);
        out += &format!("; assigned again after {mean} on average, {max} at most");
        if of.never > 0 {
            out += &format!(", {} never", count(of.never));
        }
    } else if of.never > 0 {
        out += &format!("; {} never assigned again", count(of.never));
    }
    let (before, after) = (count(of.returns_before_start), count(of.returns_after_start));
    out += &format!("; returned {before} before the start, {after} after it");
    let recovery = run.churn.recovery.as_ref().filter(|recovery| recovery.major_outages > 0);
    if let Some(mean) = recovery.and_then(|recovery| recovery.recovery_time.mean_s) {
        out += &format!("; throughput back {} after a major outage on average", duration(mean));
    }
    Some(out)
}

/// The definitions of the slowdown and of these measures (of wasted work only if there was churn), then `more`, a line each.
pub(super) fn definitions(run: &GridSummary, of: &[&str], more: &[&str]) -> String {
    let shown = |id: &str| id.starts_with("bsld") || of.contains(&id) && (id != "wasted" || run.has_churn());
    let listed = run.definitions.iter().filter(|definition| shown(&definition.id));
    let mut out: Vec<_> =
        listed.map(|definition| format!("{} = {}", definition.id, definition.meaning)).collect();
    out.extend(more.iter().map(|line| (*line).to_owned()));
    if run.quantiles == Quantiles::Sketch {
        out.push("~: approximation, at most 0.1 % too high".to_owned());
    }
    out.join("\n")
}

pub(super) fn notes(run: &GridSummary) -> Option<String> {
    let wrapped: Vec<_> = noted(run).flat_map(|note| wrapped(&note, WIDTH)).collect();
    (!wrapped.is_empty()).then(|| wrapped.join("\n"))
}

/// Notes that a reader needs before trusting the result, a line each.
pub(super) fn noted(run: &GridSummary) -> impl Iterator<Item = String> {
    run.facts.notes.iter().map(|note| format!("note: {note}"))
}

/// Names and texts side by side, the texts wrapped.
pub(super) fn lines(facts: &[(&str, String)]) -> String {
    let width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let room = WIDTH - width - 3;
    let mut out = Vec::new();
    for (name, text) in facts {
        for (at, line) in text.lines().flat_map(|line| wrapped(line, room)).enumerate() {
            out.push(format!(" {:width$}  {line}", if at == 0 { name } else { "" }));
        }
    }
    out.join("\n")
}
