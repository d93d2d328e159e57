//! One moment at a site.

use super::{EntityError, Outbox, Sender, Site, Stamp};
use crate::entity::{Address, Body};
use crate::local::{Admission, Exit, ExitKind, Partition};
use crate::model::{
    EventCause, EventKind, EventRecord, InstantOrder, Job, JobAct, JobId, JobRecord, Origin, Outcome,
    ProcSet, Record, RejectReason,
};
use crate::units::{Bytes, Energy, Money, Time};

/// An arrival: a job of the site's own workload (by far the most frequent), or a message.
enum Arrival {
    Own(Job),
    Order(JobId, JobAct),
    Message(Body),
}

impl Site {
    /// Handles everything that belongs to this moment.
    pub(super) fn handle_moment(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        match self.spec.order {
            InstantOrder::Instant => self.handle_at_once(now, outbox),
            InstantOrder::Event => self.handle_one_by_one(now, outbox),
        }
    }

    /// Handles ends, changes, wakes, arrivals (first the jobs whose requested start has come), elastic commands, then one pass.
    fn handle_at_once(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        let time = now.time;
        for (at, partition) in self.partitions.iter_mut().enumerate() {
            while let Some(job) = partition.end_next(time, outbox) {
                self.ended.push(job);
                self.touched[at] = true;
            }
        }
        self.churn_due(now, outbox)?;
        for (at, partition) in self.partitions.iter_mut().enumerate() {
            self.touched[at] |= partition.follow_book(time, outbox);
            self.touched[at] |= partition.wake(time);
            // These are arrivals, and so come after the notifications of ends; neither affects the other, and this loop runs
            // anyway.
            while partition.arrive_early(time) {
                self.touched[at] = true;
            }
        }
        self.report_ends(now, outbox)?;
        while let Some(arrival) = self.next_arrival(now)? {
            self.take(arrival, now, outbox)?;
        }
        for at in 0..self.partitions.len() {
            self.touched[at] |= self.partitions[at].obey_due(time, outbox, &mut self.ended)?;
            self.pass(at, time, outbox)?;
        }
        self.report_ends(now, outbox)
    }

    /// Handles reservations that are over, arrivals, ends, reservations that begin, and wakes, each with a pass; starts take
    /// effect at the end.
    fn handle_one_by_one(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        let time = now.time;
        self.churn_due(now, outbox)?;
        for at in 0..self.partitions.len() {
            self.partitions[at].begin_instant(time);
            self.touched[at] |= self.partitions[at].end_bookings(time, outbox);
            self.pass(at, time, outbox)?;
            while self.partitions[at].arrive_early(time) {
                self.touched[at] = true;
                self.pass(at, time, outbox)?;
            }
        }
        while let Some(arrival) = self.next_arrival(now)? {
            self.take(arrival, now, outbox)?;
            for at in 0..self.partitions.len() {
                self.pass(at, time, outbox)?;
            }
        }
        for at in 0..self.partitions.len() {
            while let Some(job) = self.partitions[at].end_next(time, outbox) {
                self.ended.push(job);
                self.touched[at] = true;
                self.pass(at, time, outbox)?;
            }
            self.touched[at] |= self.partitions[at].begin_bookings(time, outbox);
            self.pass(at, time, outbox)?;
            self.touched[at] |= self.partitions[at].wake(time);
            self.pass(at, time, outbox)?;
            self.partitions[at].end_instant(time, outbox)?;
            // Commands are refused here: no policy that runs under this order processes them.
            self.partitions[at].obey_due(time, outbox, &mut self.ended)?;
        }
        self.report_ends(now, outbox)
    }

    fn pass(&mut self, at: usize, now: Time, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        if std::mem::take(&mut self.touched[at]) {
            self.partitions[at].pass(now, outbox, &mut self.ended)?;
        }
        Ok(())
    }

    /// Notifies the source and the grid which of their jobs have left.
    #[inline]
    pub(super) fn report_ends(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        if self.ended.is_empty() { Ok(()) } else { self.report_some_ends(now, outbox) }
    }

    fn report_some_ends(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        self.counts.last = now.time;
        let mut ended = std::mem::take(&mut self.ended);
        for gone in ended.drain(..) {
            self.counts.done += u64::from(gone.number.is_none());
            if gone.origin == Origin::Local {
                if let Some(source) = &mut self.source.source {
                    source.ended(gone.job, now.time);
                }
            } else {
                self.tell(gone, now, outbox);
            }
        }
        self.ended = ended;
        self.source.refresh()
    }

    /// The next arrival at this moment: the site's own jobs first, then planned orders, then messages.
    fn next_arrival(&mut self, now: Stamp) -> Result<Option<Arrival>, EntityError> {
        if self.source.next.is_some_and(|time| time <= now.time)
            && let Some(source) = &mut self.source.source
        {
            let job = source.next_job()?;
            self.source.refresh()?;
            if let Some(job) = job {
                return Ok(Some(Arrival::Own(job)));
            }
        }
        if let Some(order) = self.take_order(now.time) {
            return Ok(Some(Arrival::Order(order.job, order.act)));
        }
        let message = self.mail.take(now);
        if message.as_ref().is_some_and(|message| message.sender == Sender::Outside) {
            self.counts.outside -= 1;
        }
        Ok(message.map(|message| Arrival::Message(message.body)))
    }

    fn take(&mut self, arrival: Arrival, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        let time = now.time;
        match arrival {
            Arrival::Own(job) => self.submit(job, Origin::Local, now, outbox)?,
            Arrival::Order(job, act) => self.order(job, act, EventCause::Script, now, outbox)?,
            Arrival::Message(Body::Submit(mut job)) => {
                // A job that was sent before its stated submission time: it cannot start before that.
                job.submit = job.submit.min(time);
                let origin = origin(&job);
                if origin == Origin::Grid && !self.is_open() {
                    self.turn_away(job, now, outbox);
                } else {
                    self.submit(*job, origin, now, outbox)?;
                }
            }
            Arrival::Message(Body::Cancel(job)) => {
                self.order(job, JobAct::Cancel, EventCause::Command, now, outbox)?;
            }
            Arrival::Message(Body::Elastic { job, change }) => {
                self.order(job, JobAct::Change(change), EventCause::Command, now, outbox)?;
            }
            Arrival::Message(Body::Withdraw { number }) => {
                let mut withdrawn = None;
                for (at, partition) in self.partitions.iter_mut().enumerate() {
                    if let Some(job) = partition.withdraw(number, time) {
                        self.touched[at] = true;
                        withdrawn = Some(job);
                    }
                }
                if let Some(job) = withdrawn {
                    let body = Body::Returned { job, why: EventCause::Replanned };
                    self.send(Address::Dispatcher, now, body, outbox);
                }
            }
            // The other messages are between broker, dispatcher, directory and network.
            Arrival::Message(_) => {}
        }
        Ok(())
    }

    /// Returns a grid job at once, because the site is down.
    fn turn_away(&mut self, job: Box<Job>, now: Stamp, outbox: &mut dyn Outbox) {
        let why = EventCause::SiteLeft;
        outbox.record(Record::Event(EventRecord {
            time: now.time,
            kind: EventKind::Refused,
            cause: why,
            site: self.id,
            partition: job.partition,
            machines: ProcSet::new(),
            procs: job.size.preferred(),
            job: Some(job.id),
            origin: Origin::Grid,
            attempt: job.grid.as_ref().map_or(0, |grid| grid.attempts),
            lost: 0,
            since_lost: None,
            command: None,
        }));
        self.send(Address::Dispatcher, now, Body::Returned { job, why }, outbox);
    }

    fn submit(
        &mut self,
        job: Job,
        origin: Origin,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> Result<(), EntityError> {
        if job.grid.as_ref().is_none_or(|grid| grid.excused == 0) {
            self.counts.last = now.time;
        }
        self.counts.admitted += u64::from(job.grid.is_none());
        if let Admission::ExitKind(gone) = self.arrive(job, origin, now.time, outbox) {
            self.ended.push(gone);
            self.report_ends(now, outbox)?;
        }
        Ok(())
    }

    fn arrive(&mut self, job: Job, origin: Origin, now: Time, outbox: &mut dyn Outbox) -> Admission {
        let at = match job.partition {
            Some(partition) => partition.index(),
            None => self.first_fit(&job),
        };
        match self.partitions.get_mut(at) {
            Some(partition) => {
                let admitted = partition.arrive(job, origin, now, outbox);
                self.touched[at] |= admitted == Admission::Taken;
                admitted
            }
            None => {
                self.refused += 1;
                for command in job.elastic.iter().flatten() {
                    self.refuse(job.id, JobAct::Change(command.change), now, outbox);
                }
                outbox.record(Record::Job(refused(self, &job, origin, now)));
                let how = ExitKind::Ended(Outcome::Rejected(RejectReason::NoSuchPartition));
                let (job, number) = (job.id, job.grid.as_ref().map(|grid| grid.number));
                Admission::ExitKind(Exit { job, origin, number, output: Bytes::ZERO, how })
            }
        }
    }

    /// The partition of a job that names none: the first that is large enough, or otherwise the first, which will refuse it.
    fn first_fit(&self, job: &Job) -> usize {
        if self.partitions.len() == 1 {
            return 0;
        }
        let usable = |partition: &Partition| partition.spec().usable();
        let needs = |partition: &Partition| partition.spec().rounded(job.size.min());
        let fits = self.partitions.iter().position(|partition| needs(partition) <= usable(partition));
        fits.unwrap_or(0)
    }
}

/// The origin of a job in a message: the grid, or the site's own users.
pub(super) fn origin(job: &Job) -> Origin {
    if job.grid.is_some() { Origin::Grid } else { Origin::Local }
}

/// The record of a job that names a partition which does not exist.
fn refused(site: &Site, job: &Job, origin: Origin, now: Time) -> JobRecord {
    JobRecord {
        id: job.id,
        origin,
        site: site.id,
        partition: job.partition.unwrap_or_default(),
        user: job.user,
        submit: job.submit,
        start: None,
        end: now,
        requested: job.size.preferred(),
        procs: 0,
        outcome: Outcome::Rejected(RejectReason::NoSuchPartition),
        run: job.runtime.min(job.estimate),
        estimate: job.estimate,
        attempts: 0,
        energy: Energy::ZERO,
        cost: Money::ZERO,
        recorded_wait: job.recorded_wait,
        requested_start: job.requested_start,
    }
}
