//! What runs in a slice.

use super::groups::{Ends, Plan};
use super::queues::{CLASSES, Queue, Queues, goes};
use super::slices::Slice;
use super::{Kept, ScojoPect};
use crate::local::{Action, Actions, Entry, Phase, Placement, Profile, View};
use crate::model::{JobKey, ProcSet};
use crate::units::{Rate, Span, Time};

/// What resumes and starts in a slice: class, place in the order of arrival, job.
#[derive(Default)]
pub(super) struct Filled {
    pub(super) resumed: Vec<(usize, u64, JobKey)>,
    started: Vec<(usize, u64, JobKey, ProcSet)>,
}

/// A slice that is being filled.
pub(super) struct Filling<'a, 'b> {
    pub(super) view: &'a View<'b>,
    pub(super) slice: Slice,
    free: ProcSet,
    /// Free processors from now on, by count.
    pub(super) profile: Profile,
    /// The jobs of the slice's class that run in it.
    pub(super) held: Vec<Ends>,
    /// The preempted jobs of each class, and the others that can be suspended if the slice is fresh.
    resumable: [Vec<(u64, JobKey)>; CLASSES],
    owned: Owned,
    pub(super) filled: Filled,
}

impl Filling<'_, '_> {
    /// How long a job still runs, as estimated.
    fn left(&self, job: JobKey) -> Span {
        let (live, now) = (self.view.job(job), self.view.now());
        if live.phase() == Phase::Running {
            return self.view.expected_end(job).since(now);
        }
        let (whole, ran) = (live.whole_estimate(), live.ran(now));
        Span::from_micros(whole.micros().saturating_sub(ran.micros())).max(Span::SECOND)
    }

    fn is_of_slice(&self, class: usize) -> bool {
        class == self.slice.class
    }

    /// For how long it would hold its processors from now on: jobs of other classes give them back at the end of the slice.
    fn holds(&self, class: usize, job: JobKey) -> Span {
        let left = self.left(job);
        if self.is_of_slice(class) { left } else { left.min(self.slice.ends.since(self.view.now())) }
    }

    /// A job of the slice's class that runs in it.
    fn hold(&mut self, seq: u64, end: Time, procs: u32) {
        let start = self.view.now();
        self.held.push(Ends { seq, start, end, procs, is_planned: false });
    }

    /// Puts a job on the processors that it had, if they are free and needed by none that is planned.
    fn resume(&mut self, class: usize, seq: u64, job: JobKey) {
        let (now, procs) = (self.view.now(), self.view.job(job).placement());
        let held = self.holds(class, job);
        let is_free = self.free.contains_all(procs);
        if is_free && (self.is_of_slice(class) || self.profile.fits(now, held, procs.len())) {
            self.free.remove_all(procs);
            self.profile.reserve(now, now + held, procs.len());
            if self.is_of_slice(class) {
                self.hold(seq, now + held, procs.len());
            }
            self.filled.resumed.push((class, seq, job));
        }
    }

    /// Starts a waiting job that would hold its processors for so long, if it fits now, on processors that no preempted job of its class has, and no other one if
    /// there are enough.
    fn start(&mut self, class: usize, (seq, job): (u64, JobKey), held: Span) -> bool {
        let (now, count) = (self.view.now(), self.view.job(job).procs());
        if count > self.free.len() || !self.profile.fits(now, held, count) {
            return false;
        }
        let open = self.free.difference(&self.owned.by_class[class]);
        let unowned = open.difference(&self.owned.by_any);
        let Some(procs) = self.view.pick(&unowned, count).or_else(|| self.view.pick(&open, count)) else {
            return false;
        };
        self.free.remove_all(&procs);
        self.profile.reserve(now, now + held, count);
        self.filled.started.push((class, seq, job, procs));
        true
    }

    /// Starts the waiting jobs of a class that fit, in this order, until `most` of them have not. The first `reserved` of those get reservations, and those behind
    /// delay none of them.
    fn start_all(
        &mut self,
        class: usize,
        jobs: impl Iterator<Item = (u64, JobKey)>,
        reserved: usize,
        most: usize,
    ) {
        let mut in_vain = 0;
        for (seq, job) in jobs {
            if self.free.is_empty() || in_vain == most {
                return;
            }
            if !self.start(class, (seq, job), self.holds(class, job)) {
                if in_vain < reserved {
                    self.reserve(job, self.view.now());
                }
                in_vain += 1;
            }
        }
    }

    /// Starts what a plan of the slice's class starts now, and reserves processors for the others of it: each at its earliest time beside those in front of it, or not before them.
    fn follow(&mut self, plan: &Plan, backfills: bool) {
        let now = self.view.now();
        let mut from = now;
        for (seq, job, _) in &plan.jobs {
            let (class, held) = (self.slice.class, self.left(*job));
            if from > now || !self.start(class, (*seq, *job), held) {
                let start = self.reserve(*job, from);
                from = if backfills { now } else { start.unwrap_or(from) };
            }
        }
    }

    /// Starts jobs that arrive at this instant beside the plan, if they fit until the end of the slice.
    fn start_newcomers(&mut self, class: usize, queue: &Queue, plan: Option<&Plan>) {
        let (view, now) = (self.view, self.view.now());
        let came = queue.waiting.iter().rev().take_while(|(_, job)| view.job(**job).ready() == now);
        let came: Vec<(u64, JobKey)> = came.map(|(seq, job)| (*seq, *job)).collect();
        for (seq, job) in came.into_iter().rev().filter(|(seq, _)| plan.is_none_or(|plan| !plan.has(*seq))) {
            let held = self.left(job).min(self.slice.ends.since(now));
            self.start(class, (seq, job), held);
        }
    }

    /// Reserves processors for a waiting job of the slice's class, and says from when on.
    fn reserve(&mut self, job: JobKey, from: Time) -> Option<Time> {
        let (count, left) = (self.view.job(job).procs(), self.left(job));
        let start = self.profile.earliest(from, left, count)?;
        self.profile.reserve(start, start + left, count);
        Some(start)
    }
}

/// The processors of preempted jobs that can resume as far as machines go.
struct Owned {
    by_class: [ProcSet; CLASSES],
    by_any: ProcSet,
}

impl Owned {
    fn new(view: &View<'_>, resumable: &[Vec<(u64, JobKey)>; CLASSES]) -> Self {
        let by_class = resumable.each_ref().map(|jobs| {
            let mut procs = ProcSet::new();
            let had = jobs.iter().map(|(_, job)| view.job(*job).placement());
            had.filter(|had| view.here().contains_all(had)).for_each(|had| procs.insert_all(had));
            procs
        });
        let mut by_any = ProcSet::new();
        by_class.iter().for_each(|procs| by_any.insert_all(procs));
        Self { by_class, by_any }
    }
}

impl ScojoPect {
    /// A slice in which the preempted jobs of its class have resumed. It is `fresh` if all jobs that can be are suspended for it.
    /// `free` are the processors that are free, or are released by this pass.
    pub(super) fn begin<'a, 'b>(
        &self,
        view: &'a View<'b>,
        slice: Slice,
        mut free: ProcSet,
        is_fresh: bool,
    ) -> Filling<'a, 'b> {
        let now = view.now();
        let Queues(queues) = &self.kept.queues;
        let is_taken_off = |job: JobKey| is_fresh && goes(view, view.job(job));
        let (mut taken, mut held) = (Vec::new(), Vec::new());
        for (class, Queue { running, .. }) in queues.iter().enumerate() {
            for (seq, job) in running {
                let live = view.job(*job);
                if is_taken_off(*job) {
                    free.insert_all(live.placement());
                    continue;
                }
                let end = view.expected_end(*job);
                let gives_back = class != slice.class && goes(view, live);
                taken.push((now, if gives_back { end.min(slice.ends) } else { end }, live.held()));
                if class == slice.class {
                    held.push(Ends { seq: *seq, start: now, end, procs: live.held(), is_planned: false });
                }
            }
        }
        let profile = Profile::without(now, view.capacity(), taken.into_iter());
        let resumable = queues.each_ref().map(|queue| {
            let taken_off = queue.running.iter().filter(|(_, job)| is_taken_off(**job));
            let mut jobs: Vec<(u64, JobKey)> =
                queue.preempted.iter().chain(taken_off).map(|(seq, job)| (*seq, *job)).collect();
            jobs.sort_unstable_by_key(|(seq, _)| *seq);
            jobs
        });
        let owned = Owned::new(view, &resumable);
        let filled = Filled::default();
        let mut filling = Filling { view, slice, free, profile, held, resumable, owned, filled };
        for (seq, job) in std::mem::take(&mut filling.resumable[slice.class]) {
            filling.resume(slice.class, seq, job);
        }
        filling
    }

    /// What starts in a slice that has begun: waiting jobs of its class, those of its plan first, with backfilling, and on what is left jobs of other
    /// classes, preempted ones first, then those of plans, and shorter classes first [Kanavallil 2007, Figure 6].
    ///
    /// The jobs of `first` come before the other waiting ones of the class.
    pub(super) fn complete(&self, filling: &mut Filling<'_, '_>, first: &[(u64, JobKey)]) {
        let (options, now) = (&self.options, filling.view.now());
        let Kept { queues: Queues(queues), groups, .. } = &self.kept;
        let most = options.lookahead as usize;
        let class = filling.slice.class;
        let plan = |class| groups.plan(class, now);
        let own = plan(class);
        let unplanned = |class: usize| {
            let waiting = queues[class].waiting.iter().map(|(seq, job)| (*seq, *job));
            waiting.filter(move |(seq, _)| plan(class).is_none_or(|plan| !plan.has(*seq)))
        };
        if let Some((own, groups)) = own.zip(self.groups) {
            filling.follow(own, groups.backfills);
            for of in (0..CLASSES).filter(|of| groups.dynamic && (options.smart || *of == class)) {
                filling.start_newcomers(of, &queues[of], plan(of));
            }
        }
        let started: Vec<u64> = filling.filled.started.iter().map(|(_, seq, ..)| *seq).collect();
        let has_not = |(seq, _): &(u64, JobKey)| !started.contains(seq);
        // Under EASY the first one alone.
        let reserved = if options.easy { 1 } else { most };
        let rest = unplanned(class).filter(|job| !first.contains(job));
        filling.start_all(class, first.iter().copied().chain(rest).filter(has_not), reserved, most);
        let others = || (0..CLASSES).filter(|of| options.smart && *of != class);
        for class in others() {
            for (seq, job) in std::mem::take(&mut filling.resumable[class]) {
                filling.resume(class, seq, job);
            }
        }
        for class in others() {
            let planned = plan(class).into_iter().flat_map(|plan| &plan.jobs);
            filling.start_all(class, planned.map(|(seq, job, _)| (*seq, *job)), 0, most);
        }
        for class in others() {
            filling.start_all(class, unplanned(class).filter(has_not), 0, most);
        }
    }

    /// The waiting jobs of the slice's class in the best order that a search finds, if there is to be one and any of them fits.
    fn search(&mut self, filling: &Filling<'_, '_>) -> Vec<(u64, JobKey)> {
        let (view, class, now) = (filling.view, filling.slice.class, filling.view.now());
        let Kept { queues, groups, .. } = &mut self.kept;
        let Some(options) = self.options.search.filter(|_| groups.plan(class, now).is_none()) else {
            return Vec::new();
        };
        let entry = |(seq, job): (&u64, &JobKey)| {
            let live = view.job(*job);
            let rank = options.order.rank(live);
            Entry { rank, seq: *seq, job: *job, procs: live.procs(), estimate: live.estimate() }
        };
        // Of a long queue the others are not looked at.
        let first = queues.0[class].waiting.iter().take(options.lookahead as usize);
        let mut entries: Vec<Entry> = first.map(entry).collect();
        options.order.sort(view, &mut entries);
        if entries.iter().any(|entry| entry.procs <= filling.free.len())
            && let Some((best, effort)) = options.best_order(view, filling.profile.clone(), &entries)
        {
            groups.effort = groups.effort.and(effort);
            entries = best;
        }
        entries.into_iter().map(|entry| (entry.seq, entry.job)).collect()
    }

    /// Resumes and starts jobs in a slice. Returns the processors that are left, and the first job of the order that a search has found which waits on.
    pub(super) fn fill(
        &mut self,
        view: &View<'_>,
        slice: Slice,
        free: ProcSet,
        actions: &mut Actions,
    ) -> (ProcSet, Option<JobKey>) {
        let mut filling = self.begin(view, slice, free, false);
        self.group(view, &filling, actions);
        let first = self.search(&filling);
        self.complete(&mut filling, &first);
        let Filling { filled, free, .. } = filling;
        let Kept { queues: Queues(queues), groups, .. } = &mut self.kept;
        for (class, seq, job) in filled.resumed {
            actions.resume_on(job, view.job(job).placement().clone());
            queues[class].preempted.remove(&seq);
            queues[class].running.insert(seq, job);
        }
        for (class, seq, job, procs) in filled.started {
            actions.push(Action::Start { job, placement: Placement::On(procs), share: Rate::FULL });
            queues[class].waiting.remove(&seq);
            queues[class].running.insert(seq, job);
            groups.remove(seq);
        }
        let waits = first.iter().find(|(seq, _)| queues[slice.class].waiting.contains_key(seq));
        (free, waits.map(|(_, job)| *job))
    }
}
