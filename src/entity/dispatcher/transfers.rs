//! Transfers of input and output for the jobs of the dispatcher.

use serde::{Deserialize, Serialize};

use super::Dispatcher;
use crate::entity::mailbox::Moments;
use crate::entity::{Address, Outbox, Stamp, ToBroker, ToNetwork};
use crate::model::{Cause, Information, Job, JobId, Origin, PoolId, ProcSet, Record, SegmentRecord};
use crate::units::{Bytes, Energy, Money, Rate, Span, Time};

/// A transfer in progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Staging {
    Input { job: Box<Job>, pool: PoolId, since: Time },
    Output { job: JobId, attempt: u32, pool: PoolId, since: Time },
}

impl Dispatcher {
    /// Begins a transfer.
    pub(super) fn transfer(
        &mut self,
        staging: Staging,
        from: u32,
        to: u32,
        data: Bytes,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) {
        let id = self.next_transfer;
        self.next_transfer += 1;
        self.tally.transfers += 1;
        self.tally.moved += u128::from(data.count());
        self.staging.insert(id, staging);
        let transfer = ToNetwork::Transfer { id, from, to, data, reply: Address::Dispatcher };
        self.send(Address::Network, now, Span::ZERO, transfer, outbox);
    }

    /// Goes on with a job when its transfer has arrived.
    pub(super) fn transferred(&mut self, id: u64, now: Stamp, outbox: &mut dyn Outbox) {
        self.last = now.time;
        match self.staging.remove(&id) {
            Some(Staging::Input { job, pool, since }) => {
                if self.spec.information == Information::Forecast {
                    let data = job.grid.as_ref().map_or(Bytes::ZERO, |grid| grid.input);
                    let moved = ToBroker::Moved { site: pool.site, data, took: now.time.since(since) };
                    self.notify_broker(now, moved, outbox);
                }
                let attempt = job.grid.as_ref().map_or(0, |grid| grid.attempts) + 1;
                outbox.record(Record::Segment(staged(job.id, attempt, pool, since, now.time)));
                self.queue_out(job, pool, now, false, outbox);
            }
            Some(Staging::Output { job, attempt, pool, since }) => {
                outbox.record(Record::Segment(staged(job, attempt, pool, since, now.time)));
                self.done += 1;
            }
            None => {}
        }
    }
}

/// The segment record of a transfer for a job. It holds no processors and costs nothing.
fn staged(job: JobId, attempt: u32, pool: PoolId, from: Time, to: Time) -> SegmentRecord {
    SegmentRecord {
        job,
        origin: Origin::Grid,
        attempt,
        site: pool.site,
        partition: pool.partition,
        procs: ProcSet::new(),
        from,
        to,
        rate: Rate::ZERO,
        share: Rate::ZERO,
        cause: Cause::Staging,
        energy: Energy::ZERO,
        dynamic: Energy::ZERO,
        cost: Money::ZERO,
    }
}
