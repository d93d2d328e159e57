//! What goes wrong is named: who, and when.

use gridemu::entity::{Address, Stamp};
use gridemu::grid::{GridError, Group, Merge, WindowError, WindowOptions, Windows, drive, drive_by_moments};
use gridemu::model::{Record, RecordSink, SiteId};
use gridemu::units::{Span, Time};

use super::toy::{Fault, Toy};

const NEAR: Address = Address::Site(SiteId(0));
const FAR: Address = Address::Site(SiteId(1));

fn micros(micros: u64) -> Stamp {
    Stamp::at(Time::from_micros(micros))
}

/// Two sites, 10 µs apart as their groups have it.
fn pair(near: Toy, far: Toy) -> ([Toy; 2], Vec<Group>) {
    ([near, far], vec![Group { members: 1, latency: Span::from_micros(10) }; 2])
}

fn near() -> Toy {
    Toy::new(NEAR, 1).knows(FAR, Span::from_micros(10))
}

fn far() -> Toy {
    Toy::new(FAR, 2).knows(NEAR, Span::from_micros(10))
}

fn windows(toys: &[Toy], groups: &[Group], options: WindowOptions) -> Windows {
    use gridemu::entity::Entity;
    Windows::new(toys.iter().map(|toy| (toy.address(), toy.next_event())), groups, options).expect("two toys")
}

fn run((mut toys, groups): ([Toy; 2], Vec<Group>), options: WindowOptions) -> Result<Vec<Record>, GridError> {
    let mut windows = windows(&toys, &groups, options);
    let (mut merge, mut records) = (Merge::new(2), Vec::new());
    drive(&mut toys, &mut windows, &mut merge, &mut records)?;
    merge.finish(&mut records);
    Ok(records)
}

#[test]
fn a_message_that_is_faster_than_its_group_is_named() {
    let hasty = Toy::new(NEAR, 1).knows(FAR, Span::from_micros(9)).does(micros(20), true, 0);
    let error = run(pair(hasty.fails(Time::ZERO, Fault::Babbles), far()), WindowOptions::default());
    let (arrival, earliest) = (micros(29), micros(30));
    let too_soon = WindowError::TooSoon { from: NEAR, to: FAR, arrival, earliest };
    assert_eq!(error, Err(too_soon.clone().into()));
    let told = too_soon.to_string();
    assert!(
        told.contains("for 0.000029 s, round 0, but none of its group arrives before 0.00003 s"),
        "{told}"
    );
}

#[test]
fn a_message_to_nobody_is_named() {
    let lost = Toy::new(NEAR, 1).knows(Address::Portal, Span::from_micros(10)).does(micros(20), true, 0);
    let error = run(pair(lost.fails(Time::ZERO, Fault::Babbles), far()), WindowOptions::default());
    assert_eq!(error, Err(WindowError::NoReceiver { from: NEAR, to: Address::Portal }.into()));
}

#[test]
fn a_message_into_the_past_is_named() {
    // To itself: nothing of this window can come back.
    let echo = Toy::new(NEAR, 1).knows(NEAR, Span::ZERO).does(micros(20), true, 0).does(micros(40), true, 0);
    let error = run(pair(echo.fails(Time::ZERO, Fault::Babbles), far()), WindowOptions::default());
    let Err(GridError::Window(WindowError::Late { from, to, arrival, .. })) = error else {
        panic!("{error:?}");
    };
    assert_eq!((from, to, arrival), (NEAR, NEAR, micros(20).next_round()));
}

/// Two that answer each other at once, for ever.
fn chatter(latency: Span) -> ([Toy; 2], Vec<Group>) {
    let near = Toy::new(NEAR, 1).knows(FAR, latency).echoes();
    let far = Toy::new(FAR, 2).knows(NEAR, latency).echoes();
    let near = near.does(micros(7), true, 1);
    ([near, far], vec![Group { members: 1, latency }; 2])
}

#[test]
fn a_stall_names_who_talks_to_whom() {
    let at = Stamp { round: 10_000, ..micros(7) };
    let mut alone = chatter(Span::ZERO);
    let mut together = alone.clone();
    together.1 = vec![Group { members: 2, latency: Span::MAX }];
    for chatter in [alone.clone(), together] {
        let error = run(chatter, WindowOptions::default());
        let Err(GridError::Window(WindowError::Stalled { entity, at: found, talk })) = error else {
            panic!("{error:?}");
        };
        assert_eq!((entity, found), (NEAR, at));
        assert!(talk.contains(&(NEAR, FAR)) && talk.contains(&(FAR, NEAR)), "{talk:?}");
    }
    let error = drive_by_moments(&mut alone.0, Stamp::END, &mut Vec::new()).expect_err("it stalls");
    let told = error.to_string();
    assert!(told.contains("site number 0 does not get beyond 0.000007 s, round 10000"), "{told}");
    assert!(told.contains("from site number 1 to site number 0"), "{told}");
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
fn a_full_sink_ends_the_run() {
    let (mut toys, groups) = chatter(Span::from_secs(3_600));
    let mut windows = windows(&toys, &groups, WindowOptions::default());
    let error = drive(&mut toys, &mut windows, &mut Merge::new(2), &mut Full(100));
    assert_eq!(error, Err(GridError::SinkClosed));
}

#[test]
fn groups_and_entities_must_match() {
    let toys = [near(), far()];
    let of = |addresses: [Address; 2], members| {
        let groups = [Group { members, latency: Span::ZERO }];
        Windows::new(addresses.map(|at| (at, None)), &groups, WindowOptions::default()).map(|_| ())
    };
    assert_eq!(of([NEAR, FAR], 2), Ok(()));
    assert_eq!(of([NEAR, FAR], 3), Err(WindowError::Groups { grouped: 3, entities: toys.len() }));
    assert_eq!(of([NEAR, NEAR], 2), Err(WindowError::TwoEntities(NEAR)));
}
