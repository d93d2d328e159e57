//! What every entity is doing, for the watch.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::entity::{Address, Stamp};
use crate::units::Time;

const ASKED: u8 = 1;
const AT_WORK: u8 = 2;

/// What every entity is doing. Written without locks, and read only when nothing seems to move: what is read may be a little old.
#[derive(Debug)]
pub(super) struct Board {
    slots: Vec<Slot>,
    asleep: AtomicBool,
    stop: AtomicBool,
}

/// What an entity is doing.
#[derive(Debug)]
struct Slot {
    address: Address,
    doing: AtomicU8,
    time: AtomicU64,
    round: AtomicU32,
    /// The number of signs of life.
    signs: AtomicU64,
}

impl Board {
    pub(super) fn new(addresses: impl Iterator<Item = Address>) -> Self {
        let slot = |address| Slot {
            address,
            doing: AtomicU8::new(0),
            time: AtomicU64::new(0),
            round: AtomicU32::new(0),
            signs: AtomicU64::new(0),
        };
        Self {
            slots: addresses.map(slot).collect(),
            asleep: AtomicBool::new(false),
            stop: AtomicBool::new(false),
        }
    }

    /// Notes that an entity is asked to handle a moment.
    pub(super) fn asked(&self, place: usize, at: Stamp) {
        let slot = &self.slots[place];
        slot.time.store(at.time.micros(), Relaxed);
        slot.round.store(at.round, Relaxed);
        slot.doing.store(ASKED, Relaxed);
    }

    /// Notes that an entity begins its request.
    pub(super) fn at_work(&self, place: usize) {
        self.slots[place].doing.store(AT_WORK, Relaxed);
    }

    /// Notes a sign of life of an entity.
    pub(super) fn alive(&self, place: usize) {
        // This is the only thread that writes it.
        let signs = &self.slots[place].signs;
        signs.store(signs.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// Notes that an entity has finished its request.
    pub(super) fn done(&self, place: usize) {
        self.alive(place);
        self.slots[place].doing.store(0, Relaxed);
    }

    /// The number of signs of life of all entities.
    pub(super) fn signs(&self) -> u64 {
        self.slots.iter().fold(0, |sum, slot| sum.wrapping_add(slot.signs.load(Relaxed)))
    }

    /// The entity that the run waits for, and the moment that it was asked to handle: one that is at work (true), or otherwise
    /// one that has been asked. `None` if the run waits for no entity.
    pub(super) fn awaited(&self) -> Option<(bool, Address, Stamp)> {
        let find = |doing| self.slots.iter().find(|slot| slot.doing.load(Relaxed) == doing);
        let (at_work, slot) =
            find(AT_WORK).map(|slot| (true, slot)).or(find(ASKED).map(|slot| (false, slot)))?;
        let time = Time::from_micros(slot.time.load(Relaxed));
        Some((at_work, slot.address, Stamp { time, round: slot.round.load(Relaxed) }))
    }

    /// Sets whether the conductor waits for the wall clock.
    pub(super) fn sleep(&self, asleep: bool) {
        self.asleep.store(asleep, Relaxed);
    }

    /// Whether the conductor waits for the wall clock.
    pub(super) fn asleep(&self) -> bool {
        self.asleep.load(Relaxed)
    }

    /// Asks the run to end.
    pub(super) fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Whether the run has been asked to end.
    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }
}
