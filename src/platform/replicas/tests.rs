//! The catalogue by hand, and against a list of facts that is searched.

use proptest::prelude::*;

use super::*;

fn file(number: u64) -> FileId {
    FileId(number)
}

/// Those that still need a file.
fn users(replicas: &Replicas, number: u64) -> u32 {
    replicas.files[&file(number)].users
}

fn coming(from: Place, secs: u64) -> Coming {
    Coming { from, expected: Time::from_secs(secs) }
}

/// Seconds: the difference of the places, and a second for each byte out of the portal.
fn estimate(from: Place, to: Place, data: Bytes) -> Span {
    Span::from_secs(u64::from(from.abs_diff(to)) + if from == 0 { data.count() } else { 0 })
}

#[test]
fn the_replica_that_brings_it_first_is_the_source() {
    let mut replicas = Replicas::default();
    replicas.add(file(1), Bytes::new(10), 3);
    let fetch = |replicas: &Replicas, to| replicas.fetch(file(1), to, Time::from_secs(100), estimate);
    assert_eq!(fetch(&replicas, 2), Fetch::Nowhere, "it has not been made");
    assert!(replicas.arrived(file(1), 0));
    assert_eq!(fetch(&replicas, 2), Fetch::From(coming(0, 112)));
    replicas.arrived(file(1), 5);
    assert_eq!(fetch(&replicas, 2), Fetch::From(coming(5, 103)), "farther away, but faster");
    replicas.sent(file(1), 2, coming(5, 103));
    assert_eq!(fetch(&replicas, 2), Fetch::Coming(coming(5, 103)), "it is not sent again");
    assert_eq!(fetch(&replicas, 3), Fetch::From(coming(5, 102)), "what is on its way is no source");
    assert!(!replicas.is_at(file(1), 2));
    replicas.arrived(file(1), 2);
    assert_eq!(fetch(&replicas, 2), Fetch::Here);
    replicas.arrived(file(1), 4);
    assert_eq!(fetch(&replicas, 3), Fetch::From(coming(2, 101)), "of 2 and 4 the first");
    assert!(replicas.places(file(1)).eq([0, 2, 4, 5]));
}

#[test]
fn what_a_site_that_left_holds_is_there_again_when_it_comes_back() {
    let mut replicas = Replicas::default();
    for number in [1, 2, 3] {
        replicas.add(file(number), Bytes::new(10), 1);
        replicas.arrived(file(number), number as Place);
    }
    replicas.sent(file(1), 2, coming(1, 5));
    replicas.sent(file(3), 1, coming(3, 6));
    replicas.sent(file(3), 2, coming(3, 7));
    replicas.left(1);
    let fetch = |replicas: &Replicas, number, to| replicas.fetch(file(number), to, Time::ZERO, estimate);
    assert_eq!(fetch(&replicas, 1, 2), Fetch::Coming(coming(1, 5)), "as far as is known");
    replicas.broken(file(1), 2);
    assert_eq!(fetch(&replicas, 1, 2), Fetch::Nowhere);
    assert!(!replicas.is_at(file(1), 1) && replicas.places(file(1)).next().is_none());
    assert_eq!(fetch(&replicas, 3, 2), Fetch::Coming(coming(3, 7)), "that one goes on");
    assert_eq!(fetch(&replicas, 2, 1), Fetch::Nowhere, "nobody is there to get it");
    replicas.back(1);
    assert_eq!(fetch(&replicas, 1, 2), Fetch::From(coming(1, 1)));
}

#[test]
fn a_file_goes_when_its_last_user_has_ended() {
    let mut replicas = Replicas::default();
    replicas.add(file(7), Bytes::new(10), 2);
    replicas.arrived(file(7), 3);
    replicas.arrived(file(7), 1);
    replicas.sent(file(7), 2, coming(1, 5));
    assert_eq!((replicas.used(file(7)), users(&replicas, 7)), (None, 1));
    replicas.wanted(file(7), 1);
    assert_eq!((replicas.used(file(7)), users(&replicas, 7)), (None, 1), "a task had to run again");
    assert_eq!(replicas.used(file(7)), Some(vec![1, 2, 3]));
    assert_eq!((replicas.size(file(7)), replicas.is_empty()), (None, true));
    assert!(!replicas.arrived(file(7), 2), "the copy arrives for nobody");
}

/// The slow definition: facts, one after the other.
#[derive(Default)]
struct Facts {
    files: Vec<(u64, u32)>,
    lies: Vec<(u64, Place)>,
    coming: Vec<(u64, Place, Coming)>,
    away: Vec<Place>,
}

impl Facts {
    fn fetch(&self, number: u64, to: Place, now: Time) -> Fetch {
        let mut best: Option<Coming> = None;
        for from in 0..5 {
            let there = self.lies.contains(&(number, from)) && !self.away.contains(&from);
            let expected = now + estimate(from, to, Bytes::new(number));
            if there && best.is_none_or(|best| expected < best.expected) {
                best = Some(Coming { from, expected });
            }
        }
        let on_its_way = self.coming.iter().find(|(file, place, _)| (*file, *place) == (number, to));
        if self.away.contains(&to) || self.files.iter().all(|(file, _)| *file != number) {
            Fetch::Nowhere
        } else if self.lies.contains(&(number, to)) {
            Fetch::Here
        } else if let Some((.., coming)) = on_its_way {
            Fetch::Coming(*coming)
        } else {
            best.map_or(Fetch::Nowhere, Fetch::From)
        }
    }

    fn knows(&self, number: u64) -> bool {
        self.files.iter().any(|(file, _)| *file == number)
    }

    fn forget(&mut self, number: u64, to: Place) {
        self.coming.retain(|(file, place, _)| (*file, *place) != (number, to));
    }
}

#[derive(Clone, Debug)]
enum Act {
    Add(u64, u32),
    Sent(u64, Place, Place),
    Arrived(u64, Place),
    Broken(u64, Place),
    Wanted(u64),
    Used(u64),
    Left(Place),
    Back(Place),
    /// A save and a restore.
    Saved,
}

fn acts() -> impl Strategy<Value = Act> {
    let (number, place) = (|| 0..6_u64, || 0..5_u32);
    prop_oneof![
        4 => (number(), 1..4_u32).prop_map(|(file, users)| Act::Add(file, users)),
        6 => (number(), place(), place()).prop_map(|(file, from, to)| Act::Sent(file, from, to)),
        6 => (number(), place()).prop_map(|(file, at)| Act::Arrived(file, at)),
        1 => (number(), place()).prop_map(|(file, to)| Act::Broken(file, to)),
        1 => number().prop_map(Act::Wanted),
        4 => number().prop_map(Act::Used),
        2 => place().prop_map(Act::Left),
        2 => place().prop_map(Act::Back),
        1 => Just(Act::Saved),
    ]
}

proptest! {
    #[test]
    fn agrees_with_a_list_of_facts(acts in proptest::collection::vec(acts(), 1..80)) {
        let (mut replicas, mut facts) = (Replicas::default(), Facts::default());
        for (second, act) in (0..).zip(acts) {
            match act {
                Act::Add(number, users) => {
                    if !facts.knows(number) {
                        replicas.add(file(number), Bytes::new(number), users);
                        facts.files.push((number, users));
                    }
                }
                Act::Sent(number, from, to) => {
                    replicas.sent(file(number), to, coming(from, second));
                    facts.forget(number, to);
                    if facts.knows(number) {
                        facts.coming.push((number, to, coming(from, second)));
                    }
                }
                Act::Arrived(number, at) => {
                    prop_assert_eq!(replicas.arrived(file(number), at), facts.knows(number));
                    facts.forget(number, at);
                    if facts.knows(number) && !facts.lies.contains(&(number, at)) {
                        facts.lies.push((number, at));
                    }
                }
                Act::Broken(number, to) => {
                    replicas.broken(file(number), to);
                    facts.forget(number, to);
                }
                Act::Wanted(number) => {
                    replicas.wanted(file(number), 2);
                    facts.files.iter_mut().filter(|(file, _)| *file == number).for_each(|(_, users)| *users += 2);
                }
                Act::Used(number) => {
                    facts.files.iter_mut().filter(|(file, _)| *file == number).for_each(|(_, users)| *users -= 1);
                    let gone = facts.files.contains(&(number, 0));
                    let mut places: Vec<Place> =
                        facts.lies.iter().filter(|(file, _)| *file == number).map(|(_, at)| *at).collect();
                    places.extend(facts.coming.iter().filter(|(file, ..)| *file == number).map(|(_, to, _)| *to));
                    places.sort_unstable();
                    places.dedup();
                    prop_assert_eq!(replicas.used(file(number)), gone.then_some(places));
                    if gone {
                        facts.files.retain(|(file, _)| *file != number);
                        facts.lies.retain(|(file, _)| *file != number);
                        facts.coming.retain(|(file, ..)| *file != number);
                    }
                }
                Act::Left(place) => {
                    replicas.left(place);
                    facts.away.push(place);
                }
                Act::Back(place) => {
                    replicas.back(place);
                    facts.away.retain(|away| *away != place);
                }
                Act::Saved => {
                    let saved = postcard::to_allocvec(&replicas).unwrap();
                    let again: Replicas = postcard::from_bytes(&saved).unwrap();
                    prop_assert_eq!(&again, &replicas);
                    replicas = again;
                }
            }
            let now = Time::from_secs(second);
            for number in 0..6 {
                for to in 0..5 {
                    let expected = facts.fetch(number, to, now);
                    prop_assert_eq!(replicas.fetch(file(number), to, now, estimate), expected);
                    prop_assert_eq!(replicas.is_at(file(number), to), expected == Fetch::Here);
                }
            }
            prop_assert_eq!(replicas.len(), facts.files.len());
        }
        for (number, users) in facts.files {
            prop_assert_eq!(self::users(&replicas, number), users);
            (0..users).for_each(|_| drop(replicas.used(file(number))));
        }
        prop_assert!(replicas.is_empty());
    }
}
