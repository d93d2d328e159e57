//! The attempts of a job as text.

use std::collections::{BTreeMap, BTreeSet};

use super::text::{ENDS, MOST, clock, shares, wrapped};
use crate::experiment::{Attempt, Explained};
use crate::report::figures::{count, duration};
use crate::report::tables::text_table;

/// A table of the attempts: for how long the job waited before each and mostly why, where and when it ran, how the attempt ended.
pub(super) fn attempts(facts: &Explained, all: bool) -> String {
    let parts: BTreeSet<(&str, &str)> =
        facts.attempts.iter().map(|attempt| (attempt.site.as_str(), attempt.partition.as_str())).collect();
    let sites: BTreeSet<&str> = parts.iter().map(|(site, _)| *site).collect();
    let several = parts.len() > sites.len();
    let row = |attempt: &Attempt| {
        let waits = facts.stretches.iter().filter(|stretch| stretch.attempt == attempt.attempt);
        let place = match several {
            true => format!("{}/{}", attempt.site, attempt.partition),
            false => attempt.site.clone(),
        };
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        vec![
            attempt.attempt.to_string(),
            duration(attempt.waited_s),
            or_dash(shares(waits).into_iter().next().map(|(why, ..)| why)),
            place,
            clock(attempt.start_s),
            or_dash(attempt.end_s.map(|end| duration(end - attempt.start_s))),
            ended(attempt),
        ]
    };
    let made = &facts.attempts;
    let mut header = vec!["attempt", "waited", "mostly", "at", "start", "ran", "ended"];
    let left_out = if all || made.len() <= MOST { 0..0 } else { ENDS..made.len() - ENDS };
    let mut rows: Vec<Vec<String>> = made.iter().map(row).collect();
    if !left_out.is_empty() {
        let dots = ["..."].into_iter().chain([""; 6]).map(str::to_owned).collect();
        drop(rows.splice(left_out.clone(), [dots]));
    }
    // Facts at an instant do not include the earlier waits.
    if facts.at.is_some() {
        header.remove(2);
        rows.iter_mut().for_each(|row| drop(row.remove(2)));
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
        ways.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
        let ways: Vec<String> = ways
            .into_iter()
            .map(|((how, site), number)| format!("{} at {site}: {how}", count(number)))
            .collect();
        let more = format!(
            "{} more attempts (`--all` shows them): waited {} and ran {} in total; {}",
            count(between.len() as u64),
            duration(waited),
            duration(ran),
            ways.join("; ")
        );
        out += &wrapped("... ", &more);
    }
    let wasted: f64 = made.iter().map(|attempt| attempt.wasted_proc_s).sum();
    if wasted > 0.0 {
        out +=
            &format!("{} processor-seconds wasted by failed attempts\n", count(libm::round(wasted) as u64));
    }
    out
}

/// How an attempt ended, and why.
fn ended(attempt: &Attempt) -> String {
    match (attempt.ended, because(attempt)) {
        (None, _) => "-".to_owned(),
        (Some(how), None) => how.to_owned(),
        (Some(how), Some(why)) => format!("{how}: {why}"),
    }
}

/// The cause of its end, in words.
pub(super) fn because(attempt: &Attempt) -> Option<&str> {
    attempt.cause.as_deref().map(|cause| match cause {
        "machine-left" => "machine left",
        "site-left" => "site left",
        "task-failed" => "failed by itself",
        "silence" => "nobody heard of it",
        "fault" => "the site fails all jobs",
        cause => cause,
    })
}
