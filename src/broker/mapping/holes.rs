//! When processors of each pool are free, and the tasks that are put there.

use super::Costs;
use crate::local::{Profile, StartEstimates};
use crate::units::{Span, Time};

/// A task in a plan.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The task.
    pub task: usize,
    /// Its pool.
    pub pool: usize,
    /// Its expected start.
    pub start: Time,
    /// Its expected end.
    pub end: Time,
}

/// When the last task of a plan ends; [`Time::ZERO`] if there is none.
pub fn makespan(plan: &[Placement]) -> Time {
    plan.iter().map(|placed| placed.end).max().unwrap_or(Time::ZERO)
}

/// The processors of each pool that are free, from now on. They only become fewer.
pub trait Holes {
    /// The earliest start in a pool, not before `from`, of so many processors for `run`; `None` if there is none.
    fn earliest(&self, pool: usize, procs: u32, from: Time, run: Span) -> Option<Time>;

    /// Whether the pool ever has so many processors at once.
    fn has(&self, pool: usize, procs: u32) -> bool;

    /// From when on the processors that are free in the pool never become fewer; [`Time::NEVER`] if that is not known.
    fn rises_from(&self, _pool: usize) -> Time {
        Time::NEVER
    }

    /// Takes what [`Holes::earliest`] found.
    fn take(&mut self, pool: usize, procs: u32, start: Time, run: Span);
}

/// A profile of free processors for each pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profiles(pub Vec<Profile>);

impl Profiles {
    /// Pools of so many processors, all free from `now` on.
    pub fn idle(now: Time, processors: &[u32]) -> Self {
        Self(processors.iter().map(|processors| Profile::new(now, *processors)).collect())
    }

    /// What a site's start-time estimates say of a pool: from each of their times on, so many of its processors are free as a job that
    /// starts then may have. The processors beyond the largest size are never free.
    pub fn expected(now: Time, estimates: &StartEstimates) -> Profile {
        let most = estimates.steps.last().map_or(0, |(most, _)| *most);
        let mut profile = Profile::new(now, most);
        let mut free = 0;
        for (procs, start) in &estimates.steps {
            profile.reserve(now, *start, procs - free);
            free = *procs;
        }
        profile
    }
}

impl Holes for Profiles {
    fn earliest(&self, pool: usize, procs: u32, from: Time, run: Span) -> Option<Time> {
        self.0[pool].earliest(from, run, procs)
    }

    fn has(&self, pool: usize, procs: u32) -> bool {
        // What is reserved ends at some time.
        self.0[pool].free_at(Time::NEVER) >= i32::try_from(procs).unwrap_or(i32::MAX)
    }

    fn rises_from(&self, pool: usize) -> Time {
        self.0[pool].rises_from()
    }

    fn take(&mut self, pool: usize, procs: u32, start: Time, run: Span) {
        self.0[pool].reserve(start, start + run, procs);
    }
}

/// The task in the earliest hole of a pool from `from` on; `None` if it does not fit there, or would never end.
pub(super) fn earliest(
    costs: &impl Costs,
    holes: &impl Holes,
    (task, pool): (usize, usize),
    from: Time,
) -> Option<Placement> {
    let run = costs.run(task, pool)?;
    let start = holes.earliest(pool, costs.procs(task, pool), from, run)?;
    let end = start.checked_add(run)?;
    Some(Placement { task, pool, start, end })
}

/// Takes what the placement needs.
pub(super) fn take(costs: &impl Costs, holes: &mut impl Holes, placed: Placement) {
    let Placement { task, pool, start, end } = placed;
    holes.take(pool, costs.procs(task, pool), start, end.since(start));
}
