//! Figures of a page: reads them from `claims.toml`, and checks that their campaigns have what they name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::file::{ClaimOnPage, Labels, Wrong, side};
use super::labels;
use crate::model::nearest;
use crate::study::campaign::Campaign;
use crate::study::claims::{Expects, Side};

/// A figure of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// The name of its file, without the extension; unique on the page.
    pub name: String,
    /// The contents of the figure.
    #[serde(flatten)]
    pub shows: Shows,
    /// The caption.
    pub caption: String,
    /// Its line in the file.
    #[serde(skip)]
    pub line: usize,
}

/// The contents of a figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Shows {
    /// A measure of a campaign along an axis.
    Curves {
        /// The campaign's file.
        campaign: String,
        /// Id of the measure.
        measure: String,
        /// The runs to draw: labels on some axes, in the order in which they are shown. All runs if it is empty.
        of: Side,
        /// The axis along the horizontal direction.
        along: String,
        /// The axis with one curve for each label; chosen automatically if it is `None`.
        by: Option<String>,
    },
    /// The greatest gains of the seeds, for claims with [`Expects::UpTo`].
    Gains {
        /// The ids of the claims, one row each.
        claims: Vec<String>,
        /// Labels of some claims in the figure; the others are shown by their ids.
        labels: BTreeMap<String, String>,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FigureKeys {
    kind: Option<String>,
    name: Option<String>,
    campaign: Option<String>,
    measure: Option<String>,
    of: Option<BTreeMap<String, Labels>>,
    along: Option<String>,
    by: Option<String>,
    claims: Option<Ids>,
    labels: Option<BTreeMap<String, String>>,
    caption: Option<String>,
}

/// Ids of claims; one that ends in a star matches all that begin with the text before it.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Ids {
    One(String),
    Several(Vec<String>),
}

/// The kinds of figures.
const KINDS: [&str; 2] = ["curves", "gains"];

fn wrong<T>(said: String, hint: impl Into<String>) -> Result<T, Wrong> {
    Err((format!("a figure: {said}"), Some(hint.into())))
}

/// Reads the figure at a line of a page with these claims and, before it, these figures.
pub(super) fn read(
    keys: FigureKeys,
    line: usize,
    claims: &[ClaimOnPage],
    before: &[Figure],
) -> Result<Figure, Wrong> {
    let kind = keys.kind.as_deref().unwrap_or(KINDS[0]);
    let curves = match kind {
        "curves" => true,
        "gains" => false,
        _ => {
            let hint = nearest(kind, KINDS)
                .map_or_else(|| KINDS.join(", "), |near| format!("did you mean `{near}`?"));
            return wrong(format!("there is no kind `{kind}`"), hint);
        }
    };
    let of_curves = [
        ("campaign", keys.campaign.is_some()),
        ("measure", keys.measure.is_some()),
        ("along", keys.along.is_some()),
        ("of", keys.of.is_some()),
        ("by", keys.by.is_some()),
    ];
    let of_gains = [("claims", keys.claims.is_some()), ("labels", keys.labels.is_some())];
    let (needed, foreign) = match curves {
        true => (&of_curves[..3], &of_gains[..]),
        false => (&of_gains[..1], &of_curves[..]),
    };
    if let Some((key, _)) = foreign.iter().find(|(_, given)| *given) {
        let other = KINDS[usize::from(curves)];
        return wrong(
            format!("`{key}` is not of `kind = \"{kind}\"`"),
            format!("leave it out, or write `kind = \"{other}\"`"),
        );
    }
    let caption = ("caption", keys.caption.is_some());
    if let Some((key, _)) = needed.iter().chain([&caption]).find(|(_, given)| !given) {
        return wrong(format!("it has no `{key}`"), "docs/papers.md says what a figure is made of");
    }
    let shows = match (keys.campaign, keys.measure, keys.along, keys.claims) {
        (Some(campaign), Some(measure), Some(along), _) => {
            measured(&campaign, claims)?;
            if keys.by.as_ref() == Some(&along) {
                return wrong(
                    format!("`by` is the axis of `along`, `{along}`"),
                    "leave `by` out, or name another axis",
                );
            }
            Shows::Curves { campaign, measure, of: side(keys.of.unwrap_or_default()), along, by: keys.by }
        }
        (.., Some(ids)) => {
            let ids = meant(ids, claims)?;
            let labels = keys.labels.unwrap_or_default();
            if let Some(id) = labels.keys().find(|id| !ids.contains(id)) {
                let hint = nearest(id, ids.iter().map(String::as_str)).map_or_else(
                    || "`labels` has the ids of claims of this figure".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                return wrong(format!("`labels` names `{id}`, which is not in it"), hint);
            }
            Shows::Gains { claims: ids, labels }
        }
        _ => return wrong("it shows nothing".to_owned(), "docs/papers.md says what a figure is made of"),
    };
    let name = match keys.name {
        Some(name) if is_file_name(&name) => name,
        Some(name) => {
            return wrong(
                format!("`name = \"{name}\"` is not a file name"),
                "letters, digits, `-`, `_` and `.` may be in it",
            );
        }
        None => match &shows {
            Shows::Curves { campaign, measure, .. } => {
                plain(&format!("{}-{measure}", campaign.trim_end_matches(".toml")))
            }
            Shows::Gains { .. } => "gains".to_owned(),
        },
    };
    if let Some(other) = before.iter().find(|other| other.name.eq_ignore_ascii_case(&name)) {
        return wrong(
            format!("its file would be `{name}`, as that of the figure at line {}", other.line),
            "give it another name: `name = \"...\"`",
        );
    }
    Ok(Figure { name, shows, caption: keys.caption.unwrap_or_default(), line })
}

/// A text in a form that is valid in the name of a file.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|sign| if sign.is_ascii_alphanumeric() || sign == '.' { sign } else { '-' }).collect()
}

fn is_file_name(name: &str) -> bool {
    let may_be = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.');
    !name.starts_with('.') && !name.is_empty() && name.chars().all(may_be)
}

/// Checks that a claim is measured by a campaign.
fn measured(campaign: &str, claims: &[ClaimOnPage]) -> Result<(), Wrong> {
    let measured = || claims.iter().filter_map(|claim| claim.campaign.as_deref());
    if measured().any(|known| known == campaign) {
        return Ok(());
    }
    let hint = nearest(campaign, measured()).map_or_else(
        || "a figure shows what a claim is measured by".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    Err((format!("no claim names the campaign `{campaign}`"), Some(hint)))
}

/// The ids of the selected claims on greatest gains, in the order of the figure, each once.
fn meant(ids: Ids, claims: &[ClaimOnPage]) -> Result<Vec<String>, Wrong> {
    let ids = match ids {
        Ids::One(id) => vec![id],
        Ids::Several(ids) => ids,
    };
    let of_gains = |claim: &&ClaimOnPage| matches!(claim.expects, Expects::UpTo { .. });
    let mut found: Vec<String> = Vec::new();
    let hint = "a figure of gains is of claims with `relation = \"gains-up-to\"`";
    for id in &ids {
        let all: Vec<&ClaimOnPage> = match id.strip_suffix('*') {
            Some(prefix) => claims.iter().filter(|claim| claim.id.starts_with(prefix)).collect(),
            None => claims.iter().filter(|claim| claim.id == *id).collect(),
        };
        if all.is_empty() {
            let near = nearest(id.trim_end_matches('*'), claims.iter().map(|claim| claim.id.as_str()));
            let hint = near.map_or_else(|| hint.to_owned(), |near| format!("did you mean `{near}`?"));
            return wrong(format!("there is no claim `{id}`"), hint);
        }
        let gains: Vec<&ClaimOnPage> = all.into_iter().filter(of_gains).collect();
        if gains.is_empty() {
            return wrong(format!("claim `{id}` is not on a greatest gain"), hint);
        }
        for claim in gains {
            if !found.contains(&claim.id) {
                found.push(claim.id.clone());
            }
        }
    }
    if found.is_empty() {
        return wrong("`claims` names none".to_owned(), hint);
    }
    Ok(found)
}

/// Checks that the axes and labels that a figure names exist.
pub(super) fn fits(shows: &Shows, campaign: &Campaign) -> Result<(), Wrong> {
    let Shows::Curves { of, along, by, .. } = shows else { return Ok(()) };
    let axes: Vec<&str> = campaign.axes().collect();
    let place = |axis: &String| {
        axes.iter().position(|known| known == axis).ok_or_else(|| {
            let said =
                format!("a figure: the campaign has no axis `{axis}`; its axes are {}", axes.join(", "));
            let near = nearest(axis, axes.iter().copied());
            (said, near.map(|near| format!("did you mean `{near}`?")))
        })
    };
    for axis in [Some(along), by.as_ref()].into_iter().flatten() {
        place(axis)?;
    }
    for (axis, wanted) in of {
        let at = place(axis)?;
        let known = labels(campaign, at);
        if let Some(label) = wanted.iter().find(|label| !known.contains(label)) {
            let said = format!("a figure: axis `{axis}` has no `{label}`; it has {}", known.join(", "));
            let near = nearest(label, known.iter().map(String::as_str));
            return Err((said, near.map(|near| format!("did you mean `{near}`?"))));
        }
        if wanted.is_empty() {
            let hint = format!("name labels of `{axis}`, or leave it out to draw them all");
            return Err((format!("a figure: `of` names no label of axis `{axis}`"), Some(hint)));
        }
    }
    Ok(())
}
