//! Counts of the thesis and of the literature, orders of leaves by their definitions, and brute force.

use proptest::prelude::*;
use proptest::strategy::Strategy as _;

use super::walk::{Entry, Tree, walk};
use super::{DiscrepancySearch, Options, OrderProblem, Strategy};
use crate::search::SearchError;

/// Without a limit.
const ALL: u64 = u64::MAX;

/// Items without a cost: every order is as good. It keeps the orders of all items that are placed.
struct Free {
    items: u32,
    placed: Vec<u32>,
    leaves: Vec<Vec<u32>>,
}

impl Free {
    fn of(items: u32) -> Self {
        Self { items, placed: Vec::new(), leaves: Vec::new() }
    }
}

impl OrderProblem for Free {
    type Cost = ();

    fn items(&self) -> u32 {
        self.items
    }

    fn place(&mut self, item: u32) {
        self.placed.push(item);
        if self.placed.len() == self.items as usize {
            self.leaves.push(self.placed.clone());
        }
    }

    fn take_back(&mut self) {
        self.placed.pop();
    }
}

fn whole(strategy: Strategy) -> Options {
    Options { strategy, prunes: false, ..Options::default() }
}

/// The leaves of a permutation tree in the order of a strategy, and the number of nodes.
fn leaves(items: u32, strategy: Strategy) -> (Vec<Vec<u32>>, u64) {
    let mut problem = Free::of(items);
    let found = DiscrepancySearch::default().run(&mut problem, whole(strategy)).unwrap();
    assert!(found.is_proven && problem.placed.is_empty());
    assert_eq!(found.leaves, problem.leaves.len() as u64);
    (problem.leaves, found.nodes)
}

/// Where an order differs from the heuristic: the depths, from 1, at which it takes an item that is not the first of those that are left.
fn discrepancies(order: &[u32]) -> Vec<u32> {
    let is_one = |at: &usize| order[*at..].iter().any(|later| *later < order[*at]);
    (0..order.len()).filter(is_one).map(|at| at as u32 + 1).collect()
}

fn factorial(number: u64) -> u64 {
    (1..=number).product()
}

/// All orders, from left to right.
fn orders(items: u32) -> Vec<Vec<u32>> {
    fn below(begun: &[u32], items: u32, orders: &mut Vec<Vec<u32>>) {
        let mut left = (0..items).filter(|item| !begun.contains(item)).peekable();
        if left.peek().is_none() {
            orders.push(begun.to_vec());
        }
        left.for_each(|item| below(&[begun, &[item]].concat(), items, orders));
    }
    let mut orders = Vec::new();
    below(&[], items, &mut orders);
    orders
}

#[test]
fn table_2_of_the_thesis_and_its_order_of_three_jobs() {
    // Kanavallil 2007, Table 2: jobs, paths, nodes. It rounds; nodes are n! (1 / 0! + 1 / 1! + ... + 1 / (n - 1)!).
    for (items, paths, nodes) in [(4, 24, 64), (8, 40_320, 109_600)] {
        let (leaves, entered) = leaves(items, Strategy::DepthFirst);
        assert_eq!((leaves.len(), entered), (paths, nodes));
        assert_eq!(leaves.len() as u64, factorial(u64::from(items)));
    }
    assert_eq!((leaves(3, Strategy::DepthFirst).1, leaves(5, Strategy::DepthFirst).1), (15, 325));
    // Section 6.4.2: "the discrepancy starts off with 0, 1, 1, 2, 1, 2".
    let three = leaves(3, Strategy::DepthFirst).0;
    assert_eq!(three, [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]);
    let counted: Vec<usize> = three.iter().map(|order| discrepancies(order).len()).collect();
    assert_eq!(counted, [0, 1, 1, 2, 1, 2]);
}

/// The largest tree that Table 2 counts exactly and that a test can visit.
#[test]
fn ten_jobs_have_as_many_nodes_as_table_2_says() {
    struct Counted(u32);

    impl OrderProblem for Counted {
        type Cost = ();

        fn items(&self) -> u32 {
            self.0
        }

        fn place(&mut self, _: u32) {}

        fn take_back(&mut self) {}
    }

    let found = DiscrepancySearch::default().run(&mut Counted(10), whole(Strategy::DepthFirst)).unwrap();
    assert_eq!((found.leaves, found.nodes), (3_628_800, 9_864_100));
}

#[test]
fn leaves_by_iteration_are_those_of_the_definitions() {
    for items in 1..=6 {
        let all = orders(items);
        let count = |order: &Vec<u32>| discrepancies(order).len() as u32;
        let sorted = |mut orders: Vec<Vec<u32>>| {
            orders.sort_unstable();
            orders
        };
        // ILDS: exactly k discrepancies in iteration k, each leaf once. DDS: the last one at depth k.
        let last = |order: &Vec<u32>| discrepancies(order).last().copied().unwrap_or(0);
        for (strategy, iteration_of) in
            [(Strategy::Ilds, &count as &dyn Fn(&Vec<u32>) -> u32), (Strategy::Dds, &last)]
        {
            let (leaves, _) = leaves(items, strategy);
            assert!(leaves.is_sorted_by_key(iteration_of), "{strategy} {leaves:?}");
            assert_eq!(sorted(leaves.clone()), sorted(all.clone()));
        }
        // From left to right within an iteration.
        let stable = |key: &dyn Fn(&Vec<u32>) -> u32| {
            let mut all = all.clone();
            all.sort_by_key(key);
            all
        };
        assert_eq!(leaves(items, Strategy::Ilds).0, stable(&count));
        assert_eq!(leaves(items, Strategy::Dds).0, stable(&last));
        // LDS: all with at most k in iteration k.
        let most = |k: u32| all.iter().filter(move |order| count(order) <= k).cloned().collect();
        let (leaves, _) = leaves(items, Strategy::Lds);
        let mut rest = &leaves[..];
        for k in 0..items {
            let expected = sorted(most(k));
            let (iteration, later) = rest.split_at(expected.len());
            assert_eq!(sorted(iteration.to_vec()), expected);
            rest = later;
        }
        assert!(rest.is_empty());
    }
    let by = |strategy, iteration_of: fn(&[u32]) -> usize| {
        let mut counts = [0; 4];
        leaves(4, strategy).0.iter().for_each(|order| counts[iteration_of(order)] += 1);
        counts
    };
    // Stirling numbers of the first kind; and those of DDS.
    assert_eq!(by(Strategy::Ilds, |order| discrepancies(order).len()), [1, 6, 11, 6]);
    assert_eq!(
        by(Strategy::Dds, |order| discrepancies(order).last().map_or(0, |at| *at as usize)),
        [1, 3, 8, 12]
    );
}

/// Figure 1 in its own words, for any number of successors: a leaf is never the goal.
fn lds_probe(begun: &[u32], items: u32, k: u32, visited: &mut Vec<Vec<u32>>) {
    let left: Vec<u32> = (0..items).filter(|item| !begun.contains(item)).collect();
    let Some((first, others)) = left.split_first() else { return visited.push(begun.to_vec()) };
    if k > 0 {
        others.iter().for_each(|other| lds_probe(&[begun, &[*other]].concat(), items, k - 1, visited));
    }
    lds_probe(&[begun, &[*first]].concat(), items, k, visited);
}

#[test]
fn lds_visits_leaves_in_the_order_of_figure_1() {
    for items in 1..=6 {
        let mut visited = Vec::new();
        (0..items).for_each(|k| lds_probe(&[], items, k, &mut visited));
        assert_eq!(leaves(items, Strategy::Lds).0, visited);
    }
}

/// A binary tree of this depth.
struct Binary {
    depth: u32,
    path: Vec<bool>,
    leaves: Vec<Vec<bool>>,
}

impl Tree for Binary {
    type Branch = bool;

    fn choices(&self) -> u32 {
        self.depth
    }

    fn first(&self) -> Option<bool> {
        ((self.path.len() as u32) < self.depth).then_some(false)
    }

    fn next(&self, branch: bool) -> Option<bool> {
        (!branch).then_some(true)
    }

    fn enter(&mut self, branch: bool, is_discrepancy: bool) -> Entry {
        assert_eq!(branch, is_discrepancy);
        self.path.push(branch);
        if self.path.len() as u32 == self.depth {
            self.leaves.push(self.path.clone());
        }
        Entry::Entered
    }

    fn leave(&mut self, branch: bool, _: bool) {
        assert_eq!(self.path.pop(), Some(branch));
    }
}

#[test]
fn a_binary_tree_of_depth_three() {
    let visited = |strategy: Strategy| {
        let mut tree = Binary { depth: 3, path: Vec::new(), leaves: Vec::new() };
        let iterations = strategy.iterations(3);
        let counts: Vec<usize> = (0..iterations)
            .map(|k| {
                let before = tree.leaves.len();
                assert!(walk(&mut tree, strategy, k, &mut Vec::new()) && tree.path.is_empty());
                tree.leaves.len() - before
            })
            .collect();
        counts
    };
    // 20 leaves in all, where the formula of section 3.3.2 gives 13.3.
    assert_eq!(visited(Strategy::Lds), [1, 4, 7, 8]);
    assert_eq!(visited(Strategy::Ilds), [1, 3, 3, 1]);
    assert_eq!(visited(Strategy::Dds), [1, 1, 2, 4]);
    assert_eq!(visited(Strategy::DepthFirst), [8]);
}

/// Tasks on one machine, each with a length, a due time and a weight: the weighted sum of how late they are. The ends of placed ones are kept.
#[derive(Clone, Debug)]
struct Late {
    tasks: Vec<(u64, u64, u64)>,
    placed: Vec<(u64, u64)>,
    /// Whether a lower bound of all orders is known.
    knows_least: bool,
}

impl Late {
    fn cost(&self, order: &[u32]) -> u64 {
        let mut twin = Self { placed: Vec::new(), ..self.clone() };
        order.iter().map(|item| twin.place(*item)).last().unwrap()
    }
}

impl OrderProblem for Late {
    type Cost = u64;

    fn items(&self) -> u32 {
        self.tasks.len() as u32
    }

    fn place(&mut self, item: u32) -> u64 {
        let (length, due, weight) = self.tasks[item as usize];
        let (end, sum) = self.placed.last().copied().unwrap_or_default();
        let end = end + length;
        let sum = sum + weight * end.saturating_sub(due);
        self.placed.push((end, sum));
        sum
    }

    fn take_back(&mut self) {
        self.placed.pop().expect("something was placed");
    }

    fn least(&self) -> Option<u64> {
        self.knows_least.then_some(0)
    }
}

fn late() -> impl proptest::strategy::Strategy<Value = Late> {
    let task = (1_u64..6, 0_u64..20, 1_u64..4);
    (proptest::collection::vec(task, 1..=8), any::<bool>()).prop_map(|(tasks, knows_least)| Late {
        tasks,
        placed: Vec::new(),
        knows_least,
    })
}

fn any_strategy() -> impl proptest::strategy::Strategy<Value = Strategy> {
    proptest::sample::select(Strategy::NAMES.map(|(_, strategy)| strategy).to_vec())
}

proptest! {
    #![proptest_config(crate::search::tests::cases(48))]

    /// Up to eight items, with and without bounds.
    #[test]
    fn finds_what_brute_force_finds(problem in late(), strategy in any_strategy(), prunes: bool) {
        let mut searched = problem.clone();
        let mut search = DiscrepancySearch::default();
        let options = Options { strategy, prunes, ..Options::default() };
        let found = search.run(&mut searched, options).unwrap();
        prop_assert!(searched.placed.is_empty());
        let least = orders(problem.items()).iter().map(|order| problem.cost(order)).min();
        prop_assert_eq!(Some(found.cost), least);
        prop_assert_eq!(problem.cost(search.best()), found.cost);
        prop_assert_eq!(found.discrepancies as usize, discrepancies(search.best()).len());
        let heuristic: Vec<u32> = (0..problem.items()).collect();
        prop_assert_eq!(found.heuristic, problem.cost(&heuristic));
        prop_assert!(found.is_proven && found.found_at <= found.nodes);
        // Bounds leave out nodes, and change nothing else.
        let without = DiscrepancySearch::default().run(&mut searched, Options { prunes: false, ..options }).unwrap();
        prop_assert!(found.nodes <= without.nodes && without.pruned == 0);
        let mut again = DiscrepancySearch::default();
        again.run(&mut searched, Options { prunes: !prunes, ..options }).unwrap();
        prop_assert_eq!(again.best(), search.best());
    }

    /// At any time it has the best of what it has visited, and it enters no more nodes than it may.
    #[test]
    fn stops_at_its_budget(problem in late(), strategy in any_strategy(), prunes: bool, more in 0_u64..400) {
        let mut searched = problem.clone();
        let mut search = DiscrepancySearch::default();
        let items = u64::from(problem.items());
        let (mut last, mut all) = (u64::MAX, 0);
        for nodes in [items, items + more / 2, items + more, ALL] {
            let found = search.run(&mut searched, Options { strategy, nodes, prunes, ..Options::default() }).unwrap();
            prop_assert!(searched.placed.is_empty());
            prop_assert!(found.cost <= last && found.nodes >= all);
            prop_assert_eq!(problem.cost(search.best()), found.cost);
            prop_assert!(found.is_proven || found.nodes == nodes);
            prop_assert!(nodes > items || search.best().is_sorted());
            (last, all) = (found.cost, found.nodes);
        }
    }

    /// With limits it visits the first orders of the whole search, or those with few discrepancies.
    #[test]
    fn limits_leave_out_the_last_and_the_farthest_orders(
        items in 1_u32..6,
        strategy in any_strategy(),
        orders in 1_u64..40,
        most in 0_u32..5,
    ) {
        let (all, _) = leaves(items, strategy);
        let run = |options: Options| {
            let mut problem = Free::of(items);
            let found = DiscrepancySearch::default().run(&mut problem, options).unwrap();
            (problem.leaves, found)
        };
        let (some, found) = run(Options { orders, ..whole(strategy) });
        prop_assert_eq!(&some[..], &all[..all.len().min(orders as usize)]);
        prop_assert_eq!(found.is_proven, some.len() == all.len());
        let (near, found) = run(Options { discrepancies: most, ..whole(strategy) });
        let few = |order: &&Vec<u32>| discrepancies(order).len() <= most as usize;
        let expected: Vec<_> = all.iter().filter(few).cloned().collect();
        prop_assert_eq!(&near, &expected);
        prop_assert_eq!(found.is_proven, near.len() == all.len());
    }
}

#[test]
fn nothing_to_search_and_too_small_a_budget_are_told() {
    let run = |items, nodes| {
        let options = Options { nodes, ..Options::default() };
        DiscrepancySearch::default().run(&mut Free::of(items), options).map(|found| found.nodes)
    };
    assert_eq!(run(0, 9), Err(SearchError::NoItems));
    assert_eq!(run(3, 2), Err(SearchError::Budget { nodes: 2, items: 3 }));
    let told =
        "a budget of 0 nodes for 3 items: it must be at least their number, so that one order is complete";
    assert_eq!(run(3, 0).unwrap_err().to_string(), told);
    assert_eq!((run(1, 1), run(3, 3)), (Ok(1), Ok(3)));
}

/// A path as long as a queue can be, and back.
#[test]
fn a_long_queue_is_no_deep_recursion() {
    let found = DiscrepancySearch::default().run(
        &mut Late { tasks: vec![(1, 0, 1); 200_000], placed: Vec::new(), knows_least: false },
        Options { nodes: 200_003, ..Options::default() },
    );
    let found = found.unwrap();
    assert_eq!((found.leaves, found.nodes, found.discrepancies), (1, 200_003, 0));
}
