//! When an arriving job could start where running jobs give up processors for it.
//!
//! The load with a job that waits is high as soon as not all jobs fit, and under a high load running malleable jobs shrink, half way to N_min at each
//! reconfiguration. So a job does not wait for their ends. Its start is found by going through what is to come: ends of jobs and reconfigurations,
//! until as many processors are free as it needs. A job that shrinks is slower, and ends later.

use super::adapt::rescaled;
use super::{Gang, Resizes};
use crate::local::policies::equal_share::Loads;
use crate::local::{LiveJob, Phase, StartEstimates, View};
use crate::model::{JobKey, ProcSet};
use crate::sharing::Load;
use crate::units::{Span, Time};

/// A running job in the course of what is to come.
#[derive(Clone, Debug)]
struct Held<'a> {
    live: &'a LiveJob,
    key: JobKey,
    procs: ProcSet,
    end: Time,
}

/// Processors that a job could have.
#[derive(Clone, Debug)]
enum Room {
    /// At level 1: so many are free.
    Free(u32),
    /// The jobs on each processor, and on how many there are fewer than the level.
    Shared { loads: Loads, level: u32, open: u32 },
}

impl Room {
    const fn procs(&self) -> u32 {
        match self {
            Self::Free(procs) | Self::Shared { open: procs, .. } => *procs,
        }
    }

    /// A job leaves processors, of which so many stay if it has ended.
    fn add(&mut self, left: &ProcSet, held: u32) {
        match self {
            Self::Free(procs) => *procs = procs.saturating_add(held),
            Self::Shared { loads, level, open } => *open += loads.leave(left, *level),
        }
    }
}

impl Gang {
    /// When jobs of each size could start. Where no running job would shrink, as far as the ends of running jobs tell, as of any policy. What a resize
    /// costs is not counted, nor that slots change with the jobs in them.
    pub(super) fn estimates(&self, view: &View<'_>) -> StartEstimates {
        let level = self.terms.level;
        let is_fixed = !self.terms.adapts || !view.bookings().is_empty();
        if is_fixed || !self.running.values().any(|job| self.shrinks(view.job(*job), view)) {
            if level == 1 {
                return view.start_estimates();
            }
            return Loads::of(view).start_estimates(view, level, self.running.values().copied());
        }
        let room = if level == 1 {
            Room::Free(view.free())
        } else {
            let loads = Loads::of(view);
            Room::Shared { open: loads.open(level), loads, level }
        };
        let held = self.running.values().map(|key| {
            let live = view.job(*key);
            Held { live, key: *key, procs: live.placement().clone(), end: view.expected_end(*key) }
        });
        let mut held: Vec<Held<'_>> = held.collect();
        held.sort_unstable_by_key(|job| (job.end, job.key));
        let turn = view.turn();
        StartEstimates::of_sizes(view.capacity(), |procs| {
            turn.max(self.reached(view, held.clone(), room.clone(), procs).unwrap_or(Time::NEVER))
        })
    }

    /// Whether a running job has more processors than it would have after a reconfiguration under a high load.
    fn shrinks(&self, live: &LiveJob, view: &View<'_>) -> bool {
        may_shrink(live) && self.target_of(live, live.placement().len(), view, Load::High).is_some()
    }

    /// When so many processors are free for a job that waits for them; `None` if they are not when all running jobs have ended. `held` is in order of ends.
    fn reached(&self, view: &View<'_>, mut held: Vec<Held<'_>>, mut room: Room, procs: u32) -> Option<Time> {
        let (mut time, mut ended) = (view.now(), 0);
        let mut resize = Some(self.first_resize(time));
        // Jobs that shrink no more never do again: what is needed only becomes less.
        let mut at_rest = false;
        while room.procs() < procs {
            let job = held.get(ended)?;
            if let Some(at) = resize.filter(|at| *at < job.end && !at_rest) {
                let rest = &mut held[ended..];
                at_rest = !self.shrink_all(view, rest, &mut room, procs, at);
                if !at_rest {
                    time = at;
                    rest.sort_unstable_by_key(|job| (job.end, job.key));
                }
                resize = self.next_resize(at);
                continue;
            }
            time = job.end;
            room.add(
                &job.procs,
                if job.procs == *job.live.placement() { job.live.held() } else { job.procs.len() },
            );
            ended += 1;
            if self.resizes_at_events() {
                resize = Some(self.boundary(time));
            }
        }
        Some(time)
    }

    /// Shrinks the jobs as a reconfiguration does while a job of so many processors waits; whether it shrinks any.
    fn shrink_all(
        &self,
        view: &View<'_>,
        held: &mut [Held<'_>],
        room: &mut Room,
        procs: u32,
        at: Time,
    ) -> bool {
        let running = held.iter().map(|job| (job.live, job.procs.len()));
        if self.waiting.load(running, procs.into(), view, &self.terms) != Load::High {
            return false;
        }
        let mut any = false;
        for job in held.iter_mut().filter(|job| may_shrink(job.live)) {
            let had = job.procs.len();
            let Some(to) = self.target_of(job.live, had, view, Load::High) else { continue };
            let Some(kept) = job.procs.lowest(to) else { continue };
            room.add(&job.procs.difference(&kept), had - to);
            job.end = at.checked_add(rescaled(job.live, job.end.since(at), had, to)).unwrap_or(Time::NEVER);
            job.procs = kept;
            any = true;
        }
        any
    }

    fn resizes_at_events(&self) -> bool {
        self.terms.resizes == Resizes::Event || self.terms.reconfigure == Span::ZERO
    }

    /// The reconfiguration that a job would see first which arrives after this.
    fn first_resize(&self, now: Time) -> Time {
        if self.resizes_at_events() { self.boundary(now) } else { self.interval_after(now) }
    }

    /// The one after that at `time`, if it comes without an event.
    fn next_resize(&self, time: Time) -> Option<Time> {
        (!self.resizes_at_events()).then(|| self.interval_after(time))
    }

    /// The first pass at or after the next multiple of the interval.
    fn interval_after(&self, time: Time) -> Time {
        let interval = self.terms.reconfigure.micros().max(1);
        let next = (time.micros() / interval + 1).checked_mul(interval);
        next.map_or(Time::NEVER, |next| self.boundary(Time::from_micros(next)))
    }
}

/// Whether a job is at work when sizes are reconsidered next: one that adapts to other processors now will have done so.
fn may_shrink(live: &LiveJob) -> bool {
    matches!(live.phase(), Phase::Running | Phase::Reconfiguring)
}
