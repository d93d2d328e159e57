//! One step of a partition: when it is, and what receives its results.

use super::Exit;
use crate::model::{EventRecord, Record, RecordSink};
use crate::units::Time;

/// One step of a partition: the instant, and what receives the records and the jobs that leave.
pub struct Step<'a> {
    /// The instant.
    pub now: Time,
    /// Receives the records.
    pub sink: &'a mut dyn RecordSink,
    /// Receives the jobs that leave the partition.
    pub exits: &'a mut Vec<Exit>,
}

impl<'a> Step<'a> {
    /// A step at `now`.
    pub fn new(now: Time, sink: &'a mut dyn RecordSink, exits: &'a mut Vec<Exit>) -> Self {
        Self { now, sink, exits }
    }

    /// Records an event.
    pub(super) fn record(&mut self, event: EventRecord) {
        self.sink.record(Record::Event(event));
    }
}
