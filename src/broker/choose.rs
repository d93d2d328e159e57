//! Policies of immediate mode: they decide about each task by itself, in order, from the view as those before have left it (immediate
//! and batch mode: Maheswaran et al. 1999).

use super::{Answer, BrokerPolicy, GridView, Pool, Reason, Task};
use crate::units::Time;

/// A policy that decides about one task at a time. [`OneByOne`] makes a [`BrokerPolicy`] of it.
pub trait Choose: Send {
    /// What a pool must have at least for the policy to pick it. Of the tasks that a plan has left before, the policy is asked only about
    /// those that may pass somewhere now.
    fn gate(&self) -> Gate {
        Gate::Every
    }

    /// Picks a pool for a task. What it answers about a task that it leaves must not change what it answers about others.
    fn choose(&mut self, view: &GridView<'_>, task: Task<'_>) -> Pick;

    /// The name of what it compares, if that is more than start and completion.
    fn compares(&self) -> Option<&'static str> {
        None
    }

    /// The value of the pool at a place that it compares for a task, to be told for a traced job; no number if there is none.
    fn compared(&self, _view: &GridView<'_>, _task: Task<'_>, _pool: usize) -> f64 {
        0.0
    }

    /// The policy's own state for a snapshot.
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Restores what [`Choose::save`] returned.
    ///
    /// # Errors
    /// A sentence on what is wrong with the saved state.
    fn restore(&mut self, _saved: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

/// What a policy does with a task.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Pick {
    /// It goes to the pool at this place, for this reason.
    Pool(usize, Reason),
    /// It is put off: it waits until an instant, to be decided about anew then.
    PutOff {
        /// The place of the pool where it would be best, if it starts there later.
        pool: usize,
        /// When it would start there.
        start: Time,
        /// When it would be sent.
        until: Time,
        /// Why.
        reason: Reason,
    },
    /// It goes on waiting.
    Leave,
    /// It goes on waiting, and so do all behind it.
    Stop,
}

impl Pick {
    /// The pool that was found, if one was.
    pub fn found(pool: Option<usize>, reason: Reason) -> Self {
        pool.map_or(Self::Leave, |pool| Self::Pool(pool, reason))
    }

    /// This pick, or another one if the task would be left.
    #[must_use]
    pub fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        if self == Self::Leave { other() } else { self }
    }
}

/// What a pool must have for a policy to pick it: the site is open, and beyond that, enough processors for the task of a kind. What
/// does not pass at the beginning of a plan does not pass later in it, because a plan only takes away.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// The policy is asked about every task.
    Every,
    /// Processors that are up.
    Fits,
    /// Processors that are there with all machines up.
    AllUp,
    /// Processors that are free, without those that jobs on their way will take.
    Free,
    /// The same, or if no pool has enough processors that are up, those that are there with all machines up.
    FreeOrAbsent,
    /// Processors that the pool has asked work for.
    Asked,
}

impl Gate {
    /// No task that needs more processors than this passes anywhere.
    pub(super) fn bound(self, pools: &[Pool]) -> u32 {
        if self == Self::Every {
            return u32::MAX;
        }
        pools.iter().filter(|pool| pool.open).map(|pool| self.has(pool)).max().unwrap_or(0)
    }

    /// Whether the task passes for any pool. If it does not, no task of its shape does.
    pub(super) fn passes(self, view: &GridView<'_>, task: Task<'_>) -> bool {
        let any = |passes: &dyn Fn(usize) -> bool| (0..view.pools().len()).any(passes);
        if self == Self::FreeOrAbsent {
            let starts = |at: usize| {
                let pool = &view.pools()[at];
                view.fits(task, at, true) && pool.reported_start(pool.procs_for(&task)).is_some()
            };
            return Self::Free.passes(view, task) || !any(&starts) && any(&|at| view.fits(task, at, false));
        }
        any(&|at| match self {
            Self::Every | Self::FreeOrAbsent => true,
            Self::Fits => view.fits(task, at, true),
            Self::AllUp => view.fits(task, at, true) || view.fits(task, at, false),
            Self::Free => view.fits(task, at, true) && view.is_free(task, at),
            Self::Asked => {
                let pool = &view.pools()[at];
                view.fits(task, at, true) && pool.procs_for(&task) <= pool.asked
            }
        })
    }

    /// The bound once a plan has taken something away.
    pub(super) fn bound_after(self, bound: u32, pools: &[Pool]) -> u32 {
        if matches!(self, Self::Free | Self::Asked) { self.bound(pools) } else { bound }
    }

    /// The processors of its kind that the pool has.
    fn has(self, pool: &Pool) -> u32 {
        let present = pool.report.present;
        match self {
            Self::Every => u32::MAX,
            Self::Fits => present,
            Self::AllUp | Self::FreeOrAbsent => present.max(pool.facts.processors),
            Self::Free => {
                let free = u64::from(pool.report.free).saturating_sub(pool.in_flight.procs);
                present.min(u32::try_from(free).unwrap_or(u32::MAX))
            }
            Self::Asked => present.min(pool.asked),
        }
    }
}

/// A policy of immediate mode as a [`BrokerPolicy`]: it is asked about each task, in order.
#[derive(Debug)]
pub struct OneByOne<P>(pub P);

impl<P: Choose> BrokerPolicy for OneByOne<P> {
    fn plan(&mut self, view: &mut GridView<'_>) -> Answer {
        view.sweep(&mut self.0);
        view.done()
    }

    fn save(&self) -> Vec<u8> {
        self.0.save()
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), String> {
        self.0.restore(saved)
    }
}
