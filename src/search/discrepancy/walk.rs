//! The walk through a tree in the order of a strategy. It is iterative: a path may be as long as there are jobs.

use super::strategy::{Strategy, Turn};

/// A tree as it is seen from one of its nodes, at first the root.
pub(super) trait Tree {
    /// A child of a node.
    type Branch: Copy;

    /// How many levels have a choice. They are the upper ones.
    fn choices(&self) -> u32;

    /// The first child of the present node; `None` if it is a leaf.
    fn first(&self) -> Option<Self::Branch>;

    /// The child after this one.
    fn next(&self, branch: Self::Branch) -> Option<Self::Branch>;

    /// Goes down to a child, which is a discrepancy or not.
    fn enter(&mut self, branch: Self::Branch, is_discrepancy: bool) -> Entry;

    /// Goes back up from this child.
    fn leave(&mut self, branch: Self::Branch, is_discrepancy: bool);
}

/// What came of going down to a child.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// The child is the present node.
    Entered,
    /// There is nothing of use below the child, and the present node is what it was.
    Pruned,
    /// The walk is over, and the present node is what it was.
    Over,
}

/// A step down a path.
#[derive(Copy, Clone, Debug)]
pub(super) struct Step<B> {
    branch: B,
    is_first: bool,
    /// The allowance of the node above.
    allowance: u32,
}

impl Turn {
    /// The child that is visited first, and whether it is the first child.
    fn begin<T: Tree>(self, tree: &T) -> Option<(T::Branch, bool)> {
        let first = tree.first()?;
        if self.first.is_some() && !self.first_is_last {
            return Some((first, true));
        }
        let others = self.others.and_then(|_| tree.next(first));
        others.map(|branch| (branch, false)).or(self.first.map(|_| (first, true)))
    }

    /// The child that is visited after this one.
    fn after<T: Tree>(self, tree: &T, (branch, is_first): (T::Branch, bool)) -> Option<(T::Branch, bool)> {
        if is_first && self.first_is_last {
            return None;
        }
        let next = self.others.and_then(|_| tree.next(branch)).map(|branch| (branch, false));
        let last = self.first.filter(|_| self.first_is_last).and_then(|_| tree.first());
        next.or(last.map(|first| (first, true)))
    }
}

/// Walks one iteration, and returns to the root. False if the tree said that the walk is over. `path` is empty before and after it.
pub(super) fn walk<T: Tree>(
    tree: &mut T,
    strategy: Strategy,
    iteration: u32,
    path: &mut Vec<Step<T::Branch>>,
) -> bool {
    let choices = tree.choices();
    let below = |depth: usize| choices.saturating_sub(u32::try_from(depth).unwrap_or(u32::MAX));
    let mut goes_on = true;
    let mut allowance = iteration;
    let mut turn = strategy.turn(allowance, below(0));
    let mut next = turn.begin(tree);
    loop {
        if let Some((branch, is_first)) = next.filter(|_| goes_on) {
            match tree.enter(branch, !is_first) {
                Entry::Entered => {
                    path.push(Step { branch, is_first, allowance });
                    allowance = if is_first { turn.first } else { turn.others }.unwrap_or(0);
                    turn = strategy.turn(allowance, below(path.len()));
                    next = turn.begin(tree);
                }
                Entry::Pruned => next = turn.after(tree, (branch, is_first)),
                Entry::Over => goes_on = false,
            }
        } else {
            let Some(step) = path.pop() else { return goes_on };
            tree.leave(step.branch, !step.is_first);
            allowance = step.allowance;
            turn = strategy.turn(allowance, below(path.len()));
            next = turn.after(tree, (step.branch, step.is_first));
        }
    }
}
