//! Reservations of a partition, compared with the processors in use.

use std::collections::{BTreeMap, BTreeSet};

use super::findings::{Row, Rule, Verdict, Violation};
use super::platform::{Platform, SiteFacts};
use crate::model::{JobId, JobRef, Origin, PartitionId, Reservation, SiteId};
use crate::units::{Span, Time};

/// Counts the processors in use during reservations. Records do not say which processors a reservation has, so the
/// check is by number: whenever a job starts, the processors in use, those reserved and those down must fit into the
/// partition, unless machines that may sleep have just gone down: the job may have got its processors before. Where jobs may run longer than expected, or machines leave, a job that was already running may leave a
/// reservation short; elsewhere it may not. A job that a reservation is for may start beside one that is short: it has its own processors.
#[derive(Debug)]
pub(super) struct Bookings {
    usable: u32,
    /// Those that are not over, in order of start.
    due: Vec<Due>,
    /// Reservations that are for jobs of the site's own users, which may start on them.
    claimed: BTreeMap<JobId, Vec<Due>>,
    /// Whether a job that was already running must not leave a reservation short.
    strict: bool,
    /// Changes of the number of processors in use or down, from the first that is not settled.
    changes: BTreeMap<Time, i64>,
    /// Processors in use or down before these changes.
    base: i64,
    /// Jobs that started while a reservation was due.
    starts: BTreeMap<Time, (JobRef, Row)>,
    /// How long a machine takes to wake up at most: a job has its processors so long before it starts.
    wake: Span,
    /// When processors went down.
    lost: BTreeSet<Time>,
}

#[derive(Debug)]
struct Due {
    start: Time,
    end: Time,
    procs: u32,
    name: String,
    /// Jobs that run at its beginning, with the rows that say so.
    across: Vec<(JobRef, Row)>,
}

impl Due {
    fn holds(&self, time: Time) -> bool {
        (self.start..self.end).contains(&time)
    }
}

impl Bookings {
    /// The reservations of a partition of which `missing` processors are down at first; `None` if there are none.
    /// With `forked`, machines may have left by another description before.
    pub(super) fn of(facts: &SiteFacts, partition: PartitionId, missing: u32, forked: bool) -> Option<Self> {
        let part = facts.partition(partition)?;
        // When one that is kept for a job is given up is not recorded.
        let kept = |booked: &Reservation| booked.job.is_none();
        let here = || facts.spec.reservations.iter().filter(|(at, _)| *at == partition.index());
        if !here().any(|(_, booked)| kept(booked)) {
            return None;
        }
        let mut begun = Self::begin(facts, partition, missing, missing == 0 && !forked)?;
        for (_, booked) in here() {
            begun.add(booked, part.rounded(booked.procs));
        }
        Some(begun)
    }

    /// A partition of which `missing` processors are down, without reservations so far. Unless all its machines have been there without a change, a job may run longer than was expected.
    pub(super) fn begin(
        facts: &SiteFacts,
        partition: PartitionId,
        missing: u32,
        was_there: bool,
    ) -> Option<Self> {
        let part = facts.partition(partition)?;
        let wakes = part.groups.iter().filter_map(|group| group.sleep).map(|state| state.fall + state.wake);
        Some(Self {
            usable: part.usable(),
            due: Vec::new(),
            claimed: BTreeMap::new(),
            strict: facts.is_punctual(part) && was_there,
            changes: BTreeMap::new(),
            base: i64::from(missing),
            starts: BTreeMap::new(),
            wake: wakes.max().unwrap_or_default(),
            lost: BTreeSet::new(),
        })
    }

    /// Adds a reservation of so many processors, whole allocation units.
    pub(super) fn add(&mut self, booked: &Reservation, procs: u32) {
        let Reservation { start, end, job, .. } = *booked;
        let due = Due { start, end, procs, name: booked.name.clone(), across: Vec::new() };
        match job {
            Some(job) => self.claimed.entry(job).or_default().push(due),
            None => {
                let at = self.due.partition_point(|due| due.start <= start);
                self.due.insert(at, due);
            }
        }
    }

    /// Gives up the reservation of this name.
    pub(super) fn release(&mut self, name: &str, now: Time) {
        // Of several that have had it one after the other only the last is not over.
        let mut all = self.due.iter_mut().rev().chain(self.claimed.values_mut().flatten());
        if let Some(due) = all.find(|due| due.name == name && now < due.end) {
            due.end = now;
        }
        self.due.retain(|due| due.start < due.end);
    }

    /// Whether anything is reserved of which records say all.
    pub(super) fn is_checked(&self) -> bool {
        !self.due.is_empty()
    }

    /// Whether the job may start then on a reservation of its own.
    fn claims(&self, job: JobRef, procs: u32, from: Time) -> bool {
        let own = self.claimed.get(&job.number).filter(|_| job.origin() == Origin::Local);
        own.into_iter().flatten().any(|due| due.holds(from) && procs <= due.procs)
    }

    /// Records that `procs` processors are in use in a stretch at whose beginning the job starts or continues.
    pub(super) fn used(
        &mut self,
        job: JobRef,
        procs: u32,
        (from, to): (Time, Time),
        is_start: bool,
        row: Row,
    ) {
        let begun = self.due.partition_point(|due| due.start < to);
        if !self.due[..begun].iter().any(|due| from < due.end) {
            return;
        }
        *self.changes.entry(from).or_default() += i64::from(procs);
        *self.changes.entry(to).or_default() -= i64::from(procs);
        if is_start && !self.claims(job, procs, from) && self.due[..begun].iter().any(|due| due.holds(from)) {
            self.starts.entry(from).or_insert((job, row));
        }
        for due in self.due[..begun].iter_mut().filter(|due| from < due.start) {
            due.across.push((job, row));
        }
    }

    /// Records that `change` more processors (or fewer, if negative) are down from `now` on.
    pub(super) fn missing(&mut self, change: i64, now: Time) {
        *self.changes.entry(now).or_default() += change;
        if change > 0 && self.wake > Span::ZERO {
            self.lost.insert(now);
        }
        self.strict = false;
    }

    /// Reports the violations up to `time`, before which no later segment begins, in the given partition.
    pub(super) fn settle(
        &mut self,
        time: Time,
        (site, partition): (SiteId, PartitionId),
        platform: &Platform,
        verdict: &mut Verdict,
    ) {
        let later = self.changes.split_off(&time);
        let mut changes = std::mem::replace(&mut self.changes, later).into_iter().peekable();
        let later = self.starts.split_off(&time);
        let starts = std::mem::replace(&mut self.starts, later);
        let mut checks: BTreeMap<Time, (Vec<JobRef>, bool, Row)> = BTreeMap::new();
        for due in self.due.iter_mut().filter(|due| due.start < time) {
            let across = std::mem::take(&mut due.across);
            if let (true, Some((_, row))) = (self.strict, across.first()) {
                checks.insert(due.start, (across.iter().map(|(job, _)| *job).collect(), false, *row));
            }
        }
        checks.extend(starts.into_iter().map(|(at, (job, row))| (at, (vec![job], true, row))));
        for (at, (mut jobs, starts, row)) in checks {
            while let Some((_, change)) = changes.next_if(|(when, _)| *when <= at) {
                self.base += change;
            }
            let due = || self.due.iter().filter(|due| due.holds(at));
            let reserved: u32 = due().map(|due| due.procs).sum();
            if self.base + i64::from(reserved) <= i64::from(self.usable) {
                continue;
            }
            // A job that waited for machines to wake up had its processors before these went down, and before a
            // reservation came due that another job, which runs for longer than was known, leaves short.
            let lately = |then: Time| at.since(then) <= self.wake;
            let short = || !self.strict && due().any(|due| lately(due.start));
            let lost = || self.lost.range(..=at).next_back().copied().is_some_and(lately);
            if starts && self.wake > Span::ZERO && (lost() || short()) {
                continue;
            }
            jobs.sort_unstable();
            let names: Vec<String> = jobs.iter().map(|job| platform.job(*job).to_string()).collect();
            let message = format!(
                "{} {}: {} of {} processors of {} are in use or down, and {reserved} are reserved (`{}`)",
                names.join(", "),
                match (starts, jobs.len()) {
                    (true, _) => "starts",
                    (false, 1) => "still runs when a reservation begins",
                    (false, _) => "still run when a reservation begins",
                },
                self.base,
                self.usable,
                platform.place(site, partition),
                due().map(|due| due.name.as_str()).next().unwrap_or_default()
            );
            verdict.report(Violation { time: at, rule: Rule::Reservation, jobs, message, row });
        }
        self.base += changes.map(|(_, change)| change).sum::<i64>();
        self.due.retain(|due| due.end > time);
    }
}
