//! The life of a job as text. Long lists are printed at their beginning and end, with a summary of the middle.

use std::collections::BTreeMap;

use super::Held;
use super::attempts::{attempts, because, ended_as};
use super::words::processors;
use crate::experiment::{AtState, Explained, Stretch};
use crate::local::{Blocker, Explanation, Reason};
use crate::report::figures::{count, duration};
use crate::units::{Clock, Span, Time};

/// Width of the text, in characters.
const WIDTH: usize = 100;
/// Maximum number of blockers that are printed for a stretch.
const MOST_HELD: usize = 6;
/// Maximum number of steps of a profile that are drawn.
const MOST_STEPS: usize = 12;
/// Length of the longest bar of a profile, in characters.
const BAR: f64 = 40.0;
/// Maximum number of attempts, and of stretches of a wait, that are printed individually; of more, the first and last [`ENDS`].
pub(super) const MOST: usize = 12;
/// Number of entries printed at the beginning of a long list, and at its end.
pub(super) const ENDS: usize = 4;
/// If there are more attempts than [`MOST`], this number of waits before the first attempts and before the last ones is printed.
const WAITS: u32 = 1;

/// The outcome of a job, why it waited, and where it ran: its attempts if there are several, its waits, and its blockers. The
/// middle of long lists is summarized, unless `all` is set.
pub fn explained_text(facts: &Explained, all: bool) -> String {
    let mut out = wrapped("", &headline(facts));
    if facts.started > 1 || facts.attempts.len() > 1 {
        out += "\n";
        out += &attempts(facts, all);
    }
    if let Some(at) = &facts.at {
        let instant = exact(at.at_s);
        let which = at.attempt.map_or_else(String::new, |attempt| match facts.started {
            0 | 1 => String::new(),
            started => format!(", attempt {attempt} of {started}"),
        });
        let site = at.site.as_deref().unwrap_or("no site");
        let since = at.since_s.map(clock).unwrap_or_default();
        match at.state {
            AtState::ToCome => {
                out += &format!("\nat {instant} it has not been submitted: it is submitted at {since}\n");
            }
            AtState::Runs => out += &format!("\nat {instant} it runs at {site}, since {since}{which}\n"),
            AtState::Ended => out += &format!("\nat {instant} it has ended: {} at {since}\n", facts.outcome),
            AtState::Waits => {}
        }
    }
    out += &waits(facts, all);
    for note in &facts.notes {
        out += "\n";
        out += &wrapped("note: ", note);
    }
    out
}

/// The whole life of the job in one sentence.
fn headline(facts: &Explained) -> String {
    let submitted = exact(facts.submit_s);
    let mut out =
        format!("{}: requests {}, submitted at {submitted}", facts.job.told, processors(facts.requested));
    match facts.start_s {
        None => out += ", never started",
        Some(start) => {
            let after = match start - facts.submit_s {
                wait if wait <= 0.0 => ", at once".to_owned(),
                wait if wait < 60.0 => format!(" after {} s", secs(wait)),
                wait => format!(" after {} s ({})", secs(wait), duration(wait)),
            };
            let first = if facts.started > 1 { "first started" } else { "started" };
            out += &format!(", {first} at {}{after}", exact(start));
        }
    }
    out += &format!(", {} at {}", facts.outcome, exact(facts.end_s));
    if facts.started > 1 {
        out += &format!(" after {} attempts", count(facts.started.into()));
    }
    let last = facts.attempts.last().filter(|last| last.attempt == facts.started);
    if let Some(how) = last.and_then(ended_as).filter(|how| *how != facts.outcome) {
        let which = if facts.started > 1 { "the last" } else { "its attempt" };
        out += &format!(", {which} {how}");
    }
    let why = [
        last.and_then(because).map(str::to_owned),
        facts.reason.clone(),
        // With several attempts, the wasted work follows their table.
        last.filter(|last| facts.started == 1 && last.wasted_proc_s >= 0.5).map(|last| {
            format!("{} processor-seconds wasted", count(libm::round(last.wasted_proc_s) as u64))
        }),
    ];
    let why: Vec<String> = why.into_iter().flatten().collect();
    if why.is_empty() { out } else { out + ": " + &why.join(", ") }
}

/// For each reason, for how long it applied and in how many stretches, the longest first.
pub(super) fn shares<'a>(stretches: impl Iterator<Item = &'a Stretch>) -> Vec<(String, f64, u64)> {
    let mut all: BTreeMap<String, (f64, u64)> = BTreeMap::new();
    for stretch in stretches {
        // At the dispatcher a job may wait for several sites.
        let why = stretch.reason().map_or_else(
            || stretch.place.name().split(',').next().unwrap_or_default().to_owned(),
            |reason: Reason| reason.to_string(),
        );
        let (long, number) = all.entry(why).or_default();
        *long += stretch.long();
        *number += 1;
    }
    let mut all: Vec<_> = all.into_iter().map(|(why, (long, number))| (why, long, number)).collect();
    all.sort_by(|(_, one, _), (_, other, _)| other.total_cmp(one));
    all
}

/// All waits of the job.
fn waits(facts: &Explained, all: bool) -> String {
    let several = facts.started > 1;
    let last = facts.stretches.last().map_or(0, |stretch| stretch.attempt);
    let first = facts.stretches.first().map_or(0, |stretch| stretch.attempt);
    let long = !all && facts.at.is_none() && facts.attempts.len() > MOST;
    let told = |attempt: u32| !long || attempt < first + WAITS || attempt + WAITS > last.min(facts.started);
    let between: Vec<&Stretch> = facts.stretches.iter().filter(|stretch| !told(stretch.attempt)).collect();
    let mut summed = false;
    let mut out = String::new();
    for wait in facts.stretches.chunk_by(|one, other| one.attempt == other.attempt) {
        if told(wait[0].attempt) {
            out += &wait_before(wait, facts, several, all);
        } else if !summed && let (Some(begin), Some(end)) = (between.first(), between.last()) {
            summed = true;
            // An attempt that did not wait has no stretch, so only attempts that waited are named.
            let lead = match (begin.attempt, end.attempt) {
                (one, other) if one == other => {
                    format!("the wait before attempt {one} (`--all` shows it): ")
                }
                (one, other) => {
                    format!("the waits before attempts {one} to {other} (`--all` shows each): ")
                }
            };
            let more = lead + &sum(&between);
            out += "\n";
            out += &wrapped("", &more);
        }
    }
    out
}

/// The reasons of these stretches and the longest blockers.
fn sum(stretches: &[&Stretch]) -> String {
    let reasons: Vec<String> = shares(stretches.iter().copied())
        .into_iter()
        .map(|(why, long, number)| match number {
            1 => format!("{why} {}", duration(long)),
            _ => format!("{why} {} in {} periods", duration(long), count(number)),
        })
        .collect();
    let held = held(stretches);
    let most: Vec<String> =
        held.iter().take(3).map(|held| format!("{} for {}", held.who, duration(held.for_s))).collect();
    match held.len() {
        0 => reasons.join(", "),
        _ => format!("{}; blocking jobs: {}", reasons.join(", "), most.join(", ")),
    }
}

/// The blockers of the job in these stretches: as first described, with their total time.
fn held(stretches: &[&Stretch]) -> Vec<Held> {
    let mut found: Vec<Held> = Vec::new();
    let mut places: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for one in stretches.iter().flat_map(|stretch| stretch.held()) {
        match places.get(&(one.who.clone(), one.kind)) {
            Some(at) => found[*at].for_s += one.for_s,
            None => {
                places.insert((one.who.clone(), one.kind), found.len());
                found.push(one);
            }
        }
    }
    // Blockers that the policy names as decisive come first in the first stretch; beyond that, those that blocked for longest come
    // first.
    found.sort_by(|one, other| other.for_s.total_cmp(&one.for_s));
    found
}

/// The wait before one attempt. If it has many stretches, consecutive ones under the same rule are merged, and only the first and
/// last merged ones are printed.
fn wait_before(wait: &[Stretch], facts: &Explained, several: bool, all: bool) -> String {
    let each = all || wait.len() <= MOST;
    let parts: Vec<&[Stretch]> = wait.chunk_by(|one, other| !each && one.is_like(other)).collect();
    let left_out = if all || parts.len() <= MOST { 0..0 } else { ENDS..parts.len() - ENDS };
    let mut out = String::new();
    let mut drawn = false;
    for (at, part) in parts.iter().enumerate() {
        if !left_out.contains(&at) {
            out += &told(part, facts, several);
            if let Some(begin) = part[0].begin.as_ref().filter(|begin| !drawn && begin.profile.len() > 1) {
                drawn = true;
                out += &profile(&part[0], begin);
            }
        } else if at == left_out.start {
            let between: Vec<&Stretch> = parts[left_out.clone()].iter().copied().flatten().collect();
            let until = between.last().map_or(part[0].from_s, |last| last.to_s);
            let long = until - part[0].from_s;
            let lead = format!(
                "... {} more periods until {} ({}), shown with `--all`: ",
                count(between.len() as u64),
                clock(until),
                duration(long)
            );
            out += "\n";
            out += &wrapped("", &(lead + &sum(&between)));
        }
    }
    out
}

/// A stretch, or several that share one rule.
fn told(part: &[Stretch], facts: &Explained, several: bool) -> String {
    let (Some(first), Some(last)) = (part.first(), part.last()) else { return String::new() };
    let reason = first.reason().map_or_else(String::new, |reason| format!(": {reason}"));
    let within = facts
        .attempts
        .iter()
        .any(|attempt| attempt.attempt == first.attempt && attempt.start_s <= first.from_s);
    let which = match (several, within) {
        (false, _) => String::new(),
        (true, true) => format!(", within attempt {}", first.attempt),
        (true, false) if first.attempt > facts.started => ", after the last attempt".to_owned(),
        (true, false) => format!(", before attempt {}", first.attempt),
    };
    let long = last.to_s - first.from_s;
    let mut out = if long > 0.0 {
        let told = if long < 60.0 { String::new() } else { format!(" ({})", duration(long)) };
        let (from, to) = (clock(first.from_s), clock(last.to_s));
        format!("\nfrom {from} to {to}{told}, {}{which}{reason}\n", first.place.name())
    } else {
        format!("\nat {}, {}{which}{reason}\n", clock(first.from_s), first.place.name())
    };
    out += &wrapped("  ", &first.rule());
    let stretches: Vec<&Stretch> = part.iter().collect();
    let held = held(&stretches);
    for one in held.iter().take(MOST_HELD) {
        // A blocker that blocked all the time needs no duration.
        let long =
            if one.for_s < long { format!("; blocking for {}", duration(one.for_s)) } else { String::new() };
        out += &wrapped("  - ", &format!("{} {}{long}", one.who, one.how));
    }
    if let Some(more) = held.len().checked_sub(MOST_HELD).filter(|more| *more > 0) {
        out += &format!("  - and {} more\n", count(more as u64));
    }
    if part.len() > 1 {
        out += &format!(
            "  in {} periods, with other blocking jobs each time (`--all`)\n",
            count(part.len() as u64)
        );
    }
    out
}

/// An instant in seconds as a clock time.
pub(super) fn clock(seconds: f64) -> String {
    let span = Span::from_secs_f64(seconds).unwrap_or_default();
    Clock(Time::from_micros(span.micros())).to_string()
}

/// An instant as in tables, followed by its clock time if that differs.
fn exact(seconds: f64) -> String {
    if seconds < 3_600.0 {
        format!("{} s", secs(seconds))
    } else {
        format!("{} ({} s)", clock(seconds), secs(seconds))
    }
}

/// Seconds, with decimals only if they are needed.
fn secs(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Text at most [`WIDTH`] wide: the first line follows `lead`, and the others are indented to it.
pub(super) fn wrapped(lead: &str, text: &str) -> String {
    let indent = " ".repeat(lead.chars().count());
    let (mut out, mut line) = (String::new(), lead.to_owned());
    let mut empty = true;
    for word in text.split(' ') {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            out += &line;
            out.push('\n');
            line.clone_from(&indent);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    out + &line + "\n"
}

/// A chart of the free processors over time.
fn profile(stretch: &Stretch, begin: &Explanation) -> String {
    let (steps, needs) = (&begin.profile, begin.needs);
    let mut out = format!("  free processors as planned at {} ({needs} needed):\n", clock(stretch.from_s));
    let most = steps.iter().map(|(_, free)| *free).max().unwrap_or(0).max(needs as i32).max(1);
    let left_out = steps.len().saturating_sub(MOST_STEPS);
    let kept_front = MOST_STEPS - MOST_STEPS / 3;
    // Where no job may overtake the first in line, there is no shadow time.
    let behind = match begin.blockers.first() {
        Some(Blocker::Waiting { who, start, .. }) if begin.reason() == Reason::Behind => {
            start.map(|start| (start, format!("room for {who}")))
        }
        _ => None,
    };
    let own = begin.start.filter(|start| Some(*start) != begin.shadow);
    let marks: Vec<(Time, String)> = [
        begin.shadow.map(|shadow| (shadow, "shadow time".to_owned())),
        own.map(|start| (start, "its start as planned".to_owned())),
        behind,
    ]
    .into_iter()
    .flatten()
    .collect();
    for (at, (since, free)) in steps.iter().enumerate() {
        if left_out > 0 && at == kept_front {
            out += &format!("  {:>16}   and {} steps more\n", "...", count(left_out as u64));
        }
        if left_out > 0 && at >= kept_front && at < kept_front + left_out {
            continue;
        }
        let length = libm::round(f64::from((*free).max(0)) / f64::from(most) * BAR) as usize;
        let mark: Vec<&str> =
            marks.iter().filter(|(time, _)| time == since).map(|(_, word)| word.as_str()).collect();
        let mark = if mark.is_empty() { String::new() } else { format!(" <- {}", mark.join(", ")) };
        let since = clock(since.as_secs_f64());
        let line = format!("  {since:>16} {free:>7} {}{mark}", "#".repeat(length));
        out += line.trim_end();
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests;
