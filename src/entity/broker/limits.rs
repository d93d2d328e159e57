//! Jobs with deadlines and budgets: those that cannot keep theirs are refused when they are submitted, and those that are ended at their deadline end here if they
//! wait here.

use std::collections::BTreeSet;

use super::unplaced::{of_job, record_given_up, unplaced};
use super::{Broker, task};
use crate::broker::{Pool, Task};
use crate::entity::{EndedJob, Outbox, Stamp};
use crate::model::{
    AtLimit, EventCause, EventKind, EventRecord, Job, Limits, Outcome, PoolId, Record, RejectReason, TaskId,
    WorkflowSpec, WorkflowSubmission,
};
use crate::units::{Money, Time};
use crate::workflow::Workflow;

/// When jobs that wait here are ended.
pub(super) type Expiring = BTreeSet<(Time, TaskId)>;

/// Why a job does not wait here.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Away {
    /// No pool could run it, or none within its limits.
    Refused(RejectReason),
    /// Its deadline has come, and it is ended there.
    Over,
}

impl Broker {
    /// Why a job does not wait here, if it does not: there is no pool that could ever take it; its deadline has come; or, when it is submitted, it would not keep its limits in
    /// any pool, if it started as soon as it could be there, at the price that its site has reported.
    pub(super) fn turns_away(&self, job: &Job, refused: &[PoolId], now: Stamp) -> Option<Away> {
        let seen = Task::new(job, refused);
        let possible = |pool: &&Pool| pool.could_run(&seen) && !refused.contains(&pool.facts.id);
        let mut pools = self.state.pools.iter().filter(possible).peekable();
        if pools.peek().is_none() {
            let all_refused = !refused.is_empty();
            let reason = if all_refused { RejectReason::NoPool } else { RejectReason::TooLarge };
            return Some(Away::Refused(reason));
        }
        let limits = job.limits.as_ref()?;
        if limits.killed_at().is_some_and(|deadline| deadline <= now.time) {
            return Some(Away::Over);
        }
        let is_new = job.grid.as_ref().is_none_or(|grid| grid.assignment == 0);
        let refuse = |pool: &Pool| {
            let there = now.time + pool.facts.latency;
            limits.refuse(there, pool.procs_for(&seen), pool.run_of(&seen), pool.report.price)
        };
        // The first reason, if all have one.
        let mut reasons = pools.filter(|_| is_new).map(refuse);
        let first = reasons.next()??;
        reasons.all(|reason| reason.is_some()).then_some(Away::Refused(first))
    }

    /// Why a workflow is refused when it is submitted, if it is: it would end too late if each task ran in the pool where it takes least, as soon as those that it waits for had
    /// ended; or its tasks would cost too much if each ran where it costs least, from now on.
    pub(super) fn refuses(
        &self,
        submitted: &WorkflowSubmission,
        workflow: &Workflow,
        estimates: Option<&WorkflowSpec>,
        now: Time,
    ) -> Option<RejectReason> {
        let Limits { deadline, budget, at_deadline, at_budget, .. } = submitted.limits.as_ref()?.whole;
        let deadline = deadline.filter(|_| at_deadline == AtLimit::Refuse);
        let budget = budget.filter(|_| at_budget == AtLimit::Refuse);
        if deadline.is_none() && budget.is_none() {
            return None;
        }
        let jobs: Vec<Job> = submitted.jobs(estimates).collect();
        let pools = |job: &'_ Job| {
            let seen = Task::new(job, &[]);
            let able = self.state.pools.iter().filter(|pool| pool.could_run(&seen));
            able.map(|pool| (pool, pool.run_of(&seen), pool.procs_for(&seen))).collect::<Vec<_>>()
        };
        let (mut ends, mut cost) = (vec![now; jobs.len()], Money::ZERO);
        for task in workflow.order() {
            let pools = pools(&jobs[task.index()]);
            let before = workflow.predecessors(*task).map(|(before, _)| ends[before.index()]).max();
            let start = |pool: &Pool| before.unwrap_or(now + pool.facts.latency);
            // What fits nowhere is refused for that.
            ends[task.index()] = pools.iter().map(|(pool, run, _)| start(pool) + *run).min().unwrap_or(now);
            let costs = pools.iter().map(|(pool, run, procs)| pool.facts.rates.cost(*procs, now, *run));
            cost += costs.min().unwrap_or_default();
        }
        let late = deadline.is_some_and(|deadline| ends.iter().any(|end| *end > deadline));
        // The cost of each task was rounded up.
        let rounded = Money::from_nanos(i128::try_from(jobs.len()).unwrap_or(i128::MAX));
        let dear = budget.is_some_and(|budget| cost > budget + rounded);
        if late { Some(RejectReason::Deadline) } else { dear.then_some(RejectReason::Budget) }
    }

    /// Ends a job that does not wait here.
    pub(super) fn turn_away(&mut self, job: &Job, why: Away, now: Stamp, outbox: &mut dyn Outbox) {
        let Away::Refused(reason) = why else { return self.expire(job, now, outbox) };
        self.state.tally.given_up += 1;
        self.state.done += 1;
        let outcome = Outcome::Rejected(reason);
        record_given_up(job, EventCause::Refused(reason), outcome, now.time, outbox);
        self.over(EndedJob::unplaced(job, outcome, now.time), None, now, outbox);
    }

    /// Notes when a job is ended if it waits here then.
    pub(super) fn expire_at(&mut self, job: &Job) {
        if let Some(deadline) = job.killed_at() {
            self.state.expiring.insert((deadline, task(job)));
        }
    }

    /// When the next job may be ended here.
    pub(super) fn next_expiry(&self) -> Option<Stamp> {
        self.state.expiring.first().map(|(time, _)| self.state.mail.own(*time))
    }

    /// Ends the jobs that wait here and whose deadline has come.
    pub(super) fn expire_those_due(&mut self, now: Stamp, outbox: &mut dyn Outbox) {
        while let Some((_, task)) = self.state.expiring.first().copied().filter(|(time, _)| *time <= now.time)
        {
            self.state.expiring.pop_first();
            // Also if it is elsewhere by now: until then the broker might have ended it.
            self.state.last = now.time;
            if let Some(job) = self.state.tasks.take_ready(task) {
                self.expire(&job, now, outbox);
            }
        }
    }

    /// Ends a job at its deadline, or as soon as it is here after it.
    pub(super) fn expire(&mut self, job: &Job, now: Stamp, outbox: &mut dyn Outbox) {
        (self.state.done, self.state.last) = (self.state.done + 1, now.time);
        outbox.record(Record::Event(EventRecord { kind: EventKind::Overdue, ..of_job(job, now.time) }));
        outbox.record(Record::Job(unplaced(job, Outcome::Cancelled, now.time)));
        self.over(EndedJob::unplaced(job, Outcome::Cancelled, now.time), None, now, outbox);
    }
}
