//! Figures of a page: how they are written in `claims.toml`, and whether their campaigns have what they name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::file::{ClaimOnPage, Labels, Wrong, side};
use super::labels;
use crate::experiment::campaign::Campaign;
use crate::metrics::claims::Side;
use crate::model::nearest;

/// A figure of a page: a measure of a campaign along an axis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// The campaign's file.
    pub campaign: String,
    /// Id of the measure.
    pub measure: String,
    /// The runs that are drawn: labels on some axes, in the order in which they are shown. All runs if it is empty.
    pub of: Side,
    /// The axis along which it is drawn.
    pub along: String,
    /// The axis whose labels have a curve each; one is chosen if it is not said.
    pub by: Option<String>,
    /// What stands below it.
    pub caption: String,
    /// Line of the file.
    #[serde(skip)]
    pub line: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FigureKeys {
    campaign: String,
    measure: String,
    #[serde(default)]
    of: BTreeMap<String, Labels>,
    along: String,
    by: Option<String>,
    caption: String,
}

/// A figure as it is written at a line, on a page with these claims.
pub(super) fn read(keys: FigureKeys, line: usize, claims: &[ClaimOnPage]) -> Result<Figure, Wrong> {
    let FigureKeys { campaign, measure, of, along, by, caption } = keys;
    let measured = || claims.iter().filter_map(|claim| claim.campaign.as_deref());
    if !measured().any(|known| known == campaign) {
        let hint = nearest(&campaign, measured()).map_or_else(
            || "a figure shows what a claim is measured by".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        return Err((format!("no claim names the campaign `{campaign}`"), Some(hint)));
    }
    Ok(Figure { campaign, measure, of: side(of), along, by, caption, line })
}

/// Sees whether the axes and labels that a figure names are there.
pub(super) fn fits(figure: &Figure, campaign: &Campaign) -> Result<(), Wrong> {
    let axes: Vec<&str> = campaign.axes().collect();
    let place = |axis: &String| {
        axes.iter().position(|known| known == axis).ok_or_else(|| {
            let said =
                format!("a figure: the campaign has no axis `{axis}`; its axes are {}", axes.join(", "));
            let near = nearest(axis, axes.iter().copied());
            (said, near.map(|near| format!("did you mean `{near}`?")))
        })
    };
    for axis in [Some(&figure.along), figure.by.as_ref()].into_iter().flatten() {
        place(axis)?;
    }
    for (axis, wanted) in &figure.of {
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
