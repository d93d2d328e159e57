//! Fingerprints of records.

use super::*;

#[test]
fn a_fingerprint_is_what_it_was() {
    // Changes only with the version of the encoding, and is then named in the changelog.
    let mut fingerprint = Fingerprint::new();
    assert_eq!(fingerprint.to_string(), "0:00000000000000000000000000000000");
    let record = job(1, 0, 5, 10, 4);
    fingerprint.add_segment(&segment(&record, ProcSet::full(4)));
    fingerprint.add_job(&record);
    fingerprint.add_job(&rejected(2, 3, 99));
    assert_eq!(fingerprint.to_string(), "3:3f505a9f505aed0ebc40a0ebf8688780");
    // A job of the grid, and every kind of event for every cause.
    let sent = JobRecord { origin: Origin::Grid, ..record };
    fingerprint.add_segment(&segment(&sent, ProcSet::full(4)));
    fingerprint.add_job(&sent);
    let mut add = |kinds: &[EventKind]| {
        for kind in kinds {
            for cause in EVENT_CAUSES {
                fingerprint.add_event(&EventRecord { cause, ..happened(*kind, &sent) });
            }
        }
        fingerprint.to_string()
    };
    assert_eq!(add(&EventKind::ALL[..12]), "137:c0f75ec60afbc6ff21e31ef030ad09a4");
    // The kinds of elastic commands, which were added later.
    assert_eq!(add(&EventKind::ALL[12..15]), "170:a13befac134060c6c298a84642d196a1");
}

#[test]
fn a_fingerprint_sees_every_field() {
    let of = |record: &JobRecord| {
        let mut fingerprint = Fingerprint::new();
        fingerprint.add_job(record);
        fingerprint
    };
    let base = job(1, 0, 5, 10, 4);
    let changed = [
        JobRecord { user: 8, ..base.clone() },
        JobRecord { start: None, ..base.clone() },
        JobRecord { outcome: Outcome::Killed, ..base.clone() },
        JobRecord { energy: Energy::from_nanojoules(1), ..base.clone() },
        JobRecord { cost: Money::from_nanos(-1), ..base.clone() },
        JobRecord { recorded_wait: Some(Span::ZERO), ..base.clone() },
        JobRecord { origin: Origin::Grid, ..base.clone() },
    ];
    for record in changed {
        assert_ne!(of(&record), of(&base), "{record:?}");
    }
    let on = |procs: ProcSet| {
        let mut fingerprint = Fingerprint::new();
        fingerprint.add_segment(&segment(&base, procs));
        fingerprint
    };
    assert_ne!(on(ProcSet::range(0, 4)), on(ProcSet::range(1, 5)));
    let mut padded = ProcSet::range(0, 300);
    padded.remove_all(&ProcSet::range(0, 128));
    padded.remove_all(&ProcSet::range(192, 300));
    assert_eq!(on(padded), on(ProcSet::range(128, 192)), "empty words at the ends are not part of a set");
    let sent = {
        let mut fingerprint = Fingerprint::new();
        let of = SegmentRecord { origin: Origin::Grid, ..segment(&base, ProcSet::range(0, 4)) };
        fingerprint.add_segment(&of);
        fingerprint
    };
    assert_ne!(sent, on(ProcSet::range(0, 4)));
}

#[test]
fn a_fingerprint_sees_every_field_of_an_event() {
    let of = |event: &EventRecord| {
        let mut fingerprint = Fingerprint::new();
        fingerprint.add_event(event);
        fingerprint
    };
    let base = EventRecord {
        since_failure: Some(Span::ZERO),
        ..happened(EventKind::Returned, &job(1, 0, 5, 10, 4))
    };
    let left = machines(EventKind::Left, 0, 3);
    let booked = |during| crate::model::Booked { name: "demo".to_owned(), during };
    let changed = [
        EventRecord { time: Time::from_secs(16), ..base.clone() },
        EventRecord { kind: EventKind::Requeued, ..base.clone() },
        EventRecord { cause: EventCause::SiteLeft, ..base.clone() },
        EventRecord { site: SiteId::GRID, ..base.clone() },
        EventRecord { partition: None, ..base.clone() },
        EventRecord { machines: left.machines, ..base.clone() },
        EventRecord { procs: 5, ..base.clone() },
        EventRecord { job: None, ..base.clone() },
        EventRecord { origin: Origin::Local, ..base.clone() },
        EventRecord { attempt: 2, ..base.clone() },
        EventRecord { wasted: 1, ..base.clone() },
        EventRecord { since_failure: None, ..base.clone() },
        EventRecord { suspension: Some(Box::default()), ..base.clone() },
        EventRecord { booked: Some(Box::new(booked(Some((left.time, left.time))))), ..base.clone() },
        EventRecord { booked: Some(Box::new(booked(None))), ..base.clone() },
    ];
    for event in changed {
        assert_ne!(of(&event), of(&base), "{event:?}");
    }
}

#[test]
fn what_is_no_fingerprint_is_refused() {
    for written in
        ["", "3", "3:", "3:12", "x:00000000000000000000000000000000", "3:+0000000000000000000000000000000"]
    {
        assert!(written.parse::<Fingerprint>().is_err(), "{written}");
    }
}

pub(super) fn fingerprint<'a>(records: impl IntoIterator<Item = &'a Record>) -> Fingerprint {
    let mut sum = Fingerprint::new();
    records.into_iter().for_each(|record| sum.add(record));
    sum
}
