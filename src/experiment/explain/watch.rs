//! Finds where a job is in a grid, and follows its attempts.

use super::facts::{AssignedTo, ComparedFront, ComparedPool, ComparedSchedule};
use super::stretches::place_name;
use crate::broker::{Candidate, PutOff, Reason, TaskState, TracedFront, TracedSchedule};
use crate::entity::{Reserving, Whereabouts};
use crate::grid::Grid;
use crate::local::{Phase, View};
use crate::model::{
    Cause, EventCause, EventKind, EventRecord, JobId, JobKey, JobRecord, JobRef, Origin, PartitionId, PoolId,
    Record, RecordSink, SegmentRecord, SiteId, TaskId,
};
use crate::units::Time;

/// Follows one job through the records of a run and through its entities.
pub(super) struct Watch {
    pub(super) job: JobRef,
    /// Its end: a task that has completed before may run again.
    end: Time,
    /// Where the job was last found: site, partition, key and rank of arrival.
    at: Option<(SiteId, usize, JobKey, u64)>,
    /// Its attempts so far, in order.
    pub(super) tries: Vec<Try>,
    /// Its record, once it has ended.
    pub(super) ended: Option<JobRecord>,
    /// Its suspensions: when, why, and until when it had no processors.
    pub(super) suspensions: Vec<(Time, String, Option<Time>)>,
    /// The limit at which it was ended, if it was.
    pub(super) limit: Option<EventKind>,
    /// The attempts that completed although it ran again later, each with the time from which it was to do so.
    pub(super) again: Vec<(u32, Time)>,
    /// The jobs of the tasks that it waited for when it was first found to be blocked.
    pub(super) blockers: Vec<JobId>,
}

/// An attempt, as far as it has progressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Try {
    /// The number of the attempt, from 1.
    pub(super) number: u32,
    pub(super) site: SiteId,
    pub(super) partition: PartitionId,
    /// Its processors, those of its last allocation.
    pub(super) procs: u32,
    pub(super) from: Time,
    /// The end of its last recorded segment.
    pub(super) to: Time,
    /// How it failed; `None` if it has not failed.
    pub(super) failure: Option<Failure>,
}

/// The failure of an attempt.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) kind: EventKind,
    pub(super) cause: EventCause,
    /// Wasted work, in processors × 2⁻²⁰ × microseconds.
    pub(super) work: u128,
}

/// The place of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Not in the grid, or in a message.
    Nowhere,
    /// With the broker, not assigned.
    Broker,
    /// With the broker, and tasks that it waits for have not completed.
    Blocked,
    /// With the broker: the workflow engine makes a job of it.
    Engine,
    /// With the broker: others go to its site before, as planned.
    Turn(TaskId, SiteId),
    /// With the broker until then: its policy has put it off.
    PutOff(Time, Reason),
    /// With the broker, which reserves a common start for it and the other parts of its job.
    Reserves(Reserving),
    /// With the broker until its files are at its site.
    Files(TaskId, SiteId),
    /// With the dispatcher.
    Dispatcher(Whereabouts),
    /// At a site, where it waits.
    Site { site: SiteId, partition: usize, key: JobKey },
    /// At a site, where it has its processors for this attempt, until then: its machines wake up.
    Wakes { site: SiteId, partition: usize, attempt: u32, until: Time },
    /// Running, or in transition, in this phase.
    Runs(Try, Phase),
    /// A task that has completed, and will run again.
    Between,
    /// The job has ended.
    Over,
}

impl Watch {
    pub(super) const fn new(job: JobRef, end: Time) -> Self {
        Self {
            job,
            end,
            at: None,
            tries: Vec::new(),
            ended: None,
            suspensions: Vec::new(),
            limit: None,
            again: Vec::new(),
            blockers: Vec::new(),
        }
    }

    /// The time of its first start, once known.
    pub(super) fn started(&self) -> Option<Time> {
        let record = self.ended.as_ref().and_then(|record| record.start);
        record.or_else(|| self.tries.first().map(|first| first.from))
    }

    /// Finds the job. Entities that may hold a grid job are asked first; all sites only if none of them has it.
    pub(super) fn find(&mut self, grid: &Grid, now: Time) -> Place {
        if let Some(ended) = &self.ended {
            return if ended.end < self.end { Place::Between } else { Place::Over };
        }
        self.forget(grid);
        let traced = grid.broker().and_then(|broker| Some((broker, broker.traced_task()?)));
        if let Some((broker, task)) = traced.filter(|_| self.at.is_none()) {
            match broker.state_of(task) {
                Some(TaskState::Ready) => {
                    if let Some(PutOff { until, reason }) = broker.is_put_off(task) {
                        return Place::PutOff(until, reason);
                    }
                    return match broker.turn(task) {
                        None => Place::Broker,
                        Some((site, first, _)) if first == self.job.number => Place::Files(task, site),
                        Some((site, ..)) => Place::Turn(task, site),
                    };
                }
                Some(TaskState::Staging(pool)) => {
                    return Place::Files(task, broker.pools()[pool].facts.id.site);
                }
                Some(TaskState::Blocked) if broker.prepares(task) => return Place::Engine,
                Some(TaskState::Blocked) => {
                    if self.blockers.is_empty() {
                        self.blockers = broker.blockers(task);
                    }
                    return Place::Blocked;
                }
                _ => {
                    let there = grid.dispatcher().and_then(|dispatcher| dispatcher.whereabouts(task));
                    if let Some(there) = there {
                        return Place::Dispatcher(there);
                    }
                }
            }
        }
        if self.at.is_none() {
            self.search(grid);
        }
        self.at_site(grid, now).unwrap_or_else(|| {
            let broker = grid.broker().filter(|_| self.job.origin() == Origin::Grid);
            broker.and_then(|broker| broker.reserving(self.job)).map_or(Place::Nowhere, Place::Reserves)
        })
    }

    /// The assignment of the job at this instant, if the broker has made one.
    pub(super) fn assigned(&self, grid: &Grid, now: Time) -> Option<AssignedTo> {
        let broker = grid.broker().filter(|_| self.job.origin() == Origin::Grid)?;
        let choice = broker.choice().filter(|choice| choice.at == now)?;
        let name = |pool: PoolId| {
            let site = grid.site(pool.site)?;
            Some(place_name(site, site.partitions().get(pool.partition.index())?))
        };
        let compared = |of: &Candidate| ComparedPool {
            pool: name(of.pool).unwrap_or_default(),
            start_s: of.start.map(Time::as_secs_f64),
            end_s: of.end.map(Time::as_secs_f64),
            values: of.values.iter().copied().collect(),
        };
        let schedule = |of: &TracedSchedule| ComparedSchedule {
            pool: of.pool.and_then(name),
            start_s: of.pool.map(|_| of.start.as_secs_f64()),
            end_s: of.pool.map(|_| of.end.as_secs_f64()),
            value: of.value,
            objectives: of.objectives.clone(),
        };
        let front = |of: &TracedFront| ComparedFront {
            planning: of.planning.number,
            tasks: of.planning.tasks,
            evaluations: of.planning.evaluations,
            objectives: of.objectives,
            value: of.chosen_by.value,
            chosen_by: of.chosen_by.rule.clone(),
            schedules: of.schedules.iter().map(schedule).collect(),
        };
        Some(AssignedTo {
            at_s: now.as_secs_f64(),
            asked_s: Some(choice.asked.as_secs_f64()).filter(|_| choice.asked < now),
            pool: name(choice.pool)?,
            reason: choice.reason.name(),
            compared: choice.candidates.iter().map(compared).collect(),
            front: choice.front.as_ref().map(front),
        })
    }

    /// Clears the remembered place if the job is no longer there.
    fn forget(&mut self, grid: &Grid) {
        let Some((site, partition, key, seq)) = self.at else { return };
        let there = grid.site(site).and_then(|site| site.partitions().get(partition));
        let job = there.and_then(|there| there.view(Time::ZERO).get(key).map(|job| (job.id(), job.seq())));
        if job != Some((self.job.number, seq)) {
            self.at = None;
        }
    }

    fn search(&mut self, grid: &Grid) {
        let home = self.job.workload.site();
        for site in grid.sites().filter(|site| home.is_none_or(|home| home == site.id())) {
            for (partition, part) in site.partitions().iter().enumerate() {
                if let Some(key) = part.find(self.job) {
                    let seq = part.view(Time::ZERO).job(key).seq();
                    self.at = Some((site.id(), partition, key, seq));
                    return;
                }
            }
        }
    }

    fn at_site(&self, grid: &Grid, now: Time) -> Option<Place> {
        let (site, partition, key, _) = self.at?;
        let view: View<'_> = grid.site(site)?.partitions().get(partition)?.view(Time::ZERO);
        let job = view.get(key)?;
        if !job.phase().is_active() {
            return Some(Place::Site { site, partition, key });
        }
        if job.since() > now {
            return Some(Place::Wakes { site, partition, attempt: job.attempts(), until: job.since() });
        }
        let number = job.attempts();
        // The work done in the attempt is recorded only when its rate or its processors change.
        let known = self.tries.iter().rfind(|found| found.number == number);
        let partition = PartitionId(partition as u32);
        let (from, to) = (known.map_or(job.since(), |known| known.from), job.since());
        let attempt = Try { number, site, partition, procs: job.held(), from, to, failure: None };
        Some(Place::Runs(attempt, job.phase()))
    }

    /// The number of the attempt that a job at that place waits for; for a suspended job, its current one.
    pub(super) fn next_try(&self, grid: &Grid, place: &Place) -> u32 {
        if let Place::Wakes { attempt, .. } = place {
            return *attempt;
        }
        let begun = self.tries.last().map_or(0, |last| last.number);
        if let Place::Site { site, partition, key } = place
            && let Some(part) = grid.site(*site).and_then(|site| site.partitions().get(*partition))
            && let Some(job) = part.view(Time::ZERO).get(*key)
        {
            let within = matches!(job.phase(), Phase::Suspended | Phase::Stalled);
            return job.attempts() + u32::from(!within);
        }
        begun + 1
    }

    fn segment(&mut self, segment: &SegmentRecord) {
        let SegmentRecord { attempt: number, site, partition, from, to, .. } = *segment;
        let procs = segment.procs.len();
        match self.tries.last_mut().filter(|last| last.number == number) {
            Some(last) => (last.to, last.procs) = (to, procs),
            None => self.tries.push(Try { number, site, partition, procs, from, to, failure: None }),
        }
    }

    fn event(&mut self, event: &EventRecord) {
        let EventRecord { kind, cause, attempt: number, site, time, procs, wasted: work, .. } = *event;
        if number == 0 || !matches!(kind, EventKind::Returned | EventKind::Requeued | EventKind::Failed) {
            return;
        }
        if self.tries.last().is_none_or(|last| last.number < number) {
            // The attempt began at this very instant, and has left no segment.
            let partition = event.partition.unwrap_or(PartitionId(0));
            self.tries.push(Try { number, site, partition, procs, from: time, to: time, failure: None });
        }
        // A job that returns from a queue has the number of the previous attempt.
        if let Some(last) =
            self.tries.last_mut().filter(|last| last.number == number && last.failure.is_none())
        {
            last.failure = Some(Failure { kind, cause, work });
        }
    }
}

impl RecordSink for Watch {
    fn record(&mut self, record: Record) {
        match record {
            Record::Job(job) if job.job_ref() == self.job => self.ended = Some(job),
            Record::Segment(segment)
                if segment.job_ref() == self.job
                    && segment.cause != Cause::Staging
                    && segment.attempt > 0 =>
            {
                self.segment(&segment);
            }
            Record::Event(event) if event.job_ref() == Some(self.job) => {
                if event.kind == EventKind::Repeated {
                    self.again.extend(self.ended.take().map(|ended| (ended.attempts, event.time)));
                }
                match event.kind {
                    EventKind::Suspended => self.suspensions.push((event.time, event.cause_text(), None)),
                    EventKind::Resumed => {
                        self.suspensions.last_mut().into_iter().for_each(|last| last.2 = Some(event.time));
                    }
                    _ => {}
                }
                if matches!(event.kind, EventKind::Overdue | EventKind::Spent) {
                    self.limit = Some(event.kind);
                }
                self.event(&event);
            }
            _ => {}
        }
    }
}
