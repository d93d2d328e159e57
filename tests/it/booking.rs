//! The parts of a site driven by hand: the reservation book of a partition while jobs run, messages, saved states.

use gridemu::entity::{Entity, EntityError, Message, Sender, Site, Stamp, ToSite};
use gridemu::grid::{Grid, GridError, GridSave};
use gridemu::local::{BookError, Partition, PowerRegistry, Registry, Settings, Slot, SlotRequest, Step};
use gridemu::model::{
    FailureAction, InstantOrder, JobId, Named, Origin, PartitionId, PartitionSpec, Payer, PlacementRule,
    Record, Reservation, SiteId,
};
use gridemu::units::{Span, Time};

use crate::support::{grid, job, site, through_bytes};

fn partition(processors: u32, policy: &str) -> Partition {
    let written: Named = policy.parse().expect("a policy");
    let (built, abilities) = Registry::standard().build(&written).expect("a policy");
    let settings = Settings {
        placement: PlacementRule::default(),
        site: SiteId(0),
        site_name: "site".to_owned(),
        partition: PartitionId(0),
        order: InstantOrder::Instant,
        overrun: false,
        tariff: gridemu::model::SiteTariff::default(),
        pue_ppm: 1_000_000,
        record_segments: true,
        record_machines: false,
        on_failure: FailureAction::Requeue,
        return_queued: false,
        attempts: None,
        checkpoint: None,
        mean_up: None,
        sleep: Vec::new(),
        seed: 0,
        preemption: gridemu::model::Preemption::default(),
        failed_attempts: Payer::User,
    };
    Partition::new(settings, PartitionSpec::plain(processors), built, policy.to_owned(), abilities, &[])
}

fn wanted(name: &str, start: u64, end: u64, procs: u32) -> Reservation {
    Reservation {
        name: name.to_owned(),
        start: Time::from_secs(start),
        end: Time::from_secs(end),
        procs,
        job: None,
    }
}

fn at(secs: u64) -> Time {
    Time::from_secs(secs)
}

/// Four processors. From 100 to 200 three are held, then committed; a job of 2 for 60 s that comes at 50 would run into
/// that and must not start, until at 60 the reservation is given up.
#[test]
fn a_policy_plans_around_a_booking_until_it_is_released() {
    for policy in ["easy", "conservative"] {
        let mut partition = partition(4, policy);
        let (mut records, mut ended) = (Vec::<Record>::new(), Vec::new());
        partition.hold(&wanted("booked", 100, 200, 3), at(90), at(0)).expect("there is room");
        partition.commit("booked", at(10)).expect("it is held");
        let mut step = Step::new(at(50), &mut records, &mut ended);
        assert!(partition.arrive(job(1, 50, 2, 60), Origin::Local, &mut step));
        partition.pass(&mut step).expect("a lawful pass");
        assert_eq!(partition.view(at(50)).free(), 4, "{policy}: 50 + 60 is beyond 100, where 1 is left");
        step.now = at(60);
        assert!(partition.release("booked", &mut step));
        assert!(!partition.release("booked", &mut step), "once is enough");
        partition.pass(&mut step).expect("a lawful pass");
        assert_eq!(partition.view(at(60)).free(), 2, "{policy}: nothing is in the way any more");
    }
}

/// A reservation that has begun and is given up returns the processors it has, and no others.
#[test]
fn a_reservation_given_up_returns_its_processors() {
    let mut partition = partition(4, "easy");
    let (mut records, mut ended) = (Vec::<Record>::new(), Vec::new());
    partition.hold(&wanted("now", 10, 100, 3), at(9), at(0)).expect("there is room");
    partition.commit("now", at(5)).expect("it is held");
    let mut step = Step::new(at(10), &mut records, &mut ended);
    assert!(partition.begin_bookings(&mut step));
    assert_eq!(partition.view(at(10)).free(), 1);
    step.now = at(40);
    assert!(partition.release("now", &mut step));
    assert_eq!(partition.view(at(40)).free(), 4);
}

#[test]
fn what_cannot_be_held_is_refused() {
    let mut partition = partition(4, "easy");
    for procs in [0, 5] {
        let refused = partition.hold(&wanted("much", 10, 20, procs), at(9), at(0));
        assert_eq!(refused, Err(BookError::NoRoom("much".to_owned())));
    }
}

/// Two of four processors are taken until 100 by a running job. Conservative has promised the rest to nobody: three are
/// to be had from 100 on, two at once.
#[test]
fn offers_are_what_the_plan_leaves() {
    let mut partition = partition(4, "conservative");
    let (mut records, mut ended) = (Vec::<Record>::new(), Vec::new());
    let mut step = Step::new(at(0), &mut records, &mut ended);
    assert!(partition.arrive(job(1, 0, 2, 100), Origin::Local, &mut step));
    partition.pass(&mut step).expect("a lawful pass");
    let profile = partition.view(at(20)).profile();
    let request = |procs| SlotRequest {
        procs,
        duration: Span::from_secs(30),
        earliest: at(0),
        latest: at(1_000),
        alternatives: 2,
    };
    assert_eq!(profile.offers(&request(3)), [Slot { start: at(100), until: at(1_000), procs: 3 }]);
    assert_eq!(profile.offers(&request(2)), [Slot { start: at(20), until: at(1_000), procs: 2 }]);
    assert_eq!(profile.offers(&request(5)), []);
}

#[test]
fn no_message_replaces_another() {
    let mut site =
        Site::new(SiteId(0), site(4, "fcfs"), None, 0, &Registry::standard(), &PowerRegistry::standard())
            .expect("a site");
    let message = |id| Message {
        arrival: Stamp::at(at(5)),
        sender: Sender::Outside,
        sequence: 7,
        body: ToSite::Cancel(JobId(id)).into(),
    };
    site.deliver(message(1)).expect("the first");
    let second = site.deliver(message(2));
    assert!(matches!(second, Err(EntityError::Repeated { sequence: 7, .. })), "{second:?}");
}

#[test]
fn a_state_of_another_layout_is_refused() {
    let jobs = [job(1, 0, 2, 10)];
    let started = grid(&Registry::standard(), &site(4, "fcfs"), &jobs).expect("a grid");
    let saved = through_bytes(&started.snapshot().expect("a state"));
    let mut bytes = postcard_bytes(&saved);
    // The layout is the first number.
    bytes[0] = 99;
    let other: GridSave = from_postcard(&bytes);
    let mut fresh: Grid = grid(&Registry::standard(), &site(4, "fcfs"), &jobs).expect("a grid");
    let refused = fresh.restore(other, false).expect_err("another layout");
    assert!(matches!(&refused, GridError::BadSave(problem) if problem.contains("layout 99")), "{refused}");
}

fn postcard_bytes(save: &GridSave) -> Vec<u8> {
    postcard::to_stdvec(save).expect("it can be written")
}

fn from_postcard(bytes: &[u8]) -> GridSave {
    postcard::from_bytes(bytes).expect("it can be read")
}
