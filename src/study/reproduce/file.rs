//! Reads `claims.toml`: published statements with their sources.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::figure::{self, Figure, FigureKeys};
use super::statement::{expects, values};
use super::words::{braces, percent};
use crate::experiment::RunError;
use crate::model::suggestion;
use crate::output::files;
use crate::study::claims::{Claim, ClaimError, Side, refuse};
use crate::study::stands_for;

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
    /// Titles of measures in figures, by their ids.
    pub titles: BTreeMap<String, String>,
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
    no_difference: BTreeMap<String, String>,
    #[serde(default)]
    titles: BTreeMap<String, String>,
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
pub(super) struct ClaimKeys {
    pub(super) id: Option<String>,
    pub(super) paper: Option<String>,
    pub(super) group: Option<String>,
    pub(super) source: Option<String>,
    pub(super) says: Option<String>,
    pub(super) campaign: Option<String>,
    pub(super) measure: Option<String>,
    pub(super) measures: Option<Vec<String>>,
    pub(super) than_measures: Option<Vec<String>>,
    pub(super) at_least: Option<usize>,
    #[serde(default)]
    pub(super) of: BTreeMap<String, Labels>,
    #[serde(default)]
    pub(super) than: BTreeMap<String, Labels>,
    #[serde(default)]
    pub(super) gain_over: BTreeMap<String, Labels>,
    #[serde(default)]
    pub(super) on_this_log: bool,
    pub(super) published: Option<Published>,
    pub(super) tolerance: Option<Tolerance>,
    pub(super) relation: Option<String>,
    pub(super) by: Option<String>,
    pub(super) along: Option<String>,
    pub(super) best: Option<String>,
    pub(super) not_comparable: Option<String>,
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

/// A published number, or one for each of several measures.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Published {
    One(f64),
    Several(Vec<f64>),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Tolerance {
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

impl Labels {
    pub(super) fn texts(self) -> Vec<String> {
        let labels = match self {
            Self::One(label) => vec![label],
            Self::Several(labels) => labels,
        };
        labels.into_iter().map(Label::text).collect()
    }
}

pub(super) fn side(labels: BTreeMap<String, Labels>) -> Side {
    labels.into_iter().map(|(axis, labels)| (axis, labels.texts())).collect()
}

/// The error of a claim or figure at a line of `claims.toml` in `folder`.
pub(super) fn at_line(folder: &Path, line: usize, error: &ClaimError) -> RunError {
    RunError::request(format!("{}:{line}: {error}", folder.join(NAME).display()))
        .with_maybe_hint(error.hint())
}

/// Reads `claims.toml` in `folder`.
pub(super) fn read(folder: &Path) -> Result<(Paper, Vec<Claim>), RunError> {
    let path = folder.join(NAME);
    let text = files::text(&path).map_err(|error| {
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
    let mut no_difference = Vec::new();
    for (measure, share) in &keys.no_difference {
        let Some(d) = percent(share).filter(|share| *share > 0.0) else {
            let problem = format!("{}: `no_difference` of `{measure}` is `{share}`", path.display());
            return Err(RunError::request(problem).with_hint("a share above zero, such as `\"2 %\"`"));
        };
        no_difference.push((measure.as_str(), d));
    }
    let mut claims: Vec<Claim> = Vec::new();
    for claim in keys.claim {
        let line = line_of(claim.span().start);
        let claim = claim_of(claim.into_inner(), line, &papers, &claims);
        let mut claim = claim.map_err(|error| at_line(folder, line, &error))?;
        claim.no_difference = smallest(&claim, &no_difference);
        claims.push(claim);
    }
    if claims.is_empty() {
        return Err(RunError::request(format!("{}: there is no claim in it", path.display()))
            .with_hint("docs/papers.md says how a claim is written"));
    }
    let mut figures: Vec<Figure> = Vec::new();
    for keys in keys.figure {
        let line = line_of(keys.span().start);
        let figure = figure::read(keys.into_inner(), line, &claims, &figures);
        figures.push(figure.map_err(|error| at_line(folder, line, &error))?);
    }
    let paper = Paper { title: keys.title, text: keys.text, papers, figures, titles: keys.titles };
    Ok((paper, claims))
}

/// The smallest change that counts as a difference in a claim on an order, as its page says for its measure.
fn smallest(claim: &Claim, of: &[(&str, f64)]) -> Option<f64> {
    let measure = claim.measures.first().filter(|_| claim.expects.is_order())?;
    of.iter().find(|(pattern, _)| stands_for(pattern, measure)).map(|(_, d)| *d)
}

/// Reads the claim at a line of a page with these papers and, before it, these claims.
fn claim_of(
    keys: ClaimKeys,
    line: usize,
    papers: &BTreeMap<String, String>,
    before: &[Claim],
) -> Result<Claim, ClaimError> {
    let Some(id) = keys.id.clone() else {
        return refuse("a claim without an `id`", "give it a short name: `id = \"...\"`");
    };
    let claim = named(&id, keys, line, papers).map_err(|error| error.of(&format!("claim `{id}`")))?;
    if before.iter().any(|other| other.id == id) {
        return refuse(format!("there is another claim `{id}`"), "an `id` is unique in its file");
    }
    Ok(claim)
}

fn named(
    id: &str,
    keys: ClaimKeys,
    line: usize,
    papers: &BTreeMap<String, String>,
) -> Result<Claim, ClaimError> {
    let Some(source) = keys.source.clone().filter(|source| !source.trim().is_empty()) else {
        return refuse("it has no `source`", "give its place in the paper: `source = \"Table 2.3\"`");
    };
    let Some(says) = keys.says.clone() else {
        return refuse("it has no `says`", "write in a sentence what was published: `says = \"...\"`");
    };
    if let Some(paper) = keys.paper.as_ref().filter(|paper| !papers.contains_key(*paper)) {
        let near = suggestion(paper, papers.keys().map(String::as_str));
        let hint = near.unwrap_or_else(|| format!("write `[paper.{paper}]` with `cite = \"...\"`"));
        return refuse(format!("there is no paper `{paper}`"), hint);
    }
    let measures = match (keys.measure.clone(), keys.measures.clone()) {
        (Some(_), Some(_)) => {
            let hint =
                "`measures` is for several, of each of which the claim is, or for a row that falls or rises";
            return refuse("both `measure` and `measures`", hint);
        }
        (Some(measure), None) => vec![measure],
        (None, measures) => measures.unwrap_or_default(),
    };
    let expand = |ids: Vec<String>| ids.iter().map(|id| braces(id)).collect::<Result<Vec<_>, _>>();
    let measures = expand(measures)?.concat();
    let than_measures = expand(keys.than_measures.clone().unwrap_or_default())?.concat();
    let expects = expects(&keys, &measures, &than_measures)?;
    let values = values(&keys, &measures)?;
    if keys.campaign.is_some() == measures.is_empty() {
        let hint = "a claim that cannot be measured has neither, and `not_comparable`";
        return refuse("`campaign` and `measure` go together", hint);
    }
    if keys.campaign.is_none() && keys.not_comparable.is_none() {
        let hint = "give what measures it (`campaign`, `measure`), or what is missing (`not_comparable`)";
        return refuse("nothing measures it", hint);
    }
    Ok(Claim {
        id: id.to_owned(),
        paper: keys.paper,
        group: keys.group,
        source,
        says,
        expects,
        campaign: keys.campaign,
        not_comparable: keys.not_comparable,
        line,
        measures,
        than_measures,
        at_least: keys.at_least,
        values,
        of: side(keys.of),
        than: side(keys.than),
        gain_over: side(keys.gain_over),
        on_this_log: keys.on_this_log,
        along: keys.along,
        best: keys.best,
        no_difference: None,
    })
}

#[cfg(test)]
mod tests;
