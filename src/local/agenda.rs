//! What the clock brings to a partition beside ends: the requested starts of jobs that are kept back until then, and elastic commands.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::partition::Partition;
use super::table::{LiveJob, Phase};
use crate::model::JobKey;
use crate::units::Time;

/// Jobs with appointments. Empty in a run without dedicated jobs and commands, and then nothing is looked up in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Agenda {
    /// Dedicated jobs that their policy does not know of before their start: by start, then by arrival.
    early: BTreeSet<(Time, u64, JobKey)>,
    /// The next command of each job whose workload has some: by time, then in the order in which these jobs came.
    commands: BTreeSet<(Time, u64, JobKey)>,
    /// Jobs that have commands to come, or had some.
    known: BTreeMap<JobKey, Known>,
    /// The number of the next one that becomes known.
    next: u64,
}

/// What is known of a job with commands.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Known {
    /// Its place in the order in which jobs with commands came.
    came: u64,
    /// Commands that have been carried out for it.
    pub(super) carried: u32,
    /// Processors that a command has made it ask for.
    pub(super) procs: Option<u32>,
}

impl Agenda {
    /// True if nothing will ever be due.
    pub(super) fn is_empty(&self) -> bool {
        self.early.is_empty() && self.commands.is_empty()
    }

    /// Whether any command is to come.
    pub(super) fn has_commands(&self) -> bool {
        !self.commands.is_empty()
    }

    /// Whether any job here has commands to come, or had some.
    pub(super) fn knows_any(&self) -> bool {
        !self.known.is_empty()
    }

    /// When something is due next.
    pub(super) fn next(&self) -> Option<Time> {
        let first = |of: &BTreeSet<(Time, u64, JobKey)>| of.first().map(|(time, ..)| *time);
        match (first(&self.early), first(&self.commands)) {
            (Some(early), Some(command)) => Some(early.min(command)),
            (early, command) => early.or(command),
        }
    }

    /// Jobs that are kept back.
    pub(super) fn early(&self) -> impl ExactSizeIterator<Item = JobKey> {
        self.early.iter().map(|(.., key)| *key)
    }

    /// Keeps a job back.
    pub(super) fn keep_back(&mut self, start: Time, seq: u64, key: JobKey) {
        self.early.insert((start, seq, key));
    }

    /// A job that stands aside is kept back no more.
    pub(super) fn let_go(&mut self, key: JobKey, job: &LiveJob) {
        if let Some(start) = job.requested_start() {
            self.early.remove(&(start, job.seq(), key));
        }
    }

    /// The next job whose start has come.
    fn take_due(&mut self, now: Time) -> Option<JobKey> {
        let first = *self.early.first().filter(|(start, ..)| *start <= now)?;
        self.early.remove(&first);
        Some(first.2)
    }

    /// What is known of a job with commands.
    pub(super) fn known(&self, key: JobKey) -> Option<Known> {
        if self.known.is_empty() { None } else { self.known.get(&key).copied() }
    }

    /// The same, to be changed; it becomes known if it was not.
    pub(super) fn know(&mut self, key: JobKey) -> &mut Known {
        let next = &mut self.next;
        self.known.entry(key).or_insert_with(|| {
            *next += 1;
            Known { came: *next, ..Known::default() }
        })
    }

    /// How many commands have been carried out for a job.
    pub(super) fn carried(&self, key: JobKey) -> u32 {
        self.known(key).map_or(0, |known| known.carried)
    }

    /// The next command of a job comes then.
    pub(super) fn await_command(&mut self, key: JobKey, at: Time) {
        let came = self.know(key).came;
        self.commands.insert((at, came, key));
    }

    /// The job with the next command that is due.
    pub(super) fn take_command(&mut self, now: Time) -> Option<JobKey> {
        let first = *self.commands.first().filter(|(at, ..)| *at <= now)?;
        self.commands.remove(&first);
        Some(first.2)
    }

    /// A job goes, whose next command was to come then. What was known of it.
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

    /// All that are kept back, in order, none any more.
    pub(super) fn take_all(&mut self) -> Vec<JobKey> {
        std::mem::take(&mut self.early).into_iter().map(|(.., key)| key).collect()
    }
}

impl LiveJob {
    /// The start that the job is to be kept back for under a policy that does or does not know dedicated jobs.
    pub(super) fn early(&self, dedicated: bool, now: Time) -> Option<Time> {
        self.requested_start().filter(|start| !dedicated && *start > now)
    }
}

impl Partition {
    /// The next of the jobs that were kept back and whose start has come joins the queue, as a newcomer. False if there is none.
    #[inline]
    pub fn arrive_early(&mut self, now: Time) -> bool {
        !self.state.agenda.early.is_empty() && self.arrive_next_early(now)
    }

    fn arrive_next_early(&mut self, now: Time) -> bool {
        let Some(key) = self.state.agenda.take_due(now) else { return false };
        self.enqueue(key, now);
        true
    }

    /// Whether a job stands aside because it asks for a later start.
    pub(super) fn is_early(&self, key: JobKey) -> bool {
        let kept = |job: &LiveJob| job.phase == Phase::Aside && !self.state.aside.contains(&key);
        self.state.table.get(key).is_some_and(kept)
    }
}
