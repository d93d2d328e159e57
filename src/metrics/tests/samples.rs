//! Sample records for tests.

use proptest::prelude::*;

use crate::model::{
    Cause, EventCause, EventKind, EventRecord, JobId, JobKind, JobRecord, Origin, Outcome, PartitionId,
    ProcSet, Record, RejectReason, SegmentRecord, SiteId,
};
use crate::units::{Energy, Money, Rate, Span, Time};

/// A completed rigid job on dedicated processors, times in seconds.
pub(crate) fn job(id: u64, submit: u64, wait: u64, run: u64, procs: u32) -> JobRecord {
    JobRecord {
        id: JobId(id),
        site: SiteId(0),
        partition: PartitionId(0),
        user: 7,
        submit: Time::from_secs(submit),
        start: Some(Time::from_secs(submit + wait)),
        end: Time::from_secs(submit + wait + run),
        requested: procs,
        kind: JobKind::Rigid,
        procs,
        outcome: Outcome::Completed,
        run: Span::from_secs(run),
        estimate: Span::from_secs(run),
        attempts: 1,
        energy: Energy::ZERO,
        dynamic: Energy::ZERO,
        cost: Money::ZERO,
        recorded_wait: None,
        requested_start: None,
        limits: None,
        origin: Origin::Local,
    }
}

/// The same job, rejected at submission.
pub(crate) fn rejected(id: u64, submit: u64, procs: u32) -> JobRecord {
    JobRecord {
        start: None,
        end: Time::from_secs(submit),
        procs: 0,
        outcome: Outcome::Rejected(RejectReason::TooLarge),
        attempts: 0,
        ..job(id, submit, 0, 100, procs)
    }
}

/// The one segment of a job on the processors `procs`.
pub(crate) fn segment(of: &JobRecord, procs: ProcSet) -> SegmentRecord {
    SegmentRecord {
        job: of.id,
        origin: of.origin,
        attempt: 1,
        site: of.site,
        partition: of.partition,
        procs,
        from: of.start.unwrap_or(of.end),
        to: of.end,
        rate: Rate::FULL,
        share: Rate::FULL,
        cause: Cause::Run,
        energy: of.energy,
        dynamic: of.dynamic,
        cost: of.cost,
    }
}

/// An event in which `machines` machines of four processors of site 0 leave or come at random, at `secs`.
pub(crate) fn machines(kind: EventKind, secs: u64, machines: u32) -> EventRecord {
    EventRecord {
        time: Time::from_secs(secs),
        kind,
        cause: EventCause::Chance,
        site: SiteId(0),
        partition: Some(PartitionId(0)),
        machines: ProcSet::full(machines),
        procs: 4 * machines,
        job: None,
        origin: Origin::Local,
        attempt: 0,
        wasted: 0,
        since_failure: None,
        command: None,
        suspension: None,
        booked: None,
    }
}

/// An event of an attempt of a grid job, at its end, because a machine left.
pub(crate) fn happened(kind: EventKind, to: &JobRecord) -> EventRecord {
    EventRecord {
        time: to.end,
        cause: EventCause::MachineLeft,
        site: to.site,
        partition: Some(to.partition),
        machines: ProcSet::new(),
        procs: to.procs,
        job: Some(to.id),
        origin: Origin::Grid,
        attempt: to.attempts,
        ..machines(kind, 0, 0)
    }
}

pub(crate) const EVENT_CAUSES: [EventCause; 11] = [
    EventCause::None,
    EventCause::Chance,
    EventCause::Script,
    EventCause::Command,
    EventCause::MachineLeft,
    EventCause::SiteLeft,
    EventCause::Refused(RejectReason::TooLarge),
    EventCause::Refused(RejectReason::NoSuchPartition),
    EventCause::Refused(RejectReason::Malformed),
    EventCause::Refused(RejectReason::Policy),
    EventCause::Replanned,
];

const OUTCOMES: [Outcome; 8] = [
    Outcome::Completed,
    Outcome::Killed,
    Outcome::Failed,
    Outcome::Rejected(RejectReason::TooLarge),
    Outcome::Rejected(RejectReason::NoSuchPartition),
    Outcome::Rejected(RejectReason::Policy),
    Outcome::Cancelled,
    Outcome::Unfinished,
];

prop_compose! {
    /// Any possible job: rejected jobs never started, completed and killed ones did.
    pub(crate) fn any_job()(
        id in any::<u32>(), site in 0_u32..3, partition in 0_u32..2, user in -1_i32..50,
        submit in 0_u64..1 << 45, wait in 0_u64..1 << 42, run in 0_u64..1 << 40, estimate in 0_u64..1 << 40,
        whole_seconds in any::<bool>(), requested in 1_u32..5_000, attempts in 1_u32..4,
        outcome in prop::sample::select(&OUTCOMES[..]), started in any::<bool>(), sent in any::<bool>(),
        energy in 0_u128..1 << 70, cost in -1_i128 << 70..1 << 70,
        recorded in prop::option::of(0_u64..1 << 40),
    ) -> JobRecord {
        let grain = if whole_seconds { 1_000_000 } else { 1 };
        let [submit, wait, run] = [submit, wait, run].map(|micros| micros / grain * grain);
        let started = match outcome {
            Outcome::Completed | Outcome::Killed => true,
            Outcome::Rejected(_) => false,
            _ => started,
        };
        JobRecord {
            origin: if sent { Origin::Grid } else { Origin::Local },
            id: JobId(u64::from(id)),
            site: SiteId(site),
            partition: PartitionId(partition),
            user,
            submit: Time::from_micros(submit),
            start: started.then(|| Time::from_micros(submit + wait)),
            end: Time::from_micros(submit + wait + if started { run } else { 0 }),
            requested,
            kind: JobKind::ALL[id as usize % 3],
            procs: if started { requested } else { 0 },
            outcome,
            run: Span::from_micros(run),
            estimate: Span::from_micros(estimate),
            attempts: if started { attempts } else { 0 },
            energy: Energy::from_nanojoules(energy),
            dynamic: Energy::from_nanojoules(energy / 3),
            cost: Money::from_nanos(cost),
            recorded_wait: recorded.map(Span::from_micros),
            requested_start: None,
            limits: None,
        }
    }
}

prop_compose! {
    /// Any segment.
    pub(crate) fn any_segment()(
        of in any_job(), attempt in 1_u32..4, rate in 0_u64..1 << 22, share in 0_u64..=1 << 20,
        procs in prop::collection::btree_set(0_u32..400, 0..60),
        cause in prop::sample::select(&Cause::ALL[..]),
    ) -> SegmentRecord {
        SegmentRecord {
            attempt,
            rate: Rate::from_units(rate),
            share: Rate::from_units(share),
            cause,
            ..segment(&of, procs.into_iter().collect())
        }
    }
}

prop_compose! {
    /// Any event, of machines or of a job.
    pub(crate) fn any_event()(
        of in any_job(), micros in 0_u64..1 << 45, kind in prop::sample::select(&EventKind::ALL[..]),
        cause in prop::sample::select(&EVENT_CAUSES[..]), nowhere in any::<bool>(), procs in 0_u32..200,
        machines in prop::collection::btree_set(0_u32..100, 0..10), of_job in any::<bool>(),
        wasted in 0_u128..1 << 100, since in prop::option::of(0_u64..1 << 40),
    ) -> EventRecord {
        EventRecord {
            time: Time::from_micros(micros),
            kind,
            cause,
            site: if nowhere { SiteId::GRID } else { of.site },
            partition: (!nowhere).then_some(of.partition),
            machines: machines.into_iter().collect(),
            procs,
            job: of_job.then_some(of.id),
            origin: of.origin,
            attempt: of.attempts,
            wasted,
            since_failure: since.map(Span::from_micros),
            command: None,
            suspension: None,
            booked: None,
        }
    }
}

/// Job, segment and event records.
pub(crate) fn any_records() -> impl Strategy<Value = Vec<Record>> {
    let record = prop_oneof![
        any_job().prop_map(Record::Job),
        any_segment().prop_map(Record::Segment),
        any_event().prop_map(Record::Event),
    ];
    prop::collection::vec(record, 0..40)
}
