//! The life of a job as text. Long lists are printed at their beginning and end, with a summary of the middle.

use std::collections::BTreeMap;

use super::BlockerFacts;
use super::attempts::{attempts, because};
use super::front::front;
use super::task::task;
use super::words::processors;
use crate::experiment::{AssignedTo, AtState, Explained, Stretch};
use crate::local::{Blocker, Explanation, Reason};
use crate::report::figures::{self, count, duration};
use crate::units::{Clock, Span, Time};

/// Width of the text, in characters.
const WIDTH: usize = 100;
/// Maximum number of blockers that are printed for a stretch.
const MOST_HELD: usize = 6;
/// Maximum number of assignments by the broker that are printed for a wait.
const MOST_ASSIGNED: usize = 3;
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
    out.extend(facts.task.iter().map(|of| task(of, facts.at.as_ref().map(|at| at.at_s))));
    if facts.started > 1 || facts.attempts.len() > 1 {
        out += &format!("\n{}", attempts(facts, all));
    }
    out += &suspensions(facts, all);
    if let Some(at) = &facts.at {
        let attempt = at.attempt.filter(|_| facts.started > 1);
        let which = attempt.map(|attempt| format!(", attempt {attempt} of {}", facts.started));
        let (site, which) = (at.site.as_deref().unwrap_or("no site"), which.unwrap_or_default());
        let since = at.since_s.map(clock).unwrap_or_default();
        let state = match at.state {
            AtState::ToCome => Some(format!("has not been submitted: it is submitted at {since}")),
            AtState::Runs => Some(format!("runs at {site}, since {since}{which}")),
            AtState::Suspending => {
                Some(format!("is being suspended at {site}, and writes its memory since {since}{which}"))
            }
            AtState::Resuming => {
                Some(format!("is being resumed at {site}, and reads its memory since {since}{which}"))
            }
            AtState::Ended => Some(format!("has ended: {} at {since}", facts.outcome)),
            AtState::Waits => None,
        };
        out += &state.map(|state| format!("\nat {} it {state}\n", exact(at.at_s))).unwrap_or_default();
    }
    out += &waits(facts, all);
    out.extend(facts.notes.iter().map(|note| format!("\n{}", wrapped("note: ", note))));
    out
}

/// When and why the job was suspended, and for how long: each suspension, or the first and the last of many.
fn suspensions(facts: &Explained, all: bool) -> String {
    let made = &facts.suspensions;
    let left_out = if all || made.len() <= MOST { 0..0 } else { ENDS..made.len() - ENDS };
    let mut out = String::new();
    for (at, one) in made.iter().enumerate() {
        if left_out.start == at && !left_out.is_empty() {
            out += &format!("... {} more suspensions (`--all` shows them)\n", count(left_out.len() as u64));
        }
        if left_out.contains(&at) {
            continue;
        }
        // `for job 17 (4.41 against 2.10)`, as `events.csv` has it.
        let cause = one.cause.replacen('(', "(expansion factor ", 1);
        let why = if cause.is_empty() { String::new() } else { format!(" {cause}") };
        let long = match one.resumed_s {
            Some(resumed) => format!("until {} ({})", clock(resumed), duration(resumed - one.at_s)),
            None if facts.at.is_some() => "and not resumed by then".to_owned(),
            None => "and not resumed".to_owned(),
        };
        out += &format!("suspended at {}{why}, {long}\n", clock(one.at_s));
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

/// The whole life of the job in one sentence.
fn headline(facts: &Explained) -> String {
    let submitted = exact(facts.submit_s);
    let mut out =
        format!("{}: requests {}, submitted at {submitted}", facts.job.name, processors(facts.requested));
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
    if let Some(how) = last.and_then(|last| last.ended).filter(|how| *how != facts.outcome) {
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
        let place = || stretch.place.name().split(',').next().unwrap_or_default().to_owned();
        let why = stretch.reason().map_or_else(place, |reason: Reason| reason.to_string());
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
    let last = facts.stretches.last().map_or(0, |stretch| stretch.attempt);
    let first = facts.stretches.first().map_or(0, |stretch| stretch.attempt);
    let long = !all && facts.at.is_none() && facts.attempts.len() > MOST;
    let shown = |attempt: u32| !long || attempt < first + WAITS || attempt + WAITS > last.min(facts.started);
    let between: Vec<&Stretch> = facts.stretches.iter().filter(|stretch| !shown(stretch.attempt)).collect();
    let mut summed = false;
    let mut out = String::new();
    for wait in facts.stretches.chunk_by(|one, other| one.attempt == other.attempt) {
        if shown(wait[0].attempt) {
            out += &wait_before(wait, facts, all);
            out += &assigned_in(wait, facts, all);
        } else if !summed && let (Some(begin), Some(end)) = (between.first(), between.last()) {
            summed = true;
            // An attempt that did not wait has no stretch, so only attempts that waited are named.
            let lead = match (begin.attempt, end.attempt) {
                (one, other) if one == other => format!("the wait before attempt {one} (`--all` shows it)"),
                (one, other) => format!("the waits before attempts {one} to {other} (`--all` shows each)"),
            };
            out += &format!("\n{}", wrapped("", &format!("{lead}: {}", sum(&between))));
        }
    }
    // Where nothing waited, there is no wait to tell it in.
    let told =
        |one: &&AssignedTo| facts.stretches.iter().all(|wait| one.at_s < wait.from_s || wait.to_s < one.at_s);
    out.extend(facts.assigned.last().filter(told).map(|one| assignment(one, all)));
    out
}

/// The broker's assignments within a wait.
fn assigned_in(wait: &[Stretch], facts: &Explained, all: bool) -> String {
    let (Some(first), Some(last)) = (wait.first(), wait.last()) else { return String::new() };
    let within = |one: &&AssignedTo| first.from_s <= one.at_s && one.at_s <= last.to_s;
    let assigned: Vec<&AssignedTo> = facts.assigned.iter().filter(within).collect();
    let most = if all { assigned.len() } else { MOST_ASSIGNED };
    let mut out = String::new();
    for one in assigned.iter().take(most) {
        out += &assignment(one, all);
    }
    if let Some(more) = assigned.len().checked_sub(most).filter(|more| *more > 0) {
        out += &format!("and {} more assignments (`--all`)\n", count(more as u64));
    }
    out
}

/// An assignment, with the pools or the schedules that the broker compared.
fn assignment(one: &AssignedTo, all: bool) -> String {
    let AssignedTo { at_s, asked_s, pool, reason, .. } = one;
    let asked = asked_s.map_or_else(String::new, |asked| format!(", planning since {},", clock(asked)));
    let saw = if one.compared.len() > 1 { "compared" } else { "expected" };
    let mut out =
        format!("\nat {} the broker{asked} assigned it to {pool} ({reason}); it {saw}\n", clock(*at_s));
    for pool in &one.compared {
        let mut line = match (pool.start_s, pool.end_s) {
            (Some(start), Some(end)) => {
                format!("{}: expected start {}, completion {}", pool.pool, clock(start), clock(end))
            }
            _ => format!("{}: too few processors are up", pool.pool),
        };
        for (name, value) in &pool.values {
            line += &format!(", {name} {value:.3}");
        }
        out += &wrapped("  - ", &line);
    }
    out.extend(one.front.iter().map(|of| front(of, all)));
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
    let most = held.iter().take(3).map(|held| format!("{} for {}", held.who, duration(held.for_s)));
    match held.len() {
        0 => reasons.join(", "),
        _ => format!("{}; blocking jobs: {}", reasons.join(", "), most.collect::<Vec<_>>().join(", ")),
    }
}

/// The blockers of the job in these stretches: as first described, with their total time.
fn held(stretches: &[&Stretch]) -> Vec<BlockerFacts> {
    let mut found: Vec<BlockerFacts> = Vec::new();
    let mut places: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for one in stretches.iter().flat_map(|stretch| stretch.held()) {
        let at = *places.entry((one.who.clone(), one.kind)).or_insert(found.len());
        match found.get_mut(at) {
            Some(known) => known.for_s += one.for_s,
            None => found.push(one),
        }
    }
    // Blockers that the policy names as decisive come first in the first stretch; beyond that, those that blocked for longest come
    // first.
    found.sort_by(|one, other| other.for_s.total_cmp(&one.for_s));
    found
}

/// The wait before one attempt. If it has many stretches, consecutive ones under the same rule are merged, and only the first and
/// last merged ones are printed.
fn wait_before(wait: &[Stretch], facts: &Explained, all: bool) -> String {
    let each = all || wait.len() <= MOST;
    let parts: Vec<&[Stretch]> = wait.chunk_by(|one, other| !each && one.is_like(other)).collect();
    let left_out = if all || parts.len() <= MOST { 0..0 } else { ENDS..parts.len() - ENDS };
    let mut out = String::new();
    let mut drawn = false;
    for (at, part) in parts.iter().enumerate() {
        if !left_out.contains(&at) {
            out += &period(part, facts);
            if let Some(begin) = part[0].begin.as_ref().filter(|begin| !drawn && begin.profile.len() > 1) {
                drawn = true;
                out += &profile(&part[0], begin);
            }
        } else if at == left_out.start {
            let between: Vec<&Stretch> = parts[left_out.clone()].iter().copied().flatten().collect();
            let until = between.last().map_or(part[0].from_s, |last| last.to_s);
            let more = format!(
                "... {} more periods until {} ({}), shown with `--all`: {}",
                count(between.len() as u64),
                clock(until),
                duration(until - part[0].from_s),
                sum(&between)
            );
            out += &format!("\n{}", wrapped("", &more));
        }
    }
    out
}

/// A stretch, or several that share one rule.
fn period(part: &[Stretch], facts: &Explained) -> String {
    let (Some(first), Some(last)) = (part.first(), part.last()) else { return String::new() };
    let reason = first.reason().map_or_else(String::new, |reason| format!(": {reason}"));
    let mut attempts = facts.attempts.iter();
    let within = attempts.any(|at| at.attempt == first.attempt && at.start_s <= first.from_s);
    let which = match facts.started {
        0 | 1 => String::new(),
        _ if within => format!(", within attempt {}", first.attempt),
        started if first.attempt > started => ", after the last attempt".to_owned(),
        _ => format!(", before attempt {}", first.attempt),
    };
    let long = last.to_s - first.from_s;
    let (from, to) = (clock(first.from_s), clock(last.to_s));
    let when = match long {
        long if long >= 60.0 => format!("from {from} to {to} ({})", duration(long)),
        long if long > 0.0 => format!("from {from} to {to}"),
        _ => format!("at {from}"),
    };
    let mut out = format!("\n{when}, {}{which}{reason}\n", first.place.name());
    out += &wrapped("  ", &first.rule());
    let held = held(&part.iter().collect::<Vec<_>>());
    for one in held.iter().take(MOST_HELD) {
        // A blocker that blocked all the time needs no duration.
        let blocking = (one.for_s < long).then(|| format!("; blocking for {}", duration(one.for_s)));
        out += &wrapped("  - ", &format!("{} {}{}", one.who, one.how, blocking.unwrap_or_default()));
    }
    if held.len() > MOST_HELD {
        out += &format!("  - and {} more\n", count((held.len() - MOST_HELD) as u64));
    }
    if part.len() > 1 {
        let periods = count(part.len() as u64);
        out += &format!("  in {periods} periods, with other blocking jobs each time (`--all`)\n");
    }
    out
}

/// An instant in seconds as a clock time.
pub(super) fn clock(seconds: f64) -> String {
    let span = Span::from_secs_f64(seconds).unwrap_or_default();
    Clock(Time::from_micros(span.micros())).to_string()
}

/// An instant as in tables, followed by its clock time if that differs.
pub(super) fn exact(seconds: f64) -> String {
    if seconds < 3_600.0 {
        format!("{} s", secs(seconds))
    } else {
        format!("{} ({} s)", clock(seconds), secs(seconds))
    }
}

/// Seconds, with decimals only if they are needed.
pub(super) fn secs(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Text at most [`WIDTH`] wide: the first line follows `lead`, and the others are indented to it.
pub(super) fn wrapped(lead: &str, text: &str) -> String {
    let indent = lead.chars().count();
    let lines = figures::wrapped(text, WIDTH - indent);
    format!("{lead}{}\n", lines.join(&format!("\n{:indent$}", "")))
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
    let marks = [
        begin.shadow.map(|shadow| (shadow, "shadow time".to_owned())),
        own.map(|start| (start, "its start as planned".to_owned())),
        behind,
    ];
    for (at, (since, free)) in steps.iter().enumerate() {
        if left_out > 0 && at == kept_front {
            out += &format!("  {:>16}   and {} steps more\n", "...", count(left_out as u64));
        }
        if (kept_front..kept_front + left_out).contains(&at) {
            continue;
        }
        let bar = "#".repeat(libm::round(f64::from((*free).max(0)) / f64::from(most) * BAR) as usize);
        let here = marks.iter().flatten().filter(|(time, _)| time == since).map(|(_, word)| word.as_str());
        let here = here.collect::<Vec<_>>().join(", ");
        let mark = if here.is_empty() { String::new() } else { format!(" <- {here}") };
        let line = format!("  {:>16} {free:>7} {bar}{mark}", clock(since.as_secs_f64()));
        out += line.trim_end();
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests;
