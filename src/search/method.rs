//! The methods of a search: how children are made, and who survives.

use super::Points;
use super::SearchError;
use super::dominance::{compare, crowding_of, fronts_of, sorted};

/// How a problem is searched. All methods evaluate as many genomes.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// NSGA-II (Deb et al. 2002): parents and children together are sorted into fronts, the best fronts survive, and of the last one those
    /// that are least crowded. Parents are chosen by binary tournaments: the better front, then the less crowded, then by chance.
    Nsga2,
    /// A genetic algorithm of one objective, a weighted sum: a control. The best of parents and children survive, and its answer is one
    /// compromise; the archive has what it passed on its way.
    WeightedSum(WeightedSum),
    /// Genomes drawn at random: a control. Those survive that NSGA-II would keep.
    Random,
}

/// A weighted sum of objectives that are normalised by references: an objective counts 0 at its first reference and 1 at its second.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedSum {
    /// For each objective: its weight, the value that counts as 0, and the length of the range that counts as 1.
    terms: Vec<(f64, f64, f64)>,
}

impl WeightedSum {
    /// A sum with these weights, of which only their shares matter, and these references for each objective: `best` counts as 0, `worst` as
    /// 1. They are given, not measured, so that one genome has one value in all generations and runs.
    ///
    /// # Errors
    ///
    /// There are no weights, their number is not that of the references, a weight is negative or not finite, all are 0, or a reference
    /// `best` is not below `worst`.
    pub fn new(weights: &[f64], references: &[(f64, f64)]) -> Result<Self, SearchError> {
        if weights.is_empty() {
            return Err(SearchError::NoObjectives);
        }
        if references.len() != weights.len() {
            let (found, wanted) = (references.len(), weights.len());
            return Err(SearchError::Objectives { what: "the list of references", found, wanted });
        }
        let is_weight = |weight: &f64| weight.is_finite() && *weight >= 0.0;
        if let Some(objective) = weights.iter().position(|weight| !is_weight(weight)) {
            return Err(SearchError::Weight { objective, value: weights[objective] });
        }
        let heaviest = weights.iter().copied().fold(0.0, f64::max);
        if heaviest <= 0.0 {
            return Err(SearchError::NoWeight);
        }
        let is_range = |(best, worst): &(f64, f64)| best < worst && (worst - best).is_finite();
        if let Some(objective) = references.iter().position(|range| !is_range(range)) {
            let (best, worst) = references[objective];
            return Err(SearchError::Range { objective, best, worst });
        }
        // By the heaviest first: the sum of finite weights may not be finite.
        let sum: f64 = weights.iter().map(|weight| weight / heaviest).sum();
        let term =
            |(weight, (best, worst)): (&f64, &(f64, f64))| (weight / heaviest / sum, *best, worst - best);
        Ok(Self { terms: weights.iter().zip(references).map(term).collect() })
    }

    /// The number of objectives.
    pub fn objectives(&self) -> usize {
        self.terms.len()
    }

    /// The value of a point: from 0 to 1 if it is within the references. An objective without a weight does not count, whatever it is.
    pub fn of(&self, point: &[f64]) -> f64 {
        let terms = self.terms.iter().zip(point).filter(|((weight, ..), _)| *weight > 0.0);
        terms.map(|((weight, best, range), value)| weight * ((value - best) / range)).sum()
    }
}

/// An individual that survived, and how it fares in a tournament.
#[derive(Copy, Clone, Debug)]
pub(super) struct Survivor {
    /// Its index.
    pub(super) index: usize,
    /// The number of its front, or of its value among those of all.
    pub(super) rank: usize,
    /// Its crowding distance.
    pub(super) crowding: f64,
}

impl Method {
    /// Fails if the method is not for problems of so many objectives.
    pub(super) fn check(&self, objectives: usize) -> Result<(), SearchError> {
        match self {
            Self::WeightedSum(sum) if sum.objectives() != objectives => {
                let (found, wanted) = (sum.objectives(), objectives);
                Err(SearchError::Objectives { what: "the weighted sum", found, wanted })
            }
            _ => Ok(()),
        }
    }

    /// The `most` individuals that survive, the best first. If they should be `distinct`, those that equal one before them come last.
    pub(super) fn survivors(
        &self,
        points: Points<'_>,
        violations: &[f64],
        most: usize,
        distinct: bool,
    ) -> Vec<Survivor> {
        let mut order = sorted(points, violations);
        let copies = if distinct { without_copies(&mut order, points, violations) } else { Vec::new() };
        let mut survivors = match self {
            Self::Nsga2 | Self::Random => elite(points, violations, &order, most),
            Self::WeightedSum(sum) => best(sum, points, violations, &order, most),
        };
        let rank = survivors.last().map_or(0, |last| last.rank + 1);
        let left = most - survivors.len();
        survivors.extend(copies.into_iter().take(left).map(|index| Survivor { index, rank, crowding: 0.0 }));
        survivors
    }
}

/// Takes from [sorted] indices those that have the objectives and the violation of one before them, and returns them, ascending.
fn without_copies(order: &mut Vec<usize>, points: Points<'_>, violations: &[f64]) -> Vec<usize> {
    let mut copies = Vec::new();
    order.dedup_by(|index, before| {
        let is_copy = points.at(*index) == points.at(*before)
            && compare(violations[*index], violations[*before]).is_eq();
        if is_copy {
            copies.push(*index);
        }
        is_copy
    });
    copies.sort_unstable();
    copies
}

/// The individuals of the best fronts of [sorted] ones; of the front that does not fit in whole, the least crowded.
fn elite(points: Points<'_>, violations: &[f64], order: &[usize], most: usize) -> Vec<Survivor> {
    let mut survivors = Vec::with_capacity(most);
    for (rank, front) in fronts_of(points, violations, order).iter().enumerate() {
        let left = most - survivors.len();
        if left == 0 {
            break;
        }
        let crowding = crowding_of(points, front);
        let individual = |(index, crowding): (&usize, f64)| Survivor { index: *index, rank, crowding };
        let mut front: Vec<Survivor> = front.iter().zip(crowding).map(individual).collect();
        if front.len() > left {
            // Of those that are equally crowded, the first ones.
            front.sort_by(|a, b| compare(b.crowding, a.crowding));
            front.truncate(left);
        }
        survivors.append(&mut front);
    }
    survivors
}

/// The individuals with the smallest violations, then with the smallest sums.
fn best(
    sum: &WeightedSum,
    points: Points<'_>,
    violations: &[f64],
    order: &[usize],
    most: usize,
) -> Vec<Survivor> {
    let value = |index: &usize| (violations[*index], sum.of(points.at(*index)), *index);
    let mut order: Vec<(f64, f64, usize)> = order.iter().map(value).collect();
    // Sums of values far beyond the references may be infinite, or no numbers: they have their place, too.
    let by_value =
        |a: &(f64, f64, usize), b: &(f64, f64, usize)| compare(a.0, b.0).then_with(|| a.1.total_cmp(&b.1));
    order.sort_unstable_by(|a, b| by_value(a, b).then(a.2.cmp(&b.2)));
    order.truncate(most);
    let ranks = order.chunk_by(|a, b| by_value(a, b).is_eq()).enumerate();
    ranks
        .flat_map(|(rank, same)| {
            same.iter().map(move |(_, _, index)| Survivor { index: *index, rank, crowding: 0.0 })
        })
        .collect()
}
