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

/// How many chains of rows are looked at for one that a row may be put behind.
const CHAINS: usize = 8;

/// Tasks that take the same in every pool, which end in each pool at the same time if each is planned alone: they have one row, and the one
/// of the lowest number goes first.
///
/// No task starts in a pool before its first processor is free, and on one processor most start then. So hardly any hole is searched.
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
    /// When tasks are ready in each pool, in microseconds, and where that begins for a row: those that are ready alike have it in common.
    ready: Vec<u64>,
    ready_at: Vec<usize>,
    /// Whether the tasks of a row have one processor in every pool.
    single: Vec<bool>,
    /// When the first processor of each pool is free, in microseconds: no task starts earlier.
    first_free: Vec<u64>,
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
        let single = |row: &Vec<u32>| (0..pools).all(|pool| costs.procs(row[0] as usize, pool) == 1);
        let (mut ready, mut ready_at): (Vec<u64>, Vec<usize>) = Default::default();
        for row in &tasks {
            let own = ready.len();
            ready.extend((0..pools).map(|pool| costs.ready(row[0] as usize, pool).micros()));
            let last = own.saturating_sub(pools);
            if last < own && ready[last..own] == ready[own..] {
                ready.truncate(own);
            }
            ready_at.push(ready.len() - pools);
        }
        let mut new = Self {
            runs: entries.map(run).collect(),
            from: ready.iter().min().map_or(Time::ZERO, |from| Time::from_micros(*from)),
            ready,
            ready_at,
            single: tasks.iter().map(single).collect(),
            first_free: vec![0; pools],
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
    /// less everywhere: each of these is [behind](Self::open_row) one that ends later.
    pub(super) fn latest_rows(&mut self) -> Vec<usize> {
        let mut rows = self.rows();
        rows.sort_by_key(|row| Reverse(self.runs[row * self.pools]));
        let (mut heads, mut tails) = (Vec::new(), Vec::new());
        for row in rows {
            let few = tails.len().saturating_sub(CHAINS)..tails.len();
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

    /// The row itself if it [is open](Self::is_open), and else the first behind it that is.
    pub(super) fn open_row(&mut self, mut row: usize, second: bool) -> Option<usize> {
        while !self.is_open(row) {
            row = Some(self.behind[row]).filter(|next| *next != NONE)? as usize;
            self.refresh(row, second);
        }
        Some(row)
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
    }

    /// The end of a row in a pool, as it is now, that is not before `bound`.
    fn end(&self, row: usize, pool: usize, bound: u64) -> u64 {
        if self.single[row] && self.rising[pool] {
            return bound;
        }
        let (task, ready) = (self.next[row] as usize, self.ready[self.ready_at[row] + pool]);
        let placed = earliest(self.costs, self.holes, (task, pool), Time::from_micros(ready));
        placed.map_or(u64::MAX, |placed| placed.end.micros())
    }

    /// A lower bound of the end of a row in a pool.
    fn bound(&self, row: usize, pool: usize) -> u64 {
        let ready = self.ready[self.ready_at[row] + pool];
        self.first_free[pool].max(ready).saturating_add(self.runs[row * self.pools + pool])
    }

    /// Finds the best of a row, and, if asked, the second best.
    pub(super) fn refresh(&mut self, row: usize, second: bool) {
        let (mut first, mut other) = ((u64::MAX, 0), (u64::MAX, 0));
        if self.next[row] != NONE {
            let own = row * self.pools..(row + 1) * self.pools;
            let ready = &self.ready[self.ready_at[row]..][..self.pools];
            let times = self.runs[own].iter().zip(ready).zip(&self.first_free);
            for (pool, ((run, ready), free)) in (0..).zip(times) {
                let mut end = free.max(ready).saturating_add(*run);
                if end < other.0 {
                    if second || end < first.0 {
                        end = self.end(row, pool as usize, end);
                    }
                    if end < first.0 {
                        (first, other) = ((end, pool), first);
                    } else if end < other.0 {
                        other = (end, pool);
                    }
                }
            }
        }
        let ending = |(end, pool)| (Time::from_micros(end), pool);
        self.best[row] = (ending(first), ending(other));
        self.seen[row] = self.taken.get(first.1 as usize).copied().unwrap_or(0);
    }

    /// As [`Alike::refresh`], after nothing but `pool` was taken since.
    pub(super) fn refresh_after(&mut self, row: usize, pool: usize, second: bool) {
        let (first, other) = self.best[row];
        if self.next[row] == NONE {
            return;
        }
        if first.1 as usize == pool {
            let now = (Time::from_micros(self.end(row, pool, self.bound(row, pool))), first.1);
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
