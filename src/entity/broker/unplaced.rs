//! The record of a job that ended at no site.

use super::of_job;
use crate::model::{
    CommandRefusal, EventCause, EventKind, EventRecord, Job, JobRecord, Origin, Outcome, PartitionId, Record,
    RecordSink, SiteId,
};
use crate::units::Time;

/// The record of a grid job that ends with the broker or the dispatcher.
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
        procs: 0,
        outcome,
        run: job.runtime.min(job.estimate),
        estimate: job.estimate,
        attempts: grid.attempts,
        energy: grid.energy,
        cost: grid.cost,
        recorded_wait: job.recorded_wait,
        requested_start: job.requested_start,
    }
}

/// Refuses the elastic commands that the user of a job would still have given, because the job ends at no site.
pub(in crate::entity) fn refuse_commands(job: &Job, now: Time, sink: &mut dyn RecordSink) {
    for command in job.elastic.iter().flatten() {
        sink.record(Record::Event(EventRecord {
            kind: EventKind::CommandRefused,
            cause: EventCause::Unheeded(CommandRefusal::NoJob),
            command: Some(command.change),
            ..of_job(job, now)
        }));
    }
}
