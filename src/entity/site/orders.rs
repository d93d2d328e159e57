//! Orders for jobs of a site from outside of their workload: from the script of the scenario, and by commands.

use super::Site;
use crate::entity::{EntityError, Outbox, Stamp};
use crate::local::Step;
use crate::model::{EventCause, JobAct, JobId, PlannedJobAct};
use crate::units::Time;

impl Site {
    /// When the next order of the script is carried out.
    pub(super) fn next_order(&self) -> Option<Time> {
        self.spec.orders.get(self.ordered).map(|order| order.at)
    }

    /// Takes the next order of the script that is due.
    pub(super) fn take_order(&mut self, now: Time) -> Option<PlannedJobAct> {
        let next = self.spec.orders.get(self.ordered).filter(|order| order.at <= now)?;
        self.ordered += 1;
        Some(*next)
    }

    /// Finds the next order after the time that has passed: those of an instant are carried out in its first round.
    pub(super) fn find_order(&mut self) {
        let passed = self.mail.passed();
        self.ordered = self.spec.orders.partition_point(|order| Stamp::at(order.at) < passed);
    }

    /// Carries out an order for the job of that number; if several have it, for the one submitted first. If there is none, a
    /// refusal is recorded.
    pub(super) fn order(
        &mut self,
        job: JobId,
        act: JobAct,
        cause: EventCause,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> Result<(), EntityError> {
        let Some(at) = self.partition_of(job) else {
            self.refuse(job, act, now.time, outbox);
            return self.report_ends(now, outbox);
        };
        let mut step = Step::new(now.time, outbox, &mut self.ended);
        let partition = &mut self.partitions[at];
        self.touched[at] |= match act {
            JobAct::Cancel => partition.cancel(job, &mut step),
            JobAct::Change(change) => partition.command(job, change, cause, &mut step)? == Some(true),
        };
        self.report_ends(now, outbox)
    }

    /// Ends the run: later orders are refused, because their jobs have ended or never arrived. Orders for a job that is still
    /// here are not recorded.
    pub(super) fn refuse_orders_to_come(&mut self, now: Time, outbox: &mut dyn Outbox) {
        if self.more() {
            return;
        }
        let rest: Vec<PlannedJobAct> = self.spec.orders.get(self.ordered..).unwrap_or_default().to_vec();
        self.ordered = self.spec.orders.len();
        for order in rest {
            if self.partition_of(order.job).is_none() {
                self.refuse(order.job, order.act, now, outbox);
            }
        }
    }

    /// Refuses a command for a job that is not here: the first partition counts it.
    pub(super) fn refuse(&mut self, job: JobId, act: JobAct, now: Time, outbox: &mut dyn Outbox) {
        let change = match act {
            JobAct::Cancel => None,
            JobAct::Change(change) => Some(change),
        };
        if let Some(partition) = self.partitions.first_mut() {
            partition.refuse_command(job, change, &mut Step::new(now, outbox, &mut self.ended));
        }
    }

    /// The partition of the job of that number that was submitted first.
    fn partition_of(&mut self, job: JobId) -> Option<usize> {
        let partitions = self.partitions.iter_mut().enumerate();
        let found = partitions.filter_map(|(at, partition)| Some((partition.submitted(job)?, at)));
        found.min().map(|(_, at)| at)
    }
}
