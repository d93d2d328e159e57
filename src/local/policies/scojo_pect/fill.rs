//! What runs in a slice.

use super::ScojoPect;
use super::queues::{CLASSES, Queue, Queues, goes};
use super::slices::Slice;
use crate::local::{Action, Actions, Phase, Placement, Profile, View};
use crate::model::{JobKey, ProcSet};
use crate::units::{Rate, Span};

/// What resumes and starts in a slice: class, place in the order of arrival, job.
#[derive(Default)]
pub(super) struct Filled {
    pub(super) resumed: Vec<(usize, u64, JobKey)>,
    started: Vec<(usize, u64, JobKey, ProcSet)>,
}

/// A slice that is being filled.
struct Filling<'a, 'b> {
    view: &'a View<'b>,
    slice: Slice,
    free: ProcSet,
    /// Free processors from now on, by count.
    profile: Profile,
    filled: Filled,
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

    /// Puts a job on the processors that it had, if they are free and needed by none that is planned.
    fn resume(&mut self, class: usize, seq: u64, job: JobKey) {
        let (now, procs) = (self.view.now(), self.view.job(job).placement());
        let held = self.holds(class, job);
        let is_free = self.free.contains_all(procs);
        if is_free && (self.is_of_slice(class) || self.profile.fits(now, held, procs.len())) {
            self.free.remove_all(procs);
            self.profile.reserve(now, now + held, procs.len());
            self.filled.resumed.push((class, seq, job));
        }
    }

    /// Starts a waiting job if it fits now, on processors that no preempted job of its class has, and no other one if there are enough.
    fn start(&mut self, class: usize, seq: u64, job: JobKey, owned: &Owned) -> bool {
        let (now, count) = (self.view.now(), self.view.job(job).procs());
        let held = self.holds(class, job);
        if count > self.free.len() || !self.profile.fits(now, held, count) {
            return false;
        }
        let open = self.free.difference(&owned.by_class[class]);
        let unowned = open.difference(&owned.by_any);
        let Some(procs) = self.view.pick(&unowned, count).or_else(|| self.view.pick(&open, count)) else {
            return false;
        };
        self.free.remove_all(&procs);
        self.profile.reserve(now, now + held, count);
        self.filled.started.push((class, seq, job, procs));
        true
    }

    /// Starts the waiting jobs of a class that fit, in order of arrival, until `most` of them have not. The first `reserved` of those get reservations, and those behind
    /// delay none of them.
    fn start_all(&mut self, class: usize, queue: &Queue, owned: &Owned, reserved: usize, most: usize) {
        let mut in_vain = 0;
        for (seq, job) in &queue.waiting {
            if self.free.is_empty() || in_vain == most {
                return;
            }
            if !self.start(class, *seq, *job, owned) {
                if in_vain < reserved {
                    self.reserve(*job);
                }
                in_vain += 1;
            }
        }
    }

    /// Reserves processors for a waiting job of the slice's class.
    fn reserve(&mut self, job: JobKey) {
        let (now, count, left) = (self.view.now(), self.view.job(job).procs(), self.left(job));
        if let Some(start) = self.profile.earliest(now, left, count) {
            self.profile.reserve(start, start + left, count);
        }
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
    /// What resumes and starts in a slice: preempted jobs of its class, waiting ones of it with backfilling, and on what is left jobs of other
    /// classes, preempted ones first, shorter classes first [Kanavallil 2007, Figure 6, outside groups]. A slice is `fresh` if all jobs that can be are suspended for it.
    pub(super) fn filled(&self, view: &View<'_>, slice: Slice, is_fresh: bool) -> (Filled, ProcSet) {
        let (now, options) = (view.now(), self.options);
        let Queues(queues) = &self.kept.queues;
        let is_taken_off = |job: JobKey| is_fresh && goes(view, view.job(job));
        let mut free = view.free_set().clone();
        let mut taken = Vec::new();
        for (class, Queue { running, .. }) in queues.iter().enumerate() {
            for job in running.values() {
                let live = view.job(*job);
                if is_taken_off(*job) {
                    free.insert_all(live.placement());
                    continue;
                }
                let end = view.expected_end(*job);
                let gives_back = class != slice.class && goes(view, live);
                taken.push((now, if gives_back { end.min(slice.ends) } else { end }, live.held()));
            }
        }
        let profile = Profile::without(now, view.capacity(), taken.into_iter());
        let mut filling = Filling { view, slice, free, profile, filled: Filled::default() };
        let resumable = queues.each_ref().map(|queue| {
            let taken_off = queue.running.iter().filter(|(_, job)| is_taken_off(**job));
            let mut jobs: Vec<(u64, JobKey)> =
                queue.preempted.iter().chain(taken_off).map(|(seq, job)| (*seq, *job)).collect();
            jobs.sort_unstable_by_key(|(seq, _)| *seq);
            jobs
        });
        let owned = Owned::new(view, &resumable);
        let most = options.lookahead as usize;
        for (seq, job) in &resumable[slice.class] {
            filling.resume(slice.class, *seq, *job);
        }
        // Under EASY the first one alone.
        filling.start_all(
            slice.class,
            &queues[slice.class],
            &owned,
            if options.easy { 1 } else { most },
            most,
        );
        let others = || (0..CLASSES).filter(|class| options.smart && *class != slice.class);
        for class in others() {
            for (seq, job) in &resumable[class] {
                filling.resume(class, *seq, *job);
            }
        }
        for class in others() {
            filling.start_all(class, &queues[class], &owned, 0, most);
        }
        (filling.filled, filling.free)
    }

    /// Resumes and starts jobs in a slice. Returns the processors that are left.
    pub(super) fn fill(&mut self, view: &View<'_>, slice: Slice, actions: &mut Actions) -> ProcSet {
        let (filled, free) = self.filled(view, slice, false);
        let Queues(queues) = &mut self.kept.queues;
        for (class, seq, job) in filled.resumed {
            actions.resume_on(job, view.job(job).placement().clone());
            queues[class].preempted.remove(&seq);
            queues[class].running.insert(seq, job);
        }
        for (class, seq, job, procs) in filled.started {
            actions.push(Action::Start { job, placement: Placement::On(procs), share: Rate::FULL });
            queues[class].waiting.remove(&seq);
            queues[class].running.insert(seq, job);
        }
        free
    }
}
