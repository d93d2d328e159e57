//! The schedules of mapping heuristics, with which a search can begin: min-min, max-min and sufferage, over the tasks that wait for none that has
//! no pool yet.

use std::cmp::Reverse;

use super::schedule::{Instance, Scratch};

/// Which of the tasks whose best pools are known gets its own next.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Mapper {
    /// The one that ends first.
    MinMin,
    /// The one that ends last.
    MaxMin,
    /// The one that would lose most in its second-best pool.
    Sufferage,
}

/// The best pool of a task.
#[derive(Copy, Clone, Debug)]
struct Best {
    gene: usize,
    pool: u32,
    end: u64,
    /// The second-best pool and the end there.
    second: Option<(u32, u64)>,
}

impl Mapper {
    pub(super) const ALL: [Self; 3] = [Self::MinMin, Self::MaxMin, Self::Sufferage];

    /// The key of the task that is next: the least, of equals that of the least gene.
    fn key(self, best: &Best) -> (Reverse<u64>, usize) {
        let key = match self {
            Self::MinMin => u64::MAX - best.end,
            Self::MaxMin => best.end,
            Self::Sufferage => best.second.map_or(0, |(_, end)| end - best.end),
        };
        (Reverse(key), best.gene)
    }

    /// A chromosome of the instance.
    pub(super) fn chromosome(self, instance: &Instance) -> Vec<u32> {
        let genes = instance.genes();
        let mut chromosome = vec![0; genes];
        let mut scratch = instance.scratch();
        let mut missing: Vec<usize> = (0..genes).map(|gene| instance.inputs(gene).len()).collect();
        let mut waiting = vec![Vec::new(); genes];
        for gene in 0..genes {
            instance.inputs(gene).iter().for_each(|(before, _)| waiting[*before as usize].push(gene));
        }
        let first = (0..genes).filter(|gene| missing[*gene] == 0);
        let mut open: Vec<Best> = first.map(|gene| best(instance, gene, &chromosome, &scratch)).collect();
        while let Some(at) = (0..open.len()).min_by_key(|at| self.key(&open[*at])) {
            let Best { gene, pool, .. } = open.swap_remove(at);
            chromosome[gene] = pool;
            instance.place(gene, pool, &chromosome, &mut scratch);
            for task in &mut open {
                // Elsewhere nothing has changed.
                if task.pool == pool || task.second.is_some_and(|(second, _)| second == pool) {
                    *task = best(instance, task.gene, &chromosome, &scratch);
                }
            }
            for after in &waiting[gene] {
                missing[*after] -= 1;
                if missing[*after] == 0 {
                    open.push(best(instance, *after, &chromosome, &scratch));
                }
            }
        }
        chromosome
    }
}

/// Where a task ends first, and where second.
fn best(instance: &Instance, gene: usize, chromosome: &[u32], scratch: &Scratch) -> Best {
    let mut first: Option<(u32, u64)> = None;
    let mut second: Option<(u32, u64)> = None;
    for pool in instance.choices(gene) {
        let end = instance.end(gene, *pool, chromosome, scratch);
        if first.is_none_or(|(_, least)| end < least) {
            second = first.replace((*pool, end));
        } else if second.is_none_or(|(_, least)| end < least) {
            second = Some((*pool, end));
        }
    }
    let (pool, end) = first.unwrap_or((0, u64::MAX));
    Best { gene, pool, end, second }
}
