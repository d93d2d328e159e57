//! Group optimisation on SCOJO-PECT [Kanavallil 2007, chapters 5 to 7].
//!
//! When enough medium or long jobs wait in a slice of their class, they form a group, and a search looks for the order in which to plan them. While
//! the group lasts, its jobs come before others of the class, in that order.

mod choice;
mod finish;
mod levels;
mod schedule;
#[cfg(test)]
mod tests;
mod variants;

use serde::{Deserialize, Serialize};

pub(super) use self::finish::Ends;
use self::finish::finish;
use self::levels::GroupSearch;
use self::schedule::{Member, Weights};
pub(in crate::local::policies) use self::variants::info;
use super::ScojoPect;
use super::fill::Filling;
use super::queues::{CLASSES, Queues};
use crate::local::policies::preemptive::Factor;
use crate::local::{GroupFacts, SearchEffort, View};
use crate::model::JobKey;
use crate::search::discrepancy::Strategy;
use crate::units::{Span, Time};

/// When jobs of a class form a group. The thresholds are inclusive.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct GroupLimits {
    /// The least number of jobs.
    pub least: u32,
    /// The largest number of jobs: the first ones in the order of arrival.
    pub most: u32,
    /// The processors of all its jobs together, in machines.
    pub size: Factor,
    /// The work of all its jobs together over the processors of the machine, in run times of [`GroupLimits::runtime`].
    pub work: Factor,
    /// The typical run time of the class. A job that runs for so long can be long and wide.
    pub runtime: Span,
    /// The processors from which on a job can be long and wide, in machines.
    pub wide: Factor,
}

/// What a search leaves out.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum GroupBound {
    /// Nothing.
    None,
    /// Orders whose first jobs have as much slowdown as all jobs of the best order.
    #[default]
    Placed,
    /// Orders whose first jobs have as much, with the slowdown that the others have at least: if each were alone behind what runs.
    Least,
}

/// How one of the three orders with the least slowdown is chosen [Kanavallil 2007, section 6.4.4].
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum GroupChoice {
    /// In the order of their slowdown, one takes the place of another if its makespan is shorter than so many times the other's, its utilization
    /// above so many times, and its mean response time below so many times.
    #[default]
    Shorter,
    /// The same, but its makespan has to be *longer* than so many times the other's, as printed.
    Printed,
    /// The one with the least slowdown.
    Least,
}

/// Parameters of group optimisation. The defaults are those of the thesis's Table 4.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct GroupOptions {
    /// Of medium and of long jobs.
    pub limits: [GroupLimits; 2],
    /// How many long and wide jobs there must be for the first level of the search, and how many there are at most.
    pub first: (u32, u32),
    /// The order in which orders are tried.
    pub search: Strategy,
    /// How many orders a search tries at most.
    pub orders: u64,
    /// How many jobs all searches of a group place at most; each completes one order in any case.
    pub nodes: u64,
    /// Orders with more discrepancies are not tried.
    pub discrepancies: u32,
    /// What is left out.
    pub bound: GroupBound,
    /// A job is moved into a hole if it runs for at most so many times as long as that; `None` if never.
    pub shift: Option<Factor>,
    /// Which of the three best orders is taken.
    pub choice: GroupChoice,
    /// The factors of makespan, utilization and response time for that.
    pub factors: [Factor; 3],
    /// By how much utilization may drop from the end of one job to the next without that the group is over.
    pub drop: Factor,
    /// Above which utilization it may drop by more.
    pub utilization: Factor,
    /// Slowdowns are over at least this run time.
    pub bounded: Span,
    /// Whether there is a second level of the search: of all jobs of the group.
    pub second: bool,
    /// Whether the long and wide jobs keep the places that the first level gave them.
    pub fixed: bool,
    /// Whether a job that arrives within the slice of a group is tried before others that wait.
    pub dynamic: bool,
    /// Whether jobs of a plan may start before those in front of them that do not fit.
    pub backfills: bool,
    /// From how many times the planned slowdown on the jobs that are left of a group are searched again; `None` if never.
    pub again: Option<Factor>,
    /// How long a node takes.
    pub per_node: Span,
}

impl Default for GroupOptions {
    fn default() -> Self {
        let limits = |least, most, size, work, runtime, wide| GroupLimits {
            least,
            most,
            size: Factor::millionths(size),
            work: Factor::whole(work),
            runtime: Span::from_secs(runtime),
            wide: Factor::millionths(wide),
        };
        Self {
            limits: [
                limits(10, 20, 1_500_000, 2, 800, 100_000),
                limits(5, 30, 2_000_000, 1, 15_000, 250_000),
            ],
            first: (4, 6),
            search: Strategy::DepthFirst,
            orders: 10_000,
            nodes: 1_000_000,
            discrepancies: u32::MAX,
            bound: GroupBound::Placed,
            shift: Some(Factor::millionths(1_500_000)),
            choice: GroupChoice::Shorter,
            factors: [1_100_000, 950_000, 1_100_000].map(Factor::millionths),
            drop: Factor::millionths(50_000),
            utilization: Factor::millionths(700_000),
            bounded: Span::from_secs(600),
            second: true,
            fixed: false,
            dynamic: true,
            backfills: true,
            again: None,
            per_node: Span::ZERO,
        }
    }
}

/// The plan of a group.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    /// Its jobs that have not started, in the order of the plan: place in the order of arrival, key, and the planned slowdown in parts of 2³².
    pub(super) jobs: Vec<(u64, JobKey, u64)>,
    /// The job with whose end the group is over.
    finish: u64,
    formed: Time,
    /// From when on it holds: the search takes its time.
    ready: Time,
    size: u32,
    nodes: u64,
    orders: u64,
    is_better: bool,
    /// When it was last held against what was planned.
    checked: Time,
}

/// The groups that there are, and what searches have taken.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Groups {
    pub(super) plans: [Option<Plan>; CLASSES],
    pub(super) effort: SearchEffort,
}

impl Groups {
    /// The plan of a class, if it holds now.
    pub(super) fn plan(&self, class: usize, now: Time) -> Option<&Plan> {
        self.plans[class].as_ref().filter(|plan| plan.ready <= now)
    }

    /// A job has started, or does not wait any more.
    pub(super) fn remove(&mut self, seq: u64) {
        for plan in self.plans.iter_mut().flatten() {
            plan.jobs.retain(|(of, ..)| *of != seq);
        }
    }

    /// When a plan begins to hold that does not yet.
    pub(super) fn ready(&self, now: Time) -> Option<Time> {
        self.plans.iter().flatten().map(|plan| plan.ready).filter(|ready| *ready > now).min()
    }

    /// What is told of the plans.
    pub(super) fn facts(&self) -> [Option<GroupFacts>; CLASSES] {
        self.plans.each_ref().map(|plan| {
            plan.as_ref().map(|plan| {
                let Plan { formed, ready, size, nodes, orders, is_better, .. } = *plan;
                let left = plan.jobs.iter().map(|(_, job, _)| *job).collect();
                GroupFacts { left, formed, ready, size, nodes, orders, is_better }
            })
        })
    }
}

impl Plan {
    pub(super) fn has(&self, seq: u64) -> bool {
        self.jobs.iter().any(|(of, ..)| *of == seq)
    }
}

impl ScojoPect {
    /// In a slice of medium or long jobs: whether its group is over, and whether there is another one.
    pub(super) fn group(&mut self, view: &View<'_>, filling: &Filling<'_, '_>) {
        let Some(options) = self.groups else { return };
        let class = filling.slice.class;
        let Some(limits) = class.checked_sub(1).map(|class| options.limits[class]) else { return };
        let (now, queues) = (view.now(), &self.kept.queues);
        let plan = &mut self.kept.groups.plans[class];
        if plan.as_ref().is_some_and(|plan| plan.jobs.is_empty() || !queues.has(plan.finish)) {
            *plan = None;
        }
        let weights = Weights { now, share: self.options.shares[class], bounded: options.bounded };
        let is_new = plan.is_none();
        let members = match plan {
            None => members(view, queues, class, limits, weights),
            Some(plan) => {
                let Some(factor) = options.again.filter(|_| filling.slice.begins > plan.checked) else {
                    return;
                };
                plan.checked = now;
                let members: Vec<Member> =
                    plan.jobs.iter().map(|(seq, job, _)| Member::new(view, *seq, *job, weights)).collect();
                let planned: u128 = plan.jobs.iter().map(|(.., slowdown)| u128::from(*slowdown)).sum();
                let order: Vec<u32> = (0..members.len() as u32).collect();
                let now =
                    GroupSearch::new(&filling.profile, &members, &options, limits, weights).slowdowns(&order);
                let now: u128 = now.iter().map(|slowdown| u128::from(*slowdown)).sum();
                if now * u128::from(Factor::ONE) <= planned * u128::from(factor.as_millionths()) {
                    return;
                }
                members
            }
        };
        if is_new && !limits.form(&members, view.capacity()) {
            return;
        }
        let mut search = GroupSearch::new(&filling.profile, &members, &options, limits, weights);
        let found = search.search(view.capacity());
        let slowdowns = search.slowdowns(&found.order);
        let mut ends: Vec<Ends> = filling.held.clone();
        ends.extend(search.ends(&found.order));
        let least = (limits.least as usize).min(members.len());
        let finish = finish(ends, (now, view.capacity()), least, (options.drop, options.utilization));
        let ready = now + Span::from_micros(options.per_node.micros().saturating_mul(found.nodes));
        let jobs = found.order.iter().zip(slowdowns).map(|(item, slowdown)| {
            let Member { seq, job, .. } = members[*item as usize];
            (seq, job, slowdown)
        });
        let size = members.len() as u32;
        let groups = &mut self.kept.groups;
        groups.effort = groups.effort.and(SearchEffort {
            decisions: 1,
            nodes: found.nodes,
            most_nodes: found.nodes,
            pruned: found.pruned,
            proven: u64::from(found.is_proven),
            improved: u64::from(found.is_better),
            medium_groups: u64::from(is_new && class == 1),
            long_groups: u64::from(is_new && class == 2),
            grouped: if is_new { u64::from(size) } else { 0 },
        });
        groups.plans[class] = Some(Plan {
            jobs: jobs.collect(),
            finish: finish.unwrap_or(u64::MAX),
            formed: now,
            ready,
            size,
            nodes: found.nodes,
            orders: found.orders,
            is_better: found.is_better,
            checked: now.max(filling.slice.begins),
        });
    }
}

/// The jobs of a class that would form a group.
fn members(
    view: &View<'_>,
    Queues(queues): &Queues,
    class: usize,
    limits: GroupLimits,
    weights: Weights,
) -> Vec<Member> {
    let waiting = queues[class].waiting.iter().take(limits.most as usize);
    waiting.map(|(seq, job)| Member::new(view, *seq, *job, weights)).collect()
}

impl GroupLimits {
    /// Whether these jobs are enough for a group on so many processors.
    fn form(&self, members: &[Member], capacity: u32) -> bool {
        let one = u128::from(Factor::ONE);
        let machine = u128::from(capacity);
        let size: u128 = members.iter().map(|member| u128::from(member.procs)).sum();
        let work: u128 =
            members.iter().map(|member| u128::from(member.procs) * u128::from(member.left.micros())).sum();
        let typical = machine * u128::from(self.runtime.micros());
        members.len() >= self.least as usize
            && size * one >= machine * u128::from(self.size.as_millionths())
            && work * one >= typical * u128::from(self.work.as_millionths())
    }

    /// Whether a job is long and wide.
    fn is_wide(&self, member: &Member, capacity: u32) -> bool {
        let (procs, machine) = (u128::from(member.procs), u128::from(capacity));
        procs * u128::from(Factor::ONE) >= machine * u128::from(self.wide.as_millionths())
            && member.left >= self.runtime
    }
}
