//! The schedule that an order of waiting jobs gives: each at its earliest start beside running jobs, reservations, and the jobs before it.

use crate::local::{Awake, Entry, ProfileAhead};
use crate::search::discrepancy::OrderProblem;
use crate::units::{Span, Time};

/// What a schedule costs, beyond what none of its jobs can avoid. Excessive waits are compared first.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost {
    /// The sum of excessive waits, in microseconds.
    pub(super) excess: u128,
    /// The sum of slowdowns in parts of 2⁶⁴. All orders have as many jobs, so that it compares as their mean.
    pub(super) slowdown: u128,
}

/// A waiting job as it is planned.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) entry: Entry,
    /// From when on its wait is excessive: now, or later.
    patient_until: Time,
    /// What a microsecond of waiting adds to its slowdown, in parts of 2⁶⁴. A division at each node would take as long as all the rest.
    impatience: u64,
    /// What the start costs that it would have without the other waiting jobs.
    least: Cost,
}

impl Candidate {
    /// A job that waits since then, at `now`, and may do so for `bound` before that is excessive.
    pub(super) fn new(entry: Entry, since: Time, bound: Span, now: Time) -> Self {
        let patient_until = (since + bound).max(now);
        let impatience = u64::MAX / entry.estimate.micros().max(1);
        Self { entry, patient_until, impatience, least: Cost::default() }
    }

    /// What a start costs beyond what it has cost already that the job has not started until now.
    fn cost(&self, start: Time, now: Time) -> Cost {
        Cost {
            excess: u128::from(start.since(self.patient_until).micros()),
            slowdown: u128::from(start.since(now).micros()) * u128::from(self.impatience),
        }
    }
}

/// Where a job has been placed, and what there was before.
#[derive(Copy, Clone, Debug)]
pub(super) struct Placed {
    start: Time,
    end: Time,
    procs: u32,
    cost: Cost,
    awake: Awake,
}

/// Jobs that are placed one after the other. Each changes the profile of free processors, and the change is undone when the job is taken back.
#[derive(Debug)]
pub(super) struct Schedule<'a, 'b> {
    profile: ProfileAhead<'a>,
    now: Time,
    awake: Awake,
    jobs: &'b [Candidate],
    placed: &'b mut Vec<Placed>,
    cost: Cost,
}

impl<'a, 'b> Schedule<'a, 'b> {
    /// A schedule without a job yet. `placed` is empty, and is so again when all jobs have been taken back.
    pub(super) fn new(
        (profile, now, awake): (ProfileAhead<'a>, Time, Awake),
        jobs: &'b mut [Candidate],
        placed: &'b mut Vec<Placed>,
    ) -> Self {
        for job in &mut *jobs {
            let Entry { procs, estimate, .. } = job.entry;
            let earliest = profile.earliest(now, estimate, procs).unwrap_or(Time::NEVER);
            job.least = job.cost(earliest, now);
        }
        Self { profile, now, awake, jobs, placed, cost: Cost::default() }
    }

    /// When a job starts behind those that are placed, and for how long it has its processors.
    fn earliest(&self, entry: &Entry) -> (Time, Span) {
        let Entry { procs, estimate, .. } = *entry;
        let earliest = |span| self.profile.earliest(self.now, span, procs).unwrap_or(Time::NEVER);
        let start = earliest(estimate);
        let held = self.awake.holds(procs, estimate);
        // Where machines have to wake up first it may not fit now, and later they are awake.
        if start > self.now || held == estimate { (start, estimate) } else { (earliest(held), held) }
    }

    /// The free processors beside what is placed.
    #[cfg(test)]
    pub(super) fn profile(&self) -> &ProfileAhead<'a> {
        &self.profile
    }

    /// What is free beside what is placed.
    pub(super) fn into_room(self) -> (ProfileAhead<'a>, Awake) {
        (self.profile, self.awake)
    }

    pub(super) fn job(&self, item: u32) -> &Candidate {
        &self.jobs[item as usize]
    }

    /// The start of the job that was placed last.
    pub(super) fn last_start(&self) -> Time {
        self.placed.last().map_or(self.now, |placed| placed.start)
    }
}

impl OrderProblem for Schedule<'_, '_> {
    type Cost = Cost;

    fn items(&self) -> u32 {
        u32::try_from(self.jobs.len()).unwrap_or(u32::MAX)
    }

    /// The cost so far bounds that of all orders that begin so: no job behind can start earlier than without the other jobs.
    fn place(&mut self, item: u32) -> Cost {
        let job = &self.jobs[item as usize];
        let (start, span) = self.earliest(&job.entry);
        let (procs, end) = (job.entry.procs, start + span);
        self.profile.reserve(start, end, procs);
        self.placed.push(Placed { start, end, procs, cost: self.cost, awake: self.awake });
        if start == self.now {
            self.awake = self.awake.without(procs);
        }
        let cost = job.cost(start, self.now);
        // Only starts that never come make sums as large as that.
        let slowdown = cost.slowdown.saturating_sub(job.least.slowdown);
        self.cost.slowdown = self.cost.slowdown.saturating_add(slowdown);
        self.cost.excess += cost.excess.saturating_sub(job.least.excess);
        self.cost
    }

    fn take_back(&mut self) {
        let Some(Placed { start, end, procs, cost, awake }) = self.placed.pop() else { return };
        self.profile.release(start, end, procs);
        (self.cost, self.awake) = (cost, awake);
    }

    /// That of an order in which each job starts as early as without the others.
    fn least(&self) -> Option<Cost> {
        Some(Cost::default())
    }
}
