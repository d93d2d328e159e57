//! The plan of snapshots: when they are taken, and which ones are kept.

use std::path::PathBuf;
use std::time::Duration;

use crate::store::EngineKind;
use crate::units::{Span, Time};

/// When snapshots are taken, where they are stored, and which ones are kept. The plan changes no result.
///
/// One snapshot is always taken at the beginning, before the first event, and one when the run is asked to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointPlan {
    /// The folder of the store.
    pub store: PathBuf,
    /// The interval by the wall clock.
    pub every: Option<Duration>,
    /// The interval in virtual time.
    pub every_virtual: Option<Span>,
    /// The interval in records.
    pub every_events: Option<u64>,
    /// The number of newest snapshots that are kept.
    pub last: usize,
    /// Keep also every n-th snapshot.
    pub keep_every: Option<u64>,
    /// Virtual times at which snapshots are taken and kept, in ascending order.
    pub keep_at: Vec<Time>,
    /// The store engine.
    pub database: EngineKind,
}

impl CheckpointPlan {
    /// The default interval by the wall clock.
    pub const EVERY: Duration = Duration::from_secs(30);

    /// Snapshots into `store`, every 30 seconds by the wall clock; the last two are kept.
    pub fn new(store: PathBuf) -> Self {
        Self {
            store,
            every: Some(Self::EVERY),
            every_virtual: None,
            every_events: None,
            last: 2,
            keep_every: None,
            keep_at: Vec::new(),
            database: EngineKind::default(),
        }
    }

    /// The next instant after `now` at which a snapshot is due by virtual time.
    pub(crate) fn next_barrier(&self, now: Time) -> Option<Time> {
        let regular = self.every_virtual.map(|every| {
            let every = every.micros().max(1);
            Time::from_micros((now.micros() / every + 1).saturating_mul(every))
        });
        let kept = self.keep_at.iter().copied().find(|at| *at > now);
        regular.into_iter().chain(kept).min()
    }

    /// True if the `nth` snapshot of a run, taken at `at`, is kept beside the newest ones.
    pub(crate) fn keeps(&self, nth: u64, at: Time) -> bool {
        self.keep_at.contains(&at)
            || self.keep_every.is_some_and(|every| nth > 0 && nth.is_multiple_of(every))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_come_at_multiples_and_at_the_times_that_are_kept() {
        let at = Time::from_secs;
        let plan = CheckpointPlan {
            every_virtual: Some(Span::from_secs(100)),
            keep_at: vec![at(150), at(200), at(990)],
            keep_every: Some(3),
            ..CheckpointPlan::new("store".into())
        };
        let mut now = Time::ZERO;
        let mut barriers = Vec::new();
        while let Some(next) = plan.next_barrier(now).filter(|next| *next < at(450)) {
            barriers.push(next);
            now = next;
        }
        assert_eq!(barriers, [100, 150, 200, 300, 400].map(at));
        assert!(plan.keeps(1, at(150)) && plan.keeps(3, at(1)) && !plan.keeps(4, at(100)));
        assert!(!plan.keeps(0, Time::ZERO), "the first goes when there are later ones");
        assert_eq!(CheckpointPlan::new("store".into()).next_barrier(now), None);
    }
}
