//! Jobs that begin to wait with the broker, and jobs that are over.

use super::adopt::urgency;
use super::{Broker, task};
use crate::broker::BrokerEvent;
use crate::entity::mailbox::Moments;
use crate::entity::{Address, EndedJob, Outbox, Stamp, ToPortal};
use crate::model::{Job, PoolId};
use crate::units::Span;

impl Broker {
    /// Handles the end of a job: its workflow goes on, and the portal is notified.
    pub(super) fn over(
        &mut self,
        ended: EndedJob,
        pool: Option<PoolId>,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) {
        let EndedJob { task, job, outcome, .. } = ended;
        self.policy.on(&BrokerEvent::Ended { task, job, pool, outcome });
        self.notify_portal(&ended, now, outbox);
        self.part_ended(&ended, now, outbox);
        if !self.state.workflows.is_empty() {
            self.enact(&ended, pool, now, outbox);
        }
    }

    /// Notifies the portal that a job has ended, if its workload must know.
    pub(super) fn notify_portal(&mut self, ended: &EndedJob, now: Stamp, outbox: &mut dyn Outbox) {
        if self.feedback {
            self.send(Address::Portal, now, Span::ZERO, ToPortal::Ended(ended.clone()), outbox);
        }
    }

    /// Adds a job to those that wait here, unless it is turned away.
    pub(super) fn wait(
        &mut self,
        job: Box<Job>,
        mut refused: Vec<PoolId>,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) {
        // Other pools may be too small than when it came.
        refused.extend(self.unfit(&job, self.state.workflows.space(task(&job))));
        refused.sort_unstable();
        refused.dedup();
        if let Some(why) = self.turns_away(&job, &refused, now) {
            return self.turn_away(&job, why, now, outbox);
        }
        self.expire_at(&job);
        let urgency = urgency(&self.spec, &self.state.workflows, &job);
        let (id, run) = (task(&job), self.believed_run(&job));
        self.state.tasks.enter_by(urgency, job, refused);
        self.state.tasks.believe_run(id, run);
        let length = (self.state.tasks.count_ready() + self.state.tasks.count_put_off()) as u64;
        self.state.tally.longest_queue = self.state.tally.longest_queue.max(length);
        self.fresh = true;
    }
}
