//! The archive of the points that no other dominates.

use super::dominance::{compare, dominates, gap, lexicographic};
use super::{Points, SearchError};

/// How many points an archive keeps.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum ArchiveSize {
    /// There is no archive.
    #[default]
    None,
    /// All that no other dominates. A small problem may have far more of them than a population holds, and one with real genomes has a new
    /// one for every other evaluation.
    Unbounded,
    /// At most so many; those in crowded places go first.
    Bounded(usize),
}

/// The points found so far that no other dominates, each with its genome. Of equal points the first found is kept.
///
/// They are in lexicographic order of their objectives, so the order says nothing of when they were found.
///
/// If there is a bound, what is beyond it goes one point at a time, always the one with the smallest crowding distance in what is left
/// ([`crowding`](super::crowding)), of equal ones the last. A point that has gone cannot keep out what it dominates: only an archive without a
/// bound has nothing that any point ever found dominates.
#[derive(Clone, Debug, PartialEq)]
pub struct Archive<G> {
    objectives: usize,
    most: Option<usize>,
    genomes: Vec<G>,
    values: Vec<f64>,
}

impl<G: Clone> Archive<G> {
    /// An empty archive of points of so many objectives, without a bound.
    ///
    /// # Errors
    ///
    /// There are no objectives.
    pub fn unbounded(objectives: usize) -> Result<Self, SearchError> {
        if objectives == 0 {
            return Err(SearchError::NoObjectives);
        }
        Ok(Self { objectives, most: None, genomes: Vec::new(), values: Vec::new() })
    }

    /// An empty archive of points of so many objectives that keeps `most` of them.
    ///
    /// # Errors
    ///
    /// There are no objectives, or no point may be kept.
    pub fn bounded(objectives: usize, most: usize) -> Result<Self, SearchError> {
        if most == 0 {
            return Err(SearchError::NoArchive);
        }
        Ok(Self { most: Some(most), ..Self::unbounded(objectives)? })
    }

    /// The archive of a search; `None` if it has none.
    pub(super) fn of_size(size: ArchiveSize, objectives: usize) -> Result<Option<Self>, SearchError> {
        match size {
            ArchiveSize::None => Ok(None),
            ArchiveSize::Unbounded => Self::unbounded(objectives).map(Some),
            ArchiveSize::Bounded(most) => Self::bounded(objectives, most).map(Some),
        }
    }

    /// Offers a point that satisfies all constraints; says whether the archive now has its genome.
    ///
    /// # Errors
    ///
    /// The point has another number of objectives, or one that is not a finite number.
    pub fn insert(&mut self, genome: &G, point: &[f64]) -> Result<bool, SearchError> {
        self.points().must_match("the point", point.len())?;
        let point = Points::new(point, self.objectives)?;
        let taken = self.extend(std::slice::from_ref(genome), point, &[]);
        Ok(taken && self.points().iter().any(|kept| kept == point.values()))
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.genomes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.genomes.is_empty()
    }

    /// The points.
    pub fn points(&self) -> Points<'_> {
        Points::checked(&self.values, self.objectives)
    }

    /// The genomes, in the order of the points.
    pub fn genomes(&self) -> &[G] {
        &self.genomes
    }

    /// The genomes with their objectives.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&G, &[f64])> {
        self.genomes.iter().zip(self.points().iter())
    }

    /// Offers many points at once; says whether any was new. What violates constraints is passed over; `violations` may be empty.
    ///
    /// Without a bound it is the same as offering them one by one, with one it goes by what all of them leave.
    pub(super) fn extend(&mut self, genomes: &[G], points: Points<'_>, violations: &[f64]) -> bool {
        let is_feasible = |index: &usize| violations.get(*index).is_none_or(|violation| *violation <= 0.0);
        let mut order: Vec<usize> = (0..points.len()).filter(is_feasible).collect();
        order.sort_by(|a, b| lexicographic(points.at(*a), points.at(*b)));
        // What the archive does not have yet, with its place there.
        let mut added: Vec<(usize, usize)> = Vec::new();
        for index in order {
            let point = points.at(index);
            if added.iter().any(|(other, _)| covers(points.at(*other), point)) {
                continue;
            }
            let place = self.place(point);
            if !self.has_better(place, point) {
                added.push((index, place));
            }
        }
        if added.is_empty() {
            return false;
        }
        let mut gone = vec![false; self.len()];
        for (index, place) in &added {
            self.mark_dominated(points.at(*index), *place, &mut gone);
        }
        self.merge(genomes, points, &added, &gone);
        if let Some(most) = self.most.filter(|most| *most < self.len()) {
            self.prune(most);
        }
        true
    }

    /// How many points of the archive come before `point` in lexicographic order.
    fn place(&self, point: &[f64]) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if lexicographic(self.points().at(middle), point).is_lt() {
                low = middle + 1
            } else {
                high = middle
            }
        }
        low
    }

    /// Whether the archive has a point that equals `point` or dominates it. Only those before its place may dominate it.
    fn has_better(&self, place: usize, point: &[f64]) -> bool {
        if place < self.len() && self.points().at(place) == point {
            return true;
        }
        let before = &self.values[..place * self.objectives];
        let mut before = before.rchunks_exact(self.objectives);
        // Of two objectives, the second falls along the archive: the neighbour is the best in it.
        if self.objectives <= 2 {
            before.next().is_some_and(|other| covers(other, point))
        } else {
            before.any(|other| covers(other, point))
        }
    }

    /// Marks the points of the archive that `point`, whose place is `place`, dominates.
    fn mark_dominated(&self, point: &[f64], place: usize, gone: &mut [bool]) {
        let behind = self.values[place * self.objectives..].chunks_exact(self.objectives);
        for (other, gone) in behind.zip(&mut gone[place..]) {
            if dominates(point, other) {
                *gone = true;
            } else if self.objectives <= 2 {
                // Those further on are better in the second objective.
                break;
            }
        }
    }

    /// Takes in the points `added`, by index and place, and leaves out those that have gone.
    fn merge(&mut self, genomes: &[G], points: Points<'_>, added: &[(usize, usize)], gone: &[bool]) {
        let old = std::mem::take(&mut self.values);
        let room = self.genomes.len() + added.len();
        let mut old_genomes = std::mem::replace(&mut self.genomes, Vec::with_capacity(room)).into_iter();
        self.values.reserve(room * self.objectives);
        let mut added = added.iter().peekable();
        for place in 0..=gone.len() {
            while let Some((index, _)) = added.next_if(|(_, at)| *at == place) {
                self.genomes.push(genomes[*index].clone());
                self.values.extend_from_slice(points.at(*index));
            }
            if let Some(genome) = old_genomes.next()
                && !gone[place]
            {
                self.genomes.push(genome);
                self.values.extend_from_slice(&old[place * self.objectives..(place + 1) * self.objectives]);
            }
        }
    }

    /// Takes away the most crowded point until `most` are left.
    fn prune(&mut self, most: usize) {
        let count = self.len();
        let chains: Vec<Chain> =
            (0..self.objectives).filter_map(|of| Chain::new(self.points(), of)).collect();
        let mut chains = chains;
        let distance = |chains: &[Chain], at: usize| chains.iter().map(|chain| chain.gap_at(at)).sum::<f64>();
        let mut distances: Vec<f64> = (0..count).map(|at| distance(&chains, at)).collect();
        let mut left = vec![true; count];
        for _ in most..count {
            let still = (0..count).rev().filter(|at| left[*at]);
            let Some(worst) = still.min_by(|a, b| compare(distances[*a], distances[*b])) else { break };
            left[worst] = false;
            for of in 0..chains.len() {
                for neighbour in chains[of].remove(worst) {
                    distances[neighbour] = distance(&chains, neighbour);
                }
            }
        }
        let mut kept = left.iter();
        self.genomes.retain(|_| kept.next().is_some_and(|kept| *kept));
        let is_kept = |(at, _): &(usize, &f64)| left[at / self.objectives];
        self.values = self.values.iter().enumerate().filter(is_kept).map(|(_, value)| *value).collect();
    }
}

/// Whether `a` is nowhere worse than `b`: it dominates it or equals it.
fn covers(a: &[f64], b: &[f64]) -> bool {
    let mut worse = false;
    for (a, b) in a.iter().zip(b) {
        worse |= a > b;
    }
    !worse
}

/// The points in the order of one objective, as a list from which points go.
struct Chain {
    values: Vec<f64>,
    before: Vec<Option<usize>>,
    behind: Vec<Option<usize>>,
    range: f64,
}

impl Chain {
    /// `None` if all points have the same value, which says nothing of how crowded they are.
    fn new(points: Points<'_>, objective: usize) -> Option<Self> {
        let values: Vec<f64> = points.iter().map(|point| point[objective]).collect();
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|a, b| compare(values[*a], values[*b]));
        let range = values[*order.last()?] - values[*order.first()?];
        if range <= 0.0 {
            return None;
        }
        let (mut before, mut behind) = (vec![None; values.len()], vec![None; values.len()]);
        for two in order.windows(2) {
            behind[two[0]] = Some(two[1]);
            before[two[1]] = Some(two[0]);
        }
        Some(Self { values, before, behind, range })
    }

    /// The gap between the neighbours of a point; infinite at the ends.
    fn gap_at(&self, at: usize) -> f64 {
        match (self.before[at], self.behind[at]) {
            (Some(before), Some(behind)) => gap(self.values[before], self.values[behind], self.range),
            _ => f64::INFINITY,
        }
    }

    /// Takes a point out; its neighbours are now each other's.
    fn remove(&mut self, at: usize) -> impl Iterator<Item = usize> + use<> {
        let (before, behind) = (self.before[at], self.behind[at]);
        if let Some(before) = before {
            self.behind[before] = behind;
        }
        if let Some(behind) = behind {
            self.before[behind] = before;
        }
        before.into_iter().chain(behind)
    }
}
