//! The plain loop over entities.

use super::GridError;
use super::merge::Merge;
use super::windows::{Call, WindowError, Windows};
use crate::entity::{Address, Entity, Message, Outbox};
use crate::model::{Record, RecordSink};

/// Advances entities until everything before the end of the run has happened.
///
/// Records go through `merge` to `sink`. Those of the last instant wait there, since another drive may add to it; call
/// [`Merge::finish`] at the end of the run. Messages that have not arrived by the end are delivered all the same, so the entities
/// hold everything that is left to happen.
///
/// # Errors
/// [`GridError`] says what broke, where and when; entities then stand at different moments.
pub fn drive<E: Entity>(
    entities: &mut [E],
    windows: &mut Windows,
    merge: &mut Merge,
    sink: &mut dyn RecordSink,
) -> Result<(), GridError> {
    entities.iter().enumerate().for_each(|(place, entity)| windows.left(place, entity.quiescence()));
    let mut calls: Vec<Call> = Vec::with_capacity(entities.len());
    while windows.open(&mut calls)? {
        loop {
            for &call in &calls {
                carry_out(call, &mut entities[call.entity], windows, merge, sink)?;
            }
            calls.clear();
            if !windows.step(&mut calls)? {
                break;
            }
        }
        if windows.close() {
            windows.adapt(merge.waiting());
            merge.emit(windows.passed().time, sink);
        }
        if sink.is_closed() {
            return Err(GridError::SinkClosed);
        }
    }
    merge.emit(windows.passed().time, sink);
    for (place, entity) in entities.iter_mut().enumerate() {
        for message in windows.inbox(place).drain(..) {
            entity.deliver(message)?;
        }
    }
    Ok(())
}

fn carry_out<E: Entity>(
    call: Call,
    entity: &mut E,
    windows: &mut Windows,
    merge: &mut Merge,
    sink: &mut dyn RecordSink,
) -> Result<(), GridError> {
    let inbox = windows.inbox(call.entity);
    while let Some(message) = inbox.pop() {
        entity.deliver(message)?;
    }
    let mut post = Mailroom { from: call.entity, windows, merge, sink, failed: None };
    entity.advance(call.until, &mut post)?;
    if let Some(failed) = post.failed {
        return Err(failed.into());
    }
    windows.left(call.entity, entity.quiescence());
    Ok(windows.answer(call.entity, entity.next_event())?)
}

/// The outbox of the entity that is being advanced.
struct Mailroom<'a> {
    from: usize,
    windows: &'a mut Windows,
    merge: &'a mut Merge,
    sink: &'a mut dyn RecordSink,
    failed: Option<WindowError>,
}

impl RecordSink for Mailroom<'_> {
    fn record(&mut self, record: Record) {
        self.merge.push(self.from, record, self.sink);
    }

    fn is_closed(&self) -> bool {
        self.failed.is_some() || self.sink.is_closed()
    }
}

impl Outbox for Mailroom<'_> {
    fn send(&mut self, to: Address, message: Message) {
        if self.failed.is_none() {
            self.failed = self.windows.post(self.from, to, message).err();
        }
    }
}
