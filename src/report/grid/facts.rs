//! What became of the jobs, what the broker did, where the run's own time went: lines under the tables.

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
    if let Some(backlog) = &run.backlog {
        let [first, second, last] =
            [backlog.first_third, backlog.second_third, backlog.last_third].map(|mean| number(Some(mean), 1));
        facts.push((
            "backlog",
            format!(
                "{first} jobs in the system over the first third of the {}, {second} and {last} over the \
                 others, {} at the end",
                if run.measure.is_some() { "window" } else { "submissions" },
                count(backlog.at_end)
            ),
        ));
    }
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

fn broker(run: &GridSummary) -> Option<String> {
    let broker = run.facts.broker.as_ref()?;
    let picture = if broker.picture_s > 0.0 {
        format!("every {}", duration(broker.picture_s))
    } else {
        "at every change".to_owned()
    };
    let mut out = format!("{}, told of the sites {picture}", broker.policy);
    let age = &run.picture_age;
    if let (Some(mean), Some(max)) = (age.mean_s, age.max_s) {
        let [mean, max] = [mean, max].map(duration);
        out += &format!(
            "; {} assignments by a picture {mean} old in the mean, at most {max}",
            count(age.assignments)
        );
    }
    out += match broker.replan {
        Replan::Never => "; never replans",
        Replan::OnChurn => "; replans when machines come or go",
        Replan::EveryPicture => "; replans with every picture",
    };
    let changes = &run.churn.jobs;
    let refusals: Vec<_> =
        run.churn.refusals.iter().map(|of| format!("{}: {}", of.reason, count(of.count))).collect();
    let reasons = if refusals.is_empty() { String::new() } else { format!(" ({})", refusals.join(", ")) };
    out += &format!(
        "; {} refused{reasons}, {} taken back, {} assigned again, {} given up",
        count(changes.refused),
        count(changes.recalled),
        count(changes.reassigned),
        count(changes.given_up)
    );
    if let Some(changes) = run.churn.changes_per_event {
        out += &format!("; {changes:.2} assignments changed for each event of machines");
    }
    Some(out)
}

fn definitions(run: &GridSummary) -> String {
    let shown = |id: &str| {
        matches!(id, "wait" | "response" | "submission")
            || id.starts_with("bsld")
            || (id == "lost" && run.has_churn())
    };
    let listed = run.definitions.iter().filter(|definition| shown(&definition.id));
    let mut out: Vec<_> =
        listed.map(|definition| format!("{} = {}", definition.id, definition.meaning)).collect();
    out.push("local = of a site's own users; grid = sent by the broker".to_owned());
    if run.quantiles == Quantiles::Sketch {
        out.push("~ is at most 0.1 % too high".to_owned());
    }
    out.join("\n")
}

pub(super) fn notes(run: &GridSummary) -> Option<String> {
    let grows = run.backlog.filter(|backlog| backlog.grows).map(|_| {
        "warning: not stationary: the backlog still grows at the end, so that longer runs give larger waits".to_owned()
    });
    let notes = run.facts.notes.iter().map(|note| format!("note: {note}"));
    let all: Vec<_> = grows.into_iter().chain(notes).collect();
    let wrapped: Vec<_> = all.iter().flat_map(|note| wrapped(note, WIDTH)).collect();
    (!wrapped.is_empty()).then(|| wrapped.join("\n"))
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

/// A line in lines of at most `room` characters, broken between words.
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
