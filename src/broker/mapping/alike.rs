//! The best and the second best pool of each task, kept while pools fill.

use std::cmp::Reverse;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use super::holes::{earliest, take};
use super::{Costs, Holes, Placement};
use crate::units::{Span, Time};

/// An end in a pool; [`Time::NEVER`] if there is none. Compares by the end, then by the pool.
pub(super) type Ending = (Time, u32);

/// No task.
const NONE: u32 = u32::MAX;

/// How many pools of a row are looked at first.
const NEAR: usize = 8;

/// Tasks that take the same in every pool, which end in each pool at the same time if each is planned alone: they have one row, and the one
/// of the lowest number goes first.
///
/// Holes only become fewer. So what was once a lower bound of an end stays one, and to know the best pool of a row it is usually enough to
/// look at the few pools that were near the best before.
pub(super) struct Alike<'a, C, H> {
    costs: &'a C,
    pub(super) holes: &'a mut H,
    pools: usize,
    /// The tasks of each row, the lowest last.
    tasks: Vec<Vec<u32>>,
    /// The last of these; [`NONE`] if none is left.
    next: Vec<u32>,
    /// For each row one that ends sooner, to be looked at once nothing of it is left; or [`NONE`].
    behind: Vec<u32>,
    /// The run times by row and pool in microseconds; `u64::MAX` where a task cannot run.
    runs: Vec<u64>,
    /// Of each row [`NEAR`] pools with the run time there, and of all others a lower bound of the ends and the least run time.
    near: Vec<(u32, u64)>,
    rest: Vec<(Time, u64)>,
    /// When the first processor of each pool is free, in microseconds: no task starts earlier.
    first_free: Vec<u64>,
    /// The least of these.
    least_free: u64,
    /// Whether a pool has, from then on, never fewer free processors: a task on one processor then starts as soon as it is ready.
    rising: Vec<bool>,
    /// The earliest instant at which a task is ready anywhere.
    from: Time,
    /// How often each pool has been taken, and how often that was when it was found to be the best of a row.
    taken: Vec<u32>,
    seen: Vec<u32>,
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
            near: vec![(0, u64::MAX); tasks.len() * NEAR],
            rest: vec![(Time::ZERO, 0); tasks.len()],
            from: ready.min().unwrap_or(Time::ZERO),
            first_free: vec![0; pools],
            least_free: 0,
            rising: vec![false; pools],
            next: tasks.iter().map(|row| row[row.len() - 1]).collect(),
            behind: vec![NONE; tasks.len()],
            taken: vec![0; pools],
            seen: vec![0; tasks.len()],
            best: vec![((Time::NEVER, 0), (Time::NEVER, 0)); tasks.len()],
            costs,
            holes,
            pools,
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

    /// The rows of which a task is left and fits somewhere, without those that end sooner than one of them whatever happens, because they take
    /// less everywhere: each of these is [behind](Self::behind) one that ends later.
    pub(super) fn latest_rows(&mut self) -> Vec<usize> {
        let mut rows = self.rows();
        rows.sort_by_key(|row| Reverse(self.runs[row * self.pools]));
        let (mut heads, mut tails) = (Vec::new(), Vec::new());
        for row in rows {
            let few = tails.len().saturating_sub(NEAR)..tails.len();
            if let Some(at) = few.into_iter().find(|at| self.takes_more(tails[*at], row)) {
                self.behind[tails[at]] = row as u32;
                tails[at] = row;
            } else {
                heads.push(row);
                tails.push(row);
            }
        }
        heads
    }

    /// The row that comes in the place of one of which nothing is left.
    pub(super) fn behind(&self, row: usize) -> Option<usize> {
        Some(self.behind[row]).filter(|row| *row != NONE).map(|row| row as usize)
    }

    /// Whether a row ends later than another in every pool in which it fits, whatever holes there are.
    fn takes_more(&self, row: usize, other: usize) -> bool {
        let (a, b) = (self.next[row] as usize, self.next[other] as usize);
        let runs = |row: usize| &self.runs[row * self.pools..(row + 1) * self.pools];
        (0..self.pools).zip(runs(row).iter().zip(runs(other))).all(|(pool, (more, less))| {
            *more == u64::MAX
                || more > less
                    && self.costs.procs(a, pool) >= self.costs.procs(b, pool)
                    && self.costs.ready(a, pool) >= self.costs.ready(b, pool)
        })
    }

    /// Whether a task of the row is left and fits somewhere.
    pub(super) fn is_open(&self, row: usize) -> bool {
        self.next[row] != NONE && self.best[row].0.0 < Time::NEVER
    }

    /// The next task of a row that [is open](Self::is_open).
    pub(super) fn task(&self, row: usize) -> u32 {
        self.next[row]
    }

    /// The best and the second best of a row, as last refreshed.
    pub(super) fn best(&self, row: usize) -> (Ending, Ending) {
        self.best[row]
    }

    /// Whether the best of a row is what it was when it was computed.
    pub(super) fn is_fresh(&self, row: usize) -> bool {
        self.seen[row] == self.taken[self.best[row].0.1 as usize]
    }

    /// Brings what is known of a pool's first free processor up to date.
    fn look_at(&mut self, pool: usize) {
        let free = self.holes.earliest(pool, 1, self.from, Span::ZERO);
        self.first_free[pool] = free.unwrap_or(Time::NEVER).micros();
        self.rising[pool] = free.is_some_and(|free| self.holes.rises_from(pool) <= free);
        self.least_free = self.first_free.iter().copied().min().unwrap_or(0);
    }

    /// The end in a pool, as it is now.
    fn end(&self, row: usize, pool: usize) -> Time {
        if self.next[row] == NONE {
            return Time::NEVER;
        }
        let task = self.next[row] as usize;
        if self.rising[pool] && self.costs.procs(task, pool) == 1 {
            let start = self.costs.ready(task, pool).micros().max(self.first_free[pool]);
            return Time::from_micros(start.saturating_add(self.runs[row * self.pools + pool]));
        }
        let placed = earliest(self.costs, self.holes, (task, pool), self.costs.ready(task, pool));
        placed.map_or(Time::NEVER, |placed| placed.end)
    }

    /// A lower bound of the end in a pool.
    fn soonest(&self, pool: usize, run: u64) -> Time {
        Time::from_micros(self.first_free[pool].saturating_add(run))
    }

    /// A lower bound of the ends in all pools of a row but those that are near its best.
    fn rest(&self, row: usize) -> Time {
        let (bound, run) = self.rest[row];
        bound.max(Time::from_micros(self.least_free.saturating_add(run)))
    }

    /// The best of some pools with their run times, and a lower bound of the others of them: the second best if asked for.
    fn best_of(&self, row: usize, pools: impl Iterator<Item = (u32, u64)>, second: bool) -> (Ending, Ending) {
        let (mut first, mut other) = ((Time::NEVER, 0), (Time::NEVER, 0));
        for (pool, run) in pools {
            let mut ending = (self.soonest(pool as usize, run), pool);
            // Nothing is computed where a task cannot end before what was found.
            if ending < if second { other } else { first } {
                ending.0 = self.end(row, pool as usize);
            }
            if ending < first {
                (first, other) = (ending, first);
            } else if ending < other {
                other = ending;
            }
        }
        (first, other)
    }

    /// Finds the best of a row, and, if asked, the second best.
    pub(super) fn refresh(&mut self, row: usize, second: bool) {
        let near = |own: &Self| {
            let pools = own.near[row * NEAR..(row + 1) * NEAR].iter().copied();
            own.best_of(row, pools.filter(|(_, run)| *run < u64::MAX), second)
        };
        let decides = |own: &Self, (first, other): (Ending, Ending)| {
            let found = if second { other } else { first };
            found.0 < own.rest(row) || own.rest(row) == Time::NEVER
        };
        let mut best = near(self);
        if !decides(self, best) {
            self.find_near(row);
            best = near(self);
        }
        if decides(self, best) {
            best.1 = best.1.min((self.rest(row), 0));
        } else {
            let runs = &self.runs[row * self.pools..(row + 1) * self.pools];
            best = self.best_of(row, (0..).zip(runs.iter().copied()), second);
        }
        self.best[row] = best;
        self.seen[row] = self.taken.get(best.0.1 as usize).copied().unwrap_or(0);
    }

    /// Finds the pools that are near the best of a row.
    fn find_near(&mut self, row: usize) {
        let runs = &self.runs[row * self.pools..(row + 1) * self.pools];
        let mut all: Vec<(Time, u32, u64)> =
            (0..).zip(runs).map(|(pool, run)| (self.soonest(pool as usize, *run), pool, *run)).collect();
        self.rest[row] = (Time::NEVER, u64::MAX);
        if all.len() > NEAR {
            let least = all.select_nth_unstable(NEAR).1.0;
            self.rest[row] = (least, all[NEAR..].iter().map(|(_, _, run)| *run).min().unwrap_or(u64::MAX));
            all.truncate(NEAR);
        }
        let near = &mut self.near[row * NEAR..(row + 1) * NEAR];
        near.fill((0, u64::MAX));
        near.iter_mut().zip(all).for_each(|(near, (_, pool, run))| *near = (pool, run));
    }

    /// As [`Alike::refresh`], after nothing but `pool` was taken since.
    pub(super) fn refresh_after(&mut self, row: usize, pool: usize, second: bool) {
        let (first, other) = self.best[row];
        if first.1 as usize == pool {
            let now = (self.end(row, pool), first.1);
            if now <= other && now.0 < Time::NEVER {
                self.best[row].0 = now;
                self.seen[row] = self.taken[pool];
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
        self.next[row] = self.tasks[row].last().copied().unwrap_or(NONE);
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
