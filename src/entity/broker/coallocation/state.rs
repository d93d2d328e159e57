//! What the broker knows of each co-allocated job.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::agreement::Coordinator;
use crate::entity::broker::unplaced;
use crate::model::{
    CoallocationOutcome, CoallocationRecord, Coupling, Job, JobRef, Origin, Outcome, PoolId, Record,
    RecordSink, Refusal, SiteId, StartOffer, TaskId,
};
use crate::units::{Money, Span, Time};

/// All co-allocated jobs that have not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::entity::broker) struct Coallocations {
    /// By the number of the first part.
    pub(super) live: BTreeMap<u64, Live>,
    /// When something is due for each.
    pub(super) due: BTreeSet<(Time, u64)>,
    /// Rounds that have failed, until nothing is left of them.
    pub(super) failed: BTreeMap<(u64, u32), Coordinator>,
    /// When something is due for each.
    pub(super) failed_due: BTreeSet<(Time, (u64, u32))>,
}

/// A co-allocated job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Live {
    /// Its parts, until they are sent.
    pub(super) jobs: Vec<Job>,
    pub(super) parts: Vec<Part>,
    pub(super) coupling: Coupling,
    pub(super) submit: Time,
    pub(super) phase: Phase,
    /// Starts that were sought.
    pub(super) round: u32,
    /// How many of them there were when one was last found that was too far away to hold yet.
    pub(super) picked: u32,
    pub(super) messages: u32,
    pub(super) chosen: Option<Chosen>,
    pub(super) refused: Option<(SiteId, Refusal)>,
    /// When it wants to be woken.
    pub(super) wake: Option<Time>,
}

/// A part, and its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) job: JobRef,
    pub(super) procs: u32,
    pub(super) runtime: Span,
    pub(super) estimate: Span,
    /// How it ended, and when it had started.
    pub(super) ended: Option<(Outcome, Option<Time>)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Phase {
    /// Sites are asked for starts.
    Seeking {
        /// Who was asked for which part.
        asked: BTreeSet<(PoolId, u32)>,
        /// What they have offered.
        offers: BTreeMap<(PoolId, u32), Vec<StartOffer>>,
        /// For so long.
        length: Span,
    },
    /// No start was found: sites are asked again later.
    Resting,
    /// This start was chosen, which is too far away to be held yet: sites are asked again when it comes.
    Picked(Time),
    /// Sites are asked to hold and to commit.
    Agreeing(Coordinator),
    /// The parts are at their sites, or on their way there or back.
    Sent,
}

/// The start that was chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chosen {
    pub(super) start: Time,
    pub(super) length: Span,
    /// How long the job will run if its estimate is not exact.
    pub(super) run: Span,
    pub(super) pools: Vec<PoolId>,
    pub(super) slowdown_ppm: u64,
    pub(super) charge: Money,
    pub(super) harm: u128,
}

impl Coallocations {
    /// When something is due next.
    pub(in crate::entity::broker) fn next(&self) -> Option<Time> {
        let failed = self.failed_due.first().map(|(due, _)| *due);
        self.due.first().map(|(due, _)| *due).into_iter().chain(failed).min()
    }

    /// Whether a task is a part of a co-allocated job.
    pub(in crate::entity::broker) fn has(&self, task: TaskId) -> bool {
        self.part(task).is_some()
    }

    /// What is done for a part that has not been sent. It is looked for among all.
    pub(in crate::entity::broker) fn reserving(&self, job: JobRef) -> Option<Reserving> {
        self.live.values().find(|live| live.parts.iter().any(|part| part.job == job))?.reserving()
    }

    pub(super) fn part(&self, task: TaskId) -> Option<(u64, usize)> {
        let (first, live) = self.live.range(..=task.0).next_back()?;
        let part = usize::try_from(task.0 - first).ok()?;
        (part < live.parts.len()).then_some((*first, part))
    }

    pub(super) fn wake_at(&mut self, request: u64, wake: Option<Time>) {
        let Some(live) = self.live.get_mut(&request) else { return };
        if let Some(before) = std::mem::replace(&mut live.wake, wake) {
            self.due.remove(&(before, request));
        }
        self.due.extend(wake.map(|wake| (wake, request)));
    }

    /// Keeps a round that has failed for as long as something may be left of it.
    pub(super) fn keep_failed(&mut self, id: (u64, u32), failed: Coordinator) {
        if let Some(next) = failed.next() {
            self.failed_due.insert((next, id));
            self.failed.insert(id, failed);
        }
    }

    pub(super) fn take_failed(&mut self, id: (u64, u32)) -> Option<Coordinator> {
        let failed = self.failed.remove(&id)?;
        if let Some(next) = failed.next() {
            self.failed_due.remove(&(next, id));
        }
        Some(failed)
    }

    pub(super) fn take(&mut self, request: u64) -> Option<Live> {
        self.wake_at(request, None);
        self.live.remove(&request)
    }

    /// Ends the run: jobs that have not been sent end as unfinished. Returns how many there are.
    pub(in crate::entity::broker) fn close(&mut self, now: Time, sink: &mut dyn RecordSink) -> u64 {
        let mut ended = 0;
        for live in std::mem::take(&mut self.live).into_values() {
            for job in &live.jobs {
                ended += 1;
                sink.record(Record::Job(unplaced(job, Outcome::Unfinished, now)));
            }
            sink.record(Record::Coallocation(Box::new(live.record(CoallocationOutcome::Unfinished, now))));
        }
        self.due.clear();
        ended
    }
}

/// What the broker does for a job whose parts are to start together.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Reserving {
    /// Sites are asked when they have the processors.
    Asks,
    /// They offer no common start, and are asked again at this time.
    AsksAgain(Time),
    /// This start was picked without guarantee, and is held when it comes.
    Picked(Time),
    /// Sites are asked to hold the processors from this time on, and to commit.
    Agrees(Time),
}

impl Live {
    /// Whether the start is due that was picked last.
    pub(super) fn was_picked(&self) -> bool {
        self.picked > 0 && self.picked + 1 == self.round
    }

    fn reserving(&self) -> Option<Reserving> {
        Some(match &self.phase {
            Phase::Seeking { .. } => Reserving::Asks,
            Phase::Resting => Reserving::AsksAgain(self.wake?),
            Phase::Picked(start) => Reserving::Picked(*start),
            Phase::Agreeing(_) => Reserving::Agrees(self.chosen.as_ref()?.start),
            Phase::Sent => return None,
        })
    }

    /// Starts that were sought in vain, one after the other.
    pub(super) fn failed(&self) -> u32 {
        self.round - self.picked
    }

    pub(super) fn procs(&self) -> u32 {
        self.parts.iter().map(|part| part.procs).sum()
    }

    pub(super) fn record(&self, outcome: CoallocationOutcome, end: Time) -> CoallocationRecord {
        let chosen = self.chosen.as_ref().filter(|_| self.phase == Phase::Sent);
        CoallocationRecord {
            end,
            job: self
                .parts
                .first()
                .map_or(JobRef::new(Origin::Grid, SiteId::GRID, Default::default()), |part| part.job),
            parts: self.parts.len() as u32,
            procs: self.procs(),
            submit: self.submit,
            earliest: self.submit + self.coupling.notice,
            start: chosen.map(|chosen| chosen.start),
            length: chosen.map_or(Span::ZERO, |chosen| chosen.length),
            sites: chosen.map_or_else(Vec::new, |chosen| chosen.pools.clone()),
            tries: self.round,
            messages: self.messages,
            slowdown_ppm: chosen.map_or(0, |chosen| chosen.slowdown_ppm),
            charge: chosen.map_or(Money::ZERO, |chosen| chosen.charge),
            harm: chosen.map_or(0, |chosen| chosen.harm),
            outcome,
            refused: self.refused.filter(|_| chosen.is_none()),
        }
    }

    /// What has become of it, if all its parts have ended.
    pub(super) fn outcome(&self) -> Option<CoallocationOutcome> {
        let ends: Vec<(Outcome, Option<Time>)> = self.parts.iter().filter_map(|part| part.ended).collect();
        let Some(chosen) = self.chosen.as_ref().filter(|_| self.phase == Phase::Sent) else {
            return Some(CoallocationOutcome::Refused);
        };
        if ends.len() < self.parts.len() {
            return None;
        }
        // Who cancels a part, or lets it end at a limit, misses nothing.
        let misses = |(outcome, start): &(Outcome, Option<Time>)| {
            *outcome != Outcome::Cancelled && *start != Some(chosen.start)
        };
        Some(if ends.iter().any(misses) && !ends.iter().any(|(outcome, _)| *outcome == Outcome::Cancelled) {
            CoallocationOutcome::Missed
        } else if ends.iter().all(|(outcome, _)| *outcome == Outcome::Completed) {
            CoallocationOutcome::Completed
        } else {
            CoallocationOutcome::Failed
        })
    }
}
