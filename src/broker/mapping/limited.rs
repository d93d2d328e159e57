//! List scheduling of tasks that have deadlines and budgets.

use ethnum::I256;

use super::lists::{Runs, list, upward_ranks};
use super::{Costs, Dag, Holes, Links, Placement};
use crate::units::{Money, Time};

/// What tasks cost, and what their users allow.
pub trait Limits {
    /// What a task costs that runs there and then.
    fn cost(&self, placed: &Placement) -> Money;

    /// When a task is due; [`Time::NEVER`] if it has no deadline.
    fn due(&self, task: usize) -> Time;

    /// The part of a task in the budget of its workflow, if that has one.
    fn budget(&self, task: usize) -> Option<Money>;

    /// The number of the workflow of a task, from 0.
    fn workflow(&self, task: usize) -> usize;
}

/// The cheapest plan that keeps the deadlines of tasks, as far as one task after the other can see: tasks by decreasing upward rank as in [`heft`](super::heft), each in the earliest hole of the pool where it
/// costs least among those where it ends by its deadline, and of equally cheap ones ends first. If it ends by its deadline nowhere, it goes where it ends first.
///
/// That the deadline of a workflow is distributed over its tasks, each of which is then mapped at least cost, is of Yu, Buyya and Tham (e-Science 2005), who take chains of tasks at once.
pub fn cheapest_by_deadline(
    dag: &Dag,
    costs: &impl Costs,
    limits: &impl Limits,
    links: &Links,
    holes: &mut impl Holes,
) -> Vec<Placement> {
    let ranks = upward_ranks(dag, &Runs::of(costs, holes), links);
    list(dag, costs, links, holes, &ranks, |places| {
        places.min_by_key(|place| {
            let late = place.end > limits.due(place.task);
            (late, if late { Money::ZERO } else { limits.cost(place) }, place.end, place.pool)
        })
    })
}

/// [`heft`](super::heft) within a budget, where tasks have one: each goes where it ends first among the pools where it costs no more than it may, and where it costs least if there is none.
///
/// What is spare of the budget of a workflow is what is left of it without the least that each further task costs. A task may cost its own least and its part of what is spare, in
/// proportion to its mean cost over the pools. This is the rule of BHEFT (Zheng and Sakellariou, Journal of Grid Computing 11(4), 2013), which reserves mean costs; with the least ones a plan
/// is never dearer than the budget, if there is any plan that is not and prices do not change over time.
pub fn heft_budget(
    dag: &Dag,
    costs: &impl Costs,
    limits: &impl Limits,
    links: &Links,
    holes: &mut impl Holes,
) -> Vec<Placement> {
    let runs = Runs::of(costs, holes);
    let ranks = upward_ranks(dag, &runs, links);
    let usual = Usual::of(costs, limits, &runs);
    let mut purses: Vec<Purse> = Vec::new();
    for task in 0..costs.tasks() {
        let Some(budget) = limits.budget(task) else { continue };
        let at = limits.workflow(task);
        purses.resize(purses.len().max(at + 1), Purse::default());
        purses[at].reserve(budget, usual.of[task]);
    }
    list(dag, costs, links, holes, &ranks, |places| {
        let mut places = places.peekable();
        let task = places.peek()?.task;
        let Some(purse) = limits.budget(task).and_then(|_| purses.get_mut(limits.workflow(task))) else {
            return places.min_by_key(|place| (place.end, place.pool));
        };
        let most = purse.most(usual.of[task]);
        let best = places.min_by_key(|place| {
            let cost = limits.cost(place);
            let dear = cost > most;
            (dear, if dear { cost } else { Money::ZERO }, place.end, place.pool)
        })?;
        purse.spend(limits.cost(&best), usual.of[task]);
        Some(best)
    })
}

/// The least and the mean cost of each task over the pools where it can run, from when it can be there on.
struct Usual {
    of: Vec<(Money, Money)>,
}

impl Usual {
    fn of(costs: &impl Costs, limits: &impl Limits, runs: &Runs) -> Self {
        let cost = |task: usize, pool: usize| {
            let start = costs.ready(task, pool);
            let end = start.checked_add(runs.get(task, pool)?)?;
            Some(limits.cost(&Placement { task, pool, start, end }))
        };
        let usual = |task: usize| {
            let all: Vec<Money> = (0..costs.pools()).filter_map(|pool| cost(task, pool)).collect();
            let sum: Money = all.iter().copied().sum();
            // Rounded up: what costs anything anywhere gets a part of what is spare.
            let count = all.len().max(1) as i128;
            let mean = Money::from_nanos((sum.nanos() + count - 1).div_euclid(count));
            (all.into_iter().min().unwrap_or_default(), mean)
        };
        Self { of: (0..costs.tasks()).map(usual).collect() }
    }
}

/// What is left of the budget of a workflow.
#[derive(Copy, Clone, Default)]
struct Purse {
    left: Money,
    /// The sums of what the tasks that are not planned cost at least, and on average.
    least: Money,
    mean: Money,
}

impl Purse {
    fn reserve(&mut self, budget: Money, (least, mean): (Money, Money)) {
        self.left += budget;
        self.least += least;
        self.mean += mean;
    }

    /// The most that a task may cost, of what is not planned.
    fn most(&self, (least, mean): (Money, Money)) -> Money {
        let spare = (self.left - self.least).nanos().max(0);
        let part = (I256::from(spare) * I256::from(mean.nanos())).checked_div(I256::from(self.mean.nanos()));
        let part = part.map_or(spare, |part| part.as_i128());
        least + Money::from_nanos(part.min(spare))
    }

    fn spend(&mut self, cost: Money, (least, mean): (Money, Money)) {
        self.left -= cost;
        self.least -= least;
        self.mean -= mean;
    }
}
