//! Claims and their verdicts, as a table and as the page of a paper.

mod expected;

use std::collections::BTreeSet;

use expected::expected;

use super::lists::distinct;
use super::tables::Columns;
use crate::study::claims::{Claim, ERROR, Judgement, ORDINARY, Verdict};
use crate::study::reproduce::Reproduction;
use crate::units::counted;

/// A claim of a paper with its verdict.
type Judged = (Claim, Judgement);

/// The claims in a table, followed by what is to be added to verdicts.
pub fn claims_table(claims: &[Judged]) -> String {
    let column = |cell: fn(&Judged) -> String| claims.iter().map(cell).collect::<Vec<_>>();
    let table = Columns::default()
        .text("claim", column(|(claim, _)| claim.id.clone()))
        .text("paper", column(|(claim, _)| expected(claim)))
        .text("measured", column(|(_, judgement)| judgement.measured.clone()))
        .text("99 % interval, or p", column(|(_, judgement)| judgement.evidence.clone()))
        .text("verdict", column(|(_, judgement)| judgement.verdict.name().to_owned()));
    let mut out = format!("{}\n\n{}\n", table.finish(), counts(claims));
    for verdict in Verdict::ALL {
        let mut of: Vec<(&str, Vec<&str>)> = Vec::new();
        let with_reason = claims.iter().filter(|(_, judgement)| !judgement.reason.is_empty());
        for (claim, judgement) in with_reason.filter(|(_, judgement)| judgement.verdict == verdict) {
            match of.iter_mut().find(|(reason, _)| *reason == judgement.reason) {
                Some((_, ids)) => ids.push(&claim.id),
                None => of.push((&judgement.reason, vec![&claim.id])),
            }
        }
        if !of.is_empty() {
            out += &format!("\n{}:\n", verdict.name());
        }
        for (reason, ids) in of {
            let ids = match ids.as_slice() {
                [first, _, _, .., last] => format!("{first} ... {last} ({})", ids.len()),
                few => few.join(", "),
            };
            out += &format!("  {ids}: {reason}\n");
        }
    }
    out
}

/// The number of claims by verdict: `12 claims: 9 hold, 2 fail, 1 is undecided (92 % decided)`. What is only shown is no claim.
fn counts(claims: &[Judged]) -> String {
    let count = |verdict| claims.iter().filter(|(_, judgement)| judgement.verdict == verdict).count();
    let words = |verdict| match verdict {
        Verdict::Holds => ("holds", "hold"),
        Verdict::Fails => ("fails", "fail"),
        Verdict::NoDifference => ("shows no difference", "show no difference"),
        Verdict::Undecided => ("is undecided", "are undecided"),
        Verdict::NotComparable => ("is not comparable", "are not comparable"),
        Verdict::Shown => ("is shown without a verdict", "are shown without a verdict"),
    };
    let told = |verdict| match (count(verdict), words(verdict)) {
        (0, _) => None,
        (1, (one, _)) => Some(format!("1 {one}")),
        (number, (_, many)) => Some(format!("{number} {many}")),
    };
    let judged = claims.len() - count(Verdict::Shown);
    let noun = if judged == 1 { "claim" } else { "claims" };
    let listed: Vec<String> =
        Verdict::ALL.into_iter().filter(|verdict| *verdict != Verdict::Shown).filter_map(told).collect();
    let decided = [Verdict::Holds, Verdict::Fails, Verdict::NoDifference].map(count).iter().sum::<usize>();
    let shown = told(Verdict::Shown).map_or_else(String::new, |told| match count(Verdict::Shown) {
        1 => format!("; 1 number more{}", &told[1..]),
        number => format!("; {number} numbers more{}", &told[number.to_string().len()..]),
    });
    let percent = (100 * decided).checked_div(judged).unwrap_or(0);
    format!("{judged} {noun}: {} ({percent} % decided){shown}", listed.join(", "))
}

/// A figure of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageFigure {
    /// Its path relative to the page.
    pub path: String,
    /// What it shows, where it cannot be shown.
    pub alt: String,
    /// The text below it.
    pub caption: String,
    /// The table below that, in Markdown; empty if there is none.
    pub table: String,
}

/// The page of a paper as Markdown. `command` generates it. The page opens with the verdicts in numbers and `findings` (Markdown); what follows the first heading in it stands
/// below the claims.
pub fn claims_page(
    found: &Reproduction,
    command: &str,
    figures: &[PageFigure],
    findings: Option<&str>,
) -> String {
    let (paper, claims) = (&found.paper, &found.claims);
    let findings = findings.unwrap_or_default().trim();
    let (opening, more) = findings.find("\n## ").map_or((findings, ""), |at| findings.split_at(at));
    let mut out = format!("# {}\n\n**{}.**\n", paper.title, counts(claims));
    if !found.missing.is_empty() {
        let names: Vec<String> = found.missing.keys().map(|name| format!("`{name}`")).collect();
        out += &format!(
            "\n**Not measured here: {}, of which a file is missing.** What is said below about it was measured elsewhere.\n",
            names.join(", ")
        );
    }
    if !opening.is_empty() {
        out += &format!("\n{}\n", opening.trim());
    }
    out += &format!(
        "\n## How it was measured\n\n{}\n\n{}\n\n```sh\n{command}\n```\n",
        paper.text.trim(),
        rules(claims) + series(found)
    );
    for key in distinct(claims.iter().map(|(claim, _)| claim.paper.as_deref())) {
        out += &format!("\n## {}\n\n", key.unwrap_or("Claims"));
        if let Some(cite) = key.and_then(|key| paper.papers.get(key)) {
            out += &format!("{cite}.\n\n");
        }
        let of_paper: Vec<_> = claims.iter().filter(|(claim, _)| claim.paper.as_deref() == key).collect();
        for group in distinct(of_paper.iter().map(|(claim, _)| claim.group.as_deref())) {
            if let Some(group) = group {
                out += &format!("\n### {group}\n\n");
            }
            let of_group = of_paper.iter().copied().filter(|(claim, _)| claim.group.as_deref() == group);
            rows(&mut out, &of_group.collect::<Vec<_>>());
        }
    }
    if !more.is_empty() {
        out += &format!("\n{}\n", more.trim());
    }
    if !figures.is_empty() {
        out += "\n## Figures\n";
    }
    for PageFigure { path, alt, caption, table } in figures {
        out += &format!("\n![{}]({path})\n\n{caption}\n", escaped(alt));
        if !table.is_empty() {
            out += &format!("\n{table}");
        }
    }
    out
}

/// How intervals are made where seeds begin at dates.
fn series(found: &Reproduction) -> &'static str {
    match found.tables.values().any(|table| !table.dates.is_empty()) {
        true => {
            " Seeds begin at dates and follow each other in time, so that neighbouring ones are alike: \
            [intervals are those of series](../comparing.md#seeds-that-are-dates), here and in figures."
        }
        false => "",
    }
}

/// The thresholds of the verdicts on a page.
fn rules(claims: &[Judged]) -> String {
    let percent = |share: f64| ((share * 1e8).round() / 1e6).to_string();
    let least: BTreeSet<String> = claims
        .iter()
        .filter_map(|(claim, _)| Some((claim.measures.first()?, claim.no_difference?)))
        // Of the classes of a table it is the same.
        .map(|(measure, d)| {
            format!("{} % of `{}`", percent(d), measure.rsplit('.').next().unwrap_or(measure))
        })
        .collect();
    let least = match least.into_iter().collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => String::new(),
        of => format!(" *No difference*: that interval lies within ± {of}."),
    };
    let tested = claims.iter().filter(|(_, judgement)| {
        judgement.points.iter().any(|point| point.interval.is_some()) && judgement.verdict != Verdict::Shown
    });
    let this_log = claims.iter().filter(|(claim, _)| claim.on_this_log).count();
    let this_log = match this_log {
        0 => String::new(),
        count => format!(
            " *This log*: {} about the very log of the paper. Both numbers are those of one run each and are compared as they are, so these verdicts are of this log alone: another log may \
             show the opposite.",
            is_or_are(count, "claim")
        ),
    };
    format!(
        "Thresholds, fixed beforehand ([verdicts](../papers.md#verdicts)): an order *holds* where the {} % interval lies on its side at each point, and *fails* where \
         it lies on the other at one (corrected for the points).{least} A printed greatest gain *holds* if its tail probability among the seeds' is p ≥ {ORDINARY}, and *fails* if \
         p < {ERROR}. The interval given is that of the point that decides. {} tested; a verdict on an order or a range, and *fails* of a greatest gain, is wrong \
         with a chance of at most {} %. A greatest gain that *holds* is ordinary among the seeds', which is less.{this_log}",
        percent(1.0 - ERROR),
        is_or_are(tested.count(), "claim"),
        percent(ERROR)
    )
}

fn is_or_are(count: usize, noun: &str) -> String {
    format!("{} {}", counted(count, noun), if count == 1 { "is" } else { "are" })
}

/// Writes claims as a Markdown table, below their place in the paper if it is the same.
fn rows(out: &mut String, claims: &[&Judged]) {
    let places = distinct(claims.iter().map(|(claim, _)| claim.source.as_str()));
    if let [one] = places[..] {
        *out += &format!("{one}.\n\n");
    }
    *out += "|claim|paper|measured|99 % interval, or p|verdict|\n|---|---|---|---|---|\n";
    for (claim, judgement) in claims {
        let place = if places.len() > 1 { format!(" ({})", claim.source) } else { String::new() };
        let reason = match (judgement.verdict, judgement.reason.as_str()) {
            (_, "") => String::new(),
            (Verdict::Fails | Verdict::NoDifference, at) => format!(" {at}"),
            (_, why) => format!(": {why}"),
        };
        let cells = [
            format!("`{}` {}{}", claim.id, escaped(&claim.says), escaped(&place)),
            escaped(&expected(claim)),
            escaped(&judgement.measured),
            escaped(&judgement.evidence),
            format!("**{}**{}", judgement.verdict.name(), escaped(&reason)),
        ];
        *out += &format!("|{}|\n", cells.join("|"));
    }
}

/// Escapes text for a cell of a Markdown table.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::study::claims::{Expects, Side};
    use crate::study::reproduce::Paper;

    pub(super) fn claim(id: &str, expects: Expects, verdict: Verdict, reason: &str) -> Judged {
        let claim = Claim {
            id: id.to_owned(),
            paper: Some("who-2001".to_owned()),
            group: (id == "gain").then(|| "Gains".to_owned()),
            source: "Table 1".to_owned(),
            says: "a | b".to_owned(),
            expects,
            campaign: None,
            not_comparable: None,
            line: 1,
            measures: vec!["class.N.mean_wait".to_owned()],
            of: Side::new(),
            than: Side::new(),
            along: None,
            best: None,
            no_difference: Some(0.02),
            than_measures: Vec::new(),
            at_least: None,
            values: Vec::new(),
            gain_over: Side::new(),
            on_this_log: false,
        };
        let judgement = Judgement {
            verdict,
            measured: "92.58".to_owned(),
            evidence: "exact".to_owned(),
            reason: reason.to_owned(),
            points: Vec::new(),
        };
        (claim, judgement)
    }

    #[test]
    fn a_table_says_what_the_paper_has_and_why_something_does_not_hold() {
        let value = Expects::Value { published: 92.58, tolerance: 5e-9 };
        let below = Expects::Change { from: Some(-0.3), to: Some(-0.1) };
        let claims = vec![
            claim("digits", value, Verdict::Holds, ""),
            claim("gain", below, Verdict::Fails, "too high"),
        ];
        let table = claims_table(&claims);
        assert!(table.contains("digits   92.58 ± 5e-9"), "{table}");
        assert!(table.contains("below by 10 to 30 %"), "{table}");
        let end = "2 claims: 1 holds, 1 fails (100 % decided)\n\nfails:\n  gain: too high\n";
        assert!(table.ends_with(end), "{table}");
        let found = Reproduction {
            name: "x".to_owned(),
            paper: Paper {
                title: "T".to_owned(),
                text: "text".to_owned(),
                papers: [("who-2001".to_owned(), "Who, 2001".to_owned())].into(),
                figures: Vec::new(),
                titles: BTreeMap::new(),
            },
            claims,
            measured: Vec::new(),
            tables: BTreeMap::new(),
            classes: BTreeMap::new(),
            missing: BTreeMap::new(),
            failed: 0,
            archive: false,
        };
        let figure = |path: &str, caption: &str, table: &str| {
            let [path, caption, table] = [path, caption, table].map(str::to_owned);
            PageFigure { path, alt: format!("({caption})"), caption, table }
        };
        let figures = [figure("x/a.svg", "A", ""), figure("x/b.svg", "B", "|a|b|\n|---|---|\n|1|2|\n")];
        let findings = "It is so.\n\n## Notes\n\nTried.\n";
        let page = claims_page(&found, "gridemu reproduce x", &figures, Some(findings));
        assert!(
            page.starts_with("# T\n\n**2 claims: 1 holds, 1 fails (100 % decided).**\n\nIt is so.\n\n## How"),
            "{page}"
        );
        assert!(page.contains("## who-2001\n\nWho, 2001.\n"), "{page}");
        assert!(page.contains(
            "Table 1.\n\n|claim|paper|measured|99 % interval, or p|verdict|\n|---|---|---|---|---|\n\
             |`digits` a \\| b|92.58 ± 5e-9|92.58|exact|**holds**|\n"
        ));
        assert!(page.contains("|**fails** too high|\n\n## Notes\n\nTried.\n\n## Figures\n"), "{page}");
        assert!(
            page.contains("\n### Gains\n\nTable 1.\n\n|claim|") && page.contains("![(A)](x/a.svg)\n\nA\n"),
            "{page}"
        );
        assert!(page.ends_with("A\n\n![(B)](x/b.svg)\n\nB\n\n|a|b|\n|---|---|\n|1|2|\n"), "{page}");
    }
}
