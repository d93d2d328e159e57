//! Sizes that follow the load and the fragmentation [Huang 2004, sections 6.9 and 6.12].

use std::collections::BTreeMap;

use super::{Backfilling, Gang, GangOptions, Resizes, Slots, Starts};
use crate::local::policies::line::{Request, Requests};
use crate::local::{LiveJob, Phase, View};
use crate::model::{EventCause, JobKey, ProcSet, Size};
use crate::sharing::{Load, Sizes};
use crate::units::{Rate, Span, Time, Work};

impl GangOptions {
    /// How many processors a job is to start on.
    pub(super) fn target(&self, live: &LiveJob, view: &View<'_>, load: Load) -> u32 {
        let target = self.target_of_all(live, view, load);
        // No job waits that prefers more than there is now.
        target.min(there_are(view)).max(live.procs().min(target))
    }

    /// The same if no processors are down.
    fn target_of_all(&self, live: &LiveJob, view: &View<'_>, load: Load) -> u32 {
        if !self.adapts || matches!(live.size(), Size::Rigid(_)) {
            return live.procs();
        }
        let sizes = sizes(live, view);
        in_blocks(sizes.to_start(load), sizes.best(), sizes, view)
    }
}

/// The loads for which jobs may have other targets.
const LOADS: [Load; 3] = [Load::Low, Load::Normal, Load::High];

impl GangOptions {
    /// How many requests each job has. Without backfilling none is found by them.
    pub(super) fn requests(&self) -> usize {
        if self.adapts && self.backfilling != Backfilling::None { LOADS.len() } else { 1 }
    }

    /// The number of a job's request under this load.
    pub(super) fn request(&self, load: Load) -> usize {
        LOADS.iter().position(|of| *of == load).filter(|at| *at < self.requests()).unwrap_or(0)
    }

    /// What a waiting job requests under each load while all processors are there. With fewer it may be on fewer under a low load.
    pub(super) fn requests_of(&self, live: &LiveJob, view: &View<'_>) -> Requests {
        let request = |load: &Load| {
            let procs = self.target_of_all(live, view, *load);
            Request { procs, span: self.lasts(alone(live, procs)) }
        };
        LOADS[..self.requests()].iter().map(request).collect()
    }
}

/// The sizes of a job in whole allocation blocks, the largest one not above what there could be. They do not change while machines come and go, so that
/// what waiting jobs need is the same sum whenever it is taken.
pub(super) fn sizes(live: &LiveJob, view: &View<'_>) -> Sizes {
    let (unit, best) = (view.allocation_unit().max(1), live.procs().max(1));
    let rounded = |procs: u32| procs.div_ceil(unit).saturating_mul(unit);
    let there_are = view.processors() / unit * unit;
    let (least, most) = (rounded(live.size().min()).clamp(1, best), rounded(live.size().max()));
    // They ascend.
    Sizes::new(least, best, most.min(there_are).max(best)).unwrap_or_else(|_| Sizes::only(best))
}

/// The processors that there are now, in whole blocks.
pub(super) fn there_are(view: &View<'_>) -> u32 {
    let unit = view.allocation_unit().max(1);
    view.capacity() / unit * unit
}

/// A target in whole blocks: rounded up for a job that grows and down for one that shrinks, as halves are.
fn in_blocks(target: u32, from: u32, sizes: Sizes, view: &View<'_>) -> u32 {
    let unit = view.allocation_unit().max(1);
    let blocks = if target > from { target.div_ceil(unit) } else { target / unit };
    blocks.saturating_mul(unit).clamp(sizes.least(), sizes.most())
}

/// How long a job is expected to run on so many processors of its own.
pub(super) fn alone(live: &LiveJob, procs: u32) -> Span {
    if procs == live.procs() {
        return live.estimate();
    }
    let rate = live.size().rate_on(procs.min(live.size().max()));
    Work::of_runtime(live.estimate()).span_at(rate).unwrap_or(Span::MAX).max(Span::TICK)
}

/// How long takes, on `to` processors, what would take so long on `from`.
pub(super) fn rescaled(live: &LiveJob, left: Span, from: u32, to: u32) -> Span {
    let on = |procs: u32| live.size().rate_on(procs.min(live.size().max()));
    let work = Work::of_runtime(left.scale_up(on(from).units(), Rate::FULL.units()));
    work.span_at(on(to)).unwrap_or(Span::MAX)
}

const fn cause(load: Load) -> EventCause {
    match load {
        Load::Low => EventCause::LoadLow,
        Load::Normal => EventCause::None,
        Load::High => EventCause::LoadHigh,
    }
}

impl Gang {
    /// Whether running jobs may be resized at this pass: a multiple of the interval has come since the pass before it could have been.
    pub(super) fn may_resize(&self, now: Time) -> bool {
        let interval = self.terms.reconfigure.micros();
        if self.state.resized == Some(now) {
            return false;
        }
        if self.terms.resizes == Resizes::Event || interval == 0 {
            return true;
        }
        let before = match self.state.slice.filter(|_| self.terms.has_slices()) {
            Some((since, length)) => match now.since(since).micros() {
                0 => now.micros().saturating_sub(length.micros()),
                gone => since.micros() + (gone - 1) / length.micros().max(1) * length.micros(),
            },
            None => now.micros().saturating_sub(1),
        };
        now.micros() / interval > before / interval
    }

    /// The load of the partition (section 6.9.1).
    pub(super) fn load(&self, view: &View<'_>) -> Load {
        if !self.terms.adapts {
            return Load::Normal;
        }
        let running = self.running.values().map(|job| view.job(*job));
        let running = running.map(|live| (live, live.placement().len()));
        self.waiting.load(running, 0, view, &self.terms)
    }

    /// The size that a running job with so many processors is to have, if it is another one.
    pub(super) fn target_of(&self, live: &LiveJob, current: u32, view: &View<'_>, load: Load) -> Option<u32> {
        // Processors of machines that drain would not be given to it again.
        let can = live.size().is_malleable() && view.here().contains_all(live.placement());
        if !can || load == Load::Normal {
            return None;
        }
        let sizes = sizes(live, view);
        let target = in_blocks(sizes.towards(current, load), current, sizes, view);
        let is_so = if load == Load::Low { target > current } else { target < current };
        is_so.then_some(target)
    }

    /// Workload adaptation (section 6.9.3): running malleable jobs grow or shrink, in order of arrival. A job grows as far as its slot has room.
    pub(super) fn adapt(
        &self,
        view: &View<'_>,
        load: Load,
        slots: &mut Slots<'_>,
    ) -> Vec<(JobKey, ProcSet, EventCause)> {
        let mut resized = Vec::new();
        for (seq, job) in &self.running {
            let live = view.job(*job);
            let (current, why) = (live.placement().len(), cause(load));
            let is_running = live.phase() == Phase::Running && live.since() <= view.now();
            let target = self.target_of(live, current, view, load).filter(|_| is_running);
            let Some(target) = target else { continue };
            let procs = match target < current {
                true => slots.shrink(*seq, live.placement(), target),
                false => slots.grow(*seq, live.placement(), target - current, view),
            };
            if let Some(procs) = procs {
                resized.push((*job, procs, why));
            }
        }
        resized
    }

    /// Reduction of fragmentation (section 6.12): in each slot the moldable jobs that start take what is idle, then the malleable ones, but for
    /// those of the longest class.
    pub(super) fn fill(&self, view: &View<'_>, slots: &mut Slots<'_>, started: &mut [Starts]) {
        let longest = self.terms.priorities.classes() - 1;
        let is_of = |live: &LiveJob, malleable: bool| match live.size() {
            Size::Rigid(_) => false,
            Size::Moldable { .. } => !malleable,
            Size::Malleable { .. } => malleable && (self.line.class(live) < longest || longest == 0),
        };
        for malleable in [false, true] {
            for job in started.iter_mut() {
                let live = view.job(job.job);
                if is_of(live, malleable) {
                    let more = sizes(live, view).most().saturating_sub(job.procs);
                    job.procs += slots.enlarge(job.seq, job.slot, more);
                }
            }
        }
    }

    /// When something is to be done without an event: a priority grows, or a job is to be resized. A pass that would resize none is not asked for.
    pub(super) fn wish(
        &self,
        view: &View<'_>,
        resized: &[(JobKey, ProcSet, EventCause)],
        started: &[Starts],
        slots: &Slots<'_>,
    ) -> Option<Time> {
        let resizes = || {
            let interval = self.terms.reconfigure.micros();
            let next = (view.now().micros().checked_div(interval)? + 1).checked_mul(interval)?;
            let new: BTreeMap<JobKey, u32> =
                resized.iter().map(|(job, procs, _)| (*job, procs.len())).collect();
            let running = self.running.iter().map(|(seq, job)| {
                let live = view.job(*job);
                (live, *seq, new.get(job).copied().unwrap_or(live.placement().len()))
            });
            let started = started.iter().map(|job| (view.job(job.job), job.seq, job.procs));
            let all: Vec<(&LiveJob, u64, u32)> = running.chain(started).collect();
            let load =
                self.waiting.load(all.iter().map(|(live, _, procs)| (*live, *procs)), 0, view, &self.terms);
            let changes = |(live, seq, procs): &(&LiveJob, u64, u32)| {
                self.target_of(live, *procs, view, load)
                    .is_some_and(|to| to < *procs || slots.may_grow(*seq, view))
            };
            all.iter().any(changes).then_some(Time::from_micros(next))
        };
        let is_timed = self.terms.adapts && self.terms.resizes == Resizes::Interval;
        let resizes = if is_timed { resizes() } else { None };
        self.line.grows_at().into_iter().chain(resizes).min()
    }
}
