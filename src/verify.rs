//! An independent check of schedules: is what a run recorded possible on its grid?
//!
//! A [`Checker`] is given the grid ([`Platform`]) and then the rows of a run in order of time, and reports violations
//! of the rules of valid schedules ([`Rule`]). It uses nothing that makes schedules: no policy, no partition, no
//! profile. Its memory holds what runs at a time, plus a bit a job and a line a processor.
//!
//! Rows come in the order in which they are written: events, segments by their end, jobs by their end; of one instant
//! in this order. A caller that knows that no later row begins before some time calls [`Checker::forget_before`].

mod bookings;
mod columns;
mod counts;
mod findings;
pub(crate) mod fronts;
mod holders;
mod job;
mod job_trace;
mod machines;
pub(crate) mod names;
mod platform;
mod power;
mod request;
pub(crate) mod rows;
mod seen;
mod segment;
mod sizes;
#[cfg(test)]
mod tests;
pub(crate) mod together;
mod transitions;
pub(crate) mod workflows;

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

pub use findings::{Broken, Row, Rule, Validation, Verdict, Violation};
pub use platform::{Platform, SiteFacts};
pub use request::JobRequest;

use crate::model::{
    Booked, EventCause, EventKind, EventRecord, JobRecord, JobRef, MachineRecord, PartitionId, Reservation,
    SiteId, WorkloadId,
};
use crate::units::Time;
use bookings::Bookings;
use counts::Counts;
use findings::Subject;
use holders::Holders;
use job_trace::{Begun, JobTrace};
use machines::Machines;
use power::Drawn;
use seen::Seen;

/// Checks the rows of a run against the grid that it ran on.
#[derive(Debug)]
pub struct Checker {
    platform: Arc<Platform>,
    /// The partitions, by site and partition.
    partitions: BTreeMap<(SiteId, PartitionId), PartitionState>,
    /// What the machines of sites with a power cap draw.
    drawn: BTreeMap<SiteId, Drawn>,
    /// Jobs that have a row and have not ended.
    traces: FxHashMap<JobRef, JobTrace>,
    /// Jobs that have ended.
    ended: BTreeMap<WorkloadId, Seen>,
    /// Jobs that run again when they have ended, after how many attempts and from when on, if that is known before their row is.
    repeated: FxHashMap<JobRef, (u32, Time)>,
    last_end: Time,
    /// The ends of jobs, if jobs that follow them need these.
    ends: Option<FxHashMap<JobRef, Time>>,
    verdict: Verdict,
}

/// The state of a partition.
#[derive(Debug)]
struct PartitionState {
    holders: Holders,
    machines: Machines,
    bookings: Option<Bookings>,
    counts: Counts,
}

impl Checker {
    /// Creates a check on this platform.
    pub fn new(platform: impl Into<Arc<Platform>>) -> Self {
        let platform = platform.into();
        let mut partitions = BTreeMap::new();
        for (site, facts) in (0..).map(SiteId).zip(&platform.sites) {
            for (partition, spec) in (0..).map(PartitionId).zip(&facts.spec.partitions) {
                let machines = Machines::new(spec);
                let bookings =
                    Bookings::of(facts, partition, machines.missing(), platform.since > Time::ZERO);
                let holders = Holders::new(facts.abilities.multiprogramming_level);
                let counts = Counts::new(spec.usable());
                partitions.insert((site, partition), PartitionState { holders, machines, bookings, counts });
            }
        }
        // Of a fork it is not known in which states its machines were before.
        let sites = platform.sites.iter().filter(|_| platform.since == Time::ZERO);
        let drawn = (0..).map(SiteId).zip(sites).filter_map(|(site, facts)| Some((site, Drawn::of(facts)?)));
        Self {
            drawn: drawn.collect(),
            platform,
            partitions,
            traces: FxHashMap::default(),
            ended: BTreeMap::new(),
            repeated: FxHashMap::default(),
            last_end: Time::ZERO,
            ends: None,
            verdict: Verdict::default(),
        }
    }

    /// Checks an event.
    pub fn event(&mut self, event: &EventRecord, row: Row) {
        let (site, now) = (event.site, event.time);
        let is_booking =
            matches!(event.kind, EventKind::Reserved | EventKind::Released | EventKind::BookingRefused);
        if is_booking || event.booked.is_some() {
            return self.booking(event, row);
        }
        if let Some(name) = event.job_ref() {
            if event.kind == EventKind::Repeated {
                self.repeated.insert(name, (event.attempt, now));
                return self.reopen(name);
            }
            // The job may not exist, and a refused command does not change it.
            if event.kind != EventKind::CommandRefused && !self.has_ended(name) {
                self.traces.entry(name).or_default().add_event(event);
            }
            return;
        }
        let partition = event.partition.unwrap_or_default();
        let Some(state) = self.partitions.get_mut(&(site, partition)) else {
            let place = self.platform.place(site, partition);
            let message = format!("machines change of {place}, which the grid does not have");
            return self.fault(Rule::Place, now, Vec::new(), row, message);
        };
        let before = i64::from(state.machines.missing());
        let mut wrong = None;
        match event.kind {
            EventKind::Left => state.machines.leave(&event.machines, now),
            EventKind::Joined => wrong = state.machines.join(&event.machines, now),
            EventKind::Slowed => state.machines.slowed = true,
            EventKind::Draining => state.machines.drain(&event.machines, now),
            EventKind::Undrained => state.machines.stay(&event.machines, now),
            _ => {}
        }
        let change = i64::from(state.machines.missing()) - before;
        if let Some(bookings) = &mut state.bookings {
            bookings.missing(change, now);
        }
        if let Some((machine, from, name)) = wrong {
            let (job, place) = (self.platform.job(name), self.platform.place(site, partition));
            let message = format!(
                "{job} runs on machine {machine} of {place} from {from} s, which joins only at {now} s"
            );
            self.verdict.fault(Subject { name, row }, Rule::Down, from, message);
        }
    }

    /// Checks a row about a reservation, and follows what is reserved and given up while the site runs. Jobs are not held against a reservation
    /// that is for one.
    fn booking(&mut self, event: &EventRecord, row: Row) {
        let place = (event.site, event.partition.unwrap_or_default());
        let (Some(state), Some(facts)) =
            (self.partitions.get_mut(&place), self.platform.sites.get(event.site.0 as usize))
        else {
            return;
        };
        let now = event.time;
        let wrong = match (event.kind, event.booked.as_deref()) {
            (EventKind::Reserved, Some(Booked { name, during: Some((start, end)) })) => {
                let booked = Reservation {
                    name: name.clone(),
                    start: *start,
                    end: *end,
                    procs: event.procs,
                    job: event.job,
                };
                let was_there = !state.machines.changed && !state.machines.slowed;
                if state.bookings.is_none() {
                    let was_there = was_there && self.platform.since == Time::ZERO;
                    state.bookings = Bookings::begin(facts, place.1, state.machines.missing(), was_there);
                }
                if let Some(bookings) = &mut state.bookings {
                    bookings.add(&booked, event.procs);
                }
                let is_ordered = event.cause != EventCause::Script
                    || facts
                        .spec
                        .orders
                        .iter()
                        .any(|order| order.at == now && order.grants(place.1, &booked));
                (!is_ordered || *start < now || end <= start).then(|| {
                    format!("`{name}` from {start} s until {end} s is not what was asked for at {now} s")
                })
            }
            (EventKind::Released, Some(Booked { name, during: None })) => {
                if let Some(bookings) = &mut state.bookings {
                    bookings.release(name, now);
                }
                None
            }
            (EventKind::BookingRefused, Some(_)) => None,
            (kind, booked) => {
                let says =
                    booked.map_or_else(|| "nothing".to_owned(), |booked| format!("`{}`", booked.written()));
                Some(format!("the event `{}` says {says} about a reservation", kind.name()))
            }
        };
        if let Some(message) = wrong {
            self.fault(Rule::Reservation, now, Vec::new(), row, message);
        }
    }

    /// Checks a change of the state of machines; those of an instant follow one another.
    pub fn machine(&mut self, record: &MachineRecord, row: Row) {
        if let Some(drawn) = self.drawn.get_mut(&record.site) {
            drawn.change(record, row, &mut self.verdict);
        }
    }

    /// Records a violation: also for a row that names something the grid does not have, or that is wrong in itself.
    pub fn fault(&mut self, rule: Rule, time: Time, jobs: Vec<JobRef>, row: Row, message: String) {
        self.verdict.report(Violation { time, rule, jobs, message, row });
    }

    /// States that no later row begins before `time`, so that what ended by then can be checked and forgotten.
    pub fn forget_before(&mut self, time: Time) {
        for (place, state) in &mut self.partitions {
            state.holders.forget_before(time);
            state.machines.forget_before(time);
            state.counts.settle(time, *place, &self.platform, &mut self.verdict);
            if let Some(bookings) = &mut state.bookings {
                bookings.settle(time, *place, &self.platform, &mut self.verdict);
            }
        }
    }

    /// Ends the check after all rows, and returns the verdict.
    pub fn finish(mut self) -> Verdict {
        self.forget_before(Time::NEVER);
        self.drawn.values_mut().for_each(|drawn| drawn.settle(&mut self.verdict));
        let last =
            |(name, trace): (&JobRef, &JobTrace)| Some((*name, trace.last.as_ref()?.to, trace.last_row?));
        let mut left: Vec<(JobRef, Time, Row)> = self.traces.iter().filter_map(last).collect();
        left.sort_unstable();
        for (name, time, row) in left {
            let job = self.platform.job(name);
            let message = format!("{job} ran until {time} s and has no row among the jobs");
            self.verdict.fault(Subject { name, row }, Rule::Rows, time, message);
        }
        self.verdict
    }

    /// Lets a job have another row that has ended and runs again.
    fn reopen(&mut self, name: JobRef) {
        if !self.has_ended(name) {
            return;
        }
        if let (Some(lost), Some(ended)) = (self.repeated.remove(&name), self.ended.get_mut(&name.workload)) {
            ended.remove(name.number.0);
            self.traces.insert(name, JobTrace { losses: vec![lost], ..JobTrace::default() });
        }
    }

    /// The beginnings of the attempts of a job whose row has not been checked, and that of the last one, as far as segments tell.
    pub(crate) fn begun(&self, job: &JobRecord) -> (Vec<Begun>, Option<Time>) {
        let Some(trace) = self.traces.get(&job.job_ref()) else { return (Vec::new(), None) };
        let last = trace.last.as_ref().filter(|last| last.attempt == job.attempts);
        (trace.attempts.to_vec(), last.map(|_| trace.begun))
    }

    /// Whether the row of the job has been checked.
    pub fn has_ended(&self, name: JobRef) -> bool {
        self.ended.get(&name.workload).is_some_and(|ended| ended.contains(name.number.0))
    }
}
