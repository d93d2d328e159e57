//! How chromosomes are crossed and changed (Paul 2013: "Crossover operators", "Mutation operators").

use smallvec::{SmallVec, smallvec};

use super::schedule::Merits;
use crate::workload::random::Stream;

/// Exchanges the genes from each second cut to the next one; `cuts` are in ascending order.
pub(super) fn k_point(one: &mut [u32], other: &mut [u32], cuts: &[usize]) {
    let ends = cuts.iter().copied().chain([one.len()]).skip(1).step_by(2);
    for (from, to) in cuts.iter().copied().step_by(2).zip(ends) {
        one[from..to].swap_with_slice(&mut other[from..to]);
    }
}

/// Exchanges the genes that the mask names.
pub(super) fn by_mask(one: &mut [u32], other: &mut [u32], mut mask: impl FnMut() -> bool) {
    for (one, other) in one.iter_mut().zip(other) {
        if mask() {
            std::mem::swap(one, other);
        }
    }
}

/// The probability that a child has the gene of the first of its parents, whose pools have these merits: its share of both.
pub(super) fn share(merits: &[f64], one: u32, other: u32) -> f64 {
    let (own, of_other) = (merits[one as usize], merits[other as usize]);
    if own + of_other > 0.0 { own / (own + of_other) } else { 0.5 }
}

/// Makes two children: each gene of the first is that of `one` with the [share] of its energy efficiency, each of the second with that of its
/// processing capability, and else that of `other`.
///
/// The figure of the paper calls the probabilities of the second child those of the second parent; by its formula and its numbers they
/// are of the first.
pub(super) fn by_fitness(one: &mut [u32], other: &mut [u32], merits: &Merits, stream: &mut Stream) {
    for (one, other) in one.iter_mut().zip(other) {
        let (first, second) = (*one, *other);
        let mut child = |merits: &[f64]| {
            if stream.uniform() < share(merits, first, second) { first } else { second }
        };
        (*one, *other) = (child(&merits.efficiency), child(&merits.capability));
    }
}

/// Moves a task to a pool.
pub(super) fn shift(chromosome: &mut [u32], task: usize, to: u32) {
    chromosome[task] = to;
}

/// Lets two tasks change places, if each `may` go where the other is.
pub(super) fn swap(chromosome: &mut [u32], one: usize, other: usize, may: impl Fn(usize, u32) -> bool) {
    if may(one, chromosome[other]) && may(other, chromosome[one]) {
        chromosome.swap(one, other);
    }
}

/// Moves a task from the most loaded pool to another one that is less loaded, if it may go to one: `choices` has the pools of each task. The
/// load of a pool is its number of tasks over its processors.
pub(super) fn rebalance<'a>(
    chromosome: &mut [u32],
    merits: &Merits,
    choices: impl Fn(usize) -> &'a [u32],
    stream: &mut Stream,
) {
    let mut counts: SmallVec<[u64; 64]> = smallvec![0; merits.processors.len()];
    for pool in chromosome.iter() {
        counts[*pool as usize] += 1;
    }
    let load = |pool: u32| counts[pool as usize] as f64 / f64::from(merits.processors[pool as usize].max(1));
    let pools = 0..counts.len() as u32;
    let Some(most) = pools.reduce(|most, pool| if load(pool) > load(most) { pool } else { most }) else {
        return;
    };
    let own = counts[most as usize];
    if own == 0 {
        return;
    }
    let nth = stream.below(own) as usize;
    let mut of_most = chromosome.iter().enumerate().filter(|(_, pool)| **pool == most);
    let Some((task, _)) = of_most.nth(nth) else { return };
    let less = || choices(task).iter().copied().filter(|pool| load(*pool) < load(most));
    let count = less().count() as u64;
    if count > 0
        && let Some(to) = less().nth(stream.below(count) as usize)
    {
        chromosome[task] = to;
    }
}
