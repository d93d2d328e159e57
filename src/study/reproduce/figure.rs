//! Figures of a page: reads them from `claims.toml`, and checks that their campaigns have what they name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::figure_name::name_of;
use super::file::{Labels, side};
use crate::model::suggestion;
use crate::study::OF_CLASSES;
use crate::study::campaign::Campaign;
use crate::study::claims::{Claim, ClaimError, Expects, Side, axis_at, check_labels, refuse};

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
        /// The point to which curves are of differences, paired by seed: a label on some axes. If it is empty, curves are of means.
        than: Side,
        /// Whether differences are shares of the mean of that point, in percent.
        share: bool,
    },
    /// A measure of each job class as a table, for each label of an axis.
    HeatMap {
        /// The campaign's file.
        campaign: String,
        /// The measure, such as `class.*.mean_bounded_slowdown`.
        measure: String,
        /// The runs to draw, as of curves.
        of: Side,
        /// The axis with one table for each label.
        by: String,
        /// The point from which tables show the changes: a label on some axes. If it is empty, they show values.
        than: Side,
    },
    /// The differences of a measure to one label of an axis over the dates at which seeds begin.
    Dates {
        /// The campaign's file.
        campaign: String,
        /// Id of the measure.
        measure: String,
        /// The runs to draw, as of curves.
        of: Side,
        /// The axis with one curve for each label.
        by: String,
        /// The label of that axis to which the differences are.
        than: String,
    },
    /// Two measures of a campaign against each other, with the Pareto front.
    Pareto {
        /// The campaign's file.
        campaign: String,
        /// Ids of the two measures.
        measures: [String; 2],
        /// The runs to draw, as of curves.
        of: Side,
        /// The axes whose labels can be chosen among. Each combination of the others has a front of its own.
        among: Vec<String>,
        /// The point to which intervals are of differences, paired by seed: labels on axes of `among`. If it is empty, intervals are of means.
        than: Side,
    },
    /// The greatest gains of the seeds, for claims with [`Expects::UpTo`].
    Gains {
        /// The ids of the claims, one row each.
        claims: Vec<String>,
        /// Labels of some claims in the figure; the others are shown by their ids.
        labels: BTreeMap<String, String>,
    },
}

impl Shows {
    /// The file of the campaign that it shows, if it shows one.
    pub(super) fn campaign(&self) -> Option<&String> {
        match self {
            Self::Curves { campaign, .. }
            | Self::Dates { campaign, .. }
            | Self::HeatMap { campaign, .. }
            | Self::Pareto { campaign, .. } => Some(campaign),
            Self::Gains { .. } => None,
        }
    }

    /// The measures that it shows, with `*` for any name.
    pub(super) fn measures(&self) -> &[String] {
        match self {
            Self::Curves { measure, .. } | Self::Dates { measure, .. } | Self::HeatMap { measure, .. } => {
                std::slice::from_ref(measure)
            }
            Self::Pareto { measures, .. } => measures,
            Self::Gains { .. } => &[],
        }
    }
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
    measures: Option<Vec<String>>,
    among: Option<Labels>,
    than: Option<BTreeMap<String, Labels>>,
    share: Option<bool>,
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
const KINDS: [&str; 5] = ["curves", "dates", "gains", "heat-map", "pareto"];

/// What is shown in hints on incomplete figures.
const SEE: &str = "docs/papers.md says what a figure is made of";

/// Reads the figure at a line of a page with these claims and, before it, these figures.
pub(super) fn read(
    keys: FigureKeys,
    line: usize,
    claims: &[Claim],
    before: &[Figure],
) -> Result<Figure, ClaimError> {
    let shows = contents(&keys, claims).map_err(|error| error.of("a figure"))?;
    if let Some(campaign) = shows.campaign() {
        check_measured(campaign, claims)?;
    }
    if let Shows::Curves { along, by, .. } = &shows
        && by.as_ref() == Some(along)
    {
        let problem = format!("a figure: `by` is the axis of `along`, `{along}`");
        return refuse(problem, "leave `by` out, or name another axis");
    }
    let name = name_of(keys.name, &shows, before).map_err(|error| error.of("a figure"))?;
    Ok(Figure { name, shows, caption: keys.caption.unwrap_or_default(), line })
}

fn contents(keys: &FigureKeys, claims: &[Claim]) -> Result<Shows, ClaimError> {
    let kind = keys.kind.as_deref().unwrap_or(KINDS[0]);
    // The keys of a figure, whether they are given, and the kinds that need them and that may have them.
    let all = [
        ("campaign", keys.campaign.is_some(), "curves dates heat-map pareto", ""),
        ("measure", keys.measure.is_some(), "curves dates heat-map", ""),
        ("measures", keys.measures.is_some(), "pareto", ""),
        ("along", keys.along.is_some(), "curves", ""),
        ("among", keys.among.is_some(), "pareto", ""),
        ("of", keys.of.is_some(), "", "curves dates heat-map pareto"),
        ("by", keys.by.is_some(), "dates heat-map", "curves"),
        ("than", keys.than.is_some(), "dates", "curves heat-map pareto"),
        ("share", keys.share.is_some(), "", "curves"),
        ("claims", keys.claims.is_some(), "gains", ""),
        ("labels", keys.labels.is_some(), "", "gains"),
    ];
    if !KINDS.contains(&kind) {
        let hint = suggestion(kind, KINDS).unwrap_or_else(|| KINDS.join(", "));
        return refuse(format!("there is no kind `{kind}`"), hint);
    }
    let is_of = |kinds: &str| kinds.split(' ').any(|of| of == kind);
    if let Some((key, _, needed, allowed)) =
        all.iter().find(|(_, given, needed, allowed)| *given && !is_of(needed) && !is_of(allowed))
    {
        let other =
            needed.split(' ').chain(allowed.split(' ')).find(|kind| !kind.is_empty()).unwrap_or_default();
        let hint = format!("leave it out, or write `kind = \"{other}\"`");
        return refuse(format!("`{key}` is not of `kind = \"{kind}\"`"), hint);
    }
    let needed = all.iter().filter(|(_, _, needed, _)| is_of(needed)).map(|(key, given, ..)| (*key, *given));
    if let Some((key, _)) = needed.chain([("caption", keys.caption.is_some())]).find(|(_, given)| !given) {
        return refuse(format!("it has no `{key}`"), SEE);
    }
    if let (Some(campaign), Some(measures), Some(among)) = (&keys.campaign, &keys.measures, &keys.among) {
        return pareto(campaign, measures, among, keys);
    }
    let of = side(keys.of.clone().unwrap_or_default());
    let than = side(keys.than.clone().unwrap_or_default());
    if let ("dates", Some(campaign), Some(measure), Some(by)) =
        (kind, keys.campaign.clone(), keys.measure.clone(), keys.by.clone())
    {
        let one = than.get(&by).filter(|labels| labels.len() == 1 && than.len() == 1);
        let Some(label) = one.and_then(|labels| labels.first()) else {
            return refuse(
                "`than` is not one label of `by`",
                format!("such as `than = {{ {by} = \"...\" }}`"),
            );
        };
        return Ok(Shows::Dates { campaign, measure, of, than: label.clone(), by });
    }
    if let ("heat-map", Some(campaign), Some(measure), Some(by)) =
        (kind, keys.campaign.clone(), keys.measure.clone(), keys.by.clone())
    {
        if !measure.strip_prefix(OF_CLASSES).is_some_and(|last| !last.is_empty() && !last.contains('*')) {
            let problem = format!("`{measure}` is not one measure of each class");
            return refuse(problem, format!("such as `measure = \"{OF_CLASSES}mean_bounded_slowdown\"`"));
        }
        if than.values().any(|labels| labels.len() != 1) {
            let hint =
                format!("it names one label of each of its axes, such as `than = {{ {by} = \"...\" }}`");
            return refuse("`than` is not one point", hint);
        }
        return Ok(Shows::HeatMap { campaign, measure, of, by, than });
    }
    match (keys.campaign.clone(), keys.measure.clone(), keys.along.clone(), &keys.claims) {
        (Some(campaign), Some(measure), Some(along), _) => {
            let share = keys.share.unwrap_or(false);
            if than.values().any(|labels| labels.len() != 1) || than.contains_key(&along) {
                let hint = "it names one label of axes other than that of `along`, with which all others are compared";
                return refuse("`than` is not one point", hint);
            }
            if share && than.is_empty() {
                return refuse("`share` without `than`", "name the point of which differences are a share");
            }
            Ok(Shows::Curves { campaign, measure, of, along, by: keys.by.clone(), than, share })
        }
        (.., Some(ids)) => {
            let ids = selected(ids, claims)?;
            let labels = keys.labels.clone().unwrap_or_default();
            if let Some(id) = labels.keys().find(|id| !ids.contains(id)) {
                let near = suggestion(id, ids.iter().map(String::as_str));
                let hint = near.unwrap_or_else(|| "`labels` has the ids of claims of this figure".to_owned());
                return refuse(format!("`labels` names `{id}`, which is not in it"), hint);
            }
            Ok(Shows::Gains { claims: ids, labels })
        }
        _ => refuse("it shows nothing", SEE),
    }
}

fn pareto(
    campaign: &str,
    measures: &[String],
    among: &Labels,
    keys: &FigureKeys,
) -> Result<Shows, ClaimError> {
    let Ok(measures) = <[String; 2]>::try_from(measures.to_vec()) else {
        return refuse("`measures` has the two that are drawn against each other", SEE);
    };
    let among = among.clone().texts();
    let than = side(keys.than.clone().unwrap_or_default());
    if among.is_empty() {
        return refuse("`among` names no axis", "name the axes whose labels can be chosen among");
    }
    let one = |axis: &String| than.get(axis).is_some_and(|labels| labels.len() == 1);
    let one_point = than.len() == among.len() && among.iter().all(one);
    if !than.is_empty() && !one_point {
        return refuse("`than` is not one point", "give it one label of each axis of `among`");
    }
    let of = side(keys.of.clone().unwrap_or_default());
    Ok(Shows::Pareto { campaign: campaign.to_owned(), measures, of, among, than })
}

/// Checks that a claim is measured by a campaign.
fn check_measured(campaign: &str, claims: &[Claim]) -> Result<(), ClaimError> {
    let measured = || claims.iter().filter_map(|claim| claim.campaign.as_deref());
    if measured().any(|known| known == campaign) {
        return Ok(());
    }
    let hint = suggestion(campaign, measured());
    let hint = hint.unwrap_or_else(|| "a figure shows what a claim is measured by".to_owned());
    refuse(format!("no claim names the campaign `{campaign}`"), hint)
}

/// The ids of the selected claims on greatest gains, in the order of the figure, each once.
fn selected(ids: &Ids, claims: &[Claim]) -> Result<Vec<String>, ClaimError> {
    let ids = match ids {
        Ids::One(id) => std::slice::from_ref(id),
        Ids::Several(ids) => ids,
    };
    let of_gains = |claim: &&Claim| matches!(claim.expects, Expects::UpTo { .. });
    let mut found: Vec<String> = Vec::new();
    let hint = "a figure of gains is of claims with `relation = \"gains-up-to\"`";
    for id in ids {
        let all: Vec<&Claim> = match id.strip_suffix('*') {
            Some(prefix) => claims.iter().filter(|claim| claim.id.starts_with(prefix)).collect(),
            None => claims.iter().filter(|claim| claim.id == *id).collect(),
        };
        if all.is_empty() {
            let near = suggestion(id.trim_end_matches('*'), claims.iter().map(|claim| claim.id.as_str()));
            return refuse(format!("there is no claim `{id}`"), near.unwrap_or_else(|| hint.to_owned()));
        }
        let gains: Vec<&Claim> = all.into_iter().filter(of_gains).collect();
        if gains.is_empty() {
            return refuse(format!("claim `{id}` is not on a greatest gain"), hint);
        }
        for claim in gains {
            if !found.contains(&claim.id) {
                found.push(claim.id.clone());
            }
        }
    }
    if found.is_empty() { refuse("`claims` names none", hint) } else { Ok(found) }
}

/// Checks that the axes and labels that a figure names exist.
pub(super) fn check_figure(shows: &Shows, campaign: &Campaign) -> Result<(), ClaimError> {
    let one;
    let (of, than, named): (_, _, Vec<&String>) = match shows {
        Shows::Curves { of, along, by, than, .. } => (of, than, std::iter::once(along).chain(by).collect()),
        Shows::HeatMap { of, by, than, .. } => (of, than, vec![by]),
        Shows::Dates { by, .. } if campaign.dates().is_empty() => {
            let hint = "`with_seed = true` on an axis of `calendar` gives each seed one";
            return refuse(format!("a figure over dates by `{by}`: seeds have no dates"), hint);
        }
        Shows::Dates { of, by, than: label, .. } => {
            one = Side::from([(by.clone(), vec![label.clone()])]);
            (of, &one, vec![by])
        }
        Shows::Pareto { of, than, among, .. } => (of, than, among.iter().collect()),
        Shows::Gains { .. } => return Ok(()),
    };
    let axes: Vec<&str> = campaign.axes().collect();
    for axis in named {
        axis_at(&axes, axis, "")?;
    }
    for (axis, wanted) in than {
        check_labels(axis, wanted, &campaign.labels(axis_at(&axes, axis, "")?))?;
    }
    for (axis, wanted) in of {
        check_labels(axis, wanted, &campaign.labels(axis_at(&axes, axis, "")?))?;
        if wanted.is_empty() {
            let hint = format!("name labels of `{axis}`, or leave it out to draw them all");
            return refuse(format!("`of` names no label of axis `{axis}`"), hint);
        }
    }
    Ok(())
}
