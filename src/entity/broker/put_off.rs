//! Jobs that wait here until it is time to send them.

use super::Broker;
use crate::broker::{BrokerEvent, PutOff};
use crate::entity::{EntityError, Stamp};
use crate::model::TaskId;

impl Broker {
    /// Until when a job that waits here is put off, and why, if it is.
    pub fn is_put_off(&self, task: TaskId) -> Option<PutOff> {
        self.state.tasks.is_put_off(task)
    }

    /// Puts a job off. If planning took so long that it is due, it is planned again at once.
    pub(super) fn put_off(&mut self, task: TaskId, put_off: PutOff, now: Stamp) -> Result<(), EntityError> {
        if put_off.until <= now.time {
            (self.fresh, self.all) = (true, true);
        } else if !self.state.tasks.put_off(task, put_off) {
            return Err(self.bad_plan(task, "which does not wait with the broker".to_owned()));
        }
        Ok(())
    }

    /// When the first job that is put off is due.
    pub(super) fn next_due(&self) -> Option<Stamp> {
        self.state.tasks.next_due().map(|until| self.state.mail.own(until))
    }

    /// Has the policy asked about jobs that are due.
    pub(super) fn wake_those_due(&mut self, now: Stamp) {
        if self.state.tasks.wake(now.time) {
            (self.fresh, self.all, self.state.last) = (true, true, now.time);
            self.policy.on(&BrokerEvent::Due);
        }
    }
}
