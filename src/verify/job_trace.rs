//! The history of a job that has not ended yet.

use smallvec::SmallVec;

use crate::model::{EventKind, EventRecord, PartitionId, SegmentRecord, SiteId};
use crate::units::{Rate, Span, Time, Work};

use super::findings::Row;
use super::sizes::Ran;

/// The beginning of an attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    pub(crate) site: SiteId,
    pub(crate) time: Time,
    /// The row of its first segment.
    pub(crate) row: Row,
}

/// A job between its first segment (or event) and its row.
#[derive(Debug, Default)]
pub(super) struct JobTrace {
    /// Whether it may run beyond its estimate, as tasks may whose estimates err.
    pub(super) overrun: bool,
    /// The beginning of its first segment, or when it stood still before it had run.
    pub(super) first: Option<Time>,
    /// Its last segment.
    pub(super) last: Option<SegmentRecord>,
    /// The row of that segment.
    pub(super) last_row: Option<Row>,
    /// Work done in the attempt of the last segment.
    pub(super) done: u128,
    /// When that attempt began.
    pub(super) begun: Time,
    /// The beginnings of all attempts.
    pub(super) attempts: SmallVec<[Begun; 1]>,
    /// Work done in all attempts, by place.
    pub(super) done_at: SmallVec<[((SiteId, PartitionId), u128); 1]>,
    /// That work as it counts where the job ended, if it counts otherwise there; [`u128::MAX`] if that is not known.
    pub(super) worth: Option<u128>,
    /// Energy of all segments, in nanojoules.
    pub(super) energy: u128,
    pub(super) dynamic: u128,
    /// Cost of all segments, in 10⁻⁹ of the currency unit.
    pub(super) cost: i128,
    /// Attempts that are known to have failed, and when, from the attempt of the last segment on.
    pub(super) losses: Vec<(u32, Time)>,
    /// The time at which its input had arrived.
    pub(super) staged: Option<Time>,
    /// Stretches since its last segment in which it stood still because of a machine; the last may be open.
    pub(super) halts: Vec<(Time, Time)>,
    /// When it last stood still because of a machine, for however short a time.
    pub(super) stalled: Option<Time>,
    /// How long its last transition has taken so far, and when it began.
    pub(super) taken: Span,
    pub(super) entered: Time,
    /// How many processors it had before that.
    pub(super) had: Option<u32>,
    /// When it got so many processors since its last segment ended, and whether it had others just before.
    pub(super) sized: SmallVec<[(Time, u32, bool); 2]>,
    /// The time of the last elastic command that changed it.
    pub(super) commanded: Option<Time>,
    /// How it ran, where jobs are not all rigid.
    pub(super) ran: Vec<Ran>,
    /// When its policy first gave it other processors.
    pub(super) resized: Option<Time>,
}

impl JobTrace {
    /// Records a segment.
    pub(super) fn add_segment(&mut self, segment: &SegmentRecord, row: Row) {
        self.add_transition(segment);
        self.sized.retain(|(time, ..)| *time >= segment.to);
        let work = Work::done(segment.rate, segment.to.since(segment.from)).units();
        let goes_on = self.last.as_ref().is_some_and(|last| last.attempt == segment.attempt);
        self.done = if goes_on { self.done + work } else { work };
        self.begun = if goes_on { self.begun.min(segment.from) } else { segment.from };
        if !goes_on {
            self.attempts.push(Begun { site: segment.site, time: segment.from, row });
        }
        let place = (segment.site, segment.partition);
        match self.done_at.iter_mut().find(|(at, _)| *at == place) {
            Some((_, done)) => *done += work,
            None => self.done_at.push((place, work)),
        }
        self.energy += segment.energy.nanojoules();
        self.dynamic += segment.dynamic.nanojoules();
        self.cost += segment.cost.nanos();
        self.first = Some(self.first.map_or(segment.from, |first| first.min(segment.from)));
        self.losses.retain(|(attempt, _)| *attempt >= segment.attempt);
        self.halts.retain(|(_, to)| *to > segment.to);
        (self.last, self.last_row) = (Some(segment.clone()), Some(row));
    }

    /// Records an event of the job.
    pub(super) fn add_event(&mut self, event: &EventRecord) {
        match event.kind {
            // A second event of the same attempt means that the job left the queue.
            EventKind::Requeued | EventKind::Returned | EventKind::Failed
                if self.losses.iter().all(|(attempt, _)| *attempt < event.attempt) && event.attempt > 0 =>
            {
                self.losses.push((event.attempt, event.time));
            }
            EventKind::Extended | EventKind::Reduced => self.commanded = Some(event.time),
            EventKind::Resized | EventKind::Resumed => {
                if event.kind == EventKind::Resized {
                    self.resized.get_or_insert(event.time);
                }
                self.sized.push((event.time, event.procs, event.kind == EventKind::Resized));
            }
            EventKind::Stalled => {
                // One that began at that very instant has no segment before it.
                self.first.get_or_insert(event.time);
                self.halts.push((event.time, Time::NEVER));
                self.stalled = Some(event.time);
            }
            EventKind::Continued => {
                if let Some((_, to)) = self.halts.last_mut().filter(|(_, to)| *to == Time::NEVER) {
                    *to = event.time;
                }
            }
            _ => {}
        }
    }

    /// True if it stood still because of machines throughout `from` to `to`.
    pub(super) fn stood_still(&self, mut from: Time, to: Time) -> bool {
        for (begin, end) in &self.halts {
            if *begin <= from && from < *end {
                from = *end;
            }
        }
        from >= to
    }

    /// Work that it did in all attempts, as it counts where it ended.
    pub(super) fn done_in_all(&self) -> u128 {
        self.worth.unwrap_or_else(|| self.done_at.iter().map(|(_, done)| done).sum())
    }

    /// Work that it did in attempt number `attempt`, with the rate and the length of the last segment.
    pub(super) fn done_in(&self, attempt: u32) -> (u128, Rate, Span) {
        match self.last.as_ref().filter(|last| last.attempt == attempt) {
            Some(last) => (self.done, last.rate, last.to.since(last.from)),
            None => (0, Rate::ZERO, Span::ZERO),
        }
    }
}
