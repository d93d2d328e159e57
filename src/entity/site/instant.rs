//! One moment at a site.

use super::agreements::Sought;
use super::{EntityError, Outbox, Sender, Site, Stamp};
use crate::entity::ToSite;
use crate::entity::broker::{is_recalled, of_job, unplaced};
use crate::local::{Exit, ExitKind, Partition, SlotRequest, Step};
use crate::model::{
    EventCause, EventKind, EventRecord, InstantOrder, Job, JobAct, JobRecord, JobRef, Order, Origin, Outcome,
    Record, RejectReason,
};
use crate::units::{Bytes, Time};

impl Site {
    /// Handles everything that belongs to this moment.
    pub(super) fn handle_moment(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        // What is down has made an event of this moment.
        if now == Stamp::default() && self.spec.record_machines {
            let mut step = Step::new(now.time, outbox, &mut self.ended);
            self.partitions.iter_mut().for_each(|partition| partition.record_absent(&mut step));
        }
        self.lapse_holds(now.time, outbox);
        match self.spec.order {
            InstantOrder::Instant => self.handle_at_once(now, outbox)?,
            InstantOrder::Event => self.handle_one_by_one(now, outbox)?,
        }
        if self.miss_starts(now, outbox) {
            let mut step = Step::new(now.time, outbox, &mut self.ended);
            for (partition, touched) in self.partitions.iter_mut().zip(&mut self.touched) {
                pass(partition, touched, &mut step)?;
            }
            self.report_ends(now, outbox)?;
        }
        Ok(())
    }

    /// Handles ends, changes, wakes, arrivals (first the jobs whose requested start has come), elastic commands, then one pass.
    fn handle_at_once(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        let mut step = Step::new(now.time, outbox, &mut self.ended);
        for (at, partition) in self.partitions.iter_mut().enumerate() {
            while partition.end_next(&mut step) {
                self.touched[at] = true;
            }
        }
        self.churn_due(now, outbox)?;
        let mut step = Step::new(now.time, outbox, &mut self.ended);
        for (at, partition) in self.partitions.iter_mut().enumerate() {
            self.touched[at] |= partition.follow_power(&mut step);
            self.touched[at] |= partition.follow_book(&mut step);
            self.touched[at] |= partition.wake(now.time);
            // These are arrivals, and so come after the notifications of ends; neither affects the other, and this loop runs
            // anyway.
            while partition.arrive_early(now.time) {
                self.touched[at] = true;
            }
        }
        self.report_ends(now, outbox)?;
        while self.handle_next_arrival(now, outbox)? {}
        let mut step = Step::new(now.time, outbox, &mut self.ended);
        for (partition, touched) in self.partitions.iter_mut().zip(&mut self.touched) {
            *touched |= partition.execute_due(&mut step)?;
            pass(partition, touched, &mut step)?;
            while partition.settle_power(&mut step)? {
                partition.pass(&mut step)?;
            }
        }
        self.report_ends(now, outbox)
    }

    /// Handles reservations that are over, arrivals, ends, reservations that begin, and wakes, each with a pass; starts take
    /// effect at the end.
    fn handle_one_by_one(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        let time = now.time;
        self.churn_due(now, outbox)?;
        let mut step = Step::new(time, outbox, &mut self.ended);
        for (partition, touched) in self.partitions.iter_mut().zip(&mut self.touched) {
            *touched |= partition.follow_power(&mut step);
            partition.begin_instant(time);
            *touched |= partition.end_bookings(&mut step);
            pass(partition, touched, &mut step)?;
            while partition.arrive_early(time) {
                *touched = true;
                pass(partition, touched, &mut step)?;
            }
        }
        while self.handle_next_arrival(now, outbox)? {
            let mut step = Step::new(time, outbox, &mut self.ended);
            for (partition, touched) in self.partitions.iter_mut().zip(&mut self.touched) {
                pass(partition, touched, &mut step)?;
            }
        }
        let mut step = Step::new(time, outbox, &mut self.ended);
        for (partition, touched) in self.partitions.iter_mut().zip(&mut self.touched) {
            while partition.end_next(&mut step) {
                *touched = true;
                pass(partition, touched, &mut step)?;
            }
            *touched |= partition.begin_bookings(&mut step);
            pass(partition, touched, &mut step)?;
            *touched |= partition.wake(time);
            pass(partition, touched, &mut step)?;
            partition.end_instant(&mut step)?;
            // Commands are refused here: no policy that runs under this order processes them. But a job may be ended at its deadline or budget.
            if partition.execute_due(&mut step)? {
                partition.pass(&mut step)?;
                partition.end_instant(&mut step)?;
            }
            while partition.settle_power(&mut step)? {
                partition.pass(&mut step)?;
                partition.end_instant(&mut step)?;
            }
        }
        self.report_ends(now, outbox)
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
            self.end_reservation(gone.number, gone.job);
            if gone.job.origin() == Origin::Local {
                if let Some(source) = &mut self.source.source {
                    source.ended(gone.job.number, now.time);
                }
            } else {
                self.notify_exit(gone, now, outbox);
            }
        }
        self.ended = ended;
        self.source.refresh()
    }

    /// Handles the next arrival at this moment: the site's own jobs first (by far the most frequent), then planned orders, then
    /// messages. False if there is none.
    fn handle_next_arrival(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<bool, EntityError> {
        if self.source.next.is_some_and(|time| time <= now.time)
            && let Some(source) = &mut self.source.source
        {
            let job = source.next_job()?;
            self.source.refresh()?;
            if let Some(job) = job {
                self.submit(job, Origin::Local, now, outbox)?;
                return Ok(true);
            }
        }
        if let Some(order) = self.take_order(now.time) {
            self.order(order, EventCause::Script, now, outbox)?;
            return Ok(true);
        }
        let Some(message) = self.mail.take(now) else { return Ok(false) };
        if message.sender == Sender::Outside {
            self.counts.outside -= 1;
        }
        self.handle_message(message.body, now, outbox)?;
        Ok(true)
    }

    fn handle_message(
        &mut self,
        letter: ToSite,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> Result<(), EntityError> {
        let command = EventCause::Command;
        match letter {
            ToSite::Submit(mut job) => {
                // A job that was sent before its stated submission time: it cannot start before that.
                job.submit = job.submit.min(now.time);
                self.submit(*job, Origin::Local, now, outbox)
            }
            ToSite::Assign { job, sent } => {
                let Some(mut job) = self.meet_job(job, sent, now, outbox) else { return Ok(()) };
                job.submit = job.submit.min(now.time);
                if !self.is_open() {
                    self.turn_away(job, EventCause::SiteLeft, now, outbox);
                    return Ok(());
                }
                if self.is_closing() {
                    self.turn_away(job, EventCause::SiteDrains, now, outbox);
                    return Ok(());
                }
                if !self.finds_reservation(&job, now.time) {
                    self.turn_away(job, EventCause::Lapsed, now, outbox);
                    return Ok(());
                }
                self.submit(*job, Origin::Grid, now, outbox)
            }
            ToSite::Cancel(job) => self.order(Order::Job { job, act: JobAct::Cancel }, command, now, outbox),
            ToSite::Elastic { job, change } => {
                self.order(Order::Job { job, act: JobAct::Change(change) }, command, now, outbox)
            }
            ToSite::Book(act) => self.order(Order::Book(act), command, now, outbox),
            ToSite::Withdraw { task, assignment, sent } => {
                if !self.meet_recall(task, assignment, sent, now, outbox) {
                    return Ok(());
                }
                let mut withdrawn = None;
                let mut step = Step::new(now.time, outbox, &mut self.ended);
                for (partition, touched) in self.partitions.iter_mut().zip(&mut self.touched) {
                    if partition.assignment(task.0) == Some(assignment)
                        && let Some(job) = partition.withdraw(task.0, &mut step)
                    {
                        *touched = true;
                        withdrawn = Some(job);
                    }
                }
                if let Some(job) = withdrawn {
                    self.send_back(job, EventCause::Replanned, now, outbox);
                }
                Ok(())
            }
            ToSite::Seek { .. } | ToSite::Agree { .. } | ToSite::Abort { .. } if self.is_silent(now.time) => {
                Ok(())
            }
            ToSite::Seek {
                request,
                round,
                part,
                partition,
                procs,
                length,
                earliest,
                latest,
                alternatives,
            } => {
                let slot = SlotRequest { procs, duration: length, earliest, latest, alternatives };
                self.seek(Sought { request, round, part, partition, slot }, now, outbox);
                Ok(())
            }
            ToSite::Agree { id, ask } => {
                self.agree(id, ask, now, outbox);
                Ok(())
            }
            ToSite::Abort { task, assignment } => {
                self.abort(task, assignment, now, outbox);
                self.report_ends(now, outbox)
            }
            // It was carried out before its turn, with the other changes of machines of this moment.
            ToSite::Churn(_) => Ok(()),
        }
    }

    /// Returns a grid job at once, because the site is down, or refuses all.
    pub(super) fn turn_away(&mut self, job: Box<Job>, why: EventCause, now: Stamp, outbox: &mut dyn Outbox) {
        outbox.record(Record::Event(EventRecord {
            kind: EventKind::Refused,
            cause: why,
            site: self.id,
            partition: job.partition,
            ..of_job(&job, now.time)
        }));
        self.send_back(job, why, now, outbox);
    }

    fn submit(
        &mut self,
        job: Job,
        origin: Origin,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> Result<(), EntityError> {
        if !is_recalled(&job) {
            self.counts.last = now.time;
        }
        self.counts.admitted += u64::from(job.grid.is_none());
        if self.arrive(job, origin, now.time, outbox) { Ok(()) } else { self.report_ends(now, outbox) }
    }

    /// Hands a job to its partition. False if it was refused.
    fn arrive(&mut self, job: Job, origin: Origin, now: Time, outbox: &mut dyn Outbox) -> bool {
        let at = match job.partition {
            Some(partition) => partition.index(),
            None => self.first_fit(&job),
        };
        if let Some(partition) = self.partitions.get_mut(at) {
            let taken = partition.arrive(job, origin, &mut Step::new(now, outbox, &mut self.ended));
            self.touched[at] |= taken;
            return taken;
        }
        self.refused += 1;
        for command in job.elastic.iter().flatten() {
            self.refuse(job.id, JobAct::Change(command.change), now, outbox);
        }
        let outcome = Outcome::Rejected(RejectReason::NoSuchPartition);
        let partition = job.partition.unwrap_or_default();
        let record = JobRecord { origin, site: self.id, partition, ..unplaced(&job, outcome, now) };
        let number = job.grid.as_ref().map(|grid| grid.number);
        let assignment = job.grid.as_ref().map_or(0, |grid| grid.assignment);
        let job = JobRef::new(origin, self.id, job.id);
        let (start, attempts, how) = (record.start, record.attempts, ExitKind::Ended(outcome));
        let (energy, cost) = (record.energy, record.cost);
        outbox.record(Record::Job(record));
        let (output, last_start, passed) = (Bytes::ZERO, None, Box::default());
        self.ended.push(Exit {
            job,
            number,
            assignment,
            output,
            start,
            last_start,
            attempts,
            energy,
            cost,
            passed,
            how,
        });
        false
    }

    /// The partition of a job that names none: the first that is large enough, or otherwise the first, which will refuse it.
    fn first_fit(&self, job: &Job) -> usize {
        if self.partitions.len() == 1 {
            return 0;
        }
        let most = |partition: &Partition| partition.spec().most();
        let needs = |partition: &Partition| partition.spec().rounded(job.size.min());
        let fits = self.partitions.iter().position(|partition| needs(partition) <= most(partition));
        fits.unwrap_or(0)
    }
}

/// A pass of a partition in which something has happened.
fn pass(partition: &mut Partition, touched: &mut bool, step: &mut Step<'_>) -> Result<(), EntityError> {
    if std::mem::take(touched) {
        partition.pass(step)?;
    }
    Ok(())
}
