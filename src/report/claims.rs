//! Claims and their verdicts, as a table and as the page of a paper.

use super::lists::distinct;
use super::tables::Columns;
use crate::study::claims::{Claim, Expects, Judgement, Verdict};
use crate::study::reproduce::Reproduction;

/// A claim of a paper with its verdict.
type Judged = (Claim, Judgement);

/// The claims in a table, followed by the reasons of those that do not hold.
pub fn claims_table(claims: &[Judged]) -> String {
    let table = Columns::default()
        .text("claim", claims.iter().map(|(claim, _)| claim.id.clone()))
        .text("paper", claims.iter().map(|(claim, _)| expected(claim.expects)))
        .text("measured", claims.iter().map(|(_, judgement)| judgement.brief.clone()))
        .text("verdict", claims.iter().map(|(_, judgement)| judgement.verdict.name().to_owned()));
    let mut out = format!("{}\n\n{}\n", table.finish(), counts(claims));
    for verdict in [Verdict::Fails, Verdict::Undecided, Verdict::NotComparable] {
        let mut of: Vec<(&str, Vec<&str>)> = Vec::new();
        for (claim, judgement) in claims.iter().filter(|(_, judgement)| judgement.verdict == verdict) {
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

/// The number of claims by verdict: `12 hold, 1 fails`.
fn counts(claims: &[Judged]) -> String {
    let all = [
        (Verdict::Holds, "holds", "hold"),
        (Verdict::Fails, "fails", "fail"),
        (Verdict::Undecided, "is undecided", "are undecided"),
        (Verdict::NotComparable, "is not comparable", "are not comparable"),
    ];
    let count = |verdict| claims.iter().filter(|(_, judgement)| judgement.verdict == verdict).count();
    let counted = all.iter().filter_map(|(verdict, one, many)| match count(*verdict) {
        0 => None,
        1 => Some(format!("1 {one}")),
        number => Some(format!("{number} {many}")),
    });
    let noun = if claims.len() == 1 { "claim" } else { "claims" };
    format!("{} {noun}: {}", claims.len(), counted.collect::<Vec<_>>().join(", "))
}

/// The value or relation that the paper reports, in a few words.
fn expected(expects: Expects) -> String {
    let percent = |share: f64| {
        let percent = share * 100.0;
        if percent.fract() == 0.0 { format!("{percent:.0}") } else { format!("{percent:.1}") }
    };
    match expects {
        Expects::Value { published, tolerance } => format!("{published} ± {tolerance:?}"),
        Expects::Shown { published: Some(published) } => published.to_string(),
        Expects::Shown { published: None } => "(no number)".to_owned(),
        Expects::Below => "below".to_owned(),
        Expects::Above => "above".to_owned(),
        Expects::UpTo { published } => format!("gains up to {:.2} %", published * 100.0),
        Expects::Falling => "falling".to_owned(),
        Expects::Rising => "rising".to_owned(),
        Expects::Change { from, to } => match (from, to) {
            (None, None) => "any change".to_owned(),
            (None, Some(to)) => format!("below by {} % or more", percent(-to)),
            (Some(from), None) => format!("above by {} % or more", percent(from)),
            (Some(from), Some(to)) if from == -to => format!("within {} %", percent(to)),
            (Some(from), Some(to)) if to <= 0.0 => {
                format!("below by {} to {} %", percent(-to), percent(-from))
            }
            (Some(from), Some(to)) => format!("above by {} to {} %", percent(from), percent(to)),
        },
    }
}

/// The page of a paper as Markdown. `command` generates it, `figures` are the paths of the figures (relative to the page) with their
/// captions, and `findings` (Markdown) is what was found out about claims that do not hold.
pub fn claims_page(
    found: &Reproduction,
    command: &str,
    figures: &[(String, String)],
    findings: Option<&str>,
) -> String {
    let (paper, claims) = (&found.paper, &found.claims);
    let mut out = format!(
        "# {}\n\n{}\n\nThis page is written by\n\n```sh\n{command}\n```\n\n\
         which prints the same table; [how claims are written and judged](../papers.md). {}.\n",
        paper.title,
        paper.text.trim(),
        counts(claims)
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
            rows(&mut out, of_paper.iter().copied().filter(|(claim, _)| claim.group.as_deref() == group));
        }
    }
    if let Some(findings) = findings {
        out += &format!("\n## Findings\n\n{}\n", findings.trim());
    }
    if !figures.is_empty() {
        out += "\n## Figures\n";
    }
    for (path, caption) in figures {
        out += &format!("\n![{}]({path})\n\n{caption}\n", escaped(caption));
    }
    out
}

/// Writes claims as a Markdown table.
fn rows<'a>(out: &mut String, claims: impl Iterator<Item = &'a Judged>) {
    *out += "| claim | place | it says | paper | measured | verdict | why |\n|---|---|---|---|---|---|---|\n";
    for (claim, judgement) in claims {
        let cells = [
            format!("`{}`", claim.id),
            escaped(&claim.source),
            escaped(&claim.says),
            escaped(&expected(claim.expects)),
            escaped(&judgement.measured),
            format!("**{}**", judgement.verdict.name()),
            escaped(&judgement.reason),
        ];
        *out += &format!("| {} |\n", cells.join(" | "));
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
    use crate::study::claims::Side;
    use crate::study::reproduce::Paper;

    fn claim(id: &str, expects: Expects, verdict: Verdict, reason: &str) -> Judged {
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
            measures: Vec::new(),
            of: Side::new(),
            than: Side::new(),
            along: None,
            best: None,
            no_difference: None,
        };
        let judgement = Judgement {
            verdict,
            measured: "92.58".to_owned(),
            brief: "92.58".to_owned(),
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
            claim("digits", value, Verdict::Holds, "one log: exact"),
            claim("gain", below, Verdict::Fails, "too high"),
        ];
        let table = claims_table(&claims);
        assert!(table.contains("digits   92.58 ± 5e-9"), "{table}");
        assert!(table.contains("below by 10 to 30 %"), "{table}");
        assert!(table.ends_with("2 claims: 1 holds, 1 fails\n\nfails:\n  gain: too high\n"), "{table}");
        let found = Reproduction {
            name: "x".to_owned(),
            paper: Paper {
                title: "T".to_owned(),
                text: "text".to_owned(),
                papers: [("who-2001".to_owned(), "Who, 2001".to_owned())].into(),
                figures: Vec::new(),
            },
            claims,
            measured: Vec::new(),
            tables: BTreeMap::new(),
            missing: BTreeMap::new(),
            failed: 0,
        };
        let figures = [("x/a.svg".to_owned(), "A".to_owned())];
        let page = claims_page(&found, "gridemu reproduce x", &figures, Some("It is so."));
        assert!(page.contains("## who-2001\n\nWho, 2001.\n"), "{page}");
        assert!(page.contains(
            "| `digits` | Table 1 | a \\| b | 92.58 ± 5e-9 | 92.58 | **holds** | one log: exact |"
        ));
        assert!(page.contains("\n### Gains\n\n| claim |"), "{page}");
        assert!(page.contains("## Findings\n\nIt is so.\n") && page.contains("![A](x/a.svg)"));
    }

    #[test]
    fn ranges_read_as_they_were_written() {
        let change = |from, to| expected(Expects::Change { from, to });
        assert_eq!(change(Some(-0.1), Some(0.1)), "within 10 %");
        assert_eq!(change(None, Some(-0.125)), "below by 12.5 % or more");
        assert_eq!(change(Some(0.2), None), "above by 20 % or more");
        assert_eq!(change(Some(0.1), Some(0.3)), "above by 10 to 30 %");
    }
}
