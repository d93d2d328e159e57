//! Claims and their verdicts, as a table and as the page of a paper.

use super::tables::text_table;
use crate::study::claims::{Expects, Judgement, Verdict};

/// A claim with its judgement, as a table or page shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownClaim<'a> {
    /// Id of the claim.
    pub id: &'a str,
    /// Key of the paper that the claim is from.
    pub paper: Option<&'a str>,
    /// The heading under which the claim is listed.
    pub group: Option<&'a str>,
    /// Where the claim is in the paper: section, figure or table.
    pub source: &'a str,
    /// The claim in words.
    pub says: &'a str,
    /// What the claim expects of the measure.
    pub expects: Expects,
    /// The verdict on the claim, with the values that led to it.
    pub judgement: &'a Judgement,
}

/// A figure on the page of a paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageFigure {
    /// Path of the file, relative to the page.
    pub path: String,
    /// The caption below the figure.
    pub caption: String,
}

/// The contents of the page of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<'a> {
    /// Title of the page.
    pub title: &'a str,
    /// The introduction.
    pub text: &'a str,
    /// The command that generates the page.
    pub command: &'a str,
    /// The papers, each as its key and its citation.
    pub papers: Vec<(&'a str, &'a str)>,
    /// The claims, in the order of the page.
    pub claims: &'a [ShownClaim<'a>],
    /// The figures.
    pub figures: &'a [PageFigure],
    /// What was found out about claims that do not hold, as Markdown.
    pub findings: Option<&'a str>,
}

/// The claims in a table, followed by the reasons of those that do not hold.
pub fn claims_table(claims: &[ShownClaim<'_>]) -> String {
    let rows = claims.iter().map(|claim| {
        vec![
            claim.id.to_owned(),
            expected(claim),
            claim.judgement.brief.clone(),
            claim.judgement.verdict.name().to_owned(),
        ]
    });
    let mut out = text_table(4, &["claim", "paper", "measured", "verdict"], rows.collect::<Vec<_>>());
    out.push_str(&format!("\n\n{}\n", counts(claims)));
    for verdict in [Verdict::Fails, Verdict::Undecided, Verdict::NotComparable] {
        let mut of: Vec<(&str, Vec<&str>)> = Vec::new();
        for claim in claims.iter().filter(|claim| claim.judgement.verdict == verdict) {
            match of.iter_mut().find(|(reason, _)| *reason == claim.judgement.reason) {
                Some((_, ids)) => ids.push(claim.id),
                None => of.push((&claim.judgement.reason, vec![claim.id])),
            }
        }
        if !of.is_empty() {
            out.push_str(&format!("\n{}:\n", verdict.name()));
        }
        for (reason, ids) in of {
            let ids = match ids.as_slice() {
                [first, _, _, .., last] => format!("{first} ... {last} ({})", ids.len()),
                few => few.join(", "),
            };
            out.push_str(&format!("  {ids}: {reason}\n"));
        }
    }
    out
}

/// The number of claims by verdict: `12 hold, 1 fails`.
fn counts(claims: &[ShownClaim<'_>]) -> String {
    let all = [
        (Verdict::Holds, "holds", "hold"),
        (Verdict::Fails, "fails", "fail"),
        (Verdict::Undecided, "is undecided", "are undecided"),
        (Verdict::NotComparable, "is not comparable", "are not comparable"),
    ];
    let count = |verdict| claims.iter().filter(|claim| claim.judgement.verdict == verdict).count();
    let told = all.iter().filter_map(|(verdict, one, many)| match count(*verdict) {
        0 => None,
        1 => Some(format!("1 {one}")),
        number => Some(format!("{number} {many}")),
    });
    let noun = if claims.len() == 1 { "claim" } else { "claims" };
    format!("{} {noun}: {}", claims.len(), told.collect::<Vec<_>>().join(", "))
}

/// The value or relation that the paper reports, in a few words.
fn expected(claim: &ShownClaim<'_>) -> String {
    let percent = |share: f64| {
        let percent = share * 100.0;
        if percent.fract() == 0.0 { format!("{percent:.0}") } else { format!("{percent:.1}") }
    };
    match claim.expects {
        Expects::Value { published, tolerance } => format!("{published} ± {tolerance:?}"),
        Expects::Shown { published: Some(published) } => published.to_string(),
        Expects::Shown { published: None } => "(no number)".to_owned(),
        Expects::Below => "below".to_owned(),
        Expects::Above => "above".to_owned(),
        Expects::UpTo { published } => {
            format!("gains up to {:.2} %", published * 100.0)
        }
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

/// The page of a paper as Markdown.
pub fn claims_page(page: &Page<'_>) -> String {
    let mut out = format!("# {}\n\n{}\n\n", page.title, page.text.trim());
    out.push_str(&format!("This page is written by\n\n```sh\n{}\n```\n\n", page.command));
    out.push_str(&format!(
        "which prints the same table; [how claims are written and judged](../papers.md). {}.\n",
        counts(page.claims)
    ));
    let mut keys: Vec<Option<&str>> = Vec::new();
    for claim in page.claims {
        if !keys.contains(&claim.paper) {
            keys.push(claim.paper);
        }
    }
    for key in keys {
        let cite = key.and_then(|key| page.papers.iter().find(|(known, _)| *known == key));
        out.push_str(&format!("\n## {}\n\n", key.unwrap_or("Claims")));
        if let Some((_, cite)) = cite {
            out.push_str(&format!("{cite}.\n\n"));
        }
        let of_paper: Vec<&ShownClaim<'_>> = page.claims.iter().filter(|claim| claim.paper == key).collect();
        let mut groups: Vec<Option<&str>> = Vec::new();
        for claim in &of_paper {
            if !groups.contains(&claim.group) {
                groups.push(claim.group);
            }
        }
        for group in groups {
            if let Some(group) = group {
                out.push_str(&format!("\n### {group}\n\n"));
            }
            rows(&mut out, of_paper.iter().filter(|claim| claim.group == group));
        }
    }
    if let Some(findings) = page.findings {
        out.push_str(&format!("\n## Findings\n\n{}\n", findings.trim()));
    }
    if !page.figures.is_empty() {
        out.push_str("\n## Figures\n");
    }
    for figure in page.figures {
        out.push_str(&format!("\n![{}]({})\n\n{}\n", escaped(&figure.caption), figure.path, figure.caption));
    }
    out
}

/// Writes claims as a Markdown table.
fn rows<'a>(out: &mut String, claims: impl Iterator<Item = &'a &'a ShownClaim<'a>>) {
    out.push_str(
        "| claim | place | it says | paper | measured | verdict | why |\n|---|---|---|---|---|---|---|\n",
    );
    for claim in claims {
        let cells = [
            format!("`{}`", claim.id),
            escaped(claim.source),
            escaped(claim.says),
            escaped(&expected(claim)),
            escaped(&claim.judgement.measured),
            format!("**{}**", claim.judgement.verdict.name()),
            escaped(&claim.judgement.reason),
        ];
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
}

/// Escapes text for a cell of a Markdown table.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judgement(verdict: Verdict, reason: &str) -> Judgement {
        Judgement {
            verdict,
            measured: "92.58".to_owned(),
            brief: "92.58".to_owned(),
            reason: reason.to_owned(),
            points: Vec::new(),
        }
    }

    fn claim<'a>(id: &'a str, expects: Expects, judgement: &'a Judgement) -> ShownClaim<'a> {
        let group = (id == "gain").then_some("Gains");
        ShownClaim {
            id,
            paper: Some("who-2001"),
            group,
            source: "Table 1",
            says: "a | b",
            expects,
            judgement,
        }
    }

    #[test]
    fn a_table_says_what_the_paper_has_and_why_something_does_not_hold() {
        let (holds, fails) =
            (judgement(Verdict::Holds, "one log: exact"), judgement(Verdict::Fails, "too high"));
        let value = Expects::Value { published: 92.58, tolerance: 5e-9 };
        let below = Expects::Change { from: Some(-0.3), to: Some(-0.1) };
        let claims = [claim("digits", value, &holds), claim("gain", below, &fails)];
        let table = claims_table(&claims);
        assert!(table.contains("digits   92.58 ± 5e-9"), "{table}");
        assert!(table.contains("below by 10 to 30 %"), "{table}");
        assert!(table.ends_with("2 claims: 1 holds, 1 fails\n\nfails:\n  gain: too high\n"), "{table}");
        let page = claims_page(&Page {
            title: "T",
            text: "text",
            command: "gridemu reproduce x",
            papers: vec![("who-2001", "Who, 2001")],
            claims: &claims,
            figures: &[PageFigure { path: "x/a.svg".to_owned(), caption: "A".to_owned() }],
            findings: Some("It is so."),
        });
        assert!(page.contains("## who-2001\n\nWho, 2001.\n"), "{page}");
        assert!(page.contains(
            "| `digits` | Table 1 | a \\| b | 92.58 ± 5e-9 | 92.58 | **holds** | one log: exact |"
        ));
        assert!(page.contains("\n### Gains\n\n| claim |"), "{page}");
        assert!(page.contains("## Findings\n\nIt is so.\n") && page.contains("![A](x/a.svg)"));
    }

    #[test]
    fn ranges_read_as_they_were_written() {
        let none = judgement(Verdict::Holds, "");
        let told = |from, to| expected(&claim("c", Expects::Change { from, to }, &none));
        assert_eq!(told(Some(-0.1), Some(0.1)), "within 10 %");
        assert_eq!(told(None, Some(-0.125)), "below by 12.5 % or more");
        assert_eq!(told(Some(0.2), None), "above by 20 % or more");
        assert_eq!(told(Some(0.1), Some(0.3)), "above by 10 to 30 %");
    }
}
