//! What goes wrong among actors is named: who, and when; and nothing ever hangs.

use std::time::Duration;

use gridemu::entity::{Address, EntityError, Stamp};
use gridemu::grid::{Group, Merge, WindowError};
use gridemu::model::{Record, RecordSink, SiteId};
use gridemu::runtime::{Ended, RuntimeError, RuntimeOptions, run};
use gridemu::units::{Span, Time};

use super::toy::{Fault, Toy};

const HERE: Address = Address::Site(SiteId(0));
const THERE: Address = Address::Site(SiteId(1));

/// When the first of two toys does what it should not.
const WHEN: Stamp = Stamp::at(Time::from_micros(30));

fn micros(micros: u64) -> Stamp {
    Stamp::at(Time::from_micros(micros))
}

/// Two sites, 10 µs apart, both busy until 60 µs; the first fails.
fn pair(fault: Fault) -> (Vec<Toy>, Vec<Group>) {
    let mut toys = vec![
        Toy::new(HERE, 1).knows(THERE, Span::from_micros(10)).fails(WHEN.time, fault),
        Toy::new(THERE, 2).knows(HERE, Span::from_micros(10)),
    ];
    for at in [0, 20, 30, 40, 60] {
        toys = toys.into_iter().map(|toy| toy.does(micros(at), true, 0)).collect();
    }
    (toys, vec![Group { members: 1, latency: Span::from_micros(10) }; 2])
}

fn threads(threads: usize) -> RuntimeOptions {
    RuntimeOptions { threads: threads.try_into().expect("a thread"), ..RuntimeOptions::default() }
}

fn try_run((toys, groups): (Vec<Toy>, Vec<Group>), options: RuntimeOptions) -> (Ended<Toy>, Vec<Record>) {
    let (mut merge, mut records) = (Merge::new(toys.len()), Vec::new());
    let ended = run(toys, &groups, options, &mut merge, &mut records);
    (ended, records)
}

fn who(ended: &Ended<Toy>) -> Vec<Address> {
    use gridemu::entity::Entity;
    ended.entities.iter().map(Entity::address).collect()
}

#[test]
fn a_panic_is_named() {
    for count in [1, 2, 8] {
        let (ended, _) = try_run(pair(Fault::Panics), threads(count));
        let (entity, at, message) = (HERE, WHEN, "a toy breaks".to_owned());
        let error = RuntimeError::Panicked { entity, at, message };
        assert_eq!(error.to_string(), "site number 0 panicked at 0.00003 s, round 0: a toy breaks");
        assert_eq!(ended.result, Err(error));
        assert_eq!(who(&ended), [THERE], "the other one comes back");
    }
}

#[test]
fn an_error_is_told() {
    let (ended, _) = try_run(pair(Fault::Breaks), threads(2));
    let broken = EntityError::BadSave { who: HERE.to_string(), problem: "it is a toy".to_owned() };
    assert_eq!(ended.result, Err(RuntimeError::Entity(broken)));
    assert_eq!(who(&ended), [HERE, THERE]);
}

#[test]
fn a_message_that_is_faster_than_its_group_is_named_by_the_conductor() {
    let (mut toys, groups) = pair(Fault::Babbles);
    let hasty = Toy::new(HERE, 1).knows(THERE, Span::from_micros(9)).fails(WHEN.time, Fault::Babbles);
    toys[0] = hasty.does(WHEN, false, 0);
    for count in [1, 2] {
        let (ended, _) = try_run((toys.clone(), groups.clone()), threads(count));
        let (arrival, earliest) = (micros(39), micros(40));
        let too_soon = WindowError::TooSoon { from: HERE, to: THERE, arrival, earliest };
        assert_eq!(ended.result, Err(RuntimeError::Window(too_soon)));
    }
}

#[test]
fn a_circle_is_named_by_the_conductor() {
    let toys = vec![
        Toy::new(HERE, 1).knows(THERE, Span::ZERO).does(micros(7), true, 1).echoes(),
        Toy::new(THERE, 2).knows(HERE, Span::ZERO).echoes(),
    ];
    let groups = vec![Group { members: 1, latency: Span::ZERO }; 2];
    let (ended, _) = try_run((toys, groups), threads(1));
    let Err(RuntimeError::Window(WindowError::Stalled { entity, at, talk })) = ended.result else {
        panic!("{:?}", ended.result);
    };
    assert_eq!((entity, at), (HERE, Stamp { round: 10_000, ..micros(7) }));
    assert!(talk.contains(&(HERE, THERE)), "{talk:?}");
}

#[test]
fn an_entity_that_does_not_come_back_is_left_behind() {
    let patience = Duration::from_millis(700);
    for count in [1, 2] {
        let options = RuntimeOptions { patience, ..threads(count) };
        let (ended, _) = try_run(pair(Fault::Sleeps(10_000)), options);
        let error = RuntimeError::Stalled { entity: HERE, at: WHEN, patience };
        assert_eq!(ended.result, Err(error));
        assert!(ended.entities.is_empty());
    }
    // Whoever is slow but comes back is waited for.
    let options = RuntimeOptions { patience: Duration::from_secs(20), ..threads(1) };
    let (ended, _) = try_run(pair(Fault::Sleeps(50)), options);
    assert_eq!(ended.result, Ok(()));
}

#[test]
fn a_lost_reply_is_named() {
    // The first site is on a thread of its own, which it ends: sooner or later it is asked and does not answer. The two
    // would go on for ever otherwise.
    let (toys, groups) = pair(Fault::Leaves);
    let toys = toys.into_iter().map(Toy::echoes).collect();
    let (ended, _) = try_run((toys, groups), threads(2));
    let Err(RuntimeError::LostReply { entity, at }) = &ended.result else { panic!("{:?}", ended.result) };
    assert_eq!(*entity, HERE);
    assert!(*at > WHEN, "{at}");
    assert_eq!(who(&ended), [THERE]);
}

/// Takes so many records.
struct Full(usize);

impl RecordSink for Full {
    fn record(&mut self, _: Record) {
        self.0 = self.0.saturating_sub(1);
    }

    fn is_closed(&self) -> bool {
        self.0 == 0
    }
}

#[test]
fn a_full_sink_ends_the_run_of_actors() {
    let span = Span::from_secs(3_600);
    let toys = vec![
        Toy::new(HERE, 1).knows(THERE, span).does(micros(7), true, 1).echoes(),
        Toy::new(THERE, 2).knows(HERE, span).echoes(),
    ];
    let groups = vec![Group { members: 1, latency: span }; 2];
    let ended = run(toys, &groups, threads(1), &mut Merge::new(2), &mut Full(100));
    assert_eq!(ended.result, Err(RuntimeError::SinkClosed));
    assert_eq!(who(&ended), [HERE, THERE]);
}

#[test]
fn an_impossible_pace_is_refused() {
    for pace in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let (ended, _) = try_run(pair(Fault::Panics), RuntimeOptions { pace: Some(pace), ..threads(1) });
        let told = ended.result.as_ref().expect_err("it cannot be kept").to_string();
        assert!(told.contains("above zero"), "{told}");
        assert_eq!(who(&ended), [HERE, THERE]);
    }
}

/// Writes down when the records come.
struct Watched(Vec<(Time, std::time::Instant)>);

impl RecordSink for Watched {
    #[expect(clippy::disallowed_methods, reason = "the wall clock is what is tested")]
    fn record(&mut self, record: Record) {
        let Record::Event(event) = record else { return };
        self.0.push((event.time, std::time::Instant::now()));
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the wall clock is what is tested")]
fn a_paced_run_keeps_up_with_the_wall_clock() {
    let mut toy = Toy::new(HERE, 1);
    for second in [10, 12, 13, 40] {
        toy = toy.does(Stamp::at(Time::from_secs(second)), false, 0);
    }
    let groups = [Group { members: 1, latency: Span::MAX }];
    // From the tenth second on, 10 virtual seconds per second; patience is shorter than the longest wait, of 2.7 s.
    let patience = Duration::from_secs(2);
    let options = RuntimeOptions { pace: Some(10.0), begin: Time::from_secs(9), patience, ..threads(1) };
    let (began, mut seen) = (std::time::Instant::now(), Watched(Vec::new()));
    let ended = run(vec![toy], &groups, options, &mut Merge::new(1), &mut seen);
    assert_eq!(ended.result, Ok(()));
    assert!(!seen.0.is_empty());
    for (time, then) in seen.0 {
        // Never more than a window early; how late it can be is the machine's affair.
        let due = Duration::from_secs_f64((time.as_secs_f64() - 9.0) / 10.0);
        let found = then - began;
        assert!(
            found + Duration::from_millis(60) >= due,
            "{time} s was to be seen after {due:?}, not {found:?}"
        );
    }
}
