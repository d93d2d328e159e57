//! The life of a job, for people. What is long is told at its beginning and its end, and summed up between.

use std::collections::{BTreeMap, BTreeSet};

use super::{AtState, Attempt, Explained, Held, Stretch, rule_without_numbers};
use crate::local::{Reason, processors};
use crate::report::figures::{count, duration};
use crate::report::tables::text_table;
use crate::units::{Clock, Span, Time};

/// Columns of the text.
const WIDTH: usize = 100;
/// Most of those who held a job that are told of a stretch.
const MOST_HELD: usize = 6;
/// Most steps of a profile that are drawn.
const MOST_STEPS: usize = 12;
/// Characters of the longest bar of a profile.
const BAR: f64 = 40.0;
/// Most attempts, and most stretches of a wait, that are told each; of more, the first and last ones.
const MOST: usize = 12;
/// So many of these from the beginning, and as many from the end.
const ENDS: usize = 4;
/// Of more attempts than [`MOST`] the waits before the first and last so many are told.
const WAITS: u32 = 1;

/// Why a job waited, and where it ran: its attempts if there are several, its waits, who held it. Unless `all` of a long story is
/// wanted, its middle is summed up.
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
                out += &format!("\nat {instant} it has not been submitted: it comes at {since}\n");
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

fn headline(facts: &Explained) -> String {
    let submitted = exact(facts.submit_s);
    let mut out =
        format!("{}: asks for {}, submitted at {submitted}", facts.job.told, processors(facts.requested));
    let Some(start) = facts.start_s else {
        let why = facts.reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
        return out + &format!(", never started, {}{why} at {}", facts.outcome, exact(facts.end_s));
    };
    let wait = start - facts.submit_s;
    let after = match wait {
        wait if wait <= 0.0 => ", at once".to_owned(),
        wait if wait < 60.0 => format!(" after {} s", secs(wait)),
        wait => format!(" after {} s ({})", secs(wait), duration(wait)),
    };
    let first = if facts.started > 1 { "first started" } else { "started" };
    out += &format!(", {first} at {}{after}", exact(start));
    if facts.started > 1 {
        out += &format!(
            ", {} at {} after {} attempts",
            facts.outcome,
            exact(facts.end_s),
            count(facts.started.into())
        );
    }
    out
}

/// The attempts as a table: how long the job had not run before each and why mostly, where and when it ran, how it ended.
fn attempts(facts: &Explained, all: bool) -> String {
    let parts: BTreeSet<(&str, &str)> =
        facts.attempts.iter().map(|attempt| (attempt.site.as_str(), attempt.partition.as_str())).collect();
    let sites: BTreeSet<&str> = parts.iter().map(|(site, _)| *site).collect();
    let several = parts.len() > sites.len();
    let row = |attempt: &Attempt| {
        let waits = facts.stretches.iter().filter(|stretch| stretch.attempt == attempt.attempt);
        let why = shares(waits).into_iter().next().map_or_else(|| "-".to_owned(), |(why, ..)| why);
        let place = match several {
            true => format!("{}/{}", attempt.site, attempt.partition),
            false => attempt.site.clone(),
        };
        let end = attempt.end_s;
        let mut cells = vec![attempt.attempt.to_string(), duration(attempt.waited_s)];
        // At an instant the waits before have not been followed.
        if facts.at.is_none() {
            cells.push(why);
        }
        cells.extend([
            place,
            clock(attempt.start_s),
            end.map_or_else(|| "-".to_owned(), |end| duration(end - attempt.start_s)),
            ended(attempt),
        ]);
        cells
    };
    let made = &facts.attempts;
    let mut header = vec!["attempt", "waited", "mostly", "at", "start", "ran", "ended"];
    if facts.at.is_some() {
        header.remove(2);
    }
    let left_out = if all || made.len() <= MOST { 0..0 } else { ENDS..made.len() - ENDS };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (at, attempt) in made.iter().enumerate() {
        if at == left_out.start && !left_out.is_empty() {
            let mut dots = vec![String::new(); header.len()];
            dots[0] = "...".to_owned();
            rows.push(dots);
        }
        if !left_out.contains(&at) {
            rows.push(row(attempt));
        }
    }
    let mut out = text_table(header.len(), &header, rows) + "\n";
    if !left_out.is_empty() {
        let between = &made[left_out];
        let (waited, ran) = between.iter().fold((0.0, 0.0), |(waited, ran), attempt| {
            let end = attempt.end_s.unwrap_or(attempt.start_s);
            (waited + attempt.waited_s, ran + end - attempt.start_s)
        });
        let mut ways: BTreeMap<(String, &str), u64> = BTreeMap::new();
        for attempt in between {
            *ways.entry((ended(attempt), attempt.site.as_str())).or_default() += 1;
        }
        let mut ways: Vec<((String, &str), u64)> = ways.into_iter().collect();
        ways.sort_by(|(a, one), (b, other)| other.cmp(one).then_with(|| a.cmp(b)));
        let ways: Vec<String> = ways
            .into_iter()
            .map(|((how, site), number)| format!("{} at {site}: {how}", count(number)))
            .collect();
        let more = format!(
            "{} attempts more, not told here (`--all`): waited {} and ran {} in all; {}",
            count(between.len() as u64),
            duration(waited),
            duration(ran),
            ways.join("; ")
        );
        out += &wrapped("... ", &more);
    }
    let lost: f64 = made.iter().map(|attempt| attempt.lost_proc_s).sum();
    if lost > 0.0 {
        out += &format!("{} processor-seconds lost with attempts\n", count(libm::round(lost) as u64));
    }
    out
}

/// How an attempt ended.
fn ended(attempt: &Attempt) -> String {
    let how = match attempt.ended {
        None => return "-".to_owned(),
        Some("given-back") => "given back",
        Some(how) => how,
    };
    match attempt.cause.as_deref() {
        None => how.to_owned(),
        Some("machine-left") => format!("{how}: a machine left"),
        Some("site-left") => format!("{how}: the site left"),
        Some(cause) => format!("{how}: {cause}"),
    }
}

/// For how long which reason held, in how many stretches, the longest first.
fn shares<'a>(stretches: impl Iterator<Item = &'a Stretch>) -> Vec<(String, f64, u64)> {
    let mut all: BTreeMap<String, (f64, u64)> = BTreeMap::new();
    for stretch in stretches {
        // With the dispatcher a job may wait for many sites.
        let why = stretch.reason.map_or_else(
            || stretch.place.split(',').next().unwrap_or_default().to_owned(),
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

/// All waits.
fn waits(facts: &Explained, all: bool) -> String {
    let several = facts.started > 1;
    let last = facts.stretches.last().map_or(0, |stretch| stretch.attempt);
    let first = facts.stretches.first().map_or(0, |stretch| stretch.attempt);
    let long = !all && facts.at.is_none() && facts.attempts.len() > MOST;
    let told = |attempt: u32| !long || attempt < first + WAITS || attempt + WAITS > last.min(facts.started);
    let mut out = String::new();
    for wait in facts.stretches.chunk_by(|one, other| one.attempt == other.attempt) {
        if told(wait[0].attempt) {
            out += &wait_before(wait, facts, several, all);
        } else if wait[0].attempt == first + WAITS {
            let between: Vec<&Stretch> =
                facts.stretches.iter().filter(|stretch| !told(stretch.attempt)).collect();
            let mut more = format!(
                "the waits between, before attempts {} to {} (`--all` tells each): ",
                first + WAITS,
                last.min(facts.started) - WAITS
            );
            more += &sum(&between);
            out += "\n";
            out += &wrapped("", &more);
        }
    }
    out
}

/// Reasons and those most in the way.
fn sum(stretches: &[&Stretch]) -> String {
    let reasons: Vec<String> = shares(stretches.iter().copied())
        .into_iter()
        .map(|(why, long, number)| match number {
            1 => format!("{why} {}", duration(long)),
            _ => format!("{why} {} in {} stretches", duration(long), count(number)),
        })
        .collect();
    let held = held(stretches);
    let most: Vec<String> =
        held.iter().take(3).map(|held| format!("{} for {}", held.who, duration(held.for_s))).collect();
    match held.len() {
        0 => reasons.join(", "),
        _ => format!("{}; most in the way: {}", reasons.join(", "), most.join(", ")),
    }
}

/// Who held the job in these stretches: as told first, with how long in all.
fn held(stretches: &[&Stretch]) -> Vec<Held> {
    let mut found: Vec<Held> = Vec::new();
    let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for one in stretches.iter().flat_map(|stretch| &stretch.held_by) {
        match places.get(&(one.who.as_str(), one.kind)) {
            Some(at) => found[*at].for_s += one.for_s,
            None => {
                places.insert((&one.who, one.kind), found.len());
                found.push(one.clone());
            }
        }
    }
    // Those that decide come first in the first look; then who was in the way for longest.
    found.sort_by(|one, other| other.for_s.total_cmp(&one.for_s));
    found
}

/// The wait before one attempt. If it has many stretches, those that follow each other under one rule are told as one, and of these
/// the first and the last.
fn wait_before(wait: &[Stretch], facts: &Explained, several: bool, all: bool) -> String {
    let rule =
        |stretch: &Stretch| (stretch.place.clone(), stretch.reason, rule_without_numbers(&stretch.rule));
    let each = all || wait.len() <= MOST;
    let parts: Vec<&[Stretch]> = wait.chunk_by(|one, other| !each && rule(one) == rule(other)).collect();
    let left_out = if all || parts.len() <= MOST { 0..0 } else { ENDS..parts.len() - ENDS };
    let mut out = String::new();
    let mut drawn = false;
    for (at, part) in parts.iter().enumerate() {
        if !left_out.contains(&at) {
            out += &told(part, facts, several);
            if !drawn && part[0].profile.len() > 1 {
                drawn = true;
                out += &profile(&part[0]);
            }
        } else if at == left_out.start {
            let between: Vec<&Stretch> = parts[left_out.clone()].iter().copied().flatten().collect();
            let until = between.last().map_or(part[0].from_s, |last| last.to_s);
            let long = until - part[0].from_s;
            let lead = format!(
                "... {} stretches more until {} ({}), not told here (`--all`): ",
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

/// A stretch, or several that have one rule.
fn told(part: &[Stretch], facts: &Explained, several: bool) -> String {
    let (Some(first), Some(last)) = (part.first(), part.last()) else { return String::new() };
    let reason = first.reason.map_or_else(String::new, |reason| format!(": {reason}"));
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
        format!("\nfrom {from} to {to}{told}, {}{which}{reason}\n", first.place)
    } else {
        format!("\nat {}, {}{which}{reason}\n", clock(first.from_s), first.place)
    };
    out += &wrapped("  ", &first.rule);
    let stretches: Vec<&Stretch> = part.iter().collect();
    let held = held(&stretches);
    for one in held.iter().take(MOST_HELD) {
        // Who was in the way all the time needs no more words.
        let long = if one.for_s < long {
            format!("; in the way for {}", duration(one.for_s))
        } else {
            String::new()
        };
        out += &wrapped("  - ", &format!("{} {}{long}", one.who, one.how));
    }
    if let Some(more) = held.len().checked_sub(MOST_HELD).filter(|more| *more > 0) {
        out += &format!("  - and {} more\n", count(more as u64));
    }
    if part.len() > 1 {
        out += &format!(
            "  in {} stretches, with others in the way each time (`--all`)\n",
            count(part.len() as u64)
        );
    }
    out
}

/// An instant in seconds as people read it.
fn clock(seconds: f64) -> String {
    let span = Span::from_secs_f64(seconds).unwrap_or_default();
    Clock(Time::from_micros(span.micros())).to_string()
}

/// An instant as it stands in tables, and as people read it if that is something else.
fn exact(seconds: f64) -> String {
    if seconds < 3_600.0 {
        format!("{} s", secs(seconds))
    } else {
        format!("{} ({} s)", clock(seconds), secs(seconds))
    }
}

/// Seconds, exact to what is needed: whole ones without decimals.
fn secs(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Text at most [`WIDTH`] wide, the first line behind `lead` and the others under its text.
fn wrapped(lead: &str, text: &str) -> String {
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

/// Free processors over time.
fn profile(stretch: &Stretch) -> String {
    let mut out =
        format!("  free processors as planned at {} ({} needed):\n", clock(stretch.from_s), stretch.needs);
    let most =
        stretch.profile.iter().map(|(_, free)| *free).max().unwrap_or(0).max(stretch.needs as i32).max(1);
    let left_out = stretch.profile.len().saturating_sub(MOST_STEPS);
    let kept_front = MOST_STEPS - MOST_STEPS / 3;
    // Where nobody overtakes there is no shadow time, only a first in line.
    let behind = stretch.held_by.first().filter(|_| stretch.reason == Some(Reason::Behind));
    let marks = [
        (stretch.shadow_s, "shadow time".to_owned()),
        (
            stretch.planned_s.filter(|planned| Some(*planned) != stretch.shadow_s),
            "its start as planned".to_owned(),
        ),
        (
            behind.and_then(|first| first.start_s),
            behind.map_or_else(String::new, |first| format!("room for {}", first.who)),
        ),
    ];
    for (at, (since, free)) in stretch.profile.iter().enumerate() {
        if left_out > 0 && at == kept_front {
            out += &format!("  {:>16}   and {} steps more\n", "...", count(left_out as u64));
        }
        if left_out > 0 && at >= kept_front && at < kept_front + left_out {
            continue;
        }
        let length = libm::round(f64::from((*free).max(0)) / f64::from(most) * BAR) as usize;
        let mark: Vec<&str> =
            marks.iter().filter(|(time, _)| *time == Some(*since)).map(|(_, word)| word.as_str()).collect();
        let mark = if mark.is_empty() { String::new() } else { format!(" <- {}", mark.join(", ")) };
        let line = format!("  {:>16} {free:>7} {}{mark}", clock(*since), "#".repeat(length));
        out += line.trim_end();
        out.push('\n');
    }
    out
}
