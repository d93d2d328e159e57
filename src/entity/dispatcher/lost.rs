//! Faults between the dispatcher and the sites: messages that are held up or repeated, sites that are not heard of, and assignments that are lost.

use super::{Dispatcher, Sent, assignment};
use crate::entity::broker::{of_job, task};
use crate::entity::mailbox::Moments;
use crate::entity::{Address, EndedJob, Outbox, Stamp, ToBroker, ToDispatcher, ToSite};
use crate::model::{
    EventCause, EventKind, EventRecord, Job, JobId, MessageKind, Origin, Record, SiteId, TaskId,
};
use crate::platform::{FaultTurn, submission};
use crate::units::Span;

impl Dispatcher {
    /// Submits a job to its site.
    pub(super) fn submit(&mut self, job: Box<Job>, site: SiteId, now: Stamp, outbox: &mut dyn Outbox) {
        let (task, assignment) = (task(&job), assignment(&job));
        let faults = self.faults.site(site).cloned();
        let in_vain = faults.filter(|faults| faults.is_in_vain(task.0, assignment, now.time));
        // Of an assignment that comes too late, or where nobody is, the job stays here until it is taken as lost.
        let rest = in_vain.map(|_| job.clone());
        self.sent.insert(task, Sent { site, assignment, lost: false, rest });
        let name = submission(task.0, assignment);
        self.command(site, &name, ToSite::Assign { job, sent: now.time }, now, outbox);
    }

    /// Has a site return a job, if it still waits.
    pub(super) fn withdraw(
        &mut self,
        task: TaskId,
        site: SiteId,
        assignment: u32,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) {
        let (sent, name) = (now.time, format!("withdraw {} {assignment} {}", task.0, now.time.micros()));
        self.command(site, &name, ToSite::Withdraw { task, assignment, sent }, now, outbox);
    }

    /// Has a job ended, since another part of it has failed: at its site, or before it has left.
    pub(super) fn abort(&mut self, wanted: TaskId, now: Stamp, outbox: &mut dyn Outbox) {
        if let Some(Sent { site, assignment, .. }) = self.sent.get(&wanted) {
            let (site, assignment) = (*site, *assignment);
            let name = format!("abort {} {assignment}", wanted.0);
            let letter = ToSite::Abort { task: wanted, assignment };
            return self.command(site, &name, letter, now, outbox);
        }
        if let Some(at) = self.outgoing.iter().position(|(_, job, _)| task(job) == wanted)
            && let Some((_, job, pool)) = self.outgoing.remove(at)
        {
            self.give_place(pool.site);
            self.fill_places(pool.site, now, outbox);
            self.notify_broker(now, ToBroker::Returned { job, why: EventCause::PartFailed }, outbox);
        }
    }

    /// Sends a command to a site, as late and as often as faults have it.
    fn command(&mut self, site: SiteId, name: &str, letter: ToSite, now: Stamp, outbox: &mut dyn Outbox) {
        let usual = self.latency[site.index()];
        let Some(faults) = self.faults.site(site) else {
            return self.send(Address::Site(site), now, usual, letter, outbox);
        };
        for delay in faults.delays(MessageKind::Commands, name, now.time) {
            self.note_delay(delay, usual, now);
            self.send(Address::Site(site), now, delay, letter.clone(), outbox);
        }
    }

    /// Notes when a message arrives that takes longer than usual.
    fn note_delay(&mut self, delay: Span, usual: Span, now: Stamp) {
        if delay > usual {
            self.landing = self.landing.max(now.time + delay);
        }
    }

    /// Handles what the faults of a site change.
    pub(super) fn turn(&mut self, site: SiteId, turn: FaultTurn, now: Stamp, outbox: &mut dyn Outbox) {
        self.last = now.time;
        let tell = |kind, outbox: &mut dyn Outbox| {
            outbox.record(Record::Event(EventRecord::new(now.time, kind, EventCause::Silence, site)));
        };
        match turn {
            FaultTurn::Lost => self.lose(site, now, outbox),
            FaultTurn::Unheard => {
                tell(EventKind::Unheard, outbox);
                self.notify_broker(now, ToBroker::Unheard(site), outbox);
            }
            FaultTurn::Heard => tell(EventKind::Heard, outbox),
            FaultTurn::Silent | FaultTurn::Back | FaultTurn::Directory => {}
        }
    }

    /// Takes all assignments of a site as lost. The jobs of those that are over there return.
    fn lose(&mut self, site: SiteId, now: Stamp, outbox: &mut dyn Outbox) {
        let of_site = |sent: &Sent| sent.site == site && !sent.lost;
        let lost: Vec<TaskId> =
            self.sent.iter().filter(|(_, sent)| of_site(sent)).map(|(task, _)| *task).collect();
        for task in lost {
            self.tally.lost += 1;
            self.give_place(site);
            let Some(sent) = self.sent.get_mut(&task) else { continue };
            sent.lost = true;
            if let Some(job) = sent.rest.take() {
                self.sent.remove(&task);
                self.came_back_lost(job, site, now, outbox);
            }
        }
        self.fill_places(site, now, outbox);
    }

    /// Handles what is left of a job: it returns once its assignment is taken as lost.
    pub(super) fn remains(&mut self, job: Box<Job>, site: SiteId, now: Stamp, outbox: &mut dyn Outbox) {
        let (task, assignment) = (task(&job), assignment(&job));
        match self.sent.get_mut(&task).filter(|sent| sent.is(site, assignment)) {
            Some(sent) if sent.lost => {
                self.sent.remove(&task);
                self.came_back_lost(job, site, now, outbox);
            }
            Some(sent) => sent.rest = Some(job),
            None => {}
        }
    }

    /// Handles a job whose assignment is lost.
    fn came_back_lost(&mut self, job: Box<Job>, site: SiteId, now: Stamp, outbox: &mut dyn Outbox) {
        let (kind, cause, partition) = (EventKind::Lost, EventCause::Silence, job.partition);
        let event = EventRecord { kind, cause, site, partition, ..of_job(&job, now.time) };
        outbox.record(Record::Event(event));
        self.came_back(job, cause, now, outbox);
    }

    /// Ignores a message about an assignment that is not the present one of its job.
    pub(super) fn stale(&mut self, job: JobId, site: SiteId, now: Stamp, outbox: &mut dyn Outbox) {
        self.tally.stale += 1;
        outbox.record(Record::Event(EventRecord {
            job: Some(job),
            origin: Origin::Grid,
            ..EventRecord::new(now.time, EventKind::Stale, EventCause::None, site)
        }));
    }

    /// Ends the run for what has arrived and not been handled, and for what no site has: the jobs that are left.
    pub(super) fn close_mail(&mut self) -> impl Iterator<Item = Box<Job>> + use<> {
        let mut left = Vec::new();
        for letter in self.mail.drain() {
            match letter.body {
                ToDispatcher::Assign { job, .. } => left.push(job),
                // Its site has recorded it.
                ToDispatcher::Ended { site, assignment, ended: EndedJob { task, .. } } => {
                    if self.sent.get(&task).is_some_and(|sent| sent.is(site, assignment)) {
                        self.sent.remove(&task);
                        self.done += 1;
                    }
                }
                ToDispatcher::Returned { site, job, .. } | ToDispatcher::Remains { site, job } => {
                    let (task, assignment) = (task(&job), assignment(&job));
                    if self.sent.get(&task).is_some_and(|sent| sent.is(site, assignment)) {
                        self.sent.remove(&task);
                        left.push(job);
                    }
                }
                ToDispatcher::Recall { .. }
                | ToDispatcher::Abort { .. }
                | ToDispatcher::Transferred { .. } => {}
            }
        }
        left.extend(self.sent.values_mut().filter_map(|sent| sent.rest.take()));
        left.into_iter()
    }
}
