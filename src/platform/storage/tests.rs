//! The storage by hand, and against lists that are searched and a simulation of every reader and writer.

use proptest::prelude::*;

use super::*;
use crate::units::Bandwidth;

fn file(number: u64) -> FileId {
    FileId(number)
}

fn of(bits: Option<u64>, capacity: Option<u64>) -> StorageSpec {
    StorageSpec { bandwidth: bits.map(Bandwidth::from_bits), capacity: capacity.map(Bytes::new) }
}

fn micros(at: u64) -> Time {
    Time::from_micros(at)
}

#[test]
fn readers_and_writers_share_the_bandwidth() {
    // 8 Mbit/s are 1 MB/s. A reads 1 MB from 0 s, B writes 0.25 MB from 0.5 s. A alone has 0.5 MB left at 0.5 s. At 0.5 MB/s each, B
    // has ended at 1 s, when A has 0.25 MB left; alone again, A ends at 1.25 s.
    let mut storage = Storage::new(of(Some(8_000_000), None));
    storage.begin(1, Bytes::new(1_000_000), Time::ZERO);
    assert_eq!(storage.next(), Some(micros(1_000_000)), "if it stays alone");
    storage.begin(2, Bytes::new(250_000), micros(500_000));
    storage.begin(3, Bytes::ZERO, micros(600_000));
    assert_eq!(storage.next(), Some(micros(600_000)));
    assert_eq!(storage.due(micros(999_999)), [(micros(600_000), 3)], "nothing takes no time");
    assert_eq!(storage.due(micros(2_000_000)), [(micros(1_000_000), 2), (micros(1_250_000), 1)]);
    assert_eq!(storage.next(), None);
}

#[test]
fn a_reservation_that_does_not_fit_waits_its_turn() {
    let mut storage = Storage::new(of(None, Some(10)));
    assert_eq!(storage.reserve(file(1), Bytes::new(6)), Ok(true));
    assert_eq!(storage.reserve(file(2), Bytes::new(5)), Ok(false));
    assert_eq!(storage.reserve(file(3), Bytes::new(1)), Ok(false), "it would fit, but file 2 was first");
    assert_eq!(storage.reserve(file(4), Bytes::new(7)), Ok(false));
    let refused = storage.reserve(file(5), Bytes::new(11)).unwrap_err();
    assert_eq!(refused.to_string(), "a file of 11 B does not fit into a storage of 10 B");
    assert_eq!((storage.used().count(), storage.waiting()), (6, 3));
    assert_eq!(storage.remove(file(1)), [file(2), file(3)]);
    assert_eq!(storage.remove(file(4)), [], "gives up");
    assert_eq!((storage.used().count(), storage.peak().count(), storage.waiting()), (6, 6, 0));
    assert_eq!(storage.reserve(file(6), Bytes::new(4)), Ok(true));
    assert_eq!((storage.used().count(), storage.peak().count()), (10, 10));
    assert!(storage.has(file(3)) && !storage.has(file(1)));
    assert_eq!(storage.remove(file(2)), []);
    assert_eq!((storage.used().count(), storage.peak().count()), (5, 10));
}

#[test]
fn a_reservation_that_is_given_up_lets_the_next_one_in() {
    let mut storage = Storage::new(of(None, Some(10)));
    assert_eq!(storage.reserve(file(1), Bytes::new(6)), Ok(true));
    assert_eq!(storage.reserve(file(2), Bytes::new(5)), Ok(false));
    assert_eq!(storage.reserve(file(3), Bytes::new(4)), Ok(false));
    assert_eq!(storage.remove(file(2)), [file(3)]);
}

#[test]
fn other_rules_hold_from_then_on() {
    // Two writers of 1 MB at 8 Mbit/s: 0.5 MB of each are left after 1 s, and at 16 Mbit/s take 0.5 s more.
    let mut storage = Storage::new(of(Some(8_000_000), Some(10)));
    storage.begin(1, Bytes::new(1_000_000), Time::ZERO);
    storage.begin(2, Bytes::new(1_000_000), Time::ZERO);
    assert_eq!(storage.reserve(file(1), Bytes::new(6)), Ok(true));
    assert_eq!(storage.reserve(file(2), Bytes::new(8)), Ok(false));
    assert_eq!(storage.reserve(file(3), Bytes::new(7)), Ok(false));
    let mut unlimited = storage.clone();
    let fewer = storage.change(of(Some(16_000_000), Some(7)), micros(1_000_000));
    assert_eq!(fewer, (vec![], vec![file(2)]), "file 2 never fits any more");
    assert_eq!(storage.next(), Some(micros(1_500_000)));
    let more = unlimited.change(of(None, None), micros(1_000_000));
    assert_eq!(more, (vec![file(2), file(3)], vec![]));
    assert_eq!(unlimited.due(micros(1_000_000)), [(micros(1_000_000), 1), (micros(1_000_000), 2)]);
    assert_eq!(storage.stop(micros(1_200_000)), [1, 2], "the site leaves");
    assert_eq!((storage.next(), storage.used().count()), (None, 6), "files stay");
}

/// The slow definition: lists that are searched, and every reader and writer for itself.
struct Twin {
    spec: StorageSpec,
    files: Vec<(FileId, u64)>,
    waiting: Vec<(FileId, u64)>,
    peak: u64,
    left: Vec<(u64, u128)>,
    ended: Vec<(Time, u64)>,
    now: u64,
}

impl Twin {
    fn go(&mut self, to: u64) {
        let bits = self.spec.bandwidth.map_or(u64::MAX, Bandwidth::bits);
        while self.now <= to && !self.left.is_empty() {
            let rate = u128::from((bits / self.left.len() as u64).max(1));
            let next = self.left.iter().map(|(_, left)| self.now + left.div_ceil(rate) as u64).min();
            let then = next.map_or(to, |next| next.min(to));
            for (_, left) in &mut self.left {
                *left = left.saturating_sub(rate * u128::from(then - self.now));
            }
            let passed = self.left.iter().filter(|(_, left)| *left == 0).map(|(id, _)| (micros(then), *id));
            self.ended.extend(passed);
            self.left.retain(|(_, left)| *left > 0);
            self.now = then;
            if next.is_some_and(|next| next > to) {
                break;
            }
        }
        self.now = to;
    }

    fn used(&self) -> u64 {
        self.files.iter().map(|(_, size)| size).sum()
    }

    fn grant(&mut self) -> Vec<FileId> {
        let mut granted = Vec::new();
        while let Some((file, size)) = self.waiting.first().copied() {
            if self.spec.capacity.is_some_and(|capacity| self.used() + size > capacity.count()) {
                break;
            }
            self.files.push(self.waiting.remove(0));
            self.peak = self.peak.max(self.used());
            granted.push(file);
        }
        granted
    }

    fn due(&mut self) -> Vec<(Time, u64)> {
        self.ended.sort_unstable();
        std::mem::take(&mut self.ended)
    }
}

#[derive(Clone, Debug)]
enum Act {
    Reserve(u64, u64),
    Remove(u64),
    Store(u64, u64),
    /// Files whose numbers have this remainder may.
    Overtake(u64),
    Begin(u64),
    Due,
    Stop,
    Change(StorageSpec),
    /// A save and a restore.
    Saved,
}

fn specs() -> impl Strategy<Value = StorageSpec> {
    let bits = prop_oneof![Just(None), Just(Some(3)), Just(Some(1_000_000)), Just(Some(7_654_321))];
    (bits, proptest::option::of(10_u64..40)).prop_map(|(bits, capacity)| of(bits, capacity))
}

fn acts() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (0..12_u64, 0..30_u64).prop_map(|(file, size)| Act::Reserve(file, size)),
        4 => (0..12_u64).prop_map(Act::Remove),
        2 => (0..12_u64, 0..30_u64).prop_map(|(file, size)| Act::Store(file, size)),
        1 => (0..3_u64).prop_map(Act::Overtake),
        6 => (0..120_u64).prop_map(Act::Begin),
        3 => Just(Act::Due),
        1 => Just(Act::Stop),
        1 => specs().prop_map(Act::Change),
        1 => Just(Act::Saved),
    ]
}

proptest! {
    #[test]
    fn agrees_with_the_slow_definition(
        spec in specs(),
        acts in proptest::collection::vec((0..200_u64, acts()), 1..60),
    ) {
        let mut storage = Storage::new(spec);
        let mut twin = Twin {
            spec,
            files: Vec::new(),
            waiting: Vec::new(),
            peak: 0,
            left: Vec::new(),
            ended: Vec::new(),
            now: 0,
        };
        let mut now = 0;
        for (id, (later, act)) in (0..).zip(acts) {
            now += later;
            twin.go(now);
            let at = micros(now);
            match act {
                Act::Reserve(wanted, size) => {
                    let wanted = file(wanted);
                    if twin.files.iter().chain(&twin.waiting).any(|(other, _)| *other == wanted) {
                        continue;
                    }
                    let found = storage.reserve(wanted, Bytes::new(size));
                    if twin.spec.capacity.is_some_and(|capacity| size > capacity.count()) {
                        prop_assert!(found.is_err());
                    } else if size == 0 {
                        twin.files.push((wanted, 0));
                        prop_assert_eq!(found, Ok(true));
                    } else {
                        twin.waiting.push((wanted, size));
                        prop_assert_eq!(found, Ok(twin.grant().contains(&wanted)));
                    }
                }
                Act::Remove(gone) => {
                    twin.files.retain(|(other, _)| *other != file(gone));
                    twin.waiting.retain(|(other, _)| *other != file(gone));
                    prop_assert_eq!(storage.remove(file(gone)), twin.grant());
                }
                Act::Store(made, size) => {
                    let made = file(made);
                    if twin.files.iter().any(|(other, _)| *other == made) {
                        continue;
                    }
                    twin.waiting.retain(|(other, _)| *other != made);
                    twin.files.push((made, size));
                    twin.peak = twin.peak.max(twin.used());
                    prop_assert_eq!(storage.store(made, Bytes::new(size)), twin.grant());
                }
                Act::Overtake(third) => {
                    let mut granted = Vec::new();
                    for (wanted, size) in std::mem::take(&mut twin.waiting) {
                        let fits = twin.spec.capacity.is_none_or(|most| twin.used() + size <= most.count());
                        if fits && wanted.0 % 3 == third {
                            twin.files.push((wanted, size));
                            granted.push(wanted);
                        } else {
                            twin.waiting.push((wanted, size));
                        }
                    }
                    twin.peak = twin.peak.max(twin.used());
                    prop_assert_eq!(storage.overtake(|file| file.0 % 3 == third), granted);
                    // Who stood behind it may be first now.
                    let next = storage.remove(file(99));
                    prop_assert_eq!(next, twin.grant());
                }
                Act::Begin(bytes) => {
                    storage.begin(id, Bytes::new(bytes), at);
                    if bytes == 0 || twin.spec.bandwidth.is_none() {
                        twin.ended.push((at, id));
                    } else {
                        twin.left.push((id, u128::from(bytes) * 8_000_000));
                    }
                }
                Act::Due => prop_assert_eq!(storage.due(at), twin.due()),
                Act::Stop => {
                    let stopped: Vec<u64> = std::mem::take(&mut twin.left).iter().map(|(id, _)| *id).collect();
                    prop_assert_eq!(storage.stop(at), stopped);
                }
                Act::Change(spec) => {
                    twin.spec = spec;
                    if spec.bandwidth.is_none() {
                        twin.ended.extend(twin.left.drain(..).map(|(id, _)| (at, id)));
                    }
                    let fits = |size: u64| spec.capacity.is_none_or(|capacity| size <= capacity.count());
                    let never = twin.waiting.iter().filter(|(_, size)| !fits(*size)).map(|(file, _)| *file);
                    let never = never.collect::<Vec<FileId>>();
                    twin.waiting.retain(|(_, size)| fits(*size));
                    prop_assert_eq!(storage.change(spec, at), (twin.grant(), never));
                }
                Act::Saved => {
                    let saved = postcard::to_allocvec(&storage).unwrap();
                    let again: Storage = postcard::from_bytes(&saved).unwrap();
                    prop_assert_eq!(&again, &storage);
                    storage = again;
                }
            }
            prop_assert_eq!((storage.used().count(), storage.peak().count()), (twin.used(), twin.peak));
            prop_assert_eq!(storage.waiting(), twin.waiting.len());
            prop_assert!((0..12).map(file).all(|at| storage.has(at) == twin.files.iter().any(|(it, _)| *it == at)));
        }
        twin.go(u64::MAX / 2);
        let mut rest = Vec::new();
        while let Some(next) = storage.next() {
            rest.extend(storage.due(next));
        }
        rest.sort_unstable();
        prop_assert_eq!(rest, twin.due());
    }
}
