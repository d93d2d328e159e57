//! Reservations that are made, and given up, while a site is running.

use gridemu::entity::ToSite;
use gridemu::local::Registry;
use gridemu::model::{
    BookAct, Booked, BookingRefusal, EventCause, EventKind, EventRecord, Job, JobId, Order, Origin,
    PartitionId, PlannedOrder, Record, ReservationRequest, SiteSpec,
};
use gridemu::units::{Span, Time};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::cli::gridemu;
use crate::invariants::{cases, variants};
use crate::support::{self, Ran, command, job, site, through_bytes};

fn secs(secs: u64) -> Time {
    Time::from_secs(secs)
}

/// So many processors for so long, as soon as the order comes or within this window.
fn wanted(name: &str, procs: u32, length: u64, from: Option<u64>, until: Option<u64>) -> ReservationRequest {
    ReservationRequest {
        name: name.to_owned(),
        partition: PartitionId(0),
        procs,
        length: Span::from_secs(length),
        from: from.map(secs),
        until: until.map(secs),
        job: None,
    }
}

fn reserve(wanted: ReservationRequest) -> BookAct {
    BookAct::Reserve(Box::new(wanted))
}

fn release(name: &str) -> BookAct {
    BookAct::Release { name: name.to_owned(), partition: None }
}

fn ordered(mut spec: SiteSpec, acts: impl IntoIterator<Item = (u64, BookAct)>) -> SiteSpec {
    let order = |(at, act)| PlannedOrder { at: secs(at), order: Order::Book(act) };
    spec.orders = acts.into_iter().map(order).collect();
    spec
}

fn told(ran: &Ran) -> Vec<&EventRecord> {
    fn event(record: &Record) -> Option<&EventRecord> {
        match record {
            Record::Event(event) if event.booked.is_some() => Some(event),
            _ => None,
        }
    }
    ran.records.iter().filter_map(event).collect()
}

/// What each order led to: its interval in seconds, or why it was refused.
fn made(ran: &Ran) -> Vec<Result<(u64, u64), BookingRefusal>> {
    let whole = |time: Time| time.micros() / 1_000_000;
    let of = |event: &EventRecord| match (event.kind, event.cause, event.booked.as_deref()) {
        (EventKind::BookingRefused, EventCause::Unbooked(why), _) => Err(why),
        (EventKind::Reserved, EventCause::Script, Some(Booked { during: Some((from, to)), .. })) => {
            Ok((whole(*from), whole(*to)))
        }
        (EventKind::Released, EventCause::Script, Some(Booked { during: None, .. })) => {
            Ok((whole(event.time), whole(event.time)))
        }
        _ => panic!("{event:?}"),
    };
    told(ran).into_iter().map(of).collect()
}

/// On four processors job 1 runs until 30, and job 2 waits, which needs all of them for 20 s.
fn two() -> [Job; 2] {
    [job(1, 0, 4, 30), job(2, 1, 4, 20)]
}

#[test]
fn a_reservation_begins_as_early_in_its_window_as_the_plan_has_room() {
    for (policy, begins) in [("los", 30), ("easy", 30), ("conservative", 50)] {
        let spec = ordered(site(4, policy), [(5, reserve(wanted("demo", 2, 10, Some(10), Some(100))))]);
        let ran = support::run(&spec, &two());
        assert_eq!(made(&ran), [Ok((begins, begins + 10))], "{policy}");
        // Who has been promised a start keeps it; elsewhere the reservation comes first.
        let start = if policy == "conservative" { 30 } else { 40 };
        assert_eq!(ran.times(2), (start, start + 20), "{policy}");
        let event = told(&ran)[0];
        assert_eq!((event.time, event.procs, event.partition), (secs(5), 2, Some(PartitionId(0))));
    }
}

#[test]
fn one_without_a_window_begins_then_or_never() {
    let acts = [
        (5, reserve(wanted("now", 1, 10, None, None))),
        (5, reserve(wanted("late", 4, 10, Some(60), None))),
        (29, reserve(wanted("soon", 4, 1, Some(29), Some(31)))),
    ];
    // At 5 all processors are in use; from 60 on none is; from 30 until 31 there is room, since EASY has promised nothing.
    let ran = support::run(&ordered(site(4, "easy"), acts), &two());
    assert_eq!(made(&ran), [Err(BookingRefusal::NoRoom), Ok((60, 70)), Ok((30, 31))]);
    assert_eq!(ran.times(2), (31, 51));
}

#[test]
fn each_refusal_says_why() {
    let of = |job| ReservationRequest { job: Some(JobId(job)), ..wanted("for a job", 1, 5, Some(80), None) };
    let acts = [
        (5, reserve(wanted("a", 1, 10, Some(60), None))),
        (6, reserve(wanted("a", 1, 10, Some(70), None))),
        (7, reserve(wanted("b", 1, 10, Some(6), Some(16)))),
        (8, reserve(of(2))),
        (9, reserve(of(3))),
        (10, reserve(ReservationRequest { name: "again".to_owned(), ..of(3) })),
        (11, release("b")),
        (12, release("a")),
        (13, release("a")),
    ];
    let ran = support::run(&ordered(site(4, "easy"), acts.clone()), &two());
    use BookingRefusal::{JobHere, JobReserved, KeepsNone, NameTaken, NoReservation, TooLate};
    let expected = [
        Ok((60, 70)),
        Err(NameTaken),
        Err(TooLate),
        Err(JobHere),
        Ok((80, 85)),
        Err(JobReserved),
        Err(NoReservation),
        Ok((12, 12)),
        Err(NoReservation),
    ];
    assert_eq!(made(&ran), expected);
    let ran = support::run(&ordered(site(4, "fcfs"), acts[..1].to_vec()), &two());
    assert_eq!(made(&ran), [Err(KeepsNone)]);
}

#[test]
fn a_job_that_comes_later_starts_on_what_was_reserved_for_it() {
    let demo = ReservationRequest { job: Some(JobId(9)), ..wanted("demo", 3, 12, Some(40), None) };
    let spec = ordered(site(4, "conservative"), [(5, reserve(demo))]);
    let jobs = [job(1, 0, 4, 30), job(3, 8, 4, 20), job(9, 35, 3, 10)];
    let ran = support::run(&spec, &jobs);
    assert_eq!(made(&ran), [Ok((40, 52))]);
    // Job 3 does not fit before it, and what is left of it after job 9 is given back.
    assert_eq!((ran.times(9), ran.times(3)), ((40, 50), (50, 70)));
}

#[test]
fn what_is_given_up_is_free_at_once_and_a_job_on_it_goes_on() {
    let block = wanted("block", 4, 50, Some(10), None);
    let spec = ordered(site(4, "easy"), [(0, reserve(block)), (25, release("block"))]);
    let ran = support::run(&spec, &[job(1, 0, 4, 10), job(2, 1, 4, 20)]);
    assert_eq!(made(&ran), [Ok((10, 60)), Ok((25, 25))]);
    assert_eq!(ran.times(2), (25, 45));
    let demo = ReservationRequest { job: Some(JobId(9)), ..wanted("demo", 2, 30, Some(10), None) };
    let spec = ordered(site(4, "easy"), [(0, reserve(demo)), (15, release("demo"))]);
    let ran = support::run(&spec, &[job(1, 0, 4, 10), job(9, 2, 2, 20), job(3, 12, 4, 5)]);
    assert_eq!((ran.times(9), ran.times(3)), ((10, 30), (30, 35)));
}

#[test]
fn a_schedule_that_breaks_such_a_reservation_is_found() {
    let spec = ordered(site(4, "easy"), [(5, reserve(wanted("demo", 2, 10, Some(30), None)))]);
    let registry = Registry::standard();
    let ran = support::run(&spec, &two());
    let mut records = ran.records.clone();
    // As if job 2 had not waited for the end of the reservation.
    for record in &mut records {
        match record {
            Record::Segment(segment) if segment.job == JobId(2) => {
                (segment.from, segment.to) = (secs(35), secs(55));
            }
            Record::Job(job) if job.id == JobId(2) => (job.start, job.end) = (Some(secs(35)), secs(55)),
            _ => {}
        }
    }
    let verdict = support::judged(&registry, std::slice::from_ref(&spec), true, &records);
    let broken: Vec<String> = verdict.broken.values().map(|broken| broken.first.message.clone()).collect();
    assert!(broken.iter().any(|message| message.contains("are reserved (`demo`)")), "{broken:?}");
    // Given up in time, it binds nobody.
    let gone = EventRecord {
        partition: Some(PartitionId(0)),
        booked: Some(Box::new(Booked { name: "demo".to_owned(), during: None })),
        ..EventRecord::new(secs(32), EventKind::Released, EventCause::Script, gridemu::model::SiteId(0))
    };
    records.push(Record::Event(gone));
    let verdict = support::judged(&registry, std::slice::from_ref(&spec), true, &records);
    assert!(verdict.is_valid(), "{:?}", verdict.broken);
}

/// Of four processors three are missing: a reservation is short, and a job starts on its own one all the same.
#[test]
fn a_job_starts_on_its_reservation_beside_one_that_is_short() {
    let own = support::reserve_for(11, site(4, "easy"), 0, 33, 1);
    let mut spec = support::reserve(own, "short", 8, 27, 2);
    spec.partitions[0].absent = 3;
    let ran = support::run(&spec, &[job(11, 9, 1, 5)]);
    assert_eq!((ran.times(11), ran.tally.short_reservations), ((9, 14), 1));
}

/// Orders at random times; some have names that others have too.
fn acts() -> impl Strategy<Value = Vec<(u64, BookAct)>> {
    let window = (0_u64..60, proptest::option::of(0_u64..80));
    let one = (0_u64..100, 0_u8..6, 0_u32..3, 1_u32..9, 1_u64..30, window, proptest::option::of(1_u64..30));
    vec(one, 0..8).prop_map(|mut drawn| {
        drawn.sort_by_key(|act| act.0);
        let act = |(at, name, partition, procs, length, (lead, slack), job): (
            u64,
            u8,
            u32,
            u32,
            u64,
            _,
            Option<u64>,
        )| {
            let (lead, slack): (u64, Option<u64>) = (lead, slack);
            let name = format!("o{name}");
            if lead < 8 {
                return (at, BookAct::Release { name, partition: None });
            }
            let from = (lead % 3 > 0).then_some(at + lead);
            let until = slack.map(|slack| at + lead + length + slack);
            let partition = PartitionId(partition);
            let wanted = wanted(&name, procs, length, from, until);
            (at, reserve(ReservationRequest { partition, job: job.map(JobId), ..wanted }))
        };
        drawn.into_iter().map(act).collect()
    })
}

proptest! {
    #![proptest_config(crate::support::cases(500))]

    /// What was granted is kept, by every policy that can; a run that is stopped goes on alike, and commands do what the script does.
    #[test]
    fn every_policy_keeps_what_is_reserved_while_it_runs(
        case in cases(variants(), 25),
        acts in acts(),
        stop in 0_u64..150,
    ) {
        let registry = Registry::standard();
        let mut spec = case.spec.clone();
        let most = spec.partitions.len() as u32;
        let acts: Vec<(u64, BookAct)> = acts.into_iter().map(|(at, act)| match act {
            BookAct::Reserve(mut wanted) => {
                wanted.partition = PartitionId(wanted.partition.0 % most);
                (at, BookAct::Reserve(wanted))
            }
            act => (at, act),
        }).collect();
        spec = ordered(spec, acts.clone());
        let ran = support::try_run(&registry, &spec, &case.jobs).expect("it ends");
        support::assert_legal(&registry, std::slice::from_ref(&spec), &case.jobs, &ran.records);
        for event in told(&ran) {
            prop_assert!(event.job.is_none() || event.origin == Origin::Local);
            if let (EventKind::Reserved, Some((from, _))) = (event.kind, event.booked.as_ref().unwrap().during) {
                prop_assert!(from >= event.time);
            }
        }
        let mut first = support::grid(&registry, &spec, &case.jobs).expect("a grid");
        let mut records = Vec::new();
        first.run_until(secs(stop), &mut records).expect("it runs");
        let saved = through_bytes(&first.snapshot().expect("a state"));
        let mut second = support::grid(&registry, &spec, &case.jobs).expect("a grid");
        second.restore(saved, false).expect("it fits");
        second.run(&mut records).expect("it ends");
        prop_assert_eq!(&Ran::of(&second, records), &ran);
        // Commands come after the arrivals of their instant, as orders do, and have another cause.
        let mut commanded = support::grid(&registry, &case.spec, &case.jobs).expect("a grid");
        for (at, act) in acts {
            commanded.command(command(secs(at), ToSite::Book(act))).expect("nothing has happened yet");
        }
        let mut records = Vec::new();
        commanded.run(&mut records).expect("it ends");
        let by_commands = Ran::of(&commanded, records);
        let starts = |ran: &Ran| -> Vec<_> { ran.jobs().map(|job| (job.id, job.start, job.end, job.outcome)).collect() };
        prop_assert_eq!(starts(&by_commands), starts(&ran));
    }
}

/// The example: what was granted, given up and refused is in the table and in the notes, and the run is legal.
#[test]
fn appointments_are_told() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().join("out").display().to_string();
    let ran = gridemu(&["run", "configs/appointments.toml", "--out", &out]);
    ran.well();
    let note = "1 of 4 orders about reservations was refused (1: so many processors were not free";
    assert!(ran.out.contains(note), "{}", ran.out);
    let events = std::fs::read_to_string(dir.path().join("out/events.csv")).expect("a table");
    let cell = |line: &str, at| line.split(',').nth(at).expect("a cell").to_owned();
    let told: Vec<(String, String)> =
        events.lines().skip(1).map(|line| (cell(line, 1), cell(line, 12))).collect();
    let expected = [
        ("reserved", "reserve 118800 126000 course"),
        ("reserved", "reserve 126000 147600 paper"),
        ("booking-refused", "reserve 72000 75600 at once"),
        ("released", "release course"),
    ];
    assert_eq!(told, expected.map(|(event, command)| (event.to_owned(), command.to_owned())));
    gridemu(&["validate", &out]).well();
}

/// At the end of the run orders that are still to come are refused, and nobody may have two reservations.
#[test]
fn what_comes_too_late_or_twice_is_refused() {
    let mut spec = site(4, "easy");
    spec.partitions
        .push(gridemu::model::PartitionSpec { name: "second".to_owned(), ..spec.partitions[0].clone() });
    let of = |name: &str, partition| ReservationRequest {
        job: Some(JobId(9)),
        partition: PartitionId(partition),
        ..wanted(name, 1, 5, Some(80), None)
    };
    let acts = [(1, reserve(of("a", 0))), (2, reserve(of("b", 1))), (500, release("a"))];
    let spec = ordered(spec, acts);
    let mut grid = support::grid(&Registry::standard(), &spec, &[job(1, 0, 4, 30)]).expect("a grid");
    let mut records = Vec::new();
    grid.run_to(None, gridemu::grid::WindowOptions::default(), &mut records).expect("it ends");
    let ran = Ran::of(&grid, records);
    let expected = [Ok((80, 85)), Err(BookingRefusal::JobReserved), Err(BookingRefusal::RunOver)];
    assert_eq!(made(&ran), expected);
}

/// Rows that say something else than the events asked for are found, and a job that has given its reservation up is held against others.
#[test]
fn rows_about_reservations_are_held_against_the_events() {
    let small = ReservationRequest { job: Some(JobId(2)), ..wanted("small", 1, 90, Some(10), None) };
    let acts = [(5, reserve(small)), (6, reserve(wanted("nobody", 3, 10, Some(60), Some(90))))];
    let spec = ordered(site(4, "easy"), acts);
    // Job 2 needs more than is kept for it, which is given up.
    let ran = support::run(&spec, &[job(1, 0, 4, 8), job(2, 9, 3, 10)]);
    let broken = |change: &dyn Fn(&mut Record)| {
        let mut records = ran.records.clone();
        records.iter_mut().for_each(change);
        let verdict = support::judged(&Registry::standard(), std::slice::from_ref(&spec), true, &records);
        verdict.broken.get(&gridemu::verify::Rule::Reservation).map(|broken| broken.first.message.clone())
    };
    assert_eq!(broken(&|_| {}), None);
    let late = broken(&|record| match record {
        Record::Segment(segment) if segment.job == JobId(2) => {
            (segment.from, segment.to) = (secs(62), secs(72))
        }
        Record::Job(job) if job.id == JobId(2) => (job.start, job.end) = (Some(secs(62)), secs(72)),
        _ => {}
    });
    assert!(late.is_some_and(|message| message.contains("(`nobody`)")));
    let moved = |change: fn(&mut EventRecord)| {
        broken(&move |record| match record {
            Record::Event(event) if event.booked.as_ref().is_some_and(|booked| booked.name == "nobody") => {
                change(event)
            }
            _ => {}
        })
    };
    for change in [
        (|event: &mut EventRecord| event.booked.as_mut().unwrap().during = Some((secs(85), secs(95))))
            as fn(&mut EventRecord),
        |event| event.booked.as_mut().unwrap().during = Some((secs(60), secs(71))),
        |event| event.booked.as_mut().unwrap().during = None,
        |event| event.booked = None,
        |event| event.procs = 2,
        |event| event.kind = EventKind::Released,
        |event| event.kind = EventKind::Extended,
    ] {
        assert!(moved(change).is_some());
    }
}
