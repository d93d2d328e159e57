//! A task as a broker policy sees it.

use super::BelievedRun;
use super::pool::span_at;
use super::ready::Rank;
use crate::model::{Job, JobId, Needs, PoolId, Size, TaskId};
use crate::units::{Bytes, Money, Rate, Span, Time, Work};

/// A task that is ready to be assigned: a job of the grid that waits with the broker. It is shown without its real run time, which a
/// broker may not know.
#[derive(Copy, Clone, Debug)]
pub struct Task<'a> {
    id: TaskId,
    rank: Rank,
    job: &'a Job,
    refused: &'a [PoolId],
    /// Its run time as the broker believes it; `None` for its estimate.
    believed: Option<Span>,
}

impl<'a> Task<'a> {
    /// A job that waits, with the pools that cannot take it, in their order.
    pub fn new(job: &'a Job, refused: &'a [PoolId]) -> Self {
        let id = TaskId(job.grid.as_ref().map_or(u64::MAX, |grid| grid.number));
        Self { id, rank: Rank::default(), job, refused, believed: None }
    }

    /// The same at its place in the order.
    pub(super) fn at(self, rank: Rank) -> Self {
        Self { rank, ..self }
    }

    /// The same with a run time that is believed in the place of its estimate.
    pub(super) fn believing(self, run: Option<BelievedRun>) -> Self {
        Self { believed: run.map(|believed| believed.run), ..self }
    }

    /// Its place in the order in which tasks are ready.
    pub(crate) fn rank(&self) -> Rank {
        self.rank
    }

    /// Its number at the portal, which tells it from all others.
    pub fn id(&self) -> TaskId {
        self.id
    }

    /// The number of its job in the workload.
    pub fn job(&self) -> JobId {
        self.job.id
    }

    /// The number of its next assignment, from 1.
    pub fn assignment(&self) -> u32 {
        self.job.grid.as_ref().map_or(0, |grid| grid.assignment) + 1
    }

    /// When it was submitted.
    pub fn submit(&self) -> Time {
        self.job.submit
    }

    /// Its requested size.
    pub fn size(&self) -> &'a Size {
        &self.job.size
    }

    /// Its estimated run time on its preferred size at reference speed: that of its user, or of the record of its application if the broker plans by these.
    pub fn estimate(&self) -> Span {
        self.believed.unwrap_or(self.job.estimate)
    }

    /// The estimated work that is left: without the part that checkpoints of earlier attempts have kept.
    pub fn work_left(&self) -> Work {
        let all = Work::of_runtime(self.estimate());
        self.job.grid.as_ref().map_or(all, |grid| all - grid.kept)
    }

    /// How long it is estimated to run on machines of a class and speed, if that does not follow from their speed alone: without the part
    /// that checkpoints of earlier attempts have kept.
    pub fn time_on(&self, class: &str, speed: Rate) -> Option<Span> {
        let estimate = self.job.estimate_on(class, speed)?;
        let kept = self.job.grid.as_ref().map_or(Work::ZERO, |grid| grid.kept);
        if kept == Work::ZERO {
            return Some(estimate);
        }
        let all = self.job.works().0;
        let [left, all] = [all - kept, all].map(|work| work.units() >> Rate::BITS);
        let micros = u128::from(estimate.micros()) * left / all.max(1);
        Some(Span::from_micros(u64::try_from(micros).unwrap_or(u64::MAX)))
    }

    /// No longer than it is estimated to run on machines up to a speed, whatever their class.
    pub(super) fn shortest(&self, speed: Rate) -> Span {
        match self.job.size {
            Size::Rigid(_) if self.job.task().is_none() => span_at(self.work_left(), speed),
            _ => Span::TICK,
        }
    }

    /// Its deadline, after which its result is worth less, if it has one.
    pub fn deadline(&self) -> Option<Time> {
        self.job.deadline()
    }

    /// What it should cost at most, if that matters; of a task of a workflow its part in the budget of that.
    pub fn budget(&self) -> Option<Money> {
        self.job.limits.as_ref()?.budget
    }

    /// User number, −1 if unknown.
    pub fn user(&self) -> i32 {
        self.job.user
    }

    /// Input data that must be at the site before it starts.
    pub fn input(&self) -> Bytes {
        self.job.grid.as_ref().map_or(Bytes::ZERO, |grid| grid.input)
    }

    /// What it needs of machines beyond processors, if anything.
    pub fn needs(&self) -> Option<&'a Needs> {
        self.job.needs()
    }

    /// Pools that cannot take it, in their order: their machines lack what it needs, or they have refused it.
    pub fn refused(&self) -> &'a [PoolId] {
        self.refused
    }
}
