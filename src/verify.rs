//! An independent check of schedules: is what a run recorded possible on its grid?
//!
//! A [`Checker`] is given the grid ([`Platform`]) and then the rows of a run in order of time, and reports violations
//! of the rules of valid schedules ([`Rule`]). It uses nothing that makes schedules: no policy, no partition, no
//! profile. Its memory holds what runs at a time, plus a bit a job and a line a processor.
//!
//! Rows come in the order in which they are written: events, segments by their end, jobs by their end; of one instant
//! in this order. A caller that knows that no later row begins before some time calls [`Checker::forget_before`].

mod asked;
mod bookings;
mod columns;
mod counts;
mod findings;
mod holders;
mod job;
mod job_trace;
mod machines;
pub(crate) mod names;
mod platform;
pub(crate) mod rows;
mod seen;
mod segment;
#[cfg(test)]
mod tests;
mod validation;

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

pub use asked::Asked;
pub use columns::Columns;
pub use findings::{Broken, JobName, Row, Rule, Verdict, Violation};
pub use platform::{PartitionFacts, Platform};
pub use validation::Validation;

use crate::model::{EventKind, EventRecord, PartitionId, SiteId};
use crate::units::Time;
use bookings::Bookings;
use counts::Counts;
use holders::Holders;
use job_trace::JobTrace;
use machines::Machines;
use seen::Seen;

/// Checks the rows of a run against the grid that it ran on.
#[derive(Debug)]
pub struct Checker {
    platform: Arc<Platform>,
    /// The partitions, by site and partition.
    floors: BTreeMap<(SiteId, PartitionId), Floor>,
    /// Jobs that have a row and have not ended.
    traces: FxHashMap<JobName, JobTrace>,
    /// Jobs that have ended, by the site that owns them (`None`: the grid).
    ended: BTreeMap<Option<SiteId>, Seen>,
    last_end: Time,
    /// The ends of jobs, if jobs that follow them need these.
    ends: Option<FxHashMap<JobName, Time>>,
    verdict: Verdict,
}

/// The state of a partition.
#[derive(Debug)]
struct Floor {
    usable: u32,
    holders: Holders,
    machines: Machines,
    bookings: Option<Bookings>,
    counts: Counts,
}

impl Checker {
    /// Creates a check on this platform.
    pub fn new(platform: Platform) -> Self {
        let mut floors = BTreeMap::new();
        for (site, facts) in (0..).map(SiteId).zip(&platform.sites) {
            for (partition, spec) in (0..).map(PartitionId).zip(&facts.spec.partitions) {
                let machines = Machines::new(spec);
                let bookings = Bookings::of(facts, partition, machines.missing());
                let holders = Holders::new(facts.abilities.multiprogramming_level);
                let counts = Counts::new(spec.usable());
                floors.insert(
                    (site, partition),
                    Floor { usable: spec.usable(), holders, machines, bookings, counts },
                );
            }
        }
        Self {
            platform: Arc::new(platform),
            floors,
            traces: FxHashMap::default(),
            ended: BTreeMap::new(),
            last_end: Time::ZERO,
            ends: None,
            verdict: Verdict::default(),
        }
    }

    /// Checks an event.
    pub fn event(&mut self, event: &EventRecord, row: Row) {
        let (site, now) = (event.site, event.time);
        if let Some(id) = event.job {
            let name = JobName::new(id, event.origin, site);
            // The job may not exist, and a refused command does not change it.
            if event.kind != EventKind::CommandRefused && !self.has_ended(name) {
                self.traces.entry(name).or_default().hear(event);
            }
            return;
        }
        let partition = event.partition.unwrap_or_default();
        let Some(floor) = self.floors.get_mut(&(site, partition)) else {
            let said = format!(
                "machines change of {}, which the grid does not have",
                self.platform.place(site, partition)
            );
            return self.fault(Rule::Place, now, Vec::new(), row, said);
        };
        let before = i64::from(floor.machines.missing());
        let mut wrong = None;
        match event.kind {
            EventKind::Left => floor.machines.leave(&event.machines, now),
            EventKind::Joined => wrong = floor.machines.join(&event.machines, now),
            EventKind::Slowed => floor.machines.slowed = true,
            _ => {}
        }
        let change = i64::from(floor.machines.missing()) - before;
        if let Some(bookings) = &mut floor.bookings {
            bookings.missing(change, now);
        }
        if let Some((machine, from, name)) = wrong {
            let said = format!(
                "{} runs on machine {machine} of {} from {from} s, which joins only at {now} s",
                name.told(&self.platform),
                self.platform.place(site, partition)
            );
            self.fault(Rule::Down, from, vec![name], row, said);
        }
    }

    /// Records a violation: also for a row that names something the grid does not have, or that is wrong in itself.
    pub fn fault(&mut self, rule: Rule, time: Time, jobs: Vec<JobName>, row: Row, said: String) {
        self.verdict.break_rule(Violation { time, rule, jobs, said, row });
    }

    /// States that no later row begins before `time`, so that what ended by then can be checked and forgotten.
    pub fn forget_before(&mut self, time: Time) {
        let mut found = Vec::new();
        for (&(site, partition), floor) in &mut self.floors {
            floor.holders.forget_before(time);
            floor.machines.forget_before(time);
            for excess in floor.counts.settle(time) {
                let said = format!(
                    "{} starts, and {} processors of {} are in use, which has {}",
                    excess.job.told(&self.platform),
                    excess.in_use,
                    self.platform.place(site, partition),
                    floor.usable
                );
                found.push((Rule::Capacity, excess.time, vec![excess.job], excess.row, said));
            }
            for trespass in floor.bookings.iter_mut().flat_map(|bookings| bookings.settle(time)) {
                let told: Vec<String> =
                    trespass.jobs.iter().map(|job| job.told(&self.platform).to_string()).collect();
                let said = format!(
                    "{} {}: {} of {} processors of {} are in use or down, and {} are reserved (`{}`)",
                    told.join(", "),
                    match (trespass.starts, told.len()) {
                        (true, _) => "starts",
                        (false, 1) => "still runs when a reservation begins",
                        (false, _) => "still run when a reservation begins",
                    },
                    trespass.in_use,
                    floor.usable,
                    self.platform.place(site, partition),
                    trespass.reserved,
                    trespass.name
                );
                found.push((Rule::Reservation, trespass.time, trespass.jobs, trespass.row, said));
            }
        }
        for (rule, time, jobs, row, said) in found {
            self.fault(rule, time, jobs, row, said);
        }
    }

    /// Ends the check after all rows, and returns the verdict.
    pub fn finish(mut self) -> Verdict {
        self.forget_before(Time::NEVER);
        let mut left: Vec<(JobName, Time, Row)> = self
            .traces
            .iter()
            .filter_map(|(name, trace)| trace.last.as_ref().map(|last| (*name, last.to, last.row)))
            .collect();
        left.sort_unstable();
        for (name, time, row) in left {
            let said =
                format!("{} ran until {time} s and has no row among the jobs", name.told(&self.platform));
            self.fault(Rule::Rows, time, vec![name], row, said);
        }
        self.verdict
    }

    /// Whether the row of the job has been checked.
    pub fn has_ended(&self, name: JobName) -> bool {
        self.ended.get(&name.site).is_some_and(|ended| ended.contains(name.id.0))
    }
}
