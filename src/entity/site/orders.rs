//! Orders to a site from outside of its workload, for its jobs and its reservations: from the script of the scenario, and by commands.

use super::Site;
use crate::entity::{EntityError, Outbox, Stamp};
use crate::local::Step;
use crate::model::{
    BookAct, Booked, BookingRefusal, EventCause, EventKind, EventRecord, JobAct, JobId, JobRef, Order,
    Origin, PartitionId, PlannedOrder, Record, ReservationRequest,
};
use crate::units::Time;

impl Site {
    /// When the next order of the script is carried out.
    pub(super) fn next_order(&self) -> Option<Time> {
        self.spec.orders.get(self.ordered).map(|order| order.at)
    }

    /// Takes the next order of the script that is due.
    pub(super) fn take_order(&mut self, now: Time) -> Option<Order> {
        let next = self.spec.orders.get(self.ordered).filter(|order| order.at <= now)?;
        self.ordered += 1;
        Some(next.order.clone())
    }

    /// Finds the next order after the time that has passed: those of an instant are carried out in its first round.
    pub(super) fn find_order(&mut self) {
        let passed = self.mail.passed();
        self.ordered = self.spec.orders.partition_point(|order| Stamp::at(order.at) < passed);
    }

    /// Carries out an order.
    pub(super) fn order(
        &mut self,
        order: Order,
        cause: EventCause,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> Result<(), EntityError> {
        match order {
            Order::Job { job, act } => self.order_job(job, act, cause, now, outbox),
            Order::Book(BookAct::Reserve(wanted)) => {
                self.reserve(*wanted, cause, now.time, outbox);
                Ok(())
            }
            Order::Book(BookAct::Release { name, partition }) => {
                self.release(name, partition, cause, now.time, outbox);
                self.report_ends(now, outbox)
            }
        }
    }

    /// Reserves processors if the plan has room for them, and records what has come of it.
    fn reserve(&mut self, wanted: ReservationRequest, cause: EventCause, now: Time, outbox: &mut dyn Outbox) {
        let at = wanted.partition.index();
        let local = wanted.job.map(|job| JobRef::new(Origin::Local, self.id, job));
        let is_here = local.is_some_and(|job| self.partitions.iter_mut().any(|part| part.has(job)));
        let is_claimed =
            local.is_some_and(|job| self.partitions.iter().any(|part| part.has_reserved_for(job)));
        let made = match self.partitions.get_mut(at) {
            Some(_) if is_here => Err(BookingRefusal::JobHere),
            Some(_) if is_claimed => Err(BookingRefusal::JobReserved),
            Some(partition) => partition.reserve(&wanted, now),
            None => Err(BookingRefusal::NoRoom),
        };
        match made {
            Ok(made) => {
                self.touched[at] = true;
                let booked = Booked { name: made.name, during: Some((made.start, made.end)) };
                outbox.record(Record::Event(EventRecord {
                    partition: Some(wanted.partition),
                    procs: made.procs,
                    job: wanted.job,
                    booked: Some(Box::new(booked)),
                    ..EventRecord::new(now, EventKind::Reserved, cause, self.id)
                }));
            }
            Err(why) => self.refuse_booking(&BookAct::Reserve(Box::new(wanted)), why, now, outbox),
        }
    }

    /// Records that an order about a reservation is not carried out.
    fn refuse_booking(&self, act: &BookAct, why: BookingRefusal, now: Time, outbox: &mut dyn Outbox) {
        let (partition, procs, job, name, during) = match act {
            BookAct::Reserve(wanted) => {
                let during = Some(wanted.window(now));
                (Some(wanted.partition), wanted.procs, wanted.job, &wanted.name, during)
            }
            BookAct::Release { name, partition } => (*partition, 0, None, name, None),
        };
        outbox.record(Record::Event(EventRecord {
            partition,
            procs,
            job,
            booked: Some(Box::new(Booked { name: name.clone(), during })),
            ..EventRecord::new(now, EventKind::BookingRefused, EventCause::Unbooked(why), self.id)
        }));
    }

    /// Gives up a reservation of the site's own.
    fn release(
        &mut self,
        name: String,
        partition: Option<PartitionId>,
        cause: EventCause,
        now: Time,
        outbox: &mut dyn Outbox,
    ) {
        let is_meant = |at: usize| partition.is_none_or(|partition| partition.index() == at);
        let parts = self.partitions.iter().enumerate();
        let found = parts.filter(|(at, part)| is_meant(*at) && part.has_own_reservation(&name));
        let found = found.map(|(at, _)| at).next();
        let Some(at) = found else {
            let act = BookAct::Release { name, partition };
            return self.refuse_booking(&act, BookingRefusal::NoReservation, now, outbox);
        };
        outbox.record(Record::Event(EventRecord {
            partition: Some(PartitionId(at as u32)),
            booked: Some(Box::new(Booked { name: name.clone(), during: None })),
            ..EventRecord::new(now, EventKind::Released, cause, self.id)
        }));
        let mut step = Step::new(now, outbox, &mut self.ended);
        self.partitions[at].release(&name, &mut step);
        self.touched[at] = true;
    }

    /// Carries out an order for the job of that number; if several have it, for the one submitted first. If there is none, a
    /// refusal is recorded.
    fn order_job(
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
        let rest: Vec<PlannedOrder> = self.spec.orders.get(self.ordered..).unwrap_or_default().to_vec();
        self.ordered = self.spec.orders.len();
        for order in rest {
            match order.order {
                Order::Job { job, act } if self.partition_of(job).is_none() => {
                    self.refuse(job, act, now, outbox);
                }
                Order::Job { .. } => {}
                Order::Book(act) => self.refuse_booking(&act, BookingRefusal::RunOver, now, outbox),
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
