//! Backfilling: which jobs pass those that do not fit [Huang 2004, section 6.11].

use std::collections::BTreeMap;

use super::adapt::{alone, rescaled};
use super::{Backfilling, Gang, Place, Slots, Starts};
use crate::local::{LiveJob, Phase, Profile, View};
use crate::model::{EventCause, JobKey, ProcSet};
use crate::sharing::Load;
use crate::units::{Rate, Span, Time};

/// A waiting job: how many processors it is to start on, and how long it has them at the most.
#[derive(Copy, Clone, Debug)]
struct Request {
    procs: u32,
    span: Span,
}

/// Free processors of each slot from now on, if each job runs at the rate that is guaranteed until its estimate is done.
#[derive(Debug)]
struct Plan {
    now: Time,
    /// What a slot has in which no job is.
    processors: u32,
    slots: Vec<Profile>,
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
        self.line.fitting_after(Some(first), slots.most())?;
        match self.terms.backfilling {
            Backfilling::None => None,
            Backfilling::Greedy => {
                self.try_all(view, load, first, slots, started, |slots, job| slots.fit(job.procs));
                None
            }
            Backfilling::Easy => {
                let plan = self.plan(view, resized, slots, started);
                let head = self.request(head, view, load);
                let (shadow, reserved) = plan.earliest(Span::TICK, head.procs)?;
                let spare = plan.slots[reserved].free_at(shadow);
                let mut extra = u32::try_from(spare).unwrap_or(0).saturating_sub(head.procs);
                let window = shadow.since(view.now());
                self.try_all(view, load, first, slots, started, |slots, job| {
                    let held = slots.holds(job.procs, job.span);
                    let may = |slot| slot != reserved || held <= window || job.procs <= extra;
                    let slot = slots.fit_where(job.procs, may)?;
                    if slot == reserved && held > window {
                        extra -= job.procs;
                    }
                    Some(slot)
                });
                Some(shadow)
            }
            Backfilling::Conservative => {
                self.plan_all(view, load, last, resized, slots, started);
                None
            }
        }
    }

    /// Tries all jobs behind a place that might fit, in order.
    fn try_all(
        &self,
        view: &View<'_>,
        load: Load,
        behind: Place,
        slots: &mut Slots<'_>,
        started: &mut Vec<Starts>,
        mut slot_of: impl FnMut(&Slots<'_>, Request) -> Option<usize>,
    ) {
        let mut last = behind;
        while let Some((place, job)) = self.line.fitting_after(Some(last), slots.most()) {
            last = place;
            let request = self.request(job, view, load);
            if let Some(slot) = slot_of(slots, request) {
                start(view, (job, request.procs), slot, slots, started);
            }
        }
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
            && self.line.fitting_after(last, slots.most()).is_some()
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
