//! Is a schedule legal?
//!
//! A [`Checker`] is told the grid ([`Grounds`]) and then what a run has left, row by row in order of time, and says what no legal
//! schedule does. It knows nothing of how schedules are made: no policy, no partition, no profile. What runs at a time is all that it
//! remembers, beside a bit a job and a line a processor.
//!
//! Rows come in the order in which they are written: events, segments by their end, jobs by their end; of one instant in this
//! order. Whoever knows that no row to come begins before some time says so ([`Checker::forget_before`]).

mod asked;
mod bookings;
mod columns;
mod counts;
mod findings;
mod grounds;
mod holders;
mod job;
mod machines;
mod seen;
mod segment;
mod story;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

pub use asked::Asked;
pub use columns::Columns;
pub use findings::{Broken, JobName, Row, Rule, Verdict, Violation};
pub use grounds::{Ground, Grounds};

use crate::model::{EventKind, EventRecord, PartitionId, SiteId};
use crate::units::Time;
use bookings::Bookings;
use counts::Counts;
use holders::Holders;
use machines::Machines;
use seen::Seen;
use story::Story;

/// Holds the rows of a run against the grid that it ran on.
#[derive(Debug)]
pub struct Checker {
    grounds: Arc<Grounds>,
    /// By site and partition.
    floors: BTreeMap<(SiteId, PartitionId), Floor>,
    /// Jobs of which something was told and that have not ended.
    stories: FxHashMap<JobName, Story>,
    /// Jobs that have ended, by the site whose they are.
    ended: BTreeMap<Option<SiteId>, Seen>,
    last_end: Time,
    /// When jobs ended, if others wait for that.
    ends: Option<FxHashMap<JobName, Time>>,
    verdict: Verdict,
}

/// What is known of a partition.
#[derive(Debug)]
struct Floor {
    usable: u32,
    holders: Holders,
    machines: Machines,
    bookings: Option<Bookings>,
    counts: Counts,
}

impl Checker {
    /// A check on these grounds.
    pub fn new(grounds: Grounds) -> Self {
        let mut floors = BTreeMap::new();
        for (site, ground) in (0..).map(SiteId).zip(&grounds.sites) {
            for (partition, spec) in (0..).map(PartitionId).zip(&ground.spec.partitions) {
                let machines = Machines::new(spec);
                let bookings = Bookings::of(ground, partition, machines.missing());
                let holders = Holders::new(ground.abilities.slots);
                let counts = Counts::new(spec.usable());
                floors.insert(
                    (site, partition),
                    Floor { usable: spec.usable(), holders, machines, bookings, counts },
                );
            }
        }
        Self {
            grounds: Arc::new(grounds),
            floors,
            stories: FxHashMap::default(),
            ended: BTreeMap::new(),
            last_end: Time::ZERO,
            ends: None,
            verdict: Verdict::default(),
        }
    }

    /// An event has happened.
    pub fn event(&mut self, event: &EventRecord, row: Row) {
        let (site, now) = (event.site, event.time);
        if let Some(id) = event.job {
            let name = JobName::new(id, event.origin, site);
            // There may be no such job, and it changes none.
            if event.kind != EventKind::CommandRefused && !self.has_ended(name) {
                self.stories.entry(name).or_default().hear(event);
            }
            return;
        }
        let partition = event.partition.unwrap_or_default();
        let Some(floor) = self.floors.get_mut(&(site, partition)) else {
            let said = format!(
                "machines change of {}, which the grid does not have",
                self.grounds.place(site, partition)
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
                "{} runs on machine {machine} of {} from {from} s, which comes only at {now} s",
                name.told(&self.grounds),
                self.grounds.place(site, partition)
            );
            self.fault(Rule::Away, from, vec![name], row, said);
        }
    }

    /// A row that cannot be told because it names what the grid does not have, or that is wrong in itself.
    pub fn fault(&mut self, rule: Rule, time: Time, jobs: Vec<JobName>, row: Row, said: String) {
        self.verdict.break_rule(Violation { time, rule, jobs, said, row });
    }

    /// No row to come begins before `time`: what was over by then need not be remembered.
    pub fn forget_before(&mut self, time: Time) {
        let mut found = Vec::new();
        for (&(site, partition), floor) in &mut self.floors {
            floor.holders.forget_before(time);
            floor.machines.forget_before(time);
            for excess in floor.counts.settle(time) {
                let said = format!(
                    "{} starts, and {} processors of {} are in use, which has {}",
                    excess.job.told(&self.grounds),
                    excess.in_use,
                    self.grounds.place(site, partition),
                    floor.usable
                );
                found.push((Rule::Capacity, excess.time, vec![excess.job], excess.row, said));
            }
            for trespass in floor.bookings.iter_mut().flat_map(|bookings| bookings.settle(time)) {
                let told: Vec<String> =
                    trespass.jobs.iter().map(|job| job.told(&self.grounds).to_string()).collect();
                let said = format!(
                    "{} {}: {} of {} processors of {} are in use or away, and {} are reserved (`{}`)",
                    told.join(", "),
                    match (trespass.starts, told.len()) {
                        (true, _) => "starts",
                        (false, 1) => "still runs when a reservation begins",
                        (false, _) => "still run when a reservation begins",
                    },
                    trespass.in_use,
                    floor.usable,
                    self.grounds.place(site, partition),
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

    /// All rows have been told.
    pub fn finish(mut self) -> Verdict {
        self.forget_before(Time::NEVER);
        let mut left: Vec<(JobName, Time, Row)> = self
            .stories
            .iter()
            .filter_map(|(name, story)| story.last.as_ref().map(|last| (*name, last.to, last.row)))
            .collect();
        left.sort_unstable();
        for (name, time, row) in left {
            let said =
                format!("{} ran until {time} s and has no row among the jobs", name.told(&self.grounds));
            self.fault(Rule::Rows, time, vec![name], row, said);
        }
        self.verdict
    }

    /// Whether the row of the job has been told.
    pub fn has_ended(&self, name: JobName) -> bool {
        self.ended.get(&name.site).is_some_and(|ended| ended.contains(name.id.0))
    }
}
