//! Immediate service [Chiang and Vernon 2002; as Kettimuthu 2003, section 2.3, describes and evaluates it].

use serde::{Deserialize, Serialize};

use super::preemptive::{Books, Dropped, Idle, PLACEMENT, Placing, RESTART, Run, Victim};
use crate::local::{
    Actions, Change, LocalPolicy, Phase, PolicyInfo, Preempted, Quotient, Rule, View, XFactor,
};
use crate::model::{JobKey, ParamInfo, ProcSet};
use crate::units::{Span, Time};

const QUANTUM: ParamInfo = ParamInfo {
    key: "quantum",
    values: "a time",
    default: "10 min",
    doc: "for so long after its start a job is not suspended",
};

const DROP: ParamInfo = ParamInfo {
    key: "drop",
    values: "largest, smallest or last",
    default: "largest",
    doc: "victims are taken in ascending order of instantaneous expansion factor until they are enough; of superfluous ones these go on running first",
};

pub(super) fn info() -> PolicyInfo {
    PolicyInfo::new("is", |named| {
        let quantum = named.take(QUANTUM.key, "a time, such as `10 min`")?;
        let dropped = named.take_choice(DROP.key, &Dropped::NAMES)?.unwrap_or_default();
        let placing = Placing::take(named)?;
        let policy = Immediate::new(quantum.unwrap_or(Immediate::QUANTUM), dropped, placing);
        Ok((Box::new(policy), placing.abilities()))
    })
    .doc("Immediate service: an arriving job starts at once, by suspending running jobs with the lowest instantaneous expansion factor (wait + run) / run, and keeps its processors for a quantum. Other idle jobs start when they fit, the largest factor first. A suspended job resumes on the processors that it had.")
    .source("Chiang and Vernon 2002, as described in Kettimuthu 2003, section 2.3")
    .params(&[QUANTUM, DROP, PLACEMENT, RESTART])
}

/// Immediate service (IS).
///
/// Each arriving job starts at once: on free processors, or in the place of running jobs with the lowest instantaneous expansion factor
/// (wait + run) / run. A job that has not run yet has an infinite factor, and one within its quantum is not suspended either; a job that
/// resumes gets no new quantum. An arriving job for which there are not enough victims waits, as suspended jobs do, until it fits: those with
/// the largest instantaneous factor first; that of a job that has never run is (wait + estimate) / estimate.
#[derive(Clone, Debug)]
pub struct Immediate {
    quantum: Span,
    dropped: Dropped,
    placing: Placing,
    kept: Kept,
}

/// What is saved.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    /// The line of a suspended job has its run time for its estimate.
    books: Books,
    /// Jobs that have arrived since the last pass.
    fresh: Vec<JobKey>,
}

impl Kept {
    fn new(placing: Placing) -> Self {
        Self { books: Books::new(placing), fresh: Vec::new() }
    }
}

impl Immediate {
    /// The quantum of the thesis.
    pub const QUANTUM: Span = Span::from_secs(600);

    /// Immediate service with this quantum; `dropped` says which of superfluous victims go on running.
    pub fn new(quantum: Span, dropped: Dropped, placing: Placing) -> Self {
        Self { quantum, dropped, placing, kept: Kept::new(placing) }
    }

    /// The victims for a job that lacks so many processors: those with the lowest instantaneous expansion factors, among equals the last to
    /// arrive first.
    fn victims(&self, view: &View<'_>, lacking: u32) -> Option<Vec<Victim>> {
        let now = view.now();
        let ran = |run: &Run| view.job(run.job).ran(now).micros();
        let is_in_quantum = |run: &Run| now.since(run.first) < self.quantum;
        let runs = |run: &Run| view.job(run.job).phase() == Phase::Running && run.began < now;
        let may = |run: &&Run| !run.drains && runs(run) && !is_in_quantum(run) && ran(run) > 0;
        // Less 1: wait / run.
        let factor = |run: &Run| Quotient { num: view.job(run.job).waited(now).micros(), den: ran(run) };
        let mut order: Vec<(Quotient, &Run)> =
            self.kept.books.runs().filter(may).map(|run| (factor(run), run)).collect();
        order.sort_unstable_by(|(a, one), (b, other)| a.cmp(b).then(other.seq.cmp(&one.seq)));
        let (mut victims, mut freed) = (Vec::new(), 0);
        for (_, run) in order {
            freed += run.count;
            victims.push(Victim { job: run.job, procs: run.count });
            if freed >= lacking {
                self.dropped.reduce(&mut victims, lacking);
                return Some(victims);
            }
        }
        None
    }

    /// Serves a job that has arrived, if that is possible.
    fn serve(&mut self, view: &View<'_>, job: JobKey, free: &mut ProcSet, actions: &mut Actions) {
        let (now, idle) = (view.now(), Idle::of(view, job, view.job(job).whole_estimate()));
        let mut pending = ProcSet::new();
        if let Some(lacking) = idle.count.checked_sub(free.len()).filter(|lacking| *lacking > 0) {
            let Some(victims) = self.victims(view, lacking) else {
                return self.kept.books.add_idle(view, idle);
            };
            let theirs = view.job(job).xfactor(now);
            for Victim { job: victim, .. } in victims {
                let (live, ran) = (view.job(victim), view.job(victim).ran(now));
                let why = Preempted { by: job, ours: XFactor::new(live.waited(now), ran), theirs };
                self.kept.books.suspend(view, (victim, why), ran, (free, &mut pending), actions);
            }
        }
        pending.insert_all(free);
        match self.kept.books.procs_for_start(view, &pending, idle.count) {
            Some(procs) => self.kept.books.put(view, idle, procs, free, actions, |_, _| (false, 0)),
            None => self.kept.books.add_idle(view, idle),
        }
    }

    /// Starts and resumes idle jobs as long as one fits.
    fn backfill(&mut self, view: &View<'_>, free: &mut ProcSet, actions: &mut Actions) {
        let books = &mut self.kept.books;
        while let Some(choice) = books.best_fit(view.now(), free, |_, _| Some(Time::NEVER)) {
            let Some(idle) = books.take(view, &choice) else { return };
            let own = choice.suspended.map(|_| idle.procs.clone());
            let Some(procs) = own.or_else(|| books.procs_for_start(view, free, idle.count)) else {
                return books.add_idle(view, idle);
            };
            books.put(view, idle, procs, free, actions, |_, _| (false, 0));
        }
    }

    /// A job runs that the policy has not started.
    fn follow(&mut self, view: &View<'_>, job: JobKey) {
        let live = view.job(job);
        let idle = Idle::of(view, job, live.whole_estimate());
        self.kept.books.begin(view, live.works_from(), &idle, live.placement().clone(), |_, _| (false, 0));
    }
}

impl LocalPolicy for Immediate {
    fn on(&mut self, change: Change, view: &View<'_>) {
        let Kept { books, fresh } = &mut self.kept;
        match change {
            Change::Arrived(job) => fresh.push(job),
            Change::Withdrawn(job) => {
                fresh.retain(|other| *other != job);
                books.withdraw(view.now(), job);
            }
            Change::Ended(job) => {
                if books.take_suspended(job).is_none() && books.withdraw(view.now(), job).is_none() {
                    books.end(job);
                }
            }
            Change::Suspended(job) => books.released(view, job, view.job(job).ran(view.now())),
            Change::Continued(job) => self.follow(view, job),
            Change::Left | Change::Joined => books.note_drained(view),
            Change::Moved { job, .. } => books.moved(view, job, |_| false),
            Change::Reserved | Change::Altered { .. } => {}
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        let mut free = view.free_set().clone();
        self.kept.books.settle_claims(view, &mut free, actions, |_, _| (false, 0));
        for job in std::mem::take(&mut self.kept.fresh) {
            self.serve(view, job, &mut free, actions);
        }
        self.backfill(view, &mut free, actions);
        if let Some(trace) = actions.trace() {
            let claims = self.kept.books.claimed();
            (trace.free, trace.rule) =
                (free.len(), Rule::Preemption { may_suspend: Vec::new(), claims, routine: None });
        }
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.kept).unwrap_or_default()
    }

    fn restore(&mut self, saved: &[u8], view: &View<'_>) -> Result<(), String> {
        let kept: Kept = postcard::from_bytes(saved).map_err(|error| error.to_string())?;
        if let Some(job) =
            kept.books.jobs().chain(kept.fresh.iter().copied()).find(|job| view.get(*job).is_none())
        {
            return Err(format!("it knows a job with key {job} that is not there"));
        }
        self.kept = kept;
        Ok(())
    }

    fn adopt(&mut self, view: &View<'_>) {
        self.kept = Kept::new(self.placing);
        for job in view.jobs_in(Phase::Waiting) {
            self.kept.books.add_idle(view, Idle::of(view, job, view.job(job).whole_estimate()));
        }
        self.kept.books.adopt_suspended(view, |job| view.job(job).ran(view.now()));
        for job in view.holders() {
            if view.job(job).phase() != Phase::Suspending {
                self.follow(view, job);
            }
        }
        self.kept.books.note_drained(view);
    }
}
