//! Events of a partition that are due at a given time, beside ends: requested starts of jobs that are kept back, elastic
//! commands, deadlines, and budgets.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::table::LiveJob;
use crate::model::{Job, JobId, JobKey};
use crate::units::Time;

/// Jobs with requested starts, commands, or limits at which they are ended. Empty in a run without such jobs, where it costs no look-up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Agenda {
    /// Dedicated jobs that are kept back from their policy until their start: by start, then by arrival.
    early: BTreeSet<(Time, u64, JobKey)>,
    /// The next command of each job whose workload has some: by time, then in the order in which these jobs arrived.
    commands: BTreeSet<(Time, u64, JobKey)>,
    /// Jobs that are ended at their deadline: by deadline, then by number.
    deadlines: BTreeSet<(Time, u64, JobKey)>,
    /// Running jobs that are ended when they have cost their budget: by that time, then by number.
    budgets: BTreeSet<(Time, u64, JobKey)>,
    /// When each of them has.
    spent: BTreeMap<JobKey, (Time, u64)>,
    /// Jobs that have had commands or have some to come.
    known: BTreeMap<JobKey, Known>,
    /// The number of the next job that is added to `known`.
    next: u64,
}

/// The record of a job with commands.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Known {
    /// Its place in the order in which jobs with commands arrived.
    came: u64,
    /// Commands that have been carried out for the job.
    pub(super) carried: u32,
    /// Processors that a command has made the job request.
    pub(super) procs: Option<u32>,
}

impl Agenda {
    /// True if no start, command or limit is to come.
    pub(super) fn is_empty(&self) -> bool {
        self.early.is_empty()
            && self.commands.is_empty()
            && self.deadlines.is_empty()
            && self.budgets.is_empty()
    }

    /// True if any command is to come.
    pub(super) fn has_commands(&self) -> bool {
        !self.commands.is_empty()
    }

    /// True if any job here has commands to come, or has had some.
    pub(super) fn knows_any(&self) -> bool {
        !self.known.is_empty()
    }

    /// When the next start, command or limit is due.
    pub(super) fn next(&self) -> Option<Time> {
        let first = |of: &BTreeSet<(Time, u64, JobKey)>| of.first().map(|(time, ..)| *time);
        [&self.early, &self.commands, &self.deadlines, &self.budgets].into_iter().filter_map(first).min()
    }

    /// The number of jobs that are kept back until their requested start.
    pub(super) fn early(&self) -> usize {
        self.early.len()
    }

    /// Keeps a job back until `start`.
    pub(super) fn keep_back(&mut self, start: Time, seq: u64, key: JobKey) {
        self.early.insert((start, seq, key));
    }

    /// Keeps an ineligible job back no more. False if it was not kept back.
    pub(super) fn let_go(&mut self, key: JobKey, job: &LiveJob) -> bool {
        job.requested_start().is_some_and(|start| self.early.remove(&(start, job.seq(), key)))
    }

    /// True if a job is kept back until its requested start.
    pub(super) fn keeps_back(&self, key: JobKey, job: &LiveJob) -> bool {
        job.requested_start().is_some_and(|start| self.early.contains(&(start, job.seq(), key)))
    }

    /// Takes out the next job whose requested start has come.
    pub(super) fn take_due(&mut self, now: Time) -> Option<JobKey> {
        pop_due(&mut self.early, now)
    }

    /// The record of a job with commands, if there is one.
    pub(super) fn known(&self, key: JobKey) -> Option<Known> {
        if self.known.is_empty() { None } else { self.known.get(&key).copied() }
    }

    /// The record of a job with commands, to be changed; it is added if there is none.
    pub(super) fn know(&mut self, key: JobKey) -> &mut Known {
        let next = &mut self.next;
        self.known.entry(key).or_insert_with(|| {
            *next += 1;
            Known { came: *next, ..Known::default() }
        })
    }

    /// The number of commands that have been carried out for a job.
    pub(super) fn carried(&self, key: JobKey) -> u32 {
        self.known(key).map_or(0, |known| known.carried)
    }

    /// Notes that the next command of a job is due at `at`.
    pub(super) fn await_command(&mut self, key: JobKey, at: Time) {
        let came = self.know(key).came;
        self.commands.insert((at, came, key));
    }

    /// Takes out the job with the next command that is due.
    pub(super) fn take_command(&mut self, now: Time) -> Option<JobKey> {
        pop_due(&mut self.commands, now)
    }

    /// Removes a job, whose next command was due at `next`, and returns its record.
    pub(super) fn forget(&mut self, key: JobKey, next: Option<Time>) -> Option<Known> {
        if self.known.is_empty() {
            return None;
        }
        let known = self.known.remove(&key)?;
        if let Some(at) = next {
            self.commands.remove(&(at, known.came, key));
        }
        Some(known)
    }

    /// Ends a job at this time.
    pub(super) fn end_at(&mut self, deadline: Time, job: JobId, key: JobKey) {
        self.deadlines.insert((deadline, job.0, key));
    }

    /// Forgets that a job is to be ended at its limits.
    #[inline]
    pub(super) fn forget_limits(&mut self, job: &Job, key: JobKey) {
        if let Some(deadline) = job.killed_at() {
            self.deadlines.remove(&(deadline, job.id.0, key));
        }
        if job.killed_over().is_some() {
            self.spend_at(None, job.id, key);
        }
    }

    /// Whether there are jobs that end at a deadline, or at their budget.
    #[inline]
    pub(super) fn ends_jobs(&self) -> bool {
        !self.deadlines.is_empty() || !self.budgets.is_empty()
    }

    /// Takes out the next job whose deadline has come.
    pub(super) fn take_overdue(&mut self, now: Time) -> Option<JobKey> {
        pop_due(&mut self.deadlines, now)
    }

    /// Notes when a running job has cost more than its budget if it goes on like this, and forgets what was noted before.
    pub(super) fn spend_at(&mut self, at: Option<Time>, job: JobId, key: JobKey) {
        if let Some((before, id)) = self.spent.remove(&key) {
            self.budgets.remove(&(before, id, key));
        }
        if let Some(at) = at {
            self.spent.insert(key, (at, job.0));
            self.budgets.insert((at, job.0, key));
        }
    }

    /// Takes out the next job that has cost more than its budget.
    #[inline]
    pub(super) fn take_spent(&mut self, now: Time) -> Option<JobKey> {
        if self.budgets.is_empty() {
            return None;
        }
        let key = pop_due(&mut self.budgets, now)?;
        self.spent.remove(&key);
        Some(key)
    }

    /// Takes out all jobs that are kept back, in order.
    pub(super) fn take_all(&mut self) -> Vec<JobKey> {
        std::mem::take(&mut self.early).into_iter().map(|(.., key)| key).collect()
    }
}

fn pop_due(jobs: &mut BTreeSet<(Time, u64, JobKey)>, now: Time) -> Option<JobKey> {
    jobs.first().filter(|(at, ..)| *at <= now)?;
    jobs.pop_first().map(|(.., key)| key)
}

impl LiveJob {
    /// The start until which the job is kept back, under a policy that does or does not support dedicated jobs.
    pub(super) fn early(&self, dedicated: bool, now: Time) -> Option<Time> {
        self.requested_start().filter(|start| !dedicated && *start > now)
    }
}
