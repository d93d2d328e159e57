//! Selective suspension, and its tunable form [Kettimuthu 2003, chapter 3].

mod limit;
mod routine;
mod saved;
mod variants;

pub use limit::Limit;
pub(super) use variants::info;

use super::preemptive::{Books, Dropped, Factor, Idle, Margin, Run};
use crate::local::{Action, Actions, Change, Line, LocalPolicy, Phase, Placement, View};
use crate::model::{JobKey, ProcSet};
use crate::units::{Rate, Span, Time};

/// Which sizes an idle job may preempt.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum WidthRule {
    /// Jobs with at most twice its processors: narrow jobs do not suspend wide ones (section 3.2).
    #[default]
    Told,
    /// Jobs with more than half of its processors, as the formula of section 3.3 has it.
    Printed,
    /// All.
    None,
}

impl WidthRule {
    const NAMES: [(&'static str, Self); 3] =
        [("told", Self::Told), ("printed", Self::Printed), ("none", Self::None)];

    /// Whether a job of `idle` processors may preempt one of `running`.
    #[inline]
    fn allows(self, idle: u32, running: u32) -> bool {
        let (idle, running) = (u64::from(idle), u64::from(running));
        match self {
            Self::Told => 2 * idle >= running,
            Self::Printed => idle < 2 * running,
            Self::None => true,
        }
    }
}

/// The parameters of [`Selective`].
#[derive(Clone, Debug)]
pub struct SelectiveOptions {
    /// The suspension factor, and how it is compared.
    pub margin: Margin,
    /// The preemption routine runs at multiples of this.
    pub every: Span,
    /// Which sizes a job may preempt.
    pub width: WidthRule,
    /// Whether that holds for suspended jobs too.
    pub reentry_width: bool,
    /// Which of superfluous victims go on running.
    pub dropped: Dropped,
    /// How many more processors must be in use after a preemption than before, if that matters.
    pub min_gain: Option<i64>,
    /// Whether jobs that start get processors first that no suspended job waits for.
    pub away: bool,
    /// Which running jobs are not preempted.
    pub limit: Option<Limit>,
}

impl Default for SelectiveOptions {
    fn default() -> Self {
        Self {
            margin: Margin { factor: Factor::whole(2), strict: true },
            every: Span::from_secs(60),
            width: WidthRule::Told,
            reentry_width: true,
            dropped: Dropped::Largest,
            min_gain: None,
            away: false,
            limit: None,
        }
    }
}

/// Selective suspension (SS), and with a limit tunable selective suspension (TSS).
///
/// As long as an idle job can start, the one with the largest expansion factor does: on free processors at every pass, and at multiples of
/// [`SelectiveOptions::every`] also by suspending running jobs. The policy wakes only when an idle job may have come so far.
#[derive(Clone, Debug)]
pub struct Selective {
    options: SelectiveOptions,
    books: Books,
    /// The processors that the last pass left free.
    free: ProcSet,
    /// Whether a job began at the instant of the last pass: it may be suspended from the next instant on.
    fresh: bool,
    /// Whether it wakes at every multiple.
    eager: bool,
}

impl Selective {
    /// Selective suspension with these parameters.
    pub fn new(options: SelectiveOptions) -> Self {
        Self { options, books: Books::default(), free: ProcSet::new(), fresh: false, eager: false }
    }

    /// The same policy, which wakes at every multiple: the slow reference of the tests.
    #[must_use]
    pub fn eager(self) -> Self {
        Self { eager: true, ..self }
    }

    fn category(&self, estimate: Span, procs: u32) -> usize {
        self.options.limit.as_ref().map_or(0, |limit| limit.category(estimate, procs))
    }

    fn is_past(&self, run: &Run) -> bool {
        self.options.limit.as_ref().is_some_and(|limit| limit.is_past(run.waited, run.class))
    }

    fn arrive(&mut self, view: &View<'_>, job: JobKey) {
        let live = view.job(job);
        let line = Line::new(live.ready().min(view.now()), live.estimate());
        self.books.arrive(view.now(), job, live.seq(), live.procs(), line);
    }

    /// A job runs that the policy has not started.
    fn follow(&mut self, view: &View<'_>, job: JobKey) {
        let live = view.job(job);
        let began = live.first_start().unwrap_or(view.now());
        let idle = Idle {
            job,
            seq: live.seq(),
            line: Line::new(live.ready().min(began), live.estimate()),
            ran: Span::ZERO,
            first: None,
            procs: ProcSet::new(),
            count: live.procs(),
            hindrance: 0,
        };
        self.begin(began, &idle, live.placement().clone());
    }

    /// An idle job, which is in the books no more, runs from now on.
    fn begin(&mut self, now: Time, idle: &Idle, procs: ProcSet) {
        let class = self.category(idle.line.span(), procs.len());
        self.books.begin(now, idle, procs, class);
        let past = self.books.run(idle.job).is_some_and(|run| self.is_past(run));
        if let Some(run) = self.books.run_mut(idle.job) {
            run.past_limit = past;
        }
    }

    fn end(&mut self, view: &View<'_>, job: JobKey) {
        if self.books.take_suspended(job).is_some() {
            return;
        }
        let Some(run) = self.books.end(job) else { return };
        if self.options.limit.is_some() && view.is_finished(job) {
            let (waited, ran) = (run.wait(), run.ran_by(view.now()));
            if self.options.limit.as_mut().is_some_and(|limit| limit.finished(waited, ran, run.count)) {
                self.judge_again();
            }
        }
    }

    /// Says anew which running jobs are past their limits.
    fn judge_again(&mut self) {
        let Some(limit) = &self.options.limit else { return };
        for run in self.books.runs_mut() {
            run.past_limit = limit.is_past(run.waited, run.class);
        }
        self.books.changes += 1;
    }

    /// Suspends a running job: from now on its expansion factor grows again.
    fn suspend(&mut self, now: Time, job: JobKey, actions: &mut Actions) {
        let Some(run) = self.books.end(job) else { return };
        actions.push(Action::Suspend { job });
        let since = Time::from_micros(now.micros().saturating_sub(run.waited.num));
        let ran = run.ran_by(now);
        self.books.add_suspended(Idle {
            job,
            seq: run.seq,
            line: Line::new(since, Span::from_micros(run.waited.den)),
            ran,
            first: Some(run.first),
            hindrance: run.procs.first().unwrap_or_default(),
            count: run.count,
            procs: run.procs,
        });
    }

    /// Starts a job that waits for its first start.
    fn start(&mut self, now: Time, job: JobKey, procs: ProcSet, actions: &mut Actions) {
        let Some(idle) = self.books.withdraw(now, job) else { return };
        actions.push(Action::Start { job, placement: Placement::On(procs.clone()), share: Rate::FULL });
        self.begin(now, &idle, procs);
    }

    /// Resumes a suspended job.
    fn resume(&mut self, now: Time, job: JobKey, free: &mut ProcSet, actions: &mut Actions) {
        let Some(idle) = self.books.take_suspended(job) else { return };
        let procs = idle.procs.clone();
        free.remove_all(&procs);
        actions.push(Action::Resume { job, placement: Placement::On(procs.clone()), share: Rate::FULL });
        self.begin(now, &idle, procs);
    }
}

impl LocalPolicy for Selective {
    fn on(&mut self, change: Change, view: &View<'_>) {
        match change {
            Change::Arrived(job) => self.arrive(view, job),
            Change::Withdrawn(job) => {
                self.books.withdraw(view.now(), job);
            }
            Change::Ended(job) => self.end(view, job),
            Change::Continued(job) => self.follow(view, job),
            Change::Left | Change::Joined => self.books.note_drained(view),
            Change::Moved { .. } | Change::Reserved | Change::Altered { .. } => {}
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.pass(view, actions);
    }

    fn save(&self) -> Vec<u8> {
        self.saved()
    }

    fn restore(&mut self, saved: &[u8], view: &View<'_>) -> Result<(), String> {
        self.restored(saved, view)
    }

    fn adopt(&mut self, view: &View<'_>) {
        let Self { options, eager, .. } = self;
        let mut options = options.clone();
        if let Some(limit) = &mut options.limit {
            limit.forget();
        }
        *self = Self { eager: *eager, ..Self::new(options) };
        for job in view.jobs_in(Phase::Waiting) {
            self.arrive(view, job);
        }
        for job in view.jobs_in(Phase::Running) {
            self.follow(view, job);
        }
        for job in view.jobs_in(Phase::Suspended) {
            let live = view.job(job);
            self.books.add_suspended(Idle {
                job,
                seq: live.seq(),
                line: Line::new(live.ready().min(view.now()), live.estimate()),
                ran: Span::ZERO,
                first: live.first_start(),
                count: live.placement().len(),
                hindrance: live.placement().first().unwrap_or_default(),
                procs: live.placement().clone(),
            });
        }
        self.books.note_drained(view);
    }
}
