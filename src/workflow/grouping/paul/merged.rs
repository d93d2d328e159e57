//! A graph whose tasks merge, with its longest ways.

use std::collections::{BTreeSet, BinaryHeap};

use crate::workflow::Workflow;

/// The longest ways on one side of each node, and the neighbours there with theirs.
#[derive(Debug)]
struct Side {
    /// The longest way on this side of the node, its own size included.
    longest: Vec<u128>,
    /// The neighbours on this side, by their longest ways.
    next: Vec<BTreeSet<(u128, u32)>>,
}

/// The critical lengths of all nodes by one measure of size.
#[derive(Debug)]
struct Lengths {
    size: Vec<u128>,
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
}

impl Side {
    fn end(&self, node: u32) -> u128 {
        self.next[node as usize].last().map_or(0, |(longest, _)| *longest)
    }

    /// The longest way behind `node` that does not begin at `other`.
    fn end_without(&self, node: u32, other: u32) -> u128 {
        let mut ways = self.next[node as usize].iter().rev();
        ways.find(|(_, next)| *next != other).map_or(0, |(longest, _)| *longest)
    }

    fn neighbours(&self, node: u32) -> impl Iterator<Item = u32> {
        self.next[node as usize].iter().map(|(_, next)| *next)
    }

    /// Gives `keep` the neighbours that `gone` has on this side; `back` are the neighbours on the other side.
    fn move_edges(&mut self, keep: u32, gone: u32, back: &mut Self) {
        self.next[keep as usize].remove(&(self.longest[gone as usize], gone));
        for (way, next) in std::mem::take(&mut self.next[gone as usize]) {
            let ways_back = &mut back.next[next as usize];
            ways_back.remove(&(back.longest[gone as usize], gone));
            if next != keep {
                ways_back.insert((back.longest[keep as usize], keep));
                self.next[keep as usize].insert((way, next));
            }
        }
    }

    /// Brings the longest way of `node` and what follows from it up to date; `back` are the neighbours on the other side. `order` gives
    /// nodes such that each comes before those that depend on it.
    fn refresh(&mut self, node: u32, size: &[u128], back: &Self, order: impl Fn(u32) -> u32) {
        let mut due = BinaryHeap::from([(order(node), node)]);
        while let Some((_, node)) = due.pop() {
            let (before, now) = (self.longest[node as usize], size[node as usize] + self.end(node));
            if before == now {
                continue;
            }
            self.longest[node as usize] = now;
            for other in back.neighbours(node) {
                self.next[other as usize].remove(&(before, node));
                self.next[other as usize].insert((now, node));
                due.push((order(other), other));
            }
        }
    }
}

impl Lengths {
    fn of(workflow: &Workflow, size: Vec<u128>) -> Self {
        let side = || Side { longest: size.clone(), next: vec![BTreeSet::new(); size.len()] };
        let (mut up, mut down) = (side(), side());
        for task in workflow.order() {
            let before = workflow.predecessors(*task).map(|(before, _)| before);
            down.next[task.index()] = before.map(|before| (down.longest[before.index()], before.0)).collect();
            down.longest[task.index()] += down.end(task.0);
        }
        for task in workflow.order().iter().rev() {
            let after = workflow.successors(*task).map(|(after, _)| after);
            up.next[task.index()] = after.map(|after| (up.longest[after.index()], after.0)).collect();
            up.longest[task.index()] += up.end(task.0);
        }
        Self { size, up, down }
    }

    /// Merges `gone`, a neighbour of `keep`, into it.
    fn merge(&mut self, keep: u32, gone: u32, place: &[u32]) {
        self.size[keep as usize] += self.size[gone as usize];
        self.up.move_edges(keep, gone, &mut self.down);
        self.down.move_edges(keep, gone, &mut self.up);
        self.up.refresh(keep, &self.size, &self.down, |node| place[node as usize]);
        self.down.refresh(keep, &self.size, &self.up, |node| u32::MAX - place[node as usize]);
    }
}

impl Merged {
    /// The workflow before any merge; `sizes` has the sizes of the tasks by each measure.
    pub(super) fn of(workflow: &Workflow, sizes: Vec<Vec<u128>>) -> Self {
        let mut place = vec![0; workflow.len()];
        (0..).zip(workflow.order()).for_each(|(at, task)| place[task.index()] = at);
        Self { lengths: sizes.into_iter().map(|size| Lengths::of(workflow, size)).collect(), place }
    }

    /// The length of the longest way of all.
    pub(super) fn longest(&self, measure: usize) -> u128 {
        self.lengths[measure].up.longest.iter().copied().max().unwrap_or(0)
    }

    /// The size of a node.
    pub(super) fn size(&self, measure: usize, node: u32) -> u128 {
        self.lengths[measure].size[node as usize]
    }

    /// The nodes next to `node`, before and after it.
    pub(super) fn neighbours(&self, node: u32) -> impl Iterator<Item = u32> {
        let Lengths { up, down, .. } = &self.lengths[0];
        down.neighbours(node).chain(up.neighbours(node))
    }

    /// `crit` of the node that `a` and its neighbour `b` would be. What lies beyond does not change: no way from a successor of the two
    /// leads back to one of them, or they could not merge.
    pub(super) fn crit_merged(&self, measure: usize, a: u32, b: u32) -> u128 {
        let Lengths { size, up, down } = &self.lengths[measure];
        let end = |side: &Side| side.end_without(a, b).max(side.end_without(b, a));
        end(down) + size[a as usize] + size[b as usize] + end(up)
    }

    /// Of the neighbours `a` and `b` the one that comes first, then the other.
    fn in_order(&self, a: u32, b: u32) -> (u32, u32) {
        if self.place[a as usize] < self.place[b as usize] { (a, b) } else { (b, a) }
    }

    /// The nodes from which a way leads to the later of two neighbours (`back`), or to which one leads from the earlier (else), as far as
    /// they stand between the two. `Err` if such a way leads from the one to the other, apart from the edge between them, with a node on it.
    fn between(&self, first: u32, last: u32, back: bool) -> Result<Vec<u32>, u32> {
        let Lengths { up, down, .. } = &self.lengths[0];
        let (side, from, to) = if back { (down, last, first) } else { (up, first, last) };
        let inside = self.place[first as usize] + 1..self.place[last as usize];
        let mut found: Vec<u32> = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut due = vec![from];
        while let Some(node) = due.pop() {
            for next in side.neighbours(node) {
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

    /// A node of the cycle that would arise if the neighbours `a` and `b` were one; `None` if they may merge.
    pub(super) fn cycle(&self, a: u32, b: u32) -> Option<u32> {
        let (first, last) = self.in_order(a, b);
        let Lengths { up, down, .. } = &self.lengths[0];
        let (after, before) = (up.next[first as usize].len(), down.next[last as usize].len());
        if after == 1 || before == 1 {
            return None;
        }
        self.between(first, last, before < after).err()
    }

    /// Makes one node of two neighbours that no other way joins; returns its number, that of `a` or `b`.
    pub(super) fn merge(&mut self, a: u32, b: u32) -> u32 {
        let (first, last) = self.in_order(a, b);
        let Lengths { up, down, .. } = &self.lengths[0];
        let edges = |node: u32| up.next[node as usize].len() + down.next[node as usize].len();
        let (keep, gone) = if edges(a) >= edges(b) { (a, b) } else { (b, a) };
        let place = if down.next[last as usize].len() == 1 {
            self.place[first as usize]
        } else if up.next[first as usize].len() == 1 {
            self.place[last as usize]
        } else {
            self.reorder(first, last)
        };
        self.place[keep as usize] = place;
        self.lengths.iter_mut().for_each(|lengths| lengths.merge(keep, gone, &self.place));
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
