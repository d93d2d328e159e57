//! What a policy is told beside the view, and when it wants to be asked again.

use super::Broker;
use crate::broker::BrokerEvent;
use crate::broker::outside::ProgramFacts;
use crate::entity::Stamp;

impl Broker {
    /// What is known of the program that decides, if one does.
    pub fn program(&self) -> Option<ProgramFacts> {
        self.policy.program()
    }

    /// Notifies a policy that follows them of the tasks that have changed.
    pub(super) fn tell_changes(&mut self) {
        for task in self.state.tasks.take_changed() {
            self.policy.on(&BrokerEvent::Changed(task));
        }
    }

    /// When the policy wants to be asked again.
    pub(super) fn next_wake(&self) -> Option<Stamp> {
        self.state.wake.map(|wake| self.state.mail.own(wake))
    }

    /// Has the policy asked about all that waits, if that is when it wanted to be.
    pub(super) fn wake_policy(&mut self, now: Stamp) {
        if self.state.wake.is_some_and(|wake| wake <= now.time) {
            (self.state.wake, self.fresh, self.all) = (None, true, true);
            self.policy.on(&BrokerEvent::Due);
        }
    }
}
