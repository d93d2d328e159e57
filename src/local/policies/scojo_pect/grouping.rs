//! When groups form and end in the slices of their class.

use super::ScojoPect;
use super::fill::Filling;
use super::groups::{Ends, GroupLimits, GroupSearch, Member, Plan, Weights, finish};
use super::queues::Queues;
use crate::local::policies::preemptive::Factor;
use crate::local::{Actions, Note, SearchEffort, View};
use crate::model::SliceClass;
use crate::units::{Span, Time};

impl ScojoPect {
    /// In a slice of medium or long jobs: whether its group is over, and whether there is another one.
    pub(super) fn group(&mut self, view: &View<'_>, filling: &Filling<'_, '_>, actions: &mut Actions) {
        let Some(options) = self.groups else { return };
        let class = filling.slice.class;
        let Some(limits) = class.checked_sub(1).map(|class| options.limits[class]) else { return };
        let (now, queues) = (view.now(), &self.kept.queues);
        let plan = &mut self.kept.groups.plans[class];
        if plan.as_ref().is_some_and(|plan| plan.jobs.is_empty() || !queues.has(plan.finish)) {
            *plan = None;
        }
        let weights = Weights { now, share: self.options.shares_now(view)[class], bounded: options.bounded };
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
                    GroupSearch::new(&filling.profile, &members, &options, limits, weights).slowdown(&order);
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
        let planned = search.ends(&found.order);
        let last = planned.iter().map(|ends| ends.end.since(now)).max().unwrap_or_default();
        let times: Vec<(Time, Time)> = planned.iter().map(|ends| (ends.start, ends.end)).collect();
        let mut ends: Vec<Ends> = filling.held.clone();
        ends.extend(planned);
        let least = (limits.least as usize).min(members.len());
        let finish = finish(ends, (now, view.capacity()), least, (options.drop, options.utilization));
        let ready = now + Span::from_micros(options.per_node.micros().saturating_mul(found.nodes));
        let jobs = found.order.iter().zip(slowdowns).map(|(item, slowdown)| {
            let Member { seq, job, .. } = members[*item as usize];
            (seq, job, slowdown)
        });
        let groups = &mut self.kept.groups;
        // One that is searched again is the same group.
        let (formed, size) = match &groups.plans[class] {
            Some(plan) => (plan.formed, plan.size),
            None => (now, members.len() as u32),
        };
        let named = found.order.iter().zip(times);
        let named = named.map(|(item, (start, end))| (members[*item as usize].job, start, end)).collect();
        let until = now + weights.with_floor(self.options.floor, self.options.cycle).takes(last);
        let class_name = SliceClass::ALL[class];
        actions.note(Note::Group { class: class_name, formed, ready, until, jobs: named });
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
            formed,
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
