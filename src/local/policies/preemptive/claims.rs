//! Suspending jobs, and starting others in their place: at once, or when they have written their memory.
//!
//! A job for which others are being suspended has a *claim* on processors: those that it takes of its victims, and free ones that it needs beside
//! them. Nobody else gets them, and it starts when all of them are free. The claim is dropped, and the job is idle as before, when it can not be met
//! any more: a machine has gone, or a victim keeps its processors because it is stalled.

use super::{Books, Idle, Judged};
use crate::local::{Action, Actions, Phase, Placement, Preempted, Quotient, View};
use crate::model::{JobKey, ProcSet};
use crate::units::{Rate, Span};

use super::books::{Claim, Place};

impl Books {
    /// Suspends a running job, whose expansion factor grows again from now on, by this span. What it frees at once is added to `free`, and what it
    /// frees later to `pending`.
    pub(in crate::local::policies) fn suspend(
        &mut self,
        view: &View<'_>,
        (job, why): (JobKey, Preempted),
        span: Span,
        (free, pending): (&mut ProcSet, &mut ProcSet),
        actions: &mut Actions,
    ) {
        let Some(run) = self.end(job) else { return };
        let idle =
            Idle { first: Some(run.first), procs: run.procs, count: run.count, ..Idle::of(view, job, span) };
        actions.preempt(job, why);
        if view.suspends_in(job).is_zero() {
            free.insert_all(&idle.procs.intersection(view.here()));
            self.add_suspended(view.now(), idle);
        } else {
            pending.insert_all(&idle.procs.intersection(view.here()));
            self.set(job, Place::Leaving);
            self.leaving.push(idle);
        }
    }

    /// A job is suspended now, otherwise than by a pass: it was being suspended, or has lost a machine before it ran again.
    pub(in crate::local::policies) fn released(&mut self, view: &View<'_>, job: JobKey, span: Span) {
        let first = self.end(job).map(|run| run.first);
        let idle = self.take_suspended(job);
        let first = first.or(idle.and_then(|idle| idle.first));
        let now = Idle::of(view, job, span);
        self.add_suspended(view.now(), Idle { first: first.or(now.first), ..now });
    }

    /// Starts or resumes a job, which is in the books no more, on these processors: now, or when those among them that are not free have become so.
    pub(in crate::local::policies) fn put(
        &mut self,
        view: &View<'_>,
        idle: Idle,
        procs: ProcSet,
        free: &mut ProcSet,
        actions: &mut Actions,
        judge: impl Fn(Quotient, &Idle) -> Judged,
    ) {
        if !free.contains_all(&procs) {
            free.remove_all(&procs);
            self.set(idle.job, Place::Claiming);
            self.claims.push(Claim { idle, procs });
            self.changes += 1;
            return;
        }
        free.remove_all(&procs);
        let (job, placement, share) = (idle.job, Placement::On(procs.clone()), Rate::FULL);
        let reads = if idle.first.is_some() { view.resumes_in(job, &procs) } else { Span::ZERO };
        actions.push(match idle.first {
            None => Action::Start { job, placement, share },
            Some(_) => Action::Resume { job, placement, share },
        });
        self.begin(view, view.now() + reads, &idle, procs, judge);
    }

    /// Starts the jobs whose claims are met, and drops claims that cannot be met any more. Nobody else gets what is claimed: it is taken out of `free`.
    pub(in crate::local::policies) fn settle_claims(
        &mut self,
        view: &View<'_>,
        free: &mut ProcSet,
        actions: &mut Actions,
        judge: impl Fn(Quotient, &Idle) -> Judged,
    ) {
        if self.claims.is_empty() {
            return;
        }
        let mut coming = ProcSet::new();
        self.leaving.iter().for_each(|idle| coming.insert_all(&idle.procs));
        coming.insert_all(free);
        for Claim { idle, procs } in std::mem::take(&mut self.claims) {
            if coming.contains_all(&procs) {
                self.put(view, idle, procs, free, actions, &judge);
            } else {
                self.add_idle(view, idle);
                self.changes += 1;
            }
        }
    }

    /// The facts of the claims: for which job, and which processors.
    pub(in crate::local::policies) fn claimed(&self) -> Vec<(JobKey, ProcSet)> {
        self.claims.iter().map(|claim| (claim.idle.job, claim.procs.clone())).collect()
    }

    /// Adds an idle job.
    pub(in crate::local::policies) fn add_idle(&mut self, view: &View<'_>, idle: Idle) {
        if idle.first.is_some() {
            return self.add_suspended(view.now(), idle);
        }
        let Idle { job, seq, count, line, .. } = idle;
        self.arrive(view.now(), job, seq, count, line);
    }

    /// Takes over the jobs that are suspended, or are being suspended, whose factors grow by these spans.
    pub(in crate::local::policies) fn adopt_suspended(
        &mut self,
        view: &View<'_>,
        span: impl Fn(JobKey) -> Span,
    ) {
        for job in view.jobs_in(Phase::Suspended) {
            self.add_suspended(view.now(), Idle::of(view, job, span(job)));
        }
        for job in view.jobs_in(Phase::Suspending) {
            self.set(job, Place::Leaving);
            self.leaving.push(Idle::of(view, job, span(job)));
        }
    }
}
