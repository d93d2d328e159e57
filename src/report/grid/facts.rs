//! Lines under the tables: outcomes of jobs, decisions of the broker, and the time of the run itself.

use super::super::figures::{count, duration, number};
use super::super::tables::{commands, dedicated, outcomes, processor_time};
use super::WIDTH;
use crate::metrics::{GridSummary, Quantiles};
use crate::model::Replan;

pub(super) fn facts(run: &GridSummary) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    for (name, of) in [("local jobs", &run.local.measures), ("grid jobs", &run.grid.measures)] {
        if of.jobs > 0 {
            facts.push((name, outcomes(of)));
        }
    }
    facts.extend(dedicated(&run.measures).map(|told| ("dedicated jobs", told)));
    facts.extend(run.elastic.as_ref().map(|told| ("elastic commands", commands(told))));
    if let Some(broker) = broker(run) {
        facts.push(("broker", broker));
    }
    facts.push(("processor time", processor_time(&run.account.usage)));
    facts.extend(backlog(run));
    if let Some(drain) = run.drain_s {
        facts.push(("drain", format!("{} after the window", duration(drain))));
    }
    let own = &run.facts.times;
    facts.push((
        "run time",
        format!(
            "{:.3} s (read {:.3} s, schedule {:.3} s, write {:.3} s)",
            run.facts.wall_s, own.read_s, own.schedule_s, own.write_s
        ),
    ));
    facts.push(("fingerprint", run.fingerprint.to_string()));
    facts.push(("definitions", definitions(run)));
    facts
}

/// The number of jobs in the system over time.
pub(super) fn backlog(run: &GridSummary) -> Option<(&'static str, String)> {
    let backlog = run.backlog.as_ref()?;
    let [first, second, last] =
        [backlog.first_third, backlog.second_third, backlog.last_third].map(|mean| number(Some(mean), 1));
    let told = format!(
        "mean jobs in the system: {first} in the first third of the {}, {second} in the second, {last} in the last; {} at the end",
        if run.measure.is_some() { "window" } else { "submissions" },
        count(backlog.at_end)
    );
    Some(("backlog", told))
}

fn broker(run: &GridSummary) -> Option<String> {
    let broker = run.facts.broker.as_ref()?;
    let picture = if broker.monitoring_interval_s > 0.0 {
        format!("every {}", duration(broker.monitoring_interval_s))
    } else {
        "at every change".to_owned()
    };
    let mut out = format!("{}; sites report {picture}", broker.policy);
    let age = &run.information_age;
    if let (Some(mean), Some(max)) = (age.mean_s, age.max_s) {
        let [mean, max] = [mean, max].map(duration);
        out += &format!(
            "; {} assignments, information age {mean} on average, {max} at most",
            count(age.assignments)
        );
    }
    out += match broker.replan {
        Replan::Never => "; never replans",
        Replan::OnChurn => "; replans when machines leave or join",
        Replan::EveryReport => "; replans with every report",
    };
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

fn definitions(run: &GridSummary) -> String {
    let shown = |id: &str| {
        matches!(id, "wait" | "response" | "submission")
            || id.starts_with("bsld")
            || (id == "wasted" && run.has_churn())
    };
    let listed = run.definitions.iter().filter(|definition| shown(&definition.id));
    let mut out: Vec<_> =
        listed.map(|definition| format!("{} = {}", definition.id, definition.meaning)).collect();
    out.push("local = of a site's own users; grid = sent by the broker".to_owned());
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
    let unstable = run.backlog.filter(|backlog| backlog.unstable).map(|_| {
        "warning: unstable: the backlog grows until the end, so longer runs give longer waits".to_owned()
    });
    let notes = run.facts.notes.iter().map(|note| format!("note: {note}"));
    unstable.into_iter().chain(notes)
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

/// Splits a line between words into lines of at most `room` characters.
pub(super) fn wrapped(line: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in line.split(' ') {
        match lines.last_mut() {
            Some(last) if last.chars().count() + 1 + word.chars().count() <= room => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
