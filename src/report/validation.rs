//! The result of a validation of a schedule, as text and as JSON.

use serde_json::{Value, json};

use super::figures::{count, jobs};
use super::tables::text_table;
use crate::verify::{Rule, Validation, Violation};

/// The number of violations in words; `None` if there are none.
pub fn validation_complaint(found: &Validation) -> Option<String> {
    match found.verdict.count() {
        0 => None,
        1 => Some("the schedule is not valid: 1 violation".to_owned()),
        many => Some(format!("the schedule is not valid: {} violations", count(many))),
    }
}

/// A violation in one line: its time, its rule, and the row where it is visible.
fn line(violation: &Violation) -> String {
    format!("at {} s: {} ({})", violation.time, violation.message, violation.row)
}

/// The verdict: valid or not, the first violation, the number of violations of each rule, and what was checked.
pub fn validation_table(found: &Validation) -> String {
    let Validation { title, grid, verdict, unchecked, .. } = found;
    let word = if found.is_valid() { "valid" } else { "NOT VALID" };
    let mut out = format!(
        "{title}: {word}\n{} and {} segments on {grid}\n",
        jobs(verdict.jobs),
        count(verdict.segments)
    );
    if let Some(first) = verdict.first() {
        out += &format!("\nfirst violation, {}, {}\n", first.rule, line(first));
    }
    let checked = |rule: Rule| verdict.checked.get(&rule).copied().unwrap_or(0);
    let rows = Rule::all().filter_map(|rule| {
        let broken = verdict.broken.get(&rule).map(|broken| broken.count);
        if broken.is_none() && checked(rule) == 0 {
            return None;
        }
        let broken = broken.map_or_else(|| "-".to_owned(), count);
        Some(vec![rule.name().to_owned(), rule.meaning().to_owned(), count(checked(rule)), broken])
    });
    out += &format!("\n{}\n", text_table(2, &["rule", "", "checked", "violations"], rows));
    let firsts = verdict.broken.values().map(|broken| &broken.first);
    let others = firsts.filter(|first| verdict.first() != Some(first));
    let others: String = others.map(|first| format!("  {}, {}\n", first.rule, line(first))).collect();
    if !others.is_empty() {
        out += &format!("\nthe first of the other rules:\n{others}");
    }
    for (rule, why) in unchecked {
        let word = if checked(*rule) > 0 { "checked only in part" } else { "not checked" };
        out += &format!("\n{word}: {rule}: {why}");
    }
    if !unchecked.is_empty() {
        out += "\n";
    }
    out
}

/// The same facts as one JSON object.
pub fn validation_json(found: &Validation) -> Value {
    let verdict = &found.verdict;
    let checked = |rule: &Rule| verdict.checked.get(rule).copied().unwrap_or(0);
    let fields = |violation: &Violation| {
        let jobs = violation.jobs.iter().map(|job| {
            let site = job.workload.site().and_then(|site| found.sites.get(site.index()));
            json!({ "job": job.number, "origin": job.origin().name(), "site": site })
        });
        json!({
            "rule": violation.rule,
            "at_s": violation.time.as_secs_f64(),
            "said": violation.message,
            "jobs": jobs.collect::<Vec<_>>(),
            "file": violation.row.file,
            "line": (violation.row.line > 0).then_some(violation.row.line),
        })
    };
    let rules = Rule::all().map(|rule| {
        let broken = verdict.broken.get(&rule);
        json!({
            "rule": rule,
            "meaning": rule.meaning(),
            "checked": checked(&rule),
            "violations": broken.map_or(0, |broken| broken.count),
            "first": broken.map(|broken| fields(&broken.first)),
            "not_checked": found.unchecked.get(&rule).filter(|_| checked(&rule) == 0),
            "checked_in_part": found.unchecked.get(&rule).filter(|_| checked(&rule) > 0),
        })
    });
    json!({
        "title": found.title,
        "grid": found.grid,
        "valid": found.is_valid(),
        "jobs": verdict.jobs,
        "segments": verdict.segments,
        "violations": verdict.count(),
        "first": verdict.first().map(fields),
        "rules": rules.collect::<Vec<_>>(),
    })
}
