//! Reads `claims.toml`: published statements with their sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::figure::{self, Figure, FigureKeys};
use crate::experiment::RunError;
use crate::model::nearest;
use crate::study::claims::{Claim, Expects, Side};

/// The name of the file in the folder of a paper.
pub(super) const NAME: &str = "claims.toml";

/// The head of a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Paper {
    /// Its title.
    pub title: String,
    /// The text above the claims.
    pub text: String,
    /// The papers by their keys, each with its citation.
    pub papers: BTreeMap<String, String>,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// A claim as its page shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimOnPage {
    /// The id of the claim.
    pub id: String,
    /// Key of the paper.
    pub paper: Option<String>,
    /// The heading of its section.
    pub group: Option<String>,
    /// Its place in the paper.
    pub source: String,
    /// The statement in a sentence.
    pub says: String,
    /// The statement about the measure.
    pub expects: Expects,
    /// The campaign that measures it.
    pub campaign: Option<String>,
    /// The reason why it cannot be compared, if the file gives one.
    pub not_comparable: Option<String>,
    /// Its line in the file.
    #[serde(skip)]
    pub line: usize,
    /// The claim to be judged.
    #[serde(skip)]
    pub claim: Claim,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileKeys {
    title: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    paper: BTreeMap<String, PaperKeys>,
    #[serde(default)]
    claim: Vec<Spanned<ClaimKeys>>,
    #[serde(default)]
    figure: Vec<Spanned<FigureKeys>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PaperKeys {
    cite: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimKeys {
    id: Option<String>,
    paper: Option<String>,
    group: Option<String>,
    source: Option<String>,
    says: Option<String>,
    campaign: Option<String>,
    measure: Option<String>,
    measures: Option<Vec<String>>,
    #[serde(default)]
    of: BTreeMap<String, Labels>,
    #[serde(default)]
    than: BTreeMap<String, Labels>,
    published: Option<f64>,
    tolerance: Option<Tolerance>,
    relation: Option<String>,
    by: Option<String>,
    along: Option<String>,
    best: Option<String>,
    not_comparable: Option<String>,
}

/// One or several labels of an axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Labels {
    One(Label),
    Several(Vec<Label>),
}

/// A label, as text or as a number.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Label {
    Text(String),
    Whole(i64),
    Number(f64),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Tolerance {
    Number(f64),
    Share(String),
}

impl Label {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Whole(number) => number.to_string(),
            Self::Number(number) => number.to_string(),
        }
    }
}

pub(super) fn side(labels: BTreeMap<String, Labels>) -> Side {
    let texts = |labels| match labels {
        Labels::One(label) => vec![label],
        Labels::Several(labels) => labels,
    };
    labels
        .into_iter()
        .map(|(axis, labels)| (axis, texts(labels).into_iter().map(Label::text).collect()))
        .collect()
}

/// The keys for the statement of a claim about a measure.
const RELATIONS: [&str; 6] = ["below", "above", "within", "falling", "rising", "gains-up-to"];

/// Reads `claims.toml` in `folder`.
pub(super) fn read(folder: &Path) -> Result<(Paper, Vec<ClaimOnPage>), RunError> {
    let path = folder.join(NAME);
    let text = fs::read_to_string(&path).map_err(|error| {
        RunError::request(format!("`{}` cannot be read: {error}", path.display()))
            .with_hint("give the folder of a paper, such as `configs/papers/backfilling`")
    })?;
    let line_of = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
    let keys: FileKeys = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(span.start));
        RunError::request(format!("{}:{line}: {}", path.display(), error.message().trim()))
            .with_hint("docs/papers.md says what is in such a file")
    })?;
    let papers: BTreeMap<String, String> =
        keys.paper.into_iter().map(|(key, paper)| (key, paper.cite)).collect();
    let mut ids = BTreeSet::new();
    let mut claims = Vec::new();
    for claim in keys.claim {
        let line = line_of(claim.span().start);
        let claim = checked(claim.into_inner(), line, &papers).map_err(|(said, hint)| {
            let refused = RunError::request(format!("{}:{line}: {said}", path.display()));
            match hint {
                Some(hint) => refused.with_hint(hint),
                None => refused,
            }
        })?;
        if !ids.insert(claim.id.clone()) {
            return Err(RunError::request(format!(
                "{}:{line}: there is another claim `{}`",
                path.display(),
                claim.id
            ))
            .with_hint("an `id` is unique in its file"));
        }
        claims.push(claim);
    }
    if claims.is_empty() {
        return Err(RunError::request(format!("{}: there is no claim in it", path.display()))
            .with_hint("docs/papers.md says how a claim is written"));
    }
    let mut figures: Vec<Figure> = Vec::new();
    for keys in keys.figure {
        let line = line_of(keys.span().start);
        let figure = figure::read(keys.into_inner(), line, &claims, &figures).map_err(|(said, hint)| {
            RunError::request(format!("{}:{line}: {said}", path.display())).with_maybe_hint(hint)
        })?;
        figures.push(figure);
    }
    let paper = Paper { title: keys.title, text: keys.text, papers, figures };
    Ok((paper, claims))
}

/// A problem, and a hint.
pub(super) type Wrong = (String, Option<String>);

fn checked(keys: ClaimKeys, line: usize, papers: &BTreeMap<String, String>) -> Result<ClaimOnPage, Wrong> {
    let wrong = |said: String, hint: &str| (said, Some(hint.to_owned()));
    let Some(id) = keys.id.clone() else {
        return Err(wrong("a claim without an `id`".to_owned(), "give it a short name: `id = \"...\"`"));
    };
    let named = |said: &str| format!("claim `{id}`: {said}");
    let Some(source) = keys.source.clone().filter(|source| !source.trim().is_empty()) else {
        let hint = "give its place in the paper: `source = \"Table 2.3\"`";
        return Err(wrong(named("it has no `source`"), hint));
    };
    let Some(says) = keys.says.clone() else {
        return Err(wrong(
            named("it has no `says`"),
            "write in a sentence what was published: `says = \"...\"`",
        ));
    };
    if let Some(paper) = keys.paper.as_ref().filter(|paper| !papers.contains_key(*paper)) {
        let near = nearest(paper, papers.keys().map(String::as_str));
        let hint = near.map_or_else(
            || format!("write `[paper.{paper}]` with `cite = \"...\"`"),
            |near| format!("did you mean `{near}`?"),
        );
        return Err((named(&format!("there is no paper `{paper}`")), Some(hint)));
    }
    let measures = match (keys.measure.clone(), keys.measures.clone()) {
        (Some(_), Some(_)) => {
            return Err(wrong(
                named("both `measure` and `measures`"),
                "`measures` is for a row that falls or rises",
            ));
        }
        (Some(measure), None) => vec![measure],
        (None, measures) => measures.unwrap_or_default(),
    };
    let expects = expects(&keys, &measures).map_err(|(said, hint)| (named(&said), hint))?;
    if keys.campaign.is_some() == measures.is_empty() {
        return Err(wrong(
            named("`campaign` and `measure` go together"),
            "a claim that cannot be measured has neither, and `not_comparable`",
        ));
    }
    if keys.campaign.is_none() && keys.not_comparable.is_none() {
        let hint = "give what measures it (`campaign`, `measure`), or what is missing (`not_comparable`)";
        return Err(wrong(named("nothing measures it"), hint));
    }
    let (of, than) = (side(keys.of), side(keys.than));
    let (along, best) = (keys.along, keys.best);
    let claim = Claim {
        id: id.clone(),
        source: source.clone(),
        says: says.clone(),
        measures,
        of,
        than,
        expects,
        along,
        best,
    };
    Ok(ClaimOnPage {
        id,
        paper: keys.paper,
        group: keys.group,
        source,
        says,
        expects,
        campaign: keys.campaign,
        not_comparable: keys.not_comparable,
        line,
        claim,
    })
}

fn expects(keys: &ClaimKeys, measures: &[String]) -> Result<Expects, Wrong> {
    let wrong = |said: String, hint: &str| Err((said, Some(hint.to_owned())));
    if keys.not_comparable.is_some() {
        return match (&keys.relation, &keys.tolerance) {
            (None, None) => Ok(Expects::Shown { published: keys.published }),
            _ => wrong(
                "it is `not_comparable`, and has a `relation` or `tolerance`".to_owned(),
                "leave these out: there is nothing to judge",
            ),
        };
    }
    match (keys.published, keys.relation.as_deref()) {
        (Some(_), Some(_)) => wrong(
            "both `published` and `relation`".to_owned(),
            "a claim is a number or a relation: make it two",
        ),
        (None, None) => wrong(
            "neither `published` nor `relation`".to_owned(),
            "give the number that was published with a `tolerance`, or a `relation`",
        ),
        (Some(_), None) if !keys.than.is_empty() || keys.by.is_some() || keys.along.is_some() => wrong(
            "`than`, `by` or `along` beside `published`".to_owned(),
            "these belong to a `relation`, not to a number",
        ),
        (Some(published), None) => match &keys.tolerance {
            Some(Tolerance::Number(tolerance)) if *tolerance >= 0.0 => {
                Ok(Expects::Value { published, tolerance: *tolerance })
            }
            Some(Tolerance::Share(text)) => match percent(text) {
                Some(share) if share >= 0.0 => {
                    Ok(Expects::Value { published, tolerance: share * published.abs() })
                }
                _ => wrong(
                    format!("`tolerance = \"{text}\"` is not a share"),
                    "such as `\"5 %\"`, or a number",
                ),
            },
            _ => wrong(
                "`published` without a `tolerance`".to_owned(),
                "give the largest difference that counts as the same: a number, or `\"5 %\"`",
            ),
        },
        (None, Some(relation)) => self::relation(relation, keys, measures),
    }
}

fn relation(relation: &str, keys: &ClaimKeys, measures: &[String]) -> Result<Expects, Wrong> {
    let wrong = |said: String, hint: &str| Err((said, Some(hint.to_owned())));
    if !RELATIONS.contains(&relation) {
        let near = nearest(relation, RELATIONS);
        let hint = near.map_or_else(|| RELATIONS.join(", "), |near| format!("did you mean `{near}`?"));
        return wrong(format!("there is no relation `{relation}`"), &hint);
    }
    let row = matches!(relation, "falling" | "rising");
    if row && (measures.len() < 2 || !keys.than.is_empty()) {
        return wrong(
            format!("`relation = \"{relation}\"` is of a row of measures in the same runs"),
            "give two `measures` or more, and no `than`",
        );
    }
    if !row && (measures.len() != 1 || keys.than.is_empty()) {
        return wrong(
            format!("`relation = \"{relation}\"` is of one measure of some runs against that of others"),
            "give one `measure`, and both `of` and `than`",
        );
    }
    if relation == "gains-up-to" {
        let share = keys.by.as_deref().and_then(percent);
        return match (share, &keys.along) {
            (Some(published), Some(_)) => Ok(Expects::UpTo { published }),
            (None, _) => wrong(
                "`gains-up-to` needs the greatest gain as `by`".to_owned(),
                "such as `by = \"31.88 %\"`",
            ),
            (_, None) => wrong(
                "`gains-up-to` needs an `along`".to_owned(),
                "name the axis along which the gain is the greatest, such as `along = \"load\"`",
            ),
        };
    }
    if keys.along.is_some() {
        return wrong("`along` is for `gains-up-to`".to_owned(), "leave it out");
    }
    let by = match (&keys.by, relation) {
        (None, "within") => return wrong("`within` needs a `by`".to_owned(), "such as `by = \"10 %\"`"),
        (None, _) => None,
        (Some(_), "falling" | "rising") => return wrong("a row has no `by`".to_owned(), "leave it out"),
        (Some(text), _) => match range(text) {
            Some(range) => Some(range),
            None => {
                return wrong(
                    format!("`by = \"{text}\"` is neither a share nor a range of shares"),
                    "such as `\"10 %\"` (at least, or at most with `within`) or `\"10..30 %\"`",
                );
            }
        },
    };
    Ok(match (relation, by) {
        ("below", None) => Expects::Below,
        ("above", None) => Expects::Above,
        ("below", Some((least, most))) => Expects::Change { from: most.map(|most| -most), to: Some(-least) },
        ("above", Some((least, most))) => Expects::Change { from: Some(least), to: most },
        ("within", Some((most, None))) => Expects::Change { from: Some(-most), to: Some(most) },
        ("within", Some((from, Some(to)))) => Expects::Change { from: Some(from), to: Some(to) },
        ("falling", _) => Expects::Falling,
        _ => Expects::Rising,
    })
}

/// Parses `5 %` as 0.05.
fn percent(text: &str) -> Option<f64> {
    let number: f64 = text.trim().strip_suffix('%')?.trim().parse().ok()?;
    number.is_finite().then_some(number / 100.0)
}

/// Parses `10 %` as (0.1, none), `10..30 %` as (0.1, 0.3).
fn range(text: &str) -> Option<(f64, Option<f64>)> {
    match text.split_once("..") {
        None => percent(text).filter(|share| *share >= 0.0).map(|share| (share, None)),
        Some((from, to)) => {
            let to = percent(to)?;
            let from = percent(&format!("{} %", from.trim().trim_end_matches('%').trim_end()))?;
            (from <= to).then_some((from, Some(to)))
        }
    }
}

#[cfg(test)]
mod tests;
