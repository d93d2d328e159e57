//! The best and the second best pool of each task, kept while pools fill.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use super::holes::{earliest, take};
use super::{Costs, Holes, Placement};
use crate::units::{Span, Time};

/// An end in a pool; [`Time::NEVER`] if there is none. Compares by the end, then by the pool.
pub(super) type Ending = (Time, u32);

/// Tasks that take the same in every pool, which end in each pool at the same time if each is planned alone: they have one row in the table
/// of ends, and the one of the lowest number goes first.
///
/// Holes only become fewer. So an end that was once computed is never too late, and what must be computed anew to know the least of a row
/// is usually one entry or two, not the whole row.
pub(super) struct Alike<'a, C, H> {
    costs: &'a C,
    pub(super) holes: &'a mut H,
    pools: usize,
    /// The tasks of each row, the lowest last.
    tasks: Vec<Vec<u32>>,
    /// The ends by row and pool, as last computed.
    ends: Vec<Time>,
    /// How often the pool had been taken then.
    seen: Vec<u32>,
    /// The run times by row and pool in microseconds; `u64::MAX` where a task cannot run.
    runs: Vec<u64>,
    /// When the first processor of each pool is free, in microseconds: no task starts earlier.
    first_free: Vec<u64>,
    /// The earliest instant at which a task is ready anywhere.
    from: Time,
    /// How often each pool has been taken, from 1.
    taken: Vec<u32>,
    /// The best of each row, and a lower bound of all others: the second best if [`Alike::refresh`] was asked for it.
    best: Vec<(Ending, Ending)>,
}

impl<'a, C: Costs, H: Holes> Alike<'a, C, H> {
    pub(super) fn new(costs: &'a C, holes: &'a mut H) -> Self {
        let (pools, tasks) = (costs.pools(), alike(costs));
        let entries = tasks.iter().flat_map(|row| (0..pools).map(|pool| (row[0] as usize, pool)));
        let run = |(task, pool)| costs.run(task, pool).map_or(u64::MAX, Span::micros);
        let ready = entries.clone().map(|(task, pool)| costs.ready(task, pool));
        let mut new = Self {
            runs: entries.clone().map(run).collect(),
            from: ready.min().unwrap_or(Time::ZERO),
            first_free: vec![0; pools],
            costs,
            holes,
            pools,
            ends: vec![Time::ZERO; tasks.len() * pools],
            seen: vec![0; tasks.len() * pools],
            taken: vec![1; pools],
            best: vec![((Time::ZERO, 0), (Time::ZERO, 0)); tasks.len()],
            tasks,
        };
        (0..pools).for_each(|pool| new.look_at(pool));
        (0..new.tasks.len()).for_each(|row| new.refresh(row, true));
        new
    }

    /// The rows of which a task is left and fits somewhere.
    pub(super) fn rows(&self) -> Vec<usize> {
        (0..self.tasks.len()).filter(|row| self.is_open(*row)).collect()
    }

    /// Whether a task of the row is left and fits somewhere.
    pub(super) fn is_open(&self, row: usize) -> bool {
        !self.tasks[row].is_empty() && self.best[row].0.0 < Time::NEVER
    }

    /// The next task of a row that [is open](Self::is_open).
    pub(super) fn task(&self, row: usize) -> u32 {
        self.tasks[row][self.tasks[row].len() - 1]
    }

    /// The best and the second best of a row, as last refreshed.
    pub(super) fn best(&self, row: usize) -> (Ending, Ending) {
        self.best[row]
    }

    /// Whether the best of a row is what it was when it was computed.
    pub(super) fn is_fresh(&self, row: usize) -> bool {
        let pool = self.best[row].0.1 as usize;
        self.seen[row * self.pools + pool] == self.taken[pool]
    }

    /// Brings what is known of a pool's first free processor up to date.
    fn look_at(&mut self, pool: usize) {
        let free = self.holes.earliest(pool, 1, self.from, Span::ZERO);
        self.first_free[pool] = free.unwrap_or(Time::NEVER).micros();
    }

    /// The end in a pool, as it is now.
    fn end(&mut self, row: usize, pool: usize) -> Time {
        let at = row * self.pools + pool;
        if self.seen[at] != self.taken[pool] {
            self.seen[at] = self.taken[pool];
            let task = self.tasks[row].last().map_or(0, |task| *task as usize);
            let placed = earliest(self.costs, self.holes, (task, pool), self.costs.ready(task, pool));
            self.ends[at] = placed.map_or(Time::NEVER, |placed| placed.end);
        }
        self.ends[at]
    }

    /// Finds the best of a row, and, if asked, the second best. Where a task cannot end before what was found, by what was computed earlier or by
    /// the pool's first free processor, nothing is computed.
    pub(super) fn refresh(&mut self, row: usize, second: bool) {
        let (mut first, mut other) = ((Time::NEVER, u32::MAX), (Time::NEVER, u32::MAX));
        if !self.tasks[row].is_empty() {
            let pools = self.pools;
            let likely = [self.best[row].0.1, self.best[row].1.1].map(|pool| pool as usize);
            let rest = (0..pools).filter(|pool| !likely.contains(pool));
            let [one, two] = likely;
            let likely = [one].into_iter().chain((one != two).then_some(two)).filter(|pool| *pool < pools);
            for pool in likely.chain(rest) {
                let at = row * pools + pool;
                let soonest = Time::from_micros(self.first_free[pool].saturating_add(self.runs[at]));
                let mut ending = (self.ends[at].max(soonest), pool as u32);
                if ending < if second { other } else { first } {
                    ending.0 = self.end(row, pool);
                }
                if ending < first {
                    (first, other) = (ending, first);
                } else if ending < other {
                    other = ending;
                }
            }
        }
        self.best[row] = (first, other);
    }

    /// As [`Alike::refresh`], after nothing but `pool` was taken since.
    pub(super) fn refresh_after(&mut self, row: usize, pool: usize, second: bool) {
        let (first, other) = self.best[row];
        if first.1 as usize == pool {
            let now = (self.end(row, pool), first.1);
            if now <= other && now.0 < Time::NEVER {
                self.best[row].0 = now;
            } else {
                self.refresh(row, second);
            }
        } else if second && other.1 as usize == pool {
            self.refresh(row, true);
        }
    }

    /// Puts the next task of a row, whose best is up to date, into that pool.
    pub(super) fn commit(&mut self, row: usize) -> Option<Placement> {
        let pool = self.best[row].0.1 as usize;
        let task = self.tasks[row].pop()? as usize;
        let placed = earliest(self.costs, self.holes, (task, pool), self.costs.ready(task, pool))?;
        take(self.costs, self.holes, placed);
        self.taken[pool] += 1;
        self.look_at(pool);
        Some(placed)
    }
}

/// The tasks by what they take, each list with the lowest last; the lists by their lowest tasks.
fn alike(costs: &impl Costs) -> Vec<Vec<u32>> {
    let entry =
        |task: usize, pool: usize| (costs.run(task, pool), costs.procs(task, pool), costs.ready(task, pool));
    let mut lists: Vec<Vec<u32>> = Vec::new();
    let mut by_hash: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    for task in 0..costs.tasks() {
        let mut hasher = FxHasher::default();
        (0..costs.pools()).for_each(|pool| entry(task, pool).hash(&mut hasher));
        let same_hash = by_hash.entry(hasher.finish()).or_default();
        let same = same_hash.iter().find(|list| {
            let other = lists[**list][0] as usize;
            (0..costs.pools()).all(|pool| entry(task, pool) == entry(other, pool))
        });
        match same {
            Some(list) => lists[*list].push(task as u32),
            None => {
                same_hash.push(lists.len());
                lists.push(vec![task as u32]);
            }
        }
    }
    lists.iter_mut().for_each(|list| list.reverse());
    lists
}
