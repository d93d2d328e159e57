//! The oracle of the tests: no windows, all entities moment by moment. Slow, and obviously correct.

use super::GridError;
use super::windows::{MOST_ROUNDS, WindowError};
use crate::entity::{Address, Entity, Message, Outbox, Stamp};
use crate::model::{Record, RecordSink};
use crate::units::Time;

/// Advances entities through everything before `until`, one moment of the whole grid after the other. No entity is ever ahead of another,
/// so the result is correct by definition.
///
/// All records are kept until the end, then sorted.
///
/// # Errors
/// [`GridError`] says what broke, where and when.
pub fn drive_by_moments<E: Entity>(
    entities: &mut [E],
    until: Stamp,
    sink: &mut dyn RecordSink,
) -> Result<(), GridError> {
    by_moments(entities, |_, _| until, sink)
}

/// The same up to an `end` that is computed before each moment, from the entities and the moment.
pub(super) fn by_moments<E: Entity>(
    entities: &mut [E],
    mut end: impl FnMut(&[E], Option<Stamp>) -> Stamp,
    sink: &mut dyn RecordSink,
) -> Result<(), GridError> {
    let mut records: Vec<(Time, usize, Record)> = Vec::new();
    let mut latest = vec![Time::ZERO; entities.len()];
    let mut talk = Vec::new();
    loop {
        let next = entities.iter().filter_map(E::next_event).min();
        let end = end(entities, next);
        let Some(now) = next.filter(|now| *now < end) else { break };
        moment(entities, now, &mut talk, |place, record| {
            latest[place] = latest[place].max(record.written());
            records.push((latest[place], place, record));
        })?;
    }
    records.sort_by_key(|(time, place, _)| (*time, *place));
    records.into_iter().for_each(|(_, _, record)| sink.record(record));
    if sink.is_closed() { Err(GridError::SinkClosed) } else { Ok(()) }
}

/// Handles the moment `now` everywhere: advances all entities to which something happens then, and delivers what they send. `record` gets
/// each record with the place of its entity. `talk` holds sender and receiver of the messages of the moment before, and is replaced by
/// those of this one.
///
/// # Errors
/// [`GridError`] says what broke, where and when.
pub(super) fn moment<E: Entity>(
    entities: &mut [E],
    now: Stamp,
    talk: &mut Vec<(Address, Address)>,
    mut record: impl FnMut(usize, Record),
) -> Result<(), GridError> {
    let mut sent = Vec::new();
    for (place, entity) in entities.iter_mut().enumerate() {
        if entity.next_event() != Some(now) {
            continue;
        }
        let from = entity.address();
        if now.round >= MOST_ROUNDS {
            let talk = std::mem::take(talk);
            return Err(WindowError::Stalled { entity: from, at: now, talk }.into());
        }
        let mut output = Output::default();
        entity.advance(now.next_round(), &mut output)?;
        sent.extend(output.messages.into_iter().map(|(to, message)| (from, to, message)));
        output.records.into_iter().for_each(|written| record(place, written));
    }
    *talk = sent.iter().map(|(from, to, _)| (*from, *to)).collect();
    for (from, to, message) in sent {
        let arrival = message.arrival;
        if arrival <= now {
            return Err(WindowError::Late { from, to, arrival, passed: now.next_round() }.into());
        }
        let receiver = entities.iter_mut().find(|entity| entity.address() == to);
        receiver.ok_or(WindowError::NoReceiver { from, to })?.deliver(message)?;
    }
    Ok(())
}

/// Everything that an entity sends and records in one moment.
#[derive(Default)]
struct Output {
    messages: Vec<(Address, Message)>,
    records: Vec<Record>,
}

impl RecordSink for Output {
    fn record(&mut self, record: Record) {
        self.records.push(record);
    }
}

impl Outbox for Output {
    fn send(&mut self, to: Address, message: Message) {
        self.messages.push((to, message));
    }
}
