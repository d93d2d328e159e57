//! A graph whose nodes merge, with its longest ways.

use std::collections::BTreeSet;

use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashSet;

use crate::workflow::Workflow;

/// The longest ways on one side of each node, and the neighbours there.
///
/// A merge changes the longest ways of all nodes on the way to the ends of the graph, and few of them are ever asked for. So they are
/// computed when they are read: a node that has read a neighbour is told, once, when that is out of date, and is out of date itself.
#[derive(Debug)]
struct Side {
    size: Vec<u128>,
    /// The longest way on this side of the node, its own size included; true unless [`Side::is_stale`].
    longest: Vec<u128>,
    is_stale: Vec<bool>,
    /// The neighbours on this side that were read and have not changed since, by their longest ways.
    read: Vec<BTreeSet<(u128, u32)>>,
    /// The other neighbours, some of them more than once, or under the number of a node that has merged into another since.
    unread: Vec<Vec<u32>>,
    /// The nodes that read this one since it last changed, and perhaps some that have merged into others.
    readers: Vec<Vec<u32>>,
}

/// The critical lengths of all nodes by one measure of size.
#[derive(Debug)]
struct Lengths {
    up: Side,
    down: Side,
}

/// What of a workflow is left when tasks merge: the nodes, each a task or several that merged, with the edges between them, and `crit` of
/// each by each measure. A node is numbered by one of its tasks, and that number may change when it merges.
#[derive(Debug)]
pub(super) struct Merged {
    /// One a measure; all with the same edges.
    lengths: Vec<Lengths>,
    /// Where each node stands in an order in which each comes after its predecessors; no two stand at one place.
    place: Vec<u32>,
    into: Into,
}

/// The node that each number stands for.
#[derive(Debug)]
struct Into {
    sets: UnionFind<u32>,
    /// For the number that represents a set its node.
    node: Vec<u32>,
}

impl Into {
    fn itself(nodes: u32) -> Self {
        Self { sets: UnionFind::new(nodes as usize), node: (0..nodes).collect() }
    }

    /// The node that a number stands for now.
    fn node(&self, number: u32) -> u32 {
        self.node[self.sets.find(number) as usize]
    }

    /// From now on the numbers of `gone` stand for `keep`.
    fn merge(&mut self, keep: u32, gone: u32) {
        self.sets.union(keep, gone);
        self.node[self.sets.find(keep) as usize] = keep;
    }
}

impl Side {
    fn of(size: Vec<u128>, neighbours: Vec<Vec<u32>>) -> Self {
        let tasks = size.len();
        Self {
            longest: vec![0; tasks],
            is_stale: vec![true; tasks],
            read: vec![BTreeSet::new(); tasks],
            readers: vec![Vec::new(); tasks],
            unread: neighbours,
            size,
        }
    }

    /// Brings a node up to date, and whatever that needs.
    fn read(&mut self, node: u32, into: &Into) {
        let mut due = vec![node];
        while let Some(node) = due.last().map(|node| *node as usize) {
            if !self.is_stale[node] {
                due.pop();
                continue;
            }
            self.unread[node].iter_mut().for_each(|next| *next = into.node(*next));
            let before = due.len();
            due.extend(self.unread[node].iter().filter(|next| self.is_stale[**next as usize]));
            if due.len() > before {
                continue;
            }
            for next in std::mem::take(&mut self.unread[node]) {
                if self.read[node].insert((self.longest[next as usize], next)) {
                    self.readers[next as usize].push(node as u32);
                }
            }
            self.longest[node] = self.size[node] + self.end_without(node as u32, u32::MAX);
            self.is_stale[node] = false;
        }
    }

    /// Says that the longest way of a node may be another.
    fn change(&mut self, node: u32) {
        let mut due = vec![node];
        while let Some(node) = due.pop() {
            if std::mem::replace(&mut self.is_stale[node as usize], true) {
                continue;
            }
            for reader in std::mem::take(&mut self.readers[node as usize]) {
                if self.read[reader as usize].remove(&(self.longest[node as usize], node)) {
                    self.unread[reader as usize].push(node);
                    due.push(reader);
                }
            }
        }
    }

    /// The longest way behind a node that was read, without those that begin at `other`.
    fn end_without(&self, node: u32, other: u32) -> u128 {
        let mut ways = self.read[node as usize].iter().rev();
        ways.find(|(_, next)| *next != other).map_or(0, |(longest, _)| *longest)
    }

    /// The neighbours, each once.
    fn neighbours(&self, node: u32, into: &Into) -> Vec<u32> {
        let read = self.read[node as usize].iter().map(|(_, next)| *next);
        if self.unread[node as usize].is_empty() {
            return read.collect();
        }
        let unread = self.unread[node as usize].iter().map(|next| into.node(*next));
        let all: FxHashSet<u32> = read.chain(unread).collect();
        all.into_iter().collect()
    }

    /// The number of neighbours of a node that was read.
    fn number(&self, node: u32) -> usize {
        self.read[node as usize].len()
    }

    /// Makes `keep` of two nodes that were read. Who has `gone` as neighbour has not read it any more, and finds `keep` in its place.
    fn merge(&mut self, keep: u32, gone: u32) {
        self.change(keep);
        self.change(gone);
        let (k, g) = (keep as usize, gone as usize);
        self.size[k] += self.size[g];
        for (way, next) in std::mem::take(&mut self.read[g]) {
            if self.read[k].insert((way, next)) {
                self.readers[next as usize].push(keep);
            }
        }
        // If the one waits for the other, it had read it.
        let unread = std::mem::take(&mut self.unread[g]);
        self.unread[k].extend(unread);
        self.unread[k].retain(|next| ![keep, gone].contains(next));
    }
}

impl Merged {
    /// The workflow before any merge; `sizes` has the sizes of the tasks by each measure.
    pub(super) fn of(workflow: &Workflow, sizes: Vec<Vec<u128>>) -> Self {
        let mut place = vec![0; workflow.len()];
        (0..).zip(workflow.order()).for_each(|(at, task)| place[task.index()] = at);
        let after = |task| workflow.successors(task).map(|(next, _)| next.0).collect();
        let before = |task| workflow.predecessors(task).map(|(next, _)| next.0).collect();
        let lengths = sizes.into_iter().map(|size| Lengths {
            up: Side::of(size.clone(), workflow.ids().map(after).collect()),
            down: Side::of(size, workflow.ids().map(before).collect()),
        });
        Self { lengths: lengths.collect(), place, into: Into::itself(workflow.len() as u32) }
    }

    /// The length of the longest way of all.
    pub(super) fn longest(&mut self, measure: usize) -> u128 {
        let up = &mut self.lengths[measure].up;
        (0..self.place.len() as u32).for_each(|node| up.read(node, &self.into));
        up.longest.iter().copied().max().unwrap_or(0)
    }

    /// The node of which a task is a part.
    pub(super) fn node(&self, task: u32) -> u32 {
        self.into.node(task)
    }

    /// The size of a node.
    pub(super) fn size(&self, measure: usize, node: u32) -> u128 {
        self.lengths[measure].up.size[node as usize]
    }

    /// The nodes next to `node`, before and after it.
    pub(super) fn neighbours(&self, node: u32) -> Vec<u32> {
        let Lengths { up, down } = &self.lengths[0];
        let mut all = down.neighbours(node, &self.into);
        all.extend(up.neighbours(node, &self.into));
        all
    }

    /// Brings a node up to date.
    fn read(&mut self, node: u32) {
        for Lengths { up, down } in &mut self.lengths {
            up.read(node, &self.into);
            down.read(node, &self.into);
        }
    }

    /// `crit` of the node that `a` and its neighbour `b` would be; `Err` with a node of the cycle that would arise.
    ///
    /// What lies beyond does not change when they merge: no way from a successor of the two leads back to one of them.
    pub(super) fn crit_merged(&mut self, measure: usize, a: u32, b: u32) -> Result<u128, u32> {
        self.read(a);
        self.read(b);
        self.check_cycle(a, b)?;
        let Lengths { up, down } = &self.lengths[measure];
        let end = |side: &Side| side.end_without(a, b).max(side.end_without(b, a));
        Ok(end(down) + up.size[a as usize] + up.size[b as usize] + end(up))
    }

    /// Of the neighbours `a` and `b` the one that comes first, then the other.
    fn in_order(&self, a: u32, b: u32) -> (u32, u32) {
        if self.place[a as usize] < self.place[b as usize] { (a, b) } else { (b, a) }
    }

    /// The nodes from which a way leads to the later of two neighbours (`back`), or to which one leads from the earlier (else), as far as
    /// they stand between the two. `Err` if such a way leads from the one to the other, apart from the edge between them, with a node on it.
    fn between(&self, first: u32, last: u32, back: bool) -> Result<Vec<u32>, u32> {
        let Lengths { up, down } = &self.lengths[0];
        let (side, from, to) = if back { (down, last, first) } else { (up, first, last) };
        let inside = self.place[first as usize] + 1..self.place[last as usize];
        let mut found: Vec<u32> = Vec::new();
        let mut seen = FxHashSet::default();
        let mut due = vec![from];
        while let Some(node) = due.pop() {
            for next in side.neighbours(node, &self.into) {
                if next == to && node != from {
                    return Err(node);
                }
                if inside.contains(&self.place[next as usize]) && seen.insert(next) {
                    found.push(next);
                    due.push(next);
                }
            }
        }
        Ok(found)
    }

    /// `Err` with a node of the cycle that would arise if the neighbours `a` and `b`, which were read, were one.
    fn check_cycle(&self, a: u32, b: u32) -> Result<(), u32> {
        let (first, last) = self.in_order(a, b);
        let Lengths { up, down } = &self.lengths[0];
        let (after, before) = (up.number(first), down.number(last));
        if after == 1 || before == 1 {
            return Ok(());
        }
        self.between(first, last, before < after).map(|_| ())
    }

    /// Makes one node of two neighbours of which `crit_merged` is known; returns its number, that of `a` or `b`.
    pub(super) fn merge(&mut self, a: u32, b: u32) -> u32 {
        let (first, last) = self.in_order(a, b);
        let Lengths { up, down } = &self.lengths[0];
        let edges = |node: u32| up.number(node) + down.number(node);
        let (keep, gone) = if edges(a) >= edges(b) { (a, b) } else { (b, a) };
        let place = if down.number(last) == 1 {
            self.place[first as usize]
        } else if up.number(first) == 1 {
            self.place[last as usize]
        } else {
            self.reorder(first, last)
        };
        self.place[keep as usize] = place;
        for Lengths { up, down } in &mut self.lengths {
            up.merge(keep, gone);
            down.merge(keep, gone);
        }
        self.into.merge(keep, gone);
        keep
    }

    /// Makes room between what must come before `last` and what must come after `first` (Pearce and Kelly 2006), and returns its place.
    fn reorder(&mut self, first: u32, last: u32) -> u32 {
        let sorted = |back| {
            let mut nodes = self.between(first, last, back).unwrap_or_default();
            nodes.sort_unstable_by_key(|node| self.place[*node as usize]);
            nodes
        };
        let (before, after) = (sorted(true), sorted(false));
        let moved = before.iter().chain([&first]).chain(&after);
        let mut places: Vec<u32> = moved.clone().map(|node| self.place[*node as usize]).collect();
        places.sort_unstable();
        let room = places[before.len()];
        for (node, place) in moved.zip(places) {
            self.place[*node as usize] = place;
        }
        room
    }
}
