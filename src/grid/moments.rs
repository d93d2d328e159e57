//! The slow twin of [`drive`](super::drive()): no windows, no promises, everybody moment by moment.

use super::drive::DriveError;
use super::windows::{MOST_ROUNDS, WindowError};
use crate::entity::{Address, Entity, Message, Outbox, Stamp};
use crate::model::{Record, RecordSink};
use crate::units::Time;

/// Advances entities through everything before `until`, one moment of the whole grid after the other. Nothing is promised,
/// nobody is ahead: what this does is what happens.
///
/// All records are kept until the end, then sorted.
///
/// # Errors
/// [`DriveError`] says what broke, where and when.
pub fn drive_by_moments<E: Entity>(
    entities: &mut [E],
    until: Stamp,
    sink: &mut dyn RecordSink,
) -> Result<(), DriveError> {
    let mut records: Vec<(Time, usize, Record)> = Vec::new();
    let mut talk: Vec<(Address, Address)> = Vec::new();
    while let Some(now) = entities.iter().filter_map(E::next_event).min().filter(|now| *now < until) {
        let mut sent = Vec::new();
        for (place, entity) in entities.iter_mut().enumerate() {
            if entity.next_event() != Some(now) {
                continue;
            }
            if now.round >= MOST_ROUNDS {
                return Err(WindowError::Stalled { entity: entity.address(), at: now, talk }.into());
            }
            let mut said = Said::default();
            entity.advance(now.next_round(), &mut said)?;
            let from = entity.address();
            sent.extend(said.messages.into_iter().map(|(to, message)| (from, to, message)));
            records.extend(said.records.into_iter().map(|record| (now.time, place, record)));
        }
        talk = sent.iter().map(|(from, to, _)| (*from, *to)).collect();
        for (from, to, message) in sent {
            let arrival = message.arrival;
            if arrival <= now {
                return Err(WindowError::Late { from, to, arrival, passed: now.next_round() }.into());
            }
            let receiver = entities.iter_mut().find(|entity| entity.address() == to);
            receiver.ok_or(WindowError::NoReceiver { from, to })?.deliver(message)?;
        }
    }
    records.sort_by_key(|(time, place, _)| (*time, *place));
    records.into_iter().for_each(|(_, _, record)| sink.record(record));
    Ok(())
}

/// All that an entity says in one moment.
#[derive(Default)]
struct Said {
    messages: Vec<(Address, Message)>,
    records: Vec<Record>,
}

impl RecordSink for Said {
    fn record(&mut self, record: Record) {
        self.records.push(record);
    }
}

impl Outbox for Said {
    fn send(&mut self, to: Address, message: Message) {
        self.messages.push((to, message));
    }
}
