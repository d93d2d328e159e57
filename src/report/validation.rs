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
    format!("at {} s: {} ({})", violation.time, violation.said, violation.row)
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
    let looked = |rule: Rule| verdict.checked.get(&rule).copied().unwrap_or(0);
    let rows = Rule::ALL.into_iter().filter_map(|rule| {
        let broken = verdict.broken.get(&rule).map(|broken| broken.count);
        if broken.is_none() && looked(rule) == 0 {
            return None;
        }
        let broken = broken.map_or_else(|| "-".to_owned(), count);
        Some(vec![rule.name().to_owned(), rule.says().to_owned(), count(looked(rule)), broken])
    });
    out += "\n";
    out += &text_table(2, &["rule", "", "checked", "violations"], rows);
    out += "\n";
    let others: Vec<&Violation> = verdict
        .broken
        .values()
        .map(|broken| &broken.first)
        .filter(|first| verdict.first() != Some(first))
        .collect();
    if !others.is_empty() {
        out += "\nthe first of the other rules:\n";
        for first in others {
            out += &format!("  {}, {}\n", first.rule, line(first));
        }
    }
    for (rule, why) in unchecked {
        let word = if looked(*rule) > 0 { "checked only in part" } else { "not checked" };
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
    let looked = |rule: Rule| verdict.checked.get(&rule).is_some_and(|count| *count > 0);
    let told = |violation: &Violation| {
        let jobs = violation.jobs.iter().map(|job| {
            let site = job.site.and_then(|site| found.sites.get(site.index()));
            json!({ "job": job.id, "origin": if job.site.is_some() { "local" } else { "grid" }, "site": site })
        });
        json!({
            "rule": violation.rule,
            "at_s": violation.time.as_secs_f64(),
            "said": violation.said,
            "jobs": jobs.collect::<Vec<_>>(),
            "file": violation.row.file,
            "line": (violation.row.line > 0).then_some(violation.row.line),
        })
    };
    let rules = Rule::ALL.into_iter().map(|rule| {
        let broken = verdict.broken.get(&rule);
        json!({
            "rule": rule,
            "meaning": rule.says(),
            "checked": verdict.checked.get(&rule).copied().unwrap_or(0),
            "violations": broken.map_or(0, |broken| broken.count),
            "first": broken.map(|broken| told(&broken.first)),
            "not_checked": found.unchecked.get(&rule).filter(|_| !looked(rule)),
            "checked_in_part": found.unchecked.get(&rule).filter(|_| looked(rule)),
        })
    });
    json!({
        "title": found.title,
        "grid": found.grid,
        "valid": found.is_valid(),
        "jobs": verdict.jobs,
        "segments": verdict.segments,
        "violations": verdict.count(),
        "first": verdict.first().map(told),
        "rules": rules.collect::<Vec<_>>(),
    })
}
