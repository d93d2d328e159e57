//! Backfilling: which jobs pass those that do not fit [Huang 2004, section 6.11].

use std::collections::BTreeMap;

use super::adapt::{alone, rescaled, there_are};
use super::{Backfilling, Gang, Slots, Starts};
use crate::local::policies::line::Request;
use crate::local::{BackfillWindow, LiveJob, Phase, Place, Profile, View};
use crate::model::{EventCause, JobKey, ProcSet};
use crate::sharing::Load;
use crate::units::{Rate, Span, Time};

/// Free processors of each slot from now on, if each job runs at the rate that is guaranteed until its estimate is done.
#[derive(Debug)]
struct Plan {
    now: Time,
    /// What a slot has in which no job is.
    processors: u32,
    slots: Vec<Profile>,
}

/// What is kept for the first job that does not fit: it is to start in this slot after so much time, and leaves so many processors of it then.
#[derive(Copy, Clone, Debug)]
struct Kept {
    slot: usize,
    window: Span,
    extra: u32,
}

impl Kept {
    /// Takes the jobs that may start beside it.
    fn window(&self, slots: &Slots<'_>) -> BackfillWindow {
        // In other slots they delay nobody.
        let extra = slots.most_beside(self.slot).max(self.extra);
        BackfillWindow { free: slots.most(), window: self.window, extra, awake: slots.awake() }
    }

    /// The slot in which a job starts that does not delay it, if there is one.
    fn slot(&mut self, slots: &Slots<'_>, job: Request) -> Option<usize> {
        let is_longer = slots.holds(job.procs, job.span) > self.window;
        let may = |slot| slot != self.slot || !is_longer || job.procs <= self.extra;
        let slot = slots.fit_where(job.procs, may)?;
        if slot == self.slot && is_longer {
            self.extra -= job.procs;
        }
        Some(slot)
    }
}

impl Plan {
    /// When and in which slot a job would start.
    fn earliest(&self, span: Span, procs: u32) -> Option<(Time, usize)> {
        let start =
            |(slot, profile): (usize, &Profile)| Some((profile.earliest(self.now, span, procs)?, slot));
        self.slots.iter().enumerate().filter_map(start).min()
    }

    fn reserve(&mut self, slot: usize, from: Time, job: Request) {
        self.slots[slot].reserve(from, from + job.span, job.procs);
    }

    /// There may be slots that have come into use since.
    fn extend(&mut self, slots: usize) {
        self.slots.resize_with(slots.max(self.slots.len()), || Profile::new(self.now, self.processors));
    }
}

impl Gang {
    /// Starts jobs that pass others, behind the place of the last that has started in order. Under EASY backfilling says when the first that does not fit
    /// is to start.
    pub(super) fn backfill(
        &self,
        view: &View<'_>,
        load: Load,
        last: Option<Place>,
        resized: &[(JobKey, ProcSet, EventCause)],
        slots: &mut Slots<'_>,
        started: &mut Vec<Starts>,
    ) -> Option<Time> {
        let (first, head) = self.line.after(last)?;
        // Nothing is planned if no job could start.
        self.line.fitting_after(Some(first), self.terms.request(load), self.of_size(view, load, slots))?;
        match self.terms.backfilling {
            Backfilling::None => None,
            Backfilling::Greedy => {
                self.try_all(view, load, first, None, slots, started);
                None
            }
            Backfilling::Easy => {
                let plan = self.plan(view, resized, slots, started);
                let head = self.request(head, view, load);
                let (time, slot) = plan.earliest(Span::TICK, head.procs)?;
                let spare = plan.slots[slot].free_at(time);
                let extra = u32::try_from(spare).unwrap_or(0).saturating_sub(head.procs);
                let kept = Kept { slot, window: time.since(view.now()), extra };
                self.try_all(view, load, first, Some(kept), slots, started);
                Some(time)
            }
            Backfilling::Conservative => {
                self.plan_all(view, load, last, resized, slots, started);
                None
            }
        }
    }

    /// Takes jobs that are not larger than what is free in a slot.
    fn of_size(&self, view: &View<'_>, load: Load, slots: &Slots<'_>) -> BackfillWindow {
        let most = slots.most();
        // One that would be on more processors than there are now may be on all that there are.
        let is_all = self.terms.adapts && load == Load::Low && most >= there_are(view);
        if is_all { BackfillWindow::ANY } else { BackfillWindow::of_size(most) }
    }

    /// Starts all jobs behind a place that may, in order.
    fn try_all(
        &self,
        view: &View<'_>,
        load: Load,
        behind: Place,
        mut kept: Option<Kept>,
        slots: &mut Slots<'_>,
        started: &mut Vec<Starts>,
    ) {
        let (mut last, request) = (behind, self.terms.request(load));
        loop {
            let all = self.of_size(view, load, slots);
            let window = match &kept {
                Some(kept) if all != BackfillWindow::ANY => kept.window(slots),
                _ => all,
            };
            let Some((place, job)) = self.line.fitting_after(Some(last), request, window) else { break };
            last = place;
            let request = self.request(job, view, load);
            let slot = match &mut kept {
                Some(kept) => kept.slot(slots, request),
                None => slots.fit(request.procs),
            };
            debug_assert!(slot.is_some() || all == BackfillWindow::ANY, "one that is found starts");
            if let Some(slot) = slot {
                start(view, (job, request.procs), slot, slots, started);
            }
        }
        debug_assert!(self.none_is_left(view, load, behind, kept, slots, started), "one that may starts");
    }

    /// Whether none of the next jobs behind a place may still start.
    fn none_is_left(
        &self,
        view: &View<'_>,
        load: Load,
        behind: Place,
        kept: Option<Kept>,
        slots: &Slots<'_>,
        started: &[Starts],
    ) -> bool {
        let next = |place: &Option<Place>| self.line.after(*place).map(|(place, _)| Some(place));
        let places = std::iter::successors(Some(Some(behind)), next).take(100);
        let mut waits = places.filter_map(|place| self.line.after(place));
        waits.all(|(_, job)| {
            let request = self.request(job, view, load);
            let mut kept = kept;
            started.iter().any(|started| started.job == job)
                || kept
                    .as_mut()
                    .map_or_else(|| slots.fit(request.procs), |kept| kept.slot(slots, request))
                    .is_none()
        })
    }

    /// Plans the jobs behind a place in order, and starts those that are planned for now: each delays none of those before it.
    fn plan_all(
        &self,
        view: &View<'_>,
        load: Load,
        last: Option<Place>,
        resized: &[(JobKey, ProcSet, EventCause)],
        slots: &mut Slots<'_>,
        started: &mut Vec<Starts>,
    ) {
        let mut plan = self.plan(view, resized, slots, started);
        let (mut last, mut passed) = (last, 0);
        while passed <= self.terms.lookahead
            && let Some((place, job)) = self.line.after(last)
            && self
                .line
                .fitting_after(last, self.terms.request(load), self.of_size(view, load, slots))
                .is_some()
        {
            last = Some(place);
            let request = self.request(job, view, load);
            // It waits for machines, and so do those behind it.
            let Some((time, slot)) = plan.earliest(request.span, request.procs) else { return };
            plan.reserve(slot, time, request);
            if time <= view.now() && slots.has(slot, request.procs) {
                start(view, (job, request.procs), slot, slots, started);
                plan.extend(slots.len());
            } else {
                passed += 1;
            }
        }
    }

    fn request(&self, job: JobKey, view: &View<'_>, load: Load) -> Request {
        let live = view.job(job);
        let procs = self.terms.target(live, view, load);
        Request { procs, span: self.terms.lasts(alone(live, procs)) }
    }

    fn plan(
        &self,
        view: &View<'_>,
        resized: &[(JobKey, ProcSet, EventCause)],
        slots: &Slots<'_>,
        started: &[Starts],
    ) -> Plan {
        let now = view.now();
        let processors = if self.terms.level == 1 { view.capacity() } else { view.here().len() };
        let resized: BTreeMap<JobKey, u32> =
            resized.iter().map(|(job, procs, _)| (*job, procs.len())).collect();
        let mut taken: Vec<Vec<(Time, Time, u32)>> = vec![Vec::new(); slots.len()];
        for (seq, job) in &self.running {
            let live = view.job(*job);
            let new = resized.get(job).copied();
            let procs = new.unwrap_or(live.held());
            let slot = slots.slot_of(*seq).unwrap_or(0);
            taken[slot].push((now, self.expected_end(*job, live, new, view), procs));
        }
        for job in started {
            let span = self.terms.lasts(alone(view.job(job.job), job.procs));
            taken[job.slot].push((now, now + span, job.procs));
        }
        let profile = |taken: Vec<_>| Profile::without(now, processors, taken.into_iter());
        Plan { now, processors, slots: taken.into_iter().map(profile).collect() }
    }

    /// When a running job has ended at the latest by its estimate, on `new` processors if it gets others now.
    fn expected_end(&self, job: JobKey, live: &LiveJob, new: Option<u32>, view: &View<'_>) -> Time {
        let now = view.now();
        if live.phase() == Phase::Starting {
            // If machines have to wake up for it, that shows when it has begun: as EASY counts.
            return now + live.estimate();
        }
        let end = view.expected_end(job);
        if self.terms.level == 1 && new.is_none() {
            return end;
        }
        // What it has left, as time alone on the processors that it will have.
        let rate = live.share().times(live.efficiency());
        let mut left = end.since(now).scale_up(rate.units(), Rate::FULL.units());
        if let Some(new) = new {
            left = rescaled(live, left, live.placement().len(), new);
        }
        now + self.terms.lasts(left)
    }
}

fn start(
    view: &View<'_>,
    (job, procs): (JobKey, u32),
    slot: usize,
    slots: &mut Slots<'_>,
    started: &mut Vec<Starts>,
) {
    let seq = view.job(job).seq();
    slots.place(seq, slot, procs);
    started.push(Starts { job, seq, slot, procs });
}
