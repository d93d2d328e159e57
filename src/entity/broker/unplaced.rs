//! Grid jobs that are at no site: their records.

use crate::broker::Task;
use crate::entity::{EndedJob, Outbox};
use crate::model::{
    BrokerSpec, CommandRefusal, EventCause, EventKind, EventRecord, Job, JobRecord, Origin, Outcome,
    PartitionId, Record, SiteId, TaskId,
};
use crate::units::{Bytes, Energy, Money, Span, Time};

/// The task that a job of the grid is.
pub(in crate::entity) fn task(job: &Job) -> TaskId {
    Task::new(job, &[]).id()
}

/// Most doublings of the back-off.
const MOST_DOUBLINGS: u32 = 6;

/// How long a job rests that has returned after so many tries.
pub(in crate::entity) fn rest(spec: &BrokerSpec, tries: u32) -> Span {
    let doublings = tries.saturating_sub(1).min(MOST_DOUBLINGS);
    (spec.backoff * (1 << doublings)).max(Span::TICK)
}

/// True if the broker has ever recalled an assignment of the job: that it moves is no progress, since it may be recalled and sent
/// out again for ever.
pub(in crate::entity) fn is_recalled(job: &Job) -> bool {
    job.grid.as_ref().is_some_and(|grid| grid.recalled > 0)
}

impl EndedJob {
    /// The end of a job that is at no site, and leaves no output.
    pub(in crate::entity) fn unplaced(job: &Job, outcome: Outcome, end: Time) -> Self {
        let grid = job.grid.as_deref();
        Self {
            task: task(job),
            job: job.id,
            outcome,
            output: Bytes::ZERO,
            start: grid.and_then(|grid| grid.first_start),
            last_start: None,
            end,
            attempts: grid.map_or(0, |grid| grid.attempts),
            charged: Box::new(grid.map_or((Energy::ZERO, Money::ZERO), |grid| (grid.energy, grid.cost))),
            passed: Box::default(),
        }
    }
}

/// The record of a job that ends at no site.
pub(in crate::entity) fn unplaced(job: &Job, outcome: Outcome, now: Time) -> JobRecord {
    let grid = job.grid.as_deref().cloned().unwrap_or_default();
    JobRecord {
        id: job.id,
        origin: Origin::Grid,
        site: SiteId::GRID,
        partition: PartitionId::default(),
        user: job.user,
        submit: job.submit,
        start: grid.first_start,
        end: now,
        requested: job.size.preferred(),
        kind: job.size.kind(),
        procs: 0,
        outcome,
        run: if job.may_overrun() { job.runtime } else { job.runtime.min(job.estimate) },
        estimate: job.estimate,
        attempts: grid.attempts,
        energy: grid.energy,
        dynamic: grid.dynamic,
        cost: grid.cost,
        recorded_wait: job.recorded_wait,
        requested_start: job.requested_start,
        limits: job.limits.clone(),
    }
}

/// Records the end of a job that the broker or the dispatcher gives up, and refuses the elastic commands that its user would still
/// have given.
pub(in crate::entity) fn record_given_up(
    job: &Job,
    cause: EventCause,
    outcome: Outcome,
    now: Time,
    outbox: &mut dyn Outbox,
) {
    outbox.record(Record::Event(EventRecord { kind: EventKind::GivenUp, cause, ..of_job(job, now) }));
    for command in job.elastic.iter().flatten() {
        outbox.record(Record::Event(EventRecord {
            kind: EventKind::CommandRefused,
            cause: EventCause::Unheeded(CommandRefusal::NoJob),
            command: Some(command.change),
            ..of_job(job, now)
        }));
    }
    outbox.record(Record::Job(unplaced(job, outcome, now)));
}

/// An event record of a grid job, to be completed by the caller.
pub(in crate::entity) fn of_job(job: &Job, time: Time) -> EventRecord {
    EventRecord {
        procs: job.size.preferred(),
        job: Some(job.id),
        origin: Origin::Grid,
        attempt: job.grid.as_ref().map_or(0, |grid| grid.attempts),
        ..EventRecord::new(time, EventKind::Reassigned, EventCause::None, SiteId::GRID)
    }
}
