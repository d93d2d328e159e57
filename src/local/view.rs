//! The view: what a policy may look at.

use super::state::State;
use super::table::{LiveJob, Phase};
use super::{Awake, Book, Booking, Profile, ProfileAhead};
use crate::model::{JobKey, ProcSet};
use crate::units::{Span, Time};

/// The partition as its policy sees it at one instant.
#[derive(Copy, Clone, Debug)]
pub struct View<'a> {
    pub(super) state: &'a State,
    pub(super) now: Time,
}

impl<'a> View<'a> {
    /// The instant.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The time of the day at the site.
    pub fn time_of_day(&self) -> Span {
        let day = Span::from_secs(86_400).micros();
        Span::from_micros((self.now.micros() % day + self.state.settings.tariff.starts_at.micros()) % day)
    }

    /// Processors that can be given at all now: those of machines that are up and do not drain, in whole allocation blocks, without those that a
    /// stalled job keeps (where processors are shared, it only keeps its place on them), and without as many as the power cap of the site
    /// keeps back. No job in the queue requests more.
    pub fn capacity(&self) -> u32 {
        self.state.capacity
    }

    /// Processors of machines that are up and do not drain, in whole allocation blocks.
    pub fn here(&self) -> &'a ProcSet {
        &self.state.here
    }

    /// Processors that could be given if all machines were up. Their numbers are below this.
    pub fn processors(&self) -> u32 {
        self.state.spec.usable()
    }

    /// Processors are given in blocks of this many: the allocation unit.
    pub fn allocation_unit(&self) -> u32 {
        self.state.spec.allocation_unit
    }

    /// Processors that a job may be started on now: neither in use nor reserved, nor kept back by the power cap of the site. Under
    /// [`crate::model::InstantOrder::Event`] those of jobs that end at this very instant are included, and those of starts already
    /// decided are not.
    pub fn free(&self) -> u32 {
        self.state.free_count()
    }

    /// Processors that are neither in use nor reserved, of machines that are awake. A job that gets others begins when the last of its machines is awake, and
    /// [`super::Change::Moved`] says when it is expected to end.
    pub fn awake(&self) -> Awake {
        match self.state.sleepers.as_ref().filter(|sleepers| sleepers.dormant().1 > 0) {
            None => Awake::ALL,
            // What is released at this instant is awake, and starts already decided get it first.
            Some(sleepers) => {
                let procs = self.state.awake() + self.state.ending;
                Awake { procs, delay: sleepers.delay() }.without(self.state.deferred)
            }
        }
    }

    /// How many jobs may share a processor.
    pub fn multiprogramming_level(&self) -> u32 {
        self.state.multiprogramming_level
    }

    /// How many jobs (or reservations, which count as one) are on a processor now, including stalled jobs. The multiprogramming
    /// level if its machine is down, or drains.
    pub fn load(&self, proc: u32) -> u32 {
        if !self.state.here.contains(proc) {
            return self.state.multiprogramming_level;
        }
        match self.state.load.get(proc as usize) {
            Some(load) if load.jobs > 0 => u32::from(load.jobs),
            _ => u32::from(!self.state.free.contains(proc)),
        }
    }

    /// Processors of machines that are up, but which get no new job because they, or others of their allocation block, drain.
    pub fn drained(&self) -> ProcSet {
        self.state.drained()
    }

    /// How many jobs are on a processor now, including stalled ones, also if its machine drains. Walks the whole table where processors are not shared.
    pub fn jobs_on(&self, proc: u32) -> u32 {
        let on = |job: &LiveJob| job.phase.holds() && job.allocation.procs.contains(proc);
        let walk = || self.state.table.iter().filter(|(_, job)| on(job)).count() as u32;
        self.state.load.get(proc as usize).map_or_else(walk, |load| u32::from(load.jobs))
    }

    /// True if a running job is beyond its expected end. Always false unless the site allows overrun.
    pub fn any_overdue(&self) -> bool {
        let overdue = |job: &LiveJob| {
            job.phase == Phase::Running
                && !job.claims
                && job.expected_end <= self.now
                && !self.state.counts_as_free(job, self.now)
        };
        self.state.settings.overrun && self.state.table.iter().any(|(_, job)| overdue(job))
    }

    /// The live job under a key.
    ///
    /// # Panics
    /// If `key` was kept beyond the job's end, which is an error of the policy.
    pub fn job(&self, key: JobKey) -> &'a LiveJob {
        self.get(key).expect("a key is dropped when its job has ended")
    }

    /// The live job under a key, or `None` if there is none.
    pub fn get(&self, key: JobKey) -> Option<&'a LiveJob> {
        self.state.table.get(key)
    }

    /// True if the job's processors already count as free because it ends at this very instant
    /// (only under [`crate::model::InstantOrder::Event`]).
    pub fn ends_now(&self, key: JobKey) -> bool {
        self.get(key).is_some_and(|job| self.state.counts_as_free(job, self.now))
    }

    /// When a running job is expected to have ended: its estimate; one second from now if it is overdue; now if it
    /// ends at this very instant. Of a job that is being suspended, when it releases its processors.
    pub fn expected_end(&self, key: JobKey) -> Time {
        let job = self.job(key);
        if job.expected_end > self.now {
            job.expected_end
        } else if self.state.counts_as_free(job, self.now) {
            self.now
        } else {
            self.now + Span::SECOND
        }
    }

    /// Jobs in a phase, in order of arrival, without those that have a reservation. Walks the whole table: meant for adopting, not for every pass.
    pub fn jobs_in(&self, phase: Phase) -> Vec<JobKey> {
        self.state.keys(|job| job.phase == phase && !job.claims)
    }

    /// Jobs that reservations are kept for, and that wait for these or run on them, in order of arrival. Walks the whole table.
    pub fn jobs_with_reservations(&self) -> Vec<JobKey> {
        self.state.keys(|job| job.claims)
    }

    /// Jobs that hold processors now, in order of arrival: those that run or are in transition, but not on a reservation. Walks the whole table.
    pub fn holders(&self) -> Vec<JobKey> {
        self.state.keys(|job| job.phase.is_active() && !job.claims)
    }

    /// Jobs that hold any of these processors now, in order of arrival: those that run or are in transition. Walks those that do.
    pub fn holding(&self, procs: &ProcSet) -> Vec<JobKey> {
        self.state.running_on(procs)
    }

    /// The book: reservations that have not ended.
    pub fn bookings(&self) -> &'a Book {
        &self.state.book
    }

    /// Free processors from now on, given the running jobs and the reservations: the basis on which policies plan.
    /// Computed anew at each call.
    pub fn profile(&self) -> Profile {
        self.profile_with(|key, _| self.expected_end(key), self.bookings().iter())
    }

    /// The same profile as in a plan that was made before: a job that has become overdue since is expected to have ended.
    pub fn profile_of_before(&self) -> Profile {
        self.profile_with(|_, job| job.expected_end, self.bookings().iter())
    }

    /// The same profile for a pass, which looks no farther ahead in the book than it needs.
    pub fn profile_ahead(&self) -> ProfileAhead<'a> {
        let running = self.profile_with(|key, _| self.expected_end(key), std::iter::empty());
        ProfileAhead::new(running, self.bookings())
    }

    /// The same of another profile, which has none of the reservations of the book.
    pub fn ahead_of(&self, profile: Profile) -> ProfileAhead<'a> {
        ProfileAhead::new(profile, self.bookings())
    }

    fn profile_with<'b>(
        &self,
        end: impl Fn(JobKey, &LiveJob) -> Time,
        booked: impl Iterator<Item = &'b Booking>,
    ) -> Profile {
        // What a reservation has is taken already, also by the job that runs on it.
        let running = self.active().map(|(key, job)| (self.now, end(key, job), job.held()));
        // Starts are only decided where there is a pass per event; otherwise no pass looks at jobs that wait.
        let all = (self.state.deferred > 0).then(|| self.state.table.iter());
        let starting = all.into_iter().flatten().filter(|(_, job)| job.phase == Phase::Starting);
        let starting =
            starting.map(|(_, job)| (self.now, job.since.max(self.now) + job.estimate, job.held()));
        let booked = booked.map(|booking| (booking.start, booking.end, booking.procs));
        Profile::without(self.now, self.capacity(), running.chain(starting).chain(booked))
    }

    /// Jobs that run or are in transition, but not on a reservation, in no order. Walks these alone.
    pub(super) fn active(&self) -> impl Iterator<Item = (JobKey, &'a LiveJob)> {
        let state = self.state;
        // The queue of ends has one entry with a valid number for each.
        state.ends.iter().filter_map(|entry| {
            let (_, seq, key) = entry.0;
            let job = state.table.get(key)?;
            (job.phase.is_active() && job.end_seq == seq && !job.claims).then_some((key, job))
        })
    }
}
