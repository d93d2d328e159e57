//! Planning: the policy is asked about the waiting jobs, and its plan is carried out.

use smallvec::SmallVec;

use super::assigned::Assigned;
use super::{Broker, State, Waiting, of_job};
use crate::broker::{GridView, Plan, Planned, WaitingJob};
use crate::entity::mailbox::{MOST_ROUNDS, Moments};
use crate::entity::{Address, Outbox, Stamp, ToDispatcher};
use crate::model::{EventKind, EventRecord, Record, TaskId};
use crate::units::Span;

/// Rounds from an assignment to the report of it: dispatcher, site, directory, broker.
const THERE_AND_BACK: u32 = 4;
/// Beyond this round of an instant the broker plans the remaining jobs without waiting for reports, before the instant is
/// given up as stalled.
const MOST_LOOKS: u32 = MOST_ROUNDS / 2;

impl Broker {
    /// Recalls jobs that have not left the dispatcher, or do not run yet.
    pub(super) fn recall(&mut self, now: Stamp, outbox: &mut dyn Outbox) {
        let queued = self.spec.recall_queued;
        let numbers: Vec<u64> = self.state.flights.recallable(queued).collect();
        for number in numbers {
            let letter = ToDispatcher::Recall { task: TaskId(number), queued };
            self.send(Address::Dispatcher, now, Span::ZERO, letter, outbox);
            self.state.tally.recalled += 1;
        }
    }

    /// Asks the policy about a range of the waiting jobs.
    fn ask(&mut self, jobs: std::ops::Range<usize>, now: Stamp) -> Plan {
        let State { waiting, pools, .. } = &mut self.state;
        // It is usually one job.
        let seen: SmallVec<[WaitingJob<'_>; 4]> =
            waiting[jobs].iter().map(|waiting| WaitingJob::new(&waiting.job, &waiting.refused)).collect();
        let mut view = GridView::new(now.time, pools, &seen, self.spec.count_in_flight);
        if let Some(job) = self.traced {
            view = view.traced(job);
        }
        self.policy.plan(&mut view);
        self.choice = view.take_choice().or(self.choice.take());
        view.into_plan()
    }

    /// Plans once over the waiting jobs.
    pub(super) fn plan(&mut self, now: Stamp, outbox: &mut dyn Outbox) {
        self.state.tally.plans += 1;
        if self.spec.monitoring_interval.is_zero() && !self.abilities.batch {
            return self.plan_one_by_one(now, outbox);
        }
        let plan = self.ask(self.left..self.state.waiting.len(), now);
        if !plan.is_empty() {
            let asked = self.state.waiting.drain(self.left..);
            let mut asked: Vec<Option<Waiting>> = asked.map(Some).collect();
            for planned in plan {
                if let Some(waiting) = asked[planned.job].take() {
                    self.assign(waiting, planned, now, outbox);
                }
            }
            self.state.waiting.extend(asked.into_iter().flatten());
        }
        self.leave();
    }

    /// Notes that the policy has left all jobs that wait now.
    fn leave(&mut self) {
        self.left = if self.abilities.steady { self.state.waiting.len() } else { 0 };
    }

    /// Plans one job at a time. Sites report at every change: each assignment sees those before it, as far as reports take no
    /// time.
    fn plan_one_by_one(&mut self, now: Stamp, outbox: &mut dyn Outbox) {
        let mut at = self.left;
        while at < self.state.waiting.len() {
            let Some(planned) = self.ask(at..at + 1, now).first().copied() else {
                at += 1;
                continue;
            };
            self.state.last = now.time;
            let waiting = self.state.waiting.remove(at);
            let prompt = self.state.pools[planned.pool].facts.latency.is_zero();
            self.assign(waiting, planned, now, outbox);
            if prompt && now.round < MOST_LOOKS && !self.state.waiting.is_empty() {
                self.state.again = Some(Stamp { round: now.round + THERE_AND_BACK, ..now });
                return;
            }
        }
        self.leave();
    }

    fn assign(&mut self, waiting: Waiting, planned: Planned, now: Stamp, outbox: &mut dyn Outbox) {
        let Waiting { mut job, refused } = waiting;
        self.moved(&job, now);
        let pool = &self.state.pools[planned.pool];
        let seen = WaitingJob::new(&job, &refused);
        let (procs, run) = (pool.procs_for(&seen), pool.run_of(&seen));
        let age = now.time.since(pool.measured);
        let id = pool.facts.id;
        // The dispatcher does this unless it reports otherwise.
        let arrival = now.next_round().after(pool.facts.latency);
        let grid = job.grid.get_or_insert_default();
        grid.assignment += 1;
        let (number, again) = (grid.number, grid.assignment > 1);
        let tally = &mut self.state.tally;
        tally.assigned += 1;
        tally.age_sum += u128::from(age.micros());
        tally.age_max = tally.age_max.max(age);
        if again {
            tally.reassigned += 1;
            outbox.record(Record::Event(EventRecord {
                kind: EventKind::Reassigned,
                site: id.site,
                partition: Some(id.partition),
                procs,
                ..of_job(&job, now.time)
            }));
        }
        let area = u128::from(procs) * u128::from(run.micros());
        self.state
            .flights
            .insert(number, Assigned { pool: planned.pool, procs, area, arrival: Some(arrival), refused });
        job.partition = Some(id.partition);
        let letter = ToDispatcher::Assign { job, pool: id };
        self.send(Address::Dispatcher, now, Span::ZERO, letter, outbox);
    }
}
