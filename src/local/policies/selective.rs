//! Selective suspension, and its tunable form [Kettimuthu 2003, chapter 3].

mod limit;
mod routine;
mod saved;
mod variants;

pub use limit::Limit;
pub(super) use variants::info;

use super::preemptive::{Books, Dropped, Factor, Idle, Judged, Margin, Placing, Run};
use crate::local::{Actions, Change, LocalPolicy, Phase, Quotient, View};
use crate::model::{JobKey, Preemption, ProcSet};
use crate::units::Span;

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
    /// Which processors jobs get.
    pub placing: Placing,
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
            placing: Placing::default(),
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
    /// Whether a job began at the instant of the last pass, or was still to resume: it may be suspended later.
    fresh: bool,
    /// Whether it wakes at every multiple.
    eager: bool,
}

impl Selective {
    /// Selective suspension with these parameters.
    pub fn new(options: SelectiveOptions) -> Self {
        let books = Books::new(options.placing);
        Self { options, books, free: ProcSet::new(), fresh: false, eager: false }
    }

    /// The same policy, which wakes at every multiple: the slow reference of the tests.
    #[must_use]
    pub fn eager(self) -> Self {
        Self { eager: true, ..self }
    }

    fn arrive(&mut self, view: &View<'_>, job: JobKey) {
        let idle = Idle::of(view, job, view.job(job).whole_estimate());
        self.books.add_idle(view, idle);
    }

    /// A job runs that the policy has not started.
    fn follow(&mut self, view: &View<'_>, job: JobKey) {
        let live = view.job(job);
        let idle = Idle::of(view, job, live.whole_estimate());
        let Self { options, books, .. } = self;
        let judge = |waited, idle: &Idle| options.judge(waited, idle);
        books.begin(view, live.works_from(), &idle, live.placement().clone(), judge);
    }

    fn end(&mut self, view: &View<'_>, job: JobKey) {
        let books = &mut self.books;
        if books.take_suspended(job).is_some() || books.withdraw(view.now(), job).is_some() {
            return;
        }
        let Some(run) = self.books.end(job) else { return };
        let (Some(limit), true) = (&mut self.options.limit, view.is_finished(job)) else { return };
        let live = view.job(job);
        if limit.finished(live.waited(view.now()), live.ran(view.now()), run.count) {
            let Self { options, books, .. } = self;
            books.judge_again(|run| options.is_past(run));
        }
    }
}

impl SelectiveOptions {
    /// Whether a job that starts with this expansion factor (less 1) is past its limit, and its category.
    fn judge(&self, waited: Quotient, idle: &Idle) -> Judged {
        let Some(limit) = &self.limit else { return (false, 0) };
        let category = limit.category(idle.line.span(), idle.count);
        (limit.is_past(waited, category), category)
    }

    /// Whether a running job is past its limit.
    fn is_past(&self, run: &Run) -> bool {
        self.limit.as_ref().is_some_and(|limit| limit.is_past(run.waited, run.class))
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
            Change::Suspended(job) => self.books.released(view, job, view.job(job).whole_estimate()),
            Change::Continued(job) => self.follow(view, job),
            Change::Left | Change::Joined => self.books.note_drained(view),
            Change::Moved { job, .. } => {
                let Self { options, books, .. } = self;
                books.moved(view, job, |run| options.is_past(run));
            }
            Change::Reserved | Change::Altered { .. } => {}
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.pass(view, actions);
    }

    fn remark(&self, costs: &Preemption) -> Option<String> {
        let takes_time = !costs.memory.is_none() && (costs.write.is_some() || costs.read.is_some());
        let swaps = self.options.margin.factor == Factor::whole(1) && takes_time;
        swaps.then(|| {
            let every = self.options.every;
            format!("lets two jobs take each other's place every {every} s, and what that costs leaves them little time to work, or none; give a `factor` above 1")
        })
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
        self.books.adopt_suspended(view, |job| view.job(job).whole_estimate());
        for job in view.holders() {
            if view.job(job).phase() != Phase::Suspending {
                self.follow(view, job);
            }
        }
        self.books.note_drained(view);
    }
}
