//! The measures of a claim, each with what it is compared with, and the steps along an axis.

use super::Claim;
use super::measured::{Runs, Sample, pairs};
use crate::study::StudyPoint;

/// A measure of a claim, and the one that it is compared with.
pub(super) struct Column<'a> {
    /// Its index among the measures of the claim.
    pub(super) row: usize,
    /// Its column of the table.
    pub(super) of: usize,
    /// That of the other one.
    pub(super) than: usize,
    /// The ids of both.
    pub(super) ids: [&'a String; 2],
    /// What it is called at a point; empty if the claim has one measure.
    pub(super) name: String,
}

impl Column<'_> {
    /// Its values at a point against those at another.
    pub(super) fn pairs(
        &self,
        at: &str,
        of: &StudyPoint<'_>,
        than: Option<&StudyPoint<'_>>,
        runs: Runs<'_>,
    ) -> Sample {
        let than = than.map(|than| (than, self.than));
        self.named(pairs(at.to_owned(), (of, self.of), than, self.ids.map(String::as_str), runs))
    }

    /// The sample as one of this measure.
    pub(super) fn named(&self, sample: Sample) -> Sample {
        Sample { measure: self.row, of_measure: self.name.clone(), ..sample }
    }
}

/// The measures of a claim: `measures` are the columns of them in the table, `others` those that they are compared with, if these are not the same.
pub(super) fn columns<'a>(claim: &'a Claim, measures: &[usize], others: &[usize]) -> Vec<Column<'a>> {
    let column = |(row, of): (usize, &usize)| Column {
        row,
        of: *of,
        than: others.get(row).copied().unwrap_or(*of),
        ids: [&claim.measures[row], claim.than_measures.get(row).unwrap_or(&claim.measures[row])],
        name: name_of(claim, row),
    };
    measures.iter().enumerate().map(column).collect()
}

/// A point, and the one before it along an axis.
pub(super) struct Step<'a, 'b> {
    /// The labels on the other axes.
    pub(super) place: Vec<&'a str>,
    /// The point.
    pub(super) point: &'b StudyPoint<'a>,
    /// The one at the label before, if it is there.
    pub(super) earlier: Option<&'b StudyPoint<'a>>,
    /// Both labels: `fcfs to easy`.
    pub(super) step: String,
}

/// The steps of `points` from each of `labels` to the next. The axis is the one at `at` in their places.
pub(super) fn steps<'a, 'b>(
    points: &[(Vec<&'a str>, &'b StudyPoint<'a>)],
    at: usize,
    labels: &[String],
) -> Vec<Step<'a, 'b>> {
    let mut steps = Vec::new();
    for (place, point) in points {
        let here = labels.iter().position(|label| *label == place[at]);
        let Some(before) = here.and_then(|here| labels.get(here.checked_sub(1)?)) else { continue };
        let same = |other: &Vec<&str>| {
            (0..other.len()).all(|axis| other[axis] == if axis == at { before } else { place[axis] })
        };
        let earlier = points.iter().find(|(other, _)| same(other)).map(|(_, point)| *point);
        let step = format!("{before} to {}", place[at]);
        let mut place = place.clone();
        place.remove(at);
        steps.push(Step { place, point, earlier, step });
    }
    steps
}

/// The name of a measure among several: `vs_seq`, with the last word of its id where these differ, and what it is compared with, if that is another one.
fn name_of(claim: &Claim, row: usize) -> String {
    let last = |id: &str| id.rsplit('.').next().unwrap_or(id).to_owned();
    let ids = &claim.measures;
    if ids.len() == 1 && claim.than_measures.is_empty() {
        return String::new();
    }
    let kinds = ids.iter().any(|id| last(id) != last(&ids[0]));
    let name = |id: &String| match (short(id) == id, kinds) {
        (false, true) => format!("{} {}", short(id), last(id)),
        _ => short(id).to_owned(),
    };
    match claim.than_measures.get(row) {
        // Of one class two measures are compared, or of two classes one.
        Some(other) if short(other) == short(&ids[row]) => {
            format!("{} against {}", name(&ids[row]), last(other))
        }
        Some(other) => format!("{} against {}", name(&ids[row]), short(other)),
        None => name(&ids[row]),
    }
}

/// The name of the class in `class.VS Seq.mean_wait`.
pub(super) fn short(id: &str) -> &str {
    let inner = id.split_once('.').map_or(id, |(_, rest)| rest);
    inner.rsplit_once('.').map_or(inner, |(name, _)| name)
}
