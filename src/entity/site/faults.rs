//! The faults between a site and the grid, at the site: what it says arrives late, twice, or never, and it fails without a word.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{EntityError, Outbox, Site, Stamp};
use crate::entity::broker::{of_job, task};
use crate::entity::mailbox::Moments;
use crate::entity::{Address, Body, ToDispatcher, ToSite};
use crate::local::Step;
use crate::model::{EventCause, EventKind, EventRecord, Job, JobId, MessageKind, Origin, Record, TaskId};
use crate::platform::{FaultTurn, SiteFaults, end};
use crate::units::Time;

/// What a site knows of the faults between it and the grid.
#[derive(Debug, Default)]
pub(super) struct Meeting {
    faults: Option<Arc<SiteFaults>>,
    /// How many of their turns have passed. It follows from the time, and is not saved.
    turned: usize,
    /// Whether the site is back since this moment began, and has not said so.
    back: bool,
    saved: MeetingSave,
}

/// The same in a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MeetingSave {
    /// The last assignment of each job that it has had.
    had: BTreeMap<TaskId, Had>,
    /// Jobs that a black hole has taken, by when it fails them, in the order in which they came.
    taken: BTreeMap<(Time, u64), Box<Job>>,
    /// Jobs that a black hole has taken so far.
    count: u64,
    /// When the last message of those that are held up arrives.
    landing: Time,
}

/// An assignment that a site has had.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Had {
    job: JobId,
    assignment: u32,
    /// When the last recall of it that was heard had been sent.
    recall: Option<Time>,
}

/// Whether a site itself does something when faults turn.
fn matters(turn: FaultTurn) -> bool {
    matches!(turn, FaultTurn::Silent | FaultTurn::Back | FaultTurn::Lost)
}

impl Meeting {
    /// Whether there are any faults.
    pub(super) fn is_some(&self) -> bool {
        self.faults.is_some()
    }

    fn turns(&self) -> &[(Time, FaultTurn)] {
        self.faults.as_ref().map_or(&[], |faults| faults.turns())
    }

    /// When something happens next because of them.
    pub(super) fn next(&self) -> Option<Time> {
        let turns = &self.turns()[self.turned..];
        let turn = turns.iter().find(|(_, turn)| matters(*turn)).map(|(time, _)| *time);
        let taken = self.saved.taken.first_key_value().map(|((time, _), _)| *time);
        turn.into_iter().chain(taken).min()
    }

    /// Takes the next turn that is due.
    fn take(&mut self, now: Time) -> Option<FaultTurn> {
        let (_, turn) = *self.turns().get(self.turned).filter(|(time, _)| *time <= now)?;
        self.turned += 1;
        Some(turn)
    }

    /// Whether the site has failed without a word.
    pub(super) fn is_silent(&self, now: Time) -> bool {
        self.faults.as_ref().is_some_and(|faults| faults.is_silent(now))
    }

    /// Whether the site is to say that it is back after it had failed without a word: once.
    pub(super) fn says_back(&mut self) -> bool {
        std::mem::take(&mut self.back)
    }

    /// When the last message of those that are held up arrives.
    pub(super) fn landing(&self) -> Time {
        self.saved.landing
    }

    pub(super) fn save(&self) -> MeetingSave {
        self.saved.clone()
    }

    pub(super) fn restore(&mut self, saved: MeetingSave, passed: Stamp) {
        self.saved = saved;
        self.turned = self.turns().partition_point(|(time, _)| Stamp::at(*time) < passed);
    }
}

impl Site {
    /// Lets the site meet these faults from its beginning.
    pub fn meet(&mut self, faults: Option<Arc<SiteFaults>>) {
        self.partitions.iter_mut().for_each(|partition| partition.meet(faults.clone()));
        self.meeting.faults = faults;
        self.refresh();
    }

    /// Whether data can be brought here.
    pub(super) fn is_reachable(&self, now: Time) -> bool {
        self.is_open() && !self.meeting.is_silent(now)
    }

    /// Handles what the faults change at this moment.
    pub(super) fn faults_due(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        while let Some(turn) = self.meeting.take(now.time) {
            match turn {
                FaultTurn::Silent => {
                    self.lose_all(now, outbox)?;
                    self.forget_holds(now.time, outbox);
                    self.fail(false, now.time, outbox)?;
                }
                FaultTurn::Back => {
                    self.fail(true, now.time, outbox)?;
                    self.meeting.back = true;
                    if let Some(uplink) = &mut self.uplink {
                        uplink.forget_asked();
                    }
                }
                FaultTurn::Lost => self.lose_all(now, outbox)?,
                FaultTurn::Unheard | FaultTurn::Heard | FaultTurn::Directory => {}
            }
        }
        while let Some(first) =
            self.meeting.saved.taken.first_entry().filter(|first| first.key().0 <= now.time)
        {
            let (job, why) = (first.remove(), EventCause::Fault);
            self.counts.last = now.time;
            let job = self.fail_taken(job, why, now, outbox);
            self.send_back(job, why, now, outbox);
        }
        Ok(())
    }

    /// Fails a job that a black hole has taken.
    fn fail_taken(
        &self,
        mut job: Box<Job>,
        cause: EventCause,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> Box<Job> {
        if let Some(grid) = &mut job.grid {
            grid.failed_at = Some(now.time);
        }
        let (kind, site, partition) = (EventKind::Returned, self.id, job.partition);
        let event = EventRecord { kind, cause, site, partition, ..of_job(&job, now.time) };
        outbox.record(Record::Event(event));
        job
    }

    /// Ends all assignments here: what is left of their jobs goes to the dispatcher, who does not know it.
    fn lose_all(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        for (at, partition) in self.partitions.iter_mut().enumerate() {
            let mut step = Step::new(now.time, outbox, &mut self.ended);
            self.touched[at] |= partition.lose_grid_jobs(&mut step);
        }
        for job in std::mem::take(&mut self.meeting.saved.taken).into_values() {
            let job = self.fail_taken(job, EventCause::Silence, now, outbox);
            self.send_remains(job, now, outbox);
        }
        self.report_ends(now, outbox)
    }

    /// Meets an assignment that arrives: one that has come before, or is over, is ignored, and a fault of the site may take it. Returns the job otherwise.
    pub(super) fn meet_job(
        &mut self,
        mut job: Box<Job>,
        sent: Time,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> Option<Box<Job>> {
        let Some(faults) = self.meeting.faults.clone() else { return Some(job) };
        if faults.is_silent(now.time) {
            return None;
        }
        self.counts.last = now.time;
        if self.is_void(&job, sent) {
            let (kind, site, partition) = (EventKind::Stale, self.id, job.partition);
            outbox.record(Record::Event(EventRecord { kind, site, partition, ..of_job(&job, now.time) }));
            return None;
        }
        let assignment = job.grid.as_ref().map_or(0, |grid| grid.assignment);
        self.meeting.saved.had.insert(task(&job), Had { job: job.id, assignment, recall: None });
        if faults.refuses(now.time) && self.is_open() {
            self.turn_away(job, EventCause::Fault, now, outbox);
            return None;
        }
        // One whose deadline has passed ends as it does anywhere, and none is kept beyond its deadline.
        let ends = job.killed_at().unwrap_or(Time::NEVER);
        let after = faults.fails_after(now.time).filter(|_| self.is_open() && now.time < ends);
        if let Some(after) = after {
            let grid = job.grid.get_or_insert_default();
            // A part begins with its reservation, or not at all.
            if grid.part.is_none() {
                grid.attempts += 1;
                grid.first_start = grid.first_start.or(Some(now.time));
            }
            let saved = &mut self.meeting.saved;
            saved.taken.insert(((now.time + after).min(ends), saved.count), job);
            saved.count += 1;
            return None;
        }
        Some(job)
    }

    /// Whether a recall that arrives is to be followed: not one that comes again, since the job may wait once more after a failure. One that a later one has
    /// overtaken is no news either.
    pub(super) fn meet_recall(
        &mut self,
        task: TaskId,
        assignment: u32,
        sent: Time,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> bool {
        if !self.meeting.is_some() {
            return true;
        }
        // Nobody is there.
        if self.meeting.is_silent(now.time) {
            return false;
        }
        let had = self.meeting.saved.had.get_mut(&task).filter(|had| had.assignment == assignment);
        // One that overtakes its assignment finds nothing.
        let Some(had) = had else { return true };
        let is_news = had.recall.is_none_or(|last| last < sent);
        had.recall = had.recall.max(Some(sent));
        if !is_news {
            outbox.record(Record::Event(EventRecord {
                job: Some(had.job),
                origin: Origin::Grid,
                ..EventRecord::new(now.time, EventKind::Stale, EventCause::None, self.id)
            }));
        }
        is_news
    }

    /// Whether an assignment that arrives has been here before, or is over.
    fn is_void(&self, job: &Job, sent: Time) -> bool {
        let Some(faults) = &self.meeting.faults else { return false };
        let (task, assignment) = (task(job), job.grid.as_ref().map_or(0, |grid| grid.assignment));
        self.meeting.saved.had.get(&task).is_some_and(|had| had.assignment >= assignment)
            || faults.is_in_vain(task.0, assignment, sent)
    }

    /// Takes out the jobs in messages that will not be handled any more, because the run is over, and those of a black hole.
    pub(super) fn close_mail(&mut self) -> impl Iterator<Item = Box<Job>> + use<> {
        let mut left = Vec::new();
        let letters: Vec<ToSite> = self.mail.drain().map(|message| message.body).collect();
        for letter in letters {
            match letter {
                ToSite::Submit(job) => left.push(job),
                ToSite::Assign { job, sent } if !self.is_void(&job, sent) => {
                    let assignment = job.grid.as_ref().map_or(0, |grid| grid.assignment);
                    if self.meeting.is_some() {
                        self.meeting
                            .saved
                            .had
                            .insert(task(&job), Had { job: job.id, assignment, recall: None });
                    }
                    left.push(job);
                }
                _ => {}
            }
        }
        left.extend(std::mem::take(&mut self.meeting.saved.taken).into_values());
        left.into_iter()
    }

    /// Returns a job of the grid to the dispatcher.
    pub(super) fn send_back(&mut self, job: Box<Job>, why: EventCause, now: Stamp, outbox: &mut dyn Outbox) {
        let (number, assignment) = job.grid.as_ref().map_or((0, 0), |grid| (grid.number, grid.assignment));
        let faults = self.meeting.faults.as_ref();
        let unheard = faults.is_some_and(|faults| faults.is_unheard(number, assignment, now.time));
        if unheard || why == EventCause::Silence {
            self.send_remains(job.clone(), now, outbox);
            if !unheard {
                return;
            }
            // It is said all the same, and ignored when it arrives.
        }
        let letter = ToDispatcher::Returned { site: self.id, job, why };
        self.send_end(number, assignment, letter, now, outbox);
    }

    /// Sends what is left of a job whose assignment is over to the dispatcher: no fault touches that.
    fn send_remains(&mut self, job: Box<Job>, now: Stamp, outbox: &mut dyn Outbox) {
        let letter = ToDispatcher::Remains { site: self.id, job };
        self.send_up(Address::Dispatcher, now, letter, outbox);
    }

    /// Notifies the dispatcher that an assignment has ended, or returns.
    pub(super) fn send_end(
        &mut self,
        number: u64,
        assignment: u32,
        letter: ToDispatcher,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) {
        self.send_late(MessageKind::Ends, Address::Dispatcher, &end(number, assignment), letter, now, outbox);
    }

    /// Sends what the site says of itself.
    pub(super) fn send_news(
        &mut self,
        to: Address,
        name: &str,
        letter: impl Into<Body>,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) {
        self.send_late(MessageKind::Reports, to, name, letter, now, outbox);
    }

    /// Whether the site has failed without a word.
    pub(super) fn is_silent(&self, now: Time) -> bool {
        self.meeting.is_silent(now)
    }

    /// Sends a message, as late and as often as faults have it.
    pub(super) fn send_late(
        &mut self,
        of: MessageKind,
        to: Address,
        name: &str,
        letter: impl Into<Body>,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) {
        let Some(uplink) = &self.uplink else { return };
        let Some(faults) = &self.meeting.faults else { return self.send_up(to, now, letter, outbox) };
        let usual = uplink.latency();
        let letter: Body = letter.into();
        for delay in faults.delays(of, name, now.time) {
            if delay > usual {
                self.meeting.saved.landing = self.meeting.saved.landing.max(now.time + delay);
            }
            self.send(to, now, delay, letter.clone(), outbox);
        }
    }
}
