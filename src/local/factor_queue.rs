//! Waiting jobs by expansion factor, of which the first that fits a backfill window is found without sorting them.
//!
//! Jobs lie in trees that are built once, by size and estimate, so that those which fit are mostly together. Each node knows its smallest size, its
//! shortest estimate, and the winner of a kinetic tournament among its jobs ([`Tournament`](super::Tournament)). A search leaves out nodes in which
//! nothing fits, and those whose winner does not beat what it has found. There are trees of up to 32, 64, 128, ... jobs, at most one of each size: a
//! new job is joined with those of all smaller trees up to the first that is not there [Bentley and Saxe 1980, *Decomposable searching
//! problems*]. So a job costs a logarithm of comparisons for each time that its tree is built anew, a logarithm of times.

use super::kinetic::{Contestant, Line};
use super::queue::{BackfillWindow, Entry};
use crate::units::{Span, Time};

/// The most jobs of the smallest tree.
const SMALLEST: usize = 32;

/// A waiting job with its factor.
type Waiting = Contestant<Entry>;

/// Jobs of which that with the largest expansion factor that fits is known at any instant. Instants must not decrease from call to call.
#[derive(Clone, Debug, Default)]
pub struct FactorQueue {
    /// The jobs that came last, in no tree.
    last: Vec<Waiting>,
    /// Trees of up to [`SMALLEST`] jobs, twice as many, and so on.
    trees: Vec<Tree>,
}

/// Jobs in the order of size, estimate and arrival, under a heap-shaped tree.
#[derive(Clone, Debug, Default)]
struct Tree {
    jobs: Vec<Waiting>,
    /// The root is node 1; the leaves are as many as the next power of two.
    nodes: Vec<Node>,
    /// How many jobs have not been removed.
    left: usize,
}

#[derive(Copy, Clone, Debug)]
struct Node {
    least_procs: u32,
    least_estimate: Span,
    /// The place of the job with the largest factor.
    winner: u32,
    /// Until when that holds.
    until: Time,
}

/// A node without jobs.
const EMPTY: Node =
    Node { least_procs: u32::MAX, least_estimate: Span::MAX, winner: u32::MAX, until: Time::NEVER };

/// The place of a job in a tree.
fn place(entry: &Entry) -> (u32, Span, u64) {
    (entry.procs, entry.estimate, entry.seq)
}

impl Tree {
    fn new(mut jobs: Vec<Waiting>) -> Self {
        jobs.sort_unstable_by_key(|job| place(&job.item));
        let leaves = jobs.len().next_power_of_two();
        let mut nodes = vec![EMPTY; 2 * leaves];
        for ((job, node), winner) in jobs.iter().zip(&mut nodes[leaves..]).zip(0..) {
            let Entry { procs, estimate, .. } = job.item;
            *node = Node { least_procs: procs, least_estimate: estimate, winner, until: Time::NEVER };
        }
        let mut tree = Self { left: jobs.len(), jobs, nodes };
        (1..leaves).rev().for_each(|node| tree.join(node));
        tree
    }

    fn leaves(&self) -> usize {
        self.nodes.len() / 2
    }

    /// Sets what is least below a node; who wins there is seen when it matters.
    fn join(&mut self, node: usize) {
        let (left, right) = (self.nodes[2 * node], self.nodes[2 * node + 1]);
        self.nodes[node] = Node {
            least_procs: left.least_procs.min(right.least_procs),
            least_estimate: left.least_estimate.min(right.least_estimate),
            winner: u32::MAX,
            until: Time::ZERO,
        };
    }

    /// Removes a job and returns it, if it is there.
    fn remove(&mut self, entry: &Entry) -> Option<Waiting> {
        let at = self.jobs.binary_search_by_key(&place(entry), |job| place(&job.item)).ok()?;
        let mut node = self.leaves() + at;
        if self.nodes[node].winner == u32::MAX {
            return None;
        }
        self.nodes[node] = EMPTY;
        while node > 1 {
            node /= 2;
            self.join(node);
        }
        self.left -= 1;
        Some(self.jobs[at])
    }

    /// The jobs that have not been removed.
    fn iter(&self) -> impl Iterator<Item = &Waiting> {
        let leaves = self.nodes.get(self.leaves()..).unwrap_or_default();
        self.jobs.iter().zip(leaves).filter(|(_, leaf)| leaf.winner != u32::MAX).map(|(job, _)| job)
    }

    fn at(&self, winner: u32) -> Option<&Waiting> {
        self.jobs.get(winner as usize)
    }

    /// Compares the winners below a node anew, as far as they may have changed by now.
    fn renew(&mut self, node: usize, now: Time) {
        if now < self.nodes[node].until || node >= self.leaves() {
            return;
        }
        self.renew(2 * node, now);
        self.renew(2 * node + 1, now);
        let (left, right) = (self.nodes[2 * node], self.nodes[2 * node + 1]);
        let until = left.until.min(right.until);
        let (winner, until) = match (self.at(left.winner), self.at(right.winner)) {
            (Some(a), Some(b)) if a.beats(b, now) => (left.winner, until.min(a.beaten_at(b, now))),
            (Some(a), Some(b)) => (right.winner, until.min(b.beaten_at(a, now))),
            (Some(_), None) => (left.winner, until),
            (None, _) => (right.winner, until),
        };
        (self.nodes[node].winner, self.nodes[node].until) = (winner, until);
    }

    /// Finds a job below a node that fits and beats the `best` so far.
    fn search(&mut self, node: usize, now: Time, window: BackfillWindow, best: &mut Option<Waiting>) {
        let Node { least_procs, least_estimate, .. } = self.nodes[node];
        if !window.takes(least_procs, least_estimate) {
            return;
        }
        self.renew(node, now);
        let Some(winner) = self.at(self.nodes[node].winner).copied() else { return };
        if best.as_ref().is_some_and(|best| best.beats(&winner, now)) {
            return;
        }
        if window.takes(winner.item.procs, winner.item.estimate) {
            *best = Some(winner);
            return;
        }
        if node < self.leaves() {
            // The side of the winner has the larger factors.
            let is_left = self.nodes[2 * node].winner == self.nodes[node].winner;
            let (first, second) = if is_left { (2 * node, 2 * node + 1) } else { (2 * node + 1, 2 * node) };
            self.search(first, now, window, best);
            self.search(second, now, window, best);
        }
    }
}

impl FactorQueue {
    /// Adds a job that waits since then.
    pub fn insert(&mut self, entry: Entry, since: Time) {
        self.last.push(Contestant { line: Line::new(since, entry.estimate), seq: entry.seq, item: entry });
        if self.last.len() < SMALLEST {
            return;
        }
        let mut jobs = std::mem::take(&mut self.last);
        let free = self.trees.iter().position(|tree| tree.left == 0).unwrap_or(self.trees.len());
        for tree in &mut self.trees[..free] {
            jobs.extend(std::mem::take(tree).iter());
        }
        let tree = Tree::new(jobs);
        match self.trees.get_mut(free) {
            Some(place) => *place = tree,
            None => self.trees.push(tree),
        }
    }

    /// Removes the job of this size, estimate and place in the order of arrival, and returns it; `None` if it is not there.
    pub fn remove(&mut self, entry: &Entry) -> Option<Entry> {
        if let Some(at) = self.last.iter().position(|job| job.seq == entry.seq) {
            return Some(self.last.remove(at).item);
        }
        self.trees.iter_mut().find_map(|tree| tree.remove(entry)).map(|job| job.item)
    }

    /// The job with the largest factor of those that fit into the window, the first that came among equals.
    pub fn find(&mut self, now: Time, window: BackfillWindow) -> Option<Entry> {
        let mut best: Option<Waiting> = None;
        for job in self.last.iter().filter(|job| window.takes(job.item.procs, job.item.estimate)) {
            if best.as_ref().is_none_or(|best| job.beats(best, now)) {
                best = Some(*job);
            }
        }
        for tree in self.trees.iter_mut().filter(|tree| tree.left > 0) {
            tree.search(1, now, window, &mut best);
        }
        best.map(|job| job.item)
    }

    /// All jobs, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.last.iter().chain(self.trees.iter().flat_map(Tree::iter)).map(|job| &job.item)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::local::Awake;
    use crate::model::JobKey;

    /// What happens to a queue.
    #[derive(Clone, Debug)]
    enum Act {
        Insert {
            procs: u32,
            estimate: u64,
        },
        Remove(prop::sample::Index),
        /// Takes all that fit, in order.
        Pass {
            free: u32,
            window: u64,
            extra: u32,
        },
    }

    fn acts() -> impl Strategy<Value = Act> {
        let estimates = prop_oneof![0_u64..20, 0_u64..2_000];
        prop_oneof![
            12 => (1_u32..20, estimates.clone()).prop_map(|(procs, estimate)| Act::Insert { procs, estimate }),
            1 => any::<prop::sample::Index>().prop_map(Act::Remove),
            2 => (0_u32..24, estimates, 0_u32..12).prop_map(|(free, window, extra)| Act::Pass { free, window, extra }),
        ]
    }

    proptest! {
        /// The slow reference implementation sorts all jobs.
        #[test]
        fn agrees_with_sorting(acts in proptest::collection::vec((acts(), 0_u64..40), 0..400)) {
            let (mut queue, mut slow) = (FactorQueue::default(), Vec::<Waiting>::new());
            let (mut now, mut seq) = (Time::ZERO, 0);
            for (act, later) in acts {
                now += Span::from_micros(later);
                match act {
                    Act::Insert { procs, estimate } => {
                        let estimate = Span::from_micros(estimate);
                        let entry = Entry { rank: 0, seq, job: JobKey(seq as u32), procs, estimate };
                        queue.insert(entry, now);
                        slow.push(Contestant { line: Line::new(now, estimate), seq, item: entry });
                        seq += 1;
                    }
                    Act::Remove(_) if slow.is_empty() => {}
                    Act::Remove(which) => {
                        let gone = slow.swap_remove(which.index(slow.len())).item;
                        prop_assert_eq!(queue.remove(&gone), Some(gone));
                        prop_assert_eq!(queue.remove(&gone), None);
                    }
                    Act::Pass { free, window, extra } => {
                        let mut window = BackfillWindow { free, window: Span::from_micros(window), extra, awake: Awake::ALL };
                        slow.sort_by(|a, b| b.line.at(now).cmp(&a.line.at(now)).then(a.seq.cmp(&b.seq)));
                        loop {
                            let first = slow.iter().position(|job| window.takes(job.item.procs, job.item.estimate));
                            let found = queue.find(now, window);
                            prop_assert_eq!(found, first.map(|at| slow[at].item));
                            let Some(at) = first else { break };
                            let gone = slow.remove(at).item;
                            prop_assert_eq!(queue.remove(&gone), Some(gone));
                            window.free -= gone.procs;
                            window.extra = window.extra.saturating_sub(gone.procs);
                        }
                    }
                }
                let mut all: Vec<u64> = queue.iter().map(|entry| entry.seq).collect();
                let mut expected: Vec<u64> = slow.iter().map(|job| job.seq).collect();
                all.sort_unstable();
                expected.sort_unstable();
                prop_assert_eq!(all, expected);
            }
        }
    }
}
