//! Tasks with deadlines and budgets.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::units::Money;

/// What pools cost a second, and what tasks may.
#[derive(Debug)]
struct Given {
    prices: Vec<i128>,
    due: Vec<Time>,
    budgets: Vec<Option<i128>>,
    workflows: Vec<usize>,
}

impl Given {
    /// Pools of these prices, for so many tasks of one workflow without limits.
    fn of(prices: &[i128], tasks: usize) -> Self {
        let (due, budgets) = (vec![Time::NEVER; tasks], vec![None; tasks]);
        Self { prices: prices.to_vec(), due, budgets, workflows: vec![0; tasks] }
    }

    fn due(self, secs: &[u64]) -> Self {
        Self { due: secs.iter().map(|secs| Time::from_secs(*secs)).collect(), ..self }
    }

    /// With this budget for each workflow, in equal parts.
    fn within(mut self, budget: i128) -> Self {
        for at in 0..self.budgets.len() {
            let of = self.workflows[at];
            let others = self.workflows.iter().filter(|workflow| **workflow == of).count() as i128;
            let first = !self.workflows[..at].contains(&of);
            self.budgets[at] = Some(budget / others + if first { budget % others } else { 0 });
        }
        self
    }

    fn total(&self, plan: &[Placement]) -> i128 {
        plan.iter().map(|placed| self.cost(placed).nanos()).sum()
    }
}

impl Limits for Given {
    fn cost(&self, placed: &Placement) -> Money {
        let secs = placed.end.since(placed.start).micros() / 1_000_000;
        Money::from_nanos(self.prices[placed.pool] * i128::from(secs))
    }

    fn due(&self, task: usize) -> Time {
        self.due[task]
    }

    fn budget(&self, task: usize) -> Option<Money> {
        self.budgets[task].map(Money::from_nanos)
    }

    fn workflow(&self, task: usize) -> usize {
        self.workflows[task]
    }
}

/// A diamond without data, on a slow processor at 100 a second and one of twice its speed at 300. On the slow one all tasks together cost 4600, on the fast one half as much more.
fn diamond() -> (Dag, Etc, Given) {
    let none = Bytes::ZERO;
    let edges = [(0, 1, none), (0, 2, none), (1, 3, none), (2, 3, none)];
    let etc = etc(&[[10, 5], [20, 10], [6, 3], [10, 5]]);
    (Dag::new(4, edges).unwrap(), etc, Given::of(&[100, 300], 4))
}

/// The critical path is 40 s on the slow processor. With time for it, and not for the third task beside it, that one has to go to the fast processor. With half of it, only
/// the third may be slow.
#[test]
fn the_cheapest_plan_that_keeps_deadlines_by_hand() {
    let (dag, etc, _) = diamond();
    for (due, expected, cost) in [
        ([25, 75, 75, 100], [(1, 1, 0, 10), (2, 1, 10, 30), (3, 1, 30, 36), (4, 1, 36, 46)], 4600),
        ([10, 30, 30, 40], [(1, 1, 0, 10), (2, 1, 10, 30), (3, 2, 10, 13), (4, 1, 30, 40)], 4900),
        ([5, 15, 15, 20], [(1, 2, 0, 5), (2, 2, 5, 15), (3, 1, 5, 11), (4, 2, 15, 20)], 6600),
        // Who cannot be in time goes where it ends first.
        ([4, 12, 12, 16], [(1, 2, 0, 5), (2, 2, 5, 15), (3, 1, 5, 11), (4, 2, 15, 20)], 6600),
    ] {
        let given = diamond().2.due(&due);
        let plan = cheapest_by_deadline(&dag, &etc, &given, &links(2), &mut idle(2));
        assert_eq!((by_task(&plan), given.total(&plan)), (expected.to_vec(), cost), "{due:?}");
    }
}

/// Mean costs are 1250, 2500, 750 and 1250. With 6600 the first may cost 1000 + 2000 × 1250 / 5750 = 1434, and so not the 1500 of the fast processor. Then the second may cost
/// 2000 + 2000 × 2500 / 4500 = 3111, the third, which the slow one has first, 600 + 1000 × 750 / 2000, and the last all of the 2000 that are left.
#[test]
fn heft_within_a_budget_by_hand() {
    let (dag, etc, _) = diamond();
    let slow = [(1, 1, 0, 10), (2, 1, 10, 30), (3, 1, 30, 36), (4, 1, 36, 46)];
    let some = [(1, 1, 0, 10), (2, 2, 10, 20), (3, 1, 10, 16), (4, 2, 20, 25)];
    let heft = [(1, 2, 0, 5), (2, 2, 5, 15), (3, 1, 5, 11), (4, 2, 15, 20)];
    for (budget, expected, cost) in
        [(0, slow, 4600), (4600, slow, 4600), (6600, some, 6100), (7000, heft, 6600), (100_000, heft, 6600)]
    {
        let given = diamond().2.within(budget);
        let plan = heft_budget(&dag, &etc, &given, &links(2), &mut idle(2));
        assert_eq!((by_task(&plan), given.total(&plan)), (expected.to_vec(), cost), "{budget}");
    }
}

/// The schedule of Topcuoglu et al. ends at 80 s. Where the third processor costs four times as much as the others, it costs no more than any budget from that of the cheapest plan on, and a large one gives that schedule.
#[test]
fn budgets_of_the_example_of_topcuoglu() {
    let (dag, etc) = of_topcuoglu();
    let given = |budget: Option<i128>| {
        let given = Given::of(&[1, 1, 4], 10);
        budget.map_or_else(|| Given::of(&[1, 1, 4], 10), |budget| given.within(budget))
    };
    let plan = |budget| heft_budget(&dag, &etc, &given(budget), &links(3), &mut idle(3));
    assert_eq!(makespan(&plan(None)), Time::from_secs(80));
    assert_eq!(makespan(&plan(Some(1_000))), Time::from_secs(80));
    let least = given(None).total(&plan(Some(0)));
    for more in [0, 20, 60, 200] {
        assert!(given(None).total(&plan(Some(least + more))) <= least + more, "{more}");
    }
}

/// Run times of tasks in pools, edges, prices and deadlines.
fn cases() -> impl Strategy<Value = (Dag, Etc, Given)> {
    let size = (1..12_usize, 1..4_usize);
    size.prop_flat_map(|(tasks, pools)| {
        let runs = vec(vec(prop_oneof![9 => 1..40_u64, 1 => Just(u64::MAX)], pools), tasks);
        let edges = vec((0..tasks, 0..tasks, 0..20_u64), 0..2 * tasks);
        (runs, edges, vec(0..9_i128, pools), vec(1..200_u64, tasks), vec(0..2_usize, tasks))
    })
    .prop_map(|(runs, edges, prices, due, workflows)| {
        let span = |run: &u64| if *run == u64::MAX { Span::MAX } else { secs(*run) };
        let rows: Vec<Vec<Span>> = runs.iter().map(|row| row.iter().map(span).collect()).collect();
        let edges = edges.into_iter().filter(|(from, to, _)| from < to);
        let dag = Dag::new(rows.len(), edges.map(|(from, to, data)| (from, to, Bytes::new(data)))).unwrap();
        let given = Given { workflows, ..Given::of(&prices, rows.len()).due(&due) };
        (dag, Etc::of_rows(&rows), given)
    })
}

/// The least cost of a task, wherever it can run.
fn least(etc: &Etc, given: &Given, task: usize) -> Option<i128> {
    let cost = |pool: usize| {
        let end = Time::ZERO + etc.run(task, pool)?;
        Some(given.cost(&Placement { task, pool, start: Time::ZERO, end }).nanos())
    };
    (0..etc.pools()).filter_map(cost).min()
}

proptest! {
    #[test]
    fn without_a_budget_it_is_heft((dag, etc, given) in cases()) {
        let links = links(etc.pools());
        let plan = heft_budget(&dag, &etc, &given, &links, &mut idle(etc.pools()));
        prop_assert_eq!(plan, heft(&dag, &etc, &links, &mut idle(etc.pools())));
        // One that none can exceed does not matter either.
        let rich = given.within(1_000_000);
        let plan = heft_budget(&dag, &etc, &rich, &links, &mut idle(etc.pools()));
        prop_assert_eq!(plan, heft(&dag, &etc, &links, &mut idle(etc.pools())));
    }

    /// Each workflow of two that are planned together keeps to its own budget, if that is enough for the cheapest plan; and with less, all is cheapest.
    #[test]
    fn no_workflow_is_dearer_than_its_budget((dag, etc, given) in cases(), more in 0..500_i128) {
        let own = |of: usize| -> i128 {
            (0..etc.tasks()).filter(|task| given.workflows[*task] == of).filter_map(|task| least(&etc, &given, task)).sum()
        };
        let budget = own(0).max(own(1)) + more;
        let rich = Given { workflows: given.workflows.clone(), ..Given::of(&given.prices, etc.tasks()) }.within(budget);
        let plan = heft_budget(&dag, &etc, &rich, &links(etc.pools()), &mut idle(etc.pools()));
        for of in 0..2 {
            let spent: Vec<Placement> = plan.iter().copied().filter(|placed| rich.workflows[placed.task] == of).collect();
            prop_assert!(rich.total(&spent) <= budget);
        }
        let poor = given.within(0);
        for placed in heft_budget(&dag, &etc, &poor, &links(etc.pools()), &mut idle(etc.pools())) {
            prop_assert_eq!(Some(poor.cost(&placed).nanos()), least(&etc, &poor, placed.task));
        }
    }

    /// Without a deadline every task is where it costs least; with one, a task that is late could not have been in time anywhere, and one in time is nowhere cheaper in time.
    #[test]
    fn tasks_are_as_cheap_as_their_deadlines_allow((dag, etc, given) in cases()) {
        let links = links(etc.pools());
        let free = Given::of(&given.prices, etc.tasks());
        for placed in cheapest_by_deadline(&dag, &etc, &free, &links, &mut idle(etc.pools())) {
            prop_assert_eq!(Some(free.cost(&placed).nanos()), least(&etc, &free, placed.task));
        }
        let plan = cheapest_by_deadline(&dag, &etc, &given, &links, &mut idle(etc.pools()));
        let mut holes = idle(etc.pools());
        for (at, placed) in plan.iter().enumerate() {
            let arrival = |pool: usize| {
                let before = dag.predecessors(placed.task).map(|(before, data)| {
                    let before = plan[..at].iter().find(|other| other.task == before).expect("planned");
                    before.end + links.time(data, before.pool, pool)
                });
                before.max().unwrap_or_default()
            };
            for pool in 0..etc.pools() {
                let Some(run) = etc.run(placed.task, pool) else { continue };
                let start = holes.earliest(pool, 1, arrival(pool), run).expect("a hole");
                let other = Placement { pool, start, end: start + run, ..*placed };
                let in_time = |placed: &Placement| placed.end <= given.due[placed.task];
                if in_time(placed) {
                    prop_assert!(!in_time(&other) || given.cost(&other) >= given.cost(placed));
                } else {
                    prop_assert!(!in_time(&other) && other.end >= placed.end);
                }
            }
            holes.take(placed.pool, 1, placed.start, placed.end.since(placed.start));
        }
    }
}
